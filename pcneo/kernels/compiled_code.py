"""The folder where numba keeps compiled code, for accounts that can write neither the package nor a home."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

log = logging.getLogger("pcneo")

_FOLDER = "NUMBA_CACHE_DIR"


def have_a_folder() -> None:
    """Name a temporary folder where numba would find none, as it then refuses to compile; log a warning if so."""
    in_package = Path(__file__).parent / "__pycache__"
    named = os.environ.get(_FOLDER)
    if any(_takes_files(folder) for folder in (named and Path(named), in_package, _of_user()) if folder):
        return
    folder = tempfile.mkdtemp(prefix="pcneo-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[_FOLDER] = folder  # for numba, if it is imported later, and for processes that this one starts
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder
    log.warning(
        "This user can write neither %s nor a home, so compiled code is kept only until this process ends, and each "
        "process spends half a minute compiling. Set %s to a folder that stays.",
        in_package,
        _FOLDER,
    )


def _of_user() -> Path | None:
    """Return the folder for all of a user's programs where numba would keep it; None without a home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "numba"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "numba"


def _takes_files(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
