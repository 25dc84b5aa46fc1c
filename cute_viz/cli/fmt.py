"""`cute-viz eval --as`, once `cute-viz fmt`: an object in another language."""

from __future__ import annotations

import click

from cute_viz.cli import output
from cute_viz.cli.help import Choice, Command
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask
from cute_viz.notation.write import TARGETS

LANGUAGES = (*TARGETS, "triton", "table", "yaml")


@click.command(cls=Command)
@click.argument("source", metavar="SOURCE")
@click.option("--as", "target", type=Choice(LANGUAGES), metavar="LANG", help="The language")
@reading_options
def command(source: str, target: str | None, reading: Reading) -> None:
    """Write SOURCE in another language; `cute-viz eval SOURCE --as LANG` does the same."""
    write_as(source, target or ("yaml" if source.endswith((".yaml", ".yml")) else "cute"), reading)


def write_as(source: str, target: str, reading: Reading) -> None:
    """Print a source in a language; what is printed reads back as an equal object.

    An encoding of Triton is the same map of memory, or, with --shape, of the threads and values of a tensor; yaml tidies a spec.
    """
    from cute_viz.notation.write import write

    if target == "yaml":
        from cute_viz.spec.tidy import tidied

        text, lost = tidied(source, reading.library)
        if lost:
            output.notes([f"comments are dropped, the first one on line {lost}; the one at the top is kept"])
        output.echo(text, nl=False)
        return
    answer = ask(reading.request(source))
    output.notes(answer.notes)
    if target == "table":
        from cute_viz.analysis.solve import table_of

        output.echo(table_of(answer.layout), nl=False)
    elif target == "triton":
        from cute_viz.notation.triton_write import write_triton

        output.echo(write_triton(answer.obj, reading.library.shape, reading.library.wave or 32))
    else:
        output.echo(write(answer.obj, target))
