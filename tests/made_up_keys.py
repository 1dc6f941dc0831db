"""Keys that files, terminals and spreadsheets could take for more than text."""

from __future__ import annotations

__all__ = ["FORMULAS", "HOSTILE_KEYS"]

FORMULAS = ["=1+1", "+1+cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "\r"]
"""Refused in a public CSV file, which a spreadsheet would run."""
HOSTILE_KEYS = sorted(
    [
        *("", "a\n# b", "# k: 9", "a\r\nb", "\n", "\n# mechanism: none", 'say "hash # mark"', "'quoted'", "a,b", '","'),
        *("\x00", "nul\x00inside", "\x1b[2J", "\u202egnp.exe", "\u2028", "\ufeff", " blank ", "1", "1 2", "\\", "\\n"),
        *("x" * 10_000, "é", "e\u0301", "🦑", "</node>", "&amp;", "a b\n", "nan", "None"),
        *FORMULAS,
    ]
)
"""In the order in which pcneo has them."""
