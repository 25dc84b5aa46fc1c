"""Variables with their types, and calls of functions of the file: their parameters bound, their statements followed to a return."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, NotationError, Span, raised_again
from cute_viz.source.cpp.binding import bound, deduced, defaulted, key_of, key_of_call, sees_cells
from cute_viz.source.cpp.context import Context, needed, takes
from cute_viz.source.cpp.elements import is_integer
from cute_viz.source.cpp.lookup import Found, Lookup, within
from cute_viz.source.cpp.numbers import is_numeric
from cute_viz.source.cpp.operands import BUILTIN, is_number
from cute_viz.source.cpp.pointed import pointed_type
from cute_viz.source.cpp.running import Running
from cute_viz.source.cpp.scopes import Declaration, Param, Range, Scope
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Brace, Node
from cute_viz.source.cpp.unknown import attempted, tried, unknown
from cute_viz.source.cpp.values import (
    Cell,
    Class,
    Closure,
    Enumerator,
    Env,
    Function,
    Items,
    Value,
    copied,
    element_type,
    typed,
    zeroed,
)
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType

_DEDUCED = words("Tensor Layout TiledCopy TiledMMA ThrCopy ThrMMA ComposedLayout Copy_Atom MMA_Atom tuple")


class Functions(Running):
    """The part of the evaluator that reads variables and calls functions."""

    def __init__(self, context: Context, lookup: Lookup, env: Env) -> None:
        self.context = context
        self.lookup = lookup
        self.env = env
        self.text = context.text

    def fail(self, message: str, span: Span, hint: str | None = None, needs: tuple[str, ...] = ()) -> NotationError:
        """The error at a place in the text; the caller raises it."""
        return NotationError(message, text=self.text, span=span, hint=hint, needs=needs)

    def namespace(self, found: Found) -> Env:
        """The environment of a namespace that was found."""
        return within(found.env, found.declarations[0].inner)

    def variable(self, declaration: Declaration, init: Range | None, opens: str) -> Value:
        """The value of a variable of this scope whose initializer is given."""
        tokens = self.context.reader.tokens
        span = tokens[declaration.token].span
        assert declaration.type is not None
        if declaration.place is not None:
            return self._part_of(declaration, init, span)
        if declaration.pointer or declaration.array:
            return self._pointed(declaration, init)
        value = self._initialised(declaration, init, opens, span)
        if isinstance(value, Tensor) and not value.pointer.name:
            begun, apart = value.pointer, f"+{declaration.name}"  # what begins elsewhere in a buffer is another tile of it
            if begun.placed and isinstance(begun.offset, int):
                apart = f"+{int(begun.offset) * value.bits // 8}" if begun.offset else ""
            base = f"{begun.base}{apart}" or declaration.name
            value = replace(value, pointer=replace(value.pointer, base=base, name=declaration.name))
        return value

    def _pointed(self, declaration: Declaration, init: Range | None) -> Pointer:
        """A pointer, or what an array decays to: the type of its elements, and the buffer that it points into."""
        value = tried(
            lambda: self.of(init, self.env) if init is not None and init[0] < init[1] and not declaration.array else None, None
        )
        out = value if isinstance(value, Pointer) else Pointer(base=declaration.name)
        kind = tried(lambda: pointed_type(self, declaration.type) if declaration.type else "", "")
        out = out.of(ValueType(kind)) if kind else out
        return replace(out, space="smem") if declaration.array and "__shared__" in self._words(declaration) else out

    def _words(self, declaration: Declaration) -> list[str]:
        tokens, at, out = self.context.reader.tokens, declaration.token, []
        while at > 0 and tokens[at - 1].kind not in (";", "{", "}"):
            at -= 1
            out.append(tokens[at].text)
        return out

    def _initialised(self, declaration: Declaration, init: Range | None, opens: str, span: Span) -> Value:
        """The value that a variable begins with."""
        tokens = self.context.reader.tokens
        assert declaration.type is not None
        first = tokens[declaration.type[0]].text
        deduced_type = first == "auto" or self._is_template(declaration.type)
        if init is None or init[0] >= init[1]:
            return self._without(declaration, opens, span)
        kind = None if deduced_type else tried(partial(self.of, declaration.type, self.env), None)  # which matters to numbers alone
        if isinstance(kind, Class) and kind.env.scope.kind == "class" and opens in ("(", "{"):
            given = tuple(self.context.tree(part) for part in self.context.reader.split(*init))
            whole = self.value(given[0]) if len(given) == 1 else None
            return whole if isinstance(whole, Class) else self.made(kind, given, span)
        if opens == "(":
            trees: list[Node] = [self.context.tree(part) for part in self.context.reader.split(*init)]
            if deduced_type and len(trees) == 1:
                return self.solid(trees[0])
            return self.made(self.known(kind, span), tuple(trees), span)
        if opens == "{":
            trees = [self.context.tree(part) for part in self.context.reader.split(*init)]
            if len(trees) != 1:
                if kind is None:
                    raise self.fail("this construction from values is not supported", span)
                return self.made(kind, tuple(trees), span)
            value_tree = trees[0]
        else:
            value_tree = self.context.tree(init)
        if isinstance(value_tree, Brace) and value_tree.type is None:
            if kind is None:
                raise self.fail("this construction from values is not supported", span)
            return self.made(kind, value_tree.args, span)
        value = attempted(lambda: self.solid(value_tree))
        if isinstance(value, CuteVizError):
            if not is_integer(kind) or "constexpr" in self._words(declaration):
                raise value  # of the number of a type, too, which `?` cannot stand for
            return unknown(value, f"{declaration.name}@{declaration.token}")
        if isinstance(kind, ValueType):
            return self.converted(value, kind, span)
        return kind if isinstance(kind, int) and isinstance(value, int) else value

    def _is_template(self, part: Range) -> bool:
        """Whether a type is a template's name alone, whose arguments follow from the value: `Tensor a = ...`."""
        last = self.context.reader.tokens[part[1] - 1]
        return last.text in _DEDUCED

    def _without(self, declaration: Declaration, opens: str, span: Span) -> Value:
        """The value of a variable that nothing initializes: that of its type, where the type has one value."""
        kind = self.known(self.of(declaration.type, self.env), span)
        if opens == "{":
            return zeroed(kind, needed(self.context.text, declaration.name, span))
        return typed(kind, needed(self.context.text, declaration.name, span))

    def _part_of(self, declaration: Declaration, init: Range | None, span: Span) -> Value:
        """A name of `auto [a, b] = x;`."""
        assert init is not None
        assert declaration.place is not None
        value = self.solid(self.context.tree(init))
        match value:
            case tuple() if declaration.place < len(value):
                return value[declaration.place]
        raise self.fail(f"cannot determine the parts of {show(value)}", span)

    def unexpanded(self, name: str, span: Span) -> NotationError:
        """The error of a macro of the file that stands for nothing: defined in several ways, or for statements."""
        count = len(self.context.reader.source.macros[name])
        return self.fail(f"the macro {name!r} is {f'defined {count} times' if count > 1 else 'no expression'}", span)

    def called(self, function: Function, args: list[Value], span: Span, cells: tuple[Cell | None, ...] = ()) -> Value:
        """The value that a function of the file returns. Raises: where it is not read which one is called, or what it returns.
        cells: where the arguments are kept, for parameters that are references.
        """
        fitting: list[tuple[Declaration, Env]] = []
        for declaration in function.declarations:
            scope = declaration.inner
            if scope is None or not takes(scope, len(args)):
                continue
            own = bound(self, scope.params or (), list(function.args), span) if function.args else {}
            if not deduced(self.inside(function.env), scope, args, own):
                continue
            fitting.append((declaration, Env(scope, function.env, own)))
        name = function.declarations[0].name
        bodies = [(declaration, env) for declaration, env in fitting if declaration.static]
        if not bodies:
            raise self.fail(f"{name!r} is not defined for these arguments in this file", span)
        if len(bodies) > 1:
            plain = [(declaration, env) for declaration, env in bodies if not declaration.params]
            if len(plain) != 1:
                raise self.fail(f"cannot determine which {name!r} is called", span, hint=f"it is defined {len(bodies)} times")
            bodies = plain
        declaration, env = bodies[0]
        scope = env.scope
        called = key_of_call(args)
        if called is None or sees_cells(function.env) or not all(param.constant for param in scope.arguments):
            return self._called(declaration, env, args, span, cells)
        key = (declaration, key_of(list(env.args.values())), called)
        if key in function.env.memo:
            known = function.env.memo[key]
            return copied(raised_again(known)[0], self.context.budget)
        try:
            value = self._called(declaration, env, args, span, ())
        except CuteVizError as error:
            function.env.memo[key] = error
            raise
        function.env.memo[key] = (value,)
        return value

    def _called(self, declaration: Declaration, env: Env, args: list[Value], span: Span, cells: tuple[Cell | None, ...]) -> Value:
        self._arguments(env.scope, env, args, cells)
        defaulted(self.inside(env), env.scope.params or (), env.args, env)
        value = self._carried_out(env, span, cells)
        return value if declaration.type is None else self._returned_type(value, declaration, env, span)

    def _carried_out(self, env: Env, span: Span, cells: tuple[Cell | None, ...]) -> Value:
        """What a function or a lambda returns; what it may have changed is not known where it is not read."""
        self.context.enter(span)
        try:
            way = self.run(env.scope.statements, env)
        except CuteVizError as error:
            if env.cells is not None and env.parent is not None:
                self.forget_all(env.parent, list(cells), error)
            raise
        finally:
            self.context.leave()
        if way is None and env.cells is None:
            raise self.fail(f"{env.scope.name or 'this'!r} has no result that can be read", span)
        return None if way is None else way[1]

    def _returned_type(self, value: Value, declaration: Declaration, env: Env, span: Span) -> Value:
        assert declaration.type is not None
        tokens = self.context.reader.tokens
        if tokens[declaration.type[0]].text in BUILTIN or tokens[declaration.type[1] - 1].text.endswith("_t"):
            kind = self.inside(env).value(self.context.tree(declaration.type))
            if isinstance(kind, ValueType) and is_numeric(value):
                return self.converted(value, kind, span)
        return value

    def _arguments(self, scope: Scope, env: Env, args: list[Value], cells: tuple[Cell | None, ...]) -> None:
        """Bind the parameters of a function; one that changes its variables has them in cells."""
        tokens = self.context.reader.tokens
        runs = bool(scope.changes)
        if runs:
            env.cells = {}
        for n, param in enumerate(scope.arguments):
            if param.pack:
                env.args[param.name] = tuple(args[n:])
                break
            kind: ValueType | None = None
            words = {token.text for token in tokens[slice(*param.type)]} if param.type else set()
            if n < len(args):
                value = args[n]
                cell = cells[n] if n < len(cells) else None
                if cell is not None and env.cells is not None and self.by_reference(param):
                    env.cells[param.name] = cell
                    continue
                varies = runs and cell is None and not param.constant and isinstance(value, (int, Unknown, Items))
                if varies and sees_cells(self.env):
                    raise self.fail(f"cannot determine which object {param.name!r} refers to", tokens[param.token].span)
            elif param.default is not None:
                value = self.of(param.default, env)
            else:
                continue
            if is_number(words) and not words & {"*", "["} and param.type is not None:
                begin, end = param.type
                while (end > begin and tokens[end - 1].kind in ("&", "&&")) or tokens[end - 1].text in ("const", "volatile"):
                    end -= 1
                kind = element_type(self.inside(env).value(self.context.tree((begin, end))))
                if kind is not None and (is_numeric(value) or isinstance(value, Enumerator)):
                    value = self.converted(value, kind, tokens[param.token].span)
            if env.cells is None:
                env.args[param.name] = value
            else:
                env.cells[param.name] = Cell(copied(value, self.context.budget), kind)

    def by_reference(self, param: Param) -> bool:
        """Whether a parameter is a reference."""
        return any(token.kind in ("&", "&&") for token in self.context.reader.tokens[slice(*(param.type or (0, 0)))])

    def closed(self, closure: Closure, args: list[Value], span: Span, cells: tuple[Cell | None, ...] = ()) -> Value:
        """The value that a lambda returns."""
        scope = closure.scope
        if not takes(scope, len(args)):
            raise self.fail(f"a lambda of {len(scope.arguments)} parameters is called with {len(args)}", span)
        env = Env(scope, closure.env)
        deduced(self.inside(closure.env), scope, args, env.args)
        self._arguments(scope, env, args, cells)
        return self._carried_out(env, span, cells)
