"""The command `pcneo`, also `python -m pcneo`: runs the command line and turns our errors into lines and exit codes."""

from __future__ import annotations

import os
import sys

from pcneo.cli import app
from pcneo.errors import PcneoError


def main() -> None:
    """Run the command line; a user's mistake gets a line and an exit code, never a traceback."""
    try:
        app(prog_name="pcneo")
    except PcneoError as error:
        sys.stdout.flush()
        print(f"pcneo: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        # What standard output still holds cannot be written later either: Python would try, and fail aloud.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f": {error.filename}" if error.filename else ""
        print(f"pcneo: {error.strerror or error}{where}", file=sys.stderr)
        sys.exit(PcneoError.exit_code)


if __name__ == "__main__":
    main()
