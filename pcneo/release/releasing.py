"""The release itself, in the only safe order: check, read, count, record the spend, draw, write.

Everything that can fail happens before the spend, except drawing and writing. Noise is drawn once: a write that failed
may be tried again in the same process, with the same numbers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from pcneo.basics.model import Key, Progress
from pcneo.basics.pair_answers import PairAnswers
from pcneo.basics.selection import Selection
from pcneo.basics.signals import Waiting, signals_wait
from pcneo.errors import ParameterError, PcneoError
from pcneo.privacy.account import Account
from pcneo.privacy.composition import Cost
from pcneo.privacy.facts import Answers
from pcneo.privacy.mechanisms import Drawn, Once
from pcneo.privacy.noise import Noise, ReleaseNoise, require_release_noise
from pcneo.release.answer_sets import draw_answers, hash_of, write_drawn
from pcneo.release.beforehand import check_noise, lines_beforehand
from pcneo.release.choice import choose
from pcneo.release.outputs import make_owners_folder, public_record, public_text, write_private, write_public
from pcneo.release.owner_report import owner_json, owner_markdown, owner_record
from pcneo.release.prepared import Prepared
from pcneo.release.preparing import prepare
from pcneo.release.published_means import is_clear, note_means
from pcneo.release.request import Release, check_destinations, in_row
from pcneo.release.retrying import Retry, fail, tried
from pcneo.release.sharing import shared
from pcneo.release.spending import Terms, admit, check_early, enter, spend
from pcneo.store.count_property import check_property, write_property
from pcneo.store.database import Database
from pcneo.store.ledger import note_answers
from pcneo.store.schema import OWN_SCHEMA

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class Released:
    """A release whose public file was written.

    Attributes:
        id: as the ledger has it.
        public: the public file.
        answers: the file of answers; None where there are none, or where they were destroyed.
        answers_are: what became of them: `destroy`, `keep` or `publish`; empty for a mechanism without answers.
        warning: a sentence if the counts are mostly noise, else empty.
        reports: the owner's report, Markdown and JSON.
        total: Σ Γ*(v) / k.
        promise: the mechanism's sentence.
        in_plain_words: the same with its numbers, for people who decide; empty where nothing is promised.
        remark: anything else to know about the counts, or empty.
        standard_error_of_total: None where it may not be published.
        standard_error_of_a_count: the root mean square where the counts have different ones; None where none is known.
        standard_errors_are: what these errors are, where they are only bounds or estimates.
        budget: the total of its graph; None where it has none.
        left: what is left of the total after all releases of this call; None also where nothing bounds the spends.
        protects_groups: whether it or an earlier release of the graph is about pairs inside groups alone, to which
            `left` then applies.
    """

    id: str
    public: Path
    reports: tuple[Path, Path]
    total: float
    promise: str
    in_plain_words: str = ""
    answers: Path | None = None
    answers_are: str = ""
    warning: str = ""
    remark: str = ""
    standard_error_of_total: float | None = None
    standard_error_of_a_count: float | None = None
    standard_errors_are: str = ""
    budget: Cost | None = None
    left: Cost | None = None
    protects_groups: bool = False


@dataclass(frozen=True, eq=False)
class _Numbers:
    """What was drawn for one release, and where it goes.

    Attributes:
        compute: makes the numbers from what was drawn; it may fail, and may be called again.
        answers: what they are computed from, for a mechanism that adds no noise, else None.
        answers_hash: of these where they are kept or published; from a hash, destroyed ones could be searched for.
        is_drawn: False where drawing failed: nothing is there to write, and `compute` raises why.
    """

    release: Prepared
    compute: Callable[[], Drawn]
    answers: Answers | PairAnswers | None = None
    answers_hash: str | None = None
    is_drawn: bool = True

    @property
    def request(self) -> Release:
        return self.release.request

    @cached_property
    def drawn(self) -> Drawn:
        return self.compute()

    @cached_property
    def counts(self) -> dict[Key, int]:
        """The noisy counts by key; empty for a release of only a total."""
        keys = self.release.source.graph.keys.tolist() if self.release.mechanism.counts_vertices else []
        return dict(zip(keys, self.drawn.counts, strict=bool(keys)))

    @cached_property
    def record(self) -> dict[str, Any]:
        """What is published beside keys and counts."""
        p = str(self.release.run.search.p) if self.release.run else None
        drawn, is_public = self.drawn, self.request.fate == "publish" and self.answers_hash is not None
        digest = {"answersHash": self.answers_hash} if is_public else {}
        words = {"promise": self.release.promise, "inPlainWords": self.release.in_plain_words or None}
        said = {**words, "together": self.release.together or None, **drawn.record, **digest}
        if self.release.given is not None:
            said["answersAre"] = "those of an earlier release, drawn from the graph as it was then"
        if self.request.fate == "destroy" and self.release.given is None:
            said["promise"] = self.release.promise  # without its words about answers that no one has
        return public_record(self.release.mechanism, p, drawn.scale, self.counts, said, drawn.columns)

    @property
    def public_text(self) -> str:
        columns = self.drawn.columns or {"count": self.drawn.counts}
        if self.release.mechanism.counts_vertices:
            columns = {"key": self.release.source.graph.keys.tolist(), **columns}
        return public_text(self.record, columns, self.request.suffix)

    def owner_record(self, account: Account) -> dict[str, Any]:
        record = owner_record(self.release, self.drawn.scale, self.record, account)
        if self.release.mechanism.of_single_counts:  # no scale tells how far such counts are off
            record["rootMeanSquareErrorOfCounts"] = _root_mean_square_error(self.drawn.counts, self.release)
        return record

    def note_means(self, db: Database) -> None:
        total = self.record["total"] if self.release.mechanism.k == 3 and is_clear(self.record) else None
        note_means(db, self.release.id, self.release.source.graph.vertex_count, total, self.drawn.columns.get("degree"))


def release(
    db: Database,
    *,
    requests: Sequence[Release],
    selection: Selection = Selection(),
    terms: Terms = Terms(),
    noise: Noise | None = None,
    retry: Retry | None = None,
    confirm: Callable[[str], bool] | None = None,
    agree: Callable[[list[Prepared]], bool] | None = None,
    progress: Progress | None = None,
) -> tuple[list[Prepared], list[Released]]:
    """Release noisy local clique counts; nothing is drawn unless all releases are admitted.

    Returns:
        What was prepared, and what was released: nothing after a dry run, or if `agree` returned False.
    """
    if noise is not None:
        require_release_noise(noise)
    check_requests(requests, terms)
    chosen = shared(choose(db, requests, selection))
    ledger = check_early(db, chosen, terms)
    if terms.write_property is not None:
        check_property(db, chosen[0].graph, terms.write_property)
    if not terms.dry_run:
        db.ensure_schema(OWN_SCHEMA)
    prepared = prepare(db, chosen, ledger, progress)
    lines = [line for ready in prepared for line in (*lines_beforehand(ready, terms), ready.naming)]
    for line in filter(None, dict.fromkeys(lines)):
        log.info("%s", line)
    check_noise(prepared, terms, confirm)
    if terms.dry_run:
        admit(db, prepared, terms)
        return prepared, []
    if agree is not None and not agree(prepared):
        return prepared, []

    source = noise or ReleaseNoise()
    check_destinations(requests)  # again: reading may have taken long enough for someone else to write there
    enter(db, prepared)
    accounts: dict[str, Account] = {}
    with ExitStack() as stack:
        # Until the spend is committed, a signal ends a release that has cost nothing.
        delayed = signals_wait(lambda name: _log_finishing(name, is_paid=bool(accounts)), patient=False)
        begun: list[Waiting] = []
        accounts |= spend(db, prepared, terms, committing=lambda: begun.append(stack.enter_context(delayed)))
        waiting = begun[0]
        # [spend-first] From here on the spend stays, whatever happens.
        drawn = _draw(prepared, source)
        asking = partial(_wants_retry, waiting, retry) if retry is not None else None
        released = _publish(db, drawn, accounts, terms.write_property, asking)
        if waiting.arrived:
            written = ", ".join(str(release.public) for release in released)
            log.warning(
                "All releases that were paid for are finished and written: %s, with the owner's reports", written
            )
    return prepared, released


def _log_finishing(name: str, *, is_paid: bool) -> None:
    log.warning(
        "%s: the release %s paid for, so its files are written first. A second Ctrl-C loses the numbers.",
        name,
        "has been" if is_paid else "is just being",
    )


def _wants_retry(waiting: Waiting, retry: Retry, error: PcneoError) -> bool:
    """Ask, and take a signal as a no."""
    answers: list[bool] = []
    with waiting.asking():
        answers.append(retry(error))
    return any(answers)


def check_requests(requests: Sequence[Release], terms: Terms = Terms()) -> None:
    """Refuse what can be refused without a database: parameters out of range, files that cannot be written."""
    if not requests:
        raise ParameterError("There is no release to make.", name="requests", value=requests)
    if terms.write_property is not None and len(requests) != 1:
        raise ParameterError(
            "--write-property takes one release: a property holds one count.",
            name="write_property",
            value=len(requests),
        )
    for request in requests:
        with in_row(request.row):
            request.check_answers_from()
            request.check_share()
        if request.parties and (not request.mechanism.between_parties or request.answers_from is not None):
            raise ParameterError(
                "--parties works only with respond, and not with the answers of an earlier release. Leave it out.",
                name="parties",
                value=request.mechanism,
            )
    if terms.write_property is not None:
        mechanism = requests[0].mechanism
        if not mechanism.counts_vertices:
            raise ParameterError(
                f"{mechanism.name} has no counts per vertex that could be written to a property; leave "
                "--write-property out.",
                name="write_property",
                value=terms.write_property,
            )
    check_destinations(requests)


# --- After the spend: exact counts meet noise


def _draw(prepared: Sequence[Prepared], noise: Noise) -> list[_Numbers]:
    sets: dict[str | None, tuple[Answers | PairAnswers, str | None]] = {}
    bounds: dict[tuple[str, str], Once] = {}
    numbers: list[_Numbers] = []
    for release in prepared:
        try:
            numbers.append(_numbers_of(release, noise, sets, bounds))
        except Exception as error:  # noqa: BLE001 - all others are paid for as well
            numbers.append(_Numbers(release, partial(fail, error), is_drawn=False))
    return numbers


def _numbers_of(
    release: Prepared,
    noise: Noise,
    sets: dict[str | None, tuple[Answers | PairAnswers, str | None]],
    bounds: dict[tuple[str, str], Once],
) -> _Numbers:
    """Draw one release; `sets` and `bounds` hold what it shares with others."""
    mechanism, request = release.mechanism, release.request
    if mechanism.adds_noise:
        share = request.share
        of_all = Once() if share is None else bounds.setdefault((release.graph.name, share), Once())
        drawn = mechanism.draw(release.facts, noise, of_all)
        return _Numbers(release, lambda: drawn)
    if release.answer_set not in sets:
        # [answers-once] All releases that share answers are computed from these.
        answers = draw_answers(release, noise)
        is_written = release.draws_answers and request.fate != "destroy"
        sets[release.answer_set] = answers, hash_of(release, answers) if is_written else None
    answers, digest = sets[release.answer_set]
    return _Numbers(release, partial(mechanism.compute, answers, release.facts), answers, digest)


def _root_mean_square_error(counts: Sequence[float], release: Prepared) -> float:
    """Return how far the counts as released are from the exact ones: for the owner alone."""
    off = [count - exact for count, exact in zip(counts, release.counts.tolist(), strict=True)]
    return math.sqrt(math.fsum(x * x for x in off) / len(off))


def _publish(
    db: Database,
    drawn: Sequence[_Numbers],
    accounts: dict[str, Account],
    property_name: str | None,
    retry: Retry | None,
) -> list[Released]:
    """Write every release; a failure does not hold up the others."""
    released, failures = [], []
    for numbers in drawn:
        request, ready, public = numbers.request, numbers.release, str(numbers.request.public)
        account = accounts[ready.graph.name]
        parts = _parts(db, numbers, account, property_name) if numbers.is_drawn else {public: numbers.compute}
        again = retry if numbers.is_drawn else None  # no one can try again with numbers that are not there
        failed = {name: error for name, write in parts.items() if (error := tried(name, write, again)) is not None}
        if failed:
            failures.append((_failures_text(numbers, list(parts), failed), next(iter(failed.values()))))
        if public not in failed:
            record = numbers.record
            numbers.note_means(db)
            released.append(
                Released(
                    id=ready.id,
                    public=request.public,
                    reports=request.reports,
                    total=record["total"],
                    promise=record["promise"],
                    in_plain_words=ready.in_plain_words,
                    answers=request.answers_file if ready.draws_answers else None,
                    answers_are=request.fate if ready.draws_answers else "",
                    warning=record.get("warning", ""),
                    remark=numbers.drawn.remark if request.fate == "publish" else "",
                    standard_error_of_total=record.get("standardErrorOfTotal"),
                    standard_error_of_a_count=record.get("standardErrorOfACount"),
                    standard_errors_are=record.get("standardErrorsAre", ""),
                    budget=account.total,
                    left=account.left,
                    protects_groups=bool(account.sets),
                )
            )
    if failures:
        raise PcneoError(" ".join(said for said, _ in failures), released=released) from failures[0][1]
    return released


def _parts(
    db: Database, numbers: _Numbers, account: Account, property_name: str | None
) -> dict[str, Callable[[], object]]:
    """Return the writers of a release's outputs, by output."""
    request = numbers.request
    markdown, data = request.reports

    owners = cache(partial(numbers.owner_record, account))  # made once, when the first of the two files is written

    parts: dict[str, Callable[[], object]] = {}
    if numbers.release.draws_answers and request.answers_file is not None:
        # These come first: if computing from them fails, the answers that were paid for are not lost.
        parts[str(request.answers_file)] = partial(_write_answers, db, numbers, request.answers_file)
    parts[str(data)] = lambda: write_private(data, owner_json(owners()))
    parts[str(markdown)] = lambda: write_private(markdown, owner_markdown(owners()))
    if property_name is not None:
        name = f"the property {property_name!r}"
        parts[name] = partial(_write_property, db, numbers, property_name)
    # The public file comes last: once it exists, nothing else remains to be written.
    parts[str(request.public)] = lambda: write_public(request.public, numbers.public_text)
    return parts


def _write_answers(db: Database, numbers: _Numbers, path: Path) -> None:
    if numbers.answers is not None and numbers.answers_hash is not None:
        note_answers(db, numbers.release.id, numbers.answers_hash)
        make_owners_folder(path)
        write_drawn(path, numbers.release, numbers.answers, numbers.answers_hash)


def _write_property(db: Database, numbers: _Numbers, name: str) -> None:
    try:
        write_property(db, numbers.release.graph, name, numbers.release.id, numbers.counts)
    except PcneoError as error:
        raise PcneoError(f"The property {name!r} was not written: {error}") from error


def _failures_text(numbers: _Numbers, parts: Sequence[str], failed: Mapping[str, PcneoError]) -> str:
    written = [name for name in parts if name not in failed]
    lost = set(written) <= set(map(str, numbers.request.reports))
    sentences = [
        *dict.fromkeys(map(str, failed.values())),  # one failure may keep several files from being made
        f"The spend of release {numbers.release.id} stays recorded{', and its numbers are lost' if lost else ''}.",
    ]
    if written:
        sentences.append(f"Written: {', '.join(written)}.")
    return " ".join(sentences)
