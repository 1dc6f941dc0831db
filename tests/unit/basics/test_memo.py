"""Values that are computed once."""

from __future__ import annotations

import pytest

from pcneo.basics.memo import Memo
from pcneo.errors import GraphError


def test_a_memo_computes_once_and_keeps_nothing_of_what_raises() -> None:
    memo, calls = Memo(), list[int]()

    def compute() -> str:
        calls.append(1)
        if len(calls) == 1:
            raise GraphError("not yet")
        return "value"

    with pytest.raises(GraphError):
        memo.get(3, compute)
    assert 3 not in memo
    assert [memo.get(3, compute) for _ in range(3)] == ["value"] * 3
    assert len(calls) == 2
    memo.put(4, "given")
    assert memo.get(4, compute) == "given"
