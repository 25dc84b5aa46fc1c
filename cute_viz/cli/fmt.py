"""`cute-viz fmt`: an object in another language."""

from __future__ import annotations

import click

from cute_viz.cli import output
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask
from cute_viz.notation.write import TARGETS


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz fmt '(_4,_8):(_8,_1)' --as cpp        Layout<Shape<_4,_8>,Stride<_8,_1>>{}\n"
    "  cute-viz fmt '(4,8):(8,1)' --as dsl            cute.make_layout((4, 8), stride=(8, 1))\n"
    "  pbpaste | cute-viz fmt - --as cute"
)
@click.argument("source", metavar="SOURCE")
@click.option("--as", "target", type=click.Choice(TARGETS), help="The language to write; cute without it, YAML of a spec file.")
@reading_options
def command(source: str, target: str | None, reading: Reading) -> None:
    """Write SOURCE in another language: C++, the Python DSL, CuTe notation, or CuTe's compiler notation.

    What is written reads back as an equal object. Of a YAML spec without --as: the same spec, tidied.
    """
    from cute_viz.notation.write import write

    if target is None and source.endswith((".yaml", ".yml")):
        from cute_viz.spec.tidy import tidied

        text, lost = tidied(source, reading.library)
        if lost:
            output.notes([f"comments are left out, first that of line {lost}; the one at the top is kept"])
        click.echo(text, nl=False)
        return
    answer = ask(reading.request(source))
    output.notes(answer.notes)
    click.echo(write(answer.obj, target or "cute"))
