"""`pcneo release`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pcneo.basics.selection import Selection
from pcneo.cli.console import Bars, connected
from pcneo.cli.guided import agrees, ask_what_to_release, free_name, noting_that_nothing_is_spent, warnings_alone
from pcneo.cli.options import Json, NodeLabels, RelationshipTypes, RunOrGraph, given
from pcneo.cli.released import print_prepared, print_released
from pcneo.cli.streams import can_ask, note
from pcneo.cli.typed_answers import asked
from pcneo.errors import OutputError, ParameterError, PcneoError

if TYPE_CHECKING:
    from pcneo.privacy.mechanisms import Mechanism
    from pcneo.release import Release, Released, Source
    from pcneo.store.database import Database


class Answers(StrEnum):
    """What becomes of the answers."""

    destroy = "destroy"
    keep = "keep"
    publish = "publish"


def release(
    run: RunOrGraph = None,
    to: Annotated[Path | None, typer.Option("--to", help="The public file, .csv or .json.")] = None,
    epsilon: Annotated[
        list[str] | None, typer.Option("-e", "--epsilon", help="ε; give several for several releases.")
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option(
            "-k", help="Vertices in a clique; give several for one release with all of them.", show_default="3"
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            help="critical, respond, modelled, total, edge, elv or published. Without it, pcneo prints what each "
            "promises, publishes exactly and shows; at a terminal it then asks for one, and a script must name one.",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option("--delta", help="δ of modelled, total, edge, elv and published.", show_default="min(1e-6, 1/n²)"),
    ] = None,
    large: Annotated[
        bool,
        typer.Option("--large", help="Allow more than 65,536 vertices with respond; a dry run says what that takes."),
    ] = False,
    clip: Annotated[
        bool, typer.Option("--clip", help="Add counts cut to what is possible, which are biased; not with modelled.")
    ] = False,
    smooth: Annotated[
        bool,
        typer.Option(
            "--smooth",
            help="Add counts shrunk towards their mean, closer to the truth on average but biased: with edge and elv; "
            "with respond, towards the mean of vertices of similar degree.",
        ),
    ] = False,
    groups: Annotated[
        int | None,
        typer.Option("--groups", help="With critical: use the groups of this earlier version of the run."),
    ] = None,
    parties: Annotated[
        bool,
        typer.Option(
            "--parties",
            help="With respond: each vertex answers from its own row, all in this process; the answers are published.",
        ),
    ] = False,
    answers: Annotated[
        Answers | None,
        typer.Option(
            "--answers",
            help="With critical or respond, what becomes of the answers: keep writes them for you alone; publish makes "
            "them public, and with critical also which pairs share a group.",
            show_default="destroy",
        ),
    ] = None,
    answers_from: Annotated[
        Path | None,
        typer.Option("--from", help="NAME.answers.gz of an earlier release: compute from its answers, at no cost."),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch",
            help="CSV file with a header, one release per row. Columns: mechanism, epsilon, to, and any of k (such as "
            "3 4), delta, epsilon_1, h, graph, p, search, run, groups, share, answers, from, clip, smooth (yes or no).",
        ),
    ] = None,
    budget_epsilon: Annotated[
        str | None,
        typer.Option(
            "--budget-epsilon",
            help="Also set the graph's total ε, with enough δ for as many releases like this one as it admits, but no "
            "more than 1/1000, unless this one takes more.",
        ),
    ] = None,
    other_groups: Annotated[
        bool,
        typer.Option(
            "--other-groups", help="Allow groups that differ from those of earlier releases; their costs add up."
        ),
    ] = False,
    no_promise: Annotated[bool, typer.Option("--no-promise", help="Allow published, which promises nothing.")] = False,
    expect: Annotated[
        str | None,
        typer.Option(
            "--expect",
            help="The mean number of triangles that you expect a vertex to be in; if a count is expected to be off by "
            "more, pcneo asks first. By default, what an earlier release published, though not for critical.",
        ),
    ] = None,
    mean_degree: Annotated[
        str | None,
        typer.Option(
            "--mean-degree",
            help="Connections of a vertex on average, or a guess. By default the figure that an earlier release gives, "
            "or else 10.",
        ),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Release counts that are expected to be mostly noise, or a δ above 1/n.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Stop before anything is spent.")] = False,
    write_property: Annotated[
        str | None,
        typer.Option("--write-property", help="Also write the noisy counts to this property of the vertices."),
    ] = None,
    node_label: NodeLabels = None,
    relationship_type: RelationshipTypes = None,
    key: Annotated[
        str | None, typer.Option("--key", help="Property that holds the key, for a graph that has no name yet.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Release noisy local k-clique counts; the mechanism's promise is printed with them.

    Several -k make one release, which costs its ε once: all counts are computed from the same answers, or share one
    bound and the rest of ε. Several -e make several releases. In both cases, k and ε are added to the
    name in --to. With critical and respond, the answers are destroyed unless --answers says otherwise.

    At a terminal, plain `pcneo release` offers three mechanisms, asks for the rest, and says what it would spend
    before it does. The file names each vertex by its key, so the keys must be fit for everyone to read.

    A graph's name is enough; name a run to choose the groups that `critical` and `published` use, if the graph has
    several. A graph that has no name yet gets one here, with --node-label, --relationship-type and --key.

    Example: pcneo release friends --mechanism respond -e 3 --to counts.csv --budget-epsilon 6
    """
    from pcneo.privacy.exact import exact_text, positive
    from pcneo.privacy.mechanisms import mechanism_named
    from pcneo.release import Destination, Terms, check_requests, read_batch
    from pcneo.release import release as release_counts
    from pcneo.release.answers_file import AnswersFile
    from pcneo.release.request import check_destinations, numbered
    from pcneo.release.spending import check_room

    wanted, make, ks, epsilons = None, None, k or [3], epsilon or []
    parameters: dict[str, Any] = {}
    is_guided = can_ask() and not (batch or to or epsilon or mechanism or answers_from)
    if batch is not None:
        beside = given(
            {
                "--to": to,
                "--epsilon": epsilon,
                "-k": k,
                "--mechanism": mechanism,
                "--delta": delta,
                "--large": large,
                "--clip": clip,
                "--smooth": smooth,
                "--groups": groups,
                "--parties": parties,
                "--answers": answers,
                "--from": answers_from,
                "RUN|GRAPH": run,
            }
        )
        if beside:
            raise typer.BadParameter(
                f"The file says what is released, how, and where to; leave {beside} out.", param_hint="--batch"
            )
        requests = read_batch(batch)
    else:
        if not is_guided:
            fitting = mechanism or _fitting(run, ks, delta, groups)
            is_free = answers_from is not None
            _check_complete(to, epsilon, mechanism, budget_epsilon, is_free=is_free, fitting=fitting)
        file = None if answers_from is None else AnswersFile.open(answers_from)
        if file is not None:
            mechanism, epsilons = mechanism or file.mechanism, epsilon or [exact_text(file.epsilon)]
        parameters = {"k": ks, "delta": delta}
        parameters |= {"large": large or None, "clip": clip or None, "smooth": smooth or None}
        further = {"answers": answers and answers.value, "answers_from": file, "groups": groups, "parties": parties}
        make = partial(_each_k_with_each_epsilon, parameters=parameters, further=further)
        requests = make(mechanism, epsilons, to) if mechanism else []
    terms = Terms(
        budget_epsilon=budget_epsilon,
        other_groups=other_groups,
        no_promise=no_promise,
        dry_run=dry_run,
        write_property=write_property,
        expect=expect,
        mean_degree=mean_degree,
        anyway=anyway,
    )
    selection = Selection(node_label or (), relationship_type or (), key)
    # Before a connection is made, which may take long or ask for a password:
    if make is None or mechanism:
        check_requests(requests, terms)
    elif not is_guided:
        several = len(ks) * len(epsilons) > 1
        files = [numbered(cast("Path", to), n, e) if several else cast("Path", to) for e in epsilons for n in ks]
        check_destinations([Destination(to=file) for file in files])
    # `agrees` does not mention what these options change, so then the log does.
    is_plain = is_guided and not (dry_run or parties or groups is not None or answers is Answers.publish)
    try:
        with connected() as db, Bars() as bars, warnings_alone(wanted=is_plain):
            source = _meant(db, run, selection)
            if is_guided and make is not None:
                bars.rest()
                with noting_that_nothing_is_spent():
                    wanted = ask_what_to_release(db, source, selection, terms, partial(_of_each_k, parameters))
                source, terms = wanted.source, wanted.terms
                requests = make(wanted.mechanism, [wanted.epsilon], wanted.to)
                check_requests(requests, terms)
            elif make is not None and not mechanism:
                check_room(db, source, [positive(e, "epsilon") for e in epsilons], selection, terms)
                bars.rest()
                _print_mechanisms()
                requests = make(asked("Mechanism", None, lambda text: mechanism_named(text).name), epsilons, to)
            if make is not None:
                requests = [replace(request, graph=source.graph, run=source.run) for request in requests]
            prepared, released = release_counts(
                db,
                requests=requests,
                selection=selection,
                terms=terms,
                retry=partial(_confirm, bars, _AGAIN) if can_ask() else None,
                confirm=partial(_confirm, bars, "Release them anyway?") if can_ask() else None,
                agree=wanted and partial(agrees, db=db, wanted=wanted, terms=terms, bars=bars, named=run),
                progress=bars,
            )
    except PcneoError as error:
        if written := error.data.get("released"):
            with suppress(OutputError):  # the error that is raised below is more important
                print_released(cast("list[Released]", written), as_json)
        raise
    if dry_run:
        print_prepared(prepared, terms, as_json)
    elif wanted and not released:
        note("Nothing was spent.")
    else:
        print_released(released, as_json)


