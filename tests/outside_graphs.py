"""Graphs that the project does not ship. Tests repeat on them where PCNEO_TEST_GRAPHS names a folder that has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "PCNEO_TEST_GRAPHS"


def outside_graph(name: str) -> Path:
    """The file of this name; the test is skipped where it is not at hand, having passed on graphs of ours."""
    if not (folder := os.environ.get(VARIABLE)):
        pytest.skip(f"repeats on graphs from outside: {VARIABLE} names no folder of them")
    file = Path(folder) / name
    if not file.exists():
        pytest.skip(f"the folder that {VARIABLE} names has no {name}")
    return file
