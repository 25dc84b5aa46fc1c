"""Where plain pointers, references and members point in shared memory: `float* B = A + 32 * 33`, a parameter, `storage.a[i]`."""

from __future__ import annotations

import re
from functools import partial
from math import prod
from typing import Any, NamedTuple

from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, UncountedError
from cute_viz.source.cpp.lookup import Found, Meaning, change_before, opened
from cute_viz.source.cpp.scopes import Declaration
from cute_viz.source.cpp.shared import TO_ADDRESS, is_shared
from cute_viz.source.cpp.spots import brackets
from cute_viz.source.cpp.tree import Binary, Brace, Cast, Condition, CppCall, Id, Index, Member, Node, Unary
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Class, Value, integer
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType, bits_of

_SAME = re.compile(r"unsigned|size_t|u?int(?:32|64)_t|int")
_BYTE = ValueType("uint8_t")  # what an address counts
_MADE = "what a function makes of its address is not known"


class Pointed(NamedTuple):
    """A place in shared memory: the array, how many bits behind its beginning, how far apart the elements lie that each further
    index steps over, in bits, and the type of those that the last one does."""

    array: Declaration
    base: str
    offset: Any
    steps: tuple[int, ...]
    kind: Value

    def moved(self, count: Any) -> Pointed:
        """So many elements further on."""
        if not self.steps:
            raise UncountedError(f"what {self.base} points to is not known")
        return self._replace(offset=self.offset + count * self.steps[0])

    def behind(self) -> Pointed:
        """What lies there, of which fewer indices are left."""
        return self._replace(steps=self.steps[1:])

    def tensor(self, name: str) -> tuple[Tensor, Value]:
        """What is indexed there, as a tensor without extents, and the element that it begins at."""
        bits = bits_of(str(self.kind))
        steps = [step // bits for step in self.steps]
        extents: list[Any] = [Unknown("?") for _ in (*steps, 0)]
        whole = Layout(tuple(extents), (*steps, 1))
        return Tensor(Pointer("smem", self.kind, base=self.base, name=name), mark_static(whole)), self.offset // bits


def array_of(meaning: Meaning, x: Declaration, base: str = "") -> Tensor:
    """An array in shared memory as C++ places its elements, the last index the contiguous one. The first extent of one of
    dynamic size, `extern __shared__ float s[]`, is what only a launch knows; no place depends on it. Raises: AlgebraError for
    another extent that is left out; the error of one that cannot be evaluated."""
    context = meaning.context
    kind = meaning.value(context.tree(x.type)) if x.type is not None else None
    parts, _ = brackets(context.reader, x.token)
    if any(a == b for a, b in parts[1:]):
        raise AlgebraError(f"the extents of {x.name} are not known").but(name=x.name)
    extents: list[Any] = [int(integer(meaning.solid(context.tree((a, b))))) if a < b else Unknown("?") for a, b in parts]
    strides = [prod(extents[n + 1 :]) for n in range(len(extents))]
    whole = Layout(*((one[0] if len(one) == 1 else tuple(one)) for one in (extents, strides)))
    return Tensor(Pointer("smem", kind, base=base or x.name, name=base or x.name), mark_static(whole))


def place_of(meaning: Meaning, node: Node) -> Pointed | None:
    """The place in shared memory of a pointer, an array, or an element whose address is taken; None of what lies elsewhere.
    Raises: CuteVizError for one that is in shared memory, but nobody knows where."""
    inside = partial(place_of, meaning)
    match node:
        case Cast():
            found = inside(node.value)
            return found and _as(found, meaning.value(node.type))
        case Unary(operator="&", value=Index(value=array, index=index)):
            found = inside(array)
            return found and found.moved(meaning.solid(index))
        case Index(value=array, index=index):
            found = inside(array)
            return found and found.moved(meaning.solid(index)).behind()
        case Unary(operator="*"):
            found = inside(node.value)
            return found and (found.behind() if found.steps else found)
        case Unary() if (found := inside(node.value)) is not None:
            if node.operator != "&":
                raise UncountedError(f"where {found.base} is moved to is not known")
            return found
        case CppCall(args=(inner,)) if TO_ADDRESS.fullmatch(node.called):
            found = inside(inner)
            return found and found._replace(steps=(8,), kind=_BYTE)
        case CppCall(args=(inner,)) if _SAME.fullmatch(node.called):
            return _as_address(inside(inner))
        case Binary(operator="+" | "-" | "+=" | "-=" as sign):
            left, right = inside(node.left), inside(node.right)
            if left is None:
                return right and right.moved(meaning.solid(node.left))
            count: Any = meaning.solid(node.right)
            return left.moved(count if sign[0] == "+" else -count)
        case Binary() if inside(node.left) is not None or inside(node.right) is not None:
            raise UncountedError(_MADE)
        case Condition():
            sides = inside(node.yes), inside(node.no)
            return None if sides == (None, None) else sides[not meaning.truth(node.test)]
        case Id(parts=(part,)):
            found_name = meaning.lookup.find(part.name, meaning.env, meaning.position(node.span))
            return found_name and _named(meaning, found_name, node, part.name)
        case Member(object=around, part=part) if (found := inside(around)) is not None:
            return _member(meaning, found, part.name)
        case CppCall(args=parts) | Brace(args=parts) if any(map(inside, parts)):
            raise UncountedError(_MADE)
        case CppCall(function=Member(object=around)) if inside(around) is not None:
            raise UncountedError(_MADE)
    return None


def _as_address(place: Pointed | None) -> Pointed | None:
    """An address as an integer of another type. Raises: UncountedError for a pointer that becomes one."""
    if place is not None and place.kind is not _BYTE:
        raise UncountedError(_MADE)
    return place


def _as(place: Pointed, kind: Value) -> Pointed:
    """A place as one of another type."""
    if isinstance(kind, ValueType) and (found := _as_address(place)) is not None:
        return found
    inner = kind.type if isinstance(kind, Pointer) else None
    match inner:
        case ValueType():
            return place._replace(steps=(bits_of(str(inner)),), kind=inner)
        case Class():
            return place._replace(steps=(), kind=inner)
    raise UncountedError("the type of a cast of its address is not known")


def _named(meaning: Meaning, found: Found, node: Node, name: str) -> Pointed | None:
    """Of a name, by what it begins with, or what a call gives for it."""
    context, scope = meaning.context, found.env.scope
    if not found.declarations:
        use = context.chosen.get(scope)
        given = [] if use is None else [part for x, part in zip(scope.arguments, use.arguments, strict=False) if x.name == name]
        if use is None or not given:
            return None
        place = place_of(meaning.inside(opened(context, use.scope)), context.tree(given[0]))
        if place is not None and any(not change.within for change in scope.home.changes.get(name, ())):
            raise UncountedError(f"{name} moves")
        return place
    own = found.declarations[0]
    inside = meaning.inside(found.env)
    if is_shared(context.reader, own) and own.type is not None:
        if own.array:
            return _whole(inside, own, name)
        kind = inside.value(context.tree(own.type))
        return Pointed(own, name, 0, (), kind)
    if own.array or own.init is None or own.init[0] >= own.init[1]:
        return None
    place = place_of(inside, context.tree(own.init))
    change = change_before(own, meaning.position(node.span), meaning.env.scope)
    if place is None or change is None:
        return place
    if change.value is None:
        raise UncountedError(f"{name} moves")
    return place_of(inside, context.tree(change.value))


def _whole(meaning: Meaning, own: Declaration, base: str) -> Pointed:
    """Of an array."""
    x = array_of(meaning, own, base)
    strides = x.layout.stride if isinstance(x.layout.stride, tuple) else (x.layout.stride,)
    return Pointed(own, base, 0, tuple(int(step) * x.bits for step in strides), x.pointer.type)


def _member(meaning: Meaning, place: Pointed, name: str) -> Pointed:
    """Of a member of an object, whose own place in it is not looked for: banks are the same wherever an array begins."""
    env = place.kind.env if isinstance(place.kind, Class) else None
    found = meaning.lookup.member(name, env) if env is not None else None
    if found is None or not found.declarations or found.declarations[0].type is None:
        raise UncountedError(f"what {name} is in {place.base} is not known")
    own, inside, base = found.declarations[0], meaning.inside(found.env), f"{place.base}.{name}"
    before = [x for x in own.scope.declarations if x.kind == "variable" and not x.static and x.token < own.token]
    whole = _whole(inside, own, base) if own.array else Pointed(own, base, 0, (), inside.value(meaning.context.tree(own.type)))
    width = tried(lambda: bits_of(str(whole.kind)), 32)
    if width < 32 and any(_bits(inside, x) < 32 for x in before):
        raise UncountedError(f"where {name} begins in {place.base} is not known")
    return whole._replace(offset=place.offset)


def _bits(meaning: Meaning, own: Declaration) -> int:
    """The width of the elements of a member, 0 where that is not known."""
    return tried(lambda: bits_of(str(meaning.value(meaning.context.tree(own.type)))), 0) if own.type is not None else 0