_AGAIN = "The spend stays recorded. Try again with the same numbers?"
"""After a failed write; the numbers are lost when this process ends."""


def _meant(db: Database, name: str | None, selection: Selection) -> Source:
    """Return what a name stands for: a run if it can be the id of one, else a graph, which may be new here."""
    from pcneo.release import Source

    if name is None or selection != Selection() or "@" not in name or name in {g.name for g in db.list_graphs()}:
        return Source(graph=name)
    return Source(run=name)


def _check_complete(
    to: object,
    epsilon: list[str] | None,
    mechanism: str | None,
    budget: object,
    *,
    is_free: bool,
    fitting: str,
) -> None:
    """Refuse an incomplete release, naming all that is missing; at a terminal the mechanism is asked for later.

    `is_free` says that answers are given: they name ε and the mechanism, and an earlier release has paid for them.
    `fitting` is a mechanism for the example.
    """
    from pcneo.privacy.exact import positive, typed_text

    needed = {"--to (the public file)": to, "-e (at least one ε)": epsilon or is_free}
    if not can_ask():
        needed["--mechanism (there is no default)"] = mechanism or is_free
    missing = [name for name, value in needed.items() if not value]
    if not missing:
        return
    if not (mechanism or is_free or can_ask()):
        _print_mechanisms()
    sets_budget = not (budget or is_free)
    total = (
        " The first release of a graph also sets its budget, how much ε all its releases may spend together, with "
        "--budget-epsilon; leave that out if the graph has one."
        if sets_budget
        else ""
    )
    epsilons = epsilon or ["3" if fitting == "respond" else "1"]  # at 1, respond is mostly noise
    added = [] if mechanism or is_free else ["--mechanism", fitting]
    added += [] if epsilon or is_free else ["-e", *epsilons]
    added += [] if to else ["--to", free_name()]
    if sets_budget and fitting != "published":  # which no budget covers
        spent = sum((positive(each, "epsilon") for each in epsilons), Fraction(0))
        added += ["--budget-epsilon", typed_text(2 * spent)]
    raise ParameterError(
        f"What is missing: {', '.join(missing)}.{total} For example:\n  pcneo {shlex.join([*sys.argv[1:], *added])}",
        name="release",
        value=missing,
    )


