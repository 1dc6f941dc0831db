"""A release made ready: its graph and groups are read, and checked on the arrays it counts on; nothing is spent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Progress
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import PairAnswers
from pcneo.privacy.account import Spend
from pcneo.privacy.mechanisms import EARLIER_GROUPS, Drawn, Mechanism, Once, Scaling
from pcneo.privacy.noise import Noise
from pcneo.privacy.outlook import Earlier, Utility
from pcneo.release.choice import Chosen, spend_of
from pcneo.release.loss_summary import LossSummary, find_losses
from pcneo.release.outputs import check_keys
from pcneo.release.read_graph import ReadGraph, read_for_release
from pcneo.store.chosen_graph import require_key_index
from pcneo.store.database import Database, GraphRecord


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared(Chosen):
    """One release, ready to spend: its mechanism and number of vertices are those of the graph as it was read.

    Attributes:
        id: fresh, random.
        source: the graph as it was read.
        scaling: how the scales are found.
        utility: what may be shown before the spend.
        losses: of connections at scale 1; for the owner alone. None for a mechanism that adds no noise.
        figures: for the owner's report, about errors that do not follow from scales.
        answer_set: the release whose answers it is computed from, itself where it draws them; None for a mechanism that
            adds noise.
        earlier: what earlier releases of the graph have published about it.
        given: answers that were drawn before; None where they have yet to be drawn.
    """

    id: str
    source: ReadGraph
    scaling: Scaling
    utility: Utility
    losses: LossSummary | None
    figures: Mapping[str, object]
    answer_set: str | None = None
    given: AnsweredPairs | PairAnswers | None = None
    earlier: Earlier = Earlier()  # noqa: RUF009 - no one can change it

    @property
    def file(self) -> str:
        """Name of the public file."""
        return self.request.public.name

    @property
    def draws_answers(self) -> bool:
        """Whether it draws answers, and pays for them."""
        return self.answer_set == self.id

    @property
    def facts(self) -> CountedGraph:
        """What is counted on the graph and the run's groups: it must never leave without noise."""
        return self.source.facts(self.run, kept=self.kept)

    @property
    def promise(self) -> str:
        """The mechanism's sentence, and what must go with it."""
        # [kept-said]
        return f"{self.mechanism.promise} {EARLIER_GROUPS}" if self.kept else self.mechanism.promise

    @property
    def counts(self) -> NDArray[np.int64]:
        """Γ(v) over the whole graph, int64, shape (n,): must never leave without noise where t_v > 0."""
        return self.facts.counts(self.mechanism.k)

    @property
    def spend(self) -> Spend:
        """The spend that the ledger records."""
        is_free = not (self.mechanism.adds_noise or self.draws_answers)
        already_paid = self.mechanism.epsilon if is_free else self.already_paid
        return spend_of(self.mechanism, self.run, already_paid=already_paid)

    def draw(self, noise: Noise, once: Once) -> Drawn:
        """Draw once; return the scale and the noisy count of each vertex."""
        return self.mechanism.draw(self.facts, self.scaling, noise, once)


def prepare(db: Database, chosen: Sequence[Chosen], progress: Progress | None = None) -> list[Prepared]:
    """Read each graph and set of groups once, check them, and compute everything that takes no noise.

    `with_answer_sets` then sets whose answers each release is computed from.
    """
    graphs: dict[str, GraphRecord] = {}
    for choice in chosen:
        graphs.setdefault(choice.graph.name, choice.graph)
    for graph in graphs.values():
        require_key_index(db, graph.selection)
    sources = {name: read_for_release(db, graph, progress) for name, graph in graphs.items()}
    mechanisms = [_made(choice, sources[choice.graph.name]) for choice in chosen]
    for choice in chosen:
        if choice.run is not None and choice.kept:
            sources[choice.graph.name].read_kept_groups(db, choice.run, progress)
        elif choice.run is not None:
            sources[choice.graph.name].read_groups(db, choice.run, progress)
    for name, source in sources.items():
        source.facts().count(
            m.k for choice, m in zip(chosen, mechanisms, strict=True) if choice.graph.name == name and m.adds_noise
        )
    return [
        _prepare_one(choice, mechanism, sources[choice.graph.name])
        for choice, mechanism in zip(chosen, mechanisms, strict=True)
    ]


def _made(choice: Chosen, source: ReadGraph) -> Mechanism:
    """Make the mechanism, now that the graph is read; refuse what can be refused before counting."""
    mechanism = choice.mechanism.on(source.graph.vertex_count)
    mechanism.check_drawable()
    if mechanism.counts_vertices:
        check_keys(source.graph.keys.tolist(), choice.request.suffix)
    return mechanism


def _prepare_one(choice: Chosen, mechanism: Mechanism, source: ReadGraph) -> Prepared:
    facts = source.facts(choice.run, kept=choice.kept)
    if mechanism.adds_noise:
        facts.counts(mechanism.k)
    scaling = mechanism.scaling(facts)
    known = {
        **vars(choice),
        "request": replace(choice.request, mechanism=mechanism),
        "vertices": source.graph.vertex_count,
        "already_paid": choice.already_paid if mechanism.adds_noise else None,
    }
    return Prepared(
        **known,
        id=uuid.uuid4().hex,
        source=source,
        scaling=scaling,
        utility=mechanism.utility(facts, scaling),
        losses=find_losses(facts.graph, mechanism.k) if mechanism.adds_noise else None,
        figures=mechanism.owner_figures(facts),
    )
