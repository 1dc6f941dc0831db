"""The owner's report: everything that the public file must not contain (GUARANTEE.md#two-outputs)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pcneo.basics.config import __version__
from pcneo.basics.frames import rounded
from pcneo.basics.visible import visible
from pcneo.privacy.account import Account
from pcneo.privacy.composition import UNBOUNDED, Cost
from pcneo.privacy.exact import decimal_text, exact_text
from pcneo.privacy.quantiles import QUANTILES
from pcneo.release.prepared import Prepared

_PARAMETERS = {"k": "k", "epsilon": "ε", "epsilon1": "ε1", "delta": "δ", "h": "h"}

_NOTICE = "For the owner alone. This report reveals more than the release's promise allows; do not publish it."

_NOTICE_OF_LEDGER = (
    "For the owner alone. Besides what is public, this report has what has been spent, and the graph's fingerprint, "
    "which shows whether any connection has changed between two releases; no promise covers that. Do not publish it."
)
"""Where nothing in the report was computed from connections but the fingerprint, and numbers that are published."""


def owner_record(
    release: Prepared, scale: Fraction | None, public: Mapping[str, Any], account: Account
) -> dict[str, Any]:
    """Return the owner's report as plain values; `public` is what is published beside keys and counts."""
    mechanism, run, epsilon_1 = release.mechanism, release.run, release.mechanism.parameter("epsilon_1")
    total = public["total"]
    report = {
        "notice": _NOTICE_OF_LEDGER if _adds_no_fact(release) else _NOTICE,
        "release": release.id,
        "pcneo": __version__,
        "graph": release.graph.name,
        "mechanism": mechanism.name,
        "runBy": mechanism.run_by,
        "promise": release.promise,
        "inPlainWords": release.in_plain_words or None,
        "warning": public.get("warning") or None,
        "k": mechanism.k,
        "epsilon": exact_text(mechanism.epsilon),
        "epsilon1": None if epsilon_1 is None else exact_text(epsilon_1),
        "delta": exact_text(mechanism.spent_delta),
        "h": mechanism.parameter("h"),
        "run": run.id if run else None,
        "runVersion": run.version if run else None,
        "p": str(run.search.p) if run else None,
        "search": run.search.name if run else None,
        "fingerprint": release.source.fingerprint,
        "membershipHash": run.membership_hash if run else None,
        "answersOfRelease": release.answer_set,
        "spent": release.spend.cost.plain,
        "vertices": release.source.graph.vertex_count,
        "total": total,
        "spentByThisGraph": account.spent.plain,
        "totalOfThisGraph": account.total.plain if account.total else None,
        "left": account.left.plain if account.left else None,
    }
    report |= release.shares_of_groups
    if scale is None:
        return report | dict(release.figures)
    half_width, edges = mechanism.half_width_of_total(scale), release.source.graph.edge_count
    of_vertices = mechanism.counts_vertices and mechanism.size == mechanism.n
    report |= {
        "edges": edges,
        "scales": [{"scale": decimal_text(scale), "vertices" if of_vertices else "numbers": mechanism.size}],
        "standardErrorOfTotal": mechanism.error_of_total(scale),
        "interval95Percent": [total - half_width, total + half_width],
    }
    if release.losses is None:
        return report
    divisor = float(mechanism.divides_loss(scale))
    *quantiles, largest = (loss / divisor for loss in release.losses)
    named = {f"quantile{share * 100:g}": loss for share, loss in zip(QUANTILES[:-1], quantiles, strict=True)}
    return report | {"loss": {"connections": {**named, "largest": largest, "pairs": edges}}}


def _adds_no_fact(release: Prepared) -> bool:
    """Whether it says nothing about connections, such as a loss, but the fingerprint and what is public."""
    return not release.mechanism.adds_noise and release.run is None and not release.figures


