"""A tensor as all threads of a block see it: the part of thread 0, and where each thread's part begins."""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache
from typing import Any, ClassVar

from cute_viz.algebra.composed import as_layout, domain
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.inttuple import Sliced, has_underscore, show, slice_begin
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import get_flat_coord, size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.partition import cut
from cute_viz.algebra.slicing import dice, slice_
from cute_viz.algebra.tensor import Tensor, make_tensor
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.types import Pointer

MOST = 1024  # threads of a block


@dataclass(frozen=True, slots=True)
class Division:
    """How a tensor was divided among the threads of a block.

    tiling: a TiledCopy, a TiledMMA or a layout of threads. side: S or D of a copy, A, B or C of an MMA. layout: what was divided.
    proj: of local_partition, the modes that count. order: for each thread the one whose part it has; empty where that is its own.
    index: the integer that says which thread's part it is, of a reader that knows.
    """

    marked: ClassVar[tuple[str, ...]] = ("tiling", "layout")
    active: ClassVar[tuple[bool, ...]] = ()
    assumes: ClassVar[tuple[str, ...]] = ()
    tiling: Any
    side: str
    layout: Layout
    proj: Any = None
    order: tuple[int, ...] = ()
    index: Any = field(default=None, compare=False, repr=False)

    @property
    def cut(self) -> tuple[Layout, Sliced]:
        """The tensor as (thread, its elements), and the coordinate of thread 0's part."""
        if isinstance(self.tiling, Layout):
            divided, coord = cut("local_partition", self.layout, self.tiling, 0, self.proj)
        else:
            divided, coord = self.tiling.part(0, self.side, self.layout)
        return _plain(divided), coord

    def place(self, thread: int) -> Any:
        """The coordinate of a thread among all."""
        if not isinstance(self.tiling, Layout):
            return self.tiling.place(thread, self.side)
        return get_flat_coord(self.tiling if self.proj is None else dice(self.proj, self.tiling), thread)

    @property
    def first(self) -> Layout:
        """The part of thread 0."""
        divided, coord = self.cut
        return _plain(slice_(coord, divided))

    @property
    def starts(self) -> tuple[int, ...]:
        """How far behind thread 0's part the part of each thread begins, in elements."""
        starts = _starts(replace(self, order=()))
        return tuple([starts[n] for n in self.order]) if self.order else starts


@lru_cache(maxsize=64)
def _starts(part: Division) -> tuple[int, ...]:
    threads = _plain(get(part.cut[0], 0))
    if (count := size(part.tiling)) > MOST:
        raise AlgebraError(f"a thread block has {MOST} threads or fewer, not {count}")
    return tuple([int(threads(part.place(thread))) for thread in range(count)])


@dataclass(frozen=True, slots=True)
class Starts:
    """Where the part of each thread begins, of what no tiling divides.

    active: which threads take part; empty where all do. layout: of the tensor that they are elements of, if any. taken: the loops
    whose rounds are counted here, from -1, the innermost. align: to how many bytes the compiler knows that the buffer is aligned,
    so that it takes neighbors at once; None where that is not read. summed: whether all rounds are, each as an operand; else one
    stands for all. sure: whether all conditions are known. assumes: those that are taken to hold. each: elements that a cast takes
    at once. name: of the instruction, where it is assembly. fields: how many of the elements, as they are members, fill one of the
    buffer.
    """

    tiling: ClassVar[Any] = None
    starts: tuple[int, ...]
    active: tuple[bool, ...] = ()
    layout: Any = None
    taken: frozenset[int] = frozenset()
    align: int | None = 0
    summed: bool = True
    sure: bool = True
    assumes: tuple[str, ...] = ()
    each: int = 1
    name: str = ""
    fields: int = 1


def share(base: str, space: str, type_: object, layout: object) -> Tensor:
    """A whole tensor of a buffer. Raises: AlgebraError for a layout that is not one of memory."""
    layout = as_layout(layout)
    out = make_tensor(Pointer(space, type_, base=base, name=base), layout)
    if not isinstance(out, Tensor) or is_coordinate_layout(out.layout):
        raise AlgebraError(f"{show(layout)} is not a layout of memory")
    return out


def parted_share(x: Tensor, tiling: TiledCopy | TiledMMA | Layout, side: str = "", proj: object = None) -> Tensor:
    """What every thread has of a tensor: partition_S, partition_A and their like, or local_partition by a layout of threads.
    side, proj: as of a Division. Raises: as `copy.tidfrg`, `mma.thrfrg` and zipped_divide."""
    part = Division(tiling, side, x.layout, proj)
    return replace(x, layout=part.first, part=part)


def sliced_share(x: Tensor, coord: tuple[object, ...]) -> Tensor:
    """The part of every thread at a coordinate with `_`."""
    if not has_underscore(coord):
        raise AlgebraError(f"{show(coord)} is the coordinate of one element")
    crd: Any = coord[0] if len(coord) == 1 else coord
    return replace(x, layout=_plain(x.layout(crd)), pointer=x.pointer.moved(int(x.layout(slice_begin(crd)))))


_plain = domain
