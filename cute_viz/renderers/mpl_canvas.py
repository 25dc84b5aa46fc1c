"""A page under way in matplotlib: shapes, lines, images and text at px from its upper left, with few artists.

One artist for many shapes or lines of a look, and one for all text: a label costs no object. In a PDF labels are text in
embedded fonts; in a PNG a glyph is a marker, stamped at each of its places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from cute_viz.renderers.letters import printable

DPI = 96  # px of a page are CSS pixels
MOST_TEXTS = 20_000  # labels that a PDF has as text; of more it has the outlines
MONO, SANS = "DejaVu Sans Mono", "DejaVu Sans"  # shipped with matplotlib, so that bytes do not depend on the machine
ADVANCE = 0.602  # width of a letter of MONO, in font sizes
BASELINE = 0.36  # from the middle of a letter down to its baseline, in font sizes


class Canvas:
    """A page of width x height px, drawn at so many pixels a px; what is added later lies above, and text above all."""

    def __init__(self, width: float, height: float, scale: int, format: str) -> None:
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI * scale)
        self.height, self.format = height, format
        # px from the upper left -> px of the canvas from the lower left
        flip = Affine2D().scale(1, -1).translate(0, height).scale(1 / DPI)
        self._transform = flip + self.figure.dpi_scale_trans
        self._layer = 0
        self._texts: list[tuple[str, float, float, float, str, str, bool, str]] = []
        self._glyphs: dict[tuple[str, float, str, bool], list[tuple[float, float]]] = {}

    def _add(self, artist: Any) -> None:
        self._layer += 1
        artist.set_zorder(self._layer)
        artist.set_figure(self.figure)
        self.figure.add_artist(artist, clip=False)

    def shapes(
        self, paths: list[Any], face: str = "none", edge: str = "none", width: float = 0.0, alpha: float = 1.0, dash: float = 0.0
    ) -> None:
        """Shapes as one compound path; dash: px of a dash of their outline."""
        if paths:
            path = Path.make_compound_path(*paths) if len(paths) > 1 else paths[0]
            self.shape(path, face, edge, width, alpha=alpha, dash=dash)

    def shape(
        self,
        path: Any,
        face: str = "none",
        edge: str = "none",
        width: float = 0.0,
        sharp: bool = False,
        alpha: float = 1.0,
        dash: float = 0.0,
    ) -> None:
        """A path, filled or outlined; `sharp` without smoothed edges, so that neighbours leave no gap."""
        more: dict[str, Any] = {"alpha": alpha} if alpha < 1 else {}
        more |= {"linestyles": [(0, (dash / width, dash / width))]} if dash and width else {}
        collection = PathCollection([path], facecolors=face, edgecolors=edge, linewidths=width * 72 / DPI, **more)
        collection.set_transform(self._transform)
        if sharp:
            collection.set_antialiased(False)
        self._add(collection)

    def lines(self, segments: Any, colour: str, width: float, alpha: float | None = None) -> None:
        """Straight lines, each given by its two ends."""
        if len(segments):
            lines = LineCollection(segments, colors=colour, linewidths=width * 72 / DPI, alpha=alpha, capstyle="butt")
            lines.set_transform(self._transform)
            self._add(lines)

    def image(self, pixels: Any, left: float, top: float) -> None:
        """Rows of RGB pixels, a px each, with the upper left corner at (left, top)."""
        unit = 1.0 if self.format == "png" else 72 / DPI  # of a px of the page, where the renderer places an image
        bottom = self.height - top - len(pixels)
        x, y = left * unit, bottom * unit
        self._add(_Pixels(pixels, *((round(x), round(y)) if self.format == "png" else (x, y))))

    def text(
        self, text: str, x: float, y: float, size: float, colour: str, family: str, bold: bool = False, anchor: str = "start"
    ) -> None:
        """A line of text whose middle is at height y."""
        self._texts.append((printable(text), x, y + BASELINE * size, size, colour, family, bold, anchor))

    def label(self, text: str, x: float, y: float, size: float, colour: str, bold: bool = False) -> None:
        """A short monospaced text around (x, y)."""
        if self.format == "pdf" and len(self._texts) < MOST_TEXTS:
            self.text(text, x, y, size, colour, MONO, bold, "middle")
            return
        advance = size * ADVANCE
        x -= len(text) * advance / 2
        for n, letter in enumerate(printable(text)):
            if letter != " ":
                self._glyphs.setdefault((letter, size, colour, bold), []).append((x + n * advance, y + BASELINE * size))

    def finish(self) -> Any:
        """Put the text onto the page; matplotlib's figure of all."""
        self._stamp()
        self._add(_Texts(self._texts, self._transform))
        return self.figure

    def _stamp(self) -> None:
        """Each glyph at all its places."""
        paths: dict[tuple[str, bool], Any] = {}
        for (letter, size, colour, bold), at in self._glyphs.items():
            if (letter, bold) not in paths:
                font = FontProperties(family=MONO, weight="bold" if bold else "normal")
                paths[letter, bold] = TextPath((0, 0), letter, size=100, prop=font)
            stamp = PathCollection(
                [paths[letter, bold]], offsets=np.array(at), offset_transform=self._transform, facecolors=colour, linewidths=0
            )
            stamp.set_transform(Affine2D().scale(size / 100 / DPI) + self.figure.dpi_scale_trans)
            self._add(stamp)


