"""Who moves which part of a TMA: tma_partition, multicast masks, and the atoms of tcgen05.mma's operands.

Sources: cute/atom/copy_traits_sm90_tma.hpp, copy_traits_sm100_tma.hpp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra import tma as _tma
from cute_viz.algebra.common import refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout, domain, has_origin, is_layout
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.divide import logical_divide
from cute_viz.algebra.inttuple import X, all_static, leaves, map_leaves, modes, tuple_rank
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import cosize, crd2idx, idx2crd, size
from cute_viz.algebra.mma import as_tiled_mma, thrfrg
from cute_viz.algebra.modes import coalesce, get
from cute_viz.algebra.products import tile_to_shape
from cute_viz.algebra.slicing import domain_offset, slice_and_offset
from cute_viz.algebra.static import mark_static, unknowns, with_origin
from cute_viz.algebra.tensor import Tensor, viewed, whole
from cute_viz.algebra.tensor_map import in_global_memory
from cute_viz.values.instruction import UNKNOWN
from cute_viz.values.integer import MulticastMask, Unknown, is_constant, is_one

CLUSTER = 16  # CTAs of a cluster at most
MASK = (1 << CLUSTER) - 1


def tma_partition(tma: object, cta: object, ctas: object, smem: object, gmem: object) -> tuple[Any, Any]:
    """The parts of a coordinate tensor and of shared memory that a CTA copies, as ((TMA,iterations),rest...) of each.

    Raises: AlgebraError for tiles of different sizes.

    >>> text = "g = make_tensor(make_gmem_ptr<float>(0), (64,32):(32,1)); s = (8,32):(32,1);"
    >>> text += "t = make_tma_atom(SM90_TMA_LOAD{}, g, s, (8,32)); gA = local_tile(t.get_tma_tensor((64,32)), (8,32), (1,0));"
    >>> text += "tma_partition(t, 0, 1:0, group_modes<0,2>(s), group_modes<0,2>(gA))"
    >>> [str(x) for x in parse(text)]
    ['ArithTuple(_0,_8) o (((_32,_8),_1)):(((1@0,_1@1),_0))', '((_256,_1)):((_1,_0))']
    """
    coordinates = as_layout(whole(gmem))
    cut, moved = instruction_order(tma, cta, ctas, smem)
    if size(cut) != size(get(domain(coordinates), 0)):
        refuse("tma_partition", (smem, gmem), "size<0>(stensor) == size<0>(gtensor)")
    return _part(coordinates, cut, moved), _shared(smem, cut, moved)


def instruction_order(tma: object, cta: object, ctas: object, smem: object) -> tuple[Any, Any]:
    """(element of an instruction, instruction) -> index into the tile, and at which element of each the CTA begins."""
    copy = _tma.as_tma("tma_partition", tma)
    return order_of(copy.bits // copy.tensor.bits, cta, ctas, smem)


def order_of(elements: int, cta: object, ctas: object, smem: object) -> tuple[Any, Any]:
    """The same of an instruction that copies so many elements."""
    layout = as_layout(ctas)
    plain = smem.layout if isinstance(smem, Tensor) else domain(as_layout(smem))
    tile = get(plain, 0)
    values = tile_to_shape(make_layout(right_inverse(tile)), size(tile))
    moved = crd2idx(cta, layout) * (elements // cosize(layout))
    alone = all(map(is_one, leaves(domain(layout).shape)))  # its strides are _0, and so is the offset
    return logical_divide(values, Layout(elements)), 0 if alone else moved


def _part(x: AnyLayout, cut: AnyLayout, moved: object) -> AnyLayout:
    found = ordered(x, cut, moved)
    if not isinstance(found, tuple):
        return found  # type: ignore[no-any-return]
    layout, offset = found
    return with_origin(offset, layout) if isinstance(offset, tuple) and any(leaves(offset)) else layout


def ordered(x: AnyLayout, cut: AnyLayout, moved: object) -> Any:
    """A tensor whose first mode is in the order of an instruction, from an element of it on: a layout, and where it begins."""
    rest = tuple_rank(domain(x).shape) - 1
    ordered = coalesce(composition(x, (cut, *[X] * rest)), ((1, 1),))
    ordered = _first_static(ordered, x)
    if is_constant(moved, 0) and isinstance(ordered, ComposedLayout) and has_origin(ordered):
        return ordered  # with its marks
    return domain_offset(((moved, 0), *[0] * rest), ordered)


def _first_static(x: AnyLayout, of: AnyLayout) -> AnyLayout:
    """A part whose first mode is known when the kernel is compiled, as that of the tensor is that it is of."""
    if isinstance(x, ComposedLayout):
        return replace(x, inner=_first_static(x.inner, of)) if is_layout(x.inner) else x
    if not all_static(get(domain(of), 0).shape):
        return x
    first: Layout = mark_static(get(x, 0))
    shape, stride = modes(x.shape), modes(x.stride)
    return Layout((first.shape, *shape[1:]), (first.stride, *stride[1:]))


def _shared(smem: object, cut: AnyLayout, moved: object) -> Any:
    plain = smem.layout if isinstance(smem, Tensor) else domain(as_layout(smem))
    moved_there = ordered(plain, cut, moved)
    return viewed(smem, moved_there) if isinstance(smem, Tensor) else moved_there[0]


def create_tma_multicast_mask(layout: AnyLayout, coord: object, *modes_: int) -> int:
    """The CTAs of a cluster that receive what one of them loads, a bit each: a MulticastMask of all along the named modes.

    Raises: AlgebraError for a coordinate that does not fit, or a mode that does not exist.

    >>> cluster = Layout((1, 2, 4, 1), (0, 1, 2, 0))
    >>> hex(create_tma_multicast_mask(cluster, (0, 1, 0, 0), 2))
    '0xaa'
    """
    if not isinstance(coord, tuple) or len(coord) != tuple_rank(layout.shape):
        refuse(
            "create_tma_multicast_mask", (layout, coord), "the coordinate must have one entry for each mode of the cluster layout"
        )
    if any(not 0 <= mode < len(coord) for mode in modes_):
        refuse("create_tma_multicast_mask", (layout, coord), f"there is no mode {max(modes_)}")
    given = tuple(X if n in modes_ else entry for n, entry in enumerate(coord))
    if all(entry is not X for entry in given):
        mask, elected = 1, crd2idx(given, layout)
    else:
        ctas, elected = slice_and_offset(given, layout)
        mask = 0
        for n in range(min(size(ctas), CLUSTER)):
            mask |= 1 << _rank(ctas(n), layout)
    if isinstance(elected, Unknown):
        return elected.applied(f"mask {mask}")  # type: ignore[return-value]
    elected = _rank(elected, layout)
    known = None if next(unknowns(given), None) is not None else given  # which CTA asks may not be known
    return MulticastMask.of((mask << int(elected)) & MASK, layout, known, modes_)


def ctas_of(mask: MulticastMask) -> dict[int, Any]:
    """The coordinate of each CTA of the cluster of a mask by its number; the first where several have it."""
    out: dict[int, Any] = {}
    for n in range(min(size(mask.cluster), 1 << 12)):
        crd = idx2crd(n, mask.cluster.shape)
        out.setdefault(mask.cluster(crd), crd)
    return out


def receivers(mask: MulticastMask) -> tuple[tuple[int, Any], ...]:
    """The CTAs whose bits are set, each with its coordinate; None for a number that the cluster lacks."""
    ctas = ctas_of(mask)
    return tuple((n, ctas.get(n)) for n in range(int(mask).bit_length()) if int(mask) >> n & 1)


def _rank(cta: object, layout: object) -> int:
    """A CTA's rank in the cluster. Raises: AlgebraError for anything else."""
    if not isinstance(cta, int) or not 0 <= cta < CLUSTER:
        words = f"{cta} is not a rank in a cluster of up to {CLUSTER} CTAs"
        refuse(
            "create_tma_multicast_mask",
            (layout,),
            words,
            hint="the mask has 16 bits: CuTe drops those of other ranks without a word",
        )
    return int(cta)


