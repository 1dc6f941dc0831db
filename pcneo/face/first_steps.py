"""What a first try from Python needs: the graph that comes with pcneo, and a Neo4j only on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pcneo.basics.model import AnyPath

if TYPE_CHECKING:
    from pcneo.server.servers import LocalServer


def sample_path() -> Path:
    """Return the path of the edge list that comes with pcneo, the friendships of 800 students.

    >>> import pcneo
    >>> pcneo.sample_path().name
    'copenhagen_friends.edges.gz'
    """
    return Path(__file__).parents[1] / "cli" / "sample" / "copenhagen_friends.edges.gz"


def start_server(data: AnyPath | None = None) -> LocalServer:
    """Start a Neo4j Community on this machine, for you alone, or find it running.

    It is fetched when it is first needed (about 155 MB), and keeps running until `stop_server`, even after Python ends.

    >>> server = pcneo.start_server("my-graphs")  # doctest: +SKIP
    >>> db = pcneo.connect(server.uri, auth=(server.username, server.password))  # doctest: +SKIP

    Args:
        data: the folder of its data, which is created if missing; None for the default folder of `pcneo server`.

    Raises:
        LocalServerError: Neo4j cannot be fetched or started.
    """
    from pcneo.server.servers import start

    return start(_folder(data))


def stop_server(data: AnyPath | None = None) -> bool:
    """Stop the server that runs on a data folder, and keep the data; return whether a server was running.

    >>> pcneo.stop_server("my-graphs")  # doctest: +SKIP
    True

    Args:
        data: the folder, as for `start_server`.
    """
    from pcneo.server.servers import stop

    return stop(_folder(data))


def _folder(data: AnyPath | None) -> Path | None:
    if data is not None and not isinstance(data, str | os.PathLike):
        raise TypeError(f"data is the folder of a server's data, not {data!r}, which is {type(data).__name__}")
    return None if data is None else Path(data)
