"""The public names, and that asking for help imports nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pcneo

HEAVY = ("matplotlib", "networkx", "neo4j", "numba", "opendp")


def imported_for_type_checkers() -> dict[str, str]:
    """Each name that `pcneo/__init__.py` imports, at once or for type checkers alone, and the module it names there."""
    body = ast.parse(Path(pcneo.__file__).read_text(encoding="utf-8")).body
    (block,) = (
        node
        for node in body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )
    return {
        alias.asname or alias.name: statement.module or ""
        for statement in [*body, *block.body]
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("pcneo")
        for alias in statement.names
    }


def test_the_public_names_are_sorted_and_are_those_that_type_checkers_see():
    assert pcneo.__all__ == sorted(pcneo.__all__)
    assert set(pcneo.__all__) == set(imported_for_type_checkers())


@pytest.mark.parametrize("name", pcneo.__all__)
def test_every_public_name_is_what_the_module_that_type_checkers_see_calls_so(name):
    home = import_module(imported_for_type_checkers()[name])
    # `from pcneo.release import budget` imports the submodule of that name.
    expected = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
    assert getattr(pcneo, name) is expected


def test_a_star_import_gives_the_public_names():
    names: dict[str, object] = {}
    exec("from pcneo import *", names)  # noqa: S102  a star import is allowed at a module's top level only
    assert set(names) - {"__builtins__"} == set(pcneo.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pcneo.nonsense  # noqa: B018  the attribute access is what is tested


@pytest.mark.parametrize(
    "program",
    [
        "import pcneo",
        "import pcneo, pcneo.errors, pcneo.model, pcneo.config",
        "from pcneo.cli import app; app(['--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['annotate', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['release', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['audit', '--help'], prog_name='pcneo')",
        "from pcneo.cli import app; app(['--version'], prog_name='pcneo')",
    ],
)
def test_nothing_heavy_is_imported_for(program):
    watched = f"""
import sys
try:
    {program}
except SystemExit as end:
    assert not end.code, end.code
print("imported", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", watched], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["imported"]
    assert not done.stderr
