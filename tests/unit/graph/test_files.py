from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pcneo.basics import bounded_file as source
from pcneo.errors import FileFormatError, ParameterError
from pcneo.face.first_steps import sample_path
from pcneo.graph.files import GraphFile, edge_list, read_graph_file
from pcneo.graph.files.graph_file import KeysOfLine
from pcneo.graph.files.in_memory import graph_in_memory
from pcneo.graph.files.line_blocks import LONGEST_LINE


@pytest.fixture
def write(tmp_path: Path):
    def write_file(content: str | bytes, name: str = "graph.txt") -> Path:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


def edges(file: GraphFile) -> list[tuple]:
    return [(a, b) for a, b, _ in file.edges()]


def graphml(body: str, keys: str = "") -> str:
    return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}<graph>{body}</graph></graphml>'


# --- edge lists -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "3 1\n1 2\n",
        "3\t1\n1\t2",
        "3,1\n1,2\n",
        "3 , 1\n1,\t2\n",
        "  3 \t 1  \r\n1 2\r\n",
        "3 1\r1 2\r",
        "# a comment\n% another\n\n  \n3 1\n  # a third\n1 2\n",
        "\ufeff3 1\n1 2\n",
        "source target\n3 1\n1 2\n",
        "Source,Target\n3,1\n1,2\n",
        '"3","1"\n1,2\n',
    ],
)
def test_separators_comments_blank_lines_and_line_ends_make_no_difference(write, text):
    file = read_graph_file(write(text))
    assert file.key_kind == "integer"
    assert edges(file) == [(1, 2), (1, 3)]


def test_a_gzipped_edge_list_reads_like_the_plain_one(write):
    assert edges(read_graph_file(write("2 1\n", "g.txt.gz"))) == edges(read_graph_file(write("2 1\n")))


def test_each_pair_comes_once_from_its_smaller_key_and_what_is_dropped_is_counted(write):
    file = read_graph_file(write("9 10\n10 9\n9 10\n7 7\n10 2\n"))
    assert list(file.vertices()) == [(2, {}), (7, {}), (9, {}), (10, {})]
    assert edges(file) == [(2, 10), (9, 10)]
    assert (file.lines, file.self_loops_dropped, file.parallel_dropped) == (5, 1, 2)
    assert (file.vertex_count, file.edge_count) == (4, 2)


@pytest.mark.parametrize(
    "other", ["007", "+1", "-0", "1.0", "x", "9223372036854775808", "-9223372036854775809", "1_0", "١"]
)
def test_one_key_that_is_no_canonical_int64_makes_all_keys_strings(write, other):
    file = read_graph_file(write(f"10 9\n9 {other}\n"))
    assert file.key_kind == "string"
    assert [key for key, _ in file.vertices()] == sorted(["10", "9", other])
    assert ("10", "9") in edges(file)


def test_the_ends_of_int64_are_integers(write):
    file = read_graph_file(write("9223372036854775807 -9223372036854775808\n0 -1\n"))
    assert file.keys.tolist() == [-(2**63), -1, 0, 2**63 - 1]


def test_string_keys_are_ordered_by_code_point(write):
    file = read_graph_file(write("é z\nz \U0001f600\n\U0001f600 \uffee\n"))
    assert file.keys.tolist() == ["z", "é", "\uffee", "\U0001f600"]


def test_columns_after_the_second_are_ignored_and_their_lines_counted(write):
    file = read_graph_file(write("1 2 0.5 77\n2 3\n3 4 {'a': 1, 'b': 2}\n"))
    assert edges(file) == [(1, 2), (2, 3), (3, 4)]
    assert file.lines_with_more_columns == 2


def test_integers_with_a_tab_before_the_weight_are_read_as_two_keys(write):
    assert edges(read_graph_file(write("1 2\t-1 1082040961\n"))) == [(1, 2)]


def test_integers_with_a_decimal_comma_in_the_weight_are_read_by_blanks(write):
    assert edges(read_graph_file(write("1 2 0,5\n"))) == [(1, 2)]


def test_commas_allow_blanks_and_quotes_allow_commas_in_keys(write):
    file = read_graph_file(write('Ann Mary Lee,Bob Ray\n"Lee, Ann", "say ""hi""",3\n'))
    assert edges(file) == [("Ann Mary Lee", "Bob Ray"), ("Lee, Ann", 'say "hi"')]


