"""Graphs and cohesions from Neo4j, as `pcneo annotate` has stored them: they give the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from evaluation.datasets import DATASETS, EvaluatedGraph, check_counts
from evaluation.experiments import P_VALUES
from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import P
from pcneo.errors import NotFoundError, ParameterError
from pcneo.release.read_graph import ReadGraph
from pcneo.store.database import Database


class StoredGraphs:
    """Graphs of a database that are datasets of the evaluation, with their complete runs.

    Attributes:
        graphs: as they were read, by the dataset's name.
        memberships: hash of the cohesions of each run that cells can use, by dataset, p and score.
    """

    def __init__(self, db: Database, named: Mapping[str, str]) -> None:
        """Read the graphs with these names in the database, by dataset, and look up their runs."""
        self._db = db
        records = {record.name: record for record in self._db.list_graphs()}
        datasets = {dataset.name: dataset for dataset in DATASETS}
        self.graphs: dict[str, EvaluatedGraph] = {}
        self._sources: dict[str, ReadGraph] = {}
        for name, graph in named.items():
            if name not in datasets:
                raise ParameterError(
                    f"There is no dataset {name!r}; there are {', '.join(datasets)}.", name="stored", value=name
                )
            if graph not in records:
                raise NotFoundError(
                    f"The database has no graph {graph!r}; it has {', '.join(map(repr, records)) or 'none'}.",
                    what="graph",
                    name=graph,
                )
            source = ReadGraph(records[graph]).read(self._db)
            self._sources[name] = source
            self.graphs[name] = EvaluatedGraph.of(datasets[name], source.graph)
            check_counts(datasets[name], self.graphs[name].graph, f"The graph {graph}")
        self._runs = {
            (name, p, run.search.name): run
            for run in self._db.list_runs()
            for name, graph in named.items()
            for p in P_VALUES
            if (run.scope, run.graph) == ("graph", graph) and run.search.p == P(p)
        }
        self.memberships = {point: run.membership_hash or run.id for point, run in self._runs.items()}

    def cohesions(self, evaluated: EvaluatedGraph, p: str, score: str) -> CohesionBatch:
        """Read the cohesions of a run, after checking that graph and memberships are still those of the run."""
        run: RunRecord = self._runs[evaluated.name, p, score]
        source = self._sources[evaluated.name]
        source.read_groups(self._db, run)
        return _completed(cast("CohesionBatch", source.facts(run).groups), source.graph, evaluated.graph)


def _completed(batch: CohesionBatch, stored: Graph, graph: Graph) -> CohesionBatch:
    """Add the cohesions of isolated vertices that the database does not have: such a vertex is alone in its own."""
    more = np.arange(stored.vertex_count, graph.vertex_count)
    return CohesionBatch(
        search=batch.search,
        vertices=np.concatenate((batch.vertices, more)),
        offsets=np.concatenate((batch.offsets, batch.offsets[-1] + 1 + np.arange(len(more)))),
        members=np.concatenate((batch.members, more.astype(np.uint32))),
        edges=np.concatenate((batch.edges, np.zeros(len(more), np.int64))),
        keys=graph.keys,
        proven=np.concatenate((batch.proven, np.ones(len(more), np.bool_))),
        best=np.concatenate((batch.best, np.ones(len(more), np.bool_))),
    )
