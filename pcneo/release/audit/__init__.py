"""What each mechanism promises, how large its errors are, and what it reveals: for the owner alone.

Nothing is spent, and no noise is drawn for a release (GUARANTEE.md#loss-of-one-connection).
"""

from pcneo.release.audit.auditing import MEANING, NOTICE, AuditResult, AuditRow, audit

__all__ = ["MEANING", "NOTICE", "AuditResult", "AuditRow", "audit"]
