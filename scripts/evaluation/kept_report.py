"""The report of an evaluation that the project keeps, with the figures and the data that it shows."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from pcneo.errors import NotFoundError, PcneoError

KEPT_REPORT = Path(__file__).with_name("report")


def keep_report(results: Path, kept: Path = KEPT_REPORT) -> list[Path]:
    """Replace the kept report by that of the folder `results`, and return the new files.

    The old one stays until the new one is whole. Results without a report, or without a figure that it names, are
    refused.
    """
    report = results / "report.md"
    if not report.is_file():
        raise NotFoundError(f"{results} has no report.md; `scripts/evaluate all` makes it.", what="report")
    names = sorted(set(re.findall(r"figures/[a-z0-9-]+\.(?:svg|csv)", report.read_text(encoding="utf-8"))))
    if missing := [name for name in names if not (results / name).is_file()]:
        raise NotFoundError(f"{results} lacks {', '.join(missing)}, which its report names.", what="figure")
    try:
        with tempfile.TemporaryDirectory(prefix=f"{kept.name}.", dir=kept.parent) as folder:
            new = Path(folder) / "new"
            (new / "figures").mkdir(parents=True)
            for name in ("report.md", *names):
                shutil.copyfile(results / name, new / name)
            if kept.exists():
                kept.rename(Path(folder) / "old")
            new.rename(kept)
    except OSError as error:
        raise PcneoError(f"{kept} cannot be replaced: {error.strerror}.", path=kept) from error
    return [kept / name for name in ("report.md", *names)]
