"""The service's rules without a database: what a request may ask for, what becomes of it, whose turn it is."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pcneo.basics.config import ConnectionSettings
from pcneo.errors import (
    BusyError,
    ConnectionFailedError,
    DatabaseError,
    GraphChangedError,
    GraphError,
    KeyPropertyError,
    NotFoundError,
    ParameterError,
    PcneoError,
    RequestError,
    RightsError,
)
from pcneo.service import desk, lanes, lease, serving, worker
from pcneo.service.desk import Desk
from pcneo.service.figures import Figures
from pcneo.service.lease import CancelledError, EndingError, Lease
from pcneo.service.placing import (
    AnsweredRequest,
    Patience,
    Pause,
    PlacedRequest,
    Statement,
    answer_of,
    conversation,
)
from pcneo.service.request_checks import Question, check_request
from pcneo.service.schedule import Schedule
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.worker import Worker
from pcneo.store.lending import Lending
from pcneo.store.requests import VALUES, Answer, Claim, LostClaimError, Waiting

# --- What the log says of a request


def test_a_line_of_the_log_stays_short_whatever_an_author_wrote() -> None:
    claim = claimed(graph="friends", p=["0.1", "0.3"], by="ann")
    assert worker._wanted(claim) == {"request": "r1", "graph": "friends", "p": ["0.1", "0.3"], "by": "ann"}
    long = claimed(graph=["g" * 1_000] * 1_000, p=["0.5"] * 1_000, by="b" * 1_000)
    assert all(len(str(value)) <= worker.LONGEST_NAME + 1 for value in worker._wanted(long).values())
    assert str(worker._wanted(long)["p"]).startswith("['0.5', '0.5', ")


# --- What a request may say


def claimed(*more: str, attempts: int = 1, cancel: bool = False, busy: int = 0, **values: Any) -> Claim:
    kinds = {name: "NULL" if values.get(name) is None else "SOMETHING NOT NULL" for name in VALUES}
    names = ("id", *(name for name in VALUES if values.get(name) is not None), *more)
    return Claim("r1", "token", attempts, cancel, busy, names, kinds, {name: values.get(name) for name in VALUES})


def checked(settings: ServiceSettings | None = None, known: tuple[str, ...] = (), **values: Any) -> Question:
    return check_request(claimed(**values), settings or ServiceSettings(), known)


def test_an_annotation_is_read_as_it_was_asked() -> None:
    question = checked(command="annotate", graph="friends", p=["0.3", 0.5], search="density", vertices=58, by="ann")
    assert (question.command, question.run, question.graph) == ("annotate", None, "friends")
    assert (question.vertices, question.search) == ([58], "density")
    assert [str(p) for p in question.p] == ["3/10", "1/2"]
    assert checked(command="annotate", graph="friends").vertices is None


def test_check_takes_a_graph_or_a_run_and_clean_a_run_where_the_owner_allows_it() -> None:
    assert checked(command="check", graph="friends").graph == "friends"
    assert checked(command="check", run="friends@3/10").run == "friends@3/10"
    either: list[dict[str, Any]] = [{}, {"graph": "friends", "run": "friends@3/10"}]
    for both in either:
        with pytest.raises(ParameterError, match="either a graph or a run"):
            checked(command="check", **both)
    with pytest.raises(RightsError, match="does not let requests remove runs"):
        checked(command="clean", run="friends@3/10")
    assert checked(ServiceSettings(allow_clean=True), command="clean", run="friends@3/10").run == "friends@3/10"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "command is missing; set command: 'annotate'"),
        ({"command": "release"}, "Only the owner can make releases and set budgets"),
        ({"command": "annotate"}, "graph is missing; set graph: 'first'"),
        ({"command": "annotate", "graph": ""}, "graph must be text"),
        ({"command": "annotate", "graph": 3}, "graph must be text"),
        ({"command": "annotate", "graph": "g", "run": "g@3/10"}, "run does not go with this command"),
        ({"command": "annotate", "graph": "g", "p": [True]}, "p must be a number between 0 and 1"),
        ({"command": "annotate", "graph": "g", "p": []}, "p is an empty list; leave it out for every standing run"),
        ({"command": "annotate", "graph": "g", "vertices": [1.5]}, "vertices must be a list of keys"),
        ({"command": "annotate", "graph": "g", "vertices": []}, "leave it out for the whole graph"),
        ({"command": "annotate", "graph": "g", "by": 3}, "by must be text"),
        ({"command": "check", "graph": "g", "p": 0.3}, "p does not go with this command"),
        ({"command": "check", "graph": "g", "vertices": [1]}, "vertices does not go with this command"),
        ({"command": "clean"}, r"run is missing\.$"),
        ({"command": "clean", "run": "r", "graph": "g"}, "graph does not go with this command"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_a_sentence(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        checked(known=("first", "second"), **values)


def test_a_property_that_no_request_has_is_refused_and_what_a_service_writes_is_not() -> None:
    with pytest.raises(ParameterError, match=r"A request has no property 'vertexes';.*Did you mean vertices\?"):
        check_request(claimed("vertexes", command="annotate", graph="g"), ServiceSettings())
    check_request(claimed("status", "attempts", "busySince", command="annotate", graph="g"), ServiceSettings())


def test_the_owners_limits_admit_as_much_as_they_say_and_no_more() -> None:
    settings = ServiceSettings(graphs=("friends",), max_vertices=3)
    asked: dict[str, Any] = {"command": "annotate", "graph": "friends"}
    assert checked(settings, **asked, vertices=[1, 2, 3]).vertices == [1, 2, 3]
    with pytest.raises(ParameterError, match=r"vertices has 4 keys; this service takes 3 per request"):
        checked(settings, **asked, vertices=[1, 2, 3, 4])
    several = [f"{i}/100" for i in range(1, 22)]
    assert len(checked(settings, **asked, p=several[:20]).p) == 20
    with pytest.raises(ParameterError, match="p has 21 values; at most 20"):
        checked(settings, **asked, p=several)
    for command in ("annotate", "check"):
        with pytest.raises(NotFoundError, match=r"does not answer for graph 'friend', only for 'friends'.*friends"):
            checked(settings, command=command, graph="friend")


# --- What whoever asks sees


def row(status: str | None, message: str | None = None, progress: float | None = None) -> dict[str, Any]:
    return {"status": status, "message": message, "progress": progress, "runs": [["friends@3/10", 7]]}


def test_an_answer_is_what_the_service_wrote_or_how_far_it_is() -> None:
    assert answer_of("r1", [row("complete", "Done.")]) == AnsweredRequest("r1", "Done.", (("friends@3/10", 7),))
    assert [answer_of("r1", [row(status, progress=share)]) for status, share in ((None, None), ("running", 0.25))] == [
        0.0,
        0.25,
    ]
    for rows, says in (
        ([row("failed", "p is 7.")], r"p is 7\."),
        ([row("cancelled")], r"The request was cancelled\."),
        ([], "'r1' is gone"),
    ):
        with pytest.raises(RequestError, match=says):
            answer_of("r1", rows)


def test_whoever_waits_looks_less_and_less_often_but_once_a_second_and_stops_at_the_timeout() -> None:
    patience = Patience("r1", None, 100.0)
    pauses = [patience.pause(100.0, row("running")) for _ in range(30)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.1, 1.0)
    impatient = Patience("r1", 2.0, 100.0)
    for _ in range(30):
        impatient.pause(100.5, row("running"))
    assert impatient.pause(101.75, row("running")) == 0.25
    with pytest.raises(RequestError, match=r"was not answered within 2 seconds, so it was cancelled"):
        impatient.pause(102.0, row("running"))


def test_that_nobody_takes_a_request_is_said_once_after_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    patience = Patience("r1", None, 0.0)
    for now in (0.0, 9.9):
        patience.pause(now, row("requested"))
    patience.pause(11.0, row("running"))
    patience.pause(11.0, row("requested", "Given back."))
    assert not caplog.records
    for now in (12.0, 13.0):
        patience.pause(now, row("requested"))
    assert len(caplog.records) == 1


def test_what_is_left_out_of_a_request_is_not_written() -> None:
    placed = PlacedRequest.of("annotate", "own", graph="friends", p="0.30", vertices=[58])
    asked = {"command": "annotate", "graph": "friends", "p": "0.30", "vertices": [58]}
    assert placed.parameters() == {"id": "own", "values": asked}
    several = PlacedRequest.of("annotate", "own", p=["0.30", 0.5], vertices=(58, 60)).parameters()["values"]
    assert (several["p"], several["vertices"]) == (["0.30", "0.5"], [58, 60])
    assert PlacedRequest.of("annotate", "own", vertices=58).parameters()["values"]["vertices"] == 58
    for name in ("p", "vertices"):
        with pytest.raises(ParameterError, match=f"{name} is an empty list; leave it out for"):
            PlacedRequest.of("annotate", "own", **{name: []}).parameters()
    assert PlacedRequest.of("check", None).id != PlacedRequest.of("check", None).id


def test_whoever_asks_places_a_request_and_looks_until_it_is_answered() -> None:
    told = list[tuple[Any, ...]]()
    talk = conversation(PlacedRequest.of("annotate", "r1", graph="friends"), None, lambda *what: told.append(what))
    assert next(talk) == Statement("place_request", {"id": "r1", "values": ANNOTATES}, writes=True)
    assert talk.send([]) == Statement("get_answer", {"id": "r1"})
    assert talk.send([row("running", progress=0.25)]) == Pause(0.1)
    assert talk.send([]) == Statement("get_answer", {"id": "r1"})
    with pytest.raises(StopIteration) as end:
        talk.send([row("complete", "Done.")])
    assert end.value.value == AnsweredRequest("r1", "Done.", (("friends@3/10", 7),))
    assert told == [("waiting", 25, 100)]


@pytest.mark.parametrize(
    ("there", "differs"),
    [
        ({"p": "3/10", "vertices": [58]}, None),
        ({"p": ["0.30"], "vertices": 58}, None),
        ({"p": "0.3", "vertices": [59]}, "vertices"),
        ({"p": "1/2", "vertices": [58, 59]}, "p, vertices"),
        ({"p": "nonsense", "vertices": [58]}, "p"),
        ({"p": "0.3"}, "vertices"),
        ({"p": "0.3", "vertices": [58], "search": "smallest"}, None),
        ({"p": "0.3", "vertices": [58], "search": "density", "graph": "others"}, "graph, search"),
    ],
)
def test_an_identifier_under_which_something_else_was_asked_is_refused_and_that_request_left_alone(
    there: dict[str, Any], differs: str | None
) -> None:
    talk = conversation(PlacedRequest.of("annotate", "r1", graph="friends", p=0.3, vertices=[58]), None, None)
    next(talk)
    asked = dict.fromkeys(["run", "search", "vertices"]) | ANNOTATES | there
    if differs is None:
        assert talk.send([{"status": "complete", "asked": asked}]) == Statement("get_answer", {"id": "r1"})
        return
    with pytest.raises(ParameterError, match=f"'r1' is there already and asks for something else \\({differs}\\)"):
        talk.send([{"status": "complete", "asked": asked}])


def test_a_time_that_cannot_be_and_a_name_that_no_request_has_are_refused() -> None:
    for timeout in (-1, float("nan")):
        with pytest.raises(ParameterError, match="timeout is a number of seconds, 0 or more"):
            next(conversation(PlacedRequest.of("annotate", "r1", graph="friends"), timeout, None))
    with pytest.raises(
        TypeError, match=r"^ask\(\) got an unexpected keyword argument 'vertix'\. Did you mean vertices\?$"
    ):
        PlacedRequest.of("annotate", "r1", vertix=[3])


ANNOTATES = {"command": "annotate", "graph": "friends"}
CANCELS = Statement("cancel_request", {"id": "r1"}, writes=True, last=True)


@pytest.mark.parametrize("placed", [False, True])
def test_an_interruption_cancels_the_request_whether_or_not_it_is_known_to_be_there(placed: bool) -> None:
    talk = conversation(PlacedRequest.of("annotate", "r1", graph="friends"), None, None)
    next(talk)
    if placed:
        talk.send([])
    assert talk.throw(KeyboardInterrupt()) == CANCELS
    with pytest.raises(KeyboardInterrupt):
        talk.send([])


def test_what_has_failed_or_was_never_placed_is_not_cancelled_and_what_is_gone_or_late_is() -> None:
    def talking(timeout: float | None = None) -> Any:
        talk = conversation(PlacedRequest.of("annotate", "r1", graph="friends"), timeout, None)
        next(talk)
        return talk

    with pytest.raises(DatabaseError):
        talking().throw(DatabaseError("Down."))
    failing = talking()
    failing.send([])
    with pytest.raises(RequestError):
        failing.send([row("failed", "p is 7.")])
    late = talking(timeout=0.0)
    late.send([])
    assert late.send([row("running")]) == CANCELS


# --- What becomes of a request


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


class Queue:
    """Notes what it is told; `raised` is what it raises, one after the other."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.raised: list[Exception] = []
        self.watched = False
        self.db = self

    def list_graphs(self) -> list[Any]:
        return []

    def finish(self, claim: Claim, answer: Answer, progress: float) -> None:
        self._note("finish", answer.status, answer.message)

    def give_back(self, claim: Claim, message: str, *, wait: float, attempts: int, busy: bool) -> None:
        self._note("give back", wait, attempts, busy)

    def refuse(self, ids: list[Any], message: str) -> None:
        self._note("refuse", *ids, message)

    def watch(self, claim: Claim) -> bool:
        return self.watched

    def _note(self, *what: Any) -> None:
        if self.raised:
            raise self.raised.pop(0)
        self.told.append(what)


