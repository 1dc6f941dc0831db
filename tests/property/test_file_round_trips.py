"""Random graphs, written in each format and read again."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import examples

from pcneo.graph.files import GraphFile, read_graph_file

INT64 = st.integers(-(2**63), 2**63 - 1)
INTEGER_KEYS = st.one_of(st.integers(-5, 20), INT64)
# What XML and GML can both hold: no control characters, no halves of surrogate pairs.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"]), max_size=12)
WORDS = TEXT.map(str.strip).filter(bool)
SCALARS = {"count": INT64, "weight": st.floats(allow_nan=False, allow_infinity=False), "note": TEXT}
PROPERTIES = st.fixed_dictionaries({}, optional=SCALARS)


@st.composite
def edge_lists(draw: st.DrawFn, keys: st.SearchStrategy) -> list[tuple]:
    pool = draw(st.lists(keys, min_size=1, max_size=12, unique=True))
    return draw(st.lists(st.tuples(st.sampled_from(pool), st.sampled_from(pool)), min_size=1, max_size=40))


@st.composite
def graphs(draw: st.DrawFn, keys: st.SearchStrategy) -> nx.Graph:
    graph = nx.Graph()
    for key in draw(st.lists(keys, min_size=1, max_size=8, unique=True)):
        graph.add_node(key, **draw(PROPERTIES))
    pair = st.tuples(st.sampled_from(list(graph)), st.sampled_from(list(graph)))
    for a, b in draw(st.lists(pair, max_size=12)):
        graph.add_edge(a, b, **draw(PROPERTIES))
    return graph


def read(text: str | bytes, name: str) -> GraphFile:
    data = text.encode() if isinstance(text, str) else text
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return read_graph_file(path)


def check_edges(file: GraphFile, pairs: list[tuple]) -> None:
    proper = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    assert [(a, b) for a, b, _ in file.edges()] == sorted(set(proper))
    assert [key for key, _ in file.vertices()] == sorted({key for pair in pairs for key in pair})
    assert file.self_loops_dropped == len(pairs) - len(proper)
    assert file.parallel_dropped == len(proper) - len(set(proper))


@given(edge_lists(INTEGER_KEYS), st.sampled_from([" ", "\t", ",", " , "]), st.sampled_from(["g.txt", "g.csv.gz"]))
def test_an_edge_list_of_integers_reads_as_written(pairs, separator, name):
    file = read("\n".join(f"{a}{separator}{b}" for a, b in pairs), name)
    assert file.key_kind == "integer"
    check_edges(file, pairs)


@given(edge_lists(WORDS.filter(lambda word: not word.lstrip("-").isdigit())))
def test_a_quoted_comma_edge_list_of_strings_reads_as_written(pairs):
    def quoted(key: str) -> str:
        return '"' + key.replace('"', '""') + '"'

    # A first line of our own keeps a word that begins with #, or two header words, from being the first thing seen.
    file = read("\n".join(["a,b", *(f"{quoted(a)},{quoted(b)}" for a, b in pairs)]), "g.csv")
    assert file.key_kind == "string"
    check_edges(file, [("a", "b"), *pairs])


def check_graph(file: GraphFile, graph: nx.Graph) -> None:
    """Compare keys, edges and all that `PROPERTIES` draws; `label` and `id` are what the formats add themselves."""
    drawn = SCALARS.keys()
    vertices = {key: {k: v for k, v in values.items() if k in drawn} for key, values in file.vertices()}
    edges = {(a, b): {k: v for k, v in values.items() if k in drawn} for a, b, values in file.edges()}
    assert vertices == dict(graph.nodes(data=True))
    assert edges == {(min(a, b), max(a, b)): values for a, b, values in graph.edges(data=True) if a != b}


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf", "g.graphml.gz", "g.gexf.gz"])
@settings(max_examples=examples(40))
@given(graph=st.one_of(graphs(INTEGER_KEYS), graphs(WORDS.map("k{}".format))))
def test_graphml_and_gexf_read_as_networkx_wrote_them(name, graph):
    generate = nx.generate_graphml if "graphml" in name else nx.generate_gexf
    check_graph(read("\n".join(generate(graph)), name), graph)


@settings(max_examples=examples(40))
@given(graph=graphs(WORDS.map("k{}".format)))
def test_gml_reads_as_networkx_wrote_it_by_its_own_ids(graph):
    numbered = nx.convert_node_labels_to_integers(graph)
    # networkx writes an integer beyond 32 bits as a string, for programs that read no larger ones.
    small = {"count": lambda value: value if -(2**31) <= value < 2**31 else str(value)}
    for values in [data for *_, data in (*numbered.nodes(data=True), *numbered.edges(data=True))]:
        values.update({name: small[name](values[name]) for name in small if name in values})
    check_graph(read("\n".join(nx.generate_gml(numbered)), "g.gml"), numbered)
