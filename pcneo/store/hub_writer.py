"""Writing and deleting hubs, each transaction behind the writer's fence.

A batch that does not fit into the server's transaction memory is halved and tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import neo4j

from pcneo.basics.keys import in_order
from pcneo.basics.model import Key
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import DatabaseError, WriteMismatchError
from pcneo.store.fence import SESSIONS, Fence
from pcneo.store.statements import load_statement
from pcneo.store.transaction import Row, halve_or_raise, in_halves, rows_of, sample_names

RETIRED_A_TRANSACTION = 20_000
"""Hubs; a property that is set takes 0.8 kB of the server's transaction memory."""
DELETED_A_TRANSACTION = 2_000
"""Hubs, with all their memberships."""
GENTLY = 5
"""How many times smaller transactions are on a graph that is lent: requests in the meantime wait for each commit."""


class CohesionRow(TypedDict):
    """One hub as the statement `create_cohesions` takes it; vertex and members by key, hashes as in `pcneo.graph`."""

    vertex: Key
    size: int
    edges: int
    density: float
    proven: bool
    best: bool
    owner: int
    digest: str
    members: list[Key]


class HubWriter:
    """Creates, retires and deletes the hubs of one graph.

    Attributes:
        begun: whether any hubs have been sent to be created.
        gently: whether others are answered from the same graph meanwhile, so that transactions must be smaller.
    """

    def __init__(self, fence: Fence, selection: Selection, check: Callable[[], object] = lambda: None) -> None:
        """Work behind a fence that has been taken; `check` raises once it is known that writing is in vain."""
        self.begun = self.gently = False
        self._check = check
        self._fence = fence
        self._names = sample_names(selection, "Person", "id")

    def create(self, session: int, run: str, version: int, search: Search, rows: Sequence[CohesionRow]) -> int:
        """Write hubs with their memberships; return the memberships written."""
        self._check()
        self.begun = True
        text = load_statement("create_cohesions").render(self._names)
        hold = load_statement("hold_vertices").render(self._names)
        parameters = {"run": run, "version": version, "p": float(search.p), "search": search.name}

        def write(part: Sequence[CohesionRow]) -> int:
            sent = {"cohesions": len(part), "memberships": sum(len(row["members"]) for row in part)}

            def work(transaction: neo4j.Transaction) -> int:
                if self._fence.is_beside_others():
                    # Each member once, in an order that all writers keep, so no two wait for each other.
                    members = in_order({key for row in part for key in row["members"]})
                    rows_of(transaction, hold, {"keys": members})
                written = rows_of(transaction, text, {**parameters, "rows": part})[0]
                _check_written(sent, written)
                return written["memberships"]

            return self._fence.write(session, work)

        return sum(in_halves(write, rows, "hubs"))

    def retire(self, run: str, version: int, keys: Sequence[Key], following: int) -> int:
        """End the current hubs of some vertices, each named once, with a version; return how many."""
        self._check()
        values = {"run": run, "version": version, "next": following}

        def write(part: Sequence[Key]) -> int:
            return self._write("retire_cohesions", self._names, {**values, "keys": list(part)})["retired"]

        size = self._at_once(RETIRED_A_TRANSACTION)
        parts = (keys[start : start + size] for start in range(0, len(keys), size))
        return sum(sum(in_halves(write, part, "hubs")) for part in parts)

    def retire_strays(self, run: str, version: int, following: int) -> int:
        """Do the same with all current hubs whose vertex is gone, or no longer belongs to the graph."""
        names = {"Person": self._names["Person"]}
        values = {"run": run, "version": version, "next": following}
        return self._until_none("retire_strays", "retired", RETIRED_A_TRANSACTION, values, names)

    def undo(self, run: str, version: int, report: Callable[[int], object] | None = None) -> int:
        """Delete the hubs written for a version that never came, and make those retired for it current again.

        Returns:
            The hubs deleted.
        """
        values = {"run": run, "version": version}
        deleted = self._delete("delete_unseen", values, report)
        self._until_none("restore_cohesions", "restored", RETIRED_A_TRANSACTION, values)
        return deleted

    def delete_between(self, run: str, after: int, by: int) -> int:
        """Delete the hubs that came after one kept version and went by the next; return how many."""
        return self._delete("delete_retired", {"run": run, "after": after, "by": by})

    def _delete(self, name: str, values: Mapping[str, Any], report: Callable[[int], object] | None = None) -> int:
        careful = self._fence.is_beside_others()
        return self._until_none(name, "deleted", DELETED_A_TRANSACTION, {**values, "careful": careful}, report=report)

    def hide_run(self, run: str) -> None:
        """Hide a run from all readers; a sweep deletes what is left of it."""
        self._write("hide_run", {}, {"run": run})

    def delete_run(self, run: str) -> None:
        """Delete the record of a run at version 0, and those of its versions."""
        self._write("delete_run", {}, {"run": run})

    def release_version(self, run: str, version: int) -> bool:
        """Mark an earlier version as no longer kept; False if it is the current one, or was not kept."""
        return bool(self._write("release_version", {}, {"run": run, "version": version})["closed"])

    def delete_versions(self, run: str, versions: Sequence[int]) -> None:
        """Delete records of versions."""
        self._write("delete_versions", {}, {"run": run, "versions": list(versions)})

    def _until_none(
        self,
        name: str,
        column: str,
        limit: int,
        values: Mapping[str, Any],
        names: Mapping[str, str | Sequence[str]] | None = None,
        report: Callable[[int], object] | None = None,
    ) -> int:
        """Run a statement that takes a limit until it does less than that; return the sum of what it did."""
        total, done = 0, (limit := self._at_once(limit))
        while done >= limit:
            try:
                done = self._write(name, names or {}, {**values, "limit": limit})[column]
            except DatabaseError as error:
                halve_or_raise(error, limit, "hubs")
                limit //= 2
                continue
            total += done
            if done and report is not None:
                report(total)
        return total

    def _at_once(self, usual: int) -> int:
        return usual // GENTLY if self.gently else usual

    def _write(self, name: str, names: Mapping[str, str | Sequence[str]], values: Mapping[str, Any]) -> Row:
        text = load_statement(name).render(names)
        return self._fence.write(SESSIONS, lambda transaction: rows_of(transaction, text, dict(values))[0])


def _check_written(sent: Row, written: Row) -> None:
    """Compare the counters inside the transaction, so that a mismatch leaves nothing behind."""
    if written != sent:
        raise WriteMismatchError(
            f"The database wrote {written['cohesions']} hubs and {written['memberships']} memberships, but "
            f"{sent['cohesions']} and {sent['memberships']} were sent: vertices are gone, or keys are repeated. "
            "Nothing of this version is visible; run it again.",
            sent=sent,
            written=written,
        )
