"""The DSL's helpers for Hopper and Blackwell: layouts of shared memory, tiled MMAs and epilogue tiles that they choose.

Sources: cutlass/utils/hopper_helpers.py, blackwell_helpers.py, blockscaled_layout.py and cutlass/cute/nvgpu/*/helpers.py of the
Python DSL 4.7, and CUTLASS's cute/atom/mma_traits_sm100.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError
from cute_viz.source.python.blockscaled import BLOCKSCALED, F8F6F4, picked_types
from cute_viz.source.python.epilogue import EPILOGUE
from cute_viz.source.python.instructions import copy_atom, instruction, need_tiled_mma, tiled_mma
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.tensor_memory import TENSOR_MEMORY
from cute_viz.source.python.tensors import is_row_major, leading, picked
from cute_viz.source.python.tma import TMA
from cute_viz.source.python.tuples import TUPLES
from cute_viz.source.python.values import Member, Tensor, Unknown
from cute_viz.values.types import ValueType

_CAPACITY = dict.fromkeys(("80", "87"), 163) | dict.fromkeys(("86", "89", "120", "121"), 99)
_CAPACITY |= dict.fromkeys(("90", "100", "101", "103", "110"), 227)


def _kind(name: str) -> Member:
    return Member("SmemLayoutAtomKind", name)


def _is_k(mode: Any) -> bool:
    """Whether a major mode is K. Raises: AlgebraError for any other value."""
    mode = need(mode)
    if not isinstance(mode, Member) or mode.name not in ("K", "MN"):
        raise AlgebraError("a major mode must be OperandMajorMode.K or OperandMajorMode.MN")
    return mode.name == "K"


def widest(k_major: bool, bits: int, extent: int, special: bool = False) -> Member:
    """The widest swizzle whose atom the contiguous extent of a tile is a multiple of.

    >>> widest(True, 16, 32).name, widest(False, 16, 128).name, widest(False, 32, 32, special=True).name
    ('K_SW64', 'MN_SW128', 'MN_SW128_32B')
    """
    if extent % 8 or (extent * bits) % 128:
        raise AlgebraError(f"{extent} contiguous elements of {bits} bits fill no row of a shared-memory atom")
    major = "K" if k_major else "MN"
    for word, row_bits in (("SW128", 1024), ("SW64", 512), ("SW32", 256)):
        if extent * bits % row_bits == 0:
            return _kind("MN_SW128_32B" if special and not k_major and bits == 32 and word == "SW128" else f"{major}_{word}")
    return _kind(f"{major}_INTER")


def smem_atom(kind: Any, element: Any) -> ComposedLayout:
    """The layout atom of a kind: 8 rows of 128 to 1024 bits under a swizzle, in elements.

    >>> str(smem_atom(Member("SmemLayoutAtomKind", "K_SW64"), ValueType("f16")))
    'Sw<2,4,3> o 0 o (8,32):(32,1)'
    """
    kind, element = need(kind), need(element)
    if not isinstance(kind, Member) or not isinstance(element, ValueType):
        raise AlgebraError("make_smem_layout_atom takes a SmemLayoutAtomKind and an element type")
    major, _, word = kind.name.partition("_")
    if word not in ("INTER", "SW32", "SW64", "SW128", "SW128_32B"):
        raise AlgebraError(f"there is no shared-memory atom {kind.name!r}")
    rows = {"INTER": 0, "SW32": 1, "SW64": 2}.get(word, 3)
    swizzle = Swizzle(2, 5, 2) if word == "SW128_32B" else Swizzle(rows, 4, 3)
    length = (128 << rows) // element.bits
    inner = Layout((8, length), (length, 1)) if major == "K" else Layout((length, 8), (1, length))
    return ComposedLayout(swizzle, 0, inner)


def _tiled(atom: Any, shape: Any, order: Any) -> Any:
    return clear_static(find("tile_to_shape").call([atom, shape, order]))


def _make_atom(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    return smem_atom(*picked(args, named, ("kind", "element_type")))


# Hopper


def _sm90_kind(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    layout, element, extent = picked(args, named, ("layout", "element_type", "major_mode_size"))
    return widest(is_row_major(layout), need(element).bits, need(extent))


def _sm90_smem(side: str) -> Callable[..., Any]:
    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        layout, tiler, element, stages = picked(args, named, (f"{side}_layout", "mma_tiler_mnk", f"{side}_dtype", "num_stages"))
        tiler, k_major = need(tiler), is_row_major(layout)
        mn = tiler[0 if side == "a" else 1]
        extent = int(find("size").call([tiler[2] if k_major else mn]))
        atom = smem_atom(widest(k_major, need(element).bits, extent), element)
        return _tiled(atom, (mn, tiler[2], need(stages)), (0, 1, 2) if k_major else (1, 0, 2))

    return make


def _sm90_epilogue(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    names = ("epi_dtype", "epi_layout", "epi_tile", "epi_stage", "smem_trg_shape", "smem_order")
    element, layout, tile, stages, shape, order = picked(args, named, names)
    tile, n_major = need(tile), is_row_major(layout)
    atom = smem_atom(widest(n_major, need(element).bits, tile[1] if n_major else tile[0]), element)
    target = need(shape) if shape is not None else (*tile, need(stages))
    return _tiled(atom, target, need(order) if order is not None else (0, 1, 2) if n_major else (1, 0, 2))


def _sm90_mma(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    names = ("a_dtype", "b_dtype", "a_leading_mode", "b_leading_mode", "acc_dtype", "atom_layout_mnk", "tiler_mn", "a_source")
    a, b, a_mode, b_mode, acc, layout, tiler, source = picked(args, named, names)
    a, b, tiler = need(a), need(b), need(tiler)
    source = Member("OperandSource", "SMEM") if source is None else source
    rest = [acc, tuple(tiler), source, a_mode, b_mode]
    if {a.short, b.short} <= {"f16", "bf16"} and a == b:
        op = instruction("warpgroup", "MmaF16BF16Op", [a, *rest], {})
    elif {a.short, b.short} <= {"e4m3", "e5m2"} or {a.short, b.short} <= {"s8", "u8"}:
        op = instruction("warpgroup", "MmaI8Op" if a.short[1:] == "8" else "MmaF8Op", [a, b, *rest], {})
    else:
        raise AlgebraError(f"no warp-group MMA multiplies {a.short} by {b.short}")
    return tiled_mma(op, machine.given.resolve, need(layout))


def _sm90_tile(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    names = ("tile_shape_mnk", "element_type", "is_cooperative", "epi_tile_override")
    tile, element, cooperative, override = picked(args, named, names)
    if need(override) is not None:
        return override
    m, n = (int(find("size").call([extent])) for extent in need(tile)[:2])
    if need(cooperative):
        return min(128, m), min(32, n)
    return min(64, m), min(64 if need(element).bits == 8 else 32, n)


def _stmatrix(count: int) -> Callable[..., Any]:
    """The store of an epilogue: stmatrix of 16-bit values, plain stores of others."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        layout, element, _ = picked(args, named, ("layout_d", "elem_ty_d", "elem_ty_acc"))
        element = need(element)
        if element.bits == 16:
            op = instruction("warp", "StMatrix8x8x16bOp", [not is_row_major(layout), count], {})
        else:
            op = instruction("cute", "CopyUniversalOp", [], {})
        return copy_atom(op, element, None, machine.given.resolve)

    return make


