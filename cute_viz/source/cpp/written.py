"""The values of what CuTe prints among the operands of C++.

The numbers in it are static: `(4,8):(8,1)` is what `Layout<Shape<_4,_8>,Stride<_8,_1>>{}` is. Those of C++ are not,
`make_layout(make_shape(4, 8))`.
"""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import PointerFlag
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import with_origin
from cute_viz.algebra.stride import Basis
from cute_viz.notation.values import composed
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.tree import Binary, Literal, Node, Unary, Written
from cute_viz.source.cpp.values import Value, finished, integer
from cute_viz.values.integer import Runtime


def written(meaning: Meaning, node: Written) -> Value:
    """The value of such a literal."""
    if node.kind == "tuple":
        return tuple(_item(meaning, item) for item in node.items)
    if node.kind == "pointer":
        return PointerFlag(integer(meaning.solid(node.items[0])))
    if node.kind == "comma":
        # what C++'s comma gives, which is seldom meant
        value = meaning.solid(node.items[-1])
        if meaning.context.warnings is not None:
            text = "".join(meaning.text[node.span.start : node.span.end].split())
            meaning.context.warnings.append(f"{text} is {show(finished(value))}, as C++ reads a comma")
        return value
    if node.kind == "pair":
        return Layout(*(_item(meaning, item) for item in node.items))
    first = node.items[0]
    of_tensor = node.kind == "composition" and isinstance(first, Written) and first.kind == "pointer"
    values: list[Any] = list(map(meaning.solid, node.items[of_tensor:]))  # whose layout is what counts
    match node.kind:
        case "ratio":
            return _ratio(values, meaning, node)
        case "at":
            return Basis(values[0], tuple(reversed(values[1:])))
        case "composition":
            begins = first.called == "ArithTuple"  # a tensor of coordinates
            layout: Value = composed(values[begins:], lambda a, b: meaning.operate("composition", [a, b]))
            return with_origin(values[0], layout, tensor=True) if begins else layout  # type: ignore[arg-type]
    return meaning.operate(node.kind, values)


def _item(meaning: Meaning, node: Node) -> Any:
    value = meaning.solid(node)
    known = meaning.context.own_lines and not meaning.context.of_gmem
    if known and isinstance(value, Runtime) and _is_constant(node):  # what is given for a name need not be
        return int(value)
    return value


def _is_constant(node: Node) -> bool:
    """Whether nothing but numbers stands in an expression."""
    return isinstance(node, Literal) or (isinstance(node, (Unary, Binary)) and all(map(_is_constant, node.children())))


def _ratio(values: list[Any], meaning: Meaning, node: Written) -> Value:
    from fractions import Fraction

    if not values[1]:
        raise meaning.fail("a ratio needs a positive denominator", node.span, hint="example: 1/2@0")
    value = Fraction(*map(int, values))
    return value if value.denominator != 1 else Runtime(value.numerator)
