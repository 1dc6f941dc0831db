"""A database as Python users hold it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

from pcneo.basics.keys import check_text
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.selection import Selection
from pcneo.errors import ParameterError
from pcneo.face.graph_handle import GraphHandle, graph_handle
from pcneo.face.listings import Listing, record_row
from pcneo.face.run_handle import Run
from pcneo.service.blocking import ask as ask_service
from pcneo.service.placing import AnsweredRequest
from pcneo.store.connection import connect as connect_to_store

if TYPE_CHECKING:
    import neo4j

    from pcneo.annotate.load import LoadResult
    from pcneo.face.release_handle import Counts
    from pcneo.graph.given import GivenGraph
    from pcneo.release.budget import GraphBudget
    from pcneo.release.checking import Checked
    from pcneo.server.servers import LocalServer
    from pcneo.store.database import Database
    from pcneo.stored.cleaning import CleanResult


log = logging.getLogger("pcneo")


class Db:
    """One database of a server. Use it in a `with` block, or `close` it; `pcneo.connect` makes it.

    The examples of this class are of a database with the sample that comes with pcneo.

    >>> with pcneo.connect() as db:
    ...     print(db.graphs())
    [Graph 'friends': Person/KNOWS/id]
    """

    def __init__(self, database: Database) -> None:
        """Take a database that has been reached."""
        self._database = database

    @property
    def name(self) -> str:
        """Its name."""
        return self._database.name

    @property
    def driver(self) -> neo4j.Driver:
        """Neo4j's own driver, for statements of yours."""
        return self._database.driver

    def load(
        self,
        graph: AnyPath | GivenGraph,
        *,
        node_label: str,
        relationship_type: str,
        key: str,
        max_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> LoadResult:
        """Load a graph: its vertices under one label and key, its edges as one relationship a pair.

        Vertices and pairs that the database has already stay as they are, so loading a graph again adds nothing. A
        first line of a file that may be a header and was loaded as data is warned of in the log `pcneo`.

        >>> import networkx
        >>> club = networkx.karate_club_graph()
        >>> db.load(club, node_label="Member", relationship_type="MEETS", key="id").nodes_created
        34

        Args:
            graph: a file (an edge list, GraphML, GML or GEXF), or a graph as `pcneo.as_graph` takes it; a networkx
                graph brings its attributes, where they are scalars.
            node_label: label of the vertices.
            relationship_type: type of the relationships.
            key: name of the key property, made unique within the label by a constraint.
            max_bytes: text beyond which a file is refused, unpacked; None for two gigabytes.
            progress: called with "nodes" or "relationships", the rows written and all rows.

        Raises:
            ParameterError: a name that cannot be a label, type or property, or is one of pcneo's own.
            FileFormatError: the file cannot be read as a graph; nothing was written.
            TypeError: it is neither a file nor a graph.
            KeyPropertyError: nodes in the database share a key, or have keys of another kind; nothing was written.
            DatabaseError: the database refused a write.
        """
        from pcneo.annotate.load import header_note, load, load_given
        from pcneo.graph.files import MOST_BYTES

        names = {"node_label": node_label, "relationship_type": relationship_type, "key": key}
        for name, value in names.items():
            check_text(name, value, "a name")
        if not isinstance(graph, str | os.PathLike):
            return load_given(self._database, graph, **names, progress=progress)
        result = load(self._database, Path(graph), **names, max_bytes=max_bytes or MOST_BYTES, progress=progress)
        if result.possible_header is not None:
            log.warning(header_note(result.possible_header))
        return result

    def graph(
        self,
        name: str | None = None,
        *,
        node_labels: str | Iterable[str] = (),
        relationship_types: str | Iterable[str] = (),
        key: str | None = None,
    ) -> GraphHandle:
        """Return a part of the database as a graph; nothing is written before its first `annotate`.

        >>> db.graph("friends", node_labels="Person", relationship_types="KNOWS", key="id")
        Graph 'friends': Person/KNOWS/id
        >>> db.graph("freinds")
        Traceback (most recent call last):
        ...
        pcneo.errors.NotFoundError: There is no graph 'freinds'; there is friends. Did you mean friends?

        Args:
            name: your name for it; None for the only one, or for a name made of the rest.
            node_labels, relationship_types, key: which part it is. A known name stands for its own; what is left out
                the database must leave no choice of.

        Raises:
            NotFoundError: there are graphs, and none of this name.
            GraphError: the name stands for other labels, types or another key.
        """
        if name is not None:
            check_text("name", name, "the name of a graph")
        if key is not None:
            check_text("key", key, "the name of a property")
        return graph_handle(self._database, name, Selection(node_labels, relationship_types, key))

    def graphs(self) -> list[GraphHandle]:
        """Return the graphs that have names here.

        >>> [graph.name for graph in db.graphs()]
        ['friends']
        """
        return [GraphHandle(graph.name, graph.selection, db=self._database) for graph in self._database.list_graphs()]

    def runs(self) -> Listing[Run]:
        """Return the standing runs of all graphs, by id.

        >>> db.runs()
        1 run: friends@3/10
        """
        from pcneo.stored.runs import list_runs

        found = list_runs(self._database)
        return Listing((Run(self._database, run) for run in found), lambda run: record_row(run.record), ("run", "runs"))

    def run(self, id: str) -> Run:
        """Return a standing run by its id, or enough of the beginning of its id to be unique.

        >>> db.run("friends@3/10").search.name
        'smallest'

        Args:
            id: of the run.

        Raises:
            NotFoundError: there is none.
            ParameterError: several fit; the message lists them.
        """
        from pcneo.stored.runs import find_run

        check_text("id", id, "the id of a run, such as 'friends@3/10'")
        return Run(self._database, find_run(self._database, run=id))

    def check(self, *, run: str | None = None, graph: str | None = None, progress: Progress | None = None) -> Checked:
        """Read everything stored again and report what is wrong; nothing is changed.

        >>> db.check().all_well
        True

        Args:
            run: only this run, without the ledger.
            graph: only this graph: its runs, and its part of the ledger.
            progress: called with stage, done and total.

        Raises:
            NotFoundError: there is no such run or graph.
        """
        from pcneo.release.checking import check

        return check(self._database, run=run, graph=graph, progress=progress)

    def clean(self, *, all: bool = False, dry_run: bool = False, progress: Progress | None = None) -> CleanResult:
        """Remove every run, and properties that their releases wrote; budgets and the ledger stay, and all your data.

        One run is removed by `db.run(...).remove()`.

        >>> db.clean(dry_run=True).runs
        ('friends@3/10',)

        Args:
            all: say that every run is meant; without it nothing is removed.
            dry_run: say what would be removed, and remove nothing.
            progress: called with stage, done and total.

        Raises:
            ParameterError: neither `all` nor `dry_run` was given.
            BusyError: somebody is writing one of the graphs; its runs stay.
        """
        from pcneo.stored.cleaning import clean

        if not (all or dry_run):
            raise ParameterError(
                "This removes every run: give all=True if that is meant, or dry_run=True to see what it removes. One "
                "run is removed by db.run(...).remove().",
                name="all",
                value=all,
            )
        return clean(self._database, dry_run=dry_run, progress=progress)

    def schema(self, node_labels: str | Iterable[str] = (), key: str | None = None) -> list[str]:
        """Return the statements that create every index that pcneo needs, for an administrator.

        >>> db.schema("Person", "id")[-1].startswith("CREATE ")
        True

        Args:
            node_labels: also index the key of these labels.
            key: the key property; needed with labels.
        """
        from pcneo.store.chosen_graph import schema_statements

        return schema_statements([node_labels] if isinstance(node_labels, str) else list(node_labels), key)

    def budgets(self) -> list[GraphBudget]:
        """Return the ledger of every graph that pcneo knows or has made releases of.

        >>> [budget.graph for budget in db.budgets()]
        ['friends']
        """
        from pcneo.release.budget import show

        return show(self._database)

    def release_batch(
        self,
        path: AnyPath,
        *,
        node_labels: str | Iterable[str] = (),
        relationship_types: str | Iterable[str] = (),
        key: str | None = None,
        budget_epsilon: object = None,
        other_groups: bool = False,
        no_promise: bool = False,
        expect: object = None,
        anyway: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> list[Counts]:
        """Release what the rows of a CSV file ask for; nothing is drawn unless all of them are admitted.

        Args:
            path: the file: columns mechanism, epsilon and to, and what else a release takes.
            node_labels, relationship_types, key: the graph of releases that rest on no run.
            budget_epsilon, other_groups, no_promise, expect, anyway, dry_run, progress: as for `GraphHandle.release`.

        Returns:
            What was released, for each row and k.

        Raises:
            FileFormatError: a column is unknown or a cell cannot be read; names the line.
            PcneoError: as from `GraphHandle.release`.
        """
        from pcneo.face.release_handle import release_batch

        return release_batch(
            self._database,
            path,
            selection=Selection(node_labels, relationship_types, key),
            budget_epsilon=budget_epsilon,
            other_groups=other_groups,
            no_promise=no_promise,
            expect=expect,
            anyway=anyway,
            dry_run=dry_run,
            progress=progress,
        )

    def ask(
        self,
        command: str,
        *,
        run: str | None = None,
        graph: str | None = None,
        by: str | None = None,
        request: Key | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> AnsweredRequest:
        """Ask `pcneo serve` for what is not a graph's update: `check`, or `clean` where the owner allows it.

        Args:
            command: `check` of a graph or a run, or `clean` of a run.
            run: id of a run.
            graph: name of a graph.
            by, request, timeout, progress: as for `GraphHandle.ask`.
        """
        return ask_service(
            self._database,
            command=command,
            run=run,
            graph=graph,
            by=by,
            request=request,
            timeout=timeout,
            progress=progress,
        )

    def close(self) -> None:
        """Close the driver, unless it is somebody else's."""
        self._database.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Return what it is, without asking the server."""
        return repr(self._database).replace("Database", "Db", 1)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: it holds a connection."""
        raise TypeError("a database holds a connection and cannot be pickled")


def connect(
    uri: str | None = None,
    *,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    driver: neo4j.Driver | None = None,
) -> Db:
    """Return a database that has been reached and logged in to.

    >>> with pcneo.connect() as db:
    ...     print(len(db.runs()))
    1

    Use it in a `with` block, or `close` it. A driver of your own stays open and is yours to close.

    Args:
        uri: its Bolt address, such as `neo4j://localhost`; None for what `NEO4J_URI`, `NEO4J_USERNAME`,
            `NEO4J_PASSWORD` and `NEO4J_DATABASE` say, and without `NEO4J_URI` for the running local server.
        auth: user and password; needed with an address, and otherwise in place of those that are found.
        database: its name; None for the user's home database.
        driver: an open driver of Neo4j's, in place of an address.

    Raises:
        ConnectionFailedError: there is no address, it or the password is wrong, no server answers, or it is too old;
            the message says which.
        ParameterError: an address without a user, or an address beside a driver.
        TypeError: what was given is not an address or a driver.
    """
    for name, value, kinds, wanted in (
        ("uri", uri, str, "an address such as 'neo4j://localhost'"),
        ("database", database, str, "the name of a database"),
    ):
        if value is not None and not isinstance(value, kinds):
            hint = " An open driver is given as driver=." if hasattr(value, "session") else ""
            raise TypeError(f"{name} is {wanted}, not {value!r}, which is {type(value).__name__}.{hint}")
    if driver is not None and not hasattr(driver, "session"):
        raise TypeError(f"driver is an open driver of Neo4j's, not {driver!r}, which is {type(driver).__name__}")
    if auth is not None and not (isinstance(auth, tuple) and len(auth) == 2 and all(isinstance(a, str) for a in auth)):
        raise TypeError(f"auth is a pair of texts, ('user', 'password'), not {type(auth).__name__}")
    if uri is None and driver is None and "NEO4J_URI" not in os.environ and (server := _running()) is not None:
        uri, auth = server.uri, auth or (server.username, server.password)
    return Db(connect_to_store(uri, auth=auth, database=database, driver=driver))


def _running() -> LocalServer | None:
    from pcneo.server.servers import find_running

    return find_running()
