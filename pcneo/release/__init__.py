"""Noisy local clique counts, released from the stored subgraphs; exact counts meet noise here only.

What leaves is listed in GUARANTEE.md#two-outputs.

`prepare` reads, counts and checks everything; `spend` records the cost; only then is noise drawn, and published.
"""

from pcneo.release.asked import Asked, read_batch
from pcneo.release.prepared import Prepared
from pcneo.release.releasing import Released, release
from pcneo.release.utility import DIFFERENT_PROMISES, Utility

__all__ = ["DIFFERENT_PROMISES", "Asked", "Prepared", "Released", "Utility", "read_batch", "release"]
