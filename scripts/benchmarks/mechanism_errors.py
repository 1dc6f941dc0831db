"""The errors of the four mechanisms' counts: simulated releases with fast floating-point noise, without a database.

Means over the runs: the relative error of the total, and |error| / Γ(v) over the vertices with Γ(v) > 0. δ = 1/n, h =
3, ε1 = ε/10. The four promise different things; `published` promises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measuring import SEED, Line, Setting, say

__all__ = ["utility"]

RUNS = 10


def utility(setting: Setting) -> Iterator[Line]:
    """Errors of simulated releases at k = 3, by ε and mechanism."""
    from pcneo import minimal_p_cohesions
    from pcneo.counting import cliques, common_neighbours
    from pcneo.counting.protected import largest_supports, protect

    graph, k = setting.graph, 3
    batch = minimal_p_cohesions(graph, "0.1")
    common, largest = common_neighbours.largest_common(graph)
    views = {
        "elv": (graph.degrees.tolist(), common),
        "published": (common_neighbours.degrees_inside(graph, batch), cliques.largest_common_inside(graph, batch)),
    }
    counts = cliques.clique_counts(graph, k)
    supports = largest_supports(protect(graph, batch), k).per_vertex.tolist()
    for epsilon in ("1", "10"):
        for name in ("critical", "edge", "elv", "published"):
            errors = _simulated(name, k, epsilon, counts, supports, largest, views.get(name))
            say(f"  utility ε={epsilon} {name}: {errors[0] if isinstance(errors, str) else np.mean(errors[0]):}")
            what = f"`{name}`, {setting.name}, p=0.1, k={k}, ε={epsilon}"
            if isinstance(errors, str):
                yield Line(f"relative error, {what}", [], "", note=f"refused: {errors}")
                continue
            note = f"{RUNS} simulated runs, seed {SEED}; the largest scale is {errors[2]:,.4g}"
            yield Line(f"relative error of the total, {what}", errors[0], "", note=note)
            yield Line(f"mean relative error of local counts, {what}", errors[1], "", note=note)


def _simulated(
    name: str, k: int, epsilon: str, counts: Any, supports: list[int], largest: int, views: Any
) -> tuple[list[float], list[float], float] | str:
    """Errors of one mechanism's releases, computed by the release's own code; the reason if it refuses."""
    from pcneo.errors import ParameterError
    from pcneo.privacy.mechanisms import Critical, Edge, make_mechanism
    from pcneo.privacy.noise import SimulatedNoise

    n, exact = len(counts), counts.tolist()
    delta = None if name == "critical" else f"1/{n}"
    mechanism: Any = make_mechanism(name, k=k, epsilon=epsilon, n=n, delta=delta)
    noise = SimulatedNoise.seeded(SEED)
    totals, locals_, largest_scales = [], [], []
    try:
        for _ in range(RUNS):
            if isinstance(mechanism, Critical):
                scales = mechanism.scales(supports)
            elif isinstance(mechanism, Edge):
                scales = [mechanism.scale(largest, noise)] * n
            else:
                scales = [mechanism.scale(views[0], views[1].__getitem__, noise)] * n
            noisy = mechanism.noisy_counts(exact, scales, noise)
            errors = np.array([x - y for x, y in zip(noisy, exact, strict=True)], dtype=np.float64)
            totals.append(float(abs(errors.sum()) / counts.sum()))
            locals_.append(float((np.abs(errors) / np.maximum(counts, 1))[counts > 0].mean()))
            largest_scales.append(float(max(scales)))
    except ParameterError as error:
        return str(error)
    return totals, locals_, float(np.median(largest_scales))
