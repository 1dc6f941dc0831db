"""The interactive picture: whole in itself, bounded, and harmless whatever keys are made of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from drawn import ALONE, HUNDRED, SMALL, shown

import pcneo
from pcneo.basics.model import ShownCohesion
from pcneo.errors import ParameterError
from pcneo.plots import draw_page
from pcneo.plots.page import MOST_FURTHER, MOST_LINES
from pcneo.plots.rings import arrange

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", '"', "]]>", "<!--", "$x$"]


class Elements(HTMLParser):
    """What a browser would find: each element with its attributes, and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data


def elements(text: str) -> Elements:
    parser = Elements()
    parser.feed(text)
    parser.close()
    return parser


def data_of(text: str) -> dict[str, Any]:
    parser = elements(text)
    (place,) = (i for i, (_, attributes) in enumerate(parser.found) if attributes.get("id") == "data")
    return json.loads(parser.texts[place])


def renamed(one: ShownCohesion, to: Mapping[Any, Any]) -> ShownCohesion:
    """The same cohesion with other keys."""
    members = tuple(to.get(key, key) for key in one.cohesion.members)
    return replace(
        one,
        cohesion=replace(one.cohesion, vertex=to.get(one.cohesion.vertex, one.cohesion.vertex), members=members),
        connections=tuple((to.get(a, a), to.get(b, b)) for a, b in one.connections),
        others=tuple(to.get(key, key) for key in one.others),
        hops={to.get(key, key): hops for key, hops in one.hops.items()},
    )


def of(one: ShownCohesion, vertex: int) -> ShownCohesion:
    """The same cohesion as if it were another vertex's."""
    return renamed(one, {0: vertex, vertex: 0})


def test_it_shows_each_member_and_connection_where_the_still_picture_does():
    drawn = data_of(draw_page(SMALL).html)["cohesions"][0]
    rings = arrange(SMALL)
    labels = [vertex[0] for vertex in drawn["vertices"]]
    assert labels == [rings.labels.of[key] for key in (*SMALL.cohesion.members, *SMALL.others)]
    for key, (_, x, y, *_) in zip((*SMALL.cohesion.members, *SMALL.others), drawn["vertices"], strict=True):
        assert abs(complex(x, y) - rings.places[key]) < 0.002
    critical = {(labels[a], labels[b]) for a, b, kind in drawn["connections"] if kind == "critical"}
    assert critical == {(str(a), str(b)) for a, b in SMALL.connections}
    assert sum(kind == "other" for *_, kind in drawn["connections"]) == len(SMALL.others)
    assert drawn["title"][0].startswith("Minimal p-cohesion of 0, p = 3/10")


def test_the_file_loads_nothing_and_runs_nothing_that_a_key_says():
    names = dict(enumerate(HOSTILE))
    page = draw_page(renamed(SMALL, names), [renamed(of(SMALL, 1), names)])
    found = elements(page.html).found
    assert sum(tag == "script" for tag, _ in found) == 3
    assert not {"img", "link", "iframe"} & {tag for tag, _ in found}
    assert not [attributes for _, attributes in found if {"src", "href"} & attributes.keys()]
    assert any("default-src 'none'" in (attributes.get("content") or "") for _, attributes in found)
    labels = {vertex[0] for one in data_of(page.html)["cohesions"] for vertex in one["vertices"]}
    assert {'"', "]]>", "<!--", "$x$"} <= labels
    framed = elements(page._repr_html_()).found
    assert [tag for tag, _ in framed] == ["iframe"]
    assert framed[0][1]["srcdoc"] == page.html
    assert framed[0][1]["sandbox"] == "allow-scripts"


def test_a_member_whose_cohesion_is_in_the_file_opens_it():
    page = draw_page(SMALL, [SMALL, of(HUNDRED, 1)])
    assert page.opens == 2
    data = data_of(page.html)
    assert [vertex[4] for vertex in data["cohesions"][0]["vertices"]][:3] == [0, 1, None]
    assert "Click the member with a black ring" in data["hint"]
    assert "Click" not in data_of(draw_page(SMALL).html)["hint"]


def test_thousands_of_members_and_cohesions_are_bounded_and_it_says_so():
    large = shown([1] * 200 + [2] * 1_000, 50)
    page = draw_page(large, (of(HUNDRED, key) for key in range(1, 5_000)))
    assert page.opens <= MOST_FURTHER + 1
    data = data_of(page.html)
    assert sum(len(one["connections"]) for one in data["cohesions"]) < MOST_LINES * 1.2
    assert any("300 of 1,201 drawn" in text for text, *_ in data["cohesions"][0]["legend"])
    assert len(page.html) < 3_000_000


def test_a_single_vertex_has_a_page():
    data = data_of(draw_page(ALONE).html)
    assert len(data["cohesions"][0]["vertices"]) == 1
    assert not data["cohesions"][0]["connections"]


def test_a_picture_of_another_kind_is_refused_with_all_that_there_are(tmp_path: Path):
    cohesion = pcneo.minimal_p_cohesion(nx.path_graph(3), 1, "0.5")
    with pytest.raises(ParameterError, match=r"must end in \.svg, \.png or \.html"):
        cohesion.draw(tmp_path / "a.pdf")


def test_it_is_saved_under_its_ending_alone(tmp_path: Path):
    page = draw_page(SMALL)
    page.save(tmp_path / "a.html")
    page.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(ParameterError, match=r"must end in \.html"):
        page.save(tmp_path / "a.svg")
    with pytest.raises(ParameterError, match="no folder"):
        page.save(tmp_path / "none" / "a.html")


def test_the_library_comes_with_its_licence():
    folder = Path(draw_page.__globals__["__file__"]).parent / "cytoscape"
    assert "Permission is hereby granted, free of charge" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert re.search(r"The Cytoscape Consortium", (folder / "cytoscape.min.js").read_text(encoding="utf-8")[:200])
