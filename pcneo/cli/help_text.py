"""Help as a person reads it: flags are shown without a value, and each paragraph fills the terminal's width."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Command", "Group"]


class Command(TyperCommand):
    """A command whose flags are shown without a type, and whose help is filled anew."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Take what typer gives."""
        super().__init__(*arguments, **options)
        self.help = _unwrapped(self.help)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _shown(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands, likewise."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Take what typer gives."""
        super().__init__(*arguments, **options)
        self.help = _unwrapped(self.help)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _shown(super().get_params(ctx))


def _unwrapped(text: str | None) -> str | None:
    """Return each paragraph as one line: typer keeps the line breaks of a docstring, and would wrap its lines again."""
    return text and "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


def _shown(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_bool_flag", False):
            parameter.metavar = ""
    return parameters
