"""Use case: write files of cohesions into the standing runs of their graph."""

from __future__ import annotations

import itertools
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from pcneo.annotate.plan import Plan, make_plan
from pcneo.annotate.supply import WholeGraph
from pcneo.annotate.writing import WriteResult, update_runs
from pcneo.basics.model import AnyPath, CohesionBatch, FoundCohesion, Progress
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import AnswerError, FileFormatError, GraphChangedError, ParameterError
from pcneo.graph.files.cohesion_file import CohesionFile, RowGroup, check_parquet
from pcneo.graph.files.cohesion_file_head import FileHead
from pcneo.search import REVISION, search_batches
from pcneo.search.cohesion import Searched, make_task
from pcneo.store.standing import Keeping

if TYPE_CHECKING:
    from pcneo.store.database import Database


SHOWN = 5
"""How many missing parts a message names."""


def load_cohesions(
    db: Database,
    files: AnyPath | Sequence[AnyPath],
    *,
    graph: str | None = None,
    selection: Selection = Selection(),
    create_index: bool = False,
    verify: int = 0,
    keeping: Keeping | None = None,
    progress: Progress | None = None,
) -> WriteResult:
    """Bring standing runs up to date from files that `annotate.to_parquet` wrote, without searching.

    The graph is read, and any file made from another state of it is refused. Together, the files for a p must hold
    every vertex once. Each cohesion is proved to be a minimal p-cohesion of its vertex in the graph as it is now; a
    vertex may have several, and that this is the one the search finds is taken on trust from the file. What differs
    from what is stored is written, as by `annotate.write`. The run is then marked as coming from files
    (`Run.from_files`), and the next `annotate.write` searches the whole graph.

    Returns:
        As for `annotate.write`.
    """
    check_parquet()
    paths = [Path(path) for path in ([files] if isinstance(files, str | os.PathLike) else files)]
    if not paths:
        raise ParameterError("Give at least one file.", name="files", value=files)
    if verify < 0:
        raise ParameterError(f"verify must be at least 0, not {verify}.", name="verify", value=verify)
    opened = [CohesionFile(path) for path in paths]
    heads = [file.head for file in opened]
    _check_alike(heads)
    _check_of(heads[0].selection, selection)
    by_search: dict[Search, list[CohesionFile]] = {}
    for file in opened:
        by_search.setdefault(file.head.search, []).append(file)
    for search, parts in by_search.items():
        _check_complete(search, parts, parts[0].head.vertices)  # before anything is read
    plan = make_plan(
        db,
        "write",
        p=[search.p for search in by_search],
        search=heads[0].search.name,
        effort=heads[0].search.effort,
        graph=graph or heads[0].graph or None,
        selection=heads[0].selection,
        create_index=create_index,
        check=True,
        progress=progress,
    )
    return update_runs(plan, keeping or Keeping(), supply=FileSupply(plan, by_search, verify))


def _check_of(theirs: Selection, wanted: Selection) -> None:
    """Refuse files of other labels, types or key than those that the caller names, as far as they are named."""
    for part in ("node_labels", "relationship_types", "key"):
        named, there = getattr(wanted, part), getattr(theirs, part)
        if named and named != there:
            raise ParameterError(
                f"These files are of the graph {theirs.default_name}, not of one whose {part} is {named!r}.",
                name=part,
                value=named,
            )


def _check_alike(heads: Sequence[FileHead]) -> None:
    """Refuse files of different graphs or searches, and those made by another revision of the search."""
    for head in heads:
        if head.revision != REVISION:
            raise ParameterError(
                f"These files are from pcneo {head.pcneo}, whose search may find other cohesions than this version's. "
                "Write them again.",
                name="files",
                value=head.revision,
            )
        alike = head.selection, head.search.name, head.search.effort
        if alike != (heads[0].selection, heads[0].search.name, heads[0].search.effort):
            raise ParameterError(
                "These files are from different graphs or different searches: load each kind separately.",
                name="files",
            )
    fingerprints = {(head.graph, head.fingerprint) for head in heads if not head.fingerprint_key}
    if len(fingerprints) > len({graph for graph, _ in fingerprints}):
        raise GraphChangedError("The graph changed between one of these files and another. Write the older ones again.")


def _check_complete(search: Search, files: Sequence[CohesionFile], wanted: int) -> None:
    there = sum(file.cohesions for file in files)
    if there != wanted:
        raise ParameterError(
            f"p={search.p}: these files hold {there:,} cohesions, but the graph has {wanted:,} vertices. "
            f"{_amiss(Counter(file.head.part for file in files))}",
            name="files",
            value=there,
        )


