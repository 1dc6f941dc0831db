"""A picture of one cohesion: members, critical connections, other connections of the vertex, and its local view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import AnyPath, Key, ShownCohesion
from pcneo.plots.labels import fitted
from pcneo.plots.rings import MOST_LABELLED_OTHERS, Rings, arrange
from pcneo.plots.style import LOOKS, PAGE, look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["draw_cohesion"]

CRITICAL = LOOKS["critical"].colour
OTHER = LOOKS["other"].colour
LEAST_WIDTH = 4.6
"""Inches that the title and the legend need."""
LINE_INCHES = 0.19
DASHED = (0, (4, 2))
NAMED_ABOVE = 0.85
"""Below this share of its size, an 8-point key does not fit its slot, and no vertex is labelled."""
SHORTER_LABELS = (10, 7)
"""Letters, where longer labels leave no room for any."""
ROTATED_FROM = 17
MOST_BENT = 3_000


def draw_cohesion(shown: ShownCohesion, path: AnyPath | None = None) -> Figure:
    """Draw one cohesion in the graph around it, for a notebook, or as SVG or PNG.

    Args:
        shown: the cohesion, its connections and its local view, as `pcneo.show` returns them.
        path: the picture, `.svg` or `.png`; an older one there is replaced. None to write none.

    Returns:
        The figure, which a notebook shows.

    Raises:
        ParameterError: the suffix is neither `.svg` nor `.png`, or the file cannot be written.
        PcneoError: matplotlib is not installed.
    """
    rings = arrange(shown)
    shorter = (arrange(shown, longest) for longest in SHORTER_LABELS)
    if _scale(rings) <= NAMED_ABOVE:
        rings = next((tried for tried in shorter if _scale(tried) > NAMED_ABOVE), rings)
    scale = _scale(rings)
    width = max(2 * rings.radius * scale, LEAST_WIDTH)
    height = 2 * rings.radius * scale + 7.5 * LINE_INCHES
    with new_figure(width=width, height=height) as (figure, axes):
        (plane,) = axes[0]
        plane.set_axis_off()
        plane.set_aspect("equal")
        plane.set(xlim=(-rings.radius, rings.radius), ylim=(-rings.radius, rings.radius))
        _draw_outline(plane, rings)
        _draw_connections(plane, rings, shown, scale)
        _draw_vertices(plane, rings, shown, scale)
        figure.suptitle(fitted(_title(shown), width), x=0.02, ha="left")
        figure.legend(handles=_legend(rings, shown, scale), loc="outside lower left")
        if path is not None:
            save_figure(figure, path)
    return figure


def _scale(rings: Rings) -> float:
    """Inches on paper for an inch of `rings`."""
    return min(1.0, PAGE / (2 * rings.radius))


def _title(shown: ShownCohesion) -> str:
    cohesion = shown.cohesion
    p, score = f"{cohesion.p.numerator}/{cohesion.p.denominator}", look(cohesion.score).label
    return (
        f"Minimal p-cohesion of {cohesion.vertex}, p = {p}, {score}\n"
        f"{_counted(cohesion.size, 'member')}, {_counted(cohesion.edges, 'critical connection')}, "
        f"density {cohesion.density:.2g}"
    )


def _legend(rings: Rings, shown: ShownCohesion, scale: float) -> list[Line2D]:
    from matplotlib.lines import Line2D

    vertex = rings.labels[shown.cohesion.vertex]
    own, local, view = look(shown.cohesion.score), look("elv"), shown.local_view
    hidden = view.size - 1 - len(rings.others) - sum(hops in (1, 2) for hops in shown.hops.values())
    some = f" ({len(rings.others):,} of {len(shown.others):,} drawn)" if len(rings.others) < len(shown.others) else ""
    entries: list[tuple[str, dict[str, Any]]] = [
        (f"{vertex}, whose cohesion it is", {"marker": "*", "color": "black", "linestyle": "", "ms": 8}),
        (
            "member" if scale > NAMED_ABOVE else "member (no room for names)",
            {"marker": own.marker, "color": own.colour, "linestyle": ""},
        ),
        ("critical connection: both ends are members", {"color": CRITICAL}),
        (
            f"connection of {vertex} that is not critical{some}",
            {"color": OTHER, "marker": "o", "markerfacecolor": "white", "linestyle": DASHED, "linewidth": 0.8},
        ),
        (
            f"{local.label}, two hops: {_counted(view.size, 'vertex', 'vertices')}"
            f"{f' ({hidden:,} not drawn)' if hidden else ''},\n"
            f"{_counted(view.edges, 'connection')}, density {view.density:.2g}",
            {"color": local.colour, "linestyle": local.dash},
        ),
    ]
    if not shown.others:
        del entries[3]
    return [Line2D([], [], label=label, **look) for label, look in entries]


def _draw_outline(plane: Axes, rings: Rings) -> None:
    from matplotlib.patches import Circle

    local = look("elv")
    plane.add_patch(
        Circle((0, 0), rings.outline, fill=False, edgecolor=local.colour, linestyle=local.dash, linewidth=1.2, zorder=1)
    )


def _draw_connections(plane: Axes, rings: Rings, shown: ShownCohesion, scale: float) -> None:
    from matplotlib.collections import LineCollection

    places, middle = rings.places, shown.cohesion.vertex
    own = [(a, b) for a, b in shown.connections if middle in (a, b)]
    further = [(a, b) for a, b in shown.connections if middle not in (a, b)]
    count = len(further)
    width, alpha = (1.3, 0.9) if count <= 60 else (0.7, 0.6) if count <= 600 else (0.4, 0.4)
    curves = [_line(places[a], places[b], rings.radius, bent=count <= MOST_BENT) for a, b in further]
    spokes = [_line(places[a], places[b], rings.radius, bent=False) for a, b in own]
    dashes = [_line(0j, places[key], rings.radius, bent=False) for key in rings.others]
    thin = 0.8 if len(dashes) <= MOST_LABELLED_OTHERS else 0.3
    for collection in (
        LineCollection(dashes, colors=OTHER, linewidths=thin, linestyles=DASHED, zorder=2),
        LineCollection(curves, colors=CRITICAL, linewidths=width * max(scale, 0.6), alpha=alpha, zorder=3),
        LineCollection(spokes, colors=CRITICAL, linewidths=1.3, alpha=0.9, zorder=4),
    ):
        plane.add_collection(collection)


def _line(a: complex, b: complex, radius: float, *, bent: bool) -> NDArray[np.float64]:
    """Points from a to b: straight, or bent away from the middle, lest a line through it look like two spokes."""
    middle, along = (a + b) / 2, b - a
    off_centre = abs(middle) > 0.05 * radius
    away = middle / abs(middle) if off_centre else 1j * along / abs(along)
    control = middle + 0.18 * abs(along) * away
    t = np.linspace(0, 1, 13) if bent else np.array([0.0, 1.0])
    points: NDArray[np.complex128] = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
    return np.column_stack([points.real, points.imag])


def _draw_vertices(plane: Axes, rings: Rings, shown: ShownCohesion, scale: float) -> None:
    cohesion = shown.cohesion
    members = [key for key in cohesion.members if key != cohesion.vertex]
    own = look(cohesion.score)
    area = 22 * min(1.0, 1.3 * scale) ** 2
    _scatter(plane, rings, rings.others, area * 0.6, facecolor="white", edgecolor=OTHER)
    _scatter(plane, rings, members, area, facecolor=own.colour, edgecolor="white", marker=own.marker)
    _scatter(
        plane,
        rings,
        [cohesion.vertex],
        4.5 * area,
        facecolor="black",
        edgecolor="white",
        marker="*",
        zorder=6,
    )
    if scale > NAMED_ABOVE:
        others = rings.others if len(rings.others) <= MOST_LABELLED_OTHERS else ()
        for key in (*members, *others):
            _name(plane, rings, key, "black" if key in shown.hops else "#666666")


def _scatter(plane: Axes, rings: Rings, keys: Sequence[Key], area: float, **look: Any) -> None:
    if keys:
        places = [rings.places[key] for key in keys]
        plane.scatter(
            [place.real for place in places],
            [place.imag for place in places],
            s=area,
            linewidths=0.6,
            **{"zorder": 5, **look},
        )


def _name(plane: Axes, rings: Rings, key: Key, colour: str) -> None:
    """Label a vertex with its key, on the outside: upright where there is room, else along the ray from the middle."""
    from matplotlib.patheffects import withStroke

    place = rings.places[key]
    angle = float(np.degrees(np.angle(place)))
    left = abs(angle) > 90
    rotated = rings.ring[key] >= ROTATED_FROM
    outside = place * (1 + 0.08 / abs(place))
    plane.text(
        outside.real,
        outside.imag,
        rings.labels[key],
        color=colour,
        fontsize=8,
        rotation=(angle - 180 if left else angle) if rotated else 0,
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center" if rotated or abs(abs(angle) - 90) > 30 else "bottom" if angle > 0 else "top",
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        zorder=7,
    )


def _counted(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
