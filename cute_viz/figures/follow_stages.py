"""One thread's way through the stages of a kernel: the rows of C that it holds, and where they come from in every stage."""

from __future__ import annotations

from dataclasses import replace

from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.staged import Stages
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import LANES, WARP
from cute_viz.errors import FigureError
from cute_viz.figures.lanes import held, is_lanes
from cute_viz.figures.model import HOLE, Arrow, Figure, Panel
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.stages import Box, boxes_of, drawn_parts, of_b, settled, stages
from cute_viz.figures.tmem import rows_of_lanes
from cute_viz.figures.trim import of_rows

MANY, TOGETHER = 32, 8  # rows of a panel of which not all are shown, and how many stand together


def follow(obj: Stages, options: FigureOptions) -> Figure:
    """The page of the stages with what one thread has to do with in boxes, and arrows from stage to stage.

    Raises: FigureError for none or several threads, and for stages without an accumulator that threads hold.

    >>> from cute_viz import figure
    >>> shown = figure("hopper_gemm", follow=13)
    >>> shown.facts["rows of C"], shown.arrows[0].source, shown.panels[0].boxes
    ('3,11', 0, ((0, 0, 1, 4), (2, 0, 3, 4)))
    """
    if options.follow is None or len(options.follow) != 1:
        raise FigureError("`follow=` is one thread", hint="example: `follow=13`")
    thread, obj = options.follow.start, settled(obj)
    rows = _rows(obj, thread)
    drawn = stages(obj, replace(options, follow=None), rows)
    per = [len(figure.panels) for figure in drawn_parts(obj, replace(options, follow=None))]
    panels, arrows, n, before, white = [], [], 0, None, of_b(obj.parts)
    for number, (part, count) in enumerate(zip(obj.parts, per, strict=True)):
        first = None
        for k in range(count):
            panel = drawn.panels[n + k]
            boxes = () if number in white else boxes_of(part, panel, k, rows, thread)
            lit = _near(_lit(panel, boxes, len(drawn.paints)))
            panels.append(lit)
            if boxes and first is None:
                first = (n + k, lit.boxes[0])
        if before is not None and first is not None:
            arrows.append(Arrow(before[0], first[0], before[1], first[1]))
        before, n = first or before, n + count
    words = ",".join(map(str, rows))
    title = options.title or f"Thread {thread}: {drawn.title}"
    note = f"Boxes: rows {words} of the tile, which thread {thread} holds of C; TMA and descriptors move them for all threads."
    if any(new.rows < old.rows for new, old in zip(panels, drawn.panels, strict=True)):
        note += f" From {MANY} rows on, only those rows and their neighbors are shown."
    return replace(
        drawn,
        kind="follow",
        title=title,
        paints=(*drawn.paints, *[replace(paint, faded=True) for paint in drawn.paints]),
        panels=tuple(panels),
        arrows=tuple(arrows),
        notes=(note, *drawn.notes),
        description=f"{title}. {drawn.description} {note}",
        facts={**drawn.facts, "thread": thread, "warp": thread // WARP, "lane": thread % WARP, "rows of C": words},
    )


def _near(panel: Panel) -> Panel:
    """A panel of many rows with those that stand with its boxes, eight together."""
    near = {r // TOGETHER for r0, _, r1, _ in panel.boxes for r in range(r0, r1)}
    if panel.rows < MANY or not near:
        return panel
    return of_rows(panel, [r for r in range(panel.rows) if r // TOGETHER in near])


def _lit(panel: Panel, boxes: tuple[Box, ...], faded: int) -> Panel:
    """A panel whose cells outside of the boxes are faded, by paints that stand so far behind; all of them where there is no box."""
    inside = {r * panel.cols + c for r0, c0, r1, c1 in boxes for r in range(r0, r1) for c in range(c0, c1)}
    paints = [p if p == HOLE or n in inside else p + faded for n, p in enumerate(panel.paints)]
    return replace(panel, boxes=boxes, arrows=(), arrow_labels=(), paints=tuple(paints))


def _rows(obj: Stages, thread: int) -> list[int]:
    """The rows of C that a thread holds."""
    for part in obj.parts:
        if isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
            atom = part if isinstance(part, MMA_Atom) else part.atom if isinstance(part, TiledMMA) else part.tiled.atom
            threads, m = size(get(atom.layout_c, 0)), product(atom.shape_mnk[0])
            _check(thread, threads)
            return sorted({element % m for element in offsets(atom.layout_c)[thread::threads]})
    load = next((part for part in obj.parts if is_lanes(part) and "LOAD" in part.name), None)
    accumulator = next((part for part in obj.parts if isinstance(part, Tensor)), None)
    if load is None or accumulator is None:
        raise FigureError("these stages have no accumulator that a thread holds", hint="leave out `follow=`")
    _check(thread, LANES)
    lanes = {lane + thread // WARP * WARP for (t, _), parts in held(load).items() if t == thread % WARP for lane, _, _ in parts}
    found = rows_of_lanes(accumulator)
    return sorted({row for lane in lanes for row in found.get(lane, ())})


def _check(thread: int, threads: int) -> None:
    if not 0 <= thread < threads:
        raise FigureError(f"`follow={thread}`: there are {threads} threads", hint=f"0 to {threads - 1}")
