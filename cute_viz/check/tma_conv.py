"""TMA of convolutions: tensor maps of im2col mode drive loads, and pixels and channels must land as drawn, zeros out of bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.inttuple import product
from cute_viz.algebra.tma import TmaCopy
from cute_viz.check import tma_box
from cute_viz.check.elements import UNSIGNED
from cute_viz.check.job import Check, Item, Map, Undecided, entry_name
from cute_viz.figures.im2col import Corner, conv, inside, issues, outputs, tile_pixels
from cute_viz.notation import parse
from cute_viz.spec.library import resolve


def checks(obj: TmaCopy, name: str) -> list[Item]:
    """The check of a load of im2col mode: tiles at the first pixel, inside of a row with the last of the filter, across the end.

    >>> item = checks(next(subjects())[1], "x")[0]
    >>> item.kind, len(item.launches())
    ('TMA im2col', 4)
    """
    if obj.op.instruction.home("D") != "smem" or obj.op.instruction.arch == "sm100" or obj.map.swizzle > 3:
        return [Undecided("TMA im2col", name, f"{obj.op.name} is not checked")]
    if obj.tensor.bits not in UNSIGNED or product(obj.map.global_dim) > 1 << 24 or obj.bits > 8 * tma_box.SHARED:
        return [Undecided("TMA im2col", name, "the tensor or the tile is too large, or of elements of less than 8 bits")]
    return [Check("TMA im2col", name, Job(obj, entry_name("tma_im2col", name)))]


@dataclass(frozen=True, slots=True)
class Job(tma_box.Job):
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
        # slots=True makes a class anew, which super() without arguments does not know
        return replace(super(Job, self).map(), steps=self.obj.map.element_strides, corners=(made.lower, made.upper))

    def where(self, corner: Any) -> str:
        """A corner in words."""
        return f"tile at pixel {corner.pixel}, filter {','.join(map(str, corner.filter))}"


_CONVOLUTIONS = (  # (w,h,d,n) and c, filter, padding, traversal stride, dilation
    ((8, 8, 2), 64, (3, 3), (1, 1), (1, 1), (1, 1)),
    ((9, 7, 2), 64, (3, 2), (1, 0), (2, 1), (1, 2)),
    ((12, 10, 1), 128, (5, 5), (2, 2), (2, 2), (1, 1)),
    ((24, 3), 64, (3,), (1,), (1,), (2,)),
    ((6, 5, 4, 2), 64, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
)


def _tuple(values: Any) -> str:
    return f"({','.join(map(str, values))})"


def text_of(
    extents: tuple[int, ...],
    channels: int,
    filters: Any,
    pads: Any,
    strides: Any,
    dilations: Any,
    kind: str,
    atom: str,
    ctas: int = 1,
) -> str:
    """A forward convolution as CUTLASS writes it: corners from padding and filter.

    >>> text_of((8, 8, 2), 64, (3, 3), (1, 1), (1, 1), (1, 1), "half_t", "K_SW128").count("(-1,-1)")
    3
    """
    steps, step = [], channels
    for extent in extents:
        steps.append(step)
        step *= extent
    lower = [-pad for pad in pads]
    upper = [pad - (extent - 1) * gap for pad, extent, gap in zip(pads, filters, dilations, strict=True)]
    g = f"make_tensor(make_gmem_ptr<{kind}>(0), (({','.join(map(str, extents))}),{channels}):(({','.join(map(str, steps))}),1))"
    op = f"SM90_TMA_LOAD_IM2COL{'_MULTICAST' if ctas > 1 else ''}{{}}"
    tile = f"tile_to_shape(GMMA::Layout_{atom}_Atom<{kind}>{{}}, (64,64))"
    rest = ", ".join(map(_tuple, (lower, upper, lower, pads, strides, [0] * len(pads), dilations)))
    return f"make_im2col_tma_copy({op}, {g}, {tile}, (64,64), {ctas}, {rest})"


def subjects() -> Iterator[tuple[str, Any]]:
    """(name, copy) of convolutions of one to three dimensions: padded, strided, dilated, with every swizzle, multicast.

    >>> next(subjects())[0]
    'TMA im2col of half_t, K_SW128, (8,8,2) and filter (3,3)'
    """
    for n, shape in enumerate(_CONVOLUTIONS):
        atoms = ("K_SW128", "K_SW64", "K_SW32", "K_INTER") if n == 0 else ("K_SW128",)
        cases = [("half_t", atom, 1) for atom in atoms] + (
            [("half_t", "K_SW128", 2), ("float_e4m3_t", "K_SW64", 1)] if n == 0 else []
        )
        for kind, atom, ctas in cases:
            where = f"{_tuple(shape[0])} and filter {_tuple(shape[2])}"
            many = f", cluster of {ctas}" if ctas > 1 else ""
            yield f"TMA im2col of {kind}, {atom}, {where}{many}", parse(text_of(*shape, kind, atom, ctas), resolve=resolve)
