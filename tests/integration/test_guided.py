"""`pcneo release` on a pseudo-terminal: what it asks, and that nothing is spent before a yes."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import neo4j
import pytest
from graphs import Database

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.release import budget

Answer = tuple[str, str]
"""The end of a question, and what is typed then."""

HOW = "ε or ± [1]: "
QUESTIONS: list[Answer] = [("1, 2 or 3: ", "7"), ("1, 2 or 3: ", "2"), (HOW, "nought"), (HOW, "± x%"), (HOW, "")]
FILE: Answer = ("[counts.csv]: ", "out.csv")


@pytest.fixture
def db(neo4j_driver: neo4j.Driver, empty_database: str) -> Database:
    db = Database(neo4j_driver, empty_database)
    db.put([(1, 2), (1, 3), (2, 3), (3, 4), (2, 4)])
    return db


def typed(answers: Sequence[Answer], folder: Path, environment: dict[str, str], *options: str) -> tuple[int, str]:
    """What `pcneo release` prints on a terminal where each question gets its answer, and its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pcneo", "release", *options],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, start_new_session=True,
        env={**os.environ, **environment, "TERM": "dumb", "COLUMNS": environment.get("COLUMNS", "200")},
    )  # fmt: skip
    os.close(theirs)
    text, place, waiting, end = "", 0, list(answers), time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux says so where the other end is closed
            break
        text += chunk.decode(errors="replace")
        if waiting and (found := text.find(waiting[0][0], place)) >= 0:
            place = found + len(waiting[0][0])
            os.write(ours, f"{waiting.pop(0)[1]}\n".encode())
    code = process.wait(30)
    os.close(ours)
    assert not waiting, text
    return code, text


@pytest.mark.parametrize("yes", [True, False])
def test_a_release_at_a_terminal_asks_three_questions_and_spends_after_a_yes_alone(
    db: Database, tmp_path: Path, server: Any, yes: bool
) -> None:
    answers = [*QUESTIONS, FILE, ("[y/N]: ", "y" if yes else "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert "pcneo release --mechanism modelled -e 1 --to out.csv --budget-epsilon 1 Person/KNOWS/id" in text
    assert "Type a positive number such as 0.5 or 1/3, or an error such as ±400 or ±5%." in text
    assert re.search(r"Expect the number of all triangles to be off by \S+ or more \(one standard error\)\.", text)
    assert "only `pcneo audit GRAPH` says how far off it is" in text
    assert "a count to be off" not in text
    will_be = (
        "This graph has no budget yet, how much ε all its releases may spend together: it will be set to ε = 1, all of "
        "which this release spends."
    )
    assert text.index(will_be) < text.index("[y/N]")
    assert (tmp_path / "out.csv").exists() == yes
    spent = [release for graph in budget.show(db.store) for release in graph.releases]
    assert len(spent) == yes
    assert ("Nothing was spent." in text) == (not yes)


def test_what_published_answers_would_show_is_said_before_the_yes(db: Database, tmp_path: Path, server: Any) -> None:
    answers = [("1, 2 or 3: ", "3"), (HOW, "8"), FILE, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment), "--answers", "publish")
    assert code == 0, text
    assert "the answers show much of the graph" in " ".join(text[: text.index("[y/N]")].split())


SPECIAL = r"λ|δ|e\^|root mean square|mechanism|ledger|randomised|scale|degree|version,|membership|yes-answer"
"""What nobody needs to know before a first release."""


@pytest.mark.parametrize(("number", "asked"), [("1", "ε [1]: "), ("2", HOW), ("3", HOW)])
def test_before_a_first_release_few_words_have_a_meaning_of_their_own(
    db: Database, tmp_path: Path, server: Any, number: str, asked: str
) -> None:
    annotate.write(db.store, p="1/2", selection=Selection("Person", "KNOWS", "id"))
    code, text = typed(
        [("1, 2 or 3: ", number), (asked, "2"), FILE, ("[y/N]: ", "n")], tmp_path, dict(server.environment)
    )
    assert code == 0, text
    prose = [line for line in text.splitlines() if "pcneo release" not in line]
    assert [line for line in prose if re.search(SPECIAL, line)] == []


def test_an_error_of_the_total_in_place_of_epsilon_gives_the_epsilon(db: Database, tmp_path: Path, server: Any) -> None:
    answers = [("1, 2 or 3: ", "2"), (HOW, "±20%"), ("about: ", "3"), FILE, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    (epsilon,) = set(re.findall(r"The total errs by \S+ or more at ε = ([\d.]+)\.\s", text))
    assert f"-e {epsilon} --to out.csv" in text
    assert "--expect 3" in text
    assert float(epsilon) > 1
    assert not budget.show(db.store)


def test_an_error_from_which_no_epsilon_follows_is_said_and_one_is_asked_for(
    db: Database, tmp_path: Path, server: Any
) -> None:
    answers = [("1, 2 or 3: ", "2"), (HOW, "+-0.001"), FILE, ("ε [1]: ", "2"), ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert "No ε follows from that with modelled." in text
    assert "-e 2 --to out.csv" in text


def test_critical_is_offered_no_error_and_an_epsilon_that_it_does_not_take_is_refused_where_it_is_typed(
    db: Database, tmp_path: Path, server: Any
) -> None:
    annotate.write(db.store, p="1/2", selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph="Person/KNOWS/id", epsilon=3)
    long = "a-file-with-such-a-long-name-that-the-command-fills-more-than-a-line-of-a-terminal.csv"
    epsilons = [("ε [1]: ", typed_epsilon) for typed_epsilon in ("100", "±5", "2")]
    answers = [("1, 2 or 3: ", "1"), *epsilons, ("[counts.csv]: ", long), ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, {**server.environment, "COLUMNS": "60"})
    assert code == 0, text
    said = " ".join(text.split())
    assert "epsilon of critical must be from 0.001 to 16, not 100. Below that nearly half the answers" in said
    assert "Type a positive number such as 0.5 or 1/3." in said
    assert "such as ±400" not in said
    assert f"  pcneo release --mechanism critical -e 2 --to {long} Person/KNOWS/id@1/2" in text.splitlines()
    before_yes = said[: said.index("[y/N]")]
    assert "This graph has ε = 3, δ = 0 left; this release spends ε = 2 and leaves ε = 1, δ = 0." in before_yes


def test_critical_without_a_stored_run_is_refused_before_the_last_question(
    db: Database, tmp_path: Path, server: Any
) -> None:
    code, text = typed([("1, 2 or 3: ", "critical"), ("ε [1]: ", ""), FILE], tmp_path, dict(server.environment))
    assert code == 4, text
    assert "[y/N]" not in text
    assert "Traceback" not in text
    assert not list(tmp_path.iterdir())
    assert not budget.show(db.store)
