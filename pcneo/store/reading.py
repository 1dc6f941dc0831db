"""Reading the graph: all of it, in pages by key, or the neighbourhoods that a search requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Generic, TypeVar

from pcneo.basics.model import Key
from pcneo.basics.selection import Selection
from pcneo.errors import DatabaseError, KeyPropertyError
from pcneo.store.sessions import Sessions
from pcneo.store.transaction import Row, halve_or_raise, in_halves, sample_names

PAGE = 5_000
"""The most vertices per page of a whole-graph read; 2,000 to 5,000 read equally fast (DATA-MODEL.md#what-it-costs)."""
PAGE_NEIGHBOURS = 200_000
"""The intended maximum of neighbours per page: some megabytes, here and on the server."""
_LEAST_PAGE = 2  # the last vertex of the previous page, and a new one
FRONTIER = 10_000
"""The most keys per call for neighbourhoods; from a thousand on, the cost per key is constant."""

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of vertices: ascending keys, what was read for them, the page's limit, and that of the page after it."""

    keys: list[Key]
    content: T
    limit: int
    next_limit: int


def read_ahead(read: Callable[[Key, int], Page[T]], smallest: Key) -> Iterator[tuple[int, Page[T]]]:
    """Yield pages in key order, and how many of a page's vertices (0 or 1) the page before had too.

    The next page is read while one is worked on. A page is yielded after its transaction has ended, so a repeated
    transaction yields nothing twice. A repeated key comes as often as it is repeated. The thread that reads heeds
    what ends the caller's patience.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="pcneo-read") as pool:
        start, last = smallest, None
        reading: Future[Page[T]] | None = pool.submit(copy_context().run, read, smallest, PAGE)
        while reading is not None:
            page = reading.result()
            # A page begins with the last key of the previous one, lest a repeated key hide between the two.
            again = 1 if page.keys and page.keys[0] == last else 0
            # A key that fills a page would fill all later ones; by now the caller has seen that it repeats.
            if len(page.keys) == page.limit and page.keys[-1] != start:
                start = last = page.keys[-1]
                reading = pool.submit(copy_context().run, read, start, page.next_limit)
            else:
                reading = None
            yield again, page


class GraphReader(Sessions):
    """Reads graphs from the database."""

    def stream_rows(self, selection: Selection, smallest: Key) -> Iterator[tuple[Key, list[Key]]]:
        """Yield every vertex with the keys of the neighbours that its relationships point to, in pages by key.

        A node with two of the chosen labels comes once. Each relationship comes once, at its start. A repeated key
        comes as often as it is repeated, for the caller to refuse.
        """
        for i, label in enumerate(selection.node_labels):
            names = {**sample_names(selection, "Person", "KNOWS", "id"), "Page": label}
            for again, page in read_ahead(partial(self._get_page, names, selection.node_labels[:i]), smallest):
                yield from zip(page.keys[again:], page.content[again:], strict=True)

    def _get_page(self, names: Row, earlier: Sequence[str], start: Key, limit: int) -> Page[list[list[Key]]]:
        """Read a page, or a smaller one if it does not fit into the server's transaction memory."""
        try:
            row = self.read("get_page", names, **{"from": start, "limit": limit, "earlier": earlier})[0]
        except DatabaseError as error:
            halve_or_raise(error, limit, "vertices", least=_LEAST_PAGE)
            return self._get_page(names, earlier, start, max(_LEAST_PAGE, limit // 2))
        keys, neighbours = row["keys"], row["neighbours"]
        # The next page is as long as fits, if its vertices have as many neighbours as these.
        fitting = len(keys) * PAGE_NEIGHBOURS // max(1, sum(map(len, neighbours)))
        return Page(keys, neighbours, limit, max(_LEAST_PAGE, min(PAGE, fitting)))

    def has_keys_from(self, selection: Selection, smallest: Key) -> bool:
        """Return whether there is a key of the same kind that is this large or larger, as the index shows."""
        names = sample_names(selection, "Person", "KNOWS", "id")
        values = {"from": smallest, "limit": 1, "earlier": []}
        return any(
            self.read("get_page", {**names, "Page": label}, **values)[0]["keys"] for label in selection.node_labels
        )

    def get_neighbours(self, selection: Selection, keys: Sequence[Key]) -> list[tuple[Key, list[Key]]]:
        """Return the complete neighbourhoods of some vertices; vertices that do not exist are left out.

        A batch of keys that does not fit into the server's transaction memory is halved and tried again.
        """
        names = sample_names(selection, "Person", "KNOWS", "id")
        neighbourhoods: dict[Key, list[Key]] = {}

        def read(part: Sequence[Key]) -> Iterable[tuple[Any, list[Key]]]:
            row = self.read("get_neighbours", names, keys=list(part))[0]
            return zip(row["keys"], row["neighbours"], strict=True)

        for start in range(0, len(keys), FRONTIER):
            parts = in_halves(read, keys[start : start + FRONTIER], "neighbourhoods")
            for key, neighbours in chain.from_iterable(parts):
                if not isinstance(key, int | str):  # Cypher finds 7.0 for 7
                    raise KeyPropertyError(
                        f"The key {selection.key!r} of a vertex is {key!r}, neither an integer nor a string.",
                        key=key,
                    )
                if key in neighbourhoods:
                    raise KeyPropertyError(
                        f"The key {key!r} of property {selection.key!r} belongs to more than one vertex. "
                        "Keys must be unique.",
                        key=key,
                    )
                neighbourhoods[key] = neighbours
        return list(neighbourhoods.items())

    def count_members(self, selection: Selection, rows: Sequence[Mapping[str, object]]) -> int:
        """Find the vertices and members of cohesions, as writing them would, and return how many members there are."""
        names = sample_names(selection, "Person", "id")
        return self.read("count_members", names, rows=rows)[0]["memberships"]
