"""Minimal p-cohesions of a Neo4j graph, in the four modes of Neo4j's Graph Data Science library.

`write` stores them beside the graph, `stream` yields them and `to_parquet` writes them to files, `stats` describes
them, `estimate` estimates what `write` would cost. All read the graph the same way. All but `write` need only read
rights and write nothing to the database.
"""

from pcneo.annotate.describing import StatsResult, stats
from pcneo.annotate.estimating import Estimate, EstimateResult, estimate
from pcneo.annotate.plan import Configuration
from pcneo.annotate.profiling import Profile, SteadinessProfile
from pcneo.annotate.steadiness import Steadiness, SteadinessResult, steadiness
from pcneo.annotate.streaming import FiledCohesions, ParquetResult, stream, to_parquet
from pcneo.annotate.updating import UpdatedRun
from pcneo.annotate.writing import WriteResult, write
from pcneo.store.standing import Keeping

__all__ = [
    "Configuration",
    "Estimate",
    "EstimateResult",
    "FiledCohesions",
    "Keeping",
    "ParquetResult",
    "Profile",
    "StatsResult",
    "Steadiness",
    "SteadinessProfile",
    "SteadinessResult",
    "UpdatedRun",
    "WriteResult",
    "estimate",
    "stats",
    "steadiness",
    "stream",
    "to_parquet",
    "write",
]
