"""Objects -> text: an object as C++, as the Python DSL, as CuTe notation, or as CuTe's compiler writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, has_origin
from cute_viz.algebra.inttuple import Underscore, leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import clear_static, is_tiling, mark_static
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError
from cute_viz.values.instruction import Instruction
from cute_viz.values.integer import Static, is_static
from cute_viz.values.types import bits_of, named

TARGETS = ("cpp", "dsl", "cute", "ir")


def write(value: Any, target: str) -> str:
    """An object in a target's words, such that reading them gives an equal object. Raises: CuteVizError for what the target cannot
    express, such as an XOR stride in C++.

    >>> write(Layout((Static(4), Static(8)), (Static(8), Static(1))), "cpp")
    'Layout<Shape<_4,_8>,Stride<_8,_1>>{}'
    >>> write(Layout((4, 8), (8, 1)), "dsl"), write((Layout(4, 1), Layout(8, 2)), "ir")
    ('cute.make_layout((4, 8), stride=(8, 1))', '[4:1;8:2]')
    """
    return _WRITERS[target](value)


def _cannot(value: Any, target: str) -> CuteVizError:
    return CuteVizError(
        f"{target} cannot express {show(value).strip().splitlines()[0]}", hint=f"another notation: `as={'`, `as='.join(TARGETS)}`"
    )


def _cute(value: Any) -> str:
    if is_tiling(value):
        return _tiling(value, "CuTe notation", _cute)
    return show(value)


def _ir(value: Any) -> str:
    if is_tiling(value):
        raise _cannot(value, "CuTe's compiler notation")
    value = clear_static(value)
    if isinstance(value, tuple) and any(isinstance(item, (Layout, Underscore)) for item in value):
        return "[" + ";".join(map(_ir, value)) + "]"
    if isinstance(value, ComposedLayout):
        if isinstance(value.offset, PointerFlag):
            raise _cannot(value, "CuTe's compiler notation")
        if has_origin(value):
            return f"tensor<{show(value.offset)} o {_ir(value.inner)}>"
        return f"{_ir(value.outer)} o {show(value.offset)} o {_ir(value.inner)}"
    return show(value).replace("Sw<", "S<")


def _cpp(value: Any) -> str:
    if isinstance(value, (Layout, tuple)) and not isinstance(value, bool) and _all_static(value):
        return f"{_cpp_type(value)}{{}}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{_cpp_type(value)}{{}}" if is_static(value) else str(value)
    if isinstance(value, Underscore):
        return "_"
    if isinstance(value, Swizzle):
        return f"{_cpp_type(value)}{{}}"
    if isinstance(value, Basis):
        if not isinstance(value.value, int):
            raise _cannot(value, "C++")
        unit = f"E<{','.join(map(str, value.path))}>{{}}"
        return unit if value.value == 1 else f"{_cpp(value.value)} * {unit}"
    if isinstance(value, tuple):
        if any(isinstance(item, (Layout, Underscore)) for item in value):
            return f"make_tile({', '.join(map(_cpp, value))})"
        return f"make_tuple({', '.join(map(_cpp, value))})"
    if isinstance(value, Layout):
        return f"make_layout({_cpp_tuple('make_shape', value.shape)}, {_cpp_tuple('make_stride', value.stride)})"
    if isinstance(value, ComposedLayout):
        if isinstance(value.offset, PointerFlag):
            # a flagged smem layout is written as the library's atom of that name
            from cute_viz.algebra.smem_atom import smem_atom

            flag = value.offset
            assert isinstance(flag, PointerFlag)
            each = flag.sparsity
            kind = {8: "uint8_t", 16: "half_t", 32: "float", 64: "double", 4: "uint4_t"}.get(flag.bits * each)
            for major in ("K", "MN"):
                for mode in ("INTER", "SW32", "SW64", "SW128"):
                    name, more = f"Layout_{major}_{mode}_{'Sp' if each > 1 else ''}Atom", (each,) if each > 1 else ()
                    if kind is not None and smem_atom(name, (kind, *more)) == value:
                        return f"GMMA::{name}<{','.join(map(str, (kind, *more)))}>{{}}"
            raise _cannot(value, "C++")
        if has_origin(value):
            return f"make_tensor(make_inttuple_iter({_cpp(value.offset)}), {_cpp(value.inner)})"
        return f"make_composed_layout({_cpp(value.outer)}, {_cpp(value.offset)}, {_cpp(value.inner)})"
    if is_tiling(value):
        return _tiling(value, "C++", _cpp)
    raise _cannot(value, "C++")


def _all_static(value: Any) -> bool:
    """Whether a type can say it all: static integers, unit basis elements, no XOR strides."""
    if isinstance(value, Layout):
        return _all_static(value.shape) and _all_static(value.stride)
    parts = list(leaves(value))
    return bool(parts) and all(
        isinstance(leaf, (Static, Underscore))
        or (isinstance(leaf, Layout) and _all_static(leaf))
        or (isinstance(leaf, Basis) and leaf.value == 1 and is_static(leaf.value))
        for leaf in parts
    )


def _cpp_type(value: Any, tuple_name: str = "Shape") -> str:
    """The type of a value whose integers are all static."""
    if isinstance(value, Layout):
        return f"Layout<{_cpp_type(value.shape)},{_cpp_type(value.stride, 'Stride')}>"
    if isinstance(value, tuple):
        name = "Tile" if any(isinstance(item, (Layout, Underscore)) for item in value) else tuple_name
        return f"{name}<{','.join(_cpp_type(item, tuple_name) for item in value)}>"
    if isinstance(value, Underscore):
        return "Underscore"
    if isinstance(value, Swizzle):
        return f"Swizzle<{value.bits},{value.base},{value.shift}>"
    if isinstance(value, Basis):
        return f"E<{','.join(map(str, value.path))}>"
    return f"_{value:d}" if value in _NAMED else f"Int<{value:d}>"


# The integral constants that cute/numeric/integral_constant.hpp names.
_NAMED = {*range(11), 12, 16, 24, 32, 36, 48, 64, 72, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384, 32768, 65536}


def _cpp_tuple(name: str, value: Any) -> str:
    return f"{name}({', '.join(_cpp_tuple(name, item) for item in value)})" if isinstance(value, tuple) else _cpp(value)


def _dsl(value: Any) -> str:
    if is_tiling(value):
        return _dsl_tiling(value)
    value = clear_static(value)
    if isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, Underscore):
        return "None"
    if isinstance(value, tuple):
        return f"({', '.join(map(_dsl, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, Swizzle):
        return f"cute.make_swizzle({value.bits}, {value.base}, {value.shift})"
    if isinstance(value, Layout):
        return f"cute.make_layout({_dsl(value.shape)}, stride={_dsl(value.stride)})"
    if isinstance(value, Basis) and isinstance(value.value, int):
        return f"cute.ScaledBasis({value.value}, {_dsl(value.path)})"
    if has_origin(value):
        return f"cute.make_tensor({_dsl(value.offset)}, {_dsl(value.inner)})"
    if isinstance(value, ComposedLayout) and not isinstance(value.offset, PointerFlag):
        return f"cute.make_composed_layout({_dsl(value.outer)}, {_dsl(value.offset)}, {_dsl(value.inner)})"
    raise _cannot(value, "the Python DSL")


def _tiling(value: Any, target: str, inner: Callable[[Any], str]) -> str:
    """An atom by its name, a tiling as the call that makes it."""
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA, atom_layout, make_tiled_mma

    value = mark_static(value)
    braces = "{}" if target == "C++" else ""
    if isinstance(value, MMA_Atom) and value.name:
        return f"MMA_Atom<{value.name}>{{}}"
    if isinstance(value, Copy_Atom) and value.name and value.value_type:
        return f"Copy_Atom<{value.name}, {value.value_type}>{{}}"
    if isinstance(value, TiledMMA) and value.atom.name:
        atoms = atom_layout(value)
        if make_tiled_mma(value.atom, atoms, value.permutation_mnk) == value:
            return f"make_tiled_mma({value.atom.name}{braces}, {inner(mark_static(atoms))}, {inner(value.permutation_mnk)})"
    if isinstance(value, TiledCopy) and value.atom.name and value.atom.value_type:
        atom = _tiling(value.atom, target, inner)
        return f"make_tiled_copy_impl({atom}, {inner(value.layout_tv)}, {inner(value.tiler_mn)})"
    raise _cannot(value, target)


def _dsl_type(name: str) -> str:
    element = named(name)
    return element.dsl if element else ""


def _dsl_tiling(value: Any) -> str:
    """The call that makes an atom or a tiling; only some operations have a class in the DSL."""
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA, atom_layout

    if isinstance(value, MMA_Atom):
        if op := _dsl_op(value.instruction):
            return f"cute.make_mma_atom({op})"
    elif isinstance(value, Copy_Atom) and _dsl_type(value.value_type) and (op := _dsl_op(value.instruction)):
        kinds, width = value.instruction.arguments, ""
        if "S" in kinds:
            width = f", num_bits_per_copy={bits_of(kinds['S'])}"
        return f"cute.make_copy_atom({op}, cutlass.{_dsl_type(value.value_type)}{width})"
    elif isinstance(value, TiledMMA):
        layout = _dsl(atom_layout(value))
        return f"cute.make_tiled_mma({_dsl_tiling(value.atom)}, {layout}, permutation_mnk={_dsl(value.permutation_mnk)})"
    elif isinstance(value, TiledCopy):
        return f"cute.make_tiled_copy({_dsl_tiling(value.atom)}, {_dsl(value.layout_tv)}, {_dsl(value.tiler_mn)})"
    raise _cannot(value, "the Python DSL")


def _dsl_op(op: Instruction) -> str:
    form, _, constants = op.dsl.partition("; ")[0].partition(") ")
    if not form or constants or "{" in form or op.kind.startswith("cp.async.bulk"):  # a TMA is made of more than its name
        return ""
    module, _, rest = re.sub(r"\w+=(?=[^()]|\()", "", form.rstrip(")") + ")" * form.count("(")).partition(".")
    typed = re.sub(r"\b(?:b?f|tf|e\dm|[su])\d+\b", lambda kind: f"cutlass.{_dsl_type(kind[0])}", rest)
    return f"cute.nvgpu.{'' if module == 'cute' else module + '.'}{re.sub(', *', ', ', typed)}"


_WRITERS: dict[str, Callable[[Any], str]] = {"cpp": _cpp, "dsl": _dsl, "cute": _cute, "ir": _ir}
