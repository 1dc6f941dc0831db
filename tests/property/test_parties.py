"""Exactly one end answers for each pair, and what vertices send keeps the promise of `respond`: by brute force.

The functions are those that `pcneo party` and a release run (GUARANTEE.md#the-parties).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import naive
import numpy as np
import pytest

from pcneo.errors import GraphError, NotFoundError
from pcneo.graph import graph_from_edges
from pcneo.privacy.asked_pairs import AskedKeys
from pcneo.privacy.collector import check_answered, put_together
from pcneo.privacy.noise import SimulatedNoise, system_coins
from pcneo.privacy.vertex import Answered, OwnRow, answer
from pcneo.release.simulated_parties import answers_of_parties

COINS = 2**24
Edges = tuple[tuple[Any, Any], ...]


@cache
def below_of(epsilon: Fraction) -> int:
    """a, by the twin."""
    return int(naive.flip_chance(epsilon) * COINS)


def answered_pairs(keys: Sequence[Any]) -> list[frozenset[Any]]:
    """The pairs that somebody answers for, by the shipped rule: as often as somebody does."""
    key_list = AskedKeys.listed(sorted(keys))
    ordered = key_list.keys.tolist()
    return [
        frozenset((ordered[at], ordered[other]))
        for at in range(len(key_list))
        for other in key_list.partners(at).tolist()
    ]


def random_keys(rng: random.Random) -> list[Any]:
    n, kind = rng.randint(1, 12), rng.randrange(6)
    pools: list[Any] = [
        lambda: rng.randint(-20, 20),
        lambda: 2 * rng.randint(-20, 20),
        lambda: rng.randint(-(2**63), 2**63 - 1),
        lambda: -rng.randint(1, 30),
        lambda: "".join(rng.choices("aábéß漢🙂z", k=rng.randint(0, 4))),
        lambda: chr(2 * rng.randint(48, 56)),
    ]
    return sorted({pools[kind]() for _ in range(n)})


def test_each_pair_is_answered_for_by_exactly_one_end_whatever_the_keys_and_whoever_is_asked() -> None:
    """All lists of up to 8 of the keys 0..7 and -1..-8, and 1,000 random sets: by the twin's end, for any list."""
    rng = random.Random(5)
    lists = [list(range(n)) for n in range(9)] + [list(range(-n, 0)) for n in range(9)]
    lists += [[2 * i for i in range(n)] for n in range(9)] + [random_keys(rng) for _ in range(1000)]
    for keys in lists:
        expected = {frozenset(pair) for pair in combinations(keys, 2)}
        assert Counter(answered_pairs(keys)) == Counter(expected)
        some = sorted(rng.sample(keys, rng.randint(0, len(keys))))
        for listed in (keys, some):
            key_list = AskedKeys.listed(listed)
            for at, key in enumerate(listed):
                mine = [other for other in listed if other != key and naive.answering_end(key, other) == key]
                assert key_list.keys[key_list.partners(at)].tolist() == mine


@pytest.mark.parametrize("keys", [[1, 1], [2, 1], ["a", "a"], ["b", "a"], [1, "a"], [0, 2, 2, 3]], ids=str)
def test_a_list_that_has_a_key_twice_or_in_no_order_is_refused(keys: list[Any]) -> None:
    with pytest.raises(GraphError, match=r"does not ascend|some are whole"):
        AskedKeys.listed(keys)


# --- What a vertex sends


def coins_of(flips: Iterable[bool], below: int) -> Any:
    """Three bytes a pair, the highest first, just on either side of the threshold."""
    left = b"".join((below - 1 if flip else below).to_bytes(3, "big") for flip in flips)

    def take(size: int) -> bytes:
        nonlocal left
        taken, left = left[:size], left[size:]
        assert len(taken) == size
        return taken

    return take


def rows_of(keys: Sequence[Any], edges: Edges) -> dict[Any, OwnRow]:
    graph = naive.graph_of(edges, isolated=keys)
    return {key: OwnRow(key, frozenset(graph[key])) for key in keys}


def protocol(keys: Sequence[Any], edges: Edges, epsilon: Fraction, flips: Sequence[bool]) -> frozenset[frozenset[Any]]:
    """Run the whole protocol, and return the pairs that are answered yes."""
    below = below_of(epsilon)
    key_list, rows = AskedKeys.listed(keys), rows_of(keys, edges)
    coins = coins_of(flips, below)
    sent = {at: answer(key, rows[key], key_list, epsilon, coins) for at, key in enumerate(keys)}
    for at, answered in sent.items():
        check_answered(key_list, at, answered)
    present, matrix = put_together(key_list, sent)
    assert present.tolist() == list(range(len(keys)))
    return yes_pairs(keys, matrix)


