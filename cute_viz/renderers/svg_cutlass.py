"""SVG as CuTe's print_svg writes it, of an MMA atom or a TiledMMA, byte for byte (cute/util/print_svg.hpp)."""

from __future__ import annotations

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel
from cute_viz.renderers.tikz_cutlass import PASTELS, drawn, mma_panels, owned

_CELL = 20


def render(figure: Figure) -> str:
    """The figure as print_svg would write it. Raises: FigureError for any other figure."""
    if figure.kind != "mma":
        raise FigureError("CuTe's print_svg draws MMA atoms and tiled MMAs only", hint="leave out `style=`")
    c, a, b = mma_panels(figure)
    k = a.cols
    head = f"<!--  Tile: {drawn(figure, 'tile')}  -->\n" + "".join(f"<!--     {x}: {drawn(figure, x)}  -->\n" for x in "ABC")
    size = f"{(k + b.cols + 2) * _CELL} {(k + a.rows + 2) * _CELL}"
    out = [
        head,
        f'<svg width="100%" height="100%" viewBox="0 0 {size}" preserveAspectRatio="xMidYMid meet" '
        'xmlns="http://www.w3.org/2000/svg">\n',
        _cells(c, k + 2, k + 2, "/>"),
        _cells(a, k + 2, 1, " />"),
        *(_text(10, (m + k + 2) * _CELL + 10, 12, str(m)) for m in range(a.rows)),
        *(_text((n + 1) * _CELL + 10, (k + 1) * _CELL + 10, 12, str(n)) for n in range(k)),
        _cells(b, 1, k + 2, " />"),
        *(_text((n + k + 2) * _CELL + 10, 10, 12, str(n)) for n in range(b.cols)),
        *(_text((k + 1) * _CELL + 10, (n + 1) * _CELL + 10, 12, str(n)) for n in range(k)),
        "</svg>\n",
    ]
    return "".join(out)


def _cells(panel: Panel, row: int, col: int, end: str) -> str:
    """Cells with their upper left one at (row, col)."""
    out = []
    for thread, value, cell in owned(panel):
        x, y = (col + cell % panel.cols) * _CELL, (row + cell // panel.cols) * _CELL
        colour = ",".join(map(str, PASTELS[thread % 8]))
        out.append(f'<rect x="{x}" y="{y}" width="20" height="20" fill="rgb({colour})" stroke="black"{end}\n')
        out.append(_text(x + 10, y + 5, 8, f"T{thread}") + _text(x + 10, y + 15, 8, f"V{value}"))
    return "".join(out)


def _text(x: int, y: int, size: int, words: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" alignment-baseline="central" font-size="{size}">{words}</text>\n'
