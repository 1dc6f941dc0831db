"""The one message that a vertex sends: the release number, its key, and one bit for each pair that it answers for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pcneo.basics.model import Key
from pcneo.basics.whole_file import whole_file
from pcneo.party.json_files import bad, keys_of, read_object, text_of

SUFFIX = ".message.json"
"""The collector finds messages in its folder by this suffix."""


@dataclass(frozen=True)
class Message:
    """The only message that a vertex sends.

    Attributes:
        release: the number of the call that it answers.
        key: the vertex's key.
        answers: one bit per pair, as `vertex.answer` made them.
    """

    release: str
    key: Key
    answers: bytes


def message_name(key: Key) -> str:
    """Return the name of a vertex's message in the collector's folder, whatever characters its key has."""
    return hashlib.sha256(f"{type(key).__name__}:{key}".encode()).hexdigest()[:32] + SUFFIX


def write_message(path: Path, message: Message) -> None:
    """Write a new file whole or not at all; its length depends only on the keys and the release number."""
    record = {
        "release": message.release,
        "key": message.key,
        "answers": base64.b64encode(message.answers).decode(),
    }
    with whole_file(path, replace=False) as file:
        file.write((json.dumps(record, ensure_ascii=False) + "\n").encode())


def read_message(path: Path, most: int) -> Message:
    """Read a message of at most `most` bytes."""
    fields = read_object(path, ("release", "key", "answers"), most=most)
    (key,) = keys_of(path, [fields["key"]])
    try:
        answers = base64.b64decode(fields["answers"], validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise bad(path, f"its answers are not base64: {error}") from error
    return Message(text_of(path, fields, "release"), key, answers)
