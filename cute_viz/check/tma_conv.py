"""TMA of convolutions: tensor maps of im2col mode drive loads, and pixels and channels must land as drawn, zeros out of bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.swizzled import get_swizzle_portion
from cute_viz.algebra.tma import TmaCopy
from cute_viz.check.elements import UNSIGNED
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Map, Out, Outcome, Undecided, Word, entry_name
from cute_viz.check.tma_box import SHARED, caught, sheet
from cute_viz.check.tma_box_ptx import MOST, OFFSETS, kernel
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
    if obj.tensor.bits not in UNSIGNED or product(obj.map.global_dim) > 1 << 24 or obj.bits > 8 * SHARED:
        return [Undecided("TMA im2col", name, "the tensor or the tile is too large, or of elements of less than 8 bits")]
    job = Job(obj, entry_name("tma_im2col", name))
    return [Check("TMA im2col", name, job.kernel(), job.launches, job.judge)]


@dataclass(frozen=True, slots=True)
class Job:
    """The launches of one copy, a corner of the im2col matrix each, and their judgement."""

    obj: TmaCopy
    entry: str

    @property
    def size(self) -> int:
        """Bytes of the tile."""
        return size(self.obj.cta_v_map) * self.obj.tensor.bits // 8

    def kernel(self) -> Kernel:
        """The kernel for the copy's dimensions and cluster."""
        return kernel(self.entry, self.obj.map.rank, self.obj.ctas, False, len(conv(self.obj).lower))

    def corners(self) -> list[Corner]:
        """Where the tile is put."""
        filters = conv(self.obj).filters
        first, last = (0,) * len(filters), tuple(extent - 1 for extent in filters)
        total = product(outputs(self.obj))
        return [Corner(0, 0, first), Corner(min(5, total - 1), 0, last), Corner(max(0, total - 7), 0, first), Corner(0, 0, last)]

    def numbers(self) -> Any:
        """The tensor in global memory, c first: numbered elements, as far as the bits of an element go."""
        bits = self.obj.tensor.bits
        strides = self.obj.map.global_strides
        total = (self.obj.map.global_dim[self.obj.map.rank - 1] * strides[self.obj.map.rank - 2]) * 8 // bits
        return (np.arange(total) % ((1 << min(bits, 31)) - 5) + 1).astype(UNSIGNED[bits])

    def image(self, corner: Corner) -> Any:
        """Shared memory with the tile at a corner, element by element."""
        obj, bits = self.obj, self.obj.tensor.bits
        swizzle, numbers = get_swizzle_portion(obj.smem), self.numbers()
        memory = np.zeros(self.size * 8 // bits, UNSIGNED[bits])
        steps = [bits // 8, *obj.map.global_strides]
        for element, pixel in enumerate(tile_pixels(obj, corner)):
            if inside(obj, pixel):
                coord = (pixel.channel, *pixel.place, pixel.image)
                byte = sum(a * b for a, b in zip(coord, steps, strict=False))
                memory[swizzle(element * bits // 8) * 8 // bits] = numbers[byte * 8 // bits]
        return memory

    def launches(self) -> tuple[Launch, ...]:
        """A launch a corner."""
        return tuple(self._launch(corner) for corner in self.corners())

    def _launch(self, corner: Corner) -> Launch:
        obj, x = self.obj, self.obj.map
        pieces = issues(obj, corner)
        coords = np.zeros((len(pieces), MOST + OFFSETS), np.int32)
        for n, piece in enumerate(pieces):
            coords[n, : len(piece.start)] = piece.start
            coords[n, MOST : MOST + len(piece.offsets)] = piece.offsets
        data = self.numbers()
        corners = (conv(obj).lower, conv(obj).upper)
        tensor = Map(2, x.global_dim, x.global_strides, x.box_dim, x.swizzle, x.data_type, x.rank, x.element_strides, corners)
        step = obj.bits // 8
        words = (Word(self.size), Word(len(pieces) // obj.ctas), Word(step), Word(step // obj.ctas), Word((1 << obj.ctas) - 1))
        buffers = (In(coords.tobytes()), In(data.tobytes()), Out(self.size * obj.ctas))
        return Launch(self.entry, (obj.ctas, 1, 1), 32, (tensor, *buffers, *words), self.size + 2048)

    def judge(self, outputs_: Sequence[Sequence[bytes]]) -> Outcome:
        """Every 16 bytes of shared memory of every CTA against what is drawn."""
        sheets, control = [], False
        for corner, output in zip(self.corners(), outputs_, strict=True):
            memory = self.image(corner)
            where = f"tile at pixel {corner.pixel}, filter {','.join(map(str, corner.filter))}"
            for cta, seen in enumerate(np.frombuffer(output[0], memory.dtype).reshape(self.obj.ctas, -1)):
                sheets.append(sheet(f"CTA {cta}, {where}", memory, seen, self.obj.tensor.bits))
                control |= caught(memory, seen)
        return Outcome(tuple(sheets), control, {"tiles": len(outputs_)})


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
