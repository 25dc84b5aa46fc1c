"""PNG and PDF: a laid out page drawn through matplotlib's objects, with collections in place of single artists.

One compound path for each paint, one line collection for each weight, and text in one artist: a label costs no object.
In a PDF labels are text in embedded fonts; in a PNG a glyph is a marker, stamped at each place where it stands.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from io import BytesIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure
from cute_viz.figures.palette import Palette, palette, rgb
from cute_viz.limits import limit, over
from cute_viz.renderers import Options
from cute_viz.renderers.colours import DARK, HOLE_COLOUR, LIGHT
from cute_viz.renderers.frame import CAPTION, CHAR, FONT, LINES_FROM, SMALL, Detail, Frame
from cute_viz.renderers.geometry import column_step, row_step, runs
from cute_viz.renderers.letters import printable
from cute_viz.renderers.page import Page, lay_out

DPI = 96  # px of a page are CSS pixels
MOST_TEXTS = 20_000  # labels that a PDF has as text; of more it has the outlines
LARGE = 3000  # px: larger pages are drawn at a pixel for each, smaller ones at two
MONO, SANS = "DejaVu Sans Mono", "DejaVu Sans"  # shipped with matplotlib, so that bytes do not depend on the machine
ADVANCE = 0.602  # width of a letter of MONO, in font sizes
BASELINE = 0.36  # from the middle of a letter down to its baseline, in font sizes
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

    Refused: a PNG over the limit `pixels`, or with a side of more than 65536 pixels.

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
        canvas = Canvas(figsize=(page.width / DPI, page.height / DPI), dpi=DPI * scale)
        theme = DARK if options.theme == "dark" else LIGHT
        canvas.patch.set_facecolor(theme["p"])
        _Painter(canvas, page, palette(options.palette or ("grey" if options.theme == "print" else None)), theme, format).paint()
        out = BytesIO()
        said: dict[str, Any] = {"Software": None}  # nothing of the machine or the day
        if format == "pdf":
            said = {"CreationDate": None, "Producer": None, "Creator": None, "Title": printable(figure.title)}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # it becomes a box, as everywhere
            canvas.savefig(out, format=format, dpi=DPI * scale, metadata=said, facecolor=theme["p"])
    return out.getvalue()


class _Texts(Artist):
    """Lines of text, drawn straight by the renderer: (text, x, y of the baseline, size px, colour, family, bold, anchor)."""

    def __init__(self, items: list[tuple[str, float, float, float, str, str, bool, str]], transform: Any, scale: float) -> None:
        super().__init__()
        self.items = items
        self.place = transform
        self.scale = scale  # of px of the page to px of the renderer

    def draw(self, renderer: Any) -> None:
        """Draws every line."""
        gc = renderer.new_gc()
        fonts: dict[tuple[float, str, bool], FontProperties] = {}
        for text, x, y, size, colour, family, bold, anchor in self.items:
            key = (size, family, bold)
            font = fonts.setdefault(key, FontProperties(family=family, weight="bold" if bold else "normal", size=size * 72 / DPI))
            px, py = self.place.transform((x, y))
            if anchor == "middle" and family == MONO:
                px -= len(text) * ADVANCE * size * self.scale / 2
            elif anchor != "start":
                width = renderer.get_text_width_height_descent(text, font, False)[0]
                px -= width if anchor == "end" else width / 2
            gc.set_foreground(colour)
            flipped = renderer.height - py if renderer.flipy() else py
            renderer.draw_text(gc, px, flipped, text, font, 0)
        gc.restore()


class _Pixels(Artist):
    """An image, a pixel for a px of the page, with its lower left corner at (x, y) of the renderer; resampling takes gigabytes."""

    def __init__(self, image: Any, x: float, y: float) -> None:
        super().__init__()
        self.image, self.x, self.y = image, x, y

    def draw(self, renderer: Any) -> None:
        """Draws the image as it is."""
        gc = renderer.new_gc()
        opaque = np.full((*self.image.shape[:2], 1), 255, np.uint8)
        renderer.draw_image(gc, self.x, self.y, np.concatenate([self.image, opaque], axis=2)[::-1])
        gc.restore()


class _Painter:
    """The page under way."""

    def __init__(self, canvas: Any, page: Page, colours: Palette, theme: dict[str, str], format: str) -> None:
        self.canvas, self.page, self.colours, self.theme, self.format = canvas, page, colours, theme, format
        self.fills = [colours.fill(paint) for paint in page.figure.paints]
        self.inks = [colours.ink(paint) for paint in page.figure.paints]
        # px from the upper left -> px of the canvas from the lower left
        flip = Affine2D().scale(1, -1).translate(0, page.height).scale(1 / DPI)
        self.transform = flip + canvas.dpi_scale_trans
        self.layer = 0
        self.texts: list[tuple[str, float, float, float, str, str, bool, str]] = []
        self.glyphs: dict[tuple[str, float, str, bool], list[tuple[float, float]]] = {}

    def paint(self) -> None:
        for frame, x, y in self.page.panels:
            self.panel(frame, x, y)
        for swatch in self.page.swatches:
            self.shapes([_rectangle(swatch.x, swatch.y, 14, 14)], face=self.fills[swatch.paint], edge=self.theme["b"], width=0.6)
        for line in self.page.words:
            family = MONO if line.mono else SANS
            self.text(line.text, line.x, line.y, line.size, self.theme[line.cls], family, bold=line.bold)
        self._stamp()
        self.add(_Texts(self.texts, self.transform, abs(self.transform.get_matrix()[0, 0])))

    def add(self, artist: Any) -> None:
        self.layer += 1
        artist.set_zorder(self.layer)  # what is added later lies above
        artist.set_figure(self.canvas)
        self.canvas.add_artist(artist, clip=False)

    def panel(self, frame: Frame, x: float, y: float) -> None:
        left, top = x + frame.left, y + frame.top
        for n, line in enumerate(frame.caption):
            self.text(line, left, y + CAPTION * (1.5 * n + 0.7), CAPTION, self.theme["t"], SANS, bold=True)
        if frame.detail == Detail.RASTER:
            self._raster(frame, left, top)
        else:
            self._cells(frame, left, top)
        self._lines(frame, left, top)
        self._boxes(frame, left, top)
        self._labels(frame, left, top)
        self._rulers(frame, left, top)

    def shapes(self, paths: list[Any], face: str = "none", edge: str = "none", width: float = 0.0, sharp: bool = False) -> None:
        """Closed shapes as one compound path."""
        if not paths:
            return
        whole = Path.make_compound_path(*paths) if len(paths) > 1 else paths[0]
        self.compound(whole, face, edge, width, sharp)

    def compound(self, path: Any, face: str = "none", edge: str = "none", width: float = 0.0, sharp: bool = False) -> None:
        collection = PathCollection([path], facecolors=face, edgecolors=edge, linewidths=width * 72 / DPI)
        collection.set_transform(self.transform)
        if sharp:
            collection.set_antialiased(False)
        self.add(collection)

    def _cells(self, frame: Frame, left: float, top: float) -> None:
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
            fill = HOLE_COLOUR if paint == HOLE else self.fills[paint]
            self.compound(_rectangles(x0, y0, x1, y1), face=fill, sharp=True)
            if paint == HOLE:
                self._hatch(frame, left, top, spans[paint])

    def _hatch(self, frame: Frame, left: float, top: float, spans: list[tuple[int, int, int]]) -> None:
        """A diagonal through each hole."""
        w, h = frame.cell_w, frame.cell_h
        lines = [
            [(left + (c + i) * w, top + (r + 1) * h), (left + (c + i + 1) * w, top + r * h)] for r, c, n in spans for i in range(n)
        ]
        self.lines(lines, "#9aa4ae", 0.8)

    def lines(self, segments: Any, colour: str, width: float, alpha: float | None = None) -> None:
        if len(segments):
            lines = LineCollection(segments, colors=colour, linewidths=width * 72 / DPI, alpha=alpha, capstyle="butt")
            lines.set_transform(self.transform)
            self.add(lines)

    def _raster(self, frame: Frame, left: float, top: float) -> None:
        """The cells as the pixels of an image."""
        panel = frame.panel
        step = max(1, round(1 / frame.cell_w))
        table = np.array([rgb(fill) for fill in (*self.fills, HOLE_COLOUR)], dtype=np.uint8)
        paints = panel.paints
        numbers = np.frombuffer(paints, np.uint8) if isinstance(paints, bytes) else np.array(paints, dtype=np.int16)
        image = table[numbers.reshape(panel.rows, panel.cols)[::step, ::step]]
        fine = max(1, round(frame.cell_w * step))
        image = np.repeat(np.repeat(image, fine, axis=0), fine, axis=1)
        unit = 1.0 if self.format == "png" else 72 / DPI  # of a px of the page, where the renderer places an image
        bottom = self.page.height - top - len(image)
        x, y = left * unit, bottom * unit
        self.add(_Pixels(image, *((round(x), round(y)) if self.format == "png" else (x, y))))

    def _lines(self, frame: Frame, left: float, top: float) -> None:
        panel, w, h = frame.panel, frame.cell_w, frame.cell_h
        right, bottom = left + panel.cols * w, top + panel.rows * h
        by_level: list[list[Any]] = [[], [], []]
        for r, level in enumerate(panel.row_ruler.levels[1:-1], 1):
            by_level[min(level, 2)].append([(left, top + r * h), (right, top + r * h)])
        for c, level in enumerate(panel.col_ruler.levels[1:-1], 1):
            by_level[min(level, 2)].append([(left + c * w, top), (left + c * w, bottom)])
        if min(w, h) >= LINES_FROM:
            self.lines(by_level[0], "#000000", 0.8, alpha=0.16)
        for level, width in ((1, 2.2), (2, 3.0)):
            self.lines(by_level[level], "#111111", min(width, 0.4 * w))
        self.shapes([_rectangle(left, top, right - left, bottom - top)], edge=self.theme["b"], width=2.2)

    def _boxes(self, frame: Frame, left: float, top: float) -> None:
        w, h = frame.cell_w, frame.cell_h
        smallest = min((min((r1 - r0) * h, (c1 - c0) * w) for r0, c0, r1, c1 in frame.panel.boxes), default=0)
        if smallest < (12 if frame.detail == Detail.COLOUR else 8):
            return
        radius = 4.0 if smallest >= 12 else 2.0
        outlines: dict[tuple[int, int], Any] = {}
        places: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for r0, c0, r1, c1 in frame.panel.boxes:
            size = (r1 - r0, c1 - c0)
            if size not in outlines:
                outlines[size] = _rounded(1.6, 1.6, size[1] * w - 3.2, size[0] * h - 3.2, radius)
            places.setdefault(size, []).append((left + c0 * w, top + r0 * h))
        for size, at in places.items():
            outline = outlines[size]
            offsets = np.array(at)
            vertices = (outline.vertices[None] + offsets[:, None]).reshape(-1, 2)
            self.compound(Path(vertices, np.tile(outline.codes, len(at))), edge="#111111", width=1.1)

    def _labels(self, frame: Frame, left: float, top: float) -> None:
        panel, lines = frame.panel, frame.labels.lines
        for n, labels in enumerate(lines):
            size = FONT if n == 0 else SMALL
            middle = frame.cell_h * (n + 1) / (len(lines) + 1) + (0 if len(lines) == 1 else (n - 0.5) * 1.5)
            bold = n == 0 and len(lines) > 1
            for cell, label in enumerate(labels):
                if label:
                    r, c = divmod(cell, panel.cols)
                    paint = panel.paints[cell]
                    ink = "#000000" if paint == HOLE else self.inks[paint]
                    self.label(label, left + (c + 0.5) * frame.cell_w, top + r * frame.cell_h + middle, size, ink, bold)
        ears = []
        for cell in frame.labels.shared:
            r, c = divmod(cell, panel.cols)
            x, y = left + (c + 1) * frame.cell_w, top + r * frame.cell_h
            ears.append(Path([(x - 8, y), (x, y), (x, y + 8), (x - 8, y)], [1, 2, 2, 79]))
        self.shapes(ears, face="#555555")
        for mark in frame.marks:
            ink = "#000000" if mark.paint == HOLE else self.inks[mark.paint]
            x = left + (mark.c0 + mark.c1) / 2 * frame.cell_w
            y = top + (mark.r0 + mark.r1) / 2 * frame.cell_h
            if frame.detail == Detail.COLOUR:
                width = max(map(len, mark.lines)) * FONT * CHAR + 8
                face = HOLE_COLOUR if mark.paint == HOLE else self.fills[mark.paint]
                self.shapes([_rounded(x - width / 2, y - 8, width, 16, 3)], face=face)
            for n, line in enumerate(mark.lines):
                at = y + (n - (len(mark.lines) - 1) / 2) * 12
                self.label(line, x, at, FONT if n == 0 else SMALL, ink, True)

    def _rulers(self, frame: Frame, left: float, top: float) -> None:
        panel, muted = frame.panel, self.theme["m"]
        every = column_step(panel.col_ruler.labels, CHAR * FONT, frame.cell_w)
        for c in range(0, panel.cols, every):
            self.label(panel.col_ruler.labels[c], left + (c + 0.5) * frame.cell_w, top - 11, FONT, muted)
        for r in range(0, panel.rows, row_step(FONT, frame.cell_h)):
            label = panel.row_ruler.labels[r]
            at = left - 8 - len(label) * FONT * ADVANCE / 2
            self.label(label, at, top + (r + 0.5) * frame.cell_h, FONT, muted)
        if panel.row_ruler.title:
            self.text(f"{panel.row_ruler.title} ↓", left - 8, top - 11, FONT, muted, SANS, anchor="end")
        if panel.col_ruler.title:
            self.text(f"{panel.col_ruler.title} →", left + 2, top - 29, FONT, muted, SANS)

    def text(
        self, text: str, x: float, y: float, size: float, colour: str, family: str, bold: bool = False, anchor: str = "start"
    ) -> None:
        """A line of text whose middle is at height y."""
        self.texts.append((printable(text), x, y + BASELINE * size, size, colour, family, bold, anchor))

    def label(self, text: str, x: float, y: float, size: float, colour: str, bold: bool = False) -> None:
        """A short monospaced text around x."""
        if self.format == "pdf" and len(self.texts) < MOST_TEXTS:
            self.texts.append((printable(text), x, y + BASELINE * size, size, colour, MONO, bold, "middle"))
            return
        advance = size * ADVANCE
        x -= len(text) * advance / 2
        for n, letter in enumerate(printable(text)):
            if letter != " ":
                self.glyphs.setdefault((letter, size, colour, bold), []).append((x + n * advance, y + BASELINE * size))

    def _stamp(self) -> None:
        """Each glyph at all its places."""
        paths: dict[tuple[str, bool], Any] = {}
        for (letter, size, colour, bold), at in self.glyphs.items():
            if (letter, bold) not in paths:
                font = FontProperties(family=MONO, weight="bold" if bold else "normal")
                paths[letter, bold] = TextPath((0, 0), letter, size=100, prop=font)
            stamp = PathCollection(
                [paths[letter, bold]], offsets=np.array(at), offset_transform=self.transform, facecolors=colour, linewidths=0
            )
            stamp.set_transform(Affine2D().scale(size / 100 / DPI) + self.canvas.dpi_scale_trans)
            self.add(stamp)


def _rectangle(x: float, y: float, w: float, h: float) -> Any:
    return Path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], [1, 2, 2, 2, 79])


def _rectangles(x0: Any, y0: Any, x1: Any, y1: Any) -> Any:
    """Many rectangles as one path."""
    vertices = np.stack([x0, y0, x1, y0, x1, y1, x0, y1, x0, y0], axis=1).reshape(-1, 2)
    return Path(vertices, np.tile(np.array([1, 2, 2, 2, 79], dtype=np.uint8), len(x0)))


def _rounded(x: float, y: float, w: float, h: float, r: float) -> Any:
    """A rectangle with round corners, as quadratic curves."""
    points: Iterable[tuple[float, float]] = [
        (x + r, y), (x + w - r, y), (x + w, y), (x + w, y + r), (x + w, y + h - r), (x + w, y + h), (x + w - r, y + h),
        (x + r, y + h), (x, y + h), (x, y + h - r), (x, y + r), (x, y), (x + r, y), (x + r, y),
    ]  # fmt: skip
    return Path(list(points), [1, 2, 3, 3, 2, 3, 3, 2, 3, 3, 2, 3, 3, 79])
