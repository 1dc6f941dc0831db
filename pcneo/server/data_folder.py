"""One data folder of the local server: whose it is, its password, and who may touch it.

A data folder belongs to one Neo4j version and holds

    neo4j-version   that version
    password        the password of user neo4j, readable by its owner only
    conf/ logs/     written by every start; logs/console.log has all that the server says
    data/           Neo4j's store
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pcneo.errors import LocalServerError
from pcneo.server.folders import read_text, write_private

__all__ = ["check_store_is_free", "claim", "ensure_password", "exclusive", "password_file", "read_password"]

PATIENCE_SECONDS = 2


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the right to start or stop a server on `folder`; the system frees it however this process ends.

    Raises:
        LocalServerError: another process is starting or stopping one there.
    """
    import fcntl  # not on Windows, where this module must still be importable

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LocalServerError(
                f"Another process is starting or stopping the server on {folder} right now; try again when it is done.",
                path=folder,
            ) from error
        yield
    finally:
        os.close(handle)


def claim(folder: Path, version: str) -> None:
    """Make an existing `folder` the data folder of a Neo4j version, or find that it is.

    Raises:
        LocalServerError: it is another version's, holds other things, or cannot be written.
    """
    marker = folder / "neo4j-version"
    if marker.exists():
        made_by = read_text(marker)
        if made_by != version and (folder / "data").exists():
            raise LocalServerError(
                f"The graph in {folder} was made by Neo4j {made_by} and is not opened by Neo4j {version}. "
                "Name another data folder with --data.",
                path=folder,
                version=made_by,
            )
    elif any(folder.iterdir()):
        raise LocalServerError(
            f"{folder} is not empty and was not made by pcneo. Name a folder of its own for the local server.",
            path=folder,
        )
    write_private(marker, version)


def password_file(folder: Path) -> Path:
    """Return the place of the password."""
    return folder / "password"


def ensure_password(folder: Path) -> str:
    """Return the server's password; on the first call it is drawn at random and kept.

    Raises:
        LocalServerError: its file cannot be read or written.
    """
    if not password_file(folder).exists():
        write_private(password_file(folder), secrets.token_urlsafe(24))
    return read_password(folder)


def read_password(folder: Path) -> str:
    """Return the server's password.

    Raises:
        LocalServerError: its file cannot be read.
    """
    return read_text(password_file(folder))


def check_store_is_free(folder: Path) -> None:
    """Return if no Neo4j has the store open, whoever started it: Neo4j locks one file of it while it runs.

    Raises:
        LocalServerError: one has.
    """
    path = folder / "data" / "databases" / "store_lock"
    # A process that was killed just now is gone from the list of processes a moment before its locks are.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while path.exists() and _is_locked(path):
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"Another Neo4j, which pcneo has no record of, has the graph in {folder} open. Stop that one first.",
                path=folder,
            )
        time.sleep(0.1)


def _is_locked(path: Path) -> bool:
    import fcntl

    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # The two ways in which systems say so.
            return True
    return False
