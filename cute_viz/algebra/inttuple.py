"""Nested tuples of integers: the shapes, strides and coordinates of CuTe (cute/int_tuple.hpp).

An IntTuple is an int or a tuple of IntTuples. `(4,)` is a rank-1 tuple and is not `4`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any, NoReturn, TypeAlias, TypeGuard

from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Static, Unknown, is_integer, is_one, is_static, quotient_rest

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"
Sliced: TypeAlias = "int | Underscore | tuple[Sliced, ...]"  # a coordinate with `_` in it


class Unwritten(Static):
    """A static integer that nobody wrote: of an atom's name. Beside it a plain integer still stands for a static one."""

    __slots__ = ()


class Underscore:
    """CuTe's `_`: keep this mode whole (in a coordinate), leave this mode alone (in a tiler)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"

    def __reduce__(self) -> str:
        return "X"


X = Underscore()


class Major:
    """LayoutLeft (column-major) or LayoutRight (row-major), where CuTe takes one for strides or an order."""

    __slots__ = ("left",)

    def __init__(self, left: bool) -> None:
        self.left = left

    def __repr__(self) -> str:
        return "LayoutLeft" if self.left else "LayoutRight"


def show(x: object) -> str:
    """CuTe's print of a nested tuple of anything: no spaces, `(4)` for a rank-1 tuple."""
    if isinstance(x, tuple):
        return "(" + ",".join(map(show, x)) + ")"
    if isinstance(x, bool):
        return str(int(x))
    return str(x)


def leaves(x: object) -> Iterator[Any]:
    """The leaves of a nested tuple, left to right."""
    if isinstance(x, tuple):
        for item in x:
            yield from leaves(item)
    else:
        yield x


def _unlike(*parts: object) -> NoReturn:
    raise AlgebraError(f"{' and '.join(map(show, parts))} do not have the same nesting")


def map_leaves(fn: Callable[..., Any], x: object, *more: object, misfit: Callable[..., NoReturn] = _unlike) -> Any:
    """`fn` on every leaf of a tuple, and what others have there (CuTe's transform_leaf): they are nested like it, or deeper.

    misfit: raises the error of parts of which the first has modes that another does not have.
    """
    if not isinstance(x, tuple):
        return fn(x, *more)
    if not all(ranked(y, len(x)) for y in more):
        misfit(x, *more)
    return tuple([map_leaves(fn, *items, misfit=misfit) for items in zip(x, *more, strict=True)])


def ranked(x: object, *ranks: int) -> TypeGuard[tuple[Any, ...]]:
    """Whether something is a tuple of one of some ranks."""
    return isinstance(x, tuple) and len(x) in ranks


