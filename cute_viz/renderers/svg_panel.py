"""One panel as SVG: cells, labels, borders, boxes and rulers, each kind of thing in one element.

svgwrite takes about 90 microseconds an element, so what repeats is grouped (a path for each paint, one for each
weight of line), and the labels, the one thing that cannot be grouped, are joined as strings. `Chunk` puts such a
string into svgwrite's tree as a comment, which no escaped text can forge; the document replaces it at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from cute_viz.figures.model import HOLE, Paint, Panel
from cute_viz.figures.palette import Palette
from cute_viz.renderers.colours import BORDER, HOLE_COLOUR, LINE, MUTED, TEXT
from cute_viz.renderers.frame import BORDERS, LINES_FROM, Detail, Frame
from cute_viz.renderers.geometry import CAPTION, CHAR, FONT, SMALL, column_step, row_step, runs
from cute_viz.renderers.letters import xml
from cute_viz.renderers.svg_import import svgwrite

BASELINE = 0.35  # from the middle of a letter down to its baseline, in font sizes
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif"


@dataclass(slots=True)
class Chunk:
    """A piece of ready-made SVG in svgwrite's tree."""

    key: str

    def get_xml(self) -> Any:
        """The comment that holds the piece's place, as svgwrite asks for it."""
        return ElementTree.Comment(self.key)


@dataclass(slots=True)
class Canvas:
    """The drawing under way, its colours, and the chunks to be spliced in at the end."""

    drawing: Any
    ids: str
    colours: Palette
    paints: tuple[Paint, ...]
    chunks: dict[str, str] = field(default_factory=dict)

    def chunk(self, text: str) -> Chunk:
        """Keep a piece of ready-made SVG until the document is written; gives what stands for it in the tree."""
        key = f"chunk-{len(self.chunks)}"
        self.chunks[key] = text
        return Chunk(key)

    def group(self, cls: str = "", **attributes: Any) -> Any:
        """A new group at the end of the drawing."""
        if cls:
            attributes["class_"] = cls
        return self.drawing.add(svgwrite.container.Group(debug=False, **attributes))

    def path(self, d: str, cls: str, **attributes: Any) -> None:
        """A path at the end of the drawing; nothing where there is nothing to draw."""
        if d:
            self.drawing.add(svgwrite.path.Path(d=d, debug=False, class_=cls, **attributes))

    def text(self, words: str, x: float, y: float, cls: str, size: float, **attributes: Any) -> None:
        """A line of text whose middle is at height y."""
        at = (number(x), number(y + BASELINE * size))
        attributes = {"font_size": number(size), "debug": False, "class_": cls, **attributes}
        self.drawing.add(svgwrite.text.Text(xml(words), insert=at, **attributes))


def draw(canvas: Canvas, frame: Frame, x: float, y: float) -> None:
    """The panel with its upper left corner at (x, y)."""
    left, top = x + frame.left, y + frame.top
    panel = frame.panel
    for n, line in enumerate(frame.caption):
        at = y + CAPTION * (1.5 * n + 0.7)
        canvas.text(line, left, at, "t", CAPTION, font_family=SANS, font_weight="600", fill=TEXT)
    xs = [number(left + c * frame.cell_w) for c in range(panel.cols + 1)]
    ys = [number(top + r * frame.cell_h) for r in range(panel.rows + 1)]
    if frame.detail == Detail.RASTER:
        _raster(canvas, frame, left, top)
    else:
        _cells(canvas, frame, xs, ys)
    _lines(canvas, frame, xs, ys)
    _boxes(canvas, frame, left, top)
    _ears(canvas, frame, left, top)
    _labels(canvas, frame, left, top)
    _marks(canvas, frame, left, top)
    _rulers(canvas, frame, left, top)


def _cells(canvas: Canvas, frame: Frame, xs: list[str], ys: list[str]) -> None:
    """One path for each paint; a run of equal cells in a row is one rectangle."""
    panel, cols = frame.panel, frame.panel.cols
    paths: dict[int, list[str]] = {}
    height = number(frame.cell_h)
    for r in range(panel.rows):
        c = 0
        for paint, n in runs(panel.paints[r * cols : (r + 1) * cols]):
            width = number(n * frame.cell_w)
            paths.setdefault(paint, []).append(f"M{xs[c]} {ys[r]}h{width}v{height}h-{width}z")
            c += n
    for paint in sorted(paths):
        fill = f"url(#{canvas.ids}h)" if paint == HOLE else canvas.colours.fill(canvas.paints[paint])
        canvas.path("".join(paths[paint]), "hole" if paint == HOLE else "cell", fill=fill)


