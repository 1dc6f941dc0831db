"""What the owner of a service decides: which graphs, which commands, how much of each, and how often."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from pcneo.basics.bounded_file import read_whole
from pcneo.errors import FileFormatError, ParameterError

_MOST_BYTES = 2**20  # of a configuration file
LIMITS = ("max_vertices", "max_run_vertices", "max_waiting", "keep_days", "keep_answers", "concurrency", "grace")
"""What only a configuration file can set."""
LONGEST_GRACE = 86_400
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """How a service behaves.

    Attributes:
        graphs: names of the graphs it answers for; empty for all that the database knows.
        allow_clean: whether a request may remove a run.
        every: seconds between looks at whole graphs, which are then brought up to date; None for never.
        max_vertices: the most keys that one request may name.
        max_run_vertices: the most cohesions in a run of single vertices.
        max_memberships: the most memberships in a run of a whole graph, estimated before it is first written.
        max_waiting: the most requests that may wait; beyond that the newest fail.
        keep_days: days for which an answer is kept.
        keep_answers: the most answers that are kept.
        concurrency: threads that search; None for all cores.
        grace: seconds that a request under way is given when the service is asked to end.
    """

    graphs: tuple[str, ...] = ()
    allow_clean: bool = False
    every: float | None = None
    max_vertices: int = 1_000
    max_run_vertices: int = 100_000
    max_memberships: int = 5_000_000
    max_waiting: int = 10_000
    keep_days: int = 7
    keep_answers: int = 10_000
    concurrency: int | None = None
    grace: float = 20.0

    def __post_init__(self) -> None:
        """Refuse values that make no sense."""
        for name in (*LIMITS, "max_memberships"):
            value = getattr(self, name)
            kinds = (int, float) if name == "grace" else (int, NoneType) if name == "concurrency" else int
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise ParameterError(f"{_option(name)} must be a number, not {value!r}.", name=name, value=value)
        for name in ("max_vertices", "max_run_vertices", "max_memberships", "max_waiting", "concurrency"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{_option(name)} must be at least 1, not {value}.", name=name, value=value)
        for name in ("keep_days", "keep_answers", "grace"):
            if getattr(self, name) < 0:
                raise ParameterError(f"{_option(name)} cannot be negative.", name=name, value=getattr(self, name))
        if not self.grace <= LONGEST_GRACE:  # not a number is none of these, and no clock waits for ever
            says = f"grace must be at most {LONGEST_GRACE:,} seconds, not {self.grace}."
            raise ParameterError(says, name="grace", value=self.grace)
        if self.every is not None and self.every < 1:
            raise ParameterError("--every must be at least one second.", name="every", value=self.every)


def parse_duration(text: str) -> float:
    """Return the seconds of `60s`, `5m`, `1h`, `1d`, or of only a number."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "s")
    try:
        seconds = float(number) * UNITS[unit]
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ParameterError(f"{text!r} is not a valid time; give 60s, 5m, 1h or 1d.", name="every", value=text)
    return seconds


def read_configuration(path: Path, names: Collection[str]) -> dict[str, Any]:
    """Return the options of a TOML file, which are spelled as on the command line, without the two hyphens."""
    try:
        options = tomllib.loads(read_whole(path, _MOST_BYTES).decode("utf-8"))
    except FileFormatError as error:
        raise ParameterError(f"{error}.", name="config", value=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(f"{path} is not a valid configuration: {error}", name="config", value=str(path)) from error
    named = {name.replace("-", "_"): value for name, value in options.items()}
    for name in named:
        if name not in names:
            known = ", ".join(sorted(map(_option, names)))
            raise ParameterError(
                f"{path} has an unknown option {name!r}; the options are {known}.", name="config", value=name
            )
    return named


def _option(name: str) -> str:
    return name.replace("_", "-")
