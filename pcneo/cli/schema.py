"""`pcneo schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from pcneo.cli.options import NodeLabels
from pcneo.cli.streams import say_verbatim

__all__ = ["schema"]


def schema(
    node_label: NodeLabels = None,
    key: Annotated[str | None, typer.Option("--key", help="Property that holds the key.")] = None,
) -> None:
    """Print the schema statements that `annotate` needs, for an administrator to run once; nothing is run here.

    Example: pcneo schema --node-label Person --key id
    """
    from pcneo.store.chosen_graph import schema_statements

    for statement in schema_statements(node_label or (), key):
        say_verbatim(statement)
