"""Functions that change what they compute with: their statements run one after the other, over cells that hold values.

What is not read, or depends on what nobody knows, makes everything that it could have changed unknown, with its cause: never
a value.
"""

from __future__ import annotations

from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.source.cpp.cells import Kept
from cute_viz.source.cpp.cursor import HARMLESS
from cute_viz.source.cpp.lookup import Meaning, within
from cute_viz.source.cpp.numbers import number
from cute_viz.source.cpp.operands import is_number
from cute_viz.source.cpp.scopes import Declaration, Range, Scope, Statement
from cute_viz.source.cpp.tree import Call, Id, Node
from cute_viz.source.cpp.values import CELL, Cell, Class, Closure, Env, Items, Value, copied, integer
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType

_LEAVING = frozenset(("return", "break", "continue", "goto", "throw"))
_Way = tuple[str, Value]  # how a statement is left: `return` with a value, `break`, `continue`


class Running(Kept):
    """The part of the evaluator that carries out statements."""

    def run(self, statements: list[Statement], env: Env) -> _Way | None:
        """Statements, one after the other; how they are left, None at their end. Raises: the error of a condition that is not
        known, where it decides whether they are left.
        """
        for statement in statements:
            self.context.step(self._span(statement))
            try:
                way = self._execute(statement, env)
            except LimitError:
                raise
            except CuteVizError as error:
                if self._leaves(statement):
                    raise
                self._forget(statement, env, error)
                continue
            if way is not None:
                return way
        return None

    def _execute(self, statement: Statement, env: Env) -> _Way | None:
        kind = statement.kind
        here = self.inside(env)
        if kind == "return":
            return "return", self._returned(statement, env)
        if kind in ("break", "continue"):
            return kind, None
        if kind == "block":
            assert statement.yes is not None
            return self.run(statement.yes.statements, self._opened(statement.yes, env))
        if kind == "if":
            assert statement.value is not None
            block = statement.yes if here.truth(self.context.tree(statement.value)) else statement.no
            return self.run(block.statements, self._opened(block, env)) if block is not None else None
        if env.cells is None:  # nothing changes here: a variable is read where it is asked for
            if kind == "switch":
                return self._switch(statement, env)
            if kind in ("for", "while", "do", "other") and self._leaves(statement):
                raise self.fail("cannot determine what a loop returns", self._span(statement))
            return None
        if kind == "expression":
            assert statement.value is not None
            self._evaluated(self.context.tree(statement.value), here)
        elif kind == "declare":
            for declaration in statement.declared:
                self._declare(declaration, env, statement)
        elif kind == "switch":
            return self._switch(statement, env)
        elif kind in ("for", "while", "do"):
            return self._loop(statement, env)
        elif kind != "case":
            raise self.fail("this statement is not supported", self._span(statement))
        return None

    def _returned(self, statement: Statement, env: Env) -> Value:
        assert statement.value is not None
        branch = self.context.reader.source.branch(statement.token)
        if branch is not None and branch is not self.context.reader.source.branch(env.scope.home.token):
            raise branch.error("the value returned here", self.context.text)
        if statement.value[0] >= statement.value[1]:
            return None
        value = self.inside(env).value(self.context.tree(statement.value))
        return copied(value, self.context.budget) if env.cells is not None else value

    def _opened(self, scope: Scope, env: Env) -> Env:
        if env.cells is None:
            return within(env, scope)
        inner = Env(scope, env)
        inner.cells = {}
        return inner

    def _loop(self, statement: Statement, env: Env) -> _Way | None:
        assert statement.yes is not None
        outer = self._opened(statement.yes, env)
        if statement.kind == "for":
            assert statement.no is not None
            body = statement.no
            self.run(statement.yes.statements, outer)  # what it begins with
        else:
            body, outer = statement.yes, env
        here = self.inside(outer)
        test = None if statement.value is None else self.context.tree(statement.value)
        again = statement.kind == "do"
        while again or test is None or here.truth(test):
            again = False
            self.context.step(self._span(statement))
            way = self.run(body.statements, self._opened(body, outer))
            if way is not None and way[0] == "break":
                break
            if way is not None and way[0] == "return":
                return way
            if statement.step is not None:
                self._evaluated(self.context.tree(statement.step), here)
        return None

    def _switch(self, statement: Statement, env: Env) -> _Way | None:
        assert statement.value is not None
        assert statement.yes is not None
        asked = integer(self.inside(env).known(self.inside(env).value(self.context.tree(statement.value)), self._span(statement)))
        inner = self._opened(statement.yes, env)
        inside = statement.yes.statements
        start = next((n for n, x in enumerate(inside) if x.kind == "case" and x.value is None), len(inside))
        for n, case in enumerate(inside):
            if case.kind == "case" and case.value is not None:
                value = integer(self.inside(inner).value(self.context.tree(case.value)))
                if not isinstance(value, int) or not isinstance(asked, int):
                    raise self.fail("this is not a known integer", self._span(case))
                if int(value) == int(asked):
                    start = n
                    break
        way = self.run(inside[start:], inner)
        return None if way is not None and way[0] == "break" else way

    # Variables

    def _declare(self, declaration: Declaration, env: Env, statement: Statement) -> None:
        """A variable where its declaration is reached."""
        assert env.cells is not None
        reader, here = self.context.reader, self.inside(env)
        tokens = reader.tokens
        span = tokens[declaration.token].span
        text = {token.text for token in tokens[slice(*declaration.type)]} if declaration.type else set()
        if declaration.static and "constexpr" not in text and not declaration.constant:
            env.cells[declaration.name] = Cell(self.fail(f"{declaration.name!r} keeps its value from call to call", span))
            return
        if tokens[declaration.token - 1].kind in ("&", "&&") and declaration.init is not None and declaration.place is None:
            target = here.place(self.context.tree(declaration.init))
            if target is not None:
                env.cells[declaration.name] = target
                return
        kind = here.value(self.context.tree(declaration.type)) if declaration.type and is_number(text) else None
        cell = Cell(None, kind if isinstance(kind, ValueType) and not declaration.pointer else None)
        if declaration.array:
            cell.value = self._items(declaration, env, cell.kind)
        else:
            budget = self.context.budget
            try:
                cell.value = self._object(copied(here.variable(declaration, declaration.init, declaration.opens), budget), span)
            except LimitError:
                raise
            except CuteVizError as error:
                cell.value = error
            if isinstance(cell.value, (CuteVizError, Unknown)) and declaration.init is not None and self._effects(declaration.init):
                cause = cell.value if isinstance(cell.value, CuteVizError) else cell.value.error()
                self._forget(statement, env, cause)
        env.cells[declaration.name] = cell

    def _object(self, value: Value, span: Span) -> Value:
        if not isinstance(value, Class) or value.env.cells is not None or value.env.scope.kind != "class":
            return value
        varies = any(x.kind == "variable" and not x.static for x in value.env.scope.declarations)
        return self.aggregate(value, (), span) if varies else value

    def _items(self, declaration: Declaration, env: Env, kind: ValueType | None) -> Items:
        """An array of numbers."""
        reader, here = self.context.reader, self.inside(env)
        opening = declaration.token + 1
        close = reader.match[opening]
        span = reader.tokens[declaration.token].span
        if kind is None or reader.tokens[close + 1].kind == "[":
            raise self.fail(f"{declaration.name!r} is an array that cannot be evaluated", span)
        values = []
        if declaration.init is not None:
            begin, end = declaration.init
            if declaration.opens == "=":
                begin, end = begin + 1, end - 1
            values = [here.converted(here.value(self.context.tree(part)), kind, span) for part in reader.split(begin, end)]
        count = len(values) if close == opening + 1 else integer(here.value(self.context.tree((opening + 1, close))))
        if not isinstance(count, int) or not len(values) <= count <= 4096:
            raise self.fail(f"{declaration.name!r} is an array that cannot be evaluated", span)
        rest = (
            number(0, (32, True))
            if declaration.init is not None
            else self.fail(f"an element of {declaration.name!r} has no value", span)
        )
        self.context.budget.made(CELL * int(count), self.context.text, span)
        return Items([Cell(value, kind) for value in values] + [Cell(rest, kind) for _ in range(int(count) - len(values))])

    # What is not read

    def _evaluated(self, node: Node, here: Meaning) -> None:
        """An expression for its effects: a call of what is not in the file has none on a variable, but through a reference."""
        if isinstance(node, Call) and isinstance(node.function, Id) and node.function.parts[-1].name in HARMLESS:
            return
        here.value(node)

    def _span(self, statement: Statement) -> Span:
        return self.context.reader.tokens[statement.token].span

    def _leaves(self, statement: Statement) -> bool:
        tokens = self.context.reader.tokens[statement.token : max(statement.end, statement.token + 1)]
        found = {token.text for token in tokens} & _LEAVING
        if statement.kind in ("for", "while", "do", "switch"):
            found -= {"break", "continue"} if statement.kind != "switch" else {"break"}
        return bool(found)

    def _effects(self, part: Range) -> bool:
        kinds = {token.kind for token in self.context.reader.tokens[slice(*part)]}
        return bool(kinds & {"++", "--", "=", "("} or any(len(kind) > 1 and kind[-1] == "=" for kind in kinds))

    def _forget(self, statement: Statement, env: Env, error: CuteVizError) -> None:
        """All that a statement names is not known any more; what a lambda in it may change, neither."""
        if env.cells is None:
            return
        names = {token.text for token in self.context.reader.tokens[statement.token : max(statement.end, statement.token + 1)]}
        cells = list(self._visible(env))
        through = any(name in names and isinstance(cell.value, (Closure, Class)) for name, cell in cells)
        for name, cell in cells:
            if name in names or through:
                self.lose(cell, error, name in env.scope.home.changes)
        for declaration in statement.declared:
            env.cells.setdefault(declaration.name, Cell(error))
