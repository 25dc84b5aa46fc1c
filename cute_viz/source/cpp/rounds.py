"""How often a block runs a statement: the rounds of the loops around it, and which of them its conditions select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from cute_viz.errors import CuteVizError
from cute_viz.source.cpp.alternatives import Circumstance, Threads, around, choice
from cute_viz.source.cpp.context import Context, function_of
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.lookup import Lookup, declares, loop_around, opened
from cute_viz.source.cpp.scopes import Change, Declaration, Range, Scope, Stmt
from cute_viz.source.cpp.threads import Vector, numbers_at
from cute_viz.source.cpp.tree import Binary, Node, Unary
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Env
from cute_viz.source.moves import Gate, Often, Pace, Round, often, step_of, stepped
from cute_viz.values.integer import Unknown

_LEAVING = frozenset(("break", "goto", "return", "throw"))
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_DEEP = 8  # loops that change what another loop counts


def often_of(
    context: Context,
    lookup: Callable[[Context], Lookup],
    scope: Scope,
    is_kernel: Callable[[Scope], bool],
    token: int,
    inside: Iterable[Circumstance] = (),
) -> Often:
    """How often a block runs what stands in a scope: loops around it, and around the calls that lead there from its kernel.

    token: where it stands. inside: the conditions in the statement itself.
    """
    counter = Counter(context, lookup(context), is_kernel)
    found = often(map(counter.read, inside)).within(counter.within(scope, None, token))
    function = function_of(scope)
    while function is not None and not is_kernel(function) and (use := context.chosen.get(function)) is not None:
        found = found.within(counter.within(use.scope, None, use.token))
        function = function_of(use.scope)
    return found


class Head(NamedTuple):
    """What a loop counts with: its variable, what that begins with (an expression, or a number that steps before the loop make),
    how it compares with which bound, and its step. change: the token of the step where that is in the body;
    type: those of the variable's.
    """

    name: str
    begin: Range | int | None
    word: str
    bound: Node
    step: Pace | None
    change: int | None
    type: Range | None = None


class Counter:
    """Counts the rounds of the loops of a function."""

    def __init__(self, context: Context, lookup: Lookup, is_kernel: Callable[[Scope], bool] = lambda scope: False) -> None:
        self.context, self.lookup, self.deep = context, lookup, 0
        self.threads = Threads(context, lookup, is_kernel)
        self.known: Mapping[str, Vector] = {}  # numbers of a launch, by name
        self.reader: Declarer = context.reader

    def within(self, scope: Scope, outer: Scope | None, token: int) -> Often:
        """How often a token in a scope runs, in one round of what is around another one, or of its function."""
        return often(reversed(list(map(self.read, around(self.reader, scope, outer, token)))))

    def read(self, held: Circumstance) -> Round | Gate:
        """A loop or a condition around a place."""
        statement, here = held.statement, held.scope
        if statement is None:
            return Round(self.context.line(here.token), self.context.file(here.token))
        if not held.branch:
            return Round(self.context.line(statement.token), self.context.file(statement.token), *self.rounds(statement))
        way = partial(choice, self.threads, held)
        if held.behind or held.labels or statement.value is None:
            return Gate((), lambda name, value: True if held.behind else None, way, held.behind)
        names = [token.text for token in self.reader.tokens[slice(*statement.value)]]
        return Gate(names, partial(self.truth, statement.value, held.where, held.branch == "if"), way)

    def truth(self, test: Range, scope: Scope, wanted: bool, name: str, value: int) -> bool | None:
        """Whether a condition is what is wanted, None where that is not known. name, value: of a variable of a loop, if any."""
        env = opened(self.context, scope)
        if name:
            env = Env(env.scope, env.parent, {**env.args, name: value})
        with suppress(CuteVizError):
            return CppEvaluator(self.context, self.lookup, env).truth(self.context.tree(test)) is wanted
        return None

    def number(self, part: Range | Node | None, scope: Scope) -> int | None:
        """The integer that tokens or a tree are in a scope, None where it is not known."""
        if part is None:
            return None
        solid = CppEvaluator(self.context, self.lookup, opened(self.context, scope)).solid
        value = tried(lambda: solid(self.context.tree(part) if isinstance(part, tuple) else part), None)
        if isinstance(value, Unknown) and self.known:
            found = numbers_at(value, lambda name: self.known.get(name.partition("@")[0]))
            value = found if isinstance(found, int) else None
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else None

    def rounds(self, statement: Stmt) -> tuple[str, int | None, Sequence[int] | None]:
        """The variable of a loop, its rounds, and the values of the variable, where only the loop itself changes it."""
        head = self.head(statement)
        loop = statement.yes
        if head is None or loop is None or loop.parent is None:
            return "", None, None
        begin = head.begin if isinstance(head.begin, int) else self.number(head.begin, loop.parent)
        values = stepped(begin, head.word, self.number(head.bound, loop), head.step)
        return head.name, None if values is None else len(values), values if head.change is None else None

    def head(self, statement: Stmt) -> Head | None:
        """What a loop counts with, None of one that counts nothing that is read."""
        loop = statement.yes
        where = loop.parent if loop is not None else None
        if loop is None or where is None or statement.kind not in ("for", "while") or statement.value is None or self.deep > _DEEP:
            return None
        self.deep += 1
        try:
            return tried(partial(self._head, statement, statement.value, loop, where), None)
        finally:
            self.deep -= 1

    def _head(self, statement: Stmt, value: Range, loop: Scope, where: Scope) -> Head | None:
        test = self.context.tree(value)
        if not isinstance(test, Binary) or test.operator not in _MIRRORED:
            return None
        name, word, end = _name(test.left), test.operator, test.right
        if not name:
            name, word, end = _name(test.right), _MIRRORED[word], test.left
        found = self.lookup.find(name, opened(self.context, loop), value[0]) if name else None
        words = {token.text for token in self.reader.tokens[loop.token : self.end(statement)]}
        if found is None or len(found.declarations) != 1 or words & _LEAVING:
            return Head(name, None, word, end, None, None)
        declaration = found.declarations[0]
        noted = {x.token: x for x in declaration.scope.home.changes.get(name, ()) if x.token != declaration.token}
        changes = [x for x in noted.values() if declares(declaration, x.scope)]
        inside = [x for x in changes if x.scope.inside(loop)]
        header = [x for x in inside if statement.step is not None and statement.step[0] <= x.token < statement.step[1]]
        step = self._step(inside[0]) if len(inside) == 1 and inside[0].scope in (loop, statement.no) else None
        if step is None or step.word == "+":
            added = self._sum(inside, loop)
            step = None if added is None else Pace("+", added)
        begin: Range | int | None = declaration.init
        if declaration.scope is not loop:
            begin = self._before(declaration, [x for x in changes if not x.scope.inside(loop)], statement, where)
        rest = next((x.token for x in inside if x not in header), None)
        return Head(name, begin, word, end, step, rest, declaration.type)

    def _before(self, declaration: Declaration, changes: list[Change], statement: Stmt, where: Scope) -> Range | int | None:
        """The value of a variable where a loop begins: what it begins with, and what steps before the loop add."""
        if loop_around(where, declaration.scope) is not None or declaration.kind != "variable":
            return None
        before = [x for x in changes if declaration.token < x.token < statement.token]
        if not before and declaration.opens == "=":
            return declaration.init
        begin = self.number(declaration.init, declaration.scope) if declaration.opens == "=" else None
        added = self._sum(before, declaration.scope)
        return None if begin is None or added is None else begin + added

    def _sum(self, changes: list[Change], outer: Scope) -> int | None:
        """What changes of a variable add to it in one round of a scope; None where one of them is not a step, or runs an unknown
        number of times."""
        out = 0
        for change in changes:
            step = self._step(change)
            times = self.within(change.scope, outer, change.token).times if change.scope is not outer else 1
            if step is None or step.word != "+" or times is None:
                return None
            out += step.number * times
        return out

    def _step(self, change: Change) -> Pace | None:
        """What a change does to a variable, None of what is not a step."""
        tokens, n = self.reader.tokens, change.token
        before, after = tokens[n - 1].kind, tokens[n + 1].kind
        if before in ("++", "--") or after in ("++", "--"):
            return step_of(before if before in ("++", "--") else after, None)
        after = ">>=" if after == ">" and tokens[n + 2].kind == ">=" else after
        begin = n + 3 if after == ">>=" and tokens[n + 1].kind == ">" else n + 2
        return step_of(after, self.number((begin, self.reader.find(n, (";", ")", ","))), change.scope))

    def end(self, statement: Stmt) -> int:
        """The token behind the body of a loop."""
        tokens, at = self.reader.tokens, statement.token
        if tokens[at].text == "do":
            return self.reader.match[at + 1] if tokens[at + 1].kind == "{" else self.reader.find(at, (";",))
        while tokens[at].kind != "(":
            at += 1
        at = self.reader.match[at] + 1
        while tokens[at].text in ("for", "while", "if") and tokens[at + 1].kind == "(":
            at = self.reader.match[at + 1] + 1
        return self.reader.match[at] if tokens[at].kind == "{" else self.reader.find(at, (";",))


def _name(node: Node) -> str:
    """The plain name that a tree is, "" of anything else."""
    while isinstance(node, Unary) and node.operator == "+":
        node = node.value
    return node.plain
