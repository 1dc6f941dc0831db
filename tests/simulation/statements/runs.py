"""Standing runs, their versions and their hubs. A hub has its vertex and its members as properties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from simulation.database import Node
from simulation.statements.registry import Props, Row, Statement, Transaction, statement_of

STATEMENTS: dict[str, Statement] = {}
statement = statement_of(STATEMENTS)

RUN, VERSION, HUB = "PCohesionRun", "PCohesionVersion", "PCohesion"
CURRENT = 2**53 - 1
RETIRED, OWNER, MEMBERS = "(retired)", "(vertex)", "(members)"
"""What stands in for the label `PCohesionRetired` and for the relationships of a hub."""

_OF_VERSION = (
    *(
        "version",
        "readable",
        "pcneo",
        "revision",
        "effort",
        "added",
        "retired",
        "cohesions",
        "memberships",
        "nodeCount",
    ),
    *("relationshipCount", "vertices", "edges", "fingerprint", "membershipHash"),
)
_TIMES = ("startedAt", "finishedAt", "replacedAt")


def _row(tx: Transaction, run: Props, version: Props) -> Row:
    named = {"id": run["id"], **{name: run.get(name) for name in ("graph", "scope", "pText", "search")}}
    times = {name: None if version.get(name) is None else tx.db.date(version[name]) for name in _TIMES}
    said = {name: version.get(name) for name in _OF_VERSION}
    return {**named, **said, "fromFiles": version.get("fromFiles") is True, **times}


@statement
def list_runs(tx: Transaction) -> list[Row]:
    rows = []
    for node in tx.match(RUN):
        run = tx.props(node)
        if run and run.get("version") != 0:  # it may have gone since it was found
            graphs = tx.match("PCohesionGraph", name=run["graph"])
            tx.breathe()
            versions = tx.match(VERSION, run=run["id"], version=run["version"])
            version = tx.props(versions[0]) if versions else {}
            format_ = tx.props(graphs[0]).get("format") if graphs else None
            rows.append({**_row(tx, run, version), "format": format_, "current": run.get("version")})
    return sorted(rows, key=lambda row: row["id"])


@statement
def list_versions(tx: Transaction, run: str) -> list[Row]:
    rows = []
    for node in tx.match(RUN, id=run):
        standing = tx.props(node)
        tx.breathe()
        versions = [tx.props(version) for version in tx.match(VERSION, run=run)]
        rows += [_row(tx, standing, props) for props in versions if props["version"] <= standing["version"]]
    return sorted(rows, key=lambda row: row["version"])


@statement
def list_unfinished(tx: Transaction, graph: str) -> list[Row]:
    rows = [{"run": tx.props(run)["id"], "version": tx.props(run)["version"]} for run in tx.match(RUN, graph=graph)]
    return sorted(rows, key=lambda row: row["run"])


@statement
def list_remains(tx: Transaction, graph: str) -> list[Row]:
    def has_remains(run: Props) -> bool:
        def fits(hub: Props) -> bool:
            return hub["from"] > run["version"] or (RETIRED in hub and hub["until"] > run["version"])

        return run["version"] == 0 or bool(_hubs(tx, run["id"], fits))

    runs = [run for run in map(tx.props, tx.match(RUN, graph=graph)) if has_remains(run)]
    rows = [{"scope": run.get("scope"), "run": run["id"], "version": run["version"]} for run in runs]
    return sorted(rows, key=lambda row: (row["scope"] == "graph", row["run"]))


@statement
def get_version(tx: Transaction, run: str, version: int) -> list[Row]:
    return [{"readable": tx.props(node)["readable"]} for node in tx.match(VERSION, run=run, version=version)]


@statement
def hold_versions(tx: Transaction, run: str, versions: Sequence[int]) -> list[Row]:
    held = [node for version in sorted(versions) for node in tx.match(VERSION, run=run, version=version)]
    for node in held:
        tx.breathe()
        tx.set(node, heldAt=tx.now)
    return [{name: tx.props(node)[name] for name in ("version", "readable")} for node in held]


@statement
def merge_run(tx: Transaction, run: str, **values: object) -> list[Row]:
    node, is_new = tx.merge(RUN, id=run)
    if is_new:
        tx.set(node, **values, version=0)
    return [{"version": tx.props(node).get("version")}]


@statement
def hide_run(tx: Transaction, run: str) -> list[Row]:
    runs = tx.match(RUN, id=run)
    for node in runs:
        tx.set(node, version=0)
        for version in tx.match(VERSION, run=run):
            tx.set(version, readable=False)
    return [{"hidden": len(runs)}]


@statement
def delete_run(tx: Transaction, run: str) -> list[Row]:
    runs = tx.match(RUN, id=run, version=0)
    for node in runs:
        for version in tx.match(VERSION, run=run):
            tx.delete(version)
        tx.delete(node)
    return [{"deleted": len(runs)}]


@statement
def create_version(tx: Transaction, run: str, replaces: int, version: int, **values: Any) -> list[Row]:
    runs = tx.match(RUN, id=run, version=replaces)
    for node in runs:
        tx.breathe()
        tx.set(node, version=version)
        started = values.pop("startedAt")
        tx.create(VERSION, run=run, version=version, readable=True, **values, startedAt=started, finishedAt=tx.now)
        for old in tx.match(VERSION, run=run, version=replaces):
            tx.set(old, replacedAt=tx.now)
    return [{"created": len(runs)}]


@statement
def close_versions(
    tx: Transaction, run: str, version: int, keep: int, seconds: float, pinned: Sequence[int]
) -> list[Row]:
    def is_behind(props: Props) -> bool:
        return props["readable"] and props["version"] < version

    behind = [node for node in tx.match(VERSION, run=run) if is_behind(tx.props(node))]
    behind = sorted(behind, key=lambda node: -tx.props(node)["version"])[keep:]
    closed = 0
    for node in behind:
        props = tx.props(node)
        if props["version"] not in pinned and props.get("replacedAt", tx.now) <= tx.now - seconds:
            tx.breathe()
            tx.set(node, readable=False)
            closed += 1
    return [{"closed": closed}]


@statement
def delete_versions(tx: Transaction, run: str, versions: Sequence[int]) -> list[Row]:
    deleted = [node for version in versions for node in tx.match(VERSION, run=run, version=version)]
    for node in deleted:
        tx.delete(node)
    return [{"deleted": len(deleted)}]


# --- Hubs


def _hubs(tx: Transaction, run: str, fits: Callable[[Props], bool]) -> list[Node]:
    return [hub for hub in tx.match(HUB, run=run) if fits(tx.props(hub))]


def _at(version: int) -> Callable[[Props], bool]:
    return lambda hub: hub["from"] <= version < hub["until"]


def _delete(tx: Transaction, hubs: Sequence[Node]) -> list[Row]:
    for hub in hubs:
        tx.breathe()
        tx.delete(hub)
    return [{"deleted": len(hubs)}]


@statement
def create_cohesions(tx: Transaction, run: str, version: int, p: float, search: str, rows: Sequence[Row]) -> list[Row]:
    cohesions = memberships = 0
    for row in rows:
        there = [key for key in row["members"] if tx.match("Person", id=key)]
        if tx.match("Person", id=row["vertex"]):
            tx.breathe()
            named = {"run": run, "from": version, "until": CURRENT, "p": p, "search": search}
            said = {name: value for name, value in row.items() if name not in ("vertex", "members")}
            tx.create(HUB, **named, **said, **{OWNER: row["vertex"], MEMBERS: tuple(there)})
            cohesions += bool(there)
            memberships += len(there)
    return [{"cohesions": cohesions, "memberships": memberships}]


@statement
def retire_cohesions(tx: Transaction, run: str, version: int, next: int, keys: Sequence[object]) -> list[Row]:
    def fits(hub: Props) -> bool:
        return hub[OWNER] in keys and hub["from"] <= version and hub["until"] == CURRENT

    hubs = [hub for hub in _hubs(tx, run, fits) if tx.match("Person", id=tx.props(hub)[OWNER])]
    for hub in hubs:
        tx.breathe()
        tx.set(hub, until=next, **{RETIRED: True})
    return [{"retired": len(hubs)}]


@statement
def retire_strays(tx: Transaction, run: str, version: int, next: int, limit: int) -> list[Row]:
    def fits(hub: Props) -> bool:
        is_current = hub["from"] <= version and hub["until"] == CURRENT
        return is_current and not tx.match("Person", id=hub[OWNER])

    hubs = _hubs(tx, run, fits)[:limit]
    for hub in hubs:
        tx.set(hub, until=next, **{RETIRED: True})
    return [{"retired": len(hubs)}]


@statement
def restore_cohesions(tx: Transaction, run: str, version: int, limit: int) -> list[Row]:
    hubs = _hubs(tx, run, lambda hub: RETIRED in hub and hub["until"] > version)[:limit]
    for hub in hubs:
        tx.breathe()
        tx.set(hub, until=CURRENT, **{RETIRED: None})
    return [{"restored": len(hubs)}]


@statement
def delete_unseen(tx: Transaction, run: str, version: int, limit: int, careful: bool) -> list[Row]:
    return _delete(tx, _hubs(tx, run, lambda hub: hub["from"] > version)[:limit])


@statement
def delete_retired(tx: Transaction, run: str, after: int, by: int, limit: int, careful: bool) -> list[Row]:
    def fits(hub: Props) -> bool:
        return RETIRED in hub and after < hub["until"] <= by and hub["from"] > after

    return _delete(tx, _hubs(tx, run, fits)[:limit])


@statement
def count_written(tx: Transaction, run: str, next: int) -> list[Row]:
    added = _hubs(tx, run, lambda hub: hub["from"] == next)
    retired = _hubs(tx, run, lambda hub: RETIRED in hub and hub["until"] == next)
    return [{"added": len(added), "retired": len(retired)}]


@statement
def count_current(tx: Transaction, run: str, version: int) -> list[Row]:
    hubs = [tx.props(hub) for hub in _hubs(tx, run, _at(version))]
    return [{"cohesions": len(hubs), "memberships": sum(hub["size"] for hub in hubs)}]


@statement
def count_retired(tx: Transaction, run: str) -> list[Row]:
    return [{"memberships": sum(tx.props(hub)["size"] for hub in _hubs(tx, run, lambda hub: RETIRED in hub))}]


@statement
def get_cohesions(tx: Transaction, run: str, version: int, keys: Sequence[object]) -> list[Row]:
    hubs = []
    for key in keys:
        hubs += [tx.props(hub) for hub in _hubs(tx, run, lambda hub, key=key: hub[OWNER] == key and _at(version)(hub))]
        tx.breathe()
    hubs = [hub for hub in hubs if hub]
    columns = {name: [hub[name] for hub in hubs] for name in ("edges", "proven", "best")}
    return [{"keys": [hub[OWNER] for hub in hubs], **columns, "members": [list(hub[MEMBERS]) for hub in hubs]}]


@statement
def hold_vertices(tx: Transaction, keys: Sequence[object]) -> list[Row]:
    held = [vertex for key in keys for vertex in tx.match("Person", id=key)]
    for vertex in held:
        tx.lock(vertex)
    return [{"held": len(held)}]


# --- Not pcneo's own: what the made-up search asks, and what a user of the documented query does


@statement
def get_near(tx: Transaction, keys: Sequence[object]) -> list[Row]:
    rows = []
    for key in keys:
        rows += [{"near": list(tx.props(vertex)["near"])} for vertex in tx.match("Person", id=key)]
        tx.breathe()
    return rows


@statement
def get_all_at_once(tx: Transaction, run: str) -> list[Row]:
    versions = [tx.props(node)["version"] for node in tx.match(RUN, id=run)]
    if not versions or not versions[0]:
        return []
    found = []
    for hub in _hubs(tx, run, _at(versions[0])):
        tx.breathe()
        props = tx.look(hub)
        if props is not None and _at(versions[0])(props):
            found.append((props[OWNER], frozenset(props[MEMBERS])))
    return [{"version": versions[0], "hubs": found}]
