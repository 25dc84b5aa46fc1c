"""Operators and casts of C++: what they make of values that are known, and of integers that are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from operator import add, floordiv, mul, sub
from typing import Any

from cute_viz.algebra.inttuple import div_rem, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import Basis
from cute_viz.errors import AlgebraError, CuteVizError, LimitError, Span
from cute_viz.source.cpp.definitions import Definitions
from cute_viz.source.cpp.elements import is_integer, kind_of_type, same
from cute_viz.source.cpp.numbers import (
    BOOL,
    SIZE,
    common,
    computed,
    holds,
    is_numeric,
    is_of_run_time,
    is_static,
    kind_named,
    kind_of,
    negated,
    number,
    promoted,
)
from cute_viz.source.cpp.ranges import converted, typed
from cute_viz.source.cpp.threads import own_of_threads
from cute_viz.source.cpp.tree import COMPARE, Binary, Cast, Condition, CppCall, Id, Index, Literal, Node, Unary
from cute_viz.source.cpp.unknown import attempted, certain, tried
from cute_viz.source.cpp.values import Class, Enumerator, External, Foreign, Function, Value, argument, integer
from cute_viz.values.integer import MulticastMask, Runtime, Unknown, compared
from cute_viz.values.marks import INT, Kind, TypedStatic
from cute_viz.values.types import Pointer, ValueType

_A_NUMBER = re.compile(r"(?:[\w:]*(?:<\w+>)?\{\}|\d+),")


class Operators(Definitions):
    """The part of the evaluator that computes."""

    def _literal(self, node: Literal) -> Value:
        return Pointer() if node.value is None else node.value

    def _unary(self, node: Unary) -> Value:
        operator = node.operator
        match operator:
            case "T&" | "T&&" | "...":
                return self.value(node.value)
            case "T*" | "&":
                return self._pointer(node)
            case "++" | "--" | "x++" | "x--":
                return self.stepped(node)
            case "throw":
                raise self.fail("this throws", node.span)
            case "!":
                false = not self.truth(node.value)
                return int(false) if type(self.solid(node.value)) is TypedStatic else false
        match operator, self.solid(node.value):
            case "*", Pointer(type=Class() as kind):
                return kind
            case "*", Pointer():
                raise self.fail("cannot determine what a pointer points to", node.span)
            case "+", (float() | Unknown()) as value:
                return value
            case "-", float(value):
                return -value
            case "-" | "~", Unknown() as value:
                return converted(typed(-value - (operator == "~"), promoted(kind_of(value))))
            case "-" | "+" | "~", int(value):
                found = self._defined(lambda: negated(operator, value), node.span)
                return argument(found) if is_static(value) else found
        raise self.fail(f"'{operator}' is for integers", node.span)

    def _pointer(self, node: Unary) -> Pointer:
        """A pointer to a value, or the type of one to a type: a class of the file, elements, a tag of CUTLASS, a layout."""
        if node.operator == "&" and (cell := self.place(node.value)) is not None:
            self.lose(cell, self.fail("changes through its address are not followed", node.span))
        if node.operator == "&" and isinstance(node.value, Index):  # &p[i] is p + i
            further = Binary(node.span, "+", node.value.value, node.value.index)
            if isinstance(moved := tried(lambda: self.value(further), None), Pointer):
                return moved
        match tried(lambda: self.value(node.value), None):
            case (Class() | ValueType()) as kind:
                return Pointer(type=kind)
            case (External(error=None) | Layout() | tuple()) as kind if node.operator == "T*":
                return Pointer(type=kind)
        return Pointer()

    def truth(self, node: Node) -> bool:
        """Whether a condition holds. Raises: where it is not known."""
        match certain(self.solid(node)):
            case Enumerator(number=value) | (int() | float() as value):
                return bool(value)
            case Pointer():
                raise self.fail("cannot determine whether a pointer is null", node.span)
            case value:
                raise self.fail(f"{show(value)} is not a condition", node.span)

    def _condition(self, node: Condition) -> Value:
        test = attempted(lambda: self.truth(node.test))
        if isinstance(test, CuteVizError):
            return own_of_threads(self, node, test)
        value, other = self.value(node.yes if test else node.no), self.kind(node.no if test else node.yes)
        if other is None or not is_of_run_time(value) or (kind_of(value) == other and other in (INT, BOOL)):
            return value
        return number(integer(value), common(kind_of(value), other))

    def kind(self, node: Node) -> Kind | None:
        """The type of a number that a tree would be, which is not evaluated; None of any other, and where nothing says so."""
        match node:
            case Binary(operator=operator):
                left, right = self.kind(node.left), self.kind(node.right)
                if operator in COMPARE or operator in ("&&", "||"):
                    return BOOL
                if left is None or right is None or operator in ("<<", ">>"):
                    return None if left is None else promoted(left)
                return right if operator == "," else left if operator[-1] == "=" else common(left, right)
            case Unary(operator=operator):
                inside = self.kind(node.value)
                return BOOL if operator == "!" else promoted(inside) if inside and operator in ("+", "-", "~") else inside
            case Condition():
                yes, no = self.kind(node.yes), self.kind(node.no)
                return common(yes, no) if yes is not None and no is not None and yes != no else yes
            case CppCall(function=Id(text="sizeof")):
                return SIZE
            case CppCall():  # what a function of the file is declared to give, `int(x)` too
                called = tried(lambda: self.value(node.function), None)
                if isinstance(called, Function) and (part := called.declarations[0].type) is not None:
                    called = self.inside(called.env).value(self.context.tree(part))
                return kind_of_type(called)
            case Cast():
                return kind_of_type(tried(lambda: self.value(node.type), None))
            case Literal() | Id():
                value = tried(lambda: self.value(node), None)
                return kind_of(value) if is_of_run_time(value) else None
        return None

    def _binary(self, node: Binary) -> Value:
        operator = node.operator
        if operator in ("&&", "||"):
            return self._both(node, stop=operator == "||")
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

    def combined(self, operator: str, left: Value, right: Value, node: Binary) -> Value:
        """An operator of two values."""
        if operator in ("==", "!=") and not (is_numeric(left) and is_numeric(right)):
            found = same(left, right)
            if found is None:
                self.known(left, node.left.span)
                self.known(right, node.right.span)
                raise self.fail("cannot determine whether these are the same", node.span)
            return found is (operator == "==")
        left, right = (_at_run_time(self.known(x, side.span)) for x, side in ((left, node.left), (right, node.right)))
        match operator, left, right:
            case "*", Basis(), int() | Unknown():
                return left * right
            case "*", int() | Unknown(), Basis():
                return left * right
            case "+" | "-", tuple(), tuple() if len(left) == len(right):
                pairs = zip(map(_at_run_time, left), map(_at_run_time, right), strict=True)
                return tuple(self._number(operator, a, b, node) for a, b in pairs)
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

    def _number(self, operator: str, left: Any, right: Any, node: Binary) -> Value:
        match operator, left, right:
            case "+" | "-", Pointer(), int() | Unknown():
                return self._further(left, right if operator == "+" else -right)
            case "+", int() | Unknown(), Pointer():
                return self._further(right, left)
        if not (is_numeric(left) and is_numeric(right)):
            raise self.fail(f"'{operator}' is for integers", node.span)
        unknown = next((x for x in (left, right) if isinstance(x, Unknown)), None)
        floating = float in (type(left), type(right))
        run_time = is_of_run_time(left) or is_of_run_time(right)
        if operator in COMPARE:
            # a comparison; of two static integers a static one
            if unknown is not None:
                if operator in ("==", "!="):
                    return compared(operator, left, right)
                raise unknown.error()
            found = bool(COMPARE[operator](left, right)) if floating else holds(operator, left, right)
            return found if floating or run_time else int(found)
        if floating:
            return self._floating(operator, certain(left), certain(right), node)
        if _is_static_zero(operator, left, right):
            return 0
        if unknown is not None:
            a, b = (Runtime(x) if isinstance(x, bool) else x for x in (left, right))
            return self._symbolic(operator, a, b, node)
        if operator == "|" and type(left) is type(right) is MulticastMask and left.cluster == right.cluster:
            return left.of(left | right, left.cluster, None, ())  # all that receive of either
        if operator not in "+-*/%&|^<<>>":
            raise self.fail(f"'{operator}' is not supported here", node.span)
        result = self._defined(lambda: computed(operator, left, right), node.span)
        return result if run_time else argument(result)

    def _defined(self, compute: Callable[[], Runtime], span: Span) -> Runtime:
        """What C++ defines. Raises: the error of what it does not, at its place."""
        try:
            return compute()
        except AlgebraError as error:
            raise self.fail(error.message, span) from None

    def _symbolic(self, operator: str, a: Any, b: Any, node: Binary) -> Value:
        """An operator of integers of which one is not known: as far as it is proven, whatever the number is."""
        known = b if isinstance(b, int) else None
        kind = promoted(kind_of(a)) if operator in ("<<", ">>") else common(kind_of(a), kind_of(b))
        if operator in "/%":
            a, b = converted(a, kind), converted(b, kind)
            if known == 0:
                raise self.fail("division by zero", node.right.span)
            result = div_rem(a, b)[operator == "%"]
        elif operator in "+-*":
            result = {"+": add, "-": sub, "*": mul}[operator](a, b)
        elif operator in ("<<", ">>") and known is not None and 0 <= known < 64:
            result = (mul if operator == "<<" else floordiv)(a, 1 << int(known))
        elif operator == "&" and known is not None and known > 0 and a.divisor & -a.divisor > known:
            result = 0
        elif operator in "&|^" and a == b:
            result = 0 if operator == "^" else a
        elif operator in "&|^":
            first, second = (b, a) if known is None and (not isinstance(a, Unknown) or b.key < a.key) else (a, b)
            result = first.applied(operator, second)
        else:
            result = a.applied(operator, b) if isinstance(a, Unknown) else b.applied(f"{a}{operator}")
        return converted(typed(result, kind))

    def _further(self, pointer: Pointer, count: int | Unknown) -> Pointer:
        return pointer.moved(0, False) if isinstance(count, Unknown) else pointer.moved(Runtime(count))

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

    def _cast(self, node: Cast) -> Value:
        return self.cast(self.value(node.type), node.value, node.span)

    def cast(self, kind: Value, node: Node, span: Span) -> Value:
        """A value as another type."""
        match kind:
            case Pointer():
                return self._cast_pointer(kind, node)
            case Class() if kind.env.scope.kind == "class":
                return kind  # a reference to what lies at a place
            case External(short="Major"):
                match self.solid(node):
                    case int(number) if number in (0, 1):
                        return Enumerator(kind.name, "MN" if number else "K", int(number))
        match kind, self.value(node):
            case ValueType(), value:
                return self.converted(value, kind, span)
            case Class(env=env), (int() | Unknown() | Enumerator()) as value if env.scope.kind == "enum":
                number = int(integer(value))
                return Enumerator("::".join(env.scope.path), str(number), number)
            case _, value:
                return self.known(value, span)

    def _cast_pointer(self, kind: Pointer, node: Node) -> Pointer:
        """A pointer of another type, at the address that it is made of."""
        match tried(lambda: self.value(node), None):
            case bool():
                return kind
            case int(address):
                return replace(kind, address=int(address))
            case Pointer() as value if kind.known is not None:
                return value.of(kind.known)
        return kind

    def converted(self, value: Value, kind: ValueType, span: Span) -> Value:
        """A value as a type of numbers."""
        if isinstance(value, Enumerator):
            return Runtime(value.number)
        value = self.known(value, span)
        if not isinstance(value, (int, float, Unknown)) or kind.name == "auto":
            return value
        if kind.name in ("bool", "float", "double"):
            return (bool if kind.name == "bool" else float)(certain(value))
        if isinstance(value, float) and not isfinite(value):
            raise self.fail(f"{value} is not an integer", span)
        if not is_integer(kind):
            return value
        if isinstance(value, Unknown):
            return converted(value, kind_named(kind))
        found = number(int(value), kind_named(kind))
        return value if type(value) is MulticastMask and found == value else found


def _at_run_time(value: Value) -> Value:
    """An operand as an operator takes it: an enumerator is its number, and so is a std::integral_constant."""
    match value:
        case Enumerator():
            return Runtime(value.number)
        case Foreign(kind=kind):
            return number(value, kind)
    return value


def _is_static_zero(operator: str, a: Any, b: Any) -> bool:
    """Whether a static operand makes the result C<0>, whatever the other one is (cute/numeric/integral_constant.hpp)."""
    first, second = (int(x) if is_static(x) else None for x in (a, b))
    if operator in ("*", "&"):
        return 0 in (first, second)
    zero = first == 0 and (isinstance(b, Unknown) or int(b) != 0)
    return (operator == "%" and second in (1, -1)) or (operator in ("/", "%") and zero)
