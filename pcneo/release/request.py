"""What a person asks for: releases named one by one or as rows of a file, and where each of them goes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pcneo.basics.bounded_file import read_whole
from pcneo.basics.model import AnyPath
from pcneo.basics.searches import AnyP, P
from pcneo.basics.spelling import did_you_mean, similar
from pcneo.errors import BudgetError, FileFormatError, GraphError, ParameterError
from pcneo.privacy.exact import typed_text
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism, mechanism_of
from pcneo.release.answers_file import AnswersFile
from pcneo.release.outputs import OWNERS_FOLDER, check_private, check_writable

COLUMNS = (
    "mechanism",
    "k",
    "epsilon",
    "delta",
    "epsilon_1",
    "h",
    "graph",
    "p",
    "search",
    "run",
    "groups",
    "share",
    "answers",
    "from",
    "clip",
    "smooth",
    "to",
)
NEEDED = ("mechanism", "epsilon", "to")
SUFFIXES = (".csv", ".json")
ANSWERS = ("destroy", "keep", "publish")
"""What becomes of answers once counts are computed from them."""


_MOST_BYTES = 2**24  # of a batch file


@dataclass(frozen=True, kw_only=True)
class Source:
    """The graph and the stored run that a release works on, each named only where more than one fits.

    Attributes:
        graph, p, search, run: a mechanism without groups takes no p, search or run.
    """

    graph: str | None = None
    p: AnyP | None = None
    search: str | None = None
    run: str | None = None

    def __post_init__(self) -> None:
        """Read p."""
        if self.p is not None:
            object.__setattr__(self, "p", P(self.p))

    @property
    def names_run(self) -> bool:
        """Whether it says anything about the run."""
        return (self.run, self.p, self.search) != (None, None, None)


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where a release goes.

    Attributes:
        to: the public file, `.csv` or `.json`.
        report: the owner's report, `.md`; its JSON lies beside it, and so do answers that are kept. By default `to`
            with `.owner.md`, in the folder `owner` beside it, which is created if missing, for its owner alone.
        row: the file and the line of the batch that asks for it; empty if none does.
    """

    to: AnyPath
    report: AnyPath | None = None
    row: str = field(default="", compare=False)

    @property
    def public(self) -> Path:
        """The public file."""
        return Path(self.to)

    @property
    def suffix(self) -> str:
        """The suffix of the public file."""
        return self.public.suffix

    @property
    def reports(self) -> tuple[Path, Path]:
        """The owner's report in Markdown and in JSON."""
        by_default = self.public.parent / OWNERS_FOLDER / self.public.with_suffix(".owner.md").name
        markdown = by_default if self.report is None else Path(self.report)
        return markdown, markdown.with_suffix(".json")

    @property
    def answers_file(self) -> Path | None:
        """Where answers are written; None for nowhere."""
        return None

    def check_answers(self) -> None:
        """Refuse a fate that the answers cannot have."""


