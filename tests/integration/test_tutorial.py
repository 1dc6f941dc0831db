"""The tutorial notebook runs from its first cell to its last, and shows tables and pictures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pcneo.cli.sample import tutorial_path

SERVER = "server"
"""The tag of cells about the machine's own server."""


def written(pcneo: Any, folder: Path) -> Path:
    """The notebook as `pcneo demo --notebook` writes it."""
    path = folder / "tutorial.ipynb"
    code, out, _ = pcneo("demo", "--notebook", path)
    assert code == 0
    assert str(path) in out
    assert path.read_bytes() == tutorial_path().read_bytes()
    return path


def run(path: Path) -> list[dict[str, Any]]:
    """Run it where it lies; the outputs of all cells, in order."""
    nbformat: Any = pytest.importorskip("nbformat")
    nbclient: Any = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    nbformat.write(notebook, path)
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def check(outputs: list[dict[str, Any]]) -> None:
    """Tables, three pictures and what was printed are there."""
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr" and "Warning" in output["text"]]
    shown = [output["data"] for output in outputs if "data" in output]
    assert sum("image/png" in data or "image/svg+xml" in data for data in shown) == 3
    tables = [data["text/html"] for data in shown if "<table>" in data.get("text/html", "")]
    assert len(tables) >= 6
    assert any("friends@3/10" in table for table in tables)
    printed = "".join(output["text"] for output in outputs if output.get("name") == "stdout")
    changed = dict(re.findall(r"^(\d+) had (.*)$", printed, re.MULTILINE))
    assert list(changed) == ["59", "69", "97"], "the text above the cell names two of them"
    assert "spent ε = 3, δ = 0 of ε = 6" in printed
    assert "triangles, with a standard error of about" in printed


def test_the_notebook_that_is_shipped_has_no_outputs_and_is_never_written_over_a_file(
    pcneo: Any, tmp_path: Path
) -> None:
    cells = json.loads(tutorial_path().read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    path = written(pcneo, tmp_path)
    assert pcneo("demo", "--notebook", path)[0] == 2


def test_the_notebook_imports_public_names_alone() -> None:
    assert re.findall(r"(?:from|import) pcneo\.[\w.]*", tutorial_path().read_text(encoding="utf-8")) == []


@pytest.mark.schema("bare")
def test_the_notebook_runs_and_shows_what_it_speaks_of(
    pcneo: Any, server: Any, empty_database: str, tmp_path: Path
) -> None:
    path = written(pcneo, tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first, last = [cell for cell in notebook["cells"] if SERVER in cell["metadata"].get("tags", ())]
    user = (server.username, server.password)
    first["source"] = (
        "from pathlib import Path\nimport pcneo\n"
        f"db = pcneo.connect({server.uri!r}, auth={user!r}, database={empty_database!r})"
    )
    last["source"] = "db.close()"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    check(run(path))


@pytest.mark.thorough
def test_the_notebook_starts_and_stops_a_server_of_its_own(pcneo: Any, tmp_path: Path) -> None:
    check(run(written(pcneo, tmp_path)))
    assert (tmp_path / "pcneo-tutorial" / "neo4j-version").exists()
