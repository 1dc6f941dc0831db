"""Mode `stats`: the sizes and densities of the cohesions, described and drawn; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pcneo.annotate.plan import Configuration, Options, make_plan, size_text
from pcneo.annotate.supply import supply_of
from pcneo.basics.frames import Table, columns_of
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.searches import AnyP
from pcneo.plots import check_picture, draw_distributions
from pcneo.search.tally import Summary, Tally

if TYPE_CHECKING:
    from distributed import Client
    from neo4j import Driver

__all__ = ["StatsResult", "stats"]


@dataclass(frozen=True)
class StatsResult(Table):
    """Sizes and densities.

    Attributes:
        summaries: by p, as `a/b`.
        node_count, relationship_count, vertices, edges, pre_processing_millis, compute_millis, configuration: as in
            `WriteResult`.
    """

    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    summaries: dict[str, Summary]
    pre_processing_millis: int
    compute_millis: int
    configuration: Configuration

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each p: sizes and densities."""
        return columns_of({"p": p, **summary.as_row()} for p, summary in self.summaries.items())

    def caption(self) -> str:
        """Return a sentence for above the table."""
        return f"{size_text(self.vertices, self.edges, self.configuration)}; nothing was written"


def stats(
    driver: Driver,
    database: str | None = None,
    *,
    p: AnyP | Sequence[AnyP],
    plot: AnyPath | None = None,
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
) -> StatsResult:
    """Describe the sizes and densities of the minimal p-cohesions; nothing is written to the database.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        p: one or several; several share the read.
        plot: a picture of both, `.svg` or `.png`, which needs matplotlib.
        graph: a known name stands for its labels, types and key, which may then be left out.
        node_labels, relationship_types, key, search, effort, vertices, concurrency, check, scheduler, progress: as for
            `write`.
        create_index: refused: nothing is written.

    Returns:
        A summary for each p.

    Raises:
        PcneoError: as in `write`, but for BusyError; ParameterError also for a picture that cannot be drawn.
    """
    if plot is not None:
        check_picture(plot)
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
    plan = make_plan(driver, database, "stats", options, graph)
    supply = supply_of(plan)
    read_millis = plan.millis()
    tallies = {str(wanted.p): Tally() for wanted in plan.searches}
    for wanted in plan.searches:
        for batch in supply.batches(wanted):
            tallies[str(wanted.p)].add(batch)
    node_count, relationship_count = supply.counts
    result = StatsResult(
        node_count=node_count,
        relationship_count=relationship_count,
        vertices=supply.vertices,
        edges=supply.edges,
        summaries={text: tally.summary() for text, tally in tallies.items()},
        pre_processing_millis=read_millis,
        compute_millis=plan.millis() - read_millis,
        configuration=plan.configuration,
    )
    if plot is not None:
        runs = {text: (tally.sizes, tally.densities) for text, tally in tallies.items()}
        draw_distributions(
            runs, plan.searches[0].name, plot, vertices=supply.vertices if plan.vertices is None else None
        )
    return result
