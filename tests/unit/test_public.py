"""The public names, and that asking for help imports nothing heavy."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pcneo
from pcneo.errors import NotFoundError, ParameterError

HEAVY = ("matplotlib", "networkx", "neo4j", "numba", "opendp")


STUB = ast.parse(Path(pcneo.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
HOMES = {
    alias.name: f"pcneo.{statement.module}" if statement.module else "pcneo"
    for statement in STUB.body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
}
"""Each public name, and the module that `pcneo/__init__.pyi` imports it from."""


def test_the_public_names_are_those_that_the_stub_lists_sorted():
    (listed,) = (ast.literal_eval(statement.value) for statement in STUB.body if isinstance(statement, ast.Assign))
    assert pcneo.__all__ == listed == sorted(HOMES)


@pytest.mark.parametrize("name", pcneo.__all__)
def test_every_public_name_is_what_the_module_that_it_comes_from_calls_so(name):
    home = import_module(HOMES[name])
    # `from . import errors` imports the submodule of that name.
    expected = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
    assert getattr(pcneo, name) is expected


def test_a_star_import_gives_the_public_names():
    names: dict[str, object] = {}
    exec("from pcneo import *", names)  # noqa: S102  a star import is allowed at a module's top level only
    assert set(names) - {"__builtins__"} == set(pcneo.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(pcneo, "nonsense")  # noqa: B009  the attribute access is what is tested


@pytest.mark.parametrize(
    "program",
    [
        "import pcneo",
        "import pcneo, pcneo.errors, pcneo.basics.model, pcneo.basics.config",
        "from pcneo.cli import app; app(['--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['annotate', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['release', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['audit', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['party', 'collect', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['--version'], prog_name='pcneo')",
    ],
)
def test_nothing_heavy_is_imported_for(program):
    watched = f"""
import sys
try:
    {program}
except SystemExit as end:
    assert not end.code, end.code
print("imported", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", watched], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["imported"]
    assert not done.stderr


@pytest.mark.parametrize("later", ["", "import pandas, pyarrow; assert pyarrow.lib._pandas_api.have_pandas"])
def test_a_command_imports_the_driver_without_pandas_which_may_be_imported_later(tmp_path, later):
    watched = f"""
import sys
from pcneo.cli.main import main
sys.argv[1:] = ["server", "status"]
try:
    main()
except SystemExit:
    {later or "pass"}
    print(*(name in sys.modules for name in ("neo4j", "pandas")))
"""
    folders = {"PCNEO_DATA_DIR": str(tmp_path), "PCNEO_STATE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", watched], capture_output=True, text=True, check=True, env={**os.environ, **folders}
    )
    assert done.stdout.splitlines()[-1] == f"True {bool(later)}"


# --- What every public function takes


PUBLIC_MODULES = (pcneo.annotate, pcneo.audit, pcneo.budget, pcneo.plots, pcneo.release)


FUNCTIONS: dict[str, Callable[..., object]] = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (pcneo, *PUBLIC_MODULES)
    for name in module.__all__
    if callable(getattr(module, name)) and getattr(module, name) is not pcneo.annotate.Configuration
}
"""Every public function and class but `Configuration`, a dictionary. Of errors, which carry their data as keywords of
any name, only the module is public."""


def test_the_public_functions_are_among_those_that_are_tested():
    functions = set(FUNCTIONS.values())
    assert {pcneo.load, pcneo.annotate.write, pcneo.release.release, pcneo.budget.set_total} <= functions
    assert {pcneo.Selection, pcneo.plots.new_figure, pcneo.audit.audit} <= functions


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_misspelt_keyword_is_refused_at_once(function: Callable[..., object]):
    required = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    keywords = {parameter.name: None for parameter in required if parameter.kind is parameter.KEYWORD_ONLY}
    positional = [None for parameter in required if parameter.kind is not parameter.KEYWORD_ONLY]
    with pytest.raises(TypeError, match="unexpected keyword argument 'chekc'"):
        function(*positional, **keywords, chekc=True)


