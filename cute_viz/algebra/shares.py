"""A tensor as all threads of a block see it: the part of thread 0, and where each thread's part begins."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from cute_viz.algebra.composed import as_layout, domain
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
from cute_viz.algebra.tensor import Tensor, make_tensor
from cute_viz.algebra.views import get_slice
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.pointer import Pointer

MOST = 1024  # threads of a block


@dataclass(frozen=True, slots=True)
class Division:
    """How a tensor was divided among the threads of a block.

    tiling: a TiledCopy, a TiledMMA or a layout of threads. side: S or D of a copy, A, B or C of an MMA. layout: what was divided.
    proj: of local_partition, the modes that count. order: for each thread the one whose part it has; empty where that is its own.

    >>> Division(Layout((2, 2)), "", Layout((8, 4))).starts
    (0, 1, 8, 9)
    """

    marked: ClassVar[tuple[str, ...]] = ("tiling", "layout")
    tiling: Any
    side: str
    layout: Layout
    proj: Any = None
    order: tuple[int, ...] = ()

    @property
    def divided(self) -> Layout:
        """The tensor as (thread, what it has of it)."""
        if isinstance(self.tiling, TiledCopy):
            return _plain(tidfrg(self.tiling, self.side, self.layout))
        if isinstance(self.tiling, TiledMMA):
            return _plain(thrfrg(self.tiling, self.side, self.layout))
        return _plain(zipped_divide(self.layout, product_each(self._threads.shape)))

    @property
    def _threads(self) -> Layout:
        out: Layout = self.tiling if self.proj is None else dice(self.proj, self.tiling)
        return out

    @property
    def first(self) -> Layout:
        """The part of thread 0."""
        divided = self.divided
        if isinstance(self.tiling, TiledCopy):
            return _plain(slice_((0, X, blanks(len(modes(get(divided, 2).shape)))), divided))
        if isinstance(self.tiling, TiledMMA):
            rest = len(modes(get(get(divided, 1), 1).shape))
            return _plain(slice_(((0, (0, 0)), (X, (X,) * rest)), divided))
        rest = tuple_rank(modes(divided.shape)[1])
        return _plain(slice_((get_flat_coord(self._threads, 0), blanks(rest)), divided))

    @property
    def starts(self) -> tuple[int, ...]:
        """How far behind thread 0's part the part of each thread begins, in elements."""
        starts = _starts(replace(self, order=()))
        return tuple([starts[n] for n in self.order]) if self.order else starts


@lru_cache(maxsize=64)
def _starts(part: Division) -> tuple[int, ...]:
    threads = _plain(get(part.divided, 0))
    if isinstance(part.tiling, TiledMMA):
        i, j = OPERANDS[part.side]
        views = [get_slice(part.tiling, thread).thr_vmnk for thread in range(_counted(size(part.tiling.thr_layout_vmnk)))]
        return tuple([int(threads((v, (mnk[i], mnk[j])))) for v, *mnk in views])
    if isinstance(part.tiling, TiledCopy):
        return tuple([int(threads(thread)) for thread in range(_counted(size(threads)))])
    count = _counted(size(part.tiling))
    return tuple([int(threads(get_flat_coord(part._threads, thread))) for thread in range(count)])


@dataclass(frozen=True, slots=True)
class Starts:
    """Where the part of each thread begins, of what no tiling divides."""

    starts: tuple[int, ...]


def share(base: str, space: str, type_: Any, layout: Any) -> Tensor:
    """A whole tensor of a buffer. Raises: AlgebraError for a layout that is not one of memory.

    >>> from cute_viz.algebra.composed import ComposedLayout
    >>> from cute_viz.algebra.swizzle import Swizzle
    >>> share("sA", "smem", "half_t", ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))).swizzle
    Swizzle(bits=3, base=3, shift=3)
    """
    layout = as_layout(layout)
    out = make_tensor(Pointer(space, type_, base=base, name=base), layout)
    if not isinstance(out, Tensor) or is_coordinate_layout(out.layout):
        raise AlgebraError(f"{show(layout)} is not a layout of memory")
    return out


def copy_share(x: Tensor, copy: TiledCopy, side: str) -> Tensor:
    """partition_S and partition_D for every thread of the copy.

    Raises: as `copy.tidfrg`.

    >>> from cute_viz import parse
    >>> copy = parse("make_tiled_copy(Copy_Atom<UniversalCopy<uint32_t>, half_t>{}, Layout<Shape<_4,_8>,Stride<_8,_1>>{}, (1,2))")
    >>> copy_share(share("sA", "smem", "half_t", Layout((8, 64), (64, 1))), copy, "S").starts[:9]
    (0, 2, 4, 6, 8, 10, 12, 14, 64)
    """
    return _parted(x, Division(copy, side, x.layout))


def mma_share(x: Tensor, mma: TiledMMA, operand: str) -> Tensor:
    """partition_A, partition_B and partition_C for every thread of the MMA.

    Raises: as `mma.thrfrg`.

    >>> from cute_viz import parse
    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> mma_share(share("gC", "gmem", "float", Layout((64, 32), (32, 1))), mma, "C").starts[:5]
    (0, 2, 4, 6, 32)
    """
    return _parted(x, Division(mma, operand, x.layout))


def local_share(x: Tensor, tile: Layout, proj: Any = None) -> Tensor:
    """local_partition for every thread that a layout of threads has.

    Raises: as zipped_divide.

    >>> part = local_share(share("sA", "smem", "half_t", Layout((8, 8), (8, 1))), Layout((4, 2), (2, 1)))
    >>> str(part.layout), part.starts
    ('(2,4):(32,2)', (0, 1, 8, 9, 16, 17, 24, 25))
    """
    return _parted(x, Division(tile, "", x.layout, proj))


def sliced_share(x: Tensor, coord: tuple[Any, ...]) -> Tensor:
    """The part of every thread at a coordinate with `_`.

    >>> sliced_share(share("sA", "smem", "half_t", Layout((8, 8, 2))), (X, X, 1)).offset
    64
    """
    if not has_underscore(coord):
        raise AlgebraError(f"{show(coord)} is the coordinate of one element")
    crd: Any = coord[0] if len(coord) == 1 else coord
    return replace(x, layout=_plain(x.layout(crd)), pointer=x.pointer.moved(int(x.layout(slice_begin(crd)))))


def _parted(x: Tensor, part: Division) -> Tensor:
    return replace(x, layout=part.first, part=part)


def _counted(count: int) -> int:
    if count > MOST:
        raise AlgebraError(f"a thread block has {MOST} threads or fewer, not {count}")
    return count


def _plain(layout: Any) -> Layout:
    out = domain(layout)
    if not isinstance(out, Layout):
        raise AlgebraError(f"{show(layout)} is not a layout")
    return out
