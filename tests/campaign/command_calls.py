"""Command lines where no database answers: correct ones try to reach it, all others are refused before that."""

from __future__ import annotations

import io
import logging
import os
import random
import sys
import tempfile
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from campaign.texts import hostile_text, is_harmless, letters, number_text, one_of
from pcneo.cli.main import main

__all__ = ["try_command"]

NOWHERE = {"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": "x"}
"""Nothing listens on port 9: whoever connects ends with exit code 5."""

CODES = {0, 1, 2, 3, 4, 5, 7, 9}
COMMANDS: dict[str, list[str]] = {
    "annotate": ["-p", "--node-label", "--relationship-type", "--key", "--graph", "--search", "--vertex", "--mode"],
    "show": ["WORD", "WORD", "--plot", "--to"],
    "runs": ["WORD", "--history", "--to", "--json"],
    "check": ["WORD", "--json", "--schema", "--drop"],
    "queries": ["QUERY", "WORD", "--run", "--param", "--json"],
    "load": ["FILE", "--node-label", "--relationship-type", "--key", "--max-gib"],
    "clean": ["--all", "WORD"],
    "release": ["WORD", "-e", "--to", "-k", "--mechanism", "--delta", "--dry-run"],
    "audit": ["WORD", "-e", "-k"],
    "budget set": ["WORD", "--epsilon", "--delta"],
    "budget show": ["WORD", "--json"],
    "budget forget": ["WORD"],
    "server status": ["--json"],
    "server stop": [],
}
FLAGS = {"--history", "--json", "--all", "--dry-run", "--run"}


def try_command(rng: random.Random, folder: Path) -> bool:
    """Run a command line; whether it got as far as the database, or needed none."""
    name = rng.choice(list(COMMANDS))
    arguments = [*name.split(), *(part for option in COMMANDS[name] for part in _option(rng, option))]
    if rng.random() < 0.05:
        arguments.insert(rng.randrange(len(arguments) + 1), hostile_text(rng).replace("\0", ""))
    if "start" in arguments or "demo" in arguments:
        return False
    code, out, err = _run(arguments, folder)
    shown = f"{arguments!r} ended with {code}: {err[-400:]!r}"
    assert code in CODES, shown
    assert "Traceback" not in out + err, shown
    assert is_harmless(err), shown
    assert "--json" in arguments or is_harmless(out), shown
    assert not list(folder.glob("*")), shown
    return code in (0, 5)


def _option(rng: random.Random, option: str) -> list[str]:
    if rng.random() < 0.25:
        return []
    if option in FLAGS:
        return [option] if rng.random() < 0.3 else []
    value = _value(rng, option)
    return [value] if option.isupper() else [option, value]


def _value(rng: random.Random, option: str) -> str:
    if rng.random() < 0.08:
        return hostile_text(rng).replace("\0", "")
    if option in ("-p", "-e", "--epsilon", "--delta", "--max-gib"):
        return number_text(rng, 0.1)
    if option == "-k":
        return one_of(rng, ["3", "4", "5"], ["2", "0", "-1", "x", "1e9", "9" * 30])
    if option == "--mechanism":
        return one_of(rng, ["critical", "edge", "elv", "published"], ["laplace", "", "Edge"])
    if option == "--mode":
        return one_of(rng, ["write", "stream", "stats", "estimate"], ["", "read"])
    if option == "--search":
        return one_of(rng, ["smallest", "density", "degree"], ["size", ""])
    if option == "QUERY":
        return one_of(rng, ["largest_cohesions", "critical_connections"], ["none", ""])
    if option == "--param":
        return one_of(rng, ["id=5", "limit=3"], ["=", "x", "limit=-1", "run="])
    if option in ("FILE", "--to", "--plot"):
        right = {"--plot": "p.svg"}.get(option, "out.json")
        return one_of(rng, [right], [".", "/", "", "out", "no folder/x.csv", "x" * 300, "/dev/null", "~", "-"])
    return letters(rng)


def _run(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    with ExitStack() as stack:
        apart = stack.enter_context(tempfile.TemporaryDirectory(prefix="pcneo-campaign-"))
        servers = {
            "PCNEO_STATE_DIR": apart,
            "PCNEO_DATA_DIR": apart,
        }  # no case finds a server that runs here, and ends it
        for change in (
            chdir(folder),
            redirect_stdout(out),
            redirect_stderr(err),
            mock.patch.object(sys, "argv", ["pcneo", *arguments]),
            mock.patch.object(sys, "stdin", io.StringIO()),
            mock.patch.object(logging.getLogger(), "handlers", []),
            mock.patch.dict(os.environ, {**kept, **NOWHERE, **servers}, clear=True),
        ):
            stack.enter_context(change)
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        else:
            code = 0
    for stream in (out, err):
        stream.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # pyright: ignore[reportAttributeAccessIssue]
    return code, texts[0], texts[1]
