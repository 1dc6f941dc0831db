"""The house is kept: names, lengths, docstrings, layers, and a version that three places state."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT, TESTS

from pcneo.basics.config import __version__
from pcneo.face.graph_handle import GraphHandle
from pcneo.face.graph_modes import GraphModes
from pcneo.face.one_cohesion import CohesionsByKey

REFERENCE = ROOT / "pcneo/REFERENCE.md"

ALIKE = {
    # One idea in two neighbouring trees: a reader of one file looks for the other by its name. In `cli` a file is named
    # by its command.
    "answers.py": {"pcneo/counting", "pcneo/kernels"},
    "budget.py": {"pcneo/cli", "pcneo/release"},
    "cliques.py": {"pcneo/counting", "pcneo/kernels"},
    "cohesion.py": {"pcneo/kernels", "pcneo/search"},
    "common_neighbours.py": {"pcneo/counting", "pcneo/kernels"},
    "load.py": {"pcneo/annotate", "pcneo/cli"},
    "queries.py": {"pcneo/cli", "pcneo/stored"},
    "runs.py": {"pcneo/cli", "pcneo/stored"},
    "smallest.py": {"pcneo/kernels", "pcneo/search"},
}
"""Files that may share a name, and the folders they are in."""

NO_ROOMS = {"house", "scripts"}
"""Folders of unit tests that belong to no room: of the project and its tests as a whole, and of what is in scripts/."""

LONG = {
    "pcneo/kernels/cliques.py": "kernels that call each other stay in one file, or numba's cache goes stale",
    "pcneo/kernels/cohesion.py": "kernels that call each other stay in one file, or numba's cache goes stale",
    "pcneo/kernels/smallest.py": "kernels that call each other stay in one file, or numba's cache goes stale",
}
"""Modules of more than 400 lines, and why."""

MOST_PARAMETERS = 8
COMPLETED = "a person in a notebook completes the names, and reads what each is for"
MANY = {
    "pcneo/annotate/profiling.py steadiness": COMPLETED,
    "pcneo/face/connecting.py Db.release_batch": COMPLETED,
    "pcneo/face/graph_handle.py GraphHandle.release": COMPLETED,
    "pcneo/face/graph_modes.py GraphModes.annotate": COMPLETED,
    "pcneo/face/graph_modes.py GraphModes.stats": COMPLETED,
    "pcneo/face/graph_modes.py GraphModes.to_parquet": COMPLETED,
    "pcneo/release/releasing.py release": "values, each with its type, and the ways in which a caller takes part",
}
"""Functions with more parameters, and why. Kernels take arrays, and a command all of its options."""


def modules(*folders: str) -> list[Path]:
    """The Python files of the folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_two_files_are_called_alike_but_where_a_reason_is_given():
    homes: dict[str, set[str]] = defaultdict(set)
    for path in modules("pcneo", "scripts"):
        if path.name not in {"__init__.py", "__main__.py"}:
            homes[path.name].add(place(path.parent))
    assert {name: folders for name, folders in homes.items() if len(folders) > 1} == ALIKE


