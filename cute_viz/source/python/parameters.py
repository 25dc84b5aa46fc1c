"""Parameters without a value: what to give for one, by its name and annotation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from cute_viz.errors import CuteVizError
from cute_viz.source.python.machine import Machine
from cute_viz.source.python.values import Lost, PyFunction, Symbol, lone_self
from cute_viz.values.examples import hint_for

Missing: TypeAlias = "Callable[[ast.arg, ast.expr | None], Any]"


def parameter_hint(item: ast.arg) -> str:
    """The words that ask for the value of a parameter."""
    return hint_for(item.arg, ast.unparse(item.annotation) if item.annotation is not None else "")


def as_compiled(machine: Machine, item: ast.arg, value: object) -> object:
    """A run-time value for an integer parameter of a function that is compiled, `M: Int32`."""
    if item.annotation is None or not isinstance(value, (int, Lost)) or isinstance(value, bool):
        return value
    return _of_type(machine, item, item.annotation, item.arg, value)


def _of_type(machine: Machine, item: ast.arg, annotation: ast.expr, name: str, value: object) -> object:
    """Run-time integers for what is annotated as such, `Int32`, `Tuple[Int32, Int32]`; else the value."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple) and isinstance(value, Lost):
        if ast.unparse(annotation.value).rpartition(".")[2] not in ("Tuple", "tuple"):
            return value
        parts = [_of_type(machine, item, one, name, value) for one in annotation.slice.elts]
        return value if any(part is value for part in parts) else tuple(parts)
    bits = {"Int32": 32, "Uint32": 32, "int": 32, "Int64": 64, "Uint64": 64}.get(ast.unparse(annotation).rpartition(".")[2])
    return value if bits is None else machine.staged(item, name, bits)


def is_compiled(machine: Machine, function: PyFunction, alone: bool) -> bool:
    """Whether a function's integer parameters are run-time values: a kernel's whatever it is given, a host's that no one calls.
    A function with `@cute.jit` that others call is part of them, and its arguments are what they are."""
    if not any(item.annotation is not None for item in function.node.args.args):
        return False
    words = function.decorators
    host = "jit" in words and alone and not machine.depth
    return "kernel" in words or (host and (function.owner is None or function.name == "__call__"))


def parameter(machine: Machine) -> Missing:
    """The value of a parameter without an argument: its default, if that is a constant, else unknown."""

    def missing(item: ast.arg, value: ast.expr | None) -> object:
        if isinstance(value, (ast.Constant, ast.Tuple, ast.UnaryOp, ast.Attribute)) and not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            try:
                found = machine.value(value, machine.module)
                if not isinstance(found, (Lost, Symbol)):
                    return found
            except CuteVizError:
                pass
        if item.arg == "self":
            return lone_self()
        hint = parameter_hint(item)
        return machine.unknown(f"{item.arg!r} is a parameter here", item, hint=hint, needs=(item.arg,), path=item.arg)

    return missing
