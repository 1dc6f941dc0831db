"""Mode `stats`: the sizes and densities of the cohesions, described and drawn; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from pcneo.annotate.plan import Asked, Configuration, make_plan, size_text
from pcneo.annotate.supply import size_of, supply_of
from pcneo.basics.frames import TableByP
from pcneo.basics.model import AnyPath, CohesionBatch
from pcneo.plots import check_picture, draw_distributions, draw_profile
from pcneo.search.tally import Summary, Tally

if TYPE_CHECKING:
    from pcneo.store.database import Database


@dataclass(frozen=True, repr=False)
class StatsResult(TableByP):
    """Sizes and densities.

    Attributes:
        summaries: by p, as `a/b`.
        node_count, relationship_count, vertices, edges, pre_processing_millis, compute_millis, configuration: as in
            `WriteResult`.
    """

    _title = "Sizes and densities"

    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    summaries: dict[str, Summary]
    pre_processing_millis: int
    compute_millis: int
    configuration: Configuration

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return f"{size_text(self.vertices, self.edges, self.configuration)}; nothing was written"


def stats(db: Database, *, plot: AnyPath | None = None, **asked: Unpack[Asked]) -> StatsResult:
    """Describe the sizes and densities of the minimal p-cohesions; nothing is written to the database.

    Returns:
        A summary for each p.
    """
    if plot is not None:
        check_picture(plot)
    plan = make_plan(db, "stats", **asked)
    supply = supply_of(plan).read()
    read_millis = plan.millis()
    tallies = {str(wanted.p): tally_of(supply.batches(wanted)) for wanted in plan.searches}
    result = StatsResult(
        **size_of(supply),
        summaries={text: tally.summary() for text, tally in tallies.items()},
        pre_processing_millis=read_millis,
        compute_millis=plan.millis() - read_millis,
        configuration=plan.configuration,
    )
    if plot is not None:
        runs = {text: (tally.sizes, tally.densities) for text, tally in tallies.items()}
        draw = draw_profile if len(runs) > 1 else draw_distributions
        draw(runs, plan.searches[0].name, plot, vertices=supply.vertices if plan.vertices is None else None)
    return result


def tally_of(batches: Iterable[CohesionBatch]) -> Tally:
    """Count sizes and densities of all cohesions, batch by batch."""
    tally = Tally()
    for batch in batches:
        tally.add(batch)
    return tally
