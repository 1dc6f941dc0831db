"""What the evaluation says of finished cells: figures, tables and the report, and the requested parts."""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from evaluation.cells import Cell, CliquesCell, CohesionsCell, CoverageCell, LossCell, ReleaseCell
from evaluation.datasets import DATASETS, EvaluatedGraph
from evaluation.drawing import drawings
from evaluation.drawing.marks import NO_ERROR_MARK, PAPERS, PROMISING, REFUSED_MARK
from evaluation.experiments import EXPERIMENTS
from evaluation.finding import finding
from evaluation.finished_cells import Finished
from evaluation.producing import evaluate, graphs_of_folder
from evaluation.results import Distribution, Errors, Result
from evaluation.tables import TABLES
from evaluation.which_mechanism import advice, clearly_less, least_error, settings_of, unprotected
from evaluations import errors_of, evaluated, losses_of, some_graph
from lengths import length, usual_or_thorough

from pcneo.errors import NotFoundError, ParameterError, PcneoError

pytestmark = pytest.mark.long


def some_graphs() -> dict[str, EvaluatedGraph]:
    return {name: evaluated(some_graph(seed=i), name) for i, name in enumerate(("Celegans", "Bitcoin", "WIKIVote"))}


def test_figures_are_drawn_with_their_data_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = ["view-size", "all-10-total", "p-bitcoin-absolute", "h-celegans", "losses"]

    def one_of_a_kind(name: str, finished: Finished) -> dict[str, Callable[[Path], object]]:
        return {picture: draw for picture, draw in drawings(name, finished).items() if picture in pictures}

    if length() != "thorough":  # a picture takes seconds
        monkeypatch.setattr("evaluation.producing.drawings", one_of_a_kind)
    names = ["datasets", "view-size", "all-10", "p-bitcoin", "h-celegans", "losses"]
    made = evaluate(names, some_graphs(), tmp_path, largest_p=usual_or_thorough(0.3, None))
    assert set(made.absent) == {dataset.name for dataset in DATASETS} - {"Celegans", "Bitcoin", "WIKIVote"}
    assert {getattr(cell, "mechanism", "") for cell, _ in made.refused} == {"modelled"}  # k=4 on so few vertices
    for picture in [*pictures, *usual_or_thorough([], ["all-10-local", "p-bitcoin-total"])]:
        assert (tmp_path / "figures" / f"{picture}.svg").read_text().startswith("<?xml")
    table = (tmp_path / "figures" / "all-10.csv").read_text().splitlines()
    assert len(table) == 1 + 3 * (6 + 2 * 6)  # cliques, coverage, and 4 mechanisms; 2 with switches
    assert "Celegans" in made.tables["datasets"]
    pictures.clear()  # drawn already
    again = evaluate(["datasets", "losses"], some_graphs(), tmp_path, largest_p=usual_or_thorough(0.3, None))
    assert again.tables.items() <= made.tables.items()


def test_everything_at_once_makes_a_report_with_what_must_be_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written_alone(name: str, finished: Finished) -> dict[str, Callable[[Path], object]]:
        return {picture: lambda path: path.write_text("") for picture in drawings(name, finished)}

    monkeypatch.setattr("evaluation.producing.drawings", written_alone)  # drawing takes a minute
    graphs = {"USAirport": evaluated(some_graph(), "USAirport")}
    made = evaluate(["all"], graphs, tmp_path, largest_p=0.1, command="the command")
    report, claims = ((tmp_path / name).read_text() for name in ("report.md", "claims.md"))
    assert len(set(tables := re.findall(r"^\| k=.*?(?=\n\n)", report, re.DOTALL | re.MULTILINE))) == len(tables) > 6
    for text in (report, claims, *(made.tables[name] for name in ("all-10", "all-10-k4", "losses", "claims"))):
        assert "the mechanisms promise different things; published promises nothing" in text
    for text in (report, claims):
        assert "reconstruction" in text
    assert "| **promised** | every connection at most 9 |" in made.tables["losses"]
    assert "\n\n    the command\n\n" in report
    assert "Cells of p beyond 0.1 are left out" in report
    assert "Samples" not in report
    for figure in re.findall(r"\]\((figures/[^)]*)\)", report):
        assert (tmp_path / figure).is_file()
    parts = ["## How large the local errors are", "## Which mechanism", "## The figures", "## The claims"]
    places = [report.index(f"\n{part}\n") for part in [*parts, "## The settings"]]
    assert places == sorted(places)
    opening = report[: places[0]]
    aim, falls_short, now = map(opening.index, ("wants to protect", "does not keep what it promises", "ε=1"))
    assert aim < falls_short < now
    assert "is clearly smaller than those of `edge` and `elv`" in opening
    assert re.search(r"zeros would be nearer on \d of 1 graphs", opening)
    assert "`inside` is inferred from the paper's figures, and its Section 5 contradicts it" in report
    assert "Errors of `respond` are those of plain" in report
    assert re.search(r"^Of 49 claims that the paper's Section 6 makes, .*\.$", report, re.MULTILINE)
    assert re.search(r"^Apart from these, of 5 others \(3 implied, .*\.$", report, re.MULTILINE)
    assert "| USAirport | flights between airports |" in report
    assert "epsilon-usairport-absolute" in report
    assert "Take `critical`" in report
    claims_alone = evaluate(["claims"], graphs, tmp_path, largest_p=0.1)
    assert (tmp_path / "claims.md").read_text() == claims
    assert claims_alone.tables["claims"] == made.tables["claims"]


