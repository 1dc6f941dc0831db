"""The modes of `annotate` as verbs of a graph in a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pcneo.basics.frames import Table
from pcneo.basics.keys import keys_or_all
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.progress_bars import showing_progress
from pcneo.basics.searches import AnyP
from pcneo.basics.selection import Selection
from pcneo.face.one_cohesion import Cohesion, cohesion_columns

if TYPE_CHECKING:
    from distributed import Client

    from pcneo.annotate import EstimateResult, Keeping, ParquetResult, StatsResult, SteadinessResult, WriteResult
    from pcneo.annotate.plan import Asked
    from pcneo.store.database import Database


SeveralP = AnyP | Sequence[AnyP]
Vertices = Key | Iterable[Key]


class CohesionStream(Table, Iterator[Cohesion]):
    """Cohesions as they are found, to be read once; `to_pandas()` and `to_arrow()` take the rest, a row for each.

    >>> friends.stream(p="0.3", vertices=[58]).to_pandas()["size"].tolist()
    [6]
    """

    def __init__(self, found: Iterator[Cohesion]) -> None:
        """Take the cohesions."""
        self._found = found

    def __next__(self) -> Cohesion:
        """Return the next one."""
        return next(self._found)

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each cohesion that has not been read yet."""
        return cohesion_columns(self, with_p=True)

    def __repr__(self) -> str:
        """Say what it is; looking into it would use it up."""
        return "Cohesions as they are found, to be read once"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>"


