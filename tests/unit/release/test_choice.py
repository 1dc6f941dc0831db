"""Which run a release rests on where none is named: one that its mechanism takes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from requested import requested

from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import ParameterError
from pcneo.release.choice import choose
from pcneo.store.database import GraphRecord

FRIENDS = GraphRecord("friends", Selection(("Person",), ("KNOWS",), "id"), "0" * 64)


def chosen(searches: dict[str, str], **named: Any) -> str:
    """The id of the run that `published` rests on, of those in a database with a run of each of these searches."""
    runs = [
        SimpleNamespace(id=run, graph="friends", scope="graph", search=Search(p="0.1", name=search), vertices=7)
        for run, search in searches.items()
    ]
    db: Any = SimpleNamespace(list_runs=lambda: runs, list_graphs=lambda: [FRIENDS])
    request = requested(to=Path("a.csv"), mechanism="published", epsilon=1, graph="friends", **named)
    (prepared,) = choose(db, [request], Selection())
    assert prepared.run is not None
    return prepared.run.id


SEVERAL = {"friends@1/10": "smallest", "friends@3/10": "smallest", "friends@3/10:density": "density"}


def test_where_no_run_is_named_only_those_that_the_mechanism_takes_are_candidates() -> None:
    assert chosen(SEVERAL) == "friends@3/10:density"
    assert chosen(SEVERAL, run="latest") == "friends@3/10:density"
    with pytest.raises(ParameterError, match=r"Several runs fit: friends@3/10:density, friends@3/10:degree\."):
        chosen({**SEVERAL, "friends@3/10:degree": "degree"})


@pytest.mark.parametrize("named", [{}, {"run": "friends@1/10"}, {"search": "smallest"}], ids=str)
def test_a_run_that_the_mechanism_does_not_take_is_refused_though_it_is_named_or_there_is_no_other(
    named: dict[str, str],
) -> None:
    others = SEVERAL if named else {name: search for name, search in SEVERAL.items() if search == "smallest"}
    with pytest.raises(ParameterError, match=r"takes runs of the search density or degree.*; run friends@1/10 is of"):
        chosen(others, **named)
