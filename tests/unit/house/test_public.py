"""The public names, and that asking for help imports nothing heavy."""

from __future__ import annotations

import ast
import copy
import doctest
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest

import pcneo
from pcneo.errors import KeyPropertyError, NotFoundError, ParameterError
from pcneo.privacy.mechanisms import MECHANISMS

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
        "import pcneo; pcneo.P('0.3'), pcneo.Search('0.3'), pcneo.Selection('A')",
        "import pcneo; pcneo.Edge(epsilon=1), pcneo.Critical(k=(3, 4), epsilon=1), pcneo.advise",
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


# --- What every public function takes, and says


OBJECTS = (
    pcneo.Cohesion,
    pcneo.Cohesions,
    pcneo.Db,
    pcneo.GraphHandle,
    pcneo.Run,
    pcneo.aio.AsyncDb,
    pcneo.aio.AsyncGraph,
)
FUNCTIONS: dict[str, Callable[..., object]] = {
    **{name: getattr(pcneo, name) for name in pcneo.__all__ if callable(getattr(pcneo, name))},
    **{
        f"{kind.__name__}.{name}": getattr(kind, name)
        for kind in OBJECTS
        for name, member in inspect.getmembers(kind)
        if inspect.isfunction(member) and not name.startswith("_") and member.__module__ != "pcneo.basics.frames"
    },
    "aio.connect": pcneo.aio.connect,
}
"""Every public function, class, and method of what Python users hold."""
OPEN = {"Run.query", "Run.release", "AsyncDb.ask"}
"""Whose further keywords are those of a query, of `GraphHandle.release`, and of a request."""


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_misspelt_keyword_is_refused_at_once(function: Callable[..., object], request: pytest.FixtureRequest):
    if request.node.callspec.id in OPEN:
        return
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


def test_no_public_name_is_a_rooms_name_but_that_of_a_room_itself():
    """A submodule that loads takes the place of a name: after every room is imported, all names are what they were."""
    rooms = {path.stem for path in Path(pcneo.__file__).parent.iterdir() if path.suffix in ("", ".py")}
    assert set(pcneo.__all__) & rooms == {"aio", "errors"}


def test_every_public_name_has_an_example_that_runs():
    without = [
        name
        for name, function in FUNCTIONS.items()
        if ">>>" not in inspect.cleandoc(function.__doc__ or "") and name not in NO_EXAMPLE
    ]
    assert without == []


NO_EXAMPLE = {
    "AsyncDb.ask", "AsyncDb.close", "AsyncDb.graph", "AsyncGraph.ask", "aio.connect", "AsyncGraph",
    "Cohesion.as_columns", "Cohesion.caption", "Cohesion.to_networkx", "Cohesions.as_columns", "Cohesions.caption",
    "Db.ask", "Db.close", "Db.release_batch", "GraphHandle.annotate_answers", "GraphHandle.attack", "Run.as_columns",
    "Run.remove", "Keeping",
}  # fmt: skip
"""What needs a service, ends something, or is shown in the example of its class."""


def docstrings() -> list[Any]:
    """Every example of the public modules that needs no database."""
    finder = doctest.DocTestFinder()
    modules = [import_module(name) for name in (*MODULES, "pcneo.privacy.foresight", *KINDS)]
    return [test for module in modules for test in finder.find(module) if test.examples]


KINDS = tuple(f"pcneo.privacy.mechanisms.{name}" for name in MECHANISMS)
MODULES = (
    "pcneo.annotate.profiling",
    "pcneo.basics.searches",
    "pcneo.basics.selection",
    "pcneo.basics.progress_bars",
    "pcneo.face.many_cohesions",
    "pcneo.face.one_cohesion",
    "pcneo.graph.given",
    "pcneo.release.public_file",
    "pcneo.stored.queries",
)