# Blackwell


def _sm100_mma(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """make_trivial_tiled_mma, of one type for A and B or of two."""
    a, b, found = picked_types(args, named, ("a_mode", "b_mode", "acc_dtype", "cta_group", "mma_tiler_mn", "a_source"))
    acc, rest = (
        found["acc_dtype"],
        [tuple(need(found["mma_tiler_mn"])), *(found[x] for x in ("cta_group", "a_source", "a_mode", "b_mode"))],
    )
    if a == b and a.short in ("f16", "bf16"):
        op = instruction("tcgen05", "MmaF16BF16Op", [a, acc, *rest], {})
    elif a == b and a.short in ("tf32", "f32"):
        op = instruction("tcgen05", "MmaTF32Op", rest, {})
    elif a == b and a.short in ("s8", "u8"):
        op = instruction("tcgen05", "MmaI8Op", [a, *rest], {})
    elif a.short in F8F6F4 and b.short in F8F6F4:
        op = instruction("tcgen05", "MmaF8F6F4Op", [a, b, acc, *rest], {})
    else:
        raise AlgebraError(f"no tcgen05 MMA multiplies {a.short} by {b.short}")
    return tiled_mma(op, machine.given.resolve)


def _sm100_smem(side: str) -> Callable[..., Any]:
    """make_smem_layout_a and _b: the widest atom that the CTA's part of a tile allows, tiled to the shape that the MMA takes."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        k_given = named.pop("is_k_major", None)
        mma, tiler, element, stages = picked(args, named, ("tiled_mma", "mma_tiler_mnk", f"{side}_dtype", "num_stages"))
        mma, tiler = need_tiled_mma(mma), need(tiler)
        if k_given is not None:
            k_major = bool(need(k_given))
        elif mma.op is None:
            raise AlgebraError("the major mode of this MMA is not known")
        else:
            k_major = _is_k(mma.op.get(f"{side}_major_mode"))
        mn = tiler[0 if side == "a" else 1]
        shape = clear_static(find(f"partition_shape_{side.upper()}").call([mma.value, (mn, tiler[2])]))
        extents = [int(find("size").call([part])) for part in modes(shape[0])]
        whole = (extents[0] * shape[1], extents[1] * shape[2])
        atom = smem_atom(widest(k_major, need(element).bits, whole[1 if k_major else 0], special=True), element)
        return mma_shaped(atom, (*shape, need(stages)), (1, 2, 3) if k_major else (2, 1, 3))

    return make


def mma_shaped(atom: Any, shape: Any, order: Any = None) -> Any:
    """An atom tiled to ((MMA_M,MMA_K),M,K,...): first over whole extents, then cut by the MMA's.

    >>> str(mma_shaped(Layout((8, 64), (64, 1)), ((128, 16), 1, 4)))
    '((128,16),1,4):((64,1),0,16)'
    """
    first = modes(shape[0])
    paired = tuple((a, b) for a, b in zip(first, shape[1:], strict=False))
    whole = (*paired, *shape[1 + len(first) :])
    tiled = find("tile_to_shape").call([atom, whole, *([] if order is None else [order])])
    cut = find("tiled_divide").call([tiled, tuple(int(find("size").call([part])) for part in first)])
    return clear_static(find("coalesce").call([cut, _ones(shape)]))


def _ones(shape: Any) -> Any:
    return tuple(map(_ones, shape)) if isinstance(shape, tuple) else 1


def _kind_of_operand(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """get_smem_layout_atom_ab: the widest swizzle of an operand's tile."""
    mode, element, tile, sparsity = map(need, picked(args, named, ("major_mode", "element_type", "smem_shape_mn_k", "sparsity")))
    k_major = _is_k(mode)
    extent = int(find("size").call([tile[1 if k_major else 0]])) // (sparsity or 1 if k_major else 1)
    return widest(k_major, element.bits, extent, special=True)


def _tile_to_mma_shape(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    atom, shape, order = picked(args, named, ("atom", "mma_tile_shape", "order"))
    return mma_shaped(need(atom), need(shape), None if order is None else need(order))


def _sm100_plain_smem(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    mode, tile, element, stages = picked(args, named, ("leading_mode", "smem_tile_shape", "a_dtype", "num_stages"))
    tile, k_major = need(tile), _is_k(mode)
    extent = int(find("size").call([tile[1 if k_major else 0]]))
    atom = smem_atom(widest(k_major, need(element).bits, extent, special=True), element)
    tiled = _tiled(atom, (*tile, need(stages)), (0, 1, 2) if k_major else (1, 0, 2))
    return clear_static(find("coalesce").call([tiled, (1, 1, 1)]))


def _sm100_epilogue(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    element, layout, tile, stages = picked(args, named, ("epi_dtype", "epi_layout", "epi_tile", "epi_stage"))
    tile, element, n_major = need(tile), need(element), is_row_major(layout)
    element = ValueType("s8") if element.short == "pred" else element
    contiguous = tile[1 if n_major else 0]
    if isinstance(contiguous, Layout):
        contiguous = find("coalesce").call([find("right_inverse").call([contiguous])]).shape
    extent = int(find("size").call([contiguous]))
    atom = smem_atom(widest(n_major, element.bits, extent, special=True), element)
    extents = tuple(int(find("size").call([part])) for part in tile)
    return _tiled(atom, (*extents, need(stages)), (0, 1, 2) if n_major else (1, 0, 2))


# All


def _from_tensor(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """LayoutEnum.from_tensor: which of the first two modes is contiguous; of `ROW_MAJOR`, given for a tensor, that."""
    tensor = picked(args, named, ("tensor",))[0]
    if isinstance(tensor, Unknown) and tensor.path:
        message = f"cannot determine whether {tensor.path!r} is row-major or column-major"
        hint = f"give it: `let={tensor.path}=ROW_MAJOR`, COL_MAJOR, or a layout such as (512,512):(512,1)"
        raise tensor.error.but(message=message, hint=hint, needs=(tensor.path,))
    tensor = need(tensor)
    if isinstance(tensor, Member) and tensor.enum == "LayoutEnum":
        return tensor
    at = leading(tensor.layout) if isinstance(tensor, Tensor) else leading(tensor)
    if at not in (0, 1):
        raise AlgebraError("this tensor is neither row-major nor column-major")
    return Member("LayoutEnum", "ROW_MAJOR" if at == 1 else "COL_MAJOR")


def _smem_capacity(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """Shared memory of a block, in bytes, by the name of an architecture."""
    arch = need(picked(args, named, ("compute_capability",))[0])
    text = machine.main.text
    if arch is None and re.search(r"\b(tcgen05|warpgroup)\b", text) and not re.search(r"\bsm_?(80|86|89|12\d)\b|\bwarp\.Mma", text):
        machine.given.notes["blocks have 227 KiB of shared memory, as those of SM90 and SM100 that this file is for"] = None
        arch = "sm_100"
    number = str(arch).removeprefix("sm_").rstrip("af")
    if number not in _CAPACITY:
        raise AlgebraError(f"the shared memory of {arch or 'this GPU'} is not known", hint="such as 'sm_90'")
    return _CAPACITY[number] * 1024


HELPERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("sm90", "get_smem_layout_atom"): _sm90_kind,
    ("sm90", "make_smem_layout_a"): _sm90_smem("a"),
    ("sm90", "make_smem_layout_b"): _sm90_smem("b"),
    ("sm90", "make_smem_layout_epi"): _sm90_epilogue,
    ("sm90", "make_trivial_tiled_mma"): _sm90_mma,
    ("sm90", "compute_tile_shape_or_override"): _sm90_tile,
    ("sm90", "get_smem_store_op"): _stmatrix(4),
    ("sm90", "sm90_get_smem_store_op"): _stmatrix(4),
    ("utils", "compute_tile_shape_or_override"): _sm90_tile,
    ("utils", "sm90_get_smem_store_op"): _stmatrix(4),
    ("utils", "sm90_get_smem_layout_atom"): _sm90_kind,
    ("utils", "sm90_make_smem_layout_a"): _sm90_smem("a"),
    ("utils", "sm90_make_smem_layout_b"): _sm90_smem("b"),
    ("utils", "sm90_make_smem_layout_epi"): _sm90_epilogue,
    ("utils", "sm90_make_trivial_tiled_mma"): _sm90_mma,
    ("", "make_smem_layout_atom"): _make_atom,
    ("", "get_smem_layout_atom_ab"): _kind_of_operand,
    ("", "tile_to_mma_shape"): _tile_to_mma_shape,
    ("", "from_tensor"): _from_tensor,
    ("", "get_smem_capacity_in_bytes"): _smem_capacity,
    ("", "sm120_get_smem_store_op"): _stmatrix(2),
}
for _module in ("sm100", "utils"):
    HELPERS |= {
        (_module, "make_trivial_tiled_mma"): _sm100_mma,
        (_module, "make_smem_layout_a"): _sm100_smem("a"),
        (_module, "make_smem_layout_b"): _sm100_smem("b"),
        (_module, "make_smem_layout"): _sm100_plain_smem,
        (_module, "make_smem_layout_epi"): _sm100_epilogue,
    }
HELPERS |= BLOCKSCALED | EPILOGUE | TENSOR_MEMORY | TMA | TUPLES
