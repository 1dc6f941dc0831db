"""The graph that comes with the package, so that a first try needs no download."""

from __future__ import annotations

from pathlib import Path

__all__ = ["copenhagen_friends_path", "tutorial_path"]


def copenhagen_friends_path() -> Path:
    """Path of the Copenhagen friendships: a gzipped edge list, 800 vertices, 6,418 edges (README.md beside it)."""
    return Path(__file__).with_name("copenhagen_friends.edges.gz")


def tutorial_path() -> Path:
    """Path of the tutorial, a Jupyter notebook without outputs."""
    return Path(__file__).with_name("tutorial.ipynb")
