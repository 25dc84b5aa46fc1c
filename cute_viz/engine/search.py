"""Which Swizzle<B,M,S> makes the accesses of a tile free of bank conflicts: every candidate, the winner, why, and its banks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, pointer_bits
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.banks import memory_of
from cute_viz.analysis.swizzles import Candidate, explain_choice, search
from cute_viz.engine.answer import Answer
from cute_viz.errors import UsageError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.options.words import read

USUAL_OF_WAVES = ("ds_read", "ds_write")
USUAL = ("ldmatrix", "cp.async")  # the accesses of a tile of which nothing else is said


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found, for a row-major tile of elements of so many bits; `found` has the best first."""

    rows: int
    cols: int
    bits: int
    accesses: tuple[str, ...]
    found: tuple[Candidate, ...]
    claim: str = ""

    @property
    def plain(self) -> Candidate:
        """The candidate without a swizzle."""
        return next(candidate for candidate in self.found if candidate.name == "plain")

    @property
    def why(self) -> str:
        """Why the winner wins, in words."""
        words = explain_choice(self.found[0], self.plain, self.cols, self.bits)
        return f"{words} ({self.claim})" if self.claim else words

    def __str__(self) -> str:
        return "\n".join([*self.table(5), "", self.why])

    def __repr__(self) -> str:
        best = self.found[0]
        what = f"{self.rows}x{self.cols} of {self.bits}-bit elements, {best.name}, {best.wavefronts} wavefronts, {best.ideal} ideal"
        return f"Search: {what}; {len(self.found)} candidates"

    def shown(self, top: int) -> list[Candidate]:
        """The best, and the one without a swizzle."""
        return [*self.found[:top], *([self.plain] if self.plain not in self.found[:top] else [])]

    def table(self, top: int) -> list[str]:
        """A line for each of those, with what each access costs."""
        rows = [["", "wavefronts", "ideal", *self.accesses, "mode"]]
        rows += [
            [c.name, str(c.wavefronts), str(c.ideal), *(str(c.by_access[n]) for n in self.accesses), c.mode]
            for c in self.shown(top)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(f"{word:<{wide}}" for word, wide in zip(row, widths, strict=True)).rstrip() for row in rows]

    def as_dict(self, chosen: Sequence[Candidate]) -> dict[str, Any]:
        """The winner, why it wins, and some of the candidates, for JSON."""
        rows = [
            {"name": c.name, "wavefronts": c.wavefronts, "ideal": c.ideal, "mode": c.mode, "accesses": c.by_access} for c in chosen
        ]
        return {"winner": self.found[0].name, "why": self.why, "candidates": rows}

    @property
    def figure(self) -> Figure:
        """The bank map before and after, of as many rows as the swizzle repeats after."""
        swizzle = self.found[0].swizzle
        options = FigureOptions(view="banks", bits=self.bits)
        if not isinstance(swizzle, Swizzle):
            return build(Layout((self.rows, self.cols), (self.cols, 1)), options)
        period = max(1, 2 ** (swizzle.base + swizzle.shift + swizzle.bits) // self.cols)
        plain = Layout((min(self.rows, period), self.cols), (self.cols, 1))
        return build(ComposedLayout(swizzle, 0, plain), options)


def tile_of(answer: Answer) -> tuple[tuple[int, int], int | None]:
    """The rows and columns of the layout that a request is for, and the bits of its elements where it says them. Raises:
    UsageError for a layout of another rank."""
    layout = answer.layout
    extents = [int(product(mode)) for mode in modes(layout.shape)]
    if len(extents) != 2:
        raise UsageError(f"a tile has two modes, not {len(extents)}", hint="ROWSxCOLS, for example 64x64")
    return (extents[0], extents[1]), pointer_bits(layout) or answer.bits


def search_swizzle(tile: tuple[int, int], element: str | int, accesses: Sequence[str], arch: str = "") -> Search:
    """The search for a tile of rows x columns; without accesses those of a GEMM's operand. Raises: CuteVizError for an element
    type or an access that there is not, or a tile that an access does not divide."""
    rows, cols = tile
    bits = read("type", element)
    memory = memory_of(arch)
    patterns = tuple(dict.fromkeys(accesses or (USUAL if memory is None else USUAL_OF_WAVES)))
    return Search(rows, cols, bits, patterns, tuple(search(rows, cols, bits, patterns, memory)), memory.claim if memory else "")
