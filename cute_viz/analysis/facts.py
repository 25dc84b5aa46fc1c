"""The facts of a lone layout: its sizes, and what its table of values looks like."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.compose import coalesce
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout, domain, pointer_bits, position_independent
from cute_viz.algebra.inttuple import modes, product, show, tuple_depth, tuple_rank
from cute_viz.algebra.layout import Layout, coshape, is_coordinate_layout
from cute_viz.algebra.measure import idx2crd
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import fits, offsets
from cute_viz.errors import AlgebraError

WIDEST = 128  # bits of one lane's access
MAX_TABLE = 1 << 20  # values that are looked at one by one


def layout_facts(layout: AnyLayout) -> dict[str, Any]:
    """Facts by name, in reading order; those that need every value are left out of a huge layout."""
    layout = as_layout(layout)
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
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        out["swizzle"] = _units(layout)
    if waiting := {"?" if x.written[0] == "?" else x.written for x in unknowns(layout)}:
        return out | {"size": show(out["size"]), "known when it runs": ", ".join(sorted(waiting))}
    if is_coordinate_layout(inner):
        out["coshape"] = show(coshape(inner))
    else:
        out["cosize"] = inner.cosize
    if isinstance(layout, Layout):
        out["coalesced"] = show(coalesce(layout))
    if fits(layout, MAX_TABLE):
        values = offsets(layout)
        distinct = set(values)
        out["injective"] = len(distinct) == len(values)
        if not out["injective"]:
            first: dict[Any, int] = {}
            n, m = next((first[value], m) for m, value in enumerate(values) if first.setdefault(value, m) != m)
            cells = " and ".join(show(idx2crd(k, inner.shape)) for k in (n, m))
            out["repeats"] = f"{'offset' if isinstance(values[n], int) else 'coordinate'} {show(values[n])} at {cells}"
        if isinstance(values[0], int):
            low, high = min(distinct), max(distinct)
            out["values"] = f"{low}..{high}"
            out["contiguous"] = len(distinct) == high - low + 1
        out["distinct values"] = len(distinct)
    return out


def _units(layout: ComposedLayout) -> str:
    """What the swizzle of a layout acts on: behind a pointer on bytes, which is another swizzle of elements; else on elements."""
    bits = pointer_bits(layout)
    if bits is None:
        return f"{layout.outer} of elements"
    try:
        moved = position_independent(layout)
    except AlgebraError:
        return f"{layout.outer} of bytes; not a swizzle of elements of {bits} bits"
    swizzle = moved.outer if isinstance(moved, ComposedLayout) else "none"
    return f"{layout.outer} of bytes: {swizzle} of elements of {bits} bits"


def memory_facts(layout: AnyLayout, bits: int) -> dict[str, object]:
    """Facts of a layout of elements in memory: bytes, alignment, the widest vector, gaps and aliasing."""
    layout = as_layout(layout)
    inner = domain(layout)
    out: dict[str, Any] = {"bits of an element": bits}
    if is_coordinate_layout(inner) or not fits(layout, MAX_TABLE):
        return out
    values = offsets(layout)
    if not all(isinstance(value, int) for value in values):
        return out
    distinct = sorted(set(values))
    out["bytes"] = -(-(distinct[-1] - min(0, distinct[0]) + 1) * bits // 8)  # from the pointer on, or from what lies before it
    out["surjective"] = distinct[0] == 0 and len(distinct) == distinct[-1] + 1
    out["gaps"] = distinct[-1] - distinct[0] + 1 - len(distinct)
    out["aliased"] = len(values) - len(distinct)
    vector, mode = _widest_vector(layout, values, bits)
    none = "no neighboring elements are adjacent in memory"
    if WIDEST % (2 * bits):
        none = f"no access takes two elements of {bits} bits"
    out["widest vector"] = f"{vector} bits along mode {mode}" if vector else none
    return out


def _widest_vector(layout: AnyLayout, values: list[Any], bits: int) -> tuple[int, int]:
    """The widest power of two of bits, up to 128, that lies together, aligned, along one mode everywhere; and the mode."""
    best, best_mode = 0, 0
    extents = [product(mode) for mode in modes(domain(layout).shape)]
    step = 1
    for mode, extent in enumerate(extents):
        width = WIDEST
        while width > bits and width % bits == 0:
            n = width // bits
            starts = [i for i in range(len(values)) if i // step % extent % n == 0]
            if extent % n == 0 and all(
                values[i] % n == 0 and all(values[i + k * step] == values[i] + k for k in range(1, n)) for i in starts
            ):
                break
            width //= 2
        if bits < width > best and width % bits == 0:
            best, best_mode = width, mode
        step *= extent
    return best, best_mode