def _raster(canvas: Canvas, frame: Frame, left: float, top: float) -> None:
    """The cells as the pixels of one image."""
    from base64 import b64encode

    from cute_viz.renderers.pixels import raster

    panel = frame.panel
    colours = [canvas.colours.fill(paint) for paint in canvas.paints]
    step = max(1, round(1 / frame.cell_w))
    data = b64encode(raster(panel, colours, HOLE_COLOUR, max(1, int(frame.cell_w)), step)).decode()
    size = f'width="{number(panel.cols * frame.cell_w)}" height="{number(panel.rows * frame.cell_h)}"'
    place = f'x="{number(left)}" y="{number(top)}" {size} preserveAspectRatio="none" style="image-rendering:pixelated"'
    canvas.drawing.add(canvas.chunk(f'<image class="raster" {place} xlink:href="data:image/png;base64,{data}"/>'))


def _lines(canvas: Canvas, frame: Frame, xs: list[str], ys: list[str]) -> None:
    """Cell lines, tile borders by level, and the frame."""
    panel = frame.panel
    by_level: list[list[str]] = [[], [], []]
    for level, y in zip(panel.row_ruler.levels[1:-1], ys[1:-1], strict=True):
        by_level[min(level, 2)].append(f"M{xs[0]} {y}H{xs[-1]}")
    for level, x in zip(panel.col_ruler.levels[1:-1], xs[1:-1], strict=True):
        by_level[min(level, 2)].append(f"M{x} {ys[0]}V{ys[-1]}")
    if min(frame.cell_w, frame.cell_h) >= LINES_FROM:
        canvas.path("".join(by_level[0]), "l", fill="none", stroke=LINE, stroke_opacity="0.16", stroke_width="0.8")
    for level in (1, 2):
        width = min(BORDERS[level - 1], 0.4 * frame.cell_w)
        canvas.path("".join(by_level[level]), "tile", fill="none", stroke=BORDER, stroke_width=number(width))
    frame_path = f"M{xs[0]} {ys[0]}H{xs[-1]}V{ys[-1]}H{xs[0]}Z"
    canvas.path(frame_path, "b", fill="none", stroke=BORDER, stroke_width=number(BORDERS[0]))  # the one line on dark paper


def _boxes(canvas: Canvas, frame: Frame, left: float, top: float) -> None:
    """Rounded outlines, inset so that neighbours stay apart; none where they would hide the cells."""
    inset, radius = 1.6, frame.corner
    if not radius:
        return
    corner = number(radius)
    a = f"a{corner} {corner} 0 0 1 "
    xs = [f"M{number(left + c * frame.cell_w + inset + radius)} " for c in range(frame.panel.cols)]
    ys = [number(top + r * frame.cell_h + inset) for r in range(frame.panel.rows)]
    outlines: dict[tuple[int, int], str] = {}  # by rows and columns: all that does not depend on the place
    out = []
    for r0, c0, r1, c1 in frame.panel.boxes:
        size = (r1 - r0, c1 - c0)
        if size not in outlines:
            w, h = (
                extent * cell - 2 * inset - 2 * radius
                for extent, cell in zip(size[::-1], (frame.cell_w, frame.cell_h), strict=True)
            )
            turns = [f"{a}{right}{corner} {down}{corner}" for right, down in (("", ""), ("-", ""), ("-", "-"), ("", "-"))]
            outlines[size] = f"h{number(w)}{turns[0]}v{number(h)}{turns[1]}h{number(-w)}{turns[2]}v{number(-h)}{turns[3]}z"
        out.append(xs[c0] + ys[r0] + outlines[size])
    canvas.path("".join(out), "box", fill="none", stroke=BORDER, stroke_width="1.1")


def _ears(canvas: Canvas, frame: Frame, left: float, top: float) -> None:
    """A dog-ear in the upper right corner of each cell that has several owners."""
    out = []
    for cell in frame.labels.shared:
        r, c = divmod(cell, frame.panel.cols)
        out.append(f"M{number(left + (c + 1) * frame.cell_w)} {number(top + r * frame.cell_h)}h-8l8 8z")
    canvas.path("".join(out), "ear", fill="#000000", fill_opacity="0.55")


def _labels(canvas: Canvas, frame: Frame, left: float, top: float) -> None:
    """A text for each label, grouped by line and by ink."""
    panel = frame.panel
    inks = [canvas.colours.ink(paint) for paint in canvas.paints] or ["#000000"]
    lines = frame.labels.lines
    xs = [number(left + (c + 0.5) * frame.cell_w) for c in range(panel.cols)]
    for n, labels in enumerate(lines):
        size = FONT if n == 0 else SMALL
        middle = frame.middle(n)
        ys = [number(top + r * frame.cell_h + middle + BASELINE * size) for r in range(panel.rows)]
        for ink in dict.fromkeys(inks):
            text = "".join(_texts(panel, labels, xs, ys, None if len(set(inks)) == 1 else [i == ink for i in inks]))
            if text:
                weight = {"font_weight": "600"} if n == 0 and len(lines) > 1 else {}
                opacity = {"fill_opacity": "0.8"} if n else {}
                group = canvas.group(font_family=MONO, font_size=number(size), text_anchor="middle", fill=ink, **weight, **opacity)
                group.add(canvas.chunk(text))


