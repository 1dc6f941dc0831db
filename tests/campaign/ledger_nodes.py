"""Nodes of the ledger set, deleted, forged and changed at random: nothing crashes on them, and all can be mended."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphs import own_text
from requested import requested

from campaign.ground import GRAPH, Ground
from campaign.request_nodes import EXPRESSIONS
from campaign.texts import hostile_text
from pcneo.errors import PcneoError
from pcneo.release import Terms, budget, release
from pcneo.release.checking import check
from pcneo.release.ledger_mending import mend

__all__ = ["try_ledger"]

NAMES = ("id", "graph", "mechanism", "epsilon", "delta", "at", "who", "k", "run", "membershipHash", "number")
FURTHER = ("epsilonOne", "answers", "version", "keysFingerprint", "file", "property", "runVersion", "nodeLabels", "h")


def try_ledger(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Change a ledger a few times, and put it right; whether a release is admitted afterwards."""
    ground.renew(rng, vertices=12)
    _release(ground, folder / "first.csv")
    for _ in range(rng.randint(1, 8)):
        _change(rng, ground)
        _look(ground)
        if rng.random() < 0.4:
            wanted = rng.randint(1, 30)
            try:
                account = budget.set_total(ground.db.store, graph=GRAPH, epsilon=wanted)
            except PcneoError:
                continue
            assert account.total is not None
            assert account.total.epsilon == wanted
            assert budget.show(ground.db.store, graph=GRAPH)[0].account == account
    damaged = []
    for _ in range(30):
        damaged = [f for f in check(ground.db.store).findings if "pcneo budget mend" in f.what]
        if not damaged:
            break
        record = damaged[0].about.partition(" ")[2]
        mend(ground.db.store, record=record, graph=GRAPH, epsilon="1/9")
    assert not damaged, damaged
    try:
        _release(ground, folder / "second.csv")
    except PcneoError:
        return False
    return True


def _release(ground: Ground, to: Path) -> None:
    wanted = requested(to=to, mechanism="edge", epsilon="0.1", graph=GRAPH)
    release(ground.db.store, requests=[wanted], terms=Terms(anyway=True))


def _change(rng: random.Random, ground: Ground) -> None:
    label = rng.choice(["PCohesionRelease", "PCohesionBudget"])
    match rng.randint(0, 3):
        case 0:
            ground.db.run(own_text("MATCH (b:PCohesionBudget) WITH b ORDER BY rand() LIMIT 1 DELETE b"))
        case 1:
            values = {"graph": GRAPH, "number": rng.choice([1, 2, 50]), "epsilon": "7/1", "delta": "0/1"}
            values[rng.choice(NAMES)] = _value(rng)
            ground.db.run(own_text(f"CREATE (b:{label}) SET b = $values, b.at = datetime()"), values=values)
        case _:
            value = rng.choice(EXPRESSIONS) if rng.random() < 0.3 else "$value"
            ground.db.run(
                own_text(
                    f"MATCH (n:{label}) WITH n ORDER BY rand() LIMIT 1 SET n.{rng.choice(NAMES + FURTHER)} = {value}"
                ),
                value=_value(rng),
            )


def _value(rng: random.Random) -> Any:
    scalars = [None, True, 0, -1, 7, 2**53, 0.5, "", "x", "1e999999999", "1/0", "-1", "3/2", GRAPH, "other", "critical"]
    return rng.choice([*scalars, hostile_text(rng), [], [1, 2], ["a"]])


def _look(ground: Ground) -> None:
    check(ground.db.store)
    with suppress(PcneoError):
        budget.show(ground.db.store)
