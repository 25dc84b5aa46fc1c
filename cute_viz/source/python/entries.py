"""The definitions of a Python text in their order, and the value of each, once it is asked for."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import ALIASES, OPS
from cute_viz.algebra.static import is_tiling, mark_static, with_origin
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.program import Document
from cute_viz.notation.syntax import Passage, Statement
from cute_viz.notation.undefined import undefined
from cute_viz.source.model import Entry, Given
from cute_viz.source.python.given import member_named
from cute_viz.source.python.gluon import Encoded
from cute_viz.source.python.helpers import HELPERS
from cute_viz.source.python.instructions import resolved
from cute_viz.source.python.library import PARAMETERS, RENAMED
from cute_viz.source.python.machine import need
from cute_viz.source.python.runs import Runs
from cute_viz.source.python.subscripts import underscores
from cute_viz.source.python.tensors import TENSORS
from cute_viz.source.python.tree import HELPERS as WRITTEN
from cute_viz.source.python.tree import Tree, defined, dotted
from cute_viz.source.python.values import Atom, DslOp, Lost, Mutable, SizedInt, Slice, Symbol, alike, run_times
from cute_viz.values.integer import Unknown
from cute_viz.values.types import COUNTS, Pointer, ValueType


class Assignment(NamedTuple):
    """Where a definition stands: the statements around it, outermost first, and the function, class or module that it is in."""

    target: ast.expr | ast.stmt
    name: str
    scope: tuple[str, ...]
    around: tuple[ast.stmt, ...]
    functions: tuple[ast.AST, ...]


def entries_of(tree: Tree, runs: Runs, unnamed: bool = False) -> tuple[Entry, ...]:
    """An entry for each name that the text assigns to, `self.x` among them. unnamed: for each expression, too."""
    out = []
    for place in _places(tree.module, unnamed):
        span = tree.span(place.target)
        read = cache(_reader(runs, place))
        ends = unnamed or isinstance(place.functions[-1], (ast.FunctionDef, ast.AsyncFunctionDef))
        end = cache(_end(runs, place)) if ends else None
        cell, line = tree.place(span.start)
        value = _defined_by(place)
        text = "" if value is None else tree.text[tree.span(value).start : tree.span(value).end]
        out.append(Entry(place.name, place.scope, span, line, read, end, operations=_told(runs, read, value), text=text, cell=cell))
    return tuple(out)


def _defined_by(place: Assignment) -> ast.expr | None:
    last = place.around[-1]
    value: ast.expr | None = getattr(last, "value", None)
    return value if place.target in (*getattr(last, "targets", ()), getattr(last, "target", None), last) else None


def _told(runs: Runs, read: Callable[[], Any], value: ast.expr | None) -> Callable[[], tuple[Operation, ...]]:
    """The operation that a definition is, behind that whose result it slices."""

    def operations() -> tuple[Operation, ...]:
        read()
        nodes = [value] if value is not None else []
        while isinstance(nodes[-1] if nodes else None, ast.Subscript):
            nodes.append(nodes[-1].value)  # type: ignore[attr-defined]
        return tuple(runs.machine.told[id(node)] for node in reversed(nodes) if id(node) in runs.machine.told)

    return operations


def _places(module: ast.Module, unnamed: bool) -> Iterator[Assignment]:
    """All assignments of a text, in their order; unnamed: and expressions, which are their own targets."""
    todo: list[tuple[Any, tuple[str, ...], tuple[ast.stmt, ...], tuple[ast.AST, ...]]]
    todo = [(node, (), (), (module,)) for node in reversed(module.body)]
    while todo:
        node, scope, around, functions = todo.pop()
        around = (*around, node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope, functions, around = (*scope, node.name), (*functions, node), around
        for target in _targets(node):
            yield Assignment(target, dotted(target), scope, around, functions)
        if unnamed and isinstance(node, (ast.Expr, ast.Return)) and not _is_text(node.value):
            yield Assignment(node, "", scope, around, functions)
        inside = [child for body in _bodies(node) for child in body]
        todo += [(child, scope, around, functions) for child in reversed(inside)]


def _is_text(node: ast.expr | None) -> bool:
    """Whether an expression is a docstring, or none at all."""
    return node is None or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _bodies(node: object) -> list[list[Any]]:
    handlers = [handler.body for handler in getattr(node, "handlers", [])]
    cases = [case.body for case in getattr(node, "cases", [])]
    return [getattr(node, "body", []), *handlers, *cases, getattr(node, "orelse", []), getattr(node, "finalbody", [])]


def _targets(node: object) -> Iterator[ast.expr]:
    """The names that a statement assigns to."""
    if isinstance(node, ast.Assign):
        todo = list(node.targets)
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        todo = [node.target]
    else:
        return
    while todo:
        target = todo.pop(0)
        if isinstance(target, (ast.Tuple, ast.List)):
            todo = [*target.elts, *todo]
        elif isinstance(target, ast.Starred):
            todo = [target.value, *todo]
        elif dotted(target) not in ("", "_"):
            yield target


def _reader(runs: Runs, place: Assignment) -> Callable[[], Any]:
    def read() -> Any:
        return _answer(runs, place, runs.values(place.functions, id(place.target)))

    return read


def _end(runs: Runs, place: Assignment) -> Callable[[], Any]:
    def read() -> Any:
        return _answer(runs, place, runs.at_end(place.functions, place.name))

    return read


def _print_alike(values: list[object]) -> bool:
    """Whether values are one for who asks: tensors of one layout, whatever their elements are."""
    try:
        first, *others = map(plain, values)
    except CuteVizError:
        return False
    return all(alike(first, other) for other in others)


def _answer(runs: Runs, place: Assignment, values: list[object]) -> object:
    """The one value of a definition. Raises: NotationError for several values, none, an unknown one, or one that is not an
    object of CuTe."""
    machine, named = runs.machine, repr(place.name) if place.name else "this"
    if not values:
        for statement in reversed(place.around):
            if (why := machine.dead.get(id(statement))) is not None:
                raise why
        function = next((node for node in reversed(place.functions) if hasattr(node, "name")), None)
        name = getattr(function, "name", "this file")
        raise machine.fail(f"{named} is not reached: nothing that is followed here runs it in {name}", place.target)
    if len(values) > 1:
        known = [value for value in values if not isinstance(value, Lost)]
        if len(known) < 2:  # what the others are depends on what is missing
            raise next(value.error for value in values if isinstance(value, Lost))
        if not (len(known) == len(values) and _print_alike(known)):
            raise machine.fail(f"{named} has several values here, from several calls or rounds of a loop", place.target)
    value = values[0]
    if isinstance(value, Lost):
        raise value.error
    if isinstance(value, Symbol) and machine.pasted is not None:
        words, hint = undefined(value.path.removeprefix("cutlass."), machine.module.names, machine.given.resolve)
        raise NotationError(words, text=machine.tree.text, span=machine.span(place.target), hint=hint)
    try:
        if machine.pasted is not None and isinstance(value, DslOp):
            value = resolved(value, machine.given.resolve)
        found = shown(value.of() if isinstance(value, Encoded) else value)
    except CuteVizError as error:
        raise error.at(machine.tree.text, machine.span(place.target)) from None
    need(found)
    if not is_object(found):
        said = f"is {found}, which is not in this file" if isinstance(found, Symbol) else "is not a layout, tiling or number"
        raise NotationError(f"{named} {said}", text=machine.tree.text, span=machine.span(place.target))
    return underscores(found) if isinstance(found, tuple) else found


def plain(value: object, room: list[int] | None = None) -> Any:
    """A value as other rooms know it.

    room: how many entries it may still have. Raises: LimitError for too many: a list may hold another one again and again.
    """
    match value:
        case Tensor():
            return _addressed(value)
        case Atom(inside):
            return inside
        case Slice(_, cause):
            raise cause.error
        case SizedInt():
            return int(value)
        case Mutable():
            if not isinstance(value.items, list):
                return value.items
            value = tuple(value.items)
    if isinstance(value, tuple):
        room = room or [4 * limit("modes")]
        room[0] -= len(value)
        if room[0] < 0:
            raise over("modes", "this value has too many entries", most=4 * limit("modes"))
        return tuple(plain(item, room) for item in value)
    return value


def shown(value: object) -> Any:
    """A value as `plain` gives it; of TMA with its tensor map, of tensor memory with its address."""
    if isinstance(value, Atom) and value.tma is not None:
        return value.tma
    if isinstance(value, Tensor) and value.pointer.space == "tmem" and (kind := value.pointer.known) is not None:
        known = isinstance(value.layout, Layout) and isinstance(value.offset, int) and next(run_times(value.layout), None) is None
        return Tensor(Pointer("tmem", kind.cpp, 0, offset=value.offset), value.layout) if known else plain(value)
    return plain(value)


def _addressed(tensor: Tensor) -> object:
    """The layout of a tensor, behind the swizzle of its pointer, which acts on the addresses of bytes, or behind its origin."""
    if isinstance(tensor.offset, tuple) or tensor.pointer.space == COUNTS:
        return with_origin(tensor.offset, tensor.layout, tensor=True)
    if tensor.pointer.swizzle is None or not isinstance(tensor.layout, Layout):
        return tensor.layout
    if tensor.pointer.known is not None:
        return tensor.whole
    if tensor.offset != 0:
        raise NotationError(
            f"{tensor.pointer.swizzle} acts on the address in bytes, and the element type of this tensor is not known",
            hint="give the element type: `let=`",
        )
    return ComposedLayout(tensor.pointer.swizzle, 0, tensor.layout)


def is_object(value: object) -> bool:
    """Whether a value is one of the algebra, for an answer: a number, a tuple of such, a layout, a tiling."""
    if isinstance(value, tuple):
        return all(item is None or is_object(item) for item in value)
    return isinstance(value, (int, Unknown, Layout, ComposedLayout, Swizzle, ValueType, Basis)) or hasattr(value, "tiling")


class PastedDsl:
    """The statements of a text, which is read with what a `Passage` has."""

    def __init__(self, reading: Passage) -> None:
        self.reading, self.text = reading, reading.text
        if len(self.text) > limit("source"):
            raise over("source", f"the source has {len(self.text)} characters")
        self.tree = Tree(self.text)
        given = {name: value for name, value in reading.names.items() if not name.isidentifier()}
        self.runs = Runs(self.tree, Given(given, reading.resolve))
        machine = self.runs.machine
        machine.pasted, machine.warnings = self._named, reading.warnings
        for name, value in reading.names.items():
            if name.isidentifier():
                machine.module.names[name] = machine.parts.convert(machine, value)
        self.entries = entries_of(self.tree, self.runs, unnamed=True)
        self.free = reading.free and len(self.entries) == 1 and not self.entries[0].name
        self.used = set[str]()  # names without a value

    def _named(self, name: str, node: ast.AST) -> object:
        """What a name is that nothing binds: an operation of `cute`, or in a lone expression a run-time integer."""
        if _is_known(name):
            return Symbol(f"cutlass.cute.{name}")
        if (member := member_named(name)) is not None:
            return member
        if not self.free:
            return None
        self.used.add(name)
        return Unknown(name, self.text, self.tree.span(node), plain=True)

    def document(self) -> Document:
        """The value of every statement; one that fails is kept as a failure."""
        out = Document()
        several = Counter((entry.name, entry.scope) for entry in self.entries)
        for entry in self.entries:
            again = several[entry.name, entry.scope] > 1 and bool(entry.name)
            try:
                value = self._value(entry, again)
            except CuteVizError as error:
                foreign = "\n" in self.text.strip() and _is_foreign(entry)
                out.refuse(entry.name, error, Statement(None, None, entry.span, "", error) if foreign else None)
                continue
            out.keep(entry.name, value)
        if not self.entries:
            raise NotationError(
                "there is nothing to read", text=self.text, span=Span(0, len(self.text)), hint="example: cute.make_layout((4, 8))"
            )
        return out

    def _value(self, entry: Entry, again: bool) -> object:
        end = entry.end if entry.end is not None else entry.read
        value = (end if again else entry.read)()
        if self.used and isinstance(value, Unknown) and "(" not in entry.text:
            raise value.error()
        return mark_static(value) if is_tiling(value) and not isinstance(value, Tensor) else value

    def calls(self, name: str | None = None) -> tuple[Operation, ...]:
        """The operation that the last statement is, or the last that binds a name, behind those whose result it slices."""
        found = [entry for entry in self.entries if entry.name == name] if name is not None else []
        for entry in (found or list(self.entries))[-1:]:
            entry.read()
            return entry.operations()
        return ()

    def called(self) -> str:
        """The name of the function that the last statement calls; "" of any other."""
        return _function(self.entries[-1].text) if self.entries and not self.entries[-1].name else ""

    def calls_with(self, name: str, of: Container[str]) -> Iterator[Operation]:
        """The statements that call one of some functions with a name as an argument, as far as they can be read."""
        for entry in self.entries:
            if not entry.name and not entry.scope and _function(entry.text) in of and re.search(rf"\b{name}\b", entry.text):
                with suppress(CuteVizError):  # what cannot be read says nothing of it
                    yield from entry.operations()


def _is_known(name: str) -> bool:
    named = name in OPS or name in ALIASES or name in PARAMETERS or name in RENAMED or name in TENSORS
    return named or ("", name) in HELPERS or name in defined(WRITTEN)


def _is_foreign(entry: Entry) -> bool:
    """Whether a statement calls what CuTe does not have."""
    name = _function(entry.text)
    return bool(name) and not _is_known(name)


def _function(text: str) -> str:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Call):
            return dotted(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
    return ""
