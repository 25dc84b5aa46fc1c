"""PNG and PDF: a page put onto a canvas of matplotlib's, and its bytes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.path import Path

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure, Paint
from cute_viz.limits import limit, over
from cute_viz.renderers import Options
from cute_viz.renderers import primitives as p
from cute_viz.renderers.colours import BETWEEN, BORDER, DARK, HATCH, HOLE_COLOUR, LINE, TEXT, page_palette, roles
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.letters import printable
from cute_viz.renderers.mpl_canvas import ADVANCE, DPI, MONO, SANS, Canvas, rectangle, rectangles, rounded
from cute_viz.renderers.page import page_of
from cute_viz.renderers.palette import Palette, rgb

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
    """The figure as the bytes of a PNG or a PDF. Raises: FigureError for a PNG over the limit `pixels`, or with a side of more
    than 65536 pixels; more labels than the limit `labels`."""
    page = page_of(figure, options)
    if format == "png" and page.width * page.height > limit("pixels"):
        size = f"a PNG of {page.width:.0f} x {page.height:.0f} pixels"
        raise over("pixels", size, instead="`width=`, `crop=` or `fold=`; SVG has no such limit")
    if format == "png" and max(page.width, page.height) > 1 << 16:  # of a side, by matplotlib
        raise FigureError(f"a PNG of {page.width:.0f} x {page.height:.0f} pixels is too long", hint="`width=`, `crop=` or `fold=`")
    labels = sum(len(place.panel.labels) for place in page.panels if place.detail == Detail.FULL)
    if labels > limit("labels"):
        raise over("labels", f"a {format} of {labels} labels", instead="`width=`, `crop=` or fewer labels; SVG has no such limit")
    with matplotlib.rc_context(SETTINGS):
        fine = format == "png" and max(page.width, page.height) <= LARGE
        scale = 2 if fine and all(place.detail != Detail.RASTER for place in page.panels) else 1
        canvas = Canvas(page.width, page.height, scale, format)
        theme = roles(options, options.theme == "dark")
        painter = _Painter(canvas, page.figure, page_palette(options), theme)
        for item in page.items:
            painter.put(item)
        out = BytesIO()
        metadata: dict[str, Any] = {"Software": None}  # nothing of the machine or the day
        if format == "pdf":
            metadata = {"CreationDate": None, "Producer": None, "Creator": None, "Title": printable(figure.title)}
        with warnings.catch_warnings(), _no_date():
            warnings.filterwarnings("ignore", "Glyph .* missing from (current )?font")  # it becomes a box, as everywhere
            warnings.filterwarnings("ignore", "Matplotlib currently does not support .* natively")  # 3.7, of right-to-left scripts
            canvas.finish().savefig(out, format=format, dpi=DPI * scale, metadata=metadata, facecolor=theme["p"])
    return out.getvalue()


def smaller(png: bytes, most: int) -> bytes:
    """A PNG of at most so many bytes: with a palette of 64 colors, and if need be of fewer pixels."""
    from PIL import Image

    image: Any = Image.open(BytesIO(png)).convert("RGB")
    while len(png) > most:
        out = BytesIO()
        image.quantize(64, Image.Quantize.FASTOCTREE).save(out, "PNG", optimize=True)
        png = out.getvalue()
        scale = min(0.9, (most / len(png)) ** 0.5)
        image = image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))), Image.Resampling.BOX)
    return png


@contextmanager
def _no_date() -> Iterator[None]:
    """Without SOURCE_DATE_EPOCH, which matplotlib reads even where no date is written, and which may be any number or none."""
    date = os.environ.pop("SOURCE_DATE_EPOCH", None)
    try:
        yield
    finally:
        if date is not None:
            os.environ["SOURCE_DATE_EPOCH"] = date


class _Painter:
    """Puts primitives onto a canvas."""

    def __init__(self, canvas: Canvas, figure: Figure, colours: Palette, theme: dict[str, str]) -> None:
        self.canvas, self.theme = canvas, theme
        dark = theme is DARK
        self.fills = [*(colours.fill(paint, dark) for paint in figure.paints), HOLE_COLOUR]  # HOLE is -1, the last
        self.inks = [colours.ink(paint, dark) for paint in (*figure.paints, Paint(-1))]
        self.line, self.border = (BETWEEN, BETWEEN) if dark else (LINE, BORDER)

    def put(self, item: p.Primitive) -> None:
        """One primitive, above what is there; text is above all."""
        match item:
            case p.Cells():
                self._cells(item)
            case p.Image():
                self._image(item)
            case p.Strokes():
                grid = item.grid
                across = [[(grid.left, y), (grid.right, y)] for y in item.ys]
                down = [[(x, grid.top), (x, grid.bottom)] for x in item.xs]
                faint = item.opacity if item.opacity < 1 else None
                self.canvas.lines(across + down, self.line if item.role == p.CELL else self.border, item.width, faint)
            case p.Border():
                grid = item.grid
                outline = rectangle(grid.left, grid.top, grid.right - grid.left, grid.bottom - grid.top)
                self.canvas.shape(outline, edge=self.theme["b"], width=item.width)
            case p.Boxes():
                for (w, h), corners in item.by_size().items():  # one path for all of a size
                    outline = rounded(0, 0, w, h, item.radius)
                    vertices = (outline.vertices[None] + np.array(corners)[:, None]).reshape(-1, 2)
                    self.canvas.shape(Path(vertices, np.tile(outline.codes, len(corners))), edge=self.border, width=item.width)
            case p.Swatch():
                square = rectangle(item.x, item.y, item.size, item.size)
                self.canvas.shape(square, face=self.fills[item.paint], edge=self.theme["b"], width=item.width)
            case p.Path():
                paths = [Path([*line, line[0]] if item.fill is not None else line) for line in item.lines]
                face = "none" if item.fill is None else self._colour(item.fill)
                edge = self._colour(item.role) if item.width else "none"
                self.canvas.shapes(paths, face, edge, item.width, item.opacity, item.dash)
            case p.Labels():
                xs, ys, bold = item.grid.middles(), item.grid.ys(), item.weight != 400
                for cell, label in enumerate(item.texts):
                    if label:
                        r, c = divmod(cell, item.grid.cols)
                        self.canvas.label(label, xs[c], ys[r] + item.dy, item.size, self.inks[item.paints[cell]], bold)
            case p.Texts():
                for n, (x, y, text, size) in enumerate(zip(item.xs, item.ys, item.texts, item.sizes, strict=True)):
                    ink = self.theme["m"] if item.paints is None else self.inks[item.paints[n]]
                    at = x - len(text) * size * ADVANCE / 2 if item.anchor == p.END else x
                    self.canvas.label(text, at, y, size, ink, item.weight != 400)
            case p.Line():
                family, bold = MONO if item.mono else SANS, item.weight != 400
                self.canvas.text(item.text, item.x, item.y, item.size, self._colour(item.role), family, bold, item.anchor)
            case _:
                p.missing(item)

    def _colour(self, role: int | str) -> str:
        """The colour of a paint, or of a role."""
        if isinstance(role, int):
            return self.fills[role]
        return TEXT if role == p.INK else self.theme[role[0]]

    def _cells(self, item: p.Cells) -> None:
        """One path of all runs; through each hole a diagonal."""
        grid, fill = item.grid, self.fills[item.paint]
        r, c, n = (np.array(column) for column in (item.rows, item.starts, item.lengths))
        x0, x1 = grid.left + c * grid.cell_w, grid.left + (c + n) * grid.cell_w
        y0, y1 = grid.top + r * grid.cell_h, grid.top + (r + 1) * grid.cell_h
        self.canvas.shape(rectangles(x0, y0, x1, y1), face=fill, sharp=True)
        if item.paint == HOLE:
            self.canvas.lines(item.diagonals(), *HATCH)

    def _image(self, item: p.Image) -> None:
        grid, paints, step = item.grid, item.paints, item.step
        table = np.array([rgb(fill) for fill in self.fills], dtype=np.uint8)
        numbers = np.frombuffer(paints, np.uint8) if isinstance(paints, bytes) else np.array(paints, dtype=np.int32)
        image = table[numbers.reshape(grid.rows, grid.cols)[::step, ::step]]
        fine = max(1, round(grid.cell_w * step))
        self.canvas.image(np.repeat(np.repeat(image, fine, axis=0), fine, axis=1), grid.left, grid.top)
