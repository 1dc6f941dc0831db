"""One folder of compiled kernels for every process of every run, named after everything that they are compiled from.

numba's own cache compares a function's file, and does not notice an edited callee in another one. The folder here is
named by the text of all kernels, the versions of what compiles them, and the processor: nothing in it can be stale.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from places import ROOT

from pcneo.server.folders import cache_folder

KERNELS = ROOT / "pcneo" / "kernels"
KEPT = 5
"""So many folders stay, the last ones used: a branch or two beside the one worked on."""


def prepare(kernels: Path = KERNELS, caches: Path | None = None) -> Path:
    """Return the folder for `NUMBA_CACHE_DIR`, made where it is missing; the oldest ones are swept."""
    caches = caches or cache_folder() / "compiled"
    folder = caches / key(kernels)
    (folder / "kernels").mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    share(folder, kernels)
    with contextlib.suppress(FileNotFoundError):  # another run sweeps, too
        others = [path for path in caches.iterdir() if path != folder]
        for old in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT - 1 :]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def share(folder: Path, kernels: Path) -> None:
    """Let kernels at this path, the checkout's or an installed wheel's, find what was compiled from another path.

    numba names a subfolder after the path of the source's folder; here all these names lead to one. A folder that was
    not made by `prepare`, as somebody may have named one, is left as it is.
    """
    if not (folder / "kernels").exists():
        return
    link = folder / f"{kernels.name}_{hashlib.sha1(str(kernels.resolve()).encode()).hexdigest()}"  # noqa: S324
    with contextlib.suppress(FileExistsError):
        link.symlink_to("kernels")


def key(kernels: Path) -> str:
    """A hash of the kernels' text and names, and of what compiles them for which processor."""
    text = hashlib.sha256()
    for part in _parts(kernels):
        text.update(len(part).to_bytes(8, "big") + part)
    return text.hexdigest()[:32]


def _parts(kernels: Path) -> Iterator[bytes]:
    for path in sorted(kernels.rglob("*.py")):
        yield str(path.relative_to(kernels)).encode()
        yield path.read_bytes()
    yield sys.version.encode()
    for package in ("numba", "llvmlite", "numpy"):
        yield version(package).encode()
    yield from (platform.machine().encode(), *_processor())


def _processor() -> Iterator[bytes]:
    """What code is compiled for, as Linux has it; elsewhere numba's own index tells processors apart."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_bytes().splitlines() if cpuinfo.exists() else []
    yield from sorted({line for line in lines if line.startswith((b"model name", b"flags", b"Features"))})
