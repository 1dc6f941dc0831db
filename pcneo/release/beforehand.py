"""What the owner reads before a spend, and which counts are refused as mostly noise (GUARANTEE.md#utility)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.privacy.exact import typed_text
from pcneo.privacy.foresight import advise
from pcneo.privacy.mechanisms import Mechanism
from pcneo.privacy.outlook import GUESSED_DEGREE, Earlier, Foresight, Public, check_possible
from pcneo.privacy.protection import Protects
from pcneo.release.prepared import Prepared
from pcneo.release.spending import Terms

_JUDGED = 3
"""The k by which a release of any k is judged: the owner states a mean number of triangles."""

_OWNERS = "For the owner alone: "
"""Before what follows from groups and the connections outside them, which others may not see."""

_FAR = 10
"""An expectation this many times above or below what was published deserves a look."""


def foreseen(release: Prepared, terms: Terms, k: int | None = None) -> Foresight:
    """Return the errors that follow from public numbers; with groups, from these and the connections outside them.

    What the owner does not state about the graph is taken from what earlier releases have published.
    """
    if release.utility.least_error is not None:
        return Foresight(release.utility.least_error)
    return _from_public(release.mechanism, terms.known(release.earlier), k)


def _from_public(mechanism: Mechanism, public: Public, k: int | None = None) -> Foresight:
    mechanism = mechanism if k in (None, mechanism.k) else replace(mechanism, k=k)
    seen = mechanism.foresee(public)
    if mechanism.adds_noise or mechanism.k == _JUDGED or (seen.error or 0) > _most(mechanism.k, public):
        return seen
    return seen._replace(error=None, error_of_total=None)  # only a bound, which can be hundreds of times too small


def lines_beforehand(release: Prepared, terms: Terms) -> Iterator[str]:
    """Yield the lines to log before the spend; releases on one set of answers yield the same lines."""
    if release.given is None:
        yield release.mechanism.describe(release.utility, terms.known(release.earlier).mean_degree)
        single = release.mechanism.of_single_counts
        yield from filter(None, [_expected(release, terms), single, far_off(release, terms)])
        if not release.mechanism.adds_noise and release.request.fate == "publish":
            yield from filter(None, [release.mechanism.answers_would_show(*_degree(release, terms))])
    elif release.answer_set is not None:
        yield release.mechanism.describe_from(release.answer_set)


def _expected(release: Prepared, terms: Terms) -> str:
    """Return a sentence on how large the errors are expected to be, beside the mean count."""
    public = terms.known(release.earlier)
    errors, from_groups = foreseen(release, terms), release.utility.least_error is not None
    parts = [
        ("per count of triangles" if from_groups else "per count", errors.error),
        ("for the total", errors.error_of_total),
    ]
    said = " and ".join(f"of at least {rounded(error, 2)} {of}" for of, error in parts if error is not None)
    if not said or (from_groups and public.mean_count is None):
        return ""
    count = None
    if public.mean_count is not None:
        says = "as you expect" if terms.expect is not None else "according to an earlier release"
        count = f"a vertex is in {rounded(public.mean_count)} triangles on average, {says}"
    degree = None
    if not from_groups and (terms.mean_degree is not None or release.earlier.mean_degree is not None):
        says = ", according to an earlier release" if terms.mean_degree is None else ""
        degree = f"at a mean degree of {rounded(public.mean_degree)}{says}"
    beside = ", ".join(filter(None, [count, degree]))
    stated = f"; {beside}" if beside else ""
    more = ", often several times that" if is_far_below(release, public) else ""
    assumed = _assumed(release, terms, public, errors.error)
    owners, heading = _OWNERS if from_groups else "", release.mechanism.heading
    return f"{owners}{heading}: expect a standard error {said}{more}{stated}.{assumed}"


def is_far_below(release: Prepared, public: Public) -> bool:
    """Whether an error that is foreseen is often several times too small: λ is found by noise, or little is known."""
    return release.utility.least_error is None and (release.mechanism.adds_noise or public.mean_count is None)


def _assumed(release: Prepared, terms: Terms, public: Public, error: float | None) -> str:
    """Say what is assumed as no one has stated or published it, and how to state it; with groups nothing is assumed."""
    if release.utility.least_error is not None:
        return ""
    expect = "--expect for the mean number of triangles of a vertex"
    unknown = public.mean_count is None
    if terms.mean_degree is None and release.earlier.mean_degree is None:
        noisy = _may_be_noise(release, terms, public, error) if unknown else ""
        also = f", and {expect}" if unknown else ""
        degree = rounded(public.mean_degree)
        return f" This assumes {degree} connections per vertex{noisy}. If you know better, give --mean-degree{also}."
    if not unknown:
        return ""
    judged = error is not None and release.mechanism.k == _JUDGED
    noisy = f": counts are mostly noise if it is below {rounded(error, 2)}" if judged else ""
    return f" Give {expect}, if you know it{noisy}."


def _may_be_noise(release: Prepared, terms: Terms, public: Public, error: float | None) -> str:
    """Say how many cliques a vertex can be in, or often is in, if the error is larger; else, how many it must be in."""
    k = release.mechanism.k
    most = _most(k, public)
    if error is not None and error > most and (k != _JUDGED or terms.anyway):  # else the refusal says it
        cliques = "triangles" if k == _JUDGED else f"{k}-cliques"
        return f"; such a vertex is in at most {most:,} {cliques}, so counts may be mostly noise"
    if error is None or k != _JUDGED:
        return ""
    likely = public.among(release.mechanism.n).likely
    if error <= likely:
        return f"; if a vertex is in fewer than {rounded(error, 2)} triangles on average, counts are mostly noise"
    if error <= most:
        often = f"; such a vertex is often in about {rounded(likely)} triangles, so counts may be mostly noise"
        return often + _less_noisy(release.mechanism, public)
    return ""


def _most(k: int, public: Public) -> int:
    """Return the most k-cliques that a vertex of the mean degree can be in."""
    return math.comb(int(public.mean_degree), k - 1)


def far_off(release: Prepared, terms: Terms) -> str:
    """Warn if the owner expects something far from what an earlier release has published, well beyond its noise."""
    expected, published = terms.public.mean_count, release.earlier.mean_count
    if expected is None or published is None or 1 / _FAR <= expected / published <= _FAR:
        return ""
    return (
        f"You expect a vertex to be in {rounded(expected)} triangles on average, but an earlier release of this graph "
        f"published {rounded(published)}: check --expect."
    )


def _degree(release: Prepared, terms: Terms) -> tuple[float, str]:
    """Return the public mean degree, and words for where it comes from."""
    degree = terms.known(release.earlier).mean_degree
    if terms.mean_degree is not None:
        return degree, "the mean degree that you state,"
    if release.earlier.mean_degree is not None:
        return degree, "the mean degree that an earlier release has published,"
    return degree, GUESSED_DEGREE


def check_noise(prepared: Sequence[Prepared], terms: Terms, confirm: Callable[[str], bool] | None) -> None:
    """Refuse, or ask about, counts that only public numbers or groups lead us to expect to be mostly noise.

    What the owner expects is refused where no graph with so many vertices has it.
    """
    for release in prepared:
        check_possible(terms.public.mean_count, release.mechanism.n)
    for text in doubts(prepared, terms):
        if confirm is None or not confirm(text):
            raise ParameterError(
                f"{text} Nothing was spent. Give --anyway (in Python `anyway=True`) if you mean it.",
                name="anyway",
                value=terms.anyway,
            )


def doubts(prepared: Sequence[Prepared], terms: Terms) -> list[str]:
    """Return why a release is not worth its ε, or its promise not worth much, a sentence for each reason.

    There are none if it is made anyway.
    """
    if terms.anyway:
        return []
    return [
        f"{release.request.row}: {text}" if release.request.row else text
        for release in prepared
        for text in (_broken(release.mechanism), release.mechanism.doubt, _noisy(release, terms))
        if text
    ]


def _broken(mechanism: Mechanism) -> str:
    """Say what else the promise would allow, if its δ is so large that several connections could be published."""
    delta = mechanism.entry[1]
    if mechanism.protects is Protects.NOTHING or mechanism.n * delta <= 1:
        return ""
    return (
        f"{mechanism.heading}: with δ = {typed_text(delta)}, the promise would also hold if each pair of vertices were "
        f"published, connected or not, with that probability. Take a δ far below 1/{mechanism.n}."
    )


def _noisy(release: Prepared, terms: Terms) -> str:
    if release.given is not None:
        return ""
    return noisy(release.mechanism, terms, release.earlier, of_groups=release.utility.least_error)


def noisy(mechanism: Mechanism, terms: Terms, earlier: Earlier, *, of_groups: float | None = None) -> str:
    """Return why counts are expected to be mostly noise, a sentence; empty if they are not.

    `of_groups` is the least error that follows from the groups; None for a mechanism without.
    """
    judged = _judged_by(terms, earlier, has_groups=of_groups is not None)
    if judged is None:
        return ""
    public = terms.known(earlier)
    seen = Foresight(of_groups) if of_groups is not None else _from_public(mechanism, public, _JUDGED)
    of_triangles = "" if mechanism.k == _JUDGED else f" of triangles, by which k = {mechanism.k} is judged,"
    least, what, expected, is_so = seen.error, f"a count{of_triangles}", judged.mean, judged.of_a_count
    if mechanism.of_single_counts:  # counts are modelled from the total: where that is noise, so are they
        least, what, is_so = seen.error_of_total, f"the total{of_triangles}", judged.of_the_total
        expected *= mechanism.n / _JUDGED
    if least is None or least <= expected:
        return ""
    less, owners = (_less_noisy(mechanism, public), "") if of_groups is None else ("", _OWNERS)
    return (
        f"{owners}{mechanism.heading}: {what} has a standard error of at least {rounded(least)}, but "
        f"{is_so.format(rounded(expected))}: counts {judged.would} be mostly noise{less}.{judged.advice}"
    )


def _less_noisy(mechanism: Mechanism, public: Public) -> str:
    """Go on in a sentence on noise: below which ε `respond` is noise, and which command compares mechanisms."""
    n, epsilon, so = mechanism.n, typed_text(mechanism.epsilon), ""
    public = public.among(n)
    count = public.mean_count or public.likely
    of_total = {"error_of_total": count * n / _JUDGED}  # counts are modelled from it
    with suppress(ParameterError):  # no ε makes the error so small, or none follows from public numbers
        error = of_total if mechanism.of_single_counts else {"error_of_count": count}
        _, epsilon = advised(mechanism.name, n, public, **error)
        so = f" To avoid that, take an ε {'well ' * mechanism.adds_noise}above about {epsilon}."
        if public.mean_count is None and not mechanism.adds_noise:  # judged by a usual number of triangles
            so = f"{so[:-1]}, and a larger one if a vertex is in fewer than {rounded(count, 2)} triangles on average."
    expect = "" if public.mean_count is None else f" --expect {public.mean_count:g}"
    return f".{so} `pcneo audit -n {n} -d {public.mean_degree:g}{expect} -e {epsilon}` compares mechanisms"


def advised(mechanism: str, n: int, public: Public, **error: Any) -> tuple[float | None, str]:
    """Return an error as a number, and the smallest ε with so small a one; raise a ParameterError if none has."""
    advice = advise(n, public.mean_degree, expect=public.mean_count, **error)
    (of_it,) = (one for one in advice.mechanisms if one.mechanism == mechanism)
    if of_it.refused is not None or not of_it.epsilon:
        raise ParameterError(of_it.refused or "", name="error", value=error)
    return advice.wanted and advice.wanted.error, of_it.epsilon


class _Judged(NamedTuple):
    """The number of triangles of a vertex by which a release is judged, and how to say it of a count and the total."""

    mean: float
    of_a_count: str
    of_the_total: str
    would: str = "would"
    advice: str = ""


def _judged_by(terms: Terms, earlier: Earlier, *, has_groups: bool) -> _Judged | None:
    """Return the mean count that is stated or published, or the most that the mean degree allows; None with groups."""
    stated = terms.public.mean_count
    if stated is not None:
        return _Judged(stated, "is {} on average, as you expect", "is {}, as you expect")
    # With groups, only the count that the owner states is used (GUARANTEE.md#utility).
    if has_groups:
        return None
    if earlier.mean_count is not None:
        says = "according to an earlier release"
        known = _Judged(earlier.mean_count, f"is {{}} on average, {says}", f"is {{}}, {says}")
        return known if earlier.count_is_promised else None
    if terms.mean_degree is None and earlier.mean_degree is not None:
        return None  # it may be mostly noise itself
    public, says = terms.public, "as is assumed" if terms.mean_degree is None else "as you state"
    return _Judged(
        public.most,
        f"a vertex with {rounded(public.mean_degree)} connections, {says}, is in at most {{}} triangles",
        f"is at most {{}} if each vertex has {rounded(public.mean_degree)} connections, {says}",
        "would probably",
        " A few vertices with many connections make more triangles: if you know better, give --expect, the mean number "
        "of triangles of a vertex, or --mean-degree.",
    )
