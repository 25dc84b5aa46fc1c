"""Static integers throughout a value: CuTe's types, such as atoms and `Layout<...>`, have no others, and print so.

A class whose fields hold layouts names them in `marked`; `tiling` says which family of pictures it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, gives_coordinates, has_origin, identity
from cute_viz.algebra.inttuple import all_zero, is_int_tuple, leaves, map_leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout, trusted
from cute_viz.algebra.stride import Basis, add, step_of
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.integer import MulticastMask, Runtime, Static, Unknown, is_static


def mark_static(value: object, kind: type[Static] = Static) -> Any:
    """The same value with every integer marked as static; those that are stay as they are."""
    return each_integer(lambda x: x if is_static(x) else kind(x), value)


def clear_static(value: object) -> Any:
    """The same value without any mark of a static integer."""
    return each_integer(int, value)


def each_integer(kind: Callable[[int], int], value: Any, unknown: Callable[[Unknown], object] = lambda x: x) -> Any:
    """A value with every integer in it made one of a kind; those that are not known are what `unknown` makes of them."""
    if isinstance(value, Unknown):
        return unknown(value)
    if isinstance(value, int):
        return value if isinstance(value, (bool, MulticastMask)) else kind(value)
    if type(value).__name__ in ("Fraction", "StaticRatio"):
        from fractions import Fraction

        from cute_viz.algebra.stride import StaticRatio

        numerator, denominator = value.as_integer_ratio()
        return (StaticRatio if isinstance(kind(numerator), Static) else Fraction)(numerator, denominator)
    match value:
        case tuple():
            return tuple([each_integer(kind, item, unknown) for item in value])
        case Basis(factor, path):
            return Basis(each_integer(kind, factor, unknown), path)
        case Layout(shape, stride):
            return trusted(each_integer(kind, shape, unknown), each_integer(kind, stride, unknown))
        case ComposedLayout(outer, offset, inner):
            return ComposedLayout(
                each_integer(kind, outer, unknown), each_integer(kind, offset, unknown), each_integer(kind, inner, unknown)
            )
    if is_tiling(value):
        from dataclasses import replace

        return replace(value, **{name: each_integer(kind, getattr(value, name), unknown) for name in value.marked})
    return value


def unknowns(value: object) -> Iterator[Unknown]:
    """The integers in a value that are not known: in tuples, layouts, basis elements."""
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if not isinstance(item, int):
                yield from unknowns(item)
    else:
        composed = hasattr(type(value), "inner")  # its shape is that of its parts, where it has one
        names = ("outer", "offset", "inner") if composed else ("shape", "stride", "value", *getattr(type(value), "marked", ()))
        for name in names:
            part = getattr(value, name, None)
            if part is not None and not isinstance(part, int):
                yield from unknowns(part)


def is_tiling(value: object) -> bool:
    """Whether a value is an atom, a tiling of atoms, or a thread's view of one."""
    return bool(getattr(type(value), "marked", ()))


def unmarked(value: object) -> str:
    """A value as CuTe prints it, less the underscores of static integers."""
    return show(clear_static(value))


class Plain(str):
    """The print of a value without the marks of static integers; `printed` has them."""

    __slots__ = ("printed",)
    printed: str

    @classmethod
    def of(cls, value: object, like: object = None) -> Plain:
        """The print of a value; where the integers of the layout `like` are all static, so are its own."""
        out = cls(unmarked(value))
        out.printed = show(mark_static(value) if isinstance(like, Layout) and is_marked(like) else value)
        return out


def is_marked(layout: Layout) -> bool:
    """Whether every integer of a layout is a static one."""
    return all(is_static(n) for part in (layout.shape, layout.stride) for n in leaves(part))


def has_static(layout: Layout) -> bool:
    """Whether a layout was written with static integers: C++, as the DSL's prints do not mark them."""
    return any(
        isinstance(n := step_of(x), (Static, Runtime)) or (isinstance(n, Unknown) and n.plain)
        for part in (layout.shape, layout.stride)
        for x in leaves(part)
    )


def check_owning(layout: AnyLayout, beside: bool = False) -> None:
    """Refuse registers whose extents are not all known when the kernel is compiled, where some are; or others `beside` them."""
    known = [is_static(n) for n in leaves(domain(layout).shape) if isinstance(n, int)]
    if (beside or any(known)) and not all(known):
        raise AlgebraError(
            f"Dynamic owning tensors not supported: the extents of {layout} are not all static",
            hint="registers have static extents: Int<8>{}",
        )


