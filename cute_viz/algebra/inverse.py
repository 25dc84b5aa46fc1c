"""complement, the inverses and the nullspace of a layout: what it misses, the way back, and what two layouts have in common.

Layouts whose values are coordinates are taken one component of the coordinate at a time.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from cute_viz.algebra.common import brief, is_zero, narrowed, refuse
from cute_viz.algebra.compose import coalesce as _coalesce
from cute_viz.algebra.compose import coalesce_modes, composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, compose_with_offset, inner_of, swizzle_of
from cute_viz.algebra.inttuple import IntTuple, Underscore, compact_major, leaves, map_leaves, modes, paths, product, unflatten
from cute_viz.algebra.layout import Layout, flat_modes, from_modes, has_xor, make_layout
from cute_viz.algebra.measure import coprofile, coshape, cosize
from cute_viz.algebra.shapes import ceil_div, grouped, shape_of
from cute_viz.algebra.static import EmptyLayout, has_static, in_cpp, in_dsl
from cute_viz.algebra.stride import Basis, is_along, is_coordinate, step_of, unit_strides
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.xor_inverse import xor_right_inverse
from cute_viz.values.integer import Unknown, is_constant, is_known, is_one, is_static

_Mode = tuple[int, Any, int]  # extent, stride, and the size of the modes before it


def complement(layout: AnyLayout, cotarget: object = None) -> Layout:
    """The layout of the values that `layout` leaves out, up to the size of the cotarget (default: its own cosize).

    For a coordinate layout it has one mode for each position of the coordinate, as in the Python DSL: the cotarget
    is a tuple of sizes, or one for the first position, and a mode of extent 1 keeps its step. Raises: AlgebraError for
    Non-injective Layout;
    negative strides; coordinates with static integers, as C++ has none. For a composed layout it is the complement of the
    innermost one. Source: cute/layout.hpp; cute.complement of the DSL.

    >>> str(complement(Layout(4, 2), 24)), str(complement(Layout((2, 4), (1, 6)), 24))
    ('(2,3):(1,8)', '3:2')
    >>> str(complement(Layout((4, 2), (Basis(1, (0,)), Basis(2, (1,)))), (8, 8)))
    '(2,(2,2)):(4@0,(1@1,4@1))'
    """
    if isinstance(layout, ComposedLayout):
        return complement(layout.inner, cosize(layout) if cotarget is None else cotarget)  # type: ignore[arg-type]
    layout = narrowed(Layout, layout, "complement", (layout, cotarget), "it has no modes", "compose it with a layout first")
    if is_coordinate(layout.stride):
        return _by_position(layout, coshape(layout) if cotarget is None else shape_of(cotarget))
    pairs = coalesce_modes([(s, d) for s, d in flat_modes(layout) if not is_zero(d)]) or [(1, 0)]
    target = cotarget if type(cotarget) is int else cosize(from_modes(pairs)) if cotarget is None else shape_of(cotarget)
    if is_zero(pairs[0][1]):
        return Layout(grouped(target))
    if len(pairs) > 1 and not all(is_known(stride) for _, stride in pairs):
        refuse("complement", (layout, target), "Dynamic-stride complement only for rank-1 layouts", hint="mark its strides: _8")
    kept, reached = _gaps(pairs, layout, target)
    for rest in modes(grouped(_copies(target, reached, layout))):
        kept.append((rest, 0 if is_one(rest) else reached))
        reached = reached * rest
    return from_modes(coalesce_modes(kept))


def _by_position(layout: Layout, target: object) -> Layout:
    """The complement at each position of a coordinate; past the end of the cotarget there is one of each."""
    if in_cpp(layout):
        hint = "the Python DSL has one: write the integers without the _ of C++"
        refuse("complement", (layout, target), "C++ has no complement of a coordinate layout", hint=hint)
    for stride in leaves(layout.stride):
        if isinstance(stride, Basis):
            _whole(stride, "complement", layout)
    return _at_position((), coprofile(layout), target, layout)


def _at_position(path: tuple[int, ...], profile: Any, target: Any, layout: Layout) -> Layout:
    """The complement at one position of a coordinate, and at those in it, where an integer counts at the first. A position that
    the layout never names, profile None, has all of the cotarget."""
    if isinstance(profile, tuple):
        targets = modes(target)
        parts = [
            _at_position((*path, i), p, 1 if t is None else t, layout) for i, (p, t) in enumerate(zip_longest(profile, targets))
        ]
        return make_layout(*parts)
    if profile is None:
        return Layout(target, unit_strides(target, path))
    mine = [(s, d.value) for s, d in flat_modes(layout) if is_along(d, path)]
    kept, reached = _gaps(coalesce_modes(mine), layout, target)
    rest = product(_copies(product(target), reached, layout))
    found = from_modes(coalesce_modes([*kept, (rest, reached)]) or [(1, reached)])
    return Layout(found.shape, map_leaves(lambda d: Basis(d, path), found.stride))


def _gaps(pairs: list[tuple[int, int]], layout: Layout, target: object) -> tuple[list[tuple[int, int]], int]:
    """The gaps between integer strides, smallest first, and how far all of them reach; `layout` is for the refusals."""
    kept = []
    reached = 1
    for extent, stride in sorted(pairs, key=_stride):
        if stride < 0:
            refuse("complement", (layout, target), f"the stride {stride} is negative")
        if stride < reached:
            refuse(
                "complement",
                (layout, target),
                f"Non-injective Layout detected in complement: the stride {stride} falls among the {reached} values before it",
                hint="every stride must be at least the stride times the extent of the next smaller one",
            )
        kept.append((stride // reached, reached))
        reached = stride * extent
    return kept, reached


def _copies(target: object, reached: int, layout: Layout) -> IntTuple:
    """How many times what is reached goes into the cotarget, mode by mode."""
    rest = -(-target // reached) if isinstance(target, int) else ceil_div(target, reached)
    count = product(rest)
    if isinstance(count, Unknown) and isinstance(target, tuple) and len(target) > 1:
        raise count.error()  # whether its modes are merged is where CuTe's compilers differ
    if not isinstance(count, Unknown) and count < 1:
        refuse("complement", (layout, target), "the cotarget's extents must be 1 or more")
    return rest


def _stride(pair: tuple[int, int]) -> int:
    return pair[1]


def right_inverse(x: object) -> Any:
    """R with layout(R(i)) = i, as far as it goes: for a layout that reaches 0..n-1, over all n values.

    `_` and a swizzle are their own inverses; an offset's is its negative. Of XOR strides it is PyCuTe's (xor_inverse). Source:
    cute/layout.hpp, cute/layout_composed.hpp, cute/swizzle_layout.hpp.

    >>> str(right_inverse(Layout((4, 8), (8, 1)))), str(right_inverse(Layout((2, 3), (0, 1))))
    ('(8,4):(4,1)', '3:2')
    """
    return _inverse("right_inverse", x)


def left_inverse(x: object) -> Any:
    """R with R(layout(i)) = i for a layout that takes no value twice, also where it leaves values out.

    Raises: AlgebraError for the left inverse divisibility condition, run-time strides beside static ones, XOR strides, and in the
    DSL negative strides, of which C++ gives extents below 1. Source: as right_inverse.

    >>> str(left_inverse(Layout((4, 8), (1, 5))))
    '(5,8):(1,4)'
    """
    return _inverse("left_inverse", x)


def _inverse(name: str, x: object) -> Any:
    """Either inverse of anything; of a composed layout, the inverses of its parts in the other order."""
    match x:
        case Underscore() | Swizzle():
            return x
        case int():
            return -x
        case ComposedLayout(_, PointerFlag()):
            refuse(name, (x,), "the swizzle acts on an address", hint="use as_position_independent_swizzle_layout(A)")
        case ComposedLayout(outer, offset, inner):
            inner = _inverse(name, inner)
            if has_xor(inner):
                hint = "write its swizzle as XOR strides too"
                refuse(name, (x,), "the inverse of a composed layout with XOR strides is not supported", hint=hint)
            if isinstance(outer, Swizzle) and is_zero(offset):
                return composition(inner, outer)
            if not isinstance(offset, int) or not is_known(offset):
                refuse(name, (x,), "its offset is a coordinate, or known only at run time")
            return compose_with_offset(inner, -offset, _inverse(name, outer))
    x = narrowed(Layout, x, name, (x,), "it is not a layout")
    if has_xor(x):
        if name == "left_inverse":
            hint = "right_inverse(A) is also a left inverse where A takes each value from 0 up exactly once"
            refuse(name, (x,), "left_inverse of XOR strides is not supported", hint=hint)
        return xor_right_inverse(x)
    flat = _coalesce(x)
    all_modes: list[_Mode] = []
    before = 1
    for extent, stride in flat_modes(flat):
        all_modes.append((extent, stride, before))
        before *= extent
    profile = coprofile(x)
    one = _right if name == "right_inverse" else _left
    if profile == 0:
        return one(all_modes, x)
    if in_cpp(x):
        if name == "left_inverse" or any(isinstance(d, Basis) and is_known(d) for d in leaves(flat.stride)):
            refuse(name, (x,), "C++ cannot sort the strides of a layout of coordinates")
        return Layout(1, 0)
    parts = []
    for path in paths(profile):
        mine = [(s, d.value, n) for s, d, n in all_modes if is_along(d, path) and _whole(d, name, x)]
        parts.append(one(mine, x) if mine else Layout(1, 0))
    return Layout(unflatten([part.shape for part in parts], profile), unflatten([part.stride for part in parts], profile))


def _whole(stride: Basis, name: str, x: Layout) -> bool:
    if not isinstance(stride.value, int):
        refuse(name, (x,), f"the stride {stride} is a fraction")
    return True


def _by_stride(found: list[_Mode]) -> list[_Mode]:
    """The modes in the order that CuTe's static sort leaves them (cute/int_tuple.hpp, exchange_sort). The sort is not stable,
    and the inverses take the first of several equal strides, so its order shows."""
    if in_dsl():  # the DSL's is stable
        return sorted(found, key=lambda mode: mode[1])
    out = list(found)
    for i in range(len(out)):
        for j in range(i + 1, len(out)):
            if out[j][1] < out[i][1]:
                out[i], out[j] = out[j], out[i]
    return out


def _right(found: list[_Mode], _: Layout) -> Layout:
    """The right inverse of integer strides: the modes that continue the run of values from 0."""
    kept = []
    current = 1
    for extent, stride, before in _by_stride([mode for mode in found if is_known(mode[1])]):
        if is_known(current) and stride == current:
            kept.append((extent, before))
            current = extent * stride
    return _coalesce(from_modes(kept))


def _left(found: list[_Mode], layout: Layout) -> Layout:
    """The left inverse of integer strides: every mode, with extents that step over the values left out; of negative strides C++
    has extents below 1, of which nothing else can be made."""
    if not all(is_known(stride) for _, stride, _ in found):
        refuse("left_inverse", (layout,), "Left inverse requires static strides", hint="mark them: _8")
    ordered = _by_stride(found)
    if in_dsl() and not any(stride for _, stride, _ in ordered):
        return Layout(1, 0)
    extents: list[int] = []
    strides = [0]
    reached = 1
    for _, stride, before in ordered:
        if stride == 0:
            continue
        if stride < 0 and in_dsl():
            refuse("left_inverse", (layout,), f"the stride {stride} is negative")
        if stride % reached:
            refuse(
                "left_inverse",
                (layout,),
                f"Left inverse divisibility condition: the stride {stride} is not a multiple of {reached}",
                hint="sorted by size, every stride must divide the next",
            )
        extents.append(stride // reached)
        strides.append(before)
        reached = stride
    out = from_modes(coalesce_modes(list(zip([*extents, ordered[-1][0]], strides, strict=True))))
    return EmptyLayout(out) if min(extents, default=1) < 1 else out  # type: ignore[return-value]


def nullspace(layout: AnyLayout) -> Layout:
    """The coordinates that the layout sends to 0 because their strides are 0; 1:0 for a composed layout.

    Source: cute/layout.hpp, cute/layout_composed.hpp.

    >>> str(nullspace(Layout((2, 3, 4), (0, 1, 0))))
    '(2,4):(1,6)'
    """
    if not isinstance(layout, Layout):
        return Layout(1, 0)
    flat = tuple(leaves(layout.shape))
    positions = modes(compact_major(flat))
    return from_modes([(s, n) for s, d, n in zip(flat, leaves(layout.stride), positions, strict=True) if is_zero(d)])


def max_common_layout(a: AnyLayout, b: AnyLayout) -> Layout:
    """R with A(R(i)) = B(R(i)) = i, as long as one stride-1 mode gives: what one vectorised copy can move.

    Raises: as composition. Source: cute/layout.hpp, cute/swizzle_layout.hpp.

    >>> str(max_common_layout(Layout((4, 8)), Layout((4, 8), (1, 16))))
    '4:1'
    """
    a, b, base = _without_swizzles("max_common_layout", a, b)
    inverse = right_inverse(b)
    extent = _common_extent(a, inverse)
    common = composition(inverse, Layout(extent, 1)) if extent else Layout(1, 0)
    out: Layout = composition(common, base) if base is not None and base < product(common.shape) else common
    return out


def max_common_vector(a: AnyLayout, b: AnyLayout) -> int:
    """How many elements lie side by side, in the same order, in both layouts (at least 1).

    Raises: as composition. Source: cute/layout.hpp, cute/swizzle_layout.hpp.

    >>> max_common_vector(Layout((4, 8)), Layout((4, 8), (1, 16)))
    4
    """
    same = isinstance(a, ComposedLayout) and isinstance(b, ComposedLayout) and a.outer == b.outer
    a, b, base = _without_swizzles("max_common_vector", a, b)
    extent = _common_extent(a, right_inverse(b)) or 1
    return extent if base is None or same else min(extent, base)


def _common_extent(a: Layout, inverse: Layout) -> int:
    """How many values, from 0 on, `a` takes in the order of the other layout; 0 where not even the first."""
    common = _coalesce(composition(a, inverse))
    extent, stride = flat_modes(common)[0]
    return extent if is_known(extent) and is_constant(stride, 1) else 0


def _without_swizzles(name: str, a: AnyLayout, b: AnyLayout) -> tuple[Layout, Layout, int | None]:
    """Both without their swizzles, swapped as CuTe swaps them, and the run that the swizzles leave in one piece."""
    base = None
    if isinstance(b, ComposedLayout) and isinstance(a, Layout):
        a, b = b, a
    found = []
    for x in (a, b):
        if isinstance(x, ComposedLayout):
            if (swizzle := swizzle_of(x)) is None or not isinstance(x.inner, Layout):
                refuse(name, (a, b), f"{brief(x)} is not a swizzled layout")
            base = 1 << swizzle.base if base is None else min(base, 1 << swizzle.base)
        found.append(narrowed(Layout, inner_of(x), name, (a, b), "both must be layouts"))
    return found[0], found[1], base


def check_sorted(name: str, layout: Layout, operands: tuple[object, ...]) -> None:
    """Refuse run-time strides beside static ones: C++ sorts the strides of several modes as types."""
    steps = [step_of(d) for d in leaves(layout.stride)]
    if len(steps) > 1 and has_static(layout) and not all(map(is_static, steps)):
        refuse(name, operands, "CuTe cannot sort run-time strides", hint="mark all of them as static, for example _8, or none")
