"""Atoms by their types: MMA_Atom<...>, Copy_Atom<op, T>, TiledMMA<...>, instructions of the library and traits of the file; and
CuTe's selectors of wgmma (cute/arch/mma_sm90.hpp).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy, make_copy_atom
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, atom_layout, tiled_mma
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.views import make_tiled_copy_impl
from cute_viz.errors import AlgebraError, CuteVizError, Span, raised_again
from cute_viz.source.cpp.context import EXTENDED
from cute_viz.source.cpp.elements import FRAGMENTS, bits
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.tokens import may_be_atom
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.unknown import attempted, certain, tried
from cute_viz.source.cpp.values import Class, Enumerator, External, Value, solid
from cute_viz.values.instruction import UNKNOWN
from cute_viz.values.integer import Runtime
from cute_viz.values.types import ValueType, bits_of, named, sized


def atom(meaning: Meaning, name: str, args: list[Value], span: Span) -> Value:
    """What a name of NAMES with template arguments stands for."""
    if name in ("MMA_Atom", "MMA_Traits", "make_mma_atom"):
        return mma_atom(meaning, args[0], span) if args else None
    if name == "Copy_Traits":
        return copy_op(meaning, args[0], span) if args else None
    if name == "Copy_Atom":
        if len(args) < 2:
            raise meaning.fail(
                "a copy atom needs an operation and a value type", span, hint="Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}"
            )
        return make_copy_atom(
            copy_op(meaning, args[0], span), bits(args[1]), str(args[1]) if isinstance(args[1], ValueType) else ""
        )
    if name in ("ThrMMA", "ThrCopy"):  # of which thread, its type does not say
        return solid(args[0]) if args else None
    if name == "TiledMMA":
        return tiled_mma(mma_atom(meaning, args[0], span), *map(solid, args[1:])) if args else None
    if len(args) != 3:
        raise meaning.fail("TiledCopy takes an atom, a layout and a tiler", span)
    return make_tiled_copy_impl(*map(solid, args))  # type: ignore[arg-type]


def mma_atom(meaning: Meaning, value: Value, span: Span) -> Value:
    """The MMA atom of an operation; an atom is one already."""
    match solid(value):
        case Class() as own:
            found = _traits(meaning, "MMA_Traits", own, span) or own
            parts: list[Any] = [_member(meaning, found, names, span) for names in _MMA_PARTS]
            thr, shape, a, b, c = parts
            return MMA_Atom(as_layout(thr), shape, as_layout(a), as_layout(b), as_layout(c), own.env.scope.name)
        case TiledMMA(atom=atom) | (MMA_Atom() as atom):
            return atom
    raise meaning.fail(f"{show(value)} is not an MMA operation", span, hint="example: SM80_16x8x16_F32F16F16F32_TN")


_MMA_PARTS = (
    ("ThrID", "AtomThrID"),
    ("Shape_MNK",),
    ("ALayout", "LayoutA_TV"),
    ("BLayout", "LayoutB_TV"),
    ("CLayout", "LayoutC_TV"),
)


def copy_op(meaning: Meaning, value: Value, span: Span) -> CopyOp:
    """The copy operation that a value is."""
    match solid(value):
        case Class() as own:
            found = _traits(meaning, "Copy_Traits", own, span) or own
            thr, src, dst = (as_layout(_member(meaning, found, (name,), span)) for name in ("ThrID", "SrcLayout", "DstLayout"))
            ref = tried(lambda: as_layout(_member(meaning, found, ("RefLayout",), span)), src)
            return CopyOp(own.env.scope.name, thr, src, dst, ref)
        case CopyOp() as op:
            return op
    raise meaning.fail(f"{show(value)} is not a copy operation", span, hint="cute-viz list copy")


def _member(meaning: Meaning, value: Value, names: tuple[str, ...], span: Span) -> Value:
    found = [attempted(lambda name=name: solid(meaning.type_member(value, Part(name, None, span), span))) for name in names]  # type: ignore[misc]
    return raised_again(next((x for x in found if not isinstance(x, CuteVizError)), found[0]))


def _traits(meaning: Meaning, template: str, operation: Class, span: Span) -> Value:
    """The traits of the file for an operation of the file; None where it has none."""
    from_file = [
        scope
        for (_, name), scopes in meaning.context.reader.specialisations.items()
        if name == template
        for scope in scopes
        if scope.spec is not None
    ]
    for scope in from_file:
        found = meaning.specialised(scope, [operation])
        if found is not None:
            return found
    return None


def instruction(meaning: Meaning, name: str, args: list[Value] | None, span: Span) -> Value:
    """The atom of the library that a name is; None where it cannot be one. Raises: what the library says of a wrong name."""
    resolve = meaning.context.given.resolve
    if resolve is None or not (may_be_atom(name) or meaning.context.own_lines):
        return None
    words = tuple(_word(meaning, item, span) for item in args or ())
    found = resolve(name, words)
    if isinstance(found, CopyOp):
        return replace(found, **{part: clear_static(getattr(found, part)) for part in ("thr_id", "src", "dst", "ref")})
    return None if found is None else clear_static(found)


def _word(meaning: Meaning, value: Value, span: Span) -> str:
    """A template argument as the library has it."""
    match value:
        case External(args=None) if meaning.context.own_lines:
            return value.name  # `K`, a major, as the library names it
        case Enumerator():
            return value.word
        case Layout() | tuple() | TiledCopy():
            raise AlgebraError(f"{show(value)} is not an argument of an instruction")
    return str(solid(value)).lower() if isinstance(value, bool) else str(solid(value))


def tiled_mma_of(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """make_tiled_mma."""
    if not args:
        raise meaning.fail("make_tiled_mma takes an atom", span)
    return meaning.operate("make_tiled_mma", [mma_atom(meaning, meaning.solid(args[0]), args[0].span), *meaning.solids(args[1:])])


def copy_atom(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """make_copy_atom."""
    op, kind = copy_op(meaning, meaning.solid(args[0]), span), meaning.solid(args[1])
    return make_copy_atom(op, bits(kind), str(kind))


def register_sourced(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """convert_to_gmma_rs: a TiledMMA of wgmma whose A is in registers instead; a helper that CUTLASS's examples share. Source:
    examples/88_hopper_fmha/collective/fmha_common.hpp. Raises: NotationError for what is not a wgmma from shared memory.
    """
    tiled = meaning.solid(args[0]) if args else None
    op = tiled.atom.instruction if isinstance(tiled, TiledMMA) else UNKNOWN
    if not isinstance(tiled, TiledMMA) or op.kind != "wgmma" or not op.described("A") or op.sparse > 1:
        raise meaning.fail("convert_to_gmma_rs takes a TiledMMA of wgmma from shared memory", span)
    majors: list[Value] | None = [Enumerator("GMMA::Major", "K", 0)] * 2 if "a_major" in op.arguments else None
    return replace(tiled, atom=instruction(meaning, op.name.replace("_SS", "_RS"), majors, span))  # type: ignore[arg-type]


def member_of(value: Value, name: str) -> Value:
    """`T::name` of an atom, a tiling or an operation; None of what it has not. A tiling has the members of its atom."""
    match value:
        case TiledMMA() | MMA_Atom() if name in FRAGMENTS:
            return External(name, (value,))
        case ThrMMA(tiled=tiled):
            value = tiled
    for x in (value, getattr(value, "atom", None)):
        if (member := _MEMBERS.get(type(x), {}).get(name)) is not None:
            found: Value = member(x)
            return found
    return None


def _fields(**names: str) -> dict[str, Callable[[Value], Value]]:
    """Members by their names, of the fields that have them."""
    return {name: attrgetter(field) for field, several in names.items() for name in several.split()}


def _value_type(n: int) -> Callable[[MMA_Atom], Value]:
    return lambda atom: ValueType(ValueType(atom.types[n]).cpp) if n < len(atom.types) else None


def _values(layout: Layout) -> Runtime:
    return Runtime(size(get(layout, 1)))


_MEMBERS: dict[type, dict[str, Callable[[Any], Any]]] = {
    TiledMMA: {
        **_fields(thr_layout_vmnk="ThrLayoutVMNK", atom="Atom MMA_Atom"),
        **dict.fromkeys(("AtomLayoutMNK", "AtomLayout_MNK"), atom_layout),
    },
    MMA_Atom: {
        **_fields(thr_id="ThrID AtomThrID AtomThrLayout", shape_mnk="Shape_MNK AtomShape_MNK"),
        **_fields(layout_a="LayoutA_TV AtomLayoutA_TV ALayout", layout_b="LayoutB_TV AtomLayoutB_TV BLayout"),
        **_fields(layout_c="LayoutC_TV AtomLayoutC_TV CLayout"),
        **{f"ValType{letter}": _value_type(n) for n, letter in enumerate("ABCD")},
    },
    TiledCopy: {
        **_fields(layout_tv="TiledLayout_TV", tiler_mn="Tiler_MN"),
        "TiledNumThr": lambda tiled: size(get(tiled.layout_tv, 0)),
        "TiledNumVal": lambda tiled: size(get(tiled.layout_tv, 1)),
    },
    Copy_Atom: {
        **_fields(thr_id="ThrID AtomThrID", layout_ref="ValLayoutRef AtomLayoutRef"),
        **_fields(layout_src="ValLayoutSrc AtomLayoutSrc", layout_dst="ValLayoutDst AtomLayoutDst"),
        **dict.fromkeys(("NumValSrc", "AtomNumVal"), lambda atom: _values(atom.layout_src)),
        "NumValDst": lambda atom: _values(atom.layout_dst),
        "AtomNumThr": lambda atom: Runtime(size(atom.thr_id)),
        **dict.fromkeys(("ValType", "value_type"), lambda x: ValueType(x.value_type) if x.value_type else sized(x.bits)),
    },
    CopyOp: _fields(thr_id="ThrID", src="SrcLayout", dst="DstLayout", ref="RefLayout"),
}


_SHAPES = (256, 192, 128, 96, 64, 32, 16, 8)  # of CUTLASS built without its extended shapes
_DEPTH = {16: 16, 32: 8, 8: 32}  # K of one wgmma by the width of an element


def _major(value: Value) -> str:
    if isinstance(value, Enumerator) and value.name in ("MN", "K"):
        return value.name
    raise AlgebraError(f"{show(value)} is not a major", hint="GMMA::Major::K or GMMA::Major::MN")


def op_selector(meaning: Meaning, part: Part, nodes: tuple[Node, ...], span: Span) -> Value:
    """The instruction that GMMA::ss_op_selector or rs_op_selector takes for types, a tile and majors. Raises: AlgebraError for
    what CUTLASS refuses."""
    source, args = part.name[:2], [solid(meaning.argument(item)) for item in part.args or ()]
    kinds = [x for x in args[:3] if isinstance(x, ValueType)]
    if len(args) < 4 or len(kinds) < 3:
        raise AlgebraError(f"{source}_op_selector has three types, a tile and majors")
    if len(args) > 6:
        raise AlgebraError(f"further arguments of {source}_op_selector are not supported")
    types = tuple(found.short if (found := named(x)) else x.canonical for x in kinds)
    tile = certain(args[3])
    if not isinstance(tile, tuple) or len(tile) != 3:
        raise AlgebraError(f"the tile must be (M,N,K), not {show(tile)}")
    majors = [_major(value) for value in args[4:]] + ["K"] * (6 - len(args))
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
    """The wgmma that ss_op_selector or rs_op_selector takes: its name, and its template arguments (cute/arch/mma_sm90.hpp).
    types: of A, B and C, as `named` has them. every: of all N, as with CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED. Raises:
    AlgebraError, in CuTe's words, for what no wgmma has."""
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
