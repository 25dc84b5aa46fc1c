"""The steps of an operation as a value: their words, JSON and picture; of a swizzle, what happens to the bits."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout, is_layout, pointer_bits
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.steps import Step
from cute_viz.analysis.swizzle_steps import steps_of
from cute_viz.analysis.verdict import Verdict
from cute_viz.display import Shown
from cute_viz.errors import CuteVizError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions

_ROW = re.compile(r"mode \d+: |.*, mode by mode$")  # where the picture of the steps begins a new row


@dataclass(frozen=True, slots=True)
class Explanation(Shown):
    """The steps of what `subject` is: an Operation, a swizzled layout, the matrix of one, another value. where: of a definition
    of a file its name, its line and the expression; "" of any other.
    """

    subject: object
    steps: tuple[Step, ...]
    verdict: Verdict | None = None
    where: str = ""

    @property
    def facts(self) -> dict[str, object]:
        """The explanation for JSON: whether CuTe accepts the operation, its steps, and the verdict on a copy or an MMA."""
        steps = [
            {"number": number, "words": words, "value": None if value is None else show(value).rstrip("\n")}
            for number, words, value in self.numbered
        ]
        out: dict[str, object] = {"accepted": not self.failed, "failed": self.failed, "steps": steps}
        out |= {"of": self.where} if self.where else {}
        return out | (self.verdict.as_dict() if self.verdict else {})

    def __str__(self) -> str:
        lines = [self.where] if self.where else []
        for number, words, value in self.numbered:
            lines.append(f"{'' if number is None else number:>2}  {words}")
            lines += [] if value is None else [f"    {show(value).rstrip()}"]
        return "\n".join(lines)

    @property
    def failed(self) -> bool:
        """Whether the operation's condition failed, as the last step says."""
        return self.steps[-1].words.startswith("this fails")

    @property
    def numbered(self) -> list[tuple[int | None, str, object]]:
        """The steps as (number, words, value); a remark below a step has no number."""
        numbers = accumulate(int(not step.words.startswith("  ")) for step in self.steps)
        return [
            (None if step.words.startswith("  ") else number, step.words.strip(), step.value)
            for number, step in zip(numbers, self.steps, strict=True)
        ]

    @property
    def bits(self) -> Figure | None:
        """For a swizzle the picture of its bits, for a linear layout their matrix; None for an operation."""
        if isinstance(self.subject, Figure):
            return self.subject
        if not isinstance(self.subject, (Swizzle, ComposedLayout)) or steps_of(self.subject) is None:
            return None
        if isinstance(self.subject, Swizzle):
            return build(self.subject)
        figure = build(self.subject.outer)
        if pointer_bits(self.subject) is None:
            return figure
        return replace(figure, title=f"{figure.title}, of the byte address")

    @property
    def figure(self) -> Figure:
        """Its picture. Raises: FigureError where no step gives a layout."""
        return self.drawn()

    def drawn(self, series: bool = False) -> Figure:
        """What is picked of A and where it lands, where `view=steps` draws that; else A and the layouts of the steps as a strip of
        panels, with their numbers; for a swizzle, its bits. series: with the pictures of a slider. Raises: FigureError where no
        step gives a layout.
        """
        if (bits := self.bits) is not None:
            return bits
        from cute_viz.figures.steps import StepLayout, steps

        with suppress(CuteVizError):
            return build(self.subject, FigureOptions(view="steps", series=series))
        taken = self.subject.operands[:1] if isinstance(self.subject, Operation) else ()
        parts = [StepLayout("", "A", x) for x in taken if is_layout(x)]
        told, waiting, begins = [], 0, False  # the first step that no panel shows yet
        for step, (number, words, value) in zip(self.steps, self.numbered, strict=True):
            told.append(f"{number}. {words}." if number is not None else f"{words}.")
            waiting = waiting or number or 0
            begins = begins or _ROW.match(words) is not None
            if is_layout(value):
                last = int(parts[-1].numbers.split("-")[-1] or 0) if parts else 0
                upto = number or max(waiting, last)
                numbers = f"{waiting}-{upto}" if 0 < waiting < upto else str(upto)
                drawn = _in_place(value) if getattr(self.subject, "name", "") in _CUT else value
                title = step.title or words if drawn is value else f"{words.partition(':')[0]}, each where it lies"
                parts.append(StepLayout(numbers, title, drawn, begins))
                waiting, begins = 0, False
        atom = getattr(self.subject, "instruction", None) is not None  # whose print is of several lines
        title = getattr(self.subject, "name", "") if atom else show(self.subject).splitlines()[0]
        return steps(f"{title}, step by step", title, parts, _sentences(told))


_CUT = ("local_tile", "local_partition")


def _in_place(value: Any) -> Any:
    if not isinstance(value, Layout):
        return value
    shape, stride = modes(value.shape), modes(value.stride)
    if len(shape) != 2 or not all(isinstance(x, tuple) and len(x) == 2 for x in shape):
        return value
    return Layout(*(tuple(zip(*map(modes, x), strict=True)) for x in (shape, stride)))


def _sentences(told: list[str]) -> list[str]:
    """The steps in lines, the remarks below a step behind it."""
    out: list[str] = []
    for line in told:
        if line[0].isdigit() and line.partition(". ")[0].isdigit():
            out.append(line)
        else:
            out[-1:] = [f"{out[-1][:-1]}; {line}" if out else line]
    return out
