"""The greatest value of a layout of XOR strides, without looking at its values one by one.

Of an extent that is a power of two the multiples of a stride are the sums of some vectors of bits; of another extent they
fall into as many such sets, each shifted, as the extent has bits.
"""

from __future__ import annotations

from collections.abc import Iterable

from cute_viz.algebra.stride import F2
from cute_viz.errors import AlgebraError
from cute_viz.limits import over

_MOST = 1 << 14  # ways to choose one set for every mode, as of 14 extents of 3, which have more elements than are looked at


def mixed(layout: object) -> AlgebraError:
    """The error of a layout that has other strides besides XOR strides."""
    return AlgebraError(f"{layout} mixes integer and XOR strides", hint="use XOR strides, or 0, in every mode")


def greatest(layout: object, parts: Iterable[tuple[int, object]]) -> int:
    """The greatest value of a layout of the given modes, whose strides are 0 or XOR strides. Raises: AlgebraError for other
    strides, LimitError for too many extents that are not powers of two."""
    sets: list[tuple[int, list[int]]] = [(0, [])]  # a value, and vectors of different highest bits that can be added to it
    for extent, stride in parts:
        if stride == 0:
            continue
        if not isinstance(stride, F2):
            raise mixed(layout)
        blocks = [bit for bit in range(extent.bit_length()) if extent >> bit & 1]
        if len(sets) * len(blocks) > _MOST:
            raise over("elements", f"{layout} has too many extents that are not powers of two; its greatest value cannot be found")
        sets = [
            (value ^ (stride * (extent >> bit + 1 << bit + 1)).value, _added(vectors, stride.value, bit))
            for value, vectors in sets
            for bit in blocks
        ]
    return max(_top(value, vectors) for value, vectors in sets)


def reached(parts: Iterable[tuple[int, object]]) -> int:
    """The bits that a layout of the given modes has in any of its values; other strides have none."""
    out = 0
    for extent, stride in parts:
        if isinstance(stride, F2):
            for bit in range((extent - 1).bit_length()):
                out |= stride.value << bit
    return out


def _added(vectors: list[int], stride: int, count: int) -> list[int]:
    """Vectors and, made independent of them, a stride and its shifts."""
    out = list(vectors)
    for shift in range(count):
        vector = stride << shift
        for other in out:  # highest first
            vector = min(vector, vector ^ other)
        if vector:
            out.append(vector)
            out.sort(reverse=True)
    return out


def _top(value: int, vectors: list[int]) -> int:
    for vector in vectors:
        value = max(value, value ^ vector)
    return value
