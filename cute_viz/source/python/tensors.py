"""What the DSL makes beside operations of the algebra: tensors and pointers, atoms of operations, members of enumerations."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any, TypeAlias

from cute_viz.algebra.composed import ComposedLayout, domain, swizzle_of
from cute_viz.algebra.inttuple import leaves, map_leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import tile_shape
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import clear_static, counting, with_origin
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.instructions import copy_atom, mma_atom
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.subscripts import marked, moved, somewhere, underscores
from cute_viz.source.python.tree import NOTHING
from cute_viz.source.python.values import Atom, EnumMember, Lost, Object, PyClass, decorators, kind_of, run_times, tensor_of
from cute_viz.values.examples import hint_for
from cute_viz.values.integer import Unknown
from cute_viz.values.types import COUNTS, Pointer, ValueType

Raw: TypeAlias = Any  # an argument of a helper that may be unknown


def picked(args: list[object], named: dict[str, object], names: tuple[str, ...]) -> list[Any]:
    """Arguments by place or by name, None for those that are left out. Raises: AlgebraError for others."""
    out = [*args, *[None] * (len(names) - len(args))]
    for word, value in named.items():
        if word not in names:
            raise AlgebraError(f"this takes no {word!r} here", hint=f"its arguments: {', '.join(names)}")
        out[names.index(word)] = value
    if len(out) > len(names):
        raise AlgebraError(f"this takes {len(names)} arguments, not {len(args)}", hint=", ".join(names))
    return out


def taken(helper: Callable[..., Any], machine: Machine, args: list[object], named: dict[str, object]) -> Any:
    """What a helper gives: its parameters are called as the DSL's; each must be known that is not `Raw`, None if it is left out."""
    names = helper.__code__.co_varnames[1 : helper.__code__.co_argcount]
    if names == ("args", "named"):  # it picks them itself
        return helper(machine, args, named)
    values = zip(names, picked(args, named, names), strict=True)
    return helper(machine, *(value if helper.__annotations__.get(name) == "Raw" else need(value) for name, value in values))


def layout_of(value: object) -> Any:
    """A layout, or the compact one of a shape."""
    value = need(value)
    if isinstance(value, Tensor):
        return value.layout
    if isinstance(value, (Layout, ComposedLayout)):
        return value
    return find("make_layout").call([underscores(value)])


def _make_tensor(machine: Machine, iterator: Raw, layout: Raw) -> object:
    """`make_tensor(iterator, layout)`: a pointer or the origin of coordinates, and a layout, or a shape."""
    layout = layout_of(layout)
    if isinstance(iterator, tuple):
        with_origin(need(iterator), layout)  # which refuses another nesting
        return tensor_of(layout, offset=iterator)
    if not isinstance(iterator, Pointer):
        return tensor_of(layout, Pointer(type=_element_of(machine, iterator)))
    base = iterator.base if iterator.space == "smem" else ""  # two views of one buffer are read and written by both
    made = Tensor(replace(iterator, part=None, base=base), layout)
    return made if (parts := iterator.part) is None else replace(made, part=cache(lambda: marked(parts(), layout)))


def _element_of(machine: Machine, iterator: object) -> object:
    """The element type of an unknown iterator: that given as `mA.element_type` for `mA.iterator`, or an error that asks for it."""
    if not isinstance(iterator, Lost) or not iterator.path:
        return None
    ends = (".element_type",) if iterator.path.endswith(".iterator") else (".value_type", ".dtype")
    for path in [iterator.path.removesuffix(".iterator") + end for end in reversed(ends)]:
        if (given := machine.let(path, machine.module)) is not NOTHING:
            return given
    message = f"the element type of {iterator.path!r} is not known"
    return Lost(iterator.error.but(message=message, needs=(path,), hint=hint_for(path)), path)


def _make_identity(machine: Machine, shape: object) -> Any:
    return coordinates(find("make_identity_layout").call([underscores(shape)]))


def coordinates(layout: Layout) -> Tensor:
    """A tensor of the coordinates that a layout has, from 0 on."""
    begun = counting(layout)
    offset = begun.offset if isinstance(begun, ComposedLayout) else 0
    return tensor_of(layout, None if isinstance(offset, tuple) else Pointer(COUNTS), offset)


def _registers(machine: Machine, layout_or_shape: Raw, dtype: Raw) -> Any:
    """`make_rmem_tensor(shape or layout, dtype)`, in older files `make_fragment`."""
    return tensor_of(layout_of(layout_or_shape), Pointer("rmem", kind_of(dtype)))


