"""What a request says, checked before any work: for everything that can be wrong its author gets a sentence.

An unknown property is refused too: `vertexes` for `vertices` would otherwise ask for the whole graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcneo.annotate.plan import searches_of
from pcneo.basics.model import Key
from pcneo.basics.searches import P
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import NotFoundError, ParameterError, RightsError
from pcneo.service.placing import LEFT_OUT
from pcneo.service.service_settings import ServiceSettings
from pcneo.store.requests import VALUES, Claim

COMMANDS = ("annotate", "check", "clean")
"""What a request may ask for."""
ASKED = frozenset({*VALUES, "id", "cancel"})
"""What the author of a request may write."""
WRITTEN = frozenset(
    {
        *("status", "progress", "message", "version", "requestedAt", "startedAt", "finishedAt", "lockedAt"),
        *("attempts", "worker", "token", "leaseUntil", "notBefore", "busySince"),
    }
)
"""What a service writes."""
MOST_P = 20


@dataclass(frozen=True)
class Question:
    """What a request asks for.

    Attributes:
        command: `annotate`, `check` or `clean`.
        graph: its name; None where a run is named.
        p: each value once; empty for those of the standing runs.
        search: None for that of each standing run.
        vertices: None for the whole graph.
        run: id of a run, for `check` and `clean`.
    """

    command: str
    graph: str | None = None
    p: Sequence[P] = ()
    search: str | None = None
    vertices: Sequence[Key] | None = None
    run: str | None = None


def check_request(claim: Claim, settings: ServiceSettings, known: Sequence[str] = ()) -> Question:
    """Return what a request asks for, where the owner's settings allow it.

    An error about a missing graph names, as an example, one of the graphs known to the database.
    """
    for name in claim.names:
        if name not in ASKED | WRITTEN:
            there = ", ".join(sorted(ASKED))
            raise ParameterError(
                f"A request has no property {_shown(name)}; it can have {there}.{did_you_mean(name, ASKED)}",
                name=name,
                value="",
            )
    _text(claim, "by")
    command = _text(claim, "command", examples=COMMANDS)
    if command not in COMMANDS:
        raise ParameterError(
            f"command must be one of {', '.join(COMMANDS)}, not {_shown(command)}. Only the owner can make releases "
            "and set budgets.",
            name="command",
            value=command,
        )
    if command == "annotate":
        return _annotate(claim, settings, known)
    return {"check": _check, "clean": _clean}[command](claim, settings)


def _annotate(claim: Claim, settings: ServiceSettings, known: Sequence[str]) -> Question:
    _none_of(claim, "run")
    graph = _text(claim, "graph", examples=settings.graphs or known)
    p = _several(claim, "p", (str, int, float), "a number between 0 and 1, as a number or as text, or a list of these")
    vertices = _several(claim, "vertices", (str, int), "a list of keys, all integers or all strings")
    search = _text(claim, "search")
    searches = searches_of(p, search)
    if len(searches) > MOST_P:
        raise ParameterError(f"p has {len(searches):,} values; at most {MOST_P} are allowed.", name="p", value=None)
    if vertices is not None and len(vertices) > settings.max_vertices:
        raise ParameterError(
            f"vertices has {len(vertices):,} keys; this service takes {settings.max_vertices:,} per request. Leave "
            "it out for the whole graph.",
            name="vertices",
            value=None,
        )
    _check_graph(graph, settings)
    return Question("annotate", graph, [each.p for each in searches], search, vertices)


def _check(claim: Claim, settings: ServiceSettings) -> Question:
    _none_of(claim, "p", "search", "vertices")
    graph, run = _text(claim, "graph"), _text(claim, "run")
    if (graph is None) == (run is None):
        raise ParameterError("check takes either a graph or a run.", name="run", value=run)
    if graph is not None:
        _check_graph(graph, settings)
    return Question("check", graph, run=run)


def _clean(claim: Claim, settings: ServiceSettings) -> Question:
    _none_of(claim, "graph", "p", "search", "vertices")
    run = _text(claim, "run", examples=())
    if not settings.allow_clean:
        raise RightsError("The owner of this service does not let requests remove runs.")
    return Question("clean", run=run)


def _is_there(claim: Claim, name: str) -> bool:
    return claim.kinds[name] != "NULL"


def _text(claim: Claim, name: str, *, examples: Sequence[str] | None = None) -> str | None:
    """Return a text, which is required unless `examples` is None."""
    value = claim.values[name]
    if not _is_there(claim, name):
        if examples is None:
            return None
        example = f"; set {name}: {_shown(examples[0])}" if examples else ""
        raise ParameterError(f"{name} is missing{example}.", name=name, value=None)
    if not isinstance(value, str) or not value:
        raise _wrong(claim, name, "text of 1 to 1,000 characters")
    return value


def _several(claim: Claim, name: str, kinds: tuple[type, ...], what: str) -> list | None:
    """Return a value or a list of values as a list; a boolean is not an integer here."""
    if not _is_there(claim, name):
        return None
    value = claim.values[name]
    items = value if isinstance(value, list) else [value]
    if any(type(item) not in kinds for item in items):
        raise _wrong(claim, name, what)
    if not items:
        raise ParameterError(f"{name} is an empty list; {LEFT_OUT[name]}.", name=name, value=[])
    return items


def _wrong(claim: Claim, name: str, wanted: str) -> ParameterError:
    kind = claim.kinds[name].replace(" NOT NULL", "").lower()
    fault = "empty or too long" if kind == "string" else f"of kind {kind}"
    also = ", or too long" if kind.startswith("list") else ""
    return ParameterError(f"{name} must be {wanted}; it is {fault}{also}.", name=name, value=None)


def _none_of(claim: Claim, *names: str) -> None:
    for name in names:
        if _is_there(claim, name):
            raise ParameterError(f"{name} does not go with this command.", name=name, value=None)


def _check_graph(graph: str | None, settings: ServiceSettings) -> None:
    if settings.graphs and graph not in settings.graphs:
        there = " and ".join(map(repr, settings.graphs))
        near = did_you_mean(graph or "", settings.graphs)
        raise NotFoundError(
            f"This service does not answer for graph {_shown(graph)}, only for {there}.{near}",
            what="graph",
            name=graph,
        )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
