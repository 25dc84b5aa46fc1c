"""Members of CuTe's own objects and types: `layout.shape()`, `tiled_mma.get_slice(i)`, `TiledMma::Shape_MNK`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, has_origin
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import member, rank
from cute_viz.algebra.static import with_origin
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError, Span
from cute_viz.source.cpp.context import needed
from cute_viz.source.cpp.cutlass import DEDUCED, scale_factors, tag_member
from cute_viz.source.cpp.elements import FRAGMENTS
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.pointed import element
from cute_viz.source.cpp.slices import is_layout, known_part, layout_of, of_thread, placed, shaped, sliced, zeroed_place
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Binary, Node, Part
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Class, Enumerator, External, Thread, Value, as_int, element_type
from cute_viz.values.examples import example_type
from cute_viz.values.integer import Runtime, Unknown
from cute_viz.values.types import COUNTS, Pointer, ValueType

# What CuTe has of tensors as of layouts (cute/tensor_impl.hpp, cute/atom/mma_atom.hpp, cute/atom/copy_atom.hpp).
_BOTH = words(
    "layout shape stride size rank depth flatten coalesce filter filter_zeros take composition compose with_shape tile "
    "domain_offset logical_divide zipped_divide tiled_divide flat_divide max_common_layout max_common_vector max_alignment "
    "make_fragment_like make_layout_like make_tensor_like group_modes local_tile local_partition inner_partition outer_partition"
)
_OF_THREADS = ("thrfrg_", "tidfrg_", "partition_", "retile_")


def check_of_layouts(name: str, kinds: str, operands: list[Value]) -> None:
    """Refuse a tensor where CuTe has an operation of layouts alone."""
    if name == "make_composed_layout" and isinstance(operands[0], (int, Unknown)):
        raise AlgebraError(f"a composed layout begins with a layout or a swizzle, not with {show(operands[0])}")
    if name in _BOTH or name.startswith(_OF_THREADS):
        return
    tensors = [isinstance(operand, Tensor) or has_origin(operand) for operand in operands]
    if any(tensor and kind in "LARHGQE" for tensor, kind in zip(tensors, kinds, strict=False)):
        raise AlgebraError(f"CuTe has {name} of layouts, and this is a tensor", hint=f"example: {name}(tensor.layout())")


def check_of_tensors(meaning: Meaning, name: str, value: Value) -> None:
    """Refuse a layout where CuTe has an operation of tensors alone, in a file; one that was given for a name may be a tensor's."""
    context = meaning.context
    known = not (context.own_lines or context.given_layouts)
    if known and is_layout(value) and not is_coordinates(value):
        hint = "example: make_tensor(make_gmem_ptr<half_t>(ptr), layout)"
        raise AlgebraError(f"CuTe has {name} of tensors, and this is a layout", hint=hint)