def test_a_graph_is_ours_or_networkxs():
    network = nx.relabel_nodes(nx.karate_club_graph(), {v: f"member {v:02}" for v in range(34)})
    graph = pcneo.graph_from_networkx(network)
    batch, same = pcneo.minimal_p_cohesions(graph, "0.4"), pcneo.minimal_p_cohesions(network, "0.4")
    assert list(same.cohesions()) == list(batch.cohesions())
    named = pcneo.minimal_p_cohesions(network, "0.4", vertices=["member 20", "member 03"])
    assert list(named.cohesions()) == [c for c in batch.cohesions() if c.vertex in ("member 03", "member 20")]
    single = pcneo.minimal_p_cohesion(network, "member 20", "0.4")
    assert single == pcneo.minimal_p_cohesion(graph, "member 20", "0.4") == list(named.cohesions())[1]
    for cohesions in (batch, single):
        ours, theirs = pcneo.to_networkx(cohesions, graph), pcneo.to_networkx(cohesions, network)
        assert nx.utils.graphs_equal(ours, theirs)
        assert ours.number_of_edges() > 0


def test_a_vertex_that_the_graph_does_not_have_is_named():
    network = nx.path_graph(3)
    with pytest.raises(NotFoundError, match="no vertex 7"):
        pcneo.minimal_p_cohesions(network, "0.4", vertices=[1, 7])
    for graph in (network, pcneo.graph_from_networkx(network)):
        with pytest.raises(NotFoundError, match="no vertex 7"):
            pcneo.minimal_p_cohesion(graph, 7, "0.4")


@pytest.mark.parametrize("graph", [[(1, 2)], "graph.csv", None])
def test_what_is_no_graph_is_a_type_error(graph: Any):
    with pytest.raises(TypeError, match="networkx graph is needed, not"):
        pcneo.minimal_p_cohesions(graph, "0.4")
    with pytest.raises(TypeError, match="networkx graph is needed, not"):
        pcneo.graph_from_networkx(graph)


@pytest.mark.parametrize("as_path", [str, Path], ids=["text", "path"])
def test_a_picture_is_written_wherever_a_path_or_its_text_says(as_path: Callable[[str], Any], tmp_path: Path):
    sizes, densities = np.array([2, 3, 5]), np.array([1.0, 1.0, 0.7])
    place = tmp_path / "sizes.svg"
    pcneo.plots.draw_distributions({"1/2": (sizes, densities)}, "density", as_path(str(place)), vertices=3)
    assert place.read_bytes().startswith(b"<?xml")
    with pcneo.plots.new_figure() as (figure, _):
        pcneo.plots.save_figure(figure, as_path(str(tmp_path / "empty.png")))
    assert (tmp_path / "empty.png").exists()
    with pytest.raises(ParameterError, match="ends in"):
        pcneo.plots.check_picture(as_path("picture.txt"))


@pytest.mark.parametrize("as_path", [str, Path], ids=["text", "path"])
def test_files_are_read_and_refused_alike_by_path_and_by_text(as_path: Callable[[str], Any], tmp_path: Path):
    batch = tmp_path / "batch.csv"
    batch.write_text("to,epsilon,mechanism\ncounts.csv,1,edge\n", encoding="utf-8")
    (request,) = pcneo.release.read_batch(as_path(str(batch)))
    same = pcneo.release.ReleaseRequest(to=as_path("counts.csv"), mechanism="edge", epsilon="1")
    assert same.public == request.public == Path("counts.csv")
    assert same.reports == request.reports == (Path("counts.owner.md"), Path("counts.owner.json"))
    named = pcneo.release.ReleaseRequest(to="counts.csv", report=as_path("mine.md"))
    assert named.reports == (Path("mine.md"), Path("mine.json"))
    nowhere: Any = None
    with pytest.raises(ParameterError, match="an export's name ends in"):
        pcneo.export(nowhere, what="latest", path=as_path("run.txt"))
    with pytest.raises(ParameterError, match="picture's name ends in"):
        pcneo.annotate.stats(nowhere, p="0.3", plot=as_path("sizes.txt"))
