"""The folder of an evaluation: finished cells, and arrays that many cells need, each a whole file."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.cells import Cell, Result, from_plain, to_plain
from pcneo.graph.files.whole_file import whole_file

__all__ = ["Kept"]


class Kept:
    """What earlier calls have finished, and where this one puts what it finishes.

    Attributes:
        folder: the folder.
        faults: files that are not used, each with the reason.
    """

    def __init__(self, folder: Path) -> None:
        """Read every finished cell.

        A file that is no cell, whose name does not fit its parameters, or whose result is not the one that was written,
        is named in `faults` and not used.

        Raises:
            OSError: the folder cannot be made or read.
        """
        self.folder = folder
        self.faults: list[tuple[Path, str]] = []
        self._cells, self._arrays = folder / "cells", folder / "arrays"
        self._results: dict[str, Result] = {}
        for made in (self._cells, self._arrays):
            made.mkdir(parents=True, exist_ok=True)
        for path in sorted(self._cells.iterdir()):
            if path.name.startswith("."):  # of another call that is still writing, or was killed
                continue
            try:
                identity, result = _read_cell(path)
                self._results[identity] = result
            except ValueError as error:
                self.faults.append((path, str(error)))

    def result(self, cell: Cell) -> Result | None:
        """Return the result of a finished cell, None of any other."""
        return self._results.get(cell.identity)

    def keep(self, cell: Cell, result: Result) -> None:
        """Write a finished cell."""
        plain = to_plain(result)
        content = {"parameters": cell.parameters, "result": plain, "sha256": _digest(plain)}
        text = json.dumps(content, indent=1, allow_nan=False)
        with whole_file(self._cells / _cell_name(cell.kind, cell.identity), replace=True) as file:
            file.write((text + "\n").encode())
        self._results[cell.identity] = result

    def arrays(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        """Return arrays kept under a name; None where there are none, or the file is damaged and named in `faults`."""
        path = self._array_path(name)
        if not path.is_file():
            return None
        try:
            # Opened here: numpy leaves a file open that turns out to be none of its own.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {each: archive[each] for each in archive.files}
            if str(arrays.pop("name")) != name:
                raise ValueError("it holds something else than its name says")
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
            self.faults.append((path, f"not the arrays that its name promises: {error}"))
            return None
        return arrays

    def keep_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write arrays under a name."""
        buffer = io.BytesIO()
        np.savez(buffer, name=np.array(name), **arrays)  # pyright: ignore[reportArgumentType]  see its `allow_pickle`
        with whole_file(self._array_path(name), replace=True) as file:
            file.write(buffer.getvalue())

    def _array_path(self, name: str) -> Path:
        return self._arrays / f"{name}.npz"


def _cell_name(kind: str, identity: str) -> str:
    return f"{kind}-{identity}.json"


def _digest(plain: object) -> str:
    """The hash of a result as JSON says it: numbers are read back as they were written, digit by digit."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _read_cell(path: Path) -> tuple[str, Result]:
    """Read one cell.

    Raises:
        ValueError: it is none, or not the one that its name promises.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        given, plain, digest = (content[each] for each in ("parameters", "result", "sha256"))
        cell = Cell(**{**given, "switches": tuple(given["switches"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"no finished cell: {error}") from error
    if path.name != _cell_name(cell.kind, cell.identity):
        raise ValueError("its name does not follow from its parameters")
    if not isinstance(plain, dict) or _digest(plain) != digest:
        raise ValueError("its result is not the one that was written")
    return cell.identity, from_plain(plain)
