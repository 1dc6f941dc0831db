"""What a mechanism says about itself; code that runs, charges, writes or audits releases asks here and nowhere else.

A new mechanism is one file beside this one (ARCHITECTURE.md#a-new-mechanism). It may refuse at four points, in this
order:

    check              when it is made, from nothing but what a person wrote
    complete           once the number of vertices, which is public, is known: first from the count store, then as read
    check_drawable     on the graph as read, before anything is counted
    check_facts        on exact facts, before anything is spent
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

from pcneo.basics.memo import Memo
from pcneo.basics.pair_answers import PairAnswers
from pcneo.errors import GraphError, ParameterError
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import decimal_text, exact_text, typed_text
from pcneo.privacy.facts import Answers, Facts
from pcneo.privacy.laplace import standard_error, sum_half_width
from pcneo.privacy.mechanisms.parameters import CliqueSizes, Exact, Vertices, whole, words_of
from pcneo.privacy.noise import Noise, add_noise
from pcneo.privacy.outlook import GUESSED_DEGREE, USUAL_DEGREE, Foresight, Public, Utility
from pcneo.privacy.plain_words import in_plain_words
from pcneo.privacy.protection import Protects
from pcneo.privacy.randomised_response import MOST_EPSILON

OWNER = "the owner, who sees the whole graph"


class InShort(NamedTuple):
    """What a person weighs before choosing a mechanism, one line each.

    Attributes:
        promises: what no attacker can learn more about than ε allows.
        exact: which numbers are published without noise.
        shows: what a release gives away even though its promise holds.
    """

    promises: str
    exact: str
    shows: str


class Once(Memo):
    """What several releases draw once, by name."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The numbers of one release.

    Attributes:
        counts: Γ*(v) by vertex.
        scale: λ of the noise in them, or in the total that they are modelled from; None where no noise was added.
        columns: what is published for each vertex beside its key, by name; only `counts` by default.
        record: what else is published, in place of what follows from counts and scale.
        remark: what to print for the owner with the counts; it follows from what is published.
    """

    counts: Sequence[int]
    scale: Fraction | None
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    remark: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Mechanism(ABC):
    """How a release is made private, and what it may spend: a value, checked when it is made.

    A parameter that is left out is None until the number of vertices, which is public, is known; the mechanism then
    fills it in.

    Attributes:
        epsilon: ε of one release, exactly.
        k: vertices in each clique that is counted, at least 3; several sizes for a release that shares what it draws.
        n: vertices in the graph; None until `on`.
    """

    epsilon: Exact = Exact(needed=True)
    k: CliqueSizes = CliqueSizes()
    n: Vertices = Vertices()

    name: ClassVar[str]
    run_by: ClassVar[str]
    promise: ClassVar[str]
    """One sentence, printed with every release."""
    in_short: ClassVar[InShort]
    """What to weigh before choosing it."""
    protects: ClassVar[Protects]
    """The kind of promise, by which the ledger adds up releases."""
    needs_groups: ClassVar[bool]
    """Whether it rests on the stored cohesions of a run."""
    searches: ClassVar[tuple[str, ...]] = ()
    """Names of the searches whose runs it may rest on, the preferred one first; empty for all."""
    publishes_scale: ClassVar[bool] = False
    """Whether the scale may be published, with the standard error that follows from it."""
    adds_noise: ClassVar[bool] = True
    """Whether exact counts get noise; if not, everything is computed from what `answered` draws."""
    between_parties: ClassVar[bool] = False
    """Whether each vertex can answer for itself, from its own row."""
    shares_bound: ClassVar[bool] = False
    """Whether releases that differ in k or mechanism can rest on one bound of common neighbours, C*."""
    counts_vertices: ClassVar[bool] = True
    """Whether each vertex gets a number; if not, only the graph's total is published."""
    of_columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "key": "the vertex's key",
            "count": "how many {k}-cliques contain the vertex, with noise: a whole number",
            "clipped": "count, cut to what is possible: closer to the truth, but biased",
            "smoothed": "count, drawn towards the mean of all: closer to the truth, but biased",
        }
    )
    """What each published column is; `{k}` stands for k."""
    of_negatives: ClassVar[str] = (
        "Noise goes both ways, so a count can be below 0. Leave it as it is: cut at 0, the counts add up to too much."
    )
    """Why a count can be negative."""
    without: ClassVar[frozenset[str]] = frozenset()
    """Parameters that its base class has and it does not."""
    of_single_counts: ClassVar[str] = ""
    """What to say about the error of single counts where noise does not decide it, so that no error is foreseen."""
    loses_by_scale: ClassVar[bool] = True
    """Whether only counts with noise of scale λ are published beside λ, so that a connection's loss follows from λ."""

    def __post_init__(self) -> None:
        """Refuse values out of range; where n is known, fill in those that were left out (GUARANTEE.md#refused)."""
        for name in self.without:
            if vars(self)[name]:
                self.refuse_foreign(name, vars(self)[name])
        if len(self.ks) > 1:
            if self.n is not None:
                raise ParameterError("A mechanism for a particular graph takes only one k.", name="k", value=self.k)
            self.of_each_k()
            return
        whole("k", self.k, at_least=3)
        if self.n is not None and self.n < 1:
            raise GraphError("The graph has no vertices: there are no counts to release.")
        self.check()
        if self.n is not None:
            self.complete()

    def check(self) -> None:  # noqa: B027 - what every mechanism refuses is above
        """Refuse, by a ParameterError, what is out of this mechanism's own range, as far as that needs no graph."""

    def complete(self) -> None:  # noqa: B027 - not every mechanism has defaults
        """Fill in what was left out, now that n is known; refuse what does not fit n."""

    def check_protects(self) -> None:
        """Refuse, for a release, an ε at which nothing would be protected; the proofs hold for any ε."""
        if self.epsilon > MOST_EPSILON:
            raise ParameterError(
                f"epsilon of {self.name} must be at most {MOST_EPSILON}, not {exact_text(self.epsilon)}: above that "
                "the noise is so small that it would hide nothing.",
                name="epsilon",
                value=self.epsilon,
            )

    def fill(self, name: str, value: object) -> None:
        """Set a parameter that was left out."""
        if vars(self)[name] is None:
            object.__setattr__(self, name, value)

    def on(self, n: int) -> Self:
        """Return it for a graph of n vertices, with every parameter."""
        return replace(self, n=n)

    @classmethod
    def parameter_names(cls) -> frozenset[str]:
        """Return the names of its parameters, n among them."""
        return frozenset(field.name for field in fields(cls)) - cls.without

    @classmethod
    def taking(cls, **given: Any) -> Self:
        """Return it with those of the given parameters that it has and that are not None."""
        names = cls.parameter_names()
        return cls(**{name: value for name, value in given.items() if name in names and value is not None})

    @classmethod
    def refuse_foreign(cls, name: str, value: object) -> NoReturn:
        """Refuse a parameter that it does not have: silently dropped, it would look as if it had been heeded."""
        words = words_of(name)
        raise ParameterError(f"The mechanism {cls.name} has no {words}; leave it out.", name=words, value=value)

    @property
    def ks(self) -> tuple[int, ...]:
        """Every k."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    def of_each_k(self) -> tuple[Self, ...]:
        """Return one mechanism for each k."""
        return tuple(replace(self, k=k) for k in self.ks)

    def parameter(self, name: str) -> Any:
        """Return a parameter by name; None for one that it does not have or that is not filled in yet."""
        return vars(self).get(name)

    def __repr__(self) -> str:
        """Return it as a person writes it, without the parameters that are not filled in yet."""
        given = {field.name: vars(self)[field.name] for field in sorted(fields(self), key=lambda f: f.name != "k")}
        texts = {name: typed_text(x) if isinstance(x, Fraction) else x for name, x in given.items()}
        shown = ", ".join(f"{name}={x}" for name, x in texts.items() if x is not None and x is not False)
        return f"{type(self).__name__}({shown})"

    # --- Costs

    @property
    def spent_delta(self) -> Fraction:
        """δ as outputs and the ledger record it: 0 for a mechanism without δ."""
        return self.parameter("delta") or Fraction(0)

    @property
    def entry(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) as one release enters them into the ledger; `protects` decides what they are worth there."""
        return self.epsilon, self.spent_delta

    @abstractmethod
    def cost(self, inside: int, outside: int = 0) -> Cost:
        """The privacy map: the cost of changing `inside` connections inside stored groups and `outside` others."""

    # --- From exact facts to noisy counts

    def check_drawable(self) -> None:  # noqa: B027 - most mechanisms have nothing to refuse
        """Refuse, before anything is counted, parameters with which a scale could turn out impossible to draw."""

    def check_facts(self, facts: Facts) -> None:
        """Compute every fact that `draw` needs, so that nothing can fail after the spend; refuse what does not fit."""
        if self.adds_noise:
            facts.counts(self.k)

    def find_scale(self, facts: Facts, noise: Noise, once: Once | None = None) -> Fraction:
        """Return λ, drawing where finding it takes noise; for a mechanism that adds noise."""
        raise NotImplementedError

    def draw(self, facts: Facts, noise: Noise, once: Once | None = None) -> Drawn:
        """Draw once: λ, where finding it takes noise, then the counts.

        `once` has what releases that share with this one have drawn already; that is not drawn again.
        """
        scale = self.find_scale(facts, noise, once)
        return Drawn(self.noisy_counts(self.exact(facts), scale, noise), scale)

    def exact(self, facts: Facts) -> list[int]:
        """Return the numbers that get noise: Γ(v) of each vertex, or the number of the graph's k-cliques."""
        counts = facts.counts(self.k).tolist()
        return counts if self.counts_vertices else [sum(counts) // self.k]

    @property
    def times_counted(self) -> int:
        """How many times a clique is counted in the sum of the numbers that get noise: at each vertex, or once."""
        return self.k if self.counts_vertices else 1

    @property
    def size(self) -> int:
        """How many numbers get noise of scale λ."""
        return self.n if self.counts_vertices else 1

    def error_of_total(self, scale: Fraction) -> float:
        """Return the standard error of the total where λ is `scale`."""
        return standard_error(scale, self.size) / self.times_counted

    def half_width_of_total(self, scale: Fraction) -> float:
        """Return half the width of the 95 % interval of the total where λ is `scale`."""
        return sum_half_width(scale, self.size) / self.times_counted

    @property
    def threshold(self) -> int:
        """a, out of 2^24: an answer is flipped if its coin is below a; for a mechanism that adds no noise."""
        raise NotImplementedError

    def answered(self, facts: Facts, noise: Noise) -> Answers | PairAnswers:
        """Draw one answer for every pair, once; for a mechanism that adds no noise."""
        raise NotImplementedError

    def compute(self, answers: Any, facts: Facts) -> Drawn:
        """Return what is published, computed from answers; for a mechanism that has answers."""
        raise NotImplementedError

    def noisy_counts(self, counts: Sequence[int], scale: Fraction, noise: Noise) -> list[int]:
        """Return Γ*(v) for each vertex, drawing once for each."""
        return add_noise(counts, scale, noise)

    # --- What may be said before the spend (GUARANTEE.md#utility)

    def utility(self, facts: Facts) -> Utility:
        """Return how noisy the release will be, as far as that may be said; empty unless a mechanism knows more."""
        return Utility()

    def owner_figures(self, facts: Facts) -> Mapping[str, object]:
        """Return what the owner's report states about the size of the errors; empty where it follows from scales."""
        return {}

    def describe(self, utility: Utility, mean_degree: float = USUAL_DEGREE) -> str:
        """Describe what `utility` returned; anything that follows from private facts is marked as the owner's."""
        return f"{self.heading}."

    def describe_from(self, release: str) -> str:
        """Describe numbers that are computed from the answers of an earlier release."""
        return f"{self.heading}: computed from the answers of release {release}, at no further cost."

    def answers_would_show(self, mean_degree: float = USUAL_DEGREE, degree_is: str = GUESSED_DEGREE) -> str:
        """Say what a new set of answers would give away, from public numbers only; empty without answers."""
        return ""

    # --- What a public file says to its reader

    def column_meanings(self, names: Iterable[str]) -> dict[str, str]:
        """Return a description of each published column, for its reader."""
        return {name: self.of_columns[name].format(k=self.k) for name in names}

    @property
    def total_meaning(self) -> str:
        """Return what the total is."""
        if not self.counts_vertices:
            return f"how many {self.k}-cliques the graph has, with noise"
        return f"the sum of the column count, divided by {self.k}: each {self.k}-clique is counted at {self.k} vertices"

    def foresee(self, public: Public) -> Foresight:
        """Return what follows from n and from what the owner states; empty where groups decide."""
        return Foresight()

    @property
    def doubt(self) -> str:
        """Why counts might be no closer to the truth than zeros, whatever the graph; empty without such a doubt."""
        return ""

    @property
    def in_plain_words(self) -> str:
        """The promise with its numbers, for people who decide; empty where nothing is promised."""
        return in_plain_words(*self.entry, self.protects)

    @property
    def heading(self) -> str:
        """Name, k and ε, for a person."""
        return f"{self.name}, k={self.k}, ε={exact_text(self.epsilon)}"

    # --- What an audit looks at (GUARANTEE.md#loss-of-one-connection)

    @property
    def promised(self) -> str:
        """The promise in a few words, for a table."""
        epsilon, delta = self.entry
        pair = "a pair inside a group, given the rest"
        which = {Protects.EVERY_CONNECTION: "any one connection", Protects.PAIRS_INSIDE_GROUPS: pair}
        if self.protects not in which:
            return "nothing"
        but = f", δ={decimal_text(delta)}".replace("=≈", "≈") if delta else ""
        return f"ε={decimal_text(epsilon)}{but}: {which[self.protects]}"

    def divides_loss(self, scale: Fraction) -> Fraction:
        """Return what to divide a pair's k·support by to get its loss, where all noise has one scale."""
        return scale * self.k / self.times_counted
