"""What PNG and PDF draw, as matplotlib is asked for it, held to the primitives of the page: places, colors, widths, texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Sheet

from cute_viz import CuteVizError, figure
from cute_viz.limits import raised
from cute_viz.renderers import Options, primitives, render
from cute_viz.renderers.colours import page_palette
from cute_viz.renderers.page import page_of
from tests.test_writers import CASES, TV

MORE = [
    ("(8,8):(8,1)", {"view": "path"}, {}),
    ("logical_divide((4,8):(8,1), (2,4))", {"view": "steps"}, {"theme": "dark"}),
    ("(4,8):(8,1)", {"note": "(0,0) -> (3,4): far"}, {}),
    ("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))", {"view": "cube"}, {}),
    ("(700,30):(30,1)", {"view": "grid"}, {"cell": 2}),
    ("(900,20):(20,1)", {}, {"cell": 1, "theme": "dark"}),
    (TV, {"tile": (8, 128)}, {"target": "column"}),
]
PX = 96 / 72  # of a point
INKS = {False: {"l": "#000000", "tile": "#111111", "b": "#111111"}, True: {"l": "#6e7681", "tile": "#6e7681", "b": "#e6edf3"}}
WORDS = {False: {"t": "#1a1a1a", "m": "#57606a", "x": "#b5121b", "p": "#ffffff"}}
WORDS[True] = {"t": "#e6edf3", "m": "#9aa4ae", "x": "#ff7b72", "p": "#0d1117"}


@dataclass
class Drawn:
    """What matplotlib is asked to draw, in px from the upper left.

    areas: of each area its color, its opacity, its corners. lines: the same of each line, and its width and dash.
    texts: (text, x, y, size, color), x of the left end, y of the baseline. images: (left, top, rows of colors).
    round: the lines with round corners. size: width and height, and pixels a px.
    """

    areas: list[tuple[str, float, list[tuple[float, float]]]] = field(default_factory=list)
    lines: list[tuple[str, float, list[tuple[float, float]], float, float]] = field(default_factory=list)
    texts: list[tuple[str, float, float, float, str]] = field(default_factory=list)
    images: list[tuple[float, float, np.ndarray]] = field(default_factory=list)
    round: list[list[tuple[float, float]]] = field(default_factory=list)
    size: tuple[float, float, float] = (0, 0, 0)


class Recorder(RendererBase):
    """A renderer that writes down what it is asked for."""

    def __init__(self, sheet: Sheet, format_: str) -> None:
        super().__init__()
        self.out, self.format = Drawn(), format_
        self.unit = sheet.dpi / 96  # of a px of the page
        self.wide, self.high = sheet.get_size_inches() * sheet.dpi
        self.out.size = (self.wide / self.unit, self.high / self.unit, self.unit)

    def points_to_pixels(self, points: float) -> float:
        return points * PX * self.unit

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.wide, self.high

    def flipy(self) -> bool:
        return False

    @property
    def height(self) -> float:
        return self.high

    def at(self, x: float, y: float) -> tuple[float, float]:
        return x / self.unit, (self.high - y) / self.unit

    def draw_path(self, gc, path, transform, rgbFace=None) -> None:  # type: ignore[no-untyped-def]
        pieces: list[list[tuple[float, float]]] = []
        curves = 0
        for points, code in path.iter_segments(transform, simplify=False):
            curves += code == 3
            if code == 1:
                pieces.append([])
            if code != 79:
                pieces[-1] += [self.at(x, y) for x, y in np.reshape(points, (-1, 2))]
            elif pieces[-1][0] != pieces[-1][-1]:
                pieces[-1].append(pieces[-1][0])
        self.out.round += [piece for piece in pieces if curves == 4 * len(pieces)]
        width, dash = gc.get_linewidth() * PX, gc.get_dashes()[1]
        for piece in pieces:
            if rgbFace is not None:
                alpha = gc.get_alpha() if gc.get_forced_alpha() else rgbFace[3] if len(rgbFace) > 3 else 1.0
                assert gc.get_antialiased() or not width  # cells leave no gap
                self.out.areas.append((to_hex(rgbFace[:3]), round(alpha, 4), piece))
            if width and gc.get_rgb()[3]:
                assert gc.get_antialiased()
                self.out.lines.append(
                    (to_hex(gc.get_rgb()[:3]), round(gc.get_rgb()[3], 4), piece, width, dash[0] * PX if dash else 0.0)
                )

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None) -> None:  # type: ignore[no-untyped-def]
        size = prop.get_size_in_points() * PX
        assert angle == 0
        s = f"{s} (bold)" if prop.get_weight() == "bold" else s
        self.out.texts.append((s, *self.at(x, y), size, to_hex(gc.get_rgb()[:3])))

    def draw_image(self, gc, x, y, im, transform=None) -> None:  # type: ignore[no-untyped-def]
        if self.format == "pdf":  # places an image in points
            x, y = x * PX * self.unit, y * PX * self.unit
        left, bottom = self.at(x, y)
        self.out.images.append((left, bottom - im.shape[0], im[::-1]))

    def get_text_width_height_descent(self, s, prop, ismath):  # type: ignore[no-untyped-def]
        return len(s) * prop.get_size_in_points() * PX * 0.6 * self.unit, 0.0, 0.0


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Draws a figure in a format, and gives what matplotlib was asked for."""
    sheets: list[Sheet] = []
    monkeypatch.setattr(Sheet, "savefig", lambda self, *_, **__: sheets.append(self))

    def drawn(source: str, options: dict, how: dict, format_: str) -> Drawn:
        render(figure(source, **options), format_, Options(**how))
        sheet = sheets.pop()
        recorder = Recorder(sheet, format_)
        for artist in sorted(sheet.artists, key=lambda one: one.get_zorder()):
            artist.draw(recorder)
        return recorder.out

    return drawn


