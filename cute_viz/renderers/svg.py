"""SVG: a page written down through svgwrite.

Light colours are attributes, dark ones class rules under prefers-color-scheme, because that is what every reader of
SVG understands; text is placed by its baseline for the same reason. Ids come from the content, so equal figures are
equal bytes.

svgwrite takes about 30 microseconds an element, so what repeats is grouped (a path for each paint, one for each
weight of line), and paths and texts are joined as strings, between the tags of the groups and the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

from cute_viz.figures.model import HOLE, Figure, Paint
from cute_viz.renderers import Options
from cute_viz.renderers import primitives as p
from cute_viz.renderers.colours import BETWEEN, BORDER, DARK, HOLE_COLOUR, LINE, MUTED, PAPER, TEXT, page_palette, roles
from cute_viz.renderers.geometry import SANS, number
from cute_viz.renderers.letters import markup, xml
from cute_viz.renderers.page import page_of
from cute_viz.renderers.palette import Palette
from cute_viz.renderers.placed import Page
from cute_viz.renderers.svg_import import svgwrite

BASELINE = 0.35  # from the middle of a letter down to its baseline, in font sizes
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STROKES = {"t": "b", "m": "ms", "x": "xs"}  # classes of strokes of a role
RULES = {
    **{name: f"fill:{DARK[name]}" for name in "ptm"},
    "l": f"stroke:{BETWEEN}",
    **dict.fromkeys(("tile", "box"), f"stroke:{BETWEEN}"),
    "b": f"stroke:{DARK['b']}",
    "hl": "stroke:#6e7681",
}  # what the style sheet changes in the dark


def render(figure: Figure, options: Options) -> str:
    """The figure as an SVG document."""
    if options.style == "cutlass":
        from cute_viz.renderers import svg_cutlass

        return svg_cutlass.render(figure)
    return write(page_of(figure, options), options)


def write(page: Page, options: Options, over: Sequence[tuple[str, Sequence[p.Primitive]]] = (), style: str = "") -> str:
    """A laid out page as an SVG document.

    over: groups above it, each with the attributes of its element; style: rules for them.
    """
    writer = _SvgWriter(page, options)
    for item in page.items:
        writer.put(item)
    writer.parts += [f"<style>{style}</style>"] if style else []
    for attributes, items in over:
        writer.parts.append(f"<g {attributes}>")
        for item in items:
            writer.put(item)
        writer.parts.append("</g>")
    header = "" if options.fragment else '<?xml version="1.0" encoding="utf-8"?>\n'
    return f"{header}{writer.head}{''.join(writer.parts)}</svg>\n"


def _ids(figure: Figure, options: Options) -> str:
    """A prefix for the ids of this picture, from what it shows."""
    words = [figure.title, figure.source, figure.description, f"{options.palette} {options.theme}"]
    content = "\0".join([*words, *("\0".join(panel.labels) for panel in figure.panels)])
    code = crc32(content.encode("utf-8", "replace"))
    for panel in figure.panels:
        code = crc32(panel.paints if isinstance(panel.paints, bytes) else bytes([p & 255 for p in panel.paints]), code)
    return f"cv{code:08x}"


def _style(theme: str, drawn: bool, more: Mapping[str, str]) -> str:
    """Dark rules: none, always, or when the reader prefers dark.

    drawn: whether there are lines of roles. more: the fill of each further class.
    """
    more = {name: f"fill:{fill}" for name, fill in more.items()}
    more |= {"ms": f"stroke:{DARK['m']}", "x": f"fill:{DARK['x']}", "xs": f"stroke:{DARK['x']}"} if drawn else {}
    rules = "".join(f".{name}{{{rule}}}" for name, rule in (RULES | more).items())
    if theme in ("light", "print"):
        return ""
    return f"<style>{rules if theme == 'dark' else '@media (prefers-color-scheme:dark){' + rules + '}'}</style>"


@lru_cache(maxsize=64)
def _colours(
    palette: Palette, paints: Sequence[Paint], holes: bool
) -> tuple[list[str], list[str], dict[int, str], list[str], dict[str, str]]:
    """Fills and inks of the paints, the classes of what the dark changes of either, and the fill that each class has there.

    holes: whether holes have labels, in the ink of the page.
    """
    every = [*paints, *[Paint(-1)] * holes]
    fills, inks = [*map(palette.fill, paints), HOLE_COLOUR], [*map(palette.ink, [*paints, Paint(-1)])]  # HOLE is -1, the last
    dark = {n: (palette.fill(paint, True), palette.ink(paint, True)) for n, paint in enumerate(every)}
    dark_fill = {n: f"f{n}" for n, (fill, _) in dark.items() if n < len(paints) and fill != fills[n]}
    dark_ink = {ink: f"i{n}" for n, ink in enumerate(dict.fromkeys(ink for _, ink in dark.values()))}
    classes = [dark_ink[ink] if ink != inks[n] else "" for n, (_, ink) in dark.items()] + [""] * (not holes)
    more = {name: dark[n][0] for n, name in dark_fill.items()} | {name: ink for ink, name in dark_ink.items() if name in classes}
    return fills, inks, dark_fill, classes, more


@lru_cache(maxsize=1024)
def _written(element: Callable[..., Any], *place: tuple[float | str, float | str], **attributes: str) -> str:
    """An element of svgwrite, which a page that changes under one's keys has again and again."""
    return str(element(*place, debug=False, **attributes).tostring())


