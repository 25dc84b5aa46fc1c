"""TMA: the tensor map of a tensor in global memory and a tile in shared memory (make_tma_copy, make_tma_atom).

Sources: cute/atom/copy_traits_sm90_tma.hpp, copy_traits_sm90_tma_swizzle.hpp, copy_traits_sm100_tma.hpp; the CUDA driver API,
cuTensorMapEncodeTiled. What CuTe asserts at run time, and a release build does not, is refused here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any, ClassVar, NoReturn

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, as_layout
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy, make_copy_atom
from cute_viz.algebra.elements import bits_of, named
from cute_viz.algebra.inttuple import Static, leaves, map_leaves, modes, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.products import tile_to_shape
from cute_viz.algebra.recast import recast_layout
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.simplify import coalesce
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.swizzled import get_nonswizzle_portion, get_swizzle_portion
from cute_viz.algebra.tensor import Tensor, whole
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError

RANK, BOX = 5, 256  # the most dimensions of a tensor map, and elements of a box along one
# CUtensorMapDataType by element type; CUtensorMapSwizzle by the swizzle of the byte address
DATA_TYPES = {"s8": 0, "u8": 0, "e4m3": 0, "e5m2": 0, "ue8m0": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6}
DATA_TYPES |= {"f32": 7, "f64": 8, "bf16": 9, "tf32": 11, "e2m1": 13, "e2m3": 15, "e3m2": 15}
SWIZZLES = {(0, 4, 3): 0, (1, 4, 3): 1, (2, 4, 3): 2, (3, 4, 3): 3, (2, 5, 2): 4, (2, 6, 1): 5, (2, 6, 2): 5, (2, 6, 3): 5}
SWIZZLE_NAMES = ("none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_64B")
MULTICAST = ("SM90_TMA_LOAD_MULTICAST", "SM100_TMA_2SM_LOAD_MULTICAST")
SINGLE = ("SM90_TMA_LOAD", "SM90_TMA_STORE", "SM100_TMA_2SM_LOAD")


@dataclass(frozen=True, slots=True)
class TensorMap:
    """The arguments of cuTensorMapEncodeTiled, dimension 0 first, which is contiguous.

    global_dim and box_dim are in elements, global_strides in bytes, of the dimensions 1 to 4. type: of an element, in C++.
    """

    type: str
    rank: int
    address: int
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int
    interleave: int = 0

    @property
    def data_type(self) -> int:
        """CUtensorMapDataType."""
        known = named(self.type)
        assert known is not None
        return DATA_TYPES[known.name] + ("unpacksmem" in self.type and known.name == "e2m1")

    @property
    def bits(self) -> int:
        """The width of an element of the map."""
        return bits_of(self.type)


@dataclass(frozen=True, slots=True)
class TmaCopy(Shown):
    """A TMA operation on a tensor: its tensor map, the modes that its box has, and the strides of its coordinate tensor.

    gbasis: box of TMA modes -> modes of the tensor. g_stride: mode of the tensor -> TMA coordinate. cta_v_map: element of the tile
    -> coordinate of the tensor. smem: the tile in shared memory. ctas: how many share one box by multicast.
    tiled: the TiledCopy of make_tma_copy; None of make_tma_atom.
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

    @property
    def bits(self) -> int:
        """Bits that one instruction moves, of all CTAs that share it."""
        return size(self.gbasis) * self.map.bits

    def __str__(self) -> str:
        box, swizzle = show(self.map.box_dim[: self.map.rank]), SWIZZLE_NAMES[self.map.swizzle]
        return f"{self.op.name} of boxes {box} of {self.map.type}, swizzle {swizzle}"


def make_tma_copy(op: Any, g: Any, smem: Any, tiler: Any = None, cluster: Any = None, internal: Any = None) -> TmaCopy:
    """The TMA copy of tiles of a tensor `g` in global memory to a layout of shared memory, a part by each of a cluster's CTAs.

    tiler: the tile of the tensor, by default the extents of smem. internal: the type of the tensor map's elements.
    Raises: AlgebraError for anything that CuTe refuses or asserts, in its words.

    >>> from cute_viz import parse
    >>> g = "make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape(1024,256), GenRowMajor{}))"
    >>> smem = "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64))"
    >>> parse(f"make_tma_copy(SM90_TMA_LOAD_MULTICAST{{}}, {g}, {smem}, (128,64), 2)").map.box_dim
    (64, 64, 1, 1, 1)
    """
    if cluster is None and tiler is not None and not isinstance(tiler, tuple) and _extent(tiler) is not None:
        tiler, cluster = None, tiler  # make_tma_copy(op, g, smem, cluster_size)
    smem = as_layout(whole(smem))
    tiler = product_each(smem.shape) if tiler is None else tiler
    threads = as_layout(1 if cluster is None else cluster)
    if not isinstance(threads, Layout):
        raise AlgebraError(f"make_tma_copy: {show(threads)} is not a layout of CTAs", hint="such as Int<2>{}")
    values = _tile("make_tma_copy", g, tiler)
    atom = atom_of("make_tma_copy", op, g, smem, cosize(threads), values, internal)
    return replace(atom, tiled=_tiled(atom, threads))


