"""A tensor: a layout behind a pointer, which says the memory, the element type, the address and the swizzle of that address.

Source: cute/tensor_impl.hpp, cute/pointer.hpp, cute/pointer_swizzle.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, domain, has_origin
from cute_viz.algebra.elements import bits_of, named
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves
from cute_viz.algebra.layout import Layout, cosize, is_coordinate_layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.unknown import Unknown
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError

SPACES = {"smem": "shared memory", "gmem": "global memory", "tmem": "tensor memory", "rmem": "registers"}
# Operations that look at another part, or another order, of the same tensor.
VIEWS = frozenset(
    f"{operation}{of}"
    for operations, operands in (
        ("local_tile local_partition slice group take select append prepend coalesce flatten filter filter_zeros composition", " "),
        ("domain_offset logical_divide zipped_divide tiled_divide flat_divide", " "),
        ("partition_", "ABCSD"),
        ("retile_ tidfrg_", "SD"),
        ("thrfrg_", "ABC"),
    )
    for operation in operations.split()
    for of in (operands.strip() or [""])
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a tensor begins.

    space: a key of SPACES. type: the element type in C++, or its width in bits as a word. address: in bytes, of tensor memory
    lane << 16 | column; None where the text does not say it. swizzle: of the byte address, or None.

    >>> str(Pointer("smem", "half_t", 1024)), Pointer("smem", "half_t").bits
    ('smem_ptr[16b](0x400)', 16)
    """

    space: str
    type: str
    address: int | None = None
    swizzle: Swizzle | None = None

    @property
    def bits(self) -> int:
        """The width of an element in bits."""
        return bits_of(self.type)

    @property
    def element(self) -> str:
        """The element type by its short name, `f16`; a width alone as `16-bit`."""
        known = named(self.type)
        return known.name if known else f"{self.bits}-bit"

    def __str__(self) -> str:
        where = "unset" if self.address is None else f"0x{self.address:x}"
        return f"{self.space}_ptr[{self.bits}b]({where})"


@dataclass(frozen=True, slots=True)
class Tensor(Shown):
    """A layout behind a pointer; `offset`, in elements, is how far a view of it lies behind the pointer.

    swizzle: of the element offsets, where the layout itself is swizzled and not the pointer. sliced: of a part of such a one the
    operation that took it, and its operands: CuTe makes a plain layout of it where no two bits are swizzled together
    (slicing.settled).

    >>> t = Tensor(Pointer("smem", "half_t", 1024, Swizzle(3, 4, 3)), Layout((8, 64), (64, 1)))
    >>> str(t), str(t.whole)
    ('(8,64):(64,1)', 'Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)')
    """

    tiling: ClassVar[str] = "tmem"  # of other memories the layout is what is drawn
    marked: ClassVar[tuple[str, ...]] = ("layout",)
    pointer: Pointer
    layout: Layout
    offset: Any = 0
    swizzle: Swizzle | None = None
    sliced: tuple[str, list[Any]] | None = field(default=None, compare=False)

    @property
    def bits(self) -> int:
        """The width of an element in bits."""
        return self.pointer.bits

    @property
    def address(self) -> int:
        """The byte address of its first element; an unknown pointer counts as 0."""
        return (self.pointer.address or 0) + int(self.offset) * self.bits // 8

    @property
    def shape(self) -> Any:
        """The shape of its layout."""
        return self.layout.shape

    @property
    def whole(self) -> AnyLayout:
        """The tensor as a layout of element offsets: the swizzle and the offset of a view are in it."""
        swizzle, bits = self.pointer.swizzle, self.bits
        if self.swizzle is not None:
            return ComposedLayout(self.swizzle, self.offset, self.layout)
        if swizzle is not None:
            if not isinstance(self.offset, Unknown) and not self.offset:
                return ComposedLayout(swizzle, PointerFlag(bits), self.layout)
            scaled = swizzle.rescaled(bits.bit_length() - 4)
            return ComposedLayout(scaled, self.offset, self.layout)
        if not self.offset or is_coordinate_layout(self.layout):
            return self.layout
        return ComposedLayout(Layout(self.offset + cosize(self.layout), 1), self.offset, self.layout)

    def __call__(self, *coord: Any) -> Any:
        """The offset of an element; with `_` in the coordinate, the tensor of the modes that are left."""
        crd = coord[0] if len(coord) == 1 else coord
        if not any(isinstance(leaf, Underscore) for leaf in leaves(crd)):
            return self.whole(crd)
        rest = map_leaves(lambda c: 0 if isinstance(c, Underscore) else c, crd)
        whole = all(isinstance(leaf, Underscore) for leaf in leaves(crd))
        sliced = self.sliced if whole or self.swizzle is None else ("slice", [crd, self.whole])
        return replace(self, layout=self.layout(crd), offset=self.offset + self.layout(rest), sliced=sliced)

    def __str__(self) -> str:
        """As CuTe prints its layout; what is the pointer's, such as a swizzle of its address, is no part of it."""
        return str(self.layout if self.swizzle is None else self.whole)


