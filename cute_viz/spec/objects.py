"""The objects of specs: for each kind, the fields of its mapping -> the object, with what `schema.KINDS` does not say refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cute_viz.errors import CuteVizError
from cute_viz.spec.schema import KINDS
from cute_viz.spec.yaml import Keys

if TYPE_CHECKING:
    from cute_viz.spec.build import Builder


def _layout(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.layout import Layout

    shape, stride = b.expression(fields["shape"], names), b.optional(fields, "stride", names)
    return Layout(shape) if stride is None else Layout(shape, stride)


def _swizzle(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.composed import ComposedLayout
    from cute_viz.algebra.swizzle import Swizzle

    numbers = [b.expression(fields[key], names) for key in ("bits", "base", "shift")]
    for key, number in zip(("bits", "base", "shift"), numbers, strict=True):
        if not isinstance(number, int):
            raise b.fail(f"{key} must be an integer, not {fields[key]}", fields[key].span)
    return ComposedLayout(Swizzle(*map(int, numbers)), 0, b.layout(fields, "layout", names))


def _mma_atom(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.mma import MMA_Atom

    shape = b.expression(fields["Shape_MNK"], names)
    if not isinstance(shape, tuple) or len(shape) != 3 or not all(isinstance(n, int) and n > 0 for n in shape):
        raise b.fail("Shape_MNK must be (M,N,K), three positive integers", fields["Shape_MNK"].span, hint="example: (16,8,16)")
    operands = [b.layout(fields, f"{x}Layout", names, rank=2) for x in "ABC"]
    return MMA_Atom(b.layout(fields, "ThrID", names, rank=1), shape, *operands)


def _copy_atom(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.copy import CopyOp, make_copy_atom
    from cute_viz.values.types import bits_of

    operation = b.expression(fields["op"], names)
    if not isinstance(operation, CopyOp):
        raise b.fail(f"{fields['op']} is not a copy operation", fields["op"].span, hint="cute-viz list copy")
    kind = b.words(fields, "type") or ""
    try:
        bits = bits_of(kind)
    except CuteVizError as error:
        raise b.fail(error.message, fields["type"].span, hint=error.hint) from None
    return make_copy_atom(operation, bits, kind)


def _tiled_mma(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.mma import make_tiled_mma

    atom = b.part(fields, "atom", ("mma_atom",), names)
    return make_tiled_mma(atom, b.optional(fields, "layout", names), b.optional(fields, "permutation", names))


def _tiled_copy(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.make_copy import make_tiled_copy, make_tiled_copy_impl, make_tiled_copy_operand

    atom = b.part(fields, "atom", ("copy_atom",), names)
    given = {key for key in ("thr", "val", "tv", "tiler", "mma", "operand") if key in fields}
    if given in ({"thr"}, {"thr", "val"}):
        return make_tiled_copy(atom, b.optional(fields, "thr", names), b.optional(fields, "val", names))
    if given == {"tv", "tiler"}:
        return make_tiled_copy_impl(atom, b.optional(fields, "tv", names), b.optional(fields, "tiler", names))
    if given == {"mma", "operand"}:
        operand = b.choice(KINDS["tiled_copy"].fields, fields, "operand") or "A"
        return make_tiled_copy_operand(atom, b.part(fields, "mma", ("tiled_mma",), names), operand)
    raise b.fail("a tiled copy needs thr and val, tv and tiler, or mma and operand", fields.span)


def _gemm(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.gemm import make_gemm
    from cute_viz.algebra.make_copy import make_tiled_copy_operand

    mma = b.part(fields, "mma", ("tiled_mma",), names)
    tile = b.expression(fields["tile"], names)
    parts = {key: b.part(fields, key, ("layout", "swizzle"), names) for key in ("smem_a", "smem_b")}
    copies = {key: b.part(fields, key, ("tiled_copy",), names) for key in ("g2s_a", "g2s_b")}
    copies["g2s_b"] = copies["g2s_b"] or copies["g2s_a"]
    for key, operand in (("s2r_a", "A"), ("s2r_b", "B"), ("epilogue", "C")):
        made = b.part(fields, key, ("tiled_copy", "copy_atom"), names)
        copies[key] = make_tiled_copy_operand(made, mma, operand) if isinstance(made, Copy_Atom) else made
    for key, made in copies.items():
        if made is not None and not isinstance(made, TiledCopy):
            raise b.fail(
                f"{key} must be a tiled copy", fields[key if key in fields else "g2s_a"].span, hint="example: make_tiled_copy(...)"
            )
    return make_gemm(mma, tile, parts["smem_a"], parts["smem_b"], **copies)


def _pipeline(b: Builder, fields: Keys, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.pipeline import Pipeline

    try:
        return Pipeline(1).given({key: str(b.expression(fields[key], names)) for key in fields})
    except CuteVizError as error:
        raise b.fail(error.message, fields.span, hint=error.hint) from None


MAKERS: dict[str, Callable[[Builder, Keys, dict[str, Any]], Any]] = {
    "layout": _layout,
    "swizzle": _swizzle,
    "mma_atom": _mma_atom,
    "copy_atom": _copy_atom,
    "tiled_mma": _tiled_mma,
    "tiled_copy": _tiled_copy,
    "gemm": _gemm,
    "pipeline": _pipeline,
}
