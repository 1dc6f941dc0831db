"""Which counts are refused as noise before a spend: by what the owner states, by groups, or as zeros are nearer."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pcneo.errors import ParameterError
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism, Modelled
from pcneo.privacy.outlook import BOUND, Earlier, Utility, noise_warning
from pcneo.release.beforehand import check_noise, lines_beforehand
from pcneo.release.prepared import Prepared
from pcneo.release.spending import Terms

NONE = Earlier()


def prepared(mechanism: Mechanism, least_error: float | None = None, earlier: Earlier = NONE) -> Prepared:
    ready = SimpleNamespace(
        mechanism=mechanism,
        utility=Utility(least_error=least_error),
        given=None,
        earlier=earlier,
        request=SimpleNamespace(row="", fate="destroy"),
    )
    return cast("Prepared", ready)


def refusal(release: Prepared, **stated: Any) -> str:
    """What a release is refused with, and asked about; empty for nothing."""
    asked: list[str] = []
    check_noise([release], Terms(**stated), lambda text: asked.append(text) is None)
    check_noise([release], Terms(**stated, anyway=True), None)
    if asked:
        with pytest.raises(ParameterError, match=r"Nothing was spent\. Give --anyway"):
            check_noise([release], Terms(**stated), None)
    else:
        check_noise([release], Terms(**stated), None)
    return "".join(asked)


def test_modelled_counts_of_four_cliques_ask_whatever_is_expected() -> None:
    assert "zeros" in refusal(prepared(Modelled(k=4, epsilon=16, n=1_000)))
    assert refusal(prepared(Modelled(k=3, epsilon=16, n=1_000))) == ""
    with pytest.raises(ParameterError, match="1,000 vertices and more, not for 999"):
        Modelled(k=4, epsilon=16, n=999)


@pytest.mark.parametrize("name", ["total", "modelled", "edge", "elv"])
def test_a_delta_that_would_allow_several_connections_to_be_published_asks(name: str) -> None:
    large, small = (MECHANISMS[name].taking(epsilon=16, n=2_000, delta=delta) for delta in ("0.001", "0.0005"))
    said = refusal(prepared(large), expect=10**4, mean_degree=500)
    assert "with δ = 0.001, the promise would also hold if each pair of vertices were published" in said
    assert refusal(prepared(small), expect=10**4, mean_degree=500) == ""


@pytest.mark.parametrize("name", ["respond", "modelled", "edge", "elv", "published"])
def test_every_mechanism_with_counts_is_held_against_the_mean_count(name: str) -> None:
    small, large = (prepared(MECHANISMS[name](epsilon=e, n=2_000)) for e in ("0.01", "16"))
    assert "has a standard error of at least" in refusal(small, expect=5, mean_degree=8)
    assert "with 10 connections, as is assumed, is" in (said := refusal(small)) or "has 10 connections" in said
    assert "if you know better, give --expect" in said
    assert refusal(large) == ""  # nothing was stated
    assert refusal(large, expect=10**4, mean_degree=500) == ""


def test_modelled_counts_are_judged_by_the_total_and_no_error_of_one_is_said() -> None:
    said = refusal(prepared(Modelled(epsilon="0.01", n=2_000)), expect=5)
    assert "the total has a standard error of" in said
    assert "but is 3,333, as you expect" in said
    assert "a count" not in said


def test_a_mean_that_an_earlier_release_with_a_promise_has_published_refuses_like_one_that_is_stated() -> None:
    edge, published = MECHANISMS["edge"](epsilon=1, n=2_000), Earlier(53.6, 8.0, count_is_promised=True)
    said = refusal(prepared(edge, earlier=published))
    assert re.search(
        r"a count has a standard error of at least [\d,]+, but is 53\.6 on average, according to an earlier release",
        said,
    )
    assert refusal(prepared(edge, earlier=Earlier(53.6, 8.0))) == ""  # of a release that promises nothing
    assert refusal(prepared(edge, earlier=published), expect=10**6) == ""  # the owner knows better
    assert "as you expect" in refusal(prepared(edge, earlier=published), expect=5)
    total = refusal(prepared(Modelled(epsilon="0.01", n=2_000), earlier=published))
    assert "the total has a standard error of" in total
    assert "but is 35,730, according to an earlier release" in total


def test_where_nothing_is_known_of_counts_the_most_that_the_degree_allows_refuses() -> None:
    edge, at = MECHANISMS["edge"], {"n": 2_000, "k": 3}
    assert (
        "a vertex with 10 connections, as is assumed, is in at most 45 triangles: counts would probably be"
        in refusal(prepared(edge(epsilon=1, **at)))
    )
    assert "with 10 connections, as you state, is in at most 45" in refusal(
        prepared(edge(epsilon=1, **at)), mean_degree=10
    )
    assert refusal(prepared(edge(epsilon=1, **at)), mean_degree=100) == ""  # 4,950 triangles are possible
    assert "is at most 18,670 if each vertex has 8 connections, as you state" in refusal(
        prepared(Modelled(epsilon="0.01", n=2_000)), mean_degree=8
    )
    assert refusal(prepared(edge(epsilon=1, **at), earlier=Earlier(mean_degree=1.0))) == ""  # it may be noise itself
    assert refusal(prepared(MECHANISMS["respond"](epsilon=16, n=800)), mean_degree="0.5") == ""


def test_counts_with_groups_are_held_against_what_the_owner_states_alone() -> None:
    critical, published = MECHANISMS["critical"](epsilon=1, n=2_000), Earlier(5.0, 8.0, count_is_promised=True)
    assert refusal(prepared(critical, 6.0, published)) == ""
    said = refusal(prepared(critical, 6.0, published), expect=5)
    assert "has a standard error of at least 6, but is 5 on average, as you expect" in said
    assert said.startswith("For the owner alone: critical, ")
    assert "For the owner alone" not in refusal(prepared(MECHANISMS["edge"](epsilon="0.01", n=2_000)), expect=5)


def told(mechanism: Mechanism, earlier: Earlier = NONE, answers: str = "destroy", **stated: Any) -> str:
    ready = SimpleNamespace(
        mechanism=mechanism, utility=Utility(), given=None, earlier=earlier, request=SimpleNamespace(fate=answers)
    )
    return " ".join(lines_beforehand(cast("Prepared", ready), Terms(**stated)))


def test_what_is_far_from_what_was_published_deserves_a_look() -> None:
    total, published = MECHANISMS["total"](epsilon=1, n=2_000), Earlier(mean_count=46.0)
    assert "You expect a vertex to be in 50,000 triangles on average" in (said := told(total, published, expect=50_000))
    assert "an earlier release of this graph published 46: check --expect." in said
    for near in (told(total, published, expect=60), told(total, published), told(total, expect=50_000)):
        assert "check --expect" not in near


def test_ln_of_n_over_d_is_told_by_the_degree_that_is_public() -> None:
    respond = MECHANISMS["respond"](epsilon=2, n=800)
    assert "WARNING" not in (said := told(respond, answers="publish"))
    assert "a guessed mean degree d = 10" in said
    assert "WARNING" in (said := told(respond, Earlier(mean_degree=15.63), "publish"))
    assert (
        "ln(n/d) is 3.9 for n = 800 vertices and the mean degree that an earlier release has published, d = 15.6"
        in said
    )
    assert "the mean degree that you state, d = 16" in told(respond, Earlier(mean_degree=3), "publish", mean_degree=16)
    assert "ln(n/d)" not in told(respond, Earlier(mean_degree=15.63))


def test_errors_beforehand_are_standard_errors_in_two_digits() -> None:
    likely = told(MECHANISMS["respond"](epsilon=3, n=2_000))
    assert re.search(
        r"This assumes 10 connections per vertex; such a vertex is often in about 15 triangles, so counts may be "
        r"mostly noise\. To avoid that, take an ε above about [\d.]+, and a larger one if a vertex is in "
        r"fewer than 15 triangles on average\. `pcneo audit -n 2000 -d 10 -e [\d.]+` compares "
        r"mechanisms\. If you know better",
        likely,
    )
    said = told(MECHANISMS["edge"](epsilon=8, n=2_000))
    assert re.search(
        r"expect a standard error of at least [\d,.]+ per count and of at least [\d,]+ for the total, often several "
        r"times that\.",
        said,
    )
    assert re.search(
        r" This assumes 10 connections per vertex; if a vertex is in fewer than [\d.]+ triangles on average, counts "
        r"are mostly noise\. If you know better, give --mean-degree, and --expect for the mean "
        r"number of triangles of a vertex\.$",
        said,
    )
    guessed = "This assumes 10 connections per vertex; such a vertex is in at most"
    assert guessed not in told(MECHANISMS["respond"](epsilon="0.1", n=2_000)), "the refusal that follows says it"
    for mechanism, most, anyway in (({"k": 3}, "45 triangles", True), ({"k": 4}, "120 4-cliques", False)):
        noisy = told(MECHANISMS["respond"](epsilon="0.1", n=2_000, **mechanism), anyway=anyway)
        assert f"{guessed} {most}, so counts may be mostly noise. If you know better, give --mean-degree" in noisy
    assert "standard error" not in told(MECHANISMS["respond"](epsilon=4, k=4, n=2_000)), "a bound says little"
    known = told(MECHANISMS["respond"](epsilon="0.1", n=2_000), Earlier(mean_degree=10), anyway=True)
    assert "may be mostly noise" not in known
    assert re.search(r"if you know it: counts are mostly noise if it is below [\d,]+\.", known)
    of_modelled = told(MECHANISMS["modelled"](epsilon=1, n=2_000))
    assert "per count" not in of_modelled
    assert of_modelled.endswith("only `pcneo audit GRAPH` says how far off it is.")


def test_a_total_alone_has_no_counts_and_groups_decide_for_critical() -> None:
    assert refusal(prepared(MECHANISMS["total"](epsilon="0.01", n=2_000)), expect=5) == ""
    critical = MECHANISMS["critical"](epsilon=1, n=2_000)
    assert "has a standard error of at least 6, but is 5 on average" in refusal(prepared(critical, 6.0), expect=5)
    assert refusal(prepared(critical, 5.0), expect=5) == ""
    told_of = lines_beforehand(prepared(critical, 5.0), Terms(expect=5))
    (expected,) = (line for line in told_of if "expect a standard error" in line)
    assert expected.startswith("For the owner alone: critical, ")
    assert not any(line.startswith("For the owner alone") for line in [told(MECHANISMS["edge"](epsilon=8, n=2_000))])


@pytest.mark.parametrize(
    "stated",
    [
        *({"expect": expect} for expect in (0, "nan")),
        *({"mean_degree": degree} for degree in (-1, "inf", "1e-200", "1e200")),
    ],
)
def test_what_is_stated_must_be_a_positive_number(stated: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        Terms(**stated)


def test_no_more_triangles_are_expected_than_a_vertex_can_be_in() -> None:
    with pytest.raises(ParameterError, match="among 1,000,000,000 vertices it is at most"):
        Terms(expect="1e200")
    edge = prepared(MECHANISMS["edge"](epsilon=16, n=100))
    assert refusal(edge, expect=4_851, mean_degree=90) == ""
    with pytest.raises(ParameterError, match=r"among 100 vertices it is at most 4,851, not 4,852\."):
        check_noise([edge], Terms(expect=4_852, anyway=True), None)


def test_counts_are_called_noise_where_their_error_is_above_their_mean_and_a_bound_is_called_one() -> None:
    assert (noise_warning(5.0, [1, 2]) or "").startswith(
        "These counts are mostly noise: their standard error is about 5"
    )
    bound = noise_warning(5.0, [1, 2], BOUND) or ""
    assert bound.startswith("These counts are mostly noise: their standard error is at most 5")
    assert noise_warning(1.0, [1, 2], BOUND) is None