def near(found: Sequence[Sequence[float]], wanted: Sequence[Sequence[float]]) -> bool:
    """Whether two lists of points are alike, but for numbers that are cut."""
    return len(found) == len(wanted) and bool(np.allclose(np.array(found), np.array(wanted), atol=0.02))


def rectangle(x0: float, y0: float, x1: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]


class Wanted:
    """What a page asks of a writer, in its order."""

    def __init__(self, source: str, options: dict, how: dict) -> None:
        given = Options(**how)
        self.page = page_of(figure(source, **options), given)
        self.dark = how.get("theme") == "dark"
        colours, paints = page_palette(given), self.page.figure.paints
        self.fills = [*(colours.fill(paint, self.dark) for paint in paints), "#d0d4d8"]
        self.inks = [*(colours.ink(paint, self.dark) for paint in paints), "#000000"]

    def of(self, role: int | str) -> str:
        """The color of a paint, or of a role."""
        return self.fills[role] if isinstance(role, int) else {"i": "#1a1a1a", **WORDS[self.dark]}[role]

    def areas(self) -> Iterator[tuple[str, float, list[tuple[float, float]]]]:
        for item in self.page.items:
            match item:
                case primitives.Cells():
                    for r, c, n in item.runs():
                        xs, ys = item.grid.xs(), item.grid.ys()
                        yield self.fills[item.paint], 1.0, rectangle(xs[c], ys[r], xs[c + n], ys[r + 1])
                case primitives.Swatch():
                    yield self.fills[item.paint], 1.0, rectangle(item.x, item.y, item.x + item.size, item.y + item.size)
                case primitives.Path() if item.fill is not None:
                    for line in item.lines:
                        yield self.of(item.fill), item.opacity, [*line, line[0]]

    def lines(self) -> Iterator[tuple[str, float, list[tuple[float, float]], float, float]]:
        inks = INKS[self.dark]
        for item in self.page.items:
            match item:
                case primitives.Cells() if item.paint == -1:
                    for line in item.diagonals():
                        yield "#9aa4ae", 1.0, list(line), 0.8, 0.0
                case primitives.Strokes():
                    across = [[(item.grid.left, y), (item.grid.right, y)] for y in item.ys]
                    for line in [*across, *([(x, item.grid.top), (x, item.grid.bottom)] for x in item.xs)]:
                        yield inks[item.role], item.opacity, list(line), item.width, 0.0
                case primitives.Border():
                    grid = item.grid
                    yield inks["b"], 1.0, rectangle(grid.left, grid.top, grid.right, grid.bottom), item.width, 0.0
                case primitives.Swatch():
                    square = rectangle(item.x, item.y, item.x + item.size, item.y + item.size)
                    yield inks["b"], 1.0, square, item.width, 0.0
                case primitives.Path() if item.width:
                    for line in item.lines:
                        closed = [*line, line[0]] if item.fill is not None else list(line)
                        yield self.of(item.role), item.opacity, closed, item.width, item.dash

    def boxes(self) -> Iterator[tuple[float, float, float, float, float]]:
        for item in self.page.items:
            if isinstance(item, primitives.Boxes):
                for x, y, w, h in zip(item.xs, item.ys, item.ws, item.hs, strict=True):
                    yield x, y, x + w, y + h, item.width

    def texts(self) -> Iterator[tuple[str, float, float, float, str, str, bool]]:
        """(text, x, y of the middle, size, color, anchor, whether monospaced)."""
        for item in self.page.items:
            match item:
                case primitives.Labels():
                    for cell, text in enumerate(item.texts):
                        r, c = divmod(cell, item.grid.cols)
                        if text:
                            text += " (bold)" * (item.weight > 400)
                            x, y = item.grid.left + (c + 0.5) * item.grid.cell_w, item.grid.top + r * item.grid.cell_h + item.dy
                            yield text, x, y, item.size, self.inks[item.paints[cell]], "middle", True
                case primitives.Texts():
                    for n, (x, y, text, size) in enumerate(zip(item.xs, item.ys, item.texts, item.sizes, strict=True)):
                        ink = self.of("m") if item.paints is None else self.inks[item.paints[n]]
                        yield text + " (bold)" * (item.weight > 400), x, y, size, ink, item.anchor, True
                case primitives.Line():
                    yield (
                        item.text + " (bold)" * (item.weight > 400),
                        item.x,
                        item.y,
                        item.size,
                        self.of(item.role),
                        item.anchor,
                        item.mono,
                    )


