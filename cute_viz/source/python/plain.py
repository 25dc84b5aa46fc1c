"""Python's own functions: range, len, min, max, isinstance, math.log2, methods of lists and texts."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import rank
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit
from cute_viz.source.python.branches import forget
from cute_viz.source.python.machine import Machine, need, need_whole
from cute_viz.source.python.operators import computed, iterate, truth
from cute_viz.source.python.tree import BUILTINS
from cute_viz.source.python.values import Atom, Mutable, Object, PyClass, Symbol, same
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType

_MATH = ("log2", "log", "ceil", "floor", "prod", "gcd", "lcm", "sqrt", "isqrt", "pow", "exp2", "exp", "trunc", "fabs")
_PLAIN: dict[str, Callable[..., Any]] = {"abs": abs, "divmod": divmod, "round": round, "pow": pow, "float": float}
_READS = {*BUILTINS, "keys", "values", "items", "get", "index", "count", "copy"} - {"setattr", "map", "filter", "super", "type"}
_CHANGES = ("append", "clear", "extend", "insert", "pop", "reverse", "sort")
_SIZES = {"min": min, "max": max}


def call_plain(machine: Machine, function: Symbol, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    """The value of a call of Python's. Raises: NotationError for what cannot be computed; what that may change is unknown then."""
    kind, _, name = function.path.partition(".")
    try:
        return _called(machine, kind, name, args, named, node)
    except CuteVizError as error:
        if kind != "math" and name not in _READS:
            for value in args[:1] if kind == "@items" else args:
                forget(machine, value, error)
        raise


