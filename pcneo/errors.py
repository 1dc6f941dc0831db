"""Every error that a user can meet, with the exit code the command line gives it.

Each class carries its data as attributes beside the sentence it prints, so a service can act on them.

    PcneoError                  1   anything below; raised itself only where no finer class fits
    ├── ParameterError          2   an argument outside its range: p, a search's name, a key
    ├── FileFormatError         3   a file that cannot be read as a graph; names the line
    ├── GraphError              4   a graph that cannot be worked on as it stands
    │   ├── KeyPropertyError    4   missing, mixed, repeated or unusable keys
    │   ├── NotFoundError       4   a vertex, run, graph or query that does not exist
    │   │   └── MissingKeyError 4   a key for which a container has no cohesion; also a KeyError
    │   └── GraphChangedError   4   the graph changed while it was being read
    ├── DatabaseError           5   the database could not do what it should
    │   ├── ConnectionFailedError 5   unreachable, wrong scheme, wrong password, too old
    │   ├── RightsError         5   the user may not read, write or change the schema
    │   ├── SchemaError         5   an index or a constraint is missing
    │   ├── StoreFormatError    5   runs stored in a format that this version does not read
    │   └── WriteMismatchError  5   the database wrote something other than what was sent
    ├── BusyError               6   another writer holds this graph
    ├── RequestError            1   a request to a service that was not completed
    ├── LocalServerError        7   the local Neo4j cannot be fetched, started or stopped
    ├── ClusterError           11   a cluster that cannot search: no scheduler, no workers, other versions
    ├── OutputError            10   the command did its work, but its answer cannot be printed
    ├── BudgetError             9   a release that the ledger or the budget does not admit; nothing was spent
    └── AnswerError             8   a computed answer failed its own check: a fault in pcneo

Exit code 0 is success, 130 an interruption by the user; SIGHUP and SIGTERM end with 129 and 143.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AnswerError",
    "BudgetError",
    "BusyError",
    "ClusterError",
    "ConnectionFailedError",
    "DatabaseError",
    "FileFormatError",
    "GraphChangedError",
    "GraphError",
    "KeyPropertyError",
    "LocalServerError",
    "MissingKeyError",
    "NotFoundError",
    "OutputError",
    "ParameterError",
    "PcneoError",
    "RequestError",
    "RightsError",
    "SchemaError",
    "StoreFormatError",
    "WriteMismatchError",
]


class PcneoError(Exception):
    """The root: `str(error)` is a whole sentence for a person, `data` holds the values it is about, by name."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, **data: object) -> None:
        """Keep the sentence and the values it is about."""
        super().__init__(message)
        self.data = data


class ParameterError(PcneoError):
    """An argument is outside its range; `data` has `name` and `value`."""

    exit_code = 2


class FileFormatError(PcneoError):
    """A file is not a graph in the format it claims; `data` has `path` and, where it applies, `line`."""

    exit_code = 3


class GraphError(PcneoError):
    """The graph cannot be worked on as it stands."""

    exit_code = 4


class KeyPropertyError(GraphError):
    """Keys are missing, mixed, repeated or of an unusable kind; `data` has the counts and an example."""


class NotFoundError(GraphError):
    """A vertex, run, graph or query of this name does not exist; `data` has `what` and `name`."""


class MissingKeyError(NotFoundError, KeyError):
    """A container has no cohesion for this key; also a `KeyError`."""

    def __str__(self) -> str:
        """Return the sentence without the quotes that a KeyError puts around it."""
        return Exception.__str__(self)


class GraphChangedError(GraphError):
    """The graph changed twice while it was being read; `data` has the counts before and after."""


class DatabaseError(PcneoError):
    """The database failed or refused; `data` has Neo4j's `code` where there is one."""

    exit_code = 5


class ConnectionFailedError(DatabaseError):
    """No usable connection: unreachable, wrong scheme, wrong password, unknown database, server too old."""


class RightsError(DatabaseError):
    """The user lacks a right that the command needs."""


class SchemaError(DatabaseError):
    """An index or constraint is missing; `data["statements"]` lists the statements that create it."""


class StoreFormatError(DatabaseError):
    """The database holds runs in a format that this version does not read; nothing was changed."""


class WriteMismatchError(DatabaseError):
    """The database's counters differ from what was sent; `data` has `sent` and `written`."""


class BusyError(PcneoError):
    """Another writer holds this graph; `data` has `graph`."""

    exit_code = 6


class RequestError(PcneoError):
    """A request to a service failed, or was not answered in time; `data` has its `id` and `status`."""


class LocalServerError(PcneoError):
    """The local Neo4j could not be fetched, started or stopped."""

    exit_code = 7


class ClusterError(PcneoError):
    """A cluster cannot search: no scheduler, no workers, or workers of other versions (in `data["workers"]`)."""

    exit_code = 11


class BudgetError(PcneoError):
    """The ledger does not admit a release; nothing was spent; `data` has `graph` if the error concerns one."""

    exit_code = 9


class OutputError(PcneoError):
    """A command's output cannot be printed; its work is done."""

    exit_code = 10


class AnswerError(PcneoError):
    """A computed answer failed its independent check: a fault in pcneo, please report it."""

    exit_code = 8


def fault(what: str, **data: object) -> AnswerError:
    """Return the error for an answer that failed its own check; `what` says how, without a full stop."""
    return AnswerError(f"{what}. This is a fault in pcneo; please report it.", **data)


def needs_extra(what: str, extra: str) -> str:
    """Return a message that names an extra and how to install it; pcneo is not on a package index."""
    return (
        f"{what}, which the extra {extra} installs: pip install '.[{extra}]' in a checkout, or pip install "
        f"'FILE.whl[{extra}]' with pcneo's wheel."
    )
