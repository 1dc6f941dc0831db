"""Metrics and health over HTTP keep within their limits, however many clients there are and whatever they send."""

from __future__ import annotations

import socket
import subprocess
import sys
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from pcneo.basics.config import ConnectionSettings
from pcneo.service import metrics, monitoring
from pcneo.service.figures import Figures
from pcneo.service.monitoring import monitored
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.serving import Service

pytest.importorskip("prometheus_client")


@pytest.fixture
def port() -> Iterator[int]:
    """Where a service that has no database answers."""
    nowhere = ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x")
    with monitored(Service(ServiceSettings(), lambda: nowhere), "0") as port:
        yield port


def fetch(port: int, path: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answered:
            return answered.status, answered.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_metrics_come_in_time_whatever_the_database_does(monkeypatch):
    monkeypatch.setattr(metrics, "ANSWER_SECONDS", 0.2)
    asked, released = [], threading.Event()

    class Stuck:
        def count_requests(self) -> dict[str, tuple[int, int]]:
            asked.append(1)
            released.wait(30)
            return {"requested": (1, 5)}

    service = Service(ServiceSettings(), lambda: ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x"))
    service.queue = Stuck()  # type: ignore[assignment]  all that the metrics ask for
    with monitored(service, "0") as port:

        def reachable_within_a_second() -> bytes:
            began = time.monotonic()
            text = fetch(port, "/metrics")[1]
            assert time.monotonic() - began < 1
            assert b"pcneo_requests{" not in text
            return text.partition(b"\npcneo_database_reachable ")[2][:3]

        assert reachable_within_a_second() == b"0.0"
        assert not asked  # while it has not answered a poll
        service.figures.note_answer()
        assert reachable_within_a_second() == b"1.0"
        assert reachable_within_a_second() == b"1.0"
        assert len(asked) == 1  # one question at a time
        service.figures.note_break()
        assert reachable_within_a_second() == b"0.0"
        released.set()


def say(port: int, text: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(text)
        answered = b""
        while taken := client.recv(65_536):
            answered += taken
        return answered


def half_sent(stack: ExitStack, port: int, number: int) -> list[socket.socket]:
    with ThreadPoolExecutor(number) as pool:  # one that finds the queue full tries again after a second, not alone
        connected = pool.map(lambda _: socket.create_connection(("127.0.0.1", port), timeout=30), range(number))
        clients = [stack.enter_context(client) for client in connected]
    for client in clients:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
    return clients


def has_ended(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_400_half_sent_requests_keep_nobody_out_and_no_thread(port):
    threads = threading.active_count()
    with ExitStack() as stack:
        half_sent(stack, port, 400)
        for _ in range(3):
            assert fetch(port, "/healthz")[0] == 503
            assert fetch(port, "/metrics")[0] == 200
        assert threading.active_count() <= threads + 1  # what asks the database


def test_a_half_sent_request_ends_in_time(port, monkeypatch):
    monkeypatch.setattr(monitoring, "PATIENCE", 0.5)
    with ExitStack() as stack:
        for client in half_sent(stack, port, 5):
            assert has_ended(client)


@pytest.mark.long
def test_the_oldest_connection_ends_where_one_more_would_be_too_many(port, monkeypatch):
    with ExitStack() as stack:
        (first,) = half_sent(stack, port, 1)
        half_sent(stack, port, monitoring.MOST_CONNECTIONS - 1)
        first.settimeout(1.0)
        with pytest.raises(TimeoutError):
            first.recv(1)
        half_sent(stack, port, 1)
        first.settimeout(30.0)
        assert has_ended(first)


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        (b"GET /healthz HTTP/1.0\r\n\r\n", b"HTTP/1.1 503 "),
        (b"GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 "),
        (b"POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /secrets HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 404 "),
        (b"\x16\x03\x01\x00\r\n\r\n", b"HTTP/1.1 400 "),
    ],
)
def test_what_is_asked_is_answered(port, text, answered):
    assert say(port, text).startswith(answered)


def test_a_head_has_no_body(port):
    head = say(port, b"HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert head.endswith(b"\r\n\r\n")
    assert b"Content-Length: 0" not in head


def test_a_request_without_end_ends(port):
    with (
        socket.create_connection(("127.0.0.1", port), timeout=30) as client,
        pytest.raises(OSError, match=r"reset|Broken pipe"),
    ):
        client.sendall(b"x" * 100_000_000)
    assert fetch(port, "/metrics")[0] == 200


def test_an_address_of_the_sixth_version_is_answered_too():
    nowhere = ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with (
        monitored(Service(ServiceSettings(), lambda: nowhere), "[::1]:0") as port,
        socket.create_connection(("::1", port), timeout=30) as client,
    ):
        client.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 503 ")


FEW = """
    import resource, socket, sys, time, urllib.error, urllib.request
    from pcneo.basics.config import ConnectionSettings
    from pcneo.service.monitoring import monitored
    from pcneo.service.service_settings import ServiceSettings
    from pcneo.service.serving import Service

    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    service = Service(ServiceSettings(), lambda: ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x"))
    with monitored(service, "0") as port:
        print(port, flush=True)
        held = []
        sys.stdin.readline()  # now all descriptors are to be gone
        try:
            while True:
                held.append(open("/dev/null"))
        except OSError:
            pass
        print("none left", flush=True)
        sys.stdin.readline()
        before = time.process_time()
        time.sleep(2)
        print(time.process_time() - before, flush=True)
        for file in held:
            file.close()
        print("enough", flush=True)
        sys.stdin.readline()
"""


@pytest.mark.long
def test_a_process_with_few_descriptors_answers_and_one_without_any_waits_idly():
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(FEW)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    to, said = process.stdin, process.stdout
    assert to is not None
    assert said is not None

    def go_on() -> None:
        to.write("\n")
        to.flush()

    with process, ExitStack() as stack:
        try:
            port = int(said.readline())
            half_sent(stack, port, 100)  # more than it has descriptors
            assert fetch(port, "/metrics")[0] == 200
            go_on()
            assert said.readline() == "none left\n"
            with socket.create_connection(("127.0.0.1", port), timeout=60) as late:
                late.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
                go_on()
                assert float(said.readline()) < 0.5  # of two seconds; a loop that spins takes all of them
                assert said.readline() == "enough\n"
                assert late.recv(100).startswith(b"HTTP/1.1 503 ")
            go_on()
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_seconds_are_kept_by_command_and_stage():
    figures = Figures()
    for seconds in (0.05, 0.1, 0.3, 4_000):
        figures.add_request("annotate", "complete", seconds)
    figures.add_request(["hostile"] * 100, "failed", 1)
    (place, (buckets, total)), (other, _) = figures.durations()
    assert (place, other) == (("annotate", "request"), ("other", "request"))
    assert total == 4_000.45
    assert dict(buckets)["0.1"] == 2  # a bound counts what it equals
    assert dict(buckets)["0.5"] == dict(buckets)["1800.0"] == 3
    assert buckets[-1] == ("+Inf", 4)
