"""A release on its way: from the choice of its graph and its groups to what is drawn on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.pair_answers import PairAnswers
from pcneo.basics.run_record import RunRecord
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.privacy.account import Spend
from pcneo.privacy.composition import Cost
from pcneo.privacy.mechanisms import EARLIER_GROUPS, Mechanism
from pcneo.privacy.outlook import Earlier, Utility
from pcneo.privacy.plain_words import in_plain_words
from pcneo.release.read_graph import ReadGraph
from pcneo.release.request import Release
from pcneo.store.database import GraphRecord


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """One release with its graph and its run: all that a refusal rests on, then what it takes to draw it.

    Only `prepare` reads the graph; before that, what needs `source.graph` raises an AttributeError.

    Attributes:
        request: what was asked for; its mechanism still lacks what follows from the number of vertices.
        source: its graph; one that pcneo does not know yet is entered just before the spend.
        run: the stored run with the groups; None without groups.
        vertices: their number by the run or the count store, until the graph is read.
        id: fresh, random; empty until the graph is read.
        already_paid: the part of ε, along with δ, that another release pays, in this call or before it; None if none
            does.
        together: what releases that share a bound cost together, for their readers; empty where nothing is shared.
        joint: that cost; None where nothing is shared.
        answer_set: the release whose answers it is computed from, itself where it draws them; None for a mechanism that
            adds noise, and until the graph is read.
        given: answers that were drawn before; None where they have yet to be drawn.
        earlier: what earlier releases of the graph have published about it.
    """

    request: Release
    source: ReadGraph
    run: RunRecord | None
    vertices: int
    id: str = ""
    already_paid: Fraction | None = None
    together: str = ""
    joint: Cost | None = None
    answer_set: str | None = None
    given: AnsweredPairs | PairAnswers | None = None
    earlier: Earlier = Earlier()  # noqa: RUF009 - no one can change it

    @property
    def graph(self) -> GraphRecord:
        """The graph as the database knows it."""
        return self.source.record

    @cached_property
    def mechanism(self) -> Mechanism:
        """How it is made private, with every parameter."""
        return self.request.mechanism.on(self.vertices)

    @property
    def kept(self) -> bool:
        """Whether the run is at a version that was asked for by number, however the graph has changed since."""
        return self.request.groups is not None

    @property
    def file(self) -> str:
        """Name of the public file."""
        return self.request.public.name

    @property
    def naming(self) -> str:
        """How the public file names vertices; empty where it does not."""
        if not self.mechanism.counts_vertices:
            return ""
        return f"The public file names each vertex by its property {self.graph.selection.key!r}, for everyone to see."

    @property
    def of_answers(self) -> tuple[object, ...]:
        """What releases computed from one set of answers have in common; two rows of a batch never share it."""
        run = self.run and (self.run.id, self.run.version, self.kept)
        share = self.request.share or self.request.to
        return self.graph.name, self.mechanism.name, self.mechanism.epsilon, run, share

    @property
    def draws_answers(self) -> bool:
        """Whether it draws answers, and pays for them."""
        return self.answer_set == self.id

    @property
    def spend(self) -> Spend:
        """The spend that the ledger records: what is not already paid for."""
        epsilon, delta = self.mechanism.entry
        if self.already_paid is not None:
            epsilon, delta = epsilon - self.already_paid, Fraction(0)
        return Spend(self.mechanism.name, epsilon, delta, self.run.membership_hash if self.run else None)

    @property
    def promise(self) -> str:
        """The mechanism's sentence, and what must go with it."""
        # [kept-said]
        return f"{self.mechanism.promise} {EARLIER_GROUPS}" if self.kept else self.mechanism.promise

    @property
    def in_plain_words(self) -> str:
        """The promise with its numbers; where files share a bound, that of all of them, which are read together."""
        if self.joint is None or self.joint.epsilon is None:
            return self.mechanism.in_plain_words
        words = in_plain_words(self.joint.epsilon, self.joint.delta, self.mechanism.protects)
        return f"{words} That is for all files that rest on one bound of common neighbours, read together."

    # --- What follows from the graph

    @property
    def facts(self) -> CountedGraph:
        """What is counted on the graph and the run's groups: it must never leave without noise."""
        return self.source.facts(self.run, kept=self.kept)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Γ(v) over the whole graph, int64, shape (n,): must never leave without noise."""
        return self.facts.counts(self.mechanism.k)

    @cached_property
    def utility(self) -> Utility:
        """What may be shown before the spend."""
        return self.mechanism.utility(self.facts)

    @cached_property
    def losses(self) -> tuple[float, ...] | None:
        """Quantiles of those of connections at scale 1, for the owner alone; None where λ does not decide them."""
        mechanism = self.mechanism
        return self.source.losses(mechanism.k) if mechanism.adds_noise and mechanism.loses_by_scale else None

    @cached_property
    def shares_of_groups(self) -> Mapping[str, float | None]:
        """For the owner's report, how many connections the groups hold; empty without groups."""
        return {} if self.run is None else self.source.shares_of_groups(self.run, kept=self.kept)

    @cached_property
    def figures(self) -> Mapping[str, object]:
        """For the owner's report, about errors that do not follow from scales."""
        return self.mechanism.owner_figures(self.facts)