@pytest.mark.parametrize("example", docstrings(), ids=lambda example: example.name)
def test_an_example_in_a_docstring_runs_as_it_stands(example: doctest.DocTest, tmp_path: Path, monkeypatch: Any):
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=told.append)
    assert not failed, "".join(told)


# --- A graph, however it is given


LES = nx.relabel_nodes(nx.karate_club_graph(), {v: f"member {v:02}" for v in range(34)})


def columns(network: nx.Graph[Any]) -> dict[str, Any]:
    pairs = list(network.edges())
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    sources, targets = zip(*pairs, strict=True)
    return {
        "networkx": network,
        "pairs": pairs,
        "arrays of pairs": [np.array(pair, dtype=object) for pair in pairs],
        "keys and ends": (list(network), sources, targets),
        "numpy": (np.array(list(network)), np.array(sources), np.array(targets)),
        "pandas": pandas.DataFrame({"source": sources, "target": targets, "weight": 1.0}),
        "two columns": pandas.DataFrame({"a": sources, "b": targets}),
        "polars": polars.DataFrame({"source": sources, "target": targets}),
        "pcneo": pcneo.as_graph(network),
    }


@pytest.mark.parametrize("way", columns(LES))
def test_a_graph_is_the_same_however_it_is_given(way: str):
    graph, expected = pcneo.as_graph(columns(LES)[way]), pcneo.as_graph(LES)
    assert graph.keys.tolist() == expected.keys.tolist()
    assert (graph.offsets == expected.offsets).all()
    assert (graph.neighbours == expected.neighbours).all()


def test_a_sparse_matrix_is_a_graph_whose_keys_are_its_positions():
    network = nx.karate_club_graph()
    rows, cols = np.array([*network.edges(), (0, 33)]).T  # the last has no entry but a stored zero
    entries = SimpleNamespace(row=rows, col=cols, data=np.array([1.0] * network.number_of_edges() + [0.0]))
    matrix = SimpleNamespace(shape=(34, 34), tocoo=lambda: entries)  # what scipy.sparse has, which no extra brings
    graph, expected = pcneo.as_graph(matrix), pcneo.as_graph(network)
    with pytest.raises(TypeError, match="This matrix has 2 rows and 3 columns"):
        pcneo.as_graph(SimpleNamespace(shape=(2, 3), tocoo=lambda: entries))
    assert (graph.keys.tolist(), graph.neighbours.tolist()) == (expected.keys.tolist(), expected.neighbours.tolist())


@pytest.mark.parametrize(
    ("graph", "error"),
    [
        ("graph.csv", TypeError),
        (None, TypeError),
        (7, TypeError),
        ([(1, 2, 3)], TypeError),
        (["ab"], TypeError),
        ([([], 2)], TypeError),
        ([(1.0, 2.0)], KeyPropertyError),
        ([(True, 2)], KeyPropertyError),
        ([(np.float32(1), 2)], KeyPropertyError),
        ([(1, "2")], KeyPropertyError),
        (([1, 1], [1], [1]), KeyPropertyError),
    ],
)
def test_what_is_not_a_graph_is_refused_with_a_sentence(graph: Any, error: type[Exception]):
    with pytest.raises(error, match=r"Pass a graph|keys must be integers or strings|two kinds|shared by several"):
        pcneo.minimal_p_cohesions(graph, "0.4")


def test_what_was_meant_is_said_where_no_graph_is_given():
    with pytest.raises(TypeError, match=r"This is a str; to read a file use networkx\.read_edgelist or db\.load\."):
        pcneo.profile("friends.csv")
    handle = pcneo.GraphHandle("friends", db=None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"This is a graph in a database, which has its own methods.* \.stats\("):
        pcneo.profile(handle)
    with pytest.raises(KeyPropertyError, match=r"make all of them integers, or all strings .*relabel_nodes\(G, str\)"):
        pcneo.as_graph(nx.Graph([(1, "a")]))


