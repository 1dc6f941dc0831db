"""The queue of requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulation.statements.registry import Props, Row, Statement, Transaction, statement_of

STATEMENTS: dict[str, Statement] = {}
statement = statement_of(STATEMENTS)

LABEL = "PCohesionRequest"
ANSWERED = ("complete", "failed", "cancelled")


def _is_key(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_past(time: Any, now: float) -> bool:
    return isinstance(time, float) and 0 <= time <= now


def _is_ahead(time: Any, now: float, ahead: float) -> bool:
    return isinstance(time, float) and now < time < now + ahead


def _is_claimable(props: Props, now: float, ahead: float) -> bool:
    if props.get("status") == "requested":
        return not _is_ahead(props.get("notBefore"), now, ahead) or props.get("cancel") is True
    return props.get("status") == "running" and not _is_ahead(props.get("leaseUntil"), now, ahead)


def _kind(value: object) -> str:
    """As `valueType` says it."""
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"LIST<{' | '.join(sorted({_kind(item) for item in value}))}> NOT NULL"
    names = {str: "STRING", bool: "BOOLEAN", int: "INTEGER", float: "FLOAT"}
    return f"{names[type(value)]} NOT NULL"


@statement
def place_request(tx: Transaction, id: object, values: Props) -> list[Row]:
    request, is_new = tx.merge(LABEL, id=id)
    if is_new:
        tx.set(request, **values, status="requested", requestedAt=tx.now)
    there = tx.props(request)
    asked = {name: there.get(name) for name in ("command", "graph", "p", "search", "vertices", "run")}
    return [{"status": there.get("status"), "asked": asked}]


@statement
def cancel_request(tx: Transaction, id: object) -> list[Row]:
    requests = tx.match(LABEL, id=id)
    for request in requests:
        tx.breathe()
        tx.set(request, cancel=True)
    return [{"cancelled": len(requests)}]


@statement
def poll_requests(
    tx: Transaction,
    limit: int,
    ahead: float,
    small: int,
    graphs: Sequence[str],
    elsewhere: Sequence[str],
    skip: Sequence[Any],
    busy: Sequence[str],
) -> list[Row]:
    found, now, is_open = [], tx.now, False
    requests = tx.match(LABEL)
    for request in requests:
        tx.breathe()
        props = tx.props(request)
        if _is_elsewhere(props, graphs, elsewhere):
            continue
        if _is_key(props.get("id")):
            is_open = is_open or props.get("status") in ("requested", "running")
            is_busy = props.get("graph") in busy and lane_of(props, small) != "cancelled"
            if _is_claimable(props, now, ahead) and props["id"] not in skip and not is_busy:
                entry = [props["id"], props.get("graph")]
                place = props.get("busySince") is not None, props["requestedAt"], request.number
                found.append((*place, lane_of(props, small), entry))
    lanes = {
        lane: [entry[-1] for entry in sorted(found) if entry[-2] == lane][:limit]
        for lane in ("cancelled", "small", "large")
    }
    return [{"requests": len(requests), "open": is_open, **lanes}]


def _is_elsewhere(props: Props, graphs: Sequence[str], elsewhere: Sequence[str]) -> bool:
    def begins(names: Sequence[str]) -> bool:
        return any(str(props.get("run", "")).startswith(f"{name}@") for name in names)

    return props["graph"] in elsewhere if props.get("graph") is not None else begins(elsewhere) and not begins(graphs)


def lane_of(props: Props, small: int) -> str:
    """Which lane of a service a request goes by."""
    if props.get("cancel") is True:
        return "cancelled"
    named = props.get("vertices")
    is_large = {
        "annotate": named is None or (isinstance(named, list) and len(named) > small),
        "check": props.get("run") is None,
        "clean": True,
    }
    return "large" if is_large.get(props.get("command", ""), False) else "small"


@statement
def enter_requests(tx: Transaction, skip: int, limit: int, statuses: list[str], message: str) -> list[Row]:
    def is_new(props: Props) -> bool:
        status = props.get("status")
        unknown = status is None or status not in statuses
        undated = status == "requested" and not _is_past(props.get("requestedAt"), tx.now)
        return unknown or undated or (status in ("requested", "running") and not _is_key(props.get("id")))

    found = [request for request in tx.match(LABEL) if is_new(tx.props(request))][skip : skip + limit]
    for request in found:
        tx.breathe()
        tx.lock(request)
        props = tx.props(request)
        status, requested = props.get("status"), props.get("requestedAt")
        is_sound = status is None or status in statuses
        tx.set(
            request,
            id=props["id"] if _is_key(props.get("id")) else f"made {tx.db.new_number()}",
            requestedAt=requested if _is_past(requested, tx.now) else tx.now,
            message=None if is_sound else message,
            finishedAt=None if is_sound else tx.now,
            status="requested" if is_sound else "failed",
        )
    return [{"entered": len(found)}]


@statement
def lock_requests(tx: Transaction, ids: Sequence[object]) -> list[Row]:
    locked = 0
    for id in ids:
        for request in tx.match(LABEL, id=id):
            tx.breathe()
            tx.set(request, lockedAt=tx.now)
            locked += 1
    return [{"locked": locked}]


@statement
def get_request(tx: Transaction, id: object, names: Sequence[str], longest: int, most: int, ahead: float) -> list[Row]:
    rows = []
    for request in tx.match(LABEL, id=id):
        props, now = tx.props(request), tx.now
        token = props.get("token")
        others = [tx.props(other) for other in tx.match(LABEL, status="running")] if token is not None else []
        is_shared = any(other.get("token") == token and other.get("id") != id for other in others)
        busy = props.get("busySince")
        values = [props.get(name) for name in names]
        rows.append(
            {
                "status": props["status"] if props.get("status") in ("requested", "running") else None,
                "claimable": _is_claimable(props, now, ahead),
                "cancel": props.get("cancel") is True,
                "attempts": props["attempts"] if type(props.get("attempts")) is int else 0,
                "token": token[:longest] if isinstance(token, str) and not is_shared else None,
                "busy": int(now) - int(busy) if busy is not None and _is_past(busy, now) else 0,
                "names": list(props)[:100],
                "kinds": [_kind(value) for value in values],
                "values": [None if isinstance(value, list | str) and len(value) > most else value for value in values],
            }
        )
    return rows


@statement
def claim_request(tx: Transaction, id: object, worker: str, token: str, attempts: int, lease: float) -> list[Row]:
    requests = tx.match(LABEL, id=id)
    for request in requests:
        values = {"worker": worker, "token": token, "attempts": attempts, "startedAt": tx.now, "progress": 0.0}
        tx.set(request, **values, status="running", leaseUntil=tx.now + lease, message=None, notBefore=None)
    return [{"claimed": len(requests)}]


@statement
def watch_request(tx: Transaction, id: object, token: str) -> list[Row]:
    return [
        {"held": tx.props(request).get("token") == token, "cancel": tx.props(request).get("cancel") is True}
        for request in tx.match(LABEL, id=id)
    ]


@statement
def renew_request(tx: Transaction, id: object, token: str, lease: float, progress: float) -> list[Row]:
    requests = tx.match(LABEL, id=id, token=token)
    for request in requests:
        tx.set(request, leaseUntil=tx.now + lease, progress=progress)
    return [{"renewed": len(requests)}]


@statement
def return_request(
    tx: Transaction, id: object, token: str, message: str | None, wait: float, attempts: int, busy: bool
) -> list[Row]:
    requests = tx.match(LABEL, id=id, token=token)
    for request in requests:
        since = tx.props(request).get("busySince")
        tx.set(
            request,
            status="requested",
            message=message,
            progress=0.0,
            attempts=attempts,
            notBefore=tx.now + wait,
            busySince=(since if _is_past(since, tx.now) else tx.now) if busy else None,
            token=None,
            leaseUntil=None,
        )
    return [{"returned": len(requests)}]


@statement
def finish_request(
    tx: Transaction,
    id: object,
    token: str,
    status: str,
    message: str | None,
    progress: float,
    runs: list[Props],
    **it: Any,
) -> list[Row]:
    requests = tx.match(LABEL, id=id, token=token)
    for request in requests:
        produced = list(tx.props(request).get(PRODUCED, ()))
        for row in runs:
            for run in tx.match("PCohesionRun", id=row["run"]):
                tx.lock(run)
                produced.append((row["run"], row["version"]))
        values = {"status": status, "message": message, "progress": progress, "version": it["version"]}
        gone = dict.fromkeys(("token", "leaseUntil", "busySince"))
        tx.set(request, **values, **gone, finishedAt=tx.now, **{PRODUCED: tuple(produced) or None})
    return [{"finished": len(requests)}]


PRODUCED = "(produced)"
"""What stands in for the relationships of a request: run and version of each."""


@statement
def refuse_requests(tx: Transaction, ids: Sequence[object], message: str, ahead: float) -> list[Row]:
    refused = 0
    for id in ids:
        for request in tx.match(LABEL, id=id):
            props = tx.props(request)
            lapsed = props.get("status") == "running" and not _is_ahead(props.get("leaseUntil"), tx.now, ahead)
            if props.get("status") == "requested" or lapsed:
                tx.set(request, status="failed", message=message, finishedAt=tx.now, token=None, leaseUntil=None)
                refused += 1
    return [{"refused": refused}]


@statement
def list_excess(tx: Transaction, waiting: int, limit: int) -> list[Row]:
    found = [tx.props(request) for request in tx.match(LABEL, status="requested")]
    ids = [(props["requestedAt"], at, props["id"]) for at, props in enumerate(found) if _is_key(props.get("id"))]
    return [{"ids": [entry[-1] for entry in sorted(ids)[waiting : waiting + limit]]}]


@statement
def delete_answers(tx: Transaction, seconds: float, keep: int, limit: int) -> list[Row]:
    def finished(props: Props) -> float:
        time = props.get("finishedAt")
        return time if time is not None and _is_past(time, tx.now) else 0.0

    answers = [request for request in tx.match(LABEL) if tx.props(request).get("status") in ANSWERED]
    latest = sorted(answers, key=lambda request: -finished(tx.props(request)))
    old = [request for request in answers if finished(tx.props(request)) < tx.now - seconds]
    gone = {*latest[keep:][:limit], *old[:limit]}
    for request in sorted(gone, key=lambda node: node.number):
        tx.breathe()
        tx.delete(request)
    return [{"deleted": len(gone)}]


@statement
def get_answer(tx: Transaction, id: object) -> list[Row]:
    return [
        {
            "status": props.get("status"),
            "progress": props.get("progress"),
            "message": props.get("message"),
            "runs": [list(entry) for entry in sorted(props.get(PRODUCED, ()))],
        }
        for props in (tx.props(request) for request in tx.match(LABEL, id=id))
    ]
