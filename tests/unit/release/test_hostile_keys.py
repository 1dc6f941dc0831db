"""What is written of vertices with hostile keys is read back, from every published and every private file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import round_trips
from made_up_keys import FORMULAS, HOSTILE_KEYS

import pcneo
from pcneo.errors import GraphError
from pcneo.party.answering import answer_call
from pcneo.party.call import call
from pcneo.party.collecting import collect
from pcneo.release.answers_file import AnswersFile
from pcneo.release.outputs import check_keys

GRAPH = round_trips.ring(HOSTILE_KEYS)
KINDS = [
    *(round_trips.public_csv, round_trips.public_json, round_trips.answers_of_respond),
    *(round_trips.answers_of_critical, round_trips.cohesions, round_trips.rows_of_a_stream),
]


def test_keys_are_in_the_order_of_a_graphs() -> None:
    assert GRAPH.keys.tolist() == HOSTILE_KEYS


@pytest.mark.parametrize("round_trip", KINDS, ids=lambda kind: kind.__name__)
def test_every_file(tmp_path: Path, round_trip: Callable[[list[str], Path], object]) -> None:
    round_trip(HOSTILE_KEYS, tmp_path)


@pytest.mark.parametrize("key", FORMULAS)
def test_what_a_spreadsheet_would_run_is_in_no_public_csv(key: str) -> None:
    with pytest.raises(GraphError, match="as a formula"):
        check_keys([key], ".csv")


def test_pandas_reads_a_public_file_as_it_says_there(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    keys = [key for key in HOSTILE_KEYS if key not in FORMULAS and "\x00" not in key]  # at which a key of pandas ends
    table = pandas.read_csv(round_trips.public_csv(keys, tmp_path), comment="#", keep_default_na=False)
    assert table["key"].tolist() == keys


def test_parties_and_what_their_collector_publishes(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (tmp_path / "keys.json").write_text(json.dumps(HOSTILE_KEYS))
    call(folder, tmp_path / "keys.json", "2")
    for number, key in enumerate(HOSTILE_KEYS):
        own = tmp_path / str(number)
        own.mkdir()
        beside = GRAPH.keys[GRAPH.neighbours[GRAPH.offsets[number] : GRAPH.offsets[number + 1]]].tolist()
        (own / "row.json").write_text(json.dumps({"key": key, "neighbours": beside}))
        (own / "ledger.json").write_text(json.dumps({"key": key, "limit": "3", "total": "5"}))
        answer_call(folder / "call.json", row=own / "row.json", ledger=own / "ledger.json")
        assert json.loads((own / "ledger.json").read_text())["key"] == key
    collect(folder, tmp_path / "counts.json")
    assert set(pcneo.read_release(tmp_path / "counts.json").counts) == set(HOSTILE_KEYS)
    (answers,) = tmp_path.glob("*.answers.gz")
    AnswersFile.open(answers).answers(GRAPH.keys)
