"""Arrays that many cells need: computed once, then kept in the folder of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from evaluation.results_folder import ResultsFolder
from pcneo.basics.config import __version__
from pcneo.basics.memo import Memo
from pcneo.errors import GraphError

Announce = Callable[[str], None]
"""Takes a few words on what is being computed."""

REVISIONS = {
    "views": 1,
    "counts": 1,
    "common": 1,
    "supports": 1,
    "sets": 1,
    "phases": 1,
    "inside": 1,
    "connected": 2,
}
"""The revision of each array, by name without k: raise it when the same graph and cohesions would give another array,
and with it the revisions of the cells that need the array."""


class RefusedError(GraphError):
    """A mechanism is refused on this graph; the message says why."""


class KeptArrays:
    """Arrays by name: read from the folder of results, or computed and written there."""

    def __init__(self, folder: ResultsFolder, stem: str, announce: Announce) -> None:
        """Take the folder, what the names of the files begin with, and where to announce a computation."""
        self._folder, self._stem, self._announce = folder, stem, announce
        self._in_memory = Memo()

    def get(self, name: str, compute: Callable[[], Mapping[str, NDArray[Any]]]) -> Mapping[str, NDArray[Any]]:
        """Return the arrays of a name in `REVISIONS`, followed by k where they depend on it."""
        return self._in_memory.get(name, lambda: self._read_or_compute(name, compute))

    def _read_or_compute(
        self, name: str, compute: Callable[[], Mapping[str, NDArray[Any]]]
    ) -> Mapping[str, NDArray[Any]]:
        file = f"{self._stem}-{name}-{__version__}-{REVISIONS[name.rstrip('0123456789')]}"
        arrays = self._folder.arrays(file)
        if arrays is None:
            self._announce(name)
            arrays = compute()
            self._folder.write_arrays(file, arrays)
        return arrays
