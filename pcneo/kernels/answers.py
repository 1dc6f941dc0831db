"""Randomised response on rows of bits: the flips, and what is counted in the graph of the yes-answers.

That graph is a symmetric matrix of bits, `answers`: uint64, shape (n, words) with words = ceil(n/64); bit y % 64 of
`answers[x, y // 64]` is the answer for {x, y}. It has about f·n² ones, so it is quicker to AND whole rows than to go
through lists.
"""

import numpy as np
from numba import njit

from pcneo.kernels.instructions import lowest, ones

ONE = np.uint64(1)


@njit(nogil=True, cache=True)
def answer_row(coins, below, x, friends, row):
    """Answer for the pairs {x, y}, y > x: flip what the graph holds if the coin is less than `below`.

    Args:
        coins: uint8, 3·(n-1-x); three bytes a pair, the highest first, in the order of y.
        below: int64; the threshold a.
        x: the vertex.
        friends: uint32; its neighbours.
        row: uint64, words; zeros at the places of y > x.
    """
    y = x + 1
    for at in range(0, len(coins), 3):
        u = (np.int64(coins[at]) << 16) | (np.int64(coins[at + 1]) << 8) | np.int64(coins[at + 2])
        row[y >> 6] |= np.uint64(u < below) << np.uint64(y & 63)
        y += 1
    for friend in friends:
        if friend > x:
            row[friend >> 6] ^= ONE << np.uint64(friend & 63)


@njit(nogil=True, cache=True)
def mirror(answers):
    """Copy the answer for {x, y}, y > x, from the row of x to the row of y."""
    n, words = answers.shape
    for x in range(n):
        bit, place = ONE << np.uint64(x & 63), x >> 6
        for i in range(place, words):
            word = answers[x, i]
            if i == place:
                word &= ~(bit | (bit - ONE))
            while word:
                answers[(i << 6) + np.int64(lowest(word)), place] |= bit
                word &= word - ONE


@njit(nogil=True, cache=True)
def count_degrees(answers, degrees):
    """Fill `degrees`, int64, n, with the number of yes-answers of each vertex."""
    for x in range(len(answers)):
        count = 0
        for word in answers[x]:
            count += np.int64(ones(word))
        degrees[x] = count


@njit(nogil=True, cache=True)
def count_around(answers, values, sums):
    """Fill `sums`, int64, n, with the sum of `values`, int64, n, over the yes-neighbours of each vertex."""
    n, words = answers.shape
    for x in range(n):
        total = 0
        for i in range(words):
            word = answers[x, i]
            while word:
                total += values[(i << 6) + np.int64(lowest(word))]
                word &= word - ONE
        sums[x] = total


@njit(nogil=True, cache=True, forceinline=True)
def _shared(row, other):
    count = 0
    for i in range(len(row)):
        count += np.int64(ones(row[i] & other[i]))
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _smaller(answers, y, block):
    """The yes-neighbours x < y of y among the 64 vertices of a block, whose rows then stay in the near caches."""
    word = answers[y, block]
    if y >> 6 == block:
        word &= (ONE << np.uint64(y & 63)) - ONE
    return word


@njit(nogil=True, cache=True)
def count_shared(answers, first, last, shared):
    """Fill `shared`, int64, (last - first, n): the common yes-neighbours of vertices first..last-1 and all others."""
    for y in range(len(answers)):
        for x in range(first, last):
            shared[x - first, y] = _shared(answers[x], answers[y])


@njit(nogil=True, cache=True)
def count_shared_by(answers, ends, others, first, last, yes, shared):
    """Look up the answers for the pairs {ends[i], others[i]}, first <= i < last, and their common yes-neighbours.

    Args:
        answers: the answers.
        ends, others: int64, pairs; the ends of a pair differ.
        first, last: the pairs to look at.
        yes, shared: int64, pairs; 1 for yes, and how many yes-neighbours the ends share.
    """
    for i in range(first, last):
        x, y = ends[i], others[i]
        yes[i] = np.int64((answers[x, y >> 6] >> np.uint64(y & 63)) & ONE)
        shared[i] = _shared(answers[x], answers[y])


