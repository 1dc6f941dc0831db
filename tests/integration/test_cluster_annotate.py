"""`annotate` on a Dask cluster and a real Neo4j: the same is stored, and a process that dies leaves nothing behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clusters import Processes, cluster
from graphs import Database

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import ClusterError, ParameterError
from pcneo.search.cluster import cluster_graph

pytestmark = pytest.mark.long

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}


@pytest.fixture(name="db")
def hundreds_of_tasks(db: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A graph whose search takes hundreds of tasks."""
    monkeypatch.setattr(cluster_graph, "FIRST", 2)
    monkeypatch.setattr(cluster_graph, "GROWTH", 1)
    rng = random.Random(3)
    db.put([(rng.randrange(300), rng.randrange(300)) for _ in range(1_000)])
    return db


def own_nodes(db: Database) -> int:
    return db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion) RETURN count(n)")[0][0]


def test_every_mode_gives_what_threads_give_though_a_worker_is_killed_in_the_middle(db, tmp_path):
    with cluster(2) as (client, _, (first, _second)):

        def kill(stage: str, done: int, total: int | None) -> None:
            if stage.startswith("searching") and done > 100:
                first.kill()

        on = {**PERSONS, "p": ["0.3", "1/2"], "scheduler": client}
        configuration = annotate.write(db.store, progress=kill, **on).configuration
        assert configuration["concurrency"] is None
        assert str(configuration["scheduler"]).startswith("tcp://")
        assert first.wait() == -signal.SIGKILL
        stored = db.contents()
        streamed = list(annotate.stream(db.store, **on))
        described = annotate.stats(db.store, **on).summaries
        filed = annotate.to_parquet(db.store, to=tmp_path, **on).files
        with pytest.raises(ParameterError, match="on this machine only"):
            annotate.write(db.store, vertices=[1], **on)
        with pytest.raises(ParameterError, match="the workers set their own"):
            annotate.write(db.store, concurrency=2, **on)
    here = {**PERSONS, "p": ["0.3", "1/2"]}
    again = annotate.write(db.store, **here)
    assert not any(run.changed for run in again.runs)
    assert again.configuration["scheduler"] is None
    db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion) DETACH DELETE n")
    annotate.write(db.store, **here)
    assert stored == db.contents()
    assert streamed == list(annotate.stream(db.store, **here))
    assert described == annotate.stats(db.store, **here).summaries
    assert [file.memberships for file in filed] == [row[2] for row in reversed(stored)]


def test_a_scheduler_that_is_killed_in_the_middle_leaves_no_run(db, tmp_path):
    with cluster(1, patience=5) as (client, processes, _):

        def kill(stage: str, done: int, total: int | None) -> None:
            if stage.startswith("searching") and done > 100:
                processes.scheduler.kill()

        with pytest.raises(ClusterError, match="is gone"):
            annotate.write(db.store, p="0.3", scheduler=client, progress=kill, **PERSONS)
    assert own_nodes(db) == 0
    with pytest.raises(ClusterError, match="is gone"):
        annotate.to_parquet(db.store, p="0.3", to=tmp_path, scheduler=client, **PERSONS)
    assert list(tmp_path.iterdir()) == []
    assert annotate.write(db.store, p="0.3", **PERSONS).runs[0].version == 1


COMMAND = [sys.executable, "-m", "pcneo", "annotate", "--node-label", "Person", "--relationship-type", "KNOWS"]
COMMAND += ["--key", "id", "-p", "0.3", "--json", "--scheduler"]


def command(address: str, server: Any, **further: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **server.environment, **further}
    return subprocess.run([*COMMAND, address], env=environment, capture_output=True, text=True, timeout=120)


def test_the_command_line_takes_an_address(db: Database, server: Any):
    with cluster(1) as (_, processes, _):
        done = command(processes.address, server)
        assert json.loads(done.stdout)["runs"][0]["version"] == 1, done.stderr
        assert "distributed" not in done.stderr


@pytest.mark.parametrize(  # `test_cluster.py` tries each within its process
    "address",
    [
        "tcp://127.0.0.1:1",
        *(pytest.param(name, marks=pytest.mark.thorough) for name in ("nonsense://x", "tls://127.0.0.1:1")),
    ],
)
def test_an_address_where_no_scheduler_is_ends_the_command_in_one_line(address: str, db: Database, server: Any):
    done = command(address, server)
    said = [line for line in done.stderr.splitlines() if not line.startswith("Using ")]
    assert (done.returncode, done.stdout, len(said)) == (11, "", 1), done.stderr
    assert said[0].startswith(f"pcneo: No scheduler answers at '{address}': ")
    assert own_nodes(db) == 0


def test_a_cluster_whose_connections_are_encrypted_searches(db: Database, server: Any, tmp_path: Path):
    """With certificates that Dask's own settings name, here in the environment."""
    certificate, key = tmp_path / "own.pem", tmp_path / "own.key"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster"]
    subprocess.run([*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    settings = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(certificate)}
    for who in ("SCHEDULER", "WORKER", "CLIENT"):
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{who}__CERT"] = str(certificate)
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{who}__KEY"] = str(key)
    processes = Processes(tmp_path, "--protocol", "tls", **settings)
    try:
        processes.add_worker("only")
        assert processes.address.startswith("tls://")
        done = command(processes.address, server, **settings)
        assert json.loads(done.stdout)["runs"][0]["version"] == 1, done.stderr
        without = command(processes.address, server)
        assert without.returncode == 11
        assert "certificates" in without.stderr
    finally:
        processes.end()
