"""The folder of an evaluation: finished cells, and arrays that many cells need; each file appears whole or not."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.cells import Cell, cell_of
from evaluation.kept_files import write_text
from evaluation.results import Result, from_plain, to_plain
from pcneo.basics.whole_file import whole_file

_DIGITS = 64  # of a SHA-256 in hexadecimal


class ResultsFolder:
    """What earlier calls have finished, and where this one puts what it finishes.

    Attributes:
        path: of the folder.
        faults: files that are not used, each with the reason.
    """

    def __init__(self, path: Path) -> None:
        """Read every finished cell.

        A file is not used, but named in `faults`, when it is no cell, its name does not follow from its parameters, or
        its result is not the one that was written.
        """
        self.path = path
        self.faults: list[tuple[Path, str]] = []
        self._cells, self._arrays = path / "cells", path / "arrays"
        self._results: dict[str, Result] = {}
        for part in (self._cells, self._arrays):
            part.mkdir(parents=True, exist_ok=True)
        for file in sorted(self._cells.iterdir()):
            if file.name.startswith("."):  # of another call that is still writing, or was killed
                continue
            try:
                identity, result = _read_cell(file)
                self._results[identity] = result
            except ValueError as error:
                self.faults.append((file, str(error)))

    def result(self, cell: Cell) -> Result | None:
        """Return the result of a finished cell; None if the cell is not finished."""
        return self._results.get(cell.identity)

    def write_cell(self, cell: Cell, result: Result) -> None:
        """Write a finished cell."""
        plain = to_plain(result)
        content = {"parameters": cell.parameters, "result": plain, "sha256": _digest(plain)}
        text = json.dumps(content, indent=1, allow_nan=False)
        write_text(self._cells / _cell_name(cell.kind, cell.identity), text + "\n")
        self._results[cell.identity] = result

    def arrays(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        """Return the arrays of a name; None if there are none, or their file is damaged and goes to `faults`."""
        path = self._array_path(name)
        if not path.is_file():
            return None
        try:
            # Nothing is parsed that is not what was written: damage can look like anything to numpy.
            with np.load(io.BytesIO(_checked(path.read_bytes())), allow_pickle=False) as archive:
                arrays = {part: archive[part] for part in archive.files}
            if str(arrays.pop("name")) != name:
                raise ValueError("it holds something else than its name says")
        except (ValueError, OSError) as error:
            self.faults.append((path, f"not the arrays that its name promises: {error}"))
            return None
        return arrays

    def write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write arrays under a name."""
        buffer = io.BytesIO()
        np.savez(buffer, name=np.array(name), **arrays)  # pyright: ignore[reportArgumentType]  see its `allow_pickle`
        with whole_file(self._array_path(name), replace=True) as file:
            file.write(_with_digest(buffer.getvalue()))

    def _array_path(self, name: str) -> Path:
        return self._arrays / f"{name}.npz"


def _with_digest(archive: bytes) -> bytes:
    """Return a zip archive with the hash of all that comes before it as its comment, 64 hexadecimal digits."""
    archive = archive[:-2] + _DIGITS.to_bytes(2, "little")  # an archive ends with the length of its comment
    return archive + hashlib.sha256(archive).hexdigest().encode()


def _checked(content: bytes) -> bytes:
    """Return an archive as it is read; ValueError if it is not the one that was written."""
    if hashlib.sha256(content[:-_DIGITS]).hexdigest().encode() != content[-_DIGITS:]:
        raise ValueError("its content is not what was written")
    return content


def _cell_name(kind: str, identity: str) -> str:
    return f"{kind}-{identity}.json"


def _digest(plain: object) -> str:
    """The hash of a result in JSON, whose numbers are read back digit by digit as they were written."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _read_cell(path: Path) -> tuple[str, Result]:
    """Read a cell's identity and result; ValueError if the file is not the cell that its name promises."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        parameters, plain, digest = (content[name] for name in ("parameters", "result", "sha256"))
        cell = cell_of(parameters)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no finished cell: {error}") from error
    if path.name != _cell_name(cell.kind, cell.identity):
        raise ValueError("its name does not follow from its parameters")
    if not isinstance(plain, dict) or _digest(plain) != digest:
        raise ValueError("its result is not the one that was written")
    return cell.identity, from_plain(plain)
