"""Static integers throughout a value: CuTe's types, such as atoms and `Layout<...>`, have no others, and print so.

A class whose fields hold layouts names them in `marked`; `tiling` says which family of pictures it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain
from cute_viz.algebra.inttuple import leaves, show
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.algebra.stride import Basis, step_of
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

        from cute_viz.algebra.ratio import StaticRatio

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
