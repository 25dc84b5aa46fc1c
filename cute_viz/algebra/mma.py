"""MMA_Atom and TiledMMA: who holds which element of A, B and C (cute/atom/mma_atom.hpp)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from cute_viz.algebra.common import WARP, narrowed, needed, refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, as_layout, domain
from cute_viz.algebra.divide import logical_divide, zipped_divide
from cute_viz.algebra.inttuple import IntTuple, Sliced, X, is_int_tuple, map_leaves, modes, product, show
from cute_viz.algebra.inverse import complement, left_inverse, right_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import cosize, get_flat_coord, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.partition import indexed
from cute_viz.algebra.products import tiled_product
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.instruction import UNKNOWN, Instruction
from cute_viz.values.integer import Static, is_static

OPERANDS = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # the modes of Shape_MNK that an operand spans


@dataclass(frozen=True, slots=True)
class MMA_Atom(Shown):
    """One matrix instruction: its threads, its M x N x K, and where each thread holds its values.

    thr_id: logical thread -> thread of the warp, quad pair or warp group.
    shape_mnk: (M, N, K).
    layout_a, layout_b, layout_c: (thread, value) -> index into the column-major (M,K), (N,K) or (M,N) tile.
    name, types: CuTe's name of the operation and its element types (A, B, C, D), where they are known; atoms that differ in
        these alone are equal.
    warp: how many threads run together, and what they are called. blocks: how many products of M x N x K the instruction makes;
        their tiles stand side by side, along the second mode. stored: of A each stored-th column is kept, M x K/stored.
    layout_e: (thread, value) of the metadata of a sparse A -> index into the (M,K) tile; None of a dense one.
    instruction: what the library knows of the operation.
    """

    tiling: ClassVar[str] = "mma"
    marked: ClassVar[tuple[str, ...]] = ("thr_id", "shape_mnk", "layout_a", "layout_b", "layout_c")
    thr_id: Layout
    shape_mnk: tuple[int, int, int]
    layout_a: Layout
    layout_b: Layout
    layout_c: Layout
    name: str = field(default="", compare=False)
    types: tuple[str, ...] = field(default=(), compare=False)
    warp: tuple[int, str] = field(default=WARP, compare=False)
    blocks: int = 1
    stored: int = 1
    layout_e: Layout | None = field(default=None, compare=False)
    instruction: Instruction = field(default=UNKNOWN, compare=False, repr=False)

    def __str__(self) -> str:
        return (
            f"MMA_Atom\n  ThrID:      {self.thr_id}\n  Shape_MNK:  {show(self.shape_mnk)}\n  LayoutA_TV: {self.layout_a}\n"
            f"  LayoutB_TV: {self.layout_b}\n  LayoutC_TV: {self.layout_c}\n"
        )

    def layout(self, operand: str) -> Layout:
        """The thread-value layout of operand "A", "B" or "C"."""
        return {"A": self.layout_a, "B": self.layout_b, "C": self.layout_c}[operand]

    def held(self, operand: str) -> tuple[int, int]:
        """The rows and columns that the layout of an operand counts: those of Shape_MNK, of every block, as A is stored."""
        i, j = OPERANDS[operand]
        rows, cols = product(self.shape_mnk[i]), product(self.shape_mnk[j])
        return (rows, cols * self.blocks // (self.stored if operand == "A" else 1))


@dataclass(frozen=True, slots=True)
class TiledMMA(Shown):
    """MMA atoms over a tile: `thr_layout_vmnk` places them, `permutation_mnk` reorders the tile's modes before.

    thr_layout_vmnk: (thread of the atom, atom along M, along N, along K) -> thread index.
    permutation_mnk: for each of M, N, K an extent, a layout, or `_` for the extent that the atoms cover.
    """

    tiling: ClassVar[str] = "mma"
    marked: ClassVar[tuple[str, ...]] = ("atom", "thr_layout_vmnk", "permutation_mnk")
    atom: MMA_Atom
    thr_layout_vmnk: Layout
    permutation_mnk: tuple[Any, Any, Any]

    def __str__(self) -> str:
        return f"TiledMMA\n  ThrLayoutVMNK:  {self.thr_layout_vmnk}\n  PermutationMNK: {show(self.permutation_mnk)}\n{self.atom}"

    @property
    def thr_layout(self) -> Layout:
        """The layout whose size is the number of threads."""
        return self.thr_layout_vmnk

    def of_thread(self, thread: int) -> ThrMMA:
        """One thread's view of it."""
        return ThrMMA(self, modes(get_flat_coord(self.thr_layout_vmnk, thread)))

    def part(self, thread: int, operand: str, layout: AnyLayout) -> tuple[AnyLayout, Sliced]:
        """A tensor divided among the threads, and the coordinate of what a thread has of operand "A", "B" or "C"."""
        return cut(self.of_thread(thread), operand, layout)

    def place(self, thread: int, operand: str) -> IntTuple:
        """The coordinate of a thread among all, in a tensor that is divided among them."""
        (v, *mnk), (i, j) = self.of_thread(thread).thr_vmnk, OPERANDS[operand]
        return v, (mnk[i], mnk[j])


