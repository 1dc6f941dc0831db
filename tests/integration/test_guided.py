"""`pcneo release` on a pseudo-terminal: what it asks, and that nothing is spent before a yes."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from graphs import Database
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.release import Terms, budget, release
from pcneo.store.lock import GraphLock

Answer = tuple[str, str]
"""The end of a question, and what is typed then."""

CTRL_C = "\x03"
HOW = "ε or ± [1]: "
DEGREE: Answer = ("a guess will do) [10]: ", "")
TRIANGLES: Answer = ("if you don't know): ", "")
MEANS = [DEGREE, TRIANGLES]
QUESTIONS: list[Answer] = [
    ("1, 2 or 3: ", "7"),
    ("1, 2 or 3: ", "2"),
    ("a guess will do) [10]: ", "many"),
    DEGREE,
    ("if you don't know): ", "few"),
    TRIANGLES,
    (HOW, "nought"),
    (HOW, "± x%"),
    (HOW, ""),
]
FILE: Answer = ("[counts.csv]: ", "out.csv")
BUDGET: Answer = ("may spend together [", "")


@pytest.fixture(name="db")
def two_triangles(db: Database) -> Database:
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
            if answers and answers[-1][1] == CTRL_C and not waiting and "Nothing was spent" not in text[place:]:
                # One that comes just before Python waits for a line is noticed with the next: people press it again.
                # Once it has been noticed, another would end a process that is about to end by itself.
                process.send_signal(signal.SIGINT)
            continue
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux says so where the other end is closed
            break
        text += chunk.decode(errors="replace")
        if waiting and (found := text.find(waiting[0][0], place)) >= 0:
            place = found + len(waiting[0][0])
            answer = waiting.pop(0)[1]
            if answer == CTRL_C:
                process.send_signal(signal.SIGINT)
            else:
                os.write(ours, f"{answer}\n".encode())
    try:
        code = process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        pytest.fail(f"It still waits, for what is not answered; to be answered were {waiting}:\n{text}")
    finally:
        os.close(ours)
    assert not waiting, text
    return code, text


@pytest.mark.parametrize("yes", [True, False])
def test_a_first_release_at_a_terminal_asks_six_questions_and_spends_after_a_yes_alone(
    db: Database, tmp_path: Path, server: Any, yes: bool
) -> None:
    budget_typed = [("may spend together [1]: ", "0.5"), ("may spend together [1]: ", "ε = 4")]
    answers = [*QUESTIONS, FILE, *budget_typed, ("[y/N]: ", "y" if yes else "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert "pcneo release --mechanism modelled -e 1 --to out.csv --budget-epsilon 4 Person/KNOWS/id" in text
    assert "Type a positive number such as 0.5 or 1/3, or an error such as ±400 or ±5%." in text
    assert re.search(r"Expect the number of all triangles to be off by \S+ or more \(one standard error; it is ", text)
    assert "often many times as much). This assumes 10 connections per vertex." in text
    assert "only `pcneo audit GRAPH` says how far off it is" in text
    assert "a count to be off" not in text
    will_be = (
        "This graph has no budget yet (the ε that all its releases may spend together). It will be set to ε = 4, of "
        "which this release spends ε = 1"
    )
    assert text.index(will_be) < text.index("[y/N]")
    assert all(f"({name})" in text for name in ("critical", "modelled", "respond"))
    assert "This release spends ε = 1: type that or more." in text
    assert "`pcneo budget set` changes it later." in text
    assert text.index("by its property 'id', for everyone to see") < text.index("[y/N]")
    assert ("This leaves ε = 3, δ = 3e-6 of ε = 4, δ = 4e-6." in text) == yes
    assert (tmp_path / "out.csv").exists() == yes
    spent = [release for graph in budget.show(db.store) for release in graph.releases]
    assert len(spent) == yes
    assert ("Nothing was spent." in text) == (not yes)


def test_what_published_answers_would_show_is_said_before_the_yes(db: Database, tmp_path: Path, server: Any) -> None:
    answers = [("1, 2 or 3: ", "3"), *MEANS, ("ε or ± [3]: ", "8"), FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment), "--answers", "publish")
    assert code == 0, text
    assert "the answers show much of the graph" in " ".join(text[: text.index("[y/N]")].split())


def test_where_the_usual_epsilon_leaves_mostly_noise_none_is_offered_and_one_that_does_asks_once_more(
    db: Database, tmp_path: Path, server: Any
) -> None:
    answers = [("1, 2 or 3: ", "3"), *MEANS, ("ε or ± [3]: ", "3"), FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert re.search(
        r"less than about [0-3]\.?\d* probably leaves mostly noise, if a vertex has 3", " ".join(text.split())
    )
    db.run("UNWIND range(100, 9000) AS id CREATE (:Person {id: id})")
    to_noise: list[Answer] = [("1, 2 or 3: ", "3"), *MEANS, ("ε or ±: ", "3")]
    again: list[Answer] = [("Take ε = 3 anyway? [y/N]: ", "n"), ("ε or ±: ", "9")]
    code, text = typed([*to_noise, *again, FILE, BUDGET, ("[y/N]: ", "n")], tmp_path, dict(server.environment))
    assert code == 0, text
    said = " ".join(text.split())
    least = re.search(r"less than about (\S+) probably leaves mostly noise, if a vertex has 10 connections\.", said)
    assert least is not None, text
    assert float(least[1]) > 3
    assert "is in at most 45 triangles: counts would probably be mostly noise" in said
    larger = r"and a larger one if a vertex is in fewer than [\d,.]+ triangles on average"
    assert re.search(rf"To avoid that, take an ε above about {least[1]}, {larger}\. `pcneo audit -n ", said)
    assert "If few of someone's connections know each other, it takes more." in said
    assert "If a vertex is in fewer triangles than that on average, counts are mostly noise." in said
    assert "-e 9 --to out.csv --budget-epsilon 9 Person/KNOWS/id" in said
    assert "Release them anyway?" not in said
    meant: list[Answer] = [("Take ε = 3 anyway? [y/N]: ", "y"), FILE, BUDGET, ("out.csv? [y/N]: ", "n")]
    code, text = typed([*to_noise, *meant], tmp_path, dict(server.environment))
    assert code == 0, text
    assert "--to out.csv --budget-epsilon 3 --anyway Person/KNOWS/id" in text
    assert "Release them anyway?" not in text
    assert not budget.show(db.store)


@pytest.mark.parametrize("connections", ["40", "2"])
def test_how_many_connections_a_vertex_has_decides_what_is_noise_and_goes_into_the_command(
    db: Database, tmp_path: Path, server: Any, connections: str
) -> None:
    db.run("UNWIND range(100, 900) AS id CREATE (:Person {id: id})")
    how = [("ε or ± [3]: ", "")] if connections == "40" else [("ε or ±: ", "9")]
    answers = [("1, 2 or 3: ", "3"), (DEGREE[0], connections), TRIANGLES, *how, FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert f"leaves mostly noise, if a vertex has {connections} connections." in " ".join(text.split())
    assert f"--to out.csv --mean-degree {connections} --budget-epsilon" in text
    assert "This assumes" not in text


SPECIAL = r"λ|δ|e\^|root mean square|mechanism|ledger|randomised|scale|degree|version,|membership|yes-answer"
"""What nobody needs to know before a first release."""


@pytest.mark.parametrize(("number", "asked"), [("1", "ε [1]: "), ("2", HOW), ("3", "ε or ± [3]: ")])
def test_before_a_first_release_few_words_have_a_meaning_of_their_own(
    db: Database, tmp_path: Path, server: Any, number: str, asked: str
) -> None:
    annotate.write(db.store, p="1/2", selection=Selection("Person", "KNOWS", "id"))
    means = [TRIANGLES] if number == "1" else MEANS
    noise: list[Answer] = [("anyway? [y/N]: ", "y")] if number == "3" else []
    answers = [("1, 2 or 3: ", number), *means, (asked, "2"), *noise, FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    prose = [line for line in text.splitlines() if "pcneo release" not in line]
    assert [line for line in prose if re.search(SPECIAL, line)] == []


def test_an_error_of_the_total_in_place_of_epsilon_gives_the_epsilon(db: Database, tmp_path: Path, server: Any) -> None:
    means = [DEGREE, (TRIANGLES[0], "4"), (TRIANGLES[0], "3")]  # of 4 vertices, none is in more than 3
    answers = [("1, 2 or 3: ", "2"), *means, ("ε or ±: ", "±20%"), FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    said = r"ε = ([\d.]+): with a smaller one, .* off by more than [\d.,]+, if a vertex has 3 connections on average\."
    (epsilon,) = set(re.findall(said, " ".join(text.split())))
    assert "among 4 vertices it is at most 3, not 4." in text
    assert f"-e {epsilon} --to out.csv" in text
    assert "--expect 3" in text
    assert float(epsilon) > 1
    assert not budget.show(db.store)


def test_without_a_mean_no_epsilon_follows_from_a_percentage(db: Database, tmp_path: Path, server: Any) -> None:
    answers = [("1, 2 or 3: ", "2"), *MEANS, (HOW, "±20%"), ("ε [1]: ", "2"), FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert "No ε follows from that with modelled. A share of the total" in text
    assert "--expect" not in text[text.index("To do the same") :]


def test_a_mean_number_of_triangles_decides_what_is_noise(db: Database, tmp_path: Path, server: Any) -> None:
    db.run("UNWIND range(100, 900) AS id CREATE (:Person {id: id})")
    answers = [("1, 2 or 3: ", "3"), DEGREE, (TRIANGLES[0], "1"), ("ε or ±: ", "4")]
    again: list[Answer] = [("Take ε = 4 anyway? [y/N]: ", "n"), ("ε or ±: ", "9"), FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed([*answers, *again], tmp_path, dict(server.environment))
    assert code == 0, text
    said = " ".join(text.split())
    least = re.search(r"less than about (\S+) leaves mostly noise, if a vertex is in 1 triangles on average\.", said)
    assert least is not None, text
    assert 4 < float(least[1]) < 9
    assert "but is 1 on average, as you expect: counts would be mostly noise. To avoid that, take an ε above" in said
    assert "--expect 1 --budget-epsilon 9" in said


def test_an_error_from_which_no_epsilon_follows_is_said_and_one_is_asked_for(
    db: Database, tmp_path: Path, server: Any
) -> None:
    answers = [("1, 2 or 3: ", "2"), *MEANS, (HOW, "+-0.001"), ("ε [1]: ", "2"), FILE, BUDGET, ("[y/N]: ", "n")]
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
    epsilons = [("ε [1]: ", typed_epsilon) for typed_epsilon in ("100", "0.0001", "±5", "3.1", "2")]
    answers = [("1, 2 or 3: ", "1"), TRIANGLES, *epsilons, ("[counts.csv]: ", long), ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, {**server.environment, "COLUMNS": "60"})
    assert code == 0, text
    said = " ".join(text.split())
    assert "ε must be at most 16." in said
    assert "must be from 0.001" in said
    assert "Budget, how much" not in said
    assert "Type a positive number such as 0.5 or 1/3." in said
    assert "such as ±400" not in said
    assert f"  pcneo release --mechanism critical -e 2 --to {long} Person/KNOWS/id@1/2" in text.splitlines()
    assert re.search(
        r"For you alone: expect a count of triangles to be off by at least [\d.]+ and at most [\d.]+ \(one standard "
        r"error; ",
        said,
    )
    before_yes = said[: said.index("[y/N]")]
    leaves = "This graph has ε = 3, δ = 0 left; this release spends ε = 2 and leaves ε = 1, δ = 0 for pairs inside the"
    assert f"{leaves} groups. Nothing bounds what this graph's releases show of other pairs." in before_yes
    assert "This graph has ε = 3 left. `pcneo budget set` raises its budget." in said


def test_what_cannot_be_released_yet_is_marked_and_says_what_has_to_happen_first(
    db: Database, tmp_path: Path, server: Any
) -> None:
    answers = [("1, 2 or 3: ", "critical"), ("1, 2 or 3: ", CTRL_C)]
    code, text = typed(answers, tmp_path, dict(server.environment), "-k", "4")
    assert code == 130, text
    said = " ".join(text.split())
    assert "(critical); not here: type its number to see why" in said
    assert "There are no stored groups yet: `pcneo annotate` stores them, in seconds or minutes." in said
    assert "(respond); not here" not in said
    assert "(modelled); not here: type its number to see why" in said  # a k that few vertices do not allow
    assert "ε [1]" not in text
    assert "Traceback" not in text
    assert not list(tmp_path.iterdir())
    assert not budget.show(db.store)


def test_where_no_mechanism_takes_what_the_command_line_says_that_is_an_error(
    db: Database, tmp_path: Path, server: Any
) -> None:
    code, text = typed([], tmp_path, dict(server.environment), "-k", "7")
    assert code == 2, text
    assert "1, 2 or 3" not in text


def test_which_graph_is_meant_is_asked_first_where_there_are_several(db: Database, tmp_path: Path, server: Any) -> None:
    for name in ("friends", "kin"):
        annotate.write(db.store, p="1/2", graph=name, selection=Selection("Person", "KNOWS", "id"))
    db.run("CREATE (:Member {no: 1})-[:LIKES]->(:Member {no: 2})")
    answers = [("Graph: ", "freinds"), ("Graph: ", "friends"), *QUESTIONS, FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment))
    assert code == 0, text
    assert "Which graph? There are friends, kin." in text
    assert "There is no graph 'freinds'. Did you mean friends?" in text
    assert "--budget-epsilon 1 friends" in text


def test_which_run_is_meant_is_asked_where_groups_are_released_and_there_are_several(
    db: Database, tmp_path: Path, server: Any
) -> None:
    for p in ("1/2", "9/10"):
        annotate.write(db.store, p=p, graph="friends", selection=Selection("Person", "KNOWS", "id"))
    answers = [("1, 2 or 3: ", "1"), ("Run: ", "friends"), ("Run: ", "friends@9/10"), TRIANGLES]
    answers += [("ε [1]: ", "2"), FILE, BUDGET]
    code, text = typed([*answers, ("[y/N]: ", "n")], tmp_path, dict(server.environment), "friends")
    assert code == 0, text
    assert "For you alone: 0 connections (0%) are outside the groups." in text
    assert "are not protected, even where earlier releases protected them, and" in " ".join(text.split())
    assert "The groups of which run? There are friends@1/2, friends@9/10." in text
    assert "There is no run 'friends'." in text
    assert "pcneo release friends@9/10 --mechanism critical -e 2 --to out.csv --budget-epsilon 2" in text


def test_a_budget_that_is_set_again_to_what_it_is_is_not_announced(db: Database, tmp_path: Path, server: Any) -> None:
    annotate.write(db.store, p="1/2", graph="friends", selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph="friends", epsilon=3)
    answers = [("1, 2 or 3: ", "1"), TRIANGLES, ("ε [1]: ", "2"), FILE, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment), "friends", "--budget-epsilon", "3")
    assert code == 0, text
    said = " ".join(text.split())
    assert "no budget yet" not in said
    assert re.search(r"This graph has ε = 3\b.* left; this release spends ε = 2 and leaves ε = 1\b", said), said


def test_what_spends_delta_is_refused_where_it_is_typed_if_the_budget_has_none(
    db: Database, tmp_path: Path, server: Any
) -> None:
    annotate.write(db.store, p="1/2", graph="friends", selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph="friends", epsilon=3)
    answers = [("1, 2 or 3: ", "2"), ("1, 2 or 3: ", CTRL_C)]
    code, text = typed(answers, tmp_path, dict(server.environment), "friends")
    assert code == 130, text
    assert "with `pcneo budget set friends --epsilon 3 --delta 1e-5`." in " ".join(text.split())
    budget.set_total(db.store, graph="friends", epsilon=3, delta="1e-6")
    answers = [("1, 2 or 3: ", "2"), *MEANS, (HOW, ""), FILE, ("[y/N]: ", "y")]
    code, text = typed(answers, tmp_path, dict(server.environment), "friends", "--anyway")
    assert code == 0, text
    answers = [("1, 2 or 3: ", "2"), ("1, 2 or 3: ", CTRL_C)]  # nothing is left of that δ
    code, text = typed(answers, tmp_path, dict(server.environment), "friends")
    assert code == 130, text
    said = " ".join(text.split())
    assert "has only δ = 0 left, and this takes 1e-6. Allow δ = 2e-5 with `pcneo budget set friends" in said


def test_where_no_graph_can_be_told_that_is_said_before_the_first_question(
    db: Database, tmp_path: Path, server: Any
) -> None:
    db.run("CREATE (:Member {no: 1})-[:LIKES]->(:Member {no: 2})")
    code, text = typed([], tmp_path, dict(server.environment))
    assert code == 2, text
    assert "Name the node label with --node-label" in text
    assert "1, 2 or 3" not in text


def test_a_graph_that_is_being_written_is_refused_before_the_first_question(
    db: Database, tmp_path: Path, server: Any
) -> None:
    annotate.write(db.store, p="1/2", graph="friends", selection=Selection("Person", "KNOWS", "id"))
    before = db.everything()
    with GraphLock(db.store, "friends"):
        code, text = typed([], tmp_path, dict(server.environment))
    assert code == 6, text
    assert "Another pcneo is writing graph 'friends'" in " ".join(text.split())
    assert "1, 2 or 3" not in text
    assert db.everything() == before
    code, text = typed([("1, 2 or 3: ", CTRL_C)], tmp_path, dict(server.environment))
    assert (code, db.everything()) == (130, before)


def test_defaults_are_a_file_that_is_not_there_and_what_was_published(
    db: Database, tmp_path: Path, server: Any
) -> None:
    answers = [*QUESTIONS[-1:], ("[counts.csv]: ", ""), ("[1]: ", "20"), ("[y/N]: ", "y")]
    code, text = typed([("1, 2 or 3: ", "2"), *MEANS, *answers], tmp_path, dict(server.environment))
    assert code == 0, text
    # The means that it published are noisy, and what is asked next follows from them.
    db.run("MATCH (r:PCohesionRelease) SET r.meanCount = 2.3456, r.meanDegree = 2.5")
    # At the usual ε, a total of so few triangles is mostly noise: it is not offered.
    answers = [("1, 2 or 3: ", "2"), ("a guess will do) [2.35]: ", ""), ("ε or ±: ", "50%"), ("[counts-2.csv]: ", "")]
    code, text = typed([*answers, ("[y/N]: ", "n")], tmp_path, dict(server.environment))
    assert code == 0, text
    assert "Budget, how much" not in text
    assert "--to counts-2.csv --expect 2.35" in text


def test_no_epsilon_is_offered_that_is_more_than_the_graph_has_left(db: Database, tmp_path: Path, server: Any) -> None:
    annotate.write(db.store, p="1/2", selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph="Person/KNOWS/id", epsilon="1/2", delta="1e-6")
    code, text = typed(
        [("1, 2 or 3: ", "2"), *MEANS, ("ε or ±: ", "0.5"), FILE, ("[y/N]: ", "n")], tmp_path, dict(server.environment)
    )
    assert code == 0, text
    assert "This graph has ε = 0.5, δ = 1e-6 left." in " ".join(text.split())


def test_where_nothing_is_left_that_is_said_before_the_first_question(
    db: Database, tmp_path: Path, server: Any
) -> None:
    annotate.write(db.store, p="1/2", selection=Selection("Person", "KNOWS", "id"))
    asked = requested("total", epsilon="1/2", to=tmp_path / "total.csv", graph="Person/KNOWS/id")
    release(db.store, requests=[asked], terms=Terms(budget_epsilon="1/2", anyway=True))
    code, text = typed([], tmp_path, dict(server.environment))
    assert code == 9, text
    assert "has nothing left of ε = 0.5, δ = " in " ".join(text.split())
    assert "1, 2 or 3" not in text


def test_a_run_with_what_rests_on_none_stands_for_its_graph(db: Database, tmp_path: Path, server: Any) -> None:
    run = annotate.write(db.store, p="1/2", selection=Selection("Person", "KNOWS", "id")).run.run
    db.store.merge_graph("another", Selection("Person", "LIKES", "id"), "0" * 64)
    answers = [("1, 2 or 3: ", "2"), *MEANS, (HOW, "1"), FILE, BUDGET, ("[y/N]: ", "n")]
    code, text = typed(answers, tmp_path, dict(server.environment), run)
    assert code == 0, text
    assert "so it is released from the graph Person/KNOWS/id." in " ".join(text.split())
    assert "pcneo release Person/KNOWS/id --mechanism modelled" in text


@pytest.mark.parametrize("asked", ["1, 2 or 3: ", "[y/N]: "])
def test_who_leaves_at_a_question_is_told_that_nothing_was_spent(
    db: Database, tmp_path: Path, server: Any, asked: str
) -> None:
    before = [] if asked != "[y/N]: " else [("1, 2 or 3: ", "2"), *MEANS, (HOW, ""), FILE, BUDGET]
    code, text = typed([*before, (asked, CTRL_C)], tmp_path, dict(server.environment))
    assert code == 130, text
    assert "Nothing was spent." in text
    assert not budget.show(db.store)
