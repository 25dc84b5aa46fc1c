"""The arrows of a figure on its page: curves from panel to panel, or from cells to cells."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.figures.model import Arrow, Panel
from cute_viz.renderers.frame import PanelFrame
from cute_viz.renderers.primitives import MUTED, Grid, Path
from cute_viz.renderers.shapes import HEAD
from cute_viz.renderers.shapes import arrows as pointed

WIDTH = 1.6  # px of a stroke
THIN = 0.9  # px: stroke of a line without a head
ROOM = 20.0  # px between two panels that an arrow down needs
FAR = 500.0  # px of a panel that has others than its own column below it
AWAY = 3.0  # px between an arrow and what it begins or ends at
MOST_PULL = 90.0  # px: how far a curve goes straight on

Point = tuple[float, float]
Rect = tuple[float, float, float, float]  # left, top, right, bottom


def arrows(found: Sequence[Arrow], frames: Sequence[PanelFrame], grids: Sequence[Grid]) -> list[Path]:
    """The arrows between panels of one row, or down to the next; else the panels' numbers show the way."""
    ways, joins = [], []
    for a in found:
        start, end = _rect(grids[a.source], frames[a.source], a.start), _rect(grids[a.target], frames[a.target], a.end)
        if not a.head:
            joins.append([((start[0] + start[2]) / 2, start[3]), ((end[0] + end[2]) / 2, end[1])])
        elif _is_drawn(a, frames):
            aside = frames[a.source].panel.place[0] == frames[a.target].panel.place[0]
            top, bottom = max(start[1], end[1]), min(start[3], end[3])
            if aside and top < bottom and not a.start and not a.end:  # straight on, where both panels stand
                start, end = (start[0], top, start[2], bottom), (end[0], top, end[2], bottom)
            ways.append(
                _curve(start, end)
                if aside
                else _down((grids[a.source].left, *start[1:]), (end[0], end[1] - frames[a.target].top, *end[2:]))
            )
    return [*(pointed(ways, MUTED, WIDTH) if ways else ()), *([Path(joins, MUTED, THIN)] if joins else ())]


def _is_drawn(a: Arrow, frames: Sequence[PanelFrame]) -> bool:
    """Whether the panels stand in one row, whole ones side by side, or in rows with room for an arrow between."""
    (row, col), (end, to) = (frames[n].panel.place for n in (a.source, a.target))
    whole, source = not a.start and not a.end, frames[a.source]
    if row == end:
        return not whole or abs(to - col) < 2
    lowest = all(frame.height <= source.height for frame in frames if frame.panel.place[0] == row)
    return whole and end == row + 1 and source.fit.gap >= ROOM and (to == col or lowest or source.width > FAR)


def undrawn(found: Sequence[Arrow], frames: Sequence[PanelFrame]) -> str:
    """Which of the numbered panels goes on in which, in words, where `arrows` leaves any of it out."""
    pairs: dict[tuple[int, int], None] = {}
    heads = [a for a in found if a.head] if frames else []
    if not all(_is_drawn(a, frames) for a in heads):
        for a in heads:
            source, target = (_number(frames[end].panel, end) for end in (a.source, a.target))
            if source != target:  # the panels of one step
                pairs[source, target] = None
    chains: list[list[int]] = []
    for source, target in pairs:
        before = next((chain for chain in chains if chain[-1] == source), None)
        if before is None:
            chains.append([source, target])
        else:
            before.append(target)
    return "; ".join(" → ".join(map(str, chain)) for chain in chains)


def _number(panel: Panel, at: int) -> int:
    """The number of a step, as the caption of its panel begins with it; the number of the panel where it has none."""
    head = panel.caption.partition(". ")[0]
    return int(head) if head.isdecimal() else at + 1


def crossed(found: Sequence[Arrow], panel: int, panels: Sequence[Panel]) -> list[int]:
    """The rows of a panel whose label an arrow goes through: at its end from the left, at its start to the left."""
    heads = [a for a in found if a.head and panels[a.source].place[0] == panels[a.target].place[0]]
    left = [a.start if panels[a.target].place < panels[a.source].place else a.end for a in heads]
    here = [a.source if panels[a.target].place < panels[a.source].place else a.target for a in heads]
    return [int(box[0] + box[2] - 1) // 2 for box, at in zip(left, here, strict=True) if box and at == panel]


def _rect(grid: Grid, frame: PanelFrame, box: tuple[float, ...]) -> Rect:
    """Where cells are; of a panel as a whole its rulers belong to it."""
    if not box:
        return grid.left - frame.left, grid.top, grid.right, grid.bottom
    r0, c0, r1, c1 = box
    left, top = grid.left + c0 * grid.cell_w, grid.top + r0 * grid.cell_h
    return left, top, left + (c1 - c0) * grid.cell_w, top + (r1 - r0) * grid.cell_h


def _down(a: Rect, b: Rect) -> list[Point]:
    """From the lower edge of one panel to the top of another, as straight as they stand."""
    bx = (b[0] + b[2]) / 2
    return _bent((min(max(bx, a[0]), a[2]), a[3] + AWAY), (bx, b[1] - AWAY), (0, 1), b[1] - a[3] - 2 * AWAY)


def _curve(a: Rect, b: Rect) -> list[Point]:
    """From one rectangle to the other, the way that lies between them: to the right, to the left, or down (and up)."""
    ax, ay, bx, by = (a[0] + a[2]) / 2, (a[1] + a[3]) / 2, (b[0] + b[2]) / 2, (b[1] + b[3]) / 2
    if a[2] <= b[0]:
        return _bent((a[2] + AWAY, ay), (b[0] - AWAY, by), (1, 0))
    if b[2] <= a[0]:
        return _bent((a[0] - AWAY, ay), (b[2] + AWAY, by), (-1, 0))
    return _bent((ax, a[3] + AWAY), (bx, b[1] - AWAY), (0, 1)) if ay <= by else _bent((ax, a[1] - AWAY), (bx, b[3] + AWAY), (0, -1))


def _bent(start: Point, tip: Point, way: tuple[int, int], most: float = MOST_PULL) -> list[Point]:
    """Points of a curve that leaves and arrives in one direction; a straight line where the two lie in it. most: px straight on."""
    if (start[0] == tip[0]) if way[1] else (start[1] == tip[1]):
        return [start, tip]
    end = tip[0] - way[0] * HEAD, tip[1] - way[1] * HEAD
    pull = min(most, max(abs(end[0] - start[0]), abs(end[1] - start[1])) / 2)
    pulled = start, (start[0] + way[0] * pull, start[1] + way[1] * pull), (end[0] - way[0] * pull, end[1] - way[1] * pull), end
    return [*curved(pulled), tip]


def curved(points: Sequence[Point]) -> list[Point]:
    """A cubic curve from the first of four points to the last, which the others pull, as a line."""
    weights = [((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in (n / 16 for n in range(17))]
    return [tuple(sum(w * point[axis] for w, point in zip(ws, points, strict=True)) for axis in (0, 1)) for ws in weights]  # type: ignore[misc]
