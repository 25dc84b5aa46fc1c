"""A linear map of bits as a matrix: a column for each bit that goes in, a row for each bit of the coordinates that come out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells


def bases(
    title: str, source: str, inputs: Sequence[tuple[str, Sequence[int]]], sizes: Sequence[int], options: FigureOptions
) -> Figure:
    """The matrix of a map by XOR.

    inputs: the name of each bit that goes in, such as `lane 0`, and the coordinate that it adds. sizes: the coordinates' extents.

    >>> figure = bases("two lanes", "", [("lane 0", (1,)), ("lane 1", (3,))], (4,), FigureOptions())
    >>> figure.panels[0].labels, figure.panels[0].row_ruler.labels
    (('1', '1', '', '1'), ('m0', 'm1'))
    """
    rows = [(mode, bit) for mode, size in enumerate(sizes) for bit in range((size - 1).bit_length())]
    if not inputs or not rows:
        raise FigureError("a map of no bits has no matrix")
    check_cells(len(inputs) * len(rows), "the matrix of the bits", options)
    kinds = list(dict.fromkeys(name.partition(" ")[0] for name, _ in inputs))
    labels, paints = [], []
    for mode, bit in rows:
        for name, coordinate in inputs:
            there = coordinate[mode] >> bit & 1
            labels.append("1" if there else "")
            paints.append(1 + kinds.index(name.partition(" ")[0]) if there else 0)
    new_mode = (0, *(2 if a[0] != b[0] else 0 for a, b in pairwise(rows)), 0)
    names = [name.partition(" ") for name, _ in inputs]
    new_kind = (0, *(2 if a[0] != b[0] else 0 for a, b in pairwise(names)), 0)
    letter = "mnpqrstu" if len(sizes) <= 8 else "x" * len(sizes)
    entries = tuple(LegendEntry(1 + n, kind) for n, kind in enumerate(kinds))
    caption = "A column is an input bit, a row an output bit of a coordinate: the XOR of the bits of its columns"
    return Figure(
        kind="bases",
        title=title,
        source=source,
        caption=caption,
        paints=(Paint(-1), *(Paint(n % 8) for n in range(len(kinds)))),
        legends=(Legend("hue: whose bit it is", entries),),
        panels=(
            Panel(
                caption="",
                labels=tuple(labels),
                paints=tuple(paints),
                row_ruler=Ruler("bit of", tuple(f"{letter[mode]}{bit}" for mode, bit in rows), new_mode),
                col_ruler=Ruler("bit", tuple(f"{kind[:3]}{number}" for kind, _, number in names), new_kind),
            ),
        ),
    )
