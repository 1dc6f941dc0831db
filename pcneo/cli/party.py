"""`pcneo party answer | collect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pcneo.basics.frames import counted
from pcneo.cli.console import print_json
from pcneo.cli.help_text import Command, Group
from pcneo.cli.options import Json, refuse
from pcneo.cli.streams import note, say
from pcneo.errors import ParameterError

app = typer.Typer(
    cls=Group,
    help="`respond` with no owner: each vertex answers for itself, from its own list of neighbours, and no one has to "
    "trust the collector.\n\n"
    "The two ends of a pair must be honest: one of them answers for both.\n\n"
    "No database is needed; messages are files. All vertices of a stored graph answer at once with pcneo release "
    "--parties.\n\n"
    "Example: pcneo party collect answers --keys keys.json -e 2",
    no_args_is_help=True,
)


@app.command("answer", cls=Command)
def answer(
    call: Annotated[Path, typer.Argument(help="The call that the collector gave you.", show_default=False)],
    row: Annotated[Path, typer.Option("--row", help='Your own row, {"key": 58, "neighbours": [12, 105]}.')],
    ledger: Annotated[
        Path,
        typer.Option("--ledger", help='Your own ledger: begin with {"key": 58, "limit": "1", "total": "5"}.'),
    ],
) -> None:
    """For one vertex: answer a call from your own row, in a message beside the call, named after a digest of your key.

    The ledger pays first, and refuses to go beyond its limit and total.

    Example: pcneo party answer call.json --row row.json --ledger ledger.json
    """
    from pcneo.party.answering import answer_call
    from pcneo.privacy.exact import decimal_text

    sent = answer_call(call, row=row, ledger=ledger)
    if sent.neighbours_not_asked:
        note(
            f"{sent.neighbours_not_asked:,} of the neighbours in {row} are not in the call's list, so nobody answers "
            "for them. Check how their keys are written."
        )
    note(f"Send {sent.message} to the collector; nothing else has to be sent.")
    say(
        f"{sent.message}: {counted(sent.pairs, 'pair')} answered at ε = {decimal_text(sent.epsilon)}; your ledger has "
        f"{decimal_text(sent.left)} left"
    )


@app.command("collect", cls=Command)
def collect(
    folder: Annotated[
        Path, typer.Argument(help="The collector's folder: the call and the messages.", show_default=False)
    ],
    keys: Annotated[
        Path | None, typer.Option("--keys", help="For the call: JSON list of the keys of all vertices to ask.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option("-e", "--epsilon", help="For the call: ε, from 0.001 to 16.")] = None,
    to: Annotated[Path | None, typer.Option("--to", help="For the release: the public file, .csv or .json.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="For the release: vertices in a clique, 3 or 4.", show_default="3")
    ] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="For the release: add counts cut to what is possible, which are biased.")
    ] = False,
    smooth: Annotated[
        bool,
        typer.Option(
            "--smooth",
            help="For the release: add counts shrunk towards those of vertices of similar degree, which are biased.",
        ),
    ] = False,
    large: Annotated[bool, typer.Option("--large", help="For the release: allow more than 65,536 vertices.")] = False,
    as_json: Json = False,
) -> None:
    """For the collector: call for answers with --keys and -e; later make a release from those that came, with --to.

    The call, call.json in the folder, tells all vertices who is asked, and at which ε. The release leaves out each
    vertex that has sent no message, with all its pairs.

    Example: pcneo party collect answers --to counts.csv
    """
    if to is None:
        if keys is None or epsilon is None:
            raise ParameterError("Give --keys and -e to call for answers, or --to to make a release.", name="to")
        of_release = {"-k": k, "--clip": clip, "--smooth": smooth, "--large": large}
        refuse(of_release, "They are for the release, which needs --to.")
        from pcneo.party.call import CALL, call

        made = call(folder, keys, epsilon)
        note(f"Give every vertex {folder / CALL}: release {made.release}, {len(made.key_list):,} vertices.")
        if as_json:
            print_json({"call": folder / CALL, "release": made.release, "vertices": len(made.key_list)})
        return
    refuse({"--keys": keys, "-e": epsilon}, "They are for the call; the release takes them from it.")
    from pcneo.party.collecting import collect as collect_messages
    from pcneo.release.public_file import total_in_words

    made = collect_messages(folder, to, k=3 if k is None else k, clip=clip, smooth=smooth, large=large)
    note(f"Released {made.public}; {made.vertices:,} vertices answered, {len(made.silent):,} did not")
    if as_json:
        print_json(made)
        return
    if made.warning:
        say(made.warning)
    errors = made.standard_error_of_total, made.standard_error_of_a_count
    say(f"{made.public}: {total_in_words(made.total, *errors, made.standard_errors_are)}")
    say(f"  {made.promise}")
    say(f"  {made.remark}")
    say(f"  The answers: {made.answers}")
