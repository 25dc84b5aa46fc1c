"""One thread's way through the stages of a kernel: the rows of C that it holds, and where they come from in every stage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.descriptor import MODES, DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import leaves, modes, product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.staged import Stages
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import LANES, WARP
from cute_viz.errors import FigureError
from cute_viz.figures.descriptor import swizzle_of
from cute_viz.figures.lanes import held, is_lanes
from cute_viz.figures.model import HOLE, Arrow, Figure, Panel
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.stages import stages
from cute_viz.figures.tmem import STEP, rows_of_lanes

CORE, CHUNK = 8, 16  # rows of a core matrix; bytes of a chunk of shared memory
Box = tuple[int, int, int, int]


def follow(obj: Stages, options: FigureOptions) -> Figure:
    """The page of the stages with what one thread has to do with in boxes, and arrows from stage to stage.

    Raises: FigureError for none or several threads, and for stages without an accumulator that threads hold.

    >>> from cute_viz import figure
    >>> shown = figure("hopper_gemm", follow=13)
    >>> shown.facts["rows of C"], shown.arrows[0].source, shown.panels[0].boxes
    ('3,11', 0, ((0, 0, 1, 4), (2, 0, 3, 4)))
    """
    if options.follow is None or len(options.follow) != 1:
        raise FigureError("`follow=` is one thread", hint="such as `follow=13`")
    thread = options.follow.start
    rows = _rows(obj, thread)
    drawn = stages(obj, replace(options, follow=None))
    per = _panels(obj, options)
    panels, arrows, n, before = [], [], 0, None
    for part, count in zip(obj.parts, per, strict=True):
        first = None
        for k in range(count):
            panel = drawn.panels[n + k]
            boxes = _boxes(part, panel, k, rows, thread)
            panels.append(_lit(panel, boxes, len(drawn.paints)))
            if boxes and first is None:
                first = (n + k, boxes[0])
        if before is not None and first is not None:
            arrows.append(Arrow(before[0], first[0], before[1], first[1]))
        before, n = first or before, n + count
    words = ",".join(map(str, rows))
    title = options.title or f"The day of thread {thread}: {drawn.title}"
    note = f"Boxes: rows {words} of the tile, which thread {thread} holds of C; TMA and descriptors move them for all threads."
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


def _lit(panel: Panel, boxes: tuple[Box, ...], faded: int) -> Panel:
    """A panel whose cells outside of the boxes are faded, by paints that stand so far behind; all of them where there is no box."""
    inside = {r * panel.cols + c for r0, c0, r1, c1 in boxes for r in range(r0, r1) for c in range(c0, c1)}
    paints = [p if p == HOLE or n in inside else p + faded for n, p in enumerate(panel.paints)]
    return replace(panel, boxes=boxes, arrows=(), arrow_labels=(), paints=tuple(paints))


def _panels(obj: Stages, options: FigureOptions) -> list[int]:
    """How many panels each stage has."""
    plain = replace(options, follow=None, title=None)
    return [len(stages(Stages((part,)), plain).panels) for part in obj.parts]


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


def _boxes(part: Any, panel: Panel, number: int, rows: list[int], thread: int) -> tuple[Box, ...]:
    """What of a panel has to do with the rows, or with the thread."""
    if isinstance(part, TmaCopy):
        return _of_tma(part, panel, rows)
    if isinstance(part, (SmemDescriptor, DescriptorTensor)):
        if number == 0:
            return _lines(panel, [row // _deep(part) for row in rows])
        cores, inner = panel.data.get("core", ()), panel.data.get("row", ())
        lit = [
            n
            for n, (core, row) in enumerate(zip(cores, inner, strict=True))
            if core is not None and row is not None and set(_rows_of(part, core, row)) & set(rows)
        ]
        return _cells(panel, lit)
    if isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
        return _cells(panel, [n for n, t in enumerate(panel.data.get("thread", ())) if t == thread])
    if isinstance(part, Tensor):
        found = rows_of_lanes(part)
        lines = {lane // STEP for lane, its in found.items() if set(its) & set(rows)}
        return _cells(panel, [n for n, label in enumerate(panel.labels) if label and n // panel.cols in lines])
    if isinstance(part, CopyOp):
        lanes = [n for n, t in enumerate(panel.data.get("thread", ())) if t == thread % WARP]
        return _cells(panel, lanes) if number == 0 else _lines(panel, [thread % WARP])
    return _lines(panel, sorted({row % panel.rows for row in rows})) if number == 0 else ()


def _deep(part: SmemDescriptor | DescriptorTensor) -> int:
    """How many rows of the operand a core matrix has: of an MN-major one the elements of 16 bytes."""
    first = part.first if isinstance(part, DescriptorTensor) else part
    return CORE if first.major == "K" else 128 // first.bits


def _rows_of(part: SmemDescriptor | DescriptorTensor, core: int, line: int) -> range:
    """The rows of the operand that lie in one line of a core matrix; each line of an MN-major one has all of them."""
    first = part.first if isinstance(part, DescriptorTensor) else part
    shape, deep = modes(part.tensor.layout.shape), _deep(part)
    depth = product(modes(shape[0])[1]) * product(shape[2]) if isinstance(part, DescriptorTensor) else product(shape[1])
    if first.major == "K":
        row = core // max(1, depth * first.bits // 128) * CORE + line
        return range(row, row + 1)
    row = core // max(1, depth // MODES[first.kind][swizzle_of(first)][3]) * deep
    return range(row, row + deep)


def _of_tma(part: TmaCopy, panel: Panel, rows: list[int]) -> tuple[Box, ...]:
    """The rows in the tensor, and in shared memory; dimension 0 of the tensor map holds them where the tile is MN-major."""
    step = next(iter(leaves(part.g_stride)), None)
    across = isinstance(step, Basis) and step.path[:1] == (0,)
    if "dim" in panel.row_ruler.title:
        starts = [int(label) for label in (panel.col_ruler if across else panel.row_ruler).labels]
        found = {max((n for n, start in enumerate(starts) if start <= row), default=0) for row in rows}
        lit = [n for n, label in enumerate(panel.labels) if label and divmod(n, panel.cols)[1 if across else 0] in found]
        return _cells(panel, lit)
    wide = max(1, CHUNK * 8 // part.tensor.bits) if across else 1
    wanted = {str(row // wide * wide) for row in rows}
    return _cells(panel, [n for n, label in enumerate(panel.labels) if label.split(",")[0] in wanted])


def _lines(panel: Panel, lines: list[int]) -> tuple[Box, ...]:
    return tuple((line, 0, line + 1, panel.cols) for line in dict.fromkeys(lines) if 0 <= line < panel.rows)


def _cells(panel: Panel, cells: list[int]) -> tuple[Box, ...]:
    """Boxes around cells, those that follow each other in a row together."""
    out: list[Box] = []
    for n in cells:
        row, col = divmod(n, panel.cols)
        if out and out[-1][0] == row and out[-1][3] == col:
            out[-1] = (row, out[-1][1], row + 1, col + 1)
        else:
            out.append((row, col, row + 1, col + 1))
    return tuple(out)
