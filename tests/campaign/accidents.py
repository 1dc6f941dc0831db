"""Faults around a command: a full or read-only disk, outputs that take nothing, no memory, a wrong clock, a bad line.

Whatever the fault, the command ends in one of pcneo's own ways, nothing half done is visible, the ledger holds what was
published, and the same command succeeds once nothing is wrong.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from campaign.children import CLOSED, Accident, Ended
from campaign.ground import ASKED, GRAPH, Ground, at_pace, must_be_ours
from campaign.proxy import Harm, Proxy

__all__ = ["try_accident", "try_line"]

Arguments = tuple[object, ...]
RUN = f"{GRAPH}@1/2"
NOT_HEARD = "(not heard)"


def try_accident(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Run a command where something is wrong; whether it succeeded all the same."""
    ground.renew(rng)
    accident = rng.choice([_full_disk, _small_files, _read_only, _bad_streams, _slow_output, _no_memory, _wrong_clock])
    where = folder / "where"
    where.mkdir()
    ended = accident(rng, where, ground)
    must_be_ours(ended, most_mib=4_000)
    assert ended.seconds < at_pace(60), str(ended)
    ground.check()
    ground.check_ledger(where, {"first": ended.err})
    _succeeds(ended.arguments, folder, where, ground)
    return ended.code == 0


def _succeeds(arguments: tuple[str, ...], folder: Path, where: Path, ground: Ground) -> None:
    """See that the same command succeeds elsewhere, with nothing wrong."""
    other = folder / "other"
    other.mkdir()
    again = ground.child(
        *(part.replace(str(where), str(other)) for part in arguments), folder=other, who="again"
    ).wait()
    must_be_ours(again, codes={0})
    ground.check()


def _draw(rng: random.Random, where: Path, writes: bool = False) -> Arguments:
    """A command; with `writes` one that writes files."""
    release = ("release", GRAPH, "--to", where / "first.json", "--anyway")
    stream = ("annotate", *ASKED, "-p", "1/2", "--mode", "stream")
    files: list[Arguments] = [
        (*release, "--mechanism", "edge", "-e", "1/8"),
        (*release, "--mechanism", "respond", "-e", "2"),
        ("runs", RUN, "--to", where / "run.graphml"),
        ("runs", RUN, "--to", where / "run.json"),
        (
            "annotate",
            "--graph",
            GRAPH,
            "-p",
            "1/2",
            "--mode",
            "stream",
            "--to",
            where / "c.parquet",
        ),
        ("show", 3, RUN, "--plot", where / "picture.svg"),
    ]
    others: list[Arguments] = [
        ("annotate", "--graph", GRAPH),
        ("annotate", "--graph", GRAPH, "-p", "2/3"),
        stream,
        ("annotate", *ASKED, "-p", "1/2", "--mode", "stats", "--json"),
        ("queries", "largest_cohesions", "--param", f"run={RUN}"),
        ("queries",),
        ("runs", "--json"),
        ("show", 3, RUN),
        ("budget", "show"),
        ("check", "--schema", "--node-label", "Person", "--key", "id"),
    ]
    return rng.choice(files if writes else [*files, *others])


def _full_disk(rng: random.Random, where: Path, ground: Ground) -> Ended:
    with _disk(where, f"size={rng.choice([16, 24, 32, 48, 64])}k") as mounted:
        if mounted:
            with contextlib.suppress(OSError), (where / "filler").open("wb", buffering=0) as filler:
                filler.write(bytes(rng.randint(0, 32_000)))
        accident = Accident() if mounted else Accident(largest_file=rng.randint(0, 20_000))
        child = ground.child(*_draw(rng, where, writes=True), folder=where.parent, who="first", accident=accident)
        return _heard(child.wait(), accident)


def _small_files(rng: random.Random, where: Path, ground: Ground) -> Ended:
    accident = Accident(largest_file=rng.choice([0, 1, 100, 1_000, 5_000, 20_000]), fresh=rng.random() < 0.3)
    child = ground.child(*_draw(rng, where, writes=True), folder=where, who="first", accident=accident)
    return _heard(child.wait(), accident)


def _read_only(rng: random.Random, where: Path, ground: Ground) -> Ended:
    with _disk(where, "size=1m") as mounted:
        if mounted:
            _mount("-o", "remount,ro", str(where))
        else:
            where.chmod(0o500)
        child = ground.child(*_draw(rng, where, writes=True), folder=where, who="first")
        ended = child.wait()
    where.chmod(0o700)
    assert ended.code != 0 or os.geteuid() == 0, str(ended)
    return ended


def _bad_streams(rng: random.Random, where: Path, ground: Ground) -> Ended:
    bad = {0: [CLOSED, "/dev/full", os.devnull], 1: [CLOSED, "/dev/full"], 2: [CLOSED, "/dev/full"]}
    chosen = rng.sample([0, 1, 2], rng.randint(1, 3))
    streams = {descriptor: rng.choice(bad[descriptor]) for descriptor in chosen}
    accident = Accident(streams=streams, fresh=True)
    return _heard(ground.child(*_draw(rng, where), folder=where, who="first", accident=accident).wait(), accident)


