"""Members of CuTe's own objects and types: `layout.shape()`, `tiled_mma.get_slice(i)`, `TiledMma::Shape_MNK`."""

from __future__ import annotations

from cute_viz.algebra.composed import ComposedLayout, has_origin
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import member, rank
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, Span
from cute_viz.source.cpp.context import needed
from cute_viz.source.cpp.cutlass import DEDUCED, scale_factors, tag_member
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.slices import is_layout, known_part, layout_of, of_thread, shaped, sliced
from cute_viz.source.cpp.tensors import check_of_tensors
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.values import Class, Enumerator, External, Thread, Value, as_int
from cute_viz.values.examples import example_type
from cute_viz.values.integer import Runtime
from cute_viz.values.types import COUNTS, Pointer, ValueType

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