@dataclass(frozen=True, kw_only=True)
class Release(Source, Destination):
    """One release as a person asks for it: how it is made private, from what, and where it goes.

    Attributes:
        mechanism: with one k.
        answers: what becomes of answers once counts are computed from them, one of `ANSWERS`; None for `destroy`,
            or for `publish` where parties answer, since their collector has seen the answers.
        answers_from: the answers of an earlier release, to compute from at no cost, with its mechanism and ε.
        groups: for `critical`, a kept version of the run, whose groups are used although the graph has moved on.
        share: a name; releases of one graph with the same name draw, and pay for, what they share only once: a C*,
            noisy degrees, or answers.
        parts: how many k the ε is for; each of them is a release of the same share.
        parties: with `respond`, whether each vertex answers from its own row, all of them simulated in this process.
    """

    mechanism: Mechanism
    answers: str | None = None
    answers_from: AnswersFile | None = None
    groups: int | None = None
    parties: bool = False
    share: str | None = None
    parts: int = 1

    def __post_init__(self) -> None:
        """Refuse a source that is not valid, and an ε at which nothing would be protected."""
        super().__post_init__()
        self.mechanism.check_protects()

    @property
    def fate(self) -> str:
        """What becomes of the answers."""
        return self.answers or ("publish" if self.parties else "destroy")

    @property
    def answers_file(self) -> Path | None:
        """Where answers are written: beside the public file, or beside the owner's report if kept; None for nowhere."""
        if self.mechanism.adds_noise or self.answers_from is not None or self.fate == "destroy":
            return None
        beside = self.public if self.fate == "publish" else self.reports[0].parent / self.public.name
        return beside.with_suffix(".answers.gz")

    def check_answers(self) -> None:
        """Refuse a fate that the answers cannot have: there are none, or others could read those to be kept."""
        if self.fate not in ANSWERS:
            raise ParameterError(
                f"answers must be one of {', '.join(ANSWERS)}, not {self.answers!r}.",
                name="answers",
                value=self.answers,
            )
        if self.answers is not None and (self.answers_from is not None or self.mechanism.adds_noise):
            why = "answers that are read stay as they are" if self.answers_from else f"{self.mechanism.name} draws none"
            raise ParameterError(f"Leave answers out: {why}.", name="answers", value=self.answers)
        if self.parties and self.fate != "publish":
            raise ParameterError(
                "The collector of parties sees their answers, so they are published.", name="answers", value=self.fate
            )
        if self.fate == "keep" and self.answers_file is not None:
            folder = self.answers_file.parent
            if folder.is_dir() and folder.stat().st_mode & 0o055:
                raise ParameterError(
                    f"Others can read the folder {folder}. Keep answers in one that only you can read (chmod 700).",
                    name="answers",
                    value=str(folder),
                )

    def check_share(self) -> None:
        """Refuse to share what the mechanism does not draw, and several k where each needs its own noise."""
        mechanism = self.mechanism
        if self.share is None or mechanism.shares_bound:
            return
        if self.parts == 1:
            sharing = ", ".join(name for name, kind in MECHANISMS.items() if kind.shares_bound)
            raise ParameterError(
                f"Releases of {sharing} can share one C*; those of {mechanism.name} cannot. Leave share out.",
                name="share",
                value=self.share,
            )
        if mechanism.adds_noise:
            raise ParameterError(
                f"A release of {mechanism.name} has one k; make one release for each.", name="k", value=self.parts
            )

    def check_answers_from(self) -> None:
        """Refuse a mechanism or an ε other than that of the answers that it is computed from."""
        file = self.answers_from
        if file is None:
            return
        for name, option, given, own in (
            ("mechanism", "--mechanism", self.mechanism.name, file.mechanism),
            ("epsilon", "-e", self.mechanism.epsilon, file.epsilon),
        ):
            if given != own:
                raise ParameterError(
                    f"The answers in {file.path} have {name} {own}; leave {name} out (on the command line {option}).",
                    name=name,
                    value=given,
                )


def each_k(request: Release, *, epsilon: str | None = None, named: bool = False) -> list[Release]:
    """Split a release of a mechanism with several k into one release for each, which share what they draw."""
    request.check_share()
    mechanism, epsilon = request.mechanism, epsilon or typed_text(request.mechanism.epsilon)
    if len(mechanism.ks) == 1:
        return [replace(request, to=numbered(request.public, mechanism.k, epsilon)) if named else request]
    # All k are in the name: rows of a batch with the same `to` and other k share nothing.
    share = request.share or f"{request.public} at {epsilon}, k = {', '.join(map(str, mechanism.ks))}"
    return [
        replace(
            request,
            to=numbered(request.public, of_one.k, epsilon),
            mechanism=of_one,
            share=share,
            parts=len(mechanism.ks),
        )
        for of_one in mechanism.of_each_k()
    ]


def numbered(to: Path, k: int, epsilon: str) -> Path:
    """Return `counts.csv` as `counts-k3-e0.5.csv`; the slash of a fraction becomes an underscore."""
    return to.parent / f"{to.stem}-k{k}-e{epsilon.replace('/', '_')}{to.suffix}"


