"""What releases share is paid for once (GUARANTEE.md#one-c-for-all)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from requested import requested

from pcneo.basics.selection import Selection
from pcneo.counting.counted import CountedGraph
from pcneo.errors import FileFormatError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy.composition import compose
from pcneo.privacy.mechanisms import Once, mechanism_of
from pcneo.privacy.noise import SimulatedNoise
from pcneo.release.prepared import Prepared
from pcneo.release.read_graph import ReadGraph
from pcneo.release.releasing import check_requests
from pcneo.release.request import Release, each_k, read_batch
from pcneo.release.sharing import shared
from pcneo.store.database import GraphRecord

F = Fraction
GRAPH = GraphRecord("g", Selection(("P",), ("K",), "id"), "00")


def asked(mechanism: str, epsilon: object = "1", **given: object) -> Release:
    return requested(**{"to": Path("a.csv"), "mechanism": mechanism, "epsilon": epsilon, **given})


def chosen(*requests: Release) -> list[Prepared]:
    return shared(list(map(placed, requests)))


def placed(request: Release) -> Prepared:
    return Prepared(request=request, source=ReadGraph(GRAPH), run=None, vertices=2000)


@pytest.mark.parametrize("mechanism", ["edge", "total", "modelled"])
def test_several_k_of_one_release_cost_its_epsilon_and_one_delta(mechanism: str) -> None:
    ks = [3, 4] if mechanism == "modelled" else [3, 4, 5]
    several = chosen(*each_k(asked(mechanism, "2", k=ks)))
    (alone,) = chosen(asked(mechanism, "2"))
    assert compose(choice.spend.cost for choice in several) == alone.spend.cost
    assert [choice.spend.delta for choice in several[1:]] == [0] * (len(ks) - 1)
    complete = [choice.mechanism.on(2000) for choice in several]
    of_one = alone.mechanism.on(2000)
    names = "epsilon_0", "epsilon_1", "delta"
    assert {tuple(map(made.parameter, names)) for made in complete} == {tuple(map(of_one.parameter, names))}
    spent_before = (of_one.parameter("epsilon_0") or F(0)) + of_one.parameter("epsilon_1")
    assert {made.epsilon for made in complete} == {spent_before + (F(2) - spent_before) / len(ks)}
    assert several[0].spend.epsilon == complete[0].epsilon
    assert {choice.together for choice in several} == {
        f"{len(ks)} files rest on one bound of common neighbours; together they cost {alone.spend.cost}."
    }
    together = "That is for all files that rest on one bound of common neighbours, read together."
    assert {choice.in_plain_words for choice in several} == {f"{alone.in_plain_words} {together}"}
    assert "by a factor of at most 7.39" in alone.in_plain_words
    assert [str(choice.request.to) for choice in several] == [f"a-k{k}-e2.csv" for k in ks]  # type: ignore[attr-defined]


def test_rows_of_one_share_charge_the_bound_once_and_degrees_once() -> None:
    rows = [asked("edge", "1", share="x"), asked("modelled", "2", share="x"), asked("total", "0.5", share="x")]
    rows.append(asked("modelled", "1", k=4, share="x"))
    parts = chosen(*rows)
    epsilon_1 = parts[0].mechanism.parameter("epsilon_1")
    assert epsilon_1 == F(3, 50) == F(3, 10) * (1 - F(4, 5))  # the second `modelled` has the least
    assert [choice.mechanism.parameter("epsilon_0") for choice in parts] == [None, F(4, 5), None, F(4, 5)]
    own = [2 - epsilon_1, F(1, 2) - epsilon_1, 1 - epsilon_1 - F(4, 5)]
    assert [choice.spend.epsilon for choice in parts] == [1, *own]
    assert [choice.spend.delta > 0 for choice in parts] == [True, False, False, False]
    assert [choice.mechanism.epsilon for choice in parts] == [1, 2, F(1, 2), 1]


def test_rows_of_no_or_of_another_share_pay_for_all_of_their_own() -> None:
    rows = [asked("edge"), asked("edge"), asked("edge", share="x"), asked("edge", share="y")]
    assert [choice.spend.epsilon for choice in chosen(*rows)] == [1, 1, 1, 1]
    assert all(not choice.together for choice in chosen(*rows))
    elsewhere = [asked("edge", share="x"), asked("edge", share="x")]
    here, there = map(placed, elsewhere)
    there = replace(there, source=ReadGraph(replace(there.graph, name="other")))
    assert [choice.spend.epsilon for choice in shared([here, there])] == [1, 1]


def test_answers_are_shared_by_several_k_and_by_no_two_rows() -> None:
    assert [c.spend.epsilon for c in chosen(*each_k(asked("respond", k=[3, 4])))] == [1, 0]
    assert [c.spend.epsilon for c in chosen(asked("respond"), asked("respond", k=4, to=Path("b.csv")))] == [1, 1]


def test_rows_with_one_name_and_other_k_share_nothing() -> None:
    rows = [each_k(asked("edge", k=ks)) for ks in ([3, 4], [5, 6])]
    first, second = (sum(choice.spend.epsilon for choice in chosen(*row)) for row in rows)
    assert (first, second) == (1, 1)
    assert sum(choice.spend.epsilon for choice in chosen(*rows[0], *rows[1])) == 2


def test_what_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    for rows, says in (
        ([asked("edge", delta="0.1", share="x"), asked("edge", delta="0.2", share="x")], "must have one delta"),
        (
            [asked("edge", epsilon_1="0.1", share="x"), asked("edge", epsilon_1="0.2", share="x")],
            "must have one epsilon 1",
        ),
        ([asked("edge", epsilon_1="0.5", share="x"), asked("total", "0.4", share="x")], "must leave a part"),
        ([asked("edge", epsilon_1="0.5", share="x"), asked("total", "0.5", share="x")], "1/2 leaves none"),
    ):
        with pytest.raises(ParameterError, match=says):
            chosen(*rows)
    with pytest.raises(ParameterError, match="edge can share one C"):
        check_requests([asked("respond", share="x", to=tmp_path / "a.csv")])
    with pytest.raises(ParameterError, match="those of respond cannot"):
        each_k(asked("respond", k=[3, 4], share="x"))
    with pytest.raises(ParameterError, match="elv has one k"):
        check_requests(each_k(asked("elv", k=[3, 4], to=tmp_path / "a.csv")))
    with pytest.raises(ParameterError, match="several different ones"):
        asked("edge", k=[3, 3])


def test_a_row_of_a_batch_may_have_several_k_and_a_share(tmp_path: Path) -> None:
    file = tmp_path / "batch.csv"
    file.write_text("to,mechanism,epsilon,k,share\na.csv,edge,1,3 4,x\nb.csv,total,1,,x\nc.csv,edge,2,3,\n")
    rows = read_batch(file)
    assert [(str(row.to), row.mechanism.k, row.share, row.parts) for row in rows] == [
        ("a-k3-e1.csv", 3, "x", 2), ("a-k4-e1.csv", 4, "x", 2), ("b.csv", 3, "x", 1), ("c.csv", 3, None, 1),
    ]  # fmt: skip
    for row, says in (
        ("edge,1,3 x,", r"k is 'x', not a whole number\.$"),
        ("edge,1,3 3,", r"a k appears twice: 3, 3\.$"),
        ("critical,1,3 4,x", r"those of critical cannot\. Leave share out\.$"),
    ):
        file.write_text(f"to,mechanism,epsilon,k,share\na.csv,{row}\n")
        with pytest.raises(FileFormatError, match=f"line 2: .*{says}"):
            read_batch(file)


def test_rows_that_cannot_share_a_bound_are_all_named() -> None:
    rows = [asked("edge", delta=f"0.{line}", share="x", row=f"batch.csv, line {line}") for line in (2, 3)]
    with pytest.raises(ParameterError, match=r"^batch\.csv, line 2 and batch\.csv, line 3: .* must have one delta"):
        chosen(*rows)


def test_one_bound_and_the_same_degrees_are_drawn_for_all() -> None:
    """Noise grows with every draw, so a bound that was drawn anew would be another."""
    graph = CountedGraph(graph_from_edges(range(30), list(range(29)), list(range(1, 30))))
    drawn: list[tuple[float, int]] = []

    def sample(scale: float, size: int) -> list[int]:
        drawn.append((scale, size))
        return [len(drawn)] * size

    noise, once = SimulatedNoise(sample), Once()
    names = ["modelled", "edge", "total", "modelled"]
    made = [mechanism_of(name, epsilon=3, n=30, epsilon_1="0.1", delta="0.01") for name in names]
    released = [m.draw(graph, noise, once) for m in made]
    assert [size for _, size in drawn] == [30, 1, 1, 30, 1, 1]  # degrees, C*, then a number or counts for each
    assert released[0].columns["degree"] == released[3].columns["degree"]
    scales = [release.scale * m.epsilon_2 for release, m in zip(released, made, strict=True)]  # type: ignore[attr-defined]
    assert scales[1] == 3 * scales[2]
    assert all(a in (b, 3 * b, b / 3) for a, b in pairwise(scales))
