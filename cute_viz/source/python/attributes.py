"""Attributes: of objects and classes of the text, modules, element types, layouts, tensors and tilings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.copy import Copy_Atom, TiledCopy
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import map_leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.source.python.machine import Machine
from cute_viz.source.python.tree import dotted, symbol
from cute_viz.source.python.values import (
    Atom,
    Bound,
    DslOp,
    EnumMember,
    Lost,
    Mutable,
    Object,
    PyClass,
    PyFunction,
    Slice,
    Super,
    Symbol,
    as_tensor,
)
from cute_viz.values.examples import hint_for
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType

_ALLOCATES = (
    "get_tensor",
    "allocate_tensor",
    "allocate_array",
    "allocate",
    "retrieve_ptr",
    "align",
)  # of allocators: it follows from arguments


def attribute(machine: Machine, value: object, name: str, node: ast.expr) -> Any:
    """`value.name`, which may be unknown. Raises: NotationError for an attribute that the value does not have."""
    for kind, read in _READERS:
        if isinstance(value, kind):
            return read(machine, value, name, node)
    raise machine.fail(f"this has no known attribute {name!r}", node)


def _of_unknown(machine: Machine, value: Lost, name: str, node: ast.expr) -> object:
    if name in _ALLOCATES:
        return Bound(Symbol(f"@tensor.{name}"), value)
    if not value.path:
        return value
    path = f"{value.path}.{name}"
    of_type = name == "width" and value.path.endswith((".element_type", ".dtype", ".value_type"))
    wanted = value.path if of_type else path
    message = f"{wanted!r} is not known: {value.path.partition('.')[0]!r} is a parameter"
    return Lost(value.error.but(message=message, needs=(wanted,), hint=hint_for(wanted)), path)


def _of_instance(machine: Machine, value: Object, name: str, node: ast.expr) -> object:
    if name in value.names:
        return value.names[name]
    found = value.cls.find(name)
    if isinstance(found, PyFunction):
        if found.decorators & {"property", "cached_property"}:
            return machine.parts.call(machine, found, [value], {}, node)
        if "staticmethod" in found.decorators:
            return found
        return Bound(found, value.cls if "classmethod" in found.decorators else value)
    if found is not None or name in value.cls.names:
        return found
    path = f"self.{name}"
    message = f"{path!r} has no value here" if value.cls.is_whole() else f"{path!r} is not set in this file"
    return machine.unknown(message, node, hint=hint_for(path), needs=(path,), path=path)


def _of_class(machine: Machine, value: PyClass, name: str, node: ast.expr) -> object:
    found = value.find(name)
    if value.is_enum() and found is not None and not isinstance(found, PyFunction):
        return EnumMember(value.name, name, found)
    if isinstance(found, PyFunction):
        return Bound(found, value) if "classmethod" in found.decorators else found
    if found is not None or name in value.names:
        return found
    if name == "__name__":
        return value.name
    return machine.unknown(f"{value.name}.{name} has no value here", node, needs=(f"{value.name}.{name}",))


def _of_super(machine: Machine, value: Super, name: str, node: ast.expr) -> object:
    for base in value.owner.bases:
        found = base.find(name) if isinstance(base, PyClass) else None
        if isinstance(found, PyFunction):
            return Bound(found, value.target)
    return machine.unknown(f"the base of {value.owner.name} is not in this file", node)


def _of_symbol(machine: Machine, value: Symbol, name: str, node: ast.expr) -> object:
    found = symbol(f"{value.path}.{name}")
    return machine.parts.outside(machine, Symbol(found.path, value.origin)) if isinstance(found, Symbol) else found


def _of_element(machine: Machine, value: ValueType, name: str, node: ast.expr) -> object:
    if name == "width":
        return value.bits
    if name in ("is_float", "is_integer", "signed"):
        return {"is_float": value.kind == "float", "is_integer": value.kind != "float", "signed": value.kind == "signed"}[name]
    return machine.unknown(f"{name!r} of an element type is not supported here", node)


def _of_member(machine: Machine, value: EnumMember, name: str, node: ast.expr) -> object:
    if name == "name":
        return value.name
    if name == "value":
        if value.value is None:
            raise machine.fail(f"the value of {value.enum}.{value.name} is not known", node)
        return value.value
    return Bound(Symbol(f"@member.{name}"), value)


def _of_plain(machine: Machine, value: Mutable | str, name: str, node: ast.expr) -> object:
    return Bound(Symbol(f"@{'str' if isinstance(value, str) else 'items'}.{name}"), value)


def _of_layout(machine: Machine, value: Any, name: str, node: ast.expr) -> Any:
    """DSL's `inner` of a composed layout is what it does last, a swizzle; `outer` the layout of coordinates."""
    composed = isinstance(value, ComposedLayout)
    if name == "shape":
        return clear_static(value.shape)
    if name == "stride" and not composed:
        return clear_static(value.stride)
    if composed and name in ("inner", "offset", "outer"):
        return {"inner": value.outer, "offset": value.offset, "outer": value.inner}[name]
    if name == "max_alignment":
        if isinstance(value, Layout):  # of what only a run knows what divides it counts
            strides = map_leaves(lambda d: 0 if isinstance(d, Unknown) else d, value.stride)
            value = Layout(map_leaves(lambda n: n.div if isinstance(n, Unknown) else n, value.shape), strides)
        return find("max_alignment").call([value])
    if name in ("layout", "iterator"):  # what was given for a tensor
        return value if name == "layout" else Pointer()
    if name == "element_type":
        path = dotted(node)
        return machine.unknown("the element type of this tensor is not known", node, hint_for(path), (path,))
    return Bound(Symbol(f"cutlass.cute.{name}"), value)