@dataclass(frozen=True)
class GraphModes:
    """A part of a database that is a graph, with the modes of `annotate`; `GraphHandle` has the rest."""

    name: str | None
    selection: Selection = field(default_factory=Selection)
    db: Database = field(kw_only=True, repr=False, compare=False)

    def _place(self, *, writes: bool = False) -> dict[str, Any]:
        """Return the graph's name and selection for a mode of annotate: only a mode that writes can give a new name."""
        known = {graph.name for graph in self.db.list_graphs()}
        return {"graph": self.name if writes or self.name in known else None, "selection": self.selection}

    def _asked(
        self, p: SeveralP | None, search: str | None, vertices: Vertices | None, effort: int | None,
        concurrency: int | None, check: bool, scheduler: Client | None, progress: Progress | None,
    ) -> Asked:  # fmt: skip
        return {
            "p": p,
            "search": search,
            "vertices": keys_or_all(vertices),
            "effort": effort,
            "concurrency": concurrency,
            "check": check,
            "scheduler": scheduler,
            "progress": progress,
        }

    # --- The modes of annotate

    @showing_progress
    def annotate(
        self,
        p: SeveralP | None = None,
        search: str | None = None,
        *,
        vertices: Vertices | None = None,
        effort: int | None = None,
        concurrency: int | None = None,
        check: bool = False,
        create_index: bool = False,
        keeping: Keeping | None = None,
        scheduler: Client | None = None,
        progress: Progress | None = None,
    ) -> WriteResult:
        """Bring standing runs up to date: search the minimal p-cohesions, and write what differs from what is stored.

        >>> result = friends.annotate(p="0.3")
        >>> result.run.version, result.run.added, result.graph
        (1, 0, 'friends')

        Args:
            p: the share of its neighbours that each member keeps, such as `"0.3"` or `"1/3"`, or several; None for
                every standing run of the graph, or 3/10 where it has none.
            search: `smallest`, `density` or `degree`; by default `smallest`, or that of each run where p is None.
            vertices: one key or several, so that only the graph around them is read. Their cohesions are kept in a run
                of their own, such as `friends@3/10:vertices`. None for every vertex.
            effort: for `smallest`, multiplies the number of starts; more starts take longer and find smaller sets.
            concurrency: number of threads that search; by default one for each available core.
            check: also prove each answer minimal before it is kept.
            create_index: create the index on the key if it is missing.
            keeping: how long earlier versions are kept; by default three of them, and ten minutes.
            scheduler: a client of a Dask cluster to search on, in place of this machine.
            progress: called with stage, done and total; for example, an open `pcneo.ProgressBars()`. None for bars at a
                terminal and in a notebook, once it has taken two seconds.

        Returns:
            What has changed and how long it took, a row for each run.
        """
        from pcneo.annotate import write

        asked = self._asked(p, search, vertices, effort, concurrency, check, scheduler, progress)
        asked["create_index"] = create_index
        return write(self.db, keeping=keeping, **asked, **self._place(writes=True))

    def stream(
        self,
        p: SeveralP,
        search: str | None = None,
        *,
        vertices: Vertices | None = None,
        effort: int | None = None,
        concurrency: int | None = None,
        check: bool = False,
        scheduler: Client | None = None,
        progress: Progress | None = None,
    ) -> CohesionStream:
        """Find cohesions one by one; nothing is written.

        >>> [cohesion.size for cohesion in friends.stream(p="0.3", vertices=[58])]
        [6]

        Args:
            p: as for `annotate`, but never None.
            search, vertices, effort, concurrency, check, scheduler: as for `annotate`.
            progress: called with stage, done and total; None for no bars.
        """
        from pcneo.annotate import stream
        from pcneo.stored.showing import read_around

        asked = self._asked(p, search, vertices, effort, concurrency, check, scheduler, progress)
        found = stream(self.db, **asked, **self._place())
        look = partial(read_around, self.db, self._known_selection())
        return CohesionStream(Cohesion(cohesion, look) for cohesion in found)

    @showing_progress
    def stats(
        self,
        p: SeveralP,
        search: str | None = None,
        *,
        plot: AnyPath | None = None,
        vertices: Vertices | None = None,
        effort: int | None = None,
        concurrency: int | None = None,
        check: bool = False,
        scheduler: Client | None = None,
        progress: Progress | None = None,
    ) -> StatsResult:
        """Describe the sizes and densities of the cohesions; nothing is written to the database.

        >>> friends.stats(p=["0.1", "0.3"]).to_pandas()["p"].tolist()
        ['1/10', '3/10']

        Args:
            p: as for `annotate`, but never None.
            plot: file for a picture of sizes and densities (for several p, over p), `.svg` or `.png`; needs matplotlib.
            search, vertices, effort, concurrency, check, scheduler, progress: as for `annotate`.
        """
        from pcneo.annotate import stats

        asked = self._asked(p, search, vertices, effort, concurrency, check, scheduler, progress)
        return stats(self.db, plot=plot, **asked, **self._place())

    @showing_progress
    def steadiness(
        self,
        p: SeveralP,
        search: str | None = None,
        *,
        orders: int = 5,
        to: AnyPath | None = None,
        vertices: Vertices | None = None,
        effort: int | None = None,
        concurrency: int | None = None,
        progress: Progress | None = None,
    ) -> SteadinessResult:
        """Search again under other numberings of the vertices, which only break ties, to see how steady answers are.

        >>> steady = friends.steadiness(p="0.3", orders=2, to="steady", vertices=[58])
        >>> steady.summaries["3/10"].vertices, [file.name for file in steady.files]
        (1, ['vertices.csv', 'connections.csv'])

        Args:
            p: as for `annotate`, but never None.
            orders: how many other numberings are searched, drawn from a fixed seed; 5 of them take 6 searches.
            to: a folder for `vertices.csv` (how often each vertex keeps its cohesion) and `connections.csv` (how often
                each of its connections is critical), created if missing. Neither file may exist yet. None for no files.
            search, vertices, effort, concurrency, progress: as for `annotate`.
        """
        from pcneo.annotate import steadiness

        asked = self._asked(p, search, vertices, effort, concurrency, False, None, progress)
        return steadiness(self.db, to=to, orders=orders, **asked, **self._place())

    @showing_progress
    def estimate(
        self,
        p: SeveralP,
        search: str | None = None,
        *,
        effort: int | None = None,
        concurrency: int | None = None,
        progress: Progress | None = None,
    ) -> EstimateResult:
        """Estimate from a sample of vertices what `annotate` would cost; nothing is written.

        >>> friends.estimate(p="0.3").estimates["3/10"].memberships > 0
        True

        Args:
            p: as for `annotate`, but never None.
            search, effort, concurrency, progress: as for `annotate`.
        """
        from pcneo.annotate import estimate

        asked = self._asked(p, search, None, effort, concurrency, False, None, progress)
        return estimate(self.db, **asked, **self._place())

    @showing_progress
    def to_parquet(
        self,
        to: AnyPath,
        p: SeveralP,
        search: str | None = None,
        *,
        part: tuple[int, int] = (1, 1),
        effort: int | None = None,
        concurrency: int | None = None,
        check: bool = False,
        scheduler: Client | None = None,
        progress: Progress | None = None,
    ) -> ParquetResult:
        """Write the cohesion of every vertex to a Parquet file for each p; `load_cohesions` stores them.

        >>> friends.to_parquet("friends.parquet", p="0.3").files[0].cohesions
        800

        Args:
            to: a new file, `.parquet`, or an existing folder, which several p need.
            p: as for `annotate`, but never None.
            part: the part that this process writes, and of how many: `(2, 5)` is the second of five; by default all.
            search, effort, concurrency, check, scheduler, progress: as for `annotate`.
        """
        from pcneo.annotate import to_parquet

        asked = self._asked(p, search, None, effort, concurrency, check, scheduler, progress)
        return to_parquet(self.db, to=to, part=part, **asked, **self._place(writes=True))

    @showing_progress
    def load_cohesions(
        self,
        files: AnyPath | Sequence[AnyPath],
        *,
        create_index: bool = False,
        keeping: Keeping | None = None,
        progress: Progress | None = None,
    ) -> WriteResult:
        """Store cohesions from files of `to_parquet`, each checked against the graph as it is now.

        >>> friends.load_cohesions("friends.parquet").run.added
        0

        Args:
            files: one file or several; the files of each p must have every vertex exactly once.
            create_index, keeping, progress: as for `annotate`.
        """
        from pcneo.annotate.load_cohesions import load_cohesions

        return load_cohesions(
            self.db, files=files, graph=self.name, selection=self.selection, create_index=create_index, keeping=keeping,
            progress=progress,
        )  # fmt: skip

    def _known_selection(self) -> Selection:
        """Return labels, types and key in full."""
        from pcneo.store.chosen_graph import choose_selection

        known = {graph.name: graph.selection for graph in self.db.list_graphs()}
        if self.name in known:
            return known[self.name]
        return choose_selection(self.db, self.selection)[0]
