"""Parameters of templates and functions: what was given for them, what their calls hand over, their defaults, their types."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.elements import ValueType
from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.source.cpp.binding import as_argument, bound, deduced, header
from cute_viz.source.cpp.context import needed
from cute_viz.source.cpp.elements import is_integer
from cute_viz.source.cpp.instances import WHOLE, Instances
from cute_viz.source.cpp.lookup import opened
from cute_viz.source.cpp.pointed import pointers
from cute_viz.source.cpp.scopes import Param, Range, Scope
from cute_viz.source.cpp.uses import only_call
from cute_viz.source.cpp.values import (
    Class,
    Enumerator,
    Env,
    External,
    Function,
    Lazy,
    Pointer,
    Template,
    certain,
    static,
    taken,
    unknown,
)


class Parameters(Instances):
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

    def _parameter(self, name: str, env: Env, scope: Scope, span: Span) -> Any:
        param = next((x for x in scope.params or () if x.name == name), None)
        key = self.context.let(name, scope)
        chosen = scope in self.context.chosen and "::" not in (key or "")  # the call that is looked at wins over a plain name
        if (fact := self.context.facts.get((scope, name))) is not None and key is None:
            return self.of(fact, env)
        if (key is None or chosen) and scope.kind == "function" and name in (told := self._told(scope)):
            value = told[name]
            return value() if isinstance(value, Lazy) else value
        if key is None and (cause := self._cause(scope, param, name)) is not None:
            if param is None and self._counts(scope, name, env):
                return unknown(cause)
            raise cause
        if param is not None:
            if key is not None:
                return as_argument(self.inside(env).given(key, as_type=param.kind != "value"), param)
            if param.default is not None:
                return as_argument(self.of(param.default, header(env)), param)
            raise needed(self.context.text, name, span, param.kind)
        if key is not None:
            return self.inside(env).given(key, as_type=False)
        argument = next(x for x in scope.arguments if x.name == name)
        return self._argument_alone(argument, env, span)

    def _told(self, scope: Scope) -> dict[str, Any]:
        """The parameters of a function as its only call in the file has them, those that are known."""
        known = self.context.told.get(scope)
        if known is not None:
            return known
        out = self.context.told[scope] = {}
        lost = self.context.lost[scope] = {}
        use = self.context.chosen.get(scope) or only_call(self.context.reader, scope)
        if use is None or scope.parent is None or len(use.arguments) > len(scope.arguments):
            return out
        caller = opened(self.context, use.scope)
        values: list[Any] = []
        try:
            out.update(bound(self, scope.params or (), [self._lazy(part, caller) for part in use.template], WHOLE))
        except CuteVizError:
            return out
        for param, part in zip(scope.arguments, use.arguments, strict=False):
            try:
                values.append(certain(self.known(self.of(part, caller), WHOLE)))
                out[param.name] = values[-1]
            except LimitError:
                raise
            except CuteVizError as error:
                values.append(None)
                lost[param.name] = error
        pointers(self.inside(caller), scope, use, values)
        types = dict(out)
        self._deduced_from(scope, values, types)
        for param in scope.params or ():
            if param.name in types:
                out[param.name] = types[param.name]
        return out

    def _cause(self, scope: Scope, param: Param | None, name: str) -> CuteVizError | None:
        """Why the call does not tell a parameter, where the arguments want a value themselves."""
        lost = self.context.lost.get(scope, {})
        tokens = self.context.reader.tokens
        for own in scope.arguments:
            words = {token.text for token in tokens[slice(*own.type)]} if own.type is not None else set()
            if own.name in lost and (own.name == name if param is None else name in words):
                return lost[own.name] if lost[own.name].needs or scope in self.context.chosen else None
        return None

    def _counts(self, scope: Scope, name: str, env: Env) -> bool:
        """Whether a parameter is an integer by its type."""
        own = next((x for x in scope.arguments if x.name == name and x.type is not None), None)
        try:
            return own is not None and own.type is not None and is_integer(self.of(own.type, env))
        except LimitError:
            raise
        except CuteVizError:
            return False

    def _lazy(self, part: Range, env: Env) -> Any:
        """The value of a template argument; of one that is not known the error, once it is asked for."""
        try:
            return self.of(part, env)
        except LimitError:
            raise
        except CuteVizError:
            return Lazy(lambda: self.of(part, env))

    def _deduced_from(self, scope: Scope, values: list[Any], out: dict[str, Any]) -> None:
        """Deduce what template parameters are from the arguments that are known."""
        assert scope.parent is not None
        inner = self.inside(opened(self.context, scope.parent))
        for param, value in zip(scope.arguments, values, strict=False):
            if value is not None:
                one = Scope("function", "", scope.parent, scope.token, params=scope.params, arguments=(param,))
                deduced(inner, one, [value], out)

    def _argument_alone(self, param: Param, env: Env, span: Span) -> Any:
        """The value of a function's parameter whose type has one value only, such as a static layout."""
        if param.type is not None:
            try:
                kind = self.known(self.of(param.type, env), span)
            except LimitError:
                raise
            except CuteVizError as error:
                if error.needs and param.name not in error.needs and any(x.name in error.needs for x in env.scope.params or ()):
                    raise error.but(needs=(*error.needs, param.name)) from None
                raise needed(self.context.text, param.name, span) from None
            if is_integer(kind):
                return unknown(needed(self.context.text, param.name, span))
            if isinstance(kind, Class) or not isinstance(kind, (ValueType, Pointer, Template, Function, Enumerator, bool, float)):
                return kind
        raise needed(self.context.text, param.name, span)

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
            from cute_viz.notation import parse

            try:
                return taken(parse(value, resolve=context.given.resolve))
            except CuteVizError:
                raise error.but(name=f"`let={key}`", needs=()) from None
