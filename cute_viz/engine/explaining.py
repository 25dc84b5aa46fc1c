"""An operation step by step, and the pictures of the steps; of a swizzle, what happens to the bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from cute_viz.algebra.call import Call
from cute_viz.algebra.composed import pointer_bits
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.explain import Step, is_layout
from cute_viz.analysis.explain import explain as steps_of_call
from cute_viz.analysis.swizzle_steps import steps_of
from cute_viz.errors import FigureError, NotationError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.notation import read_call
from cute_viz.spec import Library


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps of what `subject` is, a Call or a swizzled layout."""

    subject: Any
    steps: tuple[Step, ...]

    @property
    def failed(self) -> bool:
        """Whether the operation's condition failed, as the last step tells."""
        return self.steps[-1].words.startswith("here it fails")

    @property
    def numbered(self) -> list[tuple[int | None, str, Any]]:
        """The steps as (number, words, value); a remark below a step has no number."""
        numbers = accumulate(int(not step.words.startswith("  ")) for step in self.steps)
        return [
            (None if step.words.startswith("  ") else number, step.words.strip(), step.value)
            for number, step in zip(numbers, self.steps, strict=True)
        ]

    @property
    def bits(self) -> Figure | None:
        """Of a swizzle the picture of its bits; None of an operation."""
        if isinstance(self.subject, Call):
            return None
        if isinstance(self.subject, Swizzle):
            return build(self.subject)
        figure = build(self.subject.outer)
        if pointer_bits(self.subject) is None:
            return figure
        return replace(figure, title=f"{figure.title}, of the byte address")

    @property
    def figure(self) -> Figure:
        """The layouts of the steps as a strip of panels, numbered as they are told; of a swizzle its bits.

        Raises: FigureError where no step gives a layout.
        """
        if (bits := self.bits) is not None:
            return bits
        from cute_viz.figures.page import page

        numbers = accumulate(int(not step.words.startswith("  ")) for step in self.steps)
        parts = [
            (f"{number}. {step.words.strip()}: {show(step.value)}", build(step.value))
            for number, step in zip(numbers, self.steps, strict=True)
            if is_layout(step.value)
        ]
        if not parts:
            raise FigureError("no step gives a layout to draw")
        return page(f"{self.subject}, step by step", parts, 4, str(self.subject))


def explain(text: str, names: dict[str, Any], library: Library) -> Explanation:
    """The steps of the operation that is the last statement of a text, or of the swizzle that it is.

    Raises: NotationError for anything else.

    >>> from cute_viz.spec import PACKAGED
    >>> explain("complement(4:2, 24)", {}, PACKAGED).steps[-1].words
    'together, coalesced'
    """
    name, operands, template = read_call(text, names, library.resolve)
    if name:
        return Explanation(Call(name, tuple(operands), template), tuple(steps_of_call(name, operands, template)))
    steps = steps_of(operands[0])
    if steps is None:
        raise NotationError(
            f"there is no operation to explain in {show(operands[0])}", hint="such as complement(4:2, 24), or A o B"
        )
    return Explanation(operands[0], tuple(steps))
