"""The right inverse of a layout of XOR strides, such as a swizzle written as one (PyCuTe, NVlabs/CuTe)."""

from __future__ import annotations

from cute_viz.algebra.compose import coalesce
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout, flat_modes, from_modes
from cute_viz.algebra.stride import F2, mixed


def xor_right_inverse(layout: Layout) -> Layout:
    """R with layout(R(i)) = i, for the values from 0 on that a chain of strides reaches without a gap. A stride may have bits
    that the modes before it reach already: these are undone. Where the bits of an index do not map to bits of values one by one,
    the chain ends; R is then not the largest, as in PyCuTe. Raises: AlgebraError for strides of several kinds."""
    if any(not isinstance(stride, F2) and stride != 0 for stride in leaves(layout.stride)):
        raise mixed(layout)
    flat = coalesce(layout)
    found: list[tuple[int, int, int]] = []  # stride, extent, the size of the modes before it
    before = 1
    for extent, stride in flat_modes(flat):
        if isinstance(stride, F2) and stride.value and extent > 1 and before & (before - 1) == 0:
            found.append((stride.value, extent, before))
        before *= extent
    kept: list[tuple[int, F2]] = []
    current = 1  # the next value to reach
    for value, extent, index in sorted(found, key=lambda mode: mode[0]):
        known = current ^ value
        if (F2(known) * (extent - 1)).value >= current:
            continue
        place = index ^ _at(kept, known)
        if not _steps(flat, place, current, extent):
            continue
        kept.append((extent, F2(place)))
        current *= extent
        if extent & (extent - 1):  # its values fill no whole number of bits
            break
    return coalesce(from_modes(kept))


def _at(modes: list[tuple[int, F2]], value: int) -> int:
    out = 0
    for extent, stride in modes:
        value, digit = divmod(value, extent)
        out ^= (stride * digit).value
    return out


def _steps(layout: Layout, place: int, current: int, extent: int) -> bool:
    bits = range((extent - 1).bit_length())
    return all(place << bit < layout.size and layout(place << bit) == current << bit for bit in bits)
