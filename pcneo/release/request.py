"""What a person asks for: releases named one by one or as rows of a file, and where each of them goes."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcneo.basics.bounded_file import read_whole
from pcneo.basics.model import AnyPath
from pcneo.basics.searches import AnyP, P
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import FileFormatError, ParameterError
from pcneo.privacy.exact import positive
from pcneo.privacy.mechanisms import MECHANISMS, MechanismRequest, mechanism_named
from pcneo.release.answers_file import AnswersFile
from pcneo.release.outputs import OWNERS_FOLDER, check_writable, owners_folder

__all__ = ["GraphRequest", "ReleaseRequest", "check_destinations", "each_k", "of_its_answers", "read_batch"]

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
class GraphRequest(MechanismRequest):
    """A mechanism with its parameters, and the graph and stored run that it is to work on.

    Attributes:
        graph, p, search, run: each needed only where more than one fits. A mechanism without groups takes no p, search
            or run.
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

    @property
    def suffix(self) -> str:
        """Of the public file; empty where nothing is published."""
        return ""


@dataclass(frozen=True)
class ReleaseRequest(GraphRequest):
    """One release as a person asks for it; numbers of privacy as they were written.

    Attributes:
        to: the public file, `.csv` or `.json`.
        report: the owner's report, `.md`; its JSON lies beside it, and answers that are kept. By default `to` with
            `.owner.md` in the folder `owner` beside it, which is made where it is not there, for its owner alone.
        answers: what becomes of answers once counts are computed from them, one of `ANSWERS`; None for `destroy`, and
            for `publish` where parties answer, whose collector has seen them.
        answers_from: a file of answers of an earlier release, to compute from at no cost; mechanism and ε are its own.
        groups: of `critical`, a kept version of the run, whose groups count though the graph has moved on.
        share: what releases of one graph and this name share is drawn once, and paid for once: a C*, noisy degrees, or
            answers.
        parts: how many k the ε is for; each of them is a request of the same share.
        parties: with `respond`, whether each vertex answers from its own row, all of them simulated in this process.
    """

    to: AnyPath
    report: AnyPath | None = None
    answers: str | None = None
    answers_from: AnyPath | None = None
    groups: int | None = None
    parties: bool = False
    share: str | None = None
    parts: int = 1

    @property
    def public(self) -> Path:
        """The public file."""
        return Path(self.to)

    @property
    def suffix(self) -> str:
        """Of the public file."""
        return self.public.suffix

    @property
    def reports(self) -> tuple[Path, Path]:
        """The owner's report in Markdown and in JSON."""
        by_default = self.public.parent / OWNERS_FOLDER / self.public.with_suffix(".owner.md").name
        markdown = by_default if self.report is None else Path(self.report)
        return markdown, markdown.with_suffix(".json")

    @property
    def fate(self) -> str:
        """What becomes of the answers."""
        return self.answers or ("publish" if self.parties else "destroy")

    @property
    def answers_file(self) -> Path | None:
        """Where answers are written: beside what others may read, or beside the owner's report; None for nowhere."""
        mechanism = MECHANISMS.get(self.mechanism or "")
        if mechanism is None or mechanism.adds_noise or self.answers_from is not None or self.fate == "destroy":
            return None
        beside = self.public if self.fate == "publish" else self.reports[0].parent / self.public.name
        return beside.with_suffix(".answers.gz")

    def check_answers(self) -> None:
        """Refuse what cannot become of the answers.

        Raises:
            ParameterError: there are none, or others could read what is to be kept.
        """
        mechanism = MECHANISMS.get(self.mechanism or "")
        if self.fate not in ANSWERS:
            raise ParameterError(
                f"answers must be one of {', '.join(ANSWERS)}, not {self.answers!r}.",
                name="answers",
                value=self.answers,
            )
        if self.answers is not None and (self.answers_from is not None or (mechanism and mechanism.adds_noise)):
            why = "answers that are read stay as they are" if self.answers_from else f"{self.mechanism} draws none"
            raise ParameterError(f"Leave answers out: {why}.", name="answers", value=self.answers)
        if self.parties and self.fate != "publish":
            raise ParameterError(
                "The collector of parties sees their answers, so they are published.", name="answers", value=self.fate
            )
        if self.fate == "keep" and self.answers_file is not None:
            folder = self.answers_file.parent
            if folder.is_dir() and folder.stat().st_mode & 0o055:
                raise ParameterError(
                    f"Others can read the folder {folder}. Keep answers in one that is yours alone (chmod 700); "
                    "--report names another.",
                    name="answers",
                    value=str(folder),
                )

    def check_share(self) -> None:
        """Refuse to share what the mechanism does not draw, and several k where each needs noise of its own.

        Raises:
            ParameterError: says which.
        """
        mechanism = None if self.share is None else mechanism_named(self.mechanism)
        if mechanism is None or mechanism.shares_bound:
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
                f"A release of {mechanism.name} has one k; make one for each.", name="k", value=self.parts
            )


def of_its_answers(request: ReleaseRequest) -> ReleaseRequest:
    """Return the request with the mechanism and the ε of the answers that it is computed from.

    Raises:
        FileFormatError: the file is no file of answers.
        ParameterError: another mechanism or ε was asked for.
    """
    if request.answers_from is None:
        return request
    file = AnswersFile.open(request.answers_from)
    for name, given, own in (
        ("mechanism", request.mechanism, file.mechanism),
        ("epsilon", None if request.epsilon is None else positive(request.epsilon, "epsilon"), file.epsilon),
    ):
        if given not in (None, own):
            raise ParameterError(f"{file.path} has answers of {name} {own}; leave {name} out.", name=name, value=given)
    return replace(request, mechanism=file.mechanism, epsilon=file.epsilon)


