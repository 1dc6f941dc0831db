"""Mode `stream`: cohesions one by one; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pcneo.annotate.plan import Options, Plan, make_plan
from pcneo.annotate.supply import supply_of
from pcneo.basics.model import Cohesion, Key, Progress
from pcneo.basics.searches import AnyP

if TYPE_CHECKING:
    from distributed import Client
    from neo4j import Driver

__all__ = ["stream"]


def stream(
    driver: Driver,
    database: str | None = None,
    *,
    p: AnyP | Sequence[AnyP],
    graph: str | None = None,
    node_labels: Sequence[str] = (),
    relationship_types: Sequence[str] = (),
    key: str | None = None,
    search: str | None = None,
    effort: int | None = None,
    vertices: Key | Sequence[Key] | None = None,
    concurrency: int | None = None,
    create_index: bool = False,
    check: bool = False,
    scheduler: Client | None = None,
    progress: Progress | None = None,
) -> Iterator[Cohesion]:
    """Yield the minimal p-cohesions, for each p in the order of the vertices; nothing is written.

    What can be checked without reading the graph is checked at the call, before the first cohesion is asked for.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        p: one or several; several share the read.
        graph: a known name stands for its labels, types and key, which may then be left out.
        node_labels, relationship_types, key, search, effort: as for `write`.
        vertices: as for `write`; their order is that of the cohesions.
        concurrency, check, scheduler, progress: as for `write`.
        create_index: refused: nothing is written.

    Returns:
        An iterator; whole graphs come in ascending order of their keys.

    Raises:
        PcneoError: as in `write`, but for BusyError.
    """
    options = Options(
        p=p,
        node_labels=node_labels,
        relationship_types=relationship_types,
        key=key,
        search=search,
        effort=effort,
        vertices=vertices,
        concurrency=concurrency,
        create_index=create_index,
        check=check,
        progress=progress,
        scheduler=scheduler,
    )
    return _stream(make_plan(driver, database, "stream", options, graph))


def _stream(plan: Plan) -> Iterator[Cohesion]:
    supply = supply_of(plan)
    for search in plan.searches:
        for batch in supply.batches(search):
            yield from batch.cohesions()
