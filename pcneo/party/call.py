"""The call, which the collector sends to everyone it asks, and the one message that a vertex sends back: the number of
the call, the vertex's key, and one bit for each pair that it answers for (GUARANTEE.md#the-parties).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import secrets
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from pcneo.basics.model import AnyPath, Key
from pcneo.basics.whole_file import check_place, refusing
from pcneo.errors import GraphError
from pcneo.party.json_files import bad, keys_of, number_of, read_json, read_object, text_of, write_json
from pcneo.privacy.asked_pairs import AskedKeys
from pcneo.privacy.exact import exact_text, positive
from pcneo.privacy.outlook import GUESSED_DEGREE, USUAL_DEGREE
from pcneo.privacy.plain_words import in_plain_words
from pcneo.privacy.protection import Protects
from pcneo.privacy.randomised_response import check_epsilon, shown, threshold_of

log = logging.getLogger("pcneo")

CALL = "call.json"
"""The call's name in the collector's folder."""

SUFFIX = ".message.json"
"""The collector finds messages in its folder by this suffix."""


@dataclass(frozen=True)
class Call:
    """What everyone who is asked learns.

    Attributes:
        release: the call's number: text that no other call has.
        epsilon: ε.
        key_list: the keys of everyone who is asked.
    """

    release: str
    epsilon: Fraction
    key_list: AskedKeys

    @property
    def threshold(self) -> int:
        """The threshold a: an answer is flipped with probability a/2^24."""
        return threshold_of(self.epsilon)

    def log_what_answers_show(self) -> None:
        """Log how ε compares with ln(n/d), for a guessed d, before anyone has spent anything."""
        log.info("%s", shown(self.epsilon, len(self.key_list), USUAL_DEGREE, GUESSED_DEGREE))

    def log_promise(self) -> None:
        """Log the promise in plain words, with its numbers at this ε, for the person who consents to it."""
        log.info(
            "Your answers, and all that is computed from them, keep this promise for each connection whose two ends "
            "are honest. %s",
            in_plain_words(self.epsilon, Fraction(0), Protects.EVERY_CONNECTION),
        )


def call(folder: AnyPath, keys_from: AnyPath, epsilon: object) -> Call:
    """Make a call: write `call.json` to a folder, which is made if need be, for everyone the collector asks."""
    place, listed = Path(folder) / CALL, Path(keys_from)
    exact = positive(epsilon, "epsilon")
    check_epsilon(exact)
    keys = keys_of(listed, read_json(listed))
    try:
        keys.sort()  # type: ignore[call-overload]  mixed kinds are refused just below
    except TypeError:
        raise bad(listed, "some keys are text and some are whole numbers") from None
    made = Call(secrets.token_hex(16), exact, AskedKeys.listed(keys))
    _check_size(made.key_list)
    with refusing(place.parent, "FOLDER"):
        place.parent.mkdir(exist_ok=True)
    check_place(place, "FOLDER", replace=False)
    record = {
        "release": made.release,
        "epsilon": exact_text(exact),
        "threshold": made.threshold,
        "vertices": len(keys),
        "keys": keys,
    }
    write_json(place, record)
    made.log_what_answers_show()
    return made


def read_call(path: AnyPath) -> Call:
    """Read a call, and check it without trusting the collector."""
    path = Path(path)
    fields = read_object(path, ("release", "epsilon", "threshold", "vertices", "keys"))
    release, epsilon = text_of(path, fields, "release"), number_of(path, fields, "epsilon")
    check_epsilon(epsilon)
    keys = keys_of(path, fields["keys"])
    try:
        key_list = AskedKeys.listed(keys)
        _check_size(key_list)
    except GraphError as error:
        raise bad(path, str(error).rstrip(".")) from error
    if fields["vertices"] != len(keys):
        raise bad(path, f"it lists {len(keys):,} keys, but gives their number as {_shown(fields['vertices'])}")
    # [party-threshold] Computed here: a collector that named a smaller one would be shown more than ε allows.
    threshold = fields["threshold"]
    if type(threshold) is not int or threshold != threshold_of(epsilon):
        raise bad(path, f"the threshold of its epsilon is {threshold_of(epsilon):,}, not {_shown(threshold)}")
    return Call(release, epsilon, key_list)


def _shown(value: object) -> str:
    return f"{value:,}" if type(value) is int else str(value) if isinstance(value, Decimal) else repr(value)


def _check_size(key_list: AskedKeys) -> None:
    if len(key_list) < 2:
        raise GraphError("Answers are about pairs, but fewer than two keys are listed.", keys=len(key_list))


# --- The message


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
    write_json(path, record)


def read_message(path: Path, most: int) -> Message:
    """Read a message of at most `most` bytes."""
    fields = read_object(path, ("release", "key", "answers"), most=most)
    (key,) = keys_of(path, [fields["key"]])
    try:
        answers = base64.b64decode(fields["answers"], validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise bad(path, f"its answers are not base64: {error}") from error
    return Message(text_of(path, fields, "release"), key, answers)
