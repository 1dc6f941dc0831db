"""Files that are written whole or not at all: to a temporary file beside the target, renamed once it is on disk."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pcneo.errors import ParameterError, PcneoError


@contextmanager
def _temporary_beside(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file in the folder of `path` that only its owner can read, and remove it after the block."""
    # Its name is short, so that `path` may have the longest name that the system allows.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".pcneo-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path, *, replace: bool, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only if the block ends without an error."""
    try:
        with _temporary_beside(path) as (file, temporary):
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(_mode_of_new_files(temporary, mode))
            if replace:
                temporary.replace(path)
            else:
                os.link(temporary, path)  # unlike a rename, never overwrites a file that has appeared since
        _sync_folder(path.parent)
    except OSError as error:
        raise PcneoError(f"{path} cannot be written: {_why(path, error)}.", path=path) from error


def _sync_folder(folder: Path) -> None:
    """Put the new name on disk too, where the file system can: otherwise, after a crash, the old name would return."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode_of_new_files(beside: Path, mode: int) -> int:
    """Return the mode that new files get in this folder. A new file shows it; asking for the umask would change it."""
    probe = beside.with_name(f"{beside.name}~")
    handle = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
        probe.unlink()


def check_place(
    path: Path,
    option: str,
    *,
    replace: bool,
    taken: str = "exists and is not overwritten. Name another file.",
    folder: Path | None = None,
) -> None:
    """Check before long work that `whole_file` can write a file, by creating and removing one beside it.

    `folder` is tried instead of the file's own, which is not there yet.
    """
    tried = path if folder is None else folder / path.name
    with refusing(path, option):
        if _is_taken(tried) and not replace:
            raise ParameterError(f"{path} {taken}", name=option, value=path)
        if tried.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        with _temporary_beside(tried) as (_, temporary):
            if not replace:  # `whole_file` then gives the file a second name, which not every folder allows
                other = temporary.with_name(f"{temporary.name}-")
                os.link(temporary, other)
                other.unlink()


@contextmanager
def refusing(path: Path, option: str) -> Iterator[None]:
    """Turn every failure to write at `path` into the error for the option that names it."""
    try:
        yield
    except (OSError, ValueError) as error:  # a name with NUL, or that cannot be encoded, is a ValueError
        raise ParameterError(f"{path} cannot be written: {_why(path, error)}.", name=option, value=path) from error


def _why(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"there is no folder {path.parent}"
    return getattr(error, "strerror", None) or str(error)


def _is_taken(path: Path) -> bool:
    """Return whether something already has this name, even a dangling link."""
    if not path.name:
        raise IsADirectoryError(None, "it is a folder")
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
