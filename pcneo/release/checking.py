"""Use case: look for anything in the database that no writer of pcneo would leave behind, and change nothing.

One function knows what must hold (DATA-MODEL.md#what-must-hold) for runs and versions, hubs and memberships, and the
ledger. People call it as `pcneo check`, and tests that kill writers call it too.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pcneo.basics.frames import counted
from pcneo.basics.model import Progress
from pcneo.basics.run_record import RunRecord
from pcneo.errors import BudgetError, GraphError, RightsError
from pcneo.graph import secret_mark
from pcneo.privacy.composition import fits
from pcneo.release.budget import account_of, check_sole_names, how_to_mend
from pcneo.store.chosen_graph import find_graph, missing_key_indexes
from pcneo.store.database import Database, GraphRecord
from pcneo.store.ledger import get_secret, list_ledger
from pcneo.store.ledger_records import LedgerRecords
from pcneo.store.schema import OWN_SCHEMA
from pcneo.stored.runs import find_run, unfinished_runs
from pcneo.stored.verifying import VerifiedRun, by_graph, verified


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        about: the run, the graph or the release.
        what: a sentence that says what was found, and what to do about it.
        is_fault: False where a writer is at work or was killed, since no reader sees what it left and the next writer
            clears it away, and where the owner has done it.
    """

    about: str
    what: str
    is_fault: bool = True


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        runs: every run that was read again, and how it compares with what was written.
        findings: everything else.
    """

    runs: tuple[VerifiedRun, ...]
    findings: tuple[Finding, ...]

    @property
    def all_well(self) -> bool:
        """Whether graphs and memberships are as they were read and written, and there is no fault."""
        changed = any(compared.has_changed for compared in self.runs)
        return not changed and not any(finding.is_fault for finding in self.findings)


def check(
    db: Database,
    *,
    run: str | None = None,
    graph: str | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Read runs, hubs, memberships and the ledger, and compare them with each other and with the graph. Read only."""
    if damage := [Finding("{label} {name}".format_map(error.data), str(error)) for error in db.list_damage()]:
        # With these nothing else can be read.
        return Checked((), (*damage, _NOTHING_ELSE))
    if run is not None:
        left = unfinished_runs(db, db.list_graphs()).get(run)
        if left is not None and graph in (None, left.name):
            return Checked((), (_unfinished(run, left.name),))
        runs = [find_run(db, run=run, graph=graph).run]
    else:
        runs = _runs_of(db, graph)
    graphs = {known.name: known for known in db.list_graphs()}
    compared: list[VerifiedRun] = []
    findings: list[Finding] = []
    for name, of_graph in by_graph(runs).items():
        if name not in graphs:
            what = (
                f"The node of its graph {name!r} is gone. Annotate with --graph {shlex.quote(name)} and its labels, "
                "types and key to make it again, or then clean the run."
            )
            findings += [Finding(f"run {stored.id}", what) for stored in of_graph]
            continue
        try:
            compared += verified(db, graphs[name], of_graph, progress)
        except GraphError as error:
            findings.append(Finding(f"graph {name}", str(error)))
    for stored in runs:
        findings += _of_hubs(db, stored)
    if run is None:
        findings += _of_records(db, runs, [known for name, known in graphs.items() if graph in (None, name)])
        findings += _of_stray_hubs(db, graph)
        findings += _of_ledger(db, list_ledger(db), graph)
        findings += _of_schema(db, [known for name, known in graphs.items() if graph in (None, name)])
    return Checked(tuple(compared), tuple(findings))


_NOTHING_ELSE = Finding(
    "everything else", "Cohesions and the ledger are looked at once these nodes are put right.", is_fault=False
)


def _runs_of(db: Database, graph: str | None) -> list[RunRecord]:
    """Return the runs of a graph, or all; refuse a name that no graph has, and no run or release of a lost one."""
    runs = [stored for stored in db.list_runs() if graph in (None, stored.graph)]
    if graph is not None and not runs and all(release.graph != graph for release in list_ledger(db).lost):
        find_graph(db, graph)
    return runs


def _of_hubs(db: Database, run: RunRecord) -> Iterator[Finding]:
    hubs = db.check_hubs(run.id, run.version)
    again = f"`pcneo annotate --graph {shlex.quote(run.graph)}` writes them again."
    if run.scope != "graph":
        again = f"Remove the run with `pcneo clean {shlex.quote(run.id)}`, and make it again."
    damages = {
        "torn": "lost or gained members",
        "astray": "do not belong to exactly one vertex",
        "changed": "have lost a property, or have a value of another kind there",
    }
    if damaged := [f"{hubs[name]:,} that {what}" for name, what in damages.items() if hubs[name]]:
        yield Finding(f"run {run.id}", f"Damaged cohesions: {'; '.join(damaged)}. {again}")
    if hubs["unmarked"]:
        unmarked = "carry the label PCohesionRetired and are not retired, or the other way round"
        yield Finding(f"run {run.id}", f"Cohesions that {unmarked}: {hubs['unmarked']:,}.")
    if hubs["unfinished"]:
        yield Finding(
            f"run {run.id}",
            f"Cohesions of a version that no reader sees: {hubs['unfinished']:,}. A writer is at work, or was "
            "stopped halfway. The next writer clears them away.",
            is_fault=False,
        )


