"""Sets of answers: drawn once, paid for once, and used for any number of releases (GUARANTEE.md#answers)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from pcneo.basics.model import KeyArray
from pcneo.basics.pair_answers import PairAnswers
from pcneo.counting.answers import AnsweredPairs
from pcneo.errors import GraphChangedError, NotFoundError
from pcneo.graph import keys_hash
from pcneo.privacy.facts import Answers
from pcneo.privacy.noise import Noise
from pcneo.release.answers_file import (
    AnswersFile,
    answers_hash,
    pair_answers_hash,
    read_pair_answers,
    write_answers,
    write_pair_answers,
)
from pcneo.release.outputs import answers_record
from pcneo.release.prepared import Prepared
from pcneo.release.request import in_row
from pcneo.release.simulated_parties import answers_of_parties
from pcneo.store.ledger_records import ReleaseRecord

log = logging.getLogger("pcneo")


def with_answer_sets(releases: Sequence[Prepared], known: Sequence[ReleaseRecord]) -> list[Prepared]:
    """Set whose answers each release is computed from; read those that are in a file."""
    drawn: dict[object, str] = {}
    complete: list[Prepared] = []
    for release in releases:
        given = release.request.answers_from
        if release.mechanism.adds_noise:
            complete.append(release)
        elif given is not None:
            with in_row(release.request.row):
                record, answers = _given(release, given, known)
            complete.append(replace(release, answer_set=record.id, given=answers))
        else:
            complete.append(replace(release, answer_set=drawn.setdefault(release.of_answers, release.id)))
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


# --- Drawn once, for this release and those that share its answers


def draw_answers(release: Prepared, noise: Noise) -> Answers | PairAnswers:
    """Return the answers that were given, or draw them once; as parties, each vertex answers for itself."""
    if release.given is not None:
        return release.given
    if release.request.parties:
        answers = answers_of_parties(release.source.graph, release.mechanism.epsilon, noise)
        log.info("%s vertices answered, each from its own row", f"{answers.vertex_count:,}")
        return answers
    return release.mechanism.answered(release.facts, noise)


def hash_of(release: Prepared, answers: Answers | PairAnswers) -> str:
    """Return the hash by which the ledger finds them again."""
    of_keys = keys_hash(release.source.graph.keys)
    if release.run is not None:
        return pair_answers_hash(of_keys, release.run.membership_hash or "", cast("PairAnswers", answers))
    return answers_hash(of_keys, cast("Answers", answers))


def write_drawn(path: Path, release: Prepared, answers: Answers | PairAnswers, digest: str) -> None:
    """Write a new file, readable only by its owner where answers are kept."""
    keys, mode = release.source.graph.keys, 0o600 if release.request.fate == "keep" else 0o666
    record = {**answers_record(release.mechanism, len(keys), answers), "answersHash": digest}
    if release.run is None:
        write_answers(path, keys, cast("Answers", answers), record, mode)
    else:
        pairs = cast("PairAnswers", answers)
        write_pair_answers(path, keys, release.facts.protected_graph(), pairs, record, mode)
