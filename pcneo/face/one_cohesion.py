"""One cohesion as Python users hold it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pcneo.basics.frames import Table, columns_of, counted, rounded
from pcneo.basics.keys import checked_count, checked_key
from pcneo.basics.model import AnyPath, CohesionAround, FoundCohesion, Key, LocalView
from pcneo.basics.searches import P, Search
from pcneo.errors import MissingKeyError, PcneoError

if TYPE_CHECKING:
    import networkx
    from matplotlib.figure import Figure

    from pcneo.plots import Page
    from pcneo.store.database import Database
    from pcneo.stored.runs import StoredRun


Members = Callable[[CohesionAround], Iterable[CohesionAround]]
"""Takes a cohesion and yields the cohesions of its members, each one only when it is needed."""


class Cohesion(Table):
    """The minimal p-cohesion of one vertex, by key. In a notebook it draws itself.

    >>> import networkx, pcneo
    >>> cohesion = pcneo.minimal_p_cohesion(networkx.karate_club_graph(), 11, p="0.4")
    >>> cohesion.vertex, cohesion.size, len(cohesion.connections)
    (11, 8, 17)
    >>> cohesion.members
    (0, 1, 2, 3, 7, 8, 11, 13)
    >>> cohesion.draw("club.svg")  # doctest: +SKIP

    Its members are as they were found or stored. Their surroundings (`connections`, `others`, `hops`, `local_view`) are
    looked up on first use: in the graph that was searched, or in the database as it is then. So a cohesion that a
    stream or a run yields still needs its database; one that was read by key, `run[58]`, does not.

    Two cohesions are equal if their vertex, search, members and answers are equal.
    """

    def __init__(
        self,
        found: FoundCohesion,
        look: Callable[[FoundCohesion], CohesionAround],
        members: Members | None = None,
        note: str = "",
    ) -> None:
        """Take the cohesion, functions for its surroundings and its members' cohesions, and a note on the graph."""
        self._found = found
        self._look: Callable[[FoundCohesion], CohesionAround] | None = look
        self._members = members
        self._note = note

    @property
    def vertex(self) -> Key:
        """The vertex whose cohesion this is."""
        return self._found.vertex

    @property
    def search(self) -> Search:
        """What was searched for, and how."""
        return self._found.search

    @property
    def p(self) -> P:
        """The share of its neighbours that each member keeps."""
        return self._found.search.p

    @property
    def members(self) -> tuple[Key, ...]:
        """The members' keys, ascending, including the vertex."""
        return self._found.members

    @property
    def size(self) -> int:
        """Number of members."""
        return self._found.size

    @property
    def edges(self) -> int:
        """Number of connections among the members, when it was found."""
        return self._found.edges

    @property
    def density(self) -> float:
        """2·edges / (size·(size-1)); 0.0 for size 1, where density has no meaning."""
        return self._found.density

    @property
    def proven(self) -> bool:
        """Whether no smaller p-cohesion contained the vertex, when it was found."""
        return self._found.proven

    @property
    def best(self) -> bool:
        """Whether no p-cohesion with a better rank contained the vertex, when it was found."""
        return self._found.best

    @cached_property
    def around(self) -> CohesionAround:
        """The cohesion's surroundings, in one value.

        Raises:
            GraphChangedError: a member is no longer in the database.
        """
        if self._look is None:
            raise ValueError("what lies around this cohesion was not looked up before it was pickled")
        return self._look(self._found)

    @property
    def connections(self) -> tuple[tuple[Key, Key], ...]:
        """The critical connections, each once with the smaller key first, ascending."""
        return self.around.connections

    @property
    def others(self) -> tuple[Key, ...]:
        """The vertex's neighbours outside the cohesion, ascending."""
        return self.around.others

    @property
    def hops(self) -> dict[Key, int]:
        """The distance of each member from the vertex; 3 stands for three and more."""
        return self.around.hops

    @property
    def local_view(self) -> LocalView:
        """The extended local view of the vertex, in figures."""
        return self.around.local_view

    def draw(self, to: AnyPath | None = None) -> Figure | Page:
        """Draw the cohesion in the graph around it.

        >>> import networkx, pcneo
        >>> club = networkx.karate_club_graph()
        >>> figure = pcneo.minimal_p_cohesion(club, 11, p="0.4").draw()
        >>> pcneo.minimal_p_cohesions(club, p="0.4")[11].draw("11.html")
        Page(opens=8)

        Args:
            to: the file, `.svg` or `.png`, or `.html` for an interactive page: hover, drag, click a member to open its
                own cohesion if that was also found or stored. An existing file is replaced. None to write no file.

        Returns:
            A matplotlib figure; for `.html` the page, which needs no matplotlib.

        Raises:
            ParameterError: the suffix is not one of these, or the file cannot be written.
            PcneoError: matplotlib is not installed.
        """
        from pcneo.plots import PAGE_ENDING, check_picture, draw_cohesion, draw_page

        if to is not None:
            check_picture(to, or_page=True)
        if to is None or Path(to).suffix.lower() != PAGE_ENDING:
            return draw_cohesion(self.around, to)
        page = draw_page(self.around, () if self._members is None else self._members(self.around))
        page.save(to)
        return page

    def to_networkx(self) -> networkx.Graph[Key]:
        """Return its members and critical connections as a networkx graph; each node has its `hops`."""
        from pcneo.stored.networks import to_networkx

        return to_networkx(self.around)

    def as_columns(self) -> dict[str, Any]:
        """Return a row for each member: its key, its distance, and the other ends of its critical connections."""
        return self.around.as_columns()

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return self.around.caption()

    def _repr_svg_(self) -> str | None:
        from pcneo.plots import draw_cohesion, has_matplotlib, svg_text

        if self._look is None and "around" not in vars(self):  # unpickled: there is nothing to draw it from
            return None
        try:
            return svg_text(draw_cohesion(self.around)) if has_matplotlib() else None  # then a notebook shows the text
        except PcneoError:  # the database is closed, or a member is gone
            return None

    _repr_html_ = None  # pyright: ignore[reportAssignmentType] - the picture is shown in place of a table

    def __len__(self) -> int:
        """Return the number of members."""
        return self._found.size

    def __iter__(self) -> Iterator[Key]:
        """Yield the members' keys, ascending."""
        return iter(self._found.members)

    def __contains__(self, key: object) -> bool:
        """Whether the vertex with this key is a member."""
        try:
            return checked_key(key) in self._found.members
        except TypeError:  # `True` and `1.0` are no keys, though they are equal to one
            return False

    def __eq__(self, other: object) -> bool:
        """Whether both are the same cohesion, with equal answers."""
        return self._found == other._found if isinstance(other, Cohesion) else NotImplemented

    def __hash__(self) -> int:
        """Return the hash of the cohesion that was found."""
        return hash(self._found)

    def __copy__(self) -> Cohesion:
        """Return itself: it never changes, and only a pickle has to leave out what looks up its surroundings."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Cohesion:
        """Return itself, as `copy.copy` does; the connection that it may hold cannot be copied."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Keep the surroundings if they were looked up, but no graph and no connection."""
        return {**vars(self), "_look": None, "_members": None}

    def __repr__(self) -> str:
        """Describe the cohesion in a line."""
        found = self._found
        note = (self.around.note if "around" in vars(self) else "") or self._note  # nothing is looked up for this
        known = note or found.how_small()
        return (
            f"Cohesion of {found.vertex!r}: {counted(found.size, 'member')}, {counted(found.edges, 'connection')}, "
            f"density {rounded(found.density, 3)}, p={found.p}, search {found.search.name}; "
            f"{known[0].lower()}{known[1:]}"
        )


