"""A line of C++, or a few, outside of any file: what each of its statements is, in their order, whatever names are bound before.

`a = f(b)` declares what `auto a = f(b)` does, an expression has no name, and layouts may stand as CuTe prints them (`expressions`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress

from cute_viz.algebra.common import Operation
from cute_viz.algebra.ops import ALIASES, OPS
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError, NotationError
from cute_viz.notation.program import Document
from cute_viz.notation.syntax import Passage, Statement
from cute_viz.source.cpp.blocks import WORDS
from cute_viz.source.cpp.calls import CALLS
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.control import CONTROL
from cute_viz.source.cpp.cutlass import with_cutlass
from cute_viz.source.cpp.declarators import declaration
from cute_viz.source.cpp.declare import Declarer, Grammar
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.expressions import Literals
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.operate import operations
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Declaration, Range, Scope
from cute_viz.source.cpp.shown import object_of
from cute_viz.source.cpp.slices import split
from cute_viz.source.cpp.tokens import CppToken
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.values import Class, External, Function, Template, Value, finished, taken
from cute_viz.source.model import Given
from cute_viz.values.instruction import MOVES
from cute_viz.values.integer import Unknown

_OPEN = frozenset(("∘", "⊘", "⊗", ":", "=", ",", ";", "@", "+", "-", "*", "/", "%", "(", "[", "{", "<", "?", "&&", "||"))
_BEHIND = _OPEN - {"(", "[", "{", "-", "*"}
_FREE = 32  # names without a value, in one text


class Pasted:
    """The statements of a text, which is read with what a `Passage` has."""

    def __init__(self, reading: Passage) -> None:
        self.reading, self.text = reading, reading.text
        dotted = {name: value for name, value in reading.names.items() if not name.isidentifier()}
        source = Preprocessed(with_cutlass(self.text), Given(dotted, reading.resolve))
        source.tokens = _stated(source.tokens, self.text)
        self.reader = Declarer(source, Grammar(WORDS, CONTROL, declaration))
        self.scope = Scope("function", "", self.reader.file, 0)
        self.reader.functions.append(self.scope)
        self.reader.body(self.scope, 0)
        self.reader.settle()
        self.context = Context(self.reader, source.given, Literals)
        self.context.own, self.context.warnings = len(self.text), reading.warnings
        self.context.root.args = {name: taken(value) for name, value in reading.names.items() if name.isidentifier()}
        self.lookup = Lookup(self.context, lambda env, part: CppEvaluator(self.context, self.lookup, env).of(part, env))

    def document(self) -> Document:
        """The value of every statement; one that fails is kept as a failure."""
        out = Document()
        for part in self.statements():
            declared = self._declared(part)
            if not declared and not self._is_expression(part):
                continue
            for one in declared or (None,):
                self._read(out, part, one)
        return out

    def _read(self, out: Document, part: Range, one: Declaration | None) -> None:
        key = one.name if one is not None else ""
        if self.reader.tokens[part[0] + 1].kind == "=":  # `a = f(a)`
            key, part = self.reader.tokens[part[0]].text, (part[0] + 2, part[1])
        try:
            value = self._value(part, one)
        except CuteVizError as error:
            found = self.context.placed(error, self.context.span(part))
            foreign = "\n" in self.text.strip() and self._is_foreign(part if one is None or one.init is None else one.init)
            out.refuse(key, found, Statement(None, None, self.context.span(part), "", found) if foreign else None)
            return
        if not isinstance(value, (Class, External, Template, Function)):  # a name of what has no layout
            out.keep(key, value, split(value) if isinstance(value, Tensor) else None)

    def _value(self, part: Range, one: Declaration | None) -> Value:
        """The value of a statement; of an expression with names that have none, as far as it does not depend on them."""
        env = self.context.root
        for _ in range(_FREE if self.reading.free and one is None else 1):
            self.context.deep = 0
            try:
                return self._known(part, one)
            except RecursionError:
                raise LimitError("this is nested too deeply", text=self.text, span=self.context.span(part)) from None
            except CuteVizError as error:
                name = error.needs[0] if error.needs else ""
                if (
                    not self.reading.free
                    or one is not None
                    or not name.isidentifier()
                    or name in env.args
                    or error.span is None
                    or (self.text[error.span.end : error.span.end + 1] in ("{", "<"))
                ):
                    raise
                env.args[name] = Unknown(name, self.text, error.span, plain=True)
                self.context.free.add(name)
        raise NotationError("too many names without a value", text=self.text, span=self.context.span(part))

    def _known(self, part: Range, one: Declaration | None) -> Value:
        evaluator = self._evaluator()
        if one is None:
            value = evaluator.value(self.context.tree(part))
            span = self.context.span(part)
        else:
            span = self.reader.tokens[one.token].span
            value = evaluator.definition(one, evaluator.env, None, span)
        if one is not None and isinstance(value, (Class, External, Template, Function)):
            return value
        for found in unknowns(value):  # what is not known has its name, or its cause
            if found.name not in self.context.free and not isinstance(value, Tensor):
                raise found.error()
        return finished(object_of(self.context, one.name if one is not None else "this", span, evaluator.known(value, span)))

    def calls(self, name: str | None = None) -> tuple[Operation, ...]:
        """The operation that the last statement is, or the last that binds a name, behind those whose result it slices."""
        for part in reversed(self.statements()):
            declared = self._declared(part)
            if (name is None and (declared or self._is_expression(part))) or any(one.name == name for one in declared):
                if not declared:
                    return self._operations(part)
                one = next((one for one in declared if one.name == name), declared[-1])
                return () if one.init is None or one.place is not None else self._operations(one.init)
        return ()

    def called(self) -> str:
        """The name of the function that the last statement calls; "" of any other."""
        parts = self.statements()
        return _function(self._tree(parts[-1])) if parts and not self._declared(parts[-1]) else ""

    def calls_with(self, name: str, of: Container[str]) -> Iterator[Operation]:
        """The statements that call one of some functions with a name as an argument, as far as they can be read."""
        for part in self.statements():
            words = [token.text for token in self.reader.tokens[slice(*part)]]
            if not self._declared(part) and _function(self._tree(part)) in of and name in words:
                with suppress(CuteVizError):  # what cannot be read says nothing of it
                    yield from self._operations(part)

    def statements(self) -> list[Range]:
        """Where the statements stand among the tokens, those of blocks and functions left out."""
        reader = self.reader
        out = []
        for begin, number in reader.statements:
            end = reader.find(begin, (";",))
            if reader.scopes[number] is self.scope and reader.tokens[begin].start < len(self.text) and begin < end:
                out.append((begin, end))
        return out

    def _declared(self, part: Range) -> list[Declaration]:
        kinds = ("alias", "variable")
        return [x for x in self.scope.declarations if part[0] <= x.token < part[1] and x.kind in kinds and x.params is None]

    def _is_expression(self, part: Range) -> bool:
        word = self.reader.tokens[part[0]].text
        return word not in WORDS and word not in CONTROL and word != "return"

    def _is_foreign(self, part: Range) -> bool:
        """Whether a statement calls what CuTe does not have: a macro, a kernel, the standard."""
        if (tree := self._tree(part)) is None:
            return True
        name = _function(tree)
        return bool(name) and name not in CALLS and name not in OPS and name not in ALIASES and name not in MOVES

    def _evaluator(self) -> CppEvaluator:
        return CppEvaluator(self.context, self.lookup, opened(self.context, self.scope))

    def _operations(self, part: Range) -> tuple[Operation, ...]:
        self.context.deep = 0
        return operations(self._evaluator(), self.context.tree(part))

    def _tree(self, part: Range) -> Node | None:
        with suppress(CuteVizError):
            return self.context.tree(part)
        return None


def _function(tree: Node | None) -> str:
    return "" if tree is None else tree.called


def _stated(tokens: list[CppToken], text: str) -> list[CppToken]:
    """The tokens with what C++ needs between and before statements: a `;` for the end of a line, `auto` before a new name."""
    lines = "\n" in text.strip() and not any(line.rstrip().endswith(";") for line in text.split("\n"))
    out: list[CppToken] = []
    known: set[str] = set()
    depth, begins = 0, True
    for n, token in enumerate(tokens):
        if token.start >= len(text):
            out += [CppToken(";", ";", len(text)), *tokens[n:]]
            return out
        if lines and not depth and not begins and "\n" in text[tokens[n - 1].end : token.start] and _ends(tokens[n - 1], token):
            out.append(CppToken(";", ";", tokens[n - 1].end))
            begins = True
        if begins and token.kind == "name" and tokens[n + 1].kind == "=" and token.text not in known:
            known.add(token.text)
            out.append(CppToken("name", "auto", token.start))
        out.append(token)
        depth += (token.kind in ("(", "[", "{")) - (token.kind in (")", "]", "}"))
        begins = token.kind == ";" and depth == 0
    return out


def _ends(token: CppToken, following: CppToken) -> bool:
    """Whether a line that ends between two tokens ends a statement: no operator stands before or behind it."""
    return token.kind not in _OPEN and following.kind not in _BEHIND and token.text != "o" and following.text != "o"