def make_tma_atom(op: Any, g: Any, smem: Any, tiler: Any = None, cluster: Any = None, internal: Any = None) -> TmaCopy:
    """The TMA atom of tiles of a tensor: as make_tma_copy, to be partitioned by tma_partition.

    >>> from cute_viz import parse
    >>> g = "make_tensor(make_gmem_ptr<float>(0), make_layout(make_shape(1024,256), GenRowMajor{}))"
    >>> str(parse(f"make_tma_atom(SM90_TMA_LOAD{{}}, {g}, (64,32):(32,1), (64,32))"))
    'SM90_TMA_LOAD of boxes (32,64) of float, swizzle none'
    """
    smem = as_layout(whole(smem))
    values = _tile("make_tma_atom", g, product_each(smem.shape) if tiler is None else tiler)
    ctas = 1 if cluster is None else size(as_layout(cluster))
    return atom_of("make_tma_atom", op, g, smem, ctas, values, internal)


def _extent(x: Any) -> int | None:
    return int(x) if isinstance(x, int) else None


def _tile(name: str, g: Any, tiler: Any) -> Layout:
    """The tile of a tensor: element -> coordinate."""
    if not isinstance(g, Tensor) or g.pointer.space != "gmem":
        raise AlgebraError(
            f"{name} needs a tensor in global memory", hint="make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1))"
        )
    tile: Layout = composition(make_identity_layout(g.layout.shape), tiler)
    return tile


def atom_of(name: str, op: Any, g: Tensor, smem: AnyLayout, ctas: int, values: Layout, internal: Any) -> TmaCopy:
    """make_tma_copy_atom: the tensor map, and what its modes are of the tensor; of `values`, element of the tile -> coordinate.

    >>> from cute_viz import parse
    >>> from cute_viz.algebra.tensor import Pointer
    >>> g, tile = Tensor(Pointer("gmem", "float", 0), Layout((64, 32), (32, 1))), Layout((8, 32), (Basis(1, (0,)), Basis(1, (1,))))
    >>> atom_of("f", parse("SM90_TMA_LOAD{}"), g, Layout((8, 32), (32, 1)), 1, tile, None).map.global_strides
    (128, 0, 0, 0)
    """
    if not isinstance(op, CopyOp) or "_TMA_" not in op.name:
        raise AlgebraError(f"{name} needs a TMA operation, not {show(op)}", hint="such as SM90_TMA_LOAD{}")
    kind = str(internal) if internal is not None else g.pointer.type
    known = named(kind)
    if known is None or known.name not in DATA_TYPES:
        raise AlgebraError(f"{name}: {kind}: Unknown TMA Format!", hint=f"one of {', '.join(DATA_TYPES)}")
    swizzle = _swizzle(name, get_swizzle_portion(smem))
    gbasis = _gbasis(name, g, get_nonswizzle_portion(smem), values, known.bits)
    tensor_map, recast = _tensor_map(name, g, gbasis, swizzle, ctas, kind)
    bits = size(gbasis) * known.bits
    sms = size(op.thr_id)
    bit = Layout((sms, bits), (bits if sms > 1 else 0, 1))
    moved = CopyOp(op.name, op.thr_id, bit, bit, bit)
    atom = make_copy_atom(moved, g.bits, g.pointer.type)
    return TmaCopy(op, g, smem, tensor_map, gbasis, _coordinates(g, recast, gbasis, tensor_map), values, ctas, atom)


def _swizzle(name: str, swizzle: Any) -> int:
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


