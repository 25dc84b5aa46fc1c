"""Classes and aliases of templates with their arguments: specialisations, members, objects."""

from __future__ import annotations

from functools import partial
from typing import Any

from cute_viz.errors import CuteVizError, Span
from cute_viz.source.cpp.binding import bound, defaulted, key_of, matched
from cute_viz.source.cpp.elements import is_integer
from cute_viz.source.cpp.functions import Functions
from cute_viz.source.cpp.lookup import Meaning, opened, within
from cute_viz.source.cpp.scopes import Declaration, Scope, outward
from cute_viz.source.cpp.tree import Brace, Node, Part
from cute_viz.source.cpp.unknown import attempted, unknown
from cute_viz.source.cpp.values import OURS, Cell, Class, Env, Later, Template, Value, copied, element_type

WHOLE = Span(0, 0)  # of no place: a declaration as a whole


class Instances(Functions):
    """The part of the evaluator that reads templates of the file."""

    def _class(self, declaration: Declaration, env: Env, args: tuple[Node, ...] | None, span: Span) -> Value:
        if declaration.params is None:
            return Class(within(env, declaration.inner))
        if args is None:
            own = next((around for around in outward(self.env) if around.scope is declaration.inner), None)
            return Template(declaration, env) if own is None else Class(own)  # the name of a class in itself
        return self._instance(declaration, env, self.lazily(args), span)

    def _instance(self, declaration: Declaration, env: Env, given: list[Later], span: Span) -> Value:
        """A template of the file with arguments."""
        params = declaration.params or ()
        own = bound(self, params, given, span)
        if declaration.inner is None:
            declaration.inner = Scope("alias", declaration.name, declaration.scope, declaration.token, params=params)
        new = Env(declaration.inner, env, own)
        defaulted(self.inside(env), params, own, new)
        values = [own[param.name] for param in params if param.name in own]
        key = (declaration, key_of(values))
        if (known := env.children.get(key)) is not None:
            new = known
        else:
            env.children[key] = new
        if declaration.kind == "class":
            specs = self.context.reader.specialisations.get((declaration.scope, declaration.name), ())
            if specs and (special := self.special(list(specs), values, span)) is not None:
                return special
            return Class(new)
        if declaration.init is None:
            raise self.fail(f"{declaration.name!r} has no value here", span)
        self.context.enter(span)
        try:
            if declaration.kind == "alias":
                return self.of(declaration.init, new)
            return self.inside(new).variable(declaration, declaration.init, declaration.opens)
        finally:
            self.context.leave()

    def special(self, specs: list[Scope], values: list[Later], span: Span) -> Class | None:
        """The specialisation for arguments; None where the template itself is meant."""
        exact = self._exact(specs).get(key_of(values))
        if exact is not None:
            return self._specialised(exact, {}, values)
        found = [(scope, args) for scope in specs if (args := matched(self, scope, values)) is not None]
        if not found:
            return None
        best = min(len(scope.params or ()) for scope, _ in found)
        most = [(scope, args) for scope, args in found if len(scope.params or ()) == best]
        if len(most) > 1:
            raise self.fail("several specialisations are for these arguments", span)
        return self._specialised(*most[0], values)

    def _exact(self, specs: list[Scope]) -> dict[Any, Scope | None]:
        """The specialisations without parameters by their arguments; None for those that are written twice."""
        known = self.context.exact.get((specs[0].parent, specs[0].name))
        if known is not None:
            return known
        out: dict[Any, Scope | None] = {}
        self.context.exact[specs[0].parent, specs[0].name] = out
        for scope in specs:
            if scope.params or scope.spec is None or scope.parent is None:
                continue
            here, parts = self.inside(opened(self.context, scope.parent)), self.context.reader.split(*scope.spec)
            values = attempted(lambda here=here, parts=parts: [here.argument(self.context.tree(part)) for part in parts])  # type: ignore[misc]
            if not isinstance(values, CuteVizError):
                key = key_of(values)
                out[key] = None if key in out else scope
        return out

    def specialised(self, scope: Scope, values: list[Later]) -> Class | None:
        """A specialisation of the file for arguments; None where it is not for them."""
        args = matched(self, scope, values)
        return None if args is None else self._specialised(scope, args, values)

    def _specialised(self, scope: Scope, args: dict[str, Later], values: list[Later]) -> Class:
        parent = opened(self.context, scope.parent)
        key = (scope, key_of(list(args.values())))
        if key not in parent.children:
            parent.children[key] = Env(scope, parent, args) if args else within(parent, scope)
        return Class(parent.children[key])

    def class_member(self, value: Class, part: Part, span: Span) -> Value:
        """A member of a class of the file, or of its bases."""
        scope = value.env.scope
        key = self.context.let(part.name, scope)
        if key is not None and scope.kind != "enum" and part.name in scope.names:
            return self.given(key, as_type=False)
        found = self.lookup.member(part.name, value.env)
        if found is None:
            name = scope.name or "this class"
            ours = OURS in scope.path
            raise self.fail(
                f"the member {part.name!r} of {name} is not read" if ours else f"{name} has no member {part.name!r} in this file",
                span,
            )
        return self.inside(value.env).meant(found, part, WHOLE)

    def aggregate(self, kind: Class, args: tuple[Node, ...], span: Span) -> Class:
        """An object of a class of the file whose members begin with arguments, in their order; what a constructor makes of them
        is not known."""
        scope = kind.env.scope
        members = [x for x in scope.declarations if x.kind == "variable" and not x.static]
        lost = self.fail(f"cannot determine how an object of {scope.name} is constructed", span)
        constructed = any(x.kind == "function" and x.name == scope.name for x in scope.declarations)
        if scope.bases or (len(args) > len(members) and not constructed):
            raise lost
        new, why = Env(scope, kind.env.parent, dict(kind.env.args)), lost if constructed else None
        new.cells = {}
        for n, member in enumerate(members):
            cell, arg = Cell(None), args[n] if n < len(args) else None
            cell.value = attempted(partial(self._begun_with, member, arg, cell, self.inside(new), span, why))
            new.cells[member.name] = cell
        return Class(new)

    def _begun_with(
        self, member: Declaration, arg: Node | None, cell: Cell, here: Meaning, span: Span, lost: CuteVizError | None
    ) -> Value:
        """What a member of an object begins with, whose cell gets its type. lost: why a constructor's value is not known."""
        kind = here.value(self.context.tree(member.type)) if member.type else None
        cell.kind = None if member.pointer else element_type(kind)
        if lost is not None:
            if not is_integer(cell.kind):
                raise lost
            return unknown(lost, f"{member.name}@{member.token}")
        if arg is None:
            return here.variable(member, member.init, member.opens)
        if isinstance(arg, Brace) and arg.type is None and kind is not None:
            return self.made(kind, arg.args, span)
        value = copied(self.value(arg), self.context.budget)
        return value if cell.kind is None else self.converted(value, cell.kind, span)
