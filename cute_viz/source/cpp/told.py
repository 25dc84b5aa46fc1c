"""What the calls of a function in its file tell of its parameters: what is the same in all of them."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.binding import bound, deduced
from cute_viz.source.cpp.elements import same
from cute_viz.source.cpp.instances import WHOLE, Instances
from cute_viz.source.cpp.lookup import opened
from cute_viz.source.cpp.pointed import pointers
from cute_viz.source.cpp.scopes import Param, Range, Scope
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.uses import Use, all_uses
from cute_viz.source.cpp.values import Class, Env, Lazy, finished
from cute_viz.values.integer import Unknown
from cute_viz.values.pointer import Pointer

_USES = 16  # calls of one function that are compared


class Told(Instances):
    """The part of the evaluator that looks at calls."""

    def told(self, scope: Scope) -> dict[str, Any]:
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

    def _told_by(self, scope: Scope, use: Use) -> dict[str, Any]:
        """The parameters of a function as one call has them, those that are known."""
        out: dict[str, Any] = {}
        if scope.parent is None or len(use.arguments) > len(scope.arguments):
            return out
        caller = opened(self.context, use.scope)
        values: list[Any] = []
        try:
            out.update(bound(self, scope.params or (), [self._lazy(part, caller) for part in use.template], WHOLE))
        except CuteVizError:
            return out
        for param, part in zip(scope.arguments, use.arguments, strict=False):
            try:
                value = self.known(self.of(part, caller), WHOLE)
                out[param.name] = value
                values.append(value if not isinstance(value, Unknown) else None)
            except LimitError:
                raise
            except CuteVizError as error:
                values.append(None)
                self._lost(param, scope, error)
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

    def _lazy(self, part: Range, env: Env) -> Any:
        return tried(lambda: self.of(part, env), Lazy(lambda: self.of(part, env)))

    def _deduced_from(self, scope: Scope, values: list[Any], out: dict[str, Any]) -> None:
        assert scope.parent is not None
        inner = self.inside(opened(self.context, scope.parent))
        for param, value in zip(scope.arguments, values, strict=False):
            if value is not None:
                one = Scope("function", "", scope.parent, scope.token, params=scope.params, arguments=(param,))
                deduced(inner, one, [value], out)


def _alike(a: Any, b: Any) -> bool:
    """Whether two values that calls give are the same, static integers and all; of those that are not known nothing is."""
    try:
        a, b = (x() if isinstance(x, Lazy) else x for x in (a, b))
        return bool(same(a, b)) and (isinstance(a, Class) or show(finished(a)) == show(finished(b)))
    except LimitError:
        raise
    except CuteVizError:
        return False


def _missing(value: Any) -> CuteVizError | None:
    try:
        if isinstance(value, Lazy):
            value()
    except CuteVizError as error:
        return error if error.needs else None
    return None