def read_batch(path: AnyPath) -> list[Release]:
    """Read releases from a CSV file, one per row."""
    path = Path(path)
    try:
        text = read_whole(path, _MOST_BYTES).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        names = reader.fieldnames or ()
        if wrong := _wrong_columns(names):
            raise FileFormatError(
                f"{path}, line 1: {wrong}; the columns are among {', '.join(COLUMNS)}, each once, with "
                "`mechanism`, `epsilon` and `to`.",
                path=path,
                line=1,
            )
        return [request for row in _rows(path, reader) for request in _row(path, reader.reader.line_num, row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path} cannot be read: {error}.", path=path) from error


def _rows(path: Path, reader: csv.DictReader[str]) -> Iterator[Mapping[str | None, str | None]]:
    try:
        yield from reader
    except csv.Error as error:
        line = reader.line_num + 1  # where the row begins; an open quote may take all that follows
        raise FileFormatError(f"{path}, line {line}: it cannot be read: {error}.", path=path, line=line) from error


def _wrong_columns(names: Sequence[str]) -> str:
    """Say which column is unknown, given twice or missing; return an empty text if all is well."""
    for name in names:
        if name not in COLUMNS:
            near = similar(name, COLUMNS)
            return f"there is no column {name!r}" + (f", did you mean {near!r}?" if near else "")
        if names.count(name) > 1:
            return f"the column {name!r} appears twice"
    missing = [name for name in NEEDED if name not in names]
    return f"the column {missing[0]!r} is missing" if missing else ""


def _row(path: Path, line: int, row: Mapping[str | None, str | None]) -> list[Release]:
    if None in row:
        raise FileFormatError(f"{path}, line {line}: more cells than columns.", path=path, line=line)
    cells = {name: (value or "").strip() for name, value in row.items() if name is not None}
    with _in_line(path, line):
        mechanism, epsilon = cells["mechanism"] or _missing("mechanism"), cells["epsilon"] or _missing("epsilon")
        if mechanism not in MECHANISMS:
            near = did_you_mean(mechanism, MECHANISMS)
            raise ValueError(f"the mechanism must be one of {', '.join(MECHANISMS)}, not {mechanism!r}.{near}")
        parameters = {name: cells.get(name) or None for name in ("delta", "epsilon_1")}
        ks = [_whole("k", text) for text in (cells.get("k") or "").split()]
        if len(set(ks)) < len(ks):
            raise ValueError(f"a k appears twice: {', '.join(map(str, ks))}")
        parameters |= {"k": ks or None}
        parameters |= {"h": _whole("h", cells["h"]) if cells.get("h") else None}
        parameters |= {name: _yes_or_no(name, cells.get(name)) for name in ("clip", "smooth")}
        source = Source(**{name: cells.get(name) or None for name in ("graph", "p", "search", "run")})
        to, groups = cells["to"] or _missing("to"), _whole("groups", cells["groups"]) if cells.get("groups") else None
    with in_row(there := f"{path}, line {line}"):
        request = Release(
            **vars(source),
            mechanism=mechanism_of(mechanism, epsilon=epsilon, **parameters),
            to=Path(to),
            row=there,
            groups=groups,
            answers=cells.get("answers") or None,
            answers_from=AnswersFile.open(cells["from"]) if cells.get("from") else None,
            share=cells.get("share") or None,
        )
    with _in_line(path, line):
        return each_k(request, epsilon=epsilon)


@contextmanager
def in_row(row: str) -> Iterator[None]:
    """Add the row of a batch to a refusal of what it asks for; an error of the database is about no row."""
    try:
        yield
    except (ParameterError, FileFormatError, GraphError, BudgetError) as error:
        if not row:
            raise
        raise type(error)(f"{row}: {error}", **error.data) from error


@contextmanager
def _in_line(path: Path, line: int) -> Iterator[None]:
    """Add the line to the error for what cannot be read there."""
    try:
        yield
    except (ValueError, ParameterError) as error:
        end = "" if str(error).endswith(("?", ".")) else "."
        raise FileFormatError(f"{path}, line {line}: {error}{end}", path=path, line=line) from error


def _missing(name: str) -> str:
    raise ValueError(f"the cell {name!r} is empty")


def _yes_or_no(name: str, text: str | None) -> bool | None:
    """Read yes or no; an empty cell is a no, which a mechanism without the parameter also takes."""
    if text not in (None, "", "yes", "no"):
        raise ValueError(f"{name} is {text!r}, not yes or no")
    return True if text == "yes" else None


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, not a whole number") from None


def check_destinations(requests: Sequence[Destination]) -> None:
    """Refuse, before anything is spent, destinations that cannot be written or that coincide."""
    taken: set[Path] = set()
    for request in requests:
        with in_row(request.row):
            _check_destination(request, taken)


def _check_destination(request: Destination, taken: set[Path]) -> None:
    """Refuse a destination that cannot be written, or of which a file is taken; take its files."""
    if request.suffix not in SUFFIXES:
        raise ParameterError(f"The public file {request.to} must end in .csv or .json.", name="to", value=request.to)
    if request.report is not None and Path(request.report).suffix != ".md":
        raise ParameterError(f"The report {request.report} must end in .md.", name="report", value=request.report)
    request.check_answers()
    private = (*request.reports, *filter(None, [request.answers_file]))
    check_writable(request.public)
    for path in private:
        check_private(path)
    for path in (request.public, *private):
        if path.resolve() in taken:
            raise ParameterError(
                f"{path} would be written twice; give each release its own file.", name="to", value=path
            )
        taken.add(path.resolve())
