"""The two outputs of a release: the public one, and the owner's, which its owner alone can read.

What may stand in the public one is decided in `public_record` alone (privacy.md, "Two outputs").
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pcneo.errors import PcneoError
from pcneo.model import Key

__all__ = ["public_text", "write_private", "write_public"]


def public_text(record: Mapping[str, Any], counts: Mapping[Key, int], suffix: str) -> str:
    """Return the public file's text: what was released and what it promises, then key and noisy count of each vertex.

    CSV has the former in lines that begin with `#`, one `name: value` each.
    """
    if suffix == ".json":
        rows = [{"key": key, "count": count} for key, count in counts.items()]
        return json.dumps({**record, "counts": rows}, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    for name, value in record.items():
        out.write(f"# {name}: {value}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["key", "count"])
    writer.writerows(counts.items())
    return out.getvalue()


def write_public(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        PcneoError: it cannot be written.
    """
    _write(path, text, 0o644)


def write_private(path: Path, text: str) -> None:
    """Write a file whole or not at all, readable by its owner only.

    Raises:
        PcneoError: it cannot be written.
    """
    _write(path, text, 0o600)


def _write(path: Path, text: str, mode: int) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # 0600 from the first byte
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(mode)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PcneoError(f"{path} cannot be written: {error.strerror}.", path=path) from error
