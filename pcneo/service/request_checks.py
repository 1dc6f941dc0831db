"""What a request says, checked before any work: everything that can be wrong has a sentence for its author.

A property that no request has is refused, too: `vertexes` for `vertices` would otherwise ask for the whole graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pcneo.basics.model import Key
from pcneo.basics.searches import P, check_search
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import NotFoundError, ParameterError, RightsError
from pcneo.service.placing import LEFT_OUT
from pcneo.service.service_settings import ServiceSettings
from pcneo.store.requests import VALUES, Claim

__all__ = ["Question", "check_request"]

COMMANDS = ("annotate", "check", "clean")
ASKED = frozenset({*VALUES, "id", "cancel"})
"""What whoever asks may write."""
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
        graph: the graph's name; None where a run is named.
        ps: every p; empty for those of the graph's standing runs.
        search: its name; None for the default, without p for that of each run.
        vertices: keys; None for the whole graph.
        run: id of a run, for `check` and `clean`.
    """

    command: str
    graph: str | None
    ps: tuple[P, ...] = ()
    search: str | None = None
    vertices: tuple[Key, ...] | None = None
    run: str | None = None


def check_request(claim: Claim, settings: ServiceSettings, known: Sequence[str] = ()) -> Question:
    """Return what a request asks for.

    Args:
        claim: the request.
        settings: the owner's.
        known: graphs that the database knows, for an example.

    Raises:
        ParameterError: something is missing, of a wrong kind, out of range or beyond the owner's limits.
        NotFoundError: the service does not answer for such a graph.
        RightsError: the owner does not allow it.
    """
    for name in claim.names:
        if name not in ASKED | WRITTEN:
            there = ", ".join(sorted(ASKED))
            raise ParameterError(f"A request has no property {_shown(name)}; it can have {there}.", name=name, value="")
    said = _Said(claim.kinds, claim.values, settings.graphs or known)
    said.text("by")
    command = said.text("command", needed=True)
    if command not in COMMANDS:
        raise ParameterError(
            f"command is one of {', '.join(COMMANDS)}, not {_shown(command)}. Releases and budgets are their owner's "
            "alone.",
            name="command",
            value=command,
        )
    return {"annotate": _annotate, "check": _check, "clean": _clean}[command](said, settings)


@dataclass(frozen=True)
class _Said:
    """The values of a request, taken out one by one."""

    kinds: Mapping[str, str]
    values: Mapping[str, object]
    graphs: Sequence[str] = ()

    def is_there(self, name: str) -> bool:
        return self.kinds[name] != "NULL"

    def text(self, name: str, *, needed: bool = False) -> str | None:
        value = self.values[name]
        if not self.is_there(name):
            if needed:
                how = {"graph": self.graphs, "command": COMMANDS}.get(name, ())
                example = f"; set {name}: {_shown(how[0])}" if how else ""
                raise ParameterError(f"{name} is missing{example}.", name=name, value=None)
            return None
        if not isinstance(value, str) or not value:
            raise self.wrong(name, "a text of 1 to 1,000 characters")
        return value

    def several(self, name: str, kinds: tuple[type, ...], what: str) -> list | None:
        """Return a value or a list of values; a boolean is no integer here."""
        if not self.is_there(name):
            return None
        value = self.values[name]
        items = value if isinstance(value, list) else [value]
        if any(type(item) not in kinds for item in items):
            raise self.wrong(name, what)
        if not items:
            raise ParameterError(f"{name} is an empty list; {LEFT_OUT[name]}.", name=name, value=[])
        return items

    def wrong(self, name: str, wanted: str) -> ParameterError:
        kind = self.kinds[name].replace(" NOT NULL", "").lower()
        return ParameterError(f"{name} must be {wanted}; it is a {kind}, or too long.", name=name, value=None)

    def none_of(self, *names: str) -> None:
        for name in names:
            if self.is_there(name):
                raise ParameterError(f"{name} does not go with this command.", name=name, value=None)


def _annotate(said: _Said, settings: ServiceSettings) -> Question:
    said.none_of("run")
    graph = said.text("graph", needed=True)
    ps = said.several("p", (str, int, float), "a number between 0 and 1, as a number or a text, or a list of them")
    each = tuple(dict.fromkeys(map(P, ps or ())))
    if len(each) > MOST_P:
        raise ParameterError(f"p has {len(each):,} values; at most {MOST_P} are taken.", name="p", value=None)
    search = said.text("search")
    if search is not None:
        check_search(search)
    vertices = said.several("vertices", (str, int), "a list of keys, all integers or all texts")
    if vertices is not None and len(vertices) > settings.max_vertices:
        raise ParameterError(
            f"vertices has {len(vertices):,} keys; this service takes {settings.max_vertices:,} a request. Leave it "
            "out for the whole graph.",
            name="vertices",
            value=None,
        )
    _check_graph(graph, settings)
    return Question("annotate", graph, each, search, None if vertices is None else tuple(vertices))


def _check(said: _Said, settings: ServiceSettings) -> Question:
    said.none_of("p", "search", "vertices")
    graph, run = said.text("graph"), said.text("run")
    if (graph is None) == (run is None):
        raise ParameterError("check takes either a graph or a run.", name="run", value=run)
    if graph is not None:
        _check_graph(graph, settings)
    return Question("check", graph, run=run)


def _clean(said: _Said, settings: ServiceSettings) -> Question:
    said.none_of("graph", "p", "search", "vertices")
    run = said.text("run", needed=True)
    if not settings.allow_clean:
        raise RightsError("The owner of this service does not let requests remove runs.")
    return Question("clean", None, run=run)


def _check_graph(graph: str | None, settings: ServiceSettings) -> None:
    if settings.graphs and graph not in settings.graphs:
        there = " and ".join(map(repr, settings.graphs))
        near = did_you_mean(graph or "", settings.graphs)
        raise NotFoundError(
            f"This service does not answer for a graph {_shown(graph)}; it does for {there}.{near}",
            what="graph",
            name=graph,
        )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
