"""Which end of a pair answers for it: the public rule that vertices and collector share (GUARANTEE.md#the-parties)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Key, KeyArray
from pcneo.errors import GraphError


def parity(key: Key) -> int:
    """Return what decides who answers: an integer's lowest bit; for text the exclusive or of its bytes' lowest bits."""
    if isinstance(key, str):
        return sum(key.encode()) & 1
    return key & 1


class AskedKeys:
    """The keys of all vertices that are asked, ascending; who answers for which pair follows from them.

    Attributes:
        keys: int64, or text as objects; shape (n,), strictly ascending.
    """

    def __init__(self, keys: KeyArray) -> None:
        """Take the keys of a graph, which are distinct and ascending in every `Graph`."""
        self.keys = keys
        self._parities = np.array([parity(key) for key in keys.tolist()], np.uint8)
        self._places = {key: i for i, key in enumerate(keys.tolist())}

    @classmethod
    def listed(cls, keys: Sequence[Key]) -> AskedKeys:
        """Take a list of keys that someone else has made, and check it."""
        texts = {isinstance(key, str) for key in keys}
        if len(texts) > 1:
            raise GraphError("Some of the listed keys are text and some are whole numbers.", keys=len(keys))
        for key, following in pairwise(keys):
            if not key < following:  # type: ignore[operator]  they are of one kind
                what = "is listed twice" if key == following else f"comes before {following!r}"
                raise GraphError(f"The list of keys does not ascend: {key!r} {what}.", key=key)
        return cls(np.array(keys, object if texts == {True} else np.int64))

    def __len__(self) -> int:
        """Return n."""
        return len(self.keys)

    def place(self, key: Key) -> int | None:
        """Return the position of a key; None where it is not listed."""
        return self._places.get(key)

    def places(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Return the positions of those keys that are listed, in no particular order."""
        return np.array([self._places[key] for key in keys if key in self._places], np.int64)

    def partners(self, at: int) -> NDArray[np.int64]:
        """Return the positions of the other ends of the pairs that a vertex answers for, ascending."""
        # [party-one-end] Only the two keys decide: the smaller one answers if their parities differ, else the larger
        # one. Positions are used here only to tell which of two keys is smaller.
        differ = self._parities != self._parities[at]
        smaller = np.flatnonzero(~differ[:at])
        larger = at + 1 + np.flatnonzero(differ[at + 1 :])
        return np.concatenate([smaller, larger])
