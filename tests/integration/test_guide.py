"""The guide is tested: each command, query and program in it runs, in the order in which it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from printed import GUIDE, ROOT, Reader, blocks, command_lines, friends_lines

from pcneo.counting.counted import CountedGraph
from pcneo.graph import graph_from_edges
from pcneo.search import search_all

PAGES = [
    "annotate-your-graph.md",
    "choose-p.md",
    "keep-it-current.md",
    "ask-it.md",
    "release-from-it.md",
    "choose-a-mechanism.md",
    "without-an-owner.md",
    "operate-it.md",
    "beyond-one-machine.md",
    "when-it-fails.md",
    "for-a-lawyer.md",
    "for-agents.md",
    "how-it-compares.md",
]
"""In the order in which they are read; the first makes what the others need."""


def test_the_guide_has_these_pages_in_this_order() -> None:
    index = (GUIDE / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\d+\. \[.+?\]\((.+?)\)", index, re.MULTILINE) == PAGES
    assert {path.name for path in GUIDE.glob("*.md")} == {*PAGES, "README.md"}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.schema("bare" if page == PAGES[0] else "loaded"), id=page) for page in PAGES],
)
def test_all_that_a_page_prints_runs_in_its_order(page: str, reader: Reader) -> None:
    if page != PAGES[0]:
        names = "--node-label Person --relationship-type KNOWS --key id"
        for line in (f"load friends.csv {names}", f"annotate {names} -p 0.3 --graph friends"):
            assert reader.command(*line.split())[0] == 0
    text = (GUIDE / page).read_text(encoding="utf-8")
    reader.follow(text)
    assert len(reader.ran) >= 2
    if page == "choose-p.md":
        assert reader.printed.startswith("Profile: ")
        assert reader.printed == "".join(block for _, block in blocks(text, "text"))
    if page == "ask-it.md":
        assert all(block in reader.printed for _, block in blocks(text, "text"))
    unknown = {kind for kind, _ in blocks(text)} - {"", "sh", "bash", "cypher", "python", "text", "toml"}
    assert not unknown, "a block of a language that nobody runs"


def test_the_file_to_follow_along_with_is_the_demos() -> None:
    tutorial, line = command_lines((GUIDE / "README.md").read_text(encoding="utf-8"))
    assert tutorial == "pcneo demo --notebook tutorial.ipynb"  # which test_tutorial.py runs
    program, option, path, to, name = shlex.split(line)
    assert (program, option, to, name) == ("gzip", "-dc", ">", "friends.csv")
    assert (ROOT / path).read_bytes()[:2] == b"\x1f\x8b"


def test_what_critical_leaves_open_is_as_the_guide_and_the_readme_say() -> None:
    """Of the shipped students; Celegans' graph is not shipped."""
    ends = [tuple(map(int, line.split())) for line in friends_lines()]
    graph = graph_from_edges(sorted({key for pair in ends for key in pair}), *zip(*ends, strict=True))
    table = (GUIDE / "choose-a-mechanism.md").read_text(encoding="utf-8")
    rounded = []
    for p in ("0.1", "0.2", "0.3"):
        shares = []
        for search in ("smallest", "density"):
            inside = CountedGraph(graph, search_all(graph, p, search)).protected().inside
            shares.append(100 * (1 - inside.mean()))
        assert f"| {p} | {shares[0]:.1f} ({shares[1]:.1f}) |" in table
        rounded.append(round(shares[0]))
    said = "With p = 0.1, 0.2 and 0.3 it leaves {}, {} and {} % of the 800 students' connections unprotected"
    assert said.format(*rounded) in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.thorough
def test_the_lines_about_a_local_server_run(
    pcneo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_PASSWORD_FILE", "NEO4J_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PCNEO_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PCNEO_STATE_DIR", str(tmp_path / "state"))
    lines = [line for page in PAGES for line in command_lines((GUIDE / page).read_text()) if "pcneo server" in line]
    assert [shlex.split(line)[2] for line in lines] == ["start", "status", "stop"]
    try:
        for line in lines:
            code, _, said = pcneo(*shlex.split(line)[1:])
            assert code == 0, f"{line}\n{said}"
    finally:
        pcneo("server", "stop")
