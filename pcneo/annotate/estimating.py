"""Mode `estimate`: what `write` would cost, estimated from a sample of vertices; nothing is written."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pcneo.annotate.plan import Configuration, Options, P, make_plan
from pcneo.annotate.supply import WholeGraph
from pcneo.errors import ParameterError
from pcneo.frames import Table, columns_of
from pcneo.model import Key, Progress
from pcneo.search import p_text, search_batches

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["Estimate", "EstimateResult", "estimate", "estimate_memberships"]

SAMPLE = 400
"""Vertices that are searched."""
WRITE_RATE = 55_000
"""Memberships a second, assumed: measured on two cores shared with the server (DATA-MODEL.md#what-it-costs)."""
MEMBERSHIP_BYTES, HUB_BYTES = 34, 260
"""Store bytes of a relationship record, and of a hub with its properties, its index entry and its ownership.

Without the server's transaction logs, which grow by a few hundred bytes a membership up to their own limit.
"""
MANY = 10_000_000
"""Memberships from which a warning is given: they take minutes to write, and again to delete."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class Estimate:
    """What one p would cost, from a sample.

    Attributes:
        sampled: vertices that were searched.
        memberships, memberships_low, memberships_high: the estimate and a 95 % interval (normal approximation).
        compute_seconds: with the threads of the configuration.
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
class EstimateResult(Table):
    """What `write` would cost.

    Attributes:
        read_seconds: what choosing, checking and reading took now.
        estimates: by p, as `a/b`.
        node_count, relationship_count, vertices, edges, configuration: as in `WriteResult`.
    """

    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    read_seconds: float
    estimates: dict[str, Estimate]
    configuration: Configuration

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each p."""
        return columns_of({"p": p, **vars(estimate)} for p, estimate in self.estimates.items())

    def caption(self) -> str:
        """Return a sentence for above the table."""
        return f"{self.vertices:,} vertices, {self.edges:,} edges; nothing was written"


def estimate(
    driver: Driver,
    database: str | None = None,
    *,
    p: P | Sequence[P],
    node_labels: Sequence[str] = (),
    relationship_types: Sequence[str] = (),
    key: str | None = None,
    score: str | None = None,
    vertices: Key | Sequence[Key] | None = None,
    concurrency: int | None = None,
    create_index: bool = False,
    check: bool = False,
    progress: Progress | None = None,
) -> EstimateResult:
    """Estimate from a sample of vertices what `write` would cost; nothing is written.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        p: one or several; several share the read.
        node_labels, relationship_types, key, score, concurrency, check, progress: as for `write`.
        vertices: refused: to search them is what an estimate would cost.
        create_index: refused: nothing is written.

    Returns:
        An estimate for each p.

    Raises:
        ParameterError: as in `write`, or vertices were named.
        PcneoError: as in `write`, but for BusyError.
    """
    if vertices is not None:
        raise ParameterError("estimate is for the whole graph; leave the vertices out.", name="vertices", value=None)
    options = Options(
        p=p,
        node_labels=node_labels,
        relationship_types=relationship_types,
        key=key,
        score=score,
        vertices=None,
        concurrency=concurrency,
        create_index=create_index,
        check=check,
        progress=progress,
    )
    plan = make_plan(driver, database, "estimate", options)
    supply = WholeGraph(plan)
    read_seconds = plan.millis() / 1000
    node_count, relationship_count = supply.counts
    return EstimateResult(
        node_count=node_count,
        relationship_count=relationship_count,
        vertices=supply.vertices,
        edges=supply.edges,
        read_seconds=read_seconds,
        estimates={p_text(fraction): _estimate(supply, fraction, plan.score) for fraction in plan.ps},
        configuration=plan.configuration,
    )


def estimate_memberships(supply: WholeGraph, p: Fraction, score: str) -> int:
    """Return about how many memberships a run of a whole graph would have, from a sample of its vertices."""
    return _estimate(supply, p, score).memberships


def _estimate(supply: WholeGraph, p: Fraction, score: str) -> Estimate:
    """Estimate from a simple random sample without replacement; its seed is fixed: two estimates are the same."""
    n = supply.vertices
    sample = np.random.default_rng(0).choice(n, size=min(SAMPLE, n), replace=False)
    # The kernels are compiled before the clock starts: that is no cost of the search.
    next(search_batches(supply.graph, p, score, vertices=sample[:1].tolist()))
    started = time.perf_counter()
    sizes = np.concatenate([batch.sizes for batch in supply.batches(p, score, sample.tolist())]).astype(np.float64)
    compute_seconds = (time.perf_counter() - started) * n / len(sizes)
    error = 1.96 * n * float(sizes.std(ddof=1)) * np.sqrt((1 - len(sizes) / n) / len(sizes)) if len(sizes) > 1 else 0.0
    memberships = n * float(sizes.mean())
    store_bytes = round(memberships * MEMBERSHIP_BYTES + n * HUB_BYTES)
    if memberships + error >= MANY:
        log.warning(
            "p=%s would store about %s memberships, at most %s: %.1f GB, and %.0f minutes of writing. A smaller p "
            "gives smaller cohesions, and single vertices can be named.",
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
