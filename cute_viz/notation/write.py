"""Objects -> text: an object as C++, as the Python DSL, as CuTe notation, or as CuTe's compiler writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, has_origin
from cute_viz.algebra.copy import Copy_Atom, TiledCopy
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.static import clear_static, is_tiling, mark_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError
from cute_viz.values.instruction import Instruction
from cute_viz.values.integer import Static
from cute_viz.values.types import ValueType, bits_of, named

TARGETS = ("cpp", "dsl", "cute", "ir")


def write(value: object, target: str) -> str:
    """An object in a target's words, such that reading them gives an equal object. Raises: CuteVizError for what the target
    cannot express, such as an XOR stride in C++."""
    return _WRITERS[target](value)


def _cannot(value: object, target: str) -> CuteVizError:
    return CuteVizError(
        f"{target} cannot express {show(value).strip().splitlines()[0]}", hint=f"another notation: `as={'`, `as='.join(TARGETS)}`"
    )


def _cute(value: object) -> str:
    if is_tiling(value):
        return _tiling(value, "CuTe notation", _cute)
    return show(value)


def _ir(value: object) -> str:
    if is_tiling(value):
        raise _cannot(value, "CuTe's compiler notation")
    match value := clear_static(value):
        case tuple() if _is_tile(value):
            return "[" + ";".join(map(_ir, value)) + "]"
        case ComposedLayout(_, PointerFlag(), _):
            raise _cannot(value, "CuTe's compiler notation")
        case ComposedLayout(_, offset, inner) if has_origin(value):
            return f"tensor<{show(offset)} o {_ir(inner)}>"
        case ComposedLayout(outer, offset, inner):
            return f"{_ir(outer)} o {show(offset)} o {_ir(inner)}"
    return show(value).replace("Sw<", "S<")


def _is_tile(value: tuple[object, ...]) -> bool:
    return any(isinstance(item, (Layout, Underscore)) for item in value)


def _cpp(value: object) -> str:
    match value:
        case Layout() | tuple() if _all_static(value):
            return f"{_cpp_type(value)}{{}}"
        case Static() | Swizzle():
            return f"{_cpp_type(value)}{{}}"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case Underscore():
            return "_"
        case Basis(int(step), path):
            unit = f"E<{','.join(map(str, path))}>{{}}"
            return unit if step == 1 else f"{_cpp(step)} * {unit}"
        case tuple():
            return f"{'make_tile' if _is_tile(value) else 'make_tuple'}({', '.join(map(_cpp, value))})"
        case Layout(shape, stride):
            return f"make_layout({_cpp_tuple('make_shape', shape)}, {_cpp_tuple('make_stride', stride)})"
        case ComposedLayout(_, PointerFlag() as flag, _):
            return _smem_atom(value, flag)
        case ComposedLayout(_, offset, inner) if has_origin(value):
            return f"make_tensor(make_inttuple_iter({_cpp(offset)}), {_cpp(inner)})"
        case ComposedLayout(outer, offset, inner):
            return f"make_composed_layout({_cpp(outer)}, {_cpp(offset)}, {_cpp(inner)})"
    if is_tiling(value):
        return _tiling(value, "C++", _cpp)
    raise _cannot(value, "C++")


def _smem_atom(value: ComposedLayout, flag: PointerFlag) -> str:
    """A flagged layout of shared memory as the library's atom of that name."""
    from cute_viz.algebra.recast import smem_atom

    more = (flag.sparsity,) if flag.sparsity > 1 else ()
    kind = {8: "uint8_t", 16: "half_t", 32: "float", 64: "double", 4: "uint4_t"}.get(flag.bits * flag.sparsity)
    for major in ("K", "MN"):
        for mode in ("INTER", "SW32", "SW64", "SW128"):
            name = f"Layout_{major}_{mode}_{'Sp' if more else ''}Atom"
            if kind is not None and smem_atom(name, (kind, *more)) == value:
                return f"GMMA::{name}<{','.join(map(str, (kind, *more)))}>{{}}"
    raise _cannot(value, "C++")


def _all_static(value: object) -> bool:
    """Whether a type can say it all: static integers, unit basis elements, no XOR strides."""
    match value:
        case Layout(shape, stride):
            return _all_static(shape) and _all_static(stride)
        case tuple():
            parts = list(leaves(value))
            return bool(parts) and all(map(_all_static, parts))
        case Basis(Static() as step):
            return step == 1
    return isinstance(value, (Static, Underscore))


def _cpp_type(value: object, tuple_name: str = "Shape") -> str:
    """The type of a value whose integers are all static."""
    match value:
        case Layout(shape, stride):
            return f"Layout<{_cpp_type(shape)},{_cpp_type(stride, 'Stride')}>"
        case tuple():
            return f"{'Tile' if _is_tile(value) else tuple_name}<{','.join(_cpp_type(item, tuple_name) for item in value)}>"
        case Underscore():
            return "Underscore"
        case Swizzle(bits, base, shift):
            return f"Swizzle<{bits},{base},{shift}>"
        case Basis(_, path):
            return f"E<{','.join(map(str, path))}>"
    return f"_{value:d}" if value in _NAMED else f"Int<{value:d}>"