def yes_pairs(keys: Sequence[Any], matrix: np.ndarray[Any, Any]) -> frozenset[frozenset[Any]]:
    bits = np.unpackbits(matrix.view(np.uint8), axis=1, bitorder="little")
    assert not bits[:, len(keys) :].any()
    assert np.array_equal(bits[:, : len(keys)], bits[:, : len(keys)].T)
    return frozenset(frozenset((keys[x], keys[y])) for x, y in np.argwhere(bits).tolist())


at_length = pytest.mark.thorough


@pytest.mark.parametrize(
    ("keys", "epsilon"),
    [
        ((1, 2), 3),
        ((-3, 0, 5), "7/10"),
        pytest.param((1, 2, 4, 7), "7/10", marks=pytest.mark.long),
        pytest.param(("a", "b", "c", "ß"), 3, marks=pytest.mark.long),
        pytest.param((1, 2, 4, 7), 3, marks=at_length),
        pytest.param(("a", "b", "c", "ß"), "7/10", marks=at_length),
        pytest.param((2, 4, 6, 8), "7/10", marks=at_length),
        pytest.param((2, 4, 6, 8), 3, marks=at_length),
    ],
    ids=str,
)
def test_a_connection_changes_the_odds_of_all_that_is_sent_by_exactly_the_flips_ratio(
    keys: Sequence[Any], epsilon: int | str
) -> None:
    """Over all graphs of up to four vertices, toggling any pair; and each answer is as likely as the twin says."""
    exactly = Fraction(epsilon)
    f = naive.flip_chance(exactly)
    pairs = list(combinations(keys, 2))
    graphs = [
        tuple(pair for pair, there in zip(pairs, bits, strict=True) if there)
        for bits in product((False, True), repeat=len(pairs))
    ]
    chances: dict[Edges, dict[frozenset[frozenset[Any]], Fraction]] = {}
    for edges in graphs:
        computed = chances[edges] = {}
        for flips in product((False, True), repeat=len(pairs)):
            yes = protocol(keys, edges, exactly, flips)
            assert yes not in computed
            computed[yes] = math.prod((f if flip else 1 - f for flip in flips), start=Fraction(1))
            twin = naive.graph_of([tuple(pair) for pair in yes], isolated=keys)
            assert computed[yes] == naive.answers_probability(naive.graph_of(edges, isolated=keys), twin, f)
    exact = (1 - f) / f
    for edges in graphs:
        for pair in pairs:
            other = tuple(p for p in pairs if (p in edges) != (p == pair))
            assert {chances[edges][yes] / chances[other][yes] for yes in chances[edges]} == {exact, 1 / exact}