def test_a_frame_whose_ends_are_of_one_name_is_refused_and_other_columns_may_be():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"This frame has several columns of the same name: a\."):
        pcneo.as_graph(pandas.DataFrame([[1, 2], [2, 3]], columns=["a", "a"]))
    with pytest.raises(TypeError, match=r"several columns of the same name: source\."):
        pcneo.as_graph(pandas.DataFrame([[1, 2, 3]], columns=["source", "target", "source"]))
    weighed = pandas.DataFrame([[1, 2, 0.5, 0.5]], columns=["source", "target", "weight", "weight"])
    assert pcneo.as_graph(weighed).edge_count == 1


def test_what_is_no_key_is_no_member_though_it_equals_one():
    cohesion: Any = pcneo.minimal_p_cohesion([(1, 2), (2, 3)], 1, p="0.4")
    assert (1 in cohesion, np.int64(1) in cohesion) == (True, True)
    assert [key in cohesion for key in (True, 1.0, "1", None, [1])] == [False] * 5


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_tuple_of_edges_is_a_list_of_edges_however_many_they_are(count: int):
    edges = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"))[:count]
    assert pcneo.as_graph(edges).edge_count == count
    assert pcneo.as_graph(([1, 2, 3], (1, 2), (2, 3))).edge_count == 2  # keys and ends


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_row_of_a_frame_without_a_key_is_named(missing: Any):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [1, 2], "target": [2, missing]})
    for given in (frame, frame.convert_dtypes()):
        with pytest.raises(KeyPropertyError, match=r"Row 1 of the frame, counting from 0, has no 'target'.*dropna"):
            pcneo.as_graph(given)


def test_a_frame_without_two_columns_that_are_ends_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="neither the columns source and target nor just two columns"):
        pcneo.as_graph(pandas.DataFrame({"a": [1], "b": [2], "c": [3]}))


def test_a_frame_of_more_columns_is_taken_as_its_refusal_says():
    frame = pytest.importorskip("pandas").DataFrame({"w": [0.5], "a": [1], "b": [2]})
    advice = r": w, a, b\. Select the two that hold the ends: frame\[\[ONE, OTHER\]\]\.$"
    with pytest.raises(TypeError, match=advice):
        pcneo.as_graph(frame)
    assert pcneo.as_graph(frame[["a", "b"]]).edge_count == 1


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize(("end", "name"), [(0, "first"), (1, "second")])
def test_a_pair_without_a_key_is_named(missing: Any, end: int, name: str):
    pair: list[Any] = [2, 2]
    pair[end] = missing
    with pytest.raises(KeyPropertyError, match=rf"^Row 1 of the list, counting from 0, has no {name} key\."):
        pcneo.as_graph([(1, 2), tuple(pair)])


def test_a_frame_of_two_kinds_of_keys_is_taken_as_its_refusal_says():
    frame = pytest.importorskip("pandas").DataFrame({"source": [1, 2], "target": ["a", "b"]})
    with pytest.raises(KeyPropertyError, match=r"two kinds.*in pandas: frame\.astype\(str\)"):
        pcneo.as_graph(frame)
    assert pcneo.as_graph(frame.astype(str)).keys.tolist() == ["1", "2", "a", "b"]


def test_how_a_matrix_of_numpy_becomes_a_graph_is_said():
    with pytest.raises(TypeError, match=r"wrap it in scipy\.sparse\.csr_array\(\.\.\.\) if it is a matrix"):
        pcneo.as_graph(np.array([[0, 1], [1, 0]]))


