"""Where the database is, from the environment; every mistake in it is one line that says what to do."""

from __future__ import annotations

import pytest

from pcneo.basics.config import SCHEMES, ConnectionSettings, read_environment, validate
from pcneo.errors import ConnectionFailedError

FULL = {"NEO4J_URI": "neo4j://db.example.org:7687", "NEO4J_USERNAME": "ada", "NEO4J_PASSWORD": "secret word"}


def refused(environ: dict[str, str]) -> str:
    with pytest.raises(ConnectionFailedError) as caught:
        read_environment(environ)
    message = str(caught.value)
    assert "\n" not in message
    assert "secret" not in message + repr(caught.value.data)
    return message


def settings_of(environ: dict[str, str], **asking) -> ConnectionSettings:
    settings = read_environment(environ, **asking)
    assert settings is not None
    return settings


def password_of(environ: dict[str, str], **asking) -> str:
    return settings_of(environ, **asking).password


def test_the_four_names_are_read():
    assert read_environment({**FULL, "NEO4J_DATABASE": "films"}) == ConnectionSettings(
        "neo4j://db.example.org:7687", "ada", "secret word", "films"
    )


@pytest.mark.parametrize("environ", [{}, {"NEO4J_URI": ""}, {"NEO4J_URI": "  ", "NEO4J_PASSWORD": "x"}])
def test_without_an_address_there_are_no_settings(environ):
    assert read_environment(environ) is None


def test_the_user_name_may_be_an_alias_and_is_neo4j_where_none_is_given():
    uri_and_password = {"NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD": "x"}
    names = [
        settings_of({**uri_and_password, **more}).username
        for more in ({}, {"NEO4J_USER": "bea"}, {"NEO4J_USER": "bea", "NEO4J_USERNAME": "ada"})
    ]
    assert names == ["neo4j", "bea", "ada"]


def test_no_database_named_means_the_home_database():
    assert settings_of(FULL).database is None
    assert settings_of({**FULL, "NEO4J_DATABASE": ""}).database is None


def test_the_password_is_in_no_repr():
    assert "secret" not in repr(read_environment(FULL))


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_the_password_may_stand_in_a_file_whose_last_line_ending_is_no_part_of_it(tmp_path, ending):
    file = tmp_path / "password"
    file.write_bytes(f" secret\nwörd {ending}".encode())
    environ = {"NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD_FILE": str(file)}
    assert password_of(environ) == " secret\nwörd "
    assert password_of({**environ, "NEO4J_PASSWORD": "first"}) == "first"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_password_file_that_cannot_be_read_is_named(tmp_path, content):
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    message = refused({"NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD_FILE": str(file)})
    assert "NEO4J_PASSWORD_FILE" in message
    assert str(file) in message


@pytest.mark.parametrize("content", ["", "\n", "\r\n"])
def test_a_password_file_without_a_password_is_named(tmp_path, content):
    file = tmp_path / "password"
    file.write_text(content, newline="")
    message = refused({"NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD_FILE": str(file)})
    assert f"NEO4J_PASSWORD_FILE names {str(file)!r}, which is empty" in message


def test_a_missing_password_is_asked_for_or_the_message_names_the_variables():
    environ = {"NEO4J_URI": "bolt://localhost", "NEO4J_USERNAME": "ada"}
    assert password_of(environ, ask_password=lambda username: f"of {username}") == "of ada"
    message = refused(environ)
    assert "'ada'" in message
    assert "NEO4J_PASSWORD_FILE" in message
    assert "any password will do if authentication is off on the server" in message


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_bolt_scheme_is_taken(scheme):
    settings = ConnectionSettings(f"{scheme}://localhost:7687", "neo4j", "x")
    assert validate(settings) is settings


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("http://localhost:7474", "neo4j://localhost:7687"),
        ("https://db.example.org/browser", "neo4j+s://db.example.org:7687"),
        ("HTTP://localhost:7474", "neo4j://localhost:7687"),
        ("localhost:7687", "neo4j://host:7687"),
        ("localhost", "neo4j://host:7687"),
        ("bolt://", "neo4j://host:7687"),
        ("bolt+routing://localhost", "schemes: bolt"),
        ("bolt://ada:secret@localhost", "NEO4J_USERNAME and NEO4J_PASSWORD"),
        ("bolt://localhost:port", "bolt://localhost:port"),
        ("bolt://localhost:70000", "bolt://localhost:70000"),
        ("bolt://[::1", "bolt://[::1"),
    ],
)
def test_an_address_that_is_none_of_bolts_is_refused_with_what_to_write_instead(uri, says):
    assert says in refused({"NEO4J_URI": uri, "NEO4J_PASSWORD": "secret"})