def test_a_no_break_space_separates_nothing(write):
    assert edges(read_graph_file(write("a\u00a0b c\n"))) == [("a\u00a0b", "c")]


def test_a_header_in_the_usual_words_is_skipped_and_reported(write):
    file = read_graph_file(write("# made by hand\nSource,Target,Weight\nann,bob,1\n"))
    assert edges(file) == [("ann", "bob")]
    assert file.header == "Source,Target,Weight"
    assert file.lines_with_more_columns == 1


def test_header_words_below_the_first_edge_are_keys(write):
    assert ("source", "target") in edges(read_graph_file(write("ann bob\nsource target\n")))


def test_a_first_edge_of_strings_among_strings_is_an_edge(write):
    assert len(edges(read_graph_file(write("person friend\nann bob\n1 2\n")))) == 3


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("# c\nperson_a,person_b\nann,bob\n", KeysOfLine(2, ("person_a", "person_b"))),
        ("ann,bob\nbob,cid\n", None),
        ("ann,bob\ncid,ann\n", None),
        ("ann,ann\ncid,bob\n", None),  # no header names both columns alike
        ("ann,bob\n", None),  # there is no other line
        ("source,target\nann,bob\ncid,bob\n", None),  # one that was left out
        ("1,2\nann,bob\n", None),
    ],
)
def test_a_first_line_of_text_whose_keys_no_other_line_has_is_noted(write, content, found):
    assert read_graph_file(write(content)).possible_header == found


def test_the_first_key_that_is_text_is_known_by_its_line(write):
    assert read_graph_file(write("1 2\n2 3\n3 anna\nbob 1\n")).text_key == KeysOfLine(3, ("anna",))
    assert read_graph_file(write("1 2\n2 3\n")).text_key is None
    gml = 'graph [ node [ id 1 k "1" ] node [ id 2 k "x" ] edge [ source 1 target 2 ] ]'
    assert read_graph_file(write(gml, "graph.gml"), "k").text_key == KeysOfLine(None, ("x",))


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("1 2\n3\n", 2, "only one column"),
        ("1,2\n3 4\n", 2, "a comma, as in the first edge"),
        ("1;2\n", 1, "a space, tab or comma"),
        ("1,2\n,4\n", 2, "empty key in ',4'$"),
        (
            ",source,target\n0,1,2\n",
            1,
            "empty key in ',source,target'; a column .* pandas' index: .* with index=False$",
        ),
        ("\tsource\ttarget\n0\t1\t2\n", 1, "a first column without a name; .* pandas' index: .* with index=False$"),
        ("source,target\n,1,2\n", 2, "empty key in ',1,2'$"),
        ("1,2\n\n3,,4\n", 3, "empty key"),
        ('1,2\n"",4\n', 2, "empty key"),
        ('a,b\n"c,d\n', 2, "quotes"),
        ('a,b\n"c"d,e\n', 2, "quotes"),
        ('a b\n"c d" e\n', 2, "comma or a quote"),
        ("a b\nc, d\n", 2, "comma or a quote"),
        ("a b\nAnn Lee\tBob Ray\n", 2, "tabs and spaces"),
        (b"1 2\n3 \0 4\n", 2, "NUL"),
        ("1 2\n3 4\n".encode("utf-16"), 1, "NUL"),
        (b"a b\nc d\n\xe9t\xe9 d\n", 3, "0xe9 is not UTF-8"),
        ("person_a,person_b\n1,2\n3,4\n", 1, "look like a header"),
        ("# c\nperson_a person_b\n1 2\n", 2, "look like a header"),
        ("a b\nc " + "d" * 2001, 2, "2,000 characters"),
        ("%%MatrixMarket matrix coordinate\n% c\n3 3 1\n1 2\n", 1, "Matrix Market"),
    ],
)
def test_a_bad_line_is_named_by_number(write, content, line, words):
    path = write(content)
    with pytest.raises(FileFormatError, match=words) as caught:
        read_graph_file(path)
    assert caught.value.data == {"path": str(path), "line": line}
    assert str(caught.value).startswith(f"{path}, line {line}: ")


@pytest.mark.parametrize("content", ["", "# nothing\n\n", "source,target\n"])
def test_a_file_without_an_edge_is_refused(write, content):
    with pytest.raises(FileFormatError, match="it has no edges"):
        read_graph_file(write(content))


