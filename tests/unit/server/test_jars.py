"""Lock files and the cache of Neo4j's jars."""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from pcneo.errors import LocalServerError, ParameterError
from pcneo.server import browser, jars
from pcneo.server.jars import Jar, fetch_jars, known_versions, parse_lock, read_lock
from pcneo.store.statements import OWN_LABELS, OWN_TYPES

CONTENT = {"one": b"first jar", "two": b"second jar", "three": b"third jar"}


def jar_of(artifact: str) -> Jar:
    content = CONTENT[artifact]
    return Jar("org.example", artifact, "1.0", "", hashlib.sha256(content).hexdigest(), len(content))


def resolve(jar: Jar, part: Path) -> Path:
    part.mkdir(exist_ok=True)
    path = part / jar.filename
    path.write_bytes(CONTENT[jar.artifact])
    return path


def refuse(jar: Jar, part: Path) -> Path:
    raise ConnectionError(f"no route to {jar} for {part}")


@pytest.fixture
def all_jars() -> list[Jar]:
    return [jar_of(artifact) for artifact in CONTENT]


@pytest.mark.parametrize("version", ["2026.09.0", "5.26.25"])
def test_a_shipped_lock_pins_neo4j_itself_and_no_test_library(version):
    pinned = {f"{jar.group}:{jar.artifact}": jar for jar in read_lock(version)}
    assert pinned["org.neo4j:neo4j"].version == version
    assert len(pinned) > 200
    assert all(len(bytes.fromhex(jar.sha256)) == 32 and jar.size > 0 for jar in pinned.values())
    assert not [name for name in pinned if any(word in name for word in ("junit", "mockito", "hamcrest", "testkit"))]


def test_the_browsers_lock_pins_its_one_jar():
    lock = Path(browser.__file__).with_name(f"browser-{browser.BROWSER_VERSION}.lock")
    (jar,) = parse_lock(lock.read_text(encoding="utf-8"))
    assert str(jar) == f"org.neo4j.client:neo4j-browser:{browser.BROWSER_VERSION}"


def test_the_style_has_all_of_our_labels_and_types_and_reads_as_json_on_one_line():
    command = browser.browser_settings(1, 2)["browser.post_connect_cmd"]
    style = json.loads(command.removeprefix("style ").removesuffix("; clear"))
    assert style.keys() == {f"node.{label}" for label in OWN_LABELS} | {f"relationship.{name}" for name in OWN_TYPES}
    assert all(rule["color"].startswith("#") and "caption" in rule for rule in style.values())
    assert "\n" not in command


def test_versions_are_listed_in_the_order_of_their_numbers():
    assert known_versions() == ["5.26.25", "2026.09.0"]


def test_an_unknown_version_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"Neo4j 4\.4 .* 5\.26\.25, 2026\.09\.0"):
        read_lock("4.4")


@pytest.mark.parametrize("asked", [*([version] for version in known_versions()), ["browser", browser.BROWSER_VERSION]])
def test_the_script_that_pins_jars_writes_where_locks_are_read(asked: list[str]):
    _, _, lock = runpy.run_path(str(ROOT / "scripts" / "lock_jars"))["wanted"](asked)
    assert lock.is_file()


def test_a_lock_line_gives_coordinates_hash_and_size():
    text = f"# heading\n\norg.example:native:2.0:linux-x86_64 {'0f' * 32} 17\n"
    assert parse_lock(text) == [Jar("org.example", "native", "2.0", "linux-x86_64", "0f" * 32, 17)]
    assert parse_lock(text)[0].filename == "native-2.0-linux-x86_64.jar"
    assert str(parse_lock(text)[0]) == "org.example:native:2.0:linux-x86_64"


@pytest.mark.parametrize(
    "line",
    [
        "org.example:one:1.0",
        f"org.example:one {'0f' * 32} 17",
        f"org.example:one:1.0 {'0f' * 31} 17",
        f"org.example:one:1.0 {'0f' * 32} many",
        f"org.example:one:1.0:c:more {'0f' * 32} 17",
        f"org.other:good:1.0 {'0f' * 32} 17",
    ],
)
def test_a_lock_line_that_pins_no_jar_of_its_own_is_named_by_number(line):
    with pytest.raises(LocalServerError, match="Line 2"):
        parse_lock(f"org.example:good:1.0 {'0f' * 32} 17\n{line}\n")


def test_missing_jars_are_fetched_and_counted(tmp_path, all_jars):
    seen = []
    fetch_jars(all_jars, tmp_path, resolve=resolve, progress=lambda done, total: seen.append((done, total)))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        f"{artifact}-1.0.jar": content for artifact, content in CONTENT.items()
    }
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_complete_cache_fetches_nothing(tmp_path, all_jars):
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    seen = []
    fetch_jars(all_jars, tmp_path, resolve=refuse, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(3, 3)]


def test_a_half_written_jar_is_fetched_again(tmp_path, all_jars):
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    damaged = tmp_path / "two-1.0.jar"
    damaged.write_bytes(CONTENT["two"][:4])
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    assert damaged.read_bytes() == CONTENT["two"]


