"""Expressions of several values: tuples, lists, dictionaries, comprehensions; and the entries of what is iterated over."""

from __future__ import annotations

import ast
from typing import Any

from cute_viz.limits import limit, over
from cute_viz.source.python.machine import Frame, Machine, need, need_whole
from cute_viz.source.python.operators import truth
from cute_viz.source.python.values import EnumMember, Lost, Mutable
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
