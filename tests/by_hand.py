"""Layouts evaluated one coordinate at a time, from their shapes and strides alone: what the laws of the algebra are held to.

Nothing here uses an operation of the algebra. An index is taken apart into colexicographic digits, each digit is scaled by
its stride, and the terms are added: integers as integers, coordinates position by position, XOR strides without carries.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle


def count(shape: Any) -> int:
    return prod(map(count, shape)) if isinstance(shape, tuple) else int(shape)


def leaves(x: Any) -> list[Any]:
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, tuple) else [x]


def digits(index: int, shape: Any) -> Any:
    """The coordinate of an index, nested like the shape; the last digit is what is left."""
    if not isinstance(shape, tuple):
        return index
    out = []
    for n, part in enumerate(shape):
        last = n == len(shape) - 1
        out.append(digits(index if last else index % count(part), part))
        index //= count(part)
    return tuple(out)


def terms(coordinate: Any, shape: Any, stride: Any) -> list[Any]:
    """What each leaf adds to the value at a coordinate."""
    if not isinstance(shape, tuple):
        return [(coordinate, stride)]
    if not isinstance(coordinate, tuple):
        coordinate = digits(coordinate, shape)
    return [term for c, s, d in zip(coordinate, shape, stride, strict=True) for term in terms(c, s, d)]


def added(parts: Iterable[tuple[int, Any]]) -> Any:
    """The sum of digits times strides: an integer, or of coordinates what stands at each path, zeros left out."""
    total, xor, places = 0, 0, {}
    coordinates = False
    for digit, stride in parts:
        if isinstance(stride, Basis):
            coordinates = True
            places[stride.path] = places.get(stride.path, 0) + digit * stride.value
        elif isinstance(stride, F2):
            for bit in range(digit.bit_length()):
                xor ^= (stride.value << bit) * (digit >> bit & 1)
        else:
            total += digit * stride
    assert not (total and (xor or coordinates))
    return {path: amount for path, amount in places.items() if amount} if coordinates else total or xor


def swizzled(swizzle: Swizzle, x: int) -> int:
    """Bit by bit: M + max(S,0) + i is XORed into M + max(-S,0) + i."""
    out = x
    for i in range(swizzle.bits):
        source, target = swizzle.base + max(swizzle.shift, 0) + i, swizzle.base + max(-swizzle.shift, 0) + i
        out ^= (x >> source & 1) << target
    return out


def at(layout: Any, coordinate: Any) -> Any:
    """The value of anything at an index or a coordinate."""
    if isinstance(layout, Swizzle):
        return swizzled(layout, coordinate)
    if isinstance(layout, ComposedLayout) and isinstance(layout.offset, tuple):
        inner = at(layout.inner, coordinate) or {}
        moved = {path: inner.get(path, 0) + amount for path, amount in places(layout.offset)}
        assert set(inner) <= set(moved)
        return added((moved[path], stride) for path, stride in places(layout.outer.stride))
    if isinstance(layout, ComposedLayout):
        return at(layout.outer, layout.offset + at(layout.inner, coordinate))
    return added(terms(coordinate, layout.shape, layout.stride))


def table(layout: Any) -> list[Any]:
    """The values at 0, 1, 2 ..."""
    inner = layout
    while isinstance(inner, ComposedLayout):
        inner = inner.inner
    return [at(layout, i) for i in range(count(inner.shape))]


def places(x: Any, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    """Every leaf of a nested tuple with its path."""
    return [found for n, item in enumerate(x) for found in places(item, (*path, n))] if isinstance(x, tuple) else [(path, x)]


def as_places(value: Any, path: tuple[int, ...] = ()) -> dict[tuple[int, ...], Any]:
    """A coordinate as a tuple, in the form of `added`."""
    if isinstance(value, tuple):
        return {key: x for n, item in enumerate(value) for key, x in as_places(item, (*path, n)).items()}
    return {path: value} if value else {}


def starts(picked: list[int], size: int) -> list[int]:
    """Where copies of a set of offsets that holds 0 can begin, from below, so that they fill 0..size-1 without overlap."""
    taken: set[int] = set()
    out = []
    for first in range(size):
        if first not in taken:
            out.append(first)
            copy = {first + x for x in picked}
            assert not copy & taken
            taken |= copy
    return out
