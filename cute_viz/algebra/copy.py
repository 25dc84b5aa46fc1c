"""Copy_Atom and TiledCopy: who reads and who writes which element (cute/atom/copy_atom.hpp); `views` makes the tiled ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

from cute_viz.algebra.common import WARP, refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, domain
from cute_viz.algebra.divide import logical_divide, zipped_divide
from cute_viz.algebra.inttuple import Sliced, X, map_leaves, modes, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import coalesce, get, zip_
from cute_viz.algebra.partition import blanks, indexed
from cute_viz.algebra.products import logical_product
from cute_viz.algebra.recast import recast_layout, upcast
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.slicing import slice_
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.instruction import UNKNOWN, Instruction


@dataclass(frozen=True, slots=True)
class CopyOp(Shown):
    """One copy instruction, its layouts in bits: (thread, bit) -> bit of the reference order (Copy_Traits).

    val_id: of tensor memory, bit -> address in bits, where the traits have it (ValID). warp: as of an MMA_Atom.
    of_bits: the same for values of other widths, where the instruction lays them out otherwise, and not by recasting.
    instruction: what the library knows of it.
    """

    tiling: ClassVar[str] = "copy"  # of tensor memory "lanes" (figures.build)
    name: str
    thr_id: Layout
    src: Layout
    dst: Layout
    ref: Layout
    val_id: Layout | None = field(default=None, compare=False)
    warp: tuple[int, str] = field(default=WARP, compare=False)
    of_bits: Callable[[int], CopyOp] | None = field(default=None, compare=False, repr=False)
    instruction: Instruction = field(default=UNKNOWN, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Copy_Atom(Shown):
    """One copy instruction for values of one type: (thread, value) -> value of the reference order.

    bits: the width of a value.
    name, value_type: CuTe's names, where they are known; atoms that differ in these alone are equal. warp: as of an MMA_Atom.
    in_tmem: ValID of the instruction, bit -> address in bits, where it accesses tensor memory. instruction: as of a CopyOp.
    """

    tiling: ClassVar[str] = "copy"
    marked: ClassVar[tuple[str, ...]] = ("thr_id", "layout_src", "layout_dst", "layout_ref")
    thr_id: Layout
    layout_src: Layout
    layout_dst: Layout
    layout_ref: Layout
    bits: int
    name: str = field(default="", compare=False)
    value_type: str = field(default="", compare=False)
    warp: tuple[int, str] = field(default=WARP, compare=False)
    in_tmem: Layout | None = field(default=None, compare=False)
    instruction: Instruction = field(default=UNKNOWN, compare=False, repr=False)

    def __str__(self) -> str:
        return (
            f"Copy_Atom\n  ThrID:        {self.thr_id}\n  ValLayoutSrc: {self.layout_src}\n  ValLayoutDst: {self.layout_dst}\n"
            f"  ValLayoutRef: {self.layout_ref}\n  ValueType:    {self.bits}b\n"
        )


@dataclass(frozen=True, slots=True)
class TiledCopy(Shown):
    """Copy atoms over a tile.

    layout_tv: (thread, value) -> index into the column-major tile, in the atom's reference order.
    tiler_mn: the tile, an extent or a layout for each mode.
    """

    tiling: ClassVar[str] = "copy"
    marked: ClassVar[tuple[str, ...]] = ("atom", "layout_tv", "tiler_mn")
    atom: Copy_Atom
    layout_tv: Layout
    tiler_mn: Any

    def __str__(self) -> str:
        return f"TiledCopy\n  Tiler_MN:       {show(self.tiler_mn)}\n  TiledLayout_TV: {self.layout_tv}\n{self.atom}"

    @property
    def thr_layout(self) -> Layout:
        """The layout whose size is the number of threads: mode 0 of layout_tv."""
        return self.layout_tv[0]

    def of_thread(self, thread: int) -> ThrCopy:
        """One thread's view of it."""
        return ThrCopy(self, thread)

    def part(self, thread: int, side: str, layout: AnyLayout) -> tuple[AnyLayout, Sliced]:
        """A tensor divided among the threads, and the coordinate of what a thread has of the source "S" or the destination "D"."""
        return cut(self.of_thread(thread), side, layout)

    def place(self, thread: int, _: str) -> int:
        """The coordinate of a thread among all, in a tensor that is divided among them."""
        return thread