def _gbasis(name: str, g: Tensor, smem: Any, values: Layout, bits: int) -> Layout:
    """construct_tma_gbasis: the modes of the box, innermost first, as modes of the tensor."""
    if size(smem) != size(values):
        raise AlgebraError(
            f"{name}: TMA requires CTA_Tile and SLayout top-level size equivalence.", hint=f"{show(smem)} and {values}"
        )
    inner = coalesce(composition(values, right_inverse(smem)))
    assert isinstance(inner, Layout)
    shapes, steps = list(leaves(inner.shape)), list(leaves(inner.stride))
    rank = next((n for n, step in enumerate(steps) if not isinstance(step, Basis) or step.value != 1), len(steps))
    if not rank:
        raise AlgebraError(
            f"{name}: Could not find a common tile-gmem vectorization. Does the Tile select out major GMEM modes?",
            hint="the tile in shared memory is not contiguous along any mode of the tensor",
        )
    bases: list[Basis] = steps[:rank]
    tile = Layout(tuple(shapes[:rank]), tuple(_at(g.layout.stride, step) for step in bases))
    tile = recast_layout(tile, g.bits, bits)
    groups = _merged(list(leaves(tile.shape)), list(leaves(tile.stride)), bases)
    used = {basis.path for _, members in groups for _, basis in members}
    out: list[tuple[Any, Any]] = [(_one([s for s, _ in members]), _one([e for _, e in members])) for _, members in groups]
    recast = recast_layout(g.layout, g.bits, bits)
    identity = make_identity_layout(g.layout.shape)
    for extent, step, basis in zip(leaves(recast.shape), leaves(recast.stride), leaves(identity.stride), strict=True):
        gone = (isinstance(extent, Static) and extent == 1) or (isinstance(step, Static) and step == 0)
        if not gone and basis.path not in used:
            out.append((1, basis))
    if len(out) > 4:
        out = [*out[:4], (tuple(s for s, _ in out[4:]), tuple(e for _, e in out[4:]))]
    return Layout(tuple(s for s, _ in out), tuple(e for _, e in out))


