"""Help as a person reads it: a flag takes no value, and is shown with none."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Command", "Group"]


class Command(TyperCommand):
    """A command whose flags are shown without a type."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _shown(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands, likewise."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _shown(super().get_params(ctx))


def _shown(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_bool_flag", False):
            parameter.metavar = ""
    return parameters
