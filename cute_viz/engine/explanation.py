"""The steps of an operation as a value: their words, JSON and picture; of a swizzle, what happens to the bits."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout, is_layout, pointer_bits
from cute_viz.algebra.copy import TiledCopy, tiler_shape
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.partition import make_layout_tv
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.steps import Step
from cute_viz.analysis.swizzle_steps import steps_of
from cute_viz.analysis.tiling_steps import TILINGS
from cute_viz.analysis.verdict import Verdict
from cute_viz.display import Shown
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.spelling import count

_ROW = re.compile(r"mode \d+: |.*, mode by mode$")  # where the picture of the steps begins a new row


@dataclass(frozen=True, slots=True)
class Explanation(Shown):
    """The steps of what `subject` is: an Operation, a swizzled layout, the matrix of one, another value. where: of a definition
    of a file its name, its line and the expression; "" of any other."""

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

    def __repr__(self) -> str:
        return f"Explanation: {count(len(self.steps), 'step')}, the last: {self.steps[-1].words.strip()}"

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
        """What is picked of A and where it lands, where `view=steps` draws that; else A and the layouts of the steps as a strip
        of panels, with their numbers; for a swizzle, its bits. series: with the pictures of a slider. Raises: FigureError where
        no step gives a layout."""
        if (bits := self.bits) is not None:
            return bits
        from cute_viz.figures.steps import StepLayout, steps

        with suppress(CuteVizError):
            return build(self.subject, FigureOptions(view="steps", series=series))
        with suppress(CuteVizError):
            if getattr(self.subject, "name", "") in TILINGS:
                return self._tiling()
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
        return steps(f"{getattr(self.subject, 'name', title)}, step by step", title, parts, _sentences(told))

    def _tiling(self) -> Figure:
        """Threads where they lie, and the tile with the values of each; of an MMA the C of an atom, and of the tile."""
        subject: Any = self.subject
        result: Any = self.steps[-1].value
        if isinstance(result, TiledMMA):
            plain = FigureOptions(operand="C")
            drawn = [("1. One atom", build(result.atom, plain)), ("2. The tile", build(result, plain))]
        else:
            threads = next(x for x in subject.operands if isinstance(x, Layout))
            tv = (result.tiler_mn, result.layout_tv) if isinstance(result, TiledCopy) else result
            alone, whole = (_owners(tiler, layout) for tiler, layout in (make_layout_tv(threads, Layout(1)), tv))
            (panel,) = alone.panels
            panel = replace(panel, labels=tuple([label.partition("\n")[0] for label in panel.labels]))
            drawn = [(f"1. Threads: {show(threads)}", replace(alone, panels=(panel,))), ("2. The tile, with their values", whole)]
        told = [f"{number}. {words}." for number, words, _ in self.numbered if words != "the result"]
        both = page(drawn[1][1].title, drawn, 1, show(subject).splitlines()[0])
        return replace(both, notes=tuple(told), description=f"{both.description} {' '.join(told)}")


def _owners(tiler: object, tv: Layout) -> Figure:
    """Who has which cell of a tile; one of a single mode is a row."""
    tile = [int(extent) for extent in product_each(tiler_shape(tiler))]
    if len(tile) > 2:
        raise FigureError("a tile of more than two modes is not one panel")
    return build(tv, FigureOptions(tile=(tile[0], tile[1]) if len(tile) == 2 else (1, tile[0])))


_CUT = ("local_tile", "local_partition")


def _in_place(value: object) -> object:
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