@dataclass(frozen=True, slots=True)
class ThrMMA(Shown):
    """A TiledMMA seen by one thread: `thr_vmnk` is its coordinate in thr_layout_vmnk."""

    tiling: ClassVar[str] = "mma"
    marked: ClassVar[tuple[str, ...]] = ("tiled",)
    tiled: TiledMMA
    thr_vmnk: tuple[Any, ...]

    def __str__(self) -> str:
        extents = modes(self.tiled.thr_layout_vmnk.shape)  # of a static 1 the coordinate is static, too (idx2crd)
        zero = [is_static(extent, 1) for extent in extents]
        thr = tuple(Static(0) if alone else x for x, alone in zip(self.thr_vmnk, zero, strict=True))
        return f"ThrMMA\n  Thr VMNK: {show(thr)}\n{self.tiled}"


def make_tiled_mma(atom: object, atom_layout_mnk: object = None, permutation_mnk: object = None) -> TiledMMA:
    """Atoms arranged by a layout of M x N x K atoms, on a tile with permuted modes.

    Raises: AlgebraError for an atom layout or permutations of more than 3 modes.

    >>> fma = MMA_Atom(Layout(1, 0), (1, 1, 1), *[Layout((1, 1), (0, 0))] * 3)
    >>> tile_shape(make_tiled_mma(fma, Layout((16, 16, 1))))
    (16, 16, 1)
    """
    atom = needed(MMA_Atom, atom, "make_tiled_mma needs an MMA atom", "example: SM80_16x8x16_F32F16F16F32_TN{}")
    thr = as_layout(Layout((1, 1, 1), (0, 0, 0)) if atom_layout_mnk is None else atom_layout_mnk)
    words, hint = "TiledMMA requires rank-3 AtomLayoutMNK", "example: (2,2,1): atoms along M, N, K"
    if narrowed(Layout, thr, "make_tiled_mma", (thr,), words, hint).rank > 3:
        refuse("make_tiled_mma", (thr,), words, hint=hint)
    shape, stride = modes(thr.shape), modes(thr.stride)
    thr = Layout((*shape, *[1] * (3 - len(shape))), (*stride, *[0] * (3 - len(stride))))
    given = X if permutation_mnk is None else permutation_mnk
    tile = modes(given)
    if len(tile) > 3 or not all(item is X or isinstance(item, (int, Layout)) or is_int_tuple(item) for item in tile):
        refuse("make_tiled_mma", (given,), "TiledMMA requires rank-3 PermutationMNK", hint="example: (32,32,16), or (_,_,_)")
    if atom.blocks > 1 and (size(thr) > 1 or any(item is not X for item in tile)):
        refuse("make_tiled_mma", (thr, given), f"{atom.name} makes {atom.blocks} products, and a TiledMMA has no mode for them")
    if atom.stored > 1 and any(item is not X for item in tile[2:]):
        refuse("make_tiled_mma", (given,), f"A of {atom.name} is stored without its zeros, so K cannot be permuted")
    permutations = tuple(Layout(item) if isinstance(item, tuple) else item for item in (*tile, *[X] * (3 - len(tile))))
    return TiledMMA(atom, tiled_product(atom.thr_id, thr), permutations)  # type: ignore[arg-type]