def work_that(error: Exception | None, trims: list[bool] | None = None) -> type:
    """Work that fails, or looks once at its lease and is done; it notes whether it is to trim."""

    class Work:
        def __init__(self, *given: Any) -> None:
            self.lease, self.trims = given[4], given[7]

        def do(self) -> Answer:
            if error is not None:
                raise error
            self.lease.check()
            if trims is not None:
                trims.append(self.trims)
            return Answer("complete", "Done.")

    return Work


def worker_of(queue: Any, note: Any = lambda *_: None) -> Worker:
    return Worker(queue, ServiceSettings(), Figures(), Lending(), note)


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the queue is told of a request whose work raises an error, and what the desk is told of its graph."""

    def told(error: Exception | None, *, raised: list[Exception] | None = None, **claim: Any) -> list[tuple[Any, ...]]:
        queue, notes = Queue(), list[tuple[str, bool]]()
        queue.raised = raised or []

        monkeypatch.setattr(worker, "Work", work_that(error))
        monkeypatch.setattr(worker.time, "sleep", lambda _: None)
        values = {"command": "annotate", "graph": "friends", **claim}
        worker_of(queue, lambda *note: notes.append(note)).work_on(claimed(**values))
        return [*queue.told, *notes]

    return told


def test_a_parameter_that_cannot_be_right_fails_at_once_and_so_does_what_a_second_attempt_would_not_help(
    outcome,
) -> None:
    assert outcome(None, command="release")[0][:2] == ("finish", "failed")
    assert outcome(ParameterError("p is 7."))[0] == ("finish", "failed", "p is 7.")
    assert outcome(RightsError("Not allowed."))[0] == ("finish", "failed", "Not allowed.")


def test_three_attempts_of_a_troubled_database_or_of_dead_workers_and_no_fourth(outcome) -> None:
    assert [outcome(DatabaseError("Down."), attempts=n) for n in (1, 2)] == [
        [("give back", 2.0, 1, False)],
        [("give back", 4.0, 2, False)],
    ]
    assert outcome(DatabaseError("Down."), attempts=3) == [("finish", "failed", "Given up after 3 attempts. Down.")]
    assert outcome(None, attempts=3) == [("friends", False)]
    (told,) = outcome(None, attempts=4)
    assert told[:2] == ("finish", "failed")


@pytest.mark.parametrize("busy", [0, 7, 1_000])
def test_a_busy_graph_costs_no_attempt_and_half_a_minute_at_most(outcome, busy: int) -> None:
    for error in (BusyError("Held.", graph="friends"), GraphChangedError("Moved.")):
        (what, wait, attempts, is_busy), *notes = outcome(error, attempts=2, busy=busy)
        assert (what, attempts, is_busy) == ("give back", 1, True)
        assert 0.6 * min(30, max(0.5, busy)) <= wait <= min(30, max(0.5, busy))
        assert notes == ([("friends", True)] if isinstance(error, BusyError) else [])


def test_a_day_of_a_busy_graph_is_enough(outcome) -> None:
    assert outcome(GraphChangedError("Moved."), busy=86_400)[0][0] == "give back"
    assert outcome(GraphChangedError("Moved."), busy=86_401)[0][:2] == ("finish", "failed")


def test_what_is_stopped_is_cancelled_or_given_back_and_costs_no_attempt(outcome) -> None:
    assert outcome(CancelledError("Cancelled."))[0] == ("finish", "cancelled", "Cancelled.")
    assert outcome(EndingError("Stopped."), attempts=2) == [("give back", 0.0, 1, False)]
    assert outcome(None, cancel=True)[0][:2] == ("finish", "cancelled")


def test_a_request_that_has_waited_for_others_goes_on_with_its_day_when_a_service_ends(outcome) -> None:
    assert outcome(EndingError("Stopped."), attempts=2, busy=100) == [("give back", 0.0, 1, True)]
    queue = Queue()
    worker_of(queue).cancel(claimed(busy=100, cancel=False))
    assert queue.told == [("give back", 0.0, 0, True)]


def test_an_answer_is_tried_again_while_the_claim_counts_and_not_once_it_is_lost(outcome) -> None:
    twice = [DatabaseError("Down."), BusyError("Held.")]
    assert outcome(ParameterError("p is 7."), raised=twice) == [("finish", "failed", "p is 7.")]
    assert outcome(ParameterError("p is 7."), raised=[LostClaimError("Lost.")]) == []
    assert outcome(LostClaimError("Lost.")) == []


def test_once_the_service_is_to_end_a_request_that_it_still_begins_is_given_back(monkeypatch) -> None:
    monkeypatch.setattr(worker, "Work", work_that(None))
    queue = Queue()
    ending = worker_of(queue)
    ending.end()
    ending.work_on(claimed(command="annotate", graph="friends"))
    assert queue.told == [("give back", 0.0, 0, False)]
    queue.raised = [DatabaseError("Down.")]  # and nobody waits for the database then
    ending.work_on(claimed(command="annotate", graph="friends"))
    assert len(queue.told) == 1


def test_earlier_versions_go_after_whole_graphs_and_every_half_minute_after_single_vertices_of_a_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trims, clock = list[bool](), Clock()
    monkeypatch.setattr(worker, "Work", work_that(None, trims))
    monkeypatch.setattr(worker, "time", clock)
    one = worker_of(Queue())
    for seconds, graph, vertices in (
        *((0, "a", [1]), (29, "a", [1]), (0, "b", [1]), (1, "a", [1])),
        *((1, "a", None), (1, "a", None), (1, "a", [1])),
    ):
        clock.now += seconds
        one.work_on(claimed(command="annotate", graph=graph, vertices=vertices))
    assert trims == [True, False, True, True, True, True, False]


def test_no_message_names_keys_that_nobody_asked_for_nor_runs_on(outcome) -> None:
    assert "sarah" not in outcome(KeyPropertyError("The key 'sarah' is there twice."))[0][2]
    assert "sarah" not in outcome(ValueError("sarah"), attempts=3)[0][2]
    assert outcome(PcneoError("x" * 501))[0][2] == "x" * 500 + "…"
    assert outcome(PcneoError("x" * 500))[0][2] == "x" * 500


# --- How far it is


def progress_of(*stages: tuple[str, int, int | None], parts: int = 1) -> float:
    queue: Any = Queue()
    keeping = Lease(queue, claimed(), parts)
    for stage in stages:
        keeping(*stage)
    return keeping.progress


def test_progress_counts_reading_for_a_tenth_and_every_search_alike_and_never_falls() -> None:
    assert progress_of(("reading vertices", 5, 10)) == pytest.approx(0.05)
    assert progress_of(("searching 1/2", 1, 2)) == pytest.approx(0.1 + 0.85 / 2)
    assert progress_of(("searching 1/2", 2, 2), parts=2) == pytest.approx(0.1 + 0.85 / 2)
    both = ("searching 1/2", 2, 2), ("searching 1/3", 1, 2)
    assert progress_of(*both, parts=2) == pytest.approx(0.1 + 0.85 * 0.75)
    assert progress_of(*both, ("reading vertices", 1, 10), parts=2) == pytest.approx(0.1 + 0.85 * 0.75)
    assert progress_of(("searching 1/2", 0, None)) == pytest.approx(0.1)
    assert progress_of(("writing", 10, 10)) == 0.0


def test_a_lease_that_was_stopped_stops_the_work_at_its_next_step_for_the_first_reason() -> None:
    queue: Any = Queue()
    keeping = Lease(queue, claimed())
    keeping.check()
    keeping.stop(CancelledError("Cancelled."))
    keeping.stop(EndingError("Stopped."))
    assert keeping.flag[0] == 1
    assert keeping.stopping.is_set()
    with pytest.raises(CancelledError):
        keeping("reading vertices", 1, 10)


class Watched(Queue):
    """A queue in which each look at a request is counted, and so is what is done for it."""

    def __init__(self, cancelled_after: int = 10**9) -> None:
        super().__init__()
        self.looks, self.cancelled_after = 0, cancelled_after

    def watch(self, claim: Claim) -> bool:
        self.looks += 1
        return self.looks > self.cancelled_after

    def renew(self, claim: Claim, progress: float) -> None:
        self._note("renew", progress)

    def terminate(self, token: str) -> None:
        self._note("terminate", token)


def until(done: Any) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_claim_is_renewed_every_ten_seconds_without_progress_and_at_once_with_some(monkeypatch) -> None:
    assert lease.RENEW_SECONDS == 10  # a lease counts for 30
    queue: Any = Watched()
    monkeypatch.setattr(lease, "WATCH_SECONDS", 0.001)
    with Lease(queue, claimed()) as keeping:
        until(lambda: queue.looks > 20)
        assert not queue.told
        keeping("searching 1/2", 1, 2)
        until(lambda: queue.told)
        looks = queue.looks
        until(lambda: queue.looks > looks + 20)
        assert queue.told == [("renew", keeping.progress)]
        monkeypatch.setattr(lease, "RENEW_SECONDS", 0.0)
        until(lambda: len(queue.told) > 3)


def test_a_cancel_stops_the_work_and_ends_a_statement_that_the_work_waits_for(monkeypatch) -> None:
    monkeypatch.setattr(lease, "WATCH_SECONDS", 0.001)
    queue: Any = Watched(cancelled_after=1)
    with Lease(queue, claimed()) as keeping:
        until(lambda: ("terminate", "token") in queue.told)
        with pytest.raises(CancelledError):
            keeping.check()
        looks = queue.looks
        until(lambda: queue.looks > looks + 3)
        ended = queue.told.count(("terminate", "token"))
        looks = queue.looks
        until(lambda: queue.looks > looks + 10)
        assert queue.told.count(("terminate", "token")) == ended  # the work has noticed, and cleans up after itself


# --- Whose turn it is


class Claims(Queue):
    """A queue whose requests fail to be claimed for the reasons that are given, by request."""

    def __init__(self, **reasons: Exception) -> None:
        super().__init__()
        self.reasons = reasons
        self.asked: list[str] = []

    def claim(self, id: str, name: str) -> Claim | None:
        self.asked.append(id)
        if id in self.reasons:
            raise self.reasons[id]
        return claimed(graph=id)

    def poll(self, **_: object) -> Waiting:
        return Waiting(0, True, [], [], [])

    def refuse_excess(self, most: int) -> int:
        return 0

    def enter(self, limit: int, skip: int) -> int:
        return 0

    def delete_answers(self, seconds: float, keep: int) -> int:
        return 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(desk, "time", clock)
    return clock


def desk_of(queue: Any) -> Desk:
    return Desk(queue, ServiceSettings(), "me", lambda: None)


def first(of: Desk, *waiting: tuple[str, str | None]) -> object:
    claim = of.claim_first(waiting)
    return None if claim is None else claim.values["graph"]


def test_the_first_request_goes_first_unless_its_graph_is_busy(clock: Clock) -> None:
    of = desk_of(Claims())
    assert first(of, ("one", "a"), ("two", "b")) == "one"
    of.note("a", True)
    assert first(of, ("one", "a"), ("two", "b"), ("three", None)) == "two"
    of.note("a", False)
    assert first(of, ("one", "a"), ("two", "b")) == "one"
    assert first(of) is None


def test_no_request_for_a_busy_graph_passes_an_earlier_one_because_a_claim_takes_long(clock: Clock) -> None:
    class Slow(Claims):
        def claim(self, id: str, name: str) -> Claim | None:
            clock.now += 35
            return super().claim(id, name)

    of = desk_of(Slow(other=BusyError("Held.")))
    of.note("a", True)
    assert first(of, ("one", "a"), ("other", None), ("two", "a")) is None
    assert first(of, ("one", "a"), ("two", "a")) == "one"


def test_a_busy_graph_is_left_alone_for_two_seconds_and_longer_while_it_stays_so_up_to_five(clock: Clock) -> None:
    of = desk_of(Claims())
    for begins, seconds in ((0.0, 2.0), (2.0, 2.0), (4.0, 4.0), (8.0, 5.0)):
        clock.now = 1_000.0 + begins
        of.note("a", True)
        clock.now += seconds - 0.01
        assert first(of, ("one", "a")) is None
        clock.now += 0.01
        assert first(of, ("one", "a")) == "one"


def test_a_request_that_somebody_holds_is_left_alone_for_half_a_minute_and_stops_no_other(clock: Clock) -> None:
    queue: Any = Claims(held=BusyError("Held."))
    of = desk_of(queue)
    assert first(of, ("held", None), ("two", None)) == "two"
    clock.now += 29
    of.look()
    assert first(of, ("held", None), ("two", None)) == "two"
    assert queue.asked == ["held", "two", "two"]
    clock.now += 1
    of.look()
    assert first(of, ("held", None), ("two", None)) == "two"
    assert queue.asked == ["held", "two", "two", "held", "two"]


def test_what_cannot_be_claimed_is_refused_with_its_reason_at_once_or_after_three_troubles(clock: Clock) -> None:
    queue: Any = Claims(odd=OverflowError("1e999"), troubled=DatabaseError("Down."))
    of = desk_of(queue)
    assert first(of, ("odd", None), ("two", None)) == "two"
    assert [told[:2] for told in queue.told] == [("refuse", "odd")]
    for _ in range(3):
        assert len(queue.told) == 1
        assert first(of, ("troubled", None), ("two", None)) == "two"
        clock.now += desk.LONGEST_WAIT
        of.look()
    assert [told[:2] for told in queue.told[1:]] == [("refuse", "troubled")]
    queue.reasons = {"one": ConnectionFailedError("Gone.")}
    with pytest.raises(ConnectionFailedError):
        first(of, ("one", None))


# --- New requests and old answers


class Box(Claims):
    """A queue with new requests, of which somebody's transactions hold some, and with answers to forget."""

    def __init__(self, clock: Clock, new: int = 0, held: tuple[int, ...] = (), why: type[PcneoError] = BusyError):
        super().__init__()
        self.clock, self.new, self.held, self.why = clock, list(range(new)), set(held), why
        self.requests, self.entries, self.refusals = 0, 0, 0
        self.answers, self.forgetting_takes, self.asked_to_keep = [0], 0.0, list[tuple[float, int]]()

    def poll(self, **_: object) -> Waiting:
        return Waiting(self.requests, True, [], [], [])

    def enter(self, limit: int, skip: int) -> int:
        self.entries += 1
        batch = self.new[skip : skip + limit]
        if self.held & set(batch):
            raise self.why("Held.")
        self.new = [request for request in self.new if request not in set(batch)]
        return len(batch)

    def refuse_excess(self, most: int) -> int:
        self.refusals += 1
        if self.raised:
            raise self.raised.pop()
        return 0

    def delete_answers(self, seconds: float, keep: int) -> int:
        self.asked_to_keep.append((seconds, keep))
        self.clock.now += self.forgetting_takes
        if isinstance(deleted := self.answers.pop(0) if self.answers else 0, type):
            raise deleted("Held.")
        return deleted


