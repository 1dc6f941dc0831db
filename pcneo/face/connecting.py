"""A database as Python users hold it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

from pcneo.basics.keys import check_text
from pcneo.basics.model import AnyPath, Key, Progress
from pcneo.basics.progress_bars import showing_progress
from pcneo.basics.selection import Selection
from pcneo.errors import ParameterError
from pcneo.face.graph_handle import GraphHandle, graph_handle
from pcneo.face.listings import Listing
from pcneo.face.run_handle import Run, listed_runs
from pcneo.service.placing import AnsweredRequest
from pcneo.service.placing import ask as ask_service
from pcneo.store.connection import connect as connect_to_store

if TYPE_CHECKING:
    import neo4j

    from pcneo.annotate.load import LoadResult
    from pcneo.face.release_handle import Counts
    from pcneo.graph.given import GivenGraph
    from pcneo.release.budget import GraphBudget
    from pcneo.release.checking import Checked
    from pcneo.store.database import Database
    from pcneo.stored.cleaning import CleanResult


log = logging.getLogger("pcneo")


class Db:
    """One database of a server. Use it in a `with` block, or `close` it; `pcneo.connect` makes it.

    The examples of this class use a database with the sample that comes with pcneo.

    >>> with pcneo.connect() as db:
    ...     print(db.graphs())
    [Graph 'friends': Person/KNOWS/id]
    """

    def __init__(self, database: Database) -> None:
        """Take a database that is connected."""
        self._database = database

    @property
    def name(self) -> str:
        """The database's name."""
        return self._database.name

    @property
    def driver(self) -> neo4j.Driver:
        """Neo4j's own driver, for your own statements."""
        return self._database.driver

    @showing_progress
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
        """Load a graph: its vertices under one label and key, its edges as one relationship for each pair.

        Vertices and pairs that the database already has stay as they are, so loading a graph again adds nothing. A
        warning is logged if the first line was loaded as data but looks like a header.

        >>> import networkx
        >>> club = networkx.karate_club_graph()
        >>> db.load(club, node_label="Member", relationship_type="MEETS", key="id").nodes_created
        34

        Args:
            graph: a file (an edge list, GraphML, GML or GEXF), or a graph as `pcneo.as_graph` takes it. A networkx
                graph brings its attributes, where they are scalars; of a frame, only the two ends are taken
                (`networkx.from_pandas_edgelist(frame, ..., edge_attr=True)` keeps the other columns).
            node_label: label of the vertices.
            relationship_type: type of the relationships.
            key: name of the key property; a constraint makes it unique within the label.
            max_bytes: a file with more text than this, unpacked, is refused; None for two gigabytes.
            progress: called with "nodes" or "relationships", the rows written and all rows.

        Raises:
            ParameterError: a name cannot be a label, type or property, or is one of pcneo's own.
            FileFormatError: the file cannot be read as a graph; nothing was written.
            TypeError: `graph` is neither a file nor a graph.
            KeyPropertyError: nodes in the database share a key, or have keys of another kind; nothing was written.
            DatabaseError: the database refused a write.
        """
        from pcneo.annotate.load import doubts, load, load_given
        from pcneo.graph.files import MOST_BYTES

        names = {"node_label": node_label, "relationship_type": relationship_type, "key": key}
        for name, value in names.items():
            check_text(name, value, "a name")
        if not isinstance(graph, str | os.PathLike):
            result = load_given(self._database, graph, **names, progress=progress)
        else:
            most = MOST_BYTES if max_bytes is None else max_bytes
            result = load(self._database, Path(graph), **names, max_bytes=most, progress=progress)
        for doubt in doubts(result):
            log.warning("%s", doubt)
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
        pcneo.errors.NotFoundError: There is no graph 'freinds'; there is 'friends'. Did you mean friends?

        Args:
            name: your name for it; None for the only graph, or for a name made of labels, types and key.
            node_labels, relationship_types, key: which part it is. A known name stands for its own; anything else may
                be left out only where the database offers one choice.

        Raises:
            NotFoundError: there are graphs, but none has this name.
            GraphError: the name stands for other labels, types or another key.
        """
        if name is not None:
            check_text("name", name, "the name of a graph")
        if key is not None:
            check_text("key", key, "the name of a property")
        return graph_handle(self._database, name, Selection(node_labels, relationship_types, key))

    def graphs(self) -> list[GraphHandle]:
        """Return the graphs that have names in this database.

        >>> [graph.name for graph in db.graphs()]
        ['friends']
        """
        return [GraphHandle(graph.name, graph.selection, db=self._database) for graph in self._database.list_graphs()]

    def runs(self) -> Listing[Run]:
        """Return the standing runs of all graphs, by id.

        >>> db.runs()
        1 run: friends@3/10
        """
        return listed_runs(self._database)

    def run(self, id: str) -> Run:
        """Return a standing run by its id, or enough of the beginning of its id to be unique.

        >>> db.run("friends@3/10").search.name
        'smallest'

        Args:
            id: the run's id, or its beginning.

        Raises:
            NotFoundError: there is no such run.
            ParameterError: several runs match; the message lists them.
        """
        from pcneo.stored.runs import find_run

        check_text("id", id, "the id of a run, such as 'friends@3/10'")
        return Run(self._database, find_run(self._database, run=id))

    @showing_progress
    def check(self, *, run: str | None = None, graph: str | None = None, progress: Progress | None = None) -> Checked:
        """Read again everything that is stored, and report what is wrong; nothing is changed.

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

    @showing_progress
    def clean(self, *, all: bool = False, dry_run: bool = False, progress: Progress | None = None) -> CleanResult:
        """Remove every run, and properties that their releases wrote; budgets, the ledger and all your data stay.

        To remove one run, call `db.run(...).remove()`.

        >>> db.clean(dry_run=True).runs
        ('friends@3/10',)

        Args:
            all: must be True to remove every run; without it nothing is removed.
            dry_run: return what would be removed, and remove nothing.
            progress: called with stage, done and total.

        Raises:
            ParameterError: neither `all` nor `dry_run` was given.
            BusyError: one of the graphs is being written; its runs stay.
        """
        from pcneo.stored.cleaning import clean

        if not (all or dry_run):
            raise ParameterError(
                "This removes every run: give all=True if you mean that, or dry_run=True to see what it removes. To "
                "remove one run, use db.run(...).remove().",
                name="all",
                value=all,
            )
        return clean(self._database, dry_run=dry_run, progress=progress)

    def schema(self, node_labels: str | Iterable[str] = (), key: str | None = None) -> list[str]:
        """Return the statements that create all indexes that pcneo needs, for an administrator.

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

    @showing_progress
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
        mean_degree: object = None,
        anyway: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> list[Counts]:
        """Make the releases in the rows of a CSV file; nothing is drawn unless all of them are admitted.

        Args:
            path: the file, with the columns mechanism, epsilon and to, and others that a release takes.
            node_labels, relationship_types, key: the graph of releases that do not rest on a run.
            budget_epsilon, other_groups, no_promise, expect, mean_degree, anyway, dry_run, progress: as for
                `GraphHandle.release`.

        Returns:
            What was released, for each row and k.

        Raises:
            FileFormatError: a column is unknown or a cell cannot be read; the message names the line.
            PcneoError: as from `GraphHandle.release`.
        """
        from pcneo.face.release_handle import release_batch
        from pcneo.release import Terms

        terms = Terms(
            budget_epsilon=budget_epsilon,
            other_groups=other_groups,
            no_promise=no_promise,
            expect=expect,
            mean_degree=mean_degree,
            anyway=anyway,
            dry_run=dry_run,
        )
        selection = Selection(node_labels, relationship_types, key)
        return release_batch(self._database, path, terms, selection=selection, progress=progress)

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
        """Ask `pcneo serve` for something other than a graph's update: `check`, or `clean` if the owner allows it.

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
        """Close the driver, unless the caller opened it."""
        self._database.close()

    def __enter__(self) -> Self:
        """Return the database."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the driver, unless the caller opened it."""
        self.close()

    def __repr__(self) -> str:
        """Name the database, without asking the server."""
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
    """Connect and log in to a database.

    >>> with pcneo.connect() as db:
    ...     print(len(db.runs()))
    1

    Use the database in a `with` block, or `close` it. Your own driver stays open, and you close it yourself.

    Args:
        uri: its Bolt address, such as `neo4j://localhost`; None to use `NEO4J_URI`, `NEO4J_USERNAME`,
            `NEO4J_PASSWORD` and `NEO4J_DATABASE`, or without `NEO4J_URI` the running local server.
        auth: user and password; needed with an address, and otherwise in place of those in the environment or of the
            local server.
        database: its name; None for the user's home database.
        driver: one of Neo4j's drivers, open, in place of an address.

    Raises:
        ConnectionFailedError: no address is known, the address or the password is wrong, no server answers, or the
            server is too old or lacks this database; the message says which.
        RightsError: the user may not use this database.
        ParameterError: an address without a user, or an address together with a driver.
        TypeError: an argument has the wrong type.
    """
    for name, value, wanted in (
        ("uri", uri, "an address such as 'neo4j://localhost'"),
        ("database", database, "the name of a database"),
    ):
        if value is not None and not isinstance(value, str):
            hint = " An open driver is given as driver=." if hasattr(value, "session") else ""
            raise TypeError(f"{name} is {wanted}, not {value!r}, which is {type(value).__name__}.{hint}")
    if driver is not None and not hasattr(driver, "session"):
        raise TypeError(f"driver is an open driver of Neo4j's, not {driver!r}, which is {type(driver).__name__}")
    if auth is not None and not (isinstance(auth, tuple) and len(auth) == 2 and all(isinstance(a, str) for a in auth)):
        raise TypeError(f"auth is a pair of texts, ('user', 'password'), not {type(auth).__name__}")
    if uri is None and driver is None and not os.environ.get("NEO4J_URI", "").strip():
        from pcneo.server.servers import find_running

        if (server := find_running()) is not None:
            uri, auth = server.uri, auth or (server.username, server.password)
    return Db(connect_to_store(uri, auth=auth, database=database, driver=driver))
