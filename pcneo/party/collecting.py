"""The program that the collector runs: it makes a release from the messages in a folder, and sees no row or ledger."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pcneo.basics.model import AnyPath, Key
from pcneo.counting.answers import AnsweredPairs
from pcneo.errors import FileFormatError, GraphError, ParameterError
from pcneo.graph import keys_hash
from pcneo.party.call import CALL, SUFFIX, Call, read_call, read_message
from pcneo.party.json_files import bad
from pcneo.privacy.collector import check_answered, put_together
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.outlook import Utility
from pcneo.privacy.randomised_response import Yes
from pcneo.release.answers_file import answers_hash, write_answers
from pcneo.release.outputs import (
    answers_record,
    check_keys,
    check_writable,
    public_record,
    public_text,
    write_public,
)

if TYPE_CHECKING:
    from pcneo.privacy.vertex import Answered


log = logging.getLogger("pcneo")

_HONEST = "All of this holds as long as the two ends of the pair are honest; either end can always reveal the pair."
"""The condition of a promise between parties: no owner answers for both ends of a pair."""


@dataclass(frozen=True)
class Collected:
    """A release that a collector has made.

    Attributes:
        public: the public file.
        answers: the public file of answers.
        vertices: how many vertices sent a message.
        silent: the keys of the vertices that sent none; they and their pairs are left out.
        total: the total of the counts.
        promise: the mechanism's sentence, and what it rests on between parties.
        remark: compares ε with ln(n/d).
        standard_error_of_total: an estimate; None for k = 4.
        standard_errors_are: what the standard errors are, or why there are none.
        standard_error_of_a_count: the root mean square over the vertices.
        warning: a sentence if the counts are mostly noise, else empty.
    """

    public: Path
    answers: Path
    vertices: int
    silent: tuple[Key, ...]
    total: float
    promise: str
    remark: str
    standard_error_of_total: float | None
    standard_errors_are: str
    standard_error_of_a_count: float | None = None
    warning: str = ""


def collect(
    folder: AnyPath, to: AnyPath, *, k: int = 3, clip: bool = False, smooth: bool = False, large: bool = False
) -> Collected:
    """Make a release from the vertices' messages: the answers, and counts of k-cliques computed from them.

    A vertex that sent nothing is left out with all its pairs. Collecting again, for another k too, costs nothing.
    """
    folder, to = Path(folder), Path(to)
    if to.suffix not in (".csv", ".json"):
        raise ParameterError(f"The public file {to} must end in .csv or .json.", name="to", value=to)
    answers_to = to.with_suffix(".answers.gz")
    call = read_call(folder / CALL)
    wanted = Respond(k=k, epsilon=call.epsilon, clip=clip, smooth=smooth, large=large)
    if_all_answer = wanted.on(len(call.key_list))
    for path in (to, answers_to):
        check_writable(path)
    check_keys(call.key_list.keys.tolist(), to.suffix)
    log.info("%s", if_all_answer.describe(Utility()))
    sent = _messages(folder, call)
    present, rows = put_together(call.key_list, sent)
    mechanism, answers, keys = wanted.on(len(present)), AnsweredPairs(rows), call.key_list.keys[present]
    digest = {"answersHash": answers_hash(keys_hash(keys), answers)}
    of_answers = _between_parties(answers_record(mechanism, len(keys), answers))
    write_answers(answers_to, keys, answers, {**of_answers, **digest})
    drawn = mechanism.computed(answers)
    counts = cast("dict[Key, int]", dict(zip(keys.tolist(), drawn.counts, strict=True)))
    record = _between_parties(public_record(mechanism, None, None, counts, {**drawn.record, **digest}, drawn.columns))
    columns = {"key": keys.tolist(), **(drawn.columns or {})}
    write_public(to, public_text(record, columns, to.suffix))
    silent = tuple(key for at, key in enumerate(call.key_list.keys.tolist()) if at not in sent)
    return Collected(
        public=to,
        answers=answers_to,
        vertices=len(present),
        silent=silent,
        total=record["total"],
        promise=record["promise"],
        remark=mechanism.answers_show(Yes(mechanism.flips, answers.yes_count)),
        standard_error_of_total=record.get("standardErrorOfTotal"),
        standard_errors_are=record["standardErrorsAre"],
        standard_error_of_a_count=record.get("standardErrorOfACount"),
        warning=record.get("warning", ""),
    )


def _between_parties(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is published with the condition of the parties in each sentence that states the promise."""
    promises = {name: f"{record[name]} {_HONEST}" for name in ("promise", "inPlainWords") if name in record}
    return {**record, **promises}


def _messages(folder: Path, call: Call) -> Mapping[int, Answered]:
    """Read every message in the folder; return the answers by the position of their vertex."""
    sent: dict[int, Answered] = {}
    longest_key = max(len(json.dumps(key)) for key in call.key_list.keys.tolist())
    most = 1_000 + longest_key + len(call.key_list)  # an answer takes less than a byte, even in base64
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        message = read_message(path, most)
        if message.release != call.release:
            raise bad(path, "it answers another call")
        at = call.key_list.place(message.key)
        if at is None:
            raise bad(path, f"vertex {message.key!r} was not asked")
        if at in sent:
            # [party-once] Two messages of one vertex are two answers for each of its pairs; we may not choose.
            raise bad(path, f"vertex {message.key!r} has another message in this folder")
        answered = cast("Answered", message.answers)
        try:
            check_answered(call.key_list, at, answered)
        except GraphError as error:
            raise FileFormatError(f"{path}: {error}", path=path) from error
        sent[at] = answered
    if len(sent) < 2:
        raise GraphError(
            f"Answers are about pairs, but only {len(sent):,} of {len(call.key_list):,} vertices sent any."
        )
    return sent
