"""Levels of a GEMM's zoom: what one is drawn as, the CTAs of C, and a cluster of them with the tiles that it shares."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.errors import FigureError
from cute_viz.figures.model import Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions

SIDE = 8.0  # cells of the figure that the longer side of a panel takes
HUES = 8
ORDER = (0, 3, 4, 6, 2, 5, 7, 6)  # hues, of the group that is opened first; red is a conflict
LIT, BESIDE, PAPER = 0, HUES, 2 * HUES  # paints: of the group that is opened, its own faded, and none; the other groups' between
CTAS, MOST_CTAS = 8, 64  # of a launch along one side that are drawn, and that can be opened
IN_CLUSTER = 16  # CTAs of a cluster at most (CUDA: 8, 16 where a kernel asks for them)


def by(rows: int, cols: int, what: str) -> str:
    """So many things in rows and columns: `2x2 warps`, `1 warp`."""
    return f"{rows}x{cols} {what}s" if rows * cols > 1 else f"1 {what}"


def level(
    place: tuple[int, int],
    extents: tuple[int, int],
    cell: tuple[int, int],
    caption: str,
    foot: str,
    cells: Sequence[tuple[str, int]],
    shapes: Sequence[Shape] = (),
    down: Sequence[str] = (),
    across: Sequence[str] = (),
) -> Panel:
    """A level: labels and paints of its cells, and how many elements each is high and broad. Its longer side is as long as that
    of any other, no side less than a quarter of it."""
    (rows, cols), (tall, wide) = extents, cell
    long = max(rows * tall, cols * wide)
    return Panel(
        caption=caption,
        labels=tuple([label for label, _ in cells]),
        paints=tuple([paint for _, paint in cells]),
        row_ruler=Ruler("", tuple(down) or ("",) * rows),
        col_ruler=Ruler("", tuple(across) or ("",) * cols),
        shapes=tuple(shapes),
        foot=foot,
        place=place,
        unit=(max(wide * cols, long / 4) * SIDE / long / cols, max(tall * rows, long / 4) * SIDE / long / rows),
    )


def outline(top: float, left: float, bottom: float, right: float, look: str = "strong") -> Shape:
    """A box around some cells, the rows and columns half-open."""
    return Shape("box", ((left, top), (right, bottom)), "", look)


def opened(options: FigureOptions) -> tuple[int, int]:
    """The coordinates of the CTA that is opened, one of the launch where there is one."""
    coord, grid = options.coord, options.grid or (MOST_CTAS, MOST_CTAS)
    most = min(grid[0], MOST_CTAS), min(grid[1], MOST_CTAS)
    parts = (coord or f"{min(2, most[0] - 1)},{min(CTAS - 1, most[1] - 1)}").replace(" ", "").split(",")
    if len(parts) != 2 or not all(part.isdecimal() and int(part[:9]) < end for part, end in zip(parts, most, strict=True)):
        words = f"`coord={coord}`: the CTA of this zoom is a row below {most[0]} and a column below {most[1]}"
        raise FigureError(words, hint=f"example: {min(2, most[0] - 1)},{min(3, most[1] - 1)}")
    return int(parts[0]), int(parts[1])


def clustered(options: FigureOptions) -> tuple[int, int, int, int]:
    """The rows and columns of CTAs in the cluster of the CTA that is opened, half-open; that CTA alone without a cluster."""
    grid, (m, n), (r, c) = options.grid, options.cluster or (1, 1), opened(options)
    if m * n > IN_CLUSTER or (grid is not None and (grid[0] % m or grid[1] % n)):
        words = f"`cluster={m}x{n}`: a cluster has at most {IN_CLUSTER} CTAs and divides the grid"
        raise FigureError(words, hint="`cluster=2x1`")
    top, left = r // m * m, c // n * n
    return top, left, top + m, left + n


def ctas(tile: tuple[int, int], options: FigureOptions, called: str, whole: bool) -> Panel:
    """The CTAs of a launch; of one that is not known, or has many, the first. The CTA that is opened is lit, or as a whole its
    cluster."""
    grid, at, (top, left, bottom, right) = options.grid, opened(options), clustered(options)
    rows, cols = max(CTAS, bottom, right), max(CTAS, bottom, right)
    words = f"{rows} × {cols} {called}s and on"
    if grid is not None:
        rows, cols = min(grid[0], max(CTAS, bottom)), min(grid[1], max(CTAS, right))
        words = f"{grid[0]} × {grid[1]} {called}s" + ("" if (rows, cols) == grid else f", the first {rows} × {cols}")
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    mine = {(r, c) for r, c in cells if top <= r < bottom and left <= c < right}
    begins = (top, left) if whole else at
    foot = f"{'the cluster of ' * whole}{called} ({at[0]}, {at[1]}) begins at C({begins[0] * tile[0]}, {begins[1] * tile[1]})"
    foot += "; dashed: its cluster" * (len(mine) > 1 and not whole)
    shown = [(f"{r},{c}" if (r, c) == at and not whole else "", LIT if (r, c) == at or whole else BESIDE) for r, c in cells]
    shown = [one if cell in mine else ("", PAPER) for cell, one in zip(cells, shown, strict=True)]
    around = [outline(top, left, bottom, right, "strong" if whole else "strong dashed")] if len(mine) > 1 else []
    shapes = around if whole else [*around, outline(*at, at[0] + 1, at[1] + 1)]
    return level((0, 0), (rows, cols), (1, 1), f"1 Grid  {words}", foot, shown, shapes)


def cluster(options: FigureOptions, called: str) -> tuple[Panel, str]:
    """A cluster, its tiles of A at the left and of B above, with an arrow to each CTA that a multicast by TMA gives one to; and
    what that saves: CTAs of a row have the same tile of A, those of a column the same of B."""
    top, left, bottom, right = clustered(options)
    m, n = bottom - top, right - left
    shown = [("", PAPER), *[(f"B{c}", 1) for c in range(left, right)]]
    for r in range(top, bottom):
        shown += [(f"A{r}", 4), *[(f"A{r}\nB{c}", BESIDE) for c in range(left, right)]]
    arrows = [((0.8, 1.14 + i), (1.08 + j, 1.14 + i)) for i in range(m) for j in range(n)]
    arrows += [((1.14 + j, 0.8), (1.14 + j, 1.08 + i)) for i in range(m) for j in range(n)]
    shapes = [outline(1, 1, 1 + m, 1 + n), *[Shape("arrow", points) for points in arrows]]
    gets = [f"{x} to {k} {called}s" for x, k in ((f"A{top}", n), (f"B{left}", m)) if k > 1]
    foot = f"in each step of K one load brings {' and one '.join(gets)}"
    of = (("A and B", m),) if m == n else (("A", n), ("B", m))
    parts = [f"each tile of {x} once, not {'twice' if k == 2 else f'{k} times'}" for x, k in of if k > 1]
    words = f"2 Cluster  {m} × {n} {called}s"
    panel = level((0, 1), (1 + m, 1 + n), (1, 1), words, foot, shown, shapes)
    return panel, f"A cluster of {m} × {n} {called}s loads {', and '.join(parts)}"
