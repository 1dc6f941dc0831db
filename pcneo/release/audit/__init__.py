"""What releases of one graph would cost single pairs, and which mechanism fits it: for the owner alone.

Nothing is spent and no noise of a release is drawn (GUARANTEE.md#loss-of-one-connection).
"""

from pcneo.release.audit.auditing import audit
from pcneo.release.audit.findings import NOTICE, AuditResult, Losses, PairLoss, Removal, Removals

__all__ = ["NOTICE", "AuditResult", "Losses", "PairLoss", "Removal", "Removals", "audit"]
