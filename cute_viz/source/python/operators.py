"""Python's operators on values: arithmetic, comparison, truth; on integers that only runs know, and what prints."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from sys import getsizeof
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.source.python.helpers import HELPERS
from cute_viz.source.python.machine import Frame, Machine, need, need_whole
from cute_viz.source.python.tree import HELPERS as WRITTEN
from cute_viz.source.python.tree import defined, is_library
from cute_viz.source.python.values import Atom, EnumMember, Lost, Mutable, Object, SizedInt, Symbol, same
from cute_viz.values.integer import Unknown, compared
from cute_viz.values.types import ValueType

_ROUNDS = 4096  # of a range that are listed


def sequence(machine: Machine, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> object:
    """`(a, *b)`, `[a, b]`, `{a, b}`."""
    out: list[Any] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            out += iterate(machine, need_whole(machine.value(item.value, frame)), item)
        else:
            out.append(machine.attempt(item, frame))
    machine.bound(out, node)
    return _collected(machine, node, out)


def _collected(machine: Machine, node: ast.expr, out: list[object]) -> object:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return Mutable({"items": frozenset(_hashable(machine, need(item), node) for item in out)})
    return tuple(out) if isinstance(node, (ast.Tuple, ast.GeneratorExp)) else Mutable({"items": out})


def iterate(machine: Machine, value: object, node: ast.AST) -> list[Any]:
    """The entries of an iterable. Raises: NotationError for anything else, and for too many entries."""
    if isinstance(value, Mutable):
        value = value.items
    if isinstance(value, range) and value[_ROUNDS:]:
        raise machine.fail(f"more than {_ROUNDS} rounds are too many to follow", node)
    if isinstance(value, (tuple, list, range, str, dict)):
        machine.made(8 * len(value), node)
        return list(value)
    raise machine.fail("cannot determine what this iterates over", node)


def comprehension(machine: Machine, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, frame: Frame) -> object:
    """`[f(x) for x in y if z]`, and those of tuples, sets and dictionaries."""
    out: list[Any] = []
    inner = Frame(dict[str, Any](), frame, frame.scope, frame.node, frame.owner, inside=frame.inside or frame)
    _generators(machine, list(node.generators), node, inner, out)
    if isinstance(node, ast.DictComp):
        return Mutable({"items": dict(out)})
    return _collected(machine, node, out)


def _generators(machine: Machine, rest: list[ast.comprehension], node: Any, frame: Frame, out: list[object]) -> None:
    if not rest:
        if isinstance(node, ast.DictComp):
            out.append((need(machine.value(node.key, frame)), machine.attempt(node.value, frame)))
        else:
            out.append(machine.attempt(node.elt, frame))
        if len(out) > limit("modes") * 4:
            raise over("modes", "too many entries", text=machine.tree.text, span=machine.span(node))
        return
    first, *others = rest
    for value in iterate(machine, need_whole(machine.value(first.iter, frame)), first.iter):
        bind(machine, first.target, value, frame)
        if all(truth(machine, need_whole(machine.value(test, frame)), test) for test in first.ifs):
            _generators(machine, others, node, frame, out)


def bind(machine: Machine, target: ast.expr, value: object, frame: Frame) -> None:
    """Bind names of a comprehension or a loop."""
    if isinstance(target, ast.Name):
        machine.store.write(frame.outside.get(target.id, frame).names, target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        values = [value] * len(target.elts) if isinstance(value, Lost) else iterate(machine, value, target)
        if len(values) != len(target.elts):
            raise machine.fail(f"{len(values)} values for {len(target.elts)} names", target)
        for item, one in zip(target.elts, values, strict=True):
            bind(machine, item, one, frame)
    else:
        raise machine.fail("this target is not supported here", target)


def dictionary(machine: Machine, node: ast.Dict, frame: Frame) -> object:
    """`{a: b}`."""
    out: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise machine.fail("cannot determine the arguments of **", value)
        out[_hashable(machine, need(machine.value(key, frame)), key)] = machine.attempt(value, frame)
    return Mutable({"items": out})


def _hashable(machine: Machine, value: object, node: ast.expr) -> object:
    if isinstance(value, (int, str, float, tuple, ValueType, EnumMember, type(None))):
        return value
    raise machine.fail("this key is not supported here", node)


def unstaged(value: object) -> object:
    """Run-time integers as layouts have them, of which the DSL keeps what divides them."""
    if isinstance(value, Unknown):
        return value.turned(plain=False) if value.name[0] == "?" else value
    if isinstance(value, SizedInt):
        return Unknown("?{i64}" if value.bits == 64 else "?", written=value.written or f"Int{value.bits}({int(value)})")
    return tuple(map(unstaged, value)) if type(value) is tuple else value


def narrowed(value: object) -> object:
    """The plain run-time numbers in a value as if they had 32 bits."""
    if isinstance(value, Unknown):
        return value.turned(plain=True, bits=32) if value.plain else value
    return tuple(map(narrowed, value)) if type(value) is tuple else value


def computed(word: str, a: Any, b: Any, *others: object) -> object:
    """Arithmetic of run-time integers, of which the DSL keeps the width, and of a layout's a number that divides them. Raises:
    NotationError for what gives no integer."""
    known = [x for x in (a, b) if isinstance(x, Unknown)]
    made = known[0].applied(f"{word}{len(known) if known[0] is a else 'r'}", *(x for x in (a, b, *others) if x is not known[0]))
    first, number = known[0], next((int(x) for x in (a, b) if isinstance(x, int)), None)
    if len(known) + (number is not None) < 2 or word in ("/", "@"):
        raise first.error()
    widths = {"i64" in x.name for x in known}
    large = number is not None and number.bit_length() > 31
    kept = word in ("+", "-", "*", "//", "%") and len(widths) == 1 and not large and not all(x.plain for x in known)
    if not kept or (widths == {True} and (number == 0 or word == "%")):
        return made.turned(plain=True, bits=64 if large or True in widths else 32, div=1)
    left, right = (x.div if isinstance(x, Unknown) else abs(int(x)) for x in (a, b))
    if word == "*":
        return 0 if number == 0 else made.turned(plain=False, div=left * right)
    if word in "+-":
        return made.turned(plain=False, div=math.gcd(left, right))
    if number is None or number < 1 or isinstance(a, int):
        return made.turned(plain=False, div=1)
    if word == "%":
        return 0 if left % number == 0 else made.turned(plain=False, div=math.gcd(left, number))
    return made.turned(plain=False, div=left // number if left % number == 0 else 1)


_NUMBERS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitOr: ("|", operator.or_),
    ast.BitAnd: ("&", operator.and_),
    ast.BitXor: ("^", operator.xor),
}
_WORDS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_ORDERS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def binary(machine: Machine, node: ast.BinOp | ast.AugAssign, a: Any, b: Any) -> object:
    """The value of `a + b` and the like, of numbers, tuples and lists."""
    word, compute = _NUMBERS.get(type(node.op), ("@", operator.matmul))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return _number(machine, node, word, compute, a, b)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return computed(word, a, b)
    a, b = _content(a), _content(b)
    if word == "+" and type(a) is type(b) and isinstance(a, (tuple, str, list)):
        machine.made(getsizeof(a) + getsizeof(b), node)
        return _sized(machine, node, a + b)
    if word == "*" and {type(a), type(b)} & {tuple, list, str} and (isinstance(a, int) or isinstance(b, int)):
        many, times = (b, a) if isinstance(a, int) else (a, b)
        if abs(int(times)) * max(1, len(many)) > limit("modes") * 4:
            raise machine.fail("too many entries", node)
        machine.made(8 * max(0, int(times)) * len(many), node)
        return _sized(machine, node, many * times)
    if word == "*" and isinstance(a, Basis) and isinstance(b, int):
        return a * b
    if word == "*" and isinstance(a, int) and isinstance(b, Basis):
        return b * a
    raise machine.fail(f"'{word}' takes numbers, and these are not numbers", node)


def _content(value: object) -> object:
    return value.items if isinstance(value, Mutable) else value


def _sized(machine: Machine, node: ast.AST, value: object) -> object:
    machine.bound(value, node)
    return Mutable({"items": value}) if isinstance(value, list) else value


def _number(machine: Machine, node: ast.AST, word: str, compute: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    most = 4 * limit("digits")
    if word in ("/", "//", "%") and b == 0:
        raise machine.fail("division by zero", node)
    large = word == "<<" and b > most
    large |= word == "**" and (abs(b) > most or abs(b) * max(1, int(abs(a))).bit_length() > most)
    if large:
        raise machine.fail("this number is too large", node)
    try:
        value = compute(a, b)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError) as error:
        raise machine.fail(f"'{word}' cannot be computed: {error}", node) from None
    if isinstance(value, int) and value.bit_length() > most:
        raise machine.fail("this number is too large", node)
    if isinstance(value, complex):
        raise machine.fail("a complex number is not supported here", node)
    bits = [x.bits for x in (a, b) if isinstance(x, SizedInt)]
    return SizedInt.of(value, max(bits)) if bits and isinstance(value, int) else value


def truth(machine: Machine, value: object, node: ast.AST) -> bool:
    """Whether a value counts as true. Raises: NotationError for an unknown one."""
    need_whole(value)
    if isinstance(value, Unknown):
        raise value.error()
    if isinstance(value, Mutable):
        value = value.items
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, dict, range, frozenset)):
        return bool(value)
    if isinstance(value, Symbol):
        raise machine.fail(f"cannot determine whether {value.path} is true", node)
    return True


def compare(machine: Machine, op: ast.cmpop, a: object, b: object, node: ast.AST) -> bool:
    """Whether `a == b`, `a in b` and the like."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _is(machine, need_whole(a), need_whole(b), node) is isinstance(op, ast.Is)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _in(machine, need_whole(a), need_whole(b), node) is isinstance(op, ast.In)
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return _equal(machine, need_whole(a), need_whole(b), node) is isinstance(op, ast.Eq)
    a, b = need(a), need(b)
    if (run_time := next((value for value in (a, b) if isinstance(value, Unknown)), None)) is not None:
        if not isinstance(a, (int, Unknown)) or not isinstance(b, (int, Unknown)):
            raise run_time.error()
        return compared(_WORDS[type(op)], a, b)
    numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
    if numbers or (isinstance(a, str) and isinstance(b, str)):
        return _ORDERS[type(op)](a, b)
    if isinstance(a, tuple) and isinstance(b, tuple) and all(isinstance(x, (int, float)) for x in (*a, *b)):
        return _ORDERS[type(op)](a, b)
    raise machine.fail("only numbers have an order here", node)


