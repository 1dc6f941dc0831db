"""Releases that share what is drawn once and paid for once: answers, or one C* (GUARANTEE.md#one-c-for-all)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from pcneo.errors import ParameterError
from pcneo.privacy.composition import compose
from pcneo.privacy.mechanisms import Parameters
from pcneo.release.choice import Chosen, spend_of
from pcneo.release.request import ReleaseRequest

__all__ = ["shared"]


def shared(chosen: Sequence[Chosen]) -> list[Chosen]:
    """Say of each release what an earlier one has drawn and paid for; releases that draw nothing together stay.

    Raises:
        ParameterError: releases are to share a C* and cannot.
    """
    return _sharing_answers(_sharing_bounds(list(chosen)))


def _sharing_answers(chosen: Sequence[Chosen]) -> list[Chosen]:
    """Charge one set of answers once: where a file has them, or an earlier one of these releases draws them."""
    drawn: set[object] = set()
    charged: list[Chosen] = []
    for choice in chosen:
        if choice.mechanism.adds_noise:
            charged.append(choice)
            continue
        given = isinstance(choice.request, ReleaseRequest) and choice.request.answers_from is not None
        # [respond-afterwards] What is computed from answers costs nothing more.
        free = given or choice.of_answers in drawn
        drawn.add(choice.of_answers)
        charged.append(_paid(choice, choice.parameters.epsilon) if free else choice)
    return charged


def _paid(choice: Chosen, epsilon: Fraction) -> Chosen:
    """Return a release of whose ε so much is paid by another one, and δ with it."""
    parameters = choice.mechanism.completed(choice.parameters, choice.vertices)
    return replace(choice, paid=epsilon, spend=spend_of(choice.mechanism, parameters, choice.run, paid=epsilon))


def _sharing_bounds(chosen: list[Chosen]) -> list[Chosen]:
    groups: dict[tuple[str, str], list[int]] = {}
    for i, choice in enumerate(chosen):
        if choice.share is not None and choice.mechanism.adds_noise:
            groups.setdefault((choice.graph.name, choice.share), []).append(i)
    for group in groups.values():
        for i, choice in zip(group, _on_one_bound([chosen[i] for i in group]), strict=True):
            chosen[i] = choice
    return chosen


def _on_one_bound(group: Sequence[Chosen]) -> list[Chosen]:
    """Return releases of one graph on one C*: with one ε1, one δ and, where degrees are drawn, one ε0."""
    full = [choice.mechanism.completed(choice.parameters, choice.vertices) for choice in group]
    delta, epsilon_1, epsilon_0 = _one("delta", full), _least("epsilon 1", group, full), None
    if degrees := [parameters.epsilon_0 for parameters in full if parameters.epsilon_0 is not None]:
        epsilon_0 = min(degrees)
    together, drawn = list[Chosen](), Fraction(0)
    for choice, parameters in zip(group, full, strict=True):
        of_degrees = Fraction(0) if parameters.epsilon_0 is None else epsilon_0 or Fraction(0)
        own = (parameters.epsilon - epsilon_1 - of_degrees) / choice.parts
        if own <= 0:
            raise ParameterError(
                f"epsilon 1 of releases that share one C* must leave a part of each epsilon: {epsilon_1} leaves none.",
                name="epsilon 1",
                value=epsilon_1,
            )
        # [one-bound] Each file alone costs what all draw together, and its own part.
        parameters = replace(
            parameters,
            epsilon=epsilon_1 + of_degrees + own,
            epsilon_1=epsilon_1,
            epsilon_0=epsilon_0 if of_degrees else None,
            delta=delta,
        )
        choice = replace(choice, parameters=parameters, spend=spend_of(choice.mechanism, parameters, choice.run))
        if together:
            choice = _paid(choice, epsilon_1 + min(drawn, of_degrees))
        drawn = max(drawn, of_degrees)
        together.append(choice)
    cost = compose(choice.spend.cost for choice in together)
    said = f"{len(together)} files rest on one bound of common neighbours; together they cost {cost}."
    return [replace(choice, together=said) for choice in together] if len(together) > 1 else together


def _one(name: str, full: Sequence[Parameters]) -> Fraction | None:
    values = {parameters.delta for parameters in full}
    if len(values) > 1:
        raise ParameterError(f"Releases that share one C* have one {name}.", name=name, value=sorted(map(str, values)))
    return values.pop()


def _least(name: str, group: Sequence[Chosen], full: Sequence[Parameters]) -> Fraction:
    """Return the ε1 that was asked for, the same wherever it was, else the least of the usual ones."""
    asked = {choice.parameters.epsilon_1 for choice in group} - {None}
    if len(asked) > 1:
        raise ParameterError(f"Releases that share one C* have one {name}.", name=name, value=sorted(map(str, asked)))
    return min(asked or {p.epsilon_1 for p in full}, key=lambda e: e or Fraction(0)) or Fraction(0)
