"""`cute-viz explain`: an operation step by step."""

from __future__ import annotations

import sys

import click

from cute_viz.algebra.inttuple import show
from cute_viz.cli import output
from cute_viz.cli.words import FILE, Choice, Command, SourceOptions, complete_sources, reading_options
from cute_viz.engine import ask
from cute_viz.engine.answer import format_of
from cute_viz.engine.drawing import write
from cute_viz.options import TARGETS
from cute_viz.renderers import Options


@click.command(cls=Command)
@click.argument("expression", metavar="EXPR|FILE|-", shell_complete=complete_sources)
@click.option("-o", "--output", "path", **FILE, help="Draw the steps; the suffix selects the format")
@click.option("--for", "target", type=Choice(TARGETS), metavar="USE", help="Where the picture will appear, with -o")
@click.option("--animate", is_flag=True, help="With -o FILE.svg: the elements move to where they land")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
@reading_options
def command(expression: str, path: str | None, target: str | None, animate: bool, as_json: bool, reading: SourceOptions) -> None:
    """Show how an operation gets its result, step by step, or the condition that fails.

    For a swizzle: which bits are XORed into which. For copy(...) and gemm(...): whether CuTe accepts them, how wide the copy is,
    and why it is not wider. For a Triton encoding: the coordinate that each bit adds. For an object of a FILE: the definition that
    makes it. With - (stdin) the last statement is explained.
    """
    format_ = format_of(None, output.file_of(path))
    if animate and (path is None or format_ != "svg"):
        raise click.UsageError("--animate needs -o FILE.svg")
    if target is not None and path is None:
        raise click.UsageError("--for needs -o")
    explanation = ask(reading.request(expression)).explanation
    if path is not None:
        drawn = explanation.drawn(format_ == "html")
        output.write(write(drawn, format_, Options(target=None if target == "screen" else target, animate=animate)), path)
    if as_json:
        output.facts(explanation.facts, as_json)
        if explanation.failed:
            raise SystemExit(1)
        return
    if explanation.where:
        output.echo(output.fitted(explanation.where, sys.stdout, "    "))
    if (bits := explanation.bits) is not None:
        output.echo(bits.render("text").decode())
    for number, words, value in explanation.numbered:
        output.echo(output.fitted(("    - " if number is None else f"{number:>2}. ") + words, sys.stdout, "    "))
        if value is not None:
            output.echo("\n".join(f"      {line}" for line in show(value).rstrip().splitlines()))
    if explanation.failed:
        raise SystemExit(1)
