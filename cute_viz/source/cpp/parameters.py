"""Parameters of templates and functions: what was given for them, what is the same in all calls, their defaults, their types."""

from __future__ import annotations

from functools import partial

from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError, Span
from cute_viz.source.cpp.binding import as_argument, bound, deduced, header
from cute_viz.source.cpp.context import Use, all_uses, needed
from cute_viz.source.cpp.elements import is_integer, same
from cute_viz.source.cpp.instances import WHOLE, Instances
from cute_viz.source.cpp.lookup import opened
from cute_viz.source.cpp.pointed import KERNEL, pointers, says
from cute_viz.source.cpp.scopes import Param, Scope
from cute_viz.source.cpp.slices import is_layout
from cute_viz.source.cpp.unknown import attempted, tried, unknown
from cute_viz.source.cpp.values import (
    Class,
    Enumerator,
    Env,
    External,
    Function,
    Later,
    Lazy,
    Template,
    Value,
    asked,
    finished,
    static,
    taken,
    typed,
)
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType

_USES = 16  # calls of one function that are compared
_INTEGERS = {"int", "unsigned", "long", "short", "char", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "Int", "float"}


class Parameters(Instances):
    """The part of the evaluator that reads parameters, and looks at the calls that tell them."""

    def told(self, scope: Scope) -> dict[str, Later]:
        """The parameters of a function as the calls in the file have them, those that are known and the same in all."""
        known = self.context.told.get(scope)
        if known is not None:
            return known
        self.context.told[scope] = {}
        self.context.untold.setdefault(scope, {})
        chosen = self.context.chosen.get(scope)
        uses = all_uses(self.context.reader, scope) if chosen is None else [chosen]
        found = [self._told_by(scope, use) for use in uses] if len(uses) <= _USES else []
        out = self.context.told[scope] = found[0] if found else {}
        for other in found[1:]:
            for name in [x for x in {**out, **other} if x not in out or x not in other or not _alike(out[x], other[x])]:
                why = _missing(out.pop(name, None)) or _missing(other.get(name)) or self._differs(name, scope, uses)
                self.context.untold[scope].setdefault(name, why)
        return out

    def untold(self, name: str, scope: Scope, error: CuteVizError) -> CuteVizError:
        """Why the calls do not tell a parameter; the error where nothing calls its function."""
        why = self.context.untold.get(scope, {}).get(name)
        return error if why is None else why.but(needs=tuple(dict.fromkeys((*why.needs, name))))

    def is_deduced(self, name: str, scope: Scope) -> bool:
        """Whether a call says what a template parameter is, though not in a way that is known: its default does not count."""
        return name in self.context.untold.get(scope, {})

    def _differs(self, name: str, scope: Scope, uses: list[Use]) -> CuteVizError:
        """The error of a parameter that several calls give different values."""
        callers = {use.scope.path[-1]: self.context.line(use.token) for use in uses if use.scope.path}
        where = " and ".join(f"{caller} (line {line})" for caller, line in list(callers.items())[:4])
        caller = next(iter(callers), "CALLER")
        token = next((x.token for x in (*scope.arguments, *(scope.params or ())) if x.name == name), scope.token)
        return self.fail(
            f"{name!r} differs between the calls of {scope.name} in {where}",
            self.context.reader.tokens[token].span,
            hint=f"name the caller: `name={caller}::{scope.name}::NAME`; or give a value: `let={name}=...`",
            needs=(name,),
        )

    def _told_by(self, scope: Scope, use: Use) -> dict[str, Later]:
        """The parameters of a function as one call has them, those that are known."""
        out: dict[str, Later] = {}
        if scope.parent is None or len(use.arguments) > len(scope.arguments):
            return out
        caller = opened(self.context, use.scope)
        values: list[Value] = []
        try:
            given = [(partial(self.of, part, caller)) for part in use.template]
            out.update(bound(self, scope.params or (), [tried(value, Lazy(value)) for value in given], WHOLE))
        except CuteVizError:
            return out
        for param, part in zip(scope.arguments, use.arguments, strict=False):
            value = attempted(lambda part=part: self.known(self.of(part, caller), WHOLE))  # type: ignore[misc]
            values.append(None if isinstance(value, (CuteVizError, Unknown)) else value)
            if isinstance(value, CuteVizError):
                self._lost(param, scope, value)
            else:
                out[param.name] = value
        pointers(self.inside(caller), scope, use, values)
        out.update((param.name, x) for param, x in zip(scope.arguments, values, strict=False) if isinstance(x, Pointer))
        types = dict(out)
        self._deduced_from(scope, values, types)
        for param in scope.params or ():
            if param.name in types:
                out[param.name] = types[param.name]
        return out

    def _lost(self, param: Param, scope: Scope, error: CuteVizError) -> None:
        untold, tokens = self.context.untold[scope], self.context.reader.tokens
        words = {token.text for token in tokens[slice(*param.type)]} if param.type else set()
        for name in (param.name, *(x.name for x in scope.params or () if x.name in words)):
            untold.setdefault(name, error)

    def _deduced_from(self, scope: Scope, values: list[Value], out: dict[str, Later]) -> None:
        inner = self.inside(opened(self.context, scope.parent))
        for param, value in zip(scope.arguments, values, strict=False):
            if value is not None:
                one = Scope("function", "", scope.parent, scope.token, params=scope.params, arguments=(param,))
                deduced(inner, one, [value], out)

    def parameter(self, name: str, env: Env, span: Span) -> Value:
        """The value of a parameter that nothing binds: what was given for it, its default, for a function's its type."""
        if ("parameter", name) not in env.memo:
            env.memo["parameter", name] = Lazy(partial(self._parameter, name, env, env.scope, span))
        value: Value = env.memo["parameter", name]()
        return value

    def _asked(self, param: Param) -> str:
        """What may be given for a template parameter: its kind, or `bool`."""
        begin, end = param.type or (0, 0)
        return "bool" if any(token.text == "bool" for token in self.context.reader.tokens[begin:end]) else param.kind

    def _parameter(self, name: str, env: Env, scope: Scope, span: Span) -> Value:
        param = next((x for x in scope.params or () if x.name == name), None)
        context = self.context
        key = context.let(name, scope)
        # the call that is looked at wins over a plain name, but for a kernel's template: others have names of that kind, too
        chosen = scope in context.chosen and "::" not in (key or "") and not (param and says(context.reader, scope, KERNEL))
        if (fact := self.context.facts.get((scope, name))) is not None and key is None:
            return self.of(fact, env)
        if (key is None or chosen) and scope.kind in ("function", "lambda") and name in (told := self.told(scope)):
            value = asked(told[name])
            if isinstance(value, Unknown) and scope not in self.context.chosen:
                return value.renamed(needed(self.context.text, name, span))
            return value
        if param is not None:
            if key is not None:
                return as_argument(self, self.inside(env).given(key, as_type=param.kind != "value"), param, env.args)
            if param.default is not None and not self.is_deduced(name, scope):
                return as_argument(self, self.of(param.default, header(env)), param, env.args)
            raise self.untold(name, scope, needed(self.context.text, name, span, self._asked(param)))
        if key is not None:
            return self.inside(env).given(key, as_type=False)
        argument = next(x for x in scope.arguments if x.name == name)
        return self._argument_alone(argument, env, span)

    def _argument_alone(self, param: Param, env: Env, span: Span) -> Value:
        """The value of a function's parameter whose type has one value only, such as a static layout."""
        begin, end = param.type or (0, 0)
        words = {token.text for token in self.context.reader.tokens[begin:end]}
        asked = "bool" if "bool" in words else "value" if words & _INTEGERS or not words else "type"
        why = self.untold(param.name, env.scope, needed(self.context.text, param.name, span, asked))
        if param.type is not None:
            kind = attempted(lambda: self.known(self.of(param.type, env), span))
            if isinstance(kind, CuteVizError):
                needs = kind.needs if param.name not in kind.needs else ()
                if any(x.name in needs for x in env.scope.params or ()):
                    raise self.untold(param.name, env.scope, kind.but(needs=(*needs, param.name)))
                raise why
            if is_integer(kind):
                return unknown(why, part=param.name)
            if isinstance(kind, Class) and kind.env.scope.kind == "enum":
                raise why
            if isinstance(kind, (Class, Pointer)) or not isinstance(kind, (ValueType, Template, Function, Enumerator, bool, float)):
                return typed(kind, why, param.name)
        raise why

    def given(self, key: str, as_type: bool) -> Value:
        """What was given under a key, read where it is used; a type has static integers."""
        context = self.context
        context.given.used.add(key)
        memo = ("let", key)
        if memo not in self.env.memo and isinstance(text := context.given.let[key], str):
            context.enter(Span(0, 0))
            try:
                self.env.memo[memo] = self._given_text(key, text)
            finally:
                context.leave()
        value: Value = self.env.memo[memo] if memo in self.env.memo else taken(context.given.let[key])
        context.given_layouts |= is_layout(value)
        return static(value) if as_type else value

    def _given_text(self, key: str, value: str) -> Value:
        context = self.context
        try:
            text, tree = context.given_tree(key)
            other = self.inside(self.env)
            other.text = text
            out = other.value(tree)
            return out if not isinstance(out, External) or out.error is None else other.known(out, tree.span)
        except CuteVizError as error:
            raise error.but(name=f"`let={key}`", needs=()) from None


def _alike(a: Later, b: Later) -> bool:
    """Whether two values that calls give are the same, static integers and all; of those that are not known nothing is."""

    def alike(a: Value, b: Value) -> bool:
        return bool(same(a, b)) and (isinstance(a, Class) or show(finished(a)) == show(finished(b)))

    return tried(lambda: alike(asked(a), asked(b)), False)


def _missing(value: Later) -> CuteVizError | None:
    try:
        asked(value)
    except CuteVizError as error:
        return error if error.needs else None
    return None
