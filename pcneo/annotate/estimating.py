"""Mode `estimate`: what `write` would cost, from a sample of vertices; nothing is written."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from pcneo.annotate.plan import Options, P, Plan, batches_of, make_plan
from pcneo.errors import ParameterError
from pcneo.model import Graph
from pcneo.search import p_text, search_batches

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["Estimate", "EstimateResult", "estimate"]

SAMPLE = 400
"""Vertices looked at."""
WRITE_RATE = 55_000
"""Memberships a second that are assumed; two cores shared with the server (DATA-MODEL.md#what-it-costs)."""
MEMBERSHIP_BYTES, HUB_BYTES = 34, 260
"""Store bytes of a relationship record, and of a hub with its properties, its index entry and its ownership.

Without the server's transaction logs, which grow by a few hundred bytes a membership up to their own limit.
"""
MANY = 10_000_000
"""Memberships from which on a warning is given: minutes of writing, and again of deleting."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class Estimate:
    """What one p would cost, from a sample.

    Attributes:
        sampled: vertices looked at.
        memberships, memberships_low, memberships_high: the estimate and a 95 % interval (normal approximation).
        compute_seconds: on the cores asked for.
        write_seconds: at `WRITE_RATE` memberships a second.
        store_bytes: relationships and hubs.
    """

    sampled: int
    memberships: int
    memberships_low: int
    memberships_high: int
    compute_seconds: float
    write_seconds: float
    store_bytes: int


@dataclass(frozen=True)
class EstimateResult:
    """What `write` would cost for each p (as `a/b`); `read_seconds` was measured. Fields as in `WriteResult`."""

    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    read_seconds: float
    estimates: dict[str, Estimate]
    configuration: dict[str, Any]


def estimate(
    driver: Driver, database: str | None = None, *, p: P | Sequence[P], **options: Unpack[Options]
) -> EstimateResult:
    """Say from a sample of vertices what `write` would cost; nothing is written.

    Arguments and errors as in `write`.

    Raises:
        ParameterError: vertices were named; their cost is the question itself.
    """
    if options.get("vertices") is not None:
        raise ParameterError("estimate is for the whole graph; leave the vertices out.", name="vertices", value=None)
    plan = make_plan(driver, database, "estimate", p, options)
    stored = plan.read()
    read_seconds = plan.millis() / 1000
    return EstimateResult(
        node_count=stored.node_count,
        relationship_count=stored.relationship_count,
        vertices=stored.graph.vertex_count,
        edges=stored.graph.edge_count,
        read_seconds=read_seconds,
        estimates={p_text(each): _estimate_one(plan, stored.graph, each) for each in plan.ps},
        configuration=plan.configuration,
    )


def _estimate_one(plan: Plan, graph: Graph, p: Fraction) -> Estimate:
    """Simple random sample without replacement; its seed is fixed, so that asking twice gives the same numbers."""
    n = graph.vertex_count
    sample = np.random.default_rng(0).choice(n, size=min(SAMPLE, n), replace=False)
    next(search_batches(graph, p, plan.score, vertices=sample[:1].tolist()))  # a compilation is no cost of the search
    started = time.perf_counter()
    batches = batches_of(plan, graph, p, vertices=sample.tolist())
    sizes = np.concatenate([batch.sizes for batch in batches]).astype(np.float64)
    compute_seconds = (time.perf_counter() - started) * n / len(sizes)
    error = 1.96 * n * float(sizes.std(ddof=1)) * np.sqrt((1 - len(sizes) / n) / len(sizes)) if len(sizes) > 1 else 0.0
    memberships = n * float(sizes.mean())
    store_bytes = round(memberships * MEMBERSHIP_BYTES + n * HUB_BYTES)
    if memberships + error >= MANY:
        log.warning(
            "p=%s would store about %s memberships, at most %s: %.1f GB, and %.0f minutes of writing. A smaller p "
            "gives smaller sets, and single vertices can be asked for.",
            p_text(p),
            f"{memberships:,.0f}",
            f"{memberships + error:,.0f}",
            store_bytes / 1e9,
            memberships / WRITE_RATE / 60,
        )
    return Estimate(
        sampled=len(sizes),
        memberships=round(memberships),
        memberships_low=max(n, round(memberships - error)),
        memberships_high=round(memberships + error),
        compute_seconds=compute_seconds,
        write_seconds=memberships / WRITE_RATE,
        store_bytes=store_bytes,
    )