def test_a_line_number_counts_across_blocks(write, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", 16)
    with pytest.raises(FileFormatError, match="line 101: only one column"):
        read_graph_file(write("12 345\n" * 100 + "x\n"))


@pytest.mark.parametrize("separator", [" ", "\t", ",", " ,\t"])
@pytest.mark.parametrize("more", ["", "{0}0.5", "{0}7{0}x"])
def test_blocks_of_plain_integers_are_read_as_line_by_line(write, monkeypatch, separator, more):
    rng = np.random.default_rng(3)
    pairs = np.concatenate([rng.integers(-50, 50, (400, 2)), rng.integers(-(10**18) + 1, 10**18, (200, 2))]).tolist()
    lines = [f"{a}{separator}{b}{more.format(separator) if i % 3 == 0 else ''}" for i, (a, b) in enumerate(pairs)]
    path = write("\n".join(lines))
    monkeypatch.setattr(source, "BLOCK_BYTES", 256)
    quick = read_graph_file(path)
    monkeypatch.setattr(edge_list._Lines, "plain_pairs", lambda *_: None)
    slow = read_graph_file(path)
    expected = sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})
    assert edges(quick) == edges(slow) == expected
    assert quick.lines == slow.lines == 600
    assert quick.header == slow.header
    assert quick.lines_with_more_columns == slow.lines_with_more_columns == (200 if more else 0)


def test_plain_blocks_are_taken_the_quick_way(write, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", 16)
    slow: list[int] = []
    pairs = edge_list._Lines.pairs
    monkeypatch.setattr(edge_list._Lines, "pairs", lambda *args: slow.append(args[1]) or pairs(*args))
    read_graph_file(write("1 2\n3 4\n" * 100))
    assert slow == [1]


# --- getting at the bytes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.edges", "a.edges.gz"])
def test_a_file_is_read_to_its_limit_and_refused_beyond_it(write, name):
    path = write("1 2\n" * 100, name)
    assert edges(read_graph_file(path, max_bytes=400)) == [(1, 2)]
    unpacked = " unpacked" if name.endswith(".gz") else ""
    with pytest.raises(FileFormatError, match=f"holds more than 0.000381 MiB{unpacked}, the most.*--max-gib"):
        read_graph_file(path, max_bytes=399)


@pytest.mark.parametrize("name", ["a.gml", "a.gml.gz", "a.graphml", "a.gexf.gz"])
def test_other_formats_are_read_to_an_eighth_of_it(write, name):
    path = write("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", name)
    with pytest.raises(FileFormatError, match="holds more than"):
        read_graph_file(path, max_bytes=8 * 63)
    if ".gml" in name:
        assert edges(read_graph_file(path, max_bytes=8 * 64)) == [(1, 2)]


SLOW = [pytest.param(line, marks=pytest.mark.long) for line in (b"1 2\n", b"1\t2 {}\r")]


@pytest.mark.parametrize("line", [b"7", *SLOW, b"\0", b"#", b'"', b" "])
@pytest.mark.parametrize("name", ["bomb.edges.gz", "bomb.gml.gz", "bomb.graphml.gz"])
def test_a_bomb_of_gzip_is_refused_within_little_memory(tmp_path, line, name):
    path = tmp_path / name
    with gzip.open(path, "wb", 9) as file:
        for _ in range(32):
            file.write(line * (2**20 // len(line)))
    assert path.stat().st_size < 300_000
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError) as caught:
            read_graph_file(path, max_bytes=2**21 if len(line) == 1 else 2**19)  # good lines take their time
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20
    if name == "bomb.edges.gz" and line in (b"7", b"#", b'"', b" "):
        assert "line 1: a line of more than 1,048,576 bytes" in str(caught.value)


def test_a_line_that_is_too_long_is_named_by_its_number(write):
    longest = "#" * (LONGEST_LINE - 1)
    assert edges(read_graph_file(write(f"1 2\n{longest}\n2 3\n"))) == [(1, 2), (2, 3)]
    with pytest.raises(FileFormatError, match="line 3: a line of more than"):
        read_graph_file(write(f"1 2\n2 3\n{longest}{longest}{longest}\n2 3\n"))


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 64])
def test_lines_are_cut_right_wherever_blocks_end(write, monkeypatch, end, size):
    monkeypatch.setattr(source, "BLOCK_BYTES", size)
    file = read_graph_file(write(end.join(["1 2", "2 3", "", "# x", "3 11", "4 5"])))
    assert edges(file) == [(1, 2), (2, 3), (3, 11), (4, 5)]
    assert file.lines == 6


