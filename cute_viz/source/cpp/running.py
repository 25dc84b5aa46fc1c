"""Functions that change what they compute with: their statements run one after the other, over cells that hold values: where a
value is kept, what assigns to it, and what makes it unknown.

What is not read, or depends on what nobody knows, makes everything that it could have changed unknown, with its cause: never
a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cute_viz.errors import CuteVizError, Span
from cute_viz.source.cpp.cursor import HARMLESS
from cute_viz.source.cpp.lookup import Meaning, within
from cute_viz.source.cpp.numbers import kind_of, number
from cute_viz.source.cpp.operands import is_number
from cute_viz.source.cpp.scopes import Declaration, Range, Scope, Stmt, outward
from cute_viz.source.cpp.tree import COMPARE, Binary, Condition, Id, Index, Member, Node, Unary
from cute_viz.source.cpp.unknown import attempted
from cute_viz.source.cpp.values import CELL, Cell, Class, Closure, Enumerator, Env, Items, Value, copied, element_type, integer
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType

_LEAVING = frozenset(("return", "break", "continue", "goto", "throw"))
_Way = tuple[str, Value]  # how a statement is left: `return` with a value, `break`, `continue`


class Running(Meaning):
    """The part of the evaluator that carries out statements, and keeps what changes."""

    def run(self, statements: list[Stmt], env: Env) -> _Way | None:
        """Statements, one after the other; how they are left, None at their end. Raises: the error of a condition that is not
        known, where it decides whether they are left."""
        for statement in statements:
            self.context.step(self._span(statement))
            way = attempted(partial(self._execute, statement, env))
            if isinstance(way, CuteVizError):
                if self._leaves(statement):
                    raise way
                self._forget(statement, env, way)
            elif way is not None:
                return way
        return None

    def _execute(self, statement: Stmt, env: Env) -> _Way | None:
        here = self.inside(env)
        match statement.kind:
            case "return":
                return "return", self._returned(statement, env)
            case "break" | "continue":
                return statement.kind, None
            case "block":
                return self._block(statement.yes, env)
            case "if":
                return self._block(statement.yes if here.truth(self.context.tree(statement.value)) else statement.no, env)
            case "switch":
                return self._switch(statement, env)
            case "for" | "while" | "do" | "other" | "goto" if env.cells is None and self._leaves(statement):
                raise self.fail("cannot determine what a loop returns", self._span(statement))
            case _ if env.cells is None or statement.kind == "case":  # nothing changes: a variable is read where it is asked for
                return None
            case "expression":
                self._evaluated(self.context.tree(statement.value), here)
            case "declare":
                for declaration in statement.declared:
                    self._declare(declaration, env, statement)
            case "for" | "while" | "do":
                return self._loop(statement, env)
            case _:
                raise self.fail("this statement is not supported", self._span(statement))
        return None

    def _returned(self, statement: Stmt, env: Env) -> Value:
        branch = self.context.reader.source.branch(statement.token)
        if branch is not None and branch is not self.context.reader.source.branch(env.scope.home.token):
            raise branch.error("the value returned here", self.context.text)
        if statement.value is None or statement.value[0] >= statement.value[1]:
            return None
        value = self.inside(env).value(self.context.tree(statement.value))
        return copied(value, self.context.budget) if env.cells is not None else value

    def _block(self, scope: Scope | None, env: Env) -> _Way | None:
        return None if scope is None else self.run(scope.statements, self._opened(scope, env))

    def _opened(self, scope: Scope, env: Env) -> Env:
        if env.cells is None:
            return within(env, scope)
        inner = Env(scope, env)
        inner.cells = {}
        return inner

    def _loop(self, statement: Stmt, env: Env) -> _Way | None:
        body, outer = statement.yes, env
        if statement.kind == "for" and statement.yes is not None:
            body, outer = statement.no, self._opened(statement.yes, env)
            self.run(statement.yes.statements, outer)  # what it begins with
        here = self.inside(outer)
        test = None if statement.value is None else self.context.tree(statement.value)
        again = statement.kind == "do"
        while again or test is None or here.truth(test):
            again = False
            self.context.step(self._span(statement))
            way = self._block(body, outer)
            if way is not None and way[0] != "continue":
                return way if way[0] == "return" else None
            if statement.step is not None:
                self._evaluated(self.context.tree(statement.step), here)
        return None

    def _switch(self, statement: Stmt, env: Env) -> _Way | None:
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

    def _declare(self, declaration: Declaration, env: Env, statement: Stmt) -> None:
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
        numbers = declaration.type is not None and is_number(text) and not declaration.pointer
        cell = Cell(None, element_type(here.value(self.context.tree(declaration.type))) if numbers else None)
        if declaration.array:
            cell.value = self._items(declaration, env, cell.kind)
        else:
            budget, begins = self.context.budget, partial(here.variable, declaration, declaration.init, declaration.opens)
            cell.value = attempted(lambda: self._object(copied(begins(), budget), span))
            cause = cell.value.error() if isinstance(cell.value, Unknown) else cell.value
            if isinstance(cause, CuteVizError) and declaration.init is not None and self._effects(declaration.init):
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
        values: list[Value] = []
        rest: Value | CuteVizError = self.fail(f"an element of {declaration.name!r} has no value", span)
        if declaration.init is not None:
            begin, end = declaration.init
            if declaration.opens == "=":
                begin, end = begin + 1, end - 1
            values = [here.converted(here.value(self.context.tree(part)), kind, span) for part in reader.split(begin, end)]
            rest = number(0, (32, True))
        count = len(values) if close == opening + 1 else integer(here.value(self.context.tree((opening + 1, close))))
        if not isinstance(count, int) or not len(values) <= count <= 4096:
            raise self.fail(f"{declaration.name!r} is an array that cannot be evaluated", span)
        self.context.budget.made(CELL * int(count), self.context.text, span)
        return Items([Cell(value, kind) for value in values] + [Cell(rest, kind) for _ in range(int(count) - len(values))])

    # What is not read

    def _evaluated(self, node: Node, here: Meaning) -> None:
        """An expression for its effects: a call of what is not in the file has none on a variable, but through a reference."""
        if node.called not in HARMLESS:
            here.value(node)

    def _span(self, statement: Stmt) -> Span:
        return self.context.reader.tokens[statement.token].span

    def _leaves(self, statement: Stmt) -> bool:
        tokens = self.context.reader.tokens[statement.token : max(statement.end, statement.token + 1)]
        found = {token.text for token in tokens} & _LEAVING
        if statement.kind in ("for", "while", "do", "switch"):
            found -= {"break", "continue"} if statement.kind != "switch" else {"break"}
        return bool(found)

    def _effects(self, part: Range) -> bool:
        kinds = {token.kind for token in self.context.reader.tokens[slice(*part)]}
        return bool(kinds & {"++", "--", "=", "("} or any(len(kind) > 1 and kind[-1] == "=" for kind in kinds))

    def _forget(self, statement: Stmt, env: Env, error: CuteVizError) -> None:
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

    # Cells

    def cell(self, name: str) -> Cell | None:
        """The variable of a running function, or the member of an object, that a name means here."""
        env: Env | None = self.env
        while env is not None:
            if env.cells is not None:
                if name in env.cells:
                    return env.cells[name]
            elif name in env.scope.names or name in env.args:
                return None
            env = env.parent
        return None

    def place(self, node: Node) -> Cell | None:
        """Where the value of a tree is kept, if it is a variable, a member or an element that can change."""
        match node:
            case Id():
                return self.cell(node.plain)
            case Member():
                held = self.value(node.object)
                return held.env.cells.get(node.part.name) if isinstance(held, Class) and held.env.cells is not None else None
            case Index():
                items, at = self.value(node.value), self.value(node.index)
                if not isinstance(items, Items):
                    return None
                if not isinstance(at, int) or not 0 <= at < len(items.cells):
                    raise self.fail("this index is not one of the array", node.span)
                return items.cells[int(at)]
            case Unary(operator="++" | "--"):
                self.value(node)
                return self.place(node.value)
            case Binary(operator=operator) if operator[-1] == "=" and operator not in COMPARE and operator != "<=>":
                self.value(node)
                return self.place(node.left)
            case Condition():
                return self.place(node.yes if self.truth(node.test) else node.no)
        return None

    def assigned(self, node: Binary) -> Value:
        """`a = b`, `a += b`."""
        right = self.known(self.value(node.right), node.right.span)
        cell = self._changed(node.left)
        if node.operator != "=":
            right = self.combined(node.operator[:-1], cell.read(), right, node)
        cell.value = self._fitting(copied(right, self.context.budget), cell, node.span)
        return cell.value

    def stepped(self, node: Unary) -> Value:
        """`++a`, `a++`."""
        cell = self._changed(node.value)
        before = cell.read()
        after = self.combined(node.operator[-1], before, number(1, (32, True)), Binary(node.span, "+", node.value, node.value))
        cell.value = self._fitting(after, cell, node.span)
        return before if node.operator[0] == "x" else cell.value

    def swapped(self, a: Cell, b: Cell) -> None:
        """`std::swap(a, b)`."""
        first, second = a.read(), b.read()
        a.value, b.value = second, first

    def _changed(self, node: Node) -> Cell:
        cell = self.place(node)
        if cell is None:
            raise self.fail("what this changes is not read", node.span)
        return cell

    def _fitting(self, value: Value, cell: Cell, span: Span) -> Value:
        """A value as the type of a variable has it; of `auto` that of what it began with."""
        if cell.kind is not None:
            return self.converted(value, cell.kind, span)
        match cell.value, value:
            case bool(), int() | Unknown():
                return self.converted(value, ValueType("bool"), span)
            case int(old), int():
                return number(value, kind_of(old))
        return value

    def lose(self, cell: Cell, error: CuteVizError, changes: bool = False) -> None:
        """A number is not known any more; a layout, or what else no function of CuTe's changes, only where it is assigned to."""
        match cell.value:
            case Items(cells=cells):
                for item in cells:
                    item.value = error
            case Class(env=Env(cells=dict() as cells)):
                for member in cells.values():
                    self.lose(member, error)
            case int() | float() | Unknown() | Enumerator():
                cell.value = error
            case _ if changes:
                cell.value = error

    def _visible(self, env: Env | None) -> Iterator[tuple[str, Cell]]:
        for around in outward(env):
            yield from (around.cells or {}).items()

    def forget_all(self, env: Env, cells: list[Cell | None], error: CuteVizError) -> None:
        """What a call that was not read may have changed: what it was given to change, and all around a lambda."""
        for cell in (*cells, *(cell for _, cell in self._visible(env))):
            if cell is not None:
                self.lose(cell, error)

    def captured(self, scope: Scope, env: Env) -> Env:
        """What a lambda sees: what it captures by value is a copy."""
        reader = self.context.reader
        begin, end = scope.token + 1, reader.match[scope.token]
        copies: dict[str, Cell] = {}
        for first, last in reader.split(begin, end):
            text = reader.tokens[first].text
            if text == "=":
                copies |= {
                    name: cell.copy(self.context.budget) for name, cell in reversed(list(self._visible(env))) if name not in copies
                }
            elif text not in ("&", "this", "*") and reader.tokens[first].kind == "name":
                if first + 1 < last and reader.tokens[first + 1].kind == "=":
                    copies[text] = Cell(copied(self.inside(env).value(self.context.tree((first + 2, last))), self.context.budget))
                elif (cell := self.inside(env).cell(text)) is not None:
                    copies[text] = cell.copy(self.context.budget)
            elif text == "&" and last == first + 2 and reader.tokens[first + 1].text in copies:
                del copies[reader.tokens[first + 1].text]
        if not copies:
            return env
        inner = Env(Scope("header", "", scope.parent, scope.token), env)
        inner.cells = copies
        return inner
