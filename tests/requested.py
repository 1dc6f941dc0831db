"""Releases as tests ask for them: a mechanism's name and parameters beside source and destination."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pcneo.privacy.mechanisms import mechanism_of
from pcneo.release import Release
from pcneo.release.answers_file import AnswersFile

__all__ = ["requested"]


def requested(mechanism: str | None = None, **given: Any) -> Release:
    """Return a release; where answers are read, mechanism and ε are those of the file unless they are given."""
    if (answers := given.get("answers_from")) is not None:
        file = AnswersFile.open(answers)
        mechanism, given = mechanism or file.mechanism, {"epsilon": file.epsilon, **given, "answers_from": file}
    own = {field.name for field in fields(Release)}
    parameters = {name: value for name, value in given.items() if name not in own}
    rest = {name: value for name, value in given.items() if name in own}
    return Release(mechanism=mechanism_of(mechanism, **parameters), **rest)
