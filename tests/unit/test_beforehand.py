"""Which counts are refused as noise before a spend: by what the owner states, by groups, or as zeros are nearer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from pcneo.errors import ParameterError
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism, Modelled
from pcneo.privacy.outlook import Earlier, Utility
from pcneo.release.beforehand import check_noise
from pcneo.release.prepared import Prepared
from pcneo.release.spending import Terms


def prepared(mechanism: Mechanism, least_error: float | None = None) -> Prepared:
    ready = SimpleNamespace(
        mechanism=mechanism, utility=Utility(least_error=least_error), given=None, earlier=Earlier()
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


@pytest.mark.parametrize("name", ["respond", "modelled", "edge", "elv", "published"])
def test_every_mechanism_with_counts_is_held_against_the_mean_count(name: str) -> None:
    small, large = (prepared(MECHANISMS[name](epsilon=e, n=2_000)) for e in ("0.01", "16"))
    assert "errs by" in refusal(small, expect=5, mean_degree=8)
    assert refusal(small) == ""  # nothing was stated
    assert refusal(large, expect=10**4, mean_degree=500) == ""


def test_a_total_alone_has_no_counts_and_groups_decide_for_critical() -> None:
    assert refusal(prepared(MECHANISMS["total"](epsilon="0.01", n=2_000)), expect=5) == ""
    critical = MECHANISMS["critical"](epsilon=1, n=2_000)
    assert "errs by 6 at least, and is 5 in the mean" in refusal(prepared(critical, 6.0), expect=5)
    assert refusal(prepared(critical, 5.0), expect=5) == ""


@pytest.mark.parametrize("stated", [{"expect": 0}, {"expect": "nan"}, {"mean_degree": -1}, {"mean_degree": "inf"}])
def test_what_is_stated_must_be_a_positive_number(stated: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        Terms(**stated)
