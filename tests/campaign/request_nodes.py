"""Requests drawn from a grammar: a service answers each, with its result or with a sentence, and keeps running."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

from graphs import own_text
from neo4j.exceptions import Neo4jError
from services import answer, wait_until

from campaign.ground import GRAPH, Ground, at_pace, serve
from campaign.texts import any_name, hostile_text, number_text, one_of

__all__ = ["try_requests"]

KNOWN = ("command", "graph", "p", "search", "vertices", "run", "by", "id", "cancel", "status", "progress", "message")
WRITTEN = (
    *("attempts", "requestedAt", "leaseUntil", "notBefore", "busySince", "token", "worker", "status", "progress"),
    *("message", "version", "startedAt", "finishedAt", "lockedAt"),
)
"""Properties that a service writes itself, and that anybody else may have written as well."""
EXPRESSIONS = (
    *("9223372036854775807", "-9223372036854775808", "-1", "0.0 / 0.0", "1e308", "true", "''", "'yesterday'", "[]"),
    *("[1, 2]", "['a']", "'x' + reduce(x = 'y', i IN range(1, 12) | x + x)", "date()", "time()", "localdatetime()"),
    *("datetime('+999999999-12-31T23:59:59Z')", "datetime('-999999999-01-01T00:00:00Z')", "datetime('1970-01-01')"),
    *("datetime() + duration('P1D')", "datetime({year: 12000, timezone: 'Pacific/Kiritimati'})", "[datetime()]"),
    *("[datetime('+999999999-12-31T23:59:59Z')]", "duration({years: 100000000})", "point({x: 1, y: 2})"),
)
"""Cypher for values of every kind that a property can have, and the farthest of each."""
FINAL = ("complete", "failed", "cancelled")
REQUESTS = 25


def try_requests(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Ask a service for many things at once; whether all were answered and some were done."""
    ground.renew(rng, vertices=12)
    service = serve(ground, folder)
    try:
        for number in range(REQUESTS):
            _place(ground, _draw(rng, number))
            if rng.random() < 0.3:
                _meddle(rng, ground)
            if rng.random() < 0.1:
                ground.db.run(own_text("MATCH (q:PCohesionRequest {asked: $n}) SET q.cancel = true"), n=number)
        wait_until(lambda: not _waiting(ground), "answers to all requests", at_pace(120))
        assert service.is_running, "the service has ended"
        plain = ground.db.run(
            "CREATE (q:PCohesionRequest {id: 'plain', command: 'check', graph: $g}) RETURN q.id", g=GRAPH
        )
        assert answer(ground.db, plain[0][0], 60)["status"] == "complete"
    finally:
        service.send(signal.SIGTERM)
        ended = service.wait(at_pace(60))
    assert ended.code == 0, str(ended)
    assert "Traceback" not in ended.err, str(ended)
    answers = ground.db.run("MATCH (q:PCohesionRequest) RETURN q.status, q.message, properties(q)")
    for status, message, properties in answers:
        assert status == "cancelled" or (isinstance(message, str) and message.strip()), properties
        assert status != "failed" or not any(word in message for word in WRONG), (message, properties)
    ground.check()
    return sum(status == "complete" for status, _, _ in answers) > 1


def _place(ground: Ground, values: dict[str, Any]) -> None:
    """Create a request, unless the server itself refuses that to its author."""
    try:
        ground.db.run("CREATE (q:PCohesionRequest) SET q = $values", values=values)
    except Neo4jError as error:
        is_name = error.code == "Neo.ClientError.Schema.TokenNameError"  # a null byte in a property's name
        if not is_name and "too large to index" not in str(error):
            raise


def _meddle(rng: random.Random, ground: Ground) -> None:
    """Write what a service writes, on a request that waits, that is worked on, or that is answered."""
    name, value = rng.choice(WRITTEN), rng.choice(EXPRESSIONS)
    if rng.random() < 0.05:  # what is refused until its owner has removed it
        ground.db.run(own_text(f"MATCH (g:PCohesionGraph) SET g.lastVersion = {value}"))
    if name != "status":
        ground.db.run(
            own_text(f"MATCH (q:PCohesionRequest) WITH q ORDER BY rand() LIMIT 1 SET q.{name} = {value}"),
        )


WRONG = ("Error(", "Exception", "unexpected", "NoneType", "object has no", "Neo.")
"""What stands in no sentence for the author of a request."""


def _waiting(ground: Ground) -> list[list[Any]]:
    return ground.db.run(
        "MATCH (q:PCohesionRequest) WHERE NOT coalesce(q.status IN $final, false) RETURN q", final=FINAL
    )


def _draw(rng: random.Random, number: int) -> dict[str, Any]:
    command = one_of(rng, ["annotate", "check", "clean"], ["release", "", hostile_text(rng)])
    values: dict[str, Any] = {"command": command}
    match command:
        case "annotate":
            values |= {"graph": GRAPH, "p": one_of(rng, ["0.3", "1/2"], [number_text(rng, 0.8)], 0.3)}
            if rng.random() < 0.6:
                values["vertices"] = rng.sample(range(14), rng.randint(0, 4))
        case "check":
            values |= {"graph": GRAPH} if rng.random() < 0.5 else {"run": f"{GRAPH}@1/2"}
        case _:
            values |= {"run": one_of(rng, [f"{GRAPH}@1/2", f"{GRAPH}@3/10"], [hostile_text(rng)])}
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        values[rng.choice(KNOWN)] = _value(rng)
    if rng.random() < 0.1:
        values.pop(rng.choice(list(values)))
    if rng.random() < 0.05:
        values[any_name(rng) or "x"] = 1
    if isinstance(values.get("status"), str) and rng.random() < 0.8:
        values["status"] = "requested"
    if values.get("status") in FINAL:
        del values["status"]
    return {name: value for name, value in values.items() if value is not None}


def _value(rng: random.Random) -> Any:
    """Anything that a property can be."""
    scalars = [True, 0, -1, 3, 2**63 - 1, 0.5, float("nan"), float("inf"), "", "0.3", any_name(rng), hostile_text(rng)]
    return rng.choice([*scalars, [], [1, 2], ["a", "b"], [0.5], [True], "x" * 5_000, list(range(3_000))])
