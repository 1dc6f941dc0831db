"""Kills: of a command, the server or the service, at random moments and at named ones.

Afterwards nothing may be half done, and the same work must succeed when it is done again.
"""

from __future__ import annotations

import json
import random
import signal
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from services import answer, ask, look

from campaign.children import POINTS, Accident, Ended
from campaign.ground import GRAPH, Ground, at_pace, must_be_ours, serve
from campaign.histories import SEEN
from campaign.user_locks import users
from pcneo import annotate
from pcneo.party.call import call, message_name

__all__ = ["try_kill", "try_kill_of_server", "try_kill_of_service"]

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
PARTIES = 6


@dataclass(frozen=True)
class Work:
    """A command, and what is there when it has succeeded."""

    kind: str
    arguments: tuple[object, ...]
    seconds: float

    def is_done(self, ground: Ground, folder: Path) -> None:
        """See that the work is done, whole and right."""
        if self.kind in ("annotate", "update"):
            ground.check(up_to_date=self.kind == "update")
            n = ground.db.run("MATCH (v:Person) RETURN count(v)")[0][0]
            assert all(hubs == n for run, hubs in ground.db.hubs().items() if not run.endswith(":vertices"))
        elif self.kind == "load":
            counted = ground.db.run("MATCH (v:Loaded) RETURN count(v), COUNT { (:Loaded)-[:TIES]->() }")
            assert counted == [[200, 199]], counted
        elif self.kind == "clean":
            assert str(self.arguments[1]) not in ground.db.versions()
        elif self.kind == "party":
            collected = json.loads((folder / "collected.json").read_text())
            assert collected["epsilon"] == "2", collected
        ground.check()


def draw_work(rng: random.Random, ground: Ground, folder: Path, name: str) -> Work:
    """Some work on the graph, prepared so that there is something to do."""
    kind = rng.choice(["annotate", "update", "update", "vertices", "release", "release", "load", "clean", "party"])
    to = folder / f"{name}.json"
    match kind:
        case "annotate":
            return Work(kind, ("annotate", "--graph", GRAPH, "-p", "2/3", "--search", "degree"), 0.8)
        case "update":
            return Work(kind, ("annotate", "--graph", GRAPH), 1.0)
        case "vertices":
            return Work(kind, ("annotate", "--graph", GRAPH, "-p", "0.4", "--vertex", "1", "--vertex", "5"), 0.6)
        case "release":
            mechanism = rng.choice(["critical", "edge", "respond"])
            epsilon = "2" if mechanism == "respond" else "1/8"
            if mechanism == "critical":
                annotate.write(ground.db.store, graph=GRAPH)  # its groups must be those of the graph
            named = f"{GRAPH}@1/2" if mechanism == "critical" else GRAPH
            return Work(
                kind,
                ("release", named, "--mechanism", mechanism, "-e", epsilon, "--to", to, "--anyway"),
                1.0,
            )
        case "load":
            file = folder / "line.edges"
            file.write_text("".join(f"{v} {v + 1}\n" for v in range(199)))
            selection = ("--node-label", "Loaded", "--relationship-type", "TIES", "--key", "id")
            return Work(kind, ("load", file, *selection), 0.8)
        case "clean":
            return Work(kind, ("clean", f"{GRAPH}@3/10"), 0.4)
        case _:
            return Work("party", _prepare_parties(rng, folder), 0.2)


def _prepare_parties(rng: random.Random, folder: Path) -> tuple[object, ...]:
    """Lay out a call, rows and ledgers; return one vertex's command."""
    (folder / "answers").mkdir()
    keys = list(range(PARTIES))
    (folder / "keys.json").write_text(json.dumps(keys))
    call(folder / "answers", folder / "keys.json", "2")
    for key in keys:
        (folder / f"row{key}").write_text(json.dumps({"key": key, "neighbours": [(key + 1) % 6, (key - 1) % 6]}))
        (folder / f"ledger{key}").write_text(json.dumps({"key": key, "limit": "3", "total": "100"}))
    return _party(rng.choice(keys))


def _party(key: int) -> tuple[object, ...]:
    return ("party", "answer", "answers/call.json", "--row", f"row{key}", "--ledger", f"ledger{key}")


