"""All parties of a graph in one process: each answers from its own row, and the collector sees only answers."""

from __future__ import annotations

from fractions import Fraction

from pcneo.basics.model import Graph
from pcneo.counting.answers import AnsweredPairs
from pcneo.privacy.asked_pairs import AskedKeys
from pcneo.privacy.collector import put_together
from pcneo.privacy.noise import Noise
from pcneo.privacy.vertex import Answered, OwnRow, answer


def answers_of_parties(graph: Graph, epsilon: Fraction, noise: Noise) -> AnsweredPairs:
    """Return the answers that the vertices of a graph send, each with its own coins."""
    key_list, keys = AskedKeys(graph.keys), graph.keys.tolist()
    sent: dict[int, Answered] = {}
    for at, key in enumerate(keys):
        # [party-rooms] Nothing but this vertex's own row goes in.
        own = OwnRow(key, [keys[place] for place in graph.neighbours_of(at).tolist()])
        sent[at] = answer(key, own, key_list, epsilon, noise.coins)
    return AnsweredPairs(put_together(key_list, sent)[1])
