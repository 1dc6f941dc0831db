"""What is reported while a server does not answer."""

from __future__ import annotations

import threading
import time

import pytest
from neo4j.exceptions import ServiceUnavailable

from pcneo.store import silence, transaction, waiting


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(silence, "SAY_SECONDS", 0.1)


def test_a_server_that_does_not_answer_is_told_of_again_and_again(caplog):
    began = time.monotonic()
    with silence.logging_silence():
        time.sleep(0.35)
    assert 2 <= caplog.text.count("has not answered for") <= (time.monotonic() - began) / 0.1


def test_nothing_is_said_of_an_answer_in_time_and_nothing_goes_on_after_it(caplog):
    before = threading.active_count()
    for _ in range(20):
        with silence.logging_silence():
            pass
    time.sleep(0.25)
    assert caplog.text == ""
    assert threading.active_count() <= before


def test_an_error_ends_the_wait_too(caplog):
    with pytest.raises(ZeroDivisionError), silence.logging_silence():
        raise ZeroDivisionError
    time.sleep(0.25)
    assert caplog.text == ""


def test_a_broken_connection_is_told_of_once_while_it_is_tried_again(caplog, monkeypatch):
    monkeypatch.setattr(transaction.time, "sleep", lambda _: None)
    answers = iter([ServiceUnavailable("gone"), ServiceUnavailable("gone"), "here"])

    def attempt() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert transaction._patiently(attempt) == "here"
    assert caplog.messages == [
        "The connection broke; trying again for 30 s: ServiceUnavailable",
        "The connection is back.",
    ]


def test_who_is_told_to_end_stops_trying_a_broken_connection_at_once():
    def attempt() -> None:
        raise ServiceUnavailable("gone")

    ending, began = threading.Event(), time.monotonic()
    threading.Timer(0.2, ending.set).start()
    with waiting.patient_until(ending), pytest.raises(ServiceUnavailable):
        transaction._patiently(attempt)
    assert time.monotonic() - began < 10
