"""`cute-viz show`: the facts of a layout, an atom or a tiling."""

from __future__ import annotations

from typing import Any

import click

from cute_viz.cli import output
from cute_viz.cli.options import option
from cute_viz.cli.words import Command, SourceOptions, complete_sources, reading_options
from cute_viz.engine import ask


@click.command(cls=Command)
@click.argument("source", metavar="SOURCE", shell_complete=complete_sources)
@click.option("--who", metavar="WHERE", help="Who holds it: 'C(5,3)', 'T5 V1', 'offset 9'")
@option("tile")
@option("view", help="With --who, how a layout is drawn")
@option("type", help="With --who, the element type, for banks")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
@reading_options
def command(source: str, who: str | None, as_json: bool, reading: SourceOptions, **options: Any) -> None:
    """Print the properties of a layout (size, cosize, injective, contiguous ...), an atom (layouts, types, PTX, source), a
    tiling, a TMA copy or a descriptor, also as 64 bits: 0x4000004000000000.

    For a text that ends in copy(...) or gemm(...), print whether it compiles, and how wide it is.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if who is not None:
        from cute_viz.engine import owners

        found = owners.who(lambda words: ask(reading.request(source, options=words, formats=("svg",))), who, given)
        output.echo(output.data(found) if as_json else found["words"])
        return
    if given:
        raise click.UsageError(f"--{next(iter(given))} needs --who")
    answer = ask(reading.request(source))
    if answer.verdict is None:
        output.notes(answer.notes)
    output.facts(answer.facts, as_json)
