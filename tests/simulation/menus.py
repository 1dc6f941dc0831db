"""The statements that are run on the model and on a server, with the initial data."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["MENUS", "Known", "Menu", "Moment"]

Menu = Callable[[random.Random], tuple[str, dict[str, Any]]]
Known = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Moment:
    """A time, so many seconds from now."""

    seconds: float


RECORD = {"nodeLabels": ["Person"], "relationshipTypes": ["KNOWS"], "key": "id", "fingerprintKey": "0" * 64}
NOTE = {"records": ["{}"], "who": "w"}
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
    lambda rng: ("move_ledger", {"graph": rng.choice(["friends", "pals"]), "to": "friends", "add": rng.randint(0, 2)}),
    lambda _: ("delete_ledger", {"graph": "friends"}),
    lambda _: ("create_note", {"kind": "same", "graph": "friends", "other": "pals", "what": "x", **NOTE}),
    lambda _: ("list_graphs", {}),
    lambda _: ("list_ledger", {}),
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

MENUS: dict[str, tuple[list[Menu], Known]] = {
    "ledger": (LEDGER, LEDGER_AT_FIRST),
}
