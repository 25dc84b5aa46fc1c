"""SVG: the page around the panels, through svgwrite.

Light colours are attributes, dark ones class rules under prefers-color-scheme, because that is what every reader of
SVG understands; text is placed by its baseline for the same reason. Ids come from the content, so equal figures are
equal bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from zlib import crc32

import svgwrite

from cute_viz.figures.model import Figure, Legend
from cute_viz.figures.palette import palette
from cute_viz.renderers import Options
from cute_viz.renderers.layout import arrange, fact_line, shared_sizes
from cute_viz.renderers.svg_panel import (
    BOLD,
    BORDER,
    CHAR,
    MONO,
    MUTED,
    PAPER,
    SANS,
    TEXT,
    Canvas,
    clean,
    draw,
    measure,
    number,
    wrap,
)

MARGIN = 20.0
GAP = 28.0  # between panels, and between panels and legend
PROSE = 0.6  # width of an average letter of prose, in font sizes, on the safe side
LEGEND_WIDTH = 230.0
SIDE_LEGEND = 900.0  # panels wider than this have their legend below
ROW = 20.0  # height of a legend entry
DARK = {
    "p": "fill:#0d1117",
    "t": "fill:#e6edf3",
    "m": "fill:#9aa4ae",
    "l": "stroke:#000",
    "b": "stroke:#e6edf3",
    "hl": "stroke:#6e7681",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the heading or the notes: its words, size, family and class."""

    text: str
    size: float
    mono: bool = False
    cls: str = "m"
    bold: bool = False


def render(figure: Figure, options: Options) -> str:
    """The figure as an SVG document.

    >>> from cute_viz.figures import build
    >>> from cute_viz.algebra.layout import Layout
    >>> render(build(Layout((2, 2))), Options(fragment=True)).startswith("<svg ")
    True
    """
    if options.style == "cutlass":
        from cute_viz.renderers import svg_cutlass

        return svg_cutlass.render(figure)
    frames = [measure(panel) for panel in figure.panels]
    aligned = shared_sizes(figure.panels, [(f.cell_w, f.cell_h, f.left, f.top) for f in frames])
    frames = [replace(f, cell_w=w, cell_h=h, left=left, top=top) for f, (w, h, left, top) in zip(frames, aligned, strict=True)]
    sizes = [(frame.width, frame.height) for frame in frames]
    places, panels_w, panels_h = arrange([panel.place for panel in figure.panels], sizes, GAP)
    corner = _free_corner(figure, sizes)
    beside = bool(figure.legends) and panels_w <= SIDE_LEGEND and not corner
    width = max(panels_w + (GAP + LEGEND_WIDTH if beside else 0), 420.0)
    head = [line for item in _heading(figure) for line in _wrap(item, width)]
    notes = [line for item in _notes(figure) for line in _wrap(item, width)]
    head_h = sum(line.size * 1.6 for line in head) + 10
    legend_h = 0.0 if corner else _legend_height(figure.legends, LEGEND_WIDTH if beside else width, beside)
    body_h = max(panels_h, legend_h) if beside else panels_h + legend_h
    height = MARGIN * 2 + head_h + body_h + (sum(line.size * 1.6 for line in notes) + 12 if notes else 0)

    ids = _ids(figure, options)
    canvas = _canvas(figure, options, ids, width + 2 * MARGIN, height)
    y = _prose(canvas, head, MARGIN)
    top = y + 10
    for frame, (px, py) in zip(frames, places, strict=True):
        draw(canvas, frame, MARGIN + px, top + py)
    if figure.legends:
        at = (MARGIN, top) if corner else (MARGIN + panels_w + GAP, top) if beside else (MARGIN, top + panels_h)
        _legends(canvas, figure.legends, at, width, beside or corner)
    _prose(canvas, notes, top + body_h + 12)
    text = canvas.drawing.tostring()
    parts = re.split(r"<!--(chunk-\d+)-->", text)
    parts[1::2] = [canvas.chunks[key] for key in parts[1::2]]
    header = "" if options.fragment else '<?xml version="1.0" encoding="utf-8"?>\n'
    return header + "".join(parts) + "\n"


def _free_corner(figure: Figure, sizes: list[tuple[float, float]]) -> bool:
    """Whether the upper left place of the panels is empty, and has room for the legend."""
    places = [panel.place for panel in figure.panels]
    if not figure.legends or (0, 0) in places or not any(p[0] == 0 for p in places) or not any(p[1] == 0 for p in places):
        return False
    width = max(w for place, (w, _) in zip(places, sizes, strict=True) if place[1] == 0)
    height = max(h for place, (_, h) in zip(places, sizes, strict=True) if place[0] == 0)
    return width >= LEGEND_WIDTH and height >= _legend_height(figure.legends, LEGEND_WIDTH, True)


