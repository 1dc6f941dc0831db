"""An id that something holds is that of one run; what a person types may be its beginning."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pcneo.basics.run_record import WholeId
from pcneo.basics.searches import Search
from pcneo.errors import NotFoundError, ParameterError
from pcneo.stored.runs import choose_run, find_run, id_and_graph


def run(id: str, scope: str = "graph") -> Any:
    return SimpleNamespace(
        id=id, graph="friends", scope=scope, search=Search("1/30"), version=1, node_count=7, relationship_count=9
    )


ONLY = run("friends@1/30")
OF_VERTICES = run("friends@1/3:vertices", "vertices")
DB: Any = SimpleNamespace(
    list_runs=lambda: [ONLY, OF_VERTICES],
    list_graphs=lambda: [SimpleNamespace(name="friends", selection=None)],
    count_store=lambda _: (7, 9),
    list_graph_names=lambda: ["friends"],
    list_damaged_runs=list,
)


@pytest.mark.parametrize("ask", [lambda id: find_run(DB, run=id), lambda id: id_and_graph(DB, id)])
def test_only_what_is_typed_may_be_the_beginning_of_an_id(ask: Any) -> None:
    ask("friends@1/30")
    ask(WholeId("friends@1/30"))
    ask("friends@1/3")  # of vertices; friends@1/30 has another p
    with pytest.raises(ParameterError, match="Several runs fit"):
        ask("friends@1")
    with pytest.raises(NotFoundError, match=r"^Run friends@1/3 is gone\.$"):
        ask(WholeId("friends@1/3"))


def test_a_release_takes_no_other_run_in_place_of_one_that_is_gone() -> None:
    runs = [ONLY, OF_VERTICES]
    assert choose_run(runs, run="friends@1").id == "friends@1/30"
    with pytest.raises(NotFoundError, match="There is no run 'friends@1/3'; there is friends@1/30"):
        choose_run(runs, run="friends@1/3")
    with pytest.raises(NotFoundError, match=r"^Run friends@1/3 is gone\.$"):
        choose_run(runs, run=WholeId("friends@1/3"))
    with pytest.raises(NotFoundError, match="There is no run 'friends@1/3:vertices'; there is friends@1/30"):
        choose_run(runs, run=WholeId("friends@1/3:vertices"))  # which is there, but of no whole graph


def test_a_run_at_another_version_is_compared_with_its_own_counts() -> None:
    stored = find_run(DB, run="friends@1/30")
    assert (stored.moved, stored.nodes_more) == (False, 0)
    earlier = run("friends@1/30")
    earlier.node_count = 5
    at = stored.at(earlier)
    assert (at.run, at.moved, at.nodes_more, at.relationships_more) == (earlier, True, 2, 0)
    assert at.at(ONLY) == stored
