"""Operators and casts of C++: what they make of values that are known, and of integers that are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from operator import add, mul, sub
from typing import Any

from cute_viz.algebra.inttuple import div_rem, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import Basis
from cute_viz.errors import AlgebraError, CuteVizError, LimitError, Span
from cute_viz.source.cpp.definitions import Definitions
from cute_viz.source.cpp.elements import is_integer, same
from cute_viz.source.cpp.numbers import (
    BOOL,
    INT,
    SIZE,
    Kind,
    common,
    computed,
    holds,
    kind_named,
    kind_of,
    negated,
    number,
    promoted,
)
from cute_viz.source.cpp.tree import COMPARE, Binary, Call, Cast, Condition, Id, Index, Literal, Node, Unary
from cute_viz.source.cpp.unknown import certain, tried
from cute_viz.source.cpp.values import Class, Enumerator, External, Foreign, Function
from cute_viz.values.integer import MulticastMask, Runtime, Unknown, compared
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

_A_NUMBER = re.compile(r"(?:[\w:]*(?:<\w+>)?\{\}|\d+),")


class Operators(Definitions):
    """The part of the evaluator that computes."""

    def _literal(self, node: Literal) -> Any:
        return Pointer() if node.value is None else node.value

    def _unary(self, node: Unary) -> Any:
        if node.operator in ("T&", "T&&"):
            return self.value(node.value)
        if node.operator in ("T*", "&"):
            return self._pointer(node)
        if node.operator == "...":
            return self.value(node.value)
        if node.operator in ("++", "--", "x++", "x--"):
            return self.stepped(node)
        if node.operator == "throw":
            raise self.fail("this throws", node.span)
        if node.operator == "!":
            return not self.truth(node.value)
        value = self.solid(node.value)
        if node.operator == "*" and isinstance(value, Pointer):
            if isinstance(value.type, Class):
                return value.type
            raise self.fail("cannot determine what a pointer points to", node.span)
        if isinstance(value, float) and node.operator in "+-":
            return -value if node.operator == "-" else value
        if isinstance(value, (int, Unknown)) and node.operator in ("-", "+", "~"):
            if isinstance(value, Unknown):
                return -value - (node.operator == "~") if node.operator != "+" else value
            if isinstance(value, (bool, Runtime)):
                return self._defined(lambda: negated(node.operator, value), node.span)
            return {"-": -int(value), "+": int(value), "~": ~int(value)}[node.operator]
        raise self.fail(f"'{node.operator}' is for integers", node.span)

    def _pointer(self, node: Unary) -> Pointer:
        """A pointer to a value, or the type of one to a type: a class of the file, elements, a tag of CUTLASS, a layout."""
        if node.operator == "&" and (cell := self.place(node.value)) is not None:
            self.lose(cell, self.fail("changes through its address are not followed", node.span))
        if node.operator == "&" and isinstance(node.value, Index):  # &p[i] is p + i
            further = Binary(node.span, "+", node.value.value, node.value.index)
            if isinstance(moved := tried(lambda: self.value(further), None), Pointer):
                return moved
        value = tried(lambda: self.value(node.value), None)
        if value is None:
            return Pointer()
        if node.operator == "T*" and not (isinstance(value, External) and value.error is not None):
            return Pointer(type=value if isinstance(value, (Class, ValueType, External, Layout, tuple)) else None)
        return Pointer(type=value if isinstance(value, (Class, ValueType)) else None)

    def truth(self, node: Node) -> bool:
        """Whether a condition holds. Raises: where it is not known."""
        value = certain(self.solid(node))
        if isinstance(value, Enumerator):
            return value.number != 0
        if isinstance(value, (int, float)):
            return bool(value)
        if isinstance(value, Pointer):
            raise self.fail("cannot determine whether a pointer is null", node.span)
        raise self.fail(f"{show(value)} is not a condition", node.span)

    def _condition(self, node: Condition) -> Any:
        test = self.truth(node.test)
        value, other = self.value(node.yes if test else node.no), self.kind(node.no if test else node.yes)
        if isinstance(value, (bool, Runtime)) and other is not None and (other != INT or kind_of(value) != INT):
            return value if isinstance(value, bool) and other == BOOL else number(value, common(kind_of(value), other))
        return value

    def kind(self, node: Node) -> Kind | None:
        """The type of a number that a tree would be, which is not evaluated; None of any other, and where nothing says so."""
        if isinstance(node, Binary):
            left, right = self.kind(node.left), self.kind(node.right)
            if node.operator in COMPARE or node.operator in ("&&", "||"):
                return BOOL
            if left is None or right is None or node.operator in ("<<", ">>"):
                return None if left is None else promoted(left)
            return right if node.operator == "," else left if node.operator[-1] == "=" else common(left, right)
        if isinstance(node, Unary):
            inside = self.kind(node.value)
            if node.operator in ("+", "-", "~"):
                return None if inside is None else promoted(inside)
            return BOOL if node.operator == "!" else inside
        if isinstance(node, Condition):
            yes, no = self.kind(node.yes), self.kind(node.no)
            return common(yes, no) if yes is not None and no is not None and yes != no else yes
        if isinstance(node, Call):
            return SIZE if isinstance(node.function, Id) and node.function.text == "sizeof" else self._kind_called(node)
        if not isinstance(node, (Literal, Id, Cast)):
            return None
        try:
            value = self.value(node.type if isinstance(node, Cast) else node)
        except CuteVizError:
            return None
        if isinstance(node, Cast) and isinstance(value, ValueType):
            return (BOOL if value.name == "bool" else kind_named(value)) if is_integer(value) or value.name == "bool" else None
        return kind_of(value) if isinstance(value, (bool, Runtime)) else None

    def _kind_called(self, node: Call) -> Kind | None:
        """What a function of the file is declared to give, `int(x)` too."""
        try:
            called = self.value(node.function)
        except CuteVizError:
            return None
        if isinstance(called, Function) and (part := called.declarations[0].type) is not None:
            called = self.inside(called.env).value(self.context.tree(part))
        if isinstance(called, ValueType) and (is_integer(called) or called.name == "bool"):
            return BOOL if called.name == "bool" else kind_named(called)
        return None

    def _binary(self, node: Binary) -> Any:
        operator = node.operator
        if operator == "&&":
            return self._both(node, stop=False)
        if operator == "||":
            return self._both(node, stop=True)
        if operator == ",":
            self.value(node.left)
            right = self.value(node.right)
            text = "".join(self.context.text[node.span.start : node.span.end].split())
            if _A_NUMBER.match(text):  # which has no effect: a tuple was meant
                self.context.given.notes[f"({text}) is {show(right)}, as C++ reads a comma"] = None
            return right
        if operator[-1] == "=" and operator not in COMPARE and operator != "<=>":
            return self.assigned(node)
        return self.combined(operator, self.value(node.left), self.value(node.right), node)

    def combined(self, operator: str, left: Any, right: Any, node: Binary) -> Any:
        """An operator of two values."""
        if operator in ("==", "!=") and not (_is_number(left) and _is_number(right)):
            found = same(left, right)
            if found is None:
                self.known(left, node.left.span)
                self.known(right, node.right.span)
                raise self.fail("cannot determine whether these are the same", node.span)
            return found is (operator == "==")
        left, right = self.known(left, node.left.span), self.known(right, node.right.span)
        if isinstance(left, Enumerator) or isinstance(right, Enumerator):
            left, right = (Runtime(x.number) if isinstance(x, Enumerator) else x for x in (left, right))
        if operator == "*" and isinstance(left, Basis) and isinstance(right, (int, Unknown)):
            return left * right
        if operator == "*" and isinstance(left, (int, Unknown)) and isinstance(right, Basis):
            return left * right
        if isinstance(left, tuple) and isinstance(right, tuple) and operator in "+-" and len(left) == len(right):
            return tuple(self._number(operator, a, b, node) for a, b in zip(left, right, strict=True))
        return self._number(operator, left, right, node)

    def _both(self, node: Binary, stop: bool) -> bool:
        """`&&` and `||`; one side that decides is enough where the other one is not known."""
        problem: CuteVizError | None = None
        for side in (node.left, node.right):
            try:
                if self.truth(side) is stop:
                    return stop
            except LimitError:
                raise
            except CuteVizError as error:
                problem = problem or error
        if problem is not None:
            raise problem
        return not stop

    def _number(self, operator: str, left: Any, right: Any, node: Binary) -> Any:
        left, right = (Runtime(x) if isinstance(x, Foreign) else x for x in (left, right))
        if operator in "+-" and isinstance(left, Pointer) and isinstance(right, (int, Unknown)):
            return self._further(left, right if operator == "+" else -right)
        if operator == "+" and isinstance(left, (int, Unknown)) and isinstance(right, Pointer):
            return self._further(right, left)
        if not (_is_number(left) and _is_number(right)):
            raise self.fail(f"'{operator}' is for integers", node.span)
        if operator in COMPARE:
            # a comparison; of two static integers a static one
            if isinstance(left, Unknown) or isinstance(right, Unknown):
                if operator in ("==", "!="):
                    return compared(operator, left, right)
                raise (left if isinstance(left, Unknown) else right).error()
            if isinstance(left, float) or isinstance(right, float):
                return bool(COMPARE[operator](left, right))
            found = holds(operator, left, right)
            return found if isinstance(left, (bool, Runtime)) or isinstance(right, (bool, Runtime)) else int(found)
        if isinstance(left, float) or isinstance(right, float):
            return self._floating(operator, certain(left), certain(right), node)
        a, b = left, right
        if _is_static_zero(operator, a, b):
            return 0
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return self._symbolic(
                operator, Runtime(a) if isinstance(a, bool) else a, Runtime(b) if isinstance(b, bool) else b, node
            )
        if operator == "|" and isinstance(a, MulticastMask) and isinstance(b, MulticastMask) and a.cluster == b.cluster:
            return a.of(a | b, a.cluster, None, ())  # all that receive of either
        if operator not in "+-*/%&|^<<>>":
            raise self.fail(f"'{operator}' is not supported here", node.span)
        result = self._defined(lambda: computed(operator, a, b), node.span)
        return result if isinstance(a, (bool, Runtime)) or isinstance(b, (bool, Runtime)) else int(result)

    def _defined(self, compute: Callable[[], Any], span: Span) -> Any:
        """What C++ defines. Raises: the error of what it does not, at its place."""
        try:
            return compute()
        except AlgebraError as error:
            raise self.fail(error.message, span) from None

    def _symbolic(self, operator: str, a: Any, b: Any, node: Binary) -> Any:
        """An operator of integers of which one is not known: as far as it is proven, whatever the number is."""
        known = b if isinstance(b, int) else None
        if operator in "/%":
            if known == 0:
                raise self.fail("division by zero", node.right.span)
            result = div_rem(a, b)[operator == "%"]
        elif operator in "+-*":
            result = {"+": add, "-": sub, "*": mul}[operator](a, b)
        elif operator == "<<" and known is not None and 0 <= known < 64:
            result = a * (1 << int(known))
        elif operator == ">>" and known is not None and 0 <= known < 64:
            result = a // (1 << int(known))
        elif operator == "&" and known is not None and known > 0 and a.divisor & -a.divisor > known:
            result = 0
        elif operator in "&|^" and a == b:
            result = 0 if operator == "^" else a
        elif operator in "&|^":
            first, second = (b, a) if known is None and (not isinstance(a, Unknown) or b.key < a.key) else (a, b)
            result = first.applied(operator, second)
        else:
            result = a.applied(operator, b) if isinstance(a, Unknown) else b.applied(f"{a}{operator}")
        return Runtime(result) if isinstance(result, int) else result

    def _further(self, pointer: Pointer, count: int | Unknown) -> Pointer:
        known = isinstance(count, int)
        return pointer.moved(Runtime(int(count)) if known else 0, known)

    def _floating(self, operator: str, a: float, b: float, node: Binary) -> float:
        if operator == "/" and b == 0:
            raise self.fail("division by zero", node.right.span)
        if operator not in "+-*/":
            raise self.fail(f"'{operator}' is for integers", node.span)
        try:
            a, b = float(a), float(b)
            return {"+": a + b, "-": a - b, "*": a * b}[operator] if operator != "/" else a / b
        except OverflowError:
            raise self.fail("these numbers are too large", node.span) from None

    def _cast(self, node: Cast) -> Any:
        return self.cast(self.value(node.type), node.value, node.span)

    def cast(self, kind: Any, node: Node, span: Span) -> Any:
        """A value as another type."""
        if isinstance(kind, Pointer):
            return self._cast_pointer(kind, node)
        if isinstance(kind, Class) and kind.env.scope.kind == "class":
            return kind  # a reference to what lies at a place
        if isinstance(kind, External) and kind.name.rsplit("::", 1)[-1] == "Major":
            number = self.solid(node)
            if isinstance(number, int) and number in (0, 1):
                return Enumerator(kind.name, "MN" if number else "K", int(number))
        value = self.value(node)
        if isinstance(kind, ValueType):
            return self.converted(value, kind, span)
        if isinstance(value, (int, Unknown, Enumerator)) and isinstance(kind, Class) and kind.env.scope.kind == "enum":
            number = value.number if isinstance(value, Enumerator) else int(certain(value))
            return Enumerator("::".join(kind.env.scope.path), str(number), number)
        return self.known(value, span)

    def _cast_pointer(self, kind: Pointer, node: Node) -> Pointer:
        """A pointer of another type, at the address that it is made of."""
        value = tried(lambda: self.value(node), None)
        if value is None:
            return kind
        if isinstance(value, int) and not isinstance(value, bool):
            return replace(kind, address=int(value))
        return value.of(kind.type) if isinstance(value, Pointer) and kind.known is not None else kind

    def converted(self, value: Any, kind: ValueType, span: Span) -> Any:
        """A value as a type of numbers."""
        if isinstance(value, Enumerator):
            return Runtime(value.number)
        value = self.known(value, span)
        if kind.name == "bool" and isinstance(value, (int, float, Unknown)):
            return bool(certain(value))
        if isinstance(value, (int, float, Unknown)) and kind.name != "auto":
            if kind.name in ("float", "double"):
                return float(certain(value))
            if isinstance(value, float) and not isfinite(value):
                raise self.fail(f"{value} is not an integer", span)
            if not is_integer(kind):
                return value
            if isinstance(value, Unknown):  # the same number, if it has room
                return value if kind_named(kind) in ((32, True), (64, True)) else value.applied(kind.canonical)
            found = number(int(value), kind_named(kind))
            return value if isinstance(value, MulticastMask) and found == value else found
        return value


def _is_static_zero(operator: str, a: int, b: int) -> bool:
    """Whether a static operand makes the result C<0>, whatever the other one is (cute/numeric/integral_constant.hpp).

    >>> _is_static_zero("%", Runtime(3), 1), _is_static_zero("*", Runtime(3), 0), _is_static_zero("/", 4, Runtime(3))
    (True, True, False)
    """
    first, second = (None if isinstance(x, (bool, Runtime, Unknown)) else int(x) for x in (a, b))
    if operator in ("*", "&"):
        return 0 in (first, second)
    zero = first == 0 and (isinstance(b, Unknown) or int(b) != 0)
    return (operator == "%" and second in (1, -1)) or (operator in ("/", "%") and zero)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Unknown))
