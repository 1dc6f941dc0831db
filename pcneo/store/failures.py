"""Neo4j's and the driver's errors, each translated into one of ours that says what to do.

Two tables cover every exception class of `neo4j.exceptions`; a test walks them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from neo4j import exceptions

from pcneo.errors import BusyError, ConnectionFailedError, DatabaseError, PcneoError, RightsError, SchemaError

OUT_OF_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
"""Neo4j calls it transient, but the same batch never fits: it is halved instead of repeated."""

NO_ROUTING = "Unable to retrieve routing information"
"""The driver's message for an address `neo4j://` where nothing speaks its protocol."""
REASON = re.compile(r"\(reason (?:\[Errno -?\d+\] )?([^()]+)")
"""The reason in the driver's message for each address that a host name stands for."""


def _refused(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        "Neo4j refused the user name or password. Check NEO4J_USERNAME and NEO4J_PASSWORD, or the file "
        "that NEO4J_PASSWORD_FILE names; in Python also auth.",
        code=_code(error),
    )


def _locked_out(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        "After several wrong passwords Neo4j refuses every login for some seconds. Check NEO4J_PASSWORD, wait, and try "
        "again.",
        code=_code(error),
    )


def _expired(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        "Neo4j wants the password changed before it is used. Log in once with Neo4j Browser or cypher-shell and set a "
        "new one.",
        code=_code(error),
    )


def _unreachable(error: Exception, uri: str | None = None) -> PcneoError:
    where, text = "" if uri is None else f" at {uri}", _line(error)
    advice = f"Check NEO4J_URI and that the server is running. ({_shortened(text)})"
    if NO_ROUTING in text:
        advice = "Check NEO4J_URI, that the server is running, and whether it uses TLS (neo4j+s://) or not (neo4j://)."
    return ConnectionFailedError(f"No Neo4j answered{where}. {advice}", code=_code(error))


def _shortened(text: str) -> str:
    """Leave out the addresses that the driver tried and how each refused; the last reason is enough."""
    reasons = REASON.findall(text)
    return f"{text.partition(' (resolved to')[0]}: {reasons[-1].strip()}." if reasons else text


def _misconfigured(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        f"The driver cannot connect this way: {_line(error)} Check NEO4J_URI.", code=_code(error)
    )


def _forbidden(error: Exception) -> PcneoError:
    return RightsError(f"The database user may not do this: {_line(error)}", code=_code(error))


def _unknown_database(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        f"{_line(error)} Check NEO4J_DATABASE, or leave it out for your home database.", code=_code(error)
    )


def _constraint(error: Exception) -> PcneoError:
    return SchemaError(f"A constraint in the database forbids this: {_line(error)}", code=_code(error))


def _out_of_memory(error: Exception) -> PcneoError:
    return DatabaseError(
        "The server has too little memory for even the smallest transaction that this takes. "
        "Raise db.memory.transaction.max or dbms.memory.transaction.total.max. Where the cohesions themselves are that "
        "large (`pcneo annotate --mode estimate` says how many memberships there are), take a smaller p, or name "
        "single vertices with --vertex.",
        code=_code(error),
    )


def _kept_waiting(error: Exception) -> PcneoError:
    return BusyError(f"Another transaction holds a lock that this one waited for: {_line(error)}", code=_code(error))


def _ended(error: Exception) -> PcneoError:
    return DatabaseError(f"The server ended this transaction: {_line(error)}", code=_code(error))


def _timed_out(error: Exception) -> PcneoError:
    return DatabaseError(
        f"The server ended this transaction for taking too long; db.transaction.timeout sets its limit: {_line(error)}",
        code=_code(error),
    )


def _too_slow(error: Exception) -> PcneoError:
    return BusyError(
        f"The server took longer over a transaction than pcneo waits; it is busy, or something holds it up: "
        f"{_line(error)}",
        code=_code(error),
    )


def _uncertain(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        "The connection broke while a transaction was being committed, so it is unknown whether it took effect. "
        "Check with `pcneo runs` and `pcneo budget show` before you run the same command again.",
        code=_code(error),
    )


def _other(error: Exception) -> PcneoError:
    return DatabaseError(f"Neo4j could not do this: {_line(error)}", code=_code(error))


