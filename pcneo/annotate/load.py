"""Use case: load a graph file into the database."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pcneo.basics.frames import Table, columns_of
from pcneo.basics.model import AnyPath, Progress
from pcneo.basics.selection import Selection
from pcneo.errors import KeyPropertyError
from pcneo.graph.files import MOST_BYTES, GraphFile, read_graph_file
from pcneo.graph.files.graph_file import KeysOfLine
from pcneo.graph.files.in_memory import graph_in_memory
from pcneo.graph.given import GivenGraph
from pcneo.store.chosen_graph import meant_key, what_they_have
from pcneo.store.graph_loader import GraphLoader

if TYPE_CHECKING:
    from pcneo.store.database import Database


BATCH = 10_000
"""Rows per transaction."""


@dataclass(frozen=True, kw_only=True)
class LoadResult(Table):
    """What was in the file, and what the load did to the database.

    Attributes:
        configuration: path (None for a graph in memory), database, nodeLabel, relationshipType and key.
        key_kind: integer or string.
        numbers_as_text: number of keys that would be integers if other keys were not text.
        text_key: the first key that is text, with its line where the file is an edge list; None if all are integers.
        node_count: vertices in the file.
        relationship_count: edges in the file, counted as in an undirected simple graph.
        nodes_created: vertices that the database did not have.
        nodes_matched: vertices that it already had; their properties were left alone.
        relationships_created: edges that the database did not have.
        relationships_matched: edges that it already had, in either direction.
        constraint_created: whether the uniqueness constraint on the key is new.
        lines: lines in the file.
        self_loops_dropped: edges from a vertex to itself.
        parallel_dropped: edges that repeat an earlier edge of the file, in either direction.
        header: the first line if it named the columns of an edge list, else None.
        possible_header: the first edge, which was loaded, if its keys are text that no other line has; else None.
        lines_with_more_columns: lines of an edge list with columns after the second, which were ignored.
        attributes_dropped: attributes that are not scalars, by name, with how many vertices and edges have them.
        pre_processing_millis: reading the file.
        write_millis: everything done in the database.
    """

    configuration: Mapping[str, str | None]
    key_kind: str
    numbers_as_text: int
    text_key: KeysOfLine | None
    node_count: int
    relationship_count: int
    nodes_created: int
    nodes_matched: int
    relationships_created: int
    relationships_matched: int
    constraint_created: bool
    lines: int
    self_loops_dropped: int
    parallel_dropped: int
    header: str | None
    possible_header: KeysOfLine | None
    lines_with_more_columns: int
    attributes_dropped: Mapping[str, int]
    pre_processing_millis: int
    write_millis: int

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for nodes and one for relationships: in the file, created, already there."""
        return columns_of(
            {"": what, "in the file": there, "created": created, "already there": matched}
            for what, there, created, matched in (
                ("nodes", self.node_count, self.nodes_created, self.nodes_matched),
                ("relationships", self.relationship_count, self.relationships_created, self.relationships_matched),
            )
        )

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        path = self.configuration["path"]
        return f"{'Graph' if path is None else Path(path).name}: keys are {self.key_kind}s"

    def __repr__(self) -> str:
        """Return what was loaded, and what was dropped."""
        edges = f"{self.relationships_created:,} created, {self.relationships_matched:,} already there"
        dropped = {"self-loops dropped": self.self_loops_dropped, "repeated edges dropped": self.parallel_dropped}
        return "\n".join(
            [
                self.caption(),
                f"  nodes: {self.nodes_created:,} created, {self.nodes_matched:,} already there",
                f"  relationships: {edges}",
                *(f"  {what}: {count:,}" for what, count in dropped.items() if count),
            ]
        )


