"""What must hold of runs and requests: after each commit, of what each reader got, and at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pcneo.store.requests import SMALL_VERTICES
from simulation.database import Change, Node, Props
from simulation.statements.requests import ANSWERED, PRODUCED, lane_of
from simulation.statements.requests import LABEL as REQUEST
from simulation.statements.runs import CURRENT, HUB, MEMBERS, OWNER, RETIRED, RUN, VERSION

if TYPE_CHECKING:
    from simulation.service import ServiceStage

__all__ = ["Rules"]

Hubs = dict[Any, frozenset[Any]]


class Rules:
    """Remembers what was visible, and compares."""

    def __init__(self, stage: ServiceStage) -> None:
        self._stage = stage
        self._seen: dict[tuple[str, int], Hubs] = {}
        self._answers: Counter[Node] = Counter()
        self._early: list[tuple[str, int, Mapping[Any, frozenset[Any]], str]] = []
        self._used = {1}
        self._there: dict[Node, float] = {}

    @staticmethod
    def is_answered(props: Props) -> bool:
        return props.get("status") in ANSWERED

    def begin(self) -> None:
        """Note what is there at the beginning."""
        self._look_at_hubs()

    # --- After each commit

    def look(self, changes: list[Change], metadata: Mapping[str, Any]) -> None:
        """Look at what one commit has changed."""
        self._look_at_claim(changes, metadata.get("pcneoRequest"))
        labels = {node.label for node, _, _ in changes}
        if RUN in labels:
            self._look_at_versions([change for change in changes if change[0].label == RUN])
        if labels & {HUB, VERSION, RUN}:
            self._look_at_hubs()
        if labels & {VERSION, RUN, "PCohesionRelease"}:
            self._look_at_releases()
        for node, old, new in changes:
            if node.label == "PCohesionFence" and (new or {}).get("lastVersion") != (old or {}).get("lastVersion"):
                self._stage.seen["published beside a whole graph"] += 1
            if node.label != "PCohesionRequest" or new is None:
                continue
            self._there.setdefault(node, self._stage.world.now)
            if old is not None:
                self._look_at_request(node, old, new)
                if new.get("token") is not None and old.get("token") is None and not new.get("cancel"):
                    self._look_at_turn(node, new)

    def _look_at_claim(self, changes: list[Change], token: str | None) -> None:
        """What is written for a request becomes visible only under the claim that counts."""
        published = any(
            node.label == RUN and new and new["version"] != (old or new)["version"] for node, old, new in changes
        )
        answered = [
            old for node, old, new in changes if node.label == "PCohesionRequest" and new and self.is_answered(new)
        ]
        if token is not None and (published or answered) and [old.get("token") for old in answered if old] != [token]:
            self._stage.world.fail(f"claim {token} is lost, and has published something")

    def _look_at_versions(self, changes: list[Change]) -> None:
        """A run moves forward only, to a number that none of the graph has had, and that is on record."""
        moved = {
            new["version"] for _, old, new in changes if new and new["version"] not in (0, (old or {}).get("version"))
        }
        back = any(new and old and 0 < new["version"] < old["version"] for _, old, new in changes)
        if back or moved & self._used or len(moved) > 1:
            self._stage.world.fail(f"version {moved} comes after {sorted(self._used)}")
        self._used |= moved
        labels = "PCohesionGraph", "PCohesionFence"
        counted = max(props.get("lastVersion", 0) for label in labels for props in self._stage.db.all(label))
        if moved and counted < max(self._used):
            self._stage.world.fail(f"the graph counts to {counted}, and there is version {max(self._used)}")

    def _look_at_hubs(self) -> None:
        """A version that readers may name has one hub a vertex, and goes on having the same ones."""
        db = self._stage.db
        runs = {props["id"]: props["version"] for props in db.all(RUN)}
        for props in db.all(VERSION):
            run, version = props["run"], props["version"]
            if not props["readable"] or version > runs.get(run, 0):
                continue
            hubs: Hubs = {}
            for hub in db.all(HUB):
                if hub["run"] == run and hub["from"] <= version < hub["until"]:
                    if hub[OWNER] in hubs:
                        self._stage.world.fail(f"{run} has two hubs of {hub[OWNER]} at version {version}")
                    hubs[hub[OWNER]] = frozenset(hub[MEMBERS])
            before = self._seen.setdefault((run, version), hubs)
            if before != hubs:
                self._stage.world.fail(f"{run} at version {version} had {before}, and has {hubs}")
        early, self._early = self._early, []
        for got in early:
            self.compare(*got)

    def _look_at_releases(self) -> None:
        """A version that a release rests on is kept."""
        db = self._stage.db
        seen = {props["id"]: props["version"] for props in db.all(RUN)}
        kept = {(props["run"], props["version"]) for props in db.all(VERSION) if props["readable"]}
        for release in db.all("PCohesionRelease"):
            run, version = release["run"], release["runVersion"]
            if (run, version) not in kept or seen.get(run, 0) < version:
                self._stage.world.fail(f"{release['id']} rests on version {version} of {run}, which is not kept")

    def _look_at_request(self, node: Node, old: Props, new: Props) -> None:
        """A request is claimed by one worker at a time, and answered once, by whoever has it, with what it has made."""
        fail, name = self._stage.world.fail, new.get("id")
        if self.is_answered(old):
            if (old["status"], old.get(PRODUCED)) != (new.get("status"), new.get(PRODUCED)):
                fail(f"request {name} was answered, {old['status']}, and is {new.get('status')}")
            return
        before, after = old.get("token"), new.get("token")
        if after is not None and before is not None and after != before:
            left = old.get("leaseUntil", 0.0) - self._stage.world.now
            if left > 0:
                fail(f"request {name} was claimed while its lease had {left:.1f} s to go")
        is_stopped = before is not None and after is None and new.get("message") == "The service was stopped."
        if is_stopped and new["attempts"] >= old["attempts"]:
            fail(f"request {name} has used up an attempt because its service was stopped")
        if self.is_answered(new):
            if new["status"] == "cancelled" and not old.get("cancel"):
                fail(f"request {name} is cancelled, and nobody has asked for that")
            self._answers[node] += 1
            self._stage.seen[f"request {new['status']}"] += 1
            if new["status"] == "complete" and before is None:
                fail(f"request {name} was answered by somebody who had no claim on it")
            for run, version in new.get(PRODUCED, ()):
                there = [props["version"] for props in self._stage.db.all(RUN) if props["id"] == run]
                if there != [version]:
                    fail(f"request {name} says version {version} of {run}, which is at {there}")
                if old.get("cancel"):
                    fail(f"request {name} was cancelled, and has made version {version}")

    def _look_at_turn(self, claimed: Node, props: Props) -> None:
        """In each lane, and of each graph, the request that came first is claimed, unless it was tried before.

        One that is claimed only to be answered as cancelled has no turn: some were cancelled when the service polled,
        and others were cancelled after it.

        Those of a graph that was found busy are left alone for a while, and a later one that names no graph goes on.
        """
        db = self._stage.db
        turn = props["requestedAt"], claimed.number
        for node in db.nodes[REQUEST]:
            other = node.props
            if other is None or node is claimed or node.number in db.tried:
                continue
            waits = other.get("status") == "requested" and other.get("requestedAt") is not None
            if (
                waits
                and other.get("graph") == props.get("graph")
                and lane_of(other, SMALL_VERTICES) == lane_of(props, SMALL_VERTICES)
                and (other["requestedAt"], node.number) < turn
                and self._there[node] < props["requestedAt"]
            ):
                self._stage.world.fail(f"request {props['id']} was claimed before {other['id']}, which came first")

    # --- Of what clients and readers got

    def look_at_timeout(self, request: str) -> None:
        """Whoever is told that a request was cancelled may rely on it, unless it was answered first, or deleted."""
        for props in self._stage.db.all(REQUEST):
            if props.get("id") == request and not (props.get("cancel") or self.is_answered(props)):
                self._stage.world.fail(f"request {request} was not answered in time, and goes on: {props}")

    def is_kept(self, run: str, version: int) -> bool:
        """Whether the hubs of a version are still kept."""
        there = self._stage.db.all(VERSION)
        return any((props["run"], props["version"]) == (run, version) and props["readable"] for props in there)

    def compare(self, run: str, version: int, hubs: Mapping[Any, frozenset[Any]], how: str) -> None:
        """Hold what a reader got against what was visible at that version."""
        if (run, version) not in self._seen:  # it sees half of a commit already, which is compared once that is whole
            self._early.append((run, version, hubs, how))
        elif (there := self._seen[run, version]) != hubs:
            self._stage.world.fail(f"a reader by {how} got {hubs} of {run} at version {version}, which had {there}")

    # --- At the end

    def at_the_end(self, truth: Mapping[Any, tuple[Any, ...]]) -> None:
        """Every run holds what the graph says; nothing is half done, and nothing belongs to nobody."""
        db = self._stage.db
        runs = {props["id"]: props["version"] for props in db.all(RUN)}
        assert runs, "no run is left"
        assert not self._early, f"a reader has seen what never came: {self._early}"
        assert all(runs.values()), f"a run that nobody sees is left: {runs}"
        for props in db.all(HUB):
            assert props["run"] in runs, f"a hub of no run: {props}"
            assert props["from"] <= runs[props["run"]], f"a hub of a version that never came: {props}"
            retired = props["until"] != CURRENT
            assert retired == (RETIRED in props), f"a hub that is retired by half: {props}"
            assert not retired or props["until"] <= runs[props["run"]], (
                f"retired for a version that never came: {props}"
            )
        for props in db.all(VERSION):
            assert props["run"] in runs, f"a version of no run: {props}"
        for run, version in runs.items():
            found = {
                hub[OWNER]: set(hub[MEMBERS])
                for hub in db.all(HUB)
                if hub["run"] == run and hub["from"] <= version < hub["until"]
            }
            assert found == {vertex: set(near) for vertex, near in truth.items()}, f"{run} has {found}, not {truth}"