def test_unit_tests_lie_in_the_folder_of_their_room():
    """What is named after a module or a package lies in its room; other names are for rules that a room keeps."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for path in modules("pcneo"):
        named = path.parent if path.stem == "__init__" else path.with_suffix("")
        if parts := named.relative_to(ROOT / "pcneo").parts:
            rooms[parts[-1]].add(parts[0])
    tests = [path.relative_to(TESTS / "unit") for path in (TESTS / "unit").rglob("test_*.py")]
    assert {len(path.parts) for path in tests} == {2}
    assert {path.parts[0] for path in tests} - set.union(*rooms.values()) == NO_ROOMS
    strays = {
        str(path) for path in tests if path.parts[0] not in rooms.get(path.stem.removeprefix("test_"), path.parts)
    }
    assert strays == set()


def test_no_module_passes_400_lines_but_where_a_reason_is_given():
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules("pcneo", "scripts")}
    assert {name for name, lines in lengths.items() if lines > 400} == set(LONG)


def test_no_function_takes_more_than_eight_parameters_but_where_a_reason_is_given():
    """`self` and `cls` are not counted; `*` and `**` are, once each."""
    many = {
        f"{place(path)} {name}"
        for path in modules("pcneo")
        if not place(path).startswith(("pcneo/cli/", "pcneo/kernels/"))
        for name, function in _functions(path)
        if len(_parameters(function)) > MOST_PARAMETERS
    }
    assert many == set(MANY)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    taken = function.args
    listed = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
    return [parameter.arg for parameter in listed if parameter.arg not in ("self", "cls")]


def test_the_layers_name_every_room_once():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    named = [room for layer in layers for room in re.split(r"\s*[|:]\s*", layer)]
    rooms = [
        path.stem
        for path in (ROOT / "pcneo").iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
    ]
    assert sorted(named) == sorted(rooms)


def test_every_public_name_has_a_docstring():
    bare = [f"{place(path)} {name}" for path in modules("pcneo") for name in _bare(path)]
    assert not bare


def test_arguments_and_errors_are_listed_of_public_names_alone():
    """Elsewhere a sentence has to do; kernels list the arrays that they take, which are their boundary."""
    public = set(
        re.findall(r"^#+ `(?:\w+\.)*?((?:[A-Z]\w*\.)?\w+)`$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    )
    # GraphHandle and Run have these from their bases, which no reader of the reference meets.
    bases = {GraphModes: "GraphHandle", CohesionsByKey: "Run"}
    inherited = {
        f"{base.__name__}.{name}" for base, held in bases.items() for name in vars(base) if f"{held}.{name}" in public
    }
    listed = [
        f"{place(path)} {name}"
        for path in modules("pcneo")
        for name, text in _documented(path)
        if name not in public | inherited
        and re.search(r"^ *(Raises" + ("" if "kernels" in path.parts else "|Args") + "):$", text, re.M)
    ]
    assert listed == []


def test_the_reference_has_every_method_of_a_graph_handle():
    listed = set(re.findall(r"^#### `pcneo\.GraphHandle\.(\w+)`$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name for name in dir(GraphHandle) if not name.startswith("_")} - {"db", "name", "selection"} == listed


def _documented(path: Path) -> Iterator[tuple[str, str]]:
    """Functions, classes, and methods as `Class.method`, each with its docstring."""
    return ((name, ast.get_docstring(node) or "") for name, node in _named(path))


def _functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions, and methods as `Class.method`."""
    return ((name, node) for name, node in _named(path) if not isinstance(node, ast.ClassDef))


def _named(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """Functions, classes, and methods as `Class.method`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for holder in (node for node in ast.walk(tree) if isinstance(node, (*named, ast.Module))):
        for node in holder.body:
            if isinstance(node, named):
                prefix = f"{holder.name}." if isinstance(holder, ast.ClassDef) else ""
                yield prefix + node.name, node


def test_only_faces_of_rooms_list_their_names():
    faces = {"aio.py", "errors.py", "model.py", "__init__.py"}
    listing = [
        place(path) for path in modules("pcneo") if re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), re.M)
    ]
    assert [name for name in listing if Path(name).name not in faces] == []


def _bare(path: Path) -> list[str]:
    """Public classes, functions and methods of a module, and the module itself, that have no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return ["itself"] * (ast.get_docstring(tree) is None) + [
        node.name
        for holder in [tree, *classes]
        for node in holder.body
        if isinstance(node, documented)
        and not node.name.startswith("_")
        and not any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)
        and ast.get_docstring(node) is None
    ]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [("CITATION.cff", r"^version: (\S+)$"), ("CHANGELOG.md", r"^## \[(.+?)\] - \d{4}-\d\d-\d\d$")],
)
def test_the_version_is_the_same_wherever_it_is_said(file: str, pattern: str):
    said = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert said is not None
    assert said[1] == __version__


@pytest.mark.long
def test_the_reference_is_up_to_date_and_leaves_no_argument_out():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "reference", "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_citation_is_as_its_format_wants_it():
    # In an environment of its own: it wants a jsonschema of 2019, which nothing else here can live with.
    tool = [Path(sys.executable).with_name("uv"), "tool", "run", "--quiet", "--from", "cffconvert==2.0.0", "cffconvert"]
    done = subprocess.run([*tool, "--validate"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_gate_checks_types_by_the_environment_it_runs_in_whatever_lies_in_the_project(tmp_path: Path):
    """`scripts/demo` leaves a `.venv` without the tests' packages, which the checker takes unless it is told."""
    line = next(line for line in (ROOT / "scripts/check").read_text().splitlines() if line.startswith("basedpyright"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    (tmp_path / "pyproject.toml").write_text('[tool.basedpyright]\ninclude = ["module.py"]\n')
    (tmp_path / "module.py").write_text("from pytest import fixture as fixture\n")
    checked = subprocess.run(["/bin/bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
