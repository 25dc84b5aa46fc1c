"""Block-scaled MMAs: their tiled MMAs, and the layouts of their scale factors in shared memory.

Source: cutlass/utils/blockscaled_layout.py and blackwell_helpers.py of the Python DSL 4.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.inttuple import map_leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.tmem import make_fragment_sf
from cute_viz.errors import AlgebraError
from cute_viz.source.python.instructions import instruction, need_tiled_mma, tiled_mma
from cute_viz.source.python.machine import Machine, need, need_whole
from cute_viz.source.python.tensors import layout_of, picked
from cute_viz.source.python.values import Member
from cute_viz.values.types import ValueType

F8F6F4 = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


def _block(size: Any) -> Layout:
    """128 rows of 4 scale factors, each for `size` elements of K: 32 rows of 16 bytes, four of these side by side."""
    size = need(size)
    if size not in (16, 32):
        raise AlgebraError(f"a scale factor covers 16 or 32 elements, not {size}")
    return Layout(((32, 4), (size, 4)), ((16, 4), (0, 1)))


def _staged(layout: Any, stages: Any) -> Any:
    """A layout with a last mode of stages, each behind the other."""
    step = int(find("cosize").call([find("filter_zeros").call([layout])]))
    return clear_static(find("append").call([layout, Layout(need(stages), step)]))


def _tile_atom(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    shape, size = picked(args, named, ("Shape", "sf_vec_size"))
    return clear_static(find("tile_to_shape").call([_block(size), need(shape), (2, 1, 3)]))


def _smem_sf(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    tile, size, stages = picked(args, named, ("tile_shape", "sf_vec_size", "num_stages"))
    return _staged(find("tile_to_shape").call([_block(size), need(tile), (2, 1)]), stages)


def _smem(side: str) -> Callable[..., Any]:
    """make_smem_layout_sfa and _sfb: the scale factors of a tile, cut as the MMA's instructions take them."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        mma, tiler, size, stages = picked(args, named, ("tiled_mma", "mma_tiler_mnk", "sf_vec_size", "num_stages"))
        atom, tiler, size = need_tiled_mma(mma).value.atom, need(tiler), need(size)
        at = 0 if side == "a" else 1
        extent = tiler[0] // int(find("size").call([atom.thr_id])) if side == "a" else -(-tiler[1] // 128) * 128
        tile = (extent, tiler[2])
        layout = find("tile_to_shape").call([_block(size), tile, (2, 1)])
        many = (tiler[at] // int(atom.shape_mnk[at]), tiler[2] // int(atom.shape_mnk[2]))
        layout = find("tiled_divide").call([layout, find("shape_div").call([tile, many])])
        return _staged(find("logical_divide").call([layout, ((128, size),)]), stages)

    return make


def _smem_sm120(side: int) -> Callable[..., Any]:
    """sm120_make_smem_layout_sfa and _sfb."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        mma, tile, size, stages = picked(args, named, ("tiled_mma", "tile_shape_mnk", "sf_vec_size", "num_stages"))
        mma, tile, size = need_tiled_mma(mma), need(tile), need(size)
        each = int(mma.value.atom.shape_mnk[2]) // size
        mn, k = tile[side], tile[2]
        if mn % 128 or k % (4 * each) or k % (size * 4):
            raise AlgebraError(f"a tile of {mn} x {k} is not made of whole blocks of scale factors")
        blocks = mn // 128
        shape = (((32, 4), blocks), ((size, each), 4 // each, k // size // 4))
        stride = (((16, 4), 512), ((0, 1), each, blocks * 512))
        return _staged(Layout(shape, stride), stages)

    return make


def _smem_sm103(side: str) -> Callable[..., Any]:
    """sm103_make_smem_layout_sfa and _sfb: blocks of 8 x 4 x 4 rows, of B's 256 rows 32 x 4 x 2."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        mma, tiler, size, stages = picked(args, named, ("tiled_mma", "mma_tiler", "sf_vec_size", "num_stages"))
        mma, tiler, size = need_tiled_mma(mma), need(tiler), need(size)
        block = Layout(((8, 4, 4), (size, 4)), ((16, 128, 4), (0, 1)))
        if side == "a":
            shape = clear_static(find("partition_shape_A").call([mma.value, (tiler[0], tiler[2])]))
            tile = (shape[0][0] * shape[1], shape[0][1] * shape[2] // (4 if size == 16 else 2))
        else:
            tile = (tiler[1], tiler[2] // (4 if size == 16 else 2))
            if tile[0] != 128:
                block = Layout(((32, 4, 2), (size, 4)), ((16, 4, tile[1] // size // 4 * 512), (0, 1)))
        extents = find("product_each").call([block.shape])
        tiled = find("tiled_product").call([block, Layout(find("shape_div").call([tile, extents]))])
        step = int(find("size").call([find("filter_zeros").call([tiled])]))
        return clear_static(find("append").call([tiled, Layout(need(stages), step)]))

    return make


def picked_types(args: list[Any], named: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, Any, dict[str, Any]]:
    """The types of A and B, for which one argument may stand, and the other arguments by name; A is in shared memory by default."""
    named = {word.replace("_leading", ""): value for word, value in named.items()}
    one = "ab_dtype" in named or (len(args) > 1 and "a_dtype" not in named and not isinstance(need_whole(args[1]), ValueType))
    names = (*(("ab_dtype",) if one else ("a_dtype", "b_dtype")), *names)
    found = dict(zip(names, picked(args, named, names), strict=True))
    if found["a_source"] is None:
        found["a_source"] = Member("OperandSource", "SMEM")
    return need(found[names[0]]), need(found[names[0 if one else 1]]), found


def _mma(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """make_blockscaled_trivial_tiled_mma, of one type for A and B or of two."""
    names = ("a_mode", "b_mode", "sf_dtype", "sf_vec_size", "cta_group", "mma_tiler_mn", "a_source")
    a, b, found = picked_types(args, named, names)
    size, rest = need(found["sf_vec_size"]), [tuple(need(found["mma_tiler_mn"])), found["cta_group"], found["a_source"]]
    if a.short == b.short == "e2m1":
        if size == 32:
            op = instruction("tcgen05", "MmaMXF4Op", rest, {})
        else:
            op = instruction("tcgen05", "MmaMXF4NVF4Op", [found["sf_dtype"], *rest], {})
    elif a.short in F8F6F4 and b.short in F8F6F4:
        op = instruction("tcgen05", "MmaMXF8F6F4Op", [a, b, *rest, found["a_mode"], found["b_mode"]], {})
    else:
        raise AlgebraError(f"no block-scaled MMA multiplies {a.short} by {b.short}")
    return tiled_mma(op, machine.given.resolve)


def _mma_sm103(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    sf, size, group, shape, source = picked(args, named, ("sf_dtype", "sf_vec_size", "cta_group", "mma_tiler_mn", "a_source"))
    source = source if source is not None else Member("OperandSource", "SMEM")
    rest = [tuple(need(shape)), group, source]
    if need(size) == 32:
        op = instruction("tcgen05", "SM103MmaMXF4Op", rest, {})
    else:
        op = instruction("tcgen05", "SM103MmaMXF4NVF4Op", [sf, *rest], {})
    return tiled_mma(op, machine.given.resolve)


def _permutation(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    tile, size, wide = map(need, picked(args, named, ("tile_shape_mnk", "sf_vec_size", "use_mxf8f6f4")))
    if size not in (16, 32):
        raise AlgebraError(f"a scale factor covers 16 or 32 elements, not {size}")
    return min(tile[0], 128), Layout((8, 2, 2), (1, 16, 8)), 32 if wide else 64


def _in_tensor_memory(operand: str) -> Callable[..., Any]:
    """make_tmem_layout_sfa and _sfb: where tensor memory has the scale factors of a stage, of which it keeps four copies."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        mma, _, _, smem = picked(args, named, ("tiled_mma", "mma_tiler_mnk", "sf_vec_size", "smem_layout"))
        mma, smem = need_tiled_mma(mma), need(smem)
        made = make_fragment_sf(mma.value.atom.instruction, operand, "float_ue8m0_t", clear_static(layout_of(smem).shape)).layout
        return Layout(clear_static(made.shape), map_leaves(lambda n, d: 0 if n == 1 else d, made.shape, clear_static(made.stride)))

    return make


BLOCKSCALED: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "make_tmem_layout_sfa"): _in_tensor_memory("SFA"),
    ("", "make_tmem_layout_sfb"): _in_tensor_memory("SFB"),
    ("", "tile_atom_to_shape_SF"): _tile_atom,
    ("", "make_smem_layout_sf"): _smem_sf,
    ("", "make_smem_layout_sfa"): _smem("a"),
    ("", "make_smem_layout_sfb"): _smem("b"),
    ("", "sm120_make_smem_layout_sfa"): _smem_sm120(0),
    ("", "sm120_make_smem_layout_sfb"): _smem_sm120(1),
    ("", "sm103_make_smem_layout_sfa"): _smem_sm103("a"),
    ("", "sm103_make_smem_layout_sfb"): _smem_sm103("b"),
    ("", "make_blockscaled_trivial_tiled_mma"): _mma,
    ("", "sm103_make_blockscaled_trivial_tiled_mma"): _mma_sm103,
    ("", "get_permutation_mnk"): _permutation,
}
