"""A type as compilers, demanglers and profilers spell it -> its value: `cute::Layout<cute::tuple<cute::C<8>, int>, ...>`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.syntax import Resolver
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.control import outline
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.expressions import Expressions
from cute_viz.source.cpp.lookup import Lookup
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.shown import object_of
from cute_viz.source.cpp.tokens import LAYOUTS, TUPLES, tokenize
from cute_viz.source.cpp.tree import Brace, Id, Node, Part
from cute_viz.source.cpp.values import Lazy, SpelledInt, Value, finished, typed
from cute_viz.source.model import Given
from cute_viz.values.integer import Unknown

_WORD = "(?:unsigned|signed|long|short|int|char)"
RUNTIME = re.compile(rf"{_WORD}(?:\s+{_WORD})*|(?:std::)?u?int\d+_t|(?:std::)?(?:size_t|ptrdiff_t)")
_COUNTED = frozenset((*TUPLES, *LAYOUTS, "ArithmeticTuple", "ScaledBasis", "Apply", "conditional_t"))


class _Types(Expressions):
    """The parser of types: each '<' opens arguments, a pack may be in braces, and what stands behind a type is none of it. An
    integer of a tuple or layout that only runs know gets a name of its own from `runtime`, and a bound name one with a blank."""

    def __init__(self, text: str, runtime: Callable[[Span], str], bound: Mapping[str, Value]) -> None:
        super().__init__(text, tokenize(text)[0], lambda name: True)
        self._runtime, self._bound, self._integers = runtime, bound, False

    def type(self) -> Node:
        """The type that the text begins with."""
        self._stop = len(self.tokens) - 1
        return self._value()

    def _primary(self) -> Node:
        if self._token.kind == "(" and self._peek().text == "anonymous":  # a namespace
            self._at = self._matching(self._at) + 2
        return super()._primary()

    def _postfix(self, node: Node) -> Node:
        while self._token.kind in ("(", "["):
            self._at = self._matching(self._at) + 1
        return node

    def _arguments(self, close: str) -> tuple[Node, ...]:
        packs = (item.args if isinstance(item, Brace) and item.type is None else (item,) for item in super()._arguments(close))
        return tuple(item for pack in packs for item in pack)

    def _part(self) -> Part:
        around, self._integers = self._integers, self._token.text in _COUNTED
        part = super()._part()
        self._integers = around
        return part

    def _named(self) -> Node:
        node = super()._named()
        if not isinstance(node, Id) or any(part.args is not None for part in node.parts):
            return node
        if self._integers and RUNTIME.fullmatch(node.text):
            return Id(node.span, (Part(self._runtime(node.span), None, node.span),))
        return Id(node.span, (Part(f"{node.text} ", None, node.span),)) if node.text in self._bound else node


class Spelled:
    """The types of a text. numbers: what was given for the integers that only runs know: one for all, or each in its order."""

    def __init__(self, text: str, resolve: Resolver | None, numbers: list[int] | None = None) -> None:
        self.text, self.numbers, self.count, self.pieces = text, numbers, 0, 0
        given = Given({}, resolve)
        self.context = Context(outline(Preprocessed("", given)), given)
        self.context.own_lines = True
        self.lookup = Lookup(self.context, lambda env, part: None)

    def value(self, start: int, end: int, bindings: Mapping[str, tuple[int, int]] | None = None) -> Value:
        """The value of the type at a place, as other rooms have it. bindings: where the types of its template parameters are.
        Raises: CuteVizError at its place."""
        self.count = self.pieces = 0
        bound = bindings or {}
        self.context.root.args = {f"{name} ": Lazy(partial(self._piece, *at, bound)) for name, at in bound.items()}
        value = typed(self._piece(start, end, bound), CuteVizError(""))
        return finished(object_of(self.context, self.text[start:end][:60], Span(start, end), value))

    def _piece(self, start: int, end: int, bound: Mapping[str, tuple[int, int]]) -> Value:
        self.pieces += 1
        if self.pieces > limit("modes"):
            raise over("modes", "too many types in one", text=self.text, span=Span(start, end))
        text = self.text[start:end]
        self.context.budget.steps = 0
        evaluator = CppEvaluator(self.context, self.lookup, self.context.root)
        evaluator.text = text
        try:
            tree = _Types(text, lambda span: self._runtime(Span(start + span.start, start + span.end)), bound).type()
            return evaluator.solid(tree)
        except RecursionError:
            raise LimitError("this type is nested too deeply", text=self.text, span=Span(start, end)) from None
        except CuteVizError as error:
            if error.text is not text or error.span is None:
                raise error.at(self.text, Span(start, end)) from None
            raise error.but(text=self.text, span=Span(start + error.span.start, start + error.span.end)) from None

    def _runtime(self, span: Span) -> str:
        """The name of an integer that only runs know: of the number that was given for it, else of one that is not known."""
        self.count += 1
        known = self.numbers
        if known is not None and len(known) > 1 and self.count > len(known):
            message = f"{len(known)} numbers were given for run-time values, and this is number {self.count}"
            raise NotationError(message, text=self.text, span=span)
        number = Unknown("?", self.text, span) if known is None else known[0 if len(known) == 1 else self.count - 1]
        self.context.root.args[f"?{self.count}"] = SpelledInt(number)
        return f"?{self.count}"
