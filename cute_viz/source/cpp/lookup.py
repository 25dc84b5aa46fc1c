"""Which declaration a name means at its place, in the scopes around, in bases, in namespaces that are used; what the parts of the
evaluator ask of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.preprocess import excludes
from cute_viz.source.cpp.scopes import Change, Declaration, Range, Scope, outward
from cute_viz.source.cpp.tree import Binary, Node, Part
from cute_viz.source.cpp.values import HELPERS, Cell, Class, Closure, Env, Function, Later, Value, asked
from cute_viz.values.examples import hint_for
from cute_viz.values.types import ValueType

_BASES = 200  # of one class, and theirs: `struct A<T> : A<A<T>>` never ends


class Found(NamedTuple):
    """What a name means: a parameter (`value` gives it), or declarations where they are."""

    env: Env
    declarations: tuple[Declaration, ...] = ()
    value: Callable[[], Value] | None = None


def within(env: Env, scope: Scope | None) -> Env:
    """A scope in an environment, without arguments of its own."""
    assert scope is not None
    child = env.children.get(scope)
    if child is None:
        child = env.children[scope] = Env(scope, env)
    return child


def opened(context: Context, scope: Scope | None) -> Env:
    """The environment of a scope as it is in the file: parameters are what is given, or their defaults."""
    if scope is None or scope.parent is None:
        return context.root
    return within(opened(context, scope.parent), scope)


class Lookup:
    """Names in the scopes of a file; `base` evaluates what a class derives from."""

    def __init__(self, context: Context, base: Callable[[Env, tuple[int, int]], Value]) -> None:
        self.context = context
        self._base = base

    def find(self, name: str, env: Env, position: int | None) -> Found | None:
        """What an unqualified name means at a token; None where the file does not say."""
        around: Env | None = env
        while around is not None:
            if name in around.args:
                return Found(around, value=partial(asked, around.args[name]))
            found = self.member(name, around, position)
            if found is not None:
                return found
            scope = around.scope
            for param in (*scope.arguments, *(scope.params or ())):
                if param.name == name:
                    return Found(around)
            around = around.parent
        return None

    def declared(self, name: str, env: Env, position: int | None) -> Declaration | None:
        """The first declaration of what an unqualified name means at a token; None of a parameter, or where the file has none."""
        found = self.find(name, env, position)
        return found.declarations[0] if found is not None and found.declarations else None

    def member(self, name: str, env: Env, position: int | None = None) -> Found | None:
        """What a name means in one scope: its declarations, those of its bases, of the namespaces that it uses."""
        found = self._own(name, env, position)
        if found is not None:
            return found
        if env.scope.kind == "class" and env.scope.bases and not env.asking_bases:
            for other in self.lineage(env):
                if (found := self._own(name, other, None)) is not None:
                    return found
        return self._used(name, env) if env.scope.using else None

    def _own(self, name: str, env: Env, position: int | None) -> Found | None:
        here = env.scope.names.get(name)
        chosen = self._chosen(here, env.scope, position) if here else ()
        return Found(env, chosen) if chosen else None

    def _used(self, name: str, env: Env) -> Found | None:
        """What a name means in the namespaces that a scope uses, and in those that they use."""
        waiting, seen = [env], {env}
        while waiting:
            user = waiting.pop()
            for using in user.scope.using:
                target = self.namespace(using.split("::"), user) if using else self._unnamed(user)
                if target is None or target in seen:
                    continue
                if (found := self._own(name, target, None)) is not None:
                    return found
                seen.add(target)
                waiting.append(target)
        return None

    def lineage(self, env: Env) -> list[Env]:
        """The classes of the file that a class derives from, and those that they derive from, each once."""
        known = env.memo.get("lineage")
        if known is None:
            known, waiting, seen = [], self.bases(env)[::-1], {env}
            while waiting:
                other = waiting.pop()
                if other not in seen:
                    seen.add(other)
                    known.append(other)
                    if len(known) > _BASES:
                        span = self.context.reader.tokens[env.scope.token].span
                        raise LimitError(f"a class with more than {_BASES} bases", text=self.context.text, span=span)
                    waiting += self.bases(other)[::-1]
            env.memo["lineage"] = known
        return list(known)

    def _unnamed(self, env: Env) -> Env | None:
        for declaration in env.scope.names.get("", ()):
            if declaration.kind == "namespace" and declaration.inner is not None:
                return within(env, declaration.inner)
        return None

    def namespace(self, words: list[str], env: Env) -> Env | None:
        """The namespace of the file that words mean, seen from a scope."""
        for around in outward(env):
            target: Env | None = around
            for word in words:
                inner = next((x.inner for x in target.scope.names.get(word, ()) if x.kind == "namespace"), None) if target else None
                target = within(target, inner) if target is not None and inner is not None else None
            if target is not None:
                return target
        return None

    def helper(self, name: str) -> Found | None:
        """A helper of CUTLASS that `helpers.hpp` has, where the text has that behind it."""
        return self.packaged(name, HELPERS)

    def packaged(self, name: str, space: str) -> Found | None:
        """A name of a namespace that is read behind the text; None where it is not behind it."""
        if space not in self.context.packaged:
            reader = self.context.reader
            found = [
                x.inner for scope in (reader.file, *reader.functions[:1]) for x in scope.names.get(space, ())
            ]  # a line is a function
            self.context.packaged[space] = opened(self.context, found[0]) if found and found[0] is not None else None
        env = self.context.packaged[space]
        return None if env is None else self.member(name, env)

    def bases(self, env: Env) -> list[Env]:
        """The classes of the file that a class derives from; others are left out."""
        known = env.memo.get("bases")
        if known is None:
            env.asking_bases = True
            known = []
            try:
                for part in env.scope.bases:
                    try:
                        value = self._base(env, part)
                    except CuteVizError:
                        continue
                    if isinstance(value, Class):
                        known.append(value.env)
            finally:
                env.asking_bases = False
            env.memo["bases"] = known
        return list(known)

    def _chosen(self, here: list[Declaration], scope: Scope, position: int | None) -> tuple[Declaration, ...]:
        """Of several declarations of a scope those that a name means."""
        if scope.local:
            seen = [x for x in here if position is None or (x.token < position and not _begins(x, position))]
            if seen and seen[-1].kind != "function" and excludes(seen[-1].branch, seen[0].branch) is None:
                return (seen[-1],)
            return tuple(seen)
        here = [x for x in here if position is None or not _begins(x, position)]
        if len(here) == 1:
            return () if here[0].kind == "function" and here[0].name == scope.name else (here[0],)
        out = [x for x in here if not (x.kind == "function" and x.name == scope.name)]
        classes = [x for x in out if x.kind == "class"]
        if classes:
            out = [x for x in out if x.kind not in ("forward", "function")]
        return tuple(out)


def _begins(declaration: Declaration, position: int) -> bool:
    return declaration.kind == "alias" and declaration.init is not None and declaration.init[0] <= position < declaration.init[1]


def change_before(declaration: Declaration, position: int | None, user: Scope) -> Change | None:
    """The last assignment to a local variable that a place of the text sees; None where its initializer holds. Raises: nothing;
    a change that may or may not have happened has no value."""
    last: Change | None = None
    for change in declaration.scope.home.changes.get(declaration.name, ()):
        if change.within or change.token < declaration.token or not declares(declaration, change.scope):
            continue
        if position is not None and change.value is not None and change.token <= position < change.value[1]:
            continue  # what it is made of still sees what was before
        loop = loop_around(change.scope, declaration.scope)
        if seen_later(declaration, change, user):
            return Change(change.token, change.scope, None)
        if loop is None and _apart(change.scope, user):
            continue
        if position is not None and change.token >= position and not (loop is not None and user.inside(loop)):
            continue
        sure = (
            change.scope is declaration.scope
            or not _branches(change.scope, declaration.scope)
            or (position is not None and user.inside(change.scope) and loop is None)
        )
        last = change if sure and change.value is not None else Change(change.token, change.scope, None)
    return last


def seen_later(declaration: Declaration, change: Change, user: Scope) -> bool:
    """Whether a place is in a lambda that is called behind a change, as far as anybody knows."""
    closed = (x for x in outward(user, declaration.scope) if x.kind == "lambda")
    return any(change.token > x.token and not change.scope.inside(x) for x in closed)


def _apart(one: Scope, user: Scope) -> bool:
    """Whether two places are in the two branches of an `if`, of which only one runs."""
    held = [(around, around.holder) for around in outward(one) if around.flow == "if"]
    others = [x.no if x.yes is around else x.yes for around, x in held if x is not None]
    return any(other is not None and user.inside(other) for other in others)


def declares(declaration: Declaration, scope: Scope) -> bool:
    """Whether the name in a scope is this declaration, not one of a block between."""
    between = outward(scope, declaration.scope)
    hidden = any(declaration.name in x.names or any(param.name == declaration.name for param in x.arguments) for x in between)
    return not hidden and scope.inside(declaration.scope)


def loop_around(scope: Scope, outer: Scope) -> Scope | None:
    """The outermost loop (or lambda) between a scope and one around it."""
    return next((x for x in reversed(list(outward(scope, outer))) if x.flow == "loop" or x.kind == "lambda"), None)


def _branches(scope: Scope, outer: Scope) -> bool:
    """Whether what is in a scope may run otherwise than once in one around it."""
    return any(x.flow or x.kind != "block" for x in outward(scope, outer))


def changed(declaration: Declaration, text: str, span: Span) -> NotationError:
    """The error of a variable whose value depends on what is not read."""
    name = declaration.name
    return NotationError(
        f"the value of {name!r} depends on how the program runs", text=text, span=span, hint=hint_for(name), needs=(name,)
    )


class Meaning(Protocol):
    """An evaluator of trees in one environment; `Evaluator` and its bases have what each of these does."""

    context: Context
    lookup: Lookup
    env: Env
    text: str

    def position(self, span: Span) -> int | None: ...
    def value(self, node: Node) -> Value: ...
    def solid(self, node: Node) -> Value: ...
    def argument(self, node: Node) -> Value: ...
    def arguments(self, nodes: tuple[Node, ...]) -> list[Value]: ...
    def solids(self, nodes: tuple[Node, ...]) -> list[Value]: ...
    def fail(self, message: str, span: Span, hint: str | None = None, needs: tuple[str, ...] = ()) -> NotationError: ...
    def operate(self, name: str, operands: list[Value], template: tuple[Value, ...] = ()) -> Value: ...
    def inside(self, env: Env) -> Meaning: ...
    def of(self, part: Range | None, env: Env) -> Value: ...
    def type_member(self, value: Value, part: Part, span: Span) -> Value: ...
    def apply(self, function: Value, args: tuple[Node, ...], span: Span) -> Value: ...
    def called(self, function: Function, args: list[Value], span: Span, cells: tuple[Cell | None, ...] = ()) -> Value: ...
    def closed(self, closure: Closure, args: list[Value], span: Span, cells: tuple[Cell | None, ...] = ()) -> Value: ...
    def place(self, node: Node) -> Cell | None: ...
    def cell(self, name: str) -> Cell | None: ...
    def combined(self, operator: str, left: Value, right: Value, node: Binary) -> Value: ...
    def aggregate(self, kind: Class, args: tuple[Node, ...], span: Span) -> Class: ...
    def given(self, key: str, as_type: bool) -> Value: ...
    def known(self, value: Value, span: Span) -> Value: ...
    def truth(self, node: Node) -> bool: ...
    def lazily(self, nodes: tuple[Node, ...]) -> list[Later]: ...
    def made(self, kind: Value, args: tuple[Node, ...], span: Span) -> Value: ...
    def converted(self, value: Value, kind: ValueType, span: Span) -> Value: ...
    def unexpanded(self, name: str, span: Span) -> NotationError: ...
    def specialised(self, scope: Scope, values: list[Later]) -> Class | None: ...
    def variable(self, declaration: Declaration, init: Range | None, opens: str) -> Value: ...
    def meant(self, found: Found, part: Part, span: Span) -> Value: ...
    def special(self, specs: list[Scope], values: list[Later], span: Span) -> Class | None: ...
