"""Reading standing runs: their records, and the hubs of one version.

A hub belongs to the versions from `from` up to, but without, `until` (DATA-MODEL.md#runs-and-versions). A reader that
needs more than one statement names a version, and asks at the end whether it is still kept: see `reading_version`.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import neo4j

from pcneo.basics.keys import key_text
from pcneo.basics.model import Key, KeyArray
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import GraphChangedError, GraphError, ParameterError, StoreFormatError
from pcneo.store.failures import translated
from pcneo.store.reading import PAGE, PAGE_NEIGHBOURS, GraphReader, Page, read_ahead
from pcneo.store.schema import FORMAT
from pcneo.store.statements import load_statement
from pcneo.store.transaction import Row, begun, in_halves, sample_names
from pcneo.store.typed_rows import OwnNode, Properties, Property, misfits, properties_of, refusals, what_is_wrong

_TRIES = 10
_PAUSE_SECONDS = 0.02
"""How often, and at what interval, runs are listed while a version of one of them is being committed."""

SMALLEST_KEYS: tuple[Key, Key] = (-(2**63), "")
"""One for each kind: when hubs are read ahead, the graph's kind is not known yet. A scan that starts at one
returns no keys of the other kind."""


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


class RunReader(GraphReader):
    """Reads runs from the database."""

    def list_runs(self) -> list[RunRecord]:
        """Return every standing run at the version that readers go by, by id."""
        return [_current_run(row) for row in self._standing() if not _lacks_version(row)]

    def _standing(self) -> list[Row]:
        rows, tries = self.read("list_runs"), 1
        later = [row["graph"] for row in rows if type(row["format"]) is int and row["format"] > FORMAT]
        refuse_other_formats(earlier=any(row["search"] is None for row in rows), later=later[0] if later else None)
        while tries < _TRIES and any(row["readable"] is None for row in rows):
            time.sleep(_PAUSE_SECONDS)  # a version is being committed, or its record is lost
            rows, tries = self.read("list_runs"), tries + 1
        return rows

    def list_versions(self, run: str) -> list[RunRecord]:
        """Return every version of a run that is on record, oldest first."""
        return [_run(row) for row in self.read("list_versions", run=run)]

    def list_damaged_runs(self) -> Iterator[GraphError]:
        """Yield an error for each run, and each version of other runs, that pcneo cannot have written as it is."""
        for row in self._standing():
            if _lacks_version(row):
                continue
            of_run = list(refusals(_current_run, [row]))
            yield from of_run or refusals(_run, self.read("list_versions", run=row["id"]))

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
        damage: GraphError | None = None
        try:
            yield
        except GraphError as error:  # a hub that is being removed has lost its properties
            damage = error
        rows = self.read("get_version", run=run.id, version=run.version)
        if rows and rows[0]["readable"]:
            if damage is not None:
                raise damage
        else:
            raise GraphChangedError(
                f"Version {run.version} of run {run.id} is no longer kept. Read the current one.",
                run=run.id,
                version=run.version,
            )

    def get_cohesion(self, selection: Selection, run: RunRecord, vertex: Key) -> StoredHub | None:
        """Return the hub that a version has for a vertex; None if it has none."""
        names = sample_names(selection, "Person", "id")
        rows = self.read("get_cohesion", names, run=run.id, version=run.version, vertex=vertex)
        for row in rows:
            _check_hub(row, _HUB, f"of vertex {key_text(vertex)} in run {run.id!r}")
        return StoredHub(vertex, **rows[0]) if rows else None

    def get_cohesions(
        self, selection: Selection, run: str, version: int, keys: Sequence[Key], *, as_it_is: bool = False
    ) -> Iterator[StoredHub]:
        """Yield every hub that a version has for some vertices.

        A batch that does not fit into the server's transaction memory is halved and tried again. Hubs with values of
        other kinds than pcneo writes are refused, unless they are wanted as they are.
        """
        names = sample_names(selection, "Person", "id")

        def read(part: Sequence[Key]) -> Iterable[StoredHub]:
            row = self.read("get_cohesions", names, run=run, version=version, keys=list(part))[0]
            for name, kind in () if as_it_is else {"edges": int, "proven": bool, "best": bool}.items():
                if not set(map(type, row[name])) <= {kind}:
                    why = f"lacks its {name}, or has a value of another kind there"
                    raise OwnNode("PCohesion", f"of run {run!r}").refusal(name, why)
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

    def stream_cohesions(self, selection: Selection, run: RunRecord) -> Iterator[tuple[Key, list[Key]]]:
        """Yield (vertex, members) of every hub of one version, in no order; members in no order either."""
        for record in self._stream("stream_cohesions", sample_names(selection, "Person", "id"), run):
            yield record["vertex"], record["members"]

    def stream_groups(self, selection: Selection, run: RunRecord) -> Iterator[KeptHub]:
        """Yield every hub of one version as it is now, in no order, including those whose vertex is gone."""
        for record in self._stream("stream_groups", sample_names(selection, "id"), run):
            _check_hub(record, _KEPT_HUB, f"of run {run.id!r}")
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

    def list_differences(self, selection: Selection, run: str, before: int, after: int) -> list[Row]:
        """Return the hubs that one of two versions of a run has and the other does not, as the statement's rows."""
        names = sample_names(selection, "Person", "id")
        rows = self.read("list_differences", names, run=run, before=before, after=after)
        for row in rows:
            _check_hub({"proven": True, **row}, _HUB, f"of run {run!r}")
        return rows

    def check_hubs(self, run: str, version: int) -> dict[str, int]:
        """Return how many hubs of a run are `unfinished`, `torn`, `astray`, `unmarked` or `changed`."""
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


