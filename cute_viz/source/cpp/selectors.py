"""CuTe's selectors of wgmma: cute/arch/mma_sm90.hpp."""

from __future__ import annotations

from cute_viz.algebra.inttuple import product, show
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.atoms import instruction
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Enumerator, Value, solid
from cute_viz.values.types import ValueType, bits_of, named

_SHAPES = (256, 192, 128, 96, 64, 32, 16, 8)  # of CUTLASS built without its extended shapes
_DEPTH = {16: 16, 32: 8, 8: 32}  # K of one wgmma by the width of an element
EXTENDED = "CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED"  # by it CuTe's headers choose instructions


def _major(value: Value) -> str:
    match value:
        case Enumerator(name="MN" | "K" as name):
            return name
        case int() if value in (0, 1):
            return "MN" if value else "K"
    raise AlgebraError(f"{show(value)} is not a major", hint="GMMA::Major::K or GMMA::Major::MN")


def op_selector(meaning: Meaning, source: str, args: list[Value], span: Span) -> Value:
    """The instruction that GMMA::ss_op_selector or rs_op_selector takes for types, a tile and majors. Raises: AlgebraError for what
    CUTLASS refuses.
    """
    args = list(map(solid, args))
    kinds = [x for x in args[:3] if isinstance(x, ValueType)]
    if len(args) < 4 or len(kinds) < 3:
        raise AlgebraError(f"{source}_op_selector has three types, a tile and majors")
    if len(args) > 6:
        raise AlgebraError(f"further arguments of {source}_op_selector are not supported")
    types = tuple(found.short if (found := named(x)) else x.canonical for x in kinds)
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
    given: list[Value] | None = [Enumerator("GMMA::Major", x, x == "MN") for x in majors] if words else None
    return instruction(meaning, name, given, span)


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