def _like(machine: Machine, src: object, dtype: Raw) -> object:
    old = src.pointer.type if isinstance(src, Tensor) else None
    layout = fragment_like(layout_of(src))
    if not isinstance(src, Tensor) and dtype is None:
        return layout
    return tensor_of(layout, Pointer("rmem", kind_of(dtype) or old))


def fragment_like(layout: Any) -> Any:
    """Registers for a tensor, nested as it is, which the DSL keeps for two modes, too."""
    layout = domain(layout)
    if isinstance(layout, Layout):  # run-time steps come last, as in the DSL
        last = count(1)
        layout = Layout(layout.shape, map_leaves(lambda x: next(last) << 48 if isinstance(x, Unknown) else x, layout.stride))
    out = clear_static(find("make_fragment_like").call([layout]))
    shape = clear_static(domain(layout).shape)
    if isinstance(out, Layout) and out.shape != shape and tuple(leaves(out.shape)) == tuple(leaves(shape)):
        strides = iter(tuple(leaves(out.stride)))
        return Layout(shape, map_leaves(lambda _: next(strides), shape))
    return out


def _get_tensor(machine: Machine, self: Raw, layout: Raw, swizzle: Raw, dtype: Raw) -> object:
    """`storage.sA.get_tensor(layout, swizzle=None, dtype=None)`: shared memory, of which the layout counts."""
    return _shared(layout, swizzle, self.type if dtype is None and isinstance(self, Pointer) else dtype)


