"""What a name means on a line of a file: a parameter as its kernel is launched, a variable of the scopes around."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from cute_viz.source.address import query_of
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.scopes import Scope
from cute_viz.source.cpp.shown import object_of, printed
from cute_viz.source.cpp.tree import Id, Part
from cute_viz.source.cpp.values import finished
from cute_viz.source.model import Entry

_MEMBER = (".", "->", "::")  # what stands before the name of a member


def standing(context: Context, lookup: Lookup, scopes: list[Scope], query: str) -> Entry | None:
    """`NAME@LINE`, where NAME stands on that line: what it means there; None of any other query.

    >>> from cute_viz.source.cpp import read
    >>> text = "template <class L> void f(L l) { auto a = l; } void g() { f(Layout<_4>{}); }"
    >>> str(read(text, Given()).find("l@1").read())
    '_4:_1'
    """
    asked = query_of(query)
    if asked is None or asked.line is None or not asked.line.isdecimal() or len(asked.parts) != 1 or asked.slices:
        return None
    (name,), line = asked.parts, int(asked.line)
    at = _place(context, name, line)
    if at is None:
        return None
    scope, span = _around(context, scopes, at), context.reader.tokens[at].span

    def of_it() -> Any:
        context.deep = 0
        evaluator = Evaluator(context, lookup, opened(context, scope))
        value = evaluator.known(evaluator.value(Id(span, (Part(name, None, span),))), span)
        return printed(finished(object_of(context, name, span, value)))

    return Entry(name, scope.path, span, line, of_it)


def _place(context: Context, name: str, line: int) -> int | None:
    """The first token of a line that is the name, and no member of anything."""
    before = ""
    for at, token in enumerate(context.reader.tokens):
        if token.start >= context.own:
            break
        if token.text == name and before not in _MEMBER and context.line(at) == line and not context.file(at):
            return at
        before = token.text
    return None


def _around(context: Context, scopes: list[Scope], at: int) -> Scope:
    """The scope of a token: that among whose parameters it stands, or of the statement that it stands in."""
    for scope in scopes:
        places = [param.token for param in (*(scope.params or ()), *scope.arguments)]
        if places and min(places) <= at <= max(places):
            return scope
    begun = bisect_right(context.reader.statements, (at, 1 << 60))
    return context.reader.scopes[context.reader.statements[begun - 1][1]] if begun else context.reader.file
