"""`cute-viz explain`: an operation step by step."""

from __future__ import annotations

import click

from cute_viz.algebra.inttuple import show
from cute_viz.cli import source


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz explain 'complement(4:2, 24)'\n"
    "  cute-viz explain 'logical_divide((8,6), (4,3))'\n"
    "  cute-viz explain 'composition((3,5,7):(35,7,1), (1):(7))'        why CuTe refuses it"
)
@click.argument("expression", metavar="EXPR")
@click.option("--let", multiple=True, metavar="NAME=VALUE", help="A value for a run-time name: --let M=512.")
def command(expression: str, let: tuple[str, ...]) -> None:
    """Tell the steps of the operation EXPR: what was coalesced, which mode was divided by what, which condition failed.

    A step's layout is in CuTe notation and can be drawn with render.
    """
    from cute_viz.analysis.explain import explain
    from cute_viz.notation import read_call
    from cute_viz.spec import resolve

    name, operands = read_call(expression, source.Reading(let).names(), resolve)
    steps = explain(name, operands)
    number = 0
    for step in steps:
        nested = step.words.startswith("  ")
        number += not nested
        head = "    - " if nested else f"{number:>2}. "
        click.echo(head + step.words.strip())
        if step.value is not None:
            click.echo(f"      {show(step.value)}")
    if steps[-1].words.startswith("here it fails"):
        raise SystemExit(1)
