"""The user's folders for the local server: jars in the cache, graphs in the data, records in the state folder.

They follow the conventions of Linux and macOS; `PCNEO_CACHE_DIR`, `PCNEO_DATA_DIR` and `PCNEO_STATE_DIR` override them.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
import sys
import tempfile
from pathlib import Path

from pcneo.errors import LocalServerError

_MOST_BYTES = 100_000  # of a small file


def cache_folder() -> Path:
    """Return the folder of Neo4j's jars; it may be deleted at any time, and they are fetched again."""
    return _user_folder("PCNEO_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "Library/Caches")


def data_folder() -> Path:
    """Return the default data folder of the local server."""
    return _user_folder("PCNEO_DATA_DIR", "XDG_DATA_HOME", ".local/share", "Library/Application Support") / "neo4j"


def data_option(folder: Path) -> str:
    """Return ` --data FOLDER` for a command on this data folder; nothing if it is the default one."""
    return "" if folder == data_folder().resolve() else f" --data {shlex.quote(str(folder))}"


def state_folder() -> Path:
    """Return the folder of the records of running servers."""
    return _user_folder("PCNEO_STATE_DIR", "XDG_STATE_HOME", ".local/state", "Library/Application Support") / "servers"


def make_private(folder: Path, variable: str = "") -> Path:
    """Return `folder`; create it, readable by its owner only, if it is missing. `variable` would name another one."""
    elsewhere = f" {variable} names another one." if variable else ""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = "a file of that name is there" if isinstance(error, FileExistsError) else error.strerror
        raise LocalServerError(f"Folder {folder} cannot be created: {why}.{elsewhere}", path=folder) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LocalServerError(f"Folder {folder} cannot be written by this user.{elsewhere}", path=folder)
    return folder


def read_private(path: Path) -> str:
    """Return the content of a small file that only this user may read and write, without surrounding white space."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise LocalServerError(f"{path} is not a file.", path=path)
            if state.st_uid != os.geteuid():
                raise LocalServerError(f"{path} belongs to another user.", path=path)
            if state.st_mode & 0o077:
                raise LocalServerError(
                    f"{path} is open to other users, who may know or have changed what is in it. If you trust it: "
                    f"chmod 600 {shlex.quote(str(path))}",
                    path=path,
                )
            return file.read(_MOST_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None) == errno.ELOOP:
            raise LocalServerError(f"{path} is a link, which is not followed here.", path=path) from error
        raise LocalServerError(f"{path} cannot be read: {error}.", path=path) from error


def write_private(path: Path, text: str) -> None:
    """Write a small file that only its owner can read, whole or not at all."""
    try:
        descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # readable by its owner only
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)  # it may hold half a secret, and a new data folder must stay empty
            raise
    except OSError as error:
        raise LocalServerError(f"{path} cannot be written: {error.strerror}.", path=path) from error


def _user_folder(variable: str, xdg_variable: str, xdg_default: str, macos: str) -> Path:
    if named := os.environ.get(variable):
        return Path(named).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / macos / "pcneo"
    xdg = Path(os.environ.get(xdg_variable, ""))
    return (xdg if xdg.is_absolute() else Path.home() / xdg_default) / "pcneo"
