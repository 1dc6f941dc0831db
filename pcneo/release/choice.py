"""Which graph and run a release is of, and its mechanism: all that can be checked before anything is read."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.model import Run, Selection
from pcneo.privacy.account import Spend
from pcneo.privacy.mechanisms import MECHANISMS, Critical, Edge, Elv, Published, make_mechanism
from pcneo.release.budget import find_graph
from pcneo.release.request import Asked
from pcneo.search import p_text, parse_fraction
from pcneo.store.chosen_graph import choose_selection
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import LedgerGateway

__all__ = ["AnyMechanism", "Chosen", "Names", "choose", "mechanism_of", "spend_of"]

AnyMechanism = Critical | Edge | Elv | Published

Names = tuple[Sequence[str], Sequence[str], str | None]
"""Labels, types and key as the caller named them; empty or None where not."""


@dataclass(frozen=True)
class Chosen:
    """One release, its parameters in range.

    Attributes:
        asked: what was asked for.
        graph: the graph; one that pcneo does not know yet is entered when it is spent for.
        run: the stored run that it rests on; None for `edge` and `elv`.
        mechanism: for as many vertices as the run or the count store has; the graph that is read decides.
    """

    asked: Asked
    graph: GraphRecord
    run: Run | None
    mechanism: AnyMechanism


def choose(gateway: LedgerGateway, asked: Sequence[Asked], names: Names) -> list[Chosen]:
    """Find graph and run of each release and check its parameters.

    Raises:
        ParameterError: a parameter is out of range or none of the mechanism, or there are several choices.
        NotFoundError: there is no complete run or no graph as asked for.
        GraphError: the graph has no vertices, or its name stands for another.
    """
    for one in asked:
        if one.mechanism not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise ParameterError(
                f"mechanism must be one of {known}, not {one.mechanism!r}.", name="mechanism", value=one.mechanism
            )
    if any(names) and all(MECHANISMS[one.mechanism].needs_groups for one in asked):
        raise ParameterError(
            "A release that rests on a run takes the run's labels, types and key; leave them out.",
            name="node_labels",
            value=names,
        )
    runs = gateway.list_runs()
    return [_choose_one(gateway, one, runs, names) for one in asked]


def _choose_one(gateway: LedgerGateway, asked: Asked, runs: Sequence[Run], names: Names) -> Chosen:
    if MECHANISMS[asked.mechanism].needs_groups:
        run = _find_run(asked, runs)
        return Chosen(asked, find_graph(gateway, run.graph), run, mechanism_of(asked, run.vertices))
    for name in ("run", "p", "score"):
        if getattr(asked, name) is not None:
            raise ParameterError(
                f"The mechanism {asked.mechanism} rests on no run; leave {name} out.",
                name=name,
                value=getattr(asked, name),
            )
    graph = _find_graph(gateway, asked.graph, names)
    return Chosen(asked, graph, None, mechanism_of(asked, gateway.count_nodes(graph.selection)))


def mechanism_of(asked: Asked, n: int) -> AnyMechanism:
    """Return the mechanism that is asked for, on n vertices."""
    if asked.epsilon is None:
        raise ParameterError("A release needs its epsilon.", name="epsilon", value=None)
    return make_mechanism(
        asked.mechanism,
        k=asked.k,
        epsilon=asked.epsilon,
        n=n,
        delta=asked.delta,
        epsilon_1=asked.epsilon_1,
        h=asked.h,
    )


def spend_of(mechanism: AnyMechanism, run: Run | None) -> Spend:
    """Return what the ledger gets."""
    delta = Fraction(0) if isinstance(mechanism, Critical) else mechanism.delta
    return Spend(mechanism.name, mechanism.epsilon, delta, run.membership_hash if run else None)


# --- The graph of a release without a run: as for `annotate`


def _find_graph(gateway: LedgerGateway, name: str | None, names: Names) -> GraphRecord:
    fitting = [graph for graph in gateway.list_graphs() if name in (None, graph.name)]
    if not any(names) and len(fitting) == 1:
        return fitting[0]
    selection, _ = choose_selection(gateway, *names)
    return _named(gateway.list_graphs(), name, selection)


def _named(known: Sequence[GraphRecord], name: str | None, selection: Selection) -> GraphRecord:
    """The graph of this selection: under the name given, under its only name, or new."""
    same = [graph for graph in known if graph.selection == selection and name in (None, graph.name)]
    if len(same) == 1:
        return same[0]
    if same:
        listed = ", ".join(graph.name for graph in same)
        raise ParameterError(
            f"This graph has several names: {listed}. Name one with --graph.", name="graph", value=None
        )
    new = GraphRecord(name or selection.default_name, selection, secrets.token_hex(32))
    if any(graph.name == new.name for graph in known):
        raise GraphError(
            f"The graph name {new.name!r} stands for other labels, types or another key. Choose another with --graph.",
            graph=new.name,
        )
    return new


# --- The run of a release with groups


def _find_run(asked: Asked, runs: Sequence[Run]) -> Run:
    wanted = None if asked.p is None else p_text(parse_fraction(asked.p))
    fitting = [
        run
        for run in runs
        if (run.status, run.scope) == ("complete", "graph")
        and asked.run in (None, "latest", run.id)
        and asked.graph in (None, run.graph)
        and wanted in (None, run.p_text)
        and asked.score in (None, run.score)
    ]
    if not fitting:
        raise NotFoundError(
            "There is no complete run of a whole graph that fits; `pcneo runs` lists them, `pcneo annotate` makes one.",
            what="run",
            name=asked.run,
        )
    kinds = {(run.graph, run.p_text, run.score) for run in fitting}
    if len(kinds) > 1:
        raise ParameterError(
            "Several runs fit: "
            + "; ".join(f"graph {graph}, p={p}, score {score}" for graph, p, score in sorted(kinds))
            + ". Choose with --graph, -p, --score or --run.",
            name="run",
            value=asked.run,
        )
    return fitting[-1]
