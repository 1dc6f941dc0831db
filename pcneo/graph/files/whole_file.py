"""Files that are written whole or not at all: to a temporary file beside them, renamed once it is on disk."""

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
    """Open a new file in the folder of `path`, readable by its owner only, and remove it after the block."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path, *, replace: bool, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only if the block ends without an error.

    Args:
        path: the file.
        replace: whether it may replace an existing file.
        mode: its permissions; until the block ends only its owner can read it.

    Raises:
        PcneoError: it cannot be written, or exists and may not be replaced.
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
                os.link(temporary, path)  # unlike a rename it never overwrites a file that has appeared since
    except OSError as error:
        raise PcneoError(f"{path} cannot be written: {error.strerror}.", path=path) from error


def check_place(path: Path, option: str, *, replace: bool) -> None:
    """Check, before long work, that `whole_file` can write a file, by making and removing one beside it.

    Args:
        path: the file.
        option: the option that names it, for the error.
        replace: whether it may replace an existing file.

    Raises:
        ParameterError: it cannot be written, is a folder, or exists and may not be replaced; `data["name"]` is the
            option.
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
