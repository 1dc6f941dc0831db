"""The public file, and how both outputs are written: whole or not at all (GUARANTEE.md#two-outputs)."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from pcneo.basics.config import __version__
from pcneo.basics.model import Key
from pcneo.basics.pair_answers import PairAnswers
from pcneo.basics.whole_file import check_place, refusing, whole_file
from pcneo.errors import GraphError
from pcneo.privacy.exact import exact_text
from pcneo.privacy.facts import Answers
from pcneo.privacy.laplace import standard_error, sum_half_width
from pcneo.privacy.mechanisms import Mechanism
from pcneo.privacy.outlook import noise_warning

OWNERS_FOLDER = "owner"
"""A folder beside the public file for what only the owner may see, so that sharing the files does not share it."""

HOW_TO_READ = 'to read it: pcneo.read_release(FILE), or pandas.read_csv(FILE, comment="#")'

FORMULA = re.compile(r"[=\t\r]|[+\-@](?![\w .\-]*\Z)")
"""A cell that a spreadsheet would run as a formula although it is quoted; +45 12 and @name are not."""


def public_record(
    mechanism: Mechanism,
    p: str | None,
    scale: Fraction | None,
    counts: Mapping[Key, int],
    computed: Mapping[str, object] = MappingProxyType({}),
    columns: Iterable[str] = (),
) -> dict[str, Any]:
    """Return everything that is published beside keys and noisy counts; only the owner may see the rest.

    Returns:
        Plain values by their names in the file; those that are None are left out.
    """
    # [public-record] All that this holds about the graph is the total of the counts as published and λ, found by noise.
    record: dict[str, Any] = {
        "warning": computed.get("warning"),  # before anything else
        "pcneo": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "mechanism": mechanism.name,
        "promise": mechanism.promise,
        "inPlainWords": mechanism.in_plain_words or None,
        "k": mechanism.k,
        "p": p,
        "epsilon": exact_text(mechanism.epsilon),
        "delta": exact_text(mechanism.spent_delta),
        "h": mechanism.parameter("h"),
        "total": computed["total"] if "total" in computed else float(Fraction(sum(counts.values()), mechanism.k)),
        **{name: value for name, value in computed.items() if name not in ("total", "warning")},
    }
    if mechanism.publishes_scale and scale is not None:
        record["scale"] = float(scale)
        record["standardErrorOfTotal"] = mechanism.error_of_total(scale)
        record["halfWidthOf95PercentInterval"] = mechanism.half_width_of_total(scale)
        if mechanism.counts_vertices:
            # All counts have one scale, so the figures for a count are the same at every vertex.
            record["standardErrorOfACount"] = standard_error(scale)
            record["halfWidthOf95PercentIntervalOfACount"] = sum_half_width(scale)
            record["warning"] = noise_warning(record["standardErrorOfACount"], list(counts.values()))
    record["totalIs"] = mechanism.total_meaning
    record["belowZero"] = mechanism.of_negatives
    named = ["key"] if mechanism.counts_vertices else []
    record["columns"] = mechanism.column_meanings([*named, *(columns or ["count"])])
    return {name: value for name, value in record.items() if value is not None}


def answers_record(mechanism: Mechanism, n: int, answers: Answers | PairAnswers) -> dict[str, Any]:
    """Return what a file of answers states about them: what is public before they are drawn, and how many are yes."""
    # [public-record]
    return {
        "pcneo": __version__,
        "mechanism": mechanism.name,
        "promise": mechanism.promise,
        "epsilon": exact_text(mechanism.epsilon),
        "vertices": n,
        "threshold": mechanism.threshold,
        "yesAnswers": answers.yes_count,
    }


def public_text(record: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], suffix: str) -> str:
    """Return the public file's text: the record, then a row for each vertex.

    In CSV the record comes first: a line `# name: value` for each of its values, and `# column name: meaning` for each
    column. Text keys are quoted, so that none of them can pass for such a line.
    """
    if suffix == ".json":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        counts = {"counts": rows} if "key" in columns else {}
        return json.dumps({**record, **counts}, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    for name, value in record.items():
        if name != "columns":
            out.write(f"# {name}: {value}\n")
    out.writelines(f"# column {name}: {meaning}\n" for name, meaning in record.get("columns", {}).items())
    out.write(f"# {HOW_TO_READ}\n")
    out.write(",".join(columns) + "\n")
    rows = zip(*columns.values(), strict=True)
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    return out.getvalue()


def check_keys(keys: Iterable[Key], suffix: str) -> None:
    """Refuse keys that a spreadsheet would run as formulas, if they will be written as CSV."""
    for key in keys if suffix == ".csv" else ():
        if isinstance(key, str) and FORMULA.match(key):
            raise GraphError(
                f"The key {key!r} would be run as a formula by a spreadsheet. Release to a .json file.", key=key
            )


# --- Writing


_TAKEN = "exists; a release never overwrites one. Name another file."


def check_writable(path: Path) -> None:
    """Make sure that a new file can be written, by writing, linking and removing another beside it."""
    check_place(path, "to", replace=False, taken=_TAKEN)


def check_private(path: Path) -> None:
    """Make sure that `write_private` can write a file, also where the folder `owner` is not there yet."""
    folder = path.parent
    if folder.name != OWNERS_FOLDER or os.path.lexists(folder):  # a dangling link cannot be written to
        check_writable(path)
        return
    with ExitStack() as stack:
        with refusing(folder, "to"):  # not under its own name, which another release could find and rely on
            tried = stack.enter_context(TemporaryDirectory(prefix=".pcneo-", dir=folder.parent))
        check_place(path, "to", replace=False, taken=_TAKEN, folder=Path(tried))


def write_public(path: Path, text: str) -> None:
    """Write a new file whole or not at all."""
    with whole_file(path, replace=False) as file:
        file.write(text.encode())


def make_owners_folder(path: Path) -> None:
    """Make the folder `owner` if a file goes there and it is missing; only its owner can read it, and git skips it."""
    folder = path.parent
    if folder.name == OWNERS_FOLDER and not folder.exists():
        with refusing(folder, "to"), suppress(FileExistsError):  # someone else has just made it
            folder.mkdir(mode=0o700)
            with whole_file(folder / ".gitignore", replace=False, mode=0o600) as file:
                file.write(b"*\n")  # so that `git add .` adds nothing in it


def write_private(path: Path, text: str) -> None:
    """Write a new file whole or not at all, readable only by its owner; make the folder `owner` if it goes there."""
    make_owners_folder(path)
    with whole_file(path, replace=False, mode=0o600) as file:
        file.write(text.encode())
