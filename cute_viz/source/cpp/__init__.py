"""C++ files: scopes, declarations, and the values of what they define."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.outline import outline
from cute_viz.source.cpp.preprocess import Source
from cute_viz.source.cpp.scopes import Declaration, Scope
from cute_viz.source.cpp.values import Class, Enumerator, Env, External, Function, Pack, Pointer, Template, finished
from cute_viz.source.model import Entry, Given, SourceFile

_KINDS = ("alias", "variable")


def read(text: str, given: Given) -> SourceFile:
    """A file of C++: its aliases, variables and constants, each evaluated when it is asked for.

    Raises: LimitError for a text over the limit `input`, or blocks that are nested too deeply; nothing else.

    >>> file = read("template <int N> struct T { using A = Layout<Shape<Int<N>,_8>>; };", Given({"N": "4"}))
    >>> str(file.find("T::A").read())
    '(_4,_8):(_1,_4)'
    """
    try:
        reader = outline(Source(text, given))
    except RecursionError:
        raise LimitError("blocks are nested too deeply", text=text, span=Span(0, 1)) from None
    context = Context(reader, given)
    lookup = Lookup(context, lambda env, part: Evaluator(context, lookup, env).of(part, env))
    entries: list[Entry] = []
    _collect(context, lookup, reader.file, entries, set())
    entries.sort(key=lambda entry: entry.span.start)
    return SourceFile(text, tuple(entries))


def _collect(context: Context, lookup: Lookup, scope: Scope, out: list[Entry], seen: set[int]) -> None:
    if id(scope) in seen:
        return
    seen.add(id(scope))
    for declaration in scope.declarations:
        if declaration.kind in _KINDS and declaration.params is None and _is_object(context, declaration):
            out.append(_entry(context, lookup, declaration))
        if declaration.inner is not None:
            _collect(context, lookup, declaration.inner, out, seen)
    for statement in scope.statements:
        for block in (statement.yes, statement.no):
            if block is not None:
                _collect(context, lookup, block, out, seen)
    for closure in context.reader.lambdas.values() if scope.kind == "file" else ():
        _collect(context, lookup, closure, out, seen)


def _is_object(context: Context, declaration: Declaration) -> bool:
    """Whether a declaration may be more than a plain member or a pointer."""
    if declaration.array or declaration.pointer or not declaration.name:
        return False
    return declaration.kind == "alias" or declaration.init is not None or declaration.scope.kind != "class"


def _entry(context: Context, lookup: Lookup, declaration: Declaration) -> Entry:
    token = context.reader.tokens[declaration.token]
    return Entry(
        declaration.name, declaration.scope.path, token.span, context.line(declaration.token), _reader(context, lookup, declaration)
    )


def _reader(context: Context, lookup: Lookup, declaration: Declaration) -> Callable[[], Any]:
    """The value of an entry, evaluated once."""
    known: list[Any] = []

    def read_it() -> Any:
        if not known:
            try:
                known.append(finished(_value(context, lookup, declaration)))
            except CuteVizError as error:
                known.append(error.at(context.text, context.reader.tokens[declaration.token].span))
            except RecursionError:
                span = context.reader.tokens[declaration.token].span
                known.append(LimitError("this is nested too deeply", text=context.text, span=span))
        if isinstance(known[0], CuteVizError):
            raise known[0]
        return known[0]

    return read_it


def _value(context: Context, lookup: Lookup, declaration: Declaration) -> Any:
    env = opened(context, declaration.scope)
    evaluator = Evaluator(context, lookup, env)
    span = context.reader.tokens[declaration.token].span
    context.deep = 0
    key = context.let(declaration.name, declaration.scope)
    if key is not None:
        value = evaluator.given(key, as_type=declaration.kind == "alias")
    else:
        value = evaluator.definition(declaration, env, None, Span(0, 0))
    value = evaluator.known(value, span)
    if isinstance(value, (Class, Enumerator, Function, Template, Pointer, Pack, External, Env)):
        raise NotationError(f"{declaration.name!r} is {show(value)}, no layout", text=context.text, span=span)
    return value