def test_too_little_memory_is_one_line(write, monkeypatch):
    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(edge_list.np, "concatenate", none_left)
    with pytest.raises(FileFormatError, match="not enough memory to read it as a graph"):
        read_graph_file(write("1 2\n"))


def test_a_gzip_cut_short_names_the_first_line_that_cannot_be_had(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", 64)
    whole = gzip.compress("".join(f"{i} {i * i}\n" for i in range(20_000)).encode())
    path = tmp_path / "cut.txt.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="cut short") as caught:
        read_graph_file(path)
    line = caught.value.data["line"]
    assert isinstance(line, int)
    assert 1_000 < line < 20_000


@pytest.mark.parametrize("suffix", ["txt", "graphml", "gml", "gexf"])
def test_a_gzip_that_is_cut_short_or_none_is_refused_in_every_format(tmp_path, suffix):
    path = tmp_path / f"g.{suffix}.gz"
    path.write_bytes(gzip.compress(b"1 2\n")[:-6])
    with pytest.raises(FileFormatError, match="cut short"):
        read_graph_file(path)
    path.write_bytes(b"1 2\n")
    with pytest.raises(FileFormatError, match="its name says gzip"):
        read_graph_file(path)


@pytest.mark.parametrize("name", ["absent.txt", "absent.gml", "absent.txt.gz"])
def test_an_absent_file_is_refused(tmp_path, name):
    with pytest.raises(FileFormatError, match="no such file"):
        read_graph_file(tmp_path / name)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="not a regular file"):
        read_graph_file(tmp_path)


def test_the_shipped_graph_is_what_its_readme_says():
    path = sample_path()
    file = read_graph_file(str(path))
    assert (file.vertex_count, file.edge_count, file.key_kind) == (800, 6418, "integer")
    assert (file.self_loops_dropped, file.parallel_dropped) == (0, 0)
    assert "800 vertices, 6,418 edges" in path.with_name("README.md").read_text(encoding="utf-8")


# --- GraphML, GML, GEXF -----------------------------------------------------------------------------------------------

WRITERS = {"graphml": nx.write_graphml, "gml": nx.write_gml, "gexf": nx.write_gexf}


@pytest.fixture(params=[f"{suffix}{gz}" for suffix in WRITERS for gz in ("", ".gz")])
def save(request, tmp_path):
    def save_graph(graph: nx.Graph) -> Path:
        path = tmp_path / f"graph.{request.param}"
        WRITERS[request.param.removesuffix(".gz")](graph, path)
        return path

    return save_graph


def test_scalar_attributes_become_properties_of_vertices_and_edges(save):
    graph = nx.Graph()
    graph.add_node(0, name="Ann 'Á' <&>", age=7, height=1.5)
    graph.add_node(1, name="Bob")
    graph.add_edge(1, 0, since=1999, note="x y")
    file = read_graph_file(save(graph))
    vertices = {key: {k: v for k, v in properties.items() if k != "label"} for key, properties in file.vertices()}
    assert vertices == {0: {"name": "Ann 'Á' <&>", "age": 7, "height": 1.5}, 1: {"name": "Bob"}}
    ((a, b, properties),) = file.edges()
    assert (a, b, properties["since"], properties["note"]) == (0, 1, 1999, "x y")


def test_both_directions_of_a_directed_graph_are_one_edge(save):
    file = read_graph_file(save(nx.DiGraph([(0, 1), (1, 0), (1, 1), (1, 2)])))
    assert edges(file) == [(0, 1), (1, 2)]
    assert (file.self_loops_dropped, file.parallel_dropped) == (1, 1)


def test_parallel_edges_of_a_multigraph_are_one_edge_with_the_properties_of_the_first(save):
    graph = nx.MultiGraph()
    graph.add_edge(0, 1, weight=2.5)
    graph.add_edge(1, 0, weight=3.5)
    file = read_graph_file(save(graph))
    ((_, _, properties),) = file.edges()
    assert properties["weight"] == 2.5
    assert file.parallel_dropped == 1


