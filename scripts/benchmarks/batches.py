"""A file of cohesions, as the benchmarks write it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcneo.basics.model import CohesionBatch


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
