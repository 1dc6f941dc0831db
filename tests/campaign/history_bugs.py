"""Bugs that a history must reveal, each planted in the shipped code of this process while a block runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from graphs import Database

from pcneo.release import spending
from pcneo.service import work
from pcneo.store.standing import OpenGraph
from pcneo.store.statements import load_statement

__all__ = ["BUGS", "Bug"]

Bug = Callable[[Database], contextlib.AbstractContextManager[Any]]
SEEN_FOR = 0.6
"""Seconds for which a wrong state that passes is there, so that readers meet it."""
BUGS: dict[str, Bug] = {}


def _planted(bug: Callable[[Database], Iterator[None]]) -> Callable[[Database], Iterator[None]]:
    BUGS[bug.__name__.replace("_", " ")] = contextlib.contextmanager(bug)
    return bug


def _statement(name: str, *changes: tuple[str, str]) -> contextlib.AbstractContextManager[Any]:
    statement = load_statement(name)
    text = statement.text
    for old, new in changes:
        assert old in text, f"{name} does not say {old!r}"
        text = text.replace(old, new)
    return mock.patch.dict(vars(statement), text=text)


@_planted
def hubs_go_from_the_version_that_is_read(_: Database) -> Iterator[None]:
    """They are retired from it, and not from the next."""
    with _statement("retire_cohesions", ("cohesion.until = $next", "cohesion.until = $version")):
        yield


@_planted
def a_sweep_takes_what_came_with_the_current_version(_: Database) -> Iterator[None]:
    """It begins one version too early."""
    with _statement("delete_unseen", ("cohesion.from > $version", "cohesion.from >= $version")):
        yield


@_planted
def a_version_is_let_go_without_a_word(_: Database) -> Iterator[None]:
    """Its hubs are deleted while it can still be named."""

    def trim(self: Any, run: str, *_: object) -> None:
        self.hubs.delete_between(run, 0, self._db.list_versions(run)[-1].version)

    with mock.patch.object(OpenGraph, "trim", trim):
        yield


@_planted
def a_run_goes_back_to_its_earlier_version(db: Database) -> Iterator[None]:
    """Its writer undoes what it has already shown."""

    def trim(self: Any, run: str, *_: object) -> None:
        versions = [record.version for record in self._db.list_versions(run)]
        time.sleep(SEEN_FOR)
        if len(versions) > 1:
            db.run("MATCH (r:PCohesionRun {id: $run}) SET r.version = $version", run=run, version=versions[-2])
            time.sleep(SEEN_FOR)

    with mock.patch.object(OpenGraph, "trim", trim):
        yield


@_planted
def a_spend_is_not_recorded(_: Database) -> Iterator[None]:
    """Its transaction is committed without it."""
    with mock.patch.object(spending, "create_release"):
        yield


@_planted
def a_spend_takes_the_place_of_the_one_before(_: Database) -> Iterator[None]:
    """A graph has one record."""
    change = ("(release:PCohesionRelease {id: $release})", "(release:PCohesionRelease {graph: $graph})")
    with _statement(
        "create_release", change, ("ON CREATE SET release.graph", "SET release.id = $release, release.graph")
    ):
        yield


@_planted
def an_answer_does_not_close_its_request(_: Database) -> Iterator[None]:
    """The next worker that looks claims it again."""
    with _statement("finish_request", ("request.status = $status", "request.status = 'requested'")):
        yield


@_planted
def an_answer_comes_before_its_version(db: Database) -> Iterator[None]:
    """It is written outside the transaction that moves the version."""

    def finish_within(_: Any, claim: Any, answer: Any, *__: object) -> None:
        db.run(
            "MATCH (q:PCohesionRequest {id: $id}) SET q.status = $status, q.message = $message, q.version = $version, "
            "q.finishedAt = datetime()",
            id=claim.id,
            status=answer.status,
            message=answer.message,
            version=max(version for _, version in answer.runs),
        )
        time.sleep(SEEN_FOR)

    with (
        mock.patch.object(work, "finish_within", finish_within),
        mock.patch.object(work, "is_cancelled_within", return_value=False),
    ):
        yield
