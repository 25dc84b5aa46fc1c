"""Tensors as all threads of a block see them, of which a compiler gives the types: views, slices and parts, held to these types.

What is computed here is compared with the compiler's type: where a static integer differs, the statement is not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from cute_viz.algebra.compose import composition
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves, modes, same_profile
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import parted_share, sliced_share
from cute_viz.algebra.static import each_integer, mark_static, unknowns
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError, InternalError, raised_again
from cute_viz.values.integer import Static, Unknown

PITCH = 8192  # what a run-time size or stride counts as, in elements
_TURNS = 8  # values of an index that only a run knows that are tried


class TypeParts:
    """What types say, and views and parts of tensors. notes: what was taken for granted.

    turn: the value of an index that only a run knows; turns: how many of its values may matter to banks.
    """

    def __init__(self, notes: dict[str, None], value: Callable[[str], Any]) -> None:
        self.notes, self.value = notes, value
        self.values: dict[str, Any] = {}
        self.turn, self.turns = 0, 1

    def typed(self, type_: str) -> Any:
        """The value that a type says, worked out once. Raises: CuteVizError for one that says none."""
        if type_ not in self.values:
            try:
                self.values[type_] = self.value(type_)
            except CuteVizError as error:
                self.values[type_] = error
        return raised_again(self.values[type_])

    def at(self, turn: int, read: Callable[[], list[Any]]) -> list[Any]:
        """What is read where an index that only a run knows has the value `turn`; `turns` then counts those that may matter."""
        self.turn, self.turns = turn, 1
        return read()

    def again(self, read: Callable[[], list[Any]]) -> Iterator[list[Any]]:
        """What is read at the other values of such an index."""
        self.at(0, read)
        for turn in range(1, self.turns):
            yield self.at(turn, read)

    def parted(self, whole: Tensor, tiling: Any, side: str, value: Tensor) -> Tensor:
        """`partition_S` and its like, of every thread: S or D of a copy, A, B or C of an MMA; any other side is of a CTA."""
        if not isinstance(tiling, (TiledCopy, TiledMMA)) or side not in tuple("ABCSD") or tiling.atom.instruction.issued:
            return self.viewed(whole, value)
        if whole.starts and size(tiling.thr_layout) == 1:
            return self.viewed(whole, value)  # the values of a thread, as one thread has them
        if whole.starts:
            raise AlgebraError("this is a part of a thread already")
        return parted_share(whole, tiling, side)

    def sliced(self, x: Tensor, coord: tuple[Any, ...]) -> Tensor:
        """A part at a coordinate; an index that only a run knows is 0 where its steps matter neither to banks nor to sectors."""
        if len(coord) == 1 and isinstance(coord[0], Underscore):
            return x
        lost = sum(1 for _ in unknowns(coord))
        first, *others = [_at(coord, n) for n in range(lost + 1)]
        if not any((_begin(x, other) - _begin(x, first)) * x.bits % _period(x) for other in others):
            return sliced_share(x, first)
        sizes = [size(Layout(mode)) for mode, at in zip(modes(x.layout.shape), coord, strict=False) if isinstance(at, Unknown)]
        self.turns = max(self.turns, min(_TURNS, max(sizes, default=1)))
        parts = zip(modes(x.layout.shape), coord, first, strict=True)
        return sliced_share(x, tuple(self.turned(mode, at, begin) for mode, at, begin in parts))

    def turned(self, mode: Any, at: Any, begin: Any) -> Any:
        """An index, of one that only a run knows the value whose turn it is."""
        return self.turn % size(Layout(mode)) if isinstance(at, Unknown) else begin

    def viewed(self, x: Tensor, value: Tensor, ordered: bool = False) -> Tensor:
        """Another layout over the buffer of a tensor.

        ordered: its elements keep their order. Of a part of a swizzled layout the type has the strides behind the swizzle, which
        differ from thread to thread: only such a view of it is known. Raises: AlgebraError for any other.
        """
        if x.swizzle is not None and value.swizzle is None and x.starts:
            if not ordered:
                raise AlgebraError(f"how this view orders the elements of {x.name or 'a swizzled tensor'} is unknown")
            layout = composition(x.layout, Layout(_replaced(value.layout.shape, lambda: 1)))
            return replace(x, layout=layout) if isinstance(layout, Layout) else x
        made = self.numbered(value, x.name)
        space = made.pointer.space or x.pointer.space
        pointer = replace(x.pointer, space=space, type=made.pointer.type, swizzle=made.pointer.swizzle)
        return replace(made, pointer=pointer, part=x.part if value.pointer.type == x.pointer.type else None)

    def numbered(self, value: Tensor, name: str | None = None) -> Tensor:
        """A tensor in whose layout a run-time size or stride counts as a large aligned number."""
        if next(unknowns(value.layout), None) is not None:
            self.notes[f"sizes and strides that only a run knows count as multiples of {PITCH} elements"] = None
            turns = count(1)
            stride = _replaced(value.layout.stride, lambda: PITCH * next(turns))
            value = replace(value, layout=Layout(_replaced(value.layout.shape, lambda: PITCH), stride))
        if isinstance(value.offset, Unknown):
            value = replace(value, pointer=replace(value.pointer, offset=0))
        return value if name is None else replace(value, name=name, pointer=replace(value.pointer, base=name, name=name))


def _replaced(value: Any, number: Callable[[], int]) -> Any:
    return map_leaves(lambda leaf: number() if isinstance(leaf, Unknown) else leaf, value)


def _at(coord: Any, one: int) -> Any:
    """A coordinate in which each unknown index is 0, but for the one of a number, counted from 1, which is 1."""
    turns = count(1)
    return _replaced(coord, lambda: int(next(turns) == one))


def _begin(x: Tensor, coord: tuple[Any, ...]) -> int:
    return int(sliced_share(x, coord).offset)


def _period(x: Tensor) -> int:
    """Bits after which banks, or sectors of global memory, come again in the same order."""
    if x.pointer.space != "smem":
        return 256
    swizzle = x.pointer.swizzle or x.swizzle
    if swizzle is None:
        return 1024
    bits = 1 << (swizzle.base + swizzle.shift + swizzle.bits)
    return max(1024, bits * (8 if x.swizzle is None else x.bits))


def held(found: Tensor, value: Tensor) -> Tensor:
    """A tensor whose layout has the static integers of the compiler's type. Raises: AlgebraError where the modes, or a static
    integer, differ."""
    own, other = found.layout, value.layout
    known = all(isinstance(leaf, Static) for leaf in leaves(other.shape))
    sizes = [[size(Layout(mode)) for mode in modes(x.shape)] for x in (own, other)]
    if known and sizes[0] == sizes[1] and not same_profile(own.shape, other.shape):
        own = _in_modes(own, other)
    alike = same_profile(own.shape, other.shape)
    same = not known or sizes[0] == sizes[1]
    if same and alike:
        pairs = zip((*leaves(own.shape), *leaves(own.stride)), (*leaves(other.shape), *leaves(other.stride)), strict=True)
        same = all(int(a) == int(b) for a, b in pairs if isinstance(b, Static) and isinstance(a, int))
    if not same:
        raise InternalError(f"this is a mistake in cute-viz: {each_integer(int, own)} is not the compiler's {other}")
    if not alike:
        return replace(found, layout=Layout(mark_static(own.shape), own.stride)) if known else found
    pairs_ = ((own.shape, other.shape), (own.stride, other.stride))
    return replace(found, layout=Layout(*(map_leaves(lambda a, b: b if isinstance(b, Static) else a, *pair) for pair in pairs_)))


def _in_modes(own: Layout, other: Layout) -> Layout:
    """A layout in the modes of another of its sizes; as it is where it cannot be split like that."""
    try:
        parts = [composition(get(own, n), Layout(each_integer(int, mode))) for n, mode in enumerate(modes(other.shape))]
    except AlgebraError:
        return own
    split = Layout(tuple(part.shape for part in parts), tuple(part.stride for part in parts))
    return split if same_profile(split.shape, other.shape) else own