def test_losses_are_shown_with_their_range_and_beside_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = partial(LossCell, graph="Celegans", content="c", p="0.1", score="density", k=3, epsilon="5")
    of_elv = losses_of(2.0, connections_low=1.9, connections_high=2.1, connections_inside=1.2, promised=4.5)
    of_published = losses_of(math.inf, connections_low=1.9, connections_high=2.1, promised=None)
    pairs: list[tuple[Cell, Result]] = [
        (loss(mechanism="elv", h=3), of_elv),
        (loss(mechanism="published", h=3), of_published),
        (loss(mechanism="edge"), {"refused": "too large"}),
    ]
    text = TABLES["losses"](Finished(pairs))
    assert "| every connection at most 4.5 |" in text
    assert "2 [1.9 to 2.1]; 1.2" in text
    assert "∞; groups refused for size" in text
    assert "| refused |" in text
    assert "elv (every connection)" in legend_of(monkeypatch, "losses", Finished(pairs), "losses")


def test_advice_names_who_is_clearly_best_and_where_critical_is_refused(tmp_path: Path) -> None:
    contents = {name: "c" for name in ("Celegans", "Bitcoin", "Yeast")}
    totals = {"Celegans": {"edge": 0.1}, "Bitcoin": {"critical": 0.1}, "Yeast": {"edge": 0.999}}
    done = {}
    for name in ("all-10", "all-5", "all-1", "all-10-k4", "losses"):
        cells = EXPERIMENTS[name].cells(contents)
        pairs: list[tuple[Cell, Result]] = []
        for cell in cells:
            if isinstance(cell, CliquesCell):
                pairs.append((cell, {"total": 9, "mean": 0.5, "in_one": 0.5}))
            elif isinstance(cell, CoverageCell):
                inside = {"Celegans": 2, "Bitcoin": 3, "Yeast": 8}[cell.graph]
                pairs.append((cell, {"connections": 10, "inside": inside}))
            elif isinstance(cell, LossCell):
                pairs.append((cell, losses_of(40.0 if cell.mechanism == "published" else 1.0)))
            elif not isinstance(cell, ReleaseCell):
                raise AssertionError(cell.kind)
            elif (cell.mechanism, cell.graph) == ("critical", "Celegans"):
                pairs.append((cell, {"refused": "too large"}))
            elif cell.mechanism not in ("respond", "modelled"):
                pairs.append((cell, errors_of(totals[cell.graph].get(cell.mechanism, 1.0), 0.01)))
        done[name] = Finished(pairs)
    error = {"0.1": 0.5, "0.2": 0.999, "0.3": 2.0, "0.4": 3.0}
    done["p-hepth"] = Finished(
        [
            (cell, errors_of(1.0 if cell.mechanism == "edge" else error[cell.p or ""], 0.01))
            for cell in EXPERIMENTS["p-hepth"].cells({"HepTh": "c"})
            if isinstance(cell, ReleaseCell)
            if cell.mechanism == "edge" or (cell.mechanism == "critical" and cell.p in error)
        ]
    )
    done["p-bitcoin"] = Finished([])
    text = advice(done)
    larger = "from p=0.3 on HepTh with k=3, ε=3; from p=0.3 on HepTh with k=3, ε=10"
    assert f"clearly smaller, of the total and of local counts {larger}." in text
    everywhere = "k=3, ε=10: {0}; k=3, ε=5: {0}; k=3, ε=1: {0}; k=4, ε=10: {0}"
    assert "leaves out 20 to 80 % of the connections" in unprotected(settings_of(done))
    (of_critical,) = [sentence for sentence in text.split(". ") if "At p=0.1 its error" in sentence]
    on = everywhere.format("Bitcoin")
    assert f"of the total and of local counts on ({on})" in of_critical
    assert "refused" not in of_critical
    assert "refused for size at Celegans, k=3, ε=10; Celegans, k=3, ε=5; Celegans, k=3, ε=1" in text
    on = everywhere.format("Celegans")
    assert f"the error of the total and of local counts with `edge` on ({on})" in text
    assert "of `edge` is clearly smaller in 4 of 12 settings" in text
    assert "mean error than `critical` in 4 of 8, `edge` in 8 of 12, `elv` in 12 of 12 settings" in text
    said = finding(done)
    assert "a group loses more than ε2 in 0 of 9 settings, any connection in 9, and the worst one 8.89 times ε2" in said
    assert "| undecided |" in TABLES["all-10"](done["all-10"])