def _ids(figure: Figure, options: Options) -> str:
    """A prefix for the ids of this picture, from what it shows."""
    cells = [text for panel in figure.panels for text in (*panel.labels, *map(str, panel.paints))]
    content = "\0".join((figure.title, figure.source, figure.description, repr(options), *cells))
    return f"cv{crc32(content.encode('utf-8', 'replace')):08x}"


def _canvas(figure: Figure, options: Options, ids: str, width: float, height: float) -> Canvas:
    """The document with its title, description, colours and background."""
    size = (number(width), number(height))
    drawing = svgwrite.Drawing(
        debug=False,
        size=size,
        viewBox=f"0 0 {size[0]} {size[1]}",
        role="img",
        aria_labelledby=f"{ids}t {ids}d",
    )
    title, desc = svgwrite.base.Title(clean(figure.title)), svgwrite.base.Desc(clean(figure.description))
    title.xml.set("id", f"{ids}t")
    desc.xml.set("id", f"{ids}d")
    drawing.elements[:0] = [title, desc]
    canvas = Canvas(drawing, ids, palette(options.palette), figure.paints)
    hatch = (
        f'<pattern id="{ids}h" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<path d="M0 0V7" class="hl" stroke="#b6bcc2" stroke-width="2"/></pattern>'
    )
    drawing.defs.add(canvas.chunk(_style(options.theme) + hatch))
    drawing.add(svgwrite.shapes.Rect((0, 0), size, debug=False, class_="p", fill=PAPER))
    return canvas


def _style(theme: str) -> str:
    """Dark rules: none, always, or when the reader prefers dark."""
    rules = "".join(f".{name}{{{rule}}}" for name, rule in DARK.items())
    if theme == "light":
        return ""
    return f"<style>{rules if theme == 'dark' else '@media (prefers-color-scheme:dark){' + rules + '}'}</style>"


def _heading(figure: Figure) -> list[Line]:
    return [
        Line(figure.title, 17, cls="t", bold=True),
        Line(figure.source, 12.5, mono=True, cls="t"),
        Line(figure.caption, 12.5),
    ]


def _notes(figure: Figure) -> list[Line]:
    return [Line(note, 12) for note in (*figure.notes, fact_line(figure)) if note]


def _wrap(line: Line, width: float) -> list[Line]:
    """The line cut to the width."""
    letter = line.size * (CHAR if line.mono else BOLD if line.bold else PROSE)
    return [Line(text, line.size, line.mono, line.cls, line.bold) for text in wrap(line.text, width, letter, line.mono) if text]


def _prose(canvas: Canvas, lines: list[Line], y: float) -> float:
    """Lines of text from y down; returns where they end."""
    for line in lines:
        weight = {"font_weight": "700"} if line.bold else {}
        family = MONO if line.mono else SANS
        fill = TEXT if line.cls == "t" else MUTED
        canvas.text(line.text, MARGIN, y + line.size * 0.8, line.cls, line.size, font_family=family, fill=fill, **weight)
        y += line.size * 1.6
    return y


def _entry_width(legends: tuple[Legend, ...]) -> float:
    longest = max((len(f"{e.label}  {e.count} cells") for legend in legends for e in legend.entries), default=0)
    return 32 + longest * 12 * PROSE + 12


def _legend_height(legends: tuple[Legend, ...], width: float, beside: bool) -> float:
    out = 0.0 if beside else GAP
    for legend in legends:
        per_row = 1 if beside else max(1, int(width // _entry_width(legends)))
        rows = -(-len(legend.entries) // per_row)
        out += len(_wrap(Line(legend.title, 12), width)) * 18 + 6 + rows * ROW + 14
    return out


def _legends(canvas: Canvas, legends: tuple[Legend, ...], at: tuple[float, float], width: float, beside: bool) -> None:
    """Heading, swatches, meanings and counts: a column beside the panels, or rows below them."""
    x, y = at
    y += 0 if beside else GAP
    room = LEGEND_WIDTH if beside else width
    step = _entry_width(legends)
    per_row = 1 if beside else max(1, int(room // step))
    for legend in legends:
        for line in _wrap(Line(legend.title, 12), room):
            canvas.text(line.text, x, y + 8, "m", 12, font_family=SANS, fill=MUTED)
            y += 18
        y += 6
        for n, entry in enumerate(legend.entries):
            row, col = divmod(n, per_row)
            ex, ey = x + col * step, y + row * ROW
            fill = canvas.colours.fill(canvas.paints[entry.paint])
            swatch = {"fill": fill, "stroke": BORDER, "stroke_width": "0.6", "rx": 2}
            canvas.drawing.add(svgwrite.shapes.Rect((number(ex), number(ey)), (14, 14), debug=False, class_="s", **swatch))
            canvas.text(entry.label, ex + 22, ey + 7, "t", 12, font_family=SANS, fill=TEXT)
            count = f"{entry.count} cell{'' if entry.count == 1 else 's'}"
            canvas.text(count, ex + 32 + len(entry.label) * 12 * PROSE, ey + 7, "m", 11, font_family=SANS, fill=MUTED)
        y += -(-len(legend.entries) // per_row) * ROW + 14
