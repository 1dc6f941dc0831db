"""What the owner is told before a spend, and which counts are refused as mostly noise (GUARANTEE.md#critical)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.release.prepared import Prepared
from pcneo.release.request import ReleaseRequest
from pcneo.release.spending import Terms

__all__ = ["check_noise", "told_beforehand"]


def told_beforehand(request: ReleaseRequest, release: Prepared) -> Iterator[str]:
    """Yield what to say before the spend; several releases on one set of answers say the same of it."""
    if release.given is None:
        yield release.mechanism.describe(release.utility)
        if not release.mechanism.adds_noise and request.fate == "publish":
            yield from filter(None, [release.mechanism.answers_would_show()])
    elif release.answer_set is not None:
        yield release.mechanism.describe_from(release.answer_set)


def check_noise(prepared: Sequence[Prepared], terms: Terms, confirm: Callable[[str], bool] | None) -> None:
    """Refuse, or ask about, counts that err by more than the mean count whichever pairs inside groups are connected.

    Raises:
        ParameterError: nobody wants them.
    """
    expected = terms.mean_count
    for release in prepared:
        least = release.utility.least_error
        if expected is None or least is None or least <= expected or terms.anyway:
            continue
        what = "count" if release.mechanism.k == 3 else "count of triangles, by which k = 4 is judged,"
        text = (
            f"{release.mechanism.heading}: a {what} errs by {rounded(least)} at least, and is {rounded(expected)} in "
            "the mean, as you expect: counts would be mostly noise."
        )
        if confirm is None or not confirm(text):
            raise ParameterError(
                f"{text} Nothing was spent. Give --anyway if you mean it.", name="expect", value=expected
            )