def test_new_requests_are_entered_when_their_number_shows_them_and_every_three_seconds(clock: Clock) -> None:
    queue: Any = Box(clock)
    of = desk_of(queue)
    entries = []
    for seconds, requests in ((0, 0), (1, 0), (1, 5), (1, 5), (2, 5)):
        clock.now += seconds
        queue.requests = requests
        of.look()
        entries.append(queue.entries)
    assert entries == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("why", [BusyError, DatabaseError])
def test_all_new_requests_go_in_beside_those_that_somebody_holds(clock: Clock, why: type[PcneoError]) -> None:
    queue: Any = Box(clock, 2_500, (0, 1_200, 2_499), why)
    desk_of(queue).look()
    assert queue.new == [0, 1_200, 2_499]


def test_behind_ten_requests_that_are_held_the_others_wait(clock: Clock) -> None:
    for held, left in ((9, 9), (10, 15)):
        queue: Any = Box(clock, 15, tuple(range(held)))
        desk_of(queue).look()
        assert len(queue.new) == left


def test_too_many_requests_that_cannot_be_refused_now_are_left_for_half_a_minute(clock: Clock) -> None:
    queue: Any = Box(clock)
    queue.raised = [DatabaseError("Held.")]
    of = desk_of(queue)
    asked = []
    for seconds in (0, 27, 3):
        clock.now += seconds
        of.look()
        asked.append(queue.refusals)
    assert asked == [1, 1, 2]


