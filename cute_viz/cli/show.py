"""`cute-viz show`: the facts of a layout, an atom or a tiling."""

from __future__ import annotations

import json

import click

from cute_viz.cli import completion, output
from cute_viz.cli.help import Command
from cute_viz.cli.options import option
from cute_viz.cli.words import SourceOptions, reading_options
from cute_viz.engine import ask


@click.command(cls=Command)
@click.argument("source", metavar="SOURCE", shell_complete=completion.sources)
@click.option("--who", metavar="WHERE", help="Who holds it: 'C(5,3)', 'T5 V1', 'offset 9'")
@option("tile")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
@reading_options
def command(source: str, who: str | None, tile: str | None, as_json: bool, reading: SourceOptions) -> None:
    """Print the properties of a layout (size, cosize, injective, contiguous ...), an atom (layouts, types, PTX, source), a
    tiling, a TMA copy or a descriptor, also as 64 bits: 0x4000004000000000.

    For a text that ends in copy(...) or gemm(...), print whether it compiles, and how wide it is.
    """
    if who is not None:
        from cute_viz.engine.owners import who_owns

        options = {} if tile is None else {"tile": tile}
        found = who_owns(ask(reading.request(source, options=options, formats=("svg",))).figure, who)
        output.echo(json.dumps(found) if as_json else found["words"])
        return
    if tile is not None:
        raise click.UsageError("--tile needs --who")
    answer = ask(reading.request(source))
    if answer.verdict is None:
        output.notes(answer.notes)
    output.facts(answer.facts, as_json)
