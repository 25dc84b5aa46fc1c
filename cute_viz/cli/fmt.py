"""`cute-viz fmt`: an object in another language."""

from __future__ import annotations

import click

from cute_viz.cli import output
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask
from cute_viz.notation.write import TARGETS


@click.command(
    epilog="\b\nExamples:\n"
    "  # Layout<Shape<_4,_8>,Stride<_8,_1>>{}\n  cute-viz fmt '(_4,_8):(_8,_1)' --as cpp\n"
    "  # cute.make_layout((4, 8), stride=(8, 1))\n  cute-viz fmt '(4,8):(8,1)' --as dsl\n"
    "  cute-viz fmt 'Sw<3,3,3> o 0 o (8,64):(64,1)' --as triton\n"
    "  # its offsets, and back\n  cute-viz fmt kernel.cu::sA --as table | cute-viz solve -\n"
    "  pbpaste | cute-viz fmt - --as cute"
)
@click.argument("source", metavar="SOURCE")
@click.option(
    "--as",
    "target",
    type=click.Choice([*TARGETS, "triton", "table"]),
    help="The language to write: cpp for C++, dsl for CUTLASS's Python DSL, cute for CuTe notation, ir for CuTe's compiler "
    "notation, triton for an encoding of Triton, table for rows of offsets, which 'cute-viz solve' reads; by default cute, or YAML "
    "for a spec file.",
)
@reading_options
def command(source: str, target: str | None, reading: Reading) -> None:
    """Write SOURCE in another language: C++, the Python DSL, CuTe notation, CuTe's compiler notation, or as an encoding of Triton.

    The output reads back as an equal object; an encoding of Triton, as the same map: of memory, or with --shape of the threads
    and values of a tensor. A YAML spec without --as is tidied.
    """
    from cute_viz.notation.write import write

    if target is None and source.endswith((".yaml", ".yml")):
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
        return
    if target == "triton":
        from cute_viz.notation.triton_write import write_triton

        output.echo(write_triton(answer.obj, reading.library.shape, reading.library.wave or 32))
        return
    output.echo(write(answer.obj, target or "cute"))
