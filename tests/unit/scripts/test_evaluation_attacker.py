"""Errors beside what an attacker finds: measured, reported and plotted."""

from __future__ import annotations

import csv
import math
import re
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from evaluation.attacker import AttackedGraph, Setting, attack_csv, attack_text, draw_attacks, find
from evaluation.command_line import app
from typer.testing import CliRunner

from pcneo.counting.counted import CountedGraph
from pcneo.graph import graph_from_networkx
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism
from pcneo.privacy.noise import SimulatedNoise
from pcneo.release.audit.attacked import mean_errors, simulated

pytestmark = pytest.mark.long

EPSILONS = ("1", "8")
MADE = ["attacker.csv", "attacker.md", "attacker.svg"]
COUNTED = [name for name, kind in MECHANISMS.items() if kind.counts_vertices]


@pytest.fixture(scope="module")
def attacked() -> AttackedGraph:
    return find("made", graph_from_networkx(nx.gnp_random_graph(40, 0.2, seed=3)), EPSILONS)


def test_every_mechanism_that_counts_is_measured_at_every_epsilon(attacked: AttackedGraph) -> None:
    assert list(attacked.errors) == [(name, epsilon) for name in COUNTED for epsilon in EPSILONS]
    graph = nx.gnp_random_graph(40, 0.2, seed=3)
    matrix = nx.to_numpy_array(graph)
    assert attacked.zeros == pytest.approx(np.trace(matrix @ matrix @ matrix) / 2 / 40)
    assert attacked.threshold == pytest.approx(math.log(40 / (2 * graph.number_of_edges() / 40)))
    assert attacked.alone["nothing"].alone == pytest.approx(graph.number_of_edges() / math.comb(40, 2))
    assert {name for name, _ in attacked.found} == {
        *COUNTED,
        "critical, answers published",
        "respond, answers published",
    }
    for (name, _), errors in attacked.errors.items():
        has = MECHANISMS[name].parameter_names()
        assert set(errors.biased) == ({"clipped", "smoothed"} if "smooth" in has else {"clipped"} & {*errors.biased})
        assert (errors.count or 0) > 0 or not MECHANISMS[name].adds_noise  # at a large ε hardly an answer is flipped
    for (name, _), found in attacked.found.items():
        assert (found.alone is None) == (name == "critical, answers published")
        assert all(0 <= share <= 1 for share in vars(found).values() if share is not None)
    for name in COUNTED:
        few, many = (attacked.errors[name, epsilon].count or 0 for epsilon in EPSILONS)
        assert many < few


def test_an_error_is_the_mean_distance_of_what_was_drawn_from_the_truth() -> None:
    facts = CountedGraph(graph_from_networkx(nx.complete_graph(6)))
    made = MECHANISMS["edge"](epsilon=1, n=6)
    drawn = iter([[0], [3, -3, 1, 0, 0, 5]])
    errors = mean_errors(facts, simulated(facts, made, SimulatedNoise(lambda scale, size: next(drawn)), 1))
    assert (errors.count, errors.total) == (12 / 6, 6 / 3)


