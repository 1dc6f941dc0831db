"""A release made ready: its graph and groups read and checked on the very arrays that are counted on, nothing spent."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import GraphError
from pcneo.model import Graph, Progress, Run
from pcneo.privacy.account import Spend
from pcneo.privacy.mechanisms import Critical, Edge, Elv
from pcneo.privacy.noise import Noise
from pcneo.privacy.outlook import Utility, utility_of_critical, utility_of_scale
from pcneo.release.choice import AnyMechanism, Chosen, mechanism_of, spend_of
from pcneo.release.loss_report import LossSummary, find_losses
from pcneo.release.outputs import check_keys
from pcneo.release.read_graph import Source, read_source
from pcneo.release.request import Asked
from pcneo.store.chosen_graph import require_key_index
from pcneo.store.gateway import GraphRecord
from pcneo.store.ledger import LedgerGateway

__all__ = ["Prepared", "prepare", "prepare_beside"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """One release, ready to be spent for.

    Attributes:
        id: fresh, random.
        asked: what was asked for.
        mechanism: with its parameters, defaults filled in.
        source: its graph.
        run: the stored run that it rests on; None for `edge` and `elv`.
        counts: Γ(v) over the whole graph, int64, shape (n,): never to leave without noise where t_v > 0.
        scales: t_v by vertex for `critical`; None where one scale is found by noise.
        find_scale: draws, and returns that scale; None for `critical`.
        utility: what may be said before spending.
        losses: of pairs, by kind: at the scales, or at scale 1 where one is found by noise; for the owner alone.
    """

    id: str
    asked: Asked
    mechanism: AnyMechanism
    source: Source
    run: Run | None
    counts: NDArray[np.int64]
    scales: list[Fraction] | None
    find_scale: Callable[[Noise], Fraction] | None
    utility: Utility
    losses: dict[str, LossSummary]

    @property
    def graph(self) -> GraphRecord:
        """The graph as the database knows it."""
        return self.source.record

    @property
    def spend(self) -> Spend:
        """What the ledger gets."""
        return spend_of(self.mechanism, self.run)

    def draw(self, noise: Noise) -> tuple[list[Fraction], list[int]]:
        """Draw noise once; return the scale and the noisy count of each vertex.

        Args:
            noise: the source of noise.
        """
        scales = self.scales or []
        if self.find_scale is not None:
            scales = [self.find_scale(noise)] * len(self.counts)
        return scales, self.mechanism.noisy_counts(self.counts.tolist(), scales, noise)


def prepare(gateway: LedgerGateway, chosen: Sequence[Chosen], progress: Progress | None = None) -> list[Prepared]:
    """Read each graph and set of groups once, check them, and compute everything that takes no noise.

    Raises:
        ParameterError: a parameter or a scale is out of range for the graph as it was read.
        GraphChangedError: the graph or the memberships are no longer those of the run.
        GraphError: the graph cannot be read, a count does not fit, or the groups are too large for `critical`.
        SchemaError: the key has no index.
    """
    graphs: dict[str, GraphRecord] = {}
    for one in chosen:
        graphs.setdefault(one.graph.name, one.graph)
    for graph in graphs.values():
        require_key_index(gateway, graph.selection)
    sources = {name: read_source(gateway, graph, progress) for name, graph in graphs.items()}
    mechanisms = [_checked_mechanism(one, sources[one.graph.name].graph) for one in chosen]
    for one in chosen:
        if one.run is not None:
            sources[one.graph.name].read_groups(gateway, one.run, progress)
    for name, source in sources.items():
        source.count(m.k for one, m in zip(chosen, mechanisms, strict=True) if one.graph.name == name)
    return [_prepare_one(one, m, sources[one.graph.name]) for one, m in zip(chosen, mechanisms, strict=True)]


def prepare_beside(one: Prepared, other: Chosen) -> Prepared:
    """Prepare a release of the graph of another one on the arrays that this was read into, its groups read too.

    Raises:
        ParameterError, GraphError: as by `prepare`.
    """
    return _prepare_one(other, _checked_mechanism(other, one.source.graph), one.source)


def _checked_mechanism(one: Chosen, graph: Graph) -> AnyMechanism:
    mechanism = mechanism_of(one.asked, graph.vertex_count)
    if not isinstance(mechanism, Critical):
        mechanism.check_scales()
    check_keys(graph.keys.tolist(), one.asked.public.suffix)
    return mechanism


def _prepare_one(one: Chosen, mechanism: AnyMechanism, source: Source) -> Prepared:
    scales, find_scale = None, None
    if isinstance(mechanism, Critical):
        if one.run is None:
            raise GraphError("The mechanism critical rests on a run.")
        supports = source.largest_supports(one.run, mechanism.k)
        largest = supports.per_vertex.tolist()
        mechanism.check_scales(largest)
        scales = mechanism.scales(largest)
        utility = utility_of_critical(mechanism, scales, source.common_bounds(one.run), exact=supports.exact)
    else:
        find_scale = _scale_finder(mechanism, source, one.run)
        utility = utility_of_scale(mechanism)
    counts = source.counts(mechanism.k)
    losses = find_losses(source, mechanism.k, scales, one.run)
    return Prepared(
        uuid.uuid4().hex, one.asked, mechanism, source, one.run, counts, scales, find_scale, utility, losses
    )


def _scale_finder(mechanism: AnyMechanism, source: Source, run: Run | None) -> Callable[[Noise], Fraction]:
    """What finds λ by noise, over what each vertex sees, or the owner: computed now, so that it cannot fail later."""
    if isinstance(mechanism, Critical):
        raise GraphError("The mechanism critical finds its scales without noise.")
    if isinstance(mechanism, Edge):
        _, largest = source.common
        return lambda noise: mechanism.scale(largest, noise)
    if isinstance(mechanism, Elv):
        degrees, (common, _) = source.graph.degrees, source.common
    elif run is not None:
        degrees, common = source.inner_degrees(run), source.inner_common(run)
    else:
        raise GraphError("The mechanism published rests on a run.")
    return lambda noise: mechanism.scale(degrees.tolist(), common.__getitem__, noise)
