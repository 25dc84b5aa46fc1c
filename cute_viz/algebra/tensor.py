"""A tensor: a layout behind a pointer, which says the memory, the element type, the address and the swizzle of that address.

Source: cute/tensor_impl.hpp, cute/pointer.hpp, cute/pointer_swizzle.hpp.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any, ClassVar

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, domain
from cute_viz.algebra.inttuple import (
    IntTuple,
    Sliced,
    Underscore,
    all_zero,
    has_index,
    has_underscore,
    leaves,
    map_leaves,
    modes,
    slice_begin,
    unflatten,
)
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.static import check_owning, each_integer, has_static, is_marked, is_tiling
from cute_viz.algebra.swizzle import MixedBits, OpenBits, Swizzle
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.integer import Runtime, Static, Unknown, is_static
from cute_viz.values.types import Pointer, ValueType


@dataclass(frozen=True, slots=True)
class Tensor(Shown):
    """A layout behind a pointer, whose offset says how far a view of its buffer lies behind the beginning of it.

    layout: an affine one; in the reader of C++ a composed one, too. swizzle: of the element offsets, where the layout itself is
    swizzled and not the pointer. sliced: of a part of such a one the
    operation that took it, and its operands: CuTe makes a plain layout of it where no two bits are swizzled together
    (slicing.settled). name: of a fragment the operand, `SFA`. part: of the part of any thread of a block,
    shares.Division, by which it was divided among them.
    """

    marked: ClassVar[tuple[str, ...]] = ("pointer", "layout", "part")
    pointer: Pointer
    layout: Any
    swizzle: Swizzle | None = None
    sliced: tuple[str, list[Any]] | None = field(default=None, compare=False)
    name: str = ""
    part: Any = None

    @property
    def tiling(self) -> str:
        """The family of its pictures: of tensor memory; of other memories the layout is what is drawn."""
        return "tmem" if self.pointer.space == "tmem" else ""

    @property
    def bits(self) -> int:
        """The width of an element in bits."""
        return self.pointer.bits

    @property
    def offset(self) -> Any:
        """How many elements behind the beginning of its buffer it begins."""
        return self.pointer.offset

    @property
    def address(self) -> int:
        """The byte address of its first element; an unknown pointer counts as 0."""
        return (self.pointer.address or 0) + int(self.offset) * self.bits // 8

    @property
    def shape(self) -> IntTuple:
        """The shape of its layout."""
        shape: IntTuple = self.layout.shape
        return shape

    @property
    def starts(self) -> tuple[int, ...]:
        """How far behind it the part of each thread of the block begins, in elements; empty where no thread is meant."""
        return self.part.starts if self.part is not None else ()

    @property
    def root(self) -> Any:
        """The layout of the whole tensor that threads have parts of; its own, of what is not divided."""
        layout = self.part.layout if self.part is not None else None
        return self.layout if layout is None else layout

    def places(self, offsets: list[int], start: int) -> list[int]:
        """Where elements lie, in elements: `offsets` by the layout, of the thread whose part begins at `start`."""
        begin = self.offset + start
        swizzle = self.swizzle or self.pointer.swizzle
        if swizzle is None:
            return [begin + o for o in offsets]
        if self.swizzle is None:  # of the byte address
            swizzle = swizzle.rescaled(self.bits.bit_length() - 4)
        begin = int(begin)  # an address that is not known cannot be swizzled
        return swizzle.each(begin + o for o in offsets)

    def is_like(self, other: Tensor) -> bool:
        """Whether another tensor has the same elements at the same places of its buffer, be that another one."""
        mine, its = (replace(x, name="", pointer=replace(x.pointer, base="", name="")) for x in (self, other))
        return mine == its

    def of_type(self, kind: object) -> Tensor:
        """It with a type of elements, where its own is not known."""
        return self if self.pointer.known is not None else replace(self, pointer=replace(self.pointer, type=kind))

    @property
    def whole(self) -> AnyLayout:
        """The tensor as a layout of element offsets: the swizzle and the offset of a view are in it."""
        swizzle = self.pointer.swizzle
        if self.swizzle is not None:
            return ComposedLayout(self.swizzle, self.offset, self.layout)
        if swizzle is not None and isinstance(self.layout, Layout):
            bits = self.bits
            if all_zero(self.offset):
                return ComposedLayout(swizzle, PointerFlag(bits, sparsity=self.pointer.type.sparsity), self.layout)
            scaled = swizzle.rescaled(bits.bit_length() - 4)
            return ComposedLayout(scaled, self.pointer.offset, self.layout)
        if not isinstance(self.layout, Layout) or not self.offset or is_coordinate_layout(self.layout):
            out: AnyLayout = self.layout
            return out
        return ComposedLayout(Layout(self.offset + self.layout.cosize, 1), self.offset, self.layout)

    @property
    def printed(self) -> AnyLayout:
        """What print(tensor) shows behind the pointer: the layout, and the swizzle of the pointer before it."""
        if self.pointer.swizzle is None or not isinstance(self.layout, Layout):
            return self.whole if self.swizzle is not None else self.layout
        flag = PointerFlag(self.bits, tensor=True, sparsity=self.pointer.type.sparsity)
        return ComposedLayout(self.pointer.swizzle, flag, self.layout)

    def __call__(self, *coord: Sliced) -> object:
        """The offset of an element; with `_` in the coordinate, the tensor of the modes that are left."""
        crd = coord[0] if len(coord) == 1 else coord
        if not has_underscore(crd):
            return self.whole(crd)
        rest = slice_begin(crd)
        whole = not has_index(crd)
        sliced = self.sliced if whole or self.swizzle is None else ("slice", [crd, self.whole])
        if sliced is not None and sliced is not self.sliced and not isinstance(self.offset, Unknown):
            part_of(*sliced)  # Raises: AlgebraError for what CuTe cannot slice
        return replace(self, pointer=self.pointer.moved(self.layout(rest)), layout=self.layout(crd), sliced=sliced)

    def __str__(self) -> str:
        """As CuTe prints its layout; what is the pointer's, such as a swizzle of its address, is not part of it."""
        return str(self.layout if self.swizzle is None else _settled(self))


