"""The means in public files: noted in the ledger, and logged before the next spend (GUARANTEE.md#utility)."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pcneo.errors import PcneoError
from pcneo.privacy.exact import exact_number
from pcneo.privacy.mechanisms import protection_of
from pcneo.privacy.outlook import Earlier
from pcneo.privacy.protection import Protects
from pcneo.store.database import Database
from pcneo.store.ledger import note_published
from pcneo.store.ledger_records import LedgerRecords

log = logging.getLogger("pcneo")

_CLEAR = 3
"""How many standard errors a total must be above 0 for later releases to be judged by it."""


def earlier_of(ledger: LedgerRecords, graph: str) -> Earlier:
    """Return the means that the most exact releases of a graph have published: by ε, the latest among equals.

    Releases that promise nothing are used only where no other release has published a mean.
    """
    drawn = {release.id: exact_number(release.epsilon) for release in ledger.releases}
    counts, degrees = dict[tuple[bool, Fraction], float](), dict[tuple[bool, Fraction], float]()
    for release in ledger.releases:
        # A release from another one's answers spends nothing, and is as exact as that one.
        epsilon = drawn.get(release.answers or release.id, drawn[release.id])
        rank = protection_of(release.mechanism) is not Protects.NOTHING, epsilon
        for means, mean in ((counts, release.mean_count), (degrees, release.mean_degree)):
            if release.graph == graph and mean is not None and 0 < mean < math.inf:
                means[rank] = mean
    count, degree = (means[max(means)] if means else None for means in (counts, degrees))
    return Earlier(count, degree, count_is_promised=any(promises for promises, _ in counts))


def is_clear(record: Mapping[str, Any]) -> bool:
    """Whether the total of a public file says enough about the mean for later releases to be judged by it."""
    if "standardErrorOfTotal" in record:
        return record["total"] > _CLEAR * record["standardErrorOfTotal"]
    return record["total"] > 0 and "warning" not in record


def note_means(
    db: Database, release: str, vertices: int, triangles: float | None, degrees: Sequence[float] | None
) -> None:
    """Record the means of the total and the degrees in a public file, None for what it does not state.

    If this fails, only the hint before the next release is missing.
    """
    of_count = None if triangles is None else 3 * triangles / vertices
    of_degree = None if degrees is None else math.fsum(degrees) / vertices
    if of_count is None and of_degree is None:
        return
    try:
        note_published(db, release, of_count, of_degree)
    except PcneoError as error:
        log.warning("The means that release %s has published are not in the ledger: %s", release, error)