def test_old_answers_go_once_a_minute_all_of_them_but_never_for_more_than_ten_seconds(clock: Clock) -> None:
    queue: Any = Box(clock)
    queue.answers = [1_000, 1_000, 0]
    of = Desk(queue, ServiceSettings(keep_days=2, keep_answers=50), "me", lambda: None)
    of.look()
    assert queue.asked_to_keep == [(2 * 86_400, 50)] * 3
    clock.now += 59
    of.look()
    assert len(queue.asked_to_keep) == 3
    clock.now += 1
    queue.answers, queue.forgetting_takes = [1_000] * 10, 4.0
    of.look()
    assert len(queue.asked_to_keep) == 6  # and goes on with the next look
    of.look()
    assert len(queue.asked_to_keep) == 9


def test_answers_that_somebody_holds_are_kept_for_a_minute_more(clock: Clock) -> None:
    queue: Any = Box(clock)
    queue.answers = [DatabaseError, 0]
    of = desk_of(queue)
    of.look()
    of.look()
    assert len(queue.asked_to_keep) == 1


def test_an_outage_is_logged_in_plain_words_and_tried_again_after_eight_seconds_at_most(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serving, "_warm_up", lambda: None)
    service = serving.Service(ServiceSettings(), lambda: ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x"))
    pauses: list[float] = []

    def fail() -> None:
        if len(pauses) == 4:
            service._ending.set()
        raise ConnectionFailedError("No Neo4j answered.")

    monkeypatch.setattr(service, "_serve", fail)
    monkeypatch.setattr(service._ending, "wait", pauses.append)
    service.run()
    assert pauses[:4] == [2, 4, 8, 8]
    assert caplog.messages[0] == "cannot reach the database; trying again in 2 s"
    assert caplog.messages[4] == "cannot reach the database"  # it is to end
    assert vars(caplog.records[0])["values"] == {"why": "No Neo4j answered."}


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ConnectionFailedError("Gone."), ("the worker for whole graphs lost the database", "Gone.")),
        (ValueError("x"), ("the worker for whole graphs failed", "ValueError('x')")),
    ],
)
def test_what_ends_a_worker_is_said_in_plain_words(
    error: Exception, says: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        raise error

    nobody: Any = None
    lane = lanes._Lane("large", "whole graphs", nobody, threading.Event(), lambda: None)
    lane.begin(work)
    lane.join()
    assert (caplog.messages[0], vars(caplog.records[0])["values"]["why"]) == says


# --- Graphs that are looked at without being asked for


class Looks:
    """A queue of which two graphs are due, and the first cannot be looked at."""

    def __init__(self) -> None:
        self.db: Any = self
        self.asked: list[str] = []

    def list_due(self) -> set[str]:
        self.asked.append("what is due")
        return {"a", "b"}

    def list_graphs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in "abc"]

    def claim_due(self, graph: str, *_: float) -> None:
        self.asked.append(graph)
        if graph == "a":
            raise GraphError("It is not what it was.")

    def list_runs(self) -> list[Any]:
        return []


def test_a_graph_that_cannot_be_looked_at_stops_no_other_and_what_is_due_is_asked_every_few_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue: Any = Looks()
    schedule = Schedule(queue, ServiceSettings(every=60), Figures(), lambda *_: None, Lending())
    assert schedule.is_due()
    for _ in range(3):
        schedule.step()
    assert queue.asked == ["what is due", "a", "b"]
    assert not schedule.is_due()
    assert caplog.messages == ["not updated"]