def try_kill(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Kill a command; whether it was really killed before its end."""
    ground.renew(rng)
    ground.edit(rng)
    work = draw_work(rng, ground, folder, "first")
    point, number = rng.choice(list(POINTS)), SIGNALS[rng.randrange(len(SIGNALS))]
    named = rng.random() < 0.5
    dies = (point, rng.randint(1, 4 if point != "statement" else 25), rng.random() < 0.5)
    before = ground.db.versions()
    with users(rng, ground) if rng.random() < 0.2 else nullcontext():
        child = ground.child(
            *work.arguments, folder=folder, who="first", accident=Accident(dies=dies if named else None)
        )
        if not named:
            time.sleep(rng.random() * work.seconds)
            child.send(number)
        ended = child.wait()
    if ended.code not in (-signal.SIGKILL, -number):  # the latter before Python has begun to heed it
        must_be_ours(ended)
        assert ended.seconds < at_pace(20), str(ended)
    _see(work, ended, before, ground, folder)
    _do_again(work, ended, ground, folder)
    return ended.code != 0


def _see(work: Work, ended: Ended, before: dict[str, int], ground: Ground, folder: Path) -> None:
    """See that nothing half done is seen."""
    ground.check()
    now = ground.db.versions()
    new = {now[run] for run, version in before.items() if now.get(run, 0) not in (0, version)}
    assert len(new) <= 1, f"one command made several versions: {before} became {now}"
    assert all(version > max(before.values()) for version in new), f"{before} became {now}"
    was_killed = ended.code == -signal.SIGKILL
    ground.check_ledger(folder, {"first": ended.err}, {"first"} if was_killed else set())
    for path in folder.rglob("*.json"):
        json.loads(path.read_text())  # no file that is seen is a half one
    if work.kind == "party":
        key = str(work.arguments[-1]).removeprefix("ledger")
        spends = json.loads((folder / f"ledger{key}").read_text()).get("spends", [])
        messages = list((folder / "answers").glob("*.message*"))
        assert len(spends) >= len(messages), "a message without its spend"


def _do_again(work: Work, ended: Ended, ground: Ground, folder: Path) -> None:
    """Do what was killed again, as people do: what is there already is taken for done."""
    arguments = tuple(str(part).replace("first.json", "again.json") for part in work.arguments)
    if work.kind == "party":
        _finish_parties(ground, folder)
    else:
        again = ground.child(*arguments, folder=folder, who="again").wait()
        must_be_ours(again)
        is_gone = work.kind == "clean" and again.code == 4 and "There is no run" in again.err
        assert again.code == 0 or is_gone, f"after {ended}\n{again}"
        if work.kind == "release":
            assert (folder / "again.json").exists()
            ground.check_ledger(folder, {"again": again.err})
    work.is_done(ground, folder)


def _finish_parties(ground: Ground, folder: Path) -> None:
    for key in range(PARTIES):
        if (folder / "answers" / message_name(key)).exists():  # sent before the kill
            continue
        ended = ground.child(*_party(key), folder=folder).wait()
        assert ended.code == 0, str(ended)
    ended = ground.child("party", "collect", "answers", "--to", "collected.json", folder=folder).wait()
    assert ended.code == 0, str(ended)


def try_kill_of_server(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Kill or restart the server while a command works; whether that stopped it."""
    ground.renew(rng)
    ground.edit(rng)
    work = draw_work(rng, ground, folder, "first")
    before = ground.db.versions()
    child = ground.child(*work.arguments, folder=folder, who="first")
    time.sleep(rng.random() * work.seconds)
    how = "kill" if rng.random() < 0.7 else "end"
    (ground.kill if how == "kill" else ground.stop)()
    SEEN[f"server kills: {how}"] += 1
    time.sleep(rng.random() * 3)
    ground.start()
    ended = child.wait()
    must_be_ours(ended)
    _see(work, ended, before, ground, folder)
    _do_again(work, ended, ground, folder)
    return ended.code != 0


def try_kill_of_service(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Kill a service while it answers; another one answers every request, once."""
    ground.renew(rng)
    ground.edit(rng)
    first = serve(ground, folder)
    requests = [
        ask(
            ground.db,
            **rng.choice(
                [
                    {"command": "annotate", "graph": GRAPH, "p": "0.3"},
                    {"command": "annotate", "graph": GRAPH},
                    {"command": "annotate", "graph": GRAPH, "p": "2/3", "vertices": [1, 2]},
                    {"command": "check", "graph": GRAPH},
                ]
            ),
        )
        for _ in range(rng.randint(1, 4))
    ]
    time.sleep(rng.random() * 1.5)
    first.send(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
    ended = first.wait()
    ground.check()
    open_ones = [request for request in requests if look(ground.db, request).get("status") == "running"]
    ground.db.run(  # as it would half a minute later
        "MATCH (q:PCohesionRequest) WHERE q.leaseUntil IS NOT NULL SET q.leaseUntil = datetime() - duration('PT1S')"
    )
    second = serve(ground, folder)
    try:
        answers = [answer(ground.db, request, 60) for request in requests]
    finally:
        second.send(signal.SIGTERM)
        stopped = second.wait(at_pace(60))
    assert all(fields["status"] == "complete" for fields in answers), answers
    must_be_ours(stopped)
    if ended.code != -signal.SIGKILL:
        must_be_ours(ended)
    ground.check()
    return bool(open_ones)
