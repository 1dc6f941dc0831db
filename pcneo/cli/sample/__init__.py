"""The tutorial that comes with the package, and the graph beside it (`pcneo.sample_path`)."""

from __future__ import annotations

from pathlib import Path

__all__ = ["tutorial_path"]


def tutorial_path() -> Path:
    """Path of the tutorial, a Jupyter notebook without outputs."""
    return Path(__file__).with_name("tutorial.ipynb")
