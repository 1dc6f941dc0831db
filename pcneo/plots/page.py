"""The interactive picture: one HTML file that needs no network; hover, drag, click a member to open its cohesion.

Cytoscape.js, which is part of the file, draws it; places, colours and words are those of the still picture.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pcneo.basics.frames import counted
from pcneo.basics.model import AnyPath, CohesionAround, Key
from pcneo.basics.whole_file import check_place, whole_file
from pcneo.errors import ParameterError
from pcneo.plots.cohesion_picture import CRITICAL, OTHER, entries_of, names_others, title_of, visible
from pcneo.plots.labels import TIE, isolated
from pcneo.plots.rings import Rings, arrange
from pcneo.plots.style import PAGE_ENDING, look

_MARKS = re.compile("@data@|@library@|@program@")

MOST_FURTHER = 100
"""Members whose own cohesions are also in the file."""
MOST_LINES = 20_000
"""Connections in the file; once it has this many, the remaining cohesions are left out."""
LONGEST_KEY = 200
"""Letters shown of a key in the line below the picture."""
HEIGHT = 560
"""Height of the picture in a notebook, in pixels."""


@dataclass(frozen=True)
class Page:
    """An interactive picture; a notebook displays it, and `save` writes it.

    Attributes:
        html: the whole document, which loads nothing else.
        opens: number of cohesions in it, the first one included.
    """

    html: str
    opens: int

    def save(self, path: AnyPath) -> None:
        """Write the document; an existing file is replaced."""
        path = Path(path)
        if path.suffix.lower() != PAGE_ENDING:
            raise ParameterError(f"{path}: an interactive picture's name must end in .html.", name="plot", value=path)
        check_place(path, "plot", replace=True)
        with whole_file(path, replace=True) as file:
            file.write(self.html.encode())

    def __repr__(self) -> str:
        """Return a short text instead of half a megabyte of HTML."""
        return f"Page(opens={self.opens})"

    def _repr_html_(self) -> str:
        """Show it in its own frame, to keep its scripts and the notebook's apart."""
        frame = f'width="100%" height="{HEIGHT}" style="border:0" sandbox="allow-scripts"'
        return f'<iframe {frame} srcdoc="{html.escape(self.html)}"></iframe>'


def draw_page(shown: CohesionAround, further: Iterable[CohesionAround] = ()) -> Page:
    """Draw one cohesion to explore: hover over a vertex, drag it, click a member to open its cohesion.

    A cohesion with hundreds of members is drawn as in the still picture: the nearest members and some connections, as
    the legend states.

    Returns:
        The picture. It needs no matplotlib.
    """
    taken = _taken(shown, further)
    number = {one.cohesion.vertex: i for i, (one, _) in enumerate(taken)}
    data = {
        "cohesions": [_described(one, drawn, number) for one, drawn in taken],
        "colours": {"critical": CRITICAL, "other": OTHER, "member": look(shown.cohesion.search.name).colour},
        "hint": _hint(shown, len(taken)),
    }
    start, data_to_library, library_to_program, end = _MARKS.split(_text("page.html"))
    library, program = _text("cytoscape", "cytoscape.min.js"), _text("page.js")
    parts = (start, _embedded(data), data_to_library, library, library_to_program, program, end)
    return Page("".join(parts), len(taken))


def _taken(shown: CohesionAround, further: Iterable[CohesionAround]) -> list[tuple[CohesionAround, CohesionAround]]:
    """Return the cohesions for which there is room, each with the part of it that is drawn."""
    taken = [(shown, visible(shown))]
    lines = len(taken[0][1].connections)
    for one in further:
        drawn = visible(one)
        lines += len(drawn.connections)
        if len(taken) > MOST_FURTHER or lines > MOST_LINES:
            break
        if one.cohesion.vertex != shown.cohesion.vertex:
            taken.append((one, drawn))
    return taken


def _described(shown: CohesionAround, drawn: CohesionAround, number: dict[Key, int]) -> dict[str, Any]:
    """Return one cohesion in the form that the page's program reads."""
    rings = arrange(drawn)
    keys = [shown.cohesion.vertex, *(key for key in drawn.cohesion.members if key != shown.cohesion.vertex)]
    place = {key: i for i, key in enumerate([*keys, *rings.others])}
    beside = Counter(key for pair in shown.connections for key in pair)
    vertices = [
        _vertex(rings, key, "vertex" if i == 0 else "member", number.get(key), _words(shown, key, beside[key]))
        for i, key in enumerate(keys)
    ]
    named = names_others(rings, 1.0)
    for key in rings.others:
        words = f"{_short(key)}, a neighbour of {_short(shown.cohesion.vertex)} that is not a member."
        vertices.append(_vertex(rings, key, "other", None, words, named=named))
    connections = [(place[a], place[b], "critical") for a, b in drawn.connections]
    connections += [(0, place[key], "other") for key in rings.others]
    first, *further = title_of(shown).split("\n")
    return {
        "title": [first.replace(TIE, " "), ". ".join(further).replace(TIE, " ")],
        "legend": _legend(rings, drawn, shown),
        "vertices": vertices,
        "connections": connections,
    }


def _vertex(rings: Rings, key: Key, kind: str, opens: int | None, words: str, *, named: bool = True) -> tuple[Any, ...]:
    """Return one vertex in the form that the page's program draws, where a dollar sign has no meaning."""
    place, label = rings.places[key], rings.labels.of[key].replace(r"\$", "$") if named else ""
    return label, round(place.real, 3), round(place.imag, 3), kind, opens, words


def _words(shown: CohesionAround, key: Key, connections: int) -> str:
    """Return the line below the picture for a member."""
    critical = counted(connections, "critical connection")
    if key == shown.cohesion.vertex:
        return f"{_short(key)}, whose cohesion it is: {critical}."
    away = "3 or more hops" if shown.hops[key] > 2 else counted(shown.hops[key], "hop")
    return f"{_short(key)}, a member {away} from {_short(shown.cohesion.vertex)}: {critical}."


def _short(key: Key) -> str:
    text = str(key)
    return isolated(text if len(text) <= LONGEST_KEY else f"{text[:LONGEST_KEY]}…")


def _legend(rings: Rings, drawn: CohesionAround, shown: CohesionAround) -> list[tuple[str, str, str]]:
    """Return the still picture's legend without the outline: words, mark, colour."""
    return [
        (words.replace("\n", " ").replace(TIE, " ").replace(r"\$", "$"), mark, str(looks["color"]))
        for mark, words, looks in entries_of(rings, drawn, shown, 1.0)
        if mark != "outline"
    ]


def _hint(shown: CohesionAround, cohesions: int) -> str:
    """Return what the reader can do, and how many members can be opened if not all."""
    hint = "Hover over a vertex, drag it, scroll to zoom."
    if cohesions == 1:
        return hint
    members = shown.cohesion.size - 1
    if cohesions > members:
        which = "a member"
    elif cohesions == 2:
        which = "the member with a black ring"
    else:
        which = f"one of the {cohesions - 1:,} members (of {members:,}) with a black ring"
    return f"{hint} Click {which} to open its own cohesion."


def _embedded(data: Any) -> str:
    """Return JSON that cannot end the script element around it, whatever the keys contain."""
    return json.dumps(data, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _text(*names: str) -> str:
    return files("pcneo.plots").joinpath(*names).read_text(encoding="utf-8")
