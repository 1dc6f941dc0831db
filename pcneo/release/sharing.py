"""Releases that share what is drawn once and paid for once: answers, or one C* (GUARANTEE.md#one-c-for-all)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from pcneo.errors import ParameterError
from pcneo.privacy.composition import compose
from pcneo.privacy.mechanisms import Mechanism
from pcneo.release.prepared import Prepared
from pcneo.release.request import in_row


def shared(chosen: Sequence[Prepared]) -> list[Prepared]:
    """Mark on each release what an earlier one has drawn and paid for; releases that share nothing stay as they are."""
    return _sharing_answers(_sharing_bounds(list(chosen)))


def _sharing_answers(chosen: Sequence[Prepared]) -> list[Prepared]:
    """Charge for each set of answers once; it is free if a file has it or an earlier one of these releases draws it."""
    drawn: set[object] = set()
    charged: list[Prepared] = []
    for choice in chosen:
        if choice.mechanism.adds_noise:
            charged.append(choice)
            continue
        # [respond-afterwards] What is computed from answers costs nothing more.
        is_given = choice.request.answers_from is not None
        is_free = is_given or choice.of_answers in drawn
        charged.append(replace(choice, already_paid=choice.mechanism.epsilon) if is_free else choice)
        drawn |= set() if is_given else {choice.of_answers}
    return charged


def _sharing_bounds(chosen: list[Prepared]) -> list[Prepared]:
    groups: dict[tuple[str, str], list[int]] = {}
    for i, choice in enumerate(chosen):
        if choice.request.share is not None and choice.mechanism.adds_noise:
            groups.setdefault((choice.graph.name, choice.request.share), []).append(i)
    for group in groups.values():
        rows = dict.fromkeys(chosen[i].request.row for i in group)
        with in_row(" and ".join(filter(None, rows))):
            on_one_bound = _on_one_bound([chosen[i] for i in group])
        for i, choice in zip(group, on_one_bound, strict=True):
            chosen[i] = choice
    return chosen


def _on_one_bound(group: Sequence[Prepared]) -> list[Prepared]:
    """Return releases of one graph on one C*: with one ε1, one δ and, where degrees are drawn, one ε0."""
    full = [choice.mechanism for choice in group]
    delta, epsilon_1 = _one_delta(full), _least_epsilon_1(group, full)
    degrees: list[Fraction | None] = [mechanism.parameter("epsilon_0") for mechanism in full]
    epsilon_0 = min(filter(None, degrees), default=Fraction(0))
    files: list[Prepared] = []
    degrees_paid = Fraction(0)  # by the files so far
    for choice, mechanism, own_degrees in zip(group, full, degrees, strict=True):
        of_degrees = epsilon_0 if own_degrees else Fraction(0)
        own = (mechanism.epsilon - epsilon_1 - of_degrees) / choice.request.parts
        if own <= 0:
            raise ParameterError(
                f"epsilon 1 of releases that share one C* must leave a part of each epsilon: {epsilon_1} leaves none.",
                name="epsilon 1",
                value=epsilon_1,
            )
        # [one-bound] Each file alone costs what all draw together, and its own part.
        parts = {"epsilon": epsilon_1 + of_degrees + own, "epsilon_1": epsilon_1, "delta": delta}
        if of_degrees:
            parts["epsilon_0"] = of_degrees
        request = replace(choice.request, mechanism=replace(choice.request.mechanism, **parts))
        # The first file pays for C*, and the first with degrees for those.
        already_paid = epsilon_1 + min(degrees_paid, of_degrees) if files else None
        files.append(replace(choice, request=request, already_paid=already_paid))
        degrees_paid = max(degrees_paid, of_degrees)
    if len(files) == 1:
        return files
    cost = compose(file.spend.cost for file in files)
    together = f"{len(files)} files rest on one bound of common neighbours; together they cost {cost}."
    return [replace(file, together=together, joint=cost) for file in files]


def _one_delta(full: Sequence[Mechanism]) -> Fraction:
    values = {mechanism.spent_delta for mechanism in full}
    if len(values) > 1:
        raise ParameterError(
            "Releases that share one C* must have one delta.", name="delta", value=sorted(map(str, values))
        )
    return values.pop()


def _least_epsilon_1(group: Sequence[Prepared], full: Sequence[Mechanism]) -> Fraction:
    """Return the ε1 that was asked for, which must be the same everywhere, or else the smallest of the usual ones."""
    asked: set[Fraction] = {choice.request.mechanism.parameter("epsilon_1") for choice in group} - {None}
    if len(asked) > 1:
        raise ParameterError(
            "Releases that share one C* must have one epsilon 1.", name="epsilon 1", value=sorted(map(str, asked))
        )
    return min(asked or {mechanism.parameter("epsilon_1") for mechanism in full})
