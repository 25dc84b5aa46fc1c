"""ComposedLayout(outer, offset, inner): the function c -> outer(offset + inner(c)) (cute/layout_composed.hpp).

Layouts that no shape:stride pair can express, such as a swizzled tile of shared memory, are of this kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from cute_viz.algebra.inttuple import Static, Underscore, leaves, map_leaves, show
from cute_viz.algebra.layout import Layout, slice_
from cute_viz.algebra.layout import crd2idx as _crd2idx
from cute_viz.algebra.stride import add
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError

AnyLayout: TypeAlias = "Layout | ComposedLayout"


@dataclass(frozen=True, slots=True)
class PointerFlag:
    """CuTe's smem_ptr_flag: where a pointer of `bits`-wide elements will stand in a composed layout.

    A swizzle in front of it acts on the bits of the byte address (cute/pointer_flagged.hpp).
    """

    bits: int

    def __post_init__(self) -> None:
        if self.bits < 1:
            raise AlgebraError(f"a pointer's elements have 1 bit or more, not {self.bits}")

    def __str__(self) -> str:
        return f"smem_ptr[{self.bits}b](unset)"


@dataclass(frozen=True, slots=True)
class ComposedLayout(Shown):
    """outer o offset o inner.

    >>> S = ComposedLayout(Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))
    >>> str(S), S(2, 1)
    ('Sw<2,0,3> o 0 o (8,4):(4,1)', 8)
    """

    outer: Swizzle | Layout | ComposedLayout
    offset: Any
    inner: Layout | ComposedLayout | Swizzle

    def __str__(self) -> str:
        return f"{self.outer} o {show(self.offset)} o {self.inner}"

    def __call__(self, *coord: Any) -> Any:
        """The value at a coordinate; with `_` in it, the sub-layout with the offset of the rest."""
        crd = coord[0] if len(coord) == 1 else coord
        if isinstance(self.offset, PointerFlag):
            return position_independent(self)(crd)
        if any(isinstance(leaf, Underscore) for leaf in leaves(crd)):
            inner = domain(self)
            rest = map_leaves(lambda c: 0 if isinstance(c, Underscore) else c, crd)
            moved = add(self.offset, _crd2idx(rest, inner.shape, inner.stride))
            return ComposedLayout(self.outer, moved, slice_(crd, inner))
        return self.outer(add(self.offset, self.inner(crd)))

    @property
    def shape(self) -> Any:
        """The shape of the domain: that of the innermost layout."""
        return domain(self).shape


def pointer_bits(layout: Layout | ComposedLayout | Swizzle) -> int | None:
    """The width of what a flagged shared-memory layout points to; None of others, which do not tell it.

    >>> pointer_bits(ComposedLayout(Swizzle(1, 4, 3), PointerFlag(16), Layout(8))), pointer_bits(Layout(8))
    (16, None)
    """
    return layout.offset.bits if isinstance(layout, ComposedLayout) and isinstance(layout.offset, PointerFlag) else None


def domain(layout: Layout | ComposedLayout | Swizzle) -> Layout:
    """The layout whose shape is the domain: a layout itself, or the innermost one of a composition.

    >>> str(domain(ComposedLayout(Swizzle(1, 0, 2), 0, Layout(8))))
    '8:1'
    """
    while isinstance(layout, ComposedLayout):
        layout = layout.inner
    if isinstance(layout, Swizzle):
        raise AlgebraError(f"{layout} alone has no shape", hint=f"compose it with a layout: {layout} o (8,64):(64,1)")
    return layout


def position_independent(layout: AnyLayout) -> AnyLayout:
    """A flagged shared-memory layout as a swizzle on element offsets (as_position_independent_swizzle_layout).

    >>> flagged = ComposedLayout(Swizzle(3, 4, 3), PointerFlag(16), Layout((8, 64), (64, 1)))
    >>> str(position_independent(flagged))
    'Sw<3,3,3> o 0 o (8,64):(64,1)'
    """
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.offset, PointerFlag):
        return layout
    swizzle, bits = layout.outer, layout.offset.bits
    if not isinstance(swizzle, Swizzle):
        raise AlgebraError(f"{layout}: only a swizzle can stand before a pointer")
    inner = domain(layout)
    if swizzle.bits == 0:
        return inner
    if bits & (bits - 1):
        raise AlgebraError(f"cannot recast {swizzle} from 8-bit to {bits}-bit elements")
    scaled = swizzle.rescaled(bits.bit_length() - 4)  # it acts on bytes, of 2^3 bits
    zero = Static(0) if any(isinstance(leaf, Static) for leaf in leaves(inner.shape)) else 0
    return ComposedLayout(scaled, zero, inner) if scaled.bits else inner
