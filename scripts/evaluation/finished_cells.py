"""Finished cells, to be asked for by their parameters."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from evaluation.cells import Cell, Result
from evaluation.results_folder import Kept

__all__ = ["Finished"]


class Finished:
    """Cells and their results, in the order of the experiment.

    Attributes:
        missing: cells of the experiment that are not finished.
    """

    def __init__(self, pairs: Iterable[tuple[Cell, Result]], missing: Iterable[Cell] = ()) -> None:
        """Take them."""
        self._pairs = list(pairs)
        self._by_parameters: dict[tuple[str, ...], dict[tuple[Any, ...], list[tuple[Cell, Result]]]] = {}
        self.missing = list(missing)

    @classmethod
    def of(cls, cells: Iterable[Cell], kept: Kept) -> Finished:
        """Look up cells."""
        looked = [(cell, kept.result(cell)) for cell in dict.fromkeys(cells)]
        done = [(cell, result) for cell, result in looked if result is not None]
        return cls(done, [cell for cell, result in looked if result is None])

    def __iter__(self) -> Iterator[tuple[Cell, Result]]:
        """Yield cells with their results."""
        return iter(self._pairs)

    def __len__(self) -> int:
        """Number of finished cells."""
        return len(self._pairs)

    def where(self, **parameters: Any) -> Finished:
        """Return the cells with these parameters; those with others of the same names are then found as fast."""
        names = tuple(parameters)
        if names not in self._by_parameters:
            found = self._by_parameters[names] = {}
            for cell, result in self._pairs:
                found.setdefault(tuple(getattr(cell, name) for name in names), []).append((cell, result))
        return Finished(self._by_parameters[names].get(tuple(parameters.values()), []))

    def one(self, **parameters: Any) -> Result | None:
        """Return the result of the only cell with these parameters; None where there is none."""
        found = [result for _, result in self.where(**parameters)]
        return found[0] if len(found) == 1 else None

    def values(self, name: str) -> list[Any]:
        """Return the values that a parameter has, each once, in order."""
        return list(dict.fromkeys(value for cell, _ in self._pairs if (value := getattr(cell, name)) is not None))

    def table(self) -> str:
        """Return all cells as CSV: parameters, then results, lists spread over columns."""
        rows = [{**cell.parameters, "switches": "+".join(cell.switches), **_flat(result)} for cell, result in self]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


def _flat(result: Result, before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in result.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}_")
        elif isinstance(value, list):
            flat |= {f"{before}{name}_{i}": each for i, each in enumerate(value)}
        else:
            flat[before + name] = value
    return flat
