"""The paper's claims about errors, bounds and promises of simulated releases."""

from __future__ import annotations

from evaluation.claims.bound_checks import OPTIMAL_H, SIMILAR_BY_H, TIGHTER_WITH_EPSILON
from evaluation.claims.epsilon_checks import (
    BEST_EPSILON_1,
    BETTER_WITH_EPSILON,
    by_epsilon,
    by_epsilon_1,
    similar_by_epsilon,
    trend_of_epsilon_1,
)
from evaluation.claims.error_checks import (
    by_p,
    error_rises,
    no_longer_better,
    outperforms,
    rises_slowly,
    smaller_for_published,
    two_orders,
)
from evaluation.claims.judging import Claim
from evaluation.claims.protection_checks import (
    BALANCES,
    FOUR_THIRDS_PROTECTS,
    promise_kept,
    views_inside,
    whole_neighbourhoods,
)
from evaluation.claims.settings import setting
from evaluation.experiments import ALL

_HEPTH, _BITCOIN = "Fig. 6", "Fig. 10"
_IMPLIED = "implied"

RELEASE_CLAIMS = (
    # Three cliques
    Claim(
        "HepTh, k=3: published has smaller errors than elv for all p below 0.7.",
        _HEPTH,
        outperforms([s for part in by_p("HepTh", 3) for s in part[:6]], "p"),
        k=3,
    ),
    Claim(
        "HepTh, k=3: only there; from p=0.7 on it has clearly smaller errors nowhere (implied).",
        f"{_HEPTH}, implied",
        no_longer_better("HepTh", 3, 6),
        k=3,
        source=_IMPLIED,
    ),
    Claim("HepTh, k=3: the error of published rises with p.", _HEPTH, error_rises("HepTh", 3), k=3),
    Claim(
        "HepTh, k=3: beyond p=0.4 the error rises slowly (by a smaller factor than before).",
        _HEPTH,
        rises_slowly("HepTh", 3),
        k=3,
    ),
    Claim(
        "HepTh: the reason is that beyond p=0.4 almost every vertex has all its connections in its cohesion (90 %).",
        _HEPTH,
        whole_neighbourhoods("HepTh", 3),
    ),
    Claim(
        "HepTh: from p=0.7 on local views are subsets of the minimal p-cohesions (99 %).",
        _HEPTH,
        views_inside("HepTh", ("0.7", "0.8")),
    ),
    Claim(
        "HepTh: a reasonable p balances utility and protection (at p=0.1, h=3, ε=10: a smaller error than elv, and no "
        "connection inside a group loses more than ε2).",
        _HEPTH,
        BALANCES,
        k=3,
    ),
    Claim(
        "Celegans: the bounds of published and elv follow similar trends in h (rank correlation of 0.8).",
        "Fig. 7",
        SIMILAR_BY_H,
        k=3,
        singly=True,
    ),
    Claim(
        "Celegans: h = 2 or 3 gives the least bound, or one that is not told apart from it, for almost all ε (all "
        "curves but one).",
        "Fig. 7",
        OPTIMAL_H,
        k=3,
        singly=True,
    ),
    Claim(
        "Celegans: with growing ε the bound of published becomes tighter, compared with elv.",
        "Fig. 7",
        TIGHTER_WITH_EPSILON,
        k=3,
        singly=True,
    ),
    Claim(
        "On all graphs published has smaller errors than elv (k=3, ε=10).",
        "Fig. 8(a)",
        outperforms([setting(name, 3, "10") for name in ALL], "graph"),
        k=3,
        singly=True,
    ),
    Claim(
        "On SisterCity its error is smaller by two orders of magnitude (ε=10; a factor of 10^1.5).",
        "Fig. 8(a)",
        two_orders("10"),
        k=3,
        singly=True,
    ),
    Claim(
        "The reason is less noise (a smaller mean error of local counts), on all graphs (ε=10).",
        "Fig. 8(a)",
        smaller_for_published("absolute", "mean error of local counts"),
        k=3,
        singly=True,
    ),
    Claim(
        "Another reason is a tighter bound of the local sensitivity, on all graphs (ε=10).",
        "Fig. 8(a)",
        smaller_for_published("bound", "mean bound"),
        k=3,
        singly=True,
    ),
    Claim(
        "USAirport, k=3: published follows similar trends in ε as elv, for all h (correlation of log errors 0.8).",
        "Fig. 8(b) to (e)",
        similar_by_epsilon(3),
        k=3,
    ),
    Claim(
        "USAirport, k=3: published is increasingly better than elv as ε grows.",
        "Fig. 8(b) to (e)",
        BETTER_WITH_EPSILON,
        k=3,
    ),
    Claim(
        "On all graphs published has smaller errors than elv (k=3, ε=5).",
        "Fig. 9(a)",
        outperforms([setting(name, 3, "5") for name in ALL], "graph"),
        k=3,
        singly=True,
    ),
    Claim(
        "On SisterCity its error is smaller by two orders of magnitude (ε=5; a factor of 10^1.5).",
        "Fig. 9(a)",
        two_orders("5"),
        k=3,
        singly=True,
    ),
    Claim(
        "Celegans: published has smaller errors than elv for all ε1.",
        "Fig. 9(b) to (e)",
        outperforms([s for part in by_epsilon_1() for s in part], "epsilon_1"),
        k=3,
    ),
    Claim(
        "Celegans: below ε1 = 1.5 the error falls as ε1 grows (rank correlation -0.8).",
        "Fig. 9(b) to (e)",
        trend_of_epsilon_1(0.1, 1.5, -1),
        k=3,
    ),
    Claim(
        "Celegans: the reason is a bound of the local sensitivity that falls as ε1 grows (rank correlation -0.8).",
        "Fig. 9(b) to (e)",
        trend_of_epsilon_1(0.1, 1.5, -1, "bound"),
        k=3,
    ),
    Claim(
        "Celegans: the error is least at about ε1 = 1.5 (between 1 and 2).",
        "Fig. 9(b) to (e)",
        BEST_EPSILON_1,
        k=3,
    ),
    Claim(
        "Celegans: above ε1 = 1.5 the error rises as ε1 grows (rank correlation 0.8).",
        "Fig. 9(b) to (e)",
        trend_of_epsilon_1(1.5, 4.9, 1),
        k=3,
    ),
    Claim(
        "Celegans: the reason is more noise (a mean error of local counts that rises with ε1, rank correlation 0.8).",
        "Fig. 9(b) to (e)",
        trend_of_epsilon_1(1.5, 4.9, 1, "absolute"),
        k=3,
    ),
    # Four cliques
    Claim(
        "For k=4, λ4 = 4/3 λ3 will do (the worst connection loses at most ε2 with elv, ε=10).",
        "Section 6, 4-clique counting, implied",
        FOUR_THIRDS_PROTECTS,
        source=_IMPLIED,
    ),
    Claim(
        "Bitcoin, k=4: published has smaller errors than elv for all p below 0.8.",
        _BITCOIN,
        outperforms([s for part in by_p("Bitcoin", 4) for s in part[:7]], "p"),
        k=4,
    ),
    Claim(
        "Bitcoin, k=4: only there; at p=0.8 it has clearly smaller errors nowhere (implied).",
        f"{_BITCOIN}, implied",
        no_longer_better("Bitcoin", 4, 7),
        k=4,
        source=_IMPLIED,
    ),
    Claim("Bitcoin, k=4: the error of published rises with p.", _BITCOIN, error_rises("Bitcoin", 4), k=4),
    Claim(
        "Bitcoin, k=4: the reason is more noise (a mean error of local counts that rises with p).",
        _BITCOIN,
        error_rises("Bitcoin", 4, "absolute"),
        k=4,
    ),
    Claim(
        "Bitcoin, k=4: beyond p=0.4 the error rises slowly (by a smaller factor than before).",
        _BITCOIN,
        rises_slowly("Bitcoin", 4),
        k=4,
    ),
    Claim(
        "Bitcoin: the reason is that beyond p=0.4 almost every vertex has all its connections in its cohesion (90 %).",
        _BITCOIN,
        whole_neighbourhoods("Bitcoin", 4),
    ),
    Claim(
        "Bitcoin: from p=0.8 on local views are subsets of the minimal p-cohesions (99 %).",
        _BITCOIN,
        views_inside("Bitcoin", ("0.8",)),
    ),
    Claim(
        "On all graphs published has smaller errors than elv (k=4, ε=10).",
        "Fig. 11(a)",
        outperforms([setting(name, 4, "10") for name in ALL], "graph"),
        k=4,
        singly=True,
    ),
    Claim(
        "USAirport, k=4: published follows similar trends in ε as elv, for all h (correlation of log errors 0.8).",
        "Fig. 11(b) to (e)",
        similar_by_epsilon(4),
        k=4,
    ),
    Claim(
        "USAirport, k=4: published has smaller errors than elv for all ε, for all h.",
        "Fig. 11(b) to (e)",
        outperforms([s for part in by_epsilon(4) for s in part], "h"),
        k=4,
    ),
    # What the mechanism is for
    Claim(
        "Releases of published protect critical connections: at fixed noise no connection inside a group loses more "
        "than ε2 (h=3, p=0.1).",
        "Section 5",
        promise_kept("connections_inside"),
        source="from Section 5",
    ),
    Claim(
        "That holds for every connection, inside a group or not (which the paper does not promise; h=3, p=0.1).",
        "not in the paper",
        promise_kept("connections"),
        source="not in the paper",
    ),
)
"""In the paper's order."""