@njit(nogil=True, cache=True)
def count_triangles(answers, first, last, twice):
    """Add, for every yes-pair whose smaller end is in the blocks first..last-1, its common yes-neighbours to its ends.

    Args:
        answers: the answers.
        first, last: blocks of 64 vertices.
        twice: int64, n; over all blocks, twice the triangles of each vertex.
    """
    for block in range(first, last):
        for y in range(block << 6, len(answers)):
            word = _smaller(answers, y, block)
            while word:
                x = (block << 6) + np.int64(lowest(word))
                word &= word - ONE
                shared = _shared(answers[x], answers[y])
                twice[x] += shared
                twice[y] += shared


@njit(nogil=True, cache=True)
def keep_sharing(answers, least, first, last, kept):
    """Copy the yes-pairs {x, y}, x < y, with x in the blocks first..last-1, whose ends share enough yes-neighbours.

    Args:
        answers: the answers.
        least: how many they must share.
        first, last: blocks of 64 vertices.
        kept: uint64, as `answers`, zeros; the answer for {x, y} is set only in the row of x.
    """
    for block in range(first, last):
        for y in range(block << 6, len(answers)):
            word = _smaller(answers, y, block)
            while word:
                x = (block << 6) + np.int64(lowest(word))
                word &= word - ONE
                if _shared(answers[x], answers[y]) >= least:
                    kept[x, y >> 6] |= ONE << np.uint64(y & 63)


@njit(nogil=True, cache=True)
def count_cliques(answers, first, last, beside, thrice):
    """Go through the triangles {x, y, w} by their yes-pair {x, y}, x < y, with x in the blocks first..last-1.

    Args:
        answers: the answers.
        first, last: blocks of 64 vertices.
        beside: int64, n; over all blocks, the sum of cn(x, y) - 1 over the yes-pairs {x, y} among w's yes-neighbours.
        thrice: int64, n; over all blocks, three times the 4-cliques of each vertex.
    """
    words = answers.shape[1]
    common = np.empty(words, np.uint64)
    for block in range(first, last):
        for y in range(block << 6, len(answers)):
            word = _smaller(answers, y, block)
            while word:
                x = (block << 6) + np.int64(lowest(word))
                word &= word - ONE
                shared = 0
                for i in range(words):
                    common[i] = answers[x, i] & answers[y, i]
                    shared += np.int64(ones(common[i]))
                if shared == 0:
                    continue
                for i in range(words):
                    rest = common[i]
                    while rest:
                        w = (i << 6) + np.int64(lowest(rest))
                        rest &= rest - ONE
                        beside[w] += shared - 1
                        thrice[w] += _shared(common, answers[w])


@njit(nogil=True, cache=True)
def count_paths(answers, degrees, first, last, sums):
    """Sum over the middles y of two-paths, for each vertex w in first..last-1.

    Among y's yes-neighbours other than w, let c be how many are also w's, and e how many are not.

    Args:
        answers: the answers.
        degrees: int64, n.
        first, last: the vertices w.
        sums: int64, shape (n, 6); filled with the sums of C(c, 2), c·e and C(e, 2) over w's yes-neighbours y, then the
            same over all other y.
    """
    n = len(answers)
    common = np.empty(n, np.int64)
    for w in range(first, last):
        _common_with(answers, degrees, w, common)
        for y in range(n):
            if y != w:
                near = np.int64((answers[w, y >> 6] >> np.uint64(y & 63)) & ONE)
                c = common[y]
                e = degrees[y] - c - near
                at = 0 if near else 3
                sums[w, at] += c * (c - 1) // 2
                sums[w, at + 1] += c * e
                sums[w, at + 2] += e * (e - 1) // 2


@njit(nogil=True, cache=True)
def _common_with(answers, degrees, w, common):
    """Fill `common` with how many yes-neighbours w shares with each vertex, in the quicker of two ways."""
    n, words = answers.shape
    steps = 0
    for i in range(words):
        word = answers[w, i]
        while word:
            steps += words + degrees[(i << 6) + np.int64(lowest(word))]
            word &= word - ONE
    if steps > n * words // 4:
        for y in range(n):
            common[y] = _shared(answers[w], answers[y])
        return
    common[:] = 0
    for i in range(words):
        word = answers[w, i]
        while word:
            x = (i << 6) + np.int64(lowest(word))
            word &= word - ONE
            for j in range(words):
                rest = answers[x, j]
                while rest:
                    common[(j << 6) + np.int64(lowest(rest))] += 1
                    rest &= rest - ONE