def make_tma_atom_sm100(
    op: Any, g: Any, smem: object, tiler: object, mma: object, cluster: object, operand: str, internal: object = None
) -> _tma.TmaCopy:
    """The TMA atom of operand A or B of a tcgen05.mma: a CTA loads its part of the tile; multicast goes along N of the cluster,
    of B along M.

    tiler: (M,N,K) of all CTAs of the MMA. cluster: (V,M,N,K) CTAs. Raises: AlgebraError for any other operation.

    >>> mma = "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>{}"
    >>> g = "make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1))"
    >>> smem = "tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, ((128,16),1,4))"
    >>> parse(f"make_tma_atom_A_sm100(SM90_TMA_LOAD{{}}, {g}, {smem}, (128,128,64), {mma}, ((1),1,1,1))").map.box_dim
    (64, 128, 1, 1, 1)
    """
    name = f"make_tma_atom_{operand}_sm100"
    values = _values(name, operand, g, tiler, mma)
    ctas = modes(as_layout(cluster).shape) if isinstance(as_layout(cluster), Layout) else ()
    if len(ctas) != 4:
        refuse(name, (cluster,), "the cluster must be (V,M,N,K), as tiled_divide gives it")
    multicast = "multicast" in _words(name, op)
    count = size(Layout(ctas[2 if operand == "A" else 1])) if multicast else 1
    return _tma.atom_of(name, op, g, as_layout(whole(smem)), count, values, internal)