def is_box(points: Sequence[tuple[float, float]]) -> bool:
    return len(points) == 13


@pytest.mark.parametrize(
    ("format_", "source", "options", "how"), [*(("pdf", *case) for case in (*CASES, *MORE)), *(("png", *case) for case in MORE)]
)
def test_matplotlib_is_asked_for_the_page(format_, source, options, how, record):
    found, page = record(source, options, how, format_), Wanted(source, options, how)
    fine = format_ == "png" and not found.images  # at two pixels a px
    assert found.size == pytest.approx((page.page.width, page.page.height, 2 if fine else 1))
    # of a PNG, letters are areas, too: those of the page come in its order, with letters between and behind them
    areas = iter(found.areas)
    for colour, opacity, corners in page.areas():
        assert any((one, round(opacity, 4)) == (colour, other) and near(points, corners) for one, other, points in areas), corners
    if format_ == "pdf":
        assert next(areas, None) is None
    outlines = [(points, width) for _, _, points, width, _ in found.lines if is_box(points)]
    for (points, width), (x0, y0, x1, y1, wanted) in zip(outlines, page.boxes(), strict=True):
        assert points in found.round
        assert near([np.min(points, axis=0), np.max(points, axis=0)], [(x0, y0), (x1, y1)])
        assert width == pytest.approx(wanted)
    lines = [line for line in found.lines if not is_box(line[2])]
    for (colour, opacity, points, width, dash), wanted in zip(lines, page.lines(), strict=True):
        assert (colour, opacity) == (wanted[0], round(wanted[1], 4))
        assert near(points, wanted[2])
        assert (width, dash) == (pytest.approx(wanted[3]), pytest.approx(wanted[4], abs=0.01))
    if format_ == "pdf":
        for (text, x, y, size, colour), (words, x0, middle, wanted, ink, anchor, mono) in zip(
            found.texts, page.texts(), strict=True
        ):
            assert (text, colour, size) == (words, ink, pytest.approx(wanted))
            assert y == pytest.approx(middle + 0.36 * wanted, abs=0.02)
            wide = len(text.removesuffix(" (bold)")) * wanted * (0.602 if mono else 0.6)
            assert x == pytest.approx(x0 - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor], abs=0.02 * len(text) + 0.02)
    images = [item for item in page.page.items if isinstance(item, primitives.Image)]
    assert len(images) == len(found.images)
    for item, (left, top, pixels) in zip(images, found.images, strict=True):
        assert near([(left, top)], [(item.grid.left, item.grid.top)]) or format_ == "png"
        assert abs(left - item.grid.left) <= 0.5
        assert abs(top - item.grid.top) <= 1
        paints = np.frombuffer(item.paints, np.uint8) if isinstance(item.paints, bytes) else np.array(item.paints)
        step, table = item.step, paints.reshape(item.grid.rows, item.grid.cols)
        high, wide = pixels.shape[0] // -(-item.grid.rows // step), pixels.shape[1] // -(-item.grid.cols // step)
        assert high == wide == max(1, round(item.grid.cell_w * step))
        for r in range(0, item.grid.rows, 37 * step):
            for c in range(0, item.grid.cols, 7 * step):
                there = pixels[r // step * high, c // step * wide]
                assert to_hex(np.array(there[:3]) / 255) == page.fills[table[r, c]]
                assert there[3] == 255


def test_a_png_has_limits_that_a_pdf_has_not():
    small = figure("(2,2)")
    with raised({"pixels": 1000}):
        assert render(small, "pdf")
        with pytest.raises(CuteVizError, match=r"a PNG of \d+ x \d+ pixels; the limit is 1000"):
            render(small, "png")
    tall = figure("(2200,1)", labels="none")
    with pytest.raises(CuteVizError, match=r"a PNG of \d+ x 66\d\d\d pixels is too long"):
        render(tall, "png", Options(cell=30))
    labeled = figure("(4,8)")
    for format_ in ("png", "pdf"):
        with raised({"labels": 32}):
            assert render(labeled, format_)
        with raised({"labels": 31}):
            assert render(labeled, format_, Options(cell=4))  # which shows none
            with pytest.raises(CuteVizError, match=f"a {format_} of 32 labels; the limit is 31"):
                render(labeled, format_)


def test_a_page_that_is_long_has_a_pixel_for_each_px(record):
    for rows, fine in ((90, 2), (120, 1)):
        found = record(f"({rows},2)", {}, {"cell": 30}, "png")
        assert (found.size[1] <= 3000, found.size[2]) == (fine == 2, fine)
