"""The variables of functions that run: where a value is kept, what assigns to it, and what makes it unknown."""

from __future__ import annotations

from collections.abc import Iterator

from cute_viz.errors import CuteVizError, Span
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.numbers import kind_of, number
from cute_viz.source.cpp.scopes import Scope, outward
from cute_viz.source.cpp.tree import Binary, Condition, Id, Index, Member, Node, Unary
from cute_viz.source.cpp.values import Cell, Class, Enumerator, Env, Items, Value, copied
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType


class Kept(Meaning):
    """The part of the evaluator that keeps what changes."""

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
        if isinstance(node, Id) and len(node.parts) == 1 and node.parts[0].args is None:
            return self.cell(node.parts[0].name)
        if isinstance(node, Member):
            held = self.value(node.object)
            return held.env.cells.get(node.part.name) if isinstance(held, Class) and held.env.cells is not None else None
        if isinstance(node, Index):
            items, at = self.value(node.value), self.value(node.index)
            if isinstance(items, Items):
                if not isinstance(at, int) or not 0 <= at < len(items.cells):
                    raise self.fail("this index is not one of the array", node.span)
                return items.cells[int(at)]
        if isinstance(node, Unary) and node.operator in ("++", "--"):
            self.value(node)
            return self.place(node.value)
        if isinstance(node, Binary) and node.operator[-1] == "=" and node.operator not in ("==", "!=", "<=", ">=", "<=>"):
            self.value(node)
            return self.place(node.left)
        if isinstance(node, Condition):
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
        old = cell.value
        if isinstance(old, bool) and isinstance(value, (int, Unknown)):
            return self.converted(value, ValueType("bool"), span)
        if isinstance(old, int) and isinstance(value, int) and not isinstance(old, bool):
            return number(value, kind_of(old))
        return value

    def lose(self, cell: Cell, error: CuteVizError, changes: bool = False) -> None:
        """A number is not known any more; a layout, or what else no function of CuTe's changes, only where it is assigned to."""
        if isinstance(cell.value, Items):
            for item in cell.value.cells:
                item.value = error
        elif isinstance(cell.value, Class) and cell.value.env.cells is not None:
            for member in cell.value.env.cells.values():
                self.lose(member, error)
        elif changes or isinstance(cell.value, (int, float, Unknown, Enumerator)):
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
