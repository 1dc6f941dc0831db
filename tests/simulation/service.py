"""The service under simulation: services, command lines, readers and users on one graph, with kills on the way.

`Service`, `Worker`, `Lease`, `update_runs` and all of the store under them are as shipped. What is made up: the graph
is small, its cohesions are what `near` says at each vertex, and the plan names its vertices without asking.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self, Unpack

import numpy as np

from pcneo.annotate.plan import Asked, Plan, searches_of
from pcneo.annotate.stored_hubs import HubsOfVertices
from pcneo.annotate.writing import update_runs
from pcneo.basics.config import ConnectionSettings
from pcneo.basics.model import CohesionBatch
from pcneo.basics.searches import DEFAULT_SEARCH, Search
from pcneo.basics.selection import Selection
from pcneo.errors import PcneoError, RequestError
from pcneo.release import spending
from pcneo.service import serving
from pcneo.service.placing import ask
from pcneo.service.service_settings import ServiceSettings
from pcneo.store.database import Database
from pcneo.store.failures import translated
from pcneo.store.run_reader import HubColumns
from pcneo.store.standing import Keeping, run_id
from simulation.database import Node
from simulation.ledger import known_as, made_up_release
from simulation.processes import LARGE, Stage
from simulation.readers import read_at_one_version, read_in_one_statement
from simulation.rules import Rules
from simulation.statements.runs import CURRENT, MEMBERS, OWNER
from simulation.world import Process, current_world

__all__ = ["MadeUp", "ServiceStage", "plan_without_asking"]

GRAPH = "friends"
SELECTION = Selection("Person", "KNOWS", "id")
VERTICES = list(range(1, 6))
PS = ("1/2", "2/3")


class MadeUp:
    """A supply of cohesions: those that each vertex names, read one after another; a whole graph takes its time."""

    answers = ""
    from_files = False
    counts = (len(VERTICES), len(VERTICES))
    vertices = len(VERTICES)
    edges = len(VERTICES)

    def __init__(self, plan: Plan, vertices: Sequence[Any]) -> None:
        """Take the vertices that are asked for."""
        self._plan, self._asked = plan, list(vertices)
        self.scope = "graph" if plan.configuration["vertices"] is None else "vertices"

    def read(self) -> Self:
        """Read nothing yet."""
        return self

    def estimate(self, search: Search, beyond: int, *, most: int, seconds: float) -> None:
        """Return None: there are few."""

    def current_hubs(
        self, selection: Selection, run: str, version: int, key: bytes, pages: Iterable[HubColumns] | None = None
    ) -> HubsOfVertices:
        """Read the hubs of the vertices."""
        return HubsOfVertices.read(self._plan.db, selection, self._asked, run, version)

    def batches(self, search: Search) -> Iterator[CohesionBatch]:
        """Read what is near one or two vertices at a time."""
        step = current_world().rng.choice((1, 2))
        report = self._plan.searching(search)
        for start in range(0, len(self._asked), step):
            part = self._asked[start : start + step]
            near = [row["near"] for row in Stage.read(self._plan.db, "get_near", keys=part)]
            members = [sorted(VERTICES.index(key) for key in keys) for keys in near]
            report(min(start + step, len(self._asked)), len(self._asked))
            if self.scope == "graph":
                current_world().sleep(current_world().rng.choice((0.0, 0.3, 3.0)))
            yield CohesionBatch(
                search=search,
                vertices=np.array([VERTICES.index(vertex) for vertex in part], np.int64),
                offsets=np.cumsum([0, *map(len, members)]),
                members=np.array([at for places in members for at in places], np.uint32),
                edges=np.array([len(places) for places in members], np.int64),
                keys=np.array(VERTICES),
                proven=np.ones(len(part), bool),
                best=np.ones(len(part), bool),
            )

    def fingerprint(self, key: bytes) -> str | None:
        """Return None for single vertices, and some text for the whole graph."""
        return "made up" if self.scope == "graph" else None


def plan_without_asking(db: Database, mode: str, **asked: Unpack[Asked]) -> Plan:
    """A plan for the vertices that are named, or all there are."""
    searches = searches_of(**asked)
    vertices: Any = asked.get("vertices")
    configuration: Any = {"p": [str(search.p) for search in searches], "vertices": vertices}
    return Plan(
        db=db,
        graph=asked.get("graph") or GRAPH,
        known=db.list_graphs(),
        selection=SELECTION,
        searches=searches,
        vertices=list(vertices or VERTICES),
        concurrency=1,
        check=False,
        progress=asked.get("progress") or (lambda *_: None),
        configuration=configuration,
        started=0.0,
    )


@contextlib.contextmanager
def connected(_: ConnectionSettings) -> Iterator[Database]:
    """What `connect_to` gives to the process that asks for it."""
    world = current_world()
    assert world.current is not None
    yield world.stage.connected(world.current.process)


class ServiceStage(Stage):
    """One to three services, and clients that ask, annotate, edit, read, and hold locks."""

    replaced = MappingProxyType(
        {
            "pcneo.annotate.supply": {"Frontier": MadeUp},
            "pcneo.service.schedule": {"make_plan": plan_without_asking},
            "pcneo.service.work": {"make_plan": plan_without_asking},
            "pcneo.service.serving": {"connect_to": connected, "POLL_SECONDS": serving.SLOWEST_POLL_SECONDS},
        }
    )

    def __init__(self, seed: str, *, traced: bool = False) -> None:
        super().__init__(seed, traced=traced)
        rng = self.world.rng
        self.rules = Rules(self)
        self.db.on_commit.append(self.rules.look)
        self.put("PCohesionGraph", **known_as(GRAPH), lastVersion=1)
        total = {"epsilon": "1000/1", "delta": "0/1", "who": "owner", "at": self.db.date(self.world.now)}
        self.put("PCohesionBudget", graph=GRAPH, number=1, **total)
        self._put_run(PS[0])
        self.vertices = [self.put("Person", id=key, near=(key,)) for key in VERTICES]
        self.rules.begin()
        self.requests = 0
        self._over = False
        self._whole = rng.choice((0.0, 0.2, 0.4))
        self._serving: list[Process] = []
        services, clients, works, edits = (3, 4, 4, 8) if rng.random() < LARGE else (2, 2, 2, 3)
        for number in range(rng.randint(1, services)):
            self._serve(f"service{number}")
        for number in range(rng.randint(2, clients)):
            self.begin(f"client{number}", [self._draw() for _ in range(rng.randint(1, works))])
        self.begin("editor", ["edit"] * rng.randint(1, edits))
        director = Process("director")
        self.world.spawn(director, lambda: self._drain(director), "main")

    def _draw(self) -> str:
        kinds = (
            "ask",
            "ask",
            "place",
            "place",
            "annotate",
            "annotate",
            "annotate",
            "read",
            "read",
            "read at",
            "cancel",
        )
        rare = "clean", "delete", "hold a request", "hold the graph", "release"
        return self.world.rng.choice((*kinds, *rare, *["place beside a whole graph"] * 2))

    def _put_run(self, p: str) -> None:
        """Have a run at version 1, in which every cohesion is its vertex alone."""
        search = Search(p, DEFAULT_SEARCH)
        run = run_id(GRAPH, search, "vertices")
        named = {"graph": GRAPH, "scope": "vertices", "p": float(search.p), "pText": p, "search": search.name}
        self.put("PCohesionRun", id=run, **named, version=1)
        figures = ("added", "cohesions", "memberships", "nodeCount", "relationshipCount", "vertices", "edges")
        said = {**dict.fromkeys(figures, len(VERTICES)), "retired": 0, "pcneo": "x", "revision": 1, "effort": 1}
        times = dict.fromkeys(("startedAt", "finishedAt"), self.world.now)
        self.put("PCohesionVersion", run=run, version=1, readable=True, **said, **times)
        for key in VERTICES:
            hub = {"size": 1, "edges": 1, "proven": True, "best": True, OWNER: key, MEMBERS: (key,)}
            self.put("PCohesion", run=run, until=CURRENT, **{"from": 1}, **hub)

    def _serve(self, name: str) -> None:
        process = Process(name)
        settings = ServiceSettings(allow_clean=True, concurrency=1, grace=self.world.rng.choice((0.0, 20.0)))
        service = serving.Service(settings, lambda: ConnectionSettings("bolt://made-up", "neo4j", "", "neo4j"))

        def again() -> None:
            self.seen["service killed"] += 1
            self._serve(f"{name}'")

        process.on_kill.append(again)
        self._serving.append(process)
        self.world.spawn(process, lambda: self._run(service, name), "main")
        if self.world.rng.random() < 0.2:  # SIGTERM, and a service manager that begins it anew
            self.world.spawn(process, lambda: self._terminate(service, name), "signal")

    def _run(self, service: serving.Service, name: str) -> None:
        """Serve; a service manager takes a moment to begin a service anew."""
        if name.endswith("'"):
            self.world.sleep(self.world.rng.random() * 5)
        service.run()

    def _terminate(self, service: serving.Service, name: str) -> None:
        self.world.sleep(self.world.rng.random() * 20)
        service.end()
        self.seen["service ended"] += 1
        self._serve(f"{name}'")

    # --- What clients do

    def work(self, db: Database, item: str) -> None:
        """Do one piece of a client's work."""
        try:
            getattr(self, f"_{item.replace(' ', '_')}")(db)
            self.seen[item] += 1
        except PcneoError as error:
            self.seen[type(error).__name__] += 1

    def _values(self) -> dict[str, Any]:
        rng = self.world.rng
        asked = {"graph": GRAPH, "p": [PS[rng.random() < 0.2]]}
        if rng.random() < self._whole:
            return asked
        return {**asked, "vertices": sorted(rng.sample(VERTICES, rng.randint(2, 5)))}

    def _ask(self, db: Database) -> None:
        self.requests += 1
        timeout, name = self.world.rng.choice((2.0, 30.0, 200.0)), f"asked {self.requests}"
        try:
            ask(db, **self._values(), request=name, timeout=timeout)
            self.seen["answered"] += 1
        except RequestError as error:
            if error.data["status"] == "cancelled":
                self.rules.look_at_timeout(name)

    def _place(self, db: Database) -> None:
        """As a user does, in plain Cypher; sometimes the same again."""
        self.requests += 1
        name = f"placed {self.requests if self.world.rng.random() < 0.8 else 1}"
        with contextlib.suppress(PcneoError):
            db.write("place_request", id=name, values={"command": "annotate", **self._values()})

    def _place_beside_a_whole_graph(self, db: Database) -> None:
        for named in (None, *([vertex] for vertex in VERTICES[:3])):
            self.requests += 1
            asked = {"graph": GRAPH, "p": [PS[0]], **({} if named is None else {"vertices": named})}
            db.write("place_request", id=f"beside {self.requests}", values={"command": "annotate", **asked})
            self.world.sleep(self.world.rng.random() * 3)

    def _clean(self, db: Database) -> None:
        self.requests += 1
        run = run_id(GRAPH, Search(self.world.rng.choice(PS), DEFAULT_SEARCH), "vertices")
        db.write("place_request", id=f"clean {self.requests}", values={"command": "clean", "run": run})

    def _annotate(self, db: Database) -> None:
        values = self._values()
        plan = plan_without_asking(db, "write", p=values["p"], vertices=values.get("vertices"), graph=GRAPH)
        update_runs(plan, Keeping(self.world.rng.choice((1, 3)), self.world.rng.choice((0, 600))))

    def _release(self, db: Database) -> None:
        """Spend on a release that rests on the version of a run that was read a while ago."""
        if runs := db.list_runs():
            self.world.sleep(self.world.rng.choice((0.0, 0.3, 3.0)))
            self.world.counter += 1
            run = self.world.rng.choice(runs)
            release = made_up_release(f"release {self.world.counter}", GRAPH, Fraction(1), run)
            spending.spend(db, [release], spending.Terms())

    def _edit(self, db: Database) -> None:
        rng = self.world.rng
        vertex = rng.choice(VERTICES)
        self._change(
            db, "Person", lambda node: node.props is not None and node.props["id"] == vertex, near=self._near(vertex)
        )

    def _near(self, vertex: int) -> tuple[int, ...]:
        rng = self.world.rng
        return tuple(sorted({vertex, *rng.sample(VERTICES, rng.randint(0, 3))}))

    def _cancel(self, db: Database) -> None:
        if node := self._some_request():
            db.write("cancel_request", id=node.props["id"])

    def _delete(self, db: Database) -> None:
        if node := self._some_request():
            self._change(db, "PCohesionRequest", lambda other: other is node)

    def _some_request(self) -> Any:
        nodes = self.db.nodes["PCohesionRequest"]
        return self.world.rng.choice(nodes) if nodes else None

    def _change(self, db: Database, label: str, fits: Any, **values: Any) -> None:
        """Write to some nodes, or delete them, as a user does."""
        with translated(), db.session("WRITE") as session:
            opened: Any = session.begin_transaction()

            def work(node: Node) -> None:
                if values:
                    opened.transaction.set(node, **values)
                else:
                    opened.transaction.delete(node)

            for node in [node for node in self.db.nodes[label] if fits(node)]:
                opened.do("somebody's write", lambda node=node: work(node))
            opened.commit()

    def _hold_a_request(self, db: Database) -> None:
        self.hold(db, "PCohesionRequest")

    def _hold_the_graph(self, db: Database) -> None:
        self.hold(db, self.world.rng.choice(("PCohesionGraph", "PCohesionFence", "Person", "PCohesionRun")))

    def _read(self, db: Database) -> None:
        read_in_one_statement(self, db)

    def _read_at(self, db: Database) -> None:
        read_at_one_version(self, db, VERTICES)

    # --- The end

    def is_over(self) -> bool:
        """Whether all is drained."""
        return self._over

    def _drain(self, director: Process) -> None:
        """When the clients are done, wait for the services without further faults, and bring all runs up to date."""
        while self._busy:
            self.world.sleep(1.0)
        self.faults.__init__()  # nothing goes wrong any more, but what is on its way still arrives
        self.world.sleep(10.0)
        db = self.connected(director)
        self.world.say("drain")
        until = self.world.now + 4_000
        while waiting := [props for props in self.db.all("PCohesionRequest") if not self.rules.is_answered(props)]:
            if self.world.now > until:
                self.world.fail(f"never answered: {waiting}")
                return
            self.world.sleep(1.0)
        for process in self._serving:
            process.on_kill.clear()
            self.world.kill(process)
            self.db.lose(process, lambda: 0.0)
        for scope, vertices in (("vertices", VERTICES), ("graph", None)):
            ps = sorted({props["pText"] for props in self.db.all("PCohesionRun") if props["scope"] == scope})
            if ps or vertices is not None:
                self._bring_up_to_date(db, until, p=ps or PS[:1], vertices=vertices)
        self._over = True

    def _bring_up_to_date(self, db: Database, until: float, **asked: Unpack[Asked]) -> None:
        while True:
            try:
                update_runs(plan_without_asking(db, "write", **asked), Keeping())
            except PcneoError:
                self.world.sleep(5.0)
                if self.world.now > until:
                    raise
                continue
            return

    def at_the_end(self) -> None:
        """What is left is what a fresh database would hold, and nothing that belongs to nobody."""
        self.rules.at_the_end({node.props["id"]: node.props["near"] for node in self.vertices if node.props})