def _fitting(run: str | None, ks: list[int], delta: str | None, groups: int | None) -> str:
    """Return a mechanism that takes what was typed: respond, unless another is the only one that does."""
    if delta is not None or max(ks) > 4:
        return "edge"
    return "critical" if groups is not None or "@" in (run or "") else "respond"


def _print_mechanisms() -> None:
    from pcneo.privacy.mechanisms import MECHANISMS

    for name, kind in MECHANISMS.items():
        promises, exact, shows = kind.in_short
        note(f"{name}\n  promises  {promises}\n  exact     {exact}\n  shows     {shows}")
    note("`pcneo audit -n VERTICES -d MEAN_DEGREE -e ε` gives figures, before any graph is read.")


def _each_k_with_each_epsilon(
    mechanism: str, epsilons: list[str], to: Any, *, parameters: Mapping[str, Any], further: Mapping[str, Any]
) -> list[Release]:
    """Return one release for each ε, of all k."""
    from pcneo.privacy.mechanisms import mechanism_of
    from pcneo.release import Release
    from pcneo.release.request import each_k

    named, made = len(epsilons) > 1, [mechanism_of(mechanism, epsilon=e, **parameters) for e in epsilons]
    return [
        request
        for e, of_every_k in zip(epsilons, made, strict=True)
        for request in each_k(Release(mechanism=of_every_k, to=to, **further), epsilon=e, named=named)
    ]


def _of_each_k(parameters: Mapping[str, Any], mechanism: str, epsilon: str) -> Sequence[Mechanism]:
    from pcneo.privacy.mechanisms import mechanism_of

    return mechanism_of(mechanism, epsilon=epsilon, **parameters).of_each_k()


def _confirm(bars: Bars, question: str, why: object) -> bool:
    """Ask a question after its reason; Ctrl-C or end of input is a no, so that a release under way finishes."""
    bars.rest()
    try:
        note(str(why))
        return typer.confirm(question, err=True)
    except typer.Abort:
        return False