class CohesionsByKey(Table):
    """Cohesions by the key of their vertex, in a run or in memory."""

    @abstractmethod
    def __getitem__(self, key: Key) -> Cohesion:
        """Return the cohesion of a vertex."""

    @staticmethod
    def _looked_up(key: object) -> Key:
        """Return the key that a cohesion is looked up by; refuse a slice, which would be of positions."""
        if isinstance(key, slice):
            raise TypeError("cohesions are looked up by key, not by position; head(3) returns the first three")
        return checked_key(key)

    @abstractmethod
    def __iter__(self) -> Iterator[Cohesion]:
        """Yield the cohesions in order."""

    @overload
    def get(self, key: Key) -> Cohesion | None: ...
    @overload
    def get(self, key: Key, default: Any) -> Any: ...
    def get(self, key: Key, default: Any = None) -> Any:
        """Return the cohesion of a vertex, or `default` if it has none here.

        >>> import pcneo
        >>> pcneo.minimal_p_cohesions([(1, 2), (2, 3)], p="1/2").get(7) is None
        True

        Args:
            key: the vertex.
            default: returned if the vertex has no cohesion here.
        """
        try:
            return self[key]
        except MissingKeyError:
            return default

    def head(self, count: int = 5) -> list[Cohesion]:
        """Return the first cohesions.

        >>> import pcneo
        >>> len(pcneo.minimal_p_cohesions([(1, 2), (2, 3)], p="1/2").head(2))
        2

        Args:
            count: how many at most.
        """
        return list(islice(self, max(0, checked_count("count", count))))


def cohesion_columns(cohesions: Iterable[Cohesion], *, with_p: bool = False) -> dict[str, Sequence[Any]]:
    """Return a table with a row for each cohesion, for example of several p."""
    shown = ("size", "edges", "density", "proven", "best")
    rows = (
        {"vertex": c.vertex, "p": str(c.p), **{name: getattr(c, name) for name in shown}, "members": list(c.members)}
        for c in cohesions
    )
    return columns_of(rows, ("vertex", *(["p"] if with_p else []), *shown, "members"))


def seen_cohesion(around: CohesionAround, members: Members) -> Cohesion:
    """Return a cohesion whose surroundings are known, and are pickled with it."""
    cohesion = Cohesion(around.cohesion, lambda _: around, members)
    _ = cohesion.around
    return cohesion


def look_around(db: Database, stored: StoredRun, found: FoundCohesion) -> CohesionAround:
    """Read the surroundings of a run's cohesion in the graph as it is now."""
    from pcneo.stored.showing import read_around

    seen = read_around(db, stored.selection, found, f"run {stored.run.id}")
    # The cohesions of answers belong to the answers: the graph cannot show whether they still hold.
    return replace(seen, holds=True) if stored.run.scope == "answers" else seen
