"""Types of elements and questions about types: widths, sameness; the templates of the standard and of CuTe that ask about types, or
choose one: conditional_t, is_same_v, sizeof_bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import each_integer, unknowns
from cute_viz.errors import AlgebraError, CuteVizError, Span
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.numbers import BOOL, kind_named, kind_of
from cute_viz.source.cpp.slices import is_layout
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Class, Enumerator, External, Template, Value, element_type, integer, solid
from cute_viz.values.integer import Runtime, Unknown, compared
from cute_viz.values.marks import INT, Kind
from cute_viz.values.types import Pointer, ValueType

FRAGMENTS = ("FrgTypeSFA", "FrgTypeSFB", "FrgTypeE")  # of an MMA, what lies in tensor memory
# Tags of CUTLASS, which are types of their own.
_TAG = re.compile(
    r"(RowMajor|ColumnMajor|Tensor[NK]\w*|Sm\d+\w*|OpClass\w+|Kernel\w+|Epilogue\w+|(PtrArray)?(NoSmem|TmaWarpSpecialized)\w*|\w+Tag|GemmUniversalMode"
    r"|mx_float[468]_t|nv_float4_t|StageCount\w*|\w+Scheduler(Auto)?|PackedVectorLayout|identity|void)"
)


def bits(value: Value) -> int:
    """The bits of a type of elements. Raises: the error of a name that is not known; AlgebraError for anything else."""
    match value:
        case ValueType():
            return 8 if value.name == "void" else value.bits
        case Pointer() | float():
            return 64
        case External(error=CuteVizError() as error):
            raise error
        case bool():
            return 8
        case Enumerator() | Runtime() | Unknown():
            return 32
    raise AlgebraError(f"the width of {show(value)} is not known", hint="an element type, for example half_t")


class Array(ValueType):
    """The type of an array, as one type of all its bits: what points into it points to `element`. bytes: how many it has."""

    __slots__ = ("bytes", "element")

    def __init__(self, name: str, element: Value, size: int) -> None:
        super().__init__(name)
        self.element, self.bytes = element, size


def same(a: Value, b: Value) -> bool | None:
    """Whether two types, or two values, are the same; None where that is not known."""
    match a, b:
        case External(), External():
            return _same_tags(a, b)
        case (External(), Class()) | (Class(), External()):
            return None
        case (External() as tag, _) | (_, External() as tag):
            return False if is_tag(tag.name) else None
        case ValueType(), ValueType():
            return a == b
        case Class(), Class():
            return a.env is b.env
        case Enumerator(), Enumerator():
            return a.number == b.number and a.kind.rpartition("::")[2] == b.kind.rpartition("::")[2]
        case Template(), Template():
            return a.declaration is b.declaration
        case int() | Unknown(), int() | Unknown():
            return compared("==", a, b)
        case tuple(), tuple():
            found = [same(x, y) for x, y in zip(a, b, strict=True)] if len(a) == len(b) else [False]
            return False if False in found else None if None in found else True
        case Pointer(), Pointer():
            return None if a.type is None or b.type is None else same(a.type, b.type)
    return type(a) is type(b) and bool(each_integer(int, a) == each_integer(int, b))


def _same_tags(a: External, b: External) -> bool | None:
    left, right = a.name.split("::"), b.name.split("::")
    shorter = min(len(left), len(right))
    if left[-shorter:] == right[-shorter:]:
        return same(a.args or (), b.args or ())
    return False if left[-1] != right[-1] and is_tag(a.name) and is_tag(b.name) else None


def is_tag(name: str) -> bool:
    """Whether a name is a tag of CUTLASS, a type that stands for itself."""
    return _TAG.fullmatch(name.rsplit("::", 1)[-1]) is not None


def is_integer(value: Value) -> bool:
    """Whether a type is one of integers."""
    if not isinstance(value, ValueType):
        return False
    return "long" in value.name or (value.kind in ("signed", "unsigned") and value.bits >= 8)


def kind_of_type(value: Value) -> Kind | None:
    """The type of numbers that a type is; None of any other."""
    if not isinstance(value, ValueType) or not (is_integer(value) or value.name == "bool"):
        return None
    return BOOL if value.name == "bool" else kind_named(value)


def type_of(value: Value) -> ValueType:
    """The type of a number of C++."""
    size, signed = kind_of(value)
    return ValueType("bool" if size == 1 else "int" if (size, signed) == INT else f"{'' if signed else 'u'}int{size}_t")


def initialised(value: Value) -> Value:
    """An object of a type of C++, as print(T{}) has it: run-time integers in a tuple of types are 0."""
    if type(value) is not tuple:
        return value
    parts = tuple(map(initialised, value))
    return tuple(Runtime(0) if is_integer(x) else x for x in parts)


_Trait = Callable[[Meaning, tuple[Node, ...], Span], Value]


def _conditional(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    if len(args) != 3:
        raise meaning.fail("conditional_t takes a condition and two types", span)
    return meaning.argument(args[1] if meaning.truth(args[0]) else args[2])


def _same(meaning: Meaning, args: tuple[Node, ...], span: Span) -> bool:
    if len(args) != 2:
        raise meaning.fail("is_same takes two types", span)
    a, b = (meaning.argument(item) for item in args)
    found = same(a, b)
    if found is None:
        for value in (a, b):
            solid(value)
        raise meaning.fail(f"cannot determine whether {a} and {b} are the same type", span)
    return found


def _any_of(meaning: Meaning, args: tuple[Node, ...], span: Span) -> bool:
    """is_any_of_v<T, A, B, ...>: T is one of the others."""
    first = meaning.argument(args[0])
    found = [same(first, meaning.argument(item)) for item in args[1:]]
    if True in found:
        return True
    if None in found:
        solid(first)
        raise meaning.fail("cannot determine whether these types are the same", span)
    return False


def _argument(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    """A type less what matters to no layout: const, references."""
    if not args:
        raise meaning.fail("a type is missing", span)
    return meaning.argument(args[0])


def _last(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    if not meaning.truth(args[0]):
        raise meaning.fail("this is not enabled", span)
    return meaning.argument(args[1]) if len(args) > 1 else ValueType("void")


def _element(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    match meaning.solid(args[0]), meaning.argument(args[1]):
        case int(place), tuple(values) if 0 <= place < len(values):
            return values[place]
    raise meaning.fail("this tuple has no such element", span)


def _is(test: Callable[[Value], bool]) -> _Trait:
    def trait(meaning: Meaning, args: tuple[Node, ...], span: Span) -> bool:
        return test(solid(meaning.value(args[0])))  # a tag is none of these

    return trait


def _is_a(kind: type) -> _Trait:
    return _is(lambda value: isinstance(value, kind))


def _of(count: Callable[[Value], Value]) -> _Trait:
    return lambda meaning, args, span: count(meaning.solid(args[0]))


def _constant(meaning: Meaning, args: tuple[Node, ...], span: Span) -> bool:
    number, value = meaning.solid(args[0]), meaning.value(args[1])
    return isinstance(value, int) and not isinstance(value, Runtime) and integer(number) == int(value)


def _tuple_size(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    match meaning.solid(args[0]):
        case tuple(value):
            return Runtime(len(value))
    raise meaning.fail("this is not a tuple", span)


def _integer(value: Value) -> bool:
    match value:
        case int() | ValueType(kind="signed" | "unsigned"):
            return True
    return False


def _is_static(value: Value) -> bool:
    """Whether no run-time integer is anywhere in a value, and it is not the type of one."""
    found: list[int] = []
    each_integer(lambda n: found.append(n) or n if isinstance(n, Runtime) else n, value)  # type: ignore[func-returns-value]
    return not found and next(unknowns(value), None) is None and not isinstance(value, ValueType)


def _pointee(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    value = _argument(meaning, args, span)
    return value.type if isinstance(value, Pointer) and value.type is not None else value


def _log2(up: bool) -> _Trait:
    def log2(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
        value = certain(meaning.solid(args[0]))
        if not isinstance(value, int) or value < 1:
            raise meaning.fail("this logarithm is of a number, 1 or more", span)
        return int(value - up).bit_length() - (not up)

    return log2


TRAITS: dict[str, _Trait] = {
    "conditional": _conditional,
    "conditional_t": _conditional,
    "is_same": _same,
    "is_same_v": _same,
    "is_any_of": _any_of,
    "enable_if": _last,
    "sizeof_bits": _of(lambda value: Runtime(bits(value))),
    "sizeof_bytes": _of(lambda value: Runtime(max(1, bits(value) // 8))),
    "tuple_element": _element,
    "tuple_size": _tuple_size,
    "is_static": _of(_is_static),
    "is_constant": _constant,
    "is_void": _is(lambda value: getattr(element_type(value), "name", "") == "void"),
    "is_tuple": _is_a(tuple),
    "is_layout": _is(is_layout),
    "is_integral": _is(_integer),
    "is_floating_point": _is(lambda value: getattr(element_type(value), "name", "") in ("float", "double")),
    "is_pointer": _is_a(Pointer),
    "is_swizzle_layout": _is_a(ComposedLayout),
    "is_copy_atom": _is(lambda value: type(value).__name__ in ("Copy_Atom", "CopyOp")),
    "conjunction": lambda meaning, args, span: all(meaning.truth(item) for item in args),
    "disjunction": lambda meaning, args, span: any(meaning.truth(item) for item in args),
    "negation": lambda meaning, args, span: not meaning.truth(args[0]),
    "type_identity": _argument,
    "remove_pointer": _pointee,
    "log2_down": _log2(up=False),  # cutlass/fast_math.h
    "log2_up": _log2(up=True),
    **dict.fromkeys(
        words(
            "remove_const remove_cv remove_reference remove_cvref decay add_const add_cv "
            "make_signed make_unsigned underlying_type add_lvalue_reference"
        ),
        _argument,
    ),
}
