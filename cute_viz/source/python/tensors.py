"""What the DSL makes that is no operation of the algebra: tensors and pointers, atoms of operations, members of enumerations."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, counting, domain, with_origin
from cute_viz.algebra.inttuple import leaves, map_leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import tile_shape
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.instructions import copy_atom, mma_atom
from cute_viz.source.python.lets import NOTHING
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.shares import marked
from cute_viz.source.python.staged import computed
from cute_viz.source.python.subscripts import moved, somewhere, underscores
from cute_viz.source.python.values import Atom, Class, Instance, Member, Unknown, decorators, kind_of, tensor_of
from cute_viz.values.examples import hint_for
from cute_viz.values.integer import Unknown as RunTime
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType


def picked(args: list[Any], named: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    """Arguments by place or by name, None for those that are left out. Raises: AlgebraError for others.

    >>> picked([4], {"b": 8}, ("a", "b", "c"))
    [4, 8, None]
    """
    out = [*args, *[None] * (len(names) - len(args))]
    for word, value in named.items():
        if word not in names:
            raise AlgebraError(f"this takes no {word!r} here", hint=f"its arguments: {', '.join(names)}")
        out[names.index(word)] = value
    if len(out) > len(names):
        raise AlgebraError(f"this takes {len(names)} arguments, not {len(args)}", hint=", ".join(names))
    return out


def layout_of(value: Any) -> Any:
    """A layout, or the compact one of a shape.

    >>> str(layout_of((4, 8)))
    '(4,8):(1,4)'
    """
    value = need(value)
    if isinstance(value, Tensor):
        return value.layout
    if isinstance(value, (Layout, ComposedLayout)):
        return value
    return find("make_layout").call([underscores(value)])


def _make_tensor(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`make_tensor(iterator, layout)`: a pointer or the origin of coordinates, and a layout, or a shape."""
    iterator, layout = picked(args, named, ("iterator", "layout"))
    layout = layout_of(layout)
    if isinstance(iterator, tuple):
        with_origin(need(iterator), layout)  # which refuses another nesting
        return tensor_of(layout, offset=iterator)
    if not isinstance(iterator, Pointer):
        return tensor_of(layout, Pointer(type=_element_of(machine, iterator)))
    made = Tensor(replace(iterator, part=None, base=""), layout)
    return made if (parts := iterator.part) is None else replace(made, part=cache(lambda: marked(parts(), layout)))


def _element_of(machine: Machine, iterator: Any) -> Any:
    """The element type of an unknown iterator: that given as `mA.element_type` for `mA.iterator`, or an error that asks for it."""
    if not isinstance(iterator, Unknown) or not iterator.path:
        return None
    ends = (".element_type",) if iterator.path.endswith(".iterator") else (".value_type", ".dtype")
    for path in [iterator.path.removesuffix(".iterator") + end for end in reversed(ends)]:
        if (given := machine.let(path, machine.module)) is not NOTHING:
            return given
    message = f"the element type of {iterator.path!r} is not known"
    return Unknown(iterator.error.but(message=message, needs=(path,), hint=hint_for(path)), path)


