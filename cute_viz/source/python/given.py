"""The value of a text that was given for a name: Python as the file has it, or CuTe's notation."""

from __future__ import annotations

import ast

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import clear_static, is_tiling
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.notation import Notation
from cute_viz.notation.program import Document
from cute_viz.notation.reading import Passage
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.modules import symbol
from cute_viz.source.python.tree import Tree
from cute_viz.source.python.values import Atom, EnumMember, Lost, Mutable, Symbol, element, tensor_of
from cute_viz.source.sniff import is_cpp
from cute_viz.values.types import Pointer, ValueType

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
