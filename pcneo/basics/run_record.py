"""What the database records about a run at one version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pcneo.basics.frames import counted
from pcneo.basics.searches import Search


class WholeId(str):
    """The id of a run that a handle or a record holds: unlike what a person types, never the beginning of another's."""

    __slots__ = ()


@dataclass(frozen=True)
class RunRecord:
    """A standing run at one of its versions: the records `PCohesionRun` and `PCohesionVersion` together.

    A run holds the cohesions for one graph, p, search and scope. Its id never changes. Each `annotate` that changes
    something makes a new version of it; versions are numbered across the graph, and no number is used twice
    (DATA-MODEL.md#runs-and-versions).

    Attributes:
        id: for example `friends@3/10`; each of its hubs carries it.
        graph: the graph's name.
        scope: `graph` (every vertex), `vertices` (the named vertices) or `answers` (the answers of a release).
        search: p and the name of the search, and the effort of this version.
        version: the version; hubs belong to it where `from <= version < until`.
        readable: whether the hubs of this version are kept.
        pcneo: the version of pcneo that wrote it.
        revision: the revision of the search, raised whenever any answer can change.
        added: number of hubs that this version added.
        retired: number of hubs that this version retired.
        cohesions: number of hubs that it has.
        memberships: number of their members.
        node_count: the count store's nodes when the graph was read.
        relationship_count: the count store's relationships when the graph was read.
        vertices: those of the graph as it was read; for `vertices` those that were read, for `answers` those that were
            searched.
        edges: the edges, counted in the same way.
        fingerprint: keyed hash of these keys and edges; None for `vertices`.
        membership_hash: hash of the memberships; None for `vertices`.
        started_at: server time.
        finished_at: server time.
        replaced_at: when the next version replaced it; None for the current version.
        from_files: whether cohesions were loaded from files: each is a minimal p-cohesion, but that a search finds the
            same one is taken on trust from the author of the files.
    """

    id: str
    graph: str
    scope: str
    search: Search
    version: int
    readable: bool
    pcneo: str
    revision: int
    added: int
    retired: int
    cohesions: int
    memberships: int
    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    fingerprint: str | None
    membership_hash: str | None
    started_at: datetime
    finished_at: datetime
    replaced_at: datetime | None
    from_files: bool = False

    def note(self, *, lost: bool = False) -> str:
        """Return a remark for when the graph has changed since; empty for a run that does not follow a graph.

        Args:
            lost: whether a cohesion is known to be no longer a p-cohesion.
        """
        if self.scope == "answers":
            return ""
        current = self.replaced_at is None
        since = "this run" if current else f"version {self.version} of this run"
        none_more = ", and this is no longer a p-cohesion" if lost else ""
        return f"The graph has changed since {since}{none_more}{': annotate it again' if current else ''}"

    def __repr__(self) -> str:
        """Return the run and its version, in a line."""
        found = f"{counted(self.cohesions, 'cohesion')}, {counted(self.memberships, 'membership')}"
        return f"Run {self.id}, version {self.version}: {found}, search {self.search.name}"
