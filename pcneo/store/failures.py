"""Neo4j's and the driver's errors, each translated into one of ours that says what to do.

Two tables cover every exception class of `neo4j.exceptions`; a test walks them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from neo4j import exceptions

from pcneo.errors import BusyError, ConnectionFailedError, DatabaseError, PcneoError, RightsError, SchemaError

OUT_OF_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
"""Neo4j calls it transient, but the same batch never fits: it is halved instead of repeated."""

NO_ROUTING = "Unable to retrieve routing information"
"""The driver's message for an address `neo4j://` where nothing speaks its protocol."""
REASON = re.compile(r"\(reason (?:\[Errno -?\d+\] )?([^()]+)")
"""The reason in the driver's message for each address that a host name stands for."""


Translation = tuple[type[PcneoError], str]
"""Our class, and its message; `{line}` stands for theirs, `{where}` and `{advice}` for an address that is silent."""

REFUSED: Translation = (
    ConnectionFailedError,
    "Neo4j refused the user name or password. Check NEO4J_USERNAME and NEO4J_PASSWORD, or the file that "
    "NEO4J_PASSWORD_FILE names; in Python also auth.",
)
UNREACHABLE: Translation = ConnectionFailedError, "No Neo4j answered{where}. {advice}"
MISCONFIGURED: Translation = (
    ConnectionFailedError,
    "The driver cannot connect this way: {line} Check NEO4J_URI.",
)
FORBIDDEN: Translation = RightsError, "The database user may not do this: {line}"
KEPT_WAITING: Translation = BusyError, "Another transaction holds a lock that this one waited for: {line}"
OTHER: Translation = DatabaseError, "Neo4j could not do this: {line}"

CODES: dict[str, Translation] = {
    "Neo.ClientError.Database.DatabaseNotFound": (
        ConnectionFailedError,
        "There is no such database: {line} Check NEO4J_DATABASE, or leave it out for your home database.",
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        ConnectionFailedError,
        "After several wrong passwords Neo4j refuses every login for some seconds. Check NEO4J_PASSWORD, wait, and try "
        "again.",
    ),
    "Neo.ClientError.Security.CredentialsExpired": (
        ConnectionFailedError,
        "Neo4j wants the password changed before it is used. Log in once with Neo4j Browser or cypher-shell and set a "
        "new one.",
    ),
    "Neo.ClientError.Security.Forbidden": FORBIDDEN,
    "Neo.ClientError.Statement.AccessMode": FORBIDDEN,
    "Neo.ClientError.Transaction.LockAcquisitionTimeout": KEPT_WAITING,
    "Neo.ClientError.Transaction.LockClientStopped": KEPT_WAITING,
    "Neo.ClientError.Transaction.Terminated": (DatabaseError, "The server ended this transaction: {line}"),
    "Neo.ClientError.Transaction.TransactionTimedOut": (
        DatabaseError,
        "The server ended this transaction for taking too long; db.transaction.timeout sets its limit: {line}",
    ),
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": (
        BusyError,
        "The server took longer over a transaction than pcneo waits; it is busy, or something holds it up: {line}",
    ),
    "Neo.TransientError.Transaction.DeadlockDetected": KEPT_WAITING,
    "Neo.TransientError.Transaction.LockAcquisitionTimeout": KEPT_WAITING,
    OUT_OF_MEMORY: (
        DatabaseError,
        "The server has too little memory for even the smallest transaction that this takes. Raise "
        "db.memory.transaction.max or dbms.memory.transaction.total.max. Where the cohesions themselves are that large "
        "(`pcneo annotate --mode estimate` says how many memberships there are), take a smaller p, or name single "
        "vertices with --vertex.",
    ),
}
"""By Neo4j's status code, where it says more than the exception class."""

