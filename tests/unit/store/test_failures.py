"""Every error of the driver becomes one of ours, and each of ours is one line that says what to do."""

from __future__ import annotations

import inspect

import pytest
from neo4j import exceptions

from pcneo.basics.config import ConnectionSettings
from pcneo.errors import (
    BusyError,
    ConnectionFailedError,
    DatabaseError,
    PcneoError,
    RightsError,
    SchemaError,
)
from pcneo.store.connection import connect_to
from pcneo.store.failures import CODES, KINDS, OUT_OF_MEMORY, translated

CLASSES = sorted(
    (kind for kind in vars(exceptions).values() if inspect.isclass(kind) and issubclass(kind, Exception)),
    key=lambda kind: kind.__name__,
)


def from_server(code: str, message: str = "something went wrong") -> exceptions.Neo4jError:
    """The exception that the driver makes of a server's answer."""
    return exceptions.Neo4jError._hydrate_neo4j(code=code, message=message)


def ours(error: Exception) -> PcneoError:
    with pytest.raises(PcneoError) as caught, translated():
        raise error
    return caught.value


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_exception_class_of_the_driver_is_mapped(kind):
    assert kind in KINDS


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if issubclass(kind, exceptions.DriverError)])
def test_the_drivers_own_errors_come_out_as_ours_with_theirs_as_the_cause(kind):
    result = [None] if issubclass(kind, exceptions.ResultError) else []
    error = kind(*result, "first\nsecond")
    raised = ours(error)
    assert isinstance(raised, DatabaseError)
    assert raised.__cause__ is error
    assert "\n" not in str(raised)


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        ("Neo.ClientError.Security.Unauthorized", ConnectionFailedError, "NEO4J_PASSWORD"),
        ("Neo.ClientError.Security.AuthenticationRateLimit", ConnectionFailedError, "try again"),
        ("Neo.ClientError.Security.CredentialsExpired", ConnectionFailedError, "set a new one"),
        ("Neo.ClientError.Security.TokenExpired", ConnectionFailedError, "NEO4J_PASSWORD"),
        ("Neo.ClientError.Security.Forbidden", RightsError, "may not"),
        ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", RightsError, "may not"),
        ("Neo.ClientError.Statement.AccessMode", RightsError, "may not"),
        ("Neo.ClientError.Database.DatabaseNotFound", ConnectionFailedError, "NEO4J_DATABASE"),
        ("Neo.ClientError.Schema.ConstraintValidationFailed", SchemaError, "constraint"),
        ("Neo.TransientError.Transaction.Terminated", DatabaseError, "ended this transaction"),
        ("Neo.TransientError.Transaction.LockClientStopped", BusyError, "transaction"),
        ("Neo.TransientError.Transaction.LockAcquisitionTimeout", BusyError, "transaction"),
        ("Neo.TransientError.Transaction.DeadlockDetected", BusyError, "lock"),
        ("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", BusyError, "longer"),
        ("Neo.ClientError.Transaction.TransactionTimedOut", DatabaseError, "db.transaction.timeout"),
        (OUT_OF_MEMORY, DatabaseError, "db.memory.transaction.max"),
        ("Neo.ClientError.Statement.SyntaxError", DatabaseError, "something went wrong"),
        ("Neo.DatabaseError.General.UnknownError", DatabaseError, "something went wrong"),
        ("Neo.Unheard.Of.Code", DatabaseError, "something went wrong"),
    ],
)
def test_a_code_of_the_server_gets_the_kind_and_the_sentence_it_deserves(code, kind, says):
    raised = ours(from_server(code))
    assert type(raised) is kind
    assert says in str(raised)
    assert "\n" not in str(raised)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Could not append transaction: Transaction #96 {} to log", "to log. Its disk may be full."),
        ("The database has encountered a critical error, and needs to be restarted.", "`pcneo server start` do that."),
    ],
)
def test_a_message_without_a_code_of_its_own_gets_what_to_do(message, says):
    raised = ours(from_server("Neo.DatabaseError.General.UnknownError", message))
    assert type(raised) is DatabaseError
    assert str(raised).endswith(says)


def test_a_message_of_several_lines_becomes_one_sentence():
    assert str(ours(from_server("Neo.ClientError.Statement.SyntaxError", "wrong\n  here"))).endswith("wrong here.")


def test_codes_are_those_that_the_driver_hands_on():
    assert {from_server(code).code for code in CODES} == set(CODES)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), BusyError("ours", graph="g")])
def test_what_is_not_the_drivers_passes_through(error):
    with pytest.raises(type(error)) as caught, translated():
        raise error
    assert caught.value is error


def test_a_server_too_old_for_the_driver_to_choose_what_it_is_told_of_is_refused_in_one_line(monkeypatch):
    class OldServer:
        def get_server_info(self):
            raise exceptions.ConfigurationError("Notification filtering is not supported for the Bolt Protocol (4, 4)")

        def close(self):
            pass

    monkeypatch.setattr("neo4j.GraphDatabase.driver", lambda *_, **__: OldServer())
    with pytest.raises(ConnectionFailedError, match=r"^The server is older than .* needs 5\.23 or later\.$"):
        connect_to(ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "secret"))


def test_which_addresses_the_driver_tried_is_left_out():
    text = (
        "Couldn't connect to localhost:7687 (resolved to ('[::1]:7687', '127.0.0.1:7687')):\n"
        "Failed to establish connection to ResolvedIPv6Address(('::1', 7687, 0, 0)) (reason [Errno 99] Cannot assign "
        "requested address)\nFailed to establish connection to ResolvedIPv4Address(('127.0.0.1', 7687)) "
        "(reason [Errno 111] Connection refused)"
    )
    assert str(ours(exceptions.ServiceUnavailable(text))) == (
        "No Neo4j answered. Check NEO4J_URI and that the server is running. "
        "(Couldn't connect to localhost:7687: Connection refused.)"
    )


def test_where_nothing_speaks_the_protocol_tls_is_named():
    error = ours(exceptions.ServiceUnavailable("Unable to retrieve routing information"))
    assert str(error) == (
        "No Neo4j answered. Check NEO4J_URI, that the server is running, and whether it uses TLS (neo4j+s://) or not "
        "(neo4j://)."
    )
