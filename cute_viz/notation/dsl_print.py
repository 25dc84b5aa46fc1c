"""A value as the Python DSL prints it: no static integers, tilers as layouts, `S<3,3,3>`, its own words for tilings."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import ComposedLayout, has_origin
from cute_viz.algebra.copy import Copy_Atom, TiledCopy
from cute_viz.algebra.inttuple import map_leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.values.types import ValueType, named


def show_dsl(value: Any) -> str:
    """The print of the DSL (nvidia-cutlass-dsl 4.8); where it has none, that of CuTe."""
    match value := clear_static(value.atom if getattr(value, "tiling", "") == "tma" else value):
        case bool():
            return str(value)
        case tuple():  # of Python
            return f"({', '.join(map(show_dsl, value))}{',' if len(value) == 1 else ''})"
        case TiledMMA(atom, thr, permutation):
            rows = [("Thr Layout VMNK", show(thr)), ("Permutation MNK", _tiler(permutation))]
            return "\n".join([*_block("Tiled MMA", rows), *_mma(atom)])
        case MMA_Atom():
            return "\n".join(_mma(value))
        case TiledCopy(atom, tv, tiler):
            rows = [("Tiler MN", _tiler(tiler)), ("TV Layout tiled", show(tv))]
            return "\n".join([*_block("Tiled Copy", rows), *_copy(atom)])
        case Copy_Atom():
            return "\n".join(_copy(value))
        case Swizzle():
            return f"S{str(value)[2:]}"
        case ComposedLayout(_, offset, inner) if has_origin(value):
            return f"tensor<{show(offset)} o {show(inner)}>"
        case ComposedLayout(outer, offset, inner):
            return f"{show_dsl(outer)} o {show(offset)} o {show_dsl(inner)}"
    return show(value).rstrip("\n")


def _mma(atom: MMA_Atom) -> list[str]:
    layouts = [(f"TV Layout {operand}", show(atom.layout(operand))) for operand in "ABC"]
    return _block("MMA Atom", [("ThrID", show(atom.thr_id)), ("Shape MNK", show(atom.shape_mnk)), *layouts])


def _copy(atom: Copy_Atom) -> list[str]:
    element = named(atom.value_type) if atom.value_type else None
    kind = _element(element) if element else f"{atom.bits}b"
    layouts = [("TV Layout Src", show(atom.layout_src)), ("TV Layout Dst", show(atom.layout_dst))]
    return _block("Copy Atom", [("ThrID", show(atom.thr_id)), *layouts, ("Value type", kind)])


def _element(element: ValueType) -> str:
    if element.short == "pred":
        return "i1"
    return f"i{element.bits}" if element.kind in ("signed", "unsigned") else element.mlir


def _block(heading: str, rows: list[tuple[str, str]]) -> list[str]:
    return [heading, *(f"  {name + ':':<16} {value}" for name, value in rows)]


def _tiler(tiler: object) -> str:
    return show(map_leaves(lambda mode: Layout(mode, int(mode != 1)) if isinstance(mode, int) else mode, tiler))
