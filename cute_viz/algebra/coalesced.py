"""The same function with fewer modes: neighbors joined, extents of 1 left out; what every kind of layout has of it is in modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.inttuple import show, tuple_rank
from cute_viz.algebra.layout import Layout, flat_modes, from_modes, make_layout, modes_of
from cute_viz.algebra.stride import F2
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Runtime, Unknown, is_known, is_one


def coalesce(layout: Layout, profile: object = None) -> Layout:
    """The same function of an integer with as few modes as possible; with a profile, mode by mode (cute/layout.hpp).

    Raises: AlgebraError for a profile of more modes than the layout.

    >>> str(coalesce(Layout((2, (1, 6)), (1, (6, 2)))))
    '12:1'
    >>> str(coalesce(Layout((2, (1, 6)), (1, (6, 2))), (1, 1)))
    '(2,6):(1,2)'
    """
    if isinstance(profile, tuple):
        if len(profile) > layout.rank:
            raise AlgebraError(f"the profile {show(profile)} has more modes than {layout}")
        return by_modes(coalesce, layout, profile)
    return from_modes(coalesce_modes(flat_modes(layout)))


def by_modes(operation: Callable[[Layout, Any], Any], layout: Layout, guides: tuple[object, ...]) -> Layout:
    """An operation on each mode and its guide, of the first modes; the others stay."""
    parts = modes_of(layout)
    return make_layout(*map(operation, parts, guides), *parts[len(guides) :])


def coalesce_modes(pairs: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """(extent, stride) pairs without extents of 1, neighbours joined where one goes on evenly from the other."""
    kept: list[tuple[int, Any]] = []
    reach: Any = None  # the stride at which the last pair would go on
    for extent, stride in pairs:
        if type(extent) in (Runtime, Unknown) or not is_known(stride):
            return _coalesce_known(pairs)
        if extent == 1:
            continue
        if kept and stride == reach and not (isinstance(stride, F2) and kept[-1][0] & (kept[-1][0] - 1)):
            extent, stride = kept[-1][0] * extent, kept[-1][1]
            kept[-1] = (extent, stride)
        else:
            kept.append((extent, stride))
        reach = stride * extent
    return kept


def _coalesce_known(pairs: list[tuple[int, Any]]) -> list[tuple[int, object]]:
    """As coalesce_modes, where some are run-time integers: from the right, only what is known to join (bw_coalesce)."""
    kept: list[tuple[int, Any]] = []
    for extent, stride in reversed(pairs):
        if is_one(extent):
            continue
        reach = stride * extent
        if (
            kept
            and all(map(is_known, (*kept[-1], reach)))
            and reach == kept[-1][1]
            and not (isinstance(reach, F2) and extent & (extent - 1))
        ):
            kept[-1] = (extent * kept[-1][0], stride)
        else:
            kept.append((extent, stride))
    return kept[::-1]


def coalesce_modes_extended(pairs: list[tuple[int, object]]) -> list[tuple[int, Any]]:
    """Like coalesce_modes, for a function that is read past its end: the last stride is kept (CuTe's coalesce_x)."""
    if not pairs:
        raise AlgebraError("a layout without modes cannot be the left operand")
    extent, stride = pairs[-1]
    return coalesce_modes([*pairs[:-1], (2 if is_one(extent) else extent, stride)])


def coalesce_extended(layout: Layout, profile: object = 0) -> Layout:
    """Coalesced so that values past the end stay the same too: the last stride is kept (cute/layout.hpp, coalesce_x).
    Composition reads its left operand past the end; the extent of the last mode does not count there."""
    if isinstance(profile, tuple):
        if len(profile) > tuple_rank(layout.shape):
            raise AlgebraError(f"coordinates of {len(profile)} modes do not index a layout of {tuple_rank(layout.shape)}")
        return by_modes(coalesce_extended, layout, profile)
    return from_modes(coalesce_modes_extended(flat_modes(layout)))
