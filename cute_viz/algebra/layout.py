"""Layout: a function from coordinates to offsets, given by a shape and a stride (cute/layout.hpp).

Values are immutable and hashable; `str` is CuTe notation. The functions here are of plain layouts: they are what the other
modules are made of. Those of the same names in `measure`, `modes`, `slicing` and `construct` take every
kind of layout.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import prod
from sys import byteorder
from typing import Any, NoReturn, overload

from cute_viz.algebra.inttuple import (
    IntTuple,
    Sliced,
    Underscore,
    compact_major,
    div_rem,
    has_underscore,
    leaves,
    map_leaves,
    modes,
    picked,
    product,
    ranked,
    same_profile,
    show,
    slice_begin,
    tuple_rank,
)
from cute_viz.algebra.stride import F2, Basis, Stride, add, greatest, is_coordinate, magnitude, plain, reached
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over
from cute_viz.records import dataclass
from cute_viz.values.integer import Runtime, Unknown, is_integer


@dataclass(frozen=True, slots=True)
class Layout(Shown):
    """shape:stride, two nested tuples of one profile.

    Shapes are positive integers; strides are integers (0 and negative ones too) or basis elements. Without a
    stride the layout is compact and column-major.

    >>> A = Layout(((2, 2), 4), ((1, 8), 2))
    >>> str(A), A(((1, 1), 3)), A(7), A((3, 1))
    ('((2,2),4):((1,8),2)', 15, 11, 11)
    >>> str(Layout((4, 8)))
    '(4,8):(1,4)'
    """

    shape: IntTuple
    stride: Stride = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for extent in leaves(self.shape):
            if isinstance(extent, Unknown):
                continue
            if isinstance(extent, bool) or not isinstance(extent, int):
                raise AlgebraError(f"a shape must consist of integers; {show(extent)} is not one")
            if extent < 1:
                raise AlgebraError(f"the extents of a shape must be 1 or more; {show(self.shape)} has {extent}")
        if self.stride is None:
            object.__setattr__(self, "stride", compact_major(self.shape))
        elif not same_profile(self.shape, self.stride):
            raise AlgebraError(
                f"shape {show(self.shape)} and stride {show(self.stride)} do not have the same nesting",
                hint="every integer of the shape needs one stride, in the same parentheses",
            )
        for step in leaves(self.stride):
            if (
                type(step) is not int
                and not isinstance(step, (int, Basis, F2, Unknown))
                and type(step).__name__ not in ("Fraction", "StaticRatio")
            ):
                raise AlgebraError(f"a stride must be an integer or a basis element, for example 1@0; {show(step)} is not one")

    def __str__(self) -> str:
        return f"{show(self.shape)}:{show(self.stride)}"

    @overload
    def __call__(self, *coord: IntTuple) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *coord: Sliced) -> Layout: ...
    def __call__(self, *coord: Sliced) -> object:
        """The value at a coordinate: `L(c)` or `L(c0, c1, ...)`; with `_` in it, the sub-layout (see `slice_`). Checkers of
        types take the strides for integers: of basis elements, the value is a coordinate."""
        crd = coord[0] if len(coord) == 1 else coord
        if has_underscore(crd):
            return slice_(crd, self)
        return crd2idx(crd, self.shape, self.stride)

    def __getitem__(self, mode: int) -> Layout:
        """The sub-layout of one top-level mode; -1 is the last."""
        return get(self, mode + tuple_rank(self.shape) if isinstance(mode, int) and mode < 0 else mode)

    def __iter__(self) -> Iterator[Layout]:
        """The sub-layouts of the top-level modes."""
        return (get(self, mode) for mode in range(tuple_rank(self.shape)))

    @property
    def size(self) -> int:
        """The number of coordinates.

        >>> Layout((4, 8), (8, 1)).size, Layout((4, 8), (8, 1)).rank, Layout((4, 8), (16, 1)).cosize
        (32, 2, 56)
        """
        return product(self.shape)

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return tuple_rank(self.shape)

    @property
    def cosize(self) -> int:
        """One more than the largest offset."""
        return product(coshape(self))

    @property
    def __array_interface__(self) -> dict[str, object]:
        """The offsets as numpy reads them, with an axis for each top-level mode: `np.asarray(layout)`. Source: NumPy's array
        interface, version 3. Raises: AlgebraError for strides that are not integers, LimitError for very many offsets."""
        if self.size > limit("elements"):
            raise over("elements", f"the layout has {self.size:,}")
        table: list[Any] = [0]
        if not all(isinstance(stride, int) for stride in leaves(self.stride)):
            raise AlgebraError(f"the values of {self} are not integers, and make no array")
        for extent, stride in zip(leaves(self.shape), leaves(self.stride), strict=True):
            table = [k * stride + at for k in range(extent) for at in table]
        return array_interface(self.shape, table)


def array_interface(shape: IntTuple, table: list[Any]) -> dict[str, object]:
    """Offsets, column by column, as the array interface has them."""
    extents = [product(mode) for mode in modes(shape)]
    steps = tuple([8 * prod(extents[:n]) for n in range(len(extents))])
    return {
        "version": 3,
        "shape": tuple(extents),
        "strides": steps,
        "typestr": f"{'<>'[byteorder == 'big']}i8",
        "data": array("q", table),
    }


_SET = object.__setattr__


def trusted(shape: IntTuple, stride: object) -> Layout:
    """A layout whose parts are known to fit, without the checks: for results of operations, which are made in great numbers."""
    out: Layout = object.__new__(Layout)
    _SET(out, "shape", shape)
    _SET(out, "stride", stride)
    return out


def get(layout: Layout, *path: int) -> Layout:
    """The sub-layout at a mode, or at a mode of a mode (CuTe's get<I,J...>)."""
    shape, stride = layout.shape, layout.stride
    for i in path:
        if not hasattr(i, "__index__") or not 0 <= i < tuple_rank(shape):
            raise AlgebraError(f"{layout} has no mode {i}", hint=f"its modes are 0 to {tuple_rank(shape) - 1}")
        shape, stride = modes(shape)[i], modes(stride)[i]
    return trusted(shape, stride)


def make_layout(*layouts: Layout) -> Layout:
    """The layout whose modes are the given layouts."""
    return trusted(tuple([x.shape for x in layouts]), tuple([x.stride for x in layouts]))


def coshape(layout: Layout) -> Any:
    """The smallest shape that holds every value, strides taken as positive."""
    if has_xor(layout):
        return 1 + greatest(layout, flat_modes(layout))
    last: Any = 0
    for extent, stride in zip(leaves(layout.shape), leaves(layout.stride), strict=True):
        last = add(last, (extent - 1) * magnitude(stride))
    return map_leaves(lambda c: c + 1, plain(last))


def flat_modes(layout: Layout) -> list[tuple[int, Any]]:
    """(extent, stride) of every leaf, left to right."""
    if not isinstance(layout.shape, tuple):
        return [(layout.shape, layout.stride)]
    out: list[tuple[int, Any]] = []
    _collect(layout.shape, layout.stride, out)
    return out


def _collect(shape: tuple[Any, ...], stride: Any, out: list[tuple[int, object]]) -> None:
    for s, d in zip(shape, stride, strict=True):
        if isinstance(s, tuple):
            _collect(s, d, out)
        else:
            out.append((s, d))


def crd2idx(crd: object, shape: IntTuple, stride: Stride | None = None) -> Any:
    """The value at a coordinate; a coordinate may be coarser than the shape (an index into a mode). An index past the end of a
    mode runs on in the mode's last leaf, and a negative one has negative digits, as in CuTe."""
    return plain(_crd2idx(crd, shape, compact_major(shape) if stride is None else stride))


def printed_value(crd: object, layout: Layout) -> object:
    """The value at a coordinate as CuTe prints it: what one stride along a coordinate gives is a step, not a tuple."""
    value = _crd2idx(crd, layout.shape, layout.stride)
    return value if isinstance(value, Basis) else plain(value)


def _crd2idx(crd: Any, shape: IntTuple, stride: Any) -> object:
    """The value before it is made plain: a sum of strides, so that basis elements and XOR strides add up their own way."""
    if isinstance(crd, tuple):
        if not isinstance(shape, tuple) or len(crd) != len(shape):
            raise AlgebraError(
                f"the coordinate {show(crd)} does not fit the shape {show(shape)}",
                hint="a coordinate has one entry for each mode, or is a single index",
            )
        total: Any = 0
        for c, s, d in zip(crd, shape, stride, strict=True):
            total = _plus(total, _crd2idx(c, s, d))
        return total
    if not is_integer(crd):
        raise AlgebraError(f"a coordinate must consist of integers; {show(crd)} is not one")
    if isinstance(shape, tuple):
        total = 0
        for s, d in zip(shape[:-1], stride[:-1], strict=True):
            crd, digit = div_rem(crd, product(s))
            total = _plus(total, _crd2idx(digit, s, d))
        return _plus(total, _crd2idx(crd, shape[-1], stride[-1])) if shape else 0
    return crd * stride


def _plus(a: object, b: object) -> object:
    if isinstance(b, Basis) and isinstance(a, int) and a == 0:
        return b
    return a if isinstance(a, Basis) and isinstance(b, int) and b == 0 else add(a, b)


def idx2crd(idx: Any, shape: IntTuple) -> Any:
    """The coordinate of an index, in the shape's nesting; an index past the end runs on in the last leaf. The digits of a
    negative index are negative, as C++ divides."""
    if isinstance(idx, tuple):
        if not ranked(shape, len(idx)):
            raise AlgebraError(f"{show(idx)} does not fit the shape {show(shape)}")
        return tuple(map(idx2crd, idx, shape))
    if isinstance(shape, tuple):
        out = []
        for s in shape[:-1]:
            idx, digit = div_rem(idx, product(s))
            out.append(idx2crd(digit, s))
        return (*out, idx2crd(idx, shape[-1])) if shape else ()
    return idx if isinstance(idx, (Runtime, Unknown)) else int(idx)


def slice_(crd: object, layout: Layout) -> Layout:
    """The modes where the coordinate has `_` (CuTe's slice; the offset of the rest is `slice_and_offset`)."""
    if isinstance(crd, Underscore):
        return layout

    def misfit(part: object, _: object) -> NoReturn:
        hint = "a slice has one entry, an index or _, for each mode"
        raise AlgebraError(f"the slice {show(part)} does not fit {layout}", hint=hint)

    return trusted(*(tuple(picked(crd, part, True, misfit)) for part in (layout.shape, layout.stride)))


def slice_and_offset(crd: object, layout: Layout) -> tuple[Layout, object]:
    """The sub-layout where the coordinate has `_`, and the value at the rest of it."""
    zeros = slice_begin(crd)
    sub, offset = slice_(crd, layout), crd2idx(zeros, layout.shape, layout.stride)
    check_apart(sub, offset)
    return sub, offset


def check_apart(sub: Layout, offset: object) -> None:
    """Refuse a slice of XOR strides whose values have bits of its offset: their XOR is not their sum."""
    bits = reached(flat_modes(sub))
    if bits and isinstance(offset, int) and bits & offset:
        raise AlgebraError(f"the slice {sub} and its offset {offset} have bits in common, so that their XOR is not their sum")


def has_xor(layout: object) -> bool:
    """Whether something is a layout with XOR strides."""
    return isinstance(layout, Layout) and any(isinstance(stride, F2) for stride in leaves(layout.stride))


def is_coordinate_layout(layout: Layout) -> bool:
    """Whether the layout's values are coordinates rather than integers."""
    return is_coordinate(layout.stride)


def modes_of(layout: Layout) -> list[Layout]:
    """The top-level modes as layouts."""
    return [trusted(s, d) for s, d in zip(modes(layout.shape), modes(layout.stride), strict=True)]


def from_modes(pairs: list[tuple[int, Any]]) -> Layout:
    """A flat layout of (extent, stride) pairs: `1:0` for none, no parentheses for one."""
    if not pairs:
        return trusted(1, 0)
    if len(pairs) == 1:
        return trusted(*pairs[0])
    return trusted(tuple([s for s, _ in pairs]), tuple([d for _, d in pairs]))