def load(
    db: Database,
    path: AnyPath,
    *,
    node_label: str,
    relationship_type: str,
    key: str,
    max_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> LoadResult:
    """Load a graph file: its vertices under one label and key, its edges as one relationship for each pair.

    A relationship starts at the smaller key. Vertices that already exist, by label and key, keep their properties;
    pairs that a relationship of the type already connects, in either direction, do not get a second one. So loading a
    file again adds nothing, and running an interrupted load again completes it. The whole file is read before anything
    is written.

    Returns:
        Counts of vertices and edges, and how long it took.
    """
    loader = GraphLoader(db, node_label, relationship_type, key)
    return _load(db, loader, str(path), lambda: read_graph_file(path, key, max_bytes=max_bytes), progress)


def load_given(
    db: Database,
    graph: GivenGraph,
    *,
    node_label: str,
    relationship_type: str,
    key: str,
    progress: Progress | None = None,
) -> LoadResult:
    """Load a graph from memory, with its scalar attributes if it is a networkx graph; otherwise as `load` does."""
    loader = GraphLoader(db, node_label, relationship_type, key)
    return _load(db, loader, None, lambda: graph_in_memory(graph, key), progress)


def _load(
    db: Database, loader: GraphLoader, path: str | None, read_file: Callable[[], GraphFile], progress: Progress | None
) -> LoadResult:
    started = time.monotonic()
    file = read_file()
    read = time.monotonic()
    _check_keys(db, loader.selection, file, path)
    constraint_created = loader.ensure_vertex_key()
    vertices = ({"key": vertex, "properties": properties} for vertex, properties in file.vertices())
    edges = ({"source": a, "target": b, "properties": properties} for a, b, properties in file.edges())
    report = progress or (lambda stage, done, total: None)
    nodes_created = _merge(loader.merge_vertices, vertices, "nodes", file.vertex_count, report)
    relationships_created = _merge(loader.merge_relationships, edges, "relationships", file.edge_count, report)
    return LoadResult(
        configuration={
            "path": path,
            "database": db.name,
            "nodeLabel": loader.selection.node_labels[0],
            "relationshipType": loader.selection.relationship_types[0],
            "key": loader.selection.key,
        },
        key_kind=file.key_kind,
        numbers_as_text=file.numbers_as_text,
        text_key=file.text_key,
        node_count=file.vertex_count,
        relationship_count=file.edge_count,
        nodes_created=nodes_created,
        nodes_matched=file.vertex_count - nodes_created,
        relationships_created=relationships_created,
        relationships_matched=file.edge_count - relationships_created,
        constraint_created=constraint_created,
        lines=file.lines,
        self_loops_dropped=file.self_loops_dropped,
        parallel_dropped=file.parallel_dropped,
        header=file.header,
        possible_header=file.possible_header,
        lines_with_more_columns=file.lines_with_more_columns,
        attributes_dropped=file.attributes_dropped,
        pre_processing_millis=round(1000 * (read - started)),
        write_millis=round(1000 * (time.monotonic() - read)),
    )


def _check_keys(db: Database, selection: Selection, file: GraphFile, path: str | None) -> None:
    """Refuse to make a graph with keys of two kinds, or with nodes that lack the key: other commands refuse both."""
    counts = db.count_keys(selection)
    other = counts.strings if file.key_kind == "integer" else counts.integers
    if other:
        example = file.text_key
        ours = "integer keys" if example is None else f"text keys ({key_and_line(example)})"
        raise KeyPropertyError(
            f"{path or 'The graph'} has {ours}, but existing {selection.node_labels[0]}.{selection.key} values are "
            f"{'text' if example is None else 'integers'}; a graph's keys must all be of one type. Nothing was loaded. "
            "Choose another label or key.",
            nodes=other,
            key=selection.key,
        )
    if counts.missing:
        label, key = selection.node_labels[0], selection.key
        raise KeyPropertyError(
            f"{counts.missing:,} of {counts.nodes:,} nodes labelled {label!r} have no {key!r}, and annotate refuses a "
            f"label whose nodes do not all have the key.{what_they_have(counts)} Nothing was loaded."
            f"{meant_key(db, selection)} Otherwise choose another label.",
            nodes=counts.missing,
            key=key,
        )


def key_and_line(found: KeysOfLine) -> str:
    """Return keys as a message names them, with their line if they have one."""
    keys = ", ".join(map(repr, found.keys))
    return keys if found.line is None else f"{keys}, line {found.line}"


def doubts(result: LoadResult) -> Iterator[str]:
    """Yield warnings: of nodes that were there already and have new edges, and of a first line that may be a header."""
    if result.nodes_matched and result.relationships_created:
        label, key = result.configuration["nodeLabel"], result.configuration["key"]
        yield (
            f"{result.nodes_matched:,} of the {result.node_count:,} vertices were there already, as :{label} nodes "
            f"with the same {key}, and are taken to be the same. If they are not, load these under another label."
        )
    if (line := result.possible_header) is not None:
        yield (
            f"Line {line.line} ({', '.join(line.keys)}) shares no key with any other line and was loaded as data. If "
            "it is a header, delete it in the file or begin it with #, delete these two vertices in the database, and "
            "load again."
        )


def _merge(
    merge: Callable[[list[dict[str, Any]]], int],
    rows: Iterable[dict[str, Any]],
    stage: str,
    total: int,
    progress: Progress,
) -> int:
    """Merge all rows, one batch per transaction; return how many were created."""
    created = done = 0
    waiting = iter(rows)
    while batch := list(islice(waiting, BATCH)):
        created += merge(batch)
        done += len(batch)
        progress(stage, done, total)
    return created
