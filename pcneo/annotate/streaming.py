"""Mode `stream`: cohesions one by one, or in Parquet files for the whole graph or a part of it.

Nothing is written to the database.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from pcneo.annotate.plan import Asked, Configuration, Plan, make_plan, searches_of
from pcneo.annotate.supply import WholeGraph, size_of, supply_of
from pcneo.basics.config import __version__
from pcneo.basics.keys import checked_count
from pcneo.basics.model import AnyPath, FoundCohesion
from pcneo.basics.searches import Search
from pcneo.basics.whole_file import check_place, refusing, whole_file
from pcneo.errors import ParameterError
from pcneo.graph.files.cohesion_file import CohesionWriter, check_parquet
from pcneo.graph.files.cohesion_file_head import FileHead
from pcneo.search import REVISION

if TYPE_CHECKING:
    from pcneo.store.database import Database


STRETCHES = 16
"""Stretches of consecutive vertices in a part: many, so that all parts of a graph take about equally long."""


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


@dataclass(frozen=True)
class FiledCohesions:
    """One file.

    Attributes:
        path: where it is.
        p: as `a/b`.
        cohesions, memberships: how many are in it.
        bytes: its size.
    """

    path: Path
    p: str
    cohesions: int
    memberships: int
    bytes: int


@dataclass(frozen=True)
class ParquetResult:
    """What was written to files.

    Attributes:
        files: one for each p.
        part: the number of the part, and how many parts there are; (1, 1) is the whole graph.
        fingerprint: that of the graph as it was read (DATA-MODEL.md#runs-and-versions).
        node_count, relationship_count, vertices, edges, configuration: as in `WriteResult`.
        pre_processing_millis: choosing, checking and reading.
        compute_millis: searching and writing.
    """

    files: tuple[FiledCohesions, ...]
    part: tuple[int, int]
    fingerprint: str
    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    pre_processing_millis: int
    compute_millis: int
    configuration: Configuration


def to_parquet(db: Database, *, to: AnyPath, part: tuple[int, int] = (1, 1), **asked: Unpack[Asked]) -> ParquetResult:
    """Write the minimal p-cohesion of every vertex to a Parquet file for each p (DATA-MODEL.md#cohesions-in-files).

    A file appears whole or not at all, and only its owner can read it. Several processes, on several machines, can
    each write one part; together the parts make the whole, no matter who writes them. Memory does not grow with the
    file.

    Returns:
        The files.
    """
    check_parquet()
    if not 1 <= checked_count("part", part[0]) <= checked_count("part", part[1]):
        raise ParameterError(f"A part is I/N with 1 <= I <= N, not {part[0]}/{part[1]}.", name="part", value=part)
    if asked.get("vertices") is not None:
        raise ParameterError("Files hold all vertices; leave vertices out.", name="vertices", value=None)
    searches = searches_of(**asked)
    paths = _paths(Path(to), searches, part)
    asked["p"] = [search.p for search in searches]  # p is read from text once
    plan = make_plan(db, "stream", may_be_new=True, **asked)
    supply = WholeGraph(plan).read()
    head = _head(plan, supply, asked.get("graph"), part)
    read_millis = plan.millis()
    positions = part_positions(supply.vertices, part)
    files = tuple(_write(supply, search, positions, path, head) for search, path in paths.items())
    return ParquetResult(
        files=files,
        part=part,
        fingerprint=head.fingerprint,
        **size_of(supply),
        pre_processing_millis=read_millis,
        compute_millis=plan.millis() - read_millis,
        configuration=plan.configuration,
    )


def part_positions(vertices: int, part: tuple[int, int]) -> NDArray[np.int64]:
    """Return the positions of the vertices of a part, ascending, int64: stretches from all over the graph."""
    number, parts = part
    stretches = range(number - 1, STRETCHES * parts, parts)
    bounds = [(i * vertices // (STRETCHES * parts), (i + 1) * vertices // (STRETCHES * parts)) for i in stretches]
    return np.concatenate([np.arange(*bound, dtype=np.int64) for bound in bounds])


def _paths(to: Path, searches: Sequence[Search], part: tuple[int, int]) -> dict[Search, Path]:
    """Return the file for each search; check that each can be written."""
    with refusing(to, "to"):
        in_folder = to.is_dir()
    if in_folder:
        further = "-{}-of-{}".format(*part) if part[1] > 1 else ""
        paths = {
            search: to / f"cohesions-{str(search.p).replace('/', '-')}-{search.name}{further}.parquet"
            for search in searches
        }
    elif to.suffix.lower() != ".parquet":
        raise ParameterError(f"{to} is not a folder, and its name does not end in .parquet.", name="to", value=to)
    elif len(searches) > 1:
        raise ParameterError(f"Files for several p need a folder, not {to}.", name="to", value=to)
    else:
        paths = dict.fromkeys(searches, to)
    for path in paths.values():
        check_place(path, "to", replace=False)
    return paths


def _head(plan: Plan, supply: WholeGraph, graph: str | None, part: tuple[int, int]) -> FileHead:
    """Return the head that the files for all p share."""
    name, fingerprint_key, is_new = _fingerprint_key(plan, graph)
    return FileHead(
        search=plan.searches[0],
        pcneo=__version__,
        revision=REVISION,
        selection=plan.selection,
        graph=name,
        fingerprint=supply.fingerprint(bytes.fromhex(fingerprint_key)),
        fingerprint_key=fingerprint_key if is_new else "",
        vertices=supply.vertices,
        edges=supply.edges,
        part=part,
    )


def _fingerprint_key(plan: Plan, graph: str | None) -> tuple[str, str, bool]:
    """Return a name of the graph, its key, and whether the key is new because pcneo does not know the graph here."""
    known = {record.name: record for record in plan.known if record.selection == plan.selection}
    for name in (graph,) if graph else (plan.selection.default_name, *known):
        if name in known:
            return known[name].name, known[name].fingerprint_key, False
    return graph or "", secrets.token_hex(32), True


def _write(
    supply: WholeGraph, search: Search, positions: NDArray[np.int64], path: Path, head: FileHead
) -> FiledCohesions:
    cohesions = memberships = 0
    with whole_file(path, replace=False, mode=0o600) as file:
        with CohesionWriter(file, replace(head, search=search), supply.graph.keys) as writer:
            for batch in supply.batches(search, positions):
                writer.write(batch)
                cohesions += len(batch)
                memberships += len(batch.members)
        written = file.tell()
    return FiledCohesions(path, str(search.p), cohesions, memberships, written)
