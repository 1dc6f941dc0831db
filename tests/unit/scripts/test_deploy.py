"""The image, the compose file, the board and the workflows, read by tools that know them and beside our own names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from places import ROOT

from pcneo.basics.config import ConnectionSettings
from pcneo.service.metrics import Metrics
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.serving import Service

DEPLOY = ROOT / "scripts" / "deploy"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def found(program: str) -> str:
    path = shutil.which(program) or shutil.which(program, path=str(Path.home() / "go" / "bin"))
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


def test_hadolint_finds_nothing_in_the_dockerfile():
    linted = subprocess.run([found("hadolint"), str(DEPLOY / "Dockerfile")], capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_actionlint_finds_nothing_in_the_workflows():
    linted = subprocess.run([found("actionlint"), *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_workflows_run_what_is_there_on_linux_and_macos():
    assert [path.name for path in WORKFLOWS] == ["release.yml", "tests.yml"]
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    matrix = tests["jobs"]["tests"]["strategy"]["matrix"]["include"]
    assert {entry["system"].partition("-")[0] for entry in matrix} == {"ubuntu", "macos"}
    for script in re.findall(r"run: (scripts/\w+)", (ROOT / ".github" / "workflows" / "tests.yml").read_text()):
        assert (ROOT / script).exists()


def names_of_metrics() -> set[str]:
    """Every name under which Prometheus gets a sample, with a database that cannot be reached or one that can."""
    prometheus = pytest.importorskip("prometheus_client")
    service = Service(ServiceSettings(), lambda: ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x"))
    service.figures.add_request("annotate", "complete", 1.0)
    service.figures.note_answer()

    class Queue:
        def count_requests(self) -> dict[str, tuple[int, int]]:
            return {"requested": (1, 5)}

    service.queue = Queue()  # type: ignore[assignment]  all that the metrics ask for
    registry = prometheus.CollectorRegistry()
    registry.register(Metrics(service))
    text = prometheus.generate_latest(registry).decode()
    return {re.split(r"[ {]", line)[0] for line in text.splitlines() if line and not line.startswith("#")}


def test_the_board_asks_for_metrics_that_there_are_and_shows_them_all():
    board: dict[str, Any] = json.loads((DEPLOY / "grafana-board.json").read_text())
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"pcneo_\w+", target["expr"])
    }
    exposed = {name for name in names_of_metrics() if not name.endswith("_created")}
    assert asked == exposed
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_the_three_alerts_ask_for_metrics_that_there_are():
    (group,) = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]
    asked = {rule["alert"]: set(re.findall(r"pcneo_\w+", rule["expr"])) for rule in group["rules"]}
    assert list(asked) == ["PcneoRequestWaits", "PcneoRequestsFail", "PcneoNoContact"]
    assert set().union(*asked.values()) <= names_of_metrics()
    assert all(asked.values())
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert {"summary", "description"} == set(rule["annotations"])


def test_the_compose_file_gives_no_password_away_and_no_right_that_is_not_needed():
    text = (DEPLOY / "compose.yaml").read_text()
    services = yaml.safe_load(text)["services"]
    assert set(services) == {"neo4j", "pcneo"}
    for service in services.values():
        assert "healthcheck" in service
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        for name, value in service["environment"].items():
            if "PASSWORD" in name or "AUTH" in name:
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")
    assert services["neo4j"]["user"] == "7474:7474"
    assert services["pcneo"]["cap_drop"] == ["ALL"]
    assert services["pcneo"]["read_only"] is True
    assert re.search(r"^USER 10001:10001$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert "secrets/" in (ROOT / ".gitignore").read_text().split()
