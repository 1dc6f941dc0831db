"""The documents hold together: each citation names a heading, each link a file, each path something that is there."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from places import ROOT

from pcneo import errors
from pcneo.plots import look
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.store.statements import OWN_LABELS, OWN_TYPES

DOCUMENTS = (
    "pcneo/ARCHITECTURE.md",
    "pcneo/search/ALGORITHM.md",
    "pcneo/store/DATA-MODEL.md",
    "pcneo/privacy/GUARANTEE.md",
    "pcneo/server/LOCAL-SERVER.md",
)

FURTHER = ("pcneo/LICENCES.md", "pcneo/kernels/WHY-IT-IS-FAST.md")

GUIDE = [path.relative_to(ROOT).as_posix() for path in (ROOT / "pcneo" / "guide").glob("*.md")]

CITATION = re.compile(r"\b([A-Z][A-Z-]*\.md)#([\w-]+)")
NAMED = re.compile(r"(?<![\w./-])([A-Za-z][\w./-]*\.md)\b")
COMMENT = re.compile(r"(?:^|\s)#\s.*$", re.MULTILINE)
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
    yield from COMMENT.findall(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


@cache
def prose() -> list[tuple[Path, str]]:
    """All that a file says to a person, file by file; of others than Python and Markdown every line."""
    said = []
    for path in tracked():
        if path.suffix in (".gz", ".png", ".svg", ".json", ".lock", ".csv", ".npz"):
            continue
        text = path.read_text(encoding="utf-8")
        said.append((path, "\n".join(prose_of(text)) if path.suffix == ".py" else text))
    return said


@cache
def citations() -> list[tuple[Path, str, str]]:
    """Each citation with the file that it stands in; FILE.md#heading itself says what one looks like."""
    matches = [(path, name, heading) for path, text in prose() for name, heading in CITATION.findall(text)]
    return [citation for citation in matches if citation[1:] != ("FILE.md", "heading")]


def test_each_document_has_a_name_of_its_own() -> None:
    names = [path.name for path in tracked() if path.suffix == ".md" and path.name != "README.md"]
    assert len(names) == len(set(names))
    assert {ROOT / name for name in DOCUMENTS} <= set(tracked())


def test_each_citation_names_a_heading_that_is_there() -> None:
    lost = [
        f"{path.relative_to(ROOT)}: {name}#{heading}"
        for path, name, heading in citations()
        if heading not in slugs(document(name))
    ]
    assert lost == []
    assert {name for _, name, _ in citations()} >= {Path(name).name for name in DOCUMENTS}


def test_code_names_no_document_without_a_heading_and_none_from_elsewhere() -> None:
    """What is generated or kept for readers may be named as it is, and what a script writes."""
    ours = {Path(name).name for name in DOCUMENTS}
    there = {path.name for path in tracked()}
    bare = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in prose()
        if path.suffix != ".md"
        for name in (Path(named).name for named in NAMED.findall(CITATION.sub("", text)))
        if name in ours or (name not in there and path.relative_to(ROOT).parts[0] != "scripts")
    ]
    assert bare == []


def test_links_in_documents_lead_somewhere() -> None:
    lost = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in tracked()
        if path.suffix == ".md"
        for target in LINK.findall(FENCED.sub("", path.read_text(encoding="utf-8")))
        if not target.startswith(("https://", "http://")) and not leads_somewhere(path, target)
    ]
    assert lost == []


def leads_somewhere(path: Path, target: str) -> bool:
    name, _, heading = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    return file.exists() and (not heading or (file.suffix == ".md" and heading in slugs(file)))


def test_each_path_that_documents_name_exists() -> None:
    """`NAME` in capitals stands for a name that the reader chooses; `*` and what follows a colon are left aside."""
    lost = [
        f"{path.relative_to(ROOT)}: {named}"
        for path in (ROOT / name for name in ("README.md", ".github/CONTRIBUTING.md", *DOCUMENTS, *FURTHER, *GUIDE))
        for named in PATH.findall(path.read_text(encoding="utf-8"))
        if not re.search(r"[A-Z]{4,}\.", named.replace("README.", "")) and not (ROOT / named.partition(":")[0]).exists()
    ]
    assert lost == []