def make_tensor(pointer: Pointer, layout: Any) -> Any:
    """A tensor of a pointer and a layout; the swizzle of a layout is the pointer's from then on.

    >>> flagged = ComposedLayout(Swizzle(3, 4, 3), PointerFlag(16), Layout((8, 64), (64, 1)))
    >>> str(make_tensor(Pointer("smem", "half_t", 0), flagged).pointer.swizzle)
    'Sw<3,4,3>'
    """
    if isinstance(layout, Layout):
        return Tensor(pointer, layout)
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.inner, Layout) or has_origin(layout):
        return layout
    if isinstance(layout.outer, Swizzle) and isinstance(layout.offset, PointerFlag):
        return Tensor(replace(pointer, swizzle=layout.outer), layout.inner)
    if isinstance(layout.outer, Swizzle) and isinstance(layout.offset, int):
        return Tensor(pointer, layout.inner, layout.offset, layout.outer)
    return layout


def as_tensor(x: Any) -> Tensor:
    """A tensor; for a layout that says the width of its elements, the one at address 0 of shared memory.

    Raises: AlgebraError for anything else.

    >>> flagged = ComposedLayout(Swizzle(3, 4, 3), PointerFlag(16), Layout((8, 64), (64, 1)))
    >>> str(as_tensor(flagged).pointer)
    'smem_ptr[16b](unset)'
    """
    if isinstance(x, Tensor):
        return x
    if isinstance(x, ComposedLayout) and isinstance(x.offset, PointerFlag):
        out = make_tensor(Pointer("smem", str(x.offset.bits)), x)
        if isinstance(out, Tensor):
            return out
    raise AlgebraError(
        f"{x} does not tell its element type", hint="make_tensor(make_smem_ptr<half_t>(0), layout), or a layout of GMMA's atoms"
    )


def viewed(tensor: Tensor, result: Any) -> Any:
    """What an operation made of a tensor's layout as a tensor again, its offset taken out of the layout.

    >>> t = Tensor(Pointer("gmem", "float", 256), Layout((8, 8)))
    >>> v = viewed(t, ComposedLayout(Layout(64, 1), 4, Layout((2, 2), (1, 8))))
    >>> v.offset, v.address
    (4, 272)
    """
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Layout) and isinstance(result[1], int):
        return replace(tensor, layout=result[0], offset=tensor.offset + result[1])
    if isinstance(result, Layout):
        return replace(tensor, layout=result)
    if isinstance(result, ComposedLayout) and isinstance(result.offset, int) and isinstance(result.inner, Layout):
        return replace(tensor, layout=domain(result), offset=tensor.offset + result.offset)
    return result


def through(operation: Any, args: list[Any], template: tuple[Any, ...]) -> Any:
    """An operation that some of whose operands are tensors: a view of the first, or what it is of their layouts.

    >>> from cute_viz.algebra.ops import find
    >>> t = Tensor(Pointer("gmem", "float", 0), Layout((8, 8)))
    >>> through(find("local_tile"), [t, (4, 4), (1, 1)], ()).offset
    36
    """
    first = next(x for x in args if isinstance(x, Tensor))
    if operation.name == "layout" and len(args) == 1 and not template and first.swizzle is None:
        return first.layout  # what is the pointer's is no part of it
    if operation.name in VIEWS and not is_coordinate_layout(first.layout):
        plain = [x.layout if x is first else whole(x) for x in args]
        out = viewed(first, operation.call(plain, template))
        part = operation.name.startswith(("local_", "partition_", "slice"))
        if part and first.swizzle is not None and isinstance(out, Tensor):
            out = replace(out, sliced=(operation.name, [whole(x) for x in args]))
        return out
    if operation.name.endswith("_like") and first.swizzle is None:  # where it begins does not matter
        return operation.call([x.layout if isinstance(x, Tensor) else x for x in args], template)
    return operation.call([whole(x) for x in args], template)


def whole(x: Any) -> Any:
    """A tensor as its layout; anything else as it is.

    >>> whole(4)
    4
    """
    return x.whole if isinstance(x, Tensor) else x
