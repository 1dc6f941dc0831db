"""A small model of a Neo4j database: nodes, write locks, read committed, commits, and transactions that are ended.

What it leaves out: relationships are properties of nodes, so that nothing waits for their locks; a follower is not
modelled; and a statement that fails undoes its whole transaction at once.

The statements of the ledger, of graphs and of fences are compared with a real server in
`tests/integration/test_simulated_statements.py`; those of requests and runs follow their Cypher, but are not
compared yet.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from neo4j.time import DateTime

from simulation.world import Process, Task, World

__all__ = ["Database", "FailureError", "Node", "Transaction"]

Props = dict[str, Any]
Change = tuple["Node", Props | None, Props | None]

UNIQUE = {
    "PCohesionGraph": ("name",),
    "PCohesionFence": ("graph", "number"),
    "PCohesionRun": ("id",),
    "PCohesionVersion": ("run", "version"),
    "PCohesionRelease": ("id",),
    "PCohesionLedger": ("name",),
    "PCohesionRequest": ("id",),
}
"""The properties that no two nodes of a label share."""

DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"
TERMINATED = "Neo.TransientError.Transaction.Terminated"
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
TAKEN = "Neo.ClientError.Schema.ConstraintValidationFailed"


class FailureError(Exception):
    """A statement failed; `code` is Neo4j's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Lockable:
    """Something that one transaction at a time holds, or several share."""

    __slots__ = ("holder", "sharers", "waiting")

    def __init__(self) -> None:
        self.holder: Transaction | None = None
        self.sharers: list[Transaction] = []
        self.waiting: list[Task] = []

    def blockers(self, transaction: Transaction, *, share: bool = False) -> list[Transaction]:
        """Those for which a transaction must wait that wants to hold it, or to share it."""
        holders = [] if self.holder is None else [self.holder]
        return [other for other in (holders if share else [*holders, *self.sharers]) if other is not transaction]


class Node(Lockable):
    """A node: what is committed of it, None where it is gone or not there yet."""

    __slots__ = ("label", "number", "props")

    def __init__(self, label: str, number: int) -> None:
        super().__init__()
        self.label = label
        self.number = number
        self.props: Props | None = None


