"""The command `pcneo`, also `python -m pcneo`: runs the command line and turns our errors into lines and exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pcneo.cli import app
from pcneo.errors import PcneoError

if TYPE_CHECKING:
    from typer import Typer

__all__ = ["main", "run"]


def main() -> None:
    """Run the command line; a user's mistake gets a line and an exit code, never a traceback."""
    run(app, "pcneo")


def run(command_line: Typer, name: str) -> None:
    """Run a command line under a name; what it raises of `PcneoError` and `OSError` becomes a line and an exit code."""
    try:
        command_line(prog_name=name)
    except PcneoError as error:
        sys.stdout.flush()
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        # What standard output still holds cannot be written later either: Python would try, and fail aloud.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f": {error.filename}" if error.filename else ""
        print(f"{name}: {error.strerror or error}{where}", file=sys.stderr)
        sys.exit(PcneoError.exit_code)


if __name__ == "__main__":
    main()
