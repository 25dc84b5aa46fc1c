"""What a statement runs under that nobody knows: the condition, its alternative, and whether a whole block takes the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cute_viz.source.cpp.context import Context, takes, use_at
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.lookup import Found, Lookup, declares, loop_around, opened
from cute_viz.source.cpp.scopes import Declaration, Range, Scope, Stmt, outward
from cute_viz.source.moves import ALWAYS, COMPUTED, NO, ROUND, Alternative

_LEAVING = frozenset(("break", "return", "continue"))
_ALIKE = frozenset(("blockIdx", "blockDim", "gridDim", "true", "false", "nullptr", "this"))  # in all threads of a block


def choice(threads: Threads, held: Circumstance) -> Alternative:
    """The alternative that a condition around a place is."""
    statement, context, scope = held.statement, threads.context, held.where
    assert statement is not None
    assert statement.value is not None
    begin, end = (context.reader.tokens[n] for n in (statement.value[0], statement.value[1] - 1))
    words = " ".join(context.reader.text[begin.start : end.end].split())
    line, file = context.line(statement.token), context.file(statement.token)
    agreed = ALWAYS if statement.constant else threads.agree(statement.value, scope)
    group = f"{'::'.join(scope.path)} {words}" if agreed == ALWAYS else f"{file}:{line}" if agreed else ""
    return Alternative(words, held.branch, line, file, group, held.behind)


class Circumstance(NamedTuple):
    """What is around a place: a lambda (without a statement), a loop (without a branch), or a condition.

    where: the scope of the statement; scope: its block. branch, behind: as of a Alternative. labels: of a case, None for `default`.
    """

    where: Scope
    scope: Scope
    statement: Stmt | None = None
    branch: str = ""
    behind: bool = False
    labels: Sequence[Range | None] = ()


def around(reader: Declarer, scope: Scope, outer: Scope | None, token: int) -> Iterator[Circumstance]:
    """What is around a token in a scope, innermost first, up to another scope or the function: loops, conditions, lambdas; the
    conditions before it, `if (...) return;`, that leave one of these."""
    for here in outward(scope, outer):
        for block in here.statements:
            inside = block.yes.statements[-1:] if block.kind == "block" and block.yes is not None and block.token < token else []
            for one in inside:
                if _is_plain([one]) and one.value is not None and one.yes is not None and not scope.inside(one.yes):
                    yield Circumstance(here, here, one, "else", True)
        if here.kind not in ("block", "lambda"):
            return
        statement = here.holder
        if here.kind == "lambda":
            yield Circumstance(here, here)
        if statement is None or here.parent is None:
            continue
        if statement.kind == "if" and statement.value is not None:
            yield Circumstance(here.parent, here, statement, "if" if statement.yes is here else "else")
        elif statement.kind == "switch" and statement.value is not None:
            labels, whole = _labels(here, token)
            words = ", ".join(["default" if one is None else reader.words(one) for one in whole])
            yield Circumstance(here.parent, here, statement, f"{'case ' * (words != 'default')}{words}", False, labels)
        elif statement.yes is here and here.flow == "loop":
            yield Circumstance(here.parent, here, statement)


def leaves(scope: Scope, token: int) -> bool:
    """Whether a statement before a token may leave what is around it that `around` does not tell: a `return` in another `if`, or
    beside an `else`."""
    for here in outward(scope):
        for one in here.statements:
            plain = one.kind == "block" and one.yes is not None and _is_plain(one.yes.statements[-1:])
            if one.token < token and one.end <= token and not plain and _leaving(one):
                return True
        if here.kind not in ("block", "lambda"):
            return False
    return False


def _is_plain(last: Sequence[Stmt]) -> bool:
    """Whether a statement is an `if` without `else` that leaves at its end."""
    return any(x.kind == "if" and x.no is None and x.yes is not None and _ends(x.yes) in ("return", "continue") for x in last)


def _leaving(one: Stmt, loop: bool = False) -> bool:
    """Whether a statement leaves what is around it, or has one that does."""
    loop = loop or one.kind in ("for", "while", "do")
    inside = [x for block in (one.yes, one.no) if block is not None for x in block.statements]
    return one.kind in ("return", "goto") or (one.kind == "continue" and not loop) or any(_leaving(x, loop) for x in inside)


def tested(scope: Scope, tests: Iterable[tuple[Range, bool]]) -> list[Circumstance]:
    """The conditions in a statement itself, `a ? b : c`, by what they must be."""
    return [Circumstance(scope, scope, Stmt("if", test[0], test), "if" if wanted else "else") for test, wanted in tests]


def _labels(switch: Scope, token: int) -> tuple[list[Range | None], list[Range | None]]:
    """Those of the cases of a switch that come to a token, and all that fall through into one another there."""
    before: list[Range | None] = []
    whole: list[Range | None] = []
    leaves = True
    for statement in switch.statements:
        if statement.token >= token and leaves and whole:
            break
        if statement.kind == "case":
            whole = [*([] if leaves else whole), statement.value]
            leaves = False
        else:
            block = statement.yes if statement.kind == "block" else None
            leaves = (statement.kind if block is None else _ends(block)) in _LEAVING
        before = before if statement.token >= token else whole
    return before, whole


def _ends(block: Scope) -> str:
    """The kind of the last statement of a block."""
    return block.statements[-1].kind if block.statements else ""


class Threads:
    """Whether all threads of a block find the same value, by all names that it is made of. is_kernel: of a function."""

    def __init__(self, context: Context, lookup: Lookup, is_kernel: Callable[[Scope], bool]) -> None:
        self.context, self.lookup, self.tokens, self.is_kernel = context, lookup, context.reader.tokens, is_kernel

    def agree(self, part: Range, scope: Scope) -> int:
        """Of an expression."""
        out, todo, seen = ALWAYS, [(part, scope)], set[tuple[int, Scope]]()
        while todo and out != NO:
            (begin, end), where = todo.pop()
            for n in (n for n in range(begin, end) if self.tokens[n].kind == "name" and (n, where) not in seen):
                seen.add((n, where))
                out = min(out, self._name(n, where, todo))
        return out

    def _name(self, n: int, scope: Scope, todo: list[tuple[Range, Scope]]) -> int:
        """Of a name at a token, as far as that is not decided by what it is made of."""
        name, before, behind = self.tokens[n].text, self.tokens[n - 1].kind, self.tokens[n + 1].kind
        if behind == "::" or name in _ALIKE:
            return ALWAYS
        if before in (".", "->", "::"):
            return NO if behind == "(" and name not in COMPUTED else ALWAYS
        found = self.lookup.find(name, opened(self.context, scope), n)
        if found is None or behind == "(":
            return ALWAYS if name in COMPUTED else NO
        if not found.declarations:
            return self._parameter(name, found, todo)
        return min(self._variable(one, todo) for one in found.declarations)

    def _parameter(self, name: str, found: Found, todo: list[tuple[Range, Scope]]) -> int:
        """Of a parameter: of a template, of a kernel, or by the argument of the call that is looked at, or of all by its name."""
        scope, chosen = found.env.scope, self.context.chosen.get(found.env.scope)
        if any(param.name == name for param in scope.params or ()):
            return ALWAYS
        if scope.home.changes.get(name) or scope.kind != "function":
            return NO
        if self.is_kernel(scope):
            return ALWAYS
        reader = self.context.reader
        declared = {one.token for one in (scope.parent.names.get(scope.name, ()) if scope.parent is not None else ())}
        others = (use_at(reader, scope, n) for n in reader.places().get(scope.name, ()) if n not in declared)
        uses = [chosen] if chosen is not None else [use for use in others if use is not None and use.called]
        place = next(n for n, param in enumerate(scope.arguments) if param.name == name)
        given = [
            (use.arguments[place], use.scope) for use in uses if takes(scope, len(use.arguments)) and place < len(use.arguments)
        ]
        todo += given
        return ALWAYS if given and len(given) == len(uses) else NO

    def _variable(self, one: Declaration, todo: list[tuple[Range, Scope]]) -> int:
        """Of a declaration: by what it begins with, and by what changes it."""
        if one.kind in ("enumerator", "alias", "class") or (not one.scope.local and one.constant):
            return ALWAYS
        if one.kind not in ("variable", "loop") or one.init is None or not one.scope.local:
            return NO
        todo.append((one.init, one.scope))
        agreed = ROUND if one.kind == "loop" or loop_around(one.scope, one.scope.home) is not None else ALWAYS
        for change in one.scope.home.changes.get(one.name, ()):
            if change.token == one.token or not declares(one, change.scope) or (one.kind == "loop" and change.scope is one.scope):
                continue
            if change.value is None:
                return NO
            held = [around.holder for around in outward(change.scope, one.scope)]
            todo += [(x.value, change.scope) for x in held if x is not None and x.value is not None]
            todo.append((change.value, change.scope))
            agreed = ROUND
        return agreed