def _closed(error: Exception) -> PcneoError:
    return ConnectionFailedError(
        "This connection is closed: its with block has ended, or it was closed with close().", code=None, closed=True
    )


def _of_driver(error: Exception) -> PcneoError:
    """The driver has one class for many faults; only the message shows that it was closed."""
    return _closed(error) if str(error) == "Driver closed" else _other(error)


CODES: dict[str, Callable[[Exception], PcneoError]] = {
    "Neo.ClientError.Database.DatabaseNotFound": _unknown_database,
    "Neo.ClientError.Security.AuthenticationRateLimit": _locked_out,
    "Neo.ClientError.Security.CredentialsExpired": _expired,
    "Neo.ClientError.Security.Forbidden": _forbidden,
    "Neo.ClientError.Statement.AccessMode": _forbidden,
    "Neo.ClientError.Transaction.LockAcquisitionTimeout": _kept_waiting,
    "Neo.ClientError.Transaction.LockClientStopped": _kept_waiting,
    "Neo.ClientError.Transaction.Terminated": _ended,
    "Neo.ClientError.Transaction.TransactionTimedOut": _timed_out,
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": _too_slow,
    "Neo.TransientError.Transaction.DeadlockDetected": _kept_waiting,
    "Neo.TransientError.Transaction.LockAcquisitionTimeout": _kept_waiting,
    OUT_OF_MEMORY: _out_of_memory,
}
"""By Neo4j's status code, where it says more than the exception class."""

KINDS: dict[type[Exception], Callable[[Exception], PcneoError]] = {
    exceptions.AuthError: _refused,
    exceptions.TokenExpired: _refused,
    exceptions.Forbidden: _forbidden,
    exceptions.ConstraintError: _constraint,
    exceptions.ServiceUnavailable: _unreachable,
    exceptions.RoutingServiceUnavailable: _unreachable,
    exceptions.ReadServiceUnavailable: _unreachable,
    exceptions.WriteServiceUnavailable: _unreachable,
    exceptions.SessionExpired: _unreachable,
    exceptions.DatabaseUnavailable: _unreachable,
    exceptions.ConnectionPoolError: _unreachable,
    exceptions.ConnectionAcquisitionTimeoutError: _unreachable,
    exceptions.IncompleteCommit: _uncertain,
    exceptions.ConfigurationError: _misconfigured,
    exceptions.AuthConfigurationError: _misconfigured,
    exceptions.CertificateConfigurationError: _misconfigured,
    exceptions.UnsupportedServerProduct: _misconfigured,
    exceptions.ForbiddenOnReadOnlyDatabase: _forbidden,
    exceptions.GqlError: _other,
    exceptions.Neo4jError: _other,
    exceptions.ClientError: _other,
    exceptions.CypherSyntaxError: _other,
    exceptions.CypherTypeError: _other,
    exceptions.DatabaseError: _other,
    exceptions.TransientError: _other,
    exceptions.NotALeader: _other,
    exceptions.DriverError: _of_driver,
    exceptions.SessionError: _other,
    exceptions.TransactionError: _other,
    exceptions.TransactionNestingError: _other,
    exceptions.ResultError: _other,
    exceptions.ResultFailedError: _other,
    exceptions.ResultConsumedError: _other,
    exceptions.ResultNotSingleError: _other,
    exceptions.BrokenRecordError: _other,
}


@contextmanager
def translated(uri: str | None = None) -> Iterator[None]:
    """Translate Neo4j's and the driver's errors inside the block into ours; theirs stays as the cause.

    Given an address, the message that nothing answers names it.
    """
    try:
        yield
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        handler = CODES.get(_code(error) or "") or next(KINDS[cls] for cls in type(error).__mro__ if cls in KINDS)
        raise (_unreachable(error, uri) if handler is _unreachable else handler(error)) from error


def _code(error: Exception) -> str | None:
    return getattr(error, "code", None)


def _line(error: Exception) -> str:
    """Return the message without the driver's wrapping, on one line, as a sentence."""
    text = " ".join(str(error.message if isinstance(error, exceptions.Neo4jError) else error).split())
    return text if text.endswith((".", "!", "?")) else text + "."
