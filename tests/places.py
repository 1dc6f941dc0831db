"""Where the project lies, for tests in any folder."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
