"""What a mechanism says about itself; whatever runs, charges, writes or audits releases asks here and nowhere else.

A new mechanism is one file beside this one, ARCHITECTURE.md#a-new-mechanism. What it may refuse, in the order in which
it is asked:

    in_range           at once, from what a person wrote alone
    completed          once the number of vertices, which is public, is known: from the count store, then as read
    check_drawable     on the graph as read, before anything is counted
    scaling            on exact facts, before anything is spent
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import decimal_text, exact_text, positive
from pcneo.privacy.facts import Answers, Facts, PairAnswers
from pcneo.privacy.mechanisms.parameters import MechanismRequest, Parameters
from pcneo.privacy.mechanisms.scaling import Drawn, Once, Scaling
from pcneo.privacy.noise import Noise, add_noise
from pcneo.privacy.outlook import Foresight, Public, Utility
from pcneo.privacy.plain_words import in_plain_words
from pcneo.privacy.protection import Protects

__all__ = ["OWNER", "InShort", "Mechanism"]

OWNER = "the owner, who sees the whole graph"

R = TypeVar("R", bound=MechanismRequest)

_PARAMETERS = tuple(field.name for field in fields(Parameters))
_REQUESTED = {field.name for field in fields(MechanismRequest)} & set(_PARAMETERS)


class InShort(NamedTuple):
    """What a person weighs before choosing a mechanism, a line each.

    Attributes:
        promises: what no attacker learns more of than ε allows.
        exact: which numbers are published without noise.
        shows: what a release gives away although its promise holds.
    """

    promises: str
    exact: str
    shows: str


@dataclass(frozen=True)
class Mechanism(ABC):
    """What every mechanism has. Its parameters are those of its fields whose names `Parameters` has.

    Attributes:
        k: vertices of the cliques that are counted, at least 3.
        epsilon: ε of one release.
    """

    k: int
    epsilon: Fraction

    name: ClassVar[str]
    run_by: ClassVar[str]
    promise: ClassVar[str]
    """One sentence, printed with every release."""
    in_short: ClassVar[InShort]
    """What to weigh before choosing it."""
    protects: ClassVar[Protects]
    """The kind of promise, by which the ledger adds up."""
    needs_groups: ClassVar[bool]
    """Whether it rests on the stored cohesions of a run."""
    searches: ClassVar[tuple[str, ...]] = ()
    """Names of the searches whose runs it may rest on, the one to take first; empty for all."""
    publishes_scale: ClassVar[bool] = False
    """Whether the scale may be published, with the standard error that follows from it."""
    adds_noise: ClassVar[bool] = True
    """Whether exact counts get noise; if not, all is computed from what `answered` draws."""
    shares_bound: ClassVar[bool] = False
    """Whether releases that differ in k or mechanism can rest on one bound of common neighbours, C*."""
    counts_vertices: ClassVar[bool] = True
    """Whether each vertex gets a number; if not, the graph's total is published alone."""
    of_columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "key": "the vertex's key",
            "count": "how many {k}-cliques contain the vertex, with noise: a whole number",
            "clipped": "count, cut to what is possible: nearer, and biased",
            "smoothed": "count, drawn towards the mean of all: nearer, and biased",
        }
    )
    """What each published column is; `{k}` stands for k."""
    of_negatives: ClassVar[str] = (
        "Noise goes both ways, so a count can be below 0. Leave it so: cut at 0, counts add up to too much."
    )
    """Why a count can be negative."""
    without: ClassVar[frozenset[str]] = frozenset()
    """Parameters that its form has, and it has not."""
    loses_by_scale: ClassVar[bool] = True
    """Whether all that is published beside λ is counts with noise of scale λ, by which a connection's loss follows."""

    def __post_init__(self) -> None:
        """Refuse what is out of range, and keep numbers of privacy as fractions (GUARANTEE.md#refused)."""
        parameters = self.parameters
        for name in self.parameter_names():
            object.__setattr__(self, name, getattr(parameters, name))
        self.in_range(parameters)

    # --- From a request to a mechanism

    @classmethod
    def parameter_names(cls) -> frozenset[str]:
        """Return which of the names in `Parameters` this mechanism has."""
        return (frozenset(field.name for field in fields(cls)) & frozenset(_PARAMETERS)) - cls.without

    @classmethod
    def adapted(cls, request: R) -> R:
        """Return a request for this mechanism with all parameters of another request that it has."""
        foreign = dict.fromkeys(_REQUESTED - cls.parameter_names())
        return replace(request, mechanism=cls.name, **foreign)

    @classmethod
    def parameters_of(cls, request: MechanismRequest) -> Parameters:
        """Read the parameters; defaults stay None.

        Raises:
            ParameterError: one is out of range, or is given to a mechanism that has none.
        """
        epsilon = positive(request.epsilon, "epsilon")
        for name in _PARAMETERS:
            value = getattr(request, name, None)
            if value is not None and name not in cls.parameter_names():
                # Dropping it would look as if it had been heeded.
                raise ParameterError(
                    f"The mechanism {cls.name} has no {_words(name)}; leave it out.", name=_words(name), value=value
                )
        return cls.in_range(
            Parameters(
                k=request.k,
                epsilon=epsilon,
                delta=None if request.delta is None else positive(request.delta, "delta", below=1),
                epsilon_1=None if request.epsilon_1 is None else positive(request.epsilon_1, "epsilon 1"),
                h=request.h,
                large=request.large,
                clip=request.clip,
                smooth=request.smooth,
            )
        )

    @classmethod
    def in_range(cls, parameters: Parameters) -> Parameters:
        """Return the parameters, or refuse those out of this mechanism's own range, as far as that needs no graph.

        Raises:
            ParameterError: names the parameter.
        """
        return parameters

    @classmethod
    def completed(cls, parameters: Parameters, n: int) -> Parameters:
        """Return the parameters with defaults filled in, and refuse what does not fit n.

        Raises:
            GraphError: there are no vertices.
            ParameterError: a parameter does not fit n vertices.
        """
        if n < 1:
            raise GraphError("The graph has no vertices: there are no counts to release.")
        return parameters

    @classmethod
    def of(cls, parameters: Parameters, n: int) -> Self:
        """Return the mechanism for a graph of n vertices.

        Raises:
            GraphError, ParameterError: as `completed` does.
        """
        values = {**vars(cls.completed(parameters, n)), "n": n}
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    @classmethod
    def make(
        cls,
        *,
        k: int = 3,
        epsilon: object,
        n: int,
        delta: object = None,
        epsilon_1: object = None,
        h: int | None = None,
        large: bool | None = None,
    ) -> Self:
        """Return the mechanism from what a person may write, with defaults for the rest.

        Args:
            k: vertices of the cliques.
            epsilon: ε, a number or its text.
            n: vertices of the graph.
            delta: δ; unless given, min(1e-6, 1/n²).
            epsilon_1: ε1; unless given, by the mechanism's own rule.
            h: unless given, min(3, n).
            large: whether a graph is meant that is too large to be taken by mistake.

        Raises:
            ParameterError: something is out of range, or given to a mechanism that has no such parameter.
            GraphError: the graph has no vertices.
        """
        request = MechanismRequest(
            mechanism=cls.name, k=k, epsilon=epsilon, delta=delta, epsilon_1=epsilon_1, h=h, large=large
        )
        return cls.of(cls.parameters_of(request), n)

    # --- Parameters and costs

    @property
    def parameters(self) -> Parameters:
        """Its parameters, as the ledger and the outputs show them."""
        return Parameters(**{name: getattr(self, name) for name in self.parameter_names()})

    @classmethod
    def entry(cls, parameters: Parameters) -> tuple[Fraction, Fraction]:
        """Return (ε, δ) as one release enters them into the ledger; `protects` says what they are worth there."""
        return parameters.epsilon, parameters.spent_delta

    @abstractmethod
    def cost(self, inside: int, outside: int = 0) -> Cost:
        """The privacy map: what a change of so many connections inside stored groups, and so many outside, costs."""

    # --- From exact facts to noisy counts

    def check_drawable(self) -> None:  # noqa: B027 - most mechanisms have nothing to refuse
        """Refuse, before anything is counted, parameters with which a scale could turn out impossible to draw.

        Raises:
            ParameterError: a possible scale cannot be handed to the sampler.
        """

    @abstractmethod
    def scaling(self, facts: Facts) -> Scaling:
        """Return how the scales come about; every fact is computed here, so that none can fail after the spend.

        Raises:
            GraphError: a fact cannot be had.
            ParameterError: a scale cannot be handed to the sampler.
        """

    def draw(self, facts: Facts, scaling: Scaling, noise: Noise) -> Drawn:
        """Draw once: the scales where they take noise, then the counts."""
        scales = scaling.draw(noise)
        return Drawn(self.noisy_counts(self.exact(facts), scales, noise), scales)

    def draw_beside(self, facts: Facts, scaling: Scaling, noise: Noise, once: Once) -> Drawn:
        """Draw, but for what releases beside this one have drawn for all of them."""
        return self.draw(facts, scaling, noise)

    def exact(self, facts: Facts) -> list[int]:
        """Return what gets noise: Γ(v) of each vertex, or the number of the graph's k-cliques."""
        counts = facts.counts(self.k).tolist()
        return counts if self.counts_vertices else [sum(counts) // self.k]

    @property
    def times_counted(self) -> int:
        """How often a clique is in the sum of what gets noise: at each of its vertices, or once."""
        return self.k if self.counts_vertices else 1

    @property
    def threshold(self) -> int:
        """a, of 2^24: an answer is flipped where its coin is below it; for a mechanism that adds no noise."""
        raise NotImplementedError

    def answered(self, facts: Facts, noise: Noise) -> Answers | PairAnswers:
        """Draw one answer for every pair, once; for a mechanism that adds no noise."""
        raise NotImplementedError

    def compute(self, answers: Any, facts: Facts, noise: Noise) -> Drawn:
        """Return what is published beside answers; for a mechanism that has some.

        Raises:
            AnswerError: the numbers fail their check; the answers are not lost.
        """
        raise NotImplementedError

    def noisy_counts(self, counts: Sequence[int], scales: Sequence[Fraction], noise: Noise) -> list[int]:
        """Return Γ*(v) for each vertex, drawing once for each whose scale is not 0."""
        return add_noise(counts, scales, noise)

    # --- What may be said before the spend (GUARANTEE.md#utility)

    def utility(self, facts: Facts, scaling: Scaling) -> Utility:
        """Return how noisy the release will be, as far as that may be said; nothing unless a mechanism knows more."""
        return Utility()

    def owner_figures(self, facts: Facts) -> Mapping[str, object]:
        """Return what the owner's report says of how far the numbers are off; nothing where it follows from scales."""
        return {}

    def describe(self, utility: Utility) -> str:
        """Say what `utility` returned in words; what follows from private facts is marked as the owner's."""
        return f"{self.heading}."

    def describe_from(self, release: str) -> str:
        """Say the same of numbers that are computed from the answers of an earlier release."""
        return f"{self.heading}: computed from the answers of release {release}, which cost nothing more."

    def answers_would_show(self) -> str:
        """Say what a new set of answers would give away, from public numbers alone; empty without answers."""
        return ""

    # --- What a public file says to its reader

    def told_of_columns(self, names: Iterable[str]) -> dict[str, str]:
        """Return what each published column is, for its reader."""
        return {name: self.of_columns[name].format(k=self.k) for name in names}

    @property
    def told_of_total(self) -> str:
        """Say what the total is."""
        if not self.counts_vertices:
            return f"how many {self.k}-cliques the graph has, with noise"
        return f"the sum of the column count, divided by {self.k}: each {self.k}-clique is counted at {self.k} vertices"

    def foresee(self, public: Public) -> Foresight:
        """Return what follows from n and from what the owner states; nothing where groups decide."""
        return Foresight()

    @property
    def doubt(self) -> str:
        """Why counts would be no nearer than zeros, whatever the graph; empty where that is not so."""
        return ""

    @property
    def in_plain_words(self) -> str:
        """The promise with its numbers, for people who decide; empty where nothing is promised."""
        return in_plain_words(*self.entry(self.parameters), self.protects)

    @property
    def heading(self) -> str:
        """Name, k and ε, for a person."""
        return f"{self.name}, k={self.k}, ε={exact_text(self.epsilon)}"

    # --- What an audit looks at (GUARANTEE.md#loss-of-one-connection)

    @property
    def promised(self) -> str:
        """The promise in a few words, for a table; empty for nothing."""
        epsilon, delta = self.entry(self.parameters)
        pair = "a pair inside a group, given the rest"
        which = {Protects.EVERY_CONNECTION: "any one connection", Protects.PAIRS_INSIDE_GROUPS: pair}
        if self.protects not in which:
            return "nothing"
        but = f", δ={decimal_text(delta)}" if delta else ""
        return f"ε={decimal_text(epsilon)}{but}: {which[self.protects]}"

    def promised_loss(self, *, inside: bool) -> Fraction | None:
        """Return what one pair costs at most at fixed scales, as the mechanism or its paper says; None for nothing.

        Args:
            inside: whether the pair lies inside a group.
        """
        if self.protects is Protects.NOTHING or (self.protects is Protects.PAIRS_INSIDE_GROUPS and not inside):
            return None
        return self.epsilon

    def divides_loss(self, scale: Fraction) -> Fraction:
        """Return what divides k·support of a pair to give its loss, where all noise has one scale."""
        return scale * self.k / self.times_counted


def _words(name: str) -> str:
    return name.replace("_", " ")
