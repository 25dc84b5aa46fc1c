"""What `a o b o c` is: compositions, or a composed layout with its offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import PointerFlag, as_layout, make_composed_layout, takes_coordinate
from cute_viz.algebra.inttuple import is_int_tuple
from cute_viz.notation.values import ungroup
from cute_viz.values.integer import Unknown


def composed(items: list[object], compose: Callable[[Any, Any], object]) -> Any:
    """`outer o offset o inner` is a composed layout; `a o b` is what `compose` makes of them."""
    if len(items) == 1:
        return as_layout(items[0])
    for n in range(1, len(items) - 1):
        if _is_offset(items[n - 1], items[n], items[n + 1]):
            return make_composed_layout(composed(items[:n], compose), items[n], composed(items[n + 1 :], compose))
    out = ungroup(items[0])
    for item in items[1:]:
        out = compose(out, item)
    return out


def _is_offset(before: object, value: object, following: object) -> bool:
    """Whether the middle of `before o value o following` is an offset rather than a layout."""
    if isinstance(value, (int, PointerFlag, Unknown)):
        return True
    return isinstance(value, tuple) and is_int_tuple(value) and takes_coordinate(ungroup(before), ungroup(following))
