"""What was computed of a graph before, kept in a folder of the evaluation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evaluation.kept_files import write_text
from pcneo.basics.config import __version__
from pcneo.basics.model import Graph
from pcneo.graph.hashes import fingerprint
from pcneo.search import REVISION


def computed_once(folder: Path, graph: Graph, settings: Sequence[object], compute: Callable[[], object]) -> Any:
    """Return what was computed of the same graph with the same settings and searches: the folder keeps it as JSON.

    If it does not, it is computed and written first. Settings must be what JSON can hold.
    """
    asked = json.dumps([__version__, REVISION, fingerprint(graph, b""), *settings])
    path = folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:16]}.json"
    if not path.is_file():
        write_text(path, json.dumps(compute(), indent=1) + "\n")
    return json.loads(path.read_text(encoding="utf-8"))
