"""The documents hold together: each citation names a heading, each link a file, each path something that is there."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

DOCUMENTS = (
    "pcneo/ARCHITECTURE.md",
    "pcneo/search/ALGORITHM.md",
    "pcneo/store/DATA-MODEL.md",
    "pcneo/privacy/GUARANTEE.md",
    "pcneo/server/LOCAL-SERVER.md",
)

CITATION = re.compile(r"\b([A-Z][A-Z-]*\.md)#([\w-]+)")
NAMED = re.compile(r"(?<![\w./-])([A-Za-z][\w./-]*\.md)\b")
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:pcneo|scripts|tests|cypher)/[^`\s]*|\.github/[^`\s]*)`")
WHERE = re.compile(r"`((?:pcneo|scripts|tests)/[\w/.-]+\.py):([A-Za-z_][\w.]*)`")


@cache
def tracked() -> tuple[Path, ...]:
    """What belongs to the project, new files that are not ignored included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file())


@cache
def document(name: str) -> Path:
    """The one document of that name."""
    (path,) = [path for path in tracked() if path.name == name]
    return path


def slug(heading: str) -> str:
    """What GitHub makes of a heading: lower case, signs dropped, spaces to hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def slugs(path: Path) -> frozenset[str]:
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    return frozenset(slug(heading) for heading in HEADING.findall(text))


def prose_of(source: str) -> Iterator[str]:
    """Comments, and strings that stand alone: docstrings and what describes an attribute."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def prose() -> Iterator[tuple[Path, str]]:
    """All that a file says to a person, file by file; of others than Python and Markdown every line."""
    for path in tracked():
        if path.suffix in (".gz", ".png", ".svg", ".json", ".lock", ".csv", ".npz"):
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            yield path, "\n".join(prose_of(text))
        else:
            yield path, text


CITATIONS = [(path, *found) for path, text in prose() for found in CITATION.findall(text)]


def test_each_document_has_a_name_of_its_own() -> None:
    names = [path.name for path in tracked() if path.suffix == ".md" and path.name != "README.md"]
    assert len(names) == len(set(names))
    assert {ROOT / name for name in DOCUMENTS} <= set(tracked())


def test_each_citation_names_a_heading_that_is_there() -> None:
    lost = [
        f"{path.relative_to(ROOT)}: {name}#{heading}"
        for path, name, heading in CITATIONS
        if heading not in slugs(document(name))
    ]
    assert lost == []
    assert {name for _, name, _ in CITATIONS} >= {Path(name).name for name in DOCUMENTS}


def test_prose_in_code_names_no_document_without_a_heading_and_none_from_elsewhere() -> None:
    """The README may be named as it is, and what a script writes."""
    bare = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in prose()
        if path.suffix != ".md"
        for name in map(Path, NAMED.findall(CITATION.sub("", text)))
        if name.name != "README.md" and (name.stem.isupper() or path.relative_to(ROOT).parts[0] != "scripts")
    ]
    assert bare == []