KINDS: dict[type[Exception], Translation] = {
    exceptions.AuthError: REFUSED,
    exceptions.TokenExpired: REFUSED,
    exceptions.Forbidden: FORBIDDEN,
    exceptions.ConstraintError: (SchemaError, "A constraint in the database forbids this: {line}"),
    exceptions.ServiceUnavailable: UNREACHABLE,
    exceptions.RoutingServiceUnavailable: UNREACHABLE,
    exceptions.ReadServiceUnavailable: UNREACHABLE,
    exceptions.WriteServiceUnavailable: UNREACHABLE,
    exceptions.SessionExpired: UNREACHABLE,
    exceptions.DatabaseUnavailable: UNREACHABLE,
    exceptions.ConnectionPoolError: UNREACHABLE,
    exceptions.ConnectionAcquisitionTimeoutError: UNREACHABLE,
    exceptions.IncompleteCommit: (
        ConnectionFailedError,
        "The connection broke while a transaction was being committed, so it is unknown whether it took effect. "
        "Check with `pcneo runs` and `pcneo budget show` before you run the same command again.",
    ),
    exceptions.ConfigurationError: MISCONFIGURED,
    exceptions.AuthConfigurationError: MISCONFIGURED,
    exceptions.CertificateConfigurationError: MISCONFIGURED,
    exceptions.UnsupportedServerProduct: MISCONFIGURED,
    exceptions.ForbiddenOnReadOnlyDatabase: FORBIDDEN,
    exceptions.GqlError: OTHER,
    exceptions.Neo4jError: OTHER,
    exceptions.ClientError: OTHER,
    exceptions.CypherSyntaxError: OTHER,
    exceptions.CypherTypeError: OTHER,
    exceptions.DatabaseError: OTHER,
    exceptions.TransientError: OTHER,
    exceptions.NotALeader: OTHER,
    exceptions.DriverError: OTHER,
    exceptions.SessionError: OTHER,
    exceptions.TransactionError: OTHER,
    exceptions.TransactionNestingError: OTHER,
    exceptions.ResultError: OTHER,
    exceptions.ResultFailedError: OTHER,
    exceptions.ResultConsumedError: OTHER,
    exceptions.ResultNotSingleError: OTHER,
    exceptions.BrokenRecordError: OTHER,
}

SIGNS = {
    "Could not append transaction": "Its disk may be full.",
    "needs to be restarted": "Where pcneo started it, `pcneo server stop` and `pcneo server start` do that.",
}
"""Advice to append when Neo4j's message contains these words, whatever its code."""


@contextmanager
def translated(uri: str | None = None) -> Iterator[None]:
    """Translate Neo4j's and the driver's errors inside the block into ours; theirs stays as the cause.

    Given an address, the message that nothing answers names it.
    """
    try:
        yield
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        if type(error) is exceptions.DriverError and str(error) == "Driver closed":  # it has no class or code for this
            closed = "This connection is closed: its with block has ended, or it was closed with close()."
            raise ConnectionFailedError(closed, code=None, closed=True) from error
        code, line = getattr(error, "code", None), _line(error)
        kind, sentence = CODES.get(code or "") or next(KINDS[cls] for cls in type(error).__mro__ if cls in KINDS)
        where = "" if uri is None else f" at {uri}"
        message = sentence.format(line=line, where=where, advice=_advice(line))
        raise kind(" ".join([message, *(what for sign, what in SIGNS.items() if sign in line)]), code=code) from error


def _advice(line: str) -> str:
    """Return what to check where nothing answers, and why; of the addresses that were tried, only the last reason."""
    if NO_ROUTING in line:
        return "Check NEO4J_URI, that the server is running, and whether it uses TLS (neo4j+s://) or not (neo4j://)."
    reasons = REASON.findall(line)
    why = f"{line.partition(' (resolved to')[0]}: {reasons[-1].strip()}." if reasons else line
    return f"Check NEO4J_URI and that the server is running. ({why})"


def _line(error: Exception) -> str:
    """Return the message without the driver's wrapping, on one line, as a sentence."""
    text = " ".join(str(error.message if isinstance(error, exceptions.Neo4jError) else error).split())
    return text if text.endswith((".", "!", "?")) else text + "."
