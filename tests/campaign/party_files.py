"""Files between parties: calls, rows, ledgers and messages, whole and damaged; no party answers without spending."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

from campaign.texts import any_name, damaged, letters, number_text
from pcneo.errors import PcneoError
from pcneo.party.answering import answer_call
from pcneo.party.call import CALL, call
from pcneo.party.collecting import collect
from pcneo.party.own_ledger import read_ledger

__all__ = ["try_party"]


def try_party(rng: random.Random, folder: Path) -> bool:
    """Let a call be answered by all and collected; whether all of it was accepted."""
    keys = _keys(rng)
    (folder / "keys.json").write_text(json.dumps(keys))
    answers = folder / "answers"
    answers.mkdir()
    try:
        made = call(answers, folder / "keys.json", number_text(rng, 0.1))
    except PcneoError:
        assert not list(answers.iterdir())
        return False
    accepted = all([_answer(rng, folder, keys, number, made.epsilon) for number in range(len(keys))])
    try:
        collect(answers, folder / "counts.json", k=rng.choice([3, 3, 4]))
    except PcneoError:
        assert not (folder / "counts.json").exists()
        return False
    assert json.loads((folder / "counts.json").read_text())
    return accepted


def _keys(rng: random.Random) -> list[Any]:
    n = rng.randint(2, 9)
    if rng.random() < 0.5:
        return rng.sample(range(-50, 50), n)
    keys = dict.fromkeys(any_name(rng) if rng.random() < 0.2 else letters(rng) for _ in range(n))
    return list(keys) if rng.random() < 0.9 else [*keys, next(iter(keys)), 1]


def _answer(rng: random.Random, folder: Path, keys: list[Any], number: int, epsilon: Fraction) -> bool:
    key, ledger, row = keys[number], folder / f"ledger{number}", folder / f"row{number}"
    others = [other for other in keys if other != key and rng.random() < 0.5]
    row.write_text(json.dumps({"key": key, "neighbours": others}))
    ledger.write_text(json.dumps({"key": key, "limit": "3", "total": "4"}))
    spoilt = rng.choice([row, ledger, folder / "answers" / CALL]) if rng.random() < 0.05 else None
    whole = spoilt.read_bytes() if spoilt else b""
    if spoilt:
        spoilt.write_bytes(damaged(rng, whole))
    before = set((folder / "answers").iterdir())
    try:
        sent = answer_call(folder / "answers" / CALL, row=row, ledger=ledger)
    except PcneoError:
        assert set((folder / "answers").iterdir()) == before, "a message without its spend"
        return False
    finally:
        if spoilt and spoilt.name == CALL:
            spoilt.write_bytes(whole)
    spent = sum(spend.epsilon for spend in read_ledger(ledger).spends)
    assert spent == sent.epsilon, (spent, sent.epsilon)
    assert spoilt or sent.epsilon == epsilon
    assert sent.message.exists()
    return True
