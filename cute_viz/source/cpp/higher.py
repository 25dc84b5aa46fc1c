"""CuTe's functions that take a function: transform, fold, apply and their like (cute/algorithm/tuple_algorithms.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import add, mul, sub

from cute_viz.algebra.inttuple import div_rem, show
from cute_viz.errors import Span
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Brace, CppCall, Id, Node, Part
from cute_viz.source.cpp.values import Closure, External, Function, Value

_Applied = Callable[..., Value]
# Of cute/algorithm/functional.hpp.
_FUNCTORS: dict[str, _Applied] = {
    "identity": lambda x: x,
    "plus": add,
    "minus": sub,
    "multiplies": mul,
    "divides": lambda a, b: div_rem(a, b)[0],
    "modulus": lambda a, b: div_rem(a, b)[1],
    "max_fn": max,
    "min_fn": min,
    "negate": lambda x: -x,
}
# How many values stand before the function.
_VALUES = {
    **dict.fromkeys(words("apply find_if any_of all_of none_of fold_first"), (1, 1)),
    **dict.fromkeys(words("transform filter_tuple"), (1, 3)),
    **dict.fromkeys(words("transform_leaf"), (1, 2)),
    **dict.fromkeys(words("fold iscan escan"), (2, 2)),
}


def higher(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """A call of such a function: its last argument is a lambda, a function of the file or of CuTe, or an operation."""
    least, most = _VALUES[part.name]
    if not least <= len(args) - 1 <= most:
        raise meaning.fail(f"{part.name} takes {'a tuple' if most == 1 else 'tuples or values'} and a function", span)
    values = [meaning.known(value, span) for value in meaning.arguments(args[:-1])]
    return _CARRIED_OUT[part.name](meaning, span, _function(meaning, args[-1]), *values)


def _function(meaning: Meaning, node: Node) -> _Applied:
    while isinstance(node, (Brace, CppCall)) and not node.args:  # `plus{}`
        inner = node.type if isinstance(node, Brace) else node.function
        if inner is None:
            break
        node = inner
    if isinstance(node, Id) and node.parts[-1].name in _FUNCTORS:
        return _FUNCTORS[node.parts[-1].name]
    value = meaning.value(node)
    if isinstance(value, Closure):
        return lambda *args: meaning.closed(value, list(args), node.span)
    if isinstance(value, Function):
        return lambda *args: meaning.called(value, list(args), node.span)
    if not isinstance(value, External):
        raise meaning.fail(f"{show(value)} is not a function", node.span)
    return lambda *args: meaning.operate(value.short, list(args))


def _transform(meaning: Meaning, span: Span, function: _Applied, *of: Value, leaves: bool = False) -> Value:
    if not isinstance(of[0], tuple):
        return function(*of)
    if not all(isinstance(x, tuple) and len(x) == len(of[0]) for x in of):
        raise meaning.fail("Mismatched tuple_size", span)
    each = partial(_transform, meaning, span, function, leaves=True) if leaves else function
    return tuple(each(*row) for row in zip(*of, strict=True))


def _filter_tuple(meaning: Meaning, span: Span, function: _Applied, *of: Value) -> Value:
    found = _transform(meaning, span, function, *of)
    return meaning.operate("tuple_cat", list(found)) if isinstance(found, tuple) and isinstance(of[0], tuple) else found


def _entries(meaning: Meaning, span: Span, of: Value) -> tuple[Value, ...]:
    if not isinstance(of, tuple):
        raise meaning.fail(f"{show(of)} is not a tuple", span)
    return of


def _tests(function: _Applied, of: Value) -> list[bool]:
    return [bool(function(x)) for x in of] if isinstance(of, tuple) else [bool(function(of))]


def _scan(meaning: Meaning, span: Span, function: _Applied, of: Value, first: Value) -> list[Value]:
    out = [first]
    for entry in _entries(meaning, span, of):
        out.append(function(out[-1], entry))
    return out


_CARRIED_OUT: dict[str, _Applied] = {
    "transform": _transform,
    "transform_leaf": partial(_transform, leaves=True),
    "filter_tuple": _filter_tuple,
    "apply": lambda meaning, span, function, of: function(*_entries(meaning, span, of)),
    "fold": lambda meaning, span, function, of, first: reduce(function, of if isinstance(of, tuple) else (of,), first),
    "fold_first": lambda meaning, span, function, of: reduce(function, of) if isinstance(of, tuple) and of else of,
    "iscan": lambda meaning, span, function, of, first: tuple(_scan(meaning, span, function, of, first)[1:]),
    "escan": lambda meaning, span, function, of, first: tuple(_scan(meaning, span, function, of, first)[:-1]),
    "any_of": lambda meaning, span, function, of: any(_tests(function, of)),
    "all_of": lambda meaning, span, function, of: all(_tests(function, of)),
    "none_of": lambda meaning, span, function, of: not any(_tests(function, of)),
    "find_if": lambda meaning, span, function, of: [*_tests(function, of), True].index(True),
}
HIGHER = dict.fromkeys(_CARRIED_OUT, higher)
