"""Mode `stats` with several numberings: how steady answers are, in two files; nothing is written to the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack

from pcneo.annotate.plan import Asked, Configuration, Plan, make_plan, size_text
from pcneo.annotate.supply import WholeGraph, size_of
from pcneo.basics.frames import TableByP, counted, rounded
from pcneo.basics.keys import key_text
from pcneo.basics.model import AnyPath
from pcneo.basics.visible import csv_row
from pcneo.basics.whole_file import check_place, refusing, whole_file
from pcneo.errors import NotFoundError, ParameterError
from pcneo.graph.given import positions_of
from pcneo.search import VertexSteadiness, check_orders, search_orders
from pcneo.store.chosen_graph import other_kind

if TYPE_CHECKING:
    from pcneo.store.database import Database


_FILES = {
    "vertices.csv": ("p", "vertex", "size", "smallest", "largest", "sets", "same", "always", "ever"),
    "connections.csv": ("p", "vertex", "from", "to", "critical", "share"),
}


@dataclass(frozen=True)
class Steadiness:
    """How steady the cohesions of one p are.

    Attributes:
        vertices: number of vertices, each searched under every numbering.
        same: mean share of numberings in which a vertex has the same cohesion as under the keys.
        steady: share of the vertices that have the same cohesion in all numberings.
        connections: pairs of a vertex and a connection that is critical for it, under the keys or in any numbering.
        always: of the connections that are critical under the keys, the share that are critical in every numbering.
        share: for a connection that is critical under the keys, the mean share of numberings in which it is critical.
    """

    vertices: int
    same: float
    steady: float
    connections: int
    always: float
    share: float

    def as_row(self) -> dict[str, Any]:
        """Return the numbers that a table shows."""
        return vars(self)

    def in_words(self) -> str:
        """Return, in one line, the shares that are asked for first."""
        if not self.vertices:
            return "the graph has no vertices"
        of_vertices = (
            f"a vertex keeps its cohesion in {_percent(self.same)} of them on average, and {_percent(self.steady)} of "
            "the vertices in all of them"
        )
        if not self.connections:
            return f"{of_vertices}; no connection is critical"
        return f"{of_vertices}; a critical connection stays critical in {_percent(self.share)} of them on average"


@dataclass(frozen=True)
class SteadinessResult(TableByP):
    """How steady answers are, and the two files.

    Attributes:
        orders: numberings besides that of the keys.
        summaries: by p, as `a/b`.
        files: `vertices.csv` and `connections.csv`.
        node_count, relationship_count, vertices, edges, pre_processing_millis, compute_millis, configuration: as in
            `StatsResult`.
    """

    orders: int
    summaries: dict[str, Steadiness]
    files: tuple[Path, ...]
    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    pre_processing_millis: int
    compute_millis: int
    configuration: Configuration

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        size = size_text(self.vertices, self.edges, self.configuration)
        return f"{size}; under {counted(self.orders, 'further numbering')}; nothing was written to the database"

    def __repr__(self) -> str:
        """Return a line that sums it up."""
        return f"Steadiness at p={', '.join(self.summaries)}: {self.caption()}"


def steadiness(db: Database, *, to: AnyPath | None, orders: int, **asked: Unpack[Asked]) -> SteadinessResult:
    """Search under several numberings, and write for each vertex and each critical connection how steady it is.

    Without `to` no file is written, and what they would hold is only summed up.

    Ties are broken by key, so renumbering the vertices changes some cohesions and nothing else about the graph.
    `vertices.csv` has a row for each vertex: the size of its cohesion, the smallest and largest under the numberings,
    how many different cohesions there are, the share `same` of numberings that give the same cohesion as the keys do,
    and how many connections are critical in all of them, and in any. `connections.csv` has, for each vertex, a row for
    each connection that is critical for it under the keys or in a numbering: whether it is critical under the keys, and
    the share of numberings in which it is. Rows are written as they are found. The files appear whole or not at all,
    and only their owner can read them.
    """
    check_orders(orders)
    if asked.get("scheduler") is not None:
        raise ParameterError("Numberings are searched on this machine only.", name="scheduler", value=None)
    plan = make_plan(db, "stats", **asked)
    _check_vertices(db, plan)
    paths = () if to is None else new_files_in(to)
    supply = WholeGraph(plan).read()
    positions = positions_of(supply.graph, plan.vertices)
    read_millis, summaries = plan.millis(), dict[str, Steadiness]()
    with opened(paths) as files:
        for search in plan.searches:
            batches = search_orders(
                supply.graph,
                search,
                orders,
                vertices=positions,
                concurrency=plan.concurrency,
                progress=plan.searching(search),
            )
            summaries[str(search.p)] = added_up(str(search.p), batches, files)
    return SteadinessResult(
        orders=orders,
        summaries=summaries,
        files=paths,
        **size_of(supply),
        pre_processing_millis=read_millis,
        compute_millis=plan.millis() - read_millis,
        configuration=plan.configuration,
    )


def _check_vertices(db: Database, plan: Plan) -> None:
    """Refuse a vertex that the graph does not have, before a folder is made and the whole graph read."""
    named = plan.vertices or ()
    there = {key for key, _ in db.get_neighbours(plan.selection, named)}
    for key in named:
        if key not in there:
            other = other_kind(db, plan.selection, key)
            raise NotFoundError(f"There is no vertex {key_text(key)} in the graph{other}.", what="vertex", name=key)


def new_files_in(to: AnyPath) -> tuple[Path, ...]:
    """Return the paths of the two files in a folder, which is created if need be; neither file may exist."""
    folder = Path(to)
    with refusing(folder, "to"):
        folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / name for name in _FILES)
    for path in paths:
        check_place(path, "to", replace=False)
    return paths


@contextmanager
def opened(paths: Sequence[Path]) -> Iterator[list[BinaryIO]]:
    """Open the two files and write their headings; they appear whole or not at all. Without paths, yield no files."""
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(path, replace=False, mode=0o600)) for path in paths]
        for file, columns in zip(files, _FILES.values(), strict=False):
            _write(file, [columns])
        yield files


def added_up(p: str, batches: Iterator[list[VertexSteadiness]], files: Sequence[BinaryIO] = ()) -> Steadiness:
    """Add up the results for one p; if there are files, write its rows as they come."""
    count, listed, critical = 0, 0, 0
    same, steady, always, share = 0.0, 0, 0, 0.0
    for batch in batches:
        if files:
            _write_rows(p, batch, *files)
        for one in batch:
            own = one.shares[one.critical]
            count, listed, critical = count + 1, listed + len(one.shares), critical + len(own)
            same, steady = same + one.same, steady + (one.same == 1)
            always, share = always + int((own == 1).sum()), share + float(own.sum())
    of_vertices, of_critical = max(count, 1), max(critical, 1)
    return Steadiness(
        vertices=count,
        same=same / of_vertices,
        steady=steady / of_vertices,
        connections=listed,
        always=always / of_critical,
        share=share / of_critical,
    )


def _write_rows(p: str, batch: list[VertexSteadiness], vertices: BinaryIO, connections: BinaryIO) -> None:
    _write(vertices, (_vertex_row(p, one) for one in batch))
    for one in batch:
        _write(connections, _connection_rows(p, one))


def _vertex_row(p: str, one: VertexSteadiness) -> tuple[Any, ...]:
    always, ever = int((one.shares == 1).sum()), int((one.shares > 0).sum())
    return (p, one.vertex, one.size, one.smallest, one.largest, one.sets, one.same, always, ever)


def _connection_rows(p: str, one: VertexSteadiness) -> Iterator[tuple[Any, ...]]:
    for a, b, critical, share in zip(*one.ends, one.critical.tolist(), one.shares.tolist(), strict=True):
        yield p, one.vertex, a, b, str(critical).lower(), share


def _percent(share: float) -> str:
    return f"{rounded(100 * share, 3)} %"


def _write(file: BinaryIO, rows: Iterable[Sequence[Any]]) -> None:
    file.write("".join(f"{csv_row(row)}\n" for row in rows).encode())
