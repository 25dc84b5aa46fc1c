"""A moving SVG: of the steps of an operation panel after panel, then the elements of the first go where they land in the last; of
the wavefronts of an access one after the other, accesses side by side in time.

The page is the still one: what moves lies above it and is not seen where nothing moves, so that a viewer without animations, a
print, and whoever prefers less motion have the steps. A style sheet moves it; no script is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure
from cute_viz.renderers import Options
from cute_viz.renderers.geometry import number
from cute_viz.renderers.page import page_of
from cute_viz.renderers.placed import Page, Place
from cute_viz.renderers.primitives import INK, MIDDLE, PAPER, Path, Primitive, Texts
from cute_viz.renderers.svg import write

STEP, TRAVEL, REST = 1.4, 0.8, 3.0  # seconds: of a panel, of an element on its way, at the end, when all is seen
BETWEEN, WHOLE = 0.4, 12.0  # seconds between two elements, and of all of them at most
FLIGHTS = 64  # groups that move one after the other
BEAT = 0.45  # seconds of a wavefront
HIDE = 0.93  # how much of a panel is hidden before its step


def render(figure: Figure, options: Options) -> str:
    """The steps of an operation (`figures.motion`), or the wavefronts of an access (`figures.phases`), moving. Raises:
    FigureError for any other figure."""
    ways = [(n, cell) for n, cell in enumerate(figure.panels[-1].data.get("source", ())) if cell is not None]
    page = page_of(figure, options)
    mark = f"_{crc32(f'{figure.source} {page.width} {page.height}'.encode('utf-8', 'replace')):x}"  # several stand in one document
    if figure.kind == "phases":
        return _in_turn(page, options, mark)
    if figure.kind != "motion" or not ways or len(page.panels) != len(figure.panels):
        raise FigureError("only wavefronts and steps of an operation move", hint="example: logical_divide((4,8):(8,1), (2,4))")
    first, last = page.panels[0], page.panels[-1]
    ways.sort(key=lambda way: (way[0] % last.panel.cols, way[0] // last.panel.cols))  # as the layout counts
    each = -(-len(ways) // FLIGHTS)
    groups = [ways[n : n + each] for n in range(0, len(ways), each)]
    begin = STEP * (len(page.panels) - 1)
    between = min(BETWEEN, WHOLE / len(groups))
    end = begin + between * (len(groups) - 1) + TRAVEL
    whole = end + REST
    over: list[tuple[str, list[Primitive]]] = []
    rules: list[str] = []
    for n, place in enumerate(page.panels[1:], 1):
        until = (end if place is last else STEP * n) / whole * 100
        rules.append(f"@keyframes s{n}{mark}{{0%,{until:.2f}%{{opacity:{HIDE}}}{until + 0.01:.2f}%,to{{opacity:0}}}}")
        over.append((_moving(f"s{n}{mark}", whole), [_cover(place)]))
    for n, group in enumerate(groups):
        start, stop = (begin + between * n) / whole * 100, (begin + between * n + TRAVEL) / whole * 100
        rest = end / whole * 100
        for k, (to, cell) in enumerate(group):
            name = f"e{n}_{k}{mark}"
            (x, y), (u, v) = _middle(first, cell), _middle(last, to)
            far = f"transform:translate({number(x - u)}px,{number(y - v)}px)"
            rules.append(
                f"@keyframes {name}{{0%,{start:.2f}%{{opacity:0;{far}}}{start + 0.01:.2f}%{{opacity:1;{far}}}"
                f"{stop:.2f}%,{rest:.2f}%{{opacity:1;transform:none}}{rest + 0.01:.2f}%,to{{opacity:0;transform:none}}}}"
            )
            over.append((_moving(name, whole), list(_element(last, to))))
    style = "".join(rules) + "@media(prefers-reduced-motion:reduce){.go{animation:none!important}}"
    return write(page, options, tuple(over), style)


def _in_turn(page: Page, options: Options, mark: str) -> str:
    """Rows that are seen one after the other, those of the same number in all panels at once; at the end all of them."""
    rows = max(place.panel.rows for place in page.panels)
    whole = rows * BEAT + REST
    rules = [f"@keyframes w{n}{mark}{{0%,{100 * n * BEAT / whole:.2f}%{{opacity:{HIDE}}}" for n in range(rows)]
    rules = [f"{rule}{100 * n * BEAT / whole + 0.01:.2f}%,to{{opacity:0}}}}" for n, rule in enumerate(rules)]
    over: list[tuple[str, list[Primitive]]] = []
    for place in page.panels:
        ys = place.grid.ys()
        over += [(_moving(f"w{n}{mark}", whole), [_hidden(place, ys[n], ys[n + 1])]) for n in range(1, place.panel.rows)]
    style = "".join(rules[1:]) + "@media(prefers-reduced-motion:reduce){.go{animation:none!important}}"
    return write(page, options, tuple(over), style)


def _moving(name: str, seconds: float) -> str:
    return f'class="go" opacity="0" style="animation:{name} {number(seconds)}s linear infinite"'


def _middle(place: Place, cell: int) -> tuple[float, float]:
    r, c = divmod(cell, place.panel.cols)
    return place.grid.left + (c + 0.5) * place.grid.cell_w, place.grid.top + (r + 0.5) * place.grid.cell_h


def _cover(place: Place) -> Path:
    """What hides the cells of a panel, and what stands around them."""
    return _hidden(place, place.grid.top - 2, place.grid.top + place.panel.rows * place.grid.cell_h + 2)


def _hidden(place: Place, top: float, low: float) -> Path:
    """What hides some rows of a panel."""
    left, right = place.grid.left - 2, place.grid.left + place.panel.cols * place.grid.cell_w + 2
    return Path([[(left, top), (right, top), (right, low), (left, low)]], INK, 0.0, PAPER)


def _element(place: Place, cell: int) -> Iterator[Primitive]:
    """A cell of the last panel, with its label, where it lands."""
    (x, y), w, h = _middle(place, cell), place.grid.cell_w / 2, place.grid.cell_h / 2
    paint, label = place.panel.paints[cell], place.panel.labels[cell]
    square = [(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)]
    yield Path([[*square, square[0]]], INK, 1.0, paint)
    size = min(11.0, (2 * w - 1) / (0.62 * max(1, len(label))))
    if size >= 6:
        yield Texts([x], [y], [label], [size], size, [paint], MIDDLE, 400)