def test_edges_that_are_not_pairs_are_taken_as_their_refusal_says():
    weighted = [(1, 2, 0.5), (2, 3, 0.5)]
    with pytest.raises(TypeError, match=r"not \(1, 2, 0\.5\)\. .*: \[edge\[:2\] for edge in edges\]\.$"):
        pcneo.as_graph(weighted)
    assert pcneo.as_graph([edge[:2] for edge in weighted]).edge_count == 2
    columns = np.array([[1, 2], [2, 3], [3, 1]])
    with pytest.raises(TypeError, match=r"if each row is an edge, pass array\.tolist\(\)\.$"):
        pcneo.as_graph(columns)
    assert pcneo.as_graph(columns.tolist()).edge_count == 3
    with pytest.raises(TypeError, match=r"to read a file use networkx\.read_edgelist or db\.load\.$"):
        pcneo.as_graph(Path("edges.csv"))


@pytest.mark.parametrize("graph", [nx.grid_graph([2, 2]), nx.Graph([(0.5, 1.5)])], ids=["tuples", "floats"])
def test_keys_of_other_kinds_are_numbered_as_their_refusal_says(graph: Any):
    with pytest.raises(KeyPropertyError, match=r"in networkx: nx\.convert_node_labels_to_integers\(G\)"):
        pcneo.as_graph(graph)
    assert pcneo.as_graph(nx.convert_node_labels_to_integers(graph)).edge_count == graph.number_of_edges()


def test_keys_that_are_whole_floats_keep_their_numbers_by_what_their_refusal_says():
    graph = nx.Graph([(1.0, 2.0)])
    with pytest.raises(KeyPropertyError, match=r"if all are whole numbers: nx\.relabel_nodes\(G, int\)"):
        pcneo.as_graph(graph)
    assert pcneo.as_graph(nx.relabel_nodes(graph, cast("Any", int))).keys.tolist() == [1, 2]


@pytest.mark.parametrize("as_given", [lambda graph: graph, pcneo.as_graph], ids=["networkx", "arrays"])
def test_a_single_vertex_that_is_not_there_is_helped_as_several_are(as_given: Any):
    teams = as_given(nx.Graph([("team0-03", "team0-04"), ("team2-99", "team0-03")]))
    for key, says in [
        ("team0-3", "There is no vertex 'team0-3' in the graph. Did you mean team0-03?"),
        ("team9", "There is no vertex 'team9' in the graph."),
        (3, "There is no vertex 3 in the graph; keys of this graph are text."),
    ]:
        with pytest.raises(NotFoundError) as refused:
            pcneo.minimal_p_cohesion(teams, key, "0.3")
        assert str(refused.value) == says


# --- Cohesions by key


def test_vertices_are_keys_whatever_the_graph_is_given_as():
    """In 0.2.0 they were positions for arrays: of vertices 5 to 14, 7 was the cohesion of 12."""
    network = nx.relabel_nodes(nx.karate_club_graph(), {v: v + 5 for v in range(34)})
    for graph in (network, pcneo.as_graph(network)):
        batch = pcneo.minimal_p_cohesions(graph, "0.4", vertices=[np.int64(7)])  # pyright: ignore[reportArgumentType]
        assert batch.keys() == [7]
        assert batch[7] == pcneo.minimal_p_cohesion(graph, 7, "0.4") == pcneo.minimal_p_cohesions(network, "0.4")[7]


def test_a_container_has_what_a_search_found_and_says_what_it_is():
    batch = pcneo.minimal_p_cohesions(LES, "0.4")
    found = {cohesion.vertex: cohesion for cohesion in batch}
    assert list(found) == batch.keys() == sorted(LES)
    assert [len(cohesion) for cohesion in batch] == batch.sizes.tolist()
    assert len(repr(batch).splitlines()) == 2
    for key, cohesion in found.items():
        inside = LES.subgraph(cohesion.members)
        assert key in cohesion
        assert {frozenset(pair) for pair in cohesion.connections} == {frozenset(pair) for pair in inside.edges()}
        assert cohesion.edges == len(cohesion.connections)
        assert set(cohesion.others) == set(LES[key]) - set(cohesion.members)
        assert len(repr(cohesion).splitlines()) == 1
    assert batch.to_pandas()["members"].map(len).tolist() == batch.sizes.tolist()
    assert batch.to_arrow().num_rows == len(batch)