@pytest.mark.parametrize("at", [0, 5, -1])
def test_a_jar_with_one_byte_changed_is_fetched_again_and_told(tmp_path, all_jars, caplog, at):
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    damaged = tmp_path / "two-1.0.jar"
    content = bytearray(CONTENT["two"])
    content[at] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(LocalServerError, match="could not be fetched"):
        fetch_jars(all_jars, tmp_path, resolve=refuse)
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    assert damaged.read_bytes() == CONTENT["two"]
    assert "two-1.0.jar" in caplog.text


def test_a_jar_that_is_a_folder_or_a_link_to_nowhere_is_told(tmp_path, all_jars):
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    (tmp_path / "one-1.0.jar").unlink()
    (tmp_path / "one-1.0.jar").symlink_to("gone")
    fetch_jars(all_jars, tmp_path, resolve=resolve)
    assert (tmp_path / "one-1.0.jar").read_bytes() == CONTENT["one"]
    (tmp_path / "one-1.0.jar").unlink()
    (tmp_path / "one-1.0.jar").mkdir()
    with pytest.raises(LocalServerError, match="cannot be kept"):
        fetch_jars(all_jars, tmp_path, resolve=resolve)


def test_a_wrong_checksum_names_the_jar_and_both_hashes_and_leaves_no_file(tmp_path):
    good = jar_of("one")
    bad = Jar(good.group, good.artifact, good.version, "", "ab" * 32, good.size)
    with pytest.raises(LocalServerError) as caught:
        fetch_jars([bad], tmp_path, resolve=resolve)
    assert caught.value.data == {"jar": "org.example:one:1.0", "expected": bad.sha256, "got": good.sha256}
    assert all(part in str(caught.value) for part in ("org.example:one:1.0", bad.sha256, good.sha256))
    assert list(tmp_path.iterdir()) == []


def test_what_arrived_before_a_failure_is_kept_and_nothing_half_done(tmp_path, all_jars, monkeypatch):
    monkeypatch.setattr(jars, "THREADS", 1)

    def resolve_some(jar: Jar, part: Path) -> Path:
        return refuse(jar, part) if jar.artifact == "three" else resolve(jar, part)

    with pytest.raises(LocalServerError, match=r"org\.example:three:1\.0 could not be fetched .*check the network"):
        fetch_jars(all_jars, tmp_path, resolve=resolve_some)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one-1.0.jar", "two-1.0.jar"]


def test_a_download_that_fails_once_is_tried_again(tmp_path):
    calls = []

    def resolve_second_time(jar: Jar, part: Path) -> Path:
        calls.append(jar)
        return refuse(jar, part) if len(calls) == 1 else resolve(jar, part)

    fetch_jars([jar_of("one")], tmp_path, resolve=resolve_second_time)
    assert len(calls) == 2
    assert (tmp_path / "one-1.0.jar").read_bytes() == CONTENT["one"]


def test_an_interrupted_fetch_leaves_nothing_half_done(tmp_path, all_jars):
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_jars(all_jars, tmp_path, resolve=resolve, progress=interrupt)
    assert all(jar_of(path.name.removesuffix("-1.0.jar")).is_in(tmp_path) for path in tmp_path.iterdir())


def test_a_jar_that_the_lock_does_not_pin_is_removed(tmp_path, all_jars, monkeypatch):
    monkeypatch.setenv("PCNEO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jars, "read_lock", lambda _version: all_jars)
    monkeypatch.setattr(jars, "_jgo_resolve", lambda: resolve)
    folder = tmp_path / "neo4j-2026.09.0"
    folder.mkdir()
    (folder / "stranger-1.0.jar").write_bytes(b"left by an earlier lock")
    assert jars.ensure_jars("2026.09.0") == folder
    assert sorted(path.name for path in folder.iterdir()) == ["one-1.0.jar", "three-1.0.jar", "two-1.0.jar"]


def test_a_cache_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PCNEO_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(LocalServerError, match="cannot be created"):
        jars.ensure_jars("2026.09.0")


def test_without_jgo_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    with pytest.raises(LocalServerError, match=r"pip install '\.\[local\]'"):
        fetch_jars([jar_of("one")], tmp_path)


def test_without_a_network_there_is_one_sentence_and_no_remains(tmp_path):
    # Port 9 of the loopback address: nothing listens there, so every request through this "proxy" is refused.
    closed = dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"], "http://127.0.0.1:9")
    code = "from pcneo.server.jars import ensure_jars; ensure_jars('2026.09.0')"
    environment = {**os.environ, **closed, "NO_PROXY": "", "no_proxy": "", "PCNEO_CACHE_DIR": str(tmp_path)}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    last_line = answer.stderr.splitlines()[-1]
    assert last_line.startswith("pcneo.errors.LocalServerError: ")
    assert "could not be fetched from Maven Central" in last_line
    assert list((tmp_path / "neo4j-2026.09.0").iterdir()) == []
