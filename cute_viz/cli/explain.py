"""`cute-viz explain`: an operation step by step."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import click

from cute_viz.algebra.inttuple import show
from cute_viz.cli import output, source
from cute_viz.errors import FigureError, NotationError


@click.command(
    epilog="\b\nExamples:\n"
    "  cute-viz explain 'complement(4:2, 24)'\n"
    "  cute-viz explain 'logical_divide((8,6), (4,3))' -o steps.svg     the steps as pictures\n"
    "  cute-viz explain 'composition((3,5,7):(35,7,1), (1):(7))'        why CuTe refuses it\n"
    "  cute-viz explain 'Sw<3,3,3> o 0 o (8,64):(64,1)'                 which bits are XORed into which"
)
@click.argument("expression", metavar="EXPR")
@click.option("-o", "--output", "path", metavar="FILE", help="Draw the layouts of the steps; the suffix is the format.")
@click.option("--let", multiple=True, metavar="NAME=VALUE", help="A value for a run-time name: --let M=512.")
def command(expression: str, path: str | None, let: tuple[str, ...]) -> None:
    """Tell the steps of the operation EXPR: what was coalesced, which mode was divided by what, which condition failed; of a
    swizzle, what happens to the bits.

    A step's layout is in CuTe notation and can be drawn with render.
    """
    from cute_viz.analysis.explain import explain
    from cute_viz.notation import read_call
    from cute_viz.spec import resolve

    name, operands, template = read_call(expression, source.Reading(let).names(), resolve)
    if not name:
        _swizzle(operands[0])
        return
    steps = explain(name, operands, template)
    if path is not None:
        from cute_viz.figures.operation import Call

        _draw(str(Call(name, tuple(operands), template)), steps, path)
    _say(steps)
    if steps[-1].words.startswith("here it fails"):
        raise SystemExit(1)


def _draw(source_: str, steps: list[Any], path: str) -> None:
    """The layouts of the steps as a strip of panels, numbered as they are told."""
    from cute_viz.analysis.explain import is_layout
    from cute_viz.cli.render import format_of
    from cute_viz.figures import build
    from cute_viz.figures.page import page
    from cute_viz.renderers import render

    numbers = list(accumulate(not step.words.startswith("  ") for step in steps))
    parts = [
        (f"{number}. {step.words.strip()}: {show(step.value)}", build(step.value))
        for number, step in zip(numbers, steps, strict=True)
        if is_layout(step.value)
    ]
    if not parts:
        raise FigureError("no step gives a layout to draw")
    figure = page(f"{source_}, step by step", parts, 4, source_)
    output.write(render(figure, format_of(None, path)), path)


def _say(steps: list[Any]) -> None:
    number = 0
    for step in steps:
        nested = step.words.startswith("  ")
        number += not nested
        head = "    - " if nested else f"{number:>2}. "
        click.echo(head + step.words.strip())
        if step.value is not None:
            click.echo(f"      {show(step.value)}")


def _swizzle(obj: Any) -> None:
    """The bit diagram of a swizzle, and its steps."""
    from cute_viz.algebra.swizzle import Swizzle
    from cute_viz.analysis.swizzle_steps import steps_of
    from cute_viz.figures import build
    from cute_viz.renderers import render

    steps = steps_of(obj)
    if steps is None:
        raise NotationError(f"there is no operation to explain in {show(obj)}", hint="such as complement(4:2, 24), or A o B")
    click.echo(render(build(obj if isinstance(obj, Swizzle) else obj.outer), "text"))
    _say(steps)