@dataclass(frozen=True, slots=True)
class EmptyLayout(Shown):
    """A layout with an extent of 0 or less, which CuTe prints and for which nothing else is of use."""

    marked: ClassVar[tuple[str, ...]] = ("layout",)
    layout: Layout

    def __str__(self) -> str:
        return str(self.layout)


_dsl: ContextVar[bool | None] = ContextVar("in the DSL", default=None)


@contextmanager
def as_in_dsl(meant: bool = True) -> Iterator[None]:
    """While an operation of the Python DSL is computed; if not `meant`, one of C++."""
    token = _dsl.set(meant)
    try:
        yield
    finally:
        _dsl.reset(token)


def in_dsl(*operands: Any) -> bool:
    """Whether the DSL is meant: it is said, or there are coordinates, and none of the marks that C++ prints static integers
    with."""
    if (said := _dsl.get()) is not None or not operands:
        return bool(said)
    if isinstance(operands[0], ComposedLayout) or has_static(operands[0]):
        return False
    return any(isinstance(x, Layout) and is_coordinate_layout(x) for x in leaves(operands))


def in_cpp(layout: Layout) -> bool:
    """Whether C++ is meant: it is said, or the layout has the marks that C++ prints static integers with."""
    said = _dsl.get()
    return has_static(layout) if said is None else not said


def with_origin(origin: object, layout: AnyLayout, *, tensor: bool = False) -> AnyLayout:
    """A tensor of coordinates that begin at an origin: `ArithTuple(4,8) o layout`, as CuTe prints it. A layout that begins at 0
    stays one, unless it is said to be a tensor: see counting. The outer layout is the identity on such coordinates, of integers
    `1:1`. Raises: AlgebraError for a layout whose values are integers, or coordinates of another nesting. Source:
    cute/numeric/arithmetic_tuple.hpp, ArithmeticTupleIterator."""
    if isinstance(origin, tuple):  # 0 times half a step is 0
        origin = map_leaves(lambda x: int(x) if type(x).__name__ == "Fraction" and x.denominator == 1 else x, origin)
    if not is_int_tuple(origin) or origin == ():
        refuse("make_tensor", (origin, layout), "an origin must be an integer or a tuple of integers")
    if isinstance(layout, ComposedLayout) and has_origin(layout):
        tensor = True
        origin, layout = add(origin, layout.offset), layout.inner  # type: ignore[assignment]
    if isinstance(origin, tuple) != gives_coordinates(layout) and not (isinstance(layout, Layout) and all_zero(layout.stride)):
        given, wanted = ("a coordinate", "integers") if isinstance(origin, tuple) else ("an integer", "coordinates")
        refuse("make_tensor", (origin, layout), f"a layout whose values are {wanted} cannot have {given} as its origin")
    if not tensor and all_zero(origin):
        return layout
    return _begun(origin, layout)


def counting(layout: AnyLayout) -> AnyLayout:
    """A tensor of coordinates from 0 on, as make_identity_tensor and get_tma_tensor make it: that it is one shows in its print.
    Source: cute/tensor_impl.hpp, make_counting_tensor."""
    if not isinstance(layout, Layout):
        return layout
    begun = _begun((), layout) if is_coordinate_layout(layout) else _begun(0, layout)
    static = any(is_static(step_of(step)) for step in leaves(layout.stride))
    return ComposedLayout(begun.outer, map_leaves(Static, begun.offset), layout) if static else begun


def _begun(origin: object, layout: AnyLayout) -> ComposedLayout:
    whole: Any = map_leaves(lambda _: 0, origin)
    for stride in leaves(layout.stride) if isinstance(layout, Layout) and isinstance(origin, tuple) else ():
        whole = add(whole, Basis(1, stride.path) if isinstance(stride, Basis) else 0)
    whole = _filled(origin, map_leaves(lambda _: 0, whole))
    return ComposedLayout(identity(map_leaves(lambda _: 1, whole)), whole, layout)


def _filled(origin: object, zeros: object) -> object:
    """An origin with zeros for the positions that it lacks; static integers stay so, which a sum would not keep."""
    if not isinstance(zeros, tuple):
        return origin
    if not isinstance(origin, tuple):
        return add(origin, zeros)  # only 0 is one
    return (*map(_filled, origin, zeros), *zeros[len(origin) :])
