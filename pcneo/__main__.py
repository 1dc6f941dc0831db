"""The command `pcneo`, also `python -m pcneo`: runs the command line and turns our errors into lines and exit codes."""

from __future__ import annotations

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


if __name__ == "__main__":
    main()
