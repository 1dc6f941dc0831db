"""Has Neo4j's driver imported without pandas, which it takes along wherever it is installed.

That is a third of the time to start a command, and for data frames that no command has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["import_driver_alone"]


class _PandasLater(MetaPathFinder):
    """Says that there is no pandas as long as the driver is being imported, and nothing before or afterwards."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        driver = sys.modules.get("neo4j")
        if fullname == "pandas" and driver is not None and not hasattr(driver, "GraphDatabase"):
            raise ModuleNotFoundError("the driver does without it", name=fullname)
        return None


_finder = _PandasLater()


def import_driver_alone() -> None:
    """From here on, whoever imports the driver imports it without pandas. Of a program of its own, not of a library."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
