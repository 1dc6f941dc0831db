"""Graph files of each format: whole files must be read as meant, damaged ones read or refused."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

from campaign.texts import damaged, is_harmless, letters
from pcneo.errors import FileFormatError
from pcneo.graph.files import read_graph_file

__all__ = ["try_file"]

Writer = Callable[[random.Random, list[str], list[tuple[str, str]]], tuple[str, str]]
MOST = 2**22


def try_file(rng: random.Random, folder: Path) -> bool:
    """Write a file and read it; whether it was accepted."""
    integers = rng.random() < 0.5
    n = rng.randint(2, 12)
    keys = [str(i * rng.randint(1, 9) - 3) if integers else letters(rng) for i in range(n)]
    keys = list(dict.fromkeys(keys))
    pairs = [(rng.choice(keys), rng.choice(keys)) for _ in range(rng.randint(1, 20))]
    write: Writer = rng.choice([_edge_list, _edge_list, _graphml, _gexf, *([_gml] if integers else [])])
    name, text = write(rng, keys, pairs)
    content = text.encode()
    whole = rng.random() < 0.45
    early = rng.random() < 0.5
    if not whole and early:
        content = damaged(rng, content)
    if rng.random() < 0.3:
        name, content = f"{name}.gz", gzip.compress(content, mtime=0)
    if not whole and not early:
        content = damaged(rng, content)
    path = folder / name
    path.write_bytes(content)
    said = ""
    try:
        file = read_graph_file(path, max_bytes=8 * MOST)
    except FileFormatError as error:
        file, said = None, str(error)
    if file is None:
        assert not whole, f"refused: {said}"
        assert is_harmless(said), repr(said)
        return False
    edges = {frozenset(map(str, (a, b))) for a, b, _ in file.edges()}
    assert all(len(edge) == 2 for edge in edges)
    if whole:
        assert edges == {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
        ends = {end for pair in pairs for end in pair}
        assert set(map(str, file.keys.tolist())) == (ends if write is _edge_list else set(keys))
    return True


def _edge_list(rng: random.Random, _: list[str], pairs: list[tuple[str, str]]) -> tuple[str, str]:
    separator = rng.choice([" ", "\t", ",", " , ", "  "])
    end = rng.choice(["\n", "\r\n", "\r"])
    more = rng.choice(["", "", f"{separator}0.5"])
    lines = [f"{a}{separator}{b}{more}" for a, b in pairs]
    lines[0:0] = rng.choice([[], ["# a comment"], [""], ["% a comment", "", "#"]])
    return rng.choice(["g.edges", "g.txt", "g.csv", "g"]), end.join(lines) + rng.choice(["", end])


def _graphml(_: random.Random, keys: list[str], pairs: list[tuple[str, str]]) -> tuple[str, str]:
    nodes = "".join(f"<node id={quoteattr(key)}/>" for key in keys)
    edges = "".join(f"<edge source={quoteattr(a)} target={quoteattr(b)}/>" for a, b in pairs)
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
    return "g.graphml", f"{head}{nodes}{edges}</graph></graphml>"


def _gexf(_: random.Random, keys: list[str], pairs: list[tuple[str, str]]) -> tuple[str, str]:
    nodes = "".join(f"<node id={quoteattr(key)} label={quoteattr(key)}/>" for key in keys)
    edges = "".join(f'<edge id="{i}" source={quoteattr(a)} target={quoteattr(b)}/>' for i, (a, b) in enumerate(pairs))
    head = '<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft"><graph defaultedgetype="undirected">'
    return "g.gexf", f"{head}<nodes>{nodes}</nodes><edges>{edges}</edges></graph></gexf>"


def _gml(_: random.Random, keys: list[str], pairs: list[tuple[str, str]]) -> tuple[str, str]:
    nodes = "\n".join(f"  node [ id {key} ]" for key in keys)
    edges = "\n".join(f"  edge [ source {a} target {b} ]" for a, b in pairs)
    return "g.gml", f"graph [\n  multigraph 1\n{nodes}\n{edges}\n]\n"
