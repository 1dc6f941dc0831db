"""Finished cells with their results, selected by kind and parameters."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar, Unpack

from evaluation.cells import (
    AgainstCell,
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
from pcneo.counting.memo import Memo

__all__ = ["C", "Finished", "R", "Selection"]

C = TypeVar("C", bound=Cell)
R = TypeVar("R", bound=Result)
V = TypeVar("V")


class Selection(Generic[C, R]):
    """Finished cells of one kind with their results, in the order of the experiment."""

    def __init__(self, pairs: Iterable[tuple[C, R]]) -> None:
        """Take the cells."""
        self._pairs = list(pairs)
        self._by_parameters = Memo[tuple[str, ...], dict[tuple[object, ...], list[tuple[C, R]]]]()

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
    """Finished cells of every kind with their results, in the order of the experiment.

    Attributes:
        missing: cells of the experiment that are not finished.
    """

    def __init__(self, pairs: Iterable[tuple[Cell, Result]], missing: Iterable[Cell] = ()) -> None:
        """Take cells and results; each result is of its cell's kind."""
        self._pairs = list(pairs)
        self.missing = list(missing)

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

    @cached_property
    def graphs(self) -> Selection[GraphCell, GraphCounts]:
        """Statistics of graphs."""
        return self._select(GraphCell)

    @cached_property
    def views(self) -> Selection[ViewsCell, Sizes]:
        """Extended local views."""
        return self._select(ViewsCell)

    @cached_property
    def cohesions(self) -> Selection[CohesionsCell, Sizes]:
        """Cohesions."""
        return self._select(CohesionsCell)

    @cached_property
    def scores(self) -> Selection[ScoresCell, Comparison]:
        """Comparisons of the two scores."""
        return self._select(ScoresCell)

    @cached_property
    def overlap(self) -> Selection[OverlapCell, Overlap]:
        """Members that the cohesions of the two scores share."""
        return self._select(OverlapCell)

    @cached_property
    def against(self) -> Selection[AgainstCell, Comparison]:
        """Comparisons of cohesions and extended local views."""
        return self._select(AgainstCell)

    @cached_property
    def subsets(self) -> Selection[SubsetsCell, ViewsInside]:
        """Extended local views inside cohesions."""
        return self._select(SubsetsCell)

    @cached_property
    def releases(self) -> Selection[ReleaseCell, Errors | Refused]:
        """Errors of simulated releases."""
        return self._select(ReleaseCell)

    @cached_property
    def losses(self) -> Selection[LossCell, Losses | Refused]:
        """Losses of the worst connections."""
        return self._select(LossCell)

    @cached_property
    def cliques(self) -> Selection[CliquesCell, Cliques]:
        """Numbers of k-cliques."""
        return self._select(CliquesCell)

    @cached_property
    def coverage(self) -> Selection[CoverageCell, Coverage | Refused]:
        """Connections inside groups."""
        return self._select(CoverageCell)

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
