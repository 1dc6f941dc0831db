"""Imports Neo4j's driver without pandas, which the driver imports whenever it is installed.

Pandas takes a third of the time that a command needs to start, for data frames that no command has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _PandasLater(MetaPathFinder):
    """Hides pandas while the driver is being imported, and only then."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        driver = sys.modules.get("neo4j")
        if fullname == "pandas" and driver is not None and not hasattr(driver, "GraphDatabase"):
            raise ModuleNotFoundError("the driver does without it", name=fullname)
        return None


_finder = _PandasLater()


def import_driver_alone() -> None:
    """Have the driver imported without pandas from here on.

    For programs, not for libraries: another thread that imports pandas at that very moment would not find it.
    """
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