def test_marks_of_lines_that_lie_upon_one_another_stand_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All errors are equal, so each flat line would hide the mark of the one before."""
    places: list[list[float]] = []

    def look(figure: Any, path: Path) -> None:
        for axes in figure.axes:
            flat = [line for line in axes.lines if line.get_markevery() == [1]]
            places.append([line.get_xdata()[1] for line in flat])

    monkeypatch.setattr("pcneo.plots.save_figure", look)
    cells = [cell for cell in EXPERIMENTS["p-hepth"].cells({"HepTh": "c"}) if isinstance(cell, ReleaseCell)]
    finished = Finished([(cell, errors_of(1.0, 0.01, smoothed=1.0, smoothed_error=0.01)) for cell in cells])
    drawings("p-hepth", finished)["p-hepth-absolute"](tmp_path / "any.svg")
    assert [len(of_panel) for of_panel in places] == [7] * 6  # edge, elv and 2 variants, respond and smoothed, modelled
    for of_panel in places:
        assert len(set(of_panel)) == 7


def test_no_variant_hides_what_is_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have the same errors, of many values and of few."""
    figures: list[Any] = []
    monkeypatch.setattr("pcneo.plots.save_figure", lambda figure, _: figures.append(figure))
    for name, graph in (("epsilon1-celegans", "Celegans"), ("epsilon-usairport", "USAirport")):
        cells = [cell for cell in EXPERIMENTS[name].cells({graph: "c"}) if isinstance(cell, ReleaseCell)]
        drawings(name, Finished([(cell, errors_of(1.0, 0.01)) for cell in cells]))[f"{name}-total"](tmp_path / "a.svg")
    many, few = ({line.get_label(): line for line in figure.axes[0].lines} for figure in figures)
    assert many["elv, inside inferred"].get_markevery() != many["elv (every connection)"].get_markevery()
    ring, mark = few["elv, inside inferred"], few["elv (every connection)"]
    assert ring.get_markerfacecolor() == "none"
    assert ring.get_markersize() > mark.get_markersize()


def test_advice_judges_local_counts_on_their_own() -> None:
    """`critical` has the smaller error of the total, and the larger one of local counts."""
    contents: dict[str, str] = dict.fromkeys(("Celegans", "Bitcoin", "Yeast"), "c")
    done = {}
    for name in ("all-10", "all-5", "all-1", "all-10-k4"):
        pairs: list[tuple[Cell, Result]] = []
        for cell in EXPERIMENTS[name].cells(contents):
            if isinstance(cell, ReleaseCell) and cell.mechanism in ("critical", "edge", "elv", "respond"):
                errors = errors_of(1.0, 0.01)
                of_runs = {name: value for name, value in errors.items() if "bound" not in name}
                if cell.mechanism == "critical":
                    errors = cast("Errors", {**of_runs, "total": 0.5, "absolute": 2.0, "exact": 9})
                if cell.mechanism == "respond":
                    errors = cast("Errors", {**of_runs, "absolute": 1.5})
                pairs.append((cell, errors))
        done[name] = Finished(pairs)
    text = advice({**done, **{name: Finished([]) for name in ("p-hepth", "p-bitcoin", "losses")}})
    everywhere = "k=3, ε=10: {0}; k=3, ε=5: {0}; k=3, ε=1: {0}; k=4, ε=10: {0}"
    assert f"of the total on ({everywhere.format('all 3')}); of local counts on ({everywhere.format('none')})" in text
    assert "(0 to 2 % of them)" in unprotected(settings_of(done))
    assert "`respond` has smaller local errors than `critical`, too, in 12 of 12 settings. The small errors" in text
    assert "ε is below that on (k=3, ε=5: Yeast, Bitcoin; k=3, ε=1: all 3); there" in text
    assert "protect every connection in 0 of 5 settings. Choose by both figures." in text