def _called(machine: Machine, kind: str, name: str, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    try:
        if kind == "math":
            return _math(machine, name, args, node)
        if kind in ("@items", "@str"):
            return _method(machine, kind, name, args, named, node)
        reader = _BUILTINS.get(name)
        if reader is not None:
            return reader(machine, args, named, node)
        if name in _PLAIN and not named:
            numbers = [need(arg) for arg in args]
            if name == "pow" and any(abs(number) > 4096 for number in numbers):
                raise machine.fail("this number is too large", node)
            return _PLAIN[name](*numbers)
    except IndexError:
        raise machine.fail(f"{name} lacks an argument", node) from None
    except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise machine.fail(f"{name} cannot be computed: {error}", node) from None
    raise machine.fail(f"Python's {name} is not supported here", node)


def _math(machine: Machine, name: str, args: list[object], node: ast.expr) -> Any:
    if name not in _MATH:
        raise machine.fail(f"math.{name} is not supported here", node)
    if name == "prod":
        return math.prod(need(value) for value in iterate(machine, need_whole(args[0]), node))
    values = [need(arg) for arg in args]
    if name in ("pow", "exp", "exp2") and any(abs(value) > 512 for value in values):
        raise machine.fail("this number is too large", node)
    return getattr(math, name)(*values)


def _size(name: str) -> Callable[..., Any]:
    def read(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
        values = iterate(machine, need_whole(args[0]), node) if len(args) == 1 else args
        if set(named) - {"default"} or (not values and "default" not in named):
            raise machine.fail(f"this {name} is not supported here", node)
        numbers = [need(value) for value in values]
        if (first := next((value for value in numbers if isinstance(value, Unknown)), None)) is not None:
            return computed(name, first, *(value for value in numbers if value is not first), 0)
        if not all(isinstance(value, (int, float)) for value in numbers):
            raise machine.fail(f"{name} is for numbers here", node)
        return _SIZES[name](numbers) if numbers else need(named["default"])

    return read


def _range(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    values = [need(arg) for arg in args]
    if not all(isinstance(value, int) for value in values):
        raise machine.fail("range takes integers", node)
    return range(*values)


def _len(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    value = need_whole(args[0])
    if isinstance(value, Mutable):
        value = need_whole(value.items)
    if isinstance(value, (tuple, list, dict, str, range, frozenset)):
        return len(value)
    if isinstance(value, (Layout, ComposedLayout)):
        return rank(value)
    raise machine.fail("cannot determine the length of this", node)


def _int(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    value = need(args[0])
    if not isinstance(value, (int, float, str)) or (isinstance(value, str) and len(value) > limit("digits")):
        raise machine.fail("this is not a number", node)
    return int(value)


def _entries(machine: Machine, args: list[object], node: ast.expr) -> list[Any]:
    return iterate(machine, need_whole(args[0]), node) if args else []


def _list(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    return Mutable({"items": _entries(machine, args, node)})


def _dict(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    if args:
        raise machine.fail("this dict is not supported here", node)
    return Mutable({"items": dict(named)})


def _every(wanted: bool) -> Callable[..., Any]:
    def read(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
        cause = None
        for value in iterate(machine, need_whole(args[0]), node):
            try:
                if truth(machine, need_whole(value), node) is wanted:
                    return wanted
            except CuteVizError as error:
                cause = cause or error
        if cause is not None:
            raise cause
        return not wanted

    return read


def _enumerate(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    start = need(named.get("start", args[1] if len(args) > 1 else 0))
    return tuple(enumerate(iterate(machine, need_whole(args[0]), node), start))


def _sorted(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    values = [need(value) for value in iterate(machine, need_whole(args[0]), node)]
    if set(named) - {"reverse"} or not all(isinstance(value, (int, float)) for value in values):
        raise machine.fail("this order is not supported here", node)
    return Mutable({"items": sorted(values, reverse=bool(need(named.get("reverse", False))))})


def _map(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    rows = zip(*(iterate(machine, need_whole(arg), node) for arg in args[1:]), strict=False)
    return tuple(machine.parts.call(machine, args[0], list(row), {}, node) for row in rows)


def _isinstance(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    value, kinds = need_whole(args[0]), args[1] if isinstance(args[1], tuple) else (args[1],)
    answers = [_is_a(value, need_whole(kind)) for kind in kinds]
    if True in answers:
        return True
    if None in answers:
        raise machine.fail("cannot determine the kind of this value", node)
    return False


_TYPES: dict[str, Any] = {"int": int, "tuple": tuple, "float": float, "str": str, "bool": bool, "list": list, "dict": dict}
_LIBRARY: dict[str, Any] = {"Layout": Layout, "ComposedLayout": ComposedLayout, "Tensor": Tensor, "Pointer": ()}
_OURS = (int, float, str, tuple, Layout, ComposedLayout, Tensor, Atom, ValueType, Mutable, Unknown, type(None))


def _is_a(value: object, kind: object) -> bool | None:
    """Whether a value is of a type, or None where that is not known."""
    if isinstance(kind, PyClass):
        return value.cls is kind or None if isinstance(value, Object) else False if isinstance(value, _OURS) else None
    if not isinstance(kind, Symbol):
        return None
    if kind.path.startswith("@python.") and kind.last in _TYPES:
        if isinstance(value, Mutable):
            return isinstance(value.items, _TYPES[kind.last])
        return isinstance(value, _TYPES[kind.last])
    if kind.last in _LIBRARY and isinstance(value, _OURS):
        return isinstance(value, _LIBRARY[kind.last])
    return None


def _attribute(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    value = need_whole(args[0])
    if isinstance(value, Object) and isinstance(args[1], str):
        found = value.names.get(args[1], value.cls.find(args[1]))
        if found is not None or args[1] in value.names:
            return found
        if len(args) == 3 and value.cls.is_whole():
            return args[2]
    raise machine.fail("cannot determine what this holds", node)


def _has(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    value = need_whole(args[0])
    if isinstance(value, Object) and isinstance(args[1], str):
        if args[1] in value.names or value.cls.find(args[1]) is not None:
            return True
        if value.cls.is_whole():
            return False
    raise machine.fail("cannot determine what this holds", node)


def _set(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    """`setattr(self, "x", value)`, `object.__setattr__(self, "x", value)`."""
    target, name, value = args
    if not isinstance(target, Object) or not isinstance(name, str):
        raise machine.fail("cannot determine what is set here", node)
    machine.store.write(target.names, name, value)


def _given(machine: Machine, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    """The value of an argument of a script: what was given for it, or its default."""
    name = need(args[0])
    value = args[1]
    if name in machine.given.let:
        machine.given.used.add(name)
        value = machine.parts.convert(machine, machine.given.let[name])
    text = machine.main.text
    found = re.search(rf"""["']-*{name.replace("_", "[-_]")}["']""", text)
    machine.arguments[name] = value, text.count("\n", 0, found.start()) + 1 if found is not None else 0
    return value


_BUILTINS: dict[str, Callable[..., Any]] = {
    "setattr": _set,
    "object.__setattr__": _set,
    "min": _size("min"),
    "max": _size("max"),
    "range": _range,
    "len": _len,
    "int": _int,
    "bool": lambda machine, args, named, node: truth(machine, need_whole(args[0]), node),
    "tuple": lambda machine, args, named, node: tuple(_entries(machine, args, node)),
    "list": _list,
    "dict": _dict,
    "sum": lambda machine, args, named, node: sum(map(need, [*_entries(machine, args, node), *args[1:]])),
    "any": _every(True),
    "all": _every(False),
    "zip": lambda machine, args, named, node: tuple(zip(*(_entries(machine, [arg], node) for arg in args), strict=False)),
    "enumerate": _enumerate,
    "reversed": lambda machine, args, named, node: tuple(reversed(_entries(machine, args, node))),
    "sorted": _sorted,
    "map": _map,
    "isinstance": _isinstance,
    "getattr": _attribute,
    "hasattr": _has,
    "print": lambda machine, args, named, node: args[0] if args and machine.pasted else None,
    "__given__": _given,
}


_OF_TEXTS = frozenset(("lower", "upper", "strip", "lstrip", "rstrip", "replace", "startswith", "endswith"))


def _method(machine: Machine, kind: str, name: str, args: list[Any], named: dict[str, object], node: ast.expr) -> Any:
    """Methods of lists, dictionaries and texts. One that is not known may change the list."""
    target, *rest = args
    if kind == "@str":
        words = list(map(need, rest))
        if name in _OF_TEXTS and len(words) <= 2 and all(isinstance(word, str) for word in words):
            machine.made(len(target) * max(1, *(len(word) for word in words), 1), node)
            return getattr(target, name)(*words)
        raise machine.fail(f"{name} of a text is not supported here", node)
    content = need_whole(target.items)
    if isinstance(content, dict):
        if name in ("keys", "values", "items") and not rest:
            return tuple(getattr(content, name)())
        if name == "get" and 1 <= len(rest) <= 2:
            return content.get(need(rest[0]), rest[1] if len(rest) > 1 else None)
    if isinstance(content, list):
        if name in _CHANGES and len(content) < 4 * limit("modes"):
            machine.made(len(content), node)  # and what it was is kept until it is known that the way is taken
            changed = content.copy()
            if name == "sort":
                named = {word: need(value) for word, value in named.items()}
                if set(named) - {"reverse"} or not all(isinstance(need(value), (int, float)) for value in content):
                    raise machine.fail("this order is not supported here", node)
            elif name == "extend":
                rest = [iterate(machine, need_whole(value), node) for value in rest]
            elif name in ("insert", "pop"):
                rest[:1] = map(need, rest[:1])
            out = getattr(changed, name)(*rest, **named)
            machine.store.write(target.content, "items", changed)
            return out
        if name == "index" and len(rest) == 1:
            return [same(need(item), need(rest[0])) for item in content].index(True)
        if name == "copy":
            return Mutable({"items": list(content)})
    raise machine.fail(f"{name} is not supported here", node)