def _one(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else tuple(items)


def _merged(shape: list[int], stride: list[Any], bases: list[Basis]) -> list[tuple[int, list[tuple[int, Basis]]]]:
    """coalesce_256: static modes that follow one another make one of up to 256 elements; run-time steps are never merged."""
    out: list[tuple[int, list[tuple[int, Basis]], Any]] = []
    for extent, step, basis in zip(shape, stride, bases, strict=True):
        if extent == 1 and len(shape) > 1:
            continue
        if out:
            total, members, first = out[-1]
            static = isinstance(step, Static) and isinstance(first, Static)
            if static and total * first == step and extent * total <= BOX:
                out[-1] = (total * extent, [*members, (extent, basis)], first)
                continue
        out.append((extent, [(extent, basis)], step))
    return [(total, members) for total, members, _ in out] or [(1, [(1, bases[0])])]


def _at(nested: Any, basis: Basis) -> Any:
    """basis_get: the entry of a nested tuple at a basis element."""
    for index in basis.path:
        nested = nested[index] if isinstance(nested, tuple) else nested
    return nested


def _tensor_map(name: str, g: Tensor, gbasis: Layout, swizzle: int, ctas: int, kind: str) -> tuple[TensorMap, Layout]:
    """make_tma_copy_desc: what cuTensorMapEncodeTiled is given, once all that CuTe asserts holds."""
    bits = bits_of(kind)
    recast: Layout = recast_layout(g.layout, g.bits, bits)
    dims, strides = [1] * RANK, [0] * RANK
    groups = list(modes(gbasis.stride))
    for n, group in enumerate(groups):
        members = list(leaves(group))
        if len(members) == 1:
            dims[n], strides[n] = int(_at(recast.shape, members[0])), int(_at(recast.stride, members[0]))
            continue
        for basis in members:
            extent, step, before = int(_at(recast.shape, basis)), int(_at(recast.stride, basis)), strides[n]
            strides[n] = gcd(before, step)
            if strides[n]:
                dims[n] = (dims[n] - 1) * (before // strides[n]) + (extent - 1) * (step // strides[n]) + 1
            else:
                dims[n] = extent
    _check(
        name,
        g.address % 16 == 0,
        "(reinterpret_cast<uint64_t>(gmem_address) & 0b1111) == 0",
        "the address must be a multiple of 16 bytes",
    )
    for n, extent in enumerate(dims):
        _check(name, 1 <= extent <= 1 << 32, f"gmem_prob_shape[{n}] <= (uint64_t(1) << 32)", "an extent must be 1 to 2^32")
    _check(name, strides[0] == 1, "gmem_prob_stride[0] == 1", "Majorness of smem doesn't match majorness of gmem")
    in_bytes = [step * bits // 8 for step in strides]
    for n in range(1, RANK):
        _check(
            name, in_bytes[n] < 1 << 40, f"(gmem_prob_stride[{n}]) < (uint64_t(1) << 40)", "a stride must be less than 2^40 bytes"
        )
        _check(name, in_bytes[n] % 16 == 0, f"(gmem_prob_stride[{n}] & 0b1111) == 0", "a stride must be a multiple of 16 bytes")
    box = _box(name, [size(get(gbasis, n)) for n in range(len(groups))], ctas)
    for n, extent in enumerate(box):
        _check(name, extent <= BOX, f"smem_box_shape[{n}] <= (uint32_t(1) << 8)", "a box must be at most 256 elements along a mode")
    return TensorMap(kind, len(groups), g.address, tuple(dims), tuple(in_bytes[1:]), tuple(box), (1,) * RANK, swizzle), recast


def _box(name: str, sizes: list[int], ctas: int) -> list[int]:
    """The box of one CTA: multicast cuts the last dimensions."""
    box = [*sizes, *[1] * (RANK - len(sizes))]
    n, rest = len(sizes) - 1, ctas
    while rest > 1:
        if n < 0:
            raise AlgebraError(f"{name}: a box {show(tuple(sizes))} has no part for each of {ctas} CTAs")
        condition = f"smem_box_shape[{n}] % multicast == 0 || multicast % smem_box_shape[{n}] == 0"
        _check(
            name, box[n] % rest == 0 or rest % box[n] == 0, condition, "Stride Divisibility Condition: the CTAs must divide the box"
        )
        rest, box[n] = -(-rest // box[n]), -(-box[n] // rest)
        n -= 1
    return box


def _check(name: str, holds: bool, condition: str, words: str) -> None:
    """Refuse what CuTe asserts at run time."""
    if not holds:
        _assert(name, condition, words)


def _assert(name: str, condition: str, words: str) -> NoReturn:
    hint = "CuTe asserts this at run time; a release build continues, and cuTensorMapEncodeTiled fails"
    raise AlgebraError(f'{name}: {condition} && "{words}"', hint=hint)


def _coordinates(g: Tensor, recast: Layout, gbasis: Layout, tensor_map: TensorMap) -> Any:
    """The strides of the coordinate tensor: which TMA mode a mode of the tensor moves, and how far."""
    from fractions import Fraction

    groups = [list(leaves(group)) for group in modes(gbasis.stride)]
    in_bytes = (tensor_map.bits // 8 or 1, *tensor_map.global_strides)
    ratio = Fraction(g.bits, tensor_map.bits)

    def stride(basis: Basis) -> Any:
        extent, step = _at(recast.shape, basis), _at(recast.stride, basis)
        if (isinstance(extent, Static) and extent == 1) or (isinstance(step, Static) and step == 0):
            return 0
        for n, group in enumerate(groups):
            if all(basis.path != member.path for member in group):
                continue
            if n == 0:
                scale = ratio * int(_at(g.layout.stride, basis))
                return Basis(int(scale) if scale.denominator == 1 else scale, (0,))
            if len(group) == 1:
                return Basis(1, (n,))
            return Basis(-(-(int(step) * tensor_map.bits // max(in_bytes[n], 16)) // 8), (n,))
        return 0

    return map_leaves(stride, make_identity_layout(g.layout.shape).stride)


def _tiled(tma: TmaCopy, threads: Layout) -> TiledCopy:
    """make_tma_copy_tiled: CTAs and elements of shared memory over the tile."""
    elements = tma.bits // tma.tensor.bits
    inverse = right_inverse(get_nonswizzle_portion(tma.smem))
    if elements % cosize(threads):
        raise AlgebraError(
            f"make_tma_copy: Stride Divisibility Condition: {cosize(threads)} CTAs do not divide {elements} elements"
        )
    values: Any = tile_to_shape(make_layout(composition(inverse, elements)), size(tma.cta_v_map))
    ctas = composition(inverse, composition(Layout(cosize(threads), elements // cosize(threads)), threads))
    return TiledCopy(tma.atom, make_layout(ctas, values), product_each(tma.cta_v_map.shape))


def get_tma_tensor(tma: Any, shape: Any) -> Layout:
    """The coordinate tensor of a TMA: coordinates of the tensor -> those that the instruction takes, innermost first.

    >>> from cute_viz import parse
    >>> text = "t = make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<float>(0), (64,32):(32,1)), (8,32):(32,1));"
    >>> str(parse(text + "t.get_tma_tensor((64,32))"))
    '(64,32):(1@1,1@0)'
    """
    return Layout(shape, as_tma("get_tma_tensor", tma).g_stride)


def as_tma(name: str, x: Any) -> TmaCopy:
    """A TMA copy. Raises: AlgebraError for anything else.

    >>> as_tma("f", 4)
    Traceback (most recent call last):
    cute_viz.errors.AlgebraError: f needs a TMA copy, not 4
      hint: make_tma_copy(SM90_TMA_LOAD{}, tensor, smem_layout)
    """
    if not isinstance(x, TmaCopy):
        raise AlgebraError(f"{name} needs a TMA copy, not {show(x)}", hint="make_tma_copy(SM90_TMA_LOAD{}, tensor, smem_layout)")
    return x