def owner_json(record: Mapping[str, Any]) -> str:
    """Return the report as JSON; `record` is what `owner_record` returned."""
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def owner_markdown(record: Mapping[str, Any]) -> str:
    """Return the report as a person reads it, in Markdown; `record` is what `owner_record` returned."""
    noisy = "scales" in record
    said = {**record, "delta": decimal_text(Fraction(record["delta"]))}
    edges = f", {record['edges']:,} connections" if noisy else ""
    lines = [
        f"# Release {record['release']}",
        "",
        f"**{record['notice']}**",
        "",
        f"- Promise: {record['promise']}",
        *(f"- {record[name]}" for name in ("inPlainWords", "warning") if record[name]),
        f"- Mechanism {record['mechanism']}, run by {record['runBy']}",
        "- " + ", ".join(f"{sign}={said[name]}" for name, sign in _PARAMETERS.items() if said[name] is not None),
        f"- Graph {record['graph']}: {record['vertices']:,} vertices{edges}; fingerprint, a "
        f"hash that changes with any connection: `{record['fingerprint']}`",
    ]
    if record["run"]:
        lines.append(f"- Run {record['run']}, p={record['p']}, search {record['search']}")
    spent = (
        f"- Spent by this graph so far: {_cost(record['spentByThisGraph'])}"
        + (f"; total {_cost(record['totalOfThisGraph'])}" if record["totalOfThisGraph"] else "")
        + (f"; left {_cost(record['left'])}" if record["left"] else "")
    )
    if noisy:
        lines += [*_group_lines(record), *_noise_lines(record), spent, "", *_scale_lines(record), *_loss_lines(record)]
    else:
        lines += [*_group_lines(record), *_answer_lines(record), spent]
    return "\n".join(map(visible, lines)) + "\n"


def _cost(plain: Mapping[str, Any]) -> str:
    return str(Cost(Fraction(plain["epsilonExact"]), Fraction(plain["deltaExact"])) if plain["bounded"] else UNBOUNDED)


def _group_lines(record: Mapping[str, Any]) -> list[str]:
    if record.get("connectionsOutsideGroups") is None:
        return []
    lines = [f"- {record['connectionsOutsideGroups']:.1%} of the connections lie outside all groups"]
    if (pairs := record["insideInGroupsOfTwo"]) is not None:
        lines.append(
            f"- {pairs:.1%} of those inside are a group of two: "
            "anyone who knows the groups knows these connections, at any ε"
        )
    return lines


def _noise_lines(record: Mapping[str, Any]) -> list[str]:
    low, high = record["interval95Percent"]
    lines = [
        f"- Total {record['total']:,.2f}, standard error {record['standardErrorOfTotal']:,.2f}, "
        f"95 % interval {low:,.2f} to {high:,.2f}"
    ]
    if (error := record.get("rootMeanSquareErrorOfCounts")) is not None:
        lines.append(f"- Exact root mean square error of the counts as released: {rounded(error)}")
    return lines


def _answer_lines(record: Mapping[str, Any]) -> list[str]:
    if "standardErrors" not in record:
        return [f"- Total {record['total']:,}"]
    errors = record["standardErrors"]
    return [
        f"- Total {record['total']:,}, standard error {rounded(record['standardErrorOfTotal'])} ({errors['are']})",
        f"- Standard error of a count ({errors['are']}): mean {rounded(errors['mean'])}, "
        f"median {rounded(errors['median'])}, largest {rounded(errors['largest'])}",
        f"- {_exact_counts(record['countsWithoutProtectedPairs'])}",
        f"- Every pair inside a group costs {record['lossOfEachPair']:.6g}",
    ]


def _exact_counts(number: int) -> str:
    if number == 1:
        return "1 count is exact: no pair inside a group can change it"
    return f"{number:,} counts are exact: no pair inside a group can change them"


def _scale_lines(record: Mapping[str, Any]) -> list[str]:
    (row,) = record["scales"]
    what = "numbers" if "numbers" in row else "vertices"
    return [f"| scale | {what} |", "|---|---|", f"| {row['scale']} | {row[what]:,} |"]


def _loss_lines(record: Mapping[str, Any]) -> list[str]:
    if "loss" not in record:
        return []
    loss = record["loss"]["connections"]
    values = ", ".join(f"{name} {rounded(value)}" for name, value in loss.items() if name != "pairs")
    return [
        "",
        "## Loss of one connection at these scales, in ε",
        "",
        f"- connections ({loss['pairs']:,}): {values}",
    ]
