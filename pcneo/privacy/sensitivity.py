"""How far one connection can move the counts."""

from __future__ import annotations

import math


def count_sensitivity(common: int, k: int) -> int:
    """Return k·C(max(common, k-2), k-2): no less than what a connection with `common` common neighbours can change.

    The k-cliques with ends a and b choose their other k-2 vertices among the common neighbours of a and b, and each
    clique is counted at its k vertices. With fewer than k-2 common neighbours no such clique exists; the floor then
    makes sure that there is still noise.
    """
    # [count-l1]
    return k * math.comb(max(common, k - 2), k - 2)