def _heard(ended: Ended, accident: Accident) -> Ended:
    """Where standard error takes nothing, or not all, nothing can be asked of what was said there."""
    if 2 not in accident.streams and accident.largest_file is None:
        return ended
    return Ended(ended.arguments, ended.code, ended.out, ended.err + NOT_HEARD, ended.seconds, ended.mib)


def _slow_output(rng: random.Random, where: Path, ground: Ground) -> Ended:
    """Standard output is a pipe that is read slowly, or that nobody reads to its end."""
    pipe = where.with_name("pipe")
    os.mkfifo(pipe)
    most, pause = rng.choice([0, 1, 100, 10**9]), rng.choice([0.0, 0.05])

    def read() -> None:
        with pipe.open("rb", buffering=0) as reading:
            seen = 0
            while seen < most and (piece := reading.read(50)):
                seen += len(piece)
                time.sleep(pause)

    reader = threading.Thread(target=read)
    reader.start()
    accident = Accident(streams={1: str(pipe)}, fresh=rng.random() < 0.3)
    ended = ground.child(*_draw(rng, where), folder=where, who="first", accident=accident).wait()
    reader.join(30)
    if ended.code == 1 and not ended.err.strip():  # the reader has seen enough: no word is due
        return Ended(ended.arguments, 1, ended.out, ended.err + NOT_HEARD, ended.seconds, ended.mib)
    return ended


def _no_memory(rng: random.Random, where: Path, ground: Ground) -> Ended:
    accident = Accident(memory=rng.randint(600, 2_500), fresh=True)
    return ground.child(*_draw(rng, where), folder=where, who="first", accident=accident).wait()


def _wrong_clock(rng: random.Random, where: Path, ground: Ground) -> Ended:
    seconds = rng.choice([-3600.0, -86400.0 * 400, -86400.0 * 20_000, 86400.0 * 30_000])
    ended = ground.child(*_draw(rng, where), folder=where, who="first", accident=Accident(clock=seconds)).wait()
    assert ended.code == 0, str(ended)
    return ended


@contextlib.contextmanager
def _disk(where: Path, options: str) -> Iterator[bool]:
    """Put a file system in memory at a folder for the length of the block; whether that could be done."""
    mounted = _mount("-t", "tmpfs", "-o", options, "none", str(where))
    try:
        yield mounted
    finally:
        if mounted:
            kept = where.with_name("kept")
            shutil.copytree(where, kept)
            subprocess.run([str(shutil.which("umount")), "--lazy", str(where)], check=True)
            shutil.copytree(kept, where, dirs_exist_ok=True)


def _mount(*arguments: str) -> bool:
    command = shutil.which("mount")
    return (
        command is not None and not subprocess.run([command, *arguments], capture_output=True, check=False).returncode
    )


# --- On the way to the server


def try_line(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Run a command over a bad line; whether it succeeded all the same."""
    ground.renew(rng)
    where = folder / "where"
    where.mkdir()
    harm = _draw_harm(rng)
    with Proxy(ground.server.uri, harm) as proxy:
        ended = ground.child(*_draw(rng, where), folder=where, who="first", uri=proxy.uri).wait()
    must_be_ours(ended)
    assert ended.seconds < at_pace(LONGEST[harm.kind]), f"{harm}: {ended}"
    if ended.seconds > at_pace(25):
        said = ("has not answered for 20 s", "trying again for 30 s")
        assert any(words in ended.err for words in said), f"a silence without a word: {harm}: {ended}"
    _wait_for_locks(ground)
    ground.check()
    ground.check_ledger(where, {"first": ended.err})
    _succeeds(ended.arguments, folder, where, ground)
    return ended.code == 0


LONGEST = {"delay": 60, "trickle": 60, "stall": 120, "drop": 200, "cut": 60, "refuse": 80}
"""Seconds after which a command over a bad line must have ended."""


def _draw_harm(rng: random.Random) -> Harm:
    kind = rng.choice(["delay", "delay", "trickle", "trickle", "cut", "cut", "cut", "refuse", "stall"])
    if rng.random() < 0.02:
        kind = "drop"  # which takes as long as the driver waits
    seconds = {"delay": rng.random() * 0.1, "stall": rng.choice([1.0, 3.0, 25.0])}.get(kind, 0.0)
    return Harm(kind, rng.choice([0, rng.randint(0, 600), rng.randint(600, 20_000)]), seconds)


def _wait_for_locks(ground: Ground) -> None:
    """Wait until the server has seen that connections are gone."""
    deadline = time.monotonic() + 20
    text = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.pcneo IS NOT NULL RETURN 1"
    while ground.db.run(text) and time.monotonic() < deadline:
        time.sleep(0.1)
