"""A piece of the DSL outside of any file: what each of its statements is, in their order, whatever names are bound before.

An expression has no name, `print(x)` is x, and the operations of `cute` may stand without it. What only runs bind is never guessed:
of a name that is bound several times the value at the end counts.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import suppress

from cute_viz.algebra.common import Operation
from cute_viz.algebra.ops import ALIASES, OPS
from cute_viz.algebra.static import is_tiling, mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.program import Document
from cute_viz.notation.syntax import Passage, Statement
from cute_viz.source.model import Entry, Given
from cute_viz.source.python.entries import entries_of
from cute_viz.source.python.given import member_named
from cute_viz.source.python.helpers import HELPERS
from cute_viz.source.python.library import PARAMETERS, RENAMED
from cute_viz.source.python.runs import Runs
from cute_viz.source.python.tensors import TENSORS
from cute_viz.source.python.tree import HELPERS as WRITTEN
from cute_viz.source.python.tree import Tree, defined, dotted
from cute_viz.source.python.values import Symbol
from cute_viz.values.integer import Unknown


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