class _Texts(Artist):
    """Lines of text, drawn straight by the renderer: (text, x, y of the baseline, size px, colour, family, bold, anchor)."""

    def __init__(self, items: list[tuple[str, float, float, float, str, str, bool, str]], transform: Any) -> None:
        super().__init__()
        self.items = items
        self.place = transform

    def draw(self, renderer: Any) -> None:
        """Draws every line."""
        gc = renderer.new_gc()
        scale = abs(self.place.get_matrix()[0, 0])  # of px of the page to units of this renderer, which a PDF has others of
        fonts: dict[tuple[float, str, bool], FontProperties] = {}
        for text, x, y, size, colour, family, bold, anchor in self.items:
            key = (size, family, bold)
            font = fonts.setdefault(key, FontProperties(family=family, weight="bold" if bold else "normal", size=size * 72 / DPI))
            px, py = self.place.transform((x, y))
            if anchor == "middle":
                wide = len(text) * ADVANCE * size * scale
                px -= (wide if family == MONO else renderer.get_text_width_height_descent(text, font, False)[0]) / 2
            elif anchor == "end":
                px -= renderer.get_text_width_height_descent(text, font, False)[0]
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


def rectangle(x: float, y: float, w: float, h: float) -> Any:
    """A rectangle as a path."""
    return Path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], [1, 2, 2, 2, 79])


def rectangles(x0: Any, y0: Any, x1: Any, y1: Any) -> Any:
    """Many rectangles as one path, of arrays of their edges."""
    vertices = np.stack([x0, y0, x1, y0, x1, y1, x0, y1, x0, y0], axis=1).reshape(-1, 2)
    return Path(vertices, np.tile(np.array([1, 2, 2, 2, 79], dtype=np.uint8), len(x0)))


def rounded(x: float, y: float, w: float, h: float, r: float) -> Any:
    """A rectangle with round corners of radius r, as quadratic curves."""
    points = [
        (x + r, y), (x + w - r, y), (x + w, y), (x + w, y + r), (x + w, y + h - r), (x + w, y + h), (x + w - r, y + h),
        (x + r, y + h), (x, y + h), (x, y + h - r), (x, y + r), (x, y), (x + r, y), (x + r, y),
    ]  # fmt: skip
    return Path(points, [1, 2, 3, 3, 2, 3, 3, 2, 3, 3, 2, 3, 3, 79])
