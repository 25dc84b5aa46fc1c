"""CUTLASS's selectors of shared-memory layouts and instructions, and the aliases of layouts in CuTe's traits.

Sources: cutlass/gemm/collective/builders/sm90_common.inl, sm100_common.inl, cute/arch/mma_sm90.hpp, cute/atom/mma_traits_*.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.inttuple import is_int_tuple, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.smem_atom import smem_atom
from cute_viz.algebra.static import clear_static
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.atoms import instruction
from cute_viz.source.cpp.elements import bits
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Enumerator, solid
from cute_viz.values.types import ValueType, bits_of, named

_SHAPES = (256, 192, 128, 96, 64, 32, 16, 8)  # of CUTLASS built without its extended shapes
_DEPTH = {16: 16, 32: 8, 8: 32}  # K of one wgmma by the width of an element
EXTENDED = "CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED"  # by it CuTe's headers choose instructions


def _major(value: Any) -> str:
    if isinstance(value, Enumerator) and value.name in ("MN", "K"):
        return value.name
    if isinstance(value, int) and value in (0, 1):
        return "MN" if value else "K"
    raise AlgebraError(f"{show(value)} is not a major", hint="GMMA::Major::K or GMMA::Major::MN")


def smem_selector(kind: str, args: list[Any]) -> Any:
    """The layout atom that ss_smem_selector, rs_smem_selector or sm100_smem_selector takes for a major, a type and a block; of
    "ss_sparse" and "sm100_sparse" for a sparsity, too. Raises: AlgebraError for what CUTLASS refuses.

    >>> args = [Enumerator("GMMA::Major", "K", 0), ValueType("half_t"), 128, 64]
    >>> str(smem_selector("ss", args))
    'Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)'
    """
    if len(args) < 4:
        raise AlgebraError(f"{kind}_smem_selector has a major, a type and two extents")
    args = list(map(solid, args))
    blocks = (certain(args[2]), certain(args[3]))
    kind, _, sparse = kind.partition("_")
    if sparse:
        sparsity = certain(args[4]) if len(args) == 5 else 0
        return clear_static(smem_atom_for(kind, _major(args[0]), bits(args[1]), blocks, sparsity=sparsity))
    return clear_static(smem_atom_for(kind, _major(args[0]), bits(args[1]), blocks, len(args) > 4 and bool(args[4])))


def op_selector(meaning: Meaning, source: str, args: list[Any], span: Span) -> Any:
    """The instruction that GMMA::ss_op_selector or rs_op_selector takes for types, a tile and majors. Raises: AlgebraError for what
    CUTLASS refuses.
    """
    args = list(map(solid, args))
    if len(args) < 4 or not all(isinstance(x, ValueType) for x in args[:3]):
        raise AlgebraError(f"{source}_op_selector has three types, a tile and majors")
    if len(args) > 6:
        raise AlgebraError(f"further arguments of {source}_op_selector are not supported")
    types = tuple(found.short if (found := named(x)) else x.canonical for x in args[:3])
    tile = certain(args[3])
    if not isinstance(tile, tuple) or len(tile) != 3:
        raise AlgebraError(f"the tile must be (M,N,K), not {show(tile)}")
    majors = [_major(value) for value in args[4:6]] + ["K"] * (6 - max(4, len(args)))
    every, extents = meaning.context.defines(EXTENDED), tuple(int(product(extent)) for extent in tile)
    name, words = wgmma_for(source, types, extents, majors, every)
    if not every and EXTENDED not in meaning.context.given.let:
        other, _ = wgmma_for(source, types, extents, majors, True)
        if other != name:
            meaning.context.given.notes[f"{name}, as {EXTENDED} is not defined; with `let={EXTENDED}=1` {other}"] = None
    given = [Enumerator("GMMA::Major", x, x == "MN") for x in majors] if words else None
    return instruction(meaning, name, given, span)


_WIDEST = ("SW128", "SW64", "SW32", "INTER")


def smem_atom_for(
    selector: str, major: str, bits: int, blocks: tuple[Any, Any], transposed: bool = False, sparsity: Any = 1
) -> Any:
    """The layout atom that a selector ("ss", "rs" or "sm100") takes for a major, a width of elements and a block. sparsity: of a
    sparse A, whose selectors are `ss_smem_selector_sparse` and `sm100_smem_selector_sparse`. Raises: AlgebraError for what
    CUTLASS refuses (sm90_common.inl, sm100_common.inl of cutlass/gemm/collective/builders).

    >>> str(smem_atom_for("rs", "MN", 32, (64, 8)))
    'Sw<1,4,3> o smem_ptr[32b](unset) o (_8,_8):(_1,_8)'
    """
    named_blocks = {"BLK_MN": blocks[0], "BLK_K": blocks[1]}
    for name, block in named_blocks.items():
        if not is_int_tuple(block) or not isinstance(first := _first(block), int):
            raise AlgebraError(f"{selector}_smem_selector: {name} must be a shape", hint="example: Int<64>")
        if first % 8:
            raise AlgebraError(f"{name}0 must be a multiple of 8.", hint=f"not {first}")
    modes: tuple[str, ...] = _WIDEST
    if major == "MN" and selector == "sm100" and bits == 32:
        modes = ("SW128_32B",) if sparsity == 1 else ("SW128_32B", *_WIDEST)
    elif major == "MN" and selector == "rs" and bits >= 32:
        modes = ("SW32",) if transposed else ("SW32", "INTER")
    elif major == "MN" and selector == "rs" and bits <= 8 and transposed:
        modes = ("SW128",)
    name, mode = ("BLK_K", 1) if major == "K" else ("BLK_MN", 0)
    extent = _first(named_blocks[name])
    for word in modes:
        words = (f"Layout_{major}_{word}_Atom", (bits,)) if sparsity == 1 else (f"Layout_{major}_{word}_SpAtom", (bits, sparsity))
        atom = smem_atom(*words)
        assert atom is not None
        fits = product(named_blocks[name]) if (selector, major, word, sparsity) == ("ss", "MN", "INTER", 1) else extent
        shape: Any = domain(atom).shape
        if fits % product(shape[mode]) == 0:
            return atom
    if modes == ("SW128_32B",):
        raise AlgebraError("for mn-major tf32 operands, SW128_32B is the only available smem layout")
    space, block = "UMMA" if selector == "sm100" else "GMMA", name if (selector, major, sparsity) == ("ss", "MN", 1) else f"{name}0"
    last = "128" if modes == ("SW128",) else modes[-1]  # as CUTLASS writes it
    of = "SpAtom<ElementType, Sparsity{}>" if sparsity != 1 and selector == "sm100" else "Atom<ElementType>"
    raise AlgebraError(f"{block} must be a multiple of size<{mode}>({space}::Layout_{major}_{last}_{of}{{}})", hint=f"not {extent}")


def _first(block: Any) -> Any:
    return product(block[0]) if isinstance(block, tuple) and block else block


def wgmma_for(
    source: str, types: tuple[str, ...], tile: tuple[int, ...], majors: list[str], every: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The wgmma that ss_op_selector or rs_op_selector takes: its name, and its template arguments (cute/arch/mma_sm90.hpp). types:
    of A, B and C, as `named` has them. every: of all N, as with CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED. Raises: AlgebraError, in
    CuTe's words, for what no wgmma has.

    >>> wgmma_for("rs", ("e4m3", "e5m2", "f32"), (64, 24, 64), ["K", "K"])
    ('SM90_64x8x32_F32E4M3E5M2_RS_TN', ())
    """
    (a, b, c), (m, n, k) = types, tile
    if m % 64:
        raise AlgebraError("Tile_M must be a multiple of 64.")
    if c not in ("f16", "f32", "s32"):
        raise AlgebraError("Unknown ElementC accumulator type.")
    if source == "rs" and majors[0] != "K":
        raise AlgebraError("Register source A operand GMMAs must have K-major A layout.")
    if not _known(a, b, c):
        raise AlgebraError("No eligible GMMA operator for request configuration.")
    depth = _DEPTH[bits_of(a)]
    for letter, major in zip("AB", majors, strict=True):
        if depth != 16 and major != "K":
            raise AlgebraError(f"Major{letter} must be GMMA::Major::K for this config.")
    if k % depth:
        raise AlgebraError(f"Tile_K must be a multiple of {depth}.")
    if n % 8:
        raise AlgebraError("Tile_N must be a multiple of 8.")
    widths = [x for x in range(256, 0, -8) if c != "s32" or x <= 32 or x % 16 == 0] if every else _SHAPES
    width = next(x for x in widths if n % x == 0)
    name = f"SM90_64x{width}x{depth}_{(c + a + b).upper()}_{source.upper()}"
    return (name, tuple(f"GMMA::Major::{major}" for major in majors)) if depth == 16 else (f"{name}_TN", ())


def _known(a: str, b: str, c: str) -> bool:
    if a in ("e4m3", "e5m2"):
        return b in ("e4m3", "e5m2") and c in ("f16", "f32")
    if a in ("s8", "u8"):
        return b in ("s8", "u8") and c == "s32"
    return a == b and (a, c) in (("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"))


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
    args = list(map(solid, args))
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
