"""The folder where numba keeps compiled code, for accounts that can write neither the package nor a home."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from pathlib import Path

log = logging.getLogger("pcneo")

_FOLDER = "NUMBA_CACHE_DIR"


def have_a_folder() -> None:
    """Give numba a temporary folder where it would find none, as it then refuses to compile; log a warning if so.

    The folder is this process's alone: numba runs what it finds in it, so no other process uses it.
    """
    in_package, named = Path(__file__).parent / "__pycache__", os.environ.get(_FOLDER)
    if (named and _takes_files(Path(named))) or _takes_files(in_package) or _takes_files(_of_user()):
        return
    from numba import config

    folder = tempfile.mkdtemp(prefix="pcneo-compiled-")
    config.CACHE_DIR = folder  # type: ignore[attr-defined]  numba sets its names in a loop
    atexit.register(_remove, folder, os.getpid())
    log.warning(
        "This user can write neither %s nor a home, so compiled code is kept only until this process ends, and each "
        "process spends half a minute compiling. Set %s to a folder that stays.",
        in_package,
        _FOLDER,
    )


def _remove(folder: str, made_by: int) -> None:
    if os.getpid() == made_by:  # and not a process that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


def _of_user() -> Path:
    """Return the folder for all of a user's programs where numba would keep it."""
    from numba.misc.appdirs import AppDirs  # as in numba.core.caching

    return Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)


def _takes_files(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