def _texts(panel: Panel, labels: tuple[str, ...], xs: list[str], ys: list[str], only: list[bool] | None) -> Iterable[str]:
    """The text elements of the labels, row by row; with `only`, of the cells whose paint is chosen."""
    cols = panel.cols
    ends = {label: f"{label if label.isalnum() else escape(xml(label))}</text>" for label in set(labels)}
    heads = [f'<text x="{x}" y="' for x in xs]
    for r, y in enumerate(ys):
        row, middle = labels[r * cols : (r + 1) * cols], f'{y}">'
        if only is None:
            yield "".join([head + middle + ends[label] for head, label in zip(heads, row, strict=True) if label])
        else:
            mine = zip(heads, row, panel.paints[r * cols : (r + 1) * cols], strict=True)
            yield "".join([head + middle + ends[label] for head, label, paint in mine if label and only[max(0, paint)]])


def _marks(canvas: Canvas, frame: Frame, left: float, top: float) -> None:
    """A text for each label of several cells, in their middle."""
    by_ink: dict[str, list[str]] = {}
    papers: list[str] = []  # below the names of groups, so that no line runs through them
    for mark in frame.marks:
        ink = "#000000" if mark.paint == HOLE else canvas.colours.ink(canvas.paints[mark.paint])
        x = number(left + (mark.c0 + mark.c1) / 2 * frame.cell_w)
        middle = top + (mark.r0 + mark.r1) / 2 * frame.cell_h
        if frame.detail == Detail.COLOUR:
            fill = HOLE_COLOUR if mark.paint == HOLE else canvas.colours.fill(canvas.paints[mark.paint])
            papers.append(
                f'<rect x="{number(left + (mark.c0 + mark.c1) / 2 * frame.cell_w - mark.width / 2)}" y="{number(middle - 8)}" '
                f'width="{number(mark.width)}" height="16" rx="3" fill="{fill}"/>'
            )
        for n, line in enumerate(mark.lines):
            size = FONT if n == 0 else SMALL
            y = middle + mark.middle(n) + BASELINE * size
            small = f' font-size="{SMALL}"' if n else ""
            by_ink.setdefault(ink, []).append(f'<text x="{x}" y="{number(y)}"{small}>{escape(xml(line))}</text>')
    if papers:
        canvas.group().add(canvas.chunk("".join(papers)))
    for ink, texts in by_ink.items():
        group = canvas.group(font_family=MONO, font_size=number(FONT), text_anchor="middle", fill=ink, font_weight="600")
        group.add(canvas.chunk("".join(texts)))


def _rulers(canvas: Canvas, frame: Frame, left: float, top: float) -> None:
    """Row labels at the left, column labels on top, as many as fit, and the titles with arrows."""
    panel = frame.panel
    style = {"font_family": MONO, "font_size": number(FONT), "fill": MUTED}
    every = column_step(panel.col_ruler.labels, CHAR * FONT, frame.cell_w)
    y = number(top - 11 + BASELINE * FONT)
    columns = [
        f'<text x="{number(left + (c + 0.5) * frame.cell_w)}" y="{y}">{escape(xml(panel.col_ruler.labels[c]))}</text>'
        for c in range(0, panel.cols, every)
    ]
    canvas.group("m", text_anchor="middle", **style).add(canvas.chunk("".join(columns)))
    x = number(left - 8)
    down = row_step(FONT, frame.cell_h)
    rows = [
        f'<text x="{x}" y="{number(top + (r + 0.5) * frame.cell_h + BASELINE * FONT)}">{escape(xml(label))}</text>'
        for r, label in enumerate(panel.row_ruler.labels)
        if r % down == 0
    ]
    canvas.group("m", text_anchor="end", **style).add(canvas.chunk("".join(rows)))
    if panel.row_ruler.title:
        canvas.text(f"{panel.row_ruler.title} ↓", left - 8, top - 11, "m", FONT, text_anchor="end", font_family=SANS, fill=MUTED)
    if panel.col_ruler.title:
        canvas.text(f"{panel.col_ruler.title} →", left + 2, top - 29, "m", FONT, font_family=SANS, fill=MUTED)


def number(x: float) -> str:
    """A coordinate with two digits at most and no trailing zeros.

    >>> number(3.0), number(2.5), number(1 / 3)
    ('3', '2.5', '0.33')
    """
    return f"{x:.2f}".rstrip("0").rstrip(".") if x != int(x) else str(int(x))
