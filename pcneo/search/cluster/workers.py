"""The workers of a cluster that may search: those that have our versions and the graph."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from pcneo.errors import ClusterError
from pcneo.search.cluster import remote
from pcneo.search.cluster.graph_image import GraphImage
from pcneo.search.cluster.scheduler_client import check_running, scheduler_failures
from pcneo.search.cohesion import REVISION

if TYPE_CHECKING:
    from distributed import Client, Future


PACKAGES = ("pcneo", "numpy", "numba")
"""What must have the same version everywhere: answers and compiled code depend on it."""
LOOK_SECONDS = 1.0
"""How often to look for workers that have come or gone."""
PATIENCE_SECONDS = 120
"""How long the cluster may have no worker that can search."""

log = logging.getLogger("pcneo")


class Workers:
    """The workers that may search a graph now.

    Attributes:
        ready: threads of each worker that has the graph, by address.
    """

    def __init__(self, client: Client, image: GraphImage) -> None:
        """Begin without workers."""
        self.ready: dict[str, int] = {}
        self._client, self._image = client, image
        self._refused: set[str] = set()
        self._looked_at = -LOOK_SECONDS
        self._alone_since: float | None = None
        self._begun = False

    @property
    def threads(self) -> int:
        """Threads that search at once."""
        return sum(self.ready.values())

    def look(self) -> None:
        """Add the workers that have come, and drop those that have gone."""
        check_running(self._client)
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return
        there = self._there()
        self.ready = {address: there[address] for address in self.ready if address in there}
        if new := sorted(there.keys() - self.ready.keys() - self._refused):
            fit = self._fitting(new)
            self.ready |= {address: there[address] for address in self._given_the_graph(fit)}
            self._begun = self._begun or bool(fit)
        self._looked_at = time.monotonic()
        self._be_patient()

    def has_lost(self, address: str) -> None:
        """Note that a worker no longer has the graph; it will be given the graph again."""
        self.ready.pop(address, None)
        self._looked_at = -LOOK_SECONDS

    def _there(self) -> dict[str, int]:
        with scheduler_failures(self._client):
            workers = self._client.scheduler_info()["workers"]
        return {address: worker["nthreads"] for address, worker in workers.items()}

    def _be_patient(self) -> None:
        if self.ready:
            self._alone_since = None
            return
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
            log.info("Waiting for workers.")
        if now - self._alone_since > PATIENCE_SECONDS:
            raise ClusterError(f"For {PATIENCE_SECONDS} seconds the cluster has had no worker that can search.")

    def _fitting(self, new: Iterable[str]) -> list[str]:
        """Return the workers with the right versions; the others are refused by name."""
        with scheduler_failures(self._client):
            said: Any = self._client.get_versions(packages=PACKAGES)
        ours = said["client"]["packages"]
        wrong: dict[str, str] = {}
        for address in new:
            theirs = (said["workers"].get(address) or {}).get("packages", {})
            differing = [
                f"{package} {theirs.get(package) or 'missing'}"
                for package in PACKAGES
                if theirs.get(package) != ours[package]
            ]
            if differing:
                wrong[address] = ", ".join(differing)
        if wrong:
            here = ", ".join(f"{package} {ours[package]}" for package in PACKAGES)
            listed = "; ".join(f"{address} has {what}" for address, what in wrong.items())
            self._refuse(wrong, f"This machine has {here}, but some workers have other versions: {listed}.")
        return [address for address in new if address not in wrong]

    def _refuse(self, addresses: Iterable[str], message: str) -> None:
        if not self._begun:
            raise ClusterError(f"{message} Install the same versions everywhere.", workers=list(addresses))
        log.warning("%s These workers are not used.", message)
        self._refused |= set(addresses)

    def _given_the_graph(self, workers: list[str]) -> list[str]:
        """Hand the graph to workers: by its file where they can read it, else by its bytes, sent once to each."""
        token = self._image.token
        took = self._on_each(workers, remote.take_file, token, str(self._image.path))
        lacking = [address for address, revision in took.items() if revision == -1]
        if lacking:
            data = np.fromfile(self._image.path, np.uint8)
            with scheduler_failures(self._client):
                sent = self._client.scatter(data, workers=lacking[:1], hash=False)
            took |= self._on_each(lacking, remote.take_bytes, token, sent)
        others = [address for address, revision in took.items() if revision not in (-1, REVISION)]
        if others:
            self._refuse(others, f"The search has another revision on {', '.join(others)}.")
        return [address for address, revision in took.items() if revision == REVISION]

    def _on_each(self, workers: Iterable[str], function: Callable[..., int], *arguments: Any) -> dict[str, int]:
        """Call a function on each worker; return its results from those that are still there afterwards."""
        from distributed import wait

        waiting: dict[str, Future] = {}
        for address in workers:
            waiting[address] = self._client.submit(
                function, *arguments, workers=[address], allow_other_workers=False, pure=False
            )
        results: dict[str, int] = {}
        while waiting:
            with scheduler_failures(self._client), suppress(TimeoutError), self._client.as_current():
                wait(list(waiting.values()), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
            check_running(self._client)
            for address in [address for address, future in waiting.items() if future.done()]:
                future = waiting.pop(address)
                if future.status == "error":
                    raise ClusterError(f"Worker {address} cannot take the graph: {future.exception()!r}")
                with scheduler_failures(self._client):
                    results[address] = future.result()
            there = self._there() if waiting else {}
            for address in [address for address in waiting if address not in there]:
                del waiting[address]
        return results