def _make_identity(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    shape = underscores(need(picked(args, named, ("shape",))[0]))
    return coordinates(find("make_identity_layout").call([shape]))


def coordinates(layout: Layout) -> Tensor:
    """A tensor of the coordinates that a layout has, from 0 on.

    >>> coordinates(find("make_identity_layout").call([(4, (2, 2))])).offset
    (0, (0, 0))
    """
    begun = counting(layout)
    return tensor_of(layout, offset=begun.offset if isinstance(begun, ComposedLayout) else 0)


def _registers(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`make_rmem_tensor(shape or layout, dtype)`, in older files `make_fragment`."""
    layout, kind = picked(args, named, ("layout_or_shape", "dtype"))
    return tensor_of(layout_of(layout), Pointer("rmem", kind_of(kind)))


def _like(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    source, kind = picked(args, named, ("src", "dtype"))
    source = need(source)
    old = source.pointer.type if isinstance(source, Tensor) else None
    layout = fragment_like(layout_of(source))
    if not isinstance(source, Tensor) and kind is None:
        return layout
    return tensor_of(layout, Pointer("rmem", kind_of(kind) or old))


def fragment_like(layout: Any) -> Any:
    """Registers for a tensor, nested as it is, which the DSL keeps for two modes, too.

    >>> str(fragment_like(Layout(((8, 1), (4,)), ((1, 0), (1024,)))))
    '((8,1),(4)):((1,0),(8))'
    """
    layout = domain(layout)
    if isinstance(layout, Layout):  # run-time steps come last, as in the DSL
        last = count(1)
        layout = Layout(layout.shape, map_leaves(lambda x: next(last) << 48 if isinstance(x, RunTime) else x, layout.stride))
    out = clear_static(find("make_fragment_like").call([layout]))
    shape = clear_static(domain(layout).shape)
    if isinstance(out, Layout) and out.shape != shape and tuple(leaves(out.shape)) == tuple(leaves(shape)):
        strides = iter(tuple(leaves(out.stride)))
        return Layout(shape, map_leaves(lambda _: next(strides), shape))
    return out


def _get_tensor(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`storage.sA.get_tensor(layout, swizzle=None, dtype=None)`: shared memory, of which the layout counts."""
    field, layout, swizzle, kind = picked(args, named, ("self", "layout", "swizzle", "dtype"))
    return _shared(layout, swizzle, field.type if kind is None and isinstance(field, Pointer) else kind)


def _allocate(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`smem.allocate_tensor(element_type, layout, byte_alignment=1, swizzle=None)`."""
    names = ("self", "element_type", "layout", "byte_alignment", "swizzle")
    _, kind, layout, _, swizzle = picked(args, {word: value for word, value in named.items() if word in names}, names)
    return _shared(layout, swizzle, kind)


def _allocate_struct(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`smem.allocate(SharedStorage)`: the fields of the struct."""
    kind = need(args[1] if len(args) > 1 else named.get("size_or_type"))
    if not isinstance(kind, Class) or "struct" not in decorators(kind.node):
        raise AlgebraError("where this memory begins is a run-time value")
    return Instance(kind)


def _retrieve_pointer(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`tmem.retrieve_ptr(dtype)`: where allocated tensor memory begins, which counts as its first column."""
    _, kind = picked(args, named, ("self", "dtype"))
    return Pointer("tmem", kind_of(kind))


def _shared(layout: Any, swizzle: Any, kind: Any) -> Any:
    swizzle = need(swizzle)
    if swizzle is not None and not isinstance(swizzle, Swizzle):
        raise AlgebraError("the swizzle of shared memory must be a swizzle", hint="example: cute.make_swizzle(3, 4, 3)")
    return tensor_of(layout_of(layout), Pointer("smem", kind_of(kind), swizzle=swizzle))


def _recast_pointer(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    pointer, swizzle, kind = picked(args, named, ("ptr", "swizzle_", "dtype"))
    old = pointer if isinstance(pointer, Pointer) else Pointer()
    return replace(old, type=kind_of(kind) or old.type, swizzle=need(swizzle) or old.swizzle)


def _recast_tensor(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    source, kind, _ = picked(args, named, ("src", "dtype", "swizzle_"))
    source, kind = need(source), need(kind)
    if not isinstance(source, Tensor) or not isinstance(kind, ValueType) or source.pointer.known is None:
        raise AlgebraError("the element types of a tensor that is recast must be known")
    if source.pointer.swizzle is not None or (not isinstance(source.offset, RunTime) and source.offset):
        raise AlgebraError("a part of a tensor, or a swizzled one, cannot be recast here")
    layout = find("recast_layout").call([source.layout, source.pointer.bits, kind.bits])
    return tensor_of(clear_static(layout), Pointer(source.pointer.space, kind))


def _make_mma_atom(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    return mma_atom(need(picked(args, named, ("op",))[0]), machine.given.resolve)


def _make_tiled_mma(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    op, layout, permutation = picked(args, named, ("op_or_atom", "atom_layout_mnk", "permutation_mnk"))
    atom = mma_atom(need(op), machine.given.resolve)
    operands = [None if value is None else underscores(need(value)) for value in (layout, permutation)]
    while operands and operands[-1] is None:
        operands.pop()
    return Atom(find("make_tiled_mma").call([atom.value, *operands]), atom.op)


def _make_copy_atom(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    bits = need(named.get("num_bits_per_copy"))
    known = {"op", "copy_internal_type", "num_bits_per_copy", "memory_order", "memory_scope", "l2_prefetch_size", "cache_mode"}
    known |= {"l1c_evict_priority", "invariant", "no_alloc", "load_cache_mode", "store_cache_mode"}
    if set(named) - known:
        raise AlgebraError(f"make_copy_atom takes no {min(set(named) - known)!r} here")
    rest = {word: value for word, value in named.items() if word in ("op", "copy_internal_type")}
    op, kind = picked(args, rest, ("op", "copy_internal_type"))
    return copy_atom(need(op), kind, bits, machine.given.resolve)


def _tile_size(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`tiled_mma.get_tile_size(0)`: how much of a mode it covers."""
    mma, at = map(need, picked(args, named, ("self", "mode_idx")))
    return int(tile_shape(mma.value)[at])


def _size_in_bytes(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    kind, layout = map(need, picked(args, named, ("dtype", "layout")))
    if layout is None:
        return 0
    if not isinstance(kind, ValueType):
        raise AlgebraError("size_in_bytes takes an element type and a layout")
    return (int(find("cosize").call([domain(layout_of(layout))])) * kind.bits + 7) // 8


def _round_up(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    a, b = map(need, picked(args, named, ("a", "b")))
    if isinstance(a, tuple):
        others = b if isinstance(b, tuple) else (b,) * len(a)
        return tuple(_round_up(machine, [x, y], {}) for x, y in zip(a, others, strict=False)) + a[len(others) :]
    if isinstance(a, RunTime) and isinstance(b, int):
        return computed("*", computed("//", computed("+", a, b - 1), b), b)
    if not isinstance(a, int) or not isinstance(b, int) or b < 1:
        raise AlgebraError("round_up takes integers")
    return -(-a // b) * b


def _assume(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`cute.assume(x, divby=8)`: a number that divides a run-time integer; of a pointer its alignment."""
    value, div = picked(args, named, ("src", "divby"))
    if isinstance(value, RunTime) and isinstance(div, int) and div > 0:
        return value.turned(plain=False, div=div)
    return value


def _shape(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`cute.shape(x)`: of a tiler the shapes of its layouts."""
    value, mode = picked(args, named, ("input", "mode"))
    value = need(value)
    if isinstance(value, tuple) and any(isinstance(item, Layout) for item in value):
        out: Any = tuple(item.shape if isinstance(item, Layout) else item for item in value)
    else:
        out = value if isinstance(value, (int, tuple)) else find("shape").call([layout_of(value)])
    path = underscores(need(mode))
    for at in () if path is None or repr(path) == "_" else path if isinstance(path, tuple) else (path,):
        out = modes(out)[at]
    return clear_static(out)


def _ones(front: bool) -> Callable[..., Any]:
    """append_ones and prepend_ones: as many modes 1:0 as a rank takes, or one."""

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        source, rank = map(need, picked(args, named, ("t", "up_to_rank")))
        layout = layout_of(source)
        most = int(find("rank").call([layout])) + 1 if rank is None else rank
        out = clear_static(find("prepend" if front else "append").call([layout, Layout(1, 0)], (most,)))
        return replace(source, layout=out, part=None) if isinstance(source, Tensor) else out

    return make


def _make_pointer(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`make_ptr(dtype, value, mem_space=AddressSpace.gmem)`: of its memory, as far as that is said."""
    kind, space = args[0] if args else named.get("dtype"), named.get("mem_space", args[2] if len(args) > 2 else None)
    return Pointer(space.name if isinstance(space, Member) else "", kind_of(kind))


def _moved(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
    """`domain_offset(coord, tensor)`: the tensor from another place on."""
    coord, source = picked(args, named, ("coord", "tensor"))
    source = need(source)
    place, layout = somewhere(underscores(coord)), layout_of(source)
    if isinstance(source, Tensor) and isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        offset = find("crd2idx").call([place, layout.inner])  # the pointer moves, the swizzle remains
        known = isinstance(source.offset, int) and isinstance(offset, int)
        return tensor_of(layout, source.pointer, source.offset + layout.outer(offset) if known else RunTime())
    result = find("domain_offset").call([place, layout])
    return moved(source, result) if isinstance(source, Tensor) else result[0] if isinstance(result, tuple) else result


TENSORS: dict[str, Callable[..., Any]] = {
    "make_tensor": _make_tensor,
    "make_identity_tensor": _make_identity,
    "get_tile_size": _tile_size,
    "make_rmem_tensor": _registers,
    "make_fragment": _registers,
    "make_fragment_like": _like,
    "make_rmem_tensor_like": _like,
    "get_tensor": _get_tensor,
    "allocate_tensor": _allocate,
    "allocate": _allocate_struct,
    "allocate_array": lambda machine, args, named: Pointer("smem", need([*args, named.get("element_type")][1])),
    "retrieve_ptr": _retrieve_pointer,
    **dict.fromkeys(("data_ptr", "align"), lambda machine, args, named: args[0]),
    "recast_ptr": _recast_pointer,
    "recast_tensor": _recast_tensor,
    "make_ptr": _make_pointer,
    "make_mma_atom": _make_mma_atom,
    "make_tiled_mma": _make_tiled_mma,
    "make_copy_atom": _make_copy_atom,
    "size_in_bytes": _size_in_bytes,
    "round_up": _round_up,
    "assume": _assume,
    "shape": _shape,
    "append_ones": _ones(front=False),
    "prepend_ones": _ones(front=True),
    "domain_offset": _moved,
    "is_static": lambda machine, args, named: need(args[0]) is not NotImplemented,
}


def call_member(machine: Machine, name: str, args: list[Any], node: ast.expr) -> Any:
    """Methods of LayoutEnum: a row-major A or B is K-major, a row-major C is N-major."""
    member = args[0]
    if isinstance(member, Member) and member.enum == "LayoutEnum" and len(args) == 1:
        row = member.name == "ROW_MAJOR"
        if name in ("mma_major_mode", "sm90_mma_major_mode"):
            return Member("OperandMajorMode", "K" if row else "MN")
        if name in ("is_k_major_a", "is_k_major_b", "is_n_major_c"):
            return row
        if name in ("is_m_major_a", "is_n_major_b", "is_m_major_c"):
            return not row
    raise machine.fail(f"{name} of this is not supported here", node)


def member_of(machine: Machine, enum: str, value: Any, node: ast.expr) -> Member:
    """`Repetition(4)`, `OperandMajorMode("k")`, `CtaGroup(2)`: the member of a value, or of another enumeration's member."""
    if isinstance(value, Member):
        return Member(enum, value.name, value.value)
    if enum == "Repetition" and isinstance(value, int):
        return Member(enum, f"x{value}", int(value))
    if enum == "CtaGroup" and value in (1, 2):
        return Member(enum, "ONE" if value == 1 else "TWO", int(value))
    if enum == "OperandMajorMode" and isinstance(value, str) and value.upper() in ("K", "MN"):
        return Member(enum, value.upper())
    if enum == "LayoutEnum" and isinstance(value, str) and value.upper() in ("ROW_MAJOR", "COL_MAJOR"):
        return Member(enum, value.upper())
    raise machine.fail(f"cannot determine which member of {enum} this is", node)


def leading(layout: Any) -> int | None:
    """The mode of a tensor's layout that is contiguous.

    >>> leading(Layout((4, 8), (8, 1))), leading(Layout((4, 8), (2, 3)))
    (1, None)
    """
    strides = modes(layout.stride) if isinstance(layout, Layout) else ()
    found = [n for n, stride in enumerate(strides) if not isinstance(stride, RunTime) and stride == 1]
    return found[0] if len(found) == 1 else None