class _SvgWriter:
    """The document under way: its head, with title, description, colours and definitions, and the parts above each other."""

    def __init__(self, page: Page, options: Options) -> None:
        figure = page.figure
        self.known: tuple[p.Grid, list[str], list[str]] | None = None
        holes = any(panel.labels and min(panel.paints) == HOLE for panel in figure.panels)
        self.fills, self.inks, self.dark_fill, self.classes, more = _colours(page_palette(options), figure.paints, holes)
        self.pale = {n for n, paint in enumerate(figure.paints) if paint.faded or paint.hue == -1}
        self.roles = roles(options) | {p.INK: TEXT}
        self.ids = ids = _ids(figure, options)
        size = (number(page.width), number(page.height))
        drawing = svgwrite.Drawing(
            debug=False,
            size=size,
            viewBox=f"0 0 {size[0]} {size[1]}",
            role="img",
            aria_labelledby=f"{ids}t {ids}d",
        )
        title, desc = svgwrite.base.Title(xml(figure.title or figure.source)), svgwrite.base.Desc(xml(figure.description))
        title.xml.set("id", f"{ids}t")
        desc.xml.set("id", f"{ids}d")
        drawing.elements[:0] = [title, desc]
        hatch = (
            f'<pattern id="{ids}h" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<path d="M0 0V7" class="hl" stroke="#b6bcc2" stroke-width="2"/></pattern>'
        )
        defs = f"<defs>{_style(options.theme, bool(figure.arrows or figure.flow), more)}{hatch}</defs>"
        self.head = drawing.tostring().removesuffix("<defs /></svg>") + defs
        self.parts = [_written(svgwrite.shapes.Rect, (0, 0), size, class_="p", fill=PAPER)]

    def _group(self, text: str, **attributes: Any) -> None:
        """A group around a piece of ready-made SVG; nothing around nothing."""
        if text:
            tag = _written(svgwrite.container.Group, **attributes).removesuffix(" />")
            self.parts.append(f"{tag}>{text}</g>")

    def _path(self, d: str, cls: str, **attributes: str) -> None:
        self.parts.append(_element("path", d=d, class_=cls, **attributes))

    def put(self, item: p.Primitive) -> None:
        """One primitive, above what is there."""
        match item:
            case p.Cells():
                self._cells(item)
            case p.Image():
                self._image(item)
            case p.Strokes():
                x0, y0, x1, y1 = _edges(item.grid)
                across = "".join(f"M{x0} {number(y)}H{x1}" for y in item.ys)
                down = "".join(f"M{number(x)} {y0}V{y1}" for x in item.xs)
                faint = {"stroke_opacity": number(item.opacity)} if item.opacity < 1 else {}
                stroke = LINE if item.role == p.CELL else BORDER
                self._path(across + down, item.role, fill="none", stroke=stroke, stroke_width=number(item.width), **faint)
            case p.Border():
                x0, y0, x1, y1 = _edges(item.grid)
                outline = f"M{x0} {y0}H{x1}V{y1}H{x0}Z"  # the one line on dark paper
                self._path(outline, "b", fill="none", stroke=BORDER, stroke_width=number(item.width))
            case p.Boxes():
                self._boxes(item)
            case p.Swatch():
                style = {
                    "stroke": BORDER,
                    "stroke_width": number(item.width),
                    "rx": number(item.radius),
                    "fill": self.fills[item.paint],
                }
                place = (number(item.x), number(item.y)), (number(item.size), number(item.size))
                pale = ["tile"] if item.paint in self.pale else []  # an outline that is seen on a dark page
                cls = " ".join(["s", *pale, *filter(None, [self.dark_fill.get(item.paint)])])
                self.parts.append(_written(svgwrite.shapes.Rect, *place, class_=cls, **style))
            case p.Path():
                self._lines(item)
            case p.Labels():
                self._labels(item)
            case p.Texts():
                self._texts(item)
            case p.Line():
                at = (number(item.x), number(item.y + BASELINE * item.size))
                style = {"font_family": MONO if item.mono else SANS, "font_size": number(item.size), "fill": self.roles[item.role]}
                style |= {"class_": item.role, **_weight(item.weight), **_anchor(item.anchor)}
                self.parts.append(_element("text", markup(item.text), x=at[0], y=at[1], **style))
            case _:
                p.missing(item)

    def _coordinates(self, grid: p.Grid) -> tuple[list[str], list[str]]:
        """The edges of the columns and rows of a grid, which all paints of a panel have."""
        if self.known is None or self.known[0] != grid:
            self.known = grid, list(map(number, grid.xs())), list(map(number, grid.ys()))
        return self.known[1:]

    def _cells(self, item: p.Cells) -> None:
        grid = item.grid
        xs, ys = self._coordinates(grid)
        height = number(grid.cell_h)
        widths = {n: number(n * grid.cell_w) for n in set(item.lengths)}
        ends = {n: f"h{width}v{height}h-{width}z" for n, width in widths.items()}
        hole = item.paint == HOLE
        d = "".join([f"M{xs[c]} {ys[r]}{ends[n]}" for r, c, n in item.runs()])
        cls = " ".join(["cell", *filter(None, [self.dark_fill.get(item.paint)])])
        self._path(d, "hole" if hole else cls, fill=f"url(#{self.ids}h)" if hole else self.fills[item.paint])

    def _image(self, item: p.Image) -> None:
        """The cells as the pixels of one image."""
        from base64 import b64encode

        from cute_viz.renderers.pixels import raster

        grid = item.grid
        pixels = raster(item.paints, grid.cols, self.fills, max(1, int(grid.cell_w)), item.step)
        size = f'width="{number(grid.cols * grid.cell_w)}" height="{number(grid.rows * grid.cell_h)}"'
        place = (
            f'x="{number(grid.left)}" y="{number(grid.top)}" {size} preserveAspectRatio="none" style="image-rendering:pixelated"'
        )
        data = b64encode(pixels).decode()
        self.parts.append(f'<image class="raster" {place} xlink:href="data:image/png;base64,{data}"/>')

    def _boxes(self, item: p.Boxes) -> None:
        r = item.radius
        corner = number(r)
        a = f"a{corner} {corner} 0 0 1 "
        turns = [f"{a}{right}{corner} {down}{corner}" for right, down in (("", ""), ("-", ""), ("-", "-"), ("", "-"))]
        sizes = set(zip(item.ws, item.hs, strict=True))
        outlines = {(w, h): (w - 2 * r, h - 2 * r) for w, h in sizes}
        rest = {
            size: f"h{number(w)}{turns[0]}v{number(h)}{turns[1]}h{number(-w)}{turns[2]}v{number(-h)}{turns[3]}z"
            for size, (w, h) in outlines.items()
        }
        xs, ys = {x: f"M{number(x + r)} " for x in set(item.xs)}, {y: number(y) for y in set(item.ys)}
        places = zip(item.xs, item.ys, item.ws, item.hs, strict=True)
        d = "".join([xs[x] + ys[y] + rest[w, h] for x, y, w, h in places])
        self._path(d, "box", fill="none", stroke=BORDER, stroke_width=number(item.width))

    def _lines(self, item: p.Path) -> None:
        end = "z" if item.fill is not None else ""
        d = "".join(f"M{'L'.join(map(_pair, line))}{end}" for line in item.lines)
        role = item.fill if isinstance(item.fill, str) else STROKES.get(item.role, "") if item.fill is None or item.width else ""
        fill = "none" if item.fill is None else self.roles[item.fill] if isinstance(item.fill, str) else self.fills[item.fill]
        style = (
            {"stroke": self.roles[item.role], "stroke_width": number(item.width), "stroke_linejoin": "round"} if item.width else {}
        )
        style |= {"opacity": number(item.opacity)} if item.opacity < 1 else {}
        style |= {"stroke_dasharray": number(item.dash)} if item.dash else {}
        cls = self.dark_fill.get(item.fill, "path") if isinstance(item.fill, int) else role or "path"
        self._path(d, cls, fill=fill, **style)

    def _labels(self, item: p.Labels) -> None:
        """A group of texts for each ink."""
        xs = list(map(number, item.grid.middles()))
        ys = [number(y + item.dy + BASELINE * item.size) for y in item.grid.ys()[:-1]]
        inks = list(zip(self.inks, self.classes, strict=True))
        faint = {"fill_opacity": number(item.opacity)} if item.opacity < 1 else {}
        style = {"font_family": MONO, "font_size": number(item.size), "text_anchor": "middle", **faint, **_weight(item.weight)}
        for ink in dict.fromkeys(inks):
            only = None if len(set(inks)) == 1 else [i == ink for i in inks]
            cls = {"class_": ink[1]} if ink[1] else {}
            self._group("".join(_cell_texts(item, xs, ys, only)), fill=ink[0], **style, **cls)

    def _texts(self, item: p.Texts) -> None:
        """A group of texts for each ink, or one of all."""
        style = {"font_family": MONO, "font_size": number(item.size), "text_anchor": item.anchor, **_weight(item.weight)}
        by_ink: dict[tuple[str, str], list[str]] = {}
        both = list(zip(self.inks, self.classes, strict=True))
        inks = [(MUTED, "m")] * len(item.texts) if item.paints is None else [both[paint] for paint in item.paints]
        ends = {text: f"{text if text.isalnum() else markup(text)}</text>" for text in set(item.texts)}
        others = {size: f'" font-size="{number(size)}">' if size != item.size else '">' for size in set(item.sizes)}
        for x, y, text, size, ink in zip(item.xs, item.ys, item.texts, item.sizes, inks, strict=True):
            element = f'<text x="{number(x)}" y="{number(y + BASELINE * size)}{others[size]}{ends[text]}'
            by_ink.setdefault(ink, []).append(element)
        for ink, texts in by_ink.items():
            self._group("".join(texts), fill=ink[0], **style, **({"class_": ink[1]} if ink[1] else {}))