@pytest.mark.parametrize("key", [True, 1.0, np.float32(1), None, (1,), [1]])
def test_what_is_not_a_key_is_a_type_error_and_never_in(key: Any):
    batch = pcneo.minimal_p_cohesions([(1, 2), (2, 3)], "1/2")
    assert key not in batch
    with pytest.raises(TypeError, match=r"a key must be an integer or text, not .*which is"):
        batch[key]
    with pytest.raises(TypeError, match="a key must be an integer or text"):
        pcneo.minimal_p_cohesion([(1, 2)], key, "1/2")


def test_a_missing_key_is_a_key_error_with_a_sentence():
    batch = pcneo.minimal_p_cohesions([(1, 2), (2, 3)], "1/2")
    with pytest.raises(KeyError) as raised:
        batch[7]
    assert str(raised.value) == "There is no cohesion of 7 here."
    with pytest.raises(TypeError, match=r"by key, not by position; head\(3\)"):
        batch[:3]  # pyright: ignore[reportArgumentType]
    assert batch.get(7) is None
    with pytest.raises(KeyError) as raised:
        pcneo.minimal_p_cohesions(nx.les_miserables_graph(), "0.3")["Valjan"]
    assert str(raised.value) == "There is no cohesion of 'Valjan' here. Did you mean Valjean?"
    with pytest.raises(NotFoundError, match=r"no vertex 'Valjan' in the graph\. Did you mean Valjean\?"):
        pcneo.minimal_p_cohesions(nx.les_miserables_graph(), "0.3", vertices="Valjan")
    without = r"Did you mean the integer 1, without quotes\?"
    with pytest.raises(NotFoundError, match=rf"no vertex '1' in the graph\. {without}"):
        pcneo.minimal_p_cohesions([(1, 2)], "0.3", vertices="1")
    with pytest.raises(KeyError, match=rf"^There is no cohesion of '1' here\. {without}$"):
        batch["1"]
    for way in (lambda: pcneo.minimal_p_cohesions([(1, 2)], "1/2", vertices=7), lambda: batch.to_networkx(7)):
        with pytest.raises(NotFoundError, match="7"):
            way()


def test_a_container_yields_cohesions_and_its_items_the_keys_beside_them():
    batch = pcneo.minimal_p_cohesions([(1, 2), (2, 3)], "1/2")
    assert list(batch.items()) == [(1, batch[1]), (2, batch[2]), (3, batch[3])]
    assert [cohesion.vertex for cohesion in batch] == batch.keys() == [1, 2, 3]


def test_what_two_searches_found_is_equal_where_it_is_the_same():
    club = nx.karate_club_graph()
    batch = pcneo.minimal_p_cohesions(club, p="0.4")
    assert batch == pcneo.minimal_p_cohesions(club, p="2/5") == copy.deepcopy(batch)
    assert batch != pcneo.minimal_p_cohesions(club, p="0.4", vertices=[11])
    assert batch != pcneo.minimal_p_cohesions(club, p="0.3")
    assert batch != list(batch)


def test_iterating_a_cohesion_yields_its_members_in_their_order():
    cohesion = pcneo.minimal_p_cohesion(LES, "member 11", "0.4")
    assert tuple(cohesion) == cohesion.members
    assert len(list(cohesion)) == len(cohesion)
    assert all(key in cohesion for key in cohesion)


def test_a_cohesion_says_of_others_what_the_command_line_says():
    """In 0.2.0 one of several was called the smallest there is."""
    ring = nx.cycle_graph(4)
    said = {search: repr(pcneo.minimal_p_cohesion(ring, 0, "1/2", search)) for search in ("smallest", "density")}
    assert said["smallest"].endswith("search smallest; no smaller one exists")
    assert said["density"].endswith("search density; a smaller one may exist")
    club = pcneo.minimal_p_cohesions(nx.karate_club_graph(), "0.4")
    one_of_several = [cohesion for cohesion in club if cohesion.proven and not cohesion.best]
    assert one_of_several
    for cohesion in one_of_several:
        assert repr(cohesion).endswith("search smallest; no smaller one exists, but one of this size may rank higher")


