"""Files written whole or not at all: a temporary one beside the place, on disk before it gets its name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pcneo.errors import ParameterError, PcneoError

__all__ = ["check_place", "temporary_beside", "whole_file"]


@contextmanager
def temporary_beside(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file in the folder of `path`, readable by its owner only; it is gone after the block."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path, *, replace: bool, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name when the block ends well, and is not there otherwise.

    Args:
        path: its place.
        replace: whether a file that has this name may go.
        mode: its permissions; until the block ends it is its owner's alone.

    Raises:
        PcneoError: it cannot be written, or is there already and may not go.
    """
    try:
        with temporary_beside(path) as (file, temporary):
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(mode)
            if replace:
                temporary.replace(path)
            else:
                os.link(temporary, path)  # which never overwrites: another may have taken the name since
    except OSError as error:
        raise PcneoError(f"{path} cannot be written: {error.strerror}.", path=path) from error


def check_place(path: Path, option: str, *, replace: bool) -> None:
    """Find out, before long work, whether `whole_file` can write a file, by making and removing one beside it.

    Raises:
        ParameterError: it cannot, a folder is there, or a file that may not go; `data["name"]` is the option.
    """
    if not replace and (path.exists() or path.is_symlink()):
        raise ParameterError(f"{path} exists and is not overwritten. Name another file.", name=option, value=path)
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        with temporary_beside(path):
            pass
    except OSError as error:
        raise ParameterError(f"{path} cannot be written: {error.strerror}.", name=option, value=path) from error
