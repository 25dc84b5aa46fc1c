"""Parameters without a value: what to give for one, by its name and annotation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from cute_viz.source.python.machine import Machine
from cute_viz.source.python.values import Unknown

Missing: TypeAlias = "Callable[[ast.arg, ast.expr | None], Any]"

_EXAMPLES = (
    (("dtype", "element_type", "numeric", "elem_ty"), "cutlass.Float16"),
    (("major_mode", "leading_mode"), "K"),
    (("layoutenum", "major", "a_layout", "b_layout", "c_layout"), "ROW_MAJOR"),
    (("tensor",), "(512,512):(512,1)"),
    (("layout",), "(8,64):(64,1)"),
    (("cluster_shape_mnk", "cluster_shape"), "(1,1,1)"),
    (("mnkl",), "(512,512,512,1)"),
    (("tile", "shape", "tiler", "mnk", "cluster", "tuple"), "(128,128,64)"),
    (("bool", "is_", "use_", "has_"), "False"),
)


def example(name: str, annotation: str = "") -> str:
    """A value of the kind that a name is likely to have.

    >>> example("cluster_shape_mn", "Tuple[int, int]")
    '(1,1)'
    >>> example("self.a_dtype"), example("mma_tiler_mnk"), example("num_stages"), example("mA", "cute.Tensor")
    ('cutlass.Float16', '(128,128,64)', '128', '(512,512):(512,1)')
    """
    kind, last = annotation.lower(), name.lower().rpartition(".")[2]
    pair = last.endswith("_mn") or kind.count("int") == 2
    for words in (last, kind) if "tuple" in kind else (kind, last):
        for known, value in _EXAMPLES:
            if any(word in words for word in known):
                return f"{value.rpartition(',')[0]})" if pair and value.count(",") == 2 else value
    return "128"


def hint_for(name: str, annotation: str = "") -> str:
    """The words that ask for a value.

    >>> hint_for("self.c_dtype")
    'give it a value: `let=self.c_dtype=cutlass.Float16`'
    """
    return f"give it a value: `let={name}={example(name, annotation)}`"


def parameter_hint(item: ast.arg) -> str:
    """The words that ask for the value of a parameter.

    >>> parameter_hint(ast.parse("def f(mA: cute.Tensor): pass").body[0].args.args[0])
    'give it a value: `let=mA=(512,512):(512,1)`'
    """
    return hint_for(item.arg, ast.unparse(item.annotation) if item.annotation is not None else "")


def as_compiled(machine: Machine, item: ast.arg, value: Any) -> Any:
    """A run-time value for an integer parameter of a function that is compiled, `M: Int32`."""
    if item.annotation is None or not isinstance(value, (int, Unknown)) or isinstance(value, bool):
        return value
    return _of_type(machine, item, item.annotation, item.arg, value)


def _of_type(machine: Machine, item: ast.arg, annotation: ast.expr, name: str, value: Any) -> Any:
    """Run-time integers for what is annotated as such, `Int32`, `Tuple[Int32, Int32]`; else the value."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple) and isinstance(value, Unknown):
        if ast.unparse(annotation.value).rpartition(".")[2] not in ("Tuple", "tuple"):
            return value
        parts = [_of_type(machine, item, one, name, value) for one in annotation.slice.elts]
        return value if any(part is value for part in parts) else tuple(parts)
    bits = {"Int32": 32, "Uint32": 32, "int": 32, "Int64": 64, "Uint64": 64}.get(ast.unparse(annotation).rpartition(".")[2])
    return value if bits is None else machine.staged(item, name, bits)
