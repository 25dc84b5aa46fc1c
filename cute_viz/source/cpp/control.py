"""The words that begin a statement of C++: if, for, while, switch, return; and the whole grammar, which gives a file its scopes."""

from __future__ import annotations

from collections.abc import Callable

from cute_viz.source.cpp.blocks import WORDS
from cute_viz.source.cpp.declarators import declaration
from cute_viz.source.cpp.declare import Declarer, Grammar
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Scope, Stmt


def _if(reader: Declarer, scope: Scope, at: int) -> int:
    tokens = reader.tokens
    statement, end = _branch(reader, scope, at)
    made = [statement]
    while statement is not None and tokens[end].text == "else":
        assert statement.yes is not None
        statement.no = no = Scope("block", "", statement.yes.parent, end, flow="if")
        if tokens[end + 1].text != "if":
            end = reader.inner(no, end + 1)
            break
        statement, end = _branch(reader, no, end + 1)
        made += [statement, *no.statements]
    for each in made:
        if each is not None:
            each.end = end
    return end


def _branch(reader: Declarer, scope: Scope, at: int) -> tuple[Stmt | None, int]:
    """`if (test) ...` without its `else`."""
    tokens = reader.tokens
    start = at
    constant = tokens[at + 1].text == "constexpr"
    at += 1 + constant
    if tokens[at].kind != "(":
        return None, reader.skip(scope, at)
    test = (at + 1, reader.match[at])
    semicolon = reader.find(at + 1, (";",))
    outer = Scope("block", "", scope, at)
    if semicolon < test[1]:  # if (init; test)
        reader.statement(outer, at + 1, None)
        test = (semicolon + 1, test[1])
    reader.note_changes(scope, *test)
    yes = Scope("block", "", outer, at, flow="if")
    statement = Stmt("if", start, test, yes, constant=constant)
    outer.statements.append(statement)
    scope.statements.append(Stmt("block", start, yes=outer))
    return statement, reader.inner(yes, reader.match[at] + 1)


def _for(reader: Declarer, scope: Scope, at: int) -> int:
    tokens = reader.tokens
    at += 1
    if tokens[at].kind != "(":
        return reader.skip(scope, at)
    loop = Scope("block", "", scope, at, flow="loop")
    body = Scope("block", "", loop, at)
    close = reader.match[at]
    first = reader.find(at + 1, (";",), close)
    second = reader.find(first + 1, (";",), close)
    kind = "for" if second < close else "other"  # of a range
    test = (first + 1, second) if first + 1 < second else None
    step = (second + 1, close) if second + 1 < close else None
    scope.statements.append(Stmt(kind, at, test, loop, body, step=step))
    reader.statement(loop, at + 1, None)
    for each in loop.declarations:
        each.kind = "loop"
    reader.note_changes(loop, at + 1, close)
    return reader.inner(body, close + 1)


def _while(reader: Declarer, scope: Scope, at: int) -> int:
    opening = at + 1
    if reader.tokens[opening].kind != "(":
        return reader.skip(scope, at)
    loop = Scope("block", "", scope, at, flow="loop")
    scope.statements.append(Stmt("while", at, (opening + 1, reader.match[opening]), loop))
    reader.note_changes(loop, opening + 1, reader.match[opening])
    return reader.inner(loop, reader.match[opening] + 1)


def _do(reader: Declarer, scope: Scope, at: int) -> int:
    loop = Scope("block", "", scope, at, flow="loop")
    statement = Stmt("other", at, yes=loop)
    scope.statements.append(statement)
    end = reader.inner(loop, at + 1)
    if reader.tokens[end].text != "while" or reader.tokens[end + 1].kind != "(":
        return end
    statement.kind, statement.value = "do", (end + 2, reader.match[end + 1])
    reader.note_changes(loop, *statement.value)
    return reader.skip(scope, end)


def _switch(reader: Declarer, scope: Scope, at: int) -> int:
    opening = at + 1
    if reader.tokens[opening].kind != "(":
        return reader.skip(scope, at)
    reader.note_changes(scope, opening + 1, reader.match[opening])
    end = reader.block(scope, reader.match[opening] + 1, "loop", "switch")
    scope.statements[-1].value = (opening + 1, reader.match[opening])
    return end


def _return(reader: Declarer, scope: Scope, at: int) -> int:
    end = reader.find(at + 1, (";",))
    scope.statements.append(Stmt("return", at, (at + 1, end)))
    reader.note_changes(scope, at + 1, end)
    reader.bodies(scope, at + 1, end)
    return end + (reader.tokens[end].kind == ";")


def _case(reader: Declarer, scope: Scope, at: int) -> int:
    end = reader.find(at, (":", ";"))
    scope.statements.append(Stmt("case", at, (at + 1, end) if end > at + 1 else None))
    return end + (reader.tokens[end].kind in (":", ";"))


def _try(reader: Declarer, scope: Scope, at: int) -> int:
    end = reader.block(scope, at + 1, "if", "other")
    while reader.tokens[end].text == "catch":
        opening = end + 1
        end = reader.block(scope, reader.match[opening] + 1, "if", "other")
    return end


def _else(reader: Declarer, scope: Scope, at: int) -> int:
    return reader.block(scope, at + 1, "if", "other")


def _leave(reader: Declarer, scope: Scope, at: int) -> int:
    """`break`, `continue`; `goto` goes nobody knows where."""
    scope.statements.append(Stmt(reader.tokens[at].text, at))
    return reader.skip(scope, at)


CONTROL: dict[str, Callable[[Declarer, Scope, int], int]] = {
    "if": _if,
    "for": _for,
    "while": _while,
    "do": _do,
    "switch": _switch,
    "return": _return,
    "case": _case,
    "default": _case,
    "break": _leave,
    "continue": _leave,
    "goto": _leave,
    "try": _try,
    "else": _else,
}


def outline(source: Preprocessed) -> Declarer:
    """The scopes of a file, `file` being the outermost; nothing in it is evaluated."""
    out = Declarer(source, Grammar(WORDS, CONTROL, declaration))
    out.body(out.file, 0)
    out.settle()
    _tell_apart(out, out.file)
    return out


def _tell_apart(reader: Declarer, scope: Scope) -> None:
    """Templates among functions of one name are called by their parameters; the name alone is that of a plain function."""
    for declarations in scope.names.values():
        functions = [x for x in declarations if x.kind == "function" and x.inner is not None and x.static]
        if len({tuple(param.name for param in x.params or ()) for x in functions}) > 1:
            for declaration in functions:
                if declaration.params and declaration.inner is not None:
                    words = ", ".join(param.name for param in declaration.params)
                    declaration.inner.words = (*declaration.inner.words[:-1], f"{declaration.name}<{words}>")
    for declaration in scope.declarations:
        if declaration.inner is not None and declaration.scope is scope and declaration.inner.kind in ("namespace", "class"):
            _tell_apart(reader, declaration.inner)
