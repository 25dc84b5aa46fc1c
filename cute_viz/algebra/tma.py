"""TMA: the tensor map of a tensor in global memory and a tile in shared memory (make_tma_copy, make_tma_atom).

Sources: cute/atom/copy_traits_sm90_tma.hpp, copy_traits_sm90_tma_swizzle.hpp, copy_traits_sm100_tma.hpp; the CUDA driver API,
cuTensorMapEncodeTiled. What CuTe asserts at run time, and a release build does not, is refused here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from cute_viz.algebra.common import needed
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, is_layout
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy, make_copy_atom
from cute_viz.algebra.inttuple import IntTuple, all_static, leaves, map_leaves, modes, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import cosize, get_nonswizzle_portion, get_swizzle_portion, size
from cute_viz.algebra.modes import coalesce
from cute_viz.algebra.operands import entered, is_mixed, left
from cute_viz.algebra.products import tile_to_shape
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.static import counting, each_integer, has_static, in_dsl, mark_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tensor_map import (
    BOX,
    DATA_TYPES,
    SWIZZLE_NAMES,
    SWIZZLES,
    Im2col,
    TensorMap,
    basis_get,
    make_tensor_map,
    recast_elements,
)
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.integer import Runtime, is_static
from cute_viz.values.types import named

GATHERS = {"gather4", "scatter4"}
ROWS = 4  # of a matrix that one gather4 or scatter4 moves, each with an index of its own


@dataclass(frozen=True, slots=True)
class TmaCopy(Shown):
    """A TMA operation on a tensor: its tensor map, the modes that its box has, and the strides of its coordinate tensor.

    gbasis: box of TMA modes -> modes of the tensor. g_stride: mode of the tensor -> TMA coordinate. cta_v_map: element of the tile
    -> coordinate of the tensor. smem: the tile in shared memory. ctas: how many share one box by multicast.
    tiled: the TiledCopy of make_tma_copy; None of make_tma_atom. im2col: of a convolution, its pixels and filter.
    """

    tiling: ClassVar[str] = "tma"
    op: CopyOp
    tensor: Tensor
    smem: AnyLayout
    map: TensorMap
    gbasis: Layout
    g_stride: Any
    cta_v_map: Layout
    ctas: int
    atom: Copy_Atom
    tiled: TiledCopy | None = None
    im2col: Im2col | None = None

    @property
    def gathers(self) -> bool:
        """Whether an instruction takes the indices of 4 rows, a box of one row each."""
        return bool(GATHERS & self.op.instruction.words)

    @property
    def bits(self) -> int:
        """Bits that one instruction moves, of all CTAs that share it."""
        return size(self.gbasis) * self.map.bits * (ROWS if self.gathers else 1)

    def __str__(self) -> str:
        box, swizzle = show(self.map.box_dim[: self.map.rank]), SWIZZLE_NAMES[self.map.swizzle]
        return f"{self.op.name} of boxes {box} of {self.map.type}, swizzle {swizzle}"


def atom_of(
    name: str, op: object, g: Tensor, smem: AnyLayout, ctas: int, values: Layout, internal: object, tiled: bool = False
) -> TmaCopy:
    """make_tma_copy_atom: the tensor map, and what its modes are of the tensor; of `values`, element of the tile -> coordinate.

    tiled: the CTAs shall divide what an instruction moves, as a TiledCopy of them has to.
    """
    if not isinstance(op, CopyOp) or op.instruction.kind != "cp.async.bulk.tensor":
        raise AlgebraError(f"{name} needs a TMA operation, not {show(op)}", hint="example: SM90_TMA_LOAD{}")
    kind = str(internal) if internal is not None else str(g.pointer.type)
    known = named(kind)
    if known is None or known.short not in DATA_TYPES:
        raise AlgebraError(f"{name}: {kind}: Unknown TMA Format!", hint=f"one of {', '.join(DATA_TYPES)}")
    swizzle = swizzle_number(name, get_swizzle_portion(smem))
    wide = (128 << min(swizzle, 3)) // known.bits if swizzle and in_dsl(g.layout, ()) else BOX
    gbasis = _gbasis(name, g, get_nonswizzle_portion(smem), values, known.bits, wide)
    rows = ROWS if GATHERS & op.instruction.words else 1
    if rows > 1:
        if len(modes(gbasis.shape)) != 2:
            raise AlgebraError(f"{name}: TMA Gather/Scatter only supports 2D tensors")
        gbasis = Layout((modes(gbasis.shape)[0], 1), gbasis.stride)
    bits = size(gbasis) * known.bits * rows
    if tiled and bits // g.bits % ctas:
        words = "Stride Divisibility Condition; Static safe_div requires t % u == 0"
        raise AlgebraError(f"{name}: {words}: {ctas} CTAs do not divide the {bits // g.bits} elements of an instruction")
    tensor_map, recast = make_tensor_map(name, g, gbasis, swizzle, ctas, kind)
    sms = size(op.thr_id)
    bit = Layout((sms, bits), (bits if sms > 1 else 0, 1))
    moved = replace(op, src=bit, dst=bit, ref=bit)
    atom = make_copy_atom(moved, g.bits, str(g.pointer.type))
    g_stride = _coordinates(g, recast, gbasis, tensor_map, has_static(g.layout) or has_static(values))
    return TmaCopy(op, g, smem, tensor_map, gbasis, g_stride, values, ctas, atom)


def swizzle_number(name: str, swizzle: object) -> int:
    """CUtensorMapSwizzle of a swizzle of byte addresses. Raises: AlgebraError for one that TMA does not have."""
    found = SWIZZLES.get((swizzle.bits, swizzle.base, swizzle.shift)) if isinstance(swizzle, Swizzle) else None
    if isinstance(swizzle, Swizzle) and swizzle.bits == 0:
        return 0
    if found is None:
        conditions = {4: "Expected S = 3 when M == 4. ", 5: "Expected B = 2 and S = 2 when M == 5. "}
        condition = conditions.get(getattr(swizzle, "base", 0), "")
        raise AlgebraError(
            f"{name}: {swizzle}: {condition}Unsupported layout swizzle.", hint="a GMMA atom has a swizzle of the byte address"
        )
    return found


def _gbasis(name: str, g: Tensor, smem: Layout, values: Layout, bits: int, wide: int) -> Layout:
    """construct_tma_gbasis: the modes of the box, innermost first, as modes of the tensor.

    wide: the elements to which modes are merged in the first, in the DSL those of the swizzle's rows.
    """
    if size(smem) != size(values):
        raise AlgebraError(
            f"{name}: TMA requires CTA_Tile and SLayout top-level size equivalence.", hint=f"{show(smem)} and {values}"
        )
    check_static(name, smem)
    static = all_static(smem.shape)  # then a stride without a mark is a run-time one
    inverse = left(right_inverse(*entered("right_inverse", [smem]))) if static else right_inverse(smem)
    inner = coalesce(composition(values, inverse))
    assert isinstance(inner, Layout)
    shapes, steps = list(leaves(inner.shape)), list(leaves(inner.stride))
    rank = next((n for n, step in enumerate(steps) if not isinstance(step, Basis) or step.value != 1), len(steps))
    if not rank:
        raise AlgebraError(
            f"{name}: Could not find a common tile-gmem vectorization. Does the Tile select out major GMEM modes?",
            hint="the tile in shared memory is not contiguous along any mode of the tensor",
        )
    bases: list[Basis] = steps[:rank]
    tile = Layout(mark_static(tuple(shapes[:rank])), tuple(basis_get(g.layout.stride, step) for step in bases))  # a box is static
    tile = recast_elements(tile, g.bits, bits)
    groups = _merged(list(leaves(tile.shape)), list(leaves(tile.stride)), bases, wide)
    used = {basis.path for _, members in groups for _, basis in members}
    out: list[tuple[Any, Any]] = [(_one([s for s, _ in members]), _one([e for _, e in members])) for _, members in groups]
    recast = recast_elements(g.layout, g.bits, bits)
    identity = make_identity_layout(g.layout.shape)
    for extent, step, basis in zip(leaves(recast.shape), leaves(recast.stride), leaves(identity.stride), strict=True):
        gone = is_static(extent, 1) or is_static(step, 0)
        if not gone and basis.path not in used:
            out.append((1, basis))
    if len(out) > 4:
        out = [*out[:4], (tuple(s for s, _ in out[4:]), tuple(e for _, e in out[4:]))]
    return Layout(tuple(s for s, _ in out), tuple(e for _, e in out))


def check_static(name: str, smem: object) -> None:
    """Refuse a tile in shared memory that C++ code gives an extent known at run time only; our own notation does not tell."""
    for extent in leaves(smem.shape) if is_layout(smem) else ():
        if type(extent) is Runtime:
            raise AlgebraError(
                f"{name}: Could not find a common tile-gmem vectorization. Does the Tile select out major GMEM modes? The extent"
                f" {extent} of the tile in shared memory is known at run time only",
                hint=f"write it as Int<{extent}>{{}}",
            )


def _one(items: list[object]) -> object:
    return items[0] if len(items) == 1 else tuple(items)


def _merged(shape: list[int], stride: list[object], bases: list[Basis], wide: int) -> list[tuple[int, list[tuple[int, Basis]]]]:
    """coalesce_256: static modes that follow one another make one of up to 256 elements; run-time steps are never merged."""
    out: list[tuple[int, list[tuple[int, Basis]], Any]] = []
    for extent, step, basis in zip(shape, stride, bases, strict=True):
        if extent == 1 and len(shape) > 1:
            continue
        if out:
            total, members, first = out[-1]
            static = is_static(step) and is_static(first)
            if static and total * first == step and extent * total <= (wide if len(out) == 1 else BOX):
                out[-1] = (total * extent, [*members, (extent, basis)], first)
                continue
        out.append((extent, [(extent, basis)], step))
    return [(total, members) for total, members, _ in out] or [(1, [(1, bases[0])])]


def _coordinates(g: Tensor, recast: Layout, gbasis: Layout, tensor_map: TensorMap, marked: bool) -> object:
    """The strides of the coordinate tensor: which TMA mode a mode of the tensor moves, and how far.

    marked: they are static, but for what follows from a run-time step of the tensor.
    """
    from fractions import Fraction

    groups = [list(leaves(group)) for group in modes(gbasis.stride)]
    in_bytes = (tensor_map.bits // 8 or 1, *tensor_map.global_strides)
    ratio = Fraction(g.bits, tensor_map.bits)

    def stride(basis: Basis) -> Any:
        extent, step = basis_get(recast.shape, basis), basis_get(recast.stride, basis)
        if is_static(extent, 1) or is_static(step, 0):
            return 0
        for n, group in enumerate(groups):
            if all(basis.path != member.path for member in group):
                continue
            if n == 0:
                inner = basis_get(g.layout.stride, basis)
                scale = ratio * int(inner)
                if scale.denominator != 1:
                    return Basis(scale, (0,))
                return Basis(int(scale) if is_static(inner) or not marked else Runtime(int(scale)), (0,))
            if len(group) == 1:
                return Basis(1, (n,))
            return Basis(-(-(int(step) * tensor_map.bits // max(in_bytes[n], 16)) // 8), (n,))
        return 0

    steps = map_leaves(stride, make_identity_layout(g.layout.shape).stride)
    return left(steps) if marked else steps


def tiled_of(tma: TmaCopy, threads: Layout) -> TiledCopy:
    """make_tma_copy_tiled: CTAs and elements of shared memory over the tile."""
    elements = tma.bits // tma.tensor.bits
    inverse = right_inverse(get_nonswizzle_portion(tma.smem))
    values: Any = tile_to_shape(make_layout(composition(inverse, elements)), size(tma.cta_v_map))
    ctas = composition(inverse, composition(Layout(cosize(threads), elements // cosize(threads)), threads))
    return TiledCopy(tma.atom, make_layout(ctas, values), product_each(tma.cta_v_map.shape))


def get_tma_tensor(tma: object, shape: IntTuple) -> AnyLayout:
    """The coordinate tensor of a TMA: coordinates of the tensor -> those that the instruction takes, innermost first.

    >>> g = "make_tensor(make_gmem_ptr<float>(0), make_layout(make_shape(64,32), GenRowMajor{}))"
    >>> str(parse(f"t = make_tma_copy(SM90_TMA_LOAD{{}}, {g}, (8,32):(32,1)); t.get_tma_tensor((64,32))"))
    'ArithTuple(_0,_0) o (_64,_32):(_1@1,_1@0)'
    """
    copy = as_tma("get_tma_tensor", tma)
    steps = each_integer(lambda n: n if is_static(n) else Runtime(n), copy.g_stride) if is_mixed([shape]) else copy.g_stride
    layout = copy.im2col.coordinates if copy.im2col else Layout(shape, steps)
    return counting(layout) if isinstance(layout, Layout) and has_static(layout) else layout


def as_tma(name: str, x: object) -> TmaCopy:
    """A TMA copy. Raises: AlgebraError for anything else."""
    return needed(TmaCopy, x, f"{name} needs a TMA copy", "make_tma_copy(SM90_TMA_LOAD{}, tensor, smem_layout)")
