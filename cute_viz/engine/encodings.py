"""An encoding of Triton step by step: its bits as a matrix, and the layout that they are."""

from __future__ import annotations

from cute_viz.algebra.inttuple import show
from cute_viz.analysis.steps import Step
from cute_viz.errors import CuteVizError
from cute_viz.figures.matrix import bases
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.notation.triton import inputs_of, layout_of, linear_of
from cute_viz.notation.triton_text import find
from cute_viz.spec import Library


def encoding_steps(text: str, library: Library) -> tuple[Figure, tuple[Step, ...]]:
    """The bits of an encoding of Triton as a matrix, and what they come to."""
    typed = find(text)[-1]
    try:
        linear = linear_of(typed, library.shape)
    except CuteVizError as error:
        raise error.at(text, typed.encoding.span) from None
    steps = [
        Step(f"{name}: {', '.join(show(basis if len(basis) > 1 else basis[0]) for basis in those)}, added by XOR")
        for name, those in linear.bases.items()
        if those
    ]
    words = "as (thread, register) to the column-major index"
    if "offset" in linear.bases:
        words = "inverted: coordinates to offsets in elements"
    elif "row" in linear.bases:
        words = "as (row, column) to the column-major index"
    try:
        layout = layout_of(typed, library.shape)
        steps.append(Step(words, layout))
        title = show(layout)
    except CuteVizError as error:  # the bits are known all the same
        title = f"no layout in CuTe notation: {error.message}"
        steps.append(Step(title))
    shape = " x ".join(map(str, linear.sizes))
    figure = bases(f"{typed.encoding.name} of {shape}, bit by bit", title, inputs_of(linear), linear.sizes, FigureOptions())
    return figure, tuple(steps)
