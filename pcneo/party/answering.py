"""The program that a vertex runs: it writes the spend into its own ledger, then answers a call from its own row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pcneo.basics.model import AnyPath, Key
from pcneo.basics.whole_file import check_place
from pcneo.errors import GraphError, NotFoundError, PcneoError
from pcneo.party.call import Message, message_name, read_call, write_message
from pcneo.party.json_files import bad, keys_of, read_object
from pcneo.party.own_ledger import ledger_held, read_ledger, sole_file, write_ledger
from pcneo.privacy.noise import system_coins
from pcneo.privacy.vertex import OwnRow, answer

_ANSWERED = (
    "is there already: this vertex has answered a call in this folder. Send that message; nothing was spent. To "
    "answer again, move the message away first; that spends again, up to the limit for one call."
)


@dataclass(frozen=True)
class Sent:
    """A call that was answered.

    Attributes:
        message: the file to send to the collector.
        key: the vertex's key.
        pairs: how many pairs it answered for.
        neighbours_not_asked: how many neighbours in its row the call does not list; nobody answers for these pairs.
        epsilon: what each of them cost.
        left: what is left of the vertex's total.
    """

    message: Path
    key: Key
    pairs: int
    neighbours_not_asked: int
    epsilon: Fraction
    left: Fraction


def answer_call(
    call: AnyPath,
    *,
    row: AnyPath,
    ledger: AnyPath,
    to: AnyPath | None = None,
    coins: Callable[[int], bytes] = system_coins,
) -> Sent:
    """Answer a call for one vertex, and write its message; nothing is sent anywhere."""
    checked_call, own, book = read_call(call), read_row(row), sole_file(Path(ledger))
    place = Path(call).with_name(message_name(own.key)) if to is None else Path(to)
    with ledger_held(book):
        known = read_ledger(book)
        if known.key != own.key:
            raise GraphError(f"{row} belongs to vertex {own.key!r}, but {book} to {known.key!r}.", key=own.key)
        if (at := checked_call.key_list.place(own.key)) is None:
            raise NotFoundError(f"Vertex {own.key!r} is not in the call's list.", what="key", name=own.key)
        check_place(place, "to", replace=False, taken=_ANSWERED)
        spent = known.with_spend(checked_call.release, checked_call.epsilon)
        checked_call.log_what_answers_show()
        checked_call.log_promise()
        # [party-spend-first]
        write_ledger(book, spent)
    try:
        answers = answer(known.key, own, checked_call.key_list, checked_call.epsilon, coins)
        write_message(place, Message(checked_call.release, own.key, answers))
    except PcneoError as error:
        raise PcneoError(f"{error} The spend stays in {book}; answering again spends again.", **error.data) from error
    left = spent.total - sum(spend.epsilon for spend in spent.spends)
    asked = checked_call.key_list
    strangers = sum(asked.place(neighbour) is None for neighbour in own.neighbours)
    return Sent(place, own.key, len(asked.partners(at)), strangers, checked_call.epsilon, left)


def read_row(path: AnyPath) -> OwnRow:
    """Read a vertex's own row."""
    path = Path(path)
    fields = read_object(path, ("key", "neighbours"))
    (key,) = keys_of(path, [fields["key"]])
    neighbours = keys_of(path, fields["neighbours"])
    if key in neighbours or any(type(other) is not type(key) for other in neighbours):
        raise bad(path, "a vertex cannot be its own neighbour, and keys must be all whole numbers or all text")
    return OwnRow(key, frozenset(neighbours))
