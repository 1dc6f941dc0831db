"""Schedules: two to eight clients side by side on one graph, each started at a random moment."""

from __future__ import annotations

import random
import signal
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from services import answer, ask

from campaign.children import Child, Ended
from campaign.ground import ASKED, GRAPH, Ground, at_pace, must_be_ours, serve
from campaign.user_locks import users

__all__ = ["try_schedule"]

FINE = {0, 4, 6, 9}
"""Done; the graph has changed, or what was asked for is gone; busy; nothing left of a budget."""
WITHIN = 1.5
"""Seconds within which all begin."""


def try_schedule(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Run clients side by side; whether all of them succeeded."""
    ground.renew(rng)
    ground.edit(rng)
    service = serve(ground, folder) if rng.random() < 0.3 else None
    edits = rng.random() < 0.4
    with users(rng, ground) if rng.random() < 0.3 else nullcontext():
        ended, requests = _run_side_by_side(rng, folder, ground, service is not None, edits)
    answers = [answer(ground.db, request, 90) for request in requests]
    if service is not None:
        _end(service)
    for child in ended:
        must_be_ours(child, codes=FINE)
        assert child.seconds < at_pace(60), str(child)
    assert all(fields["status"] == "complete" for fields in answers), answers
    ground.check()
    ground.check_ledger(folder, {f"who{number}": child.err for number, child in enumerate(ended)})
    for arguments in (("-p", "1/2"), ()):
        again = ground.child("annotate", "--graph", GRAPH, *arguments, folder=folder).wait()
        must_be_ours(again, codes={0})
    ground.check(up_to_date=True)
    return all(child.code == 0 for child in ended)


def _run_side_by_side(
    rng: random.Random, folder: Path, ground: Ground, is_served: bool, edits: bool
) -> tuple[list[Ended], list[Any]]:
    """Run clients to their ends; return how these were, and the requests that were placed."""
    began, children, requests = time.monotonic(), [], []
    for number, at in enumerate(sorted(rng.random() * WITHIN for _ in range(rng.randint(2, 8)))):
        time.sleep(max(0.0, began + at - time.monotonic()))
        if is_served and rng.random() < 0.4:
            requests.append(ask(ground.db, command="annotate", graph=GRAPH, p=rng.choice(["1/2", "0.9"])))
        children.append(ground.child(*_draw(rng, number, folder), folder=folder, who=f"who{number}"))
        if edits and rng.random() < 0.4:
            ground.edit(rng, 1)
    return [child.wait() for child in children], requests


def _draw(rng: random.Random, number: int, folder: Path) -> tuple[object, ...]:
    run = f"{GRAPH}@1/2"
    annotate = ("annotate", "--graph", GRAPH)
    release = ("release", GRAPH, "-e", f"1/{rng.randint(2, 9)}", "--to", folder / f"who{number}.json", "--anyway")
    calls: list[tuple[object, ...]] = [
        annotate,
        annotate,
        (*annotate, "-p", rng.choice(["1/2", "2/3", "0.9"])),
        (*annotate, "-p", "0.4", "--vertex", rng.randint(0, 11)),
        ("annotate", *ASKED, "-p", "0.5", "--mode", rng.choice(["stream", "stats"])),
        (*release, "--mechanism", "edge"),
        ("release", run, *release[2:], "--mechanism", "critical"),
        (*release, "--mechanism", "respond"),
        ("show", rng.randint(0, 11), run),
        ("queries", "largest_cohesions", "--param", f"run={run}"),
        ("queries", "critical_connections", "--param", "id=3", "--param", f"run={run}"),
        ("runs", run, "--to", folder / f"run{number}.graphml"),
        ("runs",),
        ("check",),
        ("clean", f"{GRAPH}@3/10"),
        ("budget", "show"),
    ]
    return rng.choice(calls)


def _end(service: Child) -> None:
    service.send(signal.SIGTERM)
    must_be_ours(service.wait(at_pace(60)), codes={0})
