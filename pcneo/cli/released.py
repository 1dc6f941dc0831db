"""What `pcneo release` prints, before a spend and after one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pcneo.cli.console import print_json, print_table, without_empty
from pcneo.cli.streams import note, say

if TYPE_CHECKING:
    from pcneo.release import Prepared, Released, Terms


def print_released(released: list[Released], as_json: bool) -> None:
    """Note on standard error what was written, then print it: a full disk must not make the release look failed."""
    from pcneo.release.public_file import total_in_words

    for release in released:
        markdown, data = release.reports
        public, own = f"{release.public}", f"{markdown} and {data.name}"
        if release.answers is not None and release.answers_are == "publish":
            public = f"{public} and {release.answers.name}"
        elif release.answers is not None:
            own = f"{markdown}, {data.name} and {release.answers.name}"
        note(f"Released for the public: {public}; for you alone: {own}")
    if as_json:
        print_json(released)
        return
    for promise, group in groupby(released, lambda release: release.promise):
        those = list(group)
        for release in those:
            errors = release.standard_error_of_total, release.standard_error_of_a_count
            total = total_in_words(release.total, *errors, release.standard_errors_are)
            if release.warning:
                say(release.warning)
            say(f"{release.public}: {total}")
            if release.answers is not None and release.answers_are == "publish":
                say(f"  Also public: the answers, {release.answers}")
        say(f"  {promise}")
        for plain in dict.fromkeys(release.in_plain_words for release in those if release.in_plain_words):
            say(f"  {plain}")
    for remark in dict.fromkeys(release.remark for release in released if release.remark):
        say(remark)
    if any(release.answers_are == "destroy" for release in released):
        say("The answers themselves were destroyed.")
    lefts = {_left(release) for release in released}
    if len(lefts) == 1:  # several belong to several graphs: `pcneo budget show` lists them by name
        say(lefts.pop())


def _left(release: Released) -> str:
    from pcneo.privacy.account import ONLY_INSIDE

    left, budget = release.left, release.budget
    if left is None or budget is None:
        return "There is no bound on what this graph has spent."
    said = f"This leaves {left if budget.delta else left.without_zero} of {budget.without_zero}"
    if release.protects_groups:
        return f"{said} {ONLY_INSIDE}"
    return f"{said}."


def print_prepared(prepared: list[Prepared], terms: Terms, as_json: bool) -> None:
    """Print what can be said before anything is spent; errors of groups are for the owner only."""
    from pcneo.privacy.exact import decimal_text, exact_text
    from pcneo.privacy.outlook import DIFFERENT_PROMISES, Foresight
    from pcneo.release.beforehand import foreseen

    rows = [
        {
            "mechanism": release.mechanism.name,
            "k": release.mechanism.k,
            "epsilon": exact_text(release.spend.epsilon),
            "delta": exact_text(release.spend.delta),
            "run": release.run.id if release.run else None,
            "leastScale": release.utility.least_scale,
            "errorOfACount": errors.error,
            "errorOfTotal": errors.error_of_total,
            "leastErrorOfACount": release.utility.least_error,
            "mostErrorOfACount": release.utility.most_error,
        }
        for release in prepared
        for errors in [Foresight() if release.utility.least_error is not None else foreseen(release, terms)]
    ]
    several = len({release.mechanism.name for release in prepared}) > 1
    of_groups = any(release.utility.least_error is not None for release in prepared)
    private = " Errors of critical follow from the groups, and are for the owner only." if of_groups else ""
    promises = [(release.mechanism.name, release.in_plain_words or release.promise) for release in prepared]
    for name, promise in dict.fromkeys(promises):
        note(f"What {name} promises: {promise}")
    note(f"Nothing was spent.{private}{f' {DIFFERENT_PROMISES}' if several else ''}")
    if as_json:
        print_json(rows)
    elif rows:
        for row, release in zip(rows, prepared, strict=True):
            row["delta"] = decimal_text(release.spend.delta)
        print_table(*without_empty([{_COLUMNS.get(name, name): value for name, value in row.items()} for row in rows]))


_COLUMNS = {
    "epsilon": "spends ε",
    "delta": "δ",
    "leastScale": "least scale",
    "errorOfACount": "standard error of a count, at least",
    "errorOfTotal": "of the total, at least",
    "leastErrorOfACount": "standard error of a count of triangles, at least",
    "mostErrorOfACount": "at most",
}
"""Column names, for people, of the figures before a release."""
