"""A journey on a page: side by side on a slide, else down one side and up the other; an arrow with its words for each movement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.figures.model import Arrow, Figure, Panel, Ruler
from cute_viz.figures.trim import picked
from cute_viz.renderers.arrows import WIDTH, curved
from cute_viz.renderers.fitting import Fitted
from cute_viz.renderers.frame import TIGHT, Detail, PanelFrame, frames
from cute_viz.renderers.geometry import BOLD, CAPTION, SMALL
from cute_viz.renderers.primitives import END, MIDDLE, MUTED, START, TEXT, Grid, Line, Primitive
from cute_viz.renderers.shapes import HEAD, arrows
from cute_viz.renderers.targets import Target

WORD, SMALLER = 11.0, 10.0  # px of the words at an arrow
ACROSS, BETWEEN = 16.0, 46.0  # px beside the words of an arrow to the right; between two rows of lanes
AWAY = 4.0  # px from a panel to its arrow
LEAST = 0.25  # px of a row
TITLED = 400.0  # px from which on there is room for the titles of rulers
GROUP, MANY = 8, 64  # lines of shared memory in which a swizzle repeats; of more, not all are seen
COLUMN = 4  # lanes, from which on they go down and up again


def placed(figure: Figure, target: Target) -> Figure:
    """The lanes in a row, under the names of their memories, or down one side and up the other."""
    n = len(figure.panels)
    some = tuple([_sampled(figure, panel) for panel in figure.panels])
    if some != figure.panels:
        figure = replace(
            figure, panels=some, notes=(*figure.notes, f"Of shared memory the first {GROUP} lines of each warp are shown.")
        )
    if target.is_landscape:
        named = [panel.caption.partition(": ") for panel in figure.panels]
        memories = Ruler("", tuple([memory for *_, memory in named]), (0,) * (n + 1))
        panels = tuple(
            [_edged(replace(panel, caption=name), panel.place) for panel, (name, *_) in zip(figure.panels, named, strict=True)]
        )
        return replace(figure, panels=panels, outer=(Ruler("", ("",), (0, 0)), memories))
    down = n if n < COLUMN else (n + 1) // 2
    places = [(k, 0) if k < down else (n - 1 - k, 1) for k in range(n)]
    return replace(figure, panels=tuple([_edged(panel, at) for panel, at in zip(figure.panels, places, strict=True)]))


def _sampled(figure: Figure, panel: Panel) -> Panel:
    """Of many lines of shared memory the first ones of each warp, in which a swizzle is seen; any other panel as it is."""
    if not panel.caption.endswith(": shared") or panel.rows <= MANY:
        return panel
    hues = [figure.paints[paint].hue for paint in panel.paints[:: panel.cols]]
    starts = [r for r in range(panel.rows) if r == 0 or hues[r] != hues[r - 1]]
    few = [r for start in starts for r in range(start, min(start + GROUP, panel.rows)) if hues[r] == hues[start]]
    return picked(panel, few, range(panel.cols))


def _edged(panel: Panel, at: tuple[int, int]) -> Panel:
    """The panel at a place, with the names of its rows where that is the first of a line."""
    ruler = panel.row_ruler if not at[1] else replace(panel.row_ruler, title="", labels=("",) * panel.rows)
    return replace(panel, place=at, row_ruler=ruler)


def fitted(figure: Figure, width: float, height: float, least: float) -> Fitted:
    """The frames in a width and a height: all panels as high as each other, and as wide in a row."""
    if width < TITLED:
        bare = [replace(panel, col_ruler=replace(panel.col_ruler, title="")) for panel in figure.panels]
        figure = replace(figure, panels=tuple(bare))
    rows = 1 + max(panel.place[0] for panel in figure.panels)
    cols = 1 + max(panel.place[1] for panel in figure.panels)
    widest = max((len(word) for arrow in figure.arrows for word in arrow.label.split("\n")), default=0)
    gap = max(WORD, least) * BOLD * widest + ACROSS
    fit = TIGHT._replace(narrow=40.0, lines=2, caption=max(CAPTION - 1, least), small=max(SMALL, least))
    found = [frame for panel in figure.panels for frame in frames(replace(figure, panels=(panel,)), Detail.COLOUR, 1.0, fit)]
    left = max(f.left for f in found if f.panel.place[1] == 0)
    wide = (width - left - gap * (cols - 1)) / cols - 4
    out = []
    top = 0.0
    for frame in found:
        w = wide / frame.panel.cols
        own = fit._replace(narrow=wide + (gap / 2 if cols > 2 else 0.0))
        (sized,) = frames(replace(figure, panels=(frame.panel,)), Detail.COLOUR, w, own)
        top = max(top, sized.top)
        out.append((w, own))
    high = (height - BETWEEN * (rows - 1)) / rows - top - 2
    made: list[PanelFrame] = []
    for frame, (w, own) in zip(found, out, strict=True):
        h = max(LEAST, high / frame.panel.rows)
        (sized,) = frames(replace(figure, panels=(frame.panel,)), Detail.COLOUR, w, own._replace(exact=h))
        made.append(replace(sized, left=left if frame.panel.place[1] == 0 else 0.0, top=top))
    places = [
        (0.0 if f.panel.place[1] == 0 else left + f.panel.place[1] * (wide + gap), f.panel.place[0] * (high + top + BETWEEN))
        for f in made
    ]
    total = max(top + f.panel.rows * f.cell_h for f in made) + (rows - 1) * (high + top + BETWEEN)
    return made, places, left + cols * wide + (cols - 1) * gap + 4, total


def movements(found: Sequence[Arrow], frames: Sequence[PanelFrame], grids: Sequence[Grid], least: float) -> list[Primitive]:
    """The arrows from lane to lane, with what moves and how much."""
    ways, words = list[list[tuple[float, float]]](), list[Primitive]()
    edge = max((grid.right for grid in grids), default=0.0)
    for arrow in found:
        a, b = grids[arrow.source], grids[arrow.target]
        (row, col), (end, to) = frames[arrow.source].panel.place, frames[arrow.target].panel.place
        size, small = max(WORD, least), max(SMALLER, least)
        lines = arrow.label.split("\n")
        if row == end:
            y = (a.top + a.bottom) / 2
            x0, x1 = a.right + AWAY, b.left - AWAY
            ways.append([(x0, y), (x1, y)])
            spots = [(x0 + x1) / 2] * 2, [y - 10, y + 12]
            anchor = MIDDLE
        elif col == to:
            x = (b.left + b.right) / 2
            top = b.top - frames[arrow.target].top
            y0, y1 = (a.bottom + AWAY, top - AWAY) if end > row else (a.top - frames[arrow.source].top - AWAY, b.bottom + AWAY)
            ways.append([(x, y0), (x, y1)])
            inside = x + 8 + size * BOLD * max(map(len, lines)) <= edge
            spots = [x + 8 if inside else x - 8] * 2, [(y0 + y1) / 2 - 7, (y0 + y1) / 2 + 7]
            anchor = START if inside else END
        else:  # round the corner, up to the other side
            y, x = (a.top + a.bottom) / 2, (b.left + b.right) / 2
            x0, y1 = a.right + AWAY, b.bottom + AWAY
            ways.append([*curved([(x0, y), (x, y), (x, y), (x, y1 + HEAD)]), (x, y1)])
            spots = [x + 8] * 2, [(y + y1) / 2 - 7, (y + y1) / 2 + 7]
            anchor = START
        for n, (text, x, y) in enumerate(zip(lines, *spots, strict=False)):
            role, letter, weight = (MUTED, small, 400) if n else (TEXT, size, 600)
            words += [Line(text, x, y, letter, role, weight=weight, anchor=anchor)] if text else []
    return [*arrows(ways, MUTED, WIDTH), *words] if ways else []