def test_each_function_that_documents_name_is_there() -> None:
    named = [place for name in DOCUMENTS for place in WHERE.findall((ROOT / name).read_text(encoding="utf-8"))]
    assert len(named) >= 40
    lost = [f"{file}:{name}" for file, name in named if name not in definitions(ROOT / file)]
    assert lost == []


@cache
def definitions(path: Path) -> frozenset[str]:
    """Functions, classes, methods as `Class.method`, and what is assigned at the top of a module."""
    defined: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        if isinstance(node, ast.ClassDef):
            defined |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(defined)


def test_names_in_the_prose_of_documents_are_names_of_the_code() -> None:
    """What stands before `in`, in lines that begin with "In code:", is defined in the file that follows."""
    lost = []
    for name in DOCUMENTS:
        for block in re.findall(r"^In code: (.*?)(?:\n\n|\Z)", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S):
            waiting: list[str] = []
            for word in re.findall(r"`([^`]+)`", block):
                if not word.startswith("pcneo/"):
                    waiting.append(word)
                    continue
                lost += [
                    f"{name}: {word}:{function}" for function in waiting if function not in definitions(ROOT / word)
                ]
                waiting = []
    assert lost == []


def test_the_data_model_names_all_that_is_written() -> None:
    """Labels, types, and each property that a statement sets on a node of ours."""
    documented = set(re.findall(r"`(\w+)`", document("DATA-MODEL.md").read_text(encoding="utf-8")))
    written = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "cypher" / "write").glob("*.cypher"))
    properties = set(re.findall(r"\b(?:run|release|budget|graph)\.(\w+) = ", written))
    properties |= set(re.findall(r"(\w+): (?:\$|row\.|earlier \+|datetime)", written))
    assert {"fingerprintKey", "propertyRemovedAt", "density", "number"} <= properties
    assert properties - {"vertex", "key", "source", "target", "seconds"} <= documented  # of rows, and of a duration
    assert set(re.findall(r"\w+", document("DATA-MODEL.md").read_text(encoding="utf-8"))) >= OWN_LABELS | OWN_TYPES


def test_every_mechanism_is_in_the_pages_the_help_and_the_pictures_that_have_all_of_them() -> None:
    pages = [
        (ROOT / "pcneo/guide" / name).read_text(encoding="utf-8")
        for name in ("choose-a-mechanism.md", "for-a-lawyer.md")
    ]
    options = (ROOT / "pcneo/cli/release.py").read_text(encoding="utf-8").partition('"--mechanism",')[2]
    named = options.partition("Without it")[0]
    for name, kind in MECHANISMS.items():
        assert all(f"`{name}`" in page for page in pages), name
        assert re.search(rf"\b{name}\b", named), name
        assert not kind.counts_vertices or look(name).label
    assert set(re.findall(r"\w+", named)) & MECHANISMS.keys() == MECHANISMS.keys()


def test_each_document_is_reached_from_the_readme_and_ships_beside_its_room() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(DOCUMENTS) <= set(LINK.findall(readme))
    with (ROOT / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["pcneo"]
    assert not {"only-include", "exclude"} & wheel.keys()


def test_the_floor_plan_glossary_and_recipes_can_be_read_in_one_go() -> None:
    assert len(document("ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_the_floor_plan_is_the_contract() -> None:
    """The plan separates floors by lines, the contract by entries; both have the same rooms on each."""
    text = (ROOT / "pcneo/ARCHITECTURE.md").read_text(encoding="utf-8")
    plan = re.search(r"^    __main__.*?^    errors.*?$", text, re.MULTILINE | re.DOTALL)
    assert plan is not None
    drawn = [
        {
            room
            for line in re.findall(r"^    (\w+/?(?:  \w+(?=  ))?)  +\S", floor, re.MULTILINE)
            for room in line.split()
        }
        for floor in re.split(r"^    ─+$", plan[0], flags=re.MULTILINE)
    ]
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert [{room.rstrip("/") for room in floor} for floor in drawn] == [
        set(re.findall(r"\w+", layer)) for layer in layers
    ]


def test_the_page_for_failures_has_every_exit_code_once() -> None:
    page = (ROOT / "pcneo" / "guide" / "when-it-fails.md").read_text(encoding="utf-8")
    codes = [int(code) for row in re.findall(r"^\| ([\d, ]+?) \|", page, re.MULTILINE) for code in row.split(", ")]
    known = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.PcneoError)
    }
    assert codes == sorted({0, *known, 129, 130, 143})
