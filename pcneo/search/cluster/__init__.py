"""The search on an existing cluster of `dask.distributed` (ALGORITHM.md#on-a-cluster).

Only this folder imports `distributed`, which is an extra (`pip install 'pcneo[dask]'`).
"""

from pcneo.search.cluster.cluster_graph import ClusterGraph
from pcneo.search.cluster.scheduler_client import connected_scheduler

__all__ = ["ClusterGraph", "connected_scheduler"]
