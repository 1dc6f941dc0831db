"""Pictures: the same bytes for the same data, everything inside the frame, every vertex where its hops put it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from drawn import ALONE, CROWDED, HUNDRED, SMALL, TEXT, shown

import pcneo
import pcneo.cli.show as command
from pcneo import plots
from pcneo.basics.model import ShownCohesion
from pcneo.basics.searches import Search
from pcneo.errors import ParameterError, PcneoError
from pcneo.plots import cohesion_picture as cohesion_plots
from pcneo.plots.labels import LONGEST_LABEL, TIE, fitted, labels
from pcneo.plots.rings import SLOT, arrange

ALL = [SMALL, HUNDRED, CROWDED, ALONE, TEXT, shown([3] * 400, 1)]


def test_every_look_has_a_colour_of_its_own_and_a_mark_for_print_without_colours():
    assert {"density", "degree", "elv", "critical", "edge", "published"} <= plots.LOOKS.keys()
    assert len({look.colour for look in plots.LOOKS.values()}) == len(plots.LOOKS)
    assert len({look.marker for look in plots.LOOKS.values()}) == len(plots.LOOKS)
    assert "reconstructed" in plots.look("degree").label
    with pytest.raises(ParameterError, match="There is no look"):
        plots.look("nonsense")


@pytest.mark.parametrize("ending", ["svg", pytest.param("png", marks=pytest.mark.long)])
def test_the_same_picture_is_the_same_bytes_whatever_the_users_settings(tmp_path, ending):
    import matplotlib

    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    plots.draw_cohesion(SMALL, first)
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "mine", "axes.facecolor": "red", "savefig.dpi": 10}):
        plots.draw_cohesion(SMALL, second)
        assert matplotlib.rcParams["font.size"] == 30
    assert first.read_bytes() == second.read_bytes()
    assert b"<dc:date>" not in first.read_bytes()


def test_keys_that_xml_cannot_hold_give_a_picture_that_xml_readers_take(tmp_path):
    odd = ["a\x00", "b\x1b[0m", "c\ud800", "d\uffff", "e\x0b"]
    pcneo.minimal_p_cohesions(nx.complete_graph(odd), p="0.9")[odd[0]].draw(tmp_path / "a.svg")
    picture = ElementTree.parse(tmp_path / "a.svg")  # noqa: S314 - our own file
    assert picture.getroot().tag.endswith("svg")


def test_an_older_picture_is_replaced_and_other_endings_are_refused(tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("old")
    plots.draw_cohesion(ALONE, path)
    assert path.read_bytes().startswith(b"<?xml")
    for name in ("a.pdf", "a", "a.svg.txt"):
        with pytest.raises(ParameterError, match=r"must end in \.svg or \.png"):
            plots.check_picture(tmp_path / name)


def test_without_matplotlib_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PcneoError, match=r"pip install '\.\[plot\]'"):
        plots.check_picture(tmp_path / "a.svg")
    with pytest.raises(PcneoError, match=r"pip install '\.\[plot\]'"):
        plots.draw_cohesion(SMALL, tmp_path / "a.svg")


@pytest.mark.long
def test_no_window_and_no_pyplot_are_ever_asked_for(tmp_path):
    code = (
        "import sys; from pathlib import Path; from pcneo import plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "with plots.new_figure() as (figure, axes): plots.save_figure(figure, Path(sys.argv[1]))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.png")], check=True)


# --- one cohesion


def keys_at(cohesion: ShownCohesion, hops: int) -> list:
    return [key for key, away in cohesion.hops.items() if away == hops]


@pytest.mark.parametrize("cohesion", ALL)
def test_places_say_how_far_a_vertex_is(cohesion):
    rings = arrange(cohesion)
    assert rings.places.keys() == {*cohesion.cohesion.members, *rings.others}
    radius = {hops: {round(abs(rings.places[key]), 6) for key in keys_at(cohesion, hops)} for hops in range(4)}
    assert radius[0] == {0.0}
    assert all(len(radii) <= 1 for radii in radius.values())
    assert max(radius[1] | radius[2] | {0}) < rings.outline < min(radius[3] | {np.inf})
    assert max(map(abs, rings.places.values())) < rings.radius


@pytest.mark.parametrize("cohesion", ALL)
def test_no_two_vertices_stand_on_one_another(cohesion):
    rings = arrange(cohesion)
    members = np.array([rings.places[key] for key in cohesion.cohesion.members])
    apart = np.abs(members[:, None] - members[None, :])[~np.eye(len(members), dtype=bool)]
    assert apart.min(initial=1) > 0.9 * SLOT
    everyone = np.array(list(rings.places.values()))
    assert len(np.unique(np.round(everyone, 6))) == len(everyone)


@pytest.mark.long
def test_more_neighbours_than_there_is_room_for_are_said_to_be_left_out(monkeypatch, tmp_path):
    said: list[str] = []
    legend = cohesion_plots._legend
    monkeypatch.setattr(
        cohesion_plots,
        "_legend",
        lambda *given: [said.append(str(line.get_label())) or line for line in legend(*given)],
    )
    plots.draw_cohesion(CROWDED, tmp_path / "a.png")
    assert any("(240 of 900 drawn, 240 names left out)" in label for label in said)
    assert any("900 vertices (559 not drawn)" in label for label in said)


@pytest.mark.parametrize("cohesion", [SMALL, HUNDRED, TEXT])
def test_names_title_and_legend_are_inside_the_frame_and_readable(cohesion):
    figure: Any = plots.draw_cohesion(cohesion)
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(match=lambda artist: hasattr(artist, "get_fontsize")) if text.get_text()]
    named = [text for text in texts if text.get_text() in set(map(str, cohesion.cohesion.members))]
    assert len(named) == len(cohesion.cohesion.members) - 1
    assert min(text.get_fontsize() for text in texts) >= 8
    frame = figure.bbox
    for text in texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0, text.get_text()
        assert box.x1 <= frame.x1, text.get_text()
        assert frame.y0 <= box.y0, text.get_text()
        assert box.y1 <= frame.y1, text.get_text()


@pytest.mark.long
def test_where_long_names_leave_no_room_shorter_ones_are_drawn() -> None:
    """Three rings with labels of 14 letters do not fit a page; nobody would be named."""
    long: dict[Any, str] = {i: f"{chr(97 + i)}{'middle' * 4}{i}" for i in range(7)}
    figure: Any = plots.draw_cohesion(renamed(shown([1, 1, 2, 2, 3, 3], 0), long.__getitem__))
    figure.draw_without_rendering()
    texts = {text.get_text() for text in figure.findobj(match=lambda artist: hasattr(artist, "get_fontsize"))}
    assert {f"{key[:3]}…{key[-3:]}" for key in (*long.values(),)[1:]} <= texts
    assert "member" in texts


def test_long_keys_are_told_apart_by_what_is_their_own() -> None:
    mail = ["ann.smith@example.org", "ann.smithers@example.org", "bob@example.org", "x"]
    assert list(labels(mail).of.values()) == ["ann.smith", "ann.smithers", "bob", "x"]
    pages = [f"https://example.org/people/{number}" for number in range(30)]
    assert set(labels(pages).of.values()) == {str(number) for number in range(30)}
    numbered = [f"ann{number}@example.org" for number in (1, 11, 21)]
    assert list(labels(numbered).of.values()) == ["ann1", "ann11", "ann21"]
    assert labels(pages).without == ("https://example.org/people/",)
    elsewhere = [f"person.{number}@example.org" for number in (1, 12, 3)] + ["boss@another.example.com"]
    assert list(labels(elsewhere).of.values()) == ["person.1…", "person.12…", "person.3…", "boss@an…le.com"]
    assert (labels(elsewhere).without, labels(elsewhere).numbered) == ((), False)
    alike = [f"{'a' * 30}{number}{'b' * 30}" for number in range(12)] + ["c" * 70]
    assert not labels(alike).numbered
    assert len(set(labels(alike).of.values())) == len(alike)
    assert max(map(len, labels(alike).of.values())) <= LONGEST_LABEL
    assert labels(["cost $5", 7]).of == {"cost $5": r"cost \$5", 7: "7"}


def test_only_where_nothing_else_tells_names_apart_they_are_numbered() -> None:
    keys = [f"{'a' * 20}{middle}{'a' * 20}{end}" for middle in "xy" for end in "xy"]
    assert len(set(labels(keys).of.values())) == 4
    assert labels(keys).numbered


def renamed(cohesion: ShownCohesion, name: Callable[[Any], str]) -> ShownCohesion:
    """The same cohesion of vertices with other keys."""
    keys: dict[Any, str] = {key: name(key) for key in (*cohesion.cohesion.members, *cohesion.others)}
    members = tuple(keys[key] for key in cohesion.cohesion.members)
    return replace(
        cohesion,
        cohesion=replace(cohesion.cohesion, vertex=members[0], members=members),
        connections=tuple((keys[a], keys[b]) for a, b in cohesion.connections),
        others=tuple(keys[key] for key in cohesion.others),
        hops={keys[key]: hops for key, hops in cohesion.hops.items()},
    )


def words_of(figure: Any) -> list[str]:
    """The title, and the lines of the legend."""
    return [figure.get_suptitle(), *(text.get_text() for text in figure.legends[0].get_texts())]


def test_what_is_left_out_of_names_is_said_once() -> None:
    words = words_of(plots.draw_cohesion(renamed(SMALL, lambda key: f"person.{key}@example.org")))
    assert "member\nnames without “person.” and “@example.org”" in words
    assert not any("names without" in word for word in words_of(plots.draw_cohesion(SMALL)))


def test_the_legend_explains_what_is_drawn_alone() -> None:
    assert [word.split(",")[0] for word in words_of(plots.draw_cohesion(ALONE))[1:]] == ["0", "extended local view"]
    assert "connection of 0 that is not critical (30 names left out)" in words_of(plots.draw_cohesion(shown([1], 30)))


def test_a_name_written_from_right_to_left_leaves_the_words_around_it_where_they_are() -> None:
    words = words_of(plots.draw_cohesion(renamed(SMALL, lambda key: f"שלום {key}")))
    assert words[0].startswith("Minimal p-cohesion of \u2068שלום 0\u2069, p = 3/10")
    assert words[1] == "\u2068שלום 0\u2069, whose cohesion it is"


@pytest.mark.parametrize("length", range(8, 40))
def test_no_line_of_a_title_ends_within_p_and_its_value(length: int) -> None:
    title = fitted(f"Minimal p-cohesion of {'x' * length}, p{TIE}={TIE}3/10, search density", 4.6)
    assert "p = 3/10" in title
    assert "p-cohesion" in title


def test_of_a_huge_cohesion_as_much_is_drawn_as_can_be_seen(tmp_path: Path) -> None:
    huge = shown([1] * 20 + [2] * 500, 0)
    words = words_of(plots.draw_cohesion(huge, tmp_path / "a.svg"))
    assert "521 members" in words[0]
    assert "member (300 of 521 drawn, the nearest, no room for names)" in words
    (drawn,) = [word for word in words if word.startswith("critical connection")]
    assert int(drawn.split("(")[1].split()[0].replace(",", "")) <= 1_520
    assert (tmp_path / "a.svg").stat().st_size < 2_000_000


def test_letters_without_a_glyph_are_named_in_one_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = renamed(SMALL, lambda key: f"李雷{key}")
    monkeypatch.setattr(command, "connected", lambda: nullcontext((None, "")))
    monkeypatch.setattr("pcneo.stored.showing.show", lambda *_, **__: foreign)
    command.show("李雷0", plot=tmp_path / "a.png")
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "no glyph" in line or "Warning" in line] == [
        "The font has no glyph for 李雷: each such letter is drawn as a box."
    ]


def test_a_terminal_shows_the_first_members_and_a_file_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    many = shown([1] * 120, 70)
    command._print_shown(many)
    whole = capsys.readouterr().out
    assert "more members" not in whole
    assert "5069" in whole
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    command._print_shown(many)
    some = capsys.readouterr().out
    assert "and 101 more members; --json lists all" in some
    assert "5069" not in some
    assert len(some.splitlines()) < len(whole.splitlines())


def test_a_long_title_is_whole_and_inside_the_frame() -> None:
    cohesion = replace(SMALL.cohesion, search=Search(Fraction(123456789, 1000000007), "degree"))
    figure = plots.draw_cohesion(replace(SMALL, cohesion=cohesion))
    figure.draw_without_rendering()
    (title,) = [text for text in figure.texts if "Minimal" in text.get_text()]
    assert "123456789/1000000007, search degree (reconstructed)" in title.get_text().replace("\n", " ")
    assert title.get_window_extent().x1 <= figure.bbox.x1


# --- sizes and densities


@pytest.mark.long
def test_sizes_and_densities_are_drawn_for_one_p_and_for_many(tmp_path):
    sizes = np.array([1, 2, 5, 5, 300])
    densities = np.array([0.0, 1.0, 0.4, 0.5, 0.1])
    for count in (1, 3, 9):
        runs = {f"{i}/10": (sizes + i, densities) for i in range(1, count + 1)}
        draw = plots.draw_distributions if count == 1 else plots.draw_profile
        draw(runs, "density", tmp_path / f"{count}.svg", vertices=5)
        assert (tmp_path / f"{count}.svg").stat().st_size > 10_000


@pytest.mark.parametrize("sizes", [[4, 5, 6], [7], [1, 2]])
def test_sizes_are_whole_numbers_and_none_is_written_twice(sizes: list[int]) -> None:
    figure: Any = plots.draw_distributions({"3/10": (np.array(sizes), np.full(len(sizes), 0.5))}, "density")
    figure.draw_without_rendering()
    axis = figure.axes[0].xaxis
    low, high = axis.get_view_interval()
    written = [str(label.get_text()) for label in axis.get_ticklabels() if low <= label.get_position()[0] <= high]
    assert written
    assert len(set(written)) == len(written)
    assert all(tick == int(tick) for tick in axis.get_majorticklocs())


def test_sizes_are_on_a_logarithmic_axis_only_where_they_are_far_apart() -> None:
    for smallest, scale in ((100, "linear"), (2, "log")):
        runs = {p: (np.array([smallest, 300]), np.array([0.5, 0.5])) for p in ("1/10", "3/10")}
        empty = {"1/2": (np.empty(0, np.int64), np.empty(0))}
        figure: Any = plots.draw_profile({**runs, **empty}, "density")
        assert figure.axes[0].get_yscale() == scale


def test_vertices_without_neighbours_alone_can_be_drawn(tmp_path):
    plots.draw_distributions(
        {"3/10": (np.array([1, 1]), np.array([0.0, 0.0]))}, "degree", Path(tmp_path / "a.png"), vertices=None
    )
    assert (tmp_path / "a.png").exists()


@pytest.mark.parametrize("ps", [("1/10", "3/10"), tuple(f"{i}/10" for i in range(1, 10))])
def test_labels_of_axes_are_no_longer_than_the_axes(ps: tuple[str, ...]) -> None:
    runs = {p: (np.array([2, 300]), np.array([1.0, 0.5])) for p in ps}
    figure: Any = plots.draw_profile(runs, "degree", vertices=2)
    figure.draw_without_rendering()
    for plane in figure.axes:
        box, label = plane.get_window_extent(), plane.yaxis.label.get_window_extent()
        assert box.y0 <= label.y0 < label.y1 <= box.y1


def test_the_sizes_of_no_cohesions_are_drawn_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    none = pcneo.minimal_p_cohesions(nx.Graph(), p="1/2")
    drawn: Any = none.draw_sizes()
    assert drawn.legends == []
    assert [str(warning.message) for warning in recwarn] == []
