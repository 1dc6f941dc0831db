"""Finished cells with their results, selected by kind and parameters."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar, Unpack

from evaluation.cells import (
    AgainstCell,
    BesideCell,
    Cell,
    CliquesCell,
    CohesionsCell,
    CoverageCell,
    GraphCell,
    LossCell,
    OverlapCell,
    Parameters,
    ReleaseCell,
    ScoresCell,
    SubsetsCell,
    ViewsCell,
)
from evaluation.results import (
    Beside,
    Cliques,
    Comparison,
    Coverage,
    Errors,
    GraphCounts,
    Losses,
    Overlap,
    Refused,
    Result,
    Sizes,
    ViewsInside,
)
from evaluation.results_folder import ResultsFolder
from pcneo.basics.memo import Memo

C = TypeVar("C", bound=Cell)
R = TypeVar("R", bound=Result)
V = TypeVar("V")


class Selection(Generic[C, R]):
    """Finished cells of one kind with their results, in the order of the experiment."""

    def __init__(self, pairs: Iterable[tuple[C, R]]) -> None:
        """Take the cells."""
        self._pairs = list(pairs)
        self._by_parameters = Memo()

    def __iter__(self) -> Iterator[tuple[C, R]]:
        """Yield cells with their results."""
        return iter(self._pairs)

    def __len__(self) -> int:
        """Number of cells."""
        return len(self._pairs)

    def where(self, **parameters: Unpack[Parameters]) -> Selection[C, R]:
        """Return the cells with these parameters; further calls with the same names are fast."""
        names = tuple(parameters)
        index = self._by_parameters.get(names, lambda: self._index(names))
        return Selection(index.get(tuple(parameters.values()), []))

    def _index(self, names: tuple[str, ...]) -> dict[tuple[object, ...], list[tuple[C, R]]]:
        index: dict[tuple[object, ...], list[tuple[C, R]]] = {}
        for cell, result in self._pairs:
            index.setdefault(tuple(getattr(cell, name) for name in names), []).append((cell, result))
        return index

    def only(self, **parameters: Unpack[Parameters]) -> R | None:
        """Return the result of the only cell with these parameters; None where there is none, or several."""
        results = [result for _, result in self.where(**parameters)]
        return results[0] if len(results) == 1 else None

    def values(self, value_of: Callable[[C], V | None]) -> list[V]:
        """Return the values that a parameter has, without repetitions and None, in order."""
        return list(dict.fromkeys(value for cell, _ in self._pairs if (value := value_of(cell)) is not None))


class Finished:
    """Finished cells of every kind with their results, in the order of the experiment; and those of each kind.

    Attributes:
        missing: cells of the experiment that are not finished.
    """

    def __init__(self, pairs: Iterable[tuple[Cell, Result]], missing: Iterable[Cell] = ()) -> None:
        """Take cells and results; each result is of its cell's kind."""
        self._pairs = list(pairs)
        self.missing = list(missing)
        self.graphs: Selection[GraphCell, GraphCounts] = self._select(GraphCell)
        self.views: Selection[ViewsCell, Sizes] = self._select(ViewsCell)
        self.cohesions: Selection[CohesionsCell, Sizes] = self._select(CohesionsCell)
        self.scores: Selection[ScoresCell, Comparison] = self._select(ScoresCell)
        self.overlap: Selection[OverlapCell, Overlap] = self._select(OverlapCell)
        self.against: Selection[AgainstCell, Comparison] = self._select(AgainstCell)
        self.subsets: Selection[SubsetsCell, ViewsInside] = self._select(SubsetsCell)
        self.releases: Selection[ReleaseCell, Errors | Refused] = self._select(ReleaseCell)
        self.losses: Selection[LossCell, Losses | Refused] = self._select(LossCell)
        self.cliques: Selection[CliquesCell, Cliques] = self._select(CliquesCell)
        self.coverage: Selection[CoverageCell, Coverage | Refused] = self._select(CoverageCell)
        self.beside: Selection[BesideCell, Beside | Refused] = self._select(BesideCell)

    @classmethod
    def of(cls, cells: Iterable[Cell], folder: ResultsFolder) -> Finished:
        """Look up cells in a folder of results."""
        pairs = [(cell, folder.result(cell)) for cell in dict.fromkeys(cells)]
        done = [(cell, result) for cell, result in pairs if result is not None]
        return cls(done, [cell for cell, result in pairs if result is None])

    def __iter__(self) -> Iterator[tuple[Cell, Result]]:
        """Yield cells with their results."""
        return iter(self._pairs)

    def __len__(self) -> int:
        """Number of finished cells."""
        return len(self._pairs)

    def _select(self, kind: type[C]) -> Selection[C, Any]:
        return Selection((cell, result) for cell, result in self._pairs if isinstance(cell, kind))

    @property
    def graph_names(self) -> list[str]:
        """The graphs that have a finished cell, in order."""
        return list(dict.fromkeys(cell.graph for cell, _ in self._pairs))

    @property
    def refusals(self) -> list[tuple[Cell, str]]:
        """Cells whose mechanism is refused, with the reason."""
        return [(cell, result["refused"]) for cell, result in self._pairs if "refused" in result]

    def table(self) -> str:
        """Return all cells as CSV: parameters, then results, lists spread over columns."""
        rows = [
            {**cell.parameters, "switches": "+".join(getattr(cell, "switches", ())), **_flat(result)}
            for cell, result in self
        ]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


def _flat(result: Mapping[str, object], before: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in result.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{name}_")
        elif isinstance(value, list):
            flat |= {f"{before}{name}_{i}": part for i, part in enumerate(value)}
        else:
            flat[before + name] = value
    return flat