_RUN: Properties = {
    name: wanted for name, wanted in properties_of(RunRecord).items() if name in ("id", "graph", "scope")
}
_SEARCH: Properties = {"pText": Property("p", "str"), "search": Property("name", "str")}
_VERSION: Properties = properties_of(RunRecord, without=("id", "graph", "scope", "search"))
_EFFORT: Properties = {"effort": Property("effort", "int")}
_HASHES: Properties = {name: Property(name, "str") for name in ("fingerprint", "membershipHash")}
_HUB: Properties = {"edges": Property("edges", "int"), **{name: Property(name, "bool") for name in ("proven", "best")}}
_KEPT_HUB: Properties = {
    name: wanted for name, wanted in properties_of(KeptHub).items() if wanted.kind in ("int", "str")
}
_SCOPES = ("graph", "vertices", "answers")


def _lacks_version(row: Row) -> bool:
    """Whether a sound run's current version has no record; a damaged run is refused elsewhere."""
    is_whole = isinstance(row["id"], str) and type(row["current"]) is int
    return row["version"] is None and is_whole and row["current"] > 0


def _current_run(row: Row) -> RunRecord:
    """Turn a row of `list_runs` into a record; refuse a node that pcneo cannot have written."""
    _run_node(row).read({"version": row["current"]}, {"version": Property("version", "int")})
    return _run(row)


def _run(row: Row) -> RunRecord:
    """Turn a row of `list_runs` or `list_versions` into a record; refuse a node that pcneo cannot have written."""
    run = _run_node(row)
    version = replace(run, label="PCohesionVersion", name=f"{row['version']} of run {row['id']!r}")
    values = run.read(row, _RUN)
    if row["scope"] not in _SCOPES:
        raise run.unknown(row, "scope")
    values |= version.read(row, _VERSION)
    if row["scope"] != "vertices":
        version.read(row, _HASHES)
    try:
        search = Search(**run.read(row, _SEARCH), **version.read(row, _EFFORT))
    except ParameterError as error:
        name = {"p": "pText"}.get(str(error.data["name"]), str(error.data["name"]))
        raise (version if name in _EFFORT else run).unknown(row, name) from error
    return RunRecord(search=search, **values)


def _run_node(row: Row) -> OwnNode:
    return OwnNode("PCohesionRun", repr(row["id"]), row["graph"], row["id"])


def _check_hub(row: Mapping[str, Any], properties: Properties, name: str) -> None:
    for wrong in misfits(row, properties):
        raise OwnNode("PCohesion", name).refusal(wrong, what_is_wrong(row, wrong))
