"""Notes beside a page: in a gutter at the right, with leaders that run between the cells and in the gutter, never over numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import hypot

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Note
from cute_viz.renderers import Options
from cute_viz.renderers.geometry import BOLD, FONT, PROSE, wrap
from cute_viz.renderers.placed import Page
from cute_viz.renderers.primitives import TEXT, Grid, Line, Path, Primitive
from cute_viz.renderers.shapes import arrows
from cute_viz.renderers.targets import Target, target_of

GUTTER, NARROW, NARROWEST = 190.0, 110.0, 60.0  # px of the gutter, of one of a column, and of any
LEAST = 0.4  # of the width of cells that a gutter leaves, or else the notes are below
KEPT = 0.7  # of the width of cells that a legend below them leaves
INSET = 0.5  # px between an outline and the edge of its cells
LEAD = 12.0  # px from the cells to the leaders that run up and down, and from these to the text
STEP = 5.0  # px between such leaders
BRACE = 8.0  # px from the cells to a brace
LINE = 1.35  # of a font


def with_notes(figure: Figure, options: Options, lay_out: Callable[[Figure, Options], Page]) -> Page:
    """The page of a figure with its notes; lay_out: makes that of the figure alone."""
    target, bare = target_of(options), replace(figure, notes_on=())
    size = max(float(FONT), target.least)
    alone = None
    if target.width is not None:
        words = [wrap(_called(figure, note), target.width - 2 * LEAD, size * PROSE) for note in figure.notes_on]
        alone = lay_out(bare, replace(options, below=size + sum(_high(lines, size) for lines in words)))
    try:
        page, gutter, edge = _with_gutter(bare, options, target, lay_out)
    except FigureError:
        if alone is None:
            raise
        page, gutter, edge = alone, 0.0, 0.0
    if alone and any(a.grid.cell_w < LEAST * b.grid.cell_w for a, b in zip(page.panels, alone.panels, strict=False)):
        page, gutter, edge = alone, 0.0, 0.0
    lines, height = _placed(figure, page, gutter, size, target.margin)
    if alone and gutter and _crossed(lines, page):
        page, gutter, edge = alone, 0.0, 0.0
        lines, height = _placed(figure, page, gutter, size, target.margin)
    texts = [line for line in (*page.items, *lines) if isinstance(line, Line)]
    wide = max(line.x + len(line.text) * line.size * (BOLD if line.weight != 400 else PROSE) for line in texts) + target.margin
    wide = min(page.width + gutter, max(edge, wide)) if gutter else page.width

    def items() -> Iterator[Primitive]:
        yield from page.items
        yield from lines

    whole = replace(figure, paints=page.figure.paints)  # which may have more than the figure
    return replace(page, figure=whole, width=wide, height=max(page.height, height), draw=lambda: list(items()))


def _with_gutter(
    bare: Figure, options: Options, target: Target, lay_out: Callable[[Figure, Options], Page]
) -> tuple[Page, float, float]:
    """The page of the figure alone, the width of a gutter beside it, and where it ends at the left of that."""
    gutter = NARROW if (target.width or 1e9) < 500 else GUTTER
    page = lay_out(bare, replace(options, width=target.width - gutter if target.width else None))
    edge = max([place.grid.right for place in page.panels], default=page.width) + target.margin
    for width in (edge, edge + 2 * target.margin) if not bare.flow and options.cell is None else ():
        below = lay_out(bare, replace(options, width=max(200.0, width)))  # the legend goes below, where no leader crosses it
        kept = KEPT if target.height else 1.0
        pairs = zip(below.panels, page.panels, strict=False)
        if below.width < page.width and all(a.grid.cell_w >= kept * b.grid.cell_w for a, b in pairs):
            page = below
            break
    return page, max(NARROWEST, min(gutter, (target.width or 1e9) - page.width)), edge


def _placed(figure: Figure, page: Page, gutter: float, size: float, left: float) -> tuple[list[Primitive], float]:
    """The outlines, leaders and texts of all notes, and how far down they reach; without a gutter the texts are below."""
    by_panel = {id(panel): n for n, panel in enumerate(figure.panels)}
    grids = {by_panel[id(place.panel)]: place.grid for place in page.panels if id(place.panel) in by_panel}
    if len(page.panels) == len(figure.panels):
        for n, place in enumerate(page.panels):
            if (place.panel.rows, place.panel.cols) == (figure.panels[n].rows, figure.panels[n].cols):
                grids.setdefault(n, place.grid)
    beside = any(x > panel.cols for panel in figure.panels for shape in panel.shapes for x, _ in shape.points)
    right, low = (max((getattr(grid, side) for grid in grids.values()), default=0.0) for side in ("right", "bottom"))
    beside = beside or any(isinstance(item, Line) and item.x > right and item.y < low for item in page.items)  # a legend
    far = page.width if beside or not grids else right + 2 * LEAD
    x = far + LEAD if gutter else left
    out: list[Primitive] = []
    ends: list[tuple[float, float, Note]] = []  # y of the leader, its right end, the note
    for note in figure.notes_on:
        grid = grids.get(note.panel)
        if grid is not None:
            out += _marks(note, grid)
        if grid is None or not gutter:
            top = page.panels[0].grid.top if page.panels else 20.0
            ends.append((top if gutter else page.height, -1.0, note))
            continue
        r0, _, r1, c1 = max(note.boxes, key=lambda box: (box[3], -box[0]))
        braced = note.where.startswith("brace ") and r1 - r0 == grid.rows
        edge = r1 if r1 < grid.rows or braced else r0 or grid.rows // 2  # of its row, where no number stands; not on the frame
        ends.append((grid.top + edge * grid.cell_h + BRACE * braced, grid.left + c1 * grid.cell_w, note))
    bottom = 0.0
    for n, (y, start, note) in enumerate(sorted(ends, key=lambda end: end[0])):
        text = note.text if start >= 0 else _called(figure, note)
        words = wrap(text, (gutter or page.width) - 2 * LEAD, size * PROSE)
        middle = max(y, bottom + size)
        if start >= 0:
            turn = far - LEAD + STEP * (n % 4)
            corners = [(start, y), (turn, y), (turn, middle), (x - 4, middle)]
            out.append(Path([_distinct(corners)], TEXT, 1.0))
        out += [Line(word, x, middle + size * LINE * k, size, TEXT) for k, word in enumerate(words)]
        bottom = middle + _high(words, size)
    return out, bottom + size


def _crossed(lines: Sequence[Primitive], page: Page) -> bool:
    """Whether a leader runs through a text at the right of the cells, of a legend that has room nowhere else."""
    right = max((place.grid.right for place in page.panels), default=0.0)
    texts = [item for item in page.items if isinstance(item, Line) and item.x > right]
    level = [
        (x, u, y) for item in lines if isinstance(item, Path) for line in item.lines for (x, y), (u, v) in pairwise(line) if y == v
    ]
    return any(abs(text.y - y) < text.size / 2 and x < text.x < u for text in texts for x, u, y in level)


def _high(words: Sequence[str], size: float) -> float:
    return size * LINE * len(words) + 4


def _called(figure: Figure, note: Note) -> str:
    """A note with the cells that it is of, and their panel."""
    of = f"{figure.panels[note.panel].caption.partition(':')[0]} " if len(figure.panels) > 1 else ""
    return f"{of}{note.where}: {note.text}"


def _marks(note: Note, grid: Grid) -> Iterator[Primitive]:
    """Outlines of the cells of a note, or braces on their right or below; where it is an arrow, from the one to the other."""
    lines = []
    for r0, c0, r1, c1 in note.boxes:
        x0, x1 = grid.left + c0 * grid.cell_w + INSET, grid.left + c1 * grid.cell_w - INSET
        y0, y1 = grid.top + r0 * grid.cell_h + INSET, grid.top + r1 * grid.cell_h - INSET
        if not note.where.startswith("brace "):
            lines.append([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])
        elif r0 == 0 and r1 == grid.rows:
            lines.append([(x0, y1 + 3), (x0, y1 + BRACE), (x1, y1 + BRACE), (x1, y1 + 3)])
        else:
            lines.append([(x1 + 3, y0), (x1 + BRACE, y0), (x1 + BRACE, y1), (x1 + 3, y1)])
    yield Path(lines, TEXT, 2.2)
    if "->" in note.where:
        (x0, y0), (x1, y1) = (
            (grid.left + (c0 + c1) / 2 * grid.cell_w, grid.top + (r0 + r1) / 2 * grid.cell_h) for r0, c0, r1, c1 in note.boxes
        )
        far = max(1.0, hypot(x1 - x0, y1 - y0))
        dx, dy = (x1 - x0) / far, (y1 - y0) / far
        away = min(min(grid.cell_w, grid.cell_h) / 2, far / 3)  # from the middle of a cell to its edge, where no number stands
        start, end = (x0 + dx * away, y0 + dy * away), (x1 - dx * away, y1 - dy * away)
        yield from arrows([[start, end]], TEXT, 1.6)


def _distinct(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [p for n, p in enumerate(points) if n == 0 or p != points[n - 1]]
