"""`published` beside `elv` at the same settings, and the numbers that say how they compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pcneo.evaluate.cells import Result
from pcneo.evaluate.claims.judging import Check, Outcome
from pcneo.evaluate.finished import Finished

__all__ = ["Setting", "clearly", "correlation", "geometric", "outperforms", "pairs_at", "ranks", "setting"]

_CONFIDENCE = 1.96

_MOST = 0.95  # of many points some fall within the noise of each other

Setting = dict[str, Any]
"""Parameters of a release, by name, but for mechanism and switches."""


def setting(graph: str, k: int, epsilon: str, h: int = 3, p: str = "0.1", epsilon_1: str | None = None) -> Setting:
    """Return a setting, with the evaluation's usual values for what is not given."""
    return {"graph": graph, "k": k, "epsilon": epsilon, "h": h, "p": p, "epsilon_1": epsilon_1}


def _release(finished: Finished, mechanism: str, switches: tuple[str, ...], **given: Any) -> Result | None:
    if mechanism == "elv":
        given.pop("p", None)
    return finished.one(kind="release", mechanism=mechanism, switches=switches, **given)


def pairs_at(
    finished: Finished, switches: tuple[str, ...], settings: Iterable[Setting]
) -> list[tuple[Setting, Result, Result]] | None:
    """`published` and `elv` at each setting; None where a cell is missing."""
    found = []
    for given in settings:
        published, elv = (_release(finished, name, switches, **given) for name in ("published", "elv"))
        if published is None or elv is None:
            return None
        found.append((given, published, elv))
    return found


def clearly(better: Result, worse: Result) -> bool:
    """Whether the 95 % intervals of the difference of two means leave out 0."""
    error = math.hypot(better["total_error"], worse["total_error"])
    return worse["total"] - better["total"] > _CONFIDENCE * error


def outperforms(settings: Sequence[Setting], by: str) -> Check:
    """`published` has clearly smaller errors at 95 % of the settings at least, and clearly larger ones at none."""

    def check(finished: Finished, switches: tuple[str, ...]) -> Outcome | None:
        pairs = pairs_at(finished, switches, settings)
        if pairs is None:
            return None
        better = [given for given, published, elv in pairs if published["total"] < elv["total"]]
        clear = sum(clearly(published, elv) for _, published, elv in pairs)
        worse = sum(clearly(elv, published) for _, published, elv in pairs)
        groups: dict[object, list[float]] = {}
        for given, published, elv in pairs:
            groups.setdefault(given[by], []).append(elv["total"] / published["total"])
        if len(groups) > 12:  # as many as there are values of ε1
            spread = [ratio for ratios in groups.values() for ratio in ratios]
            ratios = f"between ×{min(spread):.3g} and ×{max(spread):.3g}, median ×{np.median(spread):.3g}"
        else:
            ratios = ", ".join(f"{name} ×{geometric(values):.3g}" for name, values in groups.items())
        return Outcome(
            clear >= _MOST * len(pairs) and worse == 0,
            f"smaller at {len(better)} of {len(pairs)} points (clearly at {clear}, clearly larger at {worse}); "
            f"error of elv over that of published by {_NAMES.get(by, by)}: {ratios}",
        )

    return check


_NAMES = {"epsilon_1": "ε1", "epsilon": "ε"}


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def ranks(values: Sequence[float]) -> list[float]:
    """Return the place of each value in ascending order."""
    return np.argsort(np.argsort(values)).astype(float).tolist()


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the correlation; 0 where one side does not vary."""
    a, b = np.array(first), np.array(second)
    if not (a.std() > 0 and b.std() > 0):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