def make_tma_copy_sm100(
    op: Any, g: Any, smem: object, tiler: object, mma: object, operand: str, internal: object = None
) -> _tma.TmaCopy:
    """The TMA copy of operand A, B or C of a tcgen05.mma for the tile (M,N,K) of a cluster; see make_tma_atom_sm100.

    >>> mma = "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>{}"
    >>> g = "make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1))"
    >>> smem = "tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, ((128,16),1,4))"
    >>> parse(f"make_tma_copy_B_sm100(SM90_TMA_LOAD{{}}, {g}, {smem}, (128,128,64), {mma})").ctas
    1
    """
    name = f"make_tma_copy_{operand}_sm100"
    shape = as_tiled_mma(mma).thr_layout_vmnk.shape
    multicast = "multicast" in _words(name, op, operand)
    along = "BAC".index(operand) + 1 if multicast else -1  # A goes along N of the MMA's CTAs, B along M
    stride = tuple(1 if n == along else map_leaves(lambda _: 0, x) for n, x in enumerate(modes(shape)))
    threads: Any = coalesce(Layout(shape, stride))
    values, layout = _values(name, operand, g, tiler, mma), as_layout(whole(smem))
    atom = _tma.atom_of(name, op, g, layout, cosize(threads), values, internal, tiled=True)
    return replace(atom, tiled=_tma.tiled_of(atom, threads))


def _words(name: str, op: object, operand: str = "A") -> frozenset[str]:
    """What the name of a TMA operation says that an operand of tcgen05.mma can have."""
    found = op.instruction if isinstance(op, CopyOp) else UNKNOWN
    allowed = {"multicast", "gather4"} if "_atom_" in name else {"multicast"}
    if operand == "C" and (found.kind != _TMA or found.words & _APART):
        refuse(name, (op,), "Unsupported TMA Op, expected a non-multicast TMA")
    if found.kind != _TMA or found.words & _APART - allowed:
        refuse(name, (op,), "Unsupported TMA")
    return found.words


_TMA = "cp.async.bulk.tensor"
# All but plain loads and stores of tiles.
_APART = {"multicast", "gather4", "scatter4", "im2col", "reduce", "prefetch", "op", "ptr"}


def _values(name: str, operand: str, g: object, tiler: object, mma: object) -> Layout:
    """The part of a tile that a CTA loads or stores for its MMA: element -> coordinate of the tensor."""
    g = in_global_memory(name, g)
    if not isinstance(tiler, tuple) or len(tiler) < 3:
        refuse(name, (tiler,), "the tile must be (M,N,K)")
    kept = tuple(extent for n, extent in enumerate(tiler) if n != "BAC".index(operand))
    tile = composition(make_identity_layout(g.layout.shape), kept)
    fragments: Any = get(thrfrg(mma, operand, tile), 1)
    rest: list[Any] = [get(fragments, 1, n) for n in range(tuple_rank(get(fragments, 1).shape))]
    first: Any = get(fragments, 0)
    return make_layout(first, *rest)
