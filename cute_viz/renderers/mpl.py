"""PNG and PDF: a laid out page, drawn panel by panel onto a canvas of matplotlib's, and its bytes."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.path import Path

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure
from cute_viz.figures.palette import Palette, rgb
from cute_viz.limits import limit, over
from cute_viz.renderers import Options
from cute_viz.renderers.colours import BORDER, DARK, HOLE_COLOUR, LIGHT, LINE, page_palette
from cute_viz.renderers.frame import BORDERS, LINES_FROM, Detail, Frame
from cute_viz.renderers.geometry import CAPTION, CHAR, FONT, SMALL, column_step, row_step, runs
from cute_viz.renderers.letters import printable
from cute_viz.renderers.mpl_canvas import ADVANCE, DPI, MONO, SANS, Canvas, rectangle, rectangles, rounded
from cute_viz.renderers.page import Page, lay_out

LARGE = 3000  # px: larger pages are drawn at a pixel for each, smaller ones at two
SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "path.simplify": False,
    "text.usetex": False,
    "text.parse_math": False,
    "font.family": SANS,
}


def write(figure: Figure, options: Options, format: str) -> bytes:
    """The figure as the bytes of a PNG or a PDF.

    Refused: a PNG over the limit `pixels`, or with a side of more than 65536 pixels; more labels than the limit `labels`.

    >>> from cute_viz import figure
    >>> write(figure("(2,2)"), Options(), "pdf")[:5]
    b'%PDF-'
    """
    page = lay_out(figure, width=options.width, cell=options.cell, full=options.full)
    if format == "png" and page.width * page.height > limit("pixels"):
        size = f"a PNG of {page.width:.0f} x {page.height:.0f} pixels"
        raise over("pixels", size, instead="--width, --crop or --fold; SVG has no such limit")
    if format == "png" and max(page.width, page.height) > 1 << 16:  # of a side, by matplotlib
        raise FigureError(f"a PNG of {page.width:.0f} x {page.height:.0f} pixels is too long", hint="--width, --crop or --fold")
    labels = sum(len(frame.panel.labels) for frame, _, _ in page.panels if frame.detail == Detail.FULL)
    if labels > limit("labels"):
        raise over("labels", f"a {format} of {labels} labels", instead="--width, --crop or fewer labels; SVG has no such limit")
    with matplotlib.rc_context(SETTINGS):
        fine = format == "png" and max(page.width, page.height) <= LARGE
        scale = 2 if fine and all(frame.detail != Detail.RASTER for frame, _, _ in page.panels) else 1
        canvas = Canvas(page.width, page.height, scale, format)
        theme = DARK if options.theme == "dark" else LIGHT
        _Painter(canvas, page, page_palette(options), theme).paint()
        out = BytesIO()
        said: dict[str, Any] = {"Software": None}  # nothing of the machine or the day
        if format == "pdf":
            said = {"CreationDate": None, "Producer": None, "Creator": None, "Title": printable(figure.title)}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # it becomes a box, as everywhere
            canvas.finish().savefig(out, format=format, dpi=DPI * scale, metadata=said, facecolor=theme["p"])
    return out.getvalue()


class _Painter:
    """Puts a page onto a canvas; `svg.py` and `svg_panel.py` do the same in SVG."""

    def __init__(self, canvas: Canvas, page: Page, colours: Palette, theme: dict[str, str]) -> None:
        self.canvas, self.page, self.theme = canvas, page, theme
        paints = page.figure.paints  # HOLE is -1, the last
        self.fills = [*map(colours.fill, paints), HOLE_COLOUR]
        self.inks = [*map(colours.ink, paints), "#000000"]

    def paint(self) -> None:
        for frame, x, y in self.page.panels:
            self.panel(frame, x, y)
        for swatch in self.page.swatches:
            square, fill = rectangle(swatch.x, swatch.y, 14, 14), self.fills[swatch.paint]
            self.canvas.shape(square, face=fill, edge=self.theme["b"], width=0.6)
        for line in self.page.words:
            family = MONO if line.mono else SANS
            self.canvas.text(line.text, line.x, line.y, line.size, self.theme[line.cls], family, bold=line.bold)

    def panel(self, frame: Frame, x: float, y: float) -> None:
        left, top = x + frame.left, y + frame.top
        for n, line in enumerate(frame.caption):
            self.canvas.text(line, left, y + CAPTION * (1.5 * n + 0.7), CAPTION, self.theme["t"], SANS, bold=True)
        if frame.detail == Detail.RASTER:
            self._raster(frame, left, top)
        else:
            self._cells(frame, left, top)
        self._lines(frame, left, top)
        self._boxes(frame, left, top)
        self._labels(frame, left, top)
        self._ears(frame, left, top)
        self._marks(frame, left, top)
        self._rulers(frame, left, top)

    def _cells(self, frame: Frame, left: float, top: float) -> None:
        """One path for each paint; a run of equal cells in a row is one rectangle."""
        panel, cols = frame.panel, frame.panel.cols
        spans: dict[int, list[tuple[int, int, int]]] = {}
        for r in range(panel.rows):
            c = 0
            for paint, n in runs(panel.paints[r * cols : (r + 1) * cols]):
                spans.setdefault(paint, []).append((r, c, n))
                c += n
        for paint in sorted(spans):
            r, c, n = np.array(spans[paint]).T
            x0, x1 = left + c * frame.cell_w, left + (c + n) * frame.cell_w
            y0, y1 = top + r * frame.cell_h, top + (r + 1) * frame.cell_h
            self.canvas.shape(rectangles(x0, y0, x1, y1), face=self.fills[paint], sharp=True)
            if paint == HOLE:
                self._hatch(frame, left, top, spans[paint])

    def _hatch(self, frame: Frame, left: float, top: float, spans: list[tuple[int, int, int]]) -> None:
        """A diagonal through each hole."""
        w, h = frame.cell_w, frame.cell_h
        lines = [
            [(left + (c + i) * w, top + (r + 1) * h), (left + (c + i + 1) * w, top + r * h)] for r, c, n in spans for i in range(n)
        ]
        self.canvas.lines(lines, "#9aa4ae", 0.8)

    def _raster(self, frame: Frame, left: float, top: float) -> None:
        """The cells as the pixels of an image."""
        panel = frame.panel
        step = max(1, round(1 / frame.cell_w))
        table = np.array([rgb(fill) for fill in self.fills], dtype=np.uint8)
        paints = panel.paints
        numbers = np.frombuffer(paints, np.uint8) if isinstance(paints, bytes) else np.array(paints, dtype=np.int16)
        image = table[numbers.reshape(panel.rows, panel.cols)[::step, ::step]]
        fine = max(1, round(frame.cell_w * step))
        self.canvas.image(np.repeat(np.repeat(image, fine, axis=0), fine, axis=1), left, top)

    def _lines(self, frame: Frame, left: float, top: float) -> None:
        """Cell lines, tile borders by level, and the frame."""
        panel, w, h = frame.panel, frame.cell_w, frame.cell_h
        right, bottom = left + panel.cols * w, top + panel.rows * h
        by_level: list[list[Any]] = [[], [], []]
        for r, level in enumerate(panel.row_ruler.levels[1:-1], 1):
            by_level[min(level, 2)].append([(left, top + r * h), (right, top + r * h)])
        for c, level in enumerate(panel.col_ruler.levels[1:-1], 1):
            by_level[min(level, 2)].append([(left + c * w, top), (left + c * w, bottom)])
        if min(w, h) >= LINES_FROM:
            self.canvas.lines(by_level[0], LINE, 0.8, alpha=0.16)
        for level, width in enumerate(BORDERS, 1):
            self.canvas.lines(by_level[level], BORDER, min(width, 0.4 * w))
        self.canvas.shape(rectangle(left, top, right - left, bottom - top), edge=self.theme["b"], width=BORDERS[0])

    def _boxes(self, frame: Frame, left: float, top: float) -> None:
        """Rounded outlines, inset so that neighbours stay apart; one path for all of a size."""
        w, h, inset, radius = frame.cell_w, frame.cell_h, 1.6, frame.corner
        if not radius:
            return
        places: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for r0, c0, r1, c1 in frame.panel.boxes:
            places.setdefault((r1 - r0, c1 - c0), []).append((left + c0 * w, top + r0 * h))
        for (rows, cols), at in places.items():
            outline = rounded(inset, inset, cols * w - 2 * inset, rows * h - 2 * inset, radius)
            vertices = (outline.vertices[None] + np.array(at)[:, None]).reshape(-1, 2)
            self.canvas.shape(Path(vertices, np.tile(outline.codes, len(at))), edge=BORDER, width=1.1)

    def _labels(self, frame: Frame, left: float, top: float) -> None:
        panel, lines = frame.panel, frame.labels.lines
        for n, labels in enumerate(lines):
            size, middle = FONT if n == 0 else SMALL, frame.middle(n)
            bold = n == 0 and len(lines) > 1
            for cell, label in enumerate(labels):
                if label:
                    r, c = divmod(cell, panel.cols)
                    x, y = left + (c + 0.5) * frame.cell_w, top + r * frame.cell_h + middle
                    self.canvas.label(label, x, y, size, self.inks[panel.paints[cell]], bold)

    def _ears(self, frame: Frame, left: float, top: float) -> None:
        """A dog-ear in the upper right corner of each cell that has several owners."""
        ears = []
        for cell in frame.labels.shared:
            r, c = divmod(cell, frame.panel.cols)
            x, y = left + (c + 1) * frame.cell_w, top + r * frame.cell_h
            ears.append(Path([(x - 8, y), (x, y), (x, y + 8), (x - 8, y)], [1, 2, 2, 79]))
        self.canvas.shapes(ears, face="#555555")

    def _marks(self, frame: Frame, left: float, top: float) -> None:
        """A text for each label of several cells, in their middle; names of groups on a paper, so that no line runs through."""
        for mark in frame.marks:
            x = left + (mark.c0 + mark.c1) / 2 * frame.cell_w
            y = top + (mark.r0 + mark.r1) / 2 * frame.cell_h
            if frame.detail == Detail.COLOUR:
                self.canvas.shape(rounded(x - mark.width / 2, y - 8, mark.width, 16, 3), face=self.fills[mark.paint])
            for n, line in enumerate(mark.lines):
                self.canvas.label(line, x, y + mark.middle(n), FONT if n == 0 else SMALL, self.inks[mark.paint], True)

    def _rulers(self, frame: Frame, left: float, top: float) -> None:
        """Row labels at the left, column labels on top, as many as fit, and the titles with arrows."""
        panel, muted = frame.panel, self.theme["m"]
        every = column_step(panel.col_ruler.labels, CHAR * FONT, frame.cell_w)
        for c in range(0, panel.cols, every):
            self.canvas.label(panel.col_ruler.labels[c], left + (c + 0.5) * frame.cell_w, top - 11, FONT, muted)
        for r in range(0, panel.rows, row_step(FONT, frame.cell_h)):
            label = panel.row_ruler.labels[r]
            at = left - 8 - len(label) * FONT * ADVANCE / 2
            self.canvas.label(label, at, top + (r + 0.5) * frame.cell_h, FONT, muted)
        if panel.row_ruler.title:
            self.canvas.text(f"{panel.row_ruler.title} ↓", left - 8, top - 11, FONT, muted, SANS, anchor="end")
        if panel.col_ruler.title:
            self.canvas.text(f"{panel.col_ruler.title} →", left + 2, top - 29, FONT, muted, SANS)
