"""A standing run as Python users hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pcneo.basics.keys import checked_count, checked_key
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.progress_bars import showing_progress
from pcneo.basics.run_record import RunRecord, WholeId
from pcneo.basics.searches import Search
from pcneo.errors import MissingKeyError, NotFoundError, ParameterError, PcneoError
from pcneo.face.listings import DIFFERENCE_COLUMNS, RECORD_COLUMNS, Listing, difference_row, record_row, why_unread
from pcneo.face.one_cohesion import Cohesion, CohesionsByKey, cohesion_columns, look_around, seen_cohesion

if TYPE_CHECKING:
    from pcneo.face.many_cohesions import Cohesions
    from pcneo.face.release_handle import Counts
    from pcneo.privacy.mechanisms import AnyNumber, Mechanism
    from pcneo.release.audit import AuditResult
    from pcneo.store.database import Database
    from pcneo.stored.exporting import ExportResult
    from pcneo.stored.queries import QueryResult
    from pcneo.stored.runs import StoredRun
    from pcneo.stored.verifying import VerifiedRun
    from pcneo.stored.versions import Difference


PAGE_MEMBERSHIPS = 100_000
"""About how many memberships iterating holds at a time."""


class Run(CohesionsByKey):
    """A standing run: the cohesions of one graph, p and search, by the key of their vertex.

    Each access reads the version that is current then; `version(n)` stays at version n. The examples use a database
    with the sample that comes with pcneo, and `run = db.graph("friends").run("0.3")`.

    >>> run
    Run friends@3/10, version 1: 800 cohesions, 11,209 memberships, search smallest
    >>> run[58]
    Cohesion of 58: 6 members, 12 connections, density 0.8, p=3/10, search smallest; no smaller one exists
    >>> 58 in run, 4711 in run, len(run)
    (True, False, 800)
    >>> run[4711]
    Traceback (most recent call last):
    ...
    pcneo.errors.MissingKeyError: Graph 'friends' has no vertex 4711: no :Person has this `id`.
    >>> [cohesion.size for cohesion in run.head(3)]
    [21, 14, 8]

    Iterating reads pages of bounded size, in the order of keys within each label, at the version that was current when
    it began. It ends with a GraphChangedError if that version is removed meanwhile, or if a member has lost its key.
    """

    def __init__(self, db: Database, stored: StoredRun, *, fixed: bool = False) -> None:
        """Take a run as it was read; with `fixed` it stays at its version."""
        self._db = db
        self._stored = stored
        self._whole_id = WholeId(stored.run.id)
        self._fixed = fixed

    @property
    def id(self) -> str:
        """The run's id, for example `friends@3/10`."""
        return self._stored.run.id

    @property
    def search(self) -> Search:
        """What was searched for, and how; its `p` is the share of its neighbours that each member keeps."""
        return self._stored.run.search

    @property
    def record(self) -> RunRecord:
        """The run's record at the version that readers see now, or at the one that the run stays at."""
        return self._now().run

    @property
    def moved(self) -> bool:
        """Whether the graph has more or fewer nodes or relationships than the run was made from.

        `check` reads the whole graph and finds every change.
        """
        return self._now().moved

    def _current(self) -> StoredRun:
        """Return the run as it is now, whatever version this stays at; refuse if it is gone."""
        from pcneo.stored.runs import find_run

        return find_run(self._db, run=self._whole_id)

    def _now(self) -> StoredRun:
        return self._at(self._stored.run.version) if self._fixed else self._current()

    def _at(self, version: int) -> StoredRun:
        from pcneo.stored.runs import kept_versions

        now = self._current()
        (kept,) = kept_versions(self._db, self.id, version)
        return now.at(kept)

    def version(self, number: int) -> Run:
        """Return the run at one version that is kept, unaffected by later versions.

        >>> run.version(1)[58].size == run[58].size
        True

        Args:
            number: the version's number.

        Raises:
            NotFoundError: that version is not kept.
        """
        return Run(self._db, self._at(checked_count("number", number)), fixed=True)

    def history(self) -> Listing[RunRecord]:
        """Return the versions that are on record, oldest first.

        >>> run.history(), run.history()[0].version
        (1 version: 1, 1)
        """
        return Listing(self._db.list_versions(self._current().run.id), record_row, RECORD_COLUMNS, "version", "version")

    def diff(self, before: int | None = None, after: int | None = None) -> Listing[Difference]:
        """Return the vertices whose cohesions differ between two kept versions, ascending.

        >>> run.diff(1, 1)
        0 differences

        Where members differ and `best` is false, before or after, the search may have found a different cohesion
        although the earlier one is still valid.

        Args:
            before, after: numbers of the versions; both are needed.

        Raises:
            TypeError: one is missing, or not a number.
            NotFoundError: a version is not kept.
            GraphChangedError: a version was removed while it was read.
        """
        from pcneo.stored.versions import diff

        if before is None or after is None or isinstance(before, Run) or isinstance(after, Run):
            raise TypeError(
                "diff compares two versions of one run, such as run.diff(1, 2); to compare two runs, compare their "
                "data frames (to_pandas)"
            )
        before, after = checked_count("before", before), checked_count("after", after)
        differences = diff(self._db, run=self._whole_id, before=before, after=after)
        return Listing(differences, difference_row, DIFFERENCE_COLUMNS, "difference", "vertex")

    def check(self, progress: Progress | None = None) -> VerifiedRun:
        """Read graph and memberships again, and check whether they are still those of the run.

        >>> run.check().has_changed
        False

        Args:
            progress: called with stage, done and total.
        """
        from pcneo.stored.verifying import verify

        self._refuse_earlier("check")
        return verify(self._db, run=self._whole_id, progress=progress)

    # --- Its cohesions

    def __len__(self) -> int:
        """Return the number of cohesions, as recorded."""
        return self._now().run.cohesions

    def __bool__(self) -> bool:
        """True, however many cohesions the run has."""
        return True

    def __contains__(self, key: object) -> bool:
        """Whether the run has a cohesion of the vertex with this key."""
        from pcneo.store.chosen_graph import find_keys

        now = self._now()
        try:
            (plain,) = find_keys(self._db, now.selection, [checked_key(key)])
        except (TypeError, ParameterError):
            return False
        return self._db.get_cohesion(now.selection, now.run, plain) is not None

    def __getitem__(self, key: Key) -> Cohesion:
        """Return the cohesion of a vertex, with the graph around it as it is now."""
        from pcneo.stored.showing import show_in, show_members

        plain = self._looked_up(key)
        try:
            shown = show_in(self._db, self._now(), plain)
        except NotFoundError as error:
            if error.data.get("what") not in ("vertex", "cohesion"):
                raise
            raise MissingKeyError(str(error), **error.data) from None
        return seen_cohesion(shown, lambda _: show_members(self._db, shown))

    def __iter__(self) -> Iterator[Cohesion]:
        """Yield every cohesion, a page at a time, at one version."""
        from pcneo.stored.showing import cohesion_of

        stored = self._now()
        look, note = partial(look_around, self._db, stored), stored.run.note() if stored.moved else ""
        a_page = max(1, PAGE_MEMBERSHIPS * max(1, stored.run.cohesions) // max(1, stored.run.memberships))
        for columns in self._db.stream_hubs(stored.selection, stored.run.id, stored.run.version):
            for start in range(0, len(columns.vertices), a_page):
                keys = columns.vertices[start : start + a_page]
                with self._db.reading_version(stored.run):
                    hubs = list(self._db.get_cohesions(stored.selection, stored.run.id, stored.run.version, keys))
                for hub in hubs:
                    yield Cohesion(cohesion_of(hub, stored.run), look, note=note)
        with self._db.reading_version(stored.run):
            pass  # hubs may have been removed while the last pages were being read

    def read(self, progress: Progress | None = None) -> Cohesions:
        """Read the graph and every cohesion into memory, where they need no database.

        >>> batch = run.read()
        >>> int(batch.sizes.sum()) == run.record.memberships
        True

        Args:
            progress: called with stage, done and total.

        Raises:
            GraphChangedError: the memberships, or the connections inside them, are no longer those of the run. A change
                elsewhere in the graph raises nothing; `check` finds it.
        """
        from pcneo.face.many_cohesions import Cohesions
        from pcneo.stored.showing import read_cohesions

        read = read_cohesions(self._db, self._now(), progress)
        return Cohesions(read.graph, read.cohesions)

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each cohesion: its vertex, size, edges, density, `proven`, `best`, and members as a list."""
        return cohesion_columns(self)

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>"

    def __repr__(self) -> str:
        """Describe the run in a line."""
        try:
            record = self._now().run
        except NotFoundError:
            return f"Run {self.id}, which is gone"
        except PcneoError as error:
            return f"Run {self.id} ({why_unread(error)})"
        return repr(record)

    # --- Queries, files and releases

    def query(self, name: str, /, **parameters: Any) -> QueryResult:
        """Run one of the queries that come with pcneo; `pcneo.list_queries()` has their names.

        >>> run.query("critical_connections", id=58).to_pandas().shape
        (12, 3)

        Args:
            name: the query's name.
            **parameters: the query's parameters, without the `$`; `limit` is 10 by default.

        Raises:
            NotFoundError: there is no such query or vertex.
            ParameterError: a parameter is missing, unknown or of the wrong kind.
        """
        from pcneo.stored.queries import run_query

        self._refuse_earlier("query")
        return run_query(self._db, name, parameters={**parameters, "run": self._whole_id})

    def export(self, to: AnyPath, *, vertex: Key | None = None, progress: Progress | None = None) -> ExportResult:
        """Write the run, or one vertex's cohesion, to a file that other programs read.

        >>> run.export("58.json", vertex=58).nodes
        6

        Args:
            to: a new file, `.graphml` or `.json` (networkx's node-link format).
            vertex: the vertex's key; None for the whole run.
            progress: called with stage, done and total.

        Raises:
            ParameterError: the ending is neither of these, or the file exists or cannot be written.
            GraphError: the run is too large for GraphML, or XML cannot hold a key.
            GraphChangedError: as for `read`.
        """
        from pcneo.stored.exporting import check_export, export_of
        from pcneo.stored.networks import network_of
        from pcneo.stored.showing import read_cohesions

        check_export(to)
        read = read_cohesions(self._db, self._now(), progress) if vertex is None else self[vertex].around
        return export_of(network_of(read), to, progress)

    @showing_progress
    def release(
        self, mechanism: Mechanism, *, to: AnyPath, report: AnyPath | None = None, answers: str | None = None,
        answers_from: AnyPath | None = None, parties: bool = False, progress: Progress | None = None, **terms: Any,
    ) -> Counts:  # fmt: skip
        """Release noisy clique counts, with a mechanism that rests on this run's groups.

        >>> out = run.release(pcneo.Critical(k=(3, 4), epsilon=1), to="counts.csv")
        >>> out.epsilon
        Fraction(1, 1)

        Args:
            mechanism: such as `pcneo.Critical(k=(3, 4), epsilon=1)`.
            to: the public file, `.csv` or `.json`; with several k, each gets its own file name.
            report, answers, answers_from, parties, progress, **terms: as for `GraphHandle.release`.

        Returns:
            What was released. For a run at an earlier version, the groups are those of that version.
        """
        from pcneo.face.release_handle import answers_of, make_release, needs_groups
        from pcneo.release import Release, Terms

        if not needs_groups(mechanism):
            raise ParameterError(
                f"The mechanism {mechanism.name} does not rest on a run: release it from the graph, "
                f"db.graph({self.record.graph!r}).release(...).",
                name="mechanism",
                value=mechanism,
            )
        groups = self._now().run.version if self._is_earlier() else None
        request = Release(
            mechanism=mechanism, to=to, report=report, answers=answers, answers_from=answers_of(answers_from),
            parties=parties, run=self._whole_id, groups=groups,
        )  # fmt: skip
        return make_release(self._db, request, Terms(**terms), progress=progress)

    @showing_progress
    def audit(self, *, epsilon: AnyNumber, k: int = 3, progress: Progress | None = None) -> AuditResult:
        """Show what each mechanism promises, how large its errors are, and what it reveals, at one ε.

        This is only for the owner; nothing is spent.

        >>> [row.name for row in run.audit(epsilon=1).rows][:3]
        ['zeros', 'exact degrees', 'exact counts']

        Args:
            epsilon, k, progress: as for `GraphHandle.audit`.
        """
        from pcneo.release import Source
        from pcneo.release.audit import audit

        self._refuse_earlier("audit")
        return audit(self._db, epsilon=epsilon, k=k, source=Source(run=self._whole_id), progress=progress)

    def remove(self, progress: Progress | None = None) -> int:
        """Remove the run with all its versions; from a run at an earlier version, only what no other version has.

        Args:
            progress: called with stage, done and total.

        Returns:
            How many cohesions were removed.

        Raises:
            BusyError: the graph is being written.
        """
        from pcneo.stored.cleaning import clean
        from pcneo.stored.versions import let_go

        if self._is_earlier():
            return let_go(self._db, run=self._whole_id, version=self._stored.run.version)
        return clean(self._db, run=self._whole_id, progress=progress).hubs

    def _is_earlier(self) -> bool:
        return self._fixed and self._current().run.version != self._stored.run.version

    def _refuse_earlier(self, verb: str) -> None:
        if self._is_earlier():
            raise ParameterError(f"{verb} works only on the current version of a run.", name="version", value=None)

    def __reduce__(self) -> Any:
        """Refuse to be pickled: it holds a connection."""
        raise TypeError("a run holds a connection and cannot be pickled; read() returns what it holds in memory")


def listed_runs(db: Database, graph: str | None = None) -> Listing[Run]:
    """Return the standing runs of a graph, or of all graphs, by id."""
    from pcneo.stored.runs import list_runs

    found = list_runs(db, graph=graph)
    return Listing((Run(db, stored) for stored in found), _row, (*RECORD_COLUMNS, "moved"), "run", "id")


def _row(run: Run) -> dict[str, Any]:
    """Return a row of a table of runs: `moved` says whether the graph is known to have changed since."""
    stored = run._stored  # as it was when they were listed: one of them may be gone since
    return {**record_row(stored.run), "moved": stored.moved}
