"""The paper's nine graphs: their names, their publishers, and the counts by which they are recognized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from pcneo.basics.model import Graph, KeyArray
from pcneo.counting.cliques import clique_counts
from pcneo.errors import GraphError, NotFoundError, ParameterError
from pcneo.graph import fingerprint, graph_from_edges
from pcneo.graph.files import read_graph_file

_CONTENT_KEY = b"pcneo evaluate"  # no secret: these graphs are public; the bytes stay, as their hashes name files

_SUFFIXES = (".edges.gz", ".edges", ".txt.gz", ".txt")


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's table of datasets, as printed."""

    nodes: int
    edges: int
    mean_degree: float
    largest_degree: int


@dataclass(frozen=True)
class Counts:
    """The counts by which a graph is recognized."""

    nodes: int
    edges: int
    largest_degree: int
    triangles: int

    def __str__(self) -> str:
        """Name them all."""
        return (
            f"{self.nodes:,} nodes, {self.edges:,} edges, the largest degree {self.largest_degree:,} and "
            f"{self.triangles:,} triangles"
        )

    @classmethod
    def of(cls, graph: Graph) -> Counts:
        """Count."""
        triangles = int(clique_counts(graph, 3).sum()) // 3
        return cls(graph.vertex_count, graph.edge_count, int(graph.degrees.max(initial=0)), triangles)


@dataclass(frozen=True)
class Dataset:
    """One of the graphs.

    Attributes:
        name: the paper's name for it.
        file: name of its edge list, less the suffix.
        counts: of the graph with its isolated vertices, which an edge list cannot name.
        paper: the paper's row; None for a graph that is not the paper's.
        source: the publisher, and the publisher's name for it.
        what: whose connections they are.
    """

    name: str
    file: str
    counts: Counts
    paper: PaperRow | None
    source: str
    what: str = ""


DATASETS = (
    Dataset(
        "Celegans",
        "celegans_metabolic",
        Counts(453, 2025, 237, 3284),
        PaperRow(453, 2025, 8.94, 237),
        "networkrepository.com, bio-celegans",
        "reactions between substrates, a metabolism",
    ),
    Dataset(
        "WIKIVote",
        "wikivote_soc",
        Counts(889, 2914, 102, 2119),
        PaperRow(889, 2914, 6.56, 102),
        "networkrepository.com, soc-wiki-Vote",
        "votes among Wikipedia users",
    ),
    Dataset(
        "USAirport",
        "usairport_2010",
        Counts(1574, 17215, 314, 245172),
        PaperRow(1574, 17215, 21.87, 314),
        "konect.cc, opsahl-usairport",
        "flights between airports",
    ),
    Dataset(
        "Yeast",
        "yeast_moreno_propro",
        Counts(1870, 2203, 56, 222),
        PaperRow(1876, 2203, 2.39, 56),
        "konect.cc, moreno_propro",
        "interactions between proteins",
    ),
    Dataset(
        "Bitcoin",
        "bitcoin_alpha",
        Counts(3783, 14124, 511, 22153),
        PaperRow(3783, 14214, 7.47, 511),
        "snap.stanford.edu, soc-sign-bitcoin-alpha",
        "trust and distrust among users",
    ),
    Dataset(
        "Gnutella08",
        "gnutella08",
        Counts(6301, 20777, 97, 2383),
        PaperRow(6301, 20777, 6.59, 97),
        "snap.stanford.edu, p2p-Gnutella08",
        "connections between hosts",
    ),
    Dataset(
        "HepTh",
        "hepth_ca",
        Counts(9877, 25973, 65, 28339),
        PaperRow(9875, 25973, 5.26, 65),
        "snap.stanford.edu, ca-HepTh",
        "co-authorship of papers",
    ),
    Dataset(
        "SisterCity",
        "sistercity",
        Counts(14274, 20573, 99, 6327),
        PaperRow(14274, 20573, 2.88, 99),
        "konect.cc, twin",
        "twinned cities",
    ),
    Dataset(
        "HepPh",
        "hepph_cit",
        Counts(34546, 420877, 846, 1276868),
        PaperRow(34546, 420877, 24.37, 846),
        "snap.stanford.edu, cit-HepPh",
        "citations among papers; the paper says co-authorship",
    ),
)
"""In the order of the paper's table."""


@dataclass(frozen=True, eq=False)
class EvaluatedGraph:
    """A graph that is evaluated.

    Attributes:
        dataset: which one it is.
        graph: its arrays, isolated vertices included.
        content: hash of its keys and edges; part of the names of everything computed from it.
    """

    dataset: Dataset
    graph: Graph
    content: str

    @property
    def name(self) -> str:
        """The paper's name for it."""
        return self.dataset.name

    @classmethod
    def of(cls, dataset: Dataset, graph: Graph) -> EvaluatedGraph:
        """Complete a graph and hash it."""
        graph = complete(dataset, graph)
        return cls(dataset, graph, fingerprint(graph, _CONTENT_KEY))

    @classmethod
    def read(cls, dataset: Dataset, path: Path) -> EvaluatedGraph:
        """Read an edge list; refuse another graph."""
        evaluated = cls.of(dataset, read_edges(path))
        check_counts(dataset, evaluated.graph, str(path))
        return evaluated


def read_edges(path: Path) -> Graph:
    """Read an edge list of any graph."""
    file = read_graph_file(path)
    sources, targets = (file.keys[ends].tolist() for ends in (file.sources, file.targets))
    return graph_from_edges(file.keys.tolist(), sources, targets)


def complete(dataset: Dataset, graph: Graph) -> Graph:
    """Add the isolated vertices that an edge list cannot name, with keys after all others.

    They count in n, and so in δ = 1/n. A graph with as many vertices as the dataset, or more, is returned as it is.
    """
    missing = dataset.counts.nodes - graph.vertex_count
    if missing <= 0:
        return graph
    if graph.keys.dtype == object:
        last = str(graph.keys[-1])
        more = np.array([f"{last}+{i:06}" for i in range(missing)], object)
    else:
        more = int(graph.keys[-1]) + 1 + np.arange(missing)
    offsets = np.concatenate((graph.offsets, np.full(missing, graph.offsets[-1])))
    return Graph(cast("KeyArray", np.concatenate((graph.keys, more))), offsets, graph.neighbours)


def check_counts(dataset: Dataset, graph: Graph, where: str) -> None:
    """Refuse a graph that is not the dataset: nodes, edges, the largest degree or the triangles differ."""
    counts = Counts.of(graph)
    if counts != dataset.counts:
        raise GraphError(
            f"{where} is not {dataset.name}: it has {counts} where {dataset.counts} are expected. "
            "`scripts/evaluate graphs` says where the graphs are from.",
            found=counts,
            expected=dataset.counts,
        )


def find_files(folder: Path, datasets: Sequence[Dataset] = DATASETS) -> Mapping[str, Path]:
    """Return the edge lists that the folder has, by the dataset's name; refuse a folder that has none of them."""
    if not folder.is_dir():
        raise ParameterError(f"{folder} is no folder.", name="graphs", value=str(folder))
    files = {
        dataset.name: path
        for dataset in datasets
        for suffix in reversed(_SUFFIXES)
        if (path := folder / (dataset.file + suffix)).is_file()
    }
    if not files:
        names = ", ".join(dataset.file + _SUFFIXES[0] for dataset in datasets)
        raise NotFoundError(f"{folder} has none of {names}.", what="graphs", name=str(folder))
    return files