def test_what_is_sent_is_as_long_and_drawn_alike_whatever_the_row_holds() -> None:
    keys = list(range(1, 40))
    key_list = AskedKeys.listed(keys)
    for at, key in enumerate(keys):
        lengths, taken, sent = set(), [], []
        for neighbours in (frozenset[int](), frozenset(keys) - {key}):
            asks: list[int] = []

            def coins(size: int, asks: list[int] = asks) -> bytes:
                asks.append(size)
                return b"\xff" * size

            answered = answer(key, OwnRow(key, neighbours), key_list, Fraction(1), coins)
            lengths.add(len(answered))
            taken.append(asks)
            sent.append(np.unpackbits(np.frombuffer(answered, np.uint8), bitorder="little"))
        pairs = len(key_list.partners(at))
        assert lengths == {-(-pairs // 8)}
        assert taken == [[3 * pairs]] * 2
        assert not sent[0].any()
        assert sent[1].sum() == pairs


def test_a_vertex_answers_from_its_own_row_and_no_other_and_neighbours_that_are_not_asked_do_not_count() -> None:
    key_list = AskedKeys.listed([1, 2, 3, 4])
    other = OwnRow(2, frozenset([1, 3]))
    with pytest.raises(GraphError, match="that of vertex 2, not of 1"):
        answer(1, other, key_list, Fraction(1), bytes)
    with pytest.raises(NotFoundError, match="Vertex 5 is not in the list"):
        answer(5, OwnRow(5, [1]), key_list, Fraction(1), bytes)

    def heads(size: int) -> bytes:
        return b"\xff" * size

    mine = answer(1, OwnRow(1, frozenset([2])), key_list, Fraction(1), heads)
    assert answer(1, OwnRow(1, frozenset([2, 77])), key_list, Fraction(1), heads) == mine


def test_who_sends_nothing_is_left_out_and_nobody_answers_instead() -> None:
    """Every pattern of silence among five vertices of a complete graph: the others' answers are as they were."""
    keys = [1, 2, 3, 6, 8]
    key_list = AskedKeys.listed(keys)
    rows = rows_of(keys, tuple(combinations(keys, 2)))
    rng = random.Random(3)
    sent = {at: answer(key, rows[key], key_list, Fraction(1), rng.randbytes) for at, key in enumerate(keys)}
    everybody = yes_pairs(keys, put_together(key_list, sent)[1])
    for size in range(6):
        for places in combinations(range(5), size):
            present, matrix = put_together(key_list, {at: sent[at] for at in places})
            assert present.tolist() == list(places)
            some = [keys[at] for at in places]
            assert yes_pairs(some, matrix) == {pair for pair in everybody if pair <= set(some)}


@pytest.mark.parametrize("wrong", [b"", b"\0", b"\0\0\0", b"\0\x20"], ids=repr)
def test_bits_that_are_too_few_too_many_or_beyond_the_last_pair_are_refused(wrong: bytes) -> None:
    key_list = AskedKeys.listed(list(range(1, 27)))
    at = next(at for at in range(26) if len(key_list.partners(at)) == 13)
    check_answered(key_list, at, Answered(b"\xff\x1f"))
    with pytest.raises(GraphError, match="13 pairs"):
        check_answered(key_list, at, Answered(wrong))


def test_all_parties_of_a_graph_are_the_protocol_with_each_vertex_s_own_row() -> None:
    """130 vertices, more than two words of bits: the same bytes for coins give the same answers."""
    rng = random.Random(8)
    keys = sorted(rng.sample(range(-500, 500), 130))
    edges = [pair for pair in combinations(keys, 2) if rng.random() < 0.1]
    graph = graph_from_edges(keys, [x for x, _ in edges], [y for _, y in edges])
    epsilon = Fraction(2)
    own_coins, same_coins = random.Random(1), random.Random(1)
    simulated = answers_of_parties(graph, epsilon, SimulatedNoise(lambda scale, size: [0] * size, own_coins.randbytes))
    key_list, rows = AskedKeys.listed(keys), rows_of(keys, tuple(edges))
    sent = {at: answer(key, rows[key], key_list, epsilon, same_coins.randbytes) for at, key in enumerate(keys)}
    assert np.array_equal(simulated.rows, put_together(key_list, sent)[1])
    truth = naive.graph_of(edges, isolated=keys)
    never = answers_of_parties(graph, epsilon, SimulatedNoise(lambda scale, size: [0] * size))  # coins of 255
    assert yes_pairs(keys, never.rows) == {frozenset((a, b)) for a in truth for b in truth[a]}


def test_parties_flip_as_many_answers_as_epsilon_says() -> None:
    """10^6 pairs, ε=1, the system's coins. Size 1e-6: 4.9 standard deviations of 443 flips among 268,941.

    An f that is off by 1.4 % is found with a power above 0.999: that is 8 standard deviations and more.
    """
    n, f = 1415, float(naive.flip_chance(Fraction(1)))
    keys = list(range(n))
    key_list = AskedKeys.listed(keys)
    sent = {at: answer(key, OwnRow(key, ()), key_list, Fraction(1), system_coins) for at, key in enumerate(keys)}
    pairs = math.comb(n, 2)
    flips = sum(int(np.unpackbits(np.frombuffer(bits, np.uint8)).sum()) for bits in sent.values())
    deviation = math.sqrt(pairs * f * (1 - f))
    assert pairs > 10**6
    assert abs(flips - f * pairs) <= 4.9 * deviation
    assert 0.014 * f * pairs > (4.9 + 3.1) * deviation


@pytest.mark.parametrize("n", [2, 9, 17, 40])
def test_a_message_has_as_many_bytes_as_hold_a_bit_for_each_pair_and_no_other_number(n: int) -> None:
    key_list = AskedKeys.listed(range(n))
    for at in range(n):
        size = -(-len(key_list.partners(at)) // 8)
        check_answered(key_list, at, Answered(bytes(size)))
        for wrong in {size + 1, abs(size - 1)}:
            with pytest.raises(
                GraphError, match=rf"Vertex {at} answers for \d+ pairs?, but did not send exactly one bit for each"
            ):
                check_answered(key_list, at, Answered(bytes(wrong)))
