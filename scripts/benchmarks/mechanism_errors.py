"""The errors of the four mechanisms' counts: simulated releases with fast floating-point noise, without a database.

Means over the runs: the relative error of the total, and |error| / Γ(v) over the vertices with Γ(v) > 0. δ = 1/n, h =
3, ε1 = ε/10. The four promise different things; `published` promises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measuring import SEED, Line, Setting, say

if TYPE_CHECKING:
    from pcneo.counting.counted import CountedGraph
    from pcneo.privacy.mechanisms import Mechanism


RUNS = 10


def utility(setting: Setting) -> Iterator[Line]:
    """Errors of simulated releases at k = 3, by ε and mechanism; what needs no noise is computed once."""
    from pcneo.counting.counted import CountedGraph
    from pcneo.privacy.mechanisms import MECHANISMS
    from pcneo.search import search_all

    facts, k = CountedGraph(setting.graph, search_all(setting.graph, "0.1"), "p=0.1"), 3
    for epsilon in ("1", "10"):
        for name, mechanism in MECHANISMS.items():
            errors = _simulated(mechanism, k, epsilon, facts)
            say(f"  utility ε={epsilon} {name}: {errors if isinstance(errors, str) else np.mean(errors[0]):}")
            what = f"`{name}`, {setting.name}, p=0.1, k={k}, ε={epsilon}"
            if isinstance(errors, str):
                yield Line(f"relative error, {what}", [], "", note=f"refused: {errors}")
                continue
            totals, locals_, largest = errors
            note = f"{RUNS} simulated runs, seed {SEED}; the largest scale is {largest:,.4g}"
            yield Line(f"relative error of the total, {what}", totals, "", note=note)
            yield Line(f"mean relative error of local counts, {what}", locals_, "", note=note)


def _simulated(
    kind: type[Mechanism], k: int, epsilon: str, facts: CountedGraph
) -> tuple[list[float], list[float], float] | str:
    """Errors of one mechanism's releases, by the code that a release runs; or the reason why it refuses."""
    from pcneo.errors import ParameterError
    from pcneo.privacy.noise import SimulatedNoise

    n, counts = facts.vertex_count, facts.counts(k)
    mechanism = kind.taking(k=k, epsilon=epsilon, n=n, delta=f"1/{n}")
    noise = SimulatedNoise.seeded(SEED)
    totals, locals_, largest_scales = [], [], []
    try:
        mechanism.check_facts(facts)
        for _ in range(RUNS):
            drawn = mechanism.draw(facts, noise)
            errors = np.array([x - y for x, y in zip(drawn.counts, counts.tolist(), strict=True)], dtype=np.float64)
            totals.append(float(abs(errors.sum()) / counts.sum()))
            locals_.append(float((np.abs(errors) / np.maximum(counts, 1))[counts > 0].mean()))
            largest_scales.append(float(drawn.scale or 0))
    except ParameterError as error:
        return str(error)
    return totals, locals_, float(np.median(largest_scales))
