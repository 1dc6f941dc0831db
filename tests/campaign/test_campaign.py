"""A part of the campaign in the suite: hostile input always, five minutes of all kinds under `--thorough`."""

from __future__ import annotations

import random
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
from lengths import examples

from campaign import course
from campaign.children import Accident, Child
from campaign.kept import Kept
from campaign.proxy import Harm, Proxy


def check(outcomes: dict[str, course.Outcome], least: int) -> None:
    print(course.summary(outcomes))
    for kind, outcome in outcomes.items():
        assert not outcome.failures, f"{kind} {outcome.failures[0][0]}: {outcome.failures[0][1]}"
        if kind in course.KINDS:
            assert outcome.tried >= least
            few = outcome.tried < 20  # of which nothing can be said
            assert few or 4 * outcome.accepted >= outcome.tried, f"of {kind} too few are accepted"


def test_nothing_breaks_it() -> None:
    check(course.run("the suite", minutes=5, most=examples(60), kinds=list(course.KINDS)), 1)


@pytest.mark.thorough
def test_nothing_breaks_it_in_five_minutes() -> None:
    """Writers, races, accidents and services have tests of their own, which always run."""
    check(course.run("five minutes", minutes=5), 100)


def test_a_failure_is_noted_with_the_seed_that_brings_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(rng: random.Random, folder: Path) -> bool:
        if rng.random() < 0.5:
            raise ZeroDivisionError(folder)
        return True

    monkeypatch.setattr(course, "KINDS", {"made": fail})
    outcomes = course.run("x", minutes=1, most=50, kinds=["made"])
    assert 0 < len(outcomes["made"].failures) < 50
    assert outcomes["made"].accepted == 50 - len(outcomes["made"].failures)
    seed, trouble = outcomes["made"].failures[0]
    assert "ZeroDivisionError" in trouble
    assert seed in course.summary(outcomes)
    with pytest.raises(ZeroDivisionError):
        course.try_case("made", seed)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says what a process had at most")
def test_a_case_that_takes_too_much_memory_is_a_failure_even_if_it_gives_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def take(rng: random.Random, _: Path) -> bool:
        return bool(bytearray(rng.choice([1, 2 * course.MOST_MIB]) * 2**20))

    monkeypatch.setattr(course, "KINDS", {"made": take})
    outcome = course.run("x", minutes=1, most=10, kinds=["made"])["made"]
    assert 0 < len(outcome.failures) < 10
    taken = [int(said.removeprefix("it took ").removesuffix(" MiB")) for _, said in outcome.failures]
    assert max(taken) == outcome.mib
    assert all(abs(mib - 2 * course.MOST_MIB) < 20 for mib in taken)


def test_a_run_goes_on_where_the_one_before_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []

    def fail(rng: random.Random, _: Path) -> bool:
        tried.append(rng.random())
        assert tried[-1] < 0.7
        return tried[-1] < 0.5

    monkeypatch.setattr(course, "KINDS", {"made": fail})
    whole = course.run("kept", minutes=1, most=30, kinds=["made"])["made"]
    file, drawn = tmp_path / "sum.json", tried[:]
    tried.clear()
    for most in (12, 30):
        kept = Kept(file, "kept")
        course.run(kept.seed, minutes=1, most=most, kinds=["made"], before=kept.outcomes, keep=kept.keep)
    assert tried == drawn
    both = Kept(file).outcomes["made"]
    assert (both.tried, both.accepted) == (whole.tried, whole.accepted)
    assert [seed for seed, _ in both.failures] == [seed for seed, _ in whole.failures] != []
    with pytest.raises(ValueError, match="is of the seed kept, not another"):
        Kept(file, "another")


def test_a_child_dies_where_it_is_told_to_and_its_accidents_happen(tmp_path: Path) -> None:
    """A campaign whose faults do not happen would find none."""
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "keys.json").write_text("[1, 2, 3]")

    def ended(accident: Accident) -> int | None:
        (folder / "call.json").unlink(missing_ok=True)
        call = ("party", "collect", folder, "--keys", "keys.json", "-e", "2")
        return Child(*call, folder=folder, environment={"PATH": "/usr/bin:/bin"}, accident=accident).wait().code

    assert ended(Accident()) == 0
    assert (folder / "call.json").exists()
    assert ended(Accident(dies=("file", 1, False))) == -9
    assert not (folder / "call.json").exists()
    assert ended(Accident(largest_file=0)) not in (0, None)
    assert not (folder / "call.json").exists()


@pytest.mark.parametrize(
    ("kind", "arrives"), [("delay", 100), ("trickle", 100), ("stall", 100), ("drop", 10), ("cut", 20), ("refuse", 20)]
)
def test_the_way_to_a_server_goes_wrong_as_it_is_told_to(kind: str, arrives: int) -> None:
    """From the twentieth byte on; pieces of ten are sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with Proxy(f"bolt://127.0.0.1:{listener.getsockname()[1]}", Harm(kind, 20, 0.2)) as proxy:
            client = socket.create_connection(("127.0.0.1", int(proxy.uri.rpartition(":")[2])))
            server, _ = listener.accept()
            began, got = time.monotonic(), b""
            threading.Thread(target=_send, args=(server,)).start()
            client.settimeout(1.5)
            try:
                while len(got) < 100 and (piece := client.recv(100)):
                    got += piece
            except TimeoutError:
                assert kind == "drop"
            seconds = time.monotonic() - began
            client.close()
        assert len(got) == arrives or (kind == "drop" and not got)  # a slow machine passes the first two pieces as one
        assert proxy.has_harmed
        assert seconds > {"delay": 0.2, "stall": 0.2, "drop": 1}.get(kind, 0)


def _send(server: socket.socket) -> None:
    with server:
        for _ in range(10):
            try:
                server.sendall(bytes(10))
            except OSError:
                return
            time.sleep(0.02)
        server.settimeout(5)
        try:
            server.recv(1)
        except OSError:
            return