def test_the_tables_have_both_figures_and_say_what_they_are(attacked: AttackedGraph, tmp_path: Path) -> None:
    text = attack_text([attacked], "scripts/evaluate attacker")
    assert "promise different things" in text
    assert "lower bound" in text
    rows = re.findall(r"^\| ([a-z, ]+) \| ([\d.e+%]+) \| ([\d.e+%]+) \|$", text, re.MULTILINE)
    named = [name for name, *_ in rows]
    assert [name for name in named if name in COUNTED] == COUNTED * 3  # errors of counts, of totals, and shares
    assert {"respond, clipped", "respond, smoothed", "critical, groups known", "nothing, groups known"} <= set(named)
    shares = {name: values for name, *values in rows if values[0].endswith("%")}
    assert shares["respond"] == [f"{attacked.found['respond', epsilon].alone:.1%}" for epsilon in EPSILONS]
    draw_attacks([attacked, attacked], tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {words} -->" in drawn for words in ("elv (every connection)", "publishing zeros"))
    assert "k=3, p=0.1" in drawn


def test_all_graphs_stand_side_by_side_at_the_smallest_epsilon(
    attacked: AttackedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcneo.release.audit.attacked.MOST_VERTICES", 39)
    large = find("large", graph_from_networkx(nx.gnp_random_graph(40, 0.2, seed=3)), EPSILONS)
    text = attack_text([attacked, large], "scripts/evaluate attacker")
    beside = text[text.index("## All graphs, at ε=1") : text.index("## made")]
    rows = dict(re.findall(r"^\| ([a-z, ]+) \| (.*) \|$", beside, re.MULTILINE))
    assert rows["zeros"] == " | ".join([f"{attacked.zeros:.3g}"] * 2)
    found = attacked.found["critical", "1"]
    assert rows["critical, of protected pairs, groups known"] == f"{found.protected or 0:.1%} | "
    assert rows["nothing, of protected pairs, groups known"] == f"{attacked.alone['nothing'].protected or 0:.1%} | "
    assert {f"{name}, groups known" for name in COUNTED} <= rows.keys()


def test_the_data_have_every_number_of_the_tables(attacked: AttackedGraph) -> None:
    rows = list(csv.DictReader(attack_csv([attacked]).splitlines()))
    named = {(row["mechanism"], row["epsilon"]): row for row in rows}
    assert len(named) == len(rows) == len(attacked.found) + 4
    for at, found in attacked.found.items():
        assert named[at]["share_with_groups"] == str(found.with_groups)
    for at, errors in attacked.errors.items():
        assert float(named[at]["error"]) == errors.count
        assert float(named[at]["error_of_total"]) == errors.total
        smoothed = errors.biased.get("smoothed")
        assert named[at]["error_smoothed"] == ("" if smoothed is None else str(smoothed))
    assert float(named["exact counts", ""]["share"]) == attacked.alone["exact counts"].alone
    assert float(named["zeros", ""]["error"]) == attacked.zeros


def test_of_a_graph_with_too_many_pairs_there_are_the_same_errors_alone(
    attacked: AttackedGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcneo.release.audit.attacked.MOST_VERTICES", 39)
    large = find("large", graph_from_networkx(nx.gnp_random_graph(40, 0.2, seed=3)), EPSILONS)
    assert large.alone == large.found == {}
    assert large.errors == attacked.errors
    text = attack_text([large], "scripts/evaluate attacker")
    assert "connections that the attacker finds" not in text
    draw_attacks([attacked, large], tmp_path / "a.svg")
    assert "too many pairs to rank" in (tmp_path / "a.svg").read_text()


def test_what_would_take_too_long_is_left_out_and_its_place_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limit(made: Mechanism, *_: object) -> float:
        return math.inf if made.name == "respond" and made.epsilon == 1 else 0.1

    monkeypatch.setattr("evaluation.attacker.seconds_of_one", limit)
    part = find("made", graph_from_networkx(nx.gnp_random_graph(30, 0.3, seed=3)), EPSILONS)
    assert set(product(COUNTED, EPSILONS)) - part.errors.keys() == {("respond", "1")}
    text = attack_text([part], "command")
    assert "Not simulated: `respond`, ε=1: one release would take about inf s to simulate." in text
    assert re.search(r"^\| respond \|  \| [\d.e+-]+ \|$", text, re.MULTILINE)
    assert re.search(r"^\| respond, clipped \|  \| [\d.e+-]+ \|$", text, re.MULTILINE)
    assert re.search(r"^\| respond \|  \| [\d.]+% \|$", text, re.MULTILINE)
    draw_attacks([part], tmp_path / "a.svg")


def test_other_cliques_and_groups_are_said(tmp_path: Path) -> None:
    setting = Setting(4, "0.3", "smallest")
    graph = find("made", graph_from_networkx(nx.gnp_random_graph(30, 0.3, seed=3)), ("3",), setting)
    assert graph.mechanisms == [name for name in COUNTED if name != "modelled"]  # refused for k = 4 in small graphs
    assert "k=4; groups of p=0.3, found by `smallest`" in attack_text([graph], "command", setting)


def test_the_command_takes_the_shipped_graph_and_refuses_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.attacker.MECHANISMS", {"edge": MECHANISMS["edge"]})
    shown = CliRunner().invoke(app, ["attacker", "-e", "3", "--to", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    text = (tmp_path / "out" / "attacker.md").read_text(encoding="utf-8")
    assert "## Copenhagen" in text
    assert "Made by `scripts/evaluate attacker -e 3 --to out`" in text
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*MADE, "finished"]
    monkeypatch.setattr("evaluation.attacker.find", None)  # what is finished is not measured again
    again = CliRunner().invoke(app, ["attacker", "-e", "3", "--to", str(tmp_path / "out")])
    assert again.exit_code == 0, again.output
    assert (tmp_path / "out" / "attacker.md").read_text(encoding="utf-8") == text
    missing = CliRunner().invoke(app, ["attacker", "--name", "HepTh", "--to", str(tmp_path / "other")])
    assert missing.exit_code != 0
    assert not (tmp_path / "other").exists()
