"""How often a block runs a statement: the rounds of the loops around it, and which of them its conditions select."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, declares, loop_around, opened
from cute_viz.source.cpp.paths import calls, said
from cute_viz.source.cpp.scopes import Change, Declaration, Range, Scope, Statement
from cute_viz.source.cpp.tree import Binary, Id, Node, Unary
from cute_viz.source.cpp.uses import function_of
from cute_viz.source.cpp.values import Env
from cute_viz.source.model import Loop, Often
from cute_viz.values.integer import Unknown

_LEAVING = frozenset(("break", "goto", "return", "throw"))
_TRIED = 4096  # rounds whose conditions are evaluated
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_DEEP = 8  # loops that change what another loop counts


class _Surroundings(NamedTuple):
    """What is around a statement: loops, lambdas, conditions with what they must be and their scopes; whether there is a switch."""

    loops: list[Statement]
    lambdas: list[Scope]
    tests: list[tuple[Range, bool, Scope]]
    switches: list[Statement]


def often(context: Context, lookup: Callable[[Context], Lookup], scope: Scope, is_kernel: Callable[[Scope], bool]) -> Often:
    """How often a block runs what stands in a scope: loops around it, and around the calls that lead there from its kernel."""
    counter = _Counter(context, lookup(context))
    found = counter.within(scope, None)
    function = function_of(scope)
    while function is not None and not is_kernel(function) and (use := context.chosen.get(function)) is not None:
        more = counter.within(use.scope, None)
        same = [said(context.reader, function, other) for other in calls(context.reader, function)]
        found = Often(
            (*more.loops, *found.loops), found.sure and more.sure and same.count(said(context.reader, function, use)) == 1
        )
        function = function_of(use.scope)
    return found


class _Counter:
    def __init__(self, context: Context, lookup: Lookup) -> None:
        self.context, self.lookup, self.deep = context, lookup, 0
        self.reader: Declarer = context.reader

    def within(self, scope: Scope, outer: Scope | None) -> Often:
        """How often what stands in a scope runs, in one round of what is around another one, or of its function."""
        around = _around(scope, outer)
        loops: list[Loop] = []
        names: list[str] = []
        chosen: list[Sequence[int] | None] = []
        every = {inner.token: self.rounds(inner) for inner in around.loops}
        every |= {inner.token: (None, "", None) for inner in around.lambdas}
        for token, (rounds, name, each) in sorted(every.items(), key=lambda one: one[0]):
            loops.append(Loop(self.context.line(token), self.context.file(token), rounds, rounds))
            names.append(name)
            chosen.append(each)
        sure = not around.switches
        for test, wanted, where in around.tests:
            words = {token.text for token in self.reader.tokens[slice(*test)]}
            mine = [n for n, name in enumerate(names) if name in words]
            values = chosen[mine[0]] if len(mine) == 1 else None
            if values is not None and len(values) <= _TRIED:
                held = [self.truth(test, where, names[mine[0]], x) for x in values]
                sure = sure and None not in held
                chosen[mine[0]] = [x for x, holds in zip(values, held, strict=True) if holds is not (not wanted)]
            elif mine or self.truth(test, where) is not wanted:
                sure = False
        runs = [loop.rounds if values is None else len(values) for loop, values in zip(loops, chosen, strict=True)]
        return Often(tuple(loop._replace(runs=n) for loop, n in zip(loops, runs, strict=True)), sure)

    def truth(self, test: Range, scope: Scope, name: str = "", value: int = 0) -> bool | None:
        """Whether a condition holds, None where that is not known. name, value: of a variable of a loop."""
        env = opened(self.context, scope)
        if name:
            env = Env(env.scope, env.parent, {**env.args, name: value})
        with suppress(CuteVizError):
            return Evaluator(self.context, self.lookup, env).truth(self.context.tree(test))
        return None

    def number(self, part: Range | Node | None, scope: Scope) -> int | None:
        """The integer that tokens or a tree are in a scope, None where it is not known."""
        if part is None:
            return None
        try:
            node = self.context.tree(part) if isinstance(part, tuple) else part
            value = Evaluator(self.context, self.lookup, opened(self.context, scope)).solid(node)
        except LimitError:
            raise
        except CuteVizError:
            return None
        return int(value) if isinstance(value, int) and not isinstance(value, (bool, Unknown)) else None

    def rounds(self, statement: Statement) -> tuple[int | None, str, range | None]:
        """The rounds of a loop, its variable, and the values of that, where only the loop itself changes it."""
        loop = statement.yes
        where = loop.parent if loop is not None else None
        if loop is None or where is None or statement.kind not in ("for", "while") or statement.value is None or self.deep > _DEEP:
            return None, "", None
        self.deep += 1
        try:
            return self._rounds(statement, loop, where)
        except CuteVizError as error:
            if isinstance(error, LimitError):
                raise
            return None, "", None
        finally:
            self.deep -= 1

    def _rounds(self, statement: Statement, loop: Scope, where: Scope) -> tuple[int | None, str, range | None]:
        assert statement.value is not None
        test = self.context.tree(statement.value)
        if not isinstance(test, Binary) or test.operator not in _MIRRORED:
            return None, "", None
        name, word, end = _name(test.left), test.operator, test.right
        if not name:
            name, word, end = _name(test.right), _MIRRORED[word], test.left
        found = self.lookup.find(name, opened(self.context, loop), statement.value[0]) if name else None
        if found is None or len(found.declarations) != 1 or any(_left(self.reader, loop, self._end(statement))):
            return None, name, None
        declaration = found.declarations[0]
        bound = self.number(end, loop)
        noted = {x.token: x for x in declaration.scope.home.changes.get(name, ()) if x.token != declaration.token}
        changes = [x for x in noted.values() if declares(declaration, x.scope)]
        inside = [x for x in changes if x.scope.inside(loop)]
        header = [x for x in inside if statement.step is not None and statement.step[0] <= x.token < statement.step[1]]
        step = self._sum(inside, loop)
        if declaration.scope is loop:
            begin = self.number(declaration.init, where)
        else:
            begin = self._before(declaration, [x for x in changes if not x.scope.inside(loop)], statement, where)
        if bound is None or begin is None or not step:
            return None, name, None
        if word == "!=" and (bound - begin) % step == 0 and (bound - begin) * step >= 0:
            values = range(begin, bound, step)
        elif (word[0] == "<") == (step > 0) and word != "!=":
            values = range(begin, bound + (step > 0) * (word == "<=") - (step < 0) * (word == ">="), step)
        else:
            return None, name, None
        return len(values), name, values if len(header) == len(inside) else None

    def _before(self, declaration: Declaration, changes: list[Change], statement: Statement, where: Scope) -> int | None:
        """The value of a variable where a loop begins: what it begins with, and what steps before the loop add."""
        if loop_around(where, declaration.scope) is not None or declaration.kind != "variable":
            return None
        before = [x for x in changes if declaration.token < x.token < statement.token]
        begin = self.number(declaration.init, declaration.scope) if declaration.opens == "=" else None
        added = self._sum(before, declaration.scope)
        return None if begin is None or added is None else begin + added

    def _sum(self, changes: list[Change], outer: Scope) -> int | None:
        """What changes of a variable add to it in one round of a scope; None where one of them is no step, or runs nobody knows how
        often.
        """
        out = 0
        for change in changes:
            tokens, n = self.reader.tokens, change.token
            before, after = tokens[n - 1].kind, tokens[n + 1].kind
            step: int | None = {"++": 1, "--": -1}.get(before) or {"++": 1, "--": -1}.get(after)
            if step is None and after in ("+=", "-="):
                amount = self.number((n + 2, self.reader.find(n, (";", ")", ","))), change.scope)
                step = None if amount is None else amount if after == "+=" else -amount
            times = self.within(change.scope, outer).times if change.scope is not outer else 1
            if step is None or times is None:
                return None
            out += step * times
        return out

    def _end(self, statement: Statement) -> int:
        """The token behind the body of a loop."""
        tokens, at = self.reader.tokens, statement.token
        while tokens[at].kind != "(":
            at += 1
        at = self.reader.match[at] + 1
        while tokens[at].text in ("for", "while", "if") and tokens[at + 1].kind == "(":
            at = self.reader.match[at + 1] + 1
        return self.reader.match[at] if tokens[at].kind == "{" else self.reader.find(at, (";",))


def _left(reader: Declarer, loop: Scope, end: int) -> Iterator[bool]:
    """Whether words in a loop may leave it."""
    return (token.text in _LEAVING for token in reader.tokens[loop.token : end])


def _around(scope: Scope, outer: Scope | None) -> _Surroundings:
    out = _Surroundings([], [], [], [])
    here: Scope | None = scope
    while here is not None and here is not outer and here.kind in ("block", "lambda"):
        above = here.parent
        if here.kind == "lambda":
            out.lambdas.append(here)
        for statement in above.statements if above is not None else ():
            if (
                statement.kind == "if"
                and statement.value is not None
                and above is not None
                and here in (statement.yes, statement.no)
            ):
                out.tests.append((statement.value, statement.yes is here, above))
            elif statement.yes is here and here.flow == "loop":
                (out.switches if statement.kind == "switch" else out.loops).append(statement)
        here = above
    return out


def _name(node: Any) -> str:
    """The plain name that a tree is, "" of anything else."""
    while isinstance(node, Unary) and node.operator == "+":
        node = node.value
    return node.parts[0].name if isinstance(node, Id) and len(node.parts) == 1 and node.parts[0].args is None else ""
