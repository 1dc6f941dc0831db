"""Noisy local clique counts, released from stored cohesions; exact counts meet noise only here.

GUARANTEE.md#two-outputs lists what comes out.

`prepare` reads, counts and checks everything; `spend` records the cost; only then is noise drawn, and published.
"""

from pcneo.release import audit, budget
from pcneo.release.prepared import Prepared
from pcneo.release.releasing import Released, check_requests, release
from pcneo.release.request import Destination, Release, Source, read_batch
from pcneo.release.rough_groups import RoughGroups, annotate_answers
from pcneo.release.spending import Terms

__all__ = [
    "Destination",
    "Prepared",
    "Release",
    "Released",
    "RoughGroups",
    "Source",
    "Terms",
    "annotate_answers",
    "audit",
    "budget",
    "check_requests",
    "read_batch",
    "release",
]