def _of_tensor(machine: Machine, value: Tensor, name: str, node: ast.expr) -> Any:
    if name == "element_type":
        if value.pointer.type is None:
            return machine.unknown("the element type of this tensor is not known", node)
        return value.pointer.type
    if name == "iterator":
        return value.offset if isinstance(value.offset, tuple) else replace(value.pointer, part=value.part)
    if name == "layout":
        return value.layout
    if name in ("shape", "stride"):
        return _of_layout(machine, value.layout, name, node)
    return Bound(Symbol(f"cutlass.cute.{name}"), value)


def _of_pointer(machine: Machine, value: Pointer, name: str, node: ast.expr) -> object:
    if name in ("dtype", "value_type") and value.type is not None:
        return value.type
    if name in ("get_tensor", "data_ptr", "align"):  # of a field of a struct in shared memory
        return Bound(Symbol(f"@tensor.{name}"), value)
    return machine.unknown(f"{name!r} of a pointer is not known", node)


def _of_instruction(machine: Machine, value: DslOp, name: str, node: ast.expr) -> object:
    if name in value.arguments:
        return value.arguments[name]
    return machine.unknown(f"{name!r} of {value.name} is not known", node)


def _of_atom(machine: Machine, value: Atom, name: str, node: ast.expr) -> object:
    if name == "op" and value.op is not None:
        return value.op
    if name == "value_type" and value.element is not None:
        return value.element
    table = next((table for kind, table in _TILINGS.items() if isinstance(value.value, kind)), {})
    if name in table:
        return clear_static(table[name](value.value))
    return Bound(Symbol(f"cutlass.cute.{name}"), value)


def _tv(side: str) -> Callable[[Any], Any]:
    def read(value: object) -> Any:
        return find(f"get_layout{side}_TV").call([value])

    return read


def _as_layout(extent: object) -> object:
    return Layout(extent, int(extent != 1)) if isinstance(extent, int) else extent


def _threads(value: TiledMMA | TiledCopy) -> int:
    return int(size(value.thr_layout))


_ATOM: dict[str, Callable[[Any], Any]] = {
    "shape_mnk": lambda x: x.shape_mnk,
    "thr_id": lambda x: x.thr_id,
    "tv_layout_A": lambda x: x.layout_a,
    "tv_layout_B": lambda x: x.layout_b,
    "tv_layout_C": lambda x: x.layout_c,
}
_TILINGS: dict[type, dict[str, Callable[[Any], Any]]] = {
    MMA_Atom: _ATOM,
    TiledMMA: {
        "shape_mnk": lambda x: x.atom.shape_mnk,
        "thr_id": lambda x: x.atom.thr_id,
        "thr_layout_vmnk": lambda x: x.thr_layout_vmnk,
        "permutation_mnk": lambda x: tuple(None if repr(item) == "_" else _as_layout(item) for item in x.permutation_mnk),
        "tv_layout_A": lambda x: x.atom.layout_a,
        "tv_layout_B": lambda x: x.atom.layout_b,
        "tv_layout_C": lambda x: x.atom.layout_c,
        "tv_layout_A_tiled": _tv("A"),
        "tv_layout_B_tiled": _tv("B"),
        "tv_layout_C_tiled": _tv("C"),
        "size": _threads,
    },
    Copy_Atom: {"thr_id": lambda x: x.thr_id, "layout_src_tv": lambda x: x.layout_src, "layout_dst_tv": lambda x: x.layout_dst},
    TiledCopy: {
        "tiler_mn": lambda x: tuple(map(_as_layout, x.tiler_mn)) if isinstance(x.tiler_mn, tuple) else x.tiler_mn,
        "layout_tv_tiled": lambda x: x.layout_tv,
        "layout_src_tv": lambda x: x.atom.layout_src,
        "layout_dst_tv": lambda x: x.atom.layout_dst,
        "layout_src_tv_tiled": _tv("S"),
        "layout_dst_tv_tiled": _tv("D"),
        "size": _threads,
    },
}


def _of_slice(machine: Machine, value: Slice, name: str, node: ast.expr) -> object:
    if name == "thr_idx":
        return value.cause
    found = _of_atom(machine, value.atom, name, node)
    return Bound(found.function, value) if isinstance(found, Bound) else found


_READERS: tuple[tuple[Any, Callable[[Machine, Any, str, ast.expr], Any]], ...] = (
    (Lost, _of_unknown),
    (Object, _of_instance),
    (PyClass, _of_class),
    (Super, _of_super),
    (Symbol, _of_symbol),
    (ValueType, _of_element),
    (EnumMember, _of_member),
    ((Mutable, str), _of_plain),
    ((Layout, ComposedLayout, Swizzle), _of_layout),
    (Tensor, _of_tensor),
    (DescriptorTensor, lambda machine, value, name, node: _of_tensor(machine, as_tensor(value), name, node)),
    (Pointer, _of_pointer),
    (DslOp, _of_instruction),
    (Atom, _of_atom),
    (Slice, _of_slice),
)
