"""Help for people to read: no Python types, flags without a value, paragraphs that fill the terminal's width."""

from __future__ import annotations

from enum import Enum
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from typer.core import TyperCommand, TyperGroup

_Base = TyperCommand if TYPE_CHECKING else object


class _Readable(_Base):
    """What commands and groups share."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.help = _unwrapped(self.help)

    def get_params(self, ctx: Any) -> Any:
        parameters: Any = super().get_params(ctx)
        for parameter in parameters:
            if getattr(parameter, "is_bool_flag", False):
                parameter.metavar = ""
            elif parameter.param_type_name == "option" and parameter.metavar is None and parameter.nargs == 1:
                parameter.metavar = _value(parameter.type_descriptor.annotation)
            elif parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None  # its name says what it is
        return parameters


class Command(_Readable, TyperCommand):
    """A command whose flags are shown without a type, and whose help is wrapped again."""


class Group(_Readable, TyperGroup):
    """A group of commands with such help."""


def _unwrapped(text: str | None) -> str | None:
    """Return each paragraph as one line: typer keeps the line breaks of a docstring, and would wrap its lines again."""
    return text and "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


_ROOM = 16
"""Characters for the names of choices; wider ones would be broken at 80 columns, and the option's help lists them."""


def _value(kind: Any) -> str:
    """Return a word for the value of an option, whether it is given once or several times."""
    of_one = (*get_args(kind), kind)[0]
    if isinstance(of_one, type) and issubclass(of_one, Enum):
        choices = "|".join(str(choice.value) for choice in of_one)
        return choices if len(choices) <= _ROOM else "WORD"
    return {int: "N", float: "X", Path: "FILE"}.get(of_one, "TEXT")
