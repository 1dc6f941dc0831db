"""Reading standing runs: their records, and the hubs of one version.

A hub belongs to the versions from `from` up to, but without, `until` (DATA-MODEL.md#runs-and-versions). A reader that
needs more than one statement names a version, and asks at the end whether it is still kept: see `reading_version`.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import neo4j

from pcneo.basics.model import Key, KeyArray
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, StoreFormatError
from pcneo.store.failures import translated
from pcneo.store.reading import PAGE, PAGE_NEIGHBOURS, GraphReader, Page, read_ahead
from pcneo.store.schema import FORMAT
from pcneo.store.statements import load_statement
from pcneo.store.transaction import Row, begun, in_halves, sample_names

_TRIES = 10
_PAUSE_SECONDS = 0.02
"""How often, and at what interval, runs are listed while a version of one of them is being committed."""

SMALLEST_KEYS: tuple[Key, Key] = (-(2**63), "")
"""One for each kind: when hubs are read ahead, the graph's kind is not known yet. Neither finds the other kind."""


class HubColumns(NamedTuple):
    """Current hubs as they were written and as they are now; each column has a value per hub, an empty text if missing.

    Attributes:
        vertices: keys of the vertices whose cohesions they are.
        owners: keyed hashes of the keys that these had when the hubs were written.
        digests: keyed hashes of those keys and the members' keys.
        sizes: members, as written.
        edges: connections inside, as written.
        proven, best: as in `pcneo.basics.model.FoundCohesion`, as written.
        memberships: members that they have now.
        owned: how many vertices each is the hub of now.
    """

    vertices: list[Key]
    owners: list[object]
    digests: list[object]
    sizes: list[object]
    edges: list[object]
    proven: list[object]
    best: list[object]
    memberships: list[int]
    owned: list[int]


class StoredHub(NamedTuple):
    """What the hub of a vertex holds.

    Attributes:
        vertex: the vertex whose cohesion it is.
        members: keys, in no order; None for a member that has lost its key since.
        edges: connections inside, as written.
        proven, best: as in `pcneo.basics.model.FoundCohesion`.
    """

    vertex: Key
    members: Sequence[Key | None]
    edges: int
    proven: bool
    best: bool


@dataclass(frozen=True)
class KeptHub:
    """A hub of a version that is kept, with those of its members that are still nodes.

    Attributes:
        owner, digest, size: as in `HubColumns`.
        vertices: the key of the vertex whose cohesion it is; empty where that vertex is gone.
        members: keys, in no order; None for a member that has lost its key.
    """

    owner: int
    digest: str
    size: int
    vertices: Sequence[Key | None]
    members: Sequence[Key | None]


@dataclass(frozen=True)
class DifferingHub:
    """A hub that one of two versions has and the other does not.

    Attributes:
        vertex: the vertex whose cohesion it is; None if it is gone.
        later: whether the later version has it.
        edges, best, members: what it holds.
    """

    vertex: Key | None
    later: bool
    edges: int
    best: bool
    members: tuple[Key, ...]


