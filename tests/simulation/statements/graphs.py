"""Graphs, their locks and their fences."""

from __future__ import annotations

from pcneo.store.schema import OWN_SCHEMA
from simulation.statements.registry import Row, Statement, Transaction, statement_of

STATEMENTS: dict[str, Statement] = {}
statement = statement_of(STATEMENTS)

_INDEXES = [
    *({"label": item.label, "properties": list(item.properties), "unique": item.unique} for item in OWN_SCHEMA),
    {"label": "Person", "properties": ["id"], "unique": False},
]
_RECORD = ("nodeLabels", "relationshipTypes", "key", "fingerprintKey")


@statement
def get_server(_: Transaction) -> list[Row]:
    return [{"version": "2026.09.0"}]


@statement
def list_indexes(_: Transaction) -> list[Row]:
    return [dict(row) for row in _INDEXES]


@statement
def get_formats(tx: Transaction, format: int) -> list[Row]:
    later = [
        props["name"] for node in tx.match("PCohesionGraph") if (props := tx.props(node)).get("format", 1) > format
    ]
    return [{"earlier": 0, "later": later[0] if later else None}]


@statement
def list_graphs(tx: Transaction) -> list[Row]:
    rows = []
    for node in tx.match("PCohesionGraph"):
        props = tx.props(node)
        if "name" in props:
            rows.append({"name": props["name"], **{name: props[name] for name in _RECORD}, "format": props["format"]})
        tx.breathe()
    return sorted(rows, key=lambda row: row["name"])


@statement
def merge_graph(tx: Transaction, name: str, format: int, **values: object) -> list[Row]:
    graph, is_new = tx.merge("PCohesionGraph", name=name)
    if is_new:
        tx.set(graph, format=format, **values)
    props = tx.props(graph)
    return [{key: props.get(key) for key in _RECORD}]


@statement
def touch_graph(tx: Transaction, name: str, format: int) -> list[Row]:
    rows = []
    for graph in tx.find("PCohesionGraph", name=name):
        tx.breathe()
        tx.set(graph, lockedAt=tx.now)
        tx.set(graph, format=max(tx.props(graph).get("format", 0), format))
        props = tx.props(graph)
        more = {"lockedAt": props.get("lockedAt"), "format": props.get("format")}
        rows.append({"lastVersion": props.get("lastVersion", 0), **more})
    return rows


@statement
def delete_unused_graph(tx: Transaction, name: str) -> list[Row]:
    graphs = [graph for graph in tx.find("PCohesionGraph", name=name) if not tx.props(graph).get("lastVersion", 0)]
    users = ("PCohesionRun", "PCohesionBudget", "PCohesionRelease")
    if not graphs or any(tx.match(label, graph=name) for label in users):
        return [{"deleted": 0}]
    for fence in tx.match("PCohesionFence", graph=name):
        tx.delete(fence)
    tx.delete(graphs[0])
    return [{"deleted": 1}]


@statement
def count_nodes(tx: Transaction) -> list[Row]:
    return [{"nodes": len(tx.match("Person"))}]


@statement
def count_relationships(tx: Transaction) -> list[Row]:
    return [{"relationships": len(tx.match("Person"))}]


@statement
def count_shared_nodes(tx: Transaction) -> list[Row]:
    return [{"shared": min(2, len(tx.match("Person")))}]


@statement
def take_fences(tx: Transaction, graph: str, fences: int, writer: str) -> list[Row]:
    last = 0
    for number in range(1, fences + 1):
        fence, _ = tx.merge("PCohesionFence", graph=graph, number=number)
        tx.breathe()
        tx.set(fence, writer=writer)
        last = max(last, tx.props(fence).get("lastVersion", 0))
    return [{"fences": fences, "lastVersion": last}]


@statement
def hold_fence(tx: Transaction, graph: str, number: int) -> list[Row]:
    rows = []
    for fence in tx.find("PCohesionFence", graph=graph, number=number):
        tx.breathe()
        tx.set(fence, heldAt=tx.now)
        rows.append({"writer": tx.props(fence).get("writer"), "heldAt": tx.now})
    return rows


@statement
def note_lent_version(tx: Transaction, graph: str, number: int, version: int) -> list[Row]:
    fences = tx.match("PCohesionFence", graph=graph, number=number)
    for fence in fences:
        tx.set(fence, lastVersion=version)
    return [{"noted": len(fences)}]


@statement
def note_version(tx: Transaction, graph: str, version: int) -> list[Row]:
    graphs = tx.match("PCohesionGraph", name=graph)
    for node in graphs:
        tx.set(node, lastVersion=version)
    return [{"noted": len(graphs)}]
