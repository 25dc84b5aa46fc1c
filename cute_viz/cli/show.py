"""`cute-viz show`: the facts of a layout, an atom or a tiling."""

from __future__ import annotations

import click

from cute_viz.cli import output
from cute_viz.cli.words import Reading, reading_options
from cute_viz.engine import ask


@click.command(
    epilog="\b\nExamples:\n  cute-viz show '((16,8),8):((64,1),8)'\n  cute-viz show 'Sw<3,3,3> o 0 o (8,64):(64,1)' --json\n"
    "  cute-viz show SM80_16x8x16_F32BF16BF16F32_TN"
)
@click.argument("source", metavar="SOURCE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@reading_options
def command(source: str, as_json: bool, reading: Reading) -> None:
    """Show facts about SOURCE: for a layout its size, cosize, whether it is injective, contiguous, and so on; for an atom its
    layouts, types and where they come from. Of a text that ends in copy(...) or gemm(...) show what `explain` says of it, and of a
    tensor that --name picks fail where such a statement on it, in no function, does not compile.
    """
    answer = ask(reading.request(source))
    if answer.verdict is None:
        output.notes(answer.notes)
    output.facts(answer.facts, as_json)