def test_errors_are_compared_by_the_scale_where_both_have_one_and_by_runs_elsewhere() -> None:
    precise = errors_of(1.0, 0.05, bound=1.0, bound_error=0.001), errors_of(1.1, 0.05, bound=1.1, bound_error=0.001)
    assert clearly_less(*precise, "total")
    without = cast("Errors", {name: value for name, value in precise[1].items() if not name.startswith("bound")})
    assert not clearly_less(precise[0], without, "total")
    results = {"critical": precise[1], "edge": precise[0], "elv": precise[1], "respond": None}
    assert least_error(results) == "edge"
    assert least_error({**results, "respond": cast("Errors", {"total": 0.01, "total_error": 0.001})}) == "respond"
    assert least_error({**results, "elv": None}) == "not compared"


def test_nobody_is_called_best_where_a_mechanism_was_not_measured() -> None:
    done = {}
    for name in ("all-10", "all-5", "all-1", "all-10-k4", "losses"):
        cells = EXPERIMENTS[name].cells({"Celegans": "c"})
        done[name] = Finished(
            (cell, errors_of(0.1 if cell.mechanism == "edge" else 1.0, 0.01))
            for cell in cells
            if isinstance(cell, ReleaseCell) and cell.mechanism != "critical"
        )
    text = advice({**done, "p-hepth": Finished([]), "p-bitcoin": Finished([])})
    assert text.startswith("`critical` was not measured at p=0.1.")
    assert "of `edge` is clearly smaller in 4 of 4 settings" in text
    assert "`published`" not in text
    assert TABLES["all-10"](done["all-10"]).rstrip().endswith("| not compared |")


def test_larger_p_can_be_left_out(tmp_path: Path) -> None:
    evaluate(["view-size"], some_graphs(), tmp_path, largest_p=0.3)
    rows = csv.DictReader((tmp_path / "figures" / "view-size.csv").read_text().splitlines())
    assert {row["p"] for row in rows} == {"", "0.1", "0.2", "0.3"}


def test_an_unknown_figure_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="view-size"):
        evaluate(["nonsense"], some_graphs(), tmp_path)


def test_all_that_is_asked_for_is_made_beside_the_claims(tmp_path: Path) -> None:
    made = evaluate(["claims", "view-size"], {"Yeast": evaluated(some_graph(), "Yeast")}, tmp_path, largest_p=0.1)
    assert {path.name for path in made.files} == {"view-size.svg", "view-size.csv", "claims.md"}


def test_tables_and_claims_need_no_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    graphs = {"Yeast": evaluated(some_graph(), "Yeast")}
    assert "Yeast" in evaluate(["datasets"], graphs, tmp_path).tables["datasets"]
    assert "claim" in evaluate(["claims"], graphs, tmp_path, largest_p=0.1).tables["claims"]
    with pytest.raises(PcneoError, match="matplotlib"):
        evaluate(["view-size"], graphs, tmp_path)


def test_only_the_graphs_that_a_target_needs_are_read_and_missed(tmp_path: Path) -> None:
    dataset = next(candidate for candidate in DATASETS if candidate.name == "Bitcoin")
    (tmp_path / f"{dataset.file}.txt").write_text("this is no graph")
    with pytest.raises(NotFoundError, match=r"has none of celegans_metabolic\.edges\.gz\."):
        graphs_of_folder(tmp_path, ["h-celegans"])
    with pytest.raises(ParameterError, match="no figure 'nonsense'"):
        graphs_of_folder(tmp_path, ["nonsense"])
    graphs = {"Celegans": evaluated(some_graph())}
    made = evaluate(["datasets", "h-celegans"], graphs, tmp_path / "to", largest_p=0.05)
    assert set(made.absent) == {dataset.name for dataset in DATASETS} - {"Celegans"}
    with pytest.raises(NotFoundError, match=r"p-bitcoin needs Bitcoin; at hand is Celegans"):
        evaluate(["p-bitcoin"], graphs, tmp_path / "to")
    with pytest.raises(NotFoundError, match="Nothing is there to compute"):
        evaluate(["losses"], graphs, tmp_path / "to", largest_p=0.05)


