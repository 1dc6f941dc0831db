"""The statements that are played on the model and on a server, with what is there at first."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simulation.statements.requests import PRODUCED
from simulation.statements.runs import CURRENT, MEMBERS, OWNER, RETIRED

__all__ = ["MENUS", "Known", "Menu", "Moment"]

Menu = Callable[[random.Random], tuple[str, dict[str, Any]]]
Known = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Moment:
    """A time, so many seconds from now."""

    seconds: float


RECORD = {"nodeLabels": ["Person"], "relationshipTypes": ["KNOWS"], "key": "id", "fingerprintKey": "0" * 64}
GRAPH = {"name": "friends", **RECORD, "format": 3}


def _release(rng: random.Random) -> tuple[str, dict[str, Any]]:
    nothing = ("run", "runVersion", "p", "search", "epsilonOne", "h", "membershipHash", "answers", "threshold")
    values = {**dict.fromkeys((*nothing, "vertices", "keysHash", "fingerprint", "file")), "k": 3, "mechanism": "edge"}
    names = {"nodeLabels": ["Person"], "relationshipTypes": ["KNOWS"], "keysFingerprint": "x"}
    values |= {**names, "graph": "friends", "epsilon": "1/2", "delta": "0/1", "who": "w", "version": "1"}
    return "create_release", {**values, "release": rng.choice(["r1", "r2"])}


LEDGER: list[Menu] = [
    lambda rng: ("touch_graph", {"name": rng.choice(["friends", "friends", "pals"]), "format": 3}),
    lambda rng: ("merge_graph", {"name": rng.choice(["friends", "pals"]), "format": 3, **RECORD}),
    lambda rng: ("merge_ledger_secret", {"secret": rng.choice(["s1", "s2"])}),
    lambda rng: (
        "create_budget",
        {"graph": "friends", "number": rng.randint(1, 3), "epsilon": "1/1", "delta": "0/1", "who": "w"},
    ),
    _release,
    lambda _: ("list_graphs", {}),
    lambda _: ("list_budgets", {}),
    lambda _: ("list_releases", {}),
    lambda _: ("get_ledger_secret", {}),
    lambda _: ("count_shared_nodes", {}),
    lambda _: ("count_nodes", {}),
    lambda rng: ("take_fences", {"graph": "friends", "fences": 2, "writer": rng.choice(["w1", "w2"])}),
    lambda rng: ("hold_fence", {"graph": "friends", "number": rng.randint(1, 3)}),
    lambda rng: ("delete_unused_graph", {"name": rng.choice(["friends", "pals"])}),
]
LEDGER_AT_FIRST: Known = [
    ("PCohesionGraph", GRAPH),
    ("Person", {"id": 1}),
    ("Person", {"id": 2}),
    ("Person", {"id": 3}),
    ("PCohesionFence", {"graph": "friends", "number": 1, "writer": "w0"}),
]

# --- Requests

QUEUE_AT_FIRST: Known = [
    ("PCohesionRun", {"id": "r1", "graph": "friends", "version": 4}),
    (
        "PCohesionRequest",
        {"id": "q1", "command": "annotate", "p": 0.3, "status": "requested", "requestedAt": Moment(-90)},
    ),
    (
        "PCohesionRequest",
        {
            **{"id": "q2", "status": "running", "token": "t2", "attempts": 1, "vertices": [1, 2]},
            **{"requestedAt": Moment(-80), "leaseUntil": Moment(-20)},
        },
    ),
    (
        "PCohesionRequest",
        {"id": 3, "status": "running", "token": "t3", "requestedAt": Moment(-70), "leaseUntil": Moment(50)},
    ),
    ("PCohesionRequest", {"id": "q4", "command": "check", "graph": True}),
    (
        "PCohesionRequest",
        {
            "id": "q5",
            "status": "complete",
            "requestedAt": Moment(-600),
            "finishedAt": Moment(-500),
            PRODUCED: (("r1", 4),),
        },
    ),
    (
        "PCohesionRequest",
        {
            **{"id": "q6", "status": "requested", "cancel": True, "requestedAt": Moment(-60)},
            **{"notBefore": Moment(40), "busySince": Moment(-1_000)},
        },
    ),
]
_VALUES = ["command", "graph", "p", "search", "vertices", "run", "by"]


def _id(rng: random.Random) -> Any:
    return rng.choice(["q1", "q1", "q2", "q2", 3, "q4", "q5", "q6", "q9"])


def _held(rng: random.Random) -> dict[str, Any]:
    return rng.choice([{"id": "q2", "token": "t2"}, {"id": 3, "token": "t3"}, {"id": "q1", "token": "new"}])


def _finish(rng: random.Random) -> tuple[str, dict[str, Any]]:
    runs = rng.choice([[], [{"run": "r1", "version": 4}]])
    said = {"status": rng.choice(["complete", "failed"]), "message": "done", "progress": 1.0}
    return "finish_request", {**_held(rng), **said, "version": 4 if runs else None, "runs": runs}


def _return(rng: random.Random) -> tuple[str, dict[str, Any]]:
    return "return_request", {**_held(rng), "message": "busy", "wait": 2.5, "attempts": 1, "busy": rng.random() < 0.5}


def _claim(rng: random.Random) -> tuple[str, dict[str, Any]]:
    return "claim_request", {"id": _id(rng), "worker": "w", "token": "new", "attempts": 2, "lease": 30}


QUEUE: list[Menu] = [
    lambda rng: ("place_request", {"id": rng.choice(["q1", "q8", "q9"]), "values": {"command": "annotate"}}),
    lambda rng: ("cancel_request", {"id": _id(rng)}),
    lambda rng: ("poll_requests", {"limit": rng.choice([2, 10]), "ahead": 60}),
    lambda rng: (
        "enter_requests",
        {"skip": 0, "limit": 10, "statuses": ["requested", "running", "complete", "failed"], "message": "what?"},
    ),
    lambda rng: ("lock_requests", {"ids": [_id(rng)]}),
    lambda rng: ("lock_requests", {"ids": [_id(rng)]}),
    lambda rng: (
        "get_request",
        {"id": _id(rng), "names": _VALUES, "longest": 1_000, "most": 100, "ahead": 60},
    ),
    _claim,
    lambda rng: ("watch_request", _held(rng)),
    lambda rng: ("renew_request", {**_held(rng), "lease": 30, "progress": 0.5}),
    _return,
    _finish,
    lambda rng: ("refuse_requests", {"ids": [_id(rng), _id(rng)], "message": "no", "ahead": 60}),
    lambda rng: ("list_excess", {"waiting": rng.randint(0, 2), "limit": 10}),
    lambda rng: ("delete_answers", {"seconds": rng.choice([100, 10_000]), "keep": rng.randint(0, 2), "limit": 10}),
    lambda rng: ("get_answer", {"id": _id(rng)}),
]

# --- Runs


def _hub(vertex: int, since: int, until: int, *members: int) -> tuple[str, dict[str, Any]]:
    said = {"run": "r1", "from": since, "until": until, "size": len(members), "edges": 1, "proven": True, "best": False}
    retired = {} if until == CURRENT else {RETIRED: True}
    return "PCohesion", {**said, OWNER: vertex, MEMBERS: members, **retired}


def _version(number: int, *, readable: bool = True, **more: Any) -> tuple[str, dict[str, Any]]:
    times = {"startedAt": Moment(-900), "finishedAt": Moment(-800)}
    return "PCohesionVersion", {"run": "r1", "version": number, "readable": readable, **times, **more}


RUNS_AT_FIRST: Known = [
    ("PCohesionGraph", {**GRAPH, "lastVersion": 4}),
    *(("Person", {"id": number}) for number in (1, 2, 3)),
    (
        "PCohesionRun",
        {"id": "r1", "graph": "friends", "scope": "graph", "pText": "1/2", "search": "density", "version": 4},
    ),
    ("PCohesionRun", {"id": "r0", "graph": "friends", "scope": "graph", "search": "density", "version": 0}),
    _version(2, replacedAt=Moment(-700)),
    _version(3, replacedAt=Moment(-20)),
    _version(4),
    _hub(1, 2, 3, 1, 2),
    _hub(1, 3, CURRENT, 1, 3),
    _hub(2, 2, 4, 2),
    _hub(2, 4, CURRENT, 2, 3),
    _hub(3, 2, 5, 3),
    _hub(3, 5, CURRENT, 3, 1),
    _hub(9, 2, CURRENT, 1),
]
_FIGURES = ("cohesions", "memberships", "nodeCount", "relationshipCount", "vertices", "edges", "added", "retired")


def _create(rng: random.Random) -> tuple[str, dict[str, Any]]:
    said = {"size": 2, "edges": 1, "density": 1.0, "proven": True, "best": True, "owner": 7, "digest": "d"}
    rows = [{"vertex": rng.choice([1, 2, 9]), "members": rng.choice([[1, 2], [2, 9]]), **said}]
    return "create_cohesions", {"run": "r1", "version": 5, "p": 0.5, "search": "density", "rows": rows}


def _complete(rng: random.Random) -> tuple[str, dict[str, Any]]:
    figures = {**dict.fromkeys(_FIGURES, 1), "pcneo": "x", "revision": 1, "effort": 1}
    hashes = {"fingerprint": None, "membershipHash": None, "startedAt": None}
    return "create_version", {"run": "r1", "replaces": rng.choice([3, 4, 4]), "version": 5, **figures, **hashes}


RUNS: list[Menu] = [
    lambda _: ("list_runs", {}),
    lambda rng: ("list_versions", {"run": rng.choice(["r1", "r0"])}),
    lambda _: ("list_unfinished", {"graph": "friends"}),
    lambda rng: ("get_version", {"run": "r1", "version": rng.randint(1, 5)}),
    lambda rng: (
        "merge_run",
        {
            **{"run": rng.choice(["r1", "r7"]), "graph": "friends", "scope": "graph"},
            "p": 0.5,
            "pText": "1/2",
            "search": "x",
        },
    ),
    lambda rng: ("hide_run", {"run": rng.choice(["r1", "r7"])}),
    lambda rng: ("delete_run", {"run": rng.choice(["r1", "r0"])}),
    _complete,
    lambda rng: (
        "close_versions",
        {
            "run": "r1",
            "version": 4,
            "keep": rng.randint(0, 1),
            "seconds": rng.choice([0, 600]),
            "pinned": rng.choice([[], [2]]),
        },
    ),
    lambda rng: ("delete_versions", {"run": "r1", "versions": [rng.randint(2, 3)]}),
    _create,
    lambda rng: ("retire_cohesions", {"run": "r1", "version": 4, "next": 5, "keys": rng.choice([[1], [1, 2], [9]])}),
    lambda _: ("retire_strays", {"run": "r1", "version": 4, "next": 5, "limit": 10}),
    lambda _: ("restore_cohesions", {"run": "r1", "version": 4, "limit": 10}),
    lambda rng: ("delete_unseen", {"run": "r1", "version": rng.choice([4, 4, 0]), "limit": 10, "careful": False}),
    lambda rng: (
        "delete_retired",
        {"run": "r1", "after": rng.choice([0, 2]), "by": rng.choice([3, 4]), "limit": 10, "careful": False},
    ),
    lambda _: ("count_written", {"run": "r1", "next": 5}),
    lambda rng: ("count_current", {"run": "r1", "version": rng.randint(2, 5)}),
    lambda _: ("count_retired", {"run": "r1"}),
    lambda rng: ("get_cohesions", {"run": "r1", "version": rng.randint(2, 4), "keys": [1, 2, 3]}),
]

MENUS: dict[str, tuple[list[Menu], Known]] = {
    "ledger": (LEDGER, LEDGER_AT_FIRST),
    "queue": (QUEUE, QUEUE_AT_FIRST),
    "runs": (RUNS, RUNS_AT_FIRST),
}
