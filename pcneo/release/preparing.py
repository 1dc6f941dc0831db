"""The one place where releases read their graphs and groups, check them, and compute all that takes no noise."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from pcneo.basics.model import Progress
from pcneo.release.answer_sets import with_answer_sets
from pcneo.release.outputs import check_keys
from pcneo.release.prepared import Prepared
from pcneo.release.published_means import earlier_of
from pcneo.release.request import in_row
from pcneo.store.chosen_graph import require_key_index
from pcneo.store.database import Database
from pcneo.store.ledger_records import LedgerRecords


def prepare(
    db: Database, chosen: Sequence[Prepared], ledger: LedgerRecords, progress: Progress | None = None
) -> list[Prepared]:
    """Read each graph and set of groups once, check them, and compute everything that takes no noise.

    `ledger` tells whose answers are given, and what earlier releases have published.
    """
    sources = {choice.graph.name: choice.source for choice in chosen}
    for source in sources.values():
        require_key_index(db, source.record.selection)
    for source in sources.values():
        source.read(db, progress)
    read = [_on_graph(choice, ledger) for choice in chosen]
    for release in read:
        if release.run is not None and release.kept:
            release.source.read_kept_groups(db, release.run, progress)
        elif release.run is not None:
            release.source.read_groups(db, release.run, progress)
    for name, source in sources.items():
        noisy = [release.mechanism.k for release in read if release.graph.name == name and release.mechanism.adds_noise]
        source.facts().count(noisy)
    for release in read:  # before a file of answers is read, which takes as long as what they refuse
        with in_row(release.request.row):
            release.mechanism.check_facts(release.facts)
    prepared = with_answer_sets(read, ledger.releases)
    for release in prepared:
        with in_row(release.request.row):
            # So that nothing can fail after the spend:
            _ = release.utility, release.losses, release.shares_of_groups, release.figures
    return prepared


def _on_graph(choice: Prepared, ledger: LedgerRecords) -> Prepared:
    """Return a release of the graph as it was read; refuse what can be refused before counting."""
    source = choice.source
    n, earlier = source.graph.vertex_count, earlier_of(ledger, source.record.name)
    release = replace(choice, id=uuid.uuid4().hex, vertices=n, earlier=earlier)
    with in_row(release.request.row):
        release.mechanism.check_drawable()
        if release.mechanism.counts_vertices:
            check_keys(source.graph.keys.tolist(), release.request.suffix)
    return release
