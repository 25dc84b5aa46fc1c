"""What Blackwell's epilogues take: the tile that is stored at once, and the load of tensor memory; the grids of tile schedulers.

Sources: cutlass/utils/blackwell_helpers.py, static_persistent_tile_scheduler.py and dynamic_persistent_tile_scheduler.py of the
Python DSL 4.7.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.errors import AlgebraError
from cute_viz.source.python.instructions import copy_atom, instruction
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.staged import computed
from cute_viz.source.python.tensors import is_row_major, picked
from cute_viz.source.python.values import Class, Instance, Member
from cute_viz.values.integer import Unknown as RunTime
from cute_viz.values.types import ValueType


def _least(bits: int, warps: int, m_major: bool) -> int:
    """The fewest columns of a tile: 8 for a warp that stores along M, else 16 bytes of elements."""
    return warps * (8 if m_major else 128 if bits == 6 else 128 // bits)


def tile_size(
    m: int, n: int, two: bool, d: int, c: int | None, d_m_major: bool, c_m_major: bool, warps: Any = None
) -> tuple[int, int]:
    """The epilogue's tile of a CTA's: whole rows of warps, and as many columns as suit the registers.

    >>> tile_size(128, 128, False, 16, None, False, True)
    (128, 32)
    """
    warp_m, warp_n = warps if warps is not None else (2, 2) if m == 64 and two else (4, 1)
    bits = d if c is None else max(c, d)
    tile_m = min(m, 32 * warp_m)
    if c is None:
        best = (8192 if bits == 4 else 4096) // tile_m
    elif bits == 32:
        best = 16 if m > 64 and n <= 128 else 32
    elif bits == 16:
        best = 32 if n <= 128 else 64
    else:
        best = 64
    while best > 1 and n % best:
        best //= 2
    least_c = 8 * warp_n if c is None or c_m_major else _least(c, warp_n, False)
    tile_n = min(n, max(best, least_c, _least(d, warp_n, d_m_major)))
    return tile_m, tile_n if n % tile_n == 0 else n


def _tile_shape(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    names = ("cta_tile_shape", "use_2cta_instrs", "layout_d", "elem_ty_d", "layout_c", "elem_ty_c", "tmem_warp_shape_mn")
    tile, two, layout, element, layout_c, element_c, warps = picked(args, named, names)
    (m, n), two, element, element_c, warps = need(tile)[:2], bool(need(two)), need(element), need(element_c), need(warps)
    if not isinstance(m, int) or not isinstance(n, int) or not isinstance(element, ValueType):
        raise AlgebraError("compute_epilogue_tile_shape takes a tile of integers and an element type")
    d_m, c_m = not is_row_major(layout), True if layout_c is None else not is_row_major(layout_c)
    width_c = element_c.bits if isinstance(element_c, ValueType) else None
    tile_m, tile_n = tile_size(m, n, two, element.bits, width_c, d_m, c_m, warps)
    warp_n = (warps if warps is not None else (2, 2) if m == 64 and two else (4, 1))[1]
    least = max(_least(element.bits, warp_n, d_m), 8 * warp_n if c_m or width_c is None else _least(width_c, warp_n, False))
    if n < least:
        raise AlgebraError(f"a tile of {n} columns is too small for this epilogue")
    columns = find("coalesce").call([Layout((tile_n // warp_n, warp_n), (1, n // warp_n))])
    return Layout(tile_m), clear_static(columns)


def _tile_size(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    names: tuple[str, ...] = ("cta_tile_m", "cta_tile_n", "use_2cta", "elem_width_d", "elem_width_c")
    names += ("d_is_m_major", "c_is_m_major", "tmem_warp_shape_mn")
    m, n, two, d, c, d_m, c_m, warps = map(need, picked(args, named, names))
    return tile_size(m, n, bool(two), d, c, d_m is None or bool(d_m), c_m is None or bool(c_m), warps)


def _tmem_load(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """get_tmem_load_op: the widest load of the epilogue's tile from tensor memory that its types allow."""
    names = ("cta_tile_shape", "layout_d", "elem_ty_d", "elem_ty_acc", "epi_tile", "use_2cta_instrs", "tmem_warp_shape_mn")
    cta, layout, element, acc, tile, two, warps = picked(args, named, names)
    cta, tile, warps, acc, element = need(cta), need(tile), need(warps), need(acc), need(element)
    if warps is None:
        warps = (2, 2) if cta[0] == 64 and need(two) else (4, 1)
    extents = tuple(int(find("size").call([part])) for part in tile)
    each = find("shape_div").call([extents, warps])
    lanes, columns = int(find("size").call([each[0]])), int(find("size").call([each[1]])) * acc.bits
    lanes, bits = _load_shape(lanes, acc.bits, element.bits, not is_row_major(layout))
    unit = 64 if (lanes, bits) == (16, 32) else bits
    most = {256: 32, 128: 64}.get(bits, 128)
    times = next((n for n in (128, 64, 32, 16, 8, 4, 2, 1) if n <= most and columns % (unit * n) == 0), None)
    if times is None:
        raise AlgebraError("no load of tensor memory fits this tile")
    name = "Ld16x32bx2Op" if (lanes, bits) == (16, 32) else f"Ld{lanes}x{bits}bOp"
    pack = Member("Pack", "PACK_16b_IN_32b" if acc.bits == 16 else "NONE")
    return copy_atom(instruction("tcgen05", name, [times, pack], {}), acc, None, machine.given.resolve)


