"""`pcneo party call | answer | collect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pcneo.cli.console import note, print_json, say
from pcneo.cli.help_text import Command, Group
from pcneo.cli.options import Json

__all__ = ["app"]

app = typer.Typer(
    cls=Group,
    help="respond between parties: each vertex answers from its own row, and nobody need trust the collector.\n\n"
    "The two ends of a pair must be honest: one of them answers for both.\n\n"
    "No database is needed; messages are files. All vertices of a stored graph at once: pcneo release --parties.\n\n"
    "Example: pcneo party collect answers --to counts.csv",
    no_args_is_help=True,
)
Folder = Annotated[Path, typer.Argument(help="The collector's folder: the call and the messages.", show_default=False)]


@app.command("call", cls=Command)
def make_call(
    folder: Folder,
    keys: Annotated[Path, typer.Option("--keys", help="JSON list of the keys of all who are asked.")],
    epsilon: Annotated[str, typer.Option("-e", "--epsilon", help="ε, from 0.001 to 16.")],
) -> None:
    """For the collector: write call.json, which tells all vertices who is asked, and at which ε.

    Example: pcneo party call answers --keys keys.json -e 2
    """
    from pcneo.party.call import CALL, call

    made = call(folder, keys, epsilon)
    note(f"Give everybody {folder / CALL}: release {made.release}, {len(made.key_list):,} vertices.")


@app.command("answer", cls=Command)
def answer(
    call: Annotated[Path, typer.Argument(help="The call, as the collector gave it.", show_default=False)],
    row: Annotated[Path, typer.Option("--row", help='Your own row, {"key": 58, "neighbours": [12, 105]}.')],
    ledger: Annotated[
        Path,
        typer.Option("--ledger", help='Your own ledger: begin with {"key": 58, "limit": "1", "total": "5"}.'),
    ],
    to: Annotated[
        Path | None, typer.Option("--to", help="The message.", show_default="beside the call, named for the key")
    ] = None,
    as_json: Json = False,
) -> None:
    """For one vertex: answer a call from your own row. The ledger pays first, and refuses beyond its limit and total.

    Example: pcneo party answer call.json --row row.json --ledger ledger.json --to 58.message.json
    """
    from pcneo.party.answering import answer_call
    from pcneo.privacy.exact import decimal_text

    sent = answer_call(call, row=row, ledger=ledger, to=to)
    note(f"Send {sent.message} to the collector; nothing else is ever needed.")
    if as_json:
        print_json(sent)
        return
    say(
        f"{sent.message}: {sent.pairs:,} pairs answered at ε = {decimal_text(sent.epsilon)}; your ledger has "
        f"{decimal_text(sent.left)} left"
    )


@app.command("collect", cls=Command)
def collect(
    folder: Folder,
    to: Annotated[Path, typer.Option("--to", help="The public file, .csv or .json.")],
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques, 3 or 4.")] = 3,
    clip: Annotated[bool, typer.Option("--clip", help="Add counts cut to what is possible, which are biased.")] = False,
    smooth: Annotated[
        bool,
        typer.Option("--smooth", help="Add counts drawn towards those of vertices of like degree, which are biased."),
    ] = False,
    large: Annotated[bool, typer.Option("--large", help="Allow more than 65,536 vertices.")] = False,
    as_json: Json = False,
) -> None:
    """For the collector: make a release of the messages in a folder; who sent none is left out with all its pairs.

    Example: pcneo party collect answers --to counts.csv
    """
    from pcneo.party.collecting import collect as collect_messages
    from pcneo.release.public_file import total_told

    made = collect_messages(folder, to, k=k, clip=clip, smooth=smooth, large=large)
    note(f"Released {made.public}; {made.vertices:,} vertices answered, {len(made.silent):,} did not")
    if as_json:
        print_json(made)
        return
    say(f"{made.public}: {total_told(made.total, made.standard_error_of_total, made.standard_errors_are)}")
    say(f"  {made.promise}")
    say(f"  {made.remark}")
    say(f"  The answers: {made.answers}")
