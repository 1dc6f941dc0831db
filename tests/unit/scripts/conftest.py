"""`scripts/evaluate` within the process of a test."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def evaluate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str, str]]:
    """Runs the command line; returns its exit code, its output and its errors."""
    from evaluation.command_line import app  # not before numba is told where to keep what it compiles

    from pcneo.cli.main import run as run_command_line

    def run(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["scripts/evaluate", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run_command_line(app, "scripts/evaluate")
        output, errors = capsys.readouterr()
        return end.value.code or 0, output, errors

    return run
