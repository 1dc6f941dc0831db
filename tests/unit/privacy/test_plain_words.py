"""Promises in plain words (GUARANTEE.md#in-plain-words)."""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from places import ROOT

from pcneo.privacy.composition import UNBOUNDED, Cost
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.plain_words import in_plain_words, of_all
from pcneo.privacy.protection import Protects

EVERY = Protects.EVERY_CONNECTION
GUARANTEE = ROOT / "pcneo" / "privacy" / "GUARANTEE.md"


def test_the_sentence_has_its_numbers_and_the_document_has_the_sentence() -> None:
    said = in_plain_words(Fraction(1), Fraction(0), EVERY)
    assert said == (
        "For someone who knows all other connections, these numbers change the odds of one connection by a factor of "
        "at most 2.72: a suspicion of 50 % can become at most 73.2 %, one of 1 % at most 2.68 %. Where connections go "
        "together, what the numbers show of the others adds to that, and a person who has many connections is not "
        "hidden: ten together change the odds by a factor of at most 22,100."
    )
    assert said in " ".join(GUARANTEE.read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("epsilon", "once", "half", "hundredth", "ten"),
    [
        ("0.1", "1.11", "52.5", "1.11", "2.72"),
        ("1", "2.72", "73.2", "2.68", "22,100"),
        ("1.1", "3.01", "75.1", "2.95", "59,900, which is no protection"),
        ("3", "20.1", "95.3", "16.9", "1.1·10^13, which is no protection"),
        ("5", "149", "99.4", "60", "5.2·10^21, which is no protection"),
        ("10", "22,100", "100", "99.56", "2.7·10^43, which is no protection"),
        ("16", "8,890,000", "100", "100", "3.1·10^69, which is no protection"),
        ("1000", "2·10^434", "100", "100", "8.9·10^4,342, which is no protection"),
    ],
)
def test_numbers_follow_from_epsilon(epsilon: str, once: str, half: str, hundredth: str, ten: str) -> None:
    said = in_plain_words(Fraction(epsilon), Fraction(0), EVERY)
    assert (
        f"a factor of at most {once}: a suspicion of 50 % can become at most {half} %, one of 1 % at most {hundredth} %"
        in said
    )
    assert said.endswith(f"a factor of at most {ten}.")


def test_what_all_releases_mean_together() -> None:
    said = "All releases together change the odds of one connection"
    assert of_all(Cost(Fraction(3), Fraction(0)), only_groups=False) == f"{said} by a factor of at most 20.1."
    with_delta = of_all(Cost(Fraction(12), Fraction(1, 300)), only_groups=True)
    bound = "at most 163,000, which is no protection, except with a probability of 0.0034."
    assert with_delta == f"{said} inside the groups by a factor of {bound}"
    for nothing in (Cost(Fraction(0), Fraction(0)), UNBOUNDED):
        assert not of_all(nothing, only_groups=False)


@pytest.mark.parametrize("hundredths", [1, 7, 50, 69, 100, 110, 231, 300, 461, 500, 999, 1_500, 2_000])
def test_no_number_is_below_what_bayes_gives_and_none_is_much_above(hundredths: int) -> None:
    epsilon = Fraction(hundredths, 100)
    said = in_plain_words(epsilon, Fraction(0), EVERY)
    numbers = re.findall(r"at most ([\d.,]+?)(?::| %)", said)
    times, half, hundredth = (Decimal(number.replace(",", "")) for number in numbers)
    factor = (Decimal(hundredths) / 100).exp(Context(prec=40))
    assert factor <= times <= factor * Decimal("1.01")
    for percent, before in ((half, Decimal("0.5")), (hundredth, Decimal("0.01"))):
        after = 100 * before * factor / (1 - before + before * factor)
        assert after <= percent <= min(Decimal(100), after * Decimal("1.01"))


def test_odds_grow_by_more_where_the_other_connections_are_not_known_and_go_together() -> None:
    """Two pairs, each answered by a coin: why the sentence is about someone who knows all others."""
    flip = Fraction(1, 4)  # so that e^ε = 3
    most = (1 - flip) / flip

    def odds(belief: dict[tuple[bool, bool], Fraction]) -> Fraction:
        """Of the first pair, once both were answered with yes."""
        chance = {graph: math.prod(1 - flip if pair else flip for pair in graph) for graph in belief}
        yes, no = (
            sum(p * chance[graph] for graph, p in belief.items() if graph[0] is first) for first in (True, False)
        )
        return Fraction(yes) / Fraction(no)

    hundredth, before = Fraction(1, 100), Fraction(1, 99)
    for other in (True, False):
        assert odds({(True, other): hundredth, (False, other): 1 - hundredth}) == most * before
    assert odds({(True, True): hundredth, (False, False): 1 - hundredth}) == most**2 * before


def test_a_delta_groups_and_a_promise_of_nothing_are_said() -> None:
    assert "2.72, except with a probability of 1e-6: a" in in_plain_words(Fraction(1), Fraction(1, 10**6), EVERY)
    assert "a probability of 0.0034: a" in in_plain_words(Fraction(1), Fraction(1, 300), EVERY)
    said = in_plain_words(Fraction(1), Fraction(0), Protects.PAIRS_INSIDE_GROUPS)
    assert said.startswith(
        "For someone who knows the groups and all other connections, these numbers change the odds of one connection "
        "inside a group by a factor"
    )
    for ten, (epsilon, delta) in {
        "ten together change the odds by a factor of at most 22,100, except with a probability of 0.013.": (1, 1e-6),
        "ten together change the odds by a factor of at most 1.01.": (1e-18, 0),
        "ten together change the odds by a factor of at most 149, except with a probability of 2.3e-4.": (0.5, 1e-6),
        "a factor of at most 269,000, which is no protection, and even that fails with a probability of 0.11.": (
            1.25,
            1e-6,
        ),
        "for ten together nothing is promised.": (1.5, 1e-6),
    }.items():
        assert in_plain_words(Fraction(epsilon), Fraction(str(delta)), EVERY).endswith(ten)
    assert "one of 1 % at most 100 %, which is no protection. Where" in in_plain_words(Fraction(16), Fraction(0), EVERY)
    for name, kind in MECHANISMS.items():
        assert bool(kind(epsilon=1, n=50).in_plain_words) == (name != "published")


def test_the_lawyers_table_has_the_same_numbers() -> None:
    page = (ROOT / "pcneo" / "guide" / "for-a-lawyer.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| (.+?) times \| (.+?) % \| (.+?) % \|$", page, re.MULTILINE)
    assert len(rows) == 7
    for epsilon, times, half, hundredth in rows:
        said = in_plain_words(Fraction(epsilon), Fraction(0), EVERY)
        suspicions = f"a suspicion of 50 % can become at most {half} %, one of 1 % at most {hundredth} %"
        assert f"a factor of at most {times}: {suspicions}" in said
