"""What releases of a graph would cost single pairs, show an attacker, and which mechanism fits: for the owner alone.

Nothing is spent and no noise of a release is drawn (GUARANTEE.md#loss-of-one-connection).
"""

from pcneo.release.audit.attacked import Exact
from pcneo.release.audit.attacking import AttackResult, MechanismAttacked, attack
from pcneo.release.audit.auditing import audit
from pcneo.release.audit.findings import NOTICE, AuditResult, Losses, PairLoss, Removal, Removals

__all__ = [
    "NOTICE",
    "AttackResult",
    "AuditResult",
    "Exact",
    "Losses",
    "MechanismAttacked",
    "PairLoss",
    "Removal",
    "Removals",
    "attack",
    "audit",
]
