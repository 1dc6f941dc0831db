"""The mechanisms as objects: what they refuse, what changes cost, how scales follow, and the wall between two rooms."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import discrete_laplace
import numpy as np
import pytest

from pcneo.counting.counted import CountedGraph
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy import collector, vertex
from pcneo.privacy.composition import NOTHING, UNBOUNDED, Cost
from pcneo.privacy.laplace import pad
from pcneo.privacy.mechanisms import (
    MECHANISMS,
    Critical,
    Edge,
    Elv,
    Mechanism,
    Modelled,
    OneScale,
    Published,
    Respond,
    Total,
    TwoPhases,
    mechanism_named,
    mechanism_of,
)
from pcneo.privacy.noise import SimulatedNoise, handed_scale
from pcneo.release import Release
from pcneo.search import search_all

F = Fraction
NAMES = ["critical", "respond", "modelled", "total", "edge", "elv", "published"]
WITH_DELTA = NAMES[2:]
TWO_PHASES = [Elv, Published]


def make(name: str, **changed: object) -> Mechanism:
    return mechanism_of(name, **{"k": 3, "epsilon": "1", "n": 100, **changed})


def no_noise() -> SimulatedNoise:
    return SimulatedNoise(lambda scale, size: [0] * size)


# --- Parameters


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", float("nan"), 0, None, "1/0", "much"], ids=repr)
def test_an_epsilon_that_is_not_positive_and_finite_is_refused(name: str, epsilon: object) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon must be"):
        make(name, epsilon=epsilon)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [3, (3, 4)])
def test_an_epsilon_at_which_nothing_is_protected_is_refused_of_every_mechanism(name: str, k: object) -> None:
    assert mechanism_of(name, epsilon=16, k=k).epsilon == 16
    with pytest.raises(ParameterError, match=rf"epsilon of {name} must be .*16, not 100"):
        mechanism_of(name, epsilon=100, k=k)
    with pytest.raises(ParameterError, match="epsilon of edge must be at most 16, not 17"):
        Release(to="counts.csv", mechanism=Edge(epsilon=17))


@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize("delta", ["0", "-1", "nan", "inf", "1", 1.5, float("nan")], ids=repr)
def test_a_delta_outside_0_and_1_is_refused(name: str, delta: object) -> None:
    with pytest.raises(ParameterError, match=r"^delta must be"):
        make(name, delta=delta)


@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize("epsilon_1", ["0", "-1", "nan", "inf", float("nan")], ids=repr)
def test_an_epsilon_1_that_is_not_positive_and_finite_is_refused(name: str, epsilon_1: object) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon 1 must be"):
        make(name, epsilon_1=epsilon_1)


@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize("epsilon_1", ["1", "1.0000000000000000000001", "7"])
def test_an_epsilon_1_that_leaves_nothing_for_the_counts_is_refused(name: str, epsilon_1: str) -> None:
    with pytest.raises(ParameterError, match="is not below 1"):
        make(name, epsilon_1=epsilon_1)


@pytest.mark.parametrize("name", ["elv", "published"])
@pytest.mark.parametrize("h", [0, -1, 101, 2.0, "3", True])
def test_an_h_outside_1_and_n_is_refused(name: str, h: object) -> None:
    with pytest.raises(ParameterError, match=r"^h must be a whole number from 1 to 100"):
        make(name, h=h)


@pytest.mark.parametrize("kind", TWO_PHASES)
def test_what_does_not_fit_the_number_of_vertices_is_refused_once_it_is_known(
    kind: type[TwoPhases],
) -> None:
    made = kind(epsilon=1, h=8)
    assert made.on(8).h == 8
    with pytest.raises(ParameterError, match="h must be a whole number from 1 to 7, not 8"):
        made.on(7)
    with pytest.raises(GraphError, match="no vertices"):
        made.on(0)


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_takes_of_what_is_given_what_it_has(name: str) -> None:
    made = mechanism_named(name).taking(k=4, epsilon="1", delta="0.1", epsilon_1="0.2", h=2)
    assert (made.name, made.k, made.epsilon) == (name, 4, 1)
    assert {field for field in ("delta", "epsilon_1", "h") if made.parameter(field) is not None} == {
        "critical": set(), "edge": {"delta", "epsilon_1"}, "elv": {"delta", "epsilon_1", "h"},
        "published": {"delta", "epsilon_1", "h"}, "respond": set(), "total": {"delta", "epsilon_1"},
        "modelled": {"delta", "epsilon_1"},
    }[name]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 0, -3, 3.0, "3", True, float("nan")], ids=repr)
def test_a_k_below_3_or_no_whole_number_is_refused(name: str, k: object) -> None:
    with pytest.raises(ParameterError, match=r"^k must be a whole number (of at least 3|from 3 to 4)"):
        make(name, k=k)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("critical", {"delta": "0.1"}),
        ("critical", {"epsilon_1": "0.1"}),
        ("critical", {"h": 3}),
        ("critical", {"delta": 0}),
        ("edge", {"h": 3}),
        ("edge", {"h": 0}),
    ],
    ids=str,
)
def test_a_parameter_that_a_mechanism_has_not_is_refused(name: str, given: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=f"mechanism {name} has no"):
        make(name, **given)


def test_an_unknown_mechanism_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(ParameterError, match="critical, respond, modelled, total, edge, elv, published, not 'Edge'"):
        make("Edge")


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_without_vertices_has_nothing_to_release(name: str) -> None:
    with pytest.raises(GraphError, match="no vertices"):
        make(name, n=0)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_what_is_switched_on_is_true_or_false(value: Any) -> None:
    with pytest.raises(ParameterError, match="clip must be True or False, not"):
        Critical(epsilon=1, clip=value)


def test_the_objects_themselves_refuse_and_keep_fractions() -> None:
    with pytest.raises(ParameterError):
        Edge(epsilon=1, n=10, delta=1, epsilon_1="1/2")
    with pytest.raises(ParameterError):
        Elv(epsilon=1, n=10, delta="1/2", epsilon_1="1/2", h=11)
    with pytest.raises(ParameterError, match=r"^k must be"):
        Edge(k=None, epsilon=1)  # pyright: ignore[reportArgumentType]
    critical: Any = Critical(epsilon="0.1", n=9)
    assert critical.epsilon == F(1, 10)
    with pytest.raises(dataclasses.FrozenInstanceError):
        critical.epsilon = F(2)


@pytest.mark.parametrize(("n", "delta"), [(1, F(1, 10**6)), (999, F(1, 10**6)), (1001, F(1, 1001**2))])
def test_the_defaults_are_those_of_the_document(n: int, delta: Fraction) -> None:
    mechanism = Elv(k=3, epsilon="0.7", n=n)
    assert mechanism == Elv(epsilon=F(7, 10), n=n, delta=delta, epsilon_1=F(7, 100), h=min(3, n))
    assert Edge(epsilon="0.7", n=n) == Edge(epsilon=F(7, 10), n=n, delta=delta, epsilon_1=F(7, 10) * F(39, 100))


# --- What a mechanism says of itself


def test_the_mechanisms_are_these_by_name() -> None:
    classes = [Critical, Respond, Modelled, Total, Edge, Elv, Published]
    assert list(MECHANISMS.items()) == list(zip(NAMES, classes, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_promise_is_a_sentence_or_two(name: str) -> None:
    promise = MECHANISMS[name].promise
    assert promise.endswith(".")
    assert promise.count(". ") == (name == "respond")
    assert "  " not in promise
    assert "\n" not in promise


def test_critical_prints_its_promise() -> None:
    assert Critical.promise == (
        "Given the stored groups and all other connections, the published counts change the odds that any one pair "
        "inside a group is connected by a factor of at most e^ε (m pairs that go together: e^(mε)); what the groups "
        "themselves reveal, and connections outside groups, are not protected."
    )


def test_published_promises_nothing_and_the_others_name_their_epsilon() -> None:
    assert "promises nothing" in Published.promise
    assert all("e^ε" in MECHANISMS[name].promise for name in NAMES if name != "published")


def test_all_but_the_two_phases_are_the_owner_s() -> None:
    assert {name for name in NAMES if "owner" in MECHANISMS[name].run_by} == {*NAMES} - {"elv", "published"}


def test_groups_are_needed_and_scales_published_where_the_document_says() -> None:
    assert {name for name in NAMES if MECHANISMS[name].needs_groups} == {"critical", "published"}
    assert {name for name in NAMES if MECHANISMS[name].publishes_scale} == {"edge", "elv", "total"}


# --- The privacy map


def test_critical_costs_m_epsilon_inside_groups_and_is_not_bounded_outside() -> None:
    mechanism = make("critical", epsilon="0.3")
    assert [mechanism.cost(m) for m in (0, 1, 7)] == [NOTHING, Cost(F(3, 10)), Cost(F(21, 10))]
    assert mechanism.cost(0, 1) == mechanism.cost(5, 1) == UNBOUNDED


@pytest.mark.parametrize("name", ["edge", "elv"])
def test_one_connection_costs_epsilon_and_delta_wherever_it_is(name: str) -> None:
    mechanism = make(name, epsilon="0.3", delta="1/77")
    assert mechanism.cost(1) == mechanism.cost(0, 1) == Cost(F(3, 10), F(1, 77))
    assert mechanism.cost(0) == NOTHING
    assert mechanism.cost(1, 2) == mechanism.cost(3)


@pytest.mark.parametrize("name", ["edge", "elv"])
@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "2", "1e-40"])
@pytest.mark.parametrize("m", [2, 3, 10])
def test_groups_of_connections_cost_the_group_bound_rounded_up(name: str, epsilon: str, m: int) -> None:
    cost = make(name, epsilon=epsilon, delta="1e-12").cost(m)
    assert cost.epsilon == m * F(epsilon)
    exact = 1e-12 * math.fsum(math.exp(i * float(epsilon)) for i in range(m))
    assert math.isclose(cost.delta, exact, rel_tol=1e-12)
    # The same sum in fractions, each exponential cut short and so too small: δ must not be below it.
    terms = [sum(F(i * F(epsilon)) ** j / math.factorial(j) for j in range(150)) for i in range(m)]
    assert cost.delta >= F(1, 10**12) * sum(terms)
    assert cost.delta <= F(1, 10**12) * sum(terms) * (1 + F(1, 10**27))


@pytest.mark.parametrize("m", [100, 10**9])
def test_a_group_bound_beyond_one_says_nothing_and_is_one(m: int) -> None:
    assert make("edge", epsilon="1", delta="1e-6").cost(m) == Cost(F(m), F(1))


def test_a_group_bound_a_little_beyond_one_is_one_too() -> None:
    assert make("edge", epsilon="0.01", delta="0.5").cost(3) == Cost(F(3, 100), F(1))


def test_published_is_not_bounded() -> None:
    assert make("published").cost(1) == make("published").cost(0, 1) == UNBOUNDED
    assert make("published").cost(0) == NOTHING


# --- Scales


def edge_scale(C: int, noise: int, k: int, n: int) -> Fraction:  # noqa: N803
    mechanism = Edge(k=k, epsilon=1, n=n, delta="0.01", epsilon_1="0.1")
    return mechanism.covering(mechanism.bound(C, SimulatedNoise(lambda scale, size: [noise] * size)))


def test_the_scale_of_edge_is_that_of_its_formula() -> None:
    # ε1 = 1/10, so t = 10; pad: e^(-(a+1)/10) <= 0.01·(1+e^(-1/10)) first for a = 39.
    assert pad(F(10), F(1, 100)) == 39
    assert edge_scale(20, 5, k=4, n=1000) == 4 * math.comb(64, 2) / F(9, 10)
    assert edge_scale(20, -45, k=4, n=1000) == 4 * math.comb(14, 2) / F(9, 10)


def test_the_scale_of_edge_is_cut_at_what_n_vertices_can_share() -> None:
    assert edge_scale(20, 10**6, k=4, n=30) == 4 * math.comb(28, 2) / F(9, 10)


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
def test_the_scale_of_edge_never_falls_below_the_floor(n: int) -> None:
    assert edge_scale(0, -(10**6), k=4, n=n) == 4 / F(9, 10)


def test_edge_draws_once_with_scale_one_over_epsilon_1() -> None:
    drawn = []
    noise = SimulatedNoise(lambda scale, size: drawn.append((scale, size)) or [0] * size)
    edge: Any = make("edge", epsilon="2", epsilon_1="0.25")
    edge.bound(5, noise)
    assert (drawn, noise.draws) == ([(4.0, 1)], 1)


def two_phases(n: int = 5, h: int = 2, k: int = 3) -> Elv:
    return Elv(k=k, epsilon=10, n=n, delta="0.6", h=h)


def test_the_parameters_of_the_two_phases_are_those_of_the_document() -> None:
    for h, common, delta in ((2, 4, F(1, 10)), (3, 6, F(3, 40))):
        for kind in TWO_PHASES:
            mechanism = kind(k=3, epsilon=10, n=5, delta="0.6", h=h)  # ε1 = 1
            assert (mechanism.degree_scale, mechanism.common_scale) == (F(4), F(common))
            if kind is Published:
                assert mechanism.part_delta == delta
    assert Elv(k=3, epsilon=10, n=5, delta="0.64", h=2).part_delta == F(4, 10)


@pytest.mark.parametrize(("kind", "epsilon_1", "parts", "h"), [(Edge, 3, 1, None), (Published, 12, 4, 1)])
def test_the_pad_is_that_of_the_scale_that_is_drawn_and_not_of_the_one_asked_for(
    kind: type[OneScale], epsilon_1: int, parts: int, h: int | None
) -> None:
    """Both first scales are 1/3, which no double is; δ is such that 2 are enough for 1/3 and 3 are needed as drawn."""
    handed = F(handed_scale(F(1, 3)))
    enough, needed = (F(discrete_laplace.cdf(-3, scale, 60)) for scale in (F(1, 3), handed))
    delta = (enough + needed) / 2
    assert (pad(F(1, 3), delta), pad(handed, delta)) == (2, 3)
    mechanism = kind.taking(epsilon=epsilon_1 + 1, epsilon_1=epsilon_1, n=100, delta=parts * delta, h=h)
    assert mechanism.expected_scale(0, 0) == 3 * 3


@pytest.mark.parametrize("kind", TWO_PHASES)
def test_phase_1_by_hand(kind: type[TwoPhases]) -> None:
    """Degrees 40, 50, 50, 10, 50 without noise: the collector asks the vertices 1 and 2, who answer 7 and 45."""
    mechanism = kind(k=4, epsilon=10, n=100, delta="0.6", h=2)
    a = pad(F(4), mechanism.part_delta)
    vertices = []

    def common(v: int) -> int:
        vertices.append(v)
        return {1: 7, 2: 45}[v]

    noise = no_noise()
    scale = mechanism.scale([40, 50, 50, 10, 50] + [0] * 95, common, noise)
    assert vertices == [1, 2]
    assert noise.draws == 102
    assert scale == 4 * math.comb(50 + a, 2) / F(9)


def test_the_collector_asks_the_largest_and_prefers_the_smaller_identifier() -> None:
    reports = [vertex.Report(U) for U in (3, 9, 9, 1, 9, 12)]
    assert collector.vertices_to_ask(reports, 3) == [5, 1, 2]


def test_the_collector_takes_the_smaller_of_two_reports_and_cuts_at_n_less_2() -> None:
    reports = [vertex.Report(U) for U in (3, 9, 8, 1, 2, 2)]
    assert collector.noise_scale(reports, {1: vertex.Report(2)}, k=3, epsilon_2=F(1)) == 3 * 4
    assert collector.noise_scale(reports, {1: vertex.Report(2), 2: vertex.Report(50)}, k=3, epsilon_2=F(1)) == 3 * 4
    both = {1: vertex.Report(2), 2: vertex.Report(-7)}
    assert collector.noise_scale(reports, both, k=3, epsilon_2=F(2)) == F(3 * 3, 2)
    low = [vertex.Report(-5)] * 6
    assert collector.noise_scale(low, {}, k=5, epsilon_2=F(1)) == 5


@pytest.mark.parametrize("kind", [Edge, Elv, Published, Total])
@pytest.mark.parametrize("n", [1, 2, 50, 1000])
def test_the_scale_lies_between_its_public_bounds(kind: type[OneScale], n: int) -> None:
    mechanism = kind(k=4, epsilon=1, n=n)
    batch = search_all(graph := graph_from_edges(range(n), [], []), "0.5")
    facts = CountedGraph(graph, batch)
    for shift in (-(10**7), 0, 10**7):
        scale = mechanism.find_scale(facts, SimulatedNoise(lambda scale, size, x=shift: [x] * size))
        assert mechanism.least_scale <= scale <= mechanism.largest_scale
        if shift == 0 and kind is not Published:
            assert scale == mechanism.expected_scale(0, 0)
    assert mechanism.least_scale == (1 if kind is Total else 4) / (1 - mechanism.epsilon_1)


@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"epsilon": "1e-20"}, id="the least scale is too large"),
        pytest.param({"epsilon": "1", "epsilon_1": "1e-20"}, id="the first draw's scale is too large"),
        pytest.param({"epsilon": "1e-5", "k": 9, "n": 10_000}, id="only the largest scale is too large"),
    ],
)
def test_impossible_scales_are_refused_before_anything_is_drawn(name: str, changed: dict[str, object]) -> None:
    if name == "modelled" and "k" in changed:  # which takes k up to 4
        changed = {"epsilon": "1e-8", "k": 4, "n": 10_000}
    mechanism = make(name, **changed)
    with pytest.raises(ParameterError, match="cannot be drawn"):
        mechanism.check_drawable()


@pytest.mark.parametrize("name", WITH_DELTA)
def test_usual_scales_are_not_refused(name: str) -> None:
    make(name, k=4, n=35_000, epsilon="0.1").check_drawable()


# --- The wall between vertices and collector


class Wall:
    """Records every argument of every call into the collector's room, and what each vertex is handed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.crossed: list[object] = []
        self.handed: list[tuple[object, ...]] = []
        for name, function in inspect.getmembers(collector, inspect.isfunction):
            if function.__module__ == collector.__name__ and not name.startswith("_"):
                monkeypatch.setattr(collector, name, self.watch(function, self.crossing))
        for name in ("report_degree", "report_common", "report_count"):
            monkeypatch.setattr(vertex, name, self.watch(getattr(vertex, name), self.handing))

    def crossing(self, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self.crossed.append((repr(args), repr(kwargs)))

    def handing(self, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self.handed.append((*args, *kwargs.values()))

    @staticmethod
    def watch(function: Callable[..., object], note: Callable[..., None]) -> Callable[..., object]:
        def watched(*args: object, **kwargs: object) -> object:
            note(args, kwargs)
            return function(*args, **kwargs)

        return watched


DEGREES = [41_000_003, 52_000_007, 63_000_011, 74_000_017, 85_000_023]
COMMON = [31_000_003, 32_000_007, 33_000_011, 34_000_017, 35_000_023]


def run_behind_the_wall(kind: type[TwoPhases], shift: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Wall, Fraction]:
    """Phase 1 with all exact values raised by `shift` and all noise lowered by it: the same reports, another truth."""
    with monkeypatch.context() as patches:
        wall = Wall(patches)
        mechanism = kind(k=3, epsilon=10, n=5, delta="0.6", h=2)
        noise = SimulatedNoise(lambda scale, size: [1000 + i - shift for i in range(size)])
        scale = mechanism.scale([d + shift for d in DEGREES], lambda v: COMMON[v] + shift, noise)
    return wall, scale


@pytest.mark.parametrize("kind", TWO_PHASES)
def test_the_collector_cannot_tell_apart_two_truths_with_the_same_reports(
    kind: type[TwoPhases], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever crosses must be a function of noisy reports alone; an exact value that crossed would differ."""
    this, scale = run_behind_the_wall(kind, 0, monkeypatch)
    other, other_scale = run_behind_the_wall(kind, 987_654, monkeypatch)
    assert len(this.crossed) == 2
    assert this.crossed == other.crossed
    assert scale == other_scale
    assert not any(str(exact) in str(this.crossed) for exact in DEGREES + COMMON)


@pytest.mark.parametrize("kind", TWO_PHASES)
def test_a_vertex_is_handed_its_own_view_and_its_own_noise_and_nothing_else(
    kind: type[TwoPhases], monkeypatch: pytest.MonkeyPatch
) -> None:
    wall, _ = run_behind_the_wall(kind, 0, monkeypatch)
    a = pad(F(4), kind(k=3, epsilon=10, n=5, delta="0.6", h=2).part_delta)
    degrees = [(degree, 1000 + v, a) for v, degree in enumerate(DEGREES)]
    assert wall.handed == [*degrees, (COMMON[4], 1000, a), (COMMON[3], 1001, a)]


@pytest.mark.parametrize("kind", TWO_PHASES)
def test_phase_2_adds_each_vertex_s_own_noise(kind: type[TwoPhases], monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall(monkeypatch)
    noise = SimulatedNoise(lambda scale, size: list(range(1, size + 1)))
    noisy = kind(epsilon="1", n=3, h=1).noisy_counts([10**30, 20, 30], F(5), noise)
    assert noisy == [10**30 + 1, 22, 33]
    assert wall.handed == [(10**30, 1), (20, 2), (30, 3)]
    assert (wall.crossed, noise.draws) == ([], 3)


def test_the_two_rooms_import_nothing_of_each_other() -> None:
    assert not hasattr(collector, "vertex")
    assert not hasattr(collector, "Report")
    assert not hasattr(vertex, "collector")


# --- The paper's claim


def test_the_paper_s_sensitivity_of_a_triangle_is_0_while_its_counts_change() -> None:
    """K3 with p <= 1/2: every cohesion is one edge, no clique lies inside; without an edge 1, 1, 1 becomes 0, 0, 0."""
    import naive

    triangle = naive.graph_of([(0, 1), (1, 2), (0, 2)])
    path = naive.graph_of([(0, 1), (1, 2)])
    groups = {v: naive.minimal_p_cohesion(triangle, F(1, 2), v) for v in triangle}
    assert all(len(group) == 2 for group in groups.values())
    assert set(naive.clique_counts_inside(triangle, 3, groups).values()) == {0}
    assert max(naive.largest_common_inside(triangle, v, group) for v, group in groups.items()) == 0
    assert naive.clique_counts(triangle, 3) == {0: 1, 1: 1, 2: 1}
    assert naive.clique_counts(path, 3) == {0: 0, 1: 0, 2: 0}


# --- The part of ε that finds the scale of `edge` and `total`

MEASURED = {  # vertices, and the most neighbours that two of them share
    "Bitcoin": (3_783, 78), "Celegans": (453, 102), "Copenhagen": (800, 44), "Facebook": (4_039, 293),
    "Enron": (36_692, 420), "Gnutella": (6_301, 32), "HepPh": (34_546, 581), "HepTh": (9_875, 34),
    "LastFM": (7_624, 91), "SisterCity": (14_274, 25), "USAirport": (1_574, 218), "WIKIVote": (889, 30),
    "Yeast": (1_846, 10),
}  # fmt: skip
EPSILONS = ("0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5", "7", "10")


def expected_scales(share: Callable[[Fraction], Fraction] | None, k: int) -> np.ndarray:
    """λ of `edge` where the noise on C is 0, for every measured graph and ε; the default part of ε for None."""
    return np.array([
        float(Edge(k=k, epsilon=e, n=n, epsilon_1=share and F(e) * share(F(e))).expected_scale(C))
        for n, C in MEASURED.values() for e in EPSILONS
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("k", "near", "of_a_tenth", "of_a_quarter"),
    [(3, 1.06, 1.35, 1.02), pytest.param(4, 1.10, 2.5, 1.2, marks=pytest.mark.long)],
)
def test_the_part_of_epsilon_that_finds_the_scale_is_near_the_best_for_every_epsilon(
    k: int, near: float, of_a_tenth: float, of_a_quarter: float
) -> None:
    best = np.min([expected_scales(lambda _, s=s: F(s, 100), k) for s in range(1, 80, 3)], axis=0)

    def times_best(scales: np.ndarray) -> float:
        return float(np.exp(np.log(scales / best).mean()))

    ours = times_best(expected_scales(None, k))
    assert ours < near
    assert times_best(expected_scales(lambda _: F(1, 10), k)) > of_a_tenth * ours
    assert times_best(expected_scales(lambda _: F(1, 4), k)) > of_a_quarter * ours


@pytest.mark.parametrize("kind", [Edge, Total])
@pytest.mark.parametrize("epsilon", ["1e-6", "1/1000", "0.1", "1", "4", "12", "40", "1e6", "1e299"])
def test_the_part_follows_from_epsilon_alone(kind: type[Edge], epsilon: str) -> None:
    with localcontext(Context(prec=2000)):
        e = Decimal(F(epsilon).numerator) / Decimal(F(epsilon).denominator)
        percent = max(1, int(100 / (1 + (1 + 2 * e).sqrt())))
    for n in (3, 800, 10**6):
        assert kind(epsilon=epsilon, n=n).epsilon_1 == F(epsilon) * percent / 100


def test_hepth_at_epsilon_1_needs_little_more_than_half_of_the_noise_that_a_tenth_needs() -> None:
    n, largest = MEASURED["HepTh"]
    scales = [Edge(epsilon=1, n=n, epsilon_1=e1).expected_scale(largest) for e1 in (None, "0.1", "0.25")]
    assert [round(float(scale)) for scale in scales] == [389, 703, 420]
    assert [Elv(epsilon=1, n=n).epsilon_1, Published(epsilon=1, n=n).epsilon_1] == [F(1, 10)] * 2
