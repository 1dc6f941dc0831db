"""A data folder of the local server: its version, its password, and its locks.

A data folder belongs to one user, who alone may look into it, and to one Neo4j version. It holds

    neo4j-version   that version
    password        the password of user neo4j, readable by its owner only
    conf/ logs/     rewritten at every start; logs/console.log has all output of the server
    data/           Neo4j's store
"""

from __future__ import annotations

import os
import secrets
import shlex
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pcneo.errors import LocalServerError
from pcneo.server.folders import read_private, write_private
from pcneo.server.records import store_lock

PATIENCE_SECONDS = 2


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the right to start or stop a server on `folder`; the system frees it however this process ends."""
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
    """Make an existing folder the data folder of a Neo4j version, unless it is one already.

    It is closed to other users.
    """
    marker = folder / "neo4j-version"
    is_ours = marker.exists()
    _close_to_others(folder, is_ours)
    if is_ours:
        _refuse_links(folder)
        made_by = read_private(marker)
        if made_by != version and (folder / "data").exists():
            raise LocalServerError(
                f"The graph in {folder} was created by Neo4j {made_by}, and Neo4j {version} cannot open it. "
                "Name another data folder with --data.",
                path=folder,
                version=made_by,
            )
    elif not _is_empty(folder):
        raise LocalServerError(
            f"{folder} is not empty and was not made by pcneo. Name a folder of its own for the local server.",
            path=folder,
        )
    write_private(marker, version)


def _close_to_others(folder: Path, is_ours: bool) -> None:
    """Make sure that only this user can look into the folder; refuse it if others may have changed what is in it."""
    state = folder.stat()
    if state.st_uid != os.geteuid():
        raise LocalServerError(f"{folder} belongs to another user. Name a folder of your own with --data.", path=folder)
    if state.st_mode & stat.S_ISVTX:
        raise LocalServerError(f"{folder} is shared by all users. Name a folder of your own with --data.", path=folder)
    if not state.st_mode & 0o077 or not (is_ours or _is_empty(folder)):
        return
    if is_ours and state.st_mode & 0o022:
        raise LocalServerError(
            f"{folder} can be written by other users, who may have changed what is in it. If you trust it: "
            f"chmod 700 {shlex.quote(str(folder))}",
            path=folder,
        )
    try:
        folder.chmod(0o700)
    except OSError as error:
        raise LocalServerError(f"{folder} cannot be closed to other users: {error.strerror}.", path=folder) from error
    if folder.stat().st_mode & 0o077:
        raise LocalServerError(
            f"{folder} cannot be closed to other users: its file system records no owners. Name another with --data.",
            path=folder,
        )


def _refuse_links(folder: Path) -> None:
    """Refuse links where files are written at every start: their targets would be overwritten."""
    for name in ("conf", "logs", "conf/neo4j.conf", "logs/console.log", "logs/service.log", "service.json"):
        if (folder / name).is_symlink():
            raise LocalServerError(f"{folder / name} is a link, which is not followed here. Remove it.", path=folder)


def _is_empty(folder: Path) -> bool:
    return not any(folder.iterdir())


def password_file(folder: Path) -> Path:
    """Return the path of the file with the password."""
    return folder / "password"


def ensure_password(folder: Path) -> str:
    """Return the server's password, drawn at random on the first call and kept."""
    if not password_file(folder).exists():
        write_private(password_file(folder), secrets.token_urlsafe(24))
    return read_password(folder)


def read_password(folder: Path) -> str:
    """Return the server's password."""
    return read_private(password_file(folder))


def check_store_is_free(folder: Path) -> None:
    """Refuse a store that any Neo4j has open, no matter who started it: a running Neo4j locks a file of its store."""
    path = store_lock(folder)
    # The locks of a killed process last a moment longer than its entry in the list of processes.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while path.exists() and _is_locked(path):
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"Another Neo4j, which pcneo has no record of, has the graph in {folder} open. Stop that one first; "
                f"`pcneo --data {shlex.quote(str(folder))} server stop` does that if pcneo started it.",
                path=folder,
            )
        time.sleep(0.1)


def _is_locked(path: Path) -> bool:
    import fcntl

    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # systems report a held lock in two ways
            return True
    return False
