"""The folder of compiled kernels that all tests share: only processes that compile the same code share it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import compile_cache
import pytest
from compile_cache import KEPT, KERNELS, key, prepare, share

from pcneo.kernels import cohesion


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A copy of the kernels, under another path."""
    return shutil.copytree(KERNELS, tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__"))


def test_the_key_is_of_the_text_of_all_kernels_and_of_no_path(kernels: Path) -> None:
    assert key(kernels) == key(KERNELS)
    last = sorted(kernels.glob("*.py"))[-1]
    last.write_text(last.read_text() + "# a callee is edited\n")
    edited = key(kernels)
    assert edited != key(KERNELS)
    last.rename(last.with_name("renamed.py"))
    assert key(kernels) not in (edited, key(KERNELS))


@pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
def test_the_key_is_of_the_versions_that_compile(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, version = key(KERNELS), compile_cache.version
    monkeypatch.setattr(compile_cache, "version", lambda name: version(name) + ".1" * (name == package))
    assert key(KERNELS) != before


def test_numba_looks_where_kernels_are_shared(tmp_path: Path) -> None:
    folder = prepare(caches=tmp_path)
    compiled: Any = cohesion.expand
    name = Path(compiled.stats.cache_path).name
    assert (folder / name).resolve() == (folder / "kernels").resolve()


def test_another_checkout_shares_and_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, kernels: Path) -> None:
    folder = prepare(caches=tmp_path / "caches")
    assert prepare(kernels, tmp_path / "caches") == folder
    assert len([path for path in folder.iterdir() if path.is_symlink()]) == 2
    other = tmp_path / "other"
    other.mkdir()
    share(other, kernels)
    assert list(other.iterdir()) == []


def test_old_folders_are_swept_and_the_one_in_use_is_not(tmp_path: Path) -> None:
    for i in range(KEPT + 2):
        (tmp_path / f"old{i}").mkdir()
    folder = prepare(caches=tmp_path)
    assert folder.exists()
    assert len(list(tmp_path.iterdir())) == KEPT
