"""Cohesions in Parquet files, one per row (DATA-MODEL.md#cohesions-in-files)."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.bounded_file import UnreadableError, check_regular
from pcneo.basics.model import CohesionBatch, KeyArray
from pcneo.basics.searches import DEFAULT_P, Search
from pcneo.basics.selection import Selection
from pcneo.errors import FileFormatError, ParameterError, PcneoError, needs_extra
from pcneo.graph.arrays import places_in
from pcneo.graph.files.cohesion_file_head import FORMAT, PREFIX, FileHead
from pcneo.graph.files.unpacked_sizes import unpacks_to_more

if TYPE_CHECKING:
    import pyarrow


_FAULTS = (OSError, ValueError, KeyError, TypeError, RecursionError, ParameterError)
ROW_GROUP_MEMBERSHIPS = 1_000_000
ROW_GROUP_COHESIONS = 200_000
"""A row group is written as soon as it has this many of either. It takes some megabytes; one is in memory at a time."""


def check_parquet() -> None:
    """Check that Parquet can be read and written."""
    try:
        import pyarrow.parquet  # noqa: F401 - only to see whether it is installed
    except ImportError as error:
        raise PcneoError(needs_extra("Parquet needs pyarrow", "parquet")) from error


def bytes_in_file(batches: Sequence[CohesionBatch], keys: KeyArray) -> int:
    """Return roughly how many bytes cohesions take in a file, without what every file contains."""
    sizes = []
    for held in ([], batches):
        file = io.BytesIO()
        with CohesionWriter(file, _NOBODY, keys) as writer:
            for batch in held:
                writer.hold(batch)
        sizes.append(file.tell())
    return sizes[1] - sizes[0]


_NOBODY = FileHead(Search(DEFAULT_P), "", 0, Selection((), (), ""), "", "", "", 0, 0, (1, 1))


class CohesionWriter:
    """Writes batches of one graph's cohesions to a file; at most one row group is in memory."""

    def __init__(self, file: BinaryIO, head: FileHead, keys: KeyArray) -> None:
        """Begin a file."""
        import pyarrow.parquet

        parquet: Any = pyarrow.parquet  # its stubs know fewer kinds of arguments
        self._keys: Any = pyarrow.array(keys, pyarrow.string() if keys.dtype == object else pyarrow.int64())
        self._schema = _schema(self._keys.type).with_metadata(head.metadata())
        numbers = ["vertex", "size", "edges", "members.list.element"]
        texts = ["vertex", "members.list.element"] if keys.dtype == object else []
        self._writer = parquet.ParquetWriter(
            file,
            self._schema,
            compression="zstd",
            use_dictionary=texts,
            column_encoding={name: "DELTA_BINARY_PACKED" for name in numbers if name not in texts},
            write_statistics=["vertex", "size", "edges", "density"],
            write_page_checksum=True,
        )
        self._waiting: list[CohesionBatch] = []
        self._cohesions = self._memberships = 0

    def write(self, batch: CohesionBatch) -> None:
        """Add a batch whose vertices ascend and come after those of earlier batches.

        A row group holds only consecutive vertices of the graph, so that the row groups of several parts never overlap.
        """
        gaps = np.flatnonzero(np.diff(batch.vertices) != 1) + 1
        if self._waiting and batch.vertices[0] != self._waiting[-1].vertices[-1] + 1:
            self._flush()
        bounds = [0, *gaps.tolist(), len(batch)]
        for start, stop in itertools.pairwise(bounds):
            if start:
                self._flush()
            self._add(batch.part(start, stop))

    def hold(self, batch: CohesionBatch) -> None:
        """Add a batch, whatever its vertices are, to the only row group of a file that no one will read."""
        self._waiting.append(batch)
        self._cohesions += len(batch)

    def __enter__(self) -> Self:
        """Return the writer; the end of the file is written when the block ends."""
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Write what is waiting, and the end of the file; after an error, leave the file as it is."""
        if error is None:
            self._flush()
            self._writer.close()
            return
        with suppress(Exception):
            self._writer.close()

    def _add(self, batch: CohesionBatch) -> None:
        """Add consecutive vertices, cut so that no row group reaches twice the memberships plus one cohesion."""
        cuts = np.flatnonzero(np.diff(batch.offsets[1:] // ROW_GROUP_MEMBERSHIPS)) + 1
        for part in itertools.starmap(batch.part, itertools.pairwise([0, *cuts.tolist(), len(batch)])):
            self._waiting.append(part)
            self._cohesions += len(part)
            self._memberships += len(part.members)
            if self._memberships >= ROW_GROUP_MEMBERSHIPS or self._cohesions >= ROW_GROUP_COHESIONS:
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(self._table(self._waiting), row_group_size=self._cohesions)
        self._waiting, self._cohesions, self._memberships = [], 0, 0

    def _table(self, batches: list[CohesionBatch]) -> pyarrow.Table:
        import pyarrow

        sizes = np.concatenate([batch.sizes for batch in batches])
        offsets = np.concatenate(([0], sizes.cumsum())).astype(np.int32)
        members = self._keys.take(pyarrow.array(np.concatenate([batch.members for batch in batches])))
        columns = [
            self._keys.take(pyarrow.array(np.concatenate([batch.vertices for batch in batches]))),
            pyarrow.array(sizes),
            pyarrow.array(np.concatenate([batch.edges for batch in batches])),
            pyarrow.array(np.concatenate([batch.densities for batch in batches])),
            pyarrow.array(np.concatenate([batch.proven for batch in batches])),
            pyarrow.array(np.concatenate([batch.best for batch in batches])),
            pyarrow.ListArray.from_arrays(pyarrow.array(offsets), members, type=self._schema.field("members").type),
        ]
        return pyarrow.Table.from_arrays(columns, schema=self._schema)


def _schema(key: Any) -> pyarrow.Schema:
    import pyarrow

    return pyarrow.schema(
        [
            pyarrow.field("vertex", key, nullable=False),
            pyarrow.field("size", pyarrow.int64(), nullable=False),
            pyarrow.field("edges", pyarrow.int64(), nullable=False),
            pyarrow.field("density", pyarrow.float64(), nullable=False),
            pyarrow.field("proven", pyarrow.bool_(), nullable=False),
            pyarrow.field("best", pyarrow.bool_(), nullable=False),
            pyarrow.field("members", pyarrow.list_(pyarrow.field("element", key, nullable=False)), nullable=False),
        ]
    )


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file: the positions of its first and last vertex in the graph's keys, and its number."""

    first: int
    last: int
    file: CohesionFile
    number: int