def _of_records(db: Database, runs: Sequence[RunRecord], graphs: Sequence[GraphRecord]) -> Iterator[Finding]:
    seen = {stored.id for stored in runs}
    for graph in graphs:
        for run, version in db.list_unfinished(graph.name):
            if version == 0:
                yield _unfinished(run, graph.name)
            elif run not in seen:
                yield Finding(f"run {run}", f"Readers use version {version}, which has no record.")
    for stored in runs:
        if stored.from_files:
            what = (
                "Its cohesions were loaded from files: each is a minimal p-cohesion of its vertex, but only the author "
                "of the files vouches that a search finds the same. "
                f"`pcneo annotate --graph {shlex.quote(stored.graph)}` searches for all of them again."
            )
            yield Finding(f"run {stored.id}", what, is_fault=False)
        if not stored.readable:
            yield Finding(f"run {stored.id}", f"Readers use version {stored.version}, which is not kept.")


def _of_stray_hubs(db: Database, graph: str | None) -> Iterator[Finding]:
    for run, cohesions in db.list_stray_hubs():
        if graph in (None, run.rpartition("@")[0]):
            yield Finding(f"run {run}", f"This run is not on record, but is named by {counted(cohesions, 'cohesion')}.")


def _of_schema(db: Database, graphs: Sequence[GraphRecord]) -> Iterator[Finding]:
    """What someone has dropped: what is stored is right without it, but found slowly, and duplicates can come."""
    try:
        own = db.missing_schema(OWN_SCHEMA) if graphs else []
        of_keys = {graph.name: missing_key_indexes(db, graph.selection) for graph in graphs}
    except RightsError as error:
        yield Finding("the schema", f"It could not be looked at. {error}", is_fault=False)
        return
    for item in own:
        what = "constraint" if item.unique else "index"
        advice = f"The next writer makes it, or an administrator: {item.line()}"
        yield Finding(item.place, f"This {what} is missing, or not online yet. {advice}", is_fault=False)
    for name, items in of_keys.items():
        for item in items:
            what = f"{item.place}, the key, has no index. `pcneo annotate --create-index` makes one."
            yield Finding(f"graph {name}", what, is_fault=False)


def _unfinished(run: str, graph: str) -> Finding:
    says = (
        "It has no version yet: a writer is at work, or was stopped halfway. The next `pcneo annotate --graph "
        f"{shlex.quote(graph)}` clears away what is left of it, and so does `pcneo clean {shlex.quote(run)}`."
    )
    return Finding(f"run {run}", says, is_fault=False)


def _of_ledger(db: Database, ledger: LedgerRecords, graph: str | None) -> Iterator[Finding]:
    for release in ledger.lost:
        if graph in (None, release.graph):
            what = f"Its graph {release.graph!r} is gone; what it spent still counts against every graph with its data."
            yield Finding(f"release {release.id}", what, is_fault=False)
    for damaged in ledger.damaged:
        if graph is None or damaged.graph in (None, graph):
            about = f"{'release' if damaged.is_release else 'total'} {damaged.record}"
            yield Finding(about, f"It {damaged.why}. {how_to_mend(damaged, graph or 'NAME')}")
    yield from _of_secret(get_secret(db), ledger, graph)
    for known in ledger.graphs:
        if known.name not in ledger.used or graph not in (None, known.name) or ledger.damaged_of(known.name):
            continue
        try:
            account = account_of(ledger, known.name)
            if account.total is not None and not fits(account.bounded, account.total):
                what = f"Its releases have spent {account.bounded}, but its total is {account.total}."
                yield Finding(f"graph {known.name}", what, is_fault=False)
            check_sole_names(ledger, [known])
        except BudgetError as error:
            yield Finding(f"graph {known.name}", str(error))
    kept: dict[str, set[int]] = {}
    for release in ledger.releases:
        if release.run is None or release.run_version is None or graph not in (None, release.graph):
            continue
        if release.run not in kept:
            kept[release.run] = {old.version for old in db.list_versions(release.run) if old.readable}
        if release.run_version not in kept[release.run]:
            what = f"It rests on version {release.run_version} of run {release.run}, which its owner has deleted."
            yield Finding(f"release {release.id}", what, is_fault=False)


def _of_secret(secret: bytes | None, ledger: LedgerRecords, graph: str | None) -> Iterator[Finding]:
    marks: dict[str, set[str]] = {}
    for release in ledger.releases:
        if release.keys_fingerprint is not None and graph in (None, release.graph):
            marks.setdefault(release.graph, set()).add(release.keys_fingerprint.partition(":")[0] + ":")
    for name, known in marks.items():
        if secret is None or secret_mark(secret) not in known:
            what = (
                "The ledger's secret was deleted or changed after this graph's last release: under another name, the "
                "graph would begin with nothing spent, without a warning. "
                f"`pcneo budget mend secret {shlex.quote(name)}` stores its present keys under the present secret, as "
                "its next release does."
            )
            yield Finding(f"graph {name}", what)
