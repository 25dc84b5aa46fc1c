"""CUTLASS's selectors of shared-memory layouts and instructions, and the aliases of layouts in CuTe's traits.

Sources: cutlass/gemm/collective/builders/sm90_common.inl, sm100_common.inl, cute/arch/mma_sm90.hpp, cute/atom/mma_traits_*.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.elements import ValueType
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import clear_static
from cute_viz.errors import AlgebraError, Span
from cute_viz.notation.vocabulary import smem_atom
from cute_viz.source.cpp.atoms import instruction
from cute_viz.source.cpp.elements import bits, canonical
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Enumerator, External

_WIDEST = ("SW128", "SW64", "SW32", "INTER")
_WGMMA_N = (256, 192, 128, 96, 64, 32, 16, 8)
_EXTENDED = "CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED"  # all other N, too


def _major(value: Any) -> str:
    if isinstance(value, External) and value.error is not None:
        raise value.error
    if isinstance(value, Enumerator) and value.name in ("MN", "K"):
        return value.name
    if isinstance(value, int) and value in (0, 1):
        return "MN" if value else "K"
    raise AlgebraError(f"{show(value)} is not a major", hint="GMMA::Major::K or GMMA::Major::MN")


def _first(value: Any, what: str) -> int:
    """size<0> of a block."""
    if isinstance(value, External) and value.error is not None:
        raise value.error
    extent = value[0] if isinstance(value, tuple) and value else value
    number = product(certain(extent)) if isinstance(extent, (int, tuple)) else None
    if number is None:
        raise AlgebraError(f"{what} must be a shape, not {show(value)}")
    if number % 8:
        raise AlgebraError(f"{what}0 must be a multiple of 8, not {number}")
    return int(number)


def _fitting(major: str, width: int, modes: tuple[str, ...], extent: int, mode: int, what: str) -> Any:
    """The first layout atom whose mode divides an extent."""
    for name in modes:
        found = smem_atom(f"Layout_{major}_{name}_Atom", (width,))
        assert found is not None
        shape: Any = domain(found).shape
        if extent % shape[mode] == 0:
            return clear_static(found)
    raise AlgebraError(f"{what}0 = {extent} is not a multiple of the smallest {major}-major layout atom of {width}-bit elements")


def smem_selector(kind: str, args: list[Any]) -> Any:
    """The layout atom that ss_smem_selector, rs_smem_selector or sm100_smem_selector takes for a major, a type and a block.

    Raises: AlgebraError for what CUTLASS refuses.

    >>> args = [Enumerator("GMMA::Major", "K", 0), ValueType("half_t"), 128, 64]
    >>> str(smem_selector("ss", args))
    'Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)'
    """
    if len(args) < 4:
        raise AlgebraError(f"{kind}_smem_selector has a major, a type and two extents")
    major, width = _major(args[0]), bits(args[1])
    mn, k = _first(args[2], "BLK_MN"), _first(args[3], "BLK_K")
    if major == "K":
        return _fitting("K", width, _WIDEST, k, 1, "BLK_K")
    transposed = len(args) > 4 and bool(args[4])
    modes: tuple[str, ...] = _WIDEST
    if kind == "sm100" and width == 32:
        modes = ("SW128_32B",)
    elif kind == "rs" and width % 32 == 0:
        modes = ("SW32",) if transposed else ("SW32", "INTER")
    elif kind == "rs" and width == 8 and transposed:
        modes = ("SW128",)
    elif kind == "rs" and width not in (8, 16):
        raise AlgebraError(f"rs_smem_selector has no layout for elements of {width} bits")
    return _fitting("MN", width, modes, mn, 0, "BLK_MN")


_INPUTS = {"half_t": "F16", "bfloat16_t": "BF16", "tfloat32_t": "TF32", "float_e4m3_t": "E4M3", "float_e5m2_t": "E5M2"}
_INPUTS |= {"int8_t": "S8", "uint8_t": "U8"}
_PAIRS = {"F16": ("F16", "E4M3", "E5M2"), "F32": ("F16", "BF16", "TF32", "E4M3", "E5M2"), "S32": ("S8", "U8")}
_K = {"F16": 16, "BF16": 16, "TF32": 8, "E4M3": 32, "E5M2": 32, "S8": 32, "U8": 32}


def op_selector(meaning: Meaning, source: str, args: list[Any], span: Span) -> Any:
    """The instruction that GMMA::ss_op_selector or rs_op_selector takes for types, a tile and majors.

    Raises: AlgebraError for what CUTLASS refuses.
    """
    for value in args:
        if isinstance(value, External) and value.error is not None:
            raise value.error
    if len(args) < 4 or not all(isinstance(x, ValueType) for x in args[:3]):
        raise AlgebraError(f"{source}_op_selector has three types, a tile and majors")
    if len(args) > 6:
        raise AlgebraError(f"further arguments of {source}_op_selector are not supported")
    a, b = (_INPUTS.get(canonical(x), "") for x in args[:2])
    acc = {"half_t": "F16", "float": "F32", "int": "S32"}.get(canonical(args[2]), "")
    tile = certain(args[3])
    if not isinstance(tile, tuple) or len(tile) != 3:
        raise AlgebraError(f"the tile must be (M,N,K), not {show(tile)}")
    m, n, k = (int(product(extent)) for extent in tile)
    majors = [_major(value) for value in args[4:6]] + ["K"] * (6 - max(4, len(args)))
    same_type = a == b or {a, b} <= {"E4M3", "E5M2"} or {a, b} <= {"S8", "U8"}
    if acc not in _PAIRS or a not in _PAIRS[acc] or b not in _PAIRS[acc] or not same_type:
        raise AlgebraError("No eligible GMMA operator for request configuration.")
    if m % 64:
        raise AlgebraError("Tile_M must be a multiple of 64.")
    if k % _K[a]:
        raise AlgebraError(f"Tile_K must be a multiple of {_K[a]}.")
    if n % 8:
        raise AlgebraError("Tile_N must be a multiple of 8.")
    if source == "rs" and majors[0] != "K":
        raise AlgebraError("Register source A operand GMMAs must have K-major A layout.")
    wide = a in ("F16", "BF16")
    if not wide and majors != ["K", "K"]:
        raise AlgebraError("MajorA and MajorB must be GMMA::Major::K for this configuration.")
    extents = range(256, 0, -8) if meaning.context.defines(_EXTENDED) else _WGMMA_N
    extent = next(x for x in extents if n % x == 0 and (acc != "S32" or x <= 32 or x % 16 == 0))
    name = f"SM90_64x{extent}x{_K[a]}_{acc}{a}{b}_{source.upper()}"
    if wide:
        return instruction(meaning, name, [Enumerator("GMMA::Major", x, x == "MN") for x in majors], span)
    return instruction(meaning, f"{name}_TN", None, span)


def tile_to_mma_shape(meaning: Meaning, atom: Any, shape: Any, order: list[Any]) -> Any:
    """UMMA::tile_to_mma_shape: a layout atom over ((MMA_M,MMA_N),MMAs_M,MMAs_N,...) (cute/atom/mma_traits_sm100.hpp)."""
    if not isinstance(shape, tuple) or len(shape) < 3 or not isinstance(shape[0], tuple) or len(shape[0]) != 2:
        raise AlgebraError(f"the shape of an MMA tile must be ((M,N),Ms,Ns,...), not {show(shape)}")
    certain(shape)
    mn = ((shape[0][0], shape[1]), (shape[0][1], shape[2]), *shape[3:])
    tiled = meaning.operate("tile_to_shape", [atom, mn, *order])
    tiler = tuple(product(extent) for extent in shape[0])
    return meaning.operate("tiled_divide", [tiled, tiler])


def _fixed(text: str) -> Layout:
    from cute_viz.notation import parse

    layout: Layout = clear_static(parse(text))
    return layout


_LAYOUTS = {
    "SM70_QuadPair": "(4,2):(1,16)",
    "SM70_8x4_Row": "(8,4):(1,8)",
    "SM70_8x4_Col": "((4,2),4):((8,4),1)",
    "SM70_8x8_16b": "(8,8):(1,8)",
    "SM70_8x8_32b": "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))",
    "SM80_8x4": "((4,8),1):((8,1),0)",
    "SM80_8x8_Row": "((4,8),2):((16,1),8)",
    "SM80_8x16_Row": "((4,8),4):((32,1),8)",
    "SM80_16x8_Row": "((4,8),(2,2)):((32,1),(16,8))",
    "ALayout_64x8": "((4,8,4),(2,2)):((64,1,16),(8,256))",
    "ALayout_64x16": "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))",
    "ALayout_64x32": "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))",
    "ALayout_64x64": "((4,8,4),(8,2,2)):((512,1,16),(64,8,2048))",
}


def _c_layout(n: int) -> Layout:
    if n % 8 or n < 8:
        raise AlgebraError(f"CLayout_64xN takes a multiple of 8, not {n}")
    return Layout(((4, 8, 4), (2, 2, n // 8)), ((128, 1, 16), (64, 8, 512)))


def _numbers(args: list[Any], count: int, name: str) -> list[int]:
    for value in args:
        if isinstance(value, External) and value.error is not None:
            raise value.error
    if len(args) != count or not all(isinstance(x, int) and x > 0 for x in args):
        raise AlgebraError(f"{name} has {count} number{'s' if count > 1 else ''}")
    return [int(x) for x in args]


def _ab_layout(meaning: Meaning, args: list[Any], span: Span) -> Layout:
    m, k = _numbers(args, 2, "ABLayout")
    return Layout((128, (m, k)), (0, (1, m)))


TYPES: dict[str, Callable[[Meaning, list[Any], Span], Any]] = {
    **{name: (lambda meaning, args, span, text=text: _fixed(text)) for name, text in _LAYOUTS.items()},  # type: ignore[misc]
    **{f"CLayout_64x{n}": (lambda meaning, args, span, n=n: _c_layout(n)) for n in range(8, 264, 8)},  # type: ignore[misc]
    "CLayout_64xN": lambda meaning, args, span: _c_layout(_numbers(args, 1, "CLayout_64xN")[0]),
    "ABLayout": _ab_layout,
}
