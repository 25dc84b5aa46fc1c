"""The facts of a lone layout: its sizes, and what its table of values looks like."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import AnyLayout, domain
from cute_viz.algebra.inttuple import product, show, tuple_depth, tuple_rank
from cute_viz.algebra.layout import Layout, coalesce, coshape, cosize, is_coordinate_layout
from cute_viz.algebra.table import offsets

MAX_TABLE = 1 << 20  # values that are looked at one by one


def layout_facts(layout: AnyLayout) -> dict[str, Any]:
    """Facts by name, in reading order; those that need every value are left out of a huge layout.

    >>> facts = layout_facts(Layout((4, 8), (8, 1)))
    >>> facts["size"], facts["injective"], facts["contiguous"], facts["coalesced"]
    (32, True, True, '(4,8):(8,1)')
    """
    inner = domain(layout)
    out: dict[str, Any] = {
        "layout": show(layout),
        "kind": "layout" if isinstance(layout, Layout) else "composed layout",
        "shape": show(inner.shape),
        "stride": show(inner.stride),
        "rank": tuple_rank(inner.shape),
        "depth": tuple_depth(inner.shape),
        "size": product(inner.shape),
    }
    if is_coordinate_layout(inner):
        out["coshape"] = show(coshape(inner))
    else:
        out["cosize"] = cosize(inner)
    if isinstance(layout, Layout):
        out["coalesced"] = show(coalesce(layout))
    if out["size"] <= MAX_TABLE:
        values = offsets(layout)
        distinct = set(values)
        out["injective"] = len(distinct) == len(values)
        if isinstance(values[0], int):
            low, high = min(distinct), max(distinct)
            out["values"] = f"{low}..{high}"
            out["contiguous"] = len(distinct) == high - low + 1
        out["distinct values"] = len(distinct)
    return out
