"""The partition view: what one thread holds of a whole tensor, each element with its coordinate in the partition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cute_viz.algebra import copy as copies
from cute_viz.algebra import mma as mmas
from cute_viz.algebra.composed import ComposedLayout, as_layout, domain
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import ThrCopy, TiledCopy
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout, idx2crd
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, make_tiled_mma
from cute_viz.algebra.table import offsets
from cute_viz.algebra.views import get_slice
from cute_viz.errors import FigureError
from cute_viz.figures.mma import thread_of
from cute_viz.figures.model import HOLE, Figure, Legend, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import by_group, in_turns
from cute_viz.figures.rulers import ruler
from cute_viz.figures.words import an

FEW = 2048  # cells of a tensor that is drawn whole
_MODES = {"A": ("MMA", "MMA_M", "MMA_K"), "B": ("MMA", "MMA_N", "MMA_K"), "C": ("MMA", "MMA_M", "MMA_N")}
_COPY = ("CPY", "CPY_M", "CPY_N")
_TITLES = {"A": ("M", "K"), "B": ("N", "K"), "C": ("M", "N")}


def partition(obj: Any, options: FigureOptions) -> Figure:
    """The figure of partition_A, _B, _C, _S or _D of the tensor in the options, for one thread.

    Raises: FigureError for a tensor that does not have two modes, for no thread or more than one, and for an operand that the
    object lacks.

    >>> from cute_viz import parse
    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> partition(mma, FigureOptions(thread=range(1), operand="C", tensor=(64, 32))).facts
    {'elements': 16, 'MMA': 4, 'MMA_M': 2, 'MMA_N': 2}
    """
    thr, operand = _view(obj, options)
    tensor = as_layout(options.tensor)
    if not isinstance(tensor, (Layout, ComposedLayout)):
        raise FigureError(f"`tensor=`: {show(tensor)} is not a layout", hint="such as `tensor=(128,64):(64,1)`")
    shape = domain(tensor).shape
    if len(modes(shape)) != 2:
        raise FigureError(f"the tensor {tensor} has {len(modes(shape))} modes; the picture has two", hint="give one tile: (M,K)")
    rows, cols = (product(mode) for mode in modes(shape))
    check_cells(rows * cols, f"the tensor {tensor}", options)
    part = _part(thr, operand, tensor)
    coordinates = coordinates_of(_part(thr, operand, make_identity_layout((rows, cols))))
    own = domain(part)
    extents = [product(mode) for mode in modes(own.shape)]
    names = (_MODES.get(operand, _COPY) + tuple(f"REST_{n}" for n in range(8)))[: len(extents)]
    labels = [""] * (rows * cols)
    places: list[int | None] = [None] * (rows * cols)  # in the modes after the first, as one number
    value: list[int | None] = [None] * (rows * cols)  # in the first mode
    thread = _thread(thr)
    for n, (m, k) in enumerate(coordinates):
        if not (0 <= m < rows and 0 <= k < cols):
            raise FigureError(
                f"thread {thread} holds ({m},{k}), which is outside the {rows} x {cols} tensor",
                hint="give a tensor whose extents are multiples of the tile",
            )
        cell = m * cols + k
        rest, value[cell] = divmod(n, extents[0])
        places[cell] = rest
        where = []
        for extent in extents[1:]:
            where.append(rest % extent)
            rest //= extent
        labels[cell] = f"V{value[cell]}\n({','.join(map(str, where))})"
    groups = max(1, len(coordinates) // extents[0])
    heading, shades = f"hue: {', '.join(names[1:])}", f"shade: value of {names[0]}"
    turns = in_turns(places, [(rows, cols)])
    painting = by_group(places, groups, heading, "", value, extents[0], shades, "V", turns)
    paper = len(painting.paints)
    legends = (_by_coordinate(painting.legends[0], extents[1:]), *painting.legends[1:])
    title = options.title or f"partition_{operand}: what thread {thread} holds of {an(rows)} × {cols} tensor"
    spelt = ", ".join(f"{name} {show(mode)}" for name, mode in zip(names, modes(own.shape), strict=True))
    origin = part.offset if isinstance(part, ComposedLayout) and isinstance(part.outer, Layout) else None
    where_ = f"the part begins at ptr + {origin}; " if isinstance(origin, int) and origin else ""
    caption = f"{where_}({','.join(names)}) = {show(own.shape)}: {spelt}; a cell shows its value and its place in the other modes"
    source = show(part)
    whole = Panel(
        caption="",
        rows=rows,
        cols=cols,
        labels=tuple(labels),
        paints=tuple(paper if p == HOLE else p for p in painting.cells),
        row_ruler=ruler(_TITLES.get(operand, ("M", "N"))[0], rows),
        col_ruler=ruler(_TITLES.get(operand, ("M", "N"))[1], cols),
        data={"value": tuple(value)},
    )
    panel = _collapsed(whole) if rows * cols > FEW else whole
    dense = ("Rows and columns without an element of the thread are drawn as …",) if panel is not whole else ()
    return Figure(
        kind="partition",
        title=title,
        source=source,
        caption=caption,
        description=f"{title}. {source}. {caption}",
        paints=(*painting.paints, Paint(-1)),
        legends=legends,
        panels=(panel,),
        notes=(*dense, f"tensor {show(tensor)}", f"{len(coordinates)} of {rows * cols} elements are thread {thread}'s."),
        facts={"elements": len(coordinates), **dict(zip(names, extents, strict=True))},
    )


def _by_coordinate(legend: Legend, extents: Sequence[int]) -> Legend:
    """A legend whose numbers of places are told as coordinates in the modes after the first: `0, 8` is `(0,0), (0,2)`."""

    def coordinate(found: re.Match[str]) -> str:
        return show(idx2crd(int(found[0]), tuple(extents)))

    if len(extents) < 2:
        return legend
    entries = [replace(entry, label=re.sub(r"\d+", coordinate, entry.label)) for entry in legend.entries]
    return replace(legend, entries=tuple(entries))


def _collapsed(panel: Panel) -> Panel:
    """The panel with each run of empty rows, or columns, as one; the panel itself where there are none to speak of."""
    held = [divmod(n, panel.cols) for n, label in enumerate(panel.labels) if label]
    rows, cols = (_lines({cell[axis] for cell in held}, count) for axis, count in ((0, panel.rows), (1, panel.cols)))
    if 2 * len(rows) * len(cols) > panel.rows * panel.cols:
        return panel
    cells = [r * panel.cols + c for r, _ in rows for c, _ in cols]
    return replace(
        panel,
        rows=len(rows),
        cols=len(cols),
        labels=tuple([panel.labels[cell] for cell in cells]),
        paints=tuple([panel.paints[cell] for cell in cells]),
        row_ruler=Ruler(panel.row_ruler.title, tuple(label for _, label in rows), (0,) * (len(rows) + 1)),
        col_ruler=Ruler(panel.col_ruler.title, tuple(label for _, label in cols), (0,) * (len(cols) + 1)),
        data={name: tuple([column[cell] for cell in cells]) for name, column in panel.data.items()},
    )


def _lines(used: set[int], count: int) -> list[tuple[int, str]]:
    """The lines that are drawn, each with its label: those that are used, and the first of each run of others.

    >>> _lines({1, 4}, 6)
    [(0, '…'), (1, '1'), (2, '…'), (4, '4'), (5, '…')]
    """
    return [(n, str(n) if n in used else "…") for n in range(count) if n in used or not n or n - 1 in used]


def _view(obj: Any, options: FigureOptions) -> tuple[Any, str]:
    """The thread's view, and which operand of it."""
    letters = "SD" if isinstance(obj, (TiledCopy, ThrCopy)) else "ABC"
    operand = (options.operand or ("S" if letters == "SD" else "C")).upper()
    if operand not in tuple(letters):
        raise FigureError(f"`operand={options.operand}`: a tensor needs one of {', '.join(letters)}")
    if isinstance(obj, (ThrMMA, ThrCopy)):
        if options.thread not in (None, range(own := _thread(obj), own + 1)):
            raise FigureError(
                f"`thread=` cannot be combined with the view of thread {own}", hint="leave it out, or give the whole tiling"
            )
        return obj, operand
    if not isinstance(obj, (MMA_Atom, TiledMMA, TiledCopy)):
        raise FigureError(
            "a copy atom does not partition a tensor", hint="make a tiled copy of it: make_tiled_copy(atom, thr, val)"
        )
    if options.thread is None or len(options.thread) != 1:
        raise FigureError("`tensor=` needs `thread=`", hint="such as `thread=0`")
    tiled = make_tiled_mma(obj) if isinstance(obj, MMA_Atom) else obj
    return get_slice(tiled, options.thread.start), operand


def _thread(thr: Any) -> int:
    return thr.thr_idx if isinstance(thr, ThrCopy) else thread_of(thr)


def _part(thr: Any, operand: str, tensor: Any) -> Any:
    return mmas.partition(thr, operand, tensor) if isinstance(thr, ThrMMA) else copies.partition(thr, operand, tensor)


def coordinates_of(part: Any) -> list[tuple[int, int]]:
    """The tensor coordinates of a partition of an identity tensor, in the order of the partition's indices.

    >>> coordinates_of(make_identity_layout((2, 2)))
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    offset = part.offset if isinstance(part, ComposedLayout) else (0, 0)
    base = tuple(leaves(offset)) if isinstance(offset, tuple) else (0, 0)
    out = []
    for coordinate in offsets(domain(part)):
        m, k = (*coordinate, 0, 0)[:2] if isinstance(coordinate, tuple) else (coordinate, 0)
        out.append((base[0] + m, base[1] + k))
    return out