def test_isolated_vertices_are_kept(save):
    assert list(read_graph_file(save(nx.empty_graph(3))).keys) == [0, 1, 2]


def test_an_attribute_named_as_the_key_holds_the_keys_and_is_no_property(save):
    graph: nx.Graph[Any] = nx.Graph([(0, 1)])
    nx.set_node_attributes(graph, {0: "ann", 1: "bob"}, "name")
    file = read_graph_file(save(graph), key="name")
    assert [key for key, _ in file.vertices()] == ["ann", "bob"]
    assert all("name" not in properties for _, properties in file.vertices())


def test_a_key_named_as_no_attribute_leaves_the_file_s_identifiers(save):
    assert list(read_graph_file(save(nx.path_graph(2)), key="number").keys) == [0, 1]


def test_a_key_attribute_that_some_vertices_lack_is_refused(save):
    graph = nx.Graph([(0, 1)])
    graph.nodes[0]["name"] = "ann"
    with pytest.raises(FileFormatError, match=r"vertex '?1'?, attribute 'name': missing"):
        read_graph_file(save(graph), key="name")


def test_a_key_attribute_that_repeats_is_refused(save):
    graph: nx.Graph[Any] = nx.Graph([(0, 1)])
    nx.set_node_attributes(graph, {0: "ann", 1: "ann"}, "name")
    with pytest.raises(FileFormatError, match=r"the key 'ann' is also that of vertex '?0'?$"):
        read_graph_file(save(graph), key="name")


def test_a_key_attribute_of_floats_is_refused(save):
    graph: nx.Graph[Any] = nx.Graph([(0, 1)])
    nx.set_node_attributes(graph, {0: 0.5, 1: 1.5}, "at")
    with pytest.raises(FileFormatError, match="is not a key"):
        read_graph_file(save(graph), key="at")


def test_a_graph_without_a_vertex_is_refused(save):
    with pytest.raises(FileFormatError, match="it has no vertices"):
        read_graph_file(save(nx.Graph()))


def test_string_identifiers_stay_strings(write):
    file = read_graph_file(write(graphml('<node id="n0"/><node id="7"/><edge source="n0" target="7"/>'), "g.graphml"))
    assert edges(file) == [("7", "n0")]


def test_a_boolean_attribute_stays_one(write):
    keys = '<key id="d" for="node" attr.name="active" attr.type="boolean"/>'
    file = read_graph_file(write(graphml('<node id="1"><data key="d">true</data></node>', keys), "g.graphml"))
    assert list(file.vertices()) == [(1, {"active": True})]


def test_the_label_of_gml_is_a_property_and_its_id_the_key(write):
    file = read_graph_file(write('graph [ node [ id 5 label "Ann" ] node [ id 4 label "Bob" ] ]', "g.gml"))
    assert list(file.vertices()) == [(4, {"label": "Bob"}), (5, {"label": "Ann"})]


def test_a_text_of_gml_may_hold_what_python_takes_for_ends_of_lines(write):
    file = read_graph_file(write('graph [\r\n node [ id 1 label "a\u2028b\x85c" ]\r]\n', "g.gml"))
    assert file.vertex_properties == ({"label": "a\u2028b\x85c"},)


@pytest.mark.parametrize(
    ("key", "attributes", "says"),
    [
        ("\ud800", {}, "A key has half of a surrogate pair"),
        ("k" * 2_001, {}, "A key of more than 2,000 characters"),
        ("a", {"t": "\udc80"}, "Attribute 't' has half of a surrogate pair"),
        ("a", {"\udc80": 1}, "The name of an attribute has half"),
    ],
)
def test_what_neo4j_cannot_store_of_a_graph_in_memory_is_refused(key, attributes, says):
    graph = nx.Graph([(key, "b")])
    graph.add_node(key, **attributes)
    with pytest.raises(ParameterError, match=says):
        graph_in_memory(graph, "id")


def test_gml_in_utf_8_is_read(write):
    file = read_graph_file(write('graph [\n node [\n id 1\n label "Žofie"\n ]\n]\n', "g.gml"))
    assert list(file.vertices()) == [(1, {"label": "Žofie"})]


