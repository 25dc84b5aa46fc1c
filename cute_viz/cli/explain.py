"""`cute-viz explain`: an operation step by step."""

from __future__ import annotations

import sys

import click

from cute_viz.algebra.inttuple import show
from cute_viz.cli import output
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask
from cute_viz.engine.answer import format_of


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz explain 'complement(4:2, 24)'\n"
    "  # the steps as pictures\n  cute-viz explain 'logical_divide((8,6), (4,3))' -o steps.svg\n"
    "  # why CuTe refuses it\n  cute-viz explain 'composition((3,5,7):(35,7,1), (1):(7))'\n"
    "  # how a file's layout comes about\n  cute-viz explain kernel.cu::sB\n"
    "  # why a copy does not vectorise\n  cute-viz explain - < copy.cu\n"
    "  # which bits are XORed into which\n  cute-viz explain 'Sw<3,3,3> o 0 o (8,64):(64,1)'"
)
@click.argument("expression", metavar="EXPR|FILE|-")
@click.option("-o", "--output", "path", metavar="FILE", help="Draw the layouts of the steps; the suffix is the format.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@reading_options
def command(expression: str, path: str | None, as_json: bool, reading: Reading) -> None:
    """Show the steps of the operation EXPR: what was coalesced, which mode was divided by what, which condition failed; for a
    swizzle, what happens to the bits; for copy(...) and gemm(...), whether CuTe accepts them, how wide the copy is and why not
    wider; for an encoding of Triton, the coordinate that each bit adds. With - the last statement of standard input is explained;
    of a FILE of source code the definition that --name says, or a slice of it, 'sA(_,_,0)': the operation that it is, its swizzle,
    or what it is made of. Of several threads it is the first.

    A step's layout is in CuTe notation and can be drawn with render.
    """
    format_ = format_of(None, output.file_of(path))
    explanation = ask(reading.request(expression)).explanation
    if path is not None:
        output.write(explanation.figure.render(format_), path)
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
            output.echo(f"      {show(value)}")
    if explanation.failed:
        raise SystemExit(1)
