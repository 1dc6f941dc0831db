"""What the owner is told before a spend, and which counts are refused as mostly noise (GUARANTEE.md#utility)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.privacy.outlook import Foresight, Public
from pcneo.release.prepared import Prepared
from pcneo.release.spending import Terms

_JUDGED = 3
"""The k by which a release of any k is judged: the owner states a mean number of triangles."""


def foreseen(release: Prepared, terms: Terms, k: int | None = None) -> Foresight:
    """Return what public numbers tell of the errors; of a mechanism with groups, by these and outside connections.

    What the owner does not state of the graph is as earlier releases have published it.
    """
    if release.utility.least_error is not None:
        return Foresight(release.utility.least_error)
    mechanism = release.mechanism
    return (mechanism if k in (None, mechanism.k) else replace(mechanism, k=k)).foresee(_known(release, terms))


def told_beforehand(release: Prepared, terms: Terms) -> Iterator[str]:
    """Yield what to say before the spend; several releases on one set of answers say the same of it."""
    if release.given is None:
        yield release.mechanism.describe(release.utility)
        yield from filter(None, [_expected(release, terms)])
        if not release.mechanism.adds_noise and release.request.fate == "publish":
            yield from filter(None, [release.mechanism.answers_would_show()])
    elif release.answer_set is not None:
        yield release.mechanism.describe_from(release.answer_set)


def _expected(release: Prepared, terms: Terms) -> str:
    """Say how large the errors are expected to be, beside the mean count."""
    public = _known(release, terms)
    errors, from_groups = foreseen(release, terms), release.utility.least_error is not None
    parts = [("a count of triangles" if from_groups else "a count", errors.error), ("the total", errors.error_of_total)]
    said = " and ".join(f"{name} to err by {rounded(error)} at least" for name, error in parts if error is not None)
    if not said or (from_groups and public.mean_count is None):
        return ""
    stated = f"a mean degree of {rounded(public.mean_degree)}"
    if terms.mean_degree is None:
        guess = release.earlier.mean_degree is None
        stated += ", which is a guess (--mean-degree)" if guess else ", as an earlier release has published"
    beside = (
        "the mean count is not stated (--expect)"
        if public.mean_count is None
        else f"vertices are in {rounded(public.mean_count)} triangles in the mean, as "
        + ("you expect" if terms.expect is not None else "an earlier release has published")
    )
    return f"{release.mechanism.heading}: expect {said}; {beside}" + ("." if from_groups else f", at {stated}.")


def _known(release: Prepared, terms: Terms) -> Public:
    """What the owner states of the graph; where nothing is stated, what an earlier release has published."""
    stated, earlier = terms.public, release.earlier
    return Public(
        stated.mean_degree if terms.mean_degree is not None else earlier.mean_degree or stated.mean_degree,
        stated.mean_count if terms.expect is not None else earlier.mean_count,
    )


def check_noise(prepared: Sequence[Prepared], terms: Terms, confirm: Callable[[str], bool] | None) -> None:
    """Refuse, or ask about, counts that are expected to be mostly noise, by public numbers or groups alone."""
    for release in prepared if not terms.anyway else ():
        for text in filter(None, (release.mechanism.doubt, _noisy(release, terms))):
            if confirm is None or not confirm(text):
                raise ParameterError(
                    f"{text} Nothing was spent. Give --anyway if you mean it.", name="anyway", value=terms.anyway
                )


def _noisy(release: Prepared, terms: Terms) -> str:
    # By the count that is stated: that an earlier release was made must not refuse a later one in a script.
    expected = terms.public.mean_count
    if expected is None or release.given is not None:
        return ""
    least = foreseen(release, terms, _JUDGED).error
    if least is None or least <= expected:
        return ""
    k = release.mechanism.k
    what = "count" if k == _JUDGED else f"count of triangles, by which k = {k} is judged,"
    return (
        f"{release.mechanism.heading}: a {what} errs by {rounded(least)} at least, and is {rounded(expected)} in the "
        "mean, as you expect: counts would be mostly noise."
    )
