"""The kinds of promise that a mechanism can make; the ledger adds up releases by them (GUARANTEE.md#budget)."""

from __future__ import annotations

from enum import Enum


class Protects(Enum):
    """Which pairs of vertices a release protects."""

    PAIRS_INSIDE_GROUPS = "pairs inside the groups of one set of memberships"
    """Releases add up for one set; a pair outside its groups is not protected."""

    EVERY_CONNECTION = "every connection"
    """Nothing is taken as given, and releases add up whatever they rest on."""

    NOTHING = "nothing"
    """No ε bounds what a release gives away."""