def as_tiled_mma(x: object) -> TiledMMA:
    """A TiledMMA: for a thread's view the whole one, for an atom its 1 x 1 x 1 tiling. Raises: AlgebraError for anything else."""
    match x:
        case TiledMMA():
            return x
        case ThrMMA(tiled):
            return tiled
        case MMA_Atom():
            return make_tiled_mma(x)
    raise AlgebraError(f"{show(x)} is not a TiledMMA", hint="make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")


def tiled_mma(atom: object, *more: object) -> TiledMMA:
    """The type TiledMMA<atom, atoms, permutations>, which asks for more than `make_tiled_mma`. Raises: AlgebraError for a layout
    as its third argument, which once said how often the values repeat."""
    if len(more) > 1 and isinstance(more[1], Layout):
        hint = "Tile<_32,_32,_16>: the extents of the tile, or a permutation for each of M, N and K"
        refuse("TiledMMA", (more[1],), "TiledMMA requires independent permutations of MNK.", hint=hint)
    return make_tiled_mma(atom, *more)


def atom_layout(mma: TiledMMA) -> Layout:
    """The layout of atoms along M, N and K of which a TiledMMA was made."""
    thr, vmnk = mma.atom.thr_id, mma.thr_layout_vmnk
    order = make_layout(thr, complement(thr, max(2 * cosize(vmnk), 2 * cosize(thr)))) if size(thr) > 1 else Layout(cosize(vmnk), 1)
    back = left_inverse(order)
    parts = []
    for n in (1, 2, 3):
        extent = get(vmnk, n)
        steps = composition(back, extent)
        stride = map_leaves(lambda d: d // size(thr), steps.stride) if size(extent) > 1 else 0
        parts.append(Layout(extent.shape, stride))
    return make_layout(*parts)


def permutation(mma: TiledMMA, mode: int) -> Any:
    """The permutation of mode 0, 1 or 2 (M, N, K): as given, or the extent that the atoms cover."""
    given = mma.permutation_mnk[mode]
    if given is not X:
        return given
    return product(mma.atom.shape_mnk[mode]) * size(get(mma.thr_layout_vmnk, mode + 1))


def tile_shape(mma: TiledMMA) -> tuple[int, int, int]:
    """M, N and K of the tile: what all atoms cover once, or the extents of the permutations where these are given."""
    m, n, k = (int(size(permutation(mma, i))) for i in range(3))
    return m, n, k


def operand_tile(mma: TiledMMA, operand: str) -> tuple[int, int]:
    """The rows and columns of the tile of operand "A", "B" or "C", of A as it is stored, of all blocks side by side."""
    i, j = OPERANDS[operand]
    tile, (_, cols) = tile_shape(mma), mma.atom.held(operand)
    return tile[i], tile[j] * cols // product(mma.atom.shape_mnk[j])


def thrfrg(mma: object, operand: str, layout: AnyLayout) -> AnyLayout:
    """A tensor of operand "A", "B" or "C" as ((ThrV,(ThrM,ThrK)),(FrgV,(RestM,RestK,...))).

    Raises: AlgebraError for a tensor of fewer than two modes; one that the tile does not divide.

    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> show(thrfrg(mma, "C", Layout((64, 32))).shape)
    '(((_4,_8),(2,2)),((_2,2),(2,2)))'
    """
    mma, (i, j) = as_tiled_mma(mma), OPERANDS[operand]
    if len(modes(domain(layout).shape)) < 2:
        refuse(f"thrfrg_{operand}", (layout,), "the tensor needs two modes or more")
    rows, cols = mma.atom.held(operand)
    across = permutation(mma, j) if cols == product(mma.atom.shape_mnk[j]) else operand_tile(mma, operand)[1]
    permuted = logical_divide(layout, (permutation(mma, i), across))
    atoms = zipped_divide(permuted, (Layout(rows), Layout(cols)))
    values = composition(atoms, (mma.atom.layout(operand), X))
    thr = mma.thr_layout_vmnk
    return zipped_divide(values, (X, (Layout(size(get(thr, i + 1))), Layout(size(get(thr, j + 1))))))


def layout_tv(mma: object, operand: str, reference: Layout | None = None) -> Layout:
    """(thread index, value) -> index into the column-major tile of operand "A", "B" or "C" (get_layoutA_TV ...).

    With a reference layout of the tile, (thread index, value) -> its value, such as a coordinate of an identity layout.

    >>> str(layout_tv(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,1,1))"), "C"))
    '((4,8,2),((_2,2),(1,1))):((64,1,16),((32,8),(0,0)))'
    """
    mma = as_tiled_mma(mma)
    out = thrfrg(mma, operand, Layout(operand_tile(mma, operand)) if reference is None else reference)
    thr = mma.thr_layout_vmnk
    if (some := size(mma.atom.layout(operand), 0)) < size(mma.atom.thr_id):  # the others hold nothing
        if size(thr) > size(mma.atom.thr_id):
            refuse("layout_tv", (mma.atom.layout(operand),), f"{some} threads of each {size(mma.atom.thr_id)} hold {operand}")
        thr = Layout((some, 1, 1, 1), (1, 0, 0, 0))
    if operand != "C":  # (ThrV,(ThrM,ThrK)) -> (ThrV,(ThrM,ThrN,ThrK)): the threads along the mode that the operand lacks
        spread = Layout((size(get(thr, 1)), size(get(thr, 2))), (1, 0) if operand == "A" else (0, 1))
        out = composition(out, ((X, (spread, X)), X))
    identity = Layout((size(thr), 1), (1, 0))
    threads = composition(identity, right_inverse(make_layout(thr, complement(thr))))
    tv: Layout = composition(out, (threads, X))
    return tv


def partition(thr: object, operand: str, layout: AnyLayout) -> AnyLayout:
    """What the thread holds of a tensor of operand "A", "B" or "C": (MMA,MMA_M,MMA_K), and its offset.

    Raises: AlgebraError for anything but a thread's view.

    >>> fma = MMA_Atom(Layout(1, 0), (1, 1, 1), *[Layout((1, 1), (0, 0))] * 3)
    >>> from cute_viz.algebra.views import get_slice
    >>> thr = get_slice(make_tiled_mma(fma, (16, 16, 1)), 33)
    >>> str(partition(thr, "C", Layout((32, 64)))), str(partition(thr, "A", Layout((32, 8))))
    ('2048:1 o 65 o (1,2,4):(0,16,512)', '256:1 o 1 o (1,2,8):(0,16,32)')
    """
    if not isinstance(thr, ThrMMA):
        raise AlgebraError(f"partition_{operand} needs one thread", hint=f"partition_{operand}(get_slice(tiled_mma, 0), A)")
    return indexed(f"partition_{operand}", layout, *cut(thr, operand, layout))


def cut(thr: ThrMMA, operand: str, layout: AnyLayout) -> tuple[AnyLayout, Sliced]:
    """The tensor of which partition_A, partition_B or partition_C is a part, as thrfrg has it, and the coordinate of that with
    `_`."""
    i, j = OPERANDS[operand]
    divided = thrfrg(thr.tiled, operand, layout)
    rest = len(modes(get(get(domain(divided), 1), 1).shape))
    return divided, ((thr.thr_vmnk[0], (thr.thr_vmnk[i + 1], thr.thr_vmnk[j + 1])), (X, (X,) * rest))


def partition_shape(mma: object, operand: str, shape: IntTuple) -> IntTuple:
    """The shape of what one thread holds of a tensor of the given shape.

    >>> show(partition_shape(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"), "C", (64, 32)))
    '((_2,2),2,2)'
    """
    divided = domain(thrfrg(mma, operand, Layout(shape)))
    values, rest = modes(get(divided, 1).shape)
    return (values, *modes(rest))
