"""Parameters of templates and functions: what was given for them, what their calls hand over, their defaults, their types."""

from __future__ import annotations

from typing import Any

from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.source.cpp.binding import as_argument, header
from cute_viz.source.cpp.context import needed
from cute_viz.source.cpp.elements import is_integer
from cute_viz.source.cpp.scopes import Param, Scope
from cute_viz.source.cpp.told import Told
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import Class, Enumerator, Env, External, Function, Lazy, Template, static, taken, typed
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

_INTEGERS = {"int", "unsigned", "long", "short", "char", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "Int", "float"}


class Parameters(Told):
    """The part of the evaluator that reads parameters."""

    def parameter(self, name: str, env: Env, span: Span) -> Any:
        """The value of a parameter that nothing binds: what was given for it, its default, for a function's its type."""
        scope = env.scope
        known = env.memo.get(("parameter", name))
        if isinstance(known, CuteVizError):
            raise known
        if known is None:
            try:
                known = Lazy(lambda: self._parameter(name, env, scope, span))
                env.memo["parameter", name] = known
                known()
            except CuteVizError as error:
                env.memo["parameter", name] = error
                raise
        return known()

    def _asked(self, param: Param) -> str:
        """What may be given for a template parameter: its kind, or `bool`."""
        begin, end = param.type or (0, 0)
        return "bool" if any(token.text == "bool" for token in self.context.reader.tokens[begin:end]) else param.kind

    def _parameter(self, name: str, env: Env, scope: Scope, span: Span) -> Any:
        param = next((x for x in scope.params or () if x.name == name), None)
        key = self.context.let(name, scope)
        chosen = scope in self.context.chosen and "::" not in (key or "")  # the call that is looked at wins over a plain name
        if (fact := self.context.facts.get((scope, name))) is not None and key is None:
            return self.of(fact, env)
        if (key is None or chosen) and scope.kind == "function" and name in (told := self.told(scope)):
            value = told[name]() if isinstance(told[name], Lazy) else told[name]
            if isinstance(value, Unknown) and scope not in self.context.chosen:
                return value.renamed(needed(self.context.text, name, span))
            return value
        if param is not None:
            if key is not None:
                return as_argument(self.inside(env).given(key, as_type=param.kind != "value"), param)
            if param.default is not None and not self.is_deduced(name, scope):
                return as_argument(self.of(param.default, header(env)), param)
            raise self.untold(name, scope, needed(self.context.text, name, span, self._asked(param)))
        if key is not None:
            return self.inside(env).given(key, as_type=False)
        argument = next(x for x in scope.arguments if x.name == name)
        return self._argument_alone(argument, env, span)

    def _argument_alone(self, param: Param, env: Env, span: Span) -> Any:
        """The value of a function's parameter whose type has one value only, such as a static layout."""
        begin, end = param.type or (0, 0)
        words = {token.text for token in self.context.reader.tokens[begin:end]}
        asked = "bool" if "bool" in words else "value" if words & _INTEGERS or not words else "type"
        why = self.untold(param.name, env.scope, needed(self.context.text, param.name, span, asked))
        if param.type is not None:
            try:
                kind = self.known(self.of(param.type, env), span)
            except LimitError:
                raise
            except CuteVizError as error:
                if error.needs and param.name not in error.needs and any(x.name in error.needs for x in env.scope.params or ()):
                    raise self.untold(param.name, env.scope, error.but(needs=(*error.needs, param.name))) from None
                raise why from None
            if is_integer(kind):
                return unknown(why, part=param.name)
            if isinstance(kind, Class) and kind.env.scope.kind == "enum":
                raise why
            if isinstance(kind, (Class, Pointer)) or not isinstance(kind, (ValueType, Template, Function, Enumerator, bool, float)):
                return typed(kind, why, param.name)
        raise why

    def given(self, key: str, as_type: bool) -> Any:
        """What was given under a key, read where it is used; a type has static integers."""
        context = self.context
        context.given.used.add(key)
        value = context.given.let[key]
        memo = ("let", key)
        if memo in self.env.memo:
            value = self.env.memo[memo]
        elif isinstance(value, str):
            context.enter(Span(0, 0))
            try:
                value = self._given_text(key, value)
            finally:
                context.leave()
            self.env.memo[memo] = value
        else:
            value = taken(value) if not isinstance(value, ValueType) else value
        return static(value) if as_type else value

    def _given_text(self, key: str, value: str) -> Any:
        context = self.context
        try:
            text, tree = context.given_tree(key)
            other = self.inside(self.env)
            other.text = text
            out = other.value(tree)
            return out if not isinstance(out, External) or out.error is None else other.known(out, tree.span)
        except CuteVizError as error:
            raise error.but(name=f"`let={key}`", needs=()) from None