def test_a_sweep_without_any_of_its_values_and_views_without_cohesions_are_not_drawn(tmp_path: Path) -> None:
    graphs = {"Bitcoin": evaluated(some_graph(), "Bitcoin")}
    made = evaluate(["p-bitcoin", "view-size"], graphs, tmp_path, largest_p=0.05)
    assert {path.name for path in made.files} == {"p-bitcoin.csv", "view-size.csv"}


def legend_of(monkeypatch: pytest.MonkeyPatch, name: str, finished: Finished, picture: str) -> list[str]:
    """The words of a drawn figure's legend."""
    words: list[str] = []

    def look(figure: Any, _: object) -> None:
        figure.canvas.draw()
        for legend in figure.legends:
            box = legend.get_window_extent()
            assert box.x0 >= 0, "cut on the left"
            assert box.x1 <= figure.bbox.x1, "cut on the right"
        words.extend(text.get_text() for legend in figure.legends for text in legend.get_texts())
        above.extend([figure.get_suptitle(), figure.legends[0].get_title().get_text()])

    above: list[str] = []
    monkeypatch.setattr("pcneo.plots.save_figure", look)
    drawings(name, finished)[picture](Path("picture.svg"))
    heading, explanation = above
    assert heading == EXPERIMENTS[name].title
    if name.startswith(("score", "view")):
        assert "line: median; diamond: mean" in explanation
    if name == "losses":
        assert "respond is not here" in explanation
    return words


def test_a_figure_without_p_03_has_a_legend(monkeypatch: pytest.MonkeyPatch) -> None:
    described = Distribution(quantiles=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], mean=0.4)
    result: Result = {"vertices": 9, "sizes": described, "densities": described, "of_component": 0.5}
    cell = CohesionsCell(graph="Gnutella08", content="c", p="0.1", score="density")
    words = legend_of(monkeypatch, "score-density", Finished([(cell, result)]), "score-density")
    assert len(words) == 1


def test_no_error_and_refused_mechanisms_have_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = partial(ReleaseCell, graph="Celegans", content="c", k=3, epsilon="5")
    pairs: list[tuple[ReleaseCell, Result]] = [
        (made(mechanism="critical", p="0.1", score="density"), {"refused": "too large"}),
        (made(mechanism="elv", h=3, epsilon_1="0.1"), errors_of(0.0, 0.0)),
        (made(mechanism="elv", h=3, epsilon_1="4.9"), errors_of(1.0, 0.1)),
    ]
    words = legend_of(monkeypatch, "epsilon1-celegans", Finished(pairs), "epsilon1-celegans-total")
    assert any(word.startswith("critical") and word.endswith("refused for size") for word in words)
    assert len(words) == len(set(words))
    assert any(word.startswith("elv") and word.endswith(": no error") for word in words)
    over = [(replace(cell, epsilon_1=None), result) for cell, result in pairs[:2]]
    words = legend_of(monkeypatch, "all-5", Finished(over), "all-5-total")
    assert sum(word.endswith(("refused for size", ": no error")) for word in words) == 2


@pytest.mark.parametrize("measure", ["total", "local", "absolute"])
def test_a_legend_with_every_mark_is_not_cut(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[tuple[Cell, Result]] = []
    for cell in EXPERIMENTS["all-10-k4"].cells({"Celegans": "c", "HepTh": "c"}):
        if isinstance(cell, ReleaseCell):
            nothing = "inside" in cell.switches and cell.graph == "HepTh"
            refused = cell.mechanism == "critical" and cell.graph == "HepTh"
            pairs.append((cell, {"refused": "large"} if refused else errors_of(0.0 if nothing else 1.0, 0.0)))
    words = legend_of(monkeypatch, "all-10-k4", Finished(pairs), f"all-10-k4-{measure}")
    assert len(words) == len(set(words)) == 13
    assert "published, inside inferred: no error" in words


def test_no_two_series_and_neither_edge_have_the_same_mark() -> None:
    for k, papers in PAPERS.items():
        looks = [(series.style["marker"], series.style.get("markerfacecolor"), series.colour) for series in papers]
        looks += [(series.style["marker"], series.style.get("markerfacecolor"), series.colour) for series in PROMISING]
        assert len(set(looks)) == len({series.label for series in (*papers, *PROMISING)}), k
    marks = {series.style["marker"] for series in (*PROMISING, *PAPERS[4])}
    assert not marks & {NO_ERROR_MARK, REFUSED_MARK}


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawings("all-10", Finished([])) == {}
