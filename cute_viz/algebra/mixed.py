"""Operations on operands that mix static and run-time integers, as `_8` and `8` tell them apart: Static and Runtime ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.static import each_integer, is_tiling
from cute_viz.algebra.stride import step_of
from cute_viz.algebra.tensor import Tensor, behind, viewed, whole
from cute_viz.values.integer import Runtime, Static, is_static
from cute_viz.values.types import alike

_RECASTS = ("upcast", "downcast", "recast_layout")


# Operations that look at another part, or another order, of the same tensor.
VIEWS = frozenset(
    f"{operation}{of}"
    for operations, operands in (
        ("outer_partition", " "),
        ("local_tile local_partition slice group take select append prepend coalesce flatten filter filter_zeros composition", " "),
        ("domain_offset logical_divide zipped_divide tiled_divide flat_divide", " "),
        ("partition_", "ABCSD"),
        ("retile_ tidfrg_", "SD"),
        ("thrfrg_", "ABC"),
    )
    for operation in operations.split()
    for of in (operands.strip() or [""])
)


def entered(name: str, operands: list[object]) -> list[object]:
    """The operands of an operation, with both kinds of integers told apart; as they are where no `_` was written."""
    if not any(type(x) is Static for y in operands for x in _integers(y)):
        return operands
    # Strides below 0 are written without a mark; of recasts they are static: a run-time one CuTe would divide to 0.
    below = name in _RECASTS

    def told(x: int) -> int:
        return Static(x) if is_static(x) or (below and x < 0) else Runtime(x)

    # An atom and a tiling of it are types; which thread looks at it is not.
    types = [is_type(y) for y in operands]
    found = [each_integer(Static if of_type else told, y) for y, of_type in zip(operands, types, strict=True)]
    return [_of_thread(y, told) if of_type else y for y, of_type in zip(found, types, strict=True)]


def is_type(value: object) -> bool:
    """Whether a value is a type of C++'s, whose integers are static: an atom, a tiling."""
    return is_tiling(value) and not isinstance(value, Tensor)


def static_of_types(operands: list[object]) -> bool:
    """Whether what is made of operands is static, as they are types, and no integer is beside them."""
    return any(map(is_type, operands)) and not any(True for y in operands for _ in _integers(y))


def _of_thread(view: Any, told: Callable[[int], int]) -> object:
    for name in ("thr_idx", "thr_vmnk"):
        if hasattr(view, name):
            return replace(view, **{name: each_integer(told, getattr(view, name))})
    return view


def is_mixed(operands: list[object]) -> bool:
    """Whether an integer of the operands is known only when code runs."""
    return any(isinstance(x, Runtime) for operand in operands for x in _integers(operand))


def left(value: object) -> Any:
    """The result of an operation on entered operands: what is known is static, and prints so."""
    if isinstance(value, bool):
        return Static(value)
    return each_integer(lambda x: int(x) if isinstance(x, Runtime) else Static(x), value)


def _integers(value: object) -> Iterator[object]:
    """Every integer of an operand."""
    match value:
        case tuple():
            for item in leaves(value):
                yield from (item,) if isinstance(item, int) else _integers(item)
        case Layout(shape, stride):
            for part in (shape, stride):
                yield from map(step_of, leaves(part))
        case ComposedLayout(_, _, inner) | Tensor(_, inner):
            yield from _integers(inner)
        case int():
            yield value


def through(operation: Any, args: list[object], template: tuple[object, ...]) -> Any:
    """An operation that some of whose operands are tensors: a view of the first, or what it is of their layouts."""
    first = next(x for x in args if isinstance(x, Tensor))
    if operation.name == "layout" and len(args) == 1 and not template and first.swizzle is None:
        return first.layout  # what is the pointer's is not part of it
    types = [x.pointer.known if isinstance(x, Tensor) else None for x in args]
    if operation.name.startswith("max_common_") and len(args) == 2 and not alike(*types):  # each element is converted
        return 0 if operation.name == "max_common_vector" else Layout(Static(1), Static(0))
    if operation.name in VIEWS and not is_coordinate_layout(first.layout):
        plain = [x.layout if x is first else whole(x) for x in args]
        out = viewed(first, operation.call(plain, template))
        part = operation.name.startswith(("local_", "outer_", "partition_", "slice"))
        if part and first.swizzle is not None and isinstance(out, Tensor):
            out = replace(out, sliced=(operation.name, [whole(x) for x in args]))
        return out
    of_layouts = operation.name.endswith("_like") or operation.name.startswith("max_common_")
    if of_layouts and first.swizzle is None:  # where it begins does not matter
        return operation.call([behind(x) for x in args], template)
    return operation.call([whole(x) for x in args], template)
