"""Where compiled code is kept if neither the package nor a home can be written."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest
from numba import config
from numba.core.caching import UserWideCacheLocator

from pcneo.kernels import compiled_code


@pytest.fixture
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_code, "_takes_files", lambda _folder: False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    monkeypatch.setattr(config, "CACHE_DIR", "/proc/nowhere")


@pytest.mark.usefixtures("_nowhere")
def test_a_folder_that_this_process_removes_takes_the_place_of_one_that_cannot_be_written(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[str] = []
    monkeypatch.setattr(compiled_code.atexit, "register", lambda _remove, folder, _made_by: registered.append(folder))
    with caplog.at_level(logging.WARNING, "pcneo"):
        compiled_code.have_a_folder()
    (folder,) = registered
    assert Path(folder).stat().st_mode & 0o777 == 0o700  # code from a folder of others would be run
    assert vars(config)["CACHE_DIR"] == folder
    assert os.environ["NUMBA_CACHE_DIR"] == "/proc/nowhere"  # processes that this one starts make their own
    assert "Set NUMBA_CACHE_DIR to a folder that stays." in caplog.text
    compiled_code._remove(folder, os.getpid() + 1)  # in a process that was forked from it
    assert Path(folder).is_dir()
    compiled_code._remove(folder, os.getpid())
    assert not Path(folder).exists()


def test_a_folder_that_can_be_written_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    compiled_code.have_a_folder()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "new")
    assert not caplog.text


@pytest.mark.skipif(sys.platform == "darwin", reason="the folders of Linux")
def test_numbas_own_folder_is_where_numba_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def of_numba() -> Path:
        return Path(UserWideCacheLocator(compiled_code.have_a_folder, compiled_code.__file__).get_cache_path()).parent

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert compiled_code._of_user() == of_numba() == tmp_path / "cache" / "numba"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert compiled_code._of_user() == of_numba() == tmp_path / "home" / ".cache" / "numba"
