"""A text of no file -> what it holds, by its language: `cpp/` reads C++, `python/` the DSL, `notation/` all else."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.common import Operation
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError
from cute_viz.notation import Notation, is_triton
from cute_viz.notation.program import Document
from cute_viz.notation.syntax import Passage, Resolver
from cute_viz.records import pattern
from cute_viz.source.sniff import is_cpp

if TYPE_CHECKING:
    from cute_viz.source.cpp.line import Pasted
    from cute_viz.source.python.entries import PastedDsl

# Functions and classes.
_BLOCK = pattern(r"\w[\s&*]+\w+\s*\([^()]*\)\s*(?:const\s*)?\{|\b(?:struct|class|namespace|template)\b")
_DSL = pattern(
    r"\b(stride|order|mode|tiler|coord|proj|trg_shape|target_profile|atom_layout_mnk)\s*=[^=]|\bNone\b|\b[A-Z]\w*Op\(|^\s*(from|import|def)\s",
    re.M,
)
_DSL_MARKS = ("cute.", "cutlass.", "stride", "order", "mode", "None", "import", "def ", "Op(")  # worth a closer look


def is_dsl(text: str, dialect: str = "auto") -> bool:
    """Whether a text is the Python DSL's source: Python reads it, and keywords or names of modules show it."""
    if dialect != "auto":
        return dialect == "dsl"
    if not any(mark in text for mark in _DSL_MARKS) or is_triton(text):
        return False
    if (strong := _DSL.search(text)) is None and not re.search(r"\b(cute|cutlass)\.\w", text):
        return False
    from cute_viz.source.python.tree import Tree

    try:
        Tree(text)
    except CuteVizError:
        return strong is not None and ";" not in text and "::" not in text and not re.search(r"\d\)?:\(?_?\d", text)
    return True


def _lines(source: Passage) -> Pasted | PastedDsl | Notation:
    """The statements of a text."""
    if is_cpp(source.text, source.dialect):
        from cute_viz.source.cpp.line import Pasted

        return Pasted(source)
    if is_dsl(source.text, source.dialect):
        from cute_viz.source.python.entries import PastedDsl

        return PastedDsl(source)
    return Notation(source)


def read(
    text: str,
    names: Mapping[str, Any] | None = None,
    warnings: list[str] | None = None,
    *,
    dialect: str = "auto",
    resolve: Resolver | None = None,
    shape: tuple[int, ...] = (),
    free: bool = False,
) -> Document:
    """Everything that a text holds, by name; warnings go into the list. free: an expression may have names without a value."""
    if is_cpp(text, dialect) and _BLOCK.search(text):
        return _of_file(text, names or {}, resolve)
    document = _lines(Passage(text, names or {}, warnings, dialect, resolve, shape, free)).document()
    if not document.values and (problem := document.problem()) is not None:
        if (found := _of_type(text, names or {}, resolve)) is None:
            raise problem
        return found
    return document


def _of_type(text: str, names: Mapping[str, Any], resolve: Resolver | None) -> Document | None:
    """The one type that a text is, as a compiler prints it, with `?` for what only a run knows; None for any other text."""
    from cute_viz.source.model import Given
    from cute_viz.source.types import read as read_types

    entries = read_types(text, Given(names, resolve)).entries
    whole = len(entries) == 1 and text[entries[0].span.start : entries[0].span.end] == text.strip()
    return Document.of(entries[0].read()) if whole else None


def _of_file(text: str, names: Mapping[str, Any], resolve: Resolver | None) -> Document:
    """What a text of functions and classes holds, as a file of it does."""
    from cute_viz.source.cpp import read as read_file
    from cute_viz.source.cpp.unknown import certain
    from cute_viz.source.model import Given

    out = Document()
    for entry in read_file(text, Given(names, resolve)).entries:
        try:
            value = certain(entry.read())
        except CuteVizError as error:
            out.refuse(entry.name, error)
            continue
        out.keep(entry.name, value)
        if isinstance(tensor := entry.tensor() if entry.tensor is not None else None, Tensor):
            out.tensors[entry.name] = tensor
            out.bits |= {entry.name: tensor.bits} if tensor.pointer.known is not None else {}
    if not out.values and (problem := out.problem()) is not None:
        raise problem
    return out


def parse(
    text: str,
    names: Mapping[str, Any] | None = None,
    *,
    dialect: str = "auto",
    name: str | None = None,
    resolve: Resolver | None = None,
) -> Any:
    """The object that a text stands for: the value of its last statement, or of the one called `name`."""
    return read(text, names, dialect=dialect, resolve=resolve).pick(name)


def read_calls(
    text: str, names: Mapping[str, Any] | None = None, resolve: Resolver | None = None, name: str | None = None
) -> tuple[Operation, ...]:
    """The operation that the last statement of a text is, or the last that binds a name, behind those whose result it slices."""
    return _lines(Passage(text, names or {}, resolve=resolve)).calls(name)


def read_call(
    text: str, names: Mapping[str, Any] | None = None, resolve: Resolver | None = None, name: str | None = None
) -> tuple[str, list[Any], tuple[Any, ...]]:
    """The operation that the last statement is: what it is called, its operands and template arguments. Of an object that is no
    operation the name is "", and the operand the object."""
    if calls := read_calls(text, names, resolve, name):
        return calls[-1].name, list(calls[-1].operands), calls[-1].template
    return "", [parse(text, names, resolve=resolve, name=name)], ()


def called_last(text: str) -> str:
    """The name of the function that the last statement of a text calls; "" of any other, and of what cannot be read."""
    try:
        return _lines(Passage(text)).called()
    except CuteVizError:
        return ""


def calls_with(text: str, name: str, of: Container[str], names: Mapping[str, Any], resolve: Resolver | None) -> Iterator[Operation]:
    """The statements of a text, in no function, that call one of some names with a name as an argument, as far as they can be
    read."""
    return _lines(Passage(text, names, resolve=resolve)).calls_with(name, of)
