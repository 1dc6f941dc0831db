"""`scripts/evaluate` as a person meets it, and the report that the project keeps."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import pytest
from evaluation.command_line import as_called, make
from evaluation.datasets import DATASETS
from evaluation.kept_report import KEPT_REPORT, keep_report
from evaluation.producing import TARGETS
from places import ROOT

from pcneo.errors import NotFoundError

PATH = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
Run = Callable[..., tuple[object, str, str]]
HEAVY = ("matplotlib", "neo4j", "networkx", "numba", "opendp")


def run_program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=PATH, timeout=120, check=False)


@pytest.mark.parametrize("command", [[], ["make"], ["graphs"], ["keep"], ["beside"]])
def test_help_has_a_usage_and_an_example(command: list[str], evaluate: Run) -> None:
    code, shown, _ = evaluate(*command, "--help")
    assert code == 0
    assert "Usage: scripts/evaluate" in shown
    assert "Example: scripts/evaluate" in shown


def test_the_module_is_a_program() -> None:
    done = run_program("-m", "evaluation", "--help")
    assert (done.returncode, "Usage: scripts/evaluate" in done.stdout, done.stderr) == (0, True, "")


def test_the_help_names_every_figure() -> None:
    (figure,) = get_type_hints(make, include_extras=True)["figure"].__metadata__
    named = figure.help.removeprefix("What to make: ").removesuffix(".").replace("or ", "").split(", ")
    assert named == list(TARGETS)


def test_nothing_heavy_is_imported_for_help() -> None:
    done = run_program(
        "-c",
        "import sys\n"
        "from evaluation.command_line import app\n"
        "try:\n    app(['make', '--help'], prog_name='scripts/evaluate')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('imported', *(name for name in {HEAVY!r} if name in sys.modules))",
    )
    assert done.stdout.splitlines()[-1].split() == ["imported"]
    assert not done.stderr


def test_an_error_is_one_line_and_has_its_exit_code(tmp_path: Path, evaluate: Run) -> None:
    to = ["--to", str(tmp_path / "to")]
    wrong: dict[str, tuple[int, list[str]]] = {
        "no figure 'nonsense'": (2, ["make", "nonsense", *to]),
        "no figure 'graph'": (2, ["graph", *to]),
        "--graphs": (2, ["make", "datasets", *to]),
        "Celegans=NAME": (2, ["--stored", "Celegans", "datasets", *to]),
        "is no folder": (2, ["make", "datasets", "--graphs", str(tmp_path / "none"), *to]),
        "has none of": (4, ["make", "datasets", "--graphs", str(tmp_path), *to]),
        "has no report.md": (4, ["keep", str(tmp_path)]),
    }
    for words, (expected, arguments) in wrong.items():
        code, output, errors = evaluate(*arguments)
        assert (code, output) == (expected, ""), words
        (line,) = errors.splitlines()
        assert line.startswith("scripts/evaluate: ")
        assert words in line


@pytest.mark.long
def test_an_interruption_leaves_with_130() -> None:
    done = run_program(
        "-c",
        "import os, signal, sys, time\n"
        "import evaluation.datasets\n"
        "from evaluation.command_line import app\n"
        "from pcneo.cli.main import run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def interrupted(folder):\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\n"
        "evaluation.datasets.find_files = interrupted\n"
        "sys.argv = ['scripts/evaluate', 'graphs', 'folder']\n"
        "run(app, 'scripts/evaluate')",
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_graphs_names_their_publishers_and_says_which_a_folder_has(tmp_path: Path, evaluate: Run) -> None:
    code, listed, _ = evaluate("graphs")
    assert code == 0
    assert all(dataset.file in listed and dataset.source in listed for dataset in DATASETS)
    (tmp_path / "celegans_metabolic.txt").write_text("1 2\n2 3\n")
    code, checked, _ = evaluate("graphs", str(tmp_path))
    assert code == 1
    first, *others = checked.splitlines()
    assert "is not Celegans" in first
    assert [line.split()[0] for line in others] == [dataset.name for dataset in DATASETS[1:]]
    assert all("is not there" in line for line in others)


def test_a_report_names_its_command_without_paths_of_the_machine(tmp_path: Path) -> None:
    called = as_called(["all"], tmp_path / "results", tmp_path / "my graphs", None, 0.3)
    assert called == "scripts/evaluate all --graphs 'my graphs' --to results --largest-p 0.3"
    called = as_called(["claims", "losses"], tmp_path / "results", None, ["Celegans=Person/KNOWS/id"], None)
    assert called == "scripts/evaluate claims losses --stored Celegans=Person/KNOWS/id --to results"


def test_a_report_is_kept_with_its_figures_and_the_one_before_stays_until_it_is_whole(tmp_path: Path) -> None:
    kept, results = tmp_path / "evaluation" / "report", tmp_path / "results"
    kept.mkdir(parents=True)
    (kept / "report.md").write_text("before")
    (results / "figures").mkdir(parents=True)
    with pytest.raises(NotFoundError, match=r"no report\.md"):
        keep_report(results, kept)
    (results / "report.md").write_text("![a](figures/a-1.svg)\n")
    with pytest.raises(NotFoundError, match=r"lacks figures/a-1\.svg"):
        keep_report(results, kept)
    assert (kept / "report.md").read_text() == "before"
    (results / "figures" / "a-1.svg").write_text("<svg/>")
    (results / "report.md").write_text("![a](figures/a-1.svg) and [a](figures/a.csv)\n")
    with pytest.raises(NotFoundError, match=r"lacks figures/a\.csv"):
        keep_report(results, kept)
    (results / "figures" / "a.csv").write_text("p\n0.1\n")
    (results / "figures" / "b.svg").write_text("<svg/>")
    expected = [kept / "report.md", kept / "figures" / "a-1.svg", kept / "figures" / "a.csv"]
    assert keep_report(results, kept) == expected
    assert (kept / "report.md").read_text().startswith("![a]")
    assert sorted(path.name for path in (kept / "figures").iterdir()) == ["a-1.svg", "a.csv"]
    assert [path.name for path in kept.parent.iterdir()] == ["report"]


def test_the_readme_says_of_the_claims_what_the_kept_report_says() -> None:
    report = (KEPT_REPORT / "report.md").read_text()
    (tally,) = re.findall(r"^Of \d+ claims .*\.$", report, re.MULTILINE)
    assert tally in " ".join((ROOT / "README.md").read_text().split())
    figures = re.findall(r"\]\((figures/[^)]*)\)", report)
    assert len(figures) > 20
    assert all((KEPT_REPORT / figure).is_file() for figure in figures)


def test_the_kept_report_names_a_command_that_there_is(evaluate: Run) -> None:
    (command,) = re.findall(r"^    (scripts/evaluate .*)$", (KEPT_REPORT / "report.md").read_text(), re.MULTILINE)
    program, target, *arguments = command.split()
    assert (ROOT / program).is_file()
    assert target in TARGETS
    assert evaluate(target, *arguments, "--help")[0] == 0
