"""Pointers and tensors: what make_gmem_ptr, make_tensor and recast give, with the elements where the text tells them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.notation.hardware import FRAGMENTS
from cute_viz.source.cpp.elements import bits
from cute_viz.source.cpp.located import located, moved, plain, pointer_of
from cute_viz.source.cpp.pointed import element
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.slices import placed, zeroed_place
from cute_viz.source.cpp.tree import Call, Member, Node, Part
from cute_viz.source.cpp.values import External, Pointer
from cute_viz.values.pointer import Pointer as TensorPointer
from cute_viz.values.types import ValueType, named, sparse


def pointer(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Any:
    """A pointer of CuTe: the type of its elements, where the text tells it, and its memory."""
    match = re.fullmatch(r"make_(smem|gmem|rmem|tmem)_ptr", part.name)
    inner: Any = None
    try:
        inner = meaning.argument(part.args[0]) if part.args else meaning.value(args[0]) if args else None
    except LimitError:
        raise
    except CuteVizError:
        pass
    kind = inner.element if isinstance(inner, Pointer) else inner if part.args else None
    if not isinstance(kind, ValueType) and args and (name := element(meaning, args[0])):
        kind = ValueType(name)
    space = match[1] if match is not None else inner.space if isinstance(inner, Pointer) else ""
    return Pointer(kind if isinstance(kind, ValueType) else None, space, _address(meaning, args))


def _address(meaning: Meaning, args: tuple[Node, ...]) -> int | None:
    """The address that a pointer is made of, where the text tells it."""
    try:
        value = meaning.value(args[0]) if args else None
    except LimitError:
        raise
    except CuteVizError:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value.address if isinstance(value, Pointer) else None


def _behind(meaning: Meaning, node: Node, layout: Any) -> Any:
    """A layout behind a pointer, or behind that of another tensor, with what is known of it."""
    data = node.function if isinstance(node, Call) and isinstance(node.function, Member) else None
    try:
        if data is not None and data.part.name == "data":
            other = meaning.value(data.object)
            if isinstance(other, Tensor) and isinstance(layout, Layout):
                return replace(other, layout=layout, sliced=None)
            return layout if isinstance(other, Tensor) else located(layout, pointer_of(other))
        pointer = meaning.value(node)
    except LimitError:
        raise
    except CuteVizError:
        return layout
    if not isinstance(pointer, Pointer) or not isinstance(pointer.element, ValueType):
        return layout
    return _of_type(layout, pointer.element, pointer.space or "gmem", pointer.address)


def tensor(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Any:
    """make_tensor(pointer, layout), make_tensor(pointer, shape, stride), make_tensor<T>(shape): the layout counts."""
    if not args:
        raise meaning.fail("make_tensor takes a pointer and a layout", span)
    rest = args if part.args is not None else args[1:]
    if not rest:
        value = meaning.solid(args[0])
        if isinstance(value, (Layout, ComposedLayout)):
            return value
        raise meaning.fail("the layout of this tensor is not known", span)
    values = [_layout(x) for x in (meaning.known(x, span) for x in meaning.arguments(rest))]
    one = len(values) == 1 and isinstance(values[0], (Layout, ComposedLayout))
    layout = values[0] if one else meaning.operate("make_layout", values)
    if part.args is None:
        return _behind(meaning, args[0], _of_tensor(plain(layout)))
    kind = meaning.argument(part.args[0])
    if isinstance(kind, External) and kind.name in FRAGMENTS:  # in tensor memory
        return meaning.operate(f"make_fragment_{kind.name.removeprefix('FrgType')}", [*(kind.args or ()), *values])
    return _of_type(plain(layout), kind, "rmem")


def _layout(x: Any) -> Any:
    """Of a tensor its layout, where one is asked for: `t.layout()` is still t."""
    return x if not isinstance(x, Tensor) else x.layout if x.swizzle is None else x.whole


def _of_tensor(layout: Any) -> Any:
    """A layout whose swizzle is of addresses as that of a tensor, whose pointer takes the swizzle (cute/pointer_swizzle.hpp)."""
    if isinstance(layout, ComposedLayout) and isinstance(layout.offset, PointerFlag):
        return ComposedLayout(layout.outer, replace(layout.offset, tensor=True), layout.inner)
    return layout


def _of_type(layout: Any, kind: Any, space: str, address: int | None = None) -> Any:
    """The layout of a tensor of elements of a type, where that is known."""
    word = (kind.name if named(kind) else kind.canonical) if isinstance(kind, ValueType) else ""
    return located(layout, TensorPointer(space, word, address)) if named(word) is not None or sparse(word) else layout


def _first(pointer: TensorPointer | None) -> int | None:
    """The address in bytes of the first element of a tensor, where it is known."""
    if pointer is None or pointer.address is None:
        return None
    return pointer.address + int(pointer.offset) * pointer.bits // 8


def recast(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Any:
    """recast<T>(tensor): elements of another type, whose layout follows from both widths (cute/tensor_impl.hpp)."""
    if len(args) != 1 or not part.args:
        raise meaning.fail("recast<T>(tensor) has a type and a tensor", span)
    tensor, kind = meaning.solid(args[0]), meaning.argument(part.args[0])
    if isinstance(tensor, Tensor) and isinstance(kind, ValueType) and named(kind.name) is not None and not tensor.offset:
        types = [ValueType(tensor.pointer.type), ValueType(kind.name)]
        layout = meaning.operate("recast_layout", [tensor.layout, *types])
        return replace(tensor, pointer=replace(tensor.pointer, type=kind.name), layout=layout)
    pointer = pointer_of(tensor)
    flag = tensor.offset if isinstance(tensor, ComposedLayout) and isinstance(tensor.offset, PointerFlag) else None
    old = flag.bits if flag is not None else pointer.bits if pointer is not None else None
    if old is None:
        hint = "make_tensor(make_gmem_ptr<T>(p), layout) tells it; recast_layout<Old, New>(layout) needs no tensor"
        raise meaning.fail("the type of the elements of this tensor is not known", span, hint=hint)
    layout = meaning.operate("recast_layout", [tensor, old, bits(kind)])
    whole = _of_tensor(layout) if flag is not None and flag.tensor else layout
    return _of_type(whole, kind, pointer.space if pointer else "smem", _first(pointer))


def tma_partition(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Any:
    """tma_partition; of three operands there is no multicast. Which CTA it is tells where the parts begin, and no more."""
    operands = meaning.arguments(args)
    for value, node in zip(operands, args, strict=False):
        meaning.known(value, node.span)
    if len(operands) == 3:
        operands[1:1] = [0, Layout(1)]
    lost: list[CuteVizError] = []
    if len(operands) == 5:
        operands[1] = zeroed_place(operands[1], lost)
    coordinates, smem = meaning.operate(part.name, operands)
    if lost:
        coordinates, smem = (placed(plain(x), lost) for x in (coordinates, smem))
    return coordinates, located(plain(smem), pointer_of(smem) or moved(pointer_of(operands[3]), 0, known=False))