def each_k(request: ReleaseRequest, ks: Sequence[int], *, named: bool) -> list[ReleaseRequest]:
    """Return one release for several k as a request for each, which share what they draw.

    Args:
        request: without its k.
        ks: vertices of the cliques.
        named: whether file names get k and ε where there is a single k, too.

    Raises:
        ParameterError: a k is there twice, or the mechanism cannot share with others what the request says.
    """
    request.check_share()
    if len(set(ks)) < len(ks):
        raise ParameterError(f"k is there twice: {', '.join(map(str, ks))}.", name="k", value=list(ks))
    if len(ks) == 1:
        to = _numbered(request.public, ks[0], request.epsilon) if named else request.to
        return [replace(request, k=ks[0], to=to)]
    # All k are in the name: rows of a batch with one `to` and other k share nothing.
    share = request.share or f"{request.public} at {request.epsilon}, k = {', '.join(map(str, ks))}"
    return [
        replace(request, to=_numbered(request.public, k, request.epsilon), k=k, share=share, parts=len(ks)) for k in ks
    ]


def _numbered(to: Path, k: int, epsilon: object) -> Path:
    """Return `counts.csv` as `counts-k3-e0.5.csv`; the slash of a fraction becomes an underscore."""
    return to.parent / f"{to.stem}-k{k}-e{str(epsilon).replace('/', '_')}{to.suffix}"


def read_batch(path: AnyPath) -> list[ReleaseRequest]:
    """Read releases from a CSV file, one per row.

    Args:
        path: the file; its columns are among `COLUMNS`, those of `NEEDED` all there and filled. In the others an empty
            cell means the default.

    Raises:
        FileFormatError: a column is unknown or a cell cannot be read; names the line.
    """
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
        return [request for row in reader for request in _row(path, reader.line_num, row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path} cannot be read: {error}.", path=path) from error


def _wrong_columns(names: Sequence[str]) -> str:
    """Say which column is none, is there twice or is missing; nothing where all is well."""
    for name in names:
        if name not in COLUMNS:
            near = difflib.get_close_matches(name, COLUMNS, 1)
            return f"there is no column {name!r}" + (f", did you mean {near[0]!r}?" if near else "")
        if names.count(name) > 1:
            return f"the column {name!r} is there twice"
    missing = [name for name in NEEDED if name not in names]
    return f"the column {missing[0]!r} is missing" if missing else ""


def _row(path: Path, line: int, row: Mapping[str | None, str | None]) -> list[ReleaseRequest]:
    if None in row:
        raise FileFormatError(f"{path}, line {line}: more cells than columns.", path=path, line=line)
    cells = {name: (value or "").strip() for name, value in row.items()}
    try:
        if (cells["mechanism"] or _missing("mechanism")) not in MECHANISMS:
            near = did_you_mean(cells["mechanism"], MECHANISMS)
            raise ValueError(f"the mechanism must be one of {', '.join(MECHANISMS)}, not {cells['mechanism']!r}.{near}")
        request = ReleaseRequest(
            to=Path(cells["to"] or _missing("to")),
            mechanism=cells["mechanism"],
            epsilon=cells["epsilon"] or _missing("epsilon"),
            delta=cells.get("delta") or None,
            epsilon_1=cells.get("epsilon_1") or None,
            h=_whole("h", cells["h"]) if cells.get("h") else None,
            graph=cells.get("graph") or None,
            p=cells.get("p") or None,
            search=cells.get("search") or None,
            run=cells.get("run") or None,
            groups=_whole("groups", cells["groups"]) if cells.get("groups") else None,
            answers=cells.get("answers") or None,
            answers_from=Path(cells["from"]) if cells.get("from") else None,
            clip=_said("clip", cells.get("clip")),
            smooth=_said("smooth", cells.get("smooth")),
            share=cells.get("share") or None,
        )
        ks = [_whole("k", text) for text in (cells.get("k") or "").split()]
        return each_k(request, ks or [ReleaseRequest.k], named=False)
    except (ValueError, ParameterError) as error:
        end = "" if str(error).endswith(("?", ".")) else "."
        raise FileFormatError(f"{path}, line {line}: {error}{end}", path=path, line=line) from error


def _missing(name: str) -> str:
    raise ValueError(f"the cell {name!r} is empty")


def _said(name: str, text: str | None) -> bool | None:
    """Read yes or no; an empty cell is a no that a mechanism without the parameter takes, too."""
    if text not in (None, "", "yes", "no"):
        raise ValueError(f"{name} is {text!r}, not yes or no")
    return True if text == "yes" else None


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, not a whole number") from None


def check_destinations(requests: Sequence[ReleaseRequest]) -> None:
    """Refuse, before anything is spent, destinations that cannot be written or that would meet.

    Raises:
        ParameterError: says which and why.
    """
    taken: set[Path] = set()
    for request in requests:
        if request.suffix not in SUFFIXES:
            raise ParameterError(
                f"The public file {request.to} must end in .csv or .json.", name="to", value=request.to
            )
        if request.report is not None and Path(request.report).suffix != ".md":
            raise ParameterError(f"The report {request.report} must end in .md.", name="report", value=request.report)
        request.check_answers()
        check_writable(request.public)
        with owners_folder(request.reports[0], for_a_moment=True):
            for path in (*request.reports, *filter(None, [request.answers_file])):
                check_writable(path)
        for path in (request.public, *request.reports, *filter(None, [request.answers_file])):
            if path.resolve() in taken:
                raise ParameterError(
                    f"{path} would be written twice; give each release its own.", name="to", value=path
                )
            taken.add(path.resolve())
