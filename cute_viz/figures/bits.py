"""A swizzle as bits: which bits of an offset are XORed into which."""

from __future__ import annotations

from cute_viz.algebra.swizzle import Swizzle, span
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells

_KEPT, _CHANGED, _READ = range(3)  # paints


def bits(swizzle: Swizzle, options: FigureOptions) -> Figure:
    """The bit diagram of a swizzle: the offset that goes in, and the one that comes out, highest bit first."""
    b, m, s = swizzle.bits, swizzle.base, swizzle.shift
    low, high = swizzle.changed, swizzle.read
    width = max(1, max(low, high) + b)
    check_cells(2 * width, f"the bits of {swizzle}", options)
    order = list(range(width - 1, -1, -1))
    out = [f"b{i}⊕b{i + s}" if low <= i < low + b else f"b{i}" for i in order]
    paints = [_CHANGED if low <= i < low + b else _READ if high <= i < high + b else _KEPT for i in order]
    changed, read = span(low, b), span(high, b)
    kept = (
        f"the lowest {min(low, high)} bits stay: runs of {2 ** min(low, high)} stay together"
        if min(low, high)
        else "neighbors are separated"
    )
    title = options.title or f"{swizzle} XORs {read} into {changed}" if b else f"{swizzle} changes nothing"
    caption = (
        f"{read[0].upper()}{read[1:]} {'is' if b == 1 else 'are'} XORed into {changed}; {kept}" if b else "No bits: the identity"
    )
    return Figure(
        kind="bits",
        title=title,
        source=str(swizzle),
        caption=caption,
        paints=(Paint(-1), Paint(1), Paint(0)),
        legends=(
            Legend("hue: role of a bit", tuple(map(LegendEntry, (_READ, _CHANGED, _KEPT), ("read (Y)", "changed (Z)", "kept")))),
        ),
        panels=(
            Panel(
                caption="",
                labels=tuple([f"b{i}" for i in order] + out),
                paints=tuple(paints * 2),
                row_ruler=Ruler("", ("in", "out"), (0, 1, 0)),
                col_ruler=Ruler("bit", tuple(map(str, order))),
            ),
        ),
        facts={"B": b, "M": m, "S": s, "period": 2**width},
    )
