"""Quoted names on a real Neo4j: whatever a user calls a label, a type or a property is read back as it was given."""

import random

import neo4j
import pytest
from graphs import own_text

from pcneo.store.tokens import LONGEST_IDENTIFIER, quote_identifier

NAMES = [
    "Person",
    "two words",
    "`",
    "``",
    "a`b",
    "\\",
    "\\\\",
    "\\u0060",
    "\\\\u0060",
    "\\u005C\\u0060",
    "a\\u0060) DETACH DELETE (n) //",
    "`) DETACH DELETE (n) //",
    "'single' \"double\"",
    "/* comment */ // comment",
    "$run",
    "é☃😀",
    " \t\r\n",
    "\x01\x7f\u2028\ufeff",
    "x" * LONGEST_IDENTIFIER,
    *("".join(random.Random(seed).choices("`\\u0065'\"/*é $", k=12)) for seed in range(20)),
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_is_read_back_as_it_was_given(name: str, neo4j_driver: neo4j.Driver, database: str) -> None:
    quoted = quote_identifier(name)
    create = f"CREATE (v:{quoted} {{{quoted}: 1}})-[r:{quoted}]->(v) RETURN labels(v), keys(v), [type(r)]"
    components = neo4j_driver.execute_query("CALL dbms.components() YIELD name, versions", database_=database).records
    languages = next((component["versions"] for component in components if component["name"] == "Cypher"), ["5"])
    for language in languages:
        with neo4j_driver.session(database=database) as session, session.begin_transaction() as rolled_back:
            record = rolled_back.run(own_text(f"CYPHER {language} {create}")).single(strict=True)
            assert record.values() == [[name]] * 3
            rolled_back.rollback()