def _allocate(machine: Machine, args: list[object], named: dict[str, object]) -> object:
    """`smem.allocate_tensor(element_type, layout, byte_alignment=1, swizzle=None)`."""
    names = ("self", "element_type", "layout", "byte_alignment", "swizzle")
    _, kind, layout, by, swizzle = picked(args, {word: value for word, value in named.items() if word in names}, names)
    made = _shared(layout, swizzle, kind)
    known = made.pointer.known if isinstance(made, Tensor) else None
    least = max(1, known.bits // 8) if known is not None else 1
    return replace(made, pointer=replace(made.pointer, align=max(least, by) if isinstance(by, int) else least)) if known else made


def _allocate_struct(machine: Machine, args: list[object], named: dict[str, object]) -> object:
    """`smem.allocate(SharedStorage)`: the fields of the struct."""
    kind = need(args[1] if len(args) > 1 else named.get("size_or_type"))
    if not isinstance(kind, PyClass) or "struct" not in decorators(kind.node):
        raise AlgebraError("the start of this memory is known only at run time")
    return Object(kind)


def _retrieve_pointer(machine: Machine, self: Raw, dtype: Raw) -> object:
    """`tmem.retrieve_ptr(dtype)`: where allocated tensor memory begins, which counts as its first column."""
    return Pointer("tmem", kind_of(dtype))


def _shared(layout: object, swizzle: object, kind: object) -> Any:
    swizzle = need(swizzle)
    if swizzle is not None and not isinstance(swizzle, Swizzle):
        raise AlgebraError("the swizzle of shared memory must be a swizzle", hint="example: cute.make_swizzle(3, 4, 3)")
    return tensor_of(layout_of(layout), Pointer("smem", kind_of(kind), swizzle=swizzle))


def _recast_pointer(machine: Machine, ptr: Raw, swizzle_: object, dtype: Raw) -> object:
    old = ptr if isinstance(ptr, Pointer) else Pointer()
    return replace(old, type=kind_of(dtype) or old.type, swizzle=swizzle_ or old.swizzle)


def _recast_tensor(machine: Machine, src: object, dtype: object, swizzle_: Raw) -> object:
    if not isinstance(src, Tensor) or not isinstance(dtype, ValueType) or src.pointer.known is None:
        raise AlgebraError("recast needs known element types")
    if src.pointer.swizzle is not None or (not isinstance(src.offset, Unknown) and src.offset):
        raise AlgebraError("a part of a tensor, or a swizzled one, cannot be recast here")
    layout = find("recast_layout").call([src.layout, src.pointer.bits, dtype.bits])
    return tensor_of(clear_static(layout), Pointer(src.pointer.space, dtype))


def _make_mma_atom(machine: Machine, op: object) -> object:
    return mma_atom(op, machine.given.resolve)


def _make_tiled_mma(machine: Machine, op_or_atom: object, atom_layout_mnk: object, permutation_mnk: object) -> object:
    atom = mma_atom(op_or_atom, machine.given.resolve)
    operands = [None if value is None else underscores(value) for value in (atom_layout_mnk, permutation_mnk)]
    while operands and operands[-1] is None:
        operands.pop()
    return Atom(find("make_tiled_mma").call([atom.value, *operands]), atom.op)


def _make_copy_atom(machine: Machine, args: list[object], named: dict[str, object]) -> object:
    bits = need(named.get("num_bits_per_copy", 0))
    if not isinstance(bits, int):
        raise AlgebraError(f"num_bits_per_copy must be an integer, not {bits}", hint="example: num_bits_per_copy=128")
    known = {"op", "copy_internal_type", "num_bits_per_copy", "memory_order", "memory_scope", "l2_prefetch_size", "cache_mode"}
    known |= {"l1c_evict_priority", "invariant", "no_alloc", "load_cache_mode", "store_cache_mode"}
    if set(named) - known:
        raise AlgebraError(f"make_copy_atom does not take {min(set(named) - known)!r} here")
    rest = {word: value for word, value in named.items() if word in ("op", "copy_internal_type")}
    op, kind = picked(args, rest, ("op", "copy_internal_type"))
    return copy_atom(need(op), kind, bits, machine.given.resolve)


def _tile_size(machine: Machine, self: Any, mode_idx: Any) -> object:
    """`tiled_mma.get_tile_size(0)`: how much of a mode it covers."""
    return int(tile_shape(self.value)[mode_idx])


def _assume(machine: Machine, src: Raw, divby: Raw) -> object:
    """`cute.assume(x, divby=8)`: a number that divides a run-time integer; of a pointer its alignment."""
    if isinstance(src, Unknown) and isinstance(divby, int) and divby > 0:
        return src.turned(plain=False, div=divby)
    return src


def _make_pointer(machine: Machine, args: list[object], named: dict[str, object]) -> object:
    """`make_ptr(dtype, value, mem_space=AddressSpace.gmem)`: of its memory, as far as that is said."""
    kind, space = args[0] if args else named.get("dtype"), named.get("mem_space", args[2] if len(args) > 2 else None)
    align = named.get("assumed_align")
    return Pointer(
        space.name if isinstance(space, EnumMember) else "", kind_of(kind), align=align if isinstance(align, int) else None
    )


def dynamic(tensor: Tensor, named: dict[str, object]) -> Tensor:
    """A tensor whose strides, or shape, the compiler is not to know: it takes elements to be aligned to no more than the strides
    are said to be divisible by."""
    by = named.get("divisibility", 1)
    align = int(by) * tensor.bits // 8 if isinstance(by, int) and by > 1 else None
    return replace(tensor, pointer=replace(tensor.pointer, align=align))


def _moved(machine: Machine, coord: Raw, tensor: object) -> Any:
    """`domain_offset(coord, tensor)`: the tensor from another place on."""
    place, layout = somewhere(underscores(coord)), layout_of(tensor)
    if isinstance(tensor, Tensor) and swizzle_of(layout) is not None:
        offset = find("crd2idx").call([place, layout.inner])  # the pointer moves, the swizzle remains
        known = isinstance(tensor.offset, int) and isinstance(offset, int)
        return tensor_of(layout, tensor.pointer, tensor.offset + layout.outer(offset) if known else Unknown())
    result = find("domain_offset").call([place, layout])
    return moved(tensor, result) if isinstance(tensor, Tensor) else result[0] if isinstance(result, tuple) else result


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
    "assume": _assume,
    "domain_offset": _moved,
    "is_static": lambda machine, x: next(run_times(x), None) is None,
}


_MEMBERS = {"OperandMajorMode": ("K", "MN"), "LayoutEnum": ("ROW_MAJOR", "COL_MAJOR")}


def member_of(machine: Machine, enum: str, value: object, node: ast.expr) -> EnumMember:
    """`Repetition(4)`, `OperandMajorMode("k")`, `CtaGroup(2)`: the member of a value, or of another enumeration's member."""
    match enum, value:
        case _, EnumMember(_, name, known):
            return EnumMember(enum, name, known)
        case "Repetition", int():
            return EnumMember(enum, f"x{value}", int(value))
        case "CtaGroup", 1 | 2:
            return EnumMember(enum, "ONE" if value == 1 else "TWO", int(value))
        case (("OperandMajorMode" | "LayoutEnum"), str()) if value.upper() in _MEMBERS[enum]:
            return EnumMember(enum, value.upper())
    raise machine.fail(f"cannot determine which member of {enum} this is", node)


def leading(layout: object) -> int | None:
    """The mode of a tensor's layout that is contiguous."""
    strides = modes(layout.stride) if isinstance(layout, Layout) else ()
    found = [n for n, stride in enumerate(strides) if not isinstance(stride, Unknown) and stride == 1]
    return found[0] if len(found) == 1 else None
