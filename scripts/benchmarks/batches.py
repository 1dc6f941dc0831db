"""What the benchmarks do with batches of cohesions: a hash to compare them by, and a file of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcneo.basics.model import CohesionBatch

__all__ = ["hash_of", "write_parquet"]


def hash_of(batches: Iterable[CohesionBatch]) -> str:
    """Return the hash of all memberships."""
    from pcneo.graph import hash_of_batches

    return hash_of_batches(batches)


def write_parquet(keys: Any, batches: list[CohesionBatch], path: Path) -> None:
    """Write batches as `annotate --mode stream --to` does."""
    from pcneo.basics.searches import Search
    from pcneo.basics.selection import Selection
    from pcneo.graph.files.cohesion_file import CohesionWriter
    from pcneo.graph.files.cohesion_file_head import FileHead

    head = FileHead(Search("3/10"), "", 1, Selection((), (), ""), "", "", "", 0, 0, (1, 1))
    with path.open("wb") as file, CohesionWriter(file, head, keys) as writer:
        for batch in batches:
            writer.write(batch)
