"""The options of the command line: how many there are, each with a help, none hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from pcneo.cli import app

MOST_OPTIONS = 110
"""Of all commands together, without `--help`; one that several commands have counts in each of them."""


def options() -> Iterator[tuple[str, Any]]:
    """Every option of every command, with the command's name; those before the command stand under ``."""
    commands = [("", typer.main.get_command(app))]
    while commands:
        name, command = commands.pop()
        commands += [(f"{name} {sub}".strip(), it) for sub, it in getattr(command, "commands", {}).items()]
        yield from ((name, parameter) for parameter in command.params if parameter.param_type_name == "option")


def test_the_command_line_has_no_more_options_than_its_users_need() -> None:
    of_commands = [f"{name} {option.opts[-1]}" for name, option in options() if name]
    assert len(of_commands) <= MOST_OPTIONS, of_commands


def test_no_option_and_no_command_is_hidden_and_each_says_what_it_does() -> None:
    for name, option in options():
        assert not option.hidden, (name, option.opts)
        assert option.help, (name, option.opts)
    assert not [name for name, command in _commands(typer.main.get_command(app)) if command.hidden]


def _commands(group: Any, within: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in getattr(group, "commands", {}).items():
        yield f"{within} {name}".strip(), command
        yield from _commands(command, f"{within} {name}")


def test_no_help_speaks_of_types_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    group = typer.main.get_command(app)
    for name, _ in _commands(group):
        with pytest.raises(SystemExit):
            group(args=[*name.split(), "--help"], prog_name="pcneo")
        assert not re.findall(r"<\w+(?:\[\w+\])?>", capsys.readouterr().out), name
