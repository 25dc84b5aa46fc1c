"""Atoms by their types: MMA_Atom<...>, Copy_Atom<op, T>, TiledMMA<...>, instructions of the library and traits of the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy, make_copy_atom
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.make_copy import make_tiled_copy_impl
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, atom_layout, tiled_mma
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import clear_static
from cute_viz.errors import AlgebraError, CuteVizError, Span
from cute_viz.source.cpp.elements import FRAGMENTS, bits
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.tree import Part
from cute_viz.source.cpp.values import Class, Enumerator, External, solid
from cute_viz.source.cpp.vocabulary import may_be_atom
from cute_viz.values.instruction import UNKNOWN
from cute_viz.values.integer import Runtime
from cute_viz.values.types import ValueType, sized


def atom(meaning: Meaning, name: str, args: list[Any], span: Span) -> Any:
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
    return make_tiled_copy_impl(*map(solid, args))


def mma_atom(meaning: Meaning, value: Any, span: Span) -> Any:
    """The MMA atom of an operation; an atom is one already."""
    if isinstance(value, Class):
        found = _traits(meaning, "MMA_Traits", value, span) or value
        parts = [_member(meaning, found, names, span) for names in _MMA_PARTS]
        thr, shape, a, b, c = parts
        return MMA_Atom(as_layout(thr), shape, as_layout(a), as_layout(b), as_layout(c), value.env.scope.name)
    if isinstance(value, TiledMMA):
        return value.atom
    if isinstance(solid(value), MMA_Atom):
        return value
    raise meaning.fail(f"{show(value)} is not an MMA operation", span, hint="example: SM80_16x8x16_F32F16F16F32_TN")


_MMA_PARTS = (
    ("ThrID", "AtomThrID"),
    ("Shape_MNK",),
    ("ALayout", "LayoutA_TV"),
    ("BLayout", "LayoutB_TV"),
    ("CLayout", "LayoutC_TV"),
)


def copy_op(meaning: Meaning, value: Any, span: Span) -> CopyOp:
    """The copy operation that a value is."""
    if isinstance(value, Class):
        found = _traits(meaning, "Copy_Traits", value, span) or value
        thr, src, dst = (as_layout(_member(meaning, found, (name,), span)) for name in ("ThrID", "SrcLayout", "DstLayout"))
        try:
            ref = as_layout(_member(meaning, found, ("RefLayout",), span))
        except CuteVizError:
            ref = src
        return CopyOp(value.env.scope.name, thr, src, dst, ref)
    if isinstance(solid(value), CopyOp):
        return value  # type: ignore[no-any-return]
    raise meaning.fail(f"{show(value)} is not a copy operation", span, hint="cute-viz list copy")


def _member(meaning: Meaning, value: Any, names: tuple[str, ...], span: Span) -> Any:
    problem: CuteVizError | None = None
    for name in names:
        try:
            found = meaning.type_member(value, Part(name, None, span), span)
            return solid(found)
        except CuteVizError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _traits(meaning: Meaning, template: str, operation: Class, span: Span) -> Any:
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


def instruction(meaning: Meaning, name: str, args: list[Any] | None, span: Span) -> Any:
    """The atom of the library that a name is; None where it cannot be one. Raises: what the library says of a wrong name."""
    resolve = meaning.context.given.resolve
    if resolve is None or not (may_be_atom(name) or meaning.context.own_lines):
        return None
    words = tuple(_word(meaning, item, span) for item in args or ())
    found = resolve(name, words)
    if isinstance(found, CopyOp):
        return replace(found, **{part: clear_static(getattr(found, part)) for part in ("thr_id", "src", "dst", "ref")})
    return None if found is None else clear_static(found)


def _word(meaning: Meaning, value: Any, span: Span) -> str:
    """A template argument as the library has it."""
    if isinstance(value, External) and value.args is None and meaning.context.own_lines:
        return value.name  # `K`, a major, as the library names it
    value = solid(value)
    if isinstance(value, Enumerator):
        return value.word
    if isinstance(value, (Layout, tuple, TiledCopy)):
        raise AlgebraError(f"{show(value)} is not an argument of an instruction")
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def register_sourced(meaning: Meaning, tiled: Any, span: Span) -> Any:
    """convert_to_gmma_rs: a TiledMMA of wgmma whose A is in registers instead; a helper that CUTLASS's examples share. Source:
    examples/88_hopper_fmha/collective/fmha_common.hpp. Raises: NotationError for what is no wgmma from shared memory.
    """
    op = tiled.atom.instruction if isinstance(tiled, TiledMMA) else UNKNOWN
    if op.kind != "wgmma" or not op.described("A") or op.sparse > 1:
        raise meaning.fail("convert_to_gmma_rs takes a TiledMMA of wgmma from shared memory", span)
    majors = [Enumerator("GMMA::Major", "K", 0)] * 2 if "a_major" in op.arguments else None
    return replace(tiled, atom=instruction(meaning, op.name.replace("_SS", "_RS"), majors, span))


def value_type(name: str) -> ValueType:
    """The type of elements of an atom, `f16`, as C++ has it.

    >>> str(value_type("f16"))
    'half_t'
    """
    return ValueType(ValueType(name).cpp)


def member_of(value: Any, name: str) -> Any:
    """`T::name` of an atom, a tiling or an operation; None of what it has not."""
    if isinstance(value, (TiledMMA, MMA_Atom)) and name in FRAGMENTS:
        return External(name, (value,))
    if isinstance(value, (TiledMMA, ThrMMA)):
        return _of_mma(value if isinstance(value, TiledMMA) else value.tiled, name)
    if isinstance(value, MMA_Atom):
        return _of_atom(value, name)
    if isinstance(value, (TiledCopy, Copy_Atom)):
        return _of_copy(value, name)
    if isinstance(value, CopyOp):
        return {"ThrID": value.thr_id, "SrcLayout": value.src, "DstLayout": value.dst, "RefLayout": value.ref}.get(name)
    return None


def _of_mma(value: TiledMMA, name: str) -> Any:
    if name in ("AtomThrID", "AtomThrLayout"):
        return value.atom.thr_id
    if name in ("AtomShape_MNK", "Shape_MNK"):
        return value.atom.shape_mnk
    if name == "ThrLayoutVMNK":
        return value.thr_layout_vmnk
    if name in ("AtomLayoutMNK", "AtomLayout_MNK"):
        return atom_layout(value)
    if name.startswith("AtomLayout") and name.endswith("_TV"):
        return _of_atom(value.atom, name.removeprefix("Atom"))
    if name in ("Atom", "MMA_Atom"):
        return value.atom
    return _of_atom(value.atom, name)


def _of_atom(value: MMA_Atom, name: str) -> Any:
    parts = {
        "ThrID": value.thr_id,
        "AtomThrID": value.thr_id,
        "Shape_MNK": value.shape_mnk,
        "AtomShape_MNK": value.shape_mnk,
        "LayoutA_TV": value.layout_a,
        "LayoutB_TV": value.layout_b,
        "LayoutC_TV": value.layout_c,
        "ALayout": value.layout_a,
        "BLayout": value.layout_b,
        "CLayout": value.layout_c,
    }
    if name in parts:
        return parts[name]
    types = {f"ValType{x}": kind for x, kind in zip("ABCD", value.types, strict=False)}
    return value_type(types[name]) if name in types else None


def _of_copy(value: TiledCopy | Copy_Atom, name: str) -> Any:
    atom = value.atom if isinstance(value, TiledCopy) else value
    if isinstance(value, TiledCopy):
        if name == "TiledLayout_TV":
            return value.layout_tv
        if name == "Tiler_MN":
            return value.tiler_mn
        if name == "TiledNumThr":
            return size(get(value.layout_tv, 0))
        if name == "TiledNumVal":
            return size(get(value.layout_tv, 1))
    parts = {
        "ThrID": atom.thr_id,
        "AtomThrID": atom.thr_id,
        "ValLayoutSrc": atom.layout_src,
        "ValLayoutDst": atom.layout_dst,
        "ValLayoutRef": atom.layout_ref,
        "AtomLayoutSrc": atom.layout_src,
        "AtomLayoutDst": atom.layout_dst,
        "AtomLayoutRef": atom.layout_ref,
    }
    if name in parts:
        return parts[name]
    if name in ("NumValSrc", "AtomNumVal", "NumValDst"):
        return Runtime(size(get(atom.layout_dst if name.endswith("Dst") else atom.layout_src, 1)))
    if name == "AtomNumThr":
        return Runtime(size(atom.thr_id))
    if name in ("ValType", "value_type"):
        return ValueType(atom.value_type) if atom.value_type else sized(atom.bits)
    return None