# The integral constants that cute/numeric/integral_constant.hpp names.
_NAMED = {*range(11), 12, 16, 24, 32, 36, 48, 64, 72, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384, 32768, 65536}


def _cpp_tuple(name: str, value: object) -> str:
    return f"{name}({', '.join(_cpp_tuple(name, item) for item in value)})" if isinstance(value, tuple) else _cpp(value)


def _dsl(value: object) -> str:
    if is_tiling(value):
        return _dsl_tiling(value)
    match value := clear_static(value):
        case int():
            return str(value)
        case Underscore():
            return "None"
        case tuple():
            return f"({', '.join(map(_dsl, value))}{',' if len(value) == 1 else ''})"
        case Swizzle(bits, base, shift):
            return f"cute.make_swizzle({bits}, {base}, {shift})"
        case Layout(shape, stride):
            return f"cute.make_layout({_dsl(shape)}, stride={_dsl(stride)})"
        case Basis(int(step), path):
            return f"cute.ScaledBasis({step}, {_dsl(path)})"
        case ComposedLayout(_, PointerFlag(), _):
            pass
        case ComposedLayout(_, offset, inner) if has_origin(value):
            return f"cute.make_tensor({_dsl(offset)}, {_dsl(inner)})"
        case ComposedLayout(outer, offset, inner):
            return f"cute.make_composed_layout({_dsl(outer)}, {_dsl(offset)}, {_dsl(inner)})"
    raise _cannot(value, "the Python DSL")


def _tiling(value: object, target: str, inner: Callable[[object], str]) -> str:
    """An atom by its name, a tiling as the call that makes it."""
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA, atom_layout, make_tiled_mma

    match value := mark_static(value):
        case MMA_Atom() if value.name:
            return f"MMA_Atom<{value.name}>{{}}"
        case Copy_Atom() if value.name and value.value_type:
            return f"Copy_Atom<{value.name}, {value.value_type}>{{}}"
        case TiledMMA(atom, _, permutation) if atom.name:
            atoms, braces = atom_layout(value), "{}" if target == "C++" else ""
            if make_tiled_mma(atom, atoms, permutation) == value:
                return f"make_tiled_mma({atom.name}{braces}, {inner(mark_static(atoms))}, {inner(permutation)})"
        case TiledCopy(atom, tv, tiler) if atom.name and atom.value_type:
            return f"make_tiled_copy_impl({_tiling(atom, target, inner)}, {inner(tv)}, {inner(tiler)})"
    raise _cannot(value, target)


def _dsl_type(name: str) -> str:
    element = named(name)
    return element.dsl if element else ""


def _dsl_tiling(value: object) -> str:
    """The call that makes an atom or a tiling; only some operations have a class in the DSL."""
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA, atom_layout

    match value:
        case MMA_Atom() if op := _dsl_op(value.instruction):
            return f"cute.make_mma_atom({op})"
        case Copy_Atom() if _dsl_type(value.value_type) and (op := _dsl_op(value.instruction)):
            kinds = value.instruction.arguments
            width = f", num_bits_per_copy={bits_of(kinds['S'])}" if "S" in kinds else ""
            return f"cute.make_copy_atom({op}, cutlass.{_dsl_type(value.value_type)}{width})"
        case TiledMMA(atom, _, permutation):
            layout = _dsl(atom_layout(value))
            return f"cute.make_tiled_mma({_dsl_tiling(atom)}, {layout}, permutation_mnk={_dsl(permutation)})"
        case TiledCopy(atom, tv, tiler):
            return f"cute.make_tiled_copy({_dsl_tiling(atom)}, {_dsl(tv)}, {_dsl(tiler)})"
    raise _cannot(value, "the Python DSL")


def _dsl_op(op: Instruction) -> str:
    form, _, constants = op.dsl.partition("; ")[0].partition(") ")
    if not form or constants or "{" in form or op.kind.startswith("cp.async.bulk"):  # a TMA is made of more than its name
        return ""
    module, _, rest = re.sub(r"\w+=(?=[^()]|\()", "", form.rstrip(")") + ")" * form.count("(")).partition(".")
    typed = re.sub(r"\b(?:b?f|tf|e\dm|[su])\d+\b", lambda kind: f"cutlass.{_dsl_type(kind[0])}", rest)
    return f"cute.nvgpu.{'' if module == 'cute' else module + '.'}{re.sub(', *', ', ', typed)}"


_WRITERS: dict[str, Callable[[Any], str]] = {"cpp": _cpp, "dsl": _dsl, "cute": _cute, "ir": _ir}


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