def paths(x: object, here: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The place of each leaf of a nested tuple, left to right: its positions, the outermost first."""
    if not isinstance(x, tuple):
        yield here
    else:
        for i, item in enumerate(x):
            yield from paths(item, (*here, i))


def modes(x: object) -> tuple[Any, ...]:
    """The top-level modes: a tuple as it is, a leaf as a tuple of one.

    >>> modes(8), modes((4, 2))
    ((8,), (4, 2))
    """
    return x if isinstance(x, tuple) else (x,)


def tuple_rank(x: object) -> int:
    """The number of top-level modes: 1 for an integer."""
    return len(x) if isinstance(x, tuple) else 1


def tuple_depth(x: object) -> int:
    """How deep the nesting goes: 0 for an integer, 1 for a flat tuple."""
    return 1 + max(map(tuple_depth, x), default=0) if isinstance(x, tuple) else 0


def product(x: IntTuple) -> int:
    """The product of all leaves.

    >>> product((2, (3, 4)))
    24
    """
    return x if type(x) is int else prod([leaf // 1 for leaf in leaves(x)])  # what a fraction has beyond a whole does not count


def div_rem(a: Any, b: Any) -> tuple[Any, Any]:
    """The quotient rounded toward zero and what remains, as C++ has them."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return quotient_rest(a, b)
    if a >= 0 and b > 0:
        return a // b, a % b
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def same_profile(a: object, b: object) -> bool:
    """Whether two nested tuples have the same nesting (CuTe's congruent).

    >>> same_profile((2, (3, 4)), (0, (0, 0))), same_profile(2, (2,))
    (True, False)
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_profile, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def compact_major(shape: IntTuple, current: IntTuple = 1, *, left: bool = True) -> IntTuple:
    """The compact strides of a shape from a first stride on, leftmost (column-major) or rightmost (row-major) mode fastest. An
    extent of 1 gets the stride 0, as CuTe gives static extents; a tuple of first strides goes mode by mode (cute/stride.hpp)."""

    def misfit(current: object, shape: object) -> NoReturn:
        raise AlgebraError(f"the first strides {show(current)} do not fit the shape {show(shape)}")

    def strides(current: object, shape: object) -> object:
        return compacted(shape, current, left, lambda extent, step: (0, step) if is_one(extent) else (step, step * extent))[0]

    out: IntTuple = map_leaves(strides, current, shape, misfit=misfit)
    return out


def compacted(shape: object, current: object, left: bool, mode: Callable[[Any, Any], tuple[Any, Any]]) -> tuple[Any, Any]:
    """The strides of a shape from a first one on, and the one that would come next; mode: both of one extent."""
    if not isinstance(shape, tuple):
        return mode(shape, current)
    strides = []
    for extent in shape if left else shape[::-1]:
        stride, current = compacted(extent, current, left, mode)
        strides.append(stride)
    return tuple(strides if left else strides[::-1]), current


def is_int_tuple(x: object) -> bool:
    """Whether x is an int or a nested tuple of ints (and nothing else); a run-time integer is one."""
    return all(is_integer(leaf) and not isinstance(leaf, bool) for leaf in leaves(x))


def all_static(x: object) -> bool:
    """Whether every leaf is a static integer."""
    return all(map(is_static, leaves(x)))


def all_zero(x: object) -> bool:
    """Whether every leaf is known to be 0: none of them moves anything."""
    return not any(isinstance(leaf, Unknown) or leaf for leaf in leaves(x))


def has_underscore(crd: object) -> bool:
    """Whether a coordinate has a `_` anywhere (cute/underscore.hpp)."""
    return any(isinstance(leaf, Underscore) for leaf in leaves(crd))


def has_index(crd: object) -> bool:
    """Whether a coordinate has anything but `_`."""
    return not all(isinstance(leaf, Underscore) for leaf in leaves(crd))


def picked(crd: object, x: object, sliced: bool, misfit: Callable[[object, object], NoReturn]) -> list[Any]:
    """The entries of a nested tuple where a coordinate has `_`, or, not `sliced`, where it has an index, side by side.

    misfit: raises the error of a part of the coordinate that does not fit the part of the tuple.
    """
    if not isinstance(crd, tuple):
        return [x] if isinstance(crd, Underscore) is sliced else []
    if not ranked(x, len(crd)):
        misfit(crd, x)
    return [kept for c, y in zip(crd, x, strict=True) for kept in picked(c, y, sliced, misfit)]


def slice_begin(crd: object) -> Any:
    """The coordinate at which a slice begins: 0 where it has `_`."""
    return map_leaves(lambda c: 0 if isinstance(c, Underscore) else c, crd)


def unflatten(flat: Iterable[object], profile: object) -> Any:
    """Leaves put back into the nesting of `profile`."""
    items = iter(flat)
    return map_leaves(lambda _: next(items), profile)


def map_pairs(fn: Callable[[Any, Any], tuple[Any, Any]], shape: IntTuple, stride: Any) -> tuple[Any, Any]:
    """A shape and its strides with every leaf's extent and stride made other ones."""
    if not isinstance(shape, tuple):
        return fn(shape, stride)
    parts = [map_pairs(fn, s, d) for s, d in zip(shape, stride, strict=True)]
    return tuple([s for s, _ in parts]), tuple([d for _, d in parts])