def test_a_cohesion_is_a_value_that_can_be_pickled_and_holds_no_graph():
    cohesion = pcneo.minimal_p_cohesion(LES, "member 11", "0.4")
    seen = pickle.loads(pickle.dumps(cohesion))  # noqa: S301 - it was pickled here
    assert (seen, hash(seen), repr(seen)) == (cohesion, hash(cohesion), repr(cohesion))
    with pytest.raises(ValueError, match="not looked up before it was pickled"):
        _ = seen.connections
    assert seen._repr_svg_() is None
    for copied in (copy.copy(cohesion), copy.deepcopy(cohesion)):
        assert copied.connections == cohesion.connections
    _ = cohesion.connections
    assert pickle.loads(pickle.dumps(cohesion)).connections == cohesion.connections  # noqa: S301


def test_a_cohesion_draws_itself_in_a_notebook():
    assert (pcneo.minimal_p_cohesion(LES, "member 11", "0.4")._repr_svg_() or "").startswith("<?xml")


# --- Mechanisms


def test_mechanisms_are_values():
    assert pcneo.Critical(k=[3, 4], epsilon=1) == pcneo.Critical(k=(3, 4), epsilon="1.0")
    assert len({pcneo.Edge(epsilon=0.5), pcneo.Edge(epsilon="1/2"), pcneo.Total(epsilon="1/2")}) == 2
    assert pickle.loads(pickle.dumps(pcneo.Elv(epsilon=1, h=2))) == pcneo.Elv(epsilon=1, h=2)  # noqa: S301


@pytest.mark.parametrize(
    "make",
    [
        lambda: pcneo.Critical(epsilon=0),
        lambda: pcneo.Critical(k=5, epsilon=1),
        lambda: pcneo.Edge(epsilon=1, epsilon_1=2),
        lambda: pcneo.Edge(epsilon=1, delta=1),
        lambda: pcneo.Edge(epsilon=1, k=(3, 3)),
        lambda: pcneo.Edge(epsilon=1, k=()),
        lambda: pcneo.Edge(epsilon=1, k=2),
        lambda: pcneo.Elv(epsilon=1, h=-1),
        lambda: pcneo.Respond(epsilon=1, large=3),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_mechanism_is_refused_when_it_is_made(make: Callable[[], object]):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize("name", MECHANISMS)
def test_each_mechanism_of_the_registry_is_public_and_is_made_of_what_it_has(name: str):
    kind = getattr(pcneo, name.capitalize())
    assert kind is MECHANISMS[name]
    for foreign in {"delta", "epsilon_1", "h", "large", "clip", "smooth"} - kind.parameter_names():
        with pytest.raises((TypeError, ParameterError), match=foreign.replace("_", ".")):
            kind(epsilon=1, **{foreign: True if foreign in ("large", "clip", "smooth") else 1})


def test_what_a_mechanism_leaves_open_is_filled_in_for_a_graph():
    open_one = pcneo.Elv(epsilon=1)
    assert (open_one.delta, open_one.epsilon_1, open_one.h) == (None, None, None)
    made = open_one.on(2)
    assert (made.delta, made.epsilon_1, made.h, made.n) == (Fraction(1, 10**6), Fraction(1, 10), 2, 2)
    assert made == pcneo.Elv(epsilon=1, n=2) != open_one
    assert [one.k for one in pcneo.Edge(k=(3, 4), epsilon=1).of_each_k()] == [3, 4]
    with pytest.raises(ParameterError, match="one k"):
        pcneo.Edge(k=(3, 4), epsilon=1).on(9)
