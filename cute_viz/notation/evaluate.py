"""Syntax tree -> object: numbers and tuples become values, names and calls go to the registry of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag
from cute_viz.algebra.inttuple import Static, X, is_int_tuple, leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError, CuteVizError, NotationError, Span
from cute_viz.notation.cplusplus import MAKE_TUPLES, PRINTERS, TUPLES, integral, smem_atom
from cute_viz.notation.syntax import (
    Apply,
    At,
    Blank,
    Call,
    Chain,
    Infix,
    Name,
    Node,
    Number,
    Pair,
    Pointer,
    Ratio,
    Sequence,
    Statement,
)

_SWIZZLES = ("Sw", "S", "Swizzle")
_MAJORS = {"LayoutLeft": "LayoutLeft", "LayoutRight": "LayoutRight", "GenColMajor": "LayoutLeft", "GenRowMajor": "LayoutRight"}


def evaluate_program(
    statements: list[Statement], text: str, names: Mapping[str, Any] | None = None, warnings: list[str] | None = None
) -> dict[str, Any]:
    """The value of every statement, by name; a value without a name is under `""` (the last one wins).

    Warnings, such as of a composition that is not what it seems, are added to `warnings`; without a list, nothing is checked.
    """
    env: dict[str, Any] = dict(names or {})
    out: dict[str, Any] = {}
    for statement in statements:
        value = _ungroup(_Evaluator(text, env, warnings).value(statement.value))
        if _all_static(statement.value):
            value = mark_static(value)
        key = statement.name or ""
        out.pop(key, None)
        out[key] = value
        if statement.name:
            env[statement.name] = value
    return out


def operation_of(node: Node, text: str, names: Mapping[str, Any]) -> tuple[str, list[Any]] | None:
    """The operation that a node calls, by name, and its evaluated operands; None for a literal."""
    evaluator = _Evaluator(text, names)
    if isinstance(node, Sequence) and len(node.items) == 1:
        return operation_of(node.items[0], text, names)
    if isinstance(node, Infix):
        name = "logical_divide" if node.operator == "⊘" else "logical_product"
        return name, [_ungroup(evaluator.value(node.left)), evaluator.value(node.right)]
    if isinstance(node, Chain) and len(node.items) == 2:
        return "composition", [_ungroup(evaluator.value(node.items[0])), evaluator.value(node.items[1])]
    if isinstance(node, Call) and node.args is not None and node.name not in names and node.name not in _SWIZZLES:
        template = [evaluator.value(item) for item in node.template if not isinstance(item, Name)]
        return node.name, [*map(evaluator.value, node.args), *template]
    return None


class _Evaluator:
    """Values of nodes, with the text for errors and the names that are bound."""

    def __init__(self, text: str, names: Mapping[str, Any], warnings: list[str] | None = None) -> None:
        self.text = text
        self.names = names
        self.warnings = warnings

    def fail(self, message: str, span: Span, hint: str | None = None) -> NotationError:
        return NotationError(message, text=self.text, span=span, hint=hint)

    def value(self, node: Node) -> Any:
        """The value of a node; an error of the algebra gets the node's place."""
        try:
            return getattr(self, type(node).__name__.lower())(node)
        except CuteVizError as error:
            raise error.at(self.text, node.span) from None

    def number(self, node: Number) -> int:
        return Static(node.value) if node.static else node.value

    def ratio(self, node: Ratio) -> Any:
        from fractions import Fraction

        value = Fraction(node.numerator, node.denominator)
        return int(value) if value.denominator == 1 else value

    def blank(self, node: Blank) -> Any:
        return X

    def at(self, node: At) -> Basis:
        return Basis(self.value(node.value), tuple(reversed(node.path)))

    def pointer(self, node: Pointer) -> PointerFlag:
        return PointerFlag(node.bits)

    def sequence(self, node: Sequence) -> Any:
        if len(node.items) == 1 and isinstance(node.items[0], (Chain, Infix, Call, Apply)) and node.bracket == "(":
            return self.value(node.items[0])  # parentheses that group an expression
        return tuple(map(self.value, node.items))

    def pair(self, node: Pair) -> Layout:
        self._congruent(node.shape, node.stride)
        shape, stride = self.value(node.shape), self.value(node.stride)
        if not is_int_tuple(shape):
            raise self.fail("a shape is an integer or a tuple of integers", node.shape.span)
        for leaf in leaves(stride):
            if leaf is X or isinstance(leaf, (Layout, ComposedLayout, Swizzle, PointerFlag)):
                raise self.fail("a stride is an integer, a basis element such as 1@0, or a tuple of these", node.stride.span)
        try:
            return Layout(shape, stride)
        except AlgebraError as error:
            raise error.at(self.text, node.shape.span) from None

    def _congruent(self, shape: Node, stride: Node) -> None:
        """A caret under the smallest piece of the stride that does not match its shape."""
        if isinstance(shape, Sequence) and isinstance(stride, Sequence):
            if len(shape.items) != len(stride.items):
                raise self.fail(
                    f"the stride {self._text(stride)} has {_modes(stride)}, its shape {self._text(shape)} has {_modes(shape)}",
                    stride.span,
                    hint="every integer of the shape needs one stride, in the same parentheses",
                )
            for s, d in zip(shape.items, stride.items, strict=True):
                self._congruent(s, d)
        elif isinstance(shape, Sequence) and isinstance(stride, (Number, At)):
            raise self.fail(
                f"the shape {self._text(shape)} has {_modes(shape)}, its stride {self._text(stride)} is one number",
                stride.span,
                hint="every integer of the shape needs one stride, in the same parentheses",
            )
        elif isinstance(shape, Number) and isinstance(stride, Sequence):
            raise self.fail(
                f"the shape {self._text(shape)} is one number, its stride {self._text(stride)} is a tuple",
                stride.span,
                hint=f"a tuple of one mode is written ({self._text(shape)}); one stride goes with {self._text(shape)}",
            )

    def _text(self, node: Node) -> str:
        return self.text[node.span.start : node.span.end]

    def name(self, node: Name) -> Any:
        if node.text in self.names:
            return self.names[node.text]
        if _short(node.text) in _MAJORS:
            return _major(_short(node.text))
        if node.text[0] == "F" and node.text[1:].isdecimal():
            return F2(int(node.text[1:]))
        from difflib import get_close_matches

        near = get_close_matches(node.text, list(self.names), n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "a name is bound by a = (4,8):(8,1);"
        raise self.fail(f"{node.text!r} is not a layout, and nothing of this name was bound", node.span, hint=hint)

    def call(self, node: Call) -> Any:
        name = _short(node.name)
        if name in _SWIZZLES and node.template:
            return self._swizzle(node)
        if name in TUPLES and node.template and not node.args:
            return tuple(map(self.value, node.template))
        if name in MAKE_TUPLES and node.args is not None:
            return tuple(map(self.value, node.args))
        if name in PRINTERS and len(node.args or ()) == 1:
            return self.value((node.args or ())[0])  # what is printed is what is meant
        if name.startswith("Layout_"):
            types = tuple(item.text if isinstance(item, Name) else self.value(item) for item in node.template)
            if (atom := smem_atom(name, types)) is not None:
                return atom
        if name == "Layout" and node.template and not node.args:
            return Layout(*map(self.value, node.template[:2]))
        if name in ("Int", "C") and len(node.template) == 1:
            return integral(self.value(node.template[0]))
        if name in _MAJORS:
            return _major(name)
        if node.name == "E":
            path = [self.value(item) for item in node.template]
            if not all(isinstance(i, int) and i >= 0 for i in path):
                raise self.fail("E<i,j...> takes positions of modes, 0 or more", node.span)
            return Basis(1, tuple(map(int, path)))
        if node.name == "ArithTuple":
            return tuple(map(self.value, node.args or ()))
        if node.name in self.names and not node.template:
            return _call_layout(self.names[node.name], tuple(map(self.value, node.args or ())))
        from cute_viz.algebra import ops

        template = tuple(item.text if isinstance(item, Name) else self.value(item) for item in node.template)
        return self._operate(ops.find(node.name), [self.value(item) for item in node.args or ()], template)

    def _operate(self, operation: Any, operands: list[Any], template: tuple[Any, ...] = ()) -> Any:
        """The result of an operation, with a warning where CuTe's composition is not A(B(i))."""
        result = operation.call(operands, template)
        if self.warnings is not None and operation.name == "composition" and len(operands) == 2:
            from cute_viz.algebra.compose import composition_is_pointwise

            a, b = _as_layout(operands[0]), operands[1]
            if isinstance(a, (Layout, ComposedLayout)) and composition_is_pointwise(a, b, result) is False:
                self.warnings.append(
                    f"composition({show(a)}, {show(b)}) = {show(result)} as CuTe computes it, but it is not A(B(i)) everywhere"
                )
        return result

    def _swizzle(self, node: Call) -> Any:
        numbers = [self.value(item) for item in node.template]
        if len(numbers) == 2:
            numbers.append(numbers[0])
        if len(numbers) != 3 or not all(isinstance(n, int) for n in numbers):
            raise self.fail("a swizzle has three integers", node.span, hint="Sw<B,M,S>, such as Sw<3,3,3>")
        swizzle = Swizzle(*map(int, numbers))
        return swizzle(*map(self.value, node.args)) if node.args else swizzle

    def apply(self, node: Apply) -> Any:
        return _call_layout(_ungroup(self.value(node.function)), tuple(map(self.value, node.args)))

    def infix(self, node: Infix) -> Any:
        from cute_viz.algebra import ops

        operation = ops.find("logical_divide" if node.operator == "⊘" else "logical_product")
        return self._operate(operation, [_ungroup(self.value(node.left)), self.value(node.right)])

    def chain(self, node: Chain) -> Any:
        items = [self.value(item) for item in node.items]
        first = node.items[0]
        if isinstance(first, Pointer) or (isinstance(first, Call) and first.name == "ArithTuple" and not any(leaves(items[0]))):
            items = items[1:]  # the pointer of a tensor, or the zero origin of an identity tensor: the layout is what counts
        return self._compose(items)

    def _compose(self, items: list[Any]) -> Any:
        """`outer o offset o inner` is a composed layout; `a o b` is a composition."""
        if len(items) == 1:
            return _as_layout(items[0])
        for n in range(1, len(items) - 1):
            if _is_offset(items[n], items[n + 1]):
                return ComposedLayout(self._compose(items[:n]), items[n], self._compose(items[n + 1 :]))
        from cute_viz.algebra import ops

        out = _ungroup(items[0])
        for item in items[1:]:
            out = self._operate(ops.find("composition"), [out, item])
        return out


def mark_static(value: Any) -> Any:
    """The same value with every integer marked as static, for printing as CuTe prints static layouts."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return Static(value)
    if isinstance(value, tuple):
        return tuple(map(mark_static, value))
    if isinstance(value, Basis):
        return Basis(mark_static(value.value), value.path)
    if isinstance(value, Layout):
        return Layout(mark_static(value.shape), mark_static(value.stride))
    if isinstance(value, ComposedLayout):
        return ComposedLayout(mark_static(value.outer), mark_static(value.offset), mark_static(value.inner))
    return value


def _all_static(node: Any) -> bool:
    """Whether every integer that was written (template arguments aside) was written as a static one."""
    numbers: list[bool] = []
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Number):
            numbers.append(item.static)
        elif isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, Sequence):
            stack.extend(item.items)
        elif isinstance(item, Pair):
            stack += [item.shape, item.stride]
        elif isinstance(item, At):
            stack.append(item.value)
        elif isinstance(item, Call):
            stack.extend(item.args or ())
            if _short(item.name) in (*TUPLES, "Layout"):
                stack.extend(item.template)
            elif _short(item.name) in ("Int", "C") or _short(item.name).startswith("Layout_"):
                numbers.append(True)
        elif isinstance(item, Apply):
            stack += [item.function, *item.args]
        elif isinstance(item, Chain):
            stack.extend(item.items)
        elif isinstance(item, Infix):
            stack += [item.left, item.right]
    return bool(numbers) and all(numbers)


def _is_offset(value: Any, following: Any) -> bool:
    """Whether the middle of `a o value o following` is an offset rather than a layout."""
    if isinstance(value, (int, PointerFlag)):
        return True
    following = _ungroup(following)
    return isinstance(value, tuple) and is_int_tuple(value) and isinstance(following, Layout) and is_coordinate_layout(following)


def _as_layout(value: Any) -> Any:
    value = _ungroup(value)
    return Layout(value) if isinstance(value, (int, tuple)) and is_int_tuple(value) else value


def _ungroup(value: Any) -> Any:
    """A layout in parentheses is the layout (a tuple of one layout means a tiler only as an argument)."""
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], (Layout, ComposedLayout, Swizzle)):
        return value[0]
    return value


def _major(name: str) -> Any:
    from cute_viz.algebra import construct

    return getattr(construct, _MAJORS[name])


def _short(name: str) -> str:
    """A name without `cute::`, `cute.`, `GMMA::` and the like."""
    return name.replace("::", ".").rsplit(".", 1)[-1]


def _call_layout(function: Any, args: tuple[Any, ...]) -> Any:
    if isinstance(function, Swizzle):
        if len(args) != 1 or not isinstance(args[0], int):
            raise AlgebraError(f"{function} takes one integer")
        return function(args[0])
    if not isinstance(function, (Layout, ComposedLayout)):
        raise AlgebraError(f"{show(function)} is not a layout that a coordinate could be given to")
    if not args:
        raise AlgebraError("a layout is called with a coordinate", hint="such as (2,3), or (2,_) for a slice")
    return function(*args)


def _modes(node: Sequence) -> str:
    return f"{len(node.items)} mode{'' if len(node.items) == 1 else 's'}"
