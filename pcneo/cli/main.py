"""Runs the command line, and turns our errors into lines and exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO, cast

from typer import Abort, BadParameter

from pcneo.basics.signals import signals_interrupt
from pcneo.basics.spelling import did_you_mean
from pcneo.basics.visible import visible
from pcneo.cli import app
from pcneo.cli.driver_import import import_driver_alone
from pcneo.cli.streams import mend_streams, note, output
from pcneo.errors import OutputError, PcneoError

if TYPE_CHECKING:
    from typer import Typer


_CallError = cast("type[BadParameter]", BadParameter.__mro__[2])
"""Every mistake on a command line: a class that typer does not export."""

_INTERRUPTED = 128 + signal.SIGINT
"""The exit code after Ctrl-C."""


def main() -> None:
    """Run the command line; a user's mistake gets a line and an exit code, never a traceback."""
    import_driver_alone()
    run(app, "pcneo")


def run(command_line: Typer, name: str) -> None:
    """Run a command line under a name; a `PcneoError` or an `OSError` becomes a line and an exit code."""
    mend_streams()
    try:
        with signals_interrupt():
            code = _code(command_line, name)
        with output():
            pass
    except OutputError as error:
        note(f"{name}: {error} Nothing else failed.")
        code = error.exit_code
        _forget_output()
    except BrokenPipeError:  # its reader has seen enough, as `head` does: nothing to say
        code = OutputError.exit_code
        _forget_output()
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _redirect_to_nothing(sys.stderr)
    sys.exit(code)


_ELSEWHERE: dict[str, tuple[str, tuple[str, ...]]] = {
    "--data": ("Put --data before the command: pcneo --data FOLDER COMMAND.", ()),
    "--graph": (
        "The graph is an argument here: give its name without --graph.",
        ("queries", "show", "runs", "check", "release", "audit", "budget"),
    ),
    "--html": ("--plot FILE.html writes a picture for a browser.", ("show",)),
    "--run": (
        "The run is an argument here: give its id without --run.",
        ("show", "runs", "check", "release", "audit", "clean"),
    ),
    "--p": ("It has one hyphen: -p 0.3.", ("annotate", "queries")),
    "-p": (
        "Here p is part of a run's name, such as friends@0.3 for p = 0.3.",
        ("release", "audit", "show", "runs", "check", "clean"),
    ),
}
"""Hints for options that people give to commands that do not have them, and which commands; all where none is named."""

_TOO_MANY = "Got unexpected extra argument"
"""How typer refuses a word after the last argument."""


def _code(command_line: Typer, name: str) -> int:
    """Return the exit code with which a command line ends."""
    try:
        ended = command_line(prog_name=name, standalone_mode=False)
    except OutputError:
        raise
    except _CallError as error:
        from typer import rich_utils  # slow to import

        error.message = visible(_mended(error.message), keep="\n")  # it quotes what was typed or pasted
        path = "" if error.ctx is None else error.ctx.command_path
        command = path.removeprefix(name).partition(" ")[2].partition(" ")[0]  # `budget` for `pcneo budget show`
        if error.message.startswith(_TOO_MANY) and command == "annotate":
            error.message += ". A graph is named by an option here: --graph NAME."
        elsewhere, commands = _ELSEWHERE.get(getattr(error, "option_name", ""), ("", ()))
        if elsewhere and (not commands or command in commands):
            error.message, error.possibilities = elsewhere, []  # type: ignore[attr-defined]  of the class for unknown options
        rich_utils.rich_format_error(error)
        return error.exit_code
    except Abort as error:
        if (cause := error.__context__) is not None:
            note("")  # the line of the prompt has not been ended
        if not isinstance(cause, KeyboardInterrupt):  # typer raises the same error for Ctrl-C as for a no
            note("Aborted.")
            return PcneoError.exit_code
        ended = _INTERRUPTED
    except PcneoError as error:
        with suppress(OSError):
            sys.stdout.flush()  # rows come before the error that ended them
        note(f"{name}: {error}")
        return error.exit_code
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        note(f"{name}: {error.strerror or error}{where}")
        return PcneoError.exit_code
    except KeyboardInterrupt:  # raised outside typer, which exits with the same code
        ended = _INTERRUPTED
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer ends with another code
            raise end.__context__ from None
        code = end.code if isinstance(end.code, int) else 0
        if code in (128 + signal.SIGTERM, 128 + getattr(signal, "SIGHUP", 1)):
            note(f"{name}: interrupted by {signal.Signals(code - 128).name}")
        return code
    if ended == _INTERRUPTED:
        note(f"{name}: interrupted")
    return ended if isinstance(ended, int) else 0


_UNKNOWN_WORD = re.compile(r"'(?P<word>.*)' is not one of (?P<known>'.*')\.")
"""How typer refuses a word for an option that takes one of several."""


def _mended(message: str) -> str:
    """Return a message of typer without the name of a Python error, and with the word that may have been meant."""
    message = message.removeprefix("Value error, ")
    unknown = _UNKNOWN_WORD.fullmatch(message)
    if unknown is None:
        return message
    return message + did_you_mean(unknown["word"], unknown["known"].strip("'").split("', '"))


def _forget_output() -> None:
    """Discard what standard output still holds: Python would try to write it at exit, and print that this failed."""
    try:
        _redirect_to_nothing(sys.stdout)
    except (OSError, ValueError):
        sys.stdout = None


def _redirect_to_nothing(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