def pointer(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """A pointer of CuTe: its memory, the type of its elements where the text tells it, and the buffer that it points into."""
    match = re.fullmatch(r"make_(smem|gmem|rmem|tmem)_ptr", part.name)
    inner = tried(lambda: meaning.value(args[-1]), None) if args else None
    kind = inner.known if isinstance(inner, Pointer) else None
    if part.args:
        kind = element_type(tried(lambda: meaning.argument(part.args[0]) if part.args else None, None))
    if kind is None and args and (name := element(meaning, args[-1])):
        kind = ValueType(name)
    if not isinstance(inner, Pointer):
        address = int(inner) if isinstance(inner, int) and not isinstance(inner, bool) else None
        base, known = ("", True) if address is not None or not args else _buffer(meaning, args[-1])
        inner = Pointer("", kind, address, base=base, placed=known)
    elif match is not None and match[1] == "smem" and not inner.base and inner.address is None and args:
        base, known = _buffer(meaning, args[-1])
        inner = replace(inner, base=base, placed=inner.placed and known)
    out = inner if kind is None else inner.of(kind)
    return replace(out, space=match[1]) if match is not None else out


def _buffer(meaning: Meaning, node: Node) -> tuple[str, bool]:
    known = True
    while isinstance(node, Binary):
        node, known = node.left, False
    words = meaning.text[node.span.start : node.span.end] if node.span.end <= len(meaning.text) else ""
    words = "".join(words.split())
    while cast := re.fullmatch(r"(?:reinterpret_cast|static_cast)<[^()]*>\((.*)\)|\(\w+\*\)(.*)|&(\w+)\[0\]", words):
        words = next(filter(None, cast.groups()), "")  # the same bytes, whatever they are read as
        if plus := re.fullmatch(r"(&\w+\[0\]|\w+)\+.*", words):
            words, known = plus[1], False
    return words, known


def tensor(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """make_tensor(pointer, layout), make_tensor(pointer, shape, stride), make_tensor<T>(shape)."""
    if not args:
        raise meaning.fail("make_tensor takes a pointer and a layout", span)
    rest = args if part.args is not None else args[1:]
    if not rest:
        value = meaning.solid(args[0])
        if is_layout(layout_of(value)):
            return value
        raise meaning.fail("the layout of this tensor is not known", span)
    where = tried(lambda: meaning.value(args[0]), None) if part.args is None else None
    meaning.context.of_gmem = isinstance(where, Pointer) and where.space == "gmem"
    try:
        given = meaning.arguments(rest)
    finally:
        meaning.context.of_gmem = False
    values = [layout_of(meaning.known(x, span)) for x in given]
    layout: Any = values[0] if len(values) == 1 and is_layout(values[0]) else meaning.operate("make_layout", values)
    if part.args is None:
        match where:
            case tuple():
                return with_origin(where, layout, tensor=True)
            case Pointer() if where.space == COUNTS:
                return with_origin(where.offset, layout, tensor=True)
            case _ if is_coordinates(layout):
                return layout  # type: ignore[no-any-return]
            case Pointer():
                made = behind(where, layout)
                return made if meaning.context.apart is None else meaning.context.apart(meaning, args[0], made)
        base, known = _buffer(meaning, args[0])
        return behind(Pointer(base=base, placed=known), layout)
    kind = meaning.argument(part.args[0])
    if isinstance(kind, External) and kind.name in FRAGMENTS:  # in tensor memory
        return meaning.operate(f"make_fragment_{kind.name.removeprefix('FrgType')}", [*(kind.args or ()), *values])
    made = behind(Pointer("rmem", element_type(kind)), layout)
    return made if meaning.context.apart is None else meaning.context.apart(meaning, None, made)


def is_coordinates(layout: Value) -> bool:
    """Whether a layout is one of coordinates, whose pointer is one that counts."""
    return has_origin(layout) or (isinstance(layout, Layout) and is_coordinate_layout(layout))


def behind(where: Pointer, layout: Value) -> Tensor:
    """A layout behind a pointer, which takes the swizzle of addresses (cute/pointer_swizzle.hpp)."""
    match layout:
        case ComposedLayout(outer=outer, offset=PointerFlag() as flag, inner=inner):
            kind = where.type if where.type is not None else ValueType(str(flag.bits))
            return Tensor(replace(where, swizzle=outer if isinstance(outer, Swizzle) else None, type=kind), inner)
    return Tensor(where, layout)


def recast(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """recast<T>(tensor): elements of another type, whose layout follows from both widths (cute/tensor_impl.hpp)."""
    if len(args) != 1 or not part.args:
        raise meaning.fail("recast<T>(tensor) has a type and a tensor", span)
    tensor, kind = meaning.solid(args[0]), meaning.argument(part.args[0])
    if not isinstance(tensor, Tensor) or tensor.pointer.known is None:
        hint = "use make_tensor(make_gmem_ptr<T>(p), layout), or recast_layout<Old, New>(layout)"
        raise meaning.fail("the type of the elements of this tensor is not known", span, hint=hint)
    layout = meaning.operate("recast_layout", [tensor.layout, tensor.pointer.type, kind])  # metadata has less than a bit
    return replace(tensor, pointer=tensor.pointer.of(kind), layout=layout)  # type: ignore[arg-type]


def tma_partition(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """tma_partition; of three operands there is no multicast. Which CTA it is tells where the parts begin, and no more."""
    operands = meaning.solids(args)
    if len(operands) == 3:
        operands[1:1] = [0, Layout(1)]
    lost: list[CuteVizError] = []
    if len(operands) == 5:
        operands[1] = zeroed_place(operands[1], lost)
    coordinates, smem = meaning.operate(part.name, operands)  # type: ignore[misc, str-unpack]
    if lost and isinstance(smem, Tensor):
        smem = replace(smem, pointer=smem.pointer.moved(0, known=False))
    return placed(coordinates, lost), smem if isinstance(smem, Tensor) else placed(smem, lost)


_POINTERS = words("data begin end ptr get engine raw_ptr")
_SWIZZLE = {"num_bits": "bits", "num_base": "base", "num_shft": "shift"}


def _is_atom(value: Value) -> bool:
    """Whether a value is an atom, a tiling or an operation, whose module is not loaded where there is none."""
    return bool(getattr(type(value), "tiling", ""))


def method(meaning: Meaning, value: Value, part: Part, args: tuple[Node, ...] | None, span: Span) -> Value:
    """`x.name` and `x.name(args)`; `args` is None where nothing is called."""
    name = part.name
    match value:
        case Class():
            return _of_class(meaning, value, part, args, span)
        case Pointer():
            return value
        case Tensor() if name == "layout":
            return layout_of(value)
        case ComposedLayout() if name == "layout" and has_origin(value):
            return value.inner
    if name in _POINTERS:
        match known_part(value, []):
            case Tensor(pointer=pointer):
                return pointer
            case ComposedLayout(offset=origin) as layout if has_origin(layout):
                return origin if isinstance(origin, tuple) else Pointer(COUNTS, offset=origin)
            case Layout() | ComposedLayout():
                return Pointer()
    if not args and (found := member(name, value)) is not None:
        return found  # type: ignore[return-value]
    if name in ("layout", "value") and not args:
        return as_int(value) if name == "value" else value
    if name in ("get_slice", "get_thread_slice", "get_thr_slice") and args and len(args) == 1:
        return sliced(meaning, value, args[0])
    if name == "with" and _is_atom(value):
        return value  # whatever barrier and cache hint it is with
    operands = meaning.arguments(args or ())
    if (isinstance(value, Thread) or hasattr(value, "tiled")) and name.startswith(("partition_", "make_fragment", "retile")):
        if operands and name.startswith(("partition_", "retile")) and "fragment" not in name and "shape" not in name:
            check_of_tensors(meaning, name, known_part(operands[0], []))
        return of_thread(meaning, name, value, operands)
    if isinstance(value, Thread) and name not in ("data", "layout"):
        value = shaped(name, value)
    if name in ("compose", "tile") and len(operands) > 1:
        operands = [tuple(operands)]
    if name in ("with_shape", "tile") and is_layout(layout_of(value)):
        if name == "tile":
            return meaning.operate("logical_divide", [value, *operands])
        shape = operands[0] if len(operands) == 1 else tuple(operands)
        return meaning.operate("composition", [value, meaning.operate("make_layout", [shape])])
    if args is None:
        try:
            return type_member(meaning, value, part, span)
        except CuteVizError:
            raise meaning.fail(f"{show(value)} has no known member {name!r}", span) from None
    template = tuple(meaning.argument(item) for item in part.args or ())
    return meaning.operate(name, [value, *operands], template)


def _of_class(meaning: Meaning, value: Class, part: Part, args: tuple[Node, ...] | None, span: Span) -> Value:
    found = meaning.lookup.member(part.name, value.env)
    member = meaning.type_member(value, part, span)
    if args is None:
        own = found.declarations[0] if found is not None and found.declarations else None
        plain = own is not None and own.kind == "variable" and not own.static and not own.constant
        if (
            plain
            and isinstance(member, (int, float))
            and found is not None
            and found.env is value.env
            and not (value.env.cells is not None and part.name in value.env.cells)
            and meaning.context.let(part.name, value.env.scope) is None
        ):
            raise needed(meaning.text, part.name, span)  # what it begins with is not what it is later
        return member
    return meaning.apply(member, args, span)


def type_member(meaning: Meaning, value: Value, part: Part, span: Span) -> Value:
    """`T::name` of a type that is not from the file."""
    name = part.name
    if _is_atom(value):
        from cute_viz.source.cpp.atoms import member_of

        if (found := member_of(value, name)) is not None:
            return found
    match value:
        case External():
            return _of_name(meaning, value, name, span)
        case Enumerator():
            raise meaning.fail(f"{value} has no members", span)
        case ValueType() if name in ("value_type", "type"):
            return value
        case Tensor() if name not in ("value_type", "element_type"):
            return type_member(meaning, value.layout, part, span)
        case Tensor():
            if value.pointer.type is None:
                raise meaning.fail("the type of the elements of this tensor is not known", span)
            kind: Value = value.pointer.type
            return kind
        case Layout(shape=shape) if name in ("shape", "Shape"):
            return shape
        case Layout(stride=stride) if name in ("stride", "Stride"):
            return stride
        case Layout() | ComposedLayout() if name in ("rank", "Rank"):
            return Runtime(rank(value))
        case Layout() | ComposedLayout() if name in ("layout_type", "Layout", "layout"):
            return value
        case int() if name == "value":
            return as_int(value)
        case Swizzle() if name in _SWIZZLE:
            return Runtime(getattr(value, _SWIZZLE[name]))
    if name == "type":
        return value
    raise meaning.fail(f"{show(value).splitlines()[0]} has no known member {name!r}", span)


def _of_name(meaning: Meaning, value: External, name: str, span: Span) -> Value:
    """A member of what the file does not define: a tag of CUTLASS has some."""
    if (found := tag_member(value, name)) is not None:
        return found
    if name in ("SfAtom", *DEDUCED) and (found := scale_factors(meaning, value, name, [])) is not None:
        return found
    if value.error is not None and value.error.needs:
        words = f"{value.short}::{name}"
        raise value.error.but(
            message=f"{value.name!r} is not defined in this file, so that {name!r} is not known",
            hint=f"give it a value: `let={words}={example_type(name)}`",
            needs=(words,),
        )
    raise value.error or needed(meaning.text, f"{value.name}::{name}", span, "type")
