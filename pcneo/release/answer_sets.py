"""Sets of answers: drawn once, paid for once, and used for any number of releases (GUARANTEE.md#answers)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pcneo.basics.model import KeyArray
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.protected import PairAnswers
from pcneo.errors import GraphChangedError, NotFoundError
from pcneo.graph import keys_hash
from pcneo.release.answers_file import AnswersFile, answers_hash
from pcneo.release.choice import Chosen
from pcneo.release.pair_answers_file import pair_answers_hash, read_pair_answers
from pcneo.release.prepared import Prepared
from pcneo.store.database import Database
from pcneo.store.ledger import list_ledger
from pcneo.store.ledger_records import ReleaseRecord


def with_answer_sets(db: Database, chosen: Sequence[Chosen], prepared: Sequence[Prepared]) -> list[Prepared]:
    """Set whose answers each release is computed from; read those that are in a file."""
    drawn: dict[object, str] = {}
    known: tuple[ReleaseRecord, ...] | None = None
    complete: list[Prepared] = []
    for choice, release in zip(chosen, prepared, strict=True):
        given = choice.request.answers_from
        if release.mechanism.adds_noise:
            complete.append(release)
        elif given is not None:
            known = list_ledger(db).releases if known is None else known
            record, answers = _given(release, given, known)
            complete.append(replace(release, answer_set=record.id, given=answers))
        else:
            complete.append(replace(release, answer_set=drawn.setdefault(choice.of_answers, release.id)))
    return complete


def _given(
    release: Prepared, file: AnswersFile, known: Sequence[ReleaseRecord]
) -> tuple[ReleaseRecord, AnsweredPairs | PairAnswers]:
    """Read a file's answers, which must be about the graph's vertices and known to the ledger."""
    graph, keys, threshold = release.graph.name, release.source.graph.keys, release.mechanism.threshold
    if release.run is None:
        return find_answers(graph, keys, threshold, file, known)
    # [critical-same-pairs] Counts for other groups, or beside other connections, were not paid for.
    record, hash_now = file.release_of(known), release.run.membership_hash or ""
    if record.graph != graph or record.threshold != threshold or record.membership_hash != hash_now:
        raise GraphChangedError(f"The answers in {file.path} are about other groups, or at another ε.", graph=graph)
    if record.fingerprint != release.source.fingerprint:
        raise GraphChangedError(
            f"Graph {graph!r} has changed since its answers were drawn: counts would mix two graphs.", graph=graph
        )
    answers = read_pair_answers(file.path, keys, release.facts.protected_graph())
    if pair_answers_hash(keys_hash(keys), hash_now, answers) != record.answers_hash:
        raise _unknown(graph, file)
    return record, answers


def _unknown(graph: str, file: AnswersFile) -> NotFoundError:
    return NotFoundError(
        f"The ledger of graph {graph!r} has no answers that match those in {file.path} and their ε.",
        what="answers",
        name=str(file.path),
    )


def find_answers(
    graph: str, keys: KeyArray, threshold: int, file: AnswersFile, known: Sequence[ReleaseRecord]
) -> tuple[ReleaseRecord, AnsweredPairs]:
    """Read a file's answers, and find the release that drew them, by their hash."""
    mine = [record for record in known if record.graph == graph and record.answers == record.id]
    of_keys = keys_hash(keys)
    if mine and all(record.keys_hash != of_keys for record in mine):
        raise GraphChangedError(
            f"The vertices of graph {graph!r} have changed since its answers were drawn.", graph=graph
        )
    answers = file.answers(keys)
    digest = answers_hash(of_keys, answers)
    for record in mine:
        if record.answers_hash == digest and record.threshold == threshold:
            return record, answers
    raise _unknown(graph, file)
