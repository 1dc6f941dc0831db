"""Mode `stream`: yields cohesions one by one; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

from pcneo.annotate.plan import Asked, Plan, make_plan
from pcneo.annotate.supply import supply_of
from pcneo.basics.model import FoundCohesion

if TYPE_CHECKING:
    from pcneo.store.database import Database


def stream(db: Database, **asked: Unpack[Asked]) -> Iterator[FoundCohesion]:
    """Yield the minimal p-cohesions, for each p in the order of the vertices; nothing is written.

    The call itself makes every check that does not need the graph, before the first cohesion is asked for.

    Returns:
        An iterator; whole graphs come in ascending order of their keys.
    """
    return _stream(make_plan(db, "stream", **asked))


def _stream(plan: Plan) -> Iterator[FoundCohesion]:
    supply = supply_of(plan).read()
    for search in plan.searches:
        for batch in supply.batches(search):
            yield from batch.cohesions()
