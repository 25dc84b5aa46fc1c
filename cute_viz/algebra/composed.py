"""ComposedLayout(outer, offset, inner): the function c -> outer(offset + inner(c)) (cute/layout_composed.hpp).

Layouts that no shape:stride pair can express, such as a swizzled tile of shared memory, are of this kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeGuard, overload

from cute_viz.algebra.common import refuse
from cute_viz.algebra.inttuple import (
    IntTuple,
    Sliced,
    has_underscore,
    is_int_tuple,
    leaves,
    map_leaves,
    product,
    show,
    slice_begin,
    tuple_rank,
)
from cute_viz.algebra.layout import Layout, array_interface, is_coordinate_layout, slice_, slice_and_offset
from cute_viz.algebra.stride import add, unit_strides
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over
from cute_viz.records import dataclass
from cute_viz.values.integer import MulticastMask, Static, Unknown, is_static

AnyLayout: TypeAlias = "Layout | ComposedLayout"
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class PointerFlag:
    """CuTe's smem_ptr_flag: the place of a pointer to `bits`-wide elements in a composed layout.

    A swizzle in front of it acts on the bits of the byte address (cute/pointer_flagged.hpp).
    tensor: it is the pointer of a tensor, which has the swizzle: the tensor's `.layout()` is the layout behind it.
    sparsity: how many elements of the layout share one that is stored (smem_sparse_ptr_flag_bits); `bits` is the part of each.
    """

    bits: int
    tensor: bool = field(default=False, compare=False, repr=False)
    sparsity: int = 1

    def __post_init__(self) -> None:
        if self.bits < 1:
            raise AlgebraError(f"a pointer's elements must be at least 1 bit wide, not {self.bits}")

    def __str__(self) -> str:
        return f"smem{f'_sparse<{self.sparsity}>' if self.sparsity > 1 else ''}_ptr[{self.bits * self.sparsity}b](unset)"


@dataclass(frozen=True, slots=True)
class ComposedLayout(Shown):
    """outer o offset o inner.

    Raises: AlgebraError for parts that are neither layouts nor swizzles, for an offset that is not an integer, a tuple of
    integers or a pointer, and for a coordinate where the values of the inner layout are integers or the outer one is a swizzle.

    >>> S = ComposedLayout(Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))
    >>> str(S), S(2, 1)
    ('Sw<2,0,3> o 0 o (8,4):(4,1)', 8)
    """

    outer: Swizzle | Layout | ComposedLayout
    offset: IntTuple | PointerFlag
    inner: Layout | ComposedLayout | Swizzle

    def __post_init__(self) -> None:
        parts = (self.outer, self.offset, self.inner)
        if not all(isinstance(part, (Layout, ComposedLayout, Swizzle)) for part in (self.outer, self.inner)):
            refuse("make_composed_layout", parts, "the first and the last part must be layouts or swizzles")
        if not isinstance(self.offset, PointerFlag) and (self.offset == () or not is_int_tuple(self.offset)):
            refuse("make_composed_layout", parts, "the offset must be an integer, a tuple of integers or a pointer")
        if isinstance(self.offset, tuple) and not takes_coordinate(self.outer, self.inner):
            refuse("make_composed_layout", parts, "a coordinate offset needs an inner layout whose values are coordinates")
        if isinstance(self.offset, tuple) and isinstance(self.outer, Swizzle):
            refuse("make_composed_layout", parts, "the offset is a coordinate, but a swizzle takes integers")
        if isinstance(self.outer, Layout) and not isinstance(self.offset, PointerFlag):
            self._check_offset()

    def _check_offset(self) -> None:
        try:
            self.outer(add(self.offset, self.inner(0)))
        except AlgebraError:
            parts = (self.outer, self.offset, self.inner)
            refuse("make_composed_layout", parts, f"the offset {show(self.offset)} does not fit {self.outer}")

    def __str__(self) -> str:
        if has_origin(self):
            return f"ArithTuple{show(self.offset)} o {self.inner}"
        return f"{self.outer} o {show(self.offset)} o {self.inner}"

    @overload
    def __call__(self, *coord: IntTuple) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *coord: Sliced) -> ComposedLayout: ...
    def __call__(self, *coord: Sliced) -> object:
        """The value at a coordinate; with `_` in it, the sub-layout with the offset of the rest."""
        crd = coord[0] if len(coord) == 1 else coord
        if isinstance(self.offset, PointerFlag):
            blanks = has_underscore(crd)
            if blanks and self.inner(slice_begin(crd)) == 0:
                return ComposedLayout(self.outer, self.offset, slice_(crd, domain(self)))  # the address is swizzled as before
            return position_independent(self)(crd)
        if has_underscore(crd):
            sub, offset = slice_and_offset(crd, domain(self))
            return ComposedLayout(self.outer, add(self.offset, offset), sub)
        return self.outer(add(self.offset, self.inner(crd)))

    @property
    def shape(self) -> IntTuple:
        """The shape of the domain: that of the innermost layout."""
        return domain(self).shape

    @property
    def size(self) -> int:
        """The number of coordinates.

        >>> ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1))).size
        512
        """
        return product(self.shape)

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return tuple_rank(self.shape)

    @property
    def __array_interface__(self) -> dict[str, object]:
        """The values as numpy reads them, with an axis for each top-level mode, as of a Layout."""
        if self.size > limit("elements"):
            raise over("elements", f"the layout has {self.size:,}")
        table: list[object] = [self(n) for n in range(self.size)]
        if not isinstance(table[0], int):
            raise AlgebraError(f"the values of {self} are not integers, and make no array")
        return array_interface(self.shape, table)


def is_layout(x: object) -> TypeGuard[AnyLayout]:
    """Whether something is a layout, plain or composed."""
    return isinstance(x, (Layout, ComposedLayout))


def swizzle_of(layout: object) -> Swizzle | None:
    """The swizzle that a layout goes through last; None of what has none."""
    return layout.outer if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) else None


def inner_of(x: object) -> object:
    """What is behind the last function of a composed layout, and its offset; anything else as it is."""
    return x.inner if isinstance(x, ComposedLayout) else x


def flag_of(layout: object) -> PointerFlag | None:
    """The pointer that stands in a flagged shared-memory layout; None of all others."""
    return layout.offset if isinstance(layout, ComposedLayout) and isinstance(layout.offset, PointerFlag) else None


def pointer_bits(layout: Layout | ComposedLayout | Swizzle) -> int | None:
    """The width of what a flagged shared-memory layout points to; None for all others, which do not carry it."""
    flag = flag_of(layout)
    return None if flag is None else flag.bits


def as_layout(x: object) -> Any:
    """A shape as the compact layout of it, and a layout alone in a tuple as the layout; anything else as it is."""
    if isinstance(x, tuple) and len(x) == 1 and isinstance(x[0], (Layout, ComposedLayout, Swizzle)):
        return x[0]
    if isinstance(x, MulticastMask):
        return x
    return Layout(x) if isinstance(x, (int, tuple, Unknown)) and x != () and is_int_tuple(x) else x  # type: ignore[arg-type]


def domain(layout: Layout | ComposedLayout | Swizzle) -> Layout:
    """The layout whose shape is the domain: a layout itself, or the innermost one of a composition."""
    while isinstance(layout, ComposedLayout):
        layout = layout.inner
    if isinstance(layout, Swizzle):
        raise AlgebraError(f"{layout} has no shape", hint=f"compose it with a layout: {layout} o (8,64):(64,1)")
    return layout


def position_independent(layout: AnyLayout) -> AnyLayout:
    """A flagged shared-memory layout as a swizzle on element offsets (as_position_independent_swizzle_layout).

    >>> flagged = ComposedLayout(Swizzle(3, 4, 3), PointerFlag(16), Layout((8, 64), (64, 1)))
    >>> str(position_independent(flagged))
    'Sw<3,3,3> o 0 o (8,64):(64,1)'
    """
    if (bits := pointer_bits(layout)) is None:
        return layout
    if (swizzle := swizzle_of(layout)) is None:
        raise AlgebraError(f"{layout}: only a swizzle can come before a pointer")
    inner = domain(layout)
    if swizzle.bits == 0:
        return inner
    if bits & (bits - 1):
        raise AlgebraError(f"cannot recast {swizzle} from 8-bit to {bits}-bit elements")
    scaled = swizzle.rescaled(bits.bit_length() - 4)  # it acts on bytes, of 2^3 bits
    zero = Static(0) if any(is_static(leaf) for leaf in leaves(inner.shape)) else 0
    return ComposedLayout(scaled, zero, inner) if scaled.bits else inner


def compose_with_offset(outer: object, offset: object, inner: object) -> AnyLayout:
    """outer o offset o inner; a swizzle of no bits without an offset is left out, as in CuTe."""
    if isinstance(outer, Swizzle) and outer.bits == 0 and isinstance(inner, Layout) and isinstance(offset, int) and offset == 0:
        return inner
    return make_composed_layout(outer, offset, inner)


def make_composed_layout(outer: Any, offset: Any, inner: object) -> ComposedLayout:
    """outer o offset o inner as written: the function c -> outer(offset + inner(c)) (cute/layout_composed.hpp).

    If the outer layout is composed itself, the parts are listed in one row, as they are written: the function is the same.
    Raises: as ComposedLayout.

    >>> str(make_composed_layout(Swizzle(0, 3, 3), 0, (8, 64)))
    'Sw<0,3,3> o 0 o (8,64):(1,8)'
    """
    if isinstance(outer, ComposedLayout):
        return ComposedLayout(outer.outer, outer.offset, make_composed_layout(outer.inner, offset, inner))
    return ComposedLayout(as_layout(outer), offset, as_layout(inner))


def has_origin(layout: object) -> bool:
    """Whether a composed layout only moves the coordinates of its inner layout: see with_origin."""
    if not isinstance(layout, ComposedLayout) or isinstance(layout.offset, PointerFlag) or not isinstance(layout.outer, Layout):
        return False
    nested = isinstance(layout.offset, tuple) == isinstance(layout.outer.shape, tuple)
    return nested and layout.outer == identity(map_leaves(lambda _: 1, layout.outer.shape))


def identity(shape: IntTuple) -> Layout:
    """The layout that sends every coordinate of a shape to itself."""
    return Layout(shape, unit_strides(shape))


def takes_coordinate(outer: object, inner: object) -> bool:
    """Whether a coordinate can be the offset between two layouts: the values of the inner one are coordinates, or all 0."""
    if gives_coordinates(inner):
        return True
    return isinstance(inner, Layout) and not any(leaves(inner.stride)) and (isinstance(outer, Swizzle) or gives_coordinates(outer))


def gives_coordinates(x: object) -> bool:
    """Whether the values of a layout are coordinates."""
    while isinstance(x, ComposedLayout):
        x = x.outer
    return isinstance(x, Layout) and is_coordinate_layout(x)


def lifted(operation: Callable[Concatenate[Layout, P], AnyLayout]) -> Callable[Concatenate[AnyLayout, P], AnyLayout]:
    """An operation on plain layouts as one on composed ones, too: it acts on what is innermost."""

    @wraps(operation)
    def either(layout: AnyLayout, /, *args: P.args, **named: P.kwargs) -> AnyLayout:
        return lift(layout, either, *args, **named) if isinstance(layout, ComposedLayout) else operation(layout, *args, **named)

    return either


def lift(layout: ComposedLayout, operation: Callable[..., Any], *args: object, **named: object) -> ComposedLayout:
    """An operation on the domain, carried to a composed layout: outer o offset o operation(inner)."""
    if isinstance(layout.inner, Swizzle):
        refuse(operation.__name__, (layout,), "its innermost part is a swizzle, which has no modes")
    return ComposedLayout(layout.outer, layout.offset, operation(layout.inner, *args, **named))
