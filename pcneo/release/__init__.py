"""Noisy local clique counts, released from the stored subgraphs; exact counts meet noise here only.

What leaves is listed in GUARANTEE.md#two-outputs.

`prepare` reads, counts and checks everything; `spend` records the cost; only then is noise drawn, and published.
"""

from pcneo.privacy.outlook import DIFFERENT_PROMISES, Utility
from pcneo.release.prepared import Prepared
from pcneo.release.releasing import Released, release
from pcneo.release.request import Asked, read_batch

__all__ = ["DIFFERENT_PROMISES", "Asked", "Prepared", "Released", "Utility", "read_batch", "release"]