def _is(machine: Machine, a: object, b: object, node: ast.AST) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, (bool, int)) or isinstance(b, (bool, int)):
        return same(a, b)
    if isinstance(a, (ValueType, EnumMember, Symbol)) and isinstance(b, (ValueType, EnumMember, Symbol)):
        return _equal(machine, a, b, node)
    if a is b:
        return True
    raise machine.fail("cannot determine whether these are one object", node)


def _equal(machine: Machine, a: Any, b: Any, node: ast.AST) -> bool:
    """Whether two values are equal. Raises: NotationError for a comparison that depends on an unknown value."""
    machine.step(node)  # lists may hold one another again and again
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return isinstance(a, (int, Unknown)) and isinstance(b, (int, Unknown)) and compared("==", a, b)
    match a, b:
        case tuple(), tuple():
            return len(a) == len(b) and all(_equal(machine, need_whole(x), need_whole(y), node) for x, y in zip(a, b, strict=True))
        case Mutable(), Mutable():
            x, y = a.items, b.items
            if isinstance(x, list) and isinstance(y, list):
                return _equal(machine, tuple(x), tuple(y), node)
            if a is b or type(x) is not type(y):
                return a is b
        case Symbol(), Symbol():
            if a.path == b.path or _differ(a, b):
                return a.path == b.path
            raise machine.fail(f"cannot determine whether {a.path} is {b.path}", node)
        case (Symbol(path), other) | (other, Symbol(path)):
            if other is None or isinstance(other, (int, float, str, tuple)):
                return False
            raise machine.fail(f"cannot determine whether {path} is equal to this", node)
        case (Object() | Atom(), _) | (_, Object() | Atom()):
            if a is b or a is None or b is None:
                return a is b
        case (Layout() | ComposedLayout() | Swizzle(), _) | (_, Layout() | ComposedLayout() | Swizzle()):
            return type(a) is type(b) and bool(a == b)
        case _:
            return bool(a == b)
    raise machine.fail("cannot determine whether these are equal", node)


def _differ(a: Symbol, b: Symbol) -> bool:
    named = {name for _, name in HELPERS} | {name.rpartition("__")[2] for name in defined(WRITTEN)}
    both = {a.last, b.last} <= named and is_library(a.path) and is_library(b.path)
    return both and not a.last.endswith(b.last) and not b.last.endswith(a.last)


def _in(machine: Machine, a: object, b: object, node: ast.AST) -> bool:
    b = _content(b)
    if isinstance(b, str) and isinstance(a, str):
        return a in b
    if isinstance(b, range):
        return a in b
    if not isinstance(b, (tuple, list, dict, frozenset)):
        raise machine.fail("cannot determine what this is looked up in", node)
    cause = None
    for item in b:
        try:
            if _equal(machine, a, need_whole(item), node):
                return True
        except CuteVizError as error:  # another entry may still be the one
            cause = cause or error
    if cause is not None:
        raise cause
    return False
