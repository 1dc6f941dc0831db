"""What `show` and exports returned in a history: each must agree with itself, and the members it names are noted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from campaign.history_rules import Members

__all__ = ["read_export", "read_shown"]


def read_shown(who: str, out: str, file: Path) -> Members:
    """What `show --json --to FILE` has printed and written."""
    shown = json.loads(out)
    members = [member["key"] for member in shown["members"]]
    connections = _pairs(shown["criticalConnections"])
    _check(who, "members", shown["size"], len(set(members)))
    _check(who, "critical connections", shown["edges"], len(connections))
    _check(who, "ends of connections", {end for pair in connections for end in pair} <= set(members), True)
    _check(who, "the vertex itself", shown["vertex"] in members, True)
    head, nodes, edges = _export(file)
    _check(who, "the file's run", (head["run"], head["version"]), (shown["run"], shown["version"]))
    _check(who, "the file's nodes", {node["id"] for node in nodes}, set(members))
    _check(who, "the file's edges", _pairs((edge["source"], edge["target"]) for edge in edges), connections)
    return Members(who, shown["run"], shown["version"], {shown["vertex"]: frozenset(members)})


def read_export(who: str, file: Path) -> Members:
    """What `runs RUN --to FILE` has written: the whole graph with all cohesions of the run."""
    head, nodes, edges = _export(file)
    members = {node["id"]: frozenset(node["members"]) for node in nodes if "members" in node}
    needed = Counter(key for keys in members.values() for key in keys)
    for node in nodes:
        _check(who, f"how often {node['id']} is needed", node["needed"], needed[node["id"]])
    for node in nodes:
        if node["id"] in members:
            _check(who, f"the size at {node['id']}", node["size"], len(members[node["id"]]))
    inside: Counter[Any] = Counter()
    for edge in edges:
        ends = {edge["source"], edge["target"]}
        holders = [vertex for vertex, keys in members.items() if ends <= keys]
        inside.update(holders)
        _check(who, f"what edge {sorted(ends)} is critical for", edge["critical"], len(holders))
    for node in nodes:
        if node["id"] in members:
            _check(who, f"the connections at {node['id']}", node["edges"], inside[node["id"]])
    return Members(who, head["run"], head["version"], members, is_whole=True)


def _export(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Attributes, nodes and edges of a file in either format, alike."""
    if file.suffix == ".json":
        read = json.loads(file.read_text(encoding="utf-8"))
        return read["graph"], read["nodes"], read["edges"]
    import networkx

    graph = networkx.read_graphml(file, node_type=int)
    nodes = [{**values, "id": key} for key, values in graph.nodes(data=True)]
    for node in nodes:
        if "members" in node:
            node["members"] = json.loads(node["members"])
    return graph.graph, nodes, [{**values, "source": a, "target": b} for a, b, values in graph.edges(data=True)]


def _pairs(pairs: Iterable[Iterable[Any]]) -> set[frozenset[Any]]:
    return {frozenset(pair) for pair in pairs}


def _check(who: str, what: str, said: object, there: object) -> None:
    assert said == there, f"{who}: {what}: {said} is said, and {there} is there"
