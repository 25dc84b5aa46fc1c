"""Parameters without a value: what to give for one, by its name and annotation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from cute_viz.source.python.machine import Machine
from cute_viz.source.python.values import Lost
from cute_viz.values.examples import hint_for

Missing: TypeAlias = "Callable[[ast.arg, ast.expr | None], Any]"


def parameter_hint(item: ast.arg) -> str:
    """The words that ask for the value of a parameter.

    >>> parameter_hint(ast.parse("def f(mA: cute.Tensor): pass").body[0].args.args[0])
    'give it a value: `let=mA=(512,512):(512,1)`'
    """
    return hint_for(item.arg, ast.unparse(item.annotation) if item.annotation is not None else "")


def as_compiled(machine: Machine, item: ast.arg, value: Any) -> Any:
    """A run-time value for an integer parameter of a function that is compiled, `M: Int32`."""
    if item.annotation is None or not isinstance(value, (int, Lost)) or isinstance(value, bool):
        return value
    return _of_type(machine, item, item.annotation, item.arg, value)


def _of_type(machine: Machine, item: ast.arg, annotation: ast.expr, name: str, value: Any) -> Any:
    """Run-time integers for what is annotated as such, `Int32`, `Tuple[Int32, Int32]`; else the value."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple) and isinstance(value, Lost):
        if ast.unparse(annotation.value).rpartition(".")[2] not in ("Tuple", "tuple"):
            return value
        parts = [_of_type(machine, item, one, name, value) for one in annotation.slice.elts]
        return value if any(part is value for part in parts) else tuple(parts)
    bits = {"Int32": 32, "Uint32": 32, "int": 32, "Int64": 64, "Uint64": 64}.get(ast.unparse(annotation).rpartition(".")[2])
    return value if bits is None else machine.staged(item, name, bits)
