"""What a value of C++ is to other rooms, and how it is shown; what a name means on a line of a file, and what can be
drawn of a class that CUTLASS makes for an alias: `CollectiveMainloop::SmemLayoutA`.
"""

from __future__ import annotations

from bisect import bisect_right

from cute_viz.algebra.composed import ComposedLayout, has_origin
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.tensor import Tensor, part_of
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.source.address import query_of
from cute_viz.source.cpp.calls import RUN_TIME
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.cutlass import DRAWN
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.scopes import Declaration, Scope
from cute_viz.source.cpp.slices import split
from cute_viz.source.cpp.tree import Id, Part
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import Class, Enumerator, External, Function, Pack, Template, Thread, Value, finished
from cute_viz.source.model import Entry
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer


def printed(value: Value) -> Value:
    """A tensor as it is shown: its layout, but where the units are lanes and columns."""
    return value.printed if isinstance(value, Tensor) and value.pointer.space != "tmem" else split(value)


def object_of(context: Context, name: str, span: Span, value: Value) -> Value:
    """The value of a name, at a place, that other rooms can show. Raises: the error of one that they cannot."""
    if isinstance(value, Thread):
        tiled, runs = getattr(value.view, "tiled", None), _runs(value.error)
        if runs and value.sliced is not None and (seen := part_of(*value.sliced, known=False)) is not None:
            return seen  # the strides that a run-time index decides are not known
        if tiled is None or not runs:
            raise value.error
        from cute_viz.algebra.views import get_slice

        view: Value = get_slice(finished(tiled), unknown(value.error))  # type: ignore[arg-type]
        return view
    match value:
        case Unknown() if not _runs(value.error()):
            raise value.error()
        case ComposedLayout() if has_origin(value) and next(unknowns(value.offset), None) is not None:
            return value.inner  # where a tensor begins is not part of its layout
        case Class() | Enumerator() | Function() | Template() | Pointer() | Pack() | External():
            what = show(value)
            raise NotationError(f"{name!r} is {'a class' if what == name else what}, not a layout", text=context.text, span=span)
    return value


def _runs(error: CuteVizError) -> bool:
    return bool(error.needs) and error.needs[0].startswith(("threadIdx.", "blockIdx.", *RUN_TIME))


_MEMBER = (".", "->", "::")  # what stands before the name of a member


def standing(context: Context, lookup: Lookup, scopes: list[Scope], query: str) -> Entry | None:
    """`NAME@LINE`, where NAME stands on that line: what it means there; None of any other query."""
    asked = query_of(query)
    if asked is None or asked.line is None or not asked.line.isdecimal() or len(asked.parts) != 1 or asked.slices:
        return None
    (name,), line = asked.parts, int(asked.line)
    at = _place(context, name, line)
    if at is None:
        return None
    scope, span = _around(context, scopes, at), context.reader.tokens[at].span

    def of_it() -> Value:
        context.deep = 0
        evaluator = CppEvaluator(context, lookup, opened(context, scope))
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


def scopes_of(reader: Declarer) -> list[Scope]:
    """All scopes of a file, each once."""
    out: list[Scope] = []
    waiting, seen = [*reader.lambdas.values(), reader.file], set()
    while waiting:
        scope = waiting.pop()
        if id(scope) in seen:
            continue
        seen.add(id(scope))
        out.append(scope)
        inside = [declaration.inner for declaration in scope.declarations]
        inside += [block for statement in scope.statements for block in (statement.yes, statement.no)]
        waiting += [inner for inner in inside if inner is not None]
    return out


def included(context: Context, declaration: Declaration) -> str:
    """The included file that a declaration stands in, "" for the file itself, which may have line markers of its own."""
    name = context.file(declaration.token)
    return name if name in context.given.files else ""


def built_entries(context: Context, lookup: Lookup, declaration: Declaration) -> list[Entry]:
    """What can be drawn of an alias of what CollectiveBuilder makes: `CollectiveMainloop::SmemLayoutA`."""
    if declaration.kind != "alias" or declaration.init is None or declaration.params is not None:
        return []
    words = [token.text for token in context.reader.tokens[slice(*declaration.init)] if token.kind == "name"]
    if words[-1:] != ["CollectiveOp"] or "CollectiveBuilder" not in words:
        return []
    kind = "epilogue" if "epilogue" in words[: words.index("CollectiveBuilder")] else "gemm"
    return [_built_entry(context, lookup, declaration, (name,)) for name in DRAWN[kind]]


def asked_member(context: Context, lookup: Lookup, tree: Id) -> Entry | None:
    """The member that a qualified name asks for of an alias whose class CUTLASS makes."""
    names = [part.name for part in tree.parts]
    for n in range(len(names) - 2, -1, -1):
        for scope in scopes_of(context.reader):
            declaration = next((x for x in scope.names.get(names[n], ()) if x.kind == "alias"), None)
            if declaration is not None and list(scope.path)[len(scope.path) - n :] == names[:n]:
                return _built_entry(context, lookup, declaration, tuple(names[n + 1 :]))
    return None


def _built_entry(context: Context, lookup: Lookup, declaration: Declaration, names: tuple[str, ...]) -> Entry:
    """A member of a member ... of a class that CUTLASS makes for an alias of the file."""
    token = context.reader.tokens[declaration.token]
    scope = (*declaration.scope.path, declaration.name, *names[:-1])

    def of_it() -> Value:
        context.deep = 0
        env = opened(context, declaration.scope)
        evaluator = CppEvaluator(context, lookup, env)
        try:
            value = evaluator.definition(declaration, env, None, Span(0, 0))
            for name in names:
                value = evaluator.known(evaluator.type_member(value, Part(name, None, token.span), token.span), token.span)
            return printed(finished(object_of(context, declaration.name, context.reader.tokens[declaration.token].span, value)))
        except CuteVizError as error:
            raise context.placed(error, token.span) from None

    return Entry(names[-1], scope, token.span, context.line(declaration.token), of_it, file=included(context, declaration))
