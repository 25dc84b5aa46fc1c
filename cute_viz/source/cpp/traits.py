"""Templates of the standard and of CuTe that ask about types, or choose one: conditional_t, is_same_v, sizeof_bits."""

from __future__ import annotations

from collections.abc import Callable

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.errors import Span
from cute_viz.source.cpp.elements import bits, same
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.slices import is_layout
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Value, integer, is_runtime, solid
from cute_viz.values.integer import Runtime
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

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
    place, values = meaning.solid(args[0]), meaning.argument(args[1])
    if not isinstance(values, tuple) or not isinstance(place, int) or not 0 <= place < len(values):
        raise meaning.fail("this tuple has no such element", span)
    return values[place]


def _is(test: Callable[[Value], bool]) -> _Trait:
    def trait(meaning: Meaning, args: tuple[Node, ...], span: Span) -> bool:
        return test(solid(meaning.value(args[0])))  # a tag is none of these

    return trait


def _of(count: Callable[[Value], Value]) -> _Trait:
    return lambda meaning, args, span: count(meaning.solid(args[0]))


def _constant(meaning: Meaning, args: tuple[Node, ...], span: Span) -> bool:
    number, value = meaning.solid(args[0]), meaning.value(args[1])
    return isinstance(value, int) and not isinstance(value, Runtime) and integer(number) == int(value)


def _tuple_size(meaning: Meaning, args: tuple[Node, ...], span: Span) -> Value:
    value = meaning.solid(args[0])
    if not isinstance(value, tuple):
        raise meaning.fail("this is not a tuple", span)
    return Runtime(len(value))


def _integer(value: Value) -> bool:
    return isinstance(value, int) or (isinstance(value, ValueType) and value.kind in ("signed", "unsigned"))


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
    "is_static": _of(lambda value: not is_runtime(value) and not isinstance(value, ValueType)),
    "is_constant": _constant,
    "is_void": _is(lambda value: isinstance(value, ValueType) and value.name == "void"),
    "is_tuple": _is(lambda value: isinstance(value, tuple)),
    "is_layout": _is(is_layout),
    "is_integral": _is(_integer),
    "is_floating_point": _is(lambda value: isinstance(value, ValueType) and value.name in ("float", "double")),
    "is_pointer": _is(lambda value: isinstance(value, Pointer)),
    "is_swizzle_layout": _is(lambda value: isinstance(value, ComposedLayout)),
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
