"""Results are tables: pandas, polars and notebooks take them as is, and progress is shown if someone is watching."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pcneo import minimal_p_cohesion, plots
from pcneo.basics import progress_bars
from pcneo.basics.frames import SHOWN_ROWS, columns_of, html_table
from pcneo.basics.model import CohesionBatch, Progress
from pcneo.basics.progress_bars import ProgressBars, showing_progress
from pcneo.errors import PcneoError
from pcneo.graph import as_graph, graph_from_rows
from pcneo.search import search_all
from pcneo.search.tally import Summary


@pytest.fixture(scope="module")
def batch() -> CohesionBatch:
    return search_all(as_graph(nx.karate_club_graph()), "0.4")


@pytest.fixture(scope="module")
def named() -> CohesionBatch:
    network = nx.relabel_nodes(nx.karate_club_graph(), {v: f"<member {v:02}>" for v in range(34)})
    return search_all(as_graph(network), "0.4")


def test_cohesions_become_a_data_frame(batch: Any, named: Any) -> None:
    pytest.importorskip("pandas")
    for some in (batch, named):
        frame = some.to_pandas()
        assert list(frame.columns) == ["vertex", "size", "edges", "density", "proven", "best", "members"]
        cohesions = list(some.cohesions())
        assert frame["vertex"].tolist() == [cohesion.vertex for cohesion in cohesions]
        assert [tuple(row) for row in frame["members"]] == [cohesion.members for cohesion in cohesions]
        assert frame["density"].tolist() == pytest.approx([cohesion.density for cohesion in cohesions])
    frame = batch.memberships().to_pandas()
    assert list(zip(frame["vertex"], frame["member"], strict=True)) == [
        (cohesion.vertex, member) for cohesion in batch.cohesions() for member in cohesion.members
    ]


def test_polars_takes_cohesions_and_memberships_as_they_are(batch: Any, named: Any) -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    for some in (batch, named):
        frame = polars.DataFrame(some)
        assert frame["vertex"].to_list() == [cohesion.vertex for cohesion in some.cohesions()]
        assert frame["members"].to_list() == [list(cohesion.members) for cohesion in some.cohesions()]
        assert polars.DataFrame(some.memberships()).height == len(some.members)


def test_without_pandas_and_pyarrow_the_error_names_the_extra(batch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PcneoError, match="the extra frames"):
        batch.to_pandas()
    with pytest.raises(PcneoError, match="the extra frames"):
        batch.__arrow_c_stream__()


def test_a_notebook_shows_tables_and_runs_nothing_that_a_key_says(batch: Any, named: Any) -> None:
    shown = named._repr_html_()
    assert "34 minimal p-cohesions, p=2/5, search smallest" in shown
    assert "&lt;member 00&gt;" in shown
    assert "<member" not in shown
    assert f"The first {SHOWN_ROWS} rows" in shown
    assert shown.count("<tr>") == SHOWN_ROWS + 1
    (cohesion,) = search_all(as_graph(nx.karate_club_graph()), "0.4", vertices=[0]).cohesions()
    assert "<td" in cohesion._repr_html_()
    assert "\\u202e" in html_table(["a"], [["\u202e"]])


def test_numbers_and_truth_values_of_numpy_are_shown_as_pythons_own(batch: Any) -> None:
    assert html_table(["a", "b"], [[np.int64(7), np.bool_(True)]]) == html_table(["a", "b"], [[7, True]])
    assert "True" not in batch._repr_html_()


def test_a_table_without_rows_has_the_columns_that_are_named() -> None:
    assert columns_of([]) == {}
    assert columns_of([], ("a", "b")) == {"a": [], "b": []}
    assert columns_of([{"b": 1, "a": 2, "c": 3}], ("a", "b")) == {"a": [2], "b": [1]}


def test_one_of_something_is_told_in_the_singular() -> None:
    alone = search_all(graph_from_rows([(1, [])]), "0.4")
    assert alone.caption() == "1 minimal p-cohesion, p=2/5, search smallest: 1 membership"
    assert repr(alone.memberships()) == "1 membership"
    assert Summary.of(alone.sizes, alone.densities).in_words() == "mean size 1, largest 1; 1 membership"
    assert minimal_p_cohesion([(1, 2), (2, 3)], 1, p="0.4").caption() == (
        "Minimal p-cohesion of 1, p=2/5: 2 members, 1 critical connection, density 1.000; 0 other connections. "
        "Within two hops: 3 vertices, 2 connections."
    )
    assert (
        minimal_p_cohesion([(1, 1), (2, 3)], 1, p="0.4").caption().endswith("Within two hops: 1 vertex, 0 connections.")
    )


def test_many_rows_are_not_made_only_to_be_left_out() -> None:
    taken: list[int] = []
    html_table(["n"], ([taken.append(n)] for n in range(10_000)))
    assert len(taken) == SHOWN_ROWS + 1


def test_figures_are_returned_and_show_themselves() -> None:
    pytest.importorskip("matplotlib")
    figure: Any = plots.draw_distributions({"1/2": (np.array([2, 3]), np.array([1.0, 0.5]))}, "density")
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_bars_are_silent_where_nobody_looks_and_tqdms_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    with ProgressBars() as bars:
        bars("search", 1, 2)
    assert capfd.readouterr() == ("", "")
    pytest.importorskip("tqdm")
    monkeypatch.setattr("pcneo.basics.progress_bars._in_notebook", lambda: True)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "tqdm")
    with ProgressBars() as bars:
        bars("search", 1, 2)
        bars("search", 2, 2)
        bars("write", 5, None)
    said = capfd.readouterr().err
    assert "search: 100%" in said
    assert "write: 5it" in said


@showing_progress
def work(progress: Progress | None = None) -> int:
    if progress is not None:
        progress("search", 1, 2)
        progress("search", 2, 2)
    return 7


def test_work_that_takes_long_draws_bars_unasked_but_not_beside_a_callback(
    monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setattr(progress_bars, "PATIENCE", -1.0)
    assert (work(), capfd.readouterr().err) == (7, ""), "nobody looks"
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    assert work() == 7
    assert "search" in stream.getvalue()
    drawn = len(stream.getvalue())
    heard: list[tuple[Any, ...]] = []
    work(progress=lambda *said: heard.append(said))
    assert (len(heard), len(stream.getvalue())) == (2, drawn)
    monkeypatch.setattr(progress_bars, "PATIENCE", 60.0)
    assert (work(), len(stream.getvalue())) == (7, drawn)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_that_ended_shows_for_how_long_it_went_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ProgressBars() as bars:
        bars("writing p=1/2", 5, None)
        bars("writing p=1/2", 5, 5)
        (task,) = bars._bars._progress.tasks  # type: ignore[union-attr]
        ended = task.finished_time
        time.sleep(0.1)
        bars("writing p=1/3", 5, None)
    assert ended is not None
    assert task.finished_time == ended


def test_bars_of_what_is_given_up_stand_still_while_it_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ProgressBars() as bars:
        bars("writing p=1/2", 1_234, None)
        bars("removing what was written", 0, None)
        stood = terminal.getvalue().count("1,234")
        bars("removing what was written", 5, None)
        time.sleep(0.3)  # rich draws ten times a second
    assert terminal.getvalue().count("1,234") == stood > 0
    assert "removing what was written" in terminal.getvalue()


def test_tables_import_nothing_heavy() -> None:
    program = "import sys, pcneo.basics.model; assert not {'pandas', 'pyarrow', 'rich', 'tqdm'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
