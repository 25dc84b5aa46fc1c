"""What declarations stand for: aliases, variables and their last values, classes of templates and their arguments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, Span, raised_again
from cute_viz.source.cpp.binding import bound, defaulted
from cute_viz.source.cpp.context import Context, function_of
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.elements import is_integer, same
from cute_viz.source.cpp.instances import WHOLE
from cute_viz.source.cpp.lookup import Found, change_before, changed, declares, loop_around, seen_later, within
from cute_viz.source.cpp.parameters import Parameters
from cute_viz.source.cpp.preprocess import excludes
from cute_viz.source.cpp.scopes import Change, Declaration, Range, Scope, outward
from cute_viz.source.cpp.slices import known_part
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.unknown import tried, unknown
from cute_viz.source.cpp.values import Class, Enumerator, Env, External, Function, Later, Template, Thread, Value, integer
from cute_viz.values.integer import Unknown

_READERS = frozenset(("sscanf", "scanf", "cin"))  # what reads a number from outside
_ARGUMENTS = frozenset(("argc", "argv"))


def settled(
    context: Context, declaration: Declaration, position: int, user: Scope, holds: Callable[[Range], bool | None]
) -> Range | None:
    """The tokens of the value that a variable has at a place; None where it changes in a way that is not read, such as in a loop.
    user: the block of the place. holds: whether a condition holds, None where that is not known.
    """
    reader = context.reader
    last = declaration.init
    for change in declaration.scope.home.changes.get(declaration.name, ()):
        if change.within:
            continue
        loop = loop_around(change.scope, declaration.scope)
        again = loop is not None and user.inside(loop)  # what comes behind the place was before it, the time before
        if not declaration.token < change.token or not change.scope.inside(declaration.scope):
            continue
        if seen_later(declaration, change, user):
            return None
        if change.token >= position and not again:
            continue
        taken = _taken(reader, change.scope, declaration.scope, holds)
        if taken is False or _reads(reader, change):
            continue
        if taken is None or change.value is None:
            return None
        last = change.value
    return last


def _taken(reader: Declarer, scope: Scope, outer: Scope, holds: Callable[[Range], bool | None]) -> bool | None:
    """Whether a program without arguments comes through the blocks between two scopes; None where that is not known."""
    out: bool | None = True
    for around in outward(scope, outer):
        if around.flow == "if" and around.parent is not None:
            held = around.holder
            if held is None or held.value is None:
                return None
            if any(token.text in _ARGUMENTS for token in reader.tokens[slice(*held.value)]):
                return False
            found = holds(held.value)
            if found is not None and found is not (held.yes is around):
                return False
            out = out if found is not None else None
        elif around.flow or around.kind != "block":
            out = None
    return out


def _reads(reader: Declarer, change: Change) -> bool:
    at = change.token
    while at > 0 and reader.tokens[at - 1].kind not in (";", "{", "}"):
        at -= 1
    return any(token.text in _READERS for token in reader.tokens[at : change.token])


_BUSY = object()


def _anywhere(x: Tensor) -> Tensor:
    return replace(x, pointer=replace(x.pointer, offset=0, placed=True, address=None))


class Definitions(Parameters):
    """The part of the evaluator that reads declarations."""

    def position(self, span: Span) -> int | None:
        """The token at a place of the file; None in a text that is none of it."""
        if self.text is not self.context.text:
            return None
        return bisect_left(self.context.reader.starts, span.start)

    def meant(self, found: Found, part: Part, span: Span) -> Value:
        """The value of what a name was found to mean, with its template arguments."""
        if found.value is not None:
            return self.applied(found.value(), part.args, span)
        if not found.declarations:
            return self.applied(self.parameter(part.name, found.env, span), part.args, span)
        first = found.declarations[0]
        scope = found.env.scope
        if (key := self.context.let(part.name, scope)) is not None and first.kind not in ("function", "namespace"):
            return self.applied(self.given(key, as_type=first.kind in ("alias", "class", "using")), part.args, span)
        if first.kind == "function":
            return Function(tuple(found.declarations), found.env, tuple(self.lazily(part.args or ())))
        if len(found.declarations) == 1:
            return self.definition(first, found.env, part.args, span)
        return self._agreed(found, part, span)

    def _agreed(self, found: Found, part: Part, span: Span) -> Value:
        """The value of a name that several branches of the preprocessor define: they must agree."""
        first = found.declarations[0]
        for other in found.declarations[1:]:
            branch = excludes(other.branch, first.branch)
            if branch is None and not (other.kind == first.kind == "using"):
                raise self._several(found, part, span)
        values, problem = [], None
        for declaration in found.declarations:
            try:
                values.append(self.definition(declaration, found.env, part.args, span))
            except CuteVizError as error:
                problem = error
                break
        if len(values) == len(found.declarations) and all(same(values[0], value) for value in values[1:]):
            return values[0]
        branch = next((x.branch for x in found.declarations if x.branch is not None), None)
        if branch is None:
            raise self._several(found, part, span)
        if problem is not None and set(problem.needs) & set(branch.names):
            raise problem
        raise branch.error(f"the value of {part.name!r}", self.context.text)

    def _several(self, found: Found, part: Part, span: Span) -> CuteVizError:
        places = ", ".join(str(self.context.line(x.token)) for x in found.declarations[:6])
        return self.fail(f"{part.name!r} is defined {len(found.declarations)} times: lines {places}", span)

    def applied(self, value: Value, args: tuple[Node, ...] | None, span: Span) -> Value:
        """A value with template arguments behind its name."""
        if args is None:
            return value
        match value:
            case Template():
                return self.definition(value.declaration, value.env, args, span)
            case External():
                return External(value.name, tuple(self.argument(item) for item in args), value.error)
            case Class(env=Env(scope=scope, parent=Env() as around)) if scope.params is not None:
                owner = next((x for x in around.scope.names.get(scope.name, ()) if x.kind == "class"), None)
                if owner is not None:
                    return self.definition(owner, around, args, span)
        raise self.fail("this is not a template", span)

    def definition(self, declaration: Declaration, env: Env, args: tuple[Node, ...] | None, span: Span) -> Value:
        """The value of a declaration in an environment."""
        kind = declaration.kind
        if declaration.mixed is not None:
            raise declaration.mixed.error(f"the value of {declaration.name!r}", self.context.text)
        if kind == "class":
            return self._class(declaration, env, args, span)
        if kind == "forward":
            specs = self.context.reader.specialisations.get((declaration.scope, declaration.name), ())
            if args is not None and specs:
                special = self.special(list(specs), self._full(declaration, env, args, span), span)
                if special is not None:
                    return special
            given = tuple(self.argument(item) for item in args) if args is not None else None
            error = self.fail(
                f"{declaration.name!r} is declared here and not defined", self.context.reader.tokens[declaration.token].span
            )
            return External("::".join((*declaration.scope.path, declaration.name)), given, error)
        if kind == "object":
            return Class(within(env, declaration.inner))
        if declaration.params is not None:
            if args is None and kind in ("alias", "variable"):
                return Template(declaration, env)
            return self._instance(declaration, env, self.lazily(args or ()), span)
        change = None
        if kind == "variable" and not declaration.constant and declaration.scope.kind in ("file", "namespace"):
            written = [x for x in self.context.reader.writes(declaration.name) if not x.within and declares(declaration, x.scope)]
            if written:  # by a function, which runs nobody knows when
                return self._uncertain(declaration, env, written[0].token)
        if declaration.scope.local and kind == "variable":
            at = self.position(span) if span is not WHOLE else None
            change = change_before(declaration, at, self.env.scope)
            branch = self.context.reader.source.branch(change.token) if change is not None else None
            if branch is not None and branch is not declaration.branch:
                raise branch.error(f"the value of {declaration.name!r}", self.context.text)
            function = function_of(declaration.scope)
            if function is not None and (fact := self.context.facts.get((function, declaration.name))) is not None:
                return self.of(fact, env)
            if self.context.assumed is not None and change is not None and change.value is None:
                return self._assumed(declaration, env, change.token if at is None else at, span)
        value = self._remembered(declaration, env, span, change)
        if isinstance(value, Unknown) and (kind == "loop" or (change is not None and change.value is None)):
            return value.turned(key=f"{declaration.name}@{declaration.token}@{self.position(span)}")  # another one at every place
        return value

    def _full(self, declaration: Declaration, env: Env, args: tuple[Node, ...], span: Span) -> list[Later]:
        assert declaration.params is not None
        own = bound(self, declaration.params, self.lazily(args), span)
        inner = Env(Scope("alias", declaration.name, declaration.scope, declaration.token, params=declaration.params), env, own)
        defaulted(self.inside(inner), declaration.params, own, inner)
        return [own[param.name] for param in declaration.params if param.name in own]

    def _remembered(self, declaration: Declaration, env: Env, span: Span, change: Change | None) -> Value:
        key = (declaration, change.token if change else None)
        known = env.memo.get(key)
        if known is _BUSY:
            raise self.fail(f"{declaration.name!r} refers to itself", span)
        if known is not None:
            remembered: Value = raised_again(known)[0]
            return remembered
        env.memo[key] = _BUSY
        self.context.enter(span)
        try:
            if change is not None:
                if change.value is None:
                    value = self._uncertain(declaration, env, change.token)
                else:
                    value = self.inside(env).variable(declaration, change.value, "=")
            elif declaration.kind in ("alias", "using"):
                value = self.of(declaration.init, env)
            elif declaration.kind == "enumerator":
                value = self._enumerator(declaration, env)
            elif declaration.kind == "enum":
                value = Class(within(env, declaration.inner))
            elif declaration.kind == "loop":
                value = self._uncertain(declaration, env, declaration.token)
            else:
                value = self.inside(env).variable(declaration, declaration.init, declaration.opens)
        except CuteVizError as error:
            env.memo[key] = error
            raise
        except RecursionError:
            env.memo.pop(key, None)
            raise
        finally:
            self.context.leave()
        env.memo[key] = (value,)
        return value

    def _assumed(self, declaration: Declaration, env: Env, position: int, span: Span) -> Value:
        """A number as it is where the program is run without arguments; an unknown one where it changes in other ways."""
        known = env.memo.get((declaration, "assumed", position))
        if known is None:
            steps = settled(self.context, declaration, position, self.env.scope, lambda test: self._holds(test, env))
            if steps is None:
                return self._uncertain(declaration, env, declaration.token)
            self.context.enter(span)
            try:
                value = self.inside(env).variable(declaration, steps, declaration.opens if steps == declaration.init else "=")
            finally:
                self.context.leave()
            known = env.memo[declaration, "assumed", position] = (value,)
            if steps == declaration.init and isinstance(value, int):
                assert self.context.assumed is not None
                told, line = self.context.assumed[declaration.name] = (str(int(value)), self.context.line(steps[0]))
                other = f"`let={declaration.name}=...` gives another"
                self.context.given.notes[f"{declaration.name} = {told} (line {line}), as without arguments; {other}"] = None
        return known[0]

    def _holds(self, test: Range, env: Env) -> bool | None:
        """Whether a condition holds; None where that is not known."""
        return tried(lambda: self.inside(env).truth(self.context.tree(test)), None)

    def _uncertain(self, declaration: Declaration, env: Env, token: int) -> Value:
        """A variable whose value depends on how the program runs: of an integer's type an int that is not known."""
        error = changed(declaration, self.context.text, self.context.reader.tokens[token].span)
        plain = declaration.type is not None and not declaration.array and not declaration.pointer
        if plain and is_integer(tried(partial(self.of, declaration.type, env), None)):
            return unknown(error)
        if (tensor := self._moving(declaration, env)) is not None:
            return tensor
        raise error

    def _moving(self, declaration: Declaration, env: Env) -> Value:
        """A variable that is a tensor which only moves: one of the places where it is; None of any other. A function that takes
        a reference to a tensor changes its elements, or where it is."""
        changes = declaration.scope.home.changes.get(declaration.name, ())
        parts = [declaration.init, *[change.value for change in changes if not change.within and change.call is None]]
        if declaration.kind != "variable" or None in parts:
            return None
        found = tried(lambda: [self.inside(env).variable(declaration, part, "=") for part in parts], [])
        lost: list[CuteVizError] = []
        tensors = [x for x in (known_part(x, lost) for x in found) if isinstance(x, Tensor)]
        if not tensors or len(tensors) < len(parts) or any(_anywhere(x) != _anywhere(tensors[0]) for x in tensors):
            return None
        out = replace(tensors[0], pointer=tensors[0].pointer.moved(0, known=False))
        return Thread(out, lost[0]) if lost else out

    def _enumerator(self, declaration: Declaration, env: Env) -> Enumerator:
        scope = declaration.scope
        if declaration.init is not None:
            value = (
                self.solid(self.context.tree(declaration.init))
                if env.scope is self.env.scope
                else self.known(self.of(declaration.init, env), self.context.span(declaration.init))
            )
            number = int(integer(value))
        else:
            place = declaration.place or 0
            before = next((x for x in scope.declarations[place - 1 :: -1] if x.init is not None), None) if place else None
            number = place
            if before is not None:
                number += int(integer(self.definition(before, env, None, WHOLE))) - (before.place or 0)
        return Enumerator("::".join(scope.path), declaration.name, number)