class CohesionFile:
    """A file of cohesions, read a row group at a time; it is open only while it is read, as there may be thousands.

    Attributes:
        path: the file.
        head: where its cohesions come from.
        cohesions: how many there are.
    """

    def __init__(self, path: Path) -> None:
        """Read the head of a file."""
        import pyarrow

        self.path = path
        if path.is_dir():
            raise self._unfit(f"it is a folder; name the files in it: {path / '*.parquet'}")
        self._texts: list[str] | None = None
        self._state: tuple[int, ...] | None = None
        with self._open() as file:
            metadata, schema = file.metadata, file.schema_arrow.remove_metadata()
            if (metadata.metadata or {}).get(PREFIX + b"format", FORMAT.encode()) != FORMAT.encode():
                raise self._unfit("another version of pcneo wrote it, in another format; write it again")
            self.head = FileHead.of(metadata.metadata or {})
            self.cohesions: int = metadata.num_rows
            self._rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        if not any(schema.equals(_schema(key)) for key in (pyarrow.int64(), pyarrow.string())):
            raise self._unfit("its columns are not those that pcneo writes")
        if sum(self._rows) != self.cohesions:
            raise self._unfit("rows are missing")
        self._texts = ["vertex", "members.list.element"] if schema.field("vertex").type == pyarrow.string() else None

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open the file, which must not change between times; what fails in the block becomes a FileFormatError."""
        import pyarrow.parquet

        with self._reading():
            status = check_regular(self.path)
        state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if state != (self._state or state):
            raise self._unfit("it has changed since it was first opened")
        self._state = state
        with (
            self._reading(),
            pyarrow.parquet.ParquetFile(
                self.path, page_checksum_verification=True, read_dictionary=self._texts
            ) as file,
        ):
            yield file

    def row_groups(self, keys: KeyArray) -> list[RowGroup]:
        """Return the row groups that have rows; refuse one that names a vertex not among the keys, which ascend."""
        groups = []
        with self._open() as file:
            with self.path.open("rb") as raw:
                unfit = unpacks_to_more(raw, file.metadata, keys, 2 * ROW_GROUP_MEMBERSHIPS)
            if unfit:
                raise self._unfit("it unpacks to more than this graph's cohesions can take")
            for number, rows in enumerate(self._rows):
                column = file.read_row_group(number, columns=["vertex"]).combine_chunks().column(0)
                if len(column) != rows:
                    raise self._unfit("rows are missing")
                if rows:
                    first, last = self._positions(keys, column.chunk(0).take([0, rows - 1])).tolist()
                    groups.append(RowGroup(first, last, self, number))
        return groups

    def read(self, number: int, keys: KeyArray) -> CohesionBatch:
        """Return a row group as a batch over the graph's keys."""
        with self._open() as file:
            table = file.read_row_group(number).combine_chunks()
            columns = {name: table.column(name).chunk(0) for name in table.column_names}
            if any(column.null_count for column in columns.values()) or columns["members"].flatten().null_count:
                raise ValueError("a value is missing")
            sizes = np.asarray(columns["members"].value_lengths(), np.int64)
            stored = np.asarray(columns["size"], np.int64)
            edges = np.asarray(columns["edges"], np.int64)
        if not ((sizes == stored).all() and (sizes > 0).all()):
            raise self._unfit("a size differs from the number of members beside it")
        vertices = self._positions(keys, columns["vertex"])
        members = self._positions(keys, columns["members"].flatten())
        steps = np.diff(members)
        steps[sizes.cumsum()[:-1] - 1] = 1  # from one cohesion to the next
        if not ((steps > 0).all() and (np.diff(vertices) > 0).all()):
            raise self._unfit("its vertices or members are not in ascending order")
        return CohesionBatch(
            search=self.head.search,
            vertices=vertices,
            offsets=np.concatenate(([0], sizes.cumsum())),
            members=members.astype(np.uint32),
            edges=edges,
            keys=keys,
            proven=np.asarray(columns["proven"], np.bool_),
            best=np.asarray(columns["best"], np.bool_),
        )

    def _positions(self, keys: KeyArray, wanted: Any) -> NDArray[np.int64]:
        import pyarrow

        if pyarrow.types.is_dictionary(wanted.type):  # a text is held once, however often it occurs
            return self._positions(keys, wanted.dictionary)[np.asarray(wanted.indices)]
        if pyarrow.types.is_string(wanted.type) == (keys.dtype == object):
            with self._reading():
                values = np.array(wanted.to_pylist(), object) if keys.dtype == object else np.asarray(wanted)
            positions = places_in(keys, values)
            if (positions >= 0).all():
                return positions
        raise self._unfit("it names vertices that the graph does not have")

    def _unfit(self, why: str) -> FileFormatError:
        return FileFormatError(f"{self.path} cannot be loaded: {why}.", path=self.path)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn what goes wrong with the file inside the block into a FileFormatError."""
        import pyarrow

        try:
            yield
        except UnreadableError as error:
            raise FileFormatError(f"{self.path} cannot be read: {error}.", path=self.path) from error
        except (pyarrow.ArrowException, *_FAULTS) as error:
            why = getattr(error, "strerror", None)
            said = f"cannot be read: {why}" if why else "is damaged, or is not a file of cohesions from pcneo"
            raise FileFormatError(f"{self.path} {said}.", path=self.path) from error