def test_attributes_that_are_no_scalars_are_dropped_and_counted(write):
    nodes = "node [ id 1 place [ x 1 y 2 ] size 3 ] node [ id 2 place [ x 0 y 0 ] ]"
    text = f"graph [ {nodes} edge [ source 1 target 2 w 1 w 2 ] ]"
    file = read_graph_file(write(text, "g.gml"))
    assert list(file.vertices()) == [(1, {"size": 3}), (2, {})]
    assert file.attributes_dropped == {"place": 2, "w": 1}


def test_what_gephi_draws_is_dropped_and_counted(write):
    text = (
        '<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz"><graph><nodes>'
        '<node id="1" label="Ann"><viz:size value="3"/></node><node id="2"/></nodes></graph></gexf>'
    )
    file = read_graph_file(write(text, "g.gexf"))
    assert list(file.vertices()) == [(1, {"label": "Ann"}), (2, {})]
    assert file.attributes_dropped == {"viz": 1}


GRAPHML_INT = '<key id="d" for="node" attr.name="n" attr.type="long"/>'


@pytest.mark.parametrize(
    ("name", "content", "line", "words"),
    [
        ("g.graphml", "<graphml>\n<graph>\n</graphml>", 3, "mismatched tag"),
        (
            "g.graphml",
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n<graph>\n<node id="1"/>',
            3,
            "no element",
        ),
        ("g.graphml", b'<?xml version="1.0"?>\n<graphml>\xff</graphml>', 2, "invalid token"),
        ("g.graphml", "1 2\n", 1, "syntax error"),
        ("g.graphml", "<other/>", None, "networkx cannot read it as graphml"),
        ("g.graphml", graphml("<node/>"), None, "without an id"),
        ("g.graphml", graphml('<node id="1"/><edge source="1"/>'), None, "without a source or a target"),
        ("g.graphml", graphml('<node id="1"/><node id="2"/><hyperedge/>'), None, "hyperedge"),
        ("g.graphml", graphml('<node id="1"><data key="d">x</data></node>', GRAPHML_INT), None, "invalid literal"),
        ("g.graphml", graphml('<node id="1"><data key="q">x</data></node>'), None, "no key q"),
        ("g.graphml", graphml(f'<node id="1"><data key="d">{2**63}</data></node>', GRAPHML_INT), None, "64-bit"),
        (
            "g.graphml",
            graphml(
                '<node id="1"><data key="e">1</data></node>', '<key id="e" for="node" attr.name="" attr.type="int"/>'
            ),
            None,
            "without a name",
        ),
        ("g.gml", "graph [\n node [ id 1 ]\n node ] id 2 ]\n]", 3, "expected"),
        ("g.gml", "graph [\n node [ id 1 ]\n ~\n]", 3, "cannot tokenize"),
        ("g.gml", b'graph [\n node [ id 1\n label "\xe9" ]\n]', 3, "0xe9 is not UTF-8"),
        ("g.gml", "graph [ node [ label 1 ] ]", None, "no 'id'"),
        ("g.gml", 'graph [ node [ id 1 ] node [ id "1" ] ]', None, "the key '1' is also that of vertex 1$"),
        ("g.gml", "graph [ node [ id 1.5 ] ]", None, "is not a key"),
        ("g.gml", 'graph [ node [ id 1 t "&#55296;" ] ]', None, "surrogate"),
        ("g.gml", 'graph [ node [ id "&#55296;" ] ]', None, "surrogate"),
        ("g.gml", f'graph [ node [ id "{"x" * 2001}" ] ]', None, "too long"),
        (
            "g.gml",
            "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] edge [ source 2 target 1 ] ]",
            None,
            "dupl",
        ),
        ("g.gexf", "<gexf>\n<graph>", 2, "no element"),
        ("g.gexf", "<gexf/>", None, "No <graph> element"),
        (
            "g.gexf",
            '<gexf xmlns="http://www.gexf.net/1.2draft"><graph><nodes><node label="x"/></nodes></graph></gexf>',
            None,
            "without an id",
        ),
    ],
)
def test_a_file_that_is_not_of_its_format_is_refused_with_the_line_where_there_is_one(
    write, name, content, line, words
):
    path = write(content, name)
    with pytest.raises(FileFormatError, match=words) as caught:
        read_graph_file(path)
    assert caught.value.data == {"path": str(path), "line": line}


def test_the_suffix_is_taken_whatever_its_case(write):
    assert read_graph_file(write("graph [ node [ id 1 ] ]", "G.GML")).vertex_count == 1
