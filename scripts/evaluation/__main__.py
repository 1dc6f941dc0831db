"""`python -m evaluation`, with `scripts` on the path; `scripts/evaluate` runs it."""

from evaluation.command_line import app
from pcneo.cli.main import run

if __name__ == "__main__":
    run(app, "scripts/evaluate")
