"""What can be drawn of a class that CUTLASS makes for an alias of a file: `CollectiveMainloop::SmemLayoutA`."""

from __future__ import annotations

from cute_viz.errors import CuteVizError, Span
from cute_viz.source.cpp.collective import DRAWN
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.scopes import Declaration, Scope
from cute_viz.source.cpp.shown import object_of, printed
from cute_viz.source.cpp.tree import Id, Part
from cute_viz.source.cpp.values import Value, finished
from cute_viz.source.model import Entry


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
        evaluator = Evaluator(context, lookup, env)
        try:
            value = evaluator.definition(declaration, env, None, Span(0, 0))
            for name in names:
                value = evaluator.known(evaluator.type_member(value, Part(name, None, token.span), token.span), token.span)
            return printed(finished(object_of(context, declaration.name, context.reader.tokens[declaration.token].span, value)))
        except CuteVizError as error:
            raise context.placed(error, token.span) from None

    return Entry(names[-1], scope, token.span, context.line(declaration.token), of_it, file=included(context, declaration))
