"""What the database says of a run at one version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pcneo.basics.searches import Search


@dataclass(frozen=True)
class RunRecord:
    """A standing run at one of its versions: the records `PCohesionRun` and `PCohesionVersion` together.

    A run is what is stored for one graph, p, search and scope. Its id never changes. Each `annotate` that has something
    to change makes a version of it; numbers are the graph's, and none is used twice (DATA-MODEL.md#runs-and-versions).

    Attributes:
        id: for example `friends@3/10`; carried by each of its hubs.
        graph: the graph's name.
        scope: `graph` (every vertex), `vertices` (those that were named) or `answers` (of a release's answers).
        search: p and the name of the search, and the effort of this version.
        version: the version; hubs belong to it where `from <= version < until`.
        readable: whether the hubs of this version are kept.
        pcneo: the version of pcneo that wrote it.
        revision: of the search; raised where any answer can change.
        added: hubs that came with this version.
        retired: hubs that went with it.
        cohesions: hubs that it has.
        memberships: their members.
        node_count: the count store's nodes when the graph was read.
        relationship_count: its relationships.
        vertices: of the graph as read; for `vertices` what was read, for `answers` what was searched.
        edges: likewise.
        fingerprint: keyed hash of these keys and edges; None for `vertices`.
        membership_hash: keyed hash of the memberships; None for `vertices`.
        started_at: server time.
        finished_at: server time.
        replaced_at: when readers went on to the next version; None for the one that they go by now.
        from_files: whether cohesions of it were loaded from files: each is a minimal p-cohesion, and that a search
            finds the same rests on whoever wrote them.
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
        """Return what to say of a graph that has changed since; empty for a run that follows no graph.

        Args:
            lost: whether it is known of a cohesion that it is none any more.
        """
        if self.scope == "answers":
            return ""
        current = self.replaced_at is None
        since = "this run" if current else f"version {self.version} of this run"
        none_more = ", and this is no p-cohesion any more" if lost else ""
        return f"The graph has changed since {since}{none_more}{': annotate it again' if current else ''}"

    def __repr__(self) -> str:
        """Return the run and its version, in a line."""
        found = f"{self.cohesions:,} cohesions, {self.memberships:,} memberships, search {self.search.name}"
        return f"Run {self.id}, version {self.version}: {found}"