class RunReader(GraphReader):
    """Reads runs from the database."""

    def list_runs(self) -> list[RunRecord]:
        """Return every standing run at the version that readers go by, by id."""
        rows, tries = self.read("list_runs"), 1
        refuse_other_formats(
            earlier=any(row["search"] is None for row in rows),
            later=next((row["graph"] for row in rows if (row["format"] or 0) > FORMAT), None),
        )
        while tries < _TRIES and any(row["readable"] is None for row in rows):
            time.sleep(_PAUSE_SECONDS)  # a version is being committed, or its record is lost
            rows, tries = self.read("list_runs"), tries + 1
        return [_run(row) for row in rows if row["readable"] is not None]

    def list_versions(self, run: str) -> list[RunRecord]:
        """Return every version of a run that is on record, oldest first."""
        return [_run(row) for row in self.read("list_versions", run=run)]

    def get_run(self, run: str, version: int) -> RunRecord | None:
        """Return a run at one version; None where there is no such record."""
        return next((record for record in self.list_versions(run) if record.version == version), None)

    def count_earlier(self) -> int:
        """Return how many runs of earlier formats there are."""
        return self.read("get_formats", format=FORMAT)[0]["earlier"]

    def check_format(self) -> None:
        """Refuse a store whose runs this package cannot read."""
        row = self.read("get_formats", format=FORMAT)[0]
        refuse_other_formats(earlier=row["earlier"] > 0, later=row["later"])

    @contextmanager
    def reading_version(self, run: RunRecord) -> Iterator[None]:
        """Make sure that what is read inside the block belongs to one version, which must still be kept at the end."""
        yield
        rows = self.read("get_version", run=run.id, version=run.version)
        if not rows or not rows[0]["readable"]:
            raise GraphChangedError(
                f"Version {run.version} of run {run.id} is no longer kept. Read the current one.",
                run=run.id,
                version=run.version,
            )

    def get_cohesion(self, selection: Selection, run: RunRecord, vertex: Key) -> StoredHub | None:
        """Return the hub that a version has for a vertex; None if it has none."""
        names = sample_names(selection, "Person", "id")
        rows = self.read("get_cohesion", names, run=run.id, version=run.version, vertex=vertex)
        return StoredHub(vertex, **rows[0]) if rows else None

    def get_cohesions(self, selection: Selection, run: str, version: int, keys: Sequence[Key]) -> Iterator[StoredHub]:
        """Yield every hub that a version has for some vertices.

        A batch that does not fit into the server's transaction memory is halved and tried again.
        """
        names = sample_names(selection, "Person", "id")

        def read(part: Sequence[Key]) -> Iterable[StoredHub]:
            row = self.read("get_cohesions", names, run=run, version=version, keys=list(part))[0]
            columns = (row[name] for name in ("keys", "members", "edges", "proven", "best"))
            return map(StoredHub, *columns)

        return chain.from_iterable(in_halves(read, keys, "cohesions"))

    def page_cohesions(self, selection: Selection, run: RunRecord, keys: KeyArray) -> Iterator[StoredHub]:
        """Yield the hubs of one version for all of a graph's vertices, three times as fast as `stream_cohesions`.

        It does not see hubs whose vertex is gone. Check with `reading_version` that the version was still kept.
        """
        a_page = max(1, min(PAGE, PAGE_NEIGHBOURS * max(1, run.cohesions) // max(1, run.memberships)))
        for start in range(0, len(keys), a_page):
            yield from self.get_cohesions(selection, run.id, run.version, keys[start : start + a_page].tolist())

    def stream_cohesions(self, selection: Selection, run: RunRecord) -> Iterator[tuple[Key, list[Key], int]]:
        """Yield (vertex, members, edges) of every hub of one version, in no order; members in no order either."""
        for record in self._stream("stream_cohesions", sample_names(selection, "Person", "id"), run):
            yield record["vertex"], record["members"], record["edges"]

    def stream_groups(self, selection: Selection, run: RunRecord) -> Iterator[KeptHub]:
        """Yield every hub of one version as it is now, in no order, including those whose vertex is gone."""
        for record in self._stream("stream_groups", sample_names(selection, "id"), run):
            yield KeptHub(*record.values("owner", "digest", "size", "vertices", "members"))

    def _stream(
        self, statement: str, names: Mapping[str, str | Sequence[str]], run: RunRecord
    ) -> Iterator[neo4j.Record]:
        text = load_statement(statement).render(names)
        with (
            translated(),
            self.session(neo4j.READ_ACCESS) as session,
            begun(session, self.marks, timeout=0) as opened,
        ):
            yield from opened.run(text, {"run": run.id, "version": run.version})

    def list_differences(self, selection: Selection, run: str, before: int, after: int) -> list[DifferingHub]:
        """Return the hubs that one of two versions of a run has and the other does not."""
        names = sample_names(selection, "Person", "id")
        return [
            DifferingHub(
                **{name: row[name] for name in ("vertex", "later", "edges", "best")},
                members=tuple(sorted(filter(_is_key, row["members"]))),
            )
            for row in self.read("list_differences", names, run=run, before=before, after=after)
        ]

    def check_hubs(self, run: str, version: int) -> dict[str, int]:
        """Return how many hubs of a run are `unfinished`, `torn`, `astray` or `unmarked`."""
        return dict(self.read("check_hubs", run=run, version=version)[0])

    def list_stray_hubs(self) -> list[tuple[str, int]]:
        """Return the runs that hubs name but that are not on record, and how many hubs name each."""
        return [(row["run"], row["cohesions"]) for row in self.read("list_stray_hubs")]

    def count_current(self, run: str, version: int) -> tuple[int, int]:
        """Return how many hubs a version of a run has, and their members as they were written."""
        row = self.read("count_current", run=run, version=version)[0]
        return row["cohesions"], row["memberships"]

    def stream_hubs(self, selection: Selection, run: str, version: int) -> Generator[HubColumns, None, None]:
        """Yield the current hubs of a run, in pages by key of their vertices; a vertex with two labels comes once."""
        for i, label in enumerate(selection.node_labels):
            names = {**sample_names(selection, "id"), "Page": label}
            values = {"run": run, "version": version, "earlier": list(selection.node_labels[:i])}
            for smallest in SMALLEST_KEYS:
                for again, page in read_ahead(partial(self._get_hubs, names, values), smallest):
                    had = page.content.vertices.count(page.keys[0]) if again else 0
                    yield HubColumns._make(column[had:] for column in page.content)

    def _get_hubs(self, names: Row, values: Row, start: Key, limit: int) -> Page[HubColumns]:
        row = self.read("get_hubs", names, **values, **{"from": start, "limit": limit})[0]
        return Page(row["keys"], HubColumns._make(row[name] for name in HubColumns._fields), limit, limit)

    def list_containing(self, selection: Selection, run: str, version: int, keys: Sequence[Key]) -> list[Key]:
        """Return the vertices whose current cohesions have any of the given vertices as a member."""
        names = sample_names(selection, "Person", "id")
        return self.read("list_containing", names, run=run, version=version, keys=list(keys))[0]["vertices"]

    def list_beside_strays(self, selection: Selection, run: str, version: int) -> list[Key]:
        """Return the vertices whose current cohesions have a member that no longer belongs to the graph."""
        names = sample_names(selection, "Person", "id")
        return self.read("list_beside_strays", names, run=run, version=version)[0]["vertices"]


def refuse_other_formats(*, earlier: bool = False, later: str | None) -> None:
    """Refuse runs of an earlier format, and a graph, by name, that was written in a later one."""
    if earlier:
        raise StoreFormatError(
            "This database holds runs that an earlier pcneo stored, which cannot be brought up to date. Remove "
            "them with `pcneo clean --all` (budgets and releases stay) and annotate again."
        )
    if later is not None:
        raise StoreFormatError(
            f"Graph {later!r} was written by a later pcneo, in a format that this one does not know. "
            "Install that version."
        )


def _run(row: Row) -> RunRecord:
    return RunRecord(
        id=row["id"],
        graph=row["graph"],
        scope=row["scope"],
        search=Search(row["pText"], row["search"], row["effort"]),
        version=row["version"],
        readable=row["readable"],
        pcneo=row["pcneo"],
        revision=row["revision"],
        added=row["added"],
        retired=row["retired"],
        cohesions=row["cohesions"],
        memberships=row["memberships"],
        node_count=row["nodeCount"],
        relationship_count=row["relationshipCount"],
        vertices=row["vertices"],
        edges=row["edges"],
        fingerprint=row["fingerprint"],
        membership_hash=row["membershipHash"],
        from_files=row["fromFiles"],
        started_at=_native(row["startedAt"]),
        finished_at=_native(row["finishedAt"]),
        replaced_at=row["replacedAt"] and _native(row["replacedAt"]),
    )


def _is_key(key: object) -> bool:
    return isinstance(key, int | str)


def _native(time: Any) -> datetime:
    return time.to_native()
