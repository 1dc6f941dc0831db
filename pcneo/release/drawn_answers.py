"""How a release draws, hashes and writes answers, about all pairs or those inside groups (GUARANTEE.md#answers)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import cast

from pcneo.graph import keys_hash
from pcneo.privacy.facts import Answers, PairAnswers
from pcneo.privacy.noise import Noise
from pcneo.release.answers_file import answers_hash, write_answers
from pcneo.release.outputs import answers_record
from pcneo.release.pair_answers_file import pair_answers_hash, write_pair_answers
from pcneo.release.prepared import Prepared
from pcneo.release.simulated_parties import answers_of_parties

log = logging.getLogger("pcneo")


def draw_answers(release: Prepared, noise: Noise, *, parties: bool) -> Answers | PairAnswers:
    """Return the answers that were given, or draw them once; with `parties`, each vertex answers for itself."""
    if release.given is not None:
        return release.given
    if parties:
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


def write_drawn(path: Path, release: Prepared, answers: Answers | PairAnswers, digest: str, *, keep: bool) -> None:
    """Write a new file, readable only by its owner where answers are kept."""
    keys, mode = release.source.graph.keys, 0o600 if keep else 0o666
    record = {**answers_record(release.mechanism, len(keys), answers), "answersHash": digest}
    if release.run is None:
        write_answers(path, keys, cast("Answers", answers), record, mode)
    else:
        pairs = cast("PairAnswers", answers)
        write_pair_answers(path, keys, release.facts.protected_graph(), pairs, record, mode)