def part_of(name: str, operands: list[object], known: bool = True) -> AnyLayout | None:
    """The layout of `placed_part`."""
    found = placed_part(name, operands, known)
    return None if found is None else found[0]


def placed_part(name: str, operands: list[Any], known: bool = True) -> tuple[AnyLayout, object] | None:
    """A part of a swizzled layout as CuTe makes it, and the offset that its pointer takes; None if it is not followed.

    known: of indices that no static integers are the number counts; without it they are what the compiler sees, unknown.
    Raises: AlgebraError where CuTe cannot take the coordinate through the swizzle.
    """
    from cute_viz.algebra import copy, mma, partition
    from cute_viz.algebra.slicing import slice_and_offset

    def index(x: object) -> object:
        return x if known or isinstance(x, (Underscore, Static)) else Unknown()

    def place(x: object, extent: object) -> object:
        """An index along a mode: of an extent of 1 it is known."""
        return Static(0) if is_static(extent, 1) else index(x)

    first, *more = operands if known else [_as_seen(x) for x in operands]
    if name == "slice":
        tiled, coord = more[0], first
    elif (len(more) == 2 and name in ("local_tile", "outer_partition")) or name == "local_partition":
        tiled, coord = partition.cut(name, first, *more)
    elif isinstance(first, copy.ThrCopy) and name in ("partition_S", "partition_D"):
        tiled, coord = copy.cut(first, name[-1], *more)
    elif isinstance(first, mma.ThrMMA) and name in ("partition_A", "partition_B", "partition_C"):
        placed = tuple(map(place, first.thr_vmnk, modes(first.tiled.thr_layout_vmnk.shape)))
        tiled, coord = mma.cut(replace(first, thr_vmnk=placed), name[-1], *more)
    else:
        return None
    return slice_and_offset(map_leaves(index, coord), tiled)


def _as_seen(x: object) -> Any:
    """A layout of which a run knows some bits of the offset, as the compiler sees it."""
    if isinstance(x, ComposedLayout) and isinstance(x.offset, MixedBits):
        return replace(x, offset=OpenBits(x.offset.known, x.offset.open))  # type: ignore[arg-type]
    return x


def _told(n: int) -> int:
    """An integer beside static ones: one that is not is a run-time one."""
    return n if is_static(n) else Runtime(n)


def _left(n: int) -> int:
    """An integer of a result with marks."""
    return int(n) if isinstance(n, Runtime) else Static(n)


