"""The results of the benchmark: JSON, and the table in the README."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measuring import Line

PACKAGES = (
    *("pcneo", "numpy", "numba", "neo4j", "neo4j-rust-ext", "opendp"),
    *("igraph", "networkit", "pivoterpy", "pyflagsercount"),
)

FOR_USERS = (
    "first result after the imports, nothing compiled yet",
    "cliques of every size",
    "two threads, minimal p-cohesions, HepPh, p=0.1",
    "annotate, HepPh, p=0.1",
    "annotate, HepPh, p=0.3",
    "release with `critical`, HepPh, p=0.1, k=3",
)
"""The beginnings of the lines that the README shows, at most six; each belongs to exactly one line."""

LIST_OF_MISSED = "scripts/benchmarks/results/all.md#goals-missed"

BEGIN, END = "<!-- what scripts/bench measured -->\n", "<!-- end of what scripts/bench measured -->\n"


def versions() -> dict[str, str]:
    """Return the versions of all measured programs."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def machine() -> dict[str, Any]:
    """Describe the machine without naming it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": _cpu(), "cores": cores, "memory_gib": _memory(), "system": platform.system()}


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", path.read_text()) if path.exists() else []
    return names[0] if names else platform.machine()


def _memory() -> int | None:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)


def as_record(lines: Mapping[str, Sequence[Line]], rounds: int, seconds: float) -> dict[str, Any]:
    """Return all results, ready for JSON."""
    return {
        "date": date.today().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "rounds": rounds,
        "seconds": round(seconds),
        "lines": [_line(name, line) for name, measured in lines.items() for line in measured],
    }


def _line(name: str, line: Line) -> dict[str, Any]:
    return {
        "benchmark": name,
        "what": line.what,
        "unit": line.unit,
        "ours": _spread(line.ours),
        "peer": line.peer or None,
        "theirs": _spread(line.theirs),
        "ratio_is": line.ratio if line.theirs else None,
        "ratio": _spread(line.ratios),
        "goal": asdict(line.goal) if line.goal else None,
        "met": line.met,
        "note": line.note,
        "bound": line.bound or None,
        "floor": _spread(line.floor),
    }


def _spread(values: Sequence[float]) -> dict[str, Any] | None:
    """Return minimum, median, maximum and every round, to six digits."""
    if not values:
        return None
    spread = {"minimum": min(values), "median": median(values), "maximum": max(values)}
    digits = {name: float(f"{value:.6g}") for name, value in spread.items()}
    return {**digits, "rounds": [float(f"{value:.6g}") for value in values]}


def page(record: Mapping[str, Any]) -> str:
    """Return the table, followed by the goals that were missed and by the note and the bound of each line."""
    missed = [f"- {name}" for name in map(_told, _missed(record))]
    missed = ["## Goals missed", "", *missed, "", "## Notes", ""] if missed else []
    notes = [f"- {line['what']}: {_remark(line)}" for line in record["lines"] if _remark(line)]
    return "\n".join([table(record), *missed, *notes, ""])


def _remark(line: Mapping[str, Any]) -> str:
    sentences = [f"{line['note']}."] if line["note"] else []
    if line.get("bound"):
        floor, far = line["floor"], ""
        if floor and floor["median"] > 0:
            times = _number(line["ours"]["median"] / floor["median"])
            far = f", {_number(floor['median'])}{_unit(line['unit'])}: {times} times that"
        sentences.append(f"Bound: {line['bound']}{far}.")
    return " ".join(sentences)


def table(record: Mapping[str, Any]) -> str:
    """Return the lines as a Markdown table, with the machine on which they were measured."""
    there = record["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    return (
        f"{_rows(record['lines'])}\n\nMeasured on {record['date']}, {there['cores']} cores of {there['cpu']}, "
        f"{there['memory_gib']} GiB, "
        f"{there['system']}; {_rounds(record)}, "
        f"{record['seconds'] / 60:.0f} minutes in all. "
        "A ratio is the median over the rounds, with the smallest and the largest; goals are judged by the median. "
        f"{packages}.\n"
    )


def table_for_users(record: Mapping[str, Any]) -> str:
    """Return the lines that users care about, `FOR_USERS`, with the version and the machine that were measured."""
    lines = [line for begins in FOR_USERS for line in record["lines"] if line["what"].startswith(begins)]
    there, measured = record["machine"], record["versions"]["pcneo"]
    return (
        f"{_rows(lines)}\n\nMeasured with pcneo {measured} on {record['date']}, {there['cores']} cores of "
        f"{there['cpu']}; ours and theirs are medians of rounds taken in turns; each "
        "ratio is followed by the smallest and the largest of any round. A goal is "
        f"what this project has set itself.{_missed_in_short(record)}\n"
    )


def _missed_in_short(record: Mapping[str, Any]) -> str:
    """Return how many goals were missed, with a link to the list; empty if all were met."""
    missed, goals = len(_missed(record)), sum(line["goal"] is not None for line in record["lines"])
    return f" Goals missed: {missed} of {goals} ([which]({LIST_OF_MISSED}))." if missed else ""


def _missed(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [line for line in record["lines"] if line["met"] is False]


def _told(line: Mapping[str, Any]) -> str:
    """Name a goal that was missed, with the figure that was reached."""
    what, ours, _, _, shown, goal, _ = _cells(line)
    return f"{what}: {ours if line['goal']['of'] == 'ours' else shown.partition(' (')[0]}, not {goal}"


def _rows(lines: Sequence[Mapping[str, Any]]) -> str:
    head = ["what", "ours", "beside", "theirs", "ratio", "goal", "met"]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *map(_cells, lines)])


def _rounds(record: Mapping[str, Any]) -> str:
    """Describe how often the lines were measured; short tasks are measured more often than long ones."""
    counts = [len(line["ours"]["rounds"]) for line in record["lines"] if line["ours"]]
    fewest, most = min(counts, default=0), max(counts, default=0)
    if most <= 1:
        return "each line once"
    return f"{most} rounds in turns" if fewest == most else f"from {fewest} to {most} rounds a line, in turns"


def show(record: Mapping[str, Any], readme: Path) -> None:
    """Replace the table between the two marks in the README."""
    before, begin, rest = readme.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    readme.write_text(f"{before}{begin}\n{table_for_users(record)}{end}{after}")


def _cells(line: Mapping[str, Any]) -> list[str]:
    goal = line["goal"]
    if goal is None:
        wanted, met = "", ""
    else:
        sign = "≤" if goal["bound"] == "at most" else "≥"
        wanted = f"{sign} {_number(goal['value'])}{_unit(line['unit']) if goal['of'] == 'ours' else ''}"
        met = "yes" if line["met"] else "**no**"
    ratio = line["ratio"]
    shown = ""
    if ratio:
        spread = f"{_number(ratio['median'])} ({_number(ratio['minimum'])}–{_number(ratio['maximum'])})"
        shown = f"{spread} {'of theirs' if line['ratio_is'] == 'ours / peer' else 'times as fast'}"
    ours, theirs = _shown(line["ours"], line), _shown(line["theirs"], line)
    return [line["what"], ours, line["peer"] or "", theirs, shown, wanted, met]


def _shown(spread: Mapping[str, float] | None, line: Mapping[str, Any]) -> str:
    return f"{_number(spread['median'])}{_unit(line['unit'])}" if spread else ""


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def _number(value: float) -> str:
    """Three digits, with commas between thousands."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
