"""What pointers point to: the types of their elements, and which overload they choose for a call."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from cute_viz.source.cpp.elements import Array
from cute_viz.source.cpp.lookup import opened, within
from cute_viz.source.cpp.paths import overloads
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.scopes import Range, Scope
from cute_viz.source.cpp.tree import Binary, Call, Cast, Id, Member, Node, Unary
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.uses import Use
from cute_viz.source.cpp.values import Class, Env, External
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

_POINTER_WORDS = frozenset(("*", "&", "const", "__restrict__", "volatile"))


def element(meaning: Meaning, node: Node) -> str:
    """The type of what a plain pointer points to; "" where the file does not tell."""
    return tried(lambda: _element(meaning, node), "")


def _element(meaning: Meaning, node: Node) -> str:
    if isinstance(node, Cast):
        return element_name(meaning.value(node.type.value if isinstance(node.type, Unary) else node.type))
    if isinstance(node, Binary):
        return _element(meaning, node.left)
    if isinstance(node, Unary):
        return _element(meaning, node.value)
    if isinstance(node, Call) and isinstance(node.function, Member):
        return _element(meaning, node.function.object)
    if isinstance(node, Call) and node.args:
        return _element(meaning, node.args[0])
    if isinstance(node, Member):
        owner = _inside(meaning, node.object)
        found = meaning.lookup.member(node.part.name, owner) if owner is not None else None
        part = found.declarations[0].type if found is not None and found.declarations else None
        return pointed_type(meaning.inside(found.env), part) if found is not None and part is not None else ""
    if isinstance(node, Id):
        found = meaning.lookup.find(node.parts[0].name, meaning.env, meaning.position(node.span))
        if found is None:
            return ""
        params = [param for param in found.env.scope.arguments if param.name == node.parts[0].name]
        part = found.declarations[0].type if found.declarations else params[0].type if params else None
        return pointed_type(meaning.inside(found.env), part) if part is not None else ""
    return ""


def _inside(meaning: Meaning, node: Node) -> Env | None:
    """The scope of the members of an object, which may be of a struct or union without a name."""
    around = _inside(meaning, node.object) if isinstance(node, Member) else None
    found = None
    if isinstance(node, Member) and around is not None:
        found = meaning.lookup.member(node.part.name, around)
    elif isinstance(node, Id) and len(node.parts) == 1:
        found = meaning.lookup.find(node.parts[0].name, meaning.env, meaning.position(node.span))
    own = found.declarations[0] if found is not None and found.declarations else None
    if found is not None and own is not None and own.kind == "object" and own.inner is not None:
        return within(found.env, own.inner)
    value = meaning.value(node)
    return value.env if isinstance(value, Class) else None


def pointed_type(meaning: Meaning, part: Range) -> str:
    """The element type that the tokens of a type tell: of a pointer, an array, or CuTe's array of elements."""
    tokens = meaning.context.reader.tokens
    begin, end = part
    while end > begin + 1 and tokens[end - 1].text in _POINTER_WORDS:
        end -= 1
    while begin < end - 1 and tokens[begin].text in _POINTER_WORDS:
        begin += 1
    return element_name(meaning.of((begin, end), meaning.env))


def element_name(value: Any) -> str:
    """The name of an element type, or of what a type has for elements; "" where it is none."""
    if isinstance(value, Pointer) and value.type is not None:
        value = value.type
    if isinstance(value, External) and value.args and isinstance(value.args[0], ValueType):
        value = value.args[0]
    while isinstance(value, Array):
        value = value.element
    return str(value) if isinstance(value, ValueType) else ""


def pointers(caller: Meaning, scope: Scope, use: Use, values: list[Any]) -> None:
    """Put the pointers among the arguments of a call into `values`, with the types of their elements where the file tells them."""
    tokens = caller.context.reader.tokens
    for n, (param, part) in enumerate(zip(scope.arguments, use.arguments, strict=False)):
        bare = values[n] is None or (isinstance(values[n], Pointer) and values[n].type is None)
        if bare and param.type is not None and any(token.text == "*" for token in tokens[slice(*param.type)]):
            tree = tried(partial(caller.context.tree, part), None)
            kind = "" if tree is None else element(caller, tree)
            if kind:
                values[n] = replace(values[n] or Pointer(), type=ValueType(kind))


def means(meaning: Meaning, scope: Scope, use: Use) -> bool:
    """Whether a call of an overloaded name may mean this function: of those that fit one with the fewest template parameters."""
    fitting = [own for own in overloads(scope) if own.inner is not None and _fits(meaning, own.inner, use)]
    least = min((len(own.params or ()) for own in fitting), default=0)
    return not fitting or any(own.inner is scope and len(own.params or ()) == least for own in fitting)


def _fits(meaning: Meaning, scope: Scope, use: Use) -> bool:
    """Whether the pointers of a call are of the types of a function's parameters, as far as both are known."""
    if len(use.arguments) > len(scope.arguments) or scope.parent is None:
        return False
    values: list[Any] = [None] * len(use.arguments)
    pointers(meaning.inside(opened(meaning.context, use.scope)), scope, use, values)
    inside = meaning.inside(opened(meaning.context, scope.parent))
    names = {param.name for param in scope.params or ()}
    tokens = meaning.context.reader.tokens
    for param, value in zip(scope.arguments, values, strict=False):
        words = {token.text for token in tokens[slice(*param.type)]} if param.type is not None else set()
        if isinstance(value, Pointer) and param.type is not None and not words & names:
            wanted = tried(partial(pointed_type, inside, param.type), None)
            if wanted is None:
                continue
            if wanted and wanted != str(value.type):
                return False
    return True
