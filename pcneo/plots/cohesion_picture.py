"""A picture of one cohesion: members, critical connections, other connections of the vertex, and its local view."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import counted
from pcneo.basics.model import AnyPath, CohesionAround, Key
from pcneo.basics.searches import DEFAULT_SEARCH
from pcneo.plots.labels import TIE, fitted, isolated
from pcneo.plots.rings import MOST_LABELLED_OTHERS, Rings, arrange
from pcneo.plots.style import LOOKS, PAGE, letters_without_glyph, look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


CRITICAL = LOOKS["critical"].colour
OTHER = LOOKS["other"].colour
LEAST_WIDTH = 4.6
"""Inches that the title and the legend need."""
LINE_INCHES = 0.19
DASHED = (0, (4, 2))
NAMED_ABOVE = 0.85
"""Scaled down below this, an 8-point key does not fit its slot, and no vertex is labelled."""
SHORTER_LABELS = (10, 7)
"""Lengths of labels, in letters, to try if longer labels would not fit."""
ROTATED_FROM = 17
MOST_MEMBERS = 300
MOST_CONNECTIONS = 1_500
"""Beyond these only some are drawn; a picture of all would be unreadable."""
USUAL_LINES = 8
"""Lines of title and legend together."""
MOST_LETTERS = 20
"""Letters without a glyph that the warning names."""


def draw_cohesion(shown: CohesionAround, path: AnyPath | None = None) -> Figure:
    """Draw one cohesion in the graph around it, for a notebook, or as SVG or PNG.

    If there are hundreds of members, the nearest are drawn; if there are thousands of connections, some are. The legend
    states how many. A warning names letters that the font lacks.

    Returns:
        The figure, which a notebook displays.
    """
    drawn = visible(shown)
    rings = arrange(drawn)
    shorter = (arrange(drawn, longest) for longest in SHORTER_LABELS)
    if scale_of(rings) <= NAMED_ABOVE:
        rings = next((tried for tried in shorter if scale_of(tried) > NAMED_ABOVE), rings)
    scale = scale_of(rings)
    width = max(2 * rings.radius * scale, LEAST_WIDTH)
    title, entries = fitted(title_of(shown), width), entries_of(rings, drawn, shown, scale)
    lines = max(USUAL_LINES, sum(1 + text.count("\n") for text in (title, *(label for _, label, _ in entries))))
    with new_figure(width=width, height=2 * rings.radius * scale + (lines - 0.5) * LINE_INCHES) as (figure, axes):
        (plane,) = axes[0]
        plane.set_axis_off()
        plane.set_aspect("equal")
        plane.set(xlim=(-rings.radius, rings.radius), ylim=(-rings.radius, rings.radius))
        _draw_outline(plane, rings)
        _draw_connections(plane, rings, drawn, scale)
        _draw_vertices(plane, rings, drawn, scale)
        figure.suptitle(title, x=0.02, ha="left")
        figure.legend(handles=_legend(entries), loc="outside lower left")
        if path is not None:
            save_figure(figure, path)
    if letters := letters_without_glyph([title, *rings.labels.of.values()]):
        some = letters if len(letters) <= MOST_LETTERS else f"{letters[:MOST_LETTERS]} and others"
        warnings.warn(f"The font has no glyph for {some}: each such letter is drawn as a box.", stacklevel=2)
    return figure


def visible(shown: CohesionAround) -> CohesionAround:
    """Return the part of a cohesion to draw: the nearest members, the vertex's own connections, some of the others."""
    cohesion = shown.cohesion
    members = sorted(cohesion.members, key=lambda key: shown.hops[key])[:MOST_MEMBERS]
    hops = {key: shown.hops[key] for key in members}
    ends = [pair for pair in shown.connections if pair[0] in hops and pair[1] in hops]
    own = [pair for pair in ends if cohesion.vertex in pair]
    further = [pair for pair in ends if cohesion.vertex not in pair]
    step = max(1, -(-len(further) // MOST_CONNECTIONS))
    return replace(
        shown,
        cohesion=replace(cohesion, members=tuple(key for key in cohesion.members if key in hops)),
        connections=(*own, *further[::step]),
        hops=hops,
    )


def scale_of(rings: Rings) -> float:
    """Return the inches on paper for each inch of `rings`."""
    return min(1.0, PAGE / (2 * rings.radius))


def title_of(shown: CohesionAround) -> str:
    """Return a line for the vertex and a line of counts; if the graph has changed, a third line says so."""
    cohesion = shown.cohesion
    search = "" if cohesion.search.name == DEFAULT_SEARCH else f", {look(cohesion.search.name).label}"
    counts = [counted(cohesion.size, "member"), counted(cohesion.edges, "critical connection")]
    counts.append(f"density {cohesion.density:.2g}")
    lines = [
        f"Minimal p-cohesion of {isolated(str(cohesion.vertex))}, p{TIE}={TIE}{cohesion.p}{search}",
        ", ".join(text.replace(" ", TIE) for text in counts),
    ]
    return "\n".join([*lines, shown.note] if shown.note else lines)


def entries_of(
    rings: Rings, drawn: CohesionAround, shown: CohesionAround, scale: float
) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the entries of the legend for what is drawn: the kind of its mark, words, and look."""
    vertex = isolated(rings.labels.of[shown.cohesion.vertex])
    own, local, view = look(shown.cohesion.search.name), look("elv"), shown.local_view
    hidden = view.size - 1 - len(rings.others) - sum(hops in (1, 2) for hops in drawn.hops.values())
    entries: list[tuple[str, str, dict[str, Any]]] = [
        ("vertex", f"{vertex}, whose cohesion it is", {"marker": "*", "color": "black", "linestyle": "", "ms": 8})
    ]
    if drawn.cohesion.size > 1:
        which = "the nearest" if drawn.cohesion.size < shown.cohesion.size else ""
        no_names = "" if scale > NAMED_ABOVE else "no room for names"
        some = _part(drawn.cohesion.size, shown.cohesion.size, which, no_names)
        notes = _notes(rings) if scale > NAMED_ABOVE else ""
        looks = {"marker": own.marker, "color": own.colour, "linestyle": ""}
        entries.append(("member", f"member{some}{notes}", looks))
    if drawn.connections:
        some = _part(len(drawn.connections), len(shown.connections))
        entries.append(("line", f"critical connection: both ends are members{some}", {"color": CRITICAL}))
    if rings.others:
        unnamed = "" if names_others(rings, scale) else f"{counted(len(rings.others), 'name')} left out"
        some = _part(len(rings.others), len(shown.others), unnamed)
        line = {"color": OTHER, "linestyle": DASHED, "linewidth": 0.8}
        ends = {"marker": "o", "markerfacecolor": "white"}
        entries.append(("dashed line", f"connection of {vertex} that is not critical{some}", {**line, **ends}))
    entries.append(
        (
            "outline",
            f"{local.label}, two hops: {counted(view.size, 'vertex', 'vertices')}"
            f"{f' ({hidden:,} not drawn)' if hidden else ''},\n"
            f"{counted(view.edges, 'connection')}, density {view.density:.2g}",
            {"color": local.colour, "linestyle": local.dash},
        )
    )
    return entries


def _part(drawn: int, count: int, *further: str) -> str:
    """Return, in brackets, how many are drawn if not all, and any further remarks."""
    parts = [*filter(None, (f"{drawn:,} of {count:,} drawn" if drawn < count else "", *further))]
    return f" ({', '.join(parts)})" if parts else ""


def _notes(rings: Rings) -> str:
    """Return how names were shortened, with a line for each way."""
    ends = " and ".join(f"“{isolated(end)}”" for end in rings.labels.without)
    notes = [f"names without {ends}"] if ends else []
    notes += ["~2, ~3: names that differ only in letters left out"] if rings.labels.numbered else []
    return "".join(f"\n{note}" for note in notes)


def names_others(rings: Rings, scale: float) -> bool:
    """Return whether there is room for the names of neighbours outside."""
    return scale > NAMED_ABOVE and len(rings.others) <= MOST_LABELLED_OTHERS


def _legend(entries: Sequence[tuple[str, str, dict[str, Any]]]) -> list[Line2D]:
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=label, **look) for _, label, look in entries]


def _draw_outline(plane: Axes, rings: Rings) -> None:
    from matplotlib.patches import Circle

    local = look("elv")
    plane.add_patch(
        Circle((0, 0), rings.outline, fill=False, edgecolor=local.colour, linestyle=local.dash, linewidth=1.2, zorder=1)
    )


def _draw_connections(plane: Axes, rings: Rings, shown: CohesionAround, scale: float) -> None:
    from matplotlib.collections import LineCollection

    places, middle = rings.places, shown.cohesion.vertex
    own = [(a, b) for a, b in shown.connections if middle in (a, b)]
    further = [(a, b) for a, b in shown.connections if middle not in (a, b)]
    count = len(further)
    width, alpha = (1.3, 0.9) if count <= 60 else (0.7, 0.6) if count <= 600 else (0.4, 0.4)
    curves = [_line(places[a], places[b], rings.radius, bent=True) for a, b in further]
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
    """Return points from a to b: straight, or bent away from the middle so as not to look like two spokes."""
    middle, along = (a + b) / 2, b - a
    off_centre = abs(middle) > 0.05 * radius
    away = middle / abs(middle) if off_centre else 1j * along / abs(along)
    control = middle + 0.18 * abs(along) * away
    t = np.linspace(0, 1, 13) if bent else np.array([0.0, 1.0])
    points: NDArray[np.complex128] = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
    return np.column_stack([points.real, points.imag])


def _draw_vertices(plane: Axes, rings: Rings, shown: CohesionAround, scale: float) -> None:
    cohesion = shown.cohesion
    members = [key for key in cohesion.members if key != cohesion.vertex]
    own = look(cohesion.search.name)
    area = 22 * min(1.0, 1.3 * scale) ** 2
    _scatter(plane, rings, rings.others, area * 0.6, facecolor="white", edgecolor=OTHER)
    _scatter(plane, rings, members, area, facecolor=own.colour, edgecolor="white", marker=own.marker)
    middle = {"facecolor": "black", "edgecolor": "white", "marker": "*", "zorder": 6}
    _scatter(plane, rings, [cohesion.vertex], 4.5 * area, **middle)
    if scale > NAMED_ABOVE:
        others = rings.others if names_others(rings, scale) else ()
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
    """Label a vertex with its key, on the outside: upright if there is room, else along the ray from the middle."""
    from matplotlib.patheffects import withStroke

    place = rings.places[key]
    angle = float(np.degrees(np.angle(place)))
    left = abs(angle) > 90
    rotated = rings.ring[key] >= ROTATED_FROM
    outside = place * (1 + 0.08 / abs(place))
    plane.text(
        outside.real,
        outside.imag,
        rings.labels.of[key],
        color=colour,
        fontsize=8,
        rotation=(angle - 180 if left else angle) if rotated else 0,
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center" if rotated or abs(abs(angle) - 90) > 30 else "bottom" if angle > 0 else "top",
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        zorder=7,
    )