@dataclass(frozen=True, slots=True)
class ThrCopy(Shown):
    """A TiledCopy seen by one thread."""

    tiling: ClassVar[str] = "copy"
    marked: ClassVar[tuple[str, ...]] = ("tiled",)
    tiled: TiledCopy
    thr_idx: int

    def __str__(self) -> str:
        return f"ThrCopy\n  ThrIdx: {self.thr_idx}\n{self.tiled}"


def as_tiled_copy(x: object) -> TiledCopy:
    """A TiledCopy: for a thread's view the whole one. Raises: AlgebraError for anything else."""
    if isinstance(x, ThrCopy):
        return x.tiled
    if not isinstance(x, TiledCopy):
        raise AlgebraError(f"{show(x)} is not a TiledCopy", hint="make_tiled_copy(atom, (4,8), (1,4))")
    return x


def make_copy_atom(op: CopyOp, bits: int, value_type: str = "") -> Copy_Atom:
    """The atom of an instruction for values of a number of bits. Raises: AlgebraError for a width that the instruction's bits do
    not make up."""
    if op.instruction.kind == "auto.async":
        raise AlgebraError("AutoCopyAsync has no Copy_Traits, so it has no atom", hint="copy(AutoCopyAsync{}, src, dst)")
    op = op.of_bits(bits) if op.of_bits is not None else op
    layouts = []
    for which, layout in (("Src", op.src), ("Dst", op.dst), ("Ref", op.ref)):
        recast: Layout = recast_layout(layout, 1, bits)
        if size(get(recast, 0)) != size(op.thr_id):
            raise AlgebraError(f"CopyOperation is not valid for {which} of ValType: {op.name} of {bits}-bit values")
        layouts.append(recast)
    return Copy_Atom(op.thr_id, layouts[0], layouts[1], layouts[2], bits, op.name, value_type, op.warp, op.val_id, op.instruction)


def tile_of(copy: TiledCopy) -> tuple[int, ...]:
    """The extents of the copy's tile."""
    return tuple(map(size, modes(copy.tiler_mn)))


def spanned_tile(copy: TiledCopy) -> tuple[int, ...]:
    """The extents of the smallest tensor that the copy's tile fits into: of a tiler of layouts, more than its size."""
    tiled = logical_divide(Layout((1,) * max(2, len(modes(copy.tiler_mn)))), copy.tiler_mn)
    return modes(product_each(domain(tiled).shape))


def layout_in_tile(copy: TiledCopy, side: str, reference: Layout) -> Layout:
    """(thread, value) -> the reference layout of a tensor that holds one tile (tidfrg at tile 0)."""
    rest = len(modes(reference.shape))
    return slice_((X, X, (0,) * rest), tidfrg(copy, side, reference))  # type: ignore[no-any-return]


def _reference(copy: TiledCopy, side: str) -> AnyLayout:
    out: AnyLayout = composition(right_inverse(copy.atom.layout_ref), copy.atom.layout_src if side == "S" else copy.atom.layout_dst)
    return out


def _to_fragments(copy: TiledCopy, tensor: AnyLayout, side: str) -> AnyLayout:
    atom = (size(get(copy.atom.layout_ref, 0)), size(get(copy.atom.layout_ref, 1)))
    target = composition(zipped_divide(copy.layout_tv, atom), (_reference(copy, side), X))
    to_tile = coalesce(zip_(target), (1, (1, 1)))
    out: AnyLayout = composition(tensor, (to_tile, X))
    return out


def tidfrg(copy: object, operand: str, layout: AnyLayout) -> AnyLayout:
    """A tensor as (Thr,(FrgV,FrgX),(RestM,RestN,...)), for the source "S" or the destination "D".

    Raises: AlgebraError for a tensor of fewer modes than the tile; one that the tile does not divide.

    >>> op = CopyOp("UniversalCopy<uint32_t>", Layout(1, 0), *[Layout((1, 32), (0, 1))] * 3)
    >>> from cute_viz.algebra.views import make_tiled_copy
    >>> copy = make_tiled_copy(make_copy_atom(op, 16), Layout((4, 8), (8, 1)), (1, 2))
    >>> tidfrg(copy, "S", Layout((8, 64), (64, 1))).shape
    ((8, 4), (2, 1), (2, 4))
    """
    copy = as_tiled_copy(copy)
    if len(modes(domain(layout).shape)) < len(modes(copy.tiler_mn)):
        refuse(f"tidfrg_{operand}", (layout,), "Rank of tensor to be partitioned too small.")
    return slice_(((X, X), X), _to_fragments(copy, zipped_divide(layout, copy.tiler_mn), operand))  # type: ignore[no-any-return]


