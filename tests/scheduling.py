"""Which worker gets which test file.

Each core has a worker with its own Neo4j, for which it often waits. One further worker has none, and fills that time
with files that need no server. When no file that needs a server is left, the others help with the rest.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import Any

from xdist.scheduler import LoadFileScheduling

CORES = os.cpu_count() or 1
SERVER_FOLDERS = {"campaign", "integration"}
OWN_SERVERS = {"test_servers.py", "test_wheel.py"}
"""Files of these folders that do without the worker's server."""


class FilledWaiting(LoadFileScheduling):
    """Files in their order, those that need a server to the workers that have one."""

    def _assign_work_unit(self, node: Any) -> None:
        has_server = is_of_a_core(node) or not any(map(is_of_a_core, self.nodes))
        file = next((file for file in self.workqueue if needs_server(file) == has_server), None)
        if file is not None:
            self.workqueue.move_to_end(file, last=False)
        elif not has_server:
            node.shutdown()
            return
        super()._assign_work_unit(node)


def is_of_a_core(node: Any) -> bool:
    """Whether a worker may start a server; xdist keeps only as many workers as there are files, whichever they are."""
    return int(node.gateway.id.removeprefix("gw")) < CORES


def needs_server(file: str) -> bool:
    """Whether the tests of a file, as pytest names it, use the server of their worker."""
    path = PurePosixPath(file)
    return path.parent.name in SERVER_FOLDERS and path.name not in OWN_SERVERS