def _element(name: str, text: str = "", **attributes: str) -> str:
    """An element around escaped text, its attributes in the order of their names, as svgwrite has them; the values are ours."""
    words = sorted((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    head = f"<{name}" + "".join([f' {key}="{value}"' for key, value in words])
    return f"{head}>{text}</{name}>" if text else f"{head} />"


def _edges(grid: p.Grid) -> tuple[str, str, str, str]:
    return number(grid.left), number(grid.top), number(grid.right), number(grid.bottom)


def _pair(point: tuple[float, float]) -> str:
    return f"{number(point[0])} {number(point[1])}"


def _weight(weight: int) -> dict[str, str]:
    return {"font_weight": str(weight)} if weight != 400 else {}


def _anchor(anchor: str) -> dict[str, str]:
    return {"text_anchor": anchor} if anchor != p.START else {}


def _cell_texts(item: p.Labels, xs: Sequence[str], ys: Sequence[str], only: list[bool] | None) -> Iterable[str]:
    """The text elements of the labels, row by row; with `only`, of the cells whose paint is chosen."""
    cols = item.grid.cols
    ends = {label: f"{label if label.isalnum() else markup(label)}</text>" for label in set(item.texts)}
    heads = [f'<text x="{x}" y="' for x in xs]
    for r, y in enumerate(ys):
        row, middle = item.texts[r * cols : (r + 1) * cols], f'{y}">'
        if only is None:
            yield "".join([head + middle + ends[label] for head, label in zip(heads, row, strict=True) if label])
        else:
            mine = zip(heads, row, item.paints[r * cols : (r + 1) * cols], strict=True)
            yield "".join([head + middle + ends[label] for head, label, paint in mine if label and only[paint]])
