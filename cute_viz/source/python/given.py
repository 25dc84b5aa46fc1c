"""The value of a text that was given for a name: Python as the file has it, or CuTe's notation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import clear_static, is_tiling
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.notation import Notation
from cute_viz.notation.program import Document
from cute_viz.notation.syntax import Passage
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.tree import Tree, symbol
from cute_viz.source.python.values import Atom, EnumMember, Lost, Mutable, PyFunction, Symbol, element, lone_self, tensor_of
from cute_viz.source.sniff import is_cpp
from cute_viz.values.examples import hint_for
from cute_viz.values.types import Pointer, ValueType

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


# Members that are written without their enumerations.
_WORDS = {
    "ROW_MAJOR": "LayoutEnum",
    "COL_MAJOR": "LayoutEnum",
    "K": "OperandMajorMode",
    "MN": "OperandMajorMode",
    "SMEM": "OperandSource",
    "RMEM": "OperandSource",
    "TMEM": "OperandSource",
    **dict.fromkeys(("ALWAYS", "GLOBAL", "STREAMING", "LAST_USE", "NONE"), "LoadCacheMode"),
    **dict.fromkeys(("ONE", "TWO"), "CtaGroup"),
}
_PLAIN = {"true": True, "false": False, "none": None}


def convert(machine: Machine, given: object) -> object:
    """The value that was given: an object, or a text that is read in the module's scope; of an unreadable one the error. Text
    that is no Python is CuTe's notation: `(8,64):(64,1)`."""
    if not isinstance(given, str):
        return _ours(given)
    text = given.strip()
    if (member := member_named(text)) is not None:
        return member
    if text.lower() in _PLAIN:
        return _PLAIN[text.lower()]
    if (kind := element(text)) is not None:
        return kind
    value = _python(machine, text)
    if isinstance(value, Lost) and (member := _member(text)) is not None:  # of an enumeration that the file does not import
        return member
    if not isinstance(value, (Lost, Symbol)) or (isinstance(value, Symbol) and value.path.startswith("@python.")):
        return value
    if isinstance(value, Lost) and text in machine.main.strings:  # a word that the file compares with: `2Dx3D`
        return text
    try:
        found = _ours(_notation(machine, text).pick())
        named = _notation(machine, f"x = {text}") if "_ptr<" in text else None
        typed = named.tensors.get("x") if named is not None else None
        if typed is None or (kind := element(str(typed.pointer.type))) is None or not isinstance(found, (Layout, ComposedLayout)):
            return found
        return tensor_of(found, Pointer(typed.pointer.space, kind))
    except CuteVizError as error:
        if isinstance(value, Lost):
            return Lost(error.named("let"))
        return value


def _notation(machine: Machine, text: str) -> Document:
    """What a text of CuTe holds, or of C++."""
    source = Passage(text, {}, None, "cute", machine.given.resolve)
    if not is_cpp(text, "cute"):
        return Notation(source).document()
    from cute_viz.source.cpp.line import Pasted

    return Pasted(source).document()


def member_named(text: str) -> EnumMember | None:
    """A member that is written without its enumeration: `ROW_MAJOR`."""
    return _member(f"{_WORDS[text]}.{text}") if text in _WORDS else None


def _member(text: str) -> EnumMember | None:
    """The member of one of the DSL's enumerations, with or without its module: `CtaGroup.TWO`."""
    words = text.split(".")
    found = symbol(f"cutlass.{'.'.join(words[-2:])}") if len(words) > 1 and all(map(str.isidentifier, words)) else None
    return found if isinstance(found, EnumMember) else None


def _python(machine: Machine, text: str) -> object:
    """The value of a Python expression, with places in its own text."""
    tree = machine.tree
    try:
        own = Tree(text)
        body = own.module.body
        if len(body) != 1 or not isinstance(body[0], ast.Expr):
            raise NotationError("this is not an expression", text=text, span=Span(0, len(text)))
        machine.tree = own
        value = need(machine.value(body[0].value, machine.module))
    except CuteVizError as error:
        return Lost(error)
    finally:
        machine.tree = tree
    if isinstance(value, Mutable) and isinstance(value.items, list):
        return tuple(value.items)
    return value


def _ours(value: object) -> object:
    if isinstance(value, ValueType):
        return element(str(value)) or value
    if is_tiling(value):
        return Atom(value)
    return value if isinstance(value, bool) else clear_static(value)
