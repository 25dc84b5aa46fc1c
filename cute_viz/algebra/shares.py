"""A tensor as all threads of a block see it: the part of thread 0, and where each thread's part begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, as_layout, domain
from cute_viz.algebra.coords import get_flat_coord
from cute_viz.algebra.copy import TiledCopy, tidfrg
from cute_viz.algebra.divide import zipped_divide
from cute_viz.algebra.inttuple import X, has_underscore, modes, show, slice_begin, tuple_rank
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import OPERANDS, TiledMMA, thrfrg
from cute_viz.algebra.modes import get
from cute_viz.algebra.partition import blanks
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.slicing import dice, slice_
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.views import get_slice
from cute_viz.errors import AlgebraError
from cute_viz.values.pointer import Pointer

MOST = 1024  # threads of a block


@dataclass(frozen=True, slots=True)
class Share:
    """The parts of a tensor that the threads of a block work on.

    root: the name of the tensor's memory in the source. space, type: as of a Pointer; of type "" nothing is known. layout: of
    thread 0's part, offset: where it begins, starts: how far behind it the part of each thread begins, empty where no thread is
    meant yet; all in elements. swizzle: of element offsets; flagged: of the byte address instead, by CuTe's pointer.

    >>> whole = share("sA", "smem", "half_t", Layout((8, 8), (8, 1)))
    >>> rows = local_share(whole, Layout((4, 2), (2, 1)))
    >>> str(rows.layout), rows.starts
    ('(2,4):(32,2)', (0, 1, 8, 9, 16, 17, 24, 25))
    """

    root: str
    space: str
    type: str
    layout: Layout
    offset: int = 0
    swizzle: Swizzle | None = None
    flagged: bool = False
    starts: tuple[int, ...] = ()

    def tensor(self, type_: str) -> Tensor:
        """Thread 0's part as a tensor of elements of a type."""
        pointer = Pointer(self.space, type_, offset=self.offset)
        if self.swizzle is None or not self.flagged:
            return Tensor(pointer, self.layout, self.swizzle)
        return Tensor(replace(pointer, swizzle=self.swizzle), self.layout)

    def places(self, offsets: list[int], start: int, bits: int) -> list[int]:
        """Where elements of so many bits lie, in elements: `offsets` by the layout, behind `start`."""
        begin = self.offset + start
        if self.swizzle is None:
            return [begin + o for o in offsets]
        swizzle = self.swizzle.rescaled(bits.bit_length() - 4) if self.flagged else self.swizzle
        return [swizzle(begin + o) for o in offsets]


def share(root: str, space: str, type_: str, layout: Any) -> Share:
    """A whole tensor. Raises: AlgebraError for a layout that is not one of memory.

    >>> share("sA", "smem", "half_t", ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))).swizzle
    Swizzle(bits=3, base=3, shift=3)
    """
    layout = as_layout(layout)
    if isinstance(layout, Layout) and not is_coordinate_layout(layout):
        return Share(root, space, type_, layout)
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Layout):
        if isinstance(layout.outer, Swizzle) and isinstance(layout.offset, PointerFlag):
            return Share(root, space, type_ or str(layout.offset.bits), layout.inner, 0, layout.outer, True)
        if isinstance(layout.outer, Swizzle) and isinstance(layout.offset, int):
            return Share(root, space, type_, layout.inner, layout.offset, layout.outer)
    raise AlgebraError(f"{show(layout)} is not a layout of memory")


def copy_share(x: Share, copy: TiledCopy, side: str) -> Share:
    """partition_S and partition_D for every thread of the copy.

    Raises: as `copy.tidfrg`.

    >>> from cute_viz import parse
    >>> copy = parse("make_tiled_copy(Copy_Atom<UniversalCopy<uint32_t>, half_t>{}, Layout<Shape<_4,_8>,Stride<_8,_1>>{}, (1,2))")
    >>> copy_share(share("sA", "smem", "half_t", Layout((8, 64), (64, 1))), copy, "S").starts[:9]
    (0, 2, 4, 6, 8, 10, 12, 14, 64)
    """
    divided = _plain(tidfrg(copy, side, x.layout))
    rest = len(modes(get(divided, 2).shape))
    return _begun(x, _plain(slice_((0, X, blanks(rest)), divided)), _plain(get(divided, 0)), size(get(divided, 0)))


def mma_share(x: Share, mma: TiledMMA, operand: str) -> Share:
    """partition_A, partition_B and partition_C for every thread of the MMA.

    Raises: as `mma.thrfrg`.

    >>> from cute_viz import parse
    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> mma_share(share("gC", "gmem", "float", Layout((64, 32), (32, 1))), mma, "C").starts[:5]
    (0, 2, 4, 6, 32)
    """
    i, j = OPERANDS[operand]
    divided = _plain(thrfrg(mma, operand, x.layout))
    threads = _plain(get(divided, 0))
    rest = len(modes(get(get(divided, 1), 1).shape))
    part = _plain(slice_(((0, (0, 0)), (X, (X,) * rest)), divided))
    _check(size(mma.thr_layout_vmnk))
    starts = []
    for thread in range(size(mma.thr_layout_vmnk)):
        v, *mnk = get_slice(mma, thread).thr_vmnk
        starts.append(int(threads((v, (mnk[i], mnk[j])))))
    return replace(x, layout=part, starts=tuple(starts))


def local_share(x: Share, tile: Layout, proj: Any = None) -> Share:
    """local_partition for every thread that a layout of threads has.

    Raises: as zipped_divide.

    >>> local_share(share("gA", "gmem", "float", Layout((8, 4))), Layout((2, 2))).starts
    (0, 1, 8, 9)
    """
    count = size(tile)
    diced = tile if proj is None else dice(proj, tile)
    divided = _plain(zipped_divide(x.layout, product_each(diced.shape)))
    first = _plain(get(divided, 0))
    _check(count)
    starts = tuple([int(first(get_flat_coord(diced, thread))) for thread in range(count)])
    rest = tuple_rank(modes(divided.shape)[1])
    part = _plain(slice_((get_flat_coord(diced, 0), blanks(rest)), divided))
    return replace(x, layout=part, starts=starts)


def sliced_share(x: Share, coord: tuple[Any, ...]) -> Share:
    """The part of every thread at a coordinate with `_`.

    >>> sliced_share(share("sA", "smem", "half_t", Layout((8, 8, 2))), (X, X, 1)).offset
    64
    """
    if not has_underscore(coord):
        raise AlgebraError(f"{show(coord)} is the coordinate of one element")
    crd: Any = coord[0] if len(coord) == 1 else coord
    begin = slice_begin(crd)
    return replace(x, layout=_plain(x.layout(crd)), offset=x.offset + int(x.layout(begin)))


def _begun(x: Share, part: Layout, threads: Layout, count: int) -> Share:
    _check(count)
    return replace(x, layout=part, starts=tuple([int(threads(thread)) for thread in range(count)]))


def _check(count: int) -> None:
    if count > MOST:
        raise AlgebraError(f"a thread block has {MOST} threads or fewer, not {count}")


def _plain(layout: Any) -> Layout:
    out = domain(layout)
    if not isinstance(out, Layout):
        raise AlgebraError(f"{show(layout)} is not a layout")
    return out