def exact_part(name: str, operands: list[object], marked: bool) -> tuple[AnyLayout, object] | None:
    """As placed_part; with marks, strides that a run-time index decides are not static ones, as CuTe prints them. Raises:
    AlgebraError, also where the compiler cannot take an index through the swizzle that a run could."""
    mixed = not marked and any(isinstance(x, (Layout, ComposedLayout)) and has_static(domain(x)) for x in operands)
    inside = [x if is_tiling(x) else each_integer(_told, x) for x in operands] if mixed else operands
    placed, seen = placed_part(name, inside), part_of(name, inside, known=False)
    if placed is None or seen is None:
        return placed
    found, offset = each_integer(_left, placed) if mixed else placed
    inner, told = domain(found), domain(seen)
    alike = isinstance(found, Layout) == isinstance(seen, Layout)
    if not ((marked or mixed) and alike and isinstance(inner, Layout) and isinstance(told, Layout)):
        return found, offset
    strides, place = [], 1  # what the compiler sees keeps modes apart whose strides it does not know
    for extent, stride in zip(leaves(told.shape), leaves(told.stride), strict=True):
        told_only = isinstance(stride, Unknown) and place < Layout(told.shape).cosize
        strides.append(int(inner(place) - inner(0)) if told_only else _left(0 if isinstance(stride, Unknown) else stride))
        place *= extent
    plain = Layout(map_leaves(_left, told.shape), unflatten(strides, told.shape))
    match found, seen:
        case ComposedLayout(offset=int(start)), ComposedLayout(offset=other):
            begin = MixedBits.of(start, other) if isinstance(other, Unknown) else Static(start)
            return replace(found, offset=begin, inner=plain), offset
    return plain, offset


def _settled(x: Tensor) -> AnyLayout:
    """The layout of a part of a swizzled tensor as CuTe prints it."""
    if x.sliced is None or isinstance(x.offset, Unknown):
        return x.whole
    try:
        found = exact_part(*x.sliced, is_marked(x.layout))
    except AlgebraError:
        return x.whole
    return x.whole if found is None else found[0]


def make_tensor(pointer: Pointer, layout: object) -> Any:
    """A tensor of a pointer and a layout; the swizzle of a layout is the pointer's from then on."""
    match layout:
        case Layout():
            return Tensor(pointer, layout)
        case ComposedLayout(Swizzle() as swizzle, PointerFlag(bits), Layout() as inner):
            kind = pointer.type if pointer.type is not None else ValueType(str(bits))
            return Tensor(replace(pointer, swizzle=swizzle, type=kind), inner)
        case ComposedLayout(Swizzle() as swizzle, int(offset), Layout() as inner):
            return Tensor(pointer.moved(offset), inner, swizzle)
    return layout


def as_tensor(x: object) -> Tensor:
    """A tensor; for a layout that says the width of its elements, the one at address 0 of shared memory. Raises: AlgebraError
    for anything else."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, ComposedLayout) and isinstance(x.offset, PointerFlag):
        out = make_tensor(Pointer("smem", str(x.offset.bits)), x)
        if isinstance(out, Tensor):
            return out
    raise AlgebraError(
        f"{x} has no known element type", hint="make_tensor(make_smem_ptr<half_t>(0), layout), or a layout of GMMA's atoms"
    )


def viewed(tensor: Tensor, result: object) -> object:
    """What an operation made of a tensor's layout as a tensor again, its offset taken out of the layout."""
    match result:
        case Layout():
            return replace(tensor, layout=result)
        case (Layout() as layout, int(offset)) | ComposedLayout(_, int(offset), Layout() as layout):
            return replace(tensor, pointer=tensor.pointer.moved(offset), layout=layout)
    return result


def whole(x: object) -> Any:
    """A tensor as its layout; anything else as it is."""
    return x.whole if isinstance(x, Tensor) else x


def behind(x: object) -> Any:
    """The layout of a tensor, without what is the pointer's; anything else as it is."""
    return x.layout if isinstance(x, Tensor) else x


def tensors_in(values: Iterable[object] | None, *spaces: str) -> list[Tensor]:
    """The tensors among several values, where they are any: of all memories, or of some."""
    return [x for x in values or () if isinstance(x, Tensor) and (not spaces or x.pointer.space in spaces)]


def check_like(x: object) -> None:
    """Refuse a tensor of C++ that make_fragment_like and make_tensor_like cannot make registers of: see check_owning."""
    from cute_viz.algebra.static import in_dsl

    if isinstance(x, Tensor) and not in_dsl(x.layout, ()):
        check_owning(x.layout, beside=True)
