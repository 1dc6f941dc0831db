"""The service's log: one line per event, as text for people or JSON for machines."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from pcneo.basics.visible import visible
from pcneo.errors import ConnectionFailedError, PcneoError

log = logging.getLogger("pcneo.service")


def log_event(event: str, *, level: int = logging.INFO, **values: object) -> None:
    """Log an event with its values; those that are None are left out."""
    there = {name: value for name, value in values.items() if value is not None}
    log.log(level, "%s", event, extra={"values": there})


def error_text(error: Exception) -> str:
    """Return an error's message; for an error that is not ours, also its kind."""
    return str(error) if isinstance(error, PcneoError) else repr(error)


def raise_outage(error: Exception) -> None:
    """Raise an error again if no database answers: then nothing else would be answered either."""
    if isinstance(error, ConnectionFailedError):
        raise error


class EventFormatter(logging.Formatter):
    """Formats events, and everything else that pcneo logs, as one line each."""

    def __init__(self, *, as_json: bool) -> None:
        """Choose text or JSON."""
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        values = dict(getattr(record, "values", {}))
        if record.exc_info:
            values["traceback"] = self.formatException(record.exc_info)
        if self._as_json:
            line = {"time": time, "level": record.levelname.lower(), "event": record.getMessage(), **values}
            return json.dumps(line, default=str)
        shown = " ".join(f"{name}={_plain(value)}" for name, value in values.items())
        level = record.levelname if record.levelno > logging.INFO else ""
        return visible(" ".join(part for part in (time, level, record.getMessage(), shown) if part))


def _plain(value: object) -> str:
    """Return a value as one word, or quoted."""
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    return text if text and text.isprintable() and " " not in text else json.dumps(text, ensure_ascii=False)
