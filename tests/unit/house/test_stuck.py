"""A test that waits for ever, timeout or not, ends its worker, which prints what waits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import stuck

STUCK = """
import threading
import stuck
from types import SimpleNamespace

stuck.GRACE_SECONDS = 0.2
config = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin=lambda name: None))
mark = SimpleNamespace(args=[0.2])
item = SimpleNamespace(nodeid="test_x.py::test_y", config=config, get_closest_marker=lambda name: mark)
with stuck.watched(item, []):
    pass
with stuck.watched(item, []):
    threading.Event().wait()
"""


@pytest.mark.long
def test_a_test_that_outlives_its_timeout_ends_its_process_and_shows_where_it_waits():
    ended = subprocess.run(
        [sys.executable, "-c", STUCK], cwd=Path(stuck.__file__).parent, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == stuck.EXIT_CODE
    assert "test_x.py::test_y has outlived its timeout" in ended.stderr
    assert 'File "<string>", line 13 in <module>' in ended.stderr
