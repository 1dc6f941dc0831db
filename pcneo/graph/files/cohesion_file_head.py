"""The head of a file of cohesions: where they come from, in its metadata (DATA-MODEL.md#cohesions-in-files)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection

FORMAT = "2"
"""The format of the columns and the metadata."""
PREFIX = b"pcneo."
"""What our names begin with in a file's metadata."""


@dataclass(frozen=True)
class FileHead:
    """What a file records about its cohesions.

    Attributes:
        search: what was searched for, and how.
        pcneo: the version of pcneo that wrote it.
        revision: the search's, as in `pcneo.basics.model.RunRecord`.
        selection: labels, types and key of the graph in its database.
        graph: the graph's name there; empty if pcneo knew it by no name.
        fingerprint: the graph's, as it was read.
        fingerprint_key: the key of the fingerprint, drawn for this file; empty if it is that of `graph`.
        vertices, edges: how many the graph has.
        part: which part this is, and of how many.
    """

    search: Search
    pcneo: str
    revision: int
    selection: Selection
    graph: str
    fingerprint: str
    fingerprint_key: str
    vertices: int
    edges: int
    part: tuple[int, int]

    def metadata(self) -> dict[bytes, bytes]:
        """Return the head as the metadata of a Parquet file, with every value as text."""
        texts = {
            "format": FORMAT,
            "p": str(self.search.p),
            "search": self.search.name,
            "effort": str(self.search.effort),
            "version": self.pcneo,
            "revision": str(self.revision),
            "node_labels": json.dumps(self.selection.node_labels),
            "relationship_types": json.dumps(self.selection.relationship_types),
            "key": self.selection.key,
            "graph": self.graph,
            "fingerprint": self.fingerprint,
            "fingerprint_key": self.fingerprint_key,
            "vertices": str(self.vertices),
            "edges": str(self.edges),
            "part": "{}/{}".format(*self.part),
        }
        texts["checksum"] = _checksum(texts)
        return {PREFIX + name.encode(): text.encode() for name, text in texts.items()}

    @classmethod
    def of(cls, metadata: dict[bytes, bytes]) -> FileHead:
        """Read a head back from metadata, or fail as parsers of text do."""
        texts = {name[len(PREFIX) :].decode(): text.decode() for name, text in metadata.items() if name[:6] == PREFIX}
        if texts.pop("checksum") != _checksum(texts) or texts["format"] != FORMAT:
            raise ValueError("another format, or damaged")
        number, parts = map(int, texts["part"].split("/"))
        if not 1 <= number <= parts:
            raise ValueError("the part is out of range")
        return cls(
            search=Search(texts["p"], texts["search"], int(texts["effort"])),
            pcneo=texts["version"],
            revision=int(texts["revision"]),
            selection=Selection(
                tuple(json.loads(texts["node_labels"])), tuple(json.loads(texts["relationship_types"])), texts["key"]
            ),
            graph=texts["graph"],
            fingerprint=texts["fingerprint"],
            fingerprint_key=texts["fingerprint_key"],
            vertices=int(texts["vertices"]),
            edges=int(texts["edges"]),
            part=(number, parts),
        )


def _checksum(texts: dict[str, str]) -> str:
    """Return a SHA-256 of the other entries: Parquet itself has checksums only for its pages."""
    return hashlib.sha256(json.dumps(sorted(texts.items())).encode()).hexdigest()