class Database:
    """The committed state, and the transactions that are open.

    Attributes:
        world: whose clock it has.
        open: the transactions that are open.
        on_commit: called with what each commit has changed, and the metadata of its transaction.
        breath: how often another task may run between two reads or writes of one statement.
        is_down: whether nobody answers.
        tried: numbers of requests that somebody has tried to lock.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.nodes: dict[str, list[Node]] = defaultdict(list)
        self.open: list[Transaction] = []
        self.on_commit: list[Callable[[list[Change], Mapping[str, Any]], None]] = []
        self.breath = world.rng.choice((0.0, 0.05, 0.3))
        self.is_down = False
        self.tried: set[int] = set()
        self.server = Process("server")
        self._numbers = itertools.count(1)
        self._entries: dict[tuple[Any, ...], Lockable] = {}
        self._half_done = 0
        self._later: list[tuple[list[Change], Mapping[str, Any]]] = []
        self._dates: dict[float, DateTime] = {}

    def begin(self, process: Process, metadata: Mapping[str, Any] | None = None, timeout: float | None = None) -> Any:
        """Begin a transaction."""
        return Transaction(self, process, dict(metadata or {}), timeout)

    def date(self, time: float) -> DateTime:
        """A time as the driver gives it."""
        if time not in self._dates:
            native = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=time)
            self._dates[time] = DateTime.from_native(native)
        return self._dates[time]

    def new_node(self, label: str) -> Node:
        return Node(label, next(self._numbers))

    def new_number(self) -> int:
        return next(self._numbers)

    def entry(self, label: str, values: tuple[Any, ...]) -> Lockable:
        """The place of some values in the index of a constraint."""
        return self._entries.setdefault((label, *values), Lockable())

    def all(self, label: str) -> Iterator[Props]:
        """What is committed under a label."""
        return (node.props for node in self.nodes[label] if node.props is not None)

    def note_tried(self, ids: Sequence[object]) -> None:
        """Note that somebody is about to lock some requests, which the time or the connection may keep from it."""
        nodes = self.nodes["PCohesionRequest"]
        self.tried |= {node.number for node in nodes if node.props is not None and node.props.get("id") in ids}

    def reap(self) -> None:
        """End the transactions whose time is over."""
        now = self.world.now
        for transaction in [other for other in self.open if other.deadline is not None and now >= other.deadline]:
            transaction.end(TIMED_OUT)

    def terminate(self, wanted: Callable[[Transaction], bool]) -> list[str]:
        """End some transactions; return their names."""
        ended = [transaction for transaction in self.open if wanted(transaction)]
        for transaction in ended:
            transaction.end(TERMINATED)
        return [transaction.name for transaction in ended]

    def lose(self, process: Process, after: Callable[[], float]) -> None:
        """Undo the open transactions of a process that is gone, as soon as it is noticed."""
        for transaction in [transaction for transaction in self.open if transaction.process is process]:
            transaction.drop(after())

    def restart(self, seconds: float) -> None:
        """Lose all that is not committed, and answer nobody for some time."""
        self.is_down = True
        for transaction in list(self.open):
            transaction.end("restart")

        def come_back() -> None:
            self.world.sleep(seconds)
            self.is_down = False

        self.world.spawn(self.server, come_back, "restart")

    def note(self, changes: list[Change], metadata: Mapping[str, Any]) -> None:
        """Tell whoever looks at commits, once none is half visible."""
        self._later.append((changes, metadata))
        if self._half_done == 0:
            later, self._later = self._later, []
            for commit in later:
                for look in self.on_commit:
                    look(*commit)

    @property
    def is_half_done(self) -> bool:
        """Whether some commit is visible by half, so that nobody has looked at the last ones yet."""
        return self._half_done > 0

    def half_done(self, by: int) -> None:
        self._half_done += by


class Transaction:
    """An open transaction, and what statements can do in it."""

    def __init__(self, db: Database, process: Process, metadata: Mapping[str, Any], timeout: float | None) -> None:
        self.db = db
        self.process = process
        self.metadata = metadata
        self.name = f"neo4j-transaction-{db.new_number()}"
        self.deadline = db.world.now + timeout if timeout else None
        self.blocked_on: Lockable | None = None
        self.is_closing = False
        self.is_lost = False
        self.locks: list[Lockable] = []
        self.shared: list[Lockable] = []
        self._task: Task | None = None
        self._why: str | None = None
        self._dropped = False
        self._wants_to_share = False
        self._writes: dict[Node, Props | None] = {}
        self._created: dict[str, list[Node]] = {}
        db.open.append(self)

    # --- For statements

    @property
    def now(self) -> float:
        """The time, as `datetime()` gives it."""
        return self.db.world.now

    def breathe(self) -> None:
        """Perhaps something happens between two reads or writes."""
        if self.db.breath and self.db.world.rng.random() < self.db.breath:
            self.db.world.pause()
            self.check()

    def match(self, label: str, **wanted: Any) -> list[Node]:
        """The nodes of a label with some values, as they are seen from here."""
        created, found = self._created.get(label), []
        nodes = [*self.db.nodes[label], *created] if created else self.db.nodes[label]
        for node in nodes:
            props = self._writes.get(node, node.props)
            if props is None:
                continue
            for name, value in wanted.items():
                if value is None or props.get(name) != value:
                    break
            else:
                found.append(node)
        return found

    def look(self, node: Node) -> Props | None:
        """What a node has, seen from here; None where it is gone."""
        return self._writes.get(node, node.props)

    def props(self, node: Node) -> Props:
        """Likewise, of a node that was found: what is gone since has nothing."""
        return self.look(node) or {}

    def lock(self, node: Lockable) -> None:
        """Hold something until the transaction ends, once no other transaction holds or shares it."""
        self._wait_for(node, share=False)
        if node.holder is not self:
            node.holder = self
            self.locks.append(node)

    def share(self, node: Lockable) -> None:
        """Share something with others until the transaction ends, once no other transaction holds it."""
        self._wait_for(node, share=True)
        if self not in node.sharers:
            node.sharers.append(self)
            self.shared.append(node)

    def _wait_for(self, node: Lockable, *, share: bool) -> None:
        world = self.db.world
        self.check()
        while node.blockers(self, share=share):
            if self._is_circular(node, share=share):
                raise FailureError(DEADLOCK)
            self.blocked_on = node
            task = world.current
            assert task is not None
            node.waiting.append(task)
            self._wants_to_share = share
            times = [other.deadline for other in self.db.open if other.deadline is not None]
            world.wait(max(0.001, min(times) - world.now) if times else None)
            self.blocked_on = None
            self.db.reap()
            self.check()

    def set(self, node: Node, **values: Any) -> None:
        """Write properties; None removes one. A server passes over a node that is gone since it was found."""
        self.lock(node)
        props = self.look(node)
        if props is None:
            return
        self._writes[node] = {name: value for name, value in {**props, **values}.items() if value is not None}

    def create(self, label: str, **values: Any) -> Node:
        """Create a node."""
        if label in UNIQUE and all(name in values for name in UNIQUE[label]):
            named = {name: values[name] for name in UNIQUE[label]}
            self.lock(self.db.entry(label, tuple(named.values())))
            if self.match(label, **named):
                raise FailureError(TAKEN)
        node = self.db.new_node(label)
        node.holder = self
        self.locks.append(node)
        self._created.setdefault(label, []).append(node)
        self._writes[node] = {name: value for name, value in values.items() if value is not None}
        return node

    def find(self, label: str, **named: Any) -> list[Node]:
        """Look up by what is unique, in a statement that writes: a server holds the place where it finds nothing.

        It shares the place where it finds something, so that nobody else can take that when the node goes.
        """
        place = self.db.entry(label, tuple(named.values()))
        had_it = self in place.sharers
        self.share(place)
        there = self.match(label, **named)
        if not there:
            if not had_it:
                place.sharers.remove(self)
                self.shared.remove(place)
            self.lock(place)
            there = self.match(label, **named)
        return there

    def merge(self, label: str, **named: Any) -> tuple[Node, bool]:
        """Find a node by what is unique of it, or create it; whether it is new."""
        there = self.find(label, **named)
        return (there[0], False) if there else (self.create(label, **named), True)

    def delete(self, node: Node) -> None:
        """Delete a node, if it is not gone already."""
        self.lock(node)
        if self.look(node) is not None:
            self._writes[node] = None

    # --- For the driver

    def executing(self, work: Callable[[], Any]) -> Any:
        """Do some of its work; where that fails all of it is undone."""
        assert self._task is None, "two statements at once"
        self._task = self.db.world.current
        try:
            self.db.reap()
            self.check()
            return work()
        except FailureError:
            self.rollback()
            raise
        finally:
            self._task = None
            if self._dropped:
                self.rollback()

    def commit(self) -> None:
        """Make its writes visible: all at once, or piece by piece for whoever reads without a lock."""
        self.check()
        self.is_closing = True
        pieces = list(self._writes.items())
        db = self.db
        piecemeal = len(pieces) > 1 and db.breath > 0 and db.world.rng.random() < 0.5
        if piecemeal:
            db.world.rng.shuffle(pieces)
        db.half_done(1)
        changes: list[Change] = []
        for node, new in pieces:
            changes.append((node, node.props, new))
            if node.props is None and new is not None:
                db.nodes[node.label].append(node)
            elif new is None and node.props is not None:
                db.nodes[node.label].remove(node)
            node.props = new
            if piecemeal:
                db.world.pause()
        db.half_done(-1)
        self._close()
        db.note(changes, self.metadata)

    def rollback(self) -> None:
        """Undo it."""
        if self in self.db.open:
            self._close()

    def drop(self, seconds: float) -> None:
        """Undo it once the server notices, after so many seconds, that its client is gone."""

        def notice() -> None:
            self.db.world.sleep(seconds)
            if self._task is None:
                self.rollback()

        self._dropped = True
        if self._task is None and self in self.db.open:
            self.db.world.spawn(self.db.server, notice, "notice")

    def lose(self) -> None:
        """Undo it because its connection is gone, unless the server is at work in it; its client hears of it later."""
        if self._task is None and self in self.db.open:
            self._why = "restart"
            self._close()

    def end(self, why: str) -> None:
        """End it, whoever it belongs to."""
        if self.is_closing:
            return
        self._why = why
        if self._task is None:
            self._close()
        elif self.blocked_on is not None:
            self.db.world.wake(self._task)

    def check(self) -> None:
        """Fail where it has been ended."""
        if self._why is not None:
            raise FailureError(self._why)

    @property
    def status(self) -> str:
        """As the server's list has it."""
        if self.is_closing:
            return "Closing"
        if names := ", ".join(other.name for other in self._waits_for()):
            return f"Blocked by: [{names}]"
        return "Running"

    def _waits_for(self) -> list[Transaction]:
        return [] if self.blocked_on is None else self.blocked_on.blockers(self, share=self._wants_to_share)

    def _close(self) -> None:
        self.db.open.remove(self)
        self._why = self._why or TERMINATED
        for node in self.locks:
            node.holder = None
        for node in self.shared:
            node.sharers.remove(self)
        for node in (*self.locks, *self.shared):
            for task in node.waiting:
                self.db.world.wake(task)
            node.waiting.clear()
        self.locks.clear()
        self.shared.clear()

    def _is_circular(self, node: Lockable, *, share: bool) -> bool:
        seen: set[Transaction] = set()
        open_ones = node.blockers(self, share=share)
        while open_ones:
            other = open_ones.pop()
            if other is self:
                return True
            if other not in seen:
                seen.add(other)
                open_ones += other._waits_for()
        return False
