"""make_tma_copy and make_tma_atom: the TMA of a tensor and a tile in shared memory, or of a convolution.

Sources: cute/atom/copy_traits_sm90_tma.hpp, copy_traits_sm90_im2col.hpp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.im2col import make_im2col_tma_copy
from cute_viz.algebra.inttuple import leaves, modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.tensor import whole
from cute_viz.algebra.tensor_map import in_global_memory
from cute_viz.algebra.tma import TmaCopy, atom_of, tiled_of
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Static


def make_tma_copy(op: Any, g: Any, smem: Any, tiler: Any = None, cluster: Any = None, internal: Any = None) -> TmaCopy:
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
    if cluster is None and tiler is not None and not isinstance(tiler, tuple) and _extent(tiler) is not None:
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


def make_tma_atom(op: Any, g: Any, smem: Any, tiler: Any = None, cluster: Any = None, internal: Any = None) -> TmaCopy:
    """The TMA atom of tiles of a tensor: as make_tma_copy, to be partitioned by tma_partition.

    >>> g = "make_tensor(make_gmem_ptr<float>(0), make_layout(make_shape(1024,256), GenRowMajor{}))"
    >>> str(parse(f"make_tma_atom(SM90_TMA_LOAD{{}}, {g}, (64,32):(32,1), (64,32))"))
    'SM90_TMA_LOAD of boxes (32,64) of float, swizzle none'
    """
    smem = as_layout(whole(smem))
    values = _tile("make_tma_atom", g, product_each(smem.shape) if tiler is None else tiler)
    ctas = 1 if cluster is None else size(as_layout(cluster))
    return atom_of("make_tma_atom", op, g, smem, ctas, values, internal)


def make_tma_copy_sm90(op: Any, g: Any, smem: Any, tiler: Any, operand: str, cluster: Any = None, internal: Any = None) -> TmaCopy:
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


def _extent(x: Any) -> int | None:
    return int(x) if isinstance(x, int) else None


def _tile(name: str, g: Any, tiler: Any) -> Layout:
    """The tile of a tensor: element -> coordinate."""
    tile: Layout = composition(make_identity_layout(in_global_memory(name, g).layout.shape), tiler)
    if (extent := _unknown_extent(g.layout.shape, tiler)) is not None:
        words = "the value of '_tma_gbasis_size' is not usable in a constant expression"
        raise AlgebraError(
            f"{name}: {words}: the box follows from the extent {extent}, which is known only at run time",
            hint=f"write it as Int<{extent}>{{}}, or cut the mode before",
        )
    return tile


def _unknown_extent(shape: Any, tiler: Any) -> int | None:
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
        if not isinstance(extent, Static):
            return int(extent)
        rest //= min(int(extent), rest)
    return None
