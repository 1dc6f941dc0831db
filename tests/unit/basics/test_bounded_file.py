"""Files are read whole, however long they are said to be."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pcneo.basics.bounded_file import BLOCK_BYTES, read_whole
from pcneo.errors import FileFormatError


def test_a_file_that_the_kernel_makes_as_it_is_read_is_read_whole() -> None:
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("there is no /proc here")
    assert status.stat().st_size == 0
    assert read_whole(status, 2**20).startswith(b"Name:")


def test_a_file_that_grows_is_read_as_far_as_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    content = bytes(range(256)) * (BLOCK_BYTES // 100)
    path.write_bytes(content)
    stat = Path.stat

    def shorter(self: Path, **named: Any) -> Any:
        there: os.stat_result = stat(self, **named)
        return SimpleNamespace(st_mode=there.st_mode, st_size=7)

    monkeypatch.setattr(Path, "stat", shorter)
    assert read_whole(path, len(content)) == content
    with pytest.raises(FileFormatError, match="the most that is read"):
        read_whole(path, len(content) - 1)
