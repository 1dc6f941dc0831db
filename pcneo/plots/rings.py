"""The places of vertices in the picture of a cohesion: on rings by distance, with neighbours near one another.

The vertex is in the middle. Around it are its neighbours, first the members and then the others; around these, the
members two hops away; then the outline of the extended local view; and outside it, the members further away. So the
outline encloses exactly the vertices within two hops, for 5 members as for 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionAround, Key
from pcneo.plots.labels import LONGEST_LABEL, Labels, labels

SLOT = 0.14
"""Inches of its ring that a labelled vertex takes up."""
MOST_LABELLED_OTHERS = 24
MOST_OTHERS = 240

_LETTER = 0.075  # inches; the width of a wide letter at 8 points
_SWEEPS = 30
_PUSHES = 200
_EASY = 4 * SLOT  # distance between neighbours on an outer ring that has room


@dataclass(frozen=True)
class Rings:
    """The places of the drawn vertices, in inches from the middle.

    Attributes:
        places: x + y·i of the vertex, of every member, and of `others`.
        others: the drawn neighbours outside the cohesion, as many as there is room for.
        outline: radius of the outline of the extended local view.
        radius: radius of the whole picture, labels included.
        ring: for each drawn vertex, the number of vertices on its ring, itself included.
        labels: the label of each drawn vertex.
    """

    places: dict[Key, complex]
    others: tuple[Key, ...]
    outline: float
    radius: float
    ring: dict[Key, int]
    labels: Labels


def arrange(shown: CohesionAround, longest: int = LONGEST_LABEL) -> Rings:
    """Return a place for every vertex to draw."""
    vertex = shown.cohesion.vertex
    by_hops = [[key for key in shown.cohesion.members if shown.hops[key] == hops] for hops in (1, 2, 3)]
    others = shown.others[:MOST_OTHERS]
    width = 1.0 if len(others) <= MOST_LABELLED_OTHERS else 0.3
    named = labels((*shown.cohesion.members, *others), longest)
    room = 0.2 + max(3, *map(len, named.of.values())) * _LETTER  # for a label outwards of its vertex
    near = max(1.0, (len(by_hops[0]) + width * len(others)) * SLOT / (2 * np.pi))
    middle = max(near + room + 0.2, len(by_hops[1]) * SLOT / (2 * np.pi))
    outline = (middle if by_hops[1] else near) + room
    far = max(outline + 0.3, len(by_hops[2]) * SLOT / (2 * np.pi))
    angles = _angles(shown, by_hops, (near, middle, far), width * len(others))
    places: dict[Key, complex] = {vertex: 0j}
    ring: dict[Key, int] = {vertex: 1}
    for keys, radius in zip(by_hops, (near, middle, far), strict=True):
        places |= {key: radius * complex(np.exp(1j * angles[key])) for key in keys}
        ring |= dict.fromkeys(keys, len(keys))
    free = _between(len(by_hops[0]), width * len(others))
    for number, key in enumerate(others):
        places[key] = near * complex(np.exp(1j * (free[0] + (number + 0.5) * (free[1] - free[0]) / len(others))))
    ring |= dict.fromkeys([*by_hops[0], *others], len(by_hops[0]) + len(others))
    return Rings(places, others, outline, far + room if by_hops[2] else outline + 0.1, ring, named)


def _between(members: int, others: float) -> tuple[float, float]:
    """Return the arc for neighbours outside the cohesion: at the bottom, in proportion to their number."""
    half = np.pi * others / (members + others) if others else 0.0
    return 1.5 * np.pi - half, 1.5 * np.pi + half


def _angles(
    shown: CohesionAround, rings: Sequence[Sequence[Key]], radii: Sequence[float], others: float
) -> dict[Key, float]:
    """Order each ring so that connected members are near one another: each is pulled towards its neighbours."""
    keys = [key for ring in rings for key in ring]
    number = {key: i for i, key in enumerate(keys)}
    ends = [(number[a], number[b]) for a, b in shown.connections if a in number and b in number]
    a, b = np.array(ends, np.int64).reshape(-1, 2).T
    start, stop = _between(len(rings[0]), others)
    angle = np.zeros(len(keys))
    placed = 0
    parts: list[NDArray[np.int64]] = []
    for ring in rings:
        parts.append(np.arange(placed, placed + len(ring)))
        placed += len(ring)
    for sweep in range(_SWEEPS + 1):
        pull = np.exp(1j * angle) * 0.1
        np.add.at(pull, a, np.exp(1j * angle[b]))
        np.add.at(pull, b, np.exp(1j * angle[a]))
        for part, radius in zip(parts, radii, strict=True):
            if not len(part):
                continue
            wanted = np.angle(pull[part]) if sweep else 2 * np.pi * np.arange(len(part)) / len(part)
            order = part[np.lexsort((part, np.round((wanted - stop) % (2 * np.pi), 9)))]
            if part is parts[0]:
                angle[order] = stop + (np.arange(len(part)) + 0.5) * (start - stop + 2 * np.pi) / len(part)
            else:
                angle[order] = _apart(np.sort((wanted - stop) % (2 * np.pi)) + stop, _EASY / radius)
    return dict(zip(keys, angle.tolist(), strict=True))


def _apart(angles: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Push ascending angles apart until hardly any two are closer than `least`; without room, space them evenly."""
    even = 2 * np.pi * np.arange(len(angles)) / len(angles)
    if len(angles) * least >= 2 * np.pi:
        return even + np.angle(np.exp(1j * (angles - even)).sum())
    angles = angles.copy()
    for _ in range(_PUSHES):
        gaps = np.diff(angles, append=angles[:1] + 2 * np.pi)
        lack = np.maximum(least - gaps, 0) / 2
        angles += np.roll(lack, 1) - lack
    return angles
