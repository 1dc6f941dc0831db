"""The owner's report: everything that the public file must not say (GUARANTEE.md#two-outputs)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pcneo.basics.config import __version__
from pcneo.basics.frames import rounded
from pcneo.basics.visible import visible
from pcneo.privacy.account import Account
from pcneo.privacy.composition import UNBOUNDED, Cost
from pcneo.privacy.exact import decimal_text, exact_text
from pcneo.privacy.laplace import standard_error, sum_half_width
from pcneo.privacy.quantiles import QUANTILES
from pcneo.release.loss_summary import LossSummary
from pcneo.release.prepared import Prepared

__all__ = ["owner_json", "owner_markdown", "owner_record"]

_PARAMETERS = {"k": "k", "epsilon": "ε", "epsilon1": "ε1", "delta": "δ", "h": "h"}


def owner_record(release: Prepared, scales: Sequence[Fraction], total: float, account: Account) -> dict[str, Any]:
    """Return the owner's report as plain values.

    Args:
        release: the release.
        scales: the scale of each vertex; 0 for an exact count.
        total: the noisy total.
        account: the ledger with this release in it.
    """
    mechanism, parameters, run = release.mechanism, release.mechanism.parameters, release.run
    report = {
        "notice": "For the owner alone. What stands here reveals more than the release promises; do not publish it.",
        "release": release.id,
        "pcneo": __version__,
        "graph": release.graph.name,
        "mechanism": mechanism.name,
        "runBy": mechanism.run_by,
        "promise": release.promise,
        "k": parameters.k,
        "epsilon": exact_text(parameters.epsilon),
        "epsilon1": None if parameters.epsilon_1 is None else exact_text(parameters.epsilon_1),
        "delta": exact_text(parameters.spent_delta),
        "h": parameters.h,
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
    if mechanism.adds_noise:
        half_width = sum_half_width(scales) / mechanism.times_counted
        report |= {
            "edges": release.source.graph.edge_count,
            "scales": _scales(scales, "vertices" if mechanism.counts_vertices else "numbers"),
            "exactSupports": release.utility.exact_supports,
            "exactCounts": sum(scale == 0 for scale in scales),
            "connectionsInsideGroups": release.source.share_inside(run, kept=release.kept) if run else None,
            "standardErrorOfTotal": standard_error(scales) / mechanism.times_counted,
            "interval95Percent": [total - half_width, total + half_width],
            "loss": _losses(
                release.losses, None if release.scaling.find is None else mechanism.divides_loss(scales[0])
            ),
        }
    return report


def owner_json(record: Mapping[str, Any]) -> str:
    """Return the report as JSON; `record` is what `owner_record` returned."""
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _scales(scales: Sequence[Fraction], what: str) -> list[dict[str, Any]]:
    """The distinct scales above 0, largest first, at most twenty, with how many of what have each."""
    counted = Counter(scales)
    return [
        {"scale": decimal_text(scale), what: counted[scale]} for scale in sorted(counted, reverse=True)[:20] if scale
    ]


def _losses(summaries: Mapping[str, LossSummary], scale: Fraction | None) -> dict[str, Any]:
    """The largest loss and the quantiles of each kind of pair; an infinite one as text.

    `scale` is what the losses are to be divided by; None where they are at their scales already.
    """
    divisor = 1.0 if scale is None else float(scale)
    described: dict[str, Any] = {}
    for name, summary in summaries.items():
        values = [loss if math.isfinite(loss) else "infinite" for loss in summary.divided(divisor).quantiles]
        described[name] = {
            **{f"quantile{share * 100:g}": value for share, value in zip(QUANTILES[:-1], values[:-1], strict=True)},
            "largest": values[-1],
            "pairs": summary.counted,
            "sampledWithSeed": summary.seed,
        }
    return described


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
        f"- Mechanism {record['mechanism']}, run by {record['runBy']}",
        "- " + ", ".join(f"{sign}={said[name]}" for name, sign in _PARAMETERS.items() if said[name] is not None),
        f"- Graph {record['graph']}: {record['vertices']:,} vertices{edges}; fingerprint `{record['fingerprint']}`",
    ]
    if record["run"]:
        lines.append(f"- Run {record['run']}, p={record['p']}, search {record['search']}")
    spent = (
        f"- Spent by this graph so far: {_cost(record['spentByThisGraph'])}"
        + (f"; total {_cost(record['totalOfThisGraph'])}" if record["totalOfThisGraph"] else "")
        + (f"; left {_cost(record['left'])}" if record["left"] else "")
    )
    if noisy:
        lines += [*_noise_lines(record), spent, "", *_loss_lines(record)]
    else:
        lines += [f"- Total {record['total']:,.2f}", spent]
    return "\n".join(map(visible, lines)) + "\n"


def _cost(plain: Mapping[str, Any]) -> str:
    return str(Cost(Fraction(plain["epsilonExact"]), Fraction(plain["deltaExact"])) if plain["bounded"] else UNBOUNDED)


def _noise_lines(record: Mapping[str, Any]) -> list[str]:
    low, high = record["interval95Percent"]
    lines: list[str] = []
    if record["exactSupports"] is False:
        bound = f"{record['k']}·C(cn, {record['k'] - 2})"
        lines.append(f"- Scales from the bound {bound} on what a pair can change, exact supports being too dear")
    if record["connectionsInsideGroups"] is not None:
        lines.append(f"- {record['connectionsInsideGroups']:.1%} of the connections lie inside groups")
    return [
        *lines,
        f"- {record['exactCounts']:,} counts are exact",
        f"- Total {record['total']:,.2f}, standard error {record['standardErrorOfTotal']:,.2f}, "
        f"95 % interval {low:,.2f} to {high:,.2f}",
    ]


def _loss_lines(record: Mapping[str, Any]) -> list[str]:
    what = "numbers" if any("numbers" in row for row in record["scales"]) else "vertices"
    lines = [
        f"| scale | {what} |",
        "|---|---|",
        *(f"| {row['scale']} | {row[what]:,} |" for row in record["scales"]),
        "",
        "## Loss of one pair at these scales, in ε",
        "",
        "Infinite where an exact count would change.",
        "",
    ]
    for name, loss in record["loss"].items():
        sample = "" if loss["sampledWithSeed"] is None else f", a sample drawn with seed {loss['sampledWithSeed']}"
        values = ", ".join(f"{key} {_short(loss[key])}" for key in loss if key not in ("pairs", "sampledWithSeed"))
        lines.append(f"- {name} ({loss['pairs']:,}{sample}): {values}")
    return lines


def _short(loss: float | str) -> str:
    return loss if isinstance(loss, str) else rounded(loss)
