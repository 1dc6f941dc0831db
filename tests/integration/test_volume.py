"""How much a run and its removal grow the server's transaction logs, against what `estimate` says."""

from __future__ import annotations

from pathlib import Path

import naive
import pytest
from graphs import Database
from neo4j_servers import Server
from outside_graphs import outside_graph

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.stored.cleaning import clean

PERSONS = Selection("Person", "KNOWS", "id")
CASES = [("hepth_ca", "0.1"), ("email_eu_core", "0.3"), ("lastfm_asia", "0.2")]
"""Graphs of small, large and medium cohesions."""


def folder_of(server: Server) -> Path:
    """The data of a local server."""
    if server.log is None:
        pytest.skip("the server's files are somewhere else")
    return server.log.parents[1] / "data"


def bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


@pytest.mark.thorough
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(("name", "p"), CASES)
def test_transaction_logs_grow_by_what_the_estimate_says_within_a_factor_of_two(
    db: Database, server: Server, name: str, p: str
) -> None:
    data = folder_of(server)
    logs = data / "transactions" / db.name
    twin = naive.read_edges(outside_graph(f"{name}.edges.gz"))
    db.put((a, b) for a in twin for b in twin[a] if a < b)
    (said,) = annotate.estimate(db.store, p=p, selection=PERSONS).estimates.values()
    annotate.write(db.store, graph="g", p="0.9", vertices=[min(twin)], selection=PERSONS)  # makes the schema
    before = bytes_in(logs)
    written = annotate.write(db.store, graph="g", p=p, selection=PERSONS).run
    after = bytes_in(logs)
    clean(db.store, run=written.run)
    grown, removed = after - before, bytes_in(logs) - after
    print(name, p, written.added, written.memberships_written, grown, removed, said.log_bytes, said.removal_log_bytes)
    assert grown / 2 < said.log_bytes < 2 * grown
    assert removed / 2 < said.removal_log_bytes < 2 * removed