def layout_sd(copy: object, operand: str, reference: Layout | None = None) -> Layout:
    """(thread, value) -> index into the column-major tile, of the source "S" or the destination "D" (get_layoutS_TV).

    With a reference layout of the tile, (thread, value) -> its value.

    >>> copy = parse("make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, (16,2), (1,8))")
    >>> str(layout_sd(copy, "S")), str(layout_sd(copy, "D"))
    ('((4,2,4),((2,4),1)):((4,128,32),((16,1),0))', '((16,2),(8,1)):((1,128),(16,0))')
    """
    copy = as_tiled_copy(copy)
    reference = make_layout(Layout(tiler_shape(copy.tiler_mn)) if reference is None else reference, Layout(1, 0))
    return slice_(((X, X), 0), _to_fragments(copy, reference, operand))  # type: ignore[no-any-return]


def partition(thr: object, operand: str, layout: AnyLayout) -> AnyLayout:
    """What the thread copies of a source "S" or destination "D": (CPY,CPY_M,CPY_N,...), and its offset.

    Raises: AlgebraError for anything but a thread's view.

    >>> op = CopyOp("UniversalCopy<uint32_t>", Layout(1, 0), *[Layout((1, 32), (0, 1))] * 3)
    >>> from cute_viz.algebra.views import make_tiled_copy
    >>> copy = make_tiled_copy(make_copy_atom(op, 16), Layout((4, 8), (8, 1)), (1, 2))
    >>> str(partition(ThrCopy(copy, 9), "S", Layout((8, 64), (64, 1))))
    '512:1 o 66 o ((2,1),2,4):((1,0),256,16)'
    """
    name = f"partition_{operand}"
    if not isinstance(thr, ThrCopy):
        raise AlgebraError(f"{name} needs one thread", hint=f"{name}(get_slice(tiled_copy, 0), A)")
    return indexed(name, layout, *cut(thr, operand, layout))


def cut(thr: ThrCopy, operand: str, layout: AnyLayout) -> tuple[AnyLayout, Sliced]:
    """The tensor of which partition_S or partition_D is a part, as tidfrg has it, and the coordinate of that with `_`."""
    divided = tidfrg(thr.tiled, operand, layout)
    return divided, (thr.thr_idx, X, blanks(len(modes(get(domain(divided), 2).shape))))


def retile(copy: object, layout: AnyLayout) -> AnyLayout:
    """A fragment of an MMA, re-read as the copy's values: (CPY,CPY_M,CPY_N,...) (retile_S, retile_D).

    Raises: AlgebraError for a fragment whose values the copy's tile does not divide.

    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> from cute_viz.algebra.views import make_tiled_copy_operand
    >>> copy = make_tiled_copy_operand(parse("Copy_Atom<SM75_U32x2_LDSM_N, half_t>{}"), mma, "A")
    >>> fragment = parse("partition_fragment_A(tiled_mma, (64,32))", {"tiled_mma": mma})
    >>> str(fragment), str(retile(copy, fragment))
    ('((_2,2,_2),2,2):((1,2,4),8,16)', '((4,2),2,2):((1,4),8,16)')
    """
    copy, plain = as_tiled_copy(copy), domain(layout)
    rank = len(modes(plain.shape))
    values = size(get(plain, 0))
    by_place = composition(right_inverse(copy.layout_tv), Layout(tiler_shape(copy.tiler_mn)))
    frg_mn = upcast(by_place, size(get(copy.layout_tv, 0)) * values)  # (m,n) -> index of a fragment of `values`
    frg_v = zipped_divide(logical_product(Layout(values), right_inverse(frg_mn)), Layout(size(get(copy.atom.layout_ref, 1))))
    tiled = zipped_divide(layout, (values, *modes(product_each(domain(frg_mn).shape))))
    return slice_((X, (0, *[X] * (rank - 1))), composition(tiled, (frg_v, X)))  # type: ignore[no-any-return]


def tiler_shape(tiler: object) -> Any:
    """The shape of a tiler: of a layout in it, that layout's."""
    return map_leaves(lambda mode: mode.shape if isinstance(mode, Layout) else mode, tiler)