def _load_shape(lanes: int, acc: int, d: int, m_major: bool) -> tuple[int, int]:
    """The lanes and bits of a load: 16 lanes where a warp has no more, or stores along M."""
    if lanes not in (16, 32):
        raise AlgebraError(f"a warp loads 16 or 32 lanes of tensor memory, not {lanes}")
    half = lanes == 16
    if (acc, d) == (32, 32):
        return (16, 256 if m_major else 128) if half else (32, 32)
    if (acc, d) == (32, 16):
        return (16, 256) if half or m_major else (32, 32)
    if (acc, d) == (32, 8):
        return (16, 256) if m_major else (16, 32) if half else (32, 32)
    if (acc, d) == (16, 16):
        return (16, 128) if half or m_major else (32, 32)
    if acc == 32 and d in (4, 6) and not half:
        return 32, 32
    raise AlgebraError(f"no epilogue stores {d}-bit values of {acc}-bit accumulators from {lanes} lanes")


def _scheduler(name: str) -> Callable[..., Any]:
    """`PersistentTileSchedulerParams(problem_shape_ntile_mnl, cluster_shape_mnk)`: the clusters that a problem has."""
    cls = Class(ast.ClassDef(name, [], [], [], []), {})
    words = ("problem_shape_ntile_mnl", "cluster_shape_mnk", "swizzle_size", "raster_along_m", "fallback_cluster_shape_mnk")

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        tiles, cluster, swizzle, along_m, fallback = map(need, picked(args, named, words))
        if not isinstance(tiles, tuple) or not isinstance(cluster, tuple) or len(tiles) != 3 or len(cluster) != 3:
            raise AlgebraError("a tile scheduler takes the tiles of a problem (M,N,L) and the shape of a cluster (M,N,1)")
        if fallback is not None or cluster[2] != 1:
            raise AlgebraError("clusters of another shape beside these, or along K, are not supported here")
        names = {"problem_shape_ntile_mnl": tiles, "cluster_shape_mn": cluster[:2], "_cluster_shape_mnk": cluster}
        return Instance(cls, names | {"swizzle_size": swizzle or 1, "raster_along_m": along_m is not False})

    return make


def _grid(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`get_grid_shape(params, max_active_clusters)`: whole clusters, no more than run at once; of a dynamic scheduler all."""
    params, most = map(need, picked(args, named, ("params", "max_active_clusters")))
    if not isinstance(params, Instance) or "_cluster_shape_mnk" not in params.names:
        raise AlgebraError("get_grid_shape takes the parameters of a tile scheduler")
    names = params.names
    tiles, cluster, swizzle = names["problem_shape_ntile_mnl"], names["_cluster_shape_mnk"], names["swizzle_size"]
    whole = [_whole(x, y) for x, y in zip(tiles, cluster, strict=True)]
    if params.cls.name.startswith("Clc"):
        if swizzle == 1 and names["raster_along_m"]:
            return tuple(whole)
    elif swizzle != 1:
        at = 1 if names["raster_along_m"] else 0
        whole[at] = _whole(whole[at], swizzle * cluster[at])
    each = cluster[0] * cluster[1]
    known = next((x for x in (*whole, most) if isinstance(x, RunTime)), None)
    if known is not None:
        return (*cluster[:2], computed("clusters", known, 0, *whole, most))
    count = math.prod(whole) // each
    return (*cluster[:2], count if params.cls.name.startswith("Clc") else min(count, most))


def _whole(extent: Any, part: Any) -> Any:
    return computed("+", extent, 0, part) if isinstance(extent, RunTime) else -(-extent // part) * part


EPILOGUE: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "compute_epilogue_tile_shape"): _tile_shape,
    ("", "compute_epilogue_tile_size"): _tile_size,
    ("", "get_tmem_load_op"): _tmem_load,
    ("", "PersistentTileSchedulerParams"): _scheduler("PersistentTileSchedulerParams"),
    ("", "ClcDynamicPersistentTileSchedulerParams"): _scheduler("ClcDynamicPersistentTileSchedulerParams"),
    ("", "get_grid_shape"): _grid,
}
