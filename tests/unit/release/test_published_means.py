"""Which totals later releases are judged by."""

from __future__ import annotations

import pytest

from pcneo.release.published_means import is_clear


@pytest.mark.parametrize(
    ("record", "clear"),
    [
        ({"total": 31, "standardErrorOfTotal": 10.0}, True),
        ({"total": 31, "standardErrorOfTotal": 10.0, "warning": "Single counts are mostly noise."}, True),
        ({"total": 30, "standardErrorOfTotal": 10.0}, False),
        ({"total": 5}, True),
        ({"total": 0}, False),
        ({"total": 5_000, "warning": "These counts are mostly noise."}, False),
    ],
)
def test_a_total_is_clear_three_errors_above_0_or_where_no_error_is_published_without_a_warning(
    record: dict[str, object], clear: bool
) -> None:
    assert is_clear(record) is clear
