"""The options of `pcneo serve`: what a configuration file sets, and what the unit for systemd passes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pcneo.service import serving
from pcneo.service.service_settings import ServiceSettings


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder in which the command line is typed."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["--data", "./graph"], ["--config", "./serve.toml"]),
        (["--data=graph"], ["--config=./serve.toml"]),
        (["--data", "sub/../graph"], ["--config", "serve.toml"]),
    ],
)
def test_the_unit_names_whole_paths_however_they_were_typed(
    command_line: Callable[..., Any], tmp_path: Path, before: list[str], after: list[str]
) -> None:
    (tmp_path / "serve.toml").touch()
    code, out, _ = command_line(*before, "serve", *after, "--graph", "graph", "--print-unit")
    (start,) = [line for line in out.splitlines() if line.startswith("ExecStart=")]
    words = start.replace("=", " ").partition(" pcneo ")[2].split()
    data, config = str(tmp_path / "graph"), str(tmp_path / "serve.toml")
    assert (code, words) == (0, ["--data", data, "serve", "--config", config, "--graph", "graph"])


@pytest.mark.parametrize(("line", "graphs"), [("'friends'", ("friends",)), ("['friends', 'x']", ("friends", "x"))])
def test_a_file_may_name_one_graph_or_several(
    command_line: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    line: str,
    graphs: tuple[str, ...],
) -> None:
    served: list[ServiceSettings] = []

    class Noted:
        """A service that only notes its settings."""

        def __init__(self, settings: ServiceSettings, _: object) -> None:
            served.append(settings)

        def run(self) -> None:
            """Do nothing."""

        def end(self) -> None:
            """Do nothing."""

    monkeypatch.setattr(serving, "Service", Noted)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    (tmp_path / "serve.toml").write_text(f"graph = {line}\n")
    code, _, errors = command_line("serve", "--config", "serve.toml")
    assert code == 0, errors
    assert [settings.graphs for settings in served] == [graphs]
