"""Statement files: how they are read, what must hold for them, and how names get into a statement."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from places import ROOT
from statement_files import checked_statement

from pcneo.errors import NotFoundError, ParameterError
from pcneo.store.statements import FOLDERS, Declaration, all_statements, load_statement, parse_statement
from pcneo.store.tokens import LONGEST_IDENTIFIER, Token, quote_identifier, tokenize

CYPHER = ROOT / "cypher"

PAGE = """\
// Stream one page of vertices in key order,
// each with the keys of its neighbours.
//
// names:
//   Page    label     one of the chosen labels
//   Person  labels    all chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $from   integer | string  smallest key of the page,
//                             inclusive
//   $limit  integer 1..       vertices a page
// returns:
//   key         integer | string        ascending
//   neighbours  list<integer | string>  in no order
// scan: a reason
MATCH (v:Page)
WHERE v.id >= $from // the id's order; not $more
WITH v ORDER BY v.id LIMIT $limit
RETURN v.id AS key, [(v)-[:KNOWS]->(n:Person {id: n.id}) | n.id] AS neighbours
"""
NAMES = {"Page": "A", "Person": ["A", "B"], "KNOWS": ["T"], "id": "k"}

# Whatever a user can have called a label, with the characters that end a name, a string, a comment or a token.
USER_NAMES = st.text(
    st.one_of(st.sampled_from("`'\"\\/*$:|&{}()[] \n;u0060é☃😀"), st.characters(exclude_categories=["Cs"])), min_size=1
).filter(lambda name: "\0" not in name)
HOSTILE = ["`", "``", "a`b", "\\u0060", "\\", "') DETACH DELETE n //", "`) DETACH DELETE (n) //", "*/", "id", "$from"]


def identifier(quoted: str) -> str:
    """What Cypher reads between backticks: unicode escapes first, then doubled backticks, as both versions do."""
    plain = re.sub(r"\\u+([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), quoted)
    return plain[1:-1].replace("``", "`")


# --- the tokenizer


@given(st.text(st.one_of(st.sampled_from("`'\"\\/*$\n ab1.:"), st.characters())))
def test_tokens_put_together_are_the_text(text: str) -> None:
    try:
        tokens = tokenize(text)
    except ParameterError:
        assert re.search(r"['\"`]|/\*", text)
    else:
        assert "".join(token.text for token in tokens) == text


@given(USER_NAMES)
@example("`")
@example("\\u0060")
@example("`) DETACH DELETE (n) //")
def test_a_quoted_name_is_one_token_in_its_place_and_reads_back(name: str) -> None:
    quoted = quote_identifier(name)
    assert tokenize(f"MATCH (v:{quoted})")[-2:] == [Token("quoted", quoted), Token("symbol", ")")]
    assert identifier(quoted) == name


@given(USER_NAMES)
def test_a_string_or_a_comment_is_one_token_whatever_it_says(name: str) -> None:
    string = "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
    comment = "/*" + name.replace("/", "") + "*/"
    assert tokenize(string) == [Token("string", string)]
    assert tokenize(comment) == [Token("comment", comment)]


def test_each_kind_of_token_is_told_apart() -> None:
    kinds = [
        (token.kind, token.text)
        for token in tokenize("a.`b c` = $d + $`e f` + 1.5 // \"\n<> 'g'")
        if not token.is_silent
    ]
    assert kinds == [
        ("name", "a"),
        ("symbol", "."),
        ("quoted", "`b c`"),
        ("symbol", "="),
        ("parameter", "$d"),
        ("symbol", "+"),
        ("parameter", "$`e f`"),
        ("symbol", "+"),
        ("number", "1.5"),
        ("symbol", "<"),
        ("symbol", ">"),
        ("string", "'g'"),
    ]


@pytest.mark.parametrize("text", ["RETURN 'a", 'RETURN "a', "RETURN `a", "RETURN 1 /* a", "RETURN 'a\\'"])
def test_what_is_never_closed_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="never closes"):
        tokenize(text)


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "\ud800", "x" * (LONGEST_IDENTIFIER + 1)])
def test_a_name_that_neo4j_cannot_take_is_refused(name: str) -> None:
    with pytest.raises(ParameterError):
        quote_identifier(name)


def test_the_longest_name_is_taken() -> None:
    assert quote_identifier("x" * LONGEST_IDENTIFIER) == "`" + "x" * LONGEST_IDENTIFIER + "`"


# --- the loader


def test_a_header_is_read_into_a_statement() -> None:
    statement = parse_statement("read", "stream_page", PAGE)
    assert (statement.name, statement.folder) == ("stream_page", "read")
    assert statement.summary == "Stream one page of vertices in key order, each with the keys of its neighbours."
    assert statement.names[1] == Declaration("Person", "labels", "all chosen labels")
    assert statement.parameters == (
        Declaration("from", "integer | string", "smallest key of the page, inclusive"),
        Declaration("limit", "integer 1..", "vertices a page"),
    )
    assert [column.name for column in statement.columns] == ["key", "neighbours"]
    assert (statement.scan, statement.cost, statement.repeatable) == ("a reason", "", "")
    assert statement.text == PAGE[PAGE.index("MATCH") :].strip()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("// Stream one page of vertices in key order,\n// each with the keys of its neighbours.\n", "", "sentence"),
        ("// parameters:", "// params:", "declares a name twice|an entry of 'names'|is of the kind"),
        ("$limit  integer 1..       vertices a page", "$limit  integer 1..", "two spaces apart"),
        ("$limit  integer", "limit   integer", r"written with a \$"),
        ("property  the key", "attribute  the key", "kind 'attribute'"),
        (
            "//   id      property  the key property\n",
            "//   id  property  a\n//   id  property  b\n",
            "declares a name twice",
        ),
        ("//   KNOWS   types", "//  KNOWS   types", "indented differently"),
        ("// scan: a reason", "// scan:", "'scan' is empty"),
        ("// scan: a reason", "// scan: a reason\n// scan: another", "twice"),
        ("// returns:", "// returns: two", "lines of their own"),
        ("// scan: a reason", "// repeatable: yes", "for statements that write"),
        ("// scan: a reason", "// cost: much", "belongs to every statement in queries/"),
        (" LIMIT $limit", "", r"declares the parameter \$limit, which the text does not use"),
        ("LIMIT $limit", "LIMIT $limit + $more", r"does not declare the parameter \$more"),
        ("(v:Page)", "(v:Person)", "declares the name Page, which the text does not use"),
        ("(v:Page)", "(v:Page:Other)", "does not declare the name Other"),
        ("-[:KNOWS]->", "-[:KNOWS]->()-[:LIKES]->", "does not declare the name LIKES"),
        ("(n:Person {", "(n:Person&Page {", "'Person', a sample of the kind labels, is something else"),
        ("v.id AS key", "v.id AS id", "'id', a sample of the kind property, is something else"),
        ("MATCH (v:Page)", "MATCH (v:Page), (id)", "'id', a sample of the kind property, is something else"),
        ("v.id AS key, ", "v.id AS vertex, ", "the text returns"),
        ("v.id AS key, ", "", "the text returns"),
        ("v.id AS key, ", "v.id, ", "needs a name"),
        ("RETURN v.id AS key, ", "RETURN *, ", "needs a name"),
        ("AS neighbours", "AS neighbours;", "without a semicolon"),
        ("(v:Page)", "(v:Page:$($from))", "dynamic label"),
        ("AS neighbours", "AS neighbours + '", "never closes"),
        (PAGE[PAGE.index("MATCH") :], "", "no statement below"),
        (PAGE[PAGE.index("RETURN v") :], "MERGE (v)-[:KNOWS]->(:Person)", "the text has no RETURN"),
    ],
)
def test_a_file_whose_header_and_text_disagree_is_refused(old: str, new: str, complaint: str) -> None:
    assert old in PAGE
    with pytest.raises(ValueError, match=complaint) as caught:
        checked_statement("read", "stream_page", PAGE.replace(old, new, 1))
    assert "cypher/read/stream_page.cypher" in str(caught.value)


def test_a_write_must_say_why_it_may_run_twice() -> None:
    text = "// Do it.\n{}CREATE (:PCohesion)\n"
    with pytest.raises(ValueError, match="repeatable"):
        checked_statement("write", "do_it", text.format(""))
    assert checked_statement("write", "do_it", text.format("// repeatable: it is.\n")).repeatable == "it is."


def test_a_query_must_state_its_cost() -> None:
    text = "// Ask.\n// returns:\n//   one  integer  one\n{}RETURN 1 AS one\n"
    with pytest.raises(ValueError, match="cost"):
        checked_statement("queries", "ask", text.format(""))
    assert checked_statement("queries", "ask", text.format("// cost: nothing.\n")).cost == "nothing."


def test_columns_are_those_of_every_union_branch_and_not_of_subqueries() -> None:
    header = "// Ask.\n// returns:\n//   a  integer  one\n//   b  integer  two\n"
    branch = "CALL () { RETURN 1 AS x }\nRETURN DISTINCT x AS a, [1, 2][0] AS b ORDER BY a, b LIMIT 1"
    text = branch + "\nUNION\nRETURN 1 AS a, 2 AS b"
    assert len(checked_statement("read", "ask", header + text).columns) == 2
    with pytest.raises(ValueError, match="the text returns"):
        checked_statement("read", "ask", header + text.replace("2 AS b", "2 AS c"))


def test_an_unknown_statement_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="no statement named 'no_such'"):
        load_statement("no_such")


# --- rendering


def test_names_go_in_as_tokens_and_nothing_else_changes() -> None:
    assert parse_statement("read", "stream_page", PAGE).render(NAMES) == (
        "MATCH (v:`A`)\n"
        "WHERE v.`k` >= $from // the id's order; not $more\n"
        "WITH v ORDER BY v.`k` LIMIT $limit\n"
        "RETURN v.`k` AS key, [(v)-[:`T`]->(n:`A`|`B` {`k`: n.`k`}) | n.`k`] AS neighbours"
    )


def test_a_statement_with_its_own_samples_is_its_text() -> None:
    statement = parse_statement("read", "stream_page", PAGE)
    assert statement.render({name: name for name in NAMES}) == statement.text


@given(*[USER_NAMES | st.sampled_from(HOSTILE)] * 3)
def test_user_names_change_no_other_token(label: str, type_: str, key: str) -> None:
    statement = parse_statement("read", "stream_page", PAGE)
    before = tokenize(statement.text)
    after = tokenize(statement.render({"Page": label, "Person": [label], "KNOWS": type_, "id": key}))
    given_names = {"Page": label, "Person": label, "KNOWS": type_, "id": key}
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        if old.kind == "name" and old.text in given_names:
            name = given_names[old.text]
            assert new == (old if name == old.text else Token("quoted", quote_identifier(name)))
        else:
            assert new == old


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        ({"Page": "A", "Person": "A", "KNOWS": "T"}, "needs a value for the name 'id'"),
        ({**NAMES, "Other": "A"}, "declares no name 'Other'"),
        ({**NAMES, "Page": ["A", "B"]}, "Page stands for exactly one name, not 2"),
        ({**NAMES, "Person": []}, "Person stands for one name or several, not 0"),
        ({**NAMES, "id": ""}, "empty name"),
    ],
)
def test_names_that_do_not_fit_the_header_are_refused(names: dict[str, str | list[str]], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        parse_statement("read", "stream_page", PAGE).render(names)


# --- the shipped files

SHIPPED = sorted(path.relative_to(CYPHER).with_suffix("").as_posix() for path in CYPHER.glob("**/*.cypher"))


@pytest.mark.parametrize("path", SHIPPED)
def test_a_shipped_statement_loads_and_says_what_it_does(path: str) -> None:
    folder, name = path.split("/")
    statement = load_statement(name)
    assert statement == checked_statement(folder, name, (CYPHER / f"{path}.cypher").read_text(encoding="utf-8"))
    assert folder in FOLDERS
    assert (statement.folder, statement.name) == (folder, name)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
    assert re.fullmatch(r"[A-Z].*\.", statement.summary)
    assert statement.render({declared.name: declared.name for declared in statement.names}) == statement.text


@pytest.mark.parametrize("path", SHIPPED)
def test_no_statement_sets_a_property_to_itself_as_it_was_read_before_a_wait(path: str) -> None:
    """A bare `SET v.id = v.id` reads before it waits for the lock, and so undoes what is committed meanwhile."""
    text = (CYPHER / f"{path}.cypher").read_text(encoding="utf-8")
    code = "\n".join(line.partition("//")[0] for line in text.splitlines())
    assert re.search(r"(\w+\.\w+) = \1\s*(,|$)", code, flags=re.MULTILINE) is None


def test_all_statements_are_those_of_the_folder() -> None:
    assert sorted(f"{statement.folder}/{statement.name}" for statement in all_statements()) == SHIPPED


@pytest.mark.parametrize("path", [path for path in SHIPPED if path.startswith("queries/")])
def test_a_query_is_about_a_vertex_or_takes_a_limit_and_states_its_cost(path: str) -> None:
    query = load_statement(path.removeprefix("queries/"))
    parameters = {parameter.name for parameter in query.parameters}
    assert "run" in parameters
    assert ("limit" in parameters) != ("id" in parameters)
    assert "HepPh" in query.cost
