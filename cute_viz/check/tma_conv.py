"""TMA of convolutions: tensor maps of im2col mode drive loads, and pixels and channels must land as drawn, zeros out of bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.inttuple import product
from cute_viz.algebra.tma import TmaCopy
from cute_viz.check import tma_box
from cute_viz.check.elements import UNSIGNED
from cute_viz.check.job import Map, entry_name
from cute_viz.figures.im2col import Corner, conv, inside, issues, outputs, tile_pixels


def job(obj: TmaCopy, name: str) -> Pixels | str:
    """The check of a load of im2col mode: tiles at the first pixel, inside of a row with the last of the filter, across the end.

    >>> from cute_viz.check.library import subjects
    >>> len(job(next(subjects("im2col"))[1], "x").launches())
    4
    """
    if obj.op.instruction.home("D") != "smem" or obj.op.instruction.arch == "sm100" or obj.map.swizzle > 3:
        return f"{obj.op.name} is not checked"
    if obj.tensor.bits not in UNSIGNED or product(obj.map.global_dim) > 1 << 24 or obj.bits > 8 * tma_box.SHARED:
        return "the tensor or the tile is too large, or of elements of less than 8 bits"
    return Pixels(obj, entry_name("tma_im2col", name))


@dataclass(frozen=True, slots=True)
class Pixels(tma_box.Corners):
    """The launches of one copy, a corner of the im2col matrix each, and their judgement."""

    @property
    def offsets(self) -> int:
        """As many as there are dimensions of the filter."""
        return len(conv(self.obj).lower)

    def corners(self) -> list[Any]:
        """Where the tile is put."""
        filters = conv(self.obj).filters
        first, last = (0,) * len(filters), tuple(extent - 1 for extent in filters)
        total = product(outputs(self.obj))
        return [Corner(0, 0, first), Corner(min(5, total - 1), 0, last), Corner(max(0, total - 7), 0, first), Corner(0, 0, last)]

    def elements(self) -> int:
        """How many elements the tensor has in global memory, c first."""
        x = self.obj.map
        return x.global_dim[x.rank - 1] * x.global_strides[x.rank - 2] * 8 // self.obj.tensor.bits

    def sources(self, corner: Any) -> Iterator[int]:
        """For each element of the tile at a corner its place in the tensor, -1 out of bounds."""
        bits = self.obj.tensor.bits
        steps = [bits // 8, *self.obj.map.global_strides]
        for pixel in tile_pixels(self.obj, corner):
            coord = (pixel.channel, *pixel.place, pixel.image)
            byte = sum(a * b for a, b in zip(coord, steps, strict=False))
            yield byte * 8 // bits if inside(self.obj, pixel) else -1

    def issued(self, corner: Any) -> list[tuple[int, ...]]:
        """The integers of each instruction, the offsets behind them."""
        pieces = issues(self.obj, corner)
        return [(*piece.start, *[0] * (tma_box.MOST - len(piece.start)), *piece.offsets) for piece in pieces]

    def map(self) -> Map:
        """The tensor map that we compute, of im2col mode."""
        made = conv(self.obj)
        return replace(tma_box.Corners.map(self), steps=self.obj.map.element_strides, corners=(made.lower, made.upper))

    def where(self, corner: Any) -> str:
        """A corner in words."""
        return f"tile at pixel {corner.pixel}, filter {','.join(map(str, corner.filter))}"
