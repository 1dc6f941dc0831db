"""The mechanisms by name. Each describes itself completely, as `base` lists it; all arithmetic is in fractions.

base         what every mechanism says about itself, and what is drawn for a release
one_scale    the base class of those that draw all counts with one scale
two_phases   the base class of those whose vertices find that scale themselves
parameters   what a person writes, read once
"""

from __future__ import annotations

from typing import Any

from pcneo.basics.spelling import did_you_mean
from pcneo.errors import ParameterError
from pcneo.privacy.mechanisms.base import Drawn, InShort, Mechanism, Once
from pcneo.privacy.mechanisms.critical import EARLIER_GROUPS, Critical
from pcneo.privacy.mechanisms.edge import Edge
from pcneo.privacy.mechanisms.elv import Elv
from pcneo.privacy.mechanisms.modelled import Modelled
from pcneo.privacy.mechanisms.one_scale import OneScale
from pcneo.privacy.mechanisms.parameters import AnyNumber
from pcneo.privacy.mechanisms.published import Published
from pcneo.privacy.mechanisms.respond import Respond
from pcneo.privacy.mechanisms.total import Total
from pcneo.privacy.mechanisms.two_phases import TwoPhases
from pcneo.privacy.protection import Protects

__all__ = [
    "EARLIER_GROUPS",
    "MECHANISMS",
    "RETIRED",
    "AnyNumber",
    "Critical",
    "Drawn",
    "Edge",
    "Elv",
    "InShort",
    "Mechanism",
    "Modelled",
    "Once",
    "OneScale",
    "Published",
    "Respond",
    "Total",
    "TwoPhases",
    "mechanism_named",
    "mechanism_of",
    "protection_of",
]

MECHANISMS: dict[str, type[Mechanism]] = {m.name: m for m in (Critical, Respond, Modelled, Total, Edge, Elv, Published)}
"""Every mechanism that a release can have, in the order in which people read them."""


def mechanism_named(name: str | None) -> type[Mechanism]:
    """Return a mechanism's class."""
    if name is None:
        raise ParameterError(
            f"Name the mechanism, one of {', '.join(MECHANISMS)}: each promises something different, so there is no "
            "default.",
            name="mechanism",
            value=None,
        )
    if name not in MECHANISMS:
        raise ParameterError(
            f"mechanism must be one of {', '.join(MECHANISMS)}, not {name!r}.{did_you_mean(name, MECHANISMS)}",
            name="mechanism",
            value=name,
        )
    return MECHANISMS[name]


def mechanism_of(name: str | None, **given: Any) -> Mechanism:
    """Return a mechanism with the parameters that a person gave; None stands for one that was not given."""
    kind = mechanism_named(name)
    named = {parameter: value for parameter, value in given.items() if value is not None}
    for parameter, value in named.items():
        if parameter not in kind.parameter_names():
            kind.refuse_foreign(parameter, value)
    made = kind(**{"epsilon": None, **named})
    made.check_protects()
    return made


RETIRED: dict[str, Protects] = {"row": Protects.EVERY_CONNECTION}
"""What recorded releases of mechanisms that no longer exist protect; what they spent still counts."""


def protection_of(name: str) -> Protects:
    """Return what a recorded release protects: nothing for a mechanism that only another version of pcneo knows."""
    return MECHANISMS[name].protects if name in MECHANISMS else RETIRED.get(name, Protects.NOTHING)
