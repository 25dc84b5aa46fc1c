"""make_tma_copy and make_tma_atom: the TMA of a tensor and a tile in shared memory, or of a convolution (make_im2col_tma_copy).

Maps of im2col mode have boxes of pixels and channels. The tensor is ((w,h,d,n),c); a row of the matrix that the copy loads is an
output pixel, a column a channel at an offset of the filter. Sources: cute/atom/copy_traits_sm90_tma.hpp,
copy_traits_sm90_im2col.hpp; the CUDA driver API, cuTensorMapEncodeIm2col; PTX ISA, "Im2col mode".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import CopyOp, make_copy_atom
from cute_viz.algebra.inttuple import is_int_tuple, leaves, modes, product, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, get_nonswizzle_portion, get_swizzle_portion, size
from cute_viz.algebra.modes import coalesce
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.static import with_origin
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor, behind, whole
from cute_viz.algebra.tensor_map import BOX, DATA_TYPES, Im2col, TensorMap, in_global_memory
from cute_viz.algebra.tma import TmaCopy, atom_of, swizzle_number, tiled_of
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import is_static
from cute_viz.values.types import bits_of, named

WORDS = 7  # corners, paddings, strides: what a convolution is told by
PIXELS = 1024  # of a column at most
CORNERS = {1: 1 << 15, 2: 1 << 7, 3: 1 << 4}  # by how many of W, H and D there are: -n to n-1
NAME = "make_im2col_tma_copy"


def make_im2col_tma_copy(op: Any, g: Any, smem: Any, *more: object) -> TmaCopy:
    """The TMA copy of the im2col matrix of a tensor ((w,h,d,n),c).

    more: the tile and the number of CTAs, either left out, then all or none of lower_corner, upper_corner, lower_padding,
    upper_padding, stride_whd (traversal), lower_srt and stride_srt (dilation), each with an entry for w, h and d.
    Raises: AlgebraError for what CuTe refuses, and for corners and extents that cuTensorMapEncodeIm2col does not take.

    >>> g = "make_tensor(make_gmem_ptr<half_t>(0), ((8,8,2),64):((64,512,4096),1))"
    >>> smem = "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64,64))"
    >>> conv = "(-1,-1), (-1,-1), (-1,-1), (1,1), (1,1), (0,0), (1,1)"
    >>> tma = parse(f"make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{{}}, {g}, {smem}, (64,64), 1, {conv})")
    >>> tma.im2col.pixels, tma.im2col.channels, tma.im2col.filters, tma.map.global_dim
    (64, 64, (3, 3), (64, 8, 8, 2))
    """
    if not isinstance(op, CopyOp) or "im2col" not in op.instruction.words:
        raise AlgebraError(f"{NAME} needs an im2col operation, not {show(op)}", hint="SM90_TMA_LOAD_IM2COL{}")
    smem = as_layout(whole(smem))
    rest = list(more)
    words = [rest.pop() for _ in range(WORDS)][::-1] if len(rest) >= WORDS else []
    if len(rest) > 2:
        raise AlgebraError(f"{NAME} takes a tile, a number of CTAs and {WORDS} parameters of a convolution, not {len(more)}")
    tiler = rest[0] if rest else product_each(smem.shape)
    threads = as_layout(rest[1] if len(rest) > 1 else 1)
    g = in_global_memory(NAME, g, "((8,8,2),64)")
    if len(modes(g.layout.shape)) != 2:
        _no(g, "its modes are (w,h,d,n) and c")
    if not isinstance(threads, Layout):
        _no(threads, "is not a layout of CTAs")
    values = composition(make_identity_layout(product_each(g.layout.shape)), tiler)
    if size(smem) % cosize(threads):
        _no(threads, "Number of active CTAs in TMA must divide domain size of slayout.")
    if product_each(smem.shape) != product_each(values.shape):
        _no(smem, "TMA requires CTA_Tile and SLayout top-level shape equivalence.")
    return _made(op, g, smem, threads, values, words)


def _made(op: CopyOp, g: Tensor, smem: AnyLayout, threads: Layout, values: Layout, words: list[object]) -> TmaCopy:
    known = named(g.pointer.type)
    if known is None or known.short not in DATA_TYPES:
        raise AlgebraError(f"{NAME}: {g.pointer.type}: Unknown TMA Format!", hint=f"one of {', '.join(DATA_TYPES)}")
    full: Any = coalesce(composition(values, right_inverse(get_nonswizzle_portion(smem))))
    steps = list(leaves(full.stride))
    count = next((n for n, step in enumerate(steps) if not isinstance(step, Basis) or step.value != 1), len(steps))
    if count < 2:
        _no(smem, "IM2COL expects at least 2 modes of the smem to vectorize with gmem.")
    extents, bases = list(leaves(full.shape))[:2], steps[:2]
    inner, outer = (basis.path[0] for basis in bases)
    if inner == outer:
        _no(smem, "its first two modes are of one mode of the tensor")
    channels, pixels, ctas = int(extents[0]), int(extents[1]), cosize(threads)
    if pixels % ctas:
        _no(threads, f"Stride Divisibility Condition; Static safe_div requires t % u == 0: of {pixels} pixels")
    shape, stride = modes(g.layout.shape), modes(g.layout.stride)
    flat, flat_steps = list(leaves(shape[outer])), list(leaves(stride[outer]))
    if isinstance(shape[inner], tuple) or not 3 <= len(flat) + 1 <= 5:
        _no(g, "the channels are one mode, and w, h, d and n two to four")
    spatial = len(flat) - 1
    if not words and outer:
        _no(g, "without the parameters of a convolution, CuTe takes only ((w,h,d,n),c)")
    corners = _words(words, spatial)
    lower, upper, lower_pad, upper_pad, traversal, moved, dilation = corners
    bits = bits_of(g.pointer.type)
    in_bytes = [int(step) * bits // 8 for step in flat_steps]
    tensor_map = TensorMap(
        str(g.pointer.type),
        1 + len(flat),
        g.address,
        (int(shape[inner]), *map(int, flat)),
        tuple(in_bytes),
        (channels, pixels // ctas),
        (1, *traversal, 1),
        swizzle_number(NAME, get_swizzle_portion(smem)),
    )
    if int(next(iter(leaves(stride[inner])))) != 1:
        _no(g, "the channels do not follow each other")
    _driver(tensor_map, in_bytes, pixels // ctas, spatial, lower, upper, traversal)
    outputs = [(w + up - low - 1) // step + 1 for w, up, low, step in zip(flat, upper, lower, traversal, strict=False)]
    if min(outputs) < 1:
        _no(g, f"the corners leave {show(tuple(outputs))} base pixels along w, h and d")
    filters = [
        1 + int(((a - b) if d > 0 else (c - e)) / d)
        for a, b, c, e, d in zip(upper_pad, upper, lower, lower_pad, dilation, strict=True)
    ]
    coordinates = _coordinates(int(shape[inner]), [*outputs, int(flat[-1])], filters, corners, outer < inner)
    conv = Im2col(tuple(lower), tuple(upper), channels, pixels, tuple(filters), tuple(dilation), tuple(moved), coordinates)
    gbasis = Layout((channels, pixels), (bases[0], bases[1]))
    moved_bits = Layout((1, channels * pixels * bits), (0, 1))
    atom = make_copy_atom(replace(op, src=moved_bits, dst=moved_bits, ref=moved_bits), g.bits, str(g.pointer.type))
    made = TmaCopy(op, g, smem, tensor_map, gbasis, None, values, ctas, atom, None, conv)
    return replace(made, tiled=tiled_of(made, threads))


def _words(words: list[Any], spatial: int) -> list[list[int]]:
    """The seven parameters, an entry for each of w, h and d: those of a copy without offsets where none are given."""
    out = []
    for given in words or [0, 0, 0, 0, 1, 0, 1]:
        plain = list(modes(given)) if words else [given] * spatial
        if not is_int_tuple(given) or len(plain) != spatial or not all(isinstance(x, int) for x in plain):
            raise AlgebraError(f"{NAME}: {show(given)} has no entry for each of the {spatial} modes of w, h and d")
        out.append([int(x) for x in plain])
    if min(out[4]) < 1 or 0 in out[6]:
        raise AlgebraError(f"{NAME}: a traversal stride is 1 or more, a dilation not 0")
    return out


def _coordinates(channels: int, outputs: list[int], filters: list[int], corners: list[list[int]], pixels_first: bool) -> AnyLayout:
    """The coordinate tensor: (pixel, (channel, s, r, t)), from the first base pixel on."""
    lower, _, _, _, traversal, moved, dilation = corners
    pixel_steps = (*[Basis(step, (1, n)) for n, step in enumerate(traversal)], Basis(1, (2,)))
    depth_steps = (Basis(1, (0,)), *[Basis(step, (3, n)) for n, step in enumerate(dilation)])
    depth = (channels, *filters)
    pixels = tuple(outputs)
    parts = [(pixels, pixel_steps), (depth, depth_steps)]
    linear: list[tuple[Any, int]] = [(product(pixels), 0), (depth, 1)]
    if not pixels_first:
        parts.reverse()
        linear.reverse()
    outer = Layout(tuple(a for a, _ in parts), tuple(b for _, b in parts))
    shape = tuple(extent for extent, _ in linear)
    inner = make_identity_layout(shape)
    zero = tuple(0 if isinstance(extent, int) else (0,) * len(extent) for extent in shape)
    return with_origin((0, tuple(lower), 0, tuple(moved)), ComposedLayout(outer, zero, inner))


def _driver(
    x: TensorMap, strides: list[int], pixels: int, spatial: int, lower: list[int], upper: list[int], traversal: list[int]
) -> None:
    """What cuTensorMapEncodeIm2col refuses, which CuTe asserts as its result."""
    reach = CORNERS[spatial]
    checks = (
        (x.address % 16 == 0, f"globalAddress {x.address} is a multiple of 16"),
        (all(step % 16 == 0 and step < 1 << 40 for step in strides), f"globalStrides {strides} are multiples of 16 below 2^40"),
        (x.box_dim[0] <= BOX, f"channelsPerPixel {x.box_dim[0]} is at most {BOX}"),
        (pixels <= PIXELS, f"pixelsPerColumn {pixels} is at most {PIXELS}"),
        (all(-reach <= c < reach for c in lower + upper), f"corners {lower}, {upper} are {-reach} to {reach - 1}"),
        (all(step <= 8 for step in traversal), f"elementStrides {traversal} are at most 8"),
    )  # fmt: skip
    for holds, words in checks:
        if not holds:
            raise AlgebraError(f"{NAME}: encode_result == CUDA_SUCCESS: {words}", hint="cuTensorMapEncodeIm2col refuses it")


def _no(x: object, words: str) -> NoReturn:
    raise AlgebraError(f"{NAME}({show(behind(x))}): {words}")


def make_tma_copy(op: Any, g: Any, smem: Any, tiler: object = None, cluster: object = None, internal: object = None) -> TmaCopy:
    """The TMA copy of tiles of a tensor `g` in global memory to a layout of shared memory, a part by each of a cluster's CTAs.

    tiler: the tile of the tensor, by default the extents of smem. internal: the type of the tensor map's elements.
    Raises: AlgebraError for anything that CuTe refuses or asserts, in its words.

    >>> g = "make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape(1024,256), GenRowMajor{}))"
    >>> smem = "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64))"
    >>> parse(f"make_tma_copy(SM90_TMA_LOAD_MULTICAST{{}}, {g}, {smem}, (128,64), 2)").map.box_dim
    (64, 64, 1, 1, 1)
    """
    if internal is not None and cluster is None:
        raise AlgebraError(
            f"no matching function for call to 'make_tma_copy<{internal}>': it takes the tile and the cluster's size"
        )
    if cluster is None and isinstance(tiler, int):
        tiler, cluster = None, tiler  # make_tma_copy(op, g, smem, cluster_size)
    if isinstance(op, CopyOp) and "im2col" in op.instruction.words:
        return make_im2col_tma_copy(op, g, smem, *([] if tiler is None else [tiler]), *([] if cluster is None else [cluster]))
    smem = as_layout(whole(smem))
    tiler = product_each(smem.shape) if tiler is None else tiler
    threads = as_layout(1 if cluster is None else cluster)
    if not isinstance(threads, Layout):
        raise AlgebraError(f"make_tma_copy: {show(threads)} is not a layout of CTAs", hint="example: Int<2>{}")
    values = _tile("make_tma_copy", g, tiler)
    atom = atom_of("make_tma_copy", op, g, smem, cosize(threads), values, internal, tiled=True)
    return replace(atom, tiled=tiled_of(atom, threads))


def make_tma_atom(op: Any, g: Any, smem: Any, tiler: object = None, cluster: object = None, internal: object = None) -> TmaCopy:
    """The TMA atom of tiles of a tensor: as make_tma_copy, to be partitioned by tma_partition.

    >>> g = "make_tensor(make_gmem_ptr<float>(0), make_layout(make_shape(1024,256), GenRowMajor{}))"
    >>> str(parse(f"make_tma_atom(SM90_TMA_LOAD{{}}, {g}, (64,32):(32,1), (64,32))"))
    'SM90_TMA_LOAD of boxes (32,64) of float, swizzle none'
    """
    smem = as_layout(whole(smem))
    values = _tile("make_tma_atom", g, product_each(smem.shape) if tiler is None else tiler)
    ctas = 1 if cluster is None else size(as_layout(cluster))
    return atom_of("make_tma_atom", op, g, smem, ctas, values, internal)


def make_tma_copy_sm90(
    op: object, g: object, smem: object, tiler: object, operand: str, cluster: object = None, internal: object = None
) -> TmaCopy:
    """The TMA copy of A, B or C for the tile (M,N,K) of a CTA; multicast goes to the cluster's CTAs that share it.

    >>> g = "make_tensor(make_gmem_ptr<float>(0), make_layout(make_shape(1024,256), GenRowMajor{}))"
    >>> str(parse(f"make_tma_copy_C_sm90(SM90_TMA_STORE{{}}, {g}, (64,32):(32,1), (64,32,64))"))
    'SM90_TMA_STORE of boxes (32,64) of float, swizzle none'
    """
    name, ctas = f"make_tma_copy_{operand}_sm90", as_layout(1 if cluster is None else cluster)
    along = "BAC".index(operand)  # A goes along N of the cluster, B along M; C to none
    if not isinstance(tiler, tuple) or len(tiler) < 3 or not isinstance(ctas, Layout):
        raise AlgebraError(f"{name}: the tile must be (M,N,K)", hint="example: (128,128,64)")
    count = 1 if operand == "C" else size(Layout((*modes(ctas.shape), 1)[along]))
    return make_tma_copy(op, g, smem, tuple(x for n, x in enumerate(tiler) if n != along), count, internal)


def _tile(name: str, g: Any, tiler: object) -> Layout:
    """The tile of a tensor: element -> coordinate."""
    tile: Layout = composition(make_identity_layout(in_global_memory(name, g).layout.shape), tiler)
    if (extent := _unknown_extent(g.layout.shape, tiler)) is not None:
        words = "the value of '_tma_gbasis_size' is not usable in a constant expression"
        raise AlgebraError(
            f"{name}: {words}: the box follows from the extent {extent}, which is known only at run time",
            hint=f"write it as Int<{extent}>{{}}, or cut the mode before",
        )
    return tile


def _unknown_extent(shape: object, tiler: object) -> int | None:
    """An extent known only at run time that decides how far a tile goes into the modes of a nested one."""
    if isinstance(shape, tuple) and isinstance(tiler, tuple):
        found = (_unknown_extent(a, b) for a, b in zip(shape, tiler, strict=False))
        return next((extent for extent in found if extent is not None), None)
    if not isinstance(shape, tuple) or not isinstance(tiler, int):
        return None
    rest = int(tiler)
    for extent in list(leaves(shape))[:-1]:
        if rest == 1:
            break
        if not is_static(extent):
            return int(extent)
        rest //= min(int(extent), rest)
    return None
