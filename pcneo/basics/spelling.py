"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], option: str = "") -> str:
    """Return a question to put after a refusal, with a space before it; nothing where no known name is near."""
    known = [other for other in known if abs(len(other) - len(name)) <= len(name) / 2]  # a part is near to any whole
    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {f'{option} ' if option else ''}{near[0]}?" if near else ""
