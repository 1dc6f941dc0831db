"""Files in which someone has replaced cohesions by others: whatever is loaded, the next annotate searches again."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow
import pyarrow.parquet

from campaign.ground import GRAPH, NAMES, Ground
from pcneo import annotate
from pcneo.annotate.load_cohesions import load_cohesions
from pcneo.errors import PcneoError
from pcneo.release.checking import check

__all__ = ["try_planted"]


def try_planted(rng: random.Random, folder: Path, ground: Ground) -> bool:
    """Load a file with rows of other vertices in it; whether it was accepted."""
    ground.renew(rng, vertices=12)
    db, run = ground.db, f"{GRAPH}@1/2"
    before = db.members(run)
    (file,) = annotate.to_parquet(db.store, p="1/2", to=folder / "a.parquet", graph=GRAPH, **NAMES).files
    table = pyarrow.parquet.read_table(file.path)
    rows = table.to_pylist()
    for _ in range(rng.randint(0, 2)):
        row = rng.choice(rows)
        others = [other for other in rows if row["vertex"] in other["members"]] if rng.random() < 0.8 else rows
        row |= {**rng.choice(others), "vertex": row["vertex"]}
    if rng.random() < 0.2:
        rng.choice(rows)[rng.choice(["proven", "best"])] ^= True
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, table.schema), file.path)
    try:
        load_cohesions(db.store, file.path, verify=rng.choice([0, 0, 1, 12]))
    except PcneoError:
        accepted = False
    else:
        accepted = True
        planted = db.members(run) != before
        named = any("loaded from files" in finding.what for finding in check(db.store).findings)
        assert named or not planted, "nobody says that it is from a file"
    annotate.write(db.store, graph=GRAPH)
    assert db.members(run) == before, "a planted cohesion has stayed"
    ground.check(up_to_date=True)
    return accepted
