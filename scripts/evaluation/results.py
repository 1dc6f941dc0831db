"""Results of cells: plain values by name, one type for each kind of cell, and how JSON writes them."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, NotRequired, TypeAlias, TypedDict, final


@final
class GraphCounts(TypedDict):
    """Statistics of a graph; `largest_change`: the most that removing one connection changes in all counts, k=3."""

    nodes: int
    edges: int
    mean_degree: float
    largest_degree: int
    triangles: int
    isolated: int
    largest_component: int
    largest_change: int


@final
class Distribution(TypedDict):
    """Values of all vertices in short: the quantiles at `sizes_and_densities.QUANTILES`, and the mean."""

    quantiles: list[float]
    mean: float


@final
class Sizes(TypedDict):
    """Sizes and densities of cohesions or views; `of_component`: their mean share of their component."""

    vertices: int
    sizes: Distribution
    densities: Distribution
    of_component: float


@final
class Comparison(TypedDict):
    """Two families of vertex sets, compared vertex by vertex: shares of the vertices, ratios, distances."""

    vertices: int
    denser: float
    as_dense: float
    smaller: float
    as_small: float
    size_ratio: float
    mean_size_ratio: float
    mean_density_ratio: float
    size_distance: float
    density_distance: float


@final
class Overlap(TypedDict):
    """Members of both of a vertex's cohesions over members of either, in the mean."""

    vertices: int
    overlap: float


@final
class ViewsInside(TypedDict):
    """The share of vertices whose extended local view lies inside their cohesion."""

    vertices: int
    views_inside: float


@final
class Cliques(TypedDict):
    """How many k-cliques a graph has, in how many a vertex is in the mean, and the share of vertices in one at all.

    The mean is the mean absolute error of publishing zeros.
    """

    total: int
    mean: float
    in_one: float


@final
class Coverage(TypedDict):
    """How many connections there are, and how many of them lie inside groups."""

    connections: int
    inside: int


@final
class Refused(TypedDict):
    """Why a mechanism is refused."""

    refused: str


@final
class Errors(TypedDict):
    """Errors of simulated releases: means over the runs, each with its standard error.

    `runs` is there where they are not as many as the cell has: one of them would take too long. Relative errors are
    missing where the graph has no clique. `absolute` is of plain counts; `clipped` and `smoothed` are the same of
    counts that `respond` may add. `bound`, that of the local sensitivity, is behind a λ for all counts. Keys are in
    the order of the tables; `expected` is not in a file, `with_expected` adds it.
    """

    runs: NotRequired[int]
    absolute: float
    absolute_error: float
    total: NotRequired[float]
    total_error: NotRequired[float]
    local: NotRequired[float]
    local_error: NotRequired[float]
    clipped: NotRequired[float]
    clipped_error: NotRequired[float]
    smoothed: NotRequired[float]
    smoothed_error: NotRequired[float]
    changed: float
    exact: NotRequired[int]
    scale: NotRequired[float]
    scale_low: NotRequired[float]
    scale_high: NotRequired[float]
    bound: NotRequired[float]
    bound_error: NotRequired[float]
    whole_neighbourhoods: NotRequired[float]
    expected: NotRequired[float]
    expected_error: NotRequired[float]


@final
class Beside(TypedDict):
    """Errors of simulated releases, run by run.

    `totals`: what is off in the total, over the total. `vertices`: mean absolute error of a count, where there are any.
    """

    totals: list[float]
    vertices: NotRequired[list[float]]


@final
class Losses(TypedDict):
    """What the worst connection loses: of all, and of those inside groups.

    The latter is missing where the groups are too large. `connections_low` and `connections_high` are at the ends of a
    random λ. `promised` bounds the loss of every connection.
    """

    connections: float
    connections_low: NotRequired[float]
    connections_high: NotRequired[float]
    connections_inside: NotRequired[float]
    promised: NotRequired[float | None]


Result: TypeAlias = (
    GraphCounts | Sizes | Comparison | Overlap | ViewsInside | Errors | Losses | Cliques | Coverage | Refused | Beside
)

Quantity: TypeAlias = Literal["total", "local", "absolute", "clipped", "smoothed", "bound", "expected"]
"""Of what `Errors` has a mean and its standard error."""


class Mean(NamedTuple):
    """A mean over the runs, and its standard error, which is larger where runs are few (`widened`)."""

    value: float
    error: float


def mean_of(errors: Errors, quantity: Quantity = "total") -> Mean:
    """Return a mean over the runs; KeyError if the errors do not have it."""
    mean = mean_or_none(errors, quantity)
    if mean is None:
        raise KeyError(quantity)
    return mean


def mean_or_none(result: Errors | Refused, quantity: Quantity = "total") -> Mean | None:
    """Return a mean over the runs, None if the mechanism is refused or the errors do not have it."""
    if "refused" in result:
        return None
    value, error = result.get(quantity), result.get(f"{quantity}_error")
    if value is None or error is None:
        return None
    return Mean(value, error * widened(result["runs"]) if "runs" in result else error)


def widened(runs: int) -> float:
    """Return by what 1.96 standard errors of a mean over so few runs are multiplied to have 95 % (Student's t).

    The quantile of t by its expansion in 1/(runs - 1), which is 0.3 % off at 5 runs.
    """
    z, v = NormalDist().inv_cdf(0.975), runs - 1
    first = (z**3 + z) / (4 * v)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    return (z + first + second + third) / z


def with_expected(errors: Errors, epsilon_2: float, *, everywhere: bool) -> Errors:
    """Return errors with what the expected error of a release is in proportion to.

    Where every count gets noise of one scale λ (`everywhere`), that is λ: the mean over the runs is known far better
    than that of the errors, to which the noise itself adds. Elsewhere it is the error of the total in the runs.
    """
    mean = mean_or_none(errors, "bound" if everywhere else "total")
    if mean is None:
        return errors
    divisor = epsilon_2 if everywhere else 1.0
    return {**errors, "expected": mean.value / divisor, "expected_error": mean.error / divisor}


def to_plain(value: Any) -> Any:
    """Return a result as JSON can write it, which has no infinity."""
    if isinstance(value, dict):
        return {name: to_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return value


def from_plain(value: Any) -> Any:
    """Undo `to_plain`."""
    if isinstance(value, dict):
        return {name: from_plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [from_plain(part) for part in value]
    if value in ("infinite", "-infinite"):
        return math.inf if value == "infinite" else -math.inf
    return value