def _amiss(given: Counter[tuple[int, int]]) -> str:
    """Return a sentence that names the parts that are missing, or were given twice."""
    divisions = sorted({parts for _, parts in given})
    if len(divisions) > 1:
        return f"They come from divisions into {' and '.join(map(str, divisions))} parts: give all parts of one."
    (parts,) = divisions
    missing = parts - len(given)
    if missing:
        examples = itertools.islice((i for i in itertools.count(1) if (i, parts) not in given), min(missing, SHOWN))
        which = ", ".join(f"{i}/{parts}" for i in examples)
        return f"Missing: part {which}{' and others' if missing > SHOWN else ''}."
    twice = ", ".join(f"{i}/{parts}" for (i, _), times in given.items() if times > 1)
    return f"Given more than once: part {twice}." if twice else "Write them again."


class FileSupply(WholeGraph):
    """The whole graph as it is now, with cohesions from files in place of a search."""

    from_files = True

    def __init__(self, plan: Plan, files: dict[Search, list[CohesionFile]], verify: int) -> None:
        """Begin with nothing read but the files' heads."""
        super().__init__(plan)
        self._files = files
        self._verify = verify

    def read(self) -> Self:
        """Read the graph and check that the files were made from it."""
        super().read()
        keys = {record.name: record.fingerprint_key for record in self._plan.known}
        now: dict[str, str] = {}
        for file in (file for parts in self._files.values() for file in parts):
            key = file.head.fingerprint_key or keys.get(file.head.graph, "")
            if key and key not in now:
                now[key] = self.fingerprint(_bytes_of(key, file))
            if now.get(key) != file.head.fingerprint:
                raise GraphChangedError(
                    f"{file.path} does not belong to the graph as it is in this database now: it is from another "
                    "graph, or the graph has changed since. The database was not changed. Write the file again.",
                    path=file.path,
                )
        for search, files in self._files.items():
            _check_complete(search, files, self.vertices)  # what a file says of its graph may be wrong
        return self

    def estimate(self, search: Search, beyond: int, *, most: int, seconds: float) -> None:
        """Return None: a user who has written so many memberships to files knows how many they are."""

    def batches(self, search: Search, positions: Iterable[int] | None = None) -> Iterator[CohesionBatch]:
        """Yield the files' cohesions for one search, each one checked, in ascending order."""
        groups = self._row_groups(search)
        task = make_task(search, self._plan.check)
        searched = Searched.of(self.graph, search.p)
        zeros = np.zeros(self.vertices, np.int64)
        report = self._plan.searching(search)
        sample = self._sample(search)
        done = 0
        for group in groups:
            batch = group.file.read(group.number, self.graph.keys)
            try:
                checked = task.checked(self.graph, searched.need, batch, zeros)
            except AnswerError as error:
                raise FileFormatError(
                    f"{group.file.path} was changed: its cohesion of vertex {error.data['vertex']!r} "
                    f"{error.data['condition']}.",
                    path=group.file.path,
                ) from error
            if not (checked.edges == batch.edges).all():
                raise FileFormatError(
                    f"{group.file.path} was changed: its edge counts are not those of the graph.",
                    path=group.file.path,
                )
            _check_sample(group, checked, sample)
            done += len(batch)
            report(done, self.vertices)
            yield checked

    def _sample(self, search: Search) -> dict[int, FoundCohesion]:
        """Return the cohesions of some vertices that no one can predict, searched now, by position."""
        places = secrets.SystemRandom().sample(range(self.vertices), min(self._verify, self.vertices))
        found: dict[int, FoundCohesion] = {}
        for batch in search_batches(self.graph, search, vertices=sorted(places), concurrency=self._plan.concurrency):
            found.update(zip(batch.vertices.tolist(), batch.cohesions(), strict=True))
        return found

    def _row_groups(self, search: Search) -> list[RowGroup]:
        groups = sorted(
            (group for file in self._files[search] for group in file.row_groups(self.graph.keys)),
            key=lambda group: group.first,
        )
        for group, following in itertools.pairwise(groups):
            if following.first <= group.last:
                raise ParameterError(
                    f"{group.file.path} and {following.file.path} hold some of the same vertices. Give each part once.",
                    name="files",
                    value=str(following.file.path),
                )
        return groups


def _check_sample(group: RowGroup, batch: CohesionBatch, sample: Mapping[int, FoundCohesion]) -> None:
    for i in [i for i, place in enumerate(batch.vertices.tolist()) if place in sample]:
        (cohesion,) = batch.part(i, i + 1).cohesions()
        if cohesion != sample[int(batch.vertices[i])]:
            raise FileFormatError(
                f"{group.file.path}: its cohesion of vertex {cohesion.vertex!r} is not the one that the search finds. "
                "The database was not changed. Write the file again, or search with `pcneo annotate`.",
                path=group.file.path,
                vertex=cohesion.vertex,
            )


def _bytes_of(key: str, file: CohesionFile) -> bytes:
    try:
        return bytes.fromhex(key)
    except ValueError:
        raise FileFormatError(f"{file.path} is damaged: its fingerprint key is invalid.", path=file.path) from None
