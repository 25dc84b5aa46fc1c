"""SVG: the page around the panels, through svgwrite.

Light colours are attributes, dark ones class rules under prefers-color-scheme, because that is what every reader of
SVG understands; text is placed by its baseline for the same reason. Ids come from the content, so equal figures are
equal bytes.
"""

from __future__ import annotations

import re
from zlib import crc32

from cute_viz.figures.model import Figure
from cute_viz.renderers import Options
from cute_viz.renderers.colours import BORDER, DARK, MUTED, PAPER, TEXT, page_palette
from cute_viz.renderers.letters import xml
from cute_viz.renderers.page import Page, lay_out
from cute_viz.renderers.svg_import import svgwrite
from cute_viz.renderers.svg_panel import MONO, SANS, Canvas, draw, number

RULES = {
    **{name: f"fill:{DARK[name]}" for name in "ptm"},
    "l": "stroke:#000",
    "b": f"stroke:{DARK['b']}",
    "hl": "stroke:#6e7681",
}  # what the style sheet changes in the dark


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
    return write(lay_out(figure, width=options.width, cell=options.cell, full=options.full), options)


def write(page: Page, options: Options) -> str:
    """A laid out page as an SVG document.

    >>> from cute_viz import figure
    >>> write(lay_out(figure("(2,2)")), Options(fragment=True))[:4]
    '<svg'
    """
    figure = page.figure
    canvas = _canvas(figure, options, _ids(figure, options), page.width, page.height)
    for frame, x, y in page.panels:
        draw(canvas, frame, x, y)
    for swatch in page.swatches:
        fill = canvas.colours.fill(figure.paints[swatch.paint])
        style = {"fill": fill, "stroke": BORDER, "stroke_width": "0.6", "rx": 2}
        canvas.drawing.add(svgwrite.shapes.Rect((number(swatch.x), number(swatch.y)), (14, 14), debug=False, class_="s", **style))
    for line in page.words:
        weight = {"font_weight": "700"} if line.bold else {}
        family, fill = MONO if line.mono else SANS, TEXT if line.cls == "t" else MUTED
        canvas.text(line.text, line.x, line.y, line.cls, line.size, font_family=family, fill=fill, **weight)
    text = canvas.drawing.tostring()
    parts = re.split(r"<!--(chunk-\d+)-->", text)
    parts[1::2] = [canvas.chunks[key] for key in parts[1::2]]
    header = "" if options.fragment else '<?xml version="1.0" encoding="utf-8"?>\n'
    return header + "".join(parts) + "\n"


def _ids(figure: Figure, options: Options) -> str:
    """A prefix for the ids of this picture, from what it shows."""
    words = [figure.title, figure.source, figure.description, f"{options.palette} {options.theme}"]
    content = "\0".join([*words, *("\0".join(panel.labels) for panel in figure.panels)])
    code = crc32(content.encode("utf-8", "replace"))
    for panel in figure.panels:
        code = crc32(panel.paints if isinstance(panel.paints, bytes) else bytes([p & 255 for p in panel.paints]), code)
    return f"cv{code:08x}"


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
    title, desc = svgwrite.base.Title(xml(figure.title)), svgwrite.base.Desc(xml(figure.description))
    title.xml.set("id", f"{ids}t")
    desc.xml.set("id", f"{ids}d")
    drawing.elements[:0] = [title, desc]
    canvas = Canvas(drawing, ids, page_palette(options), figure.paints)
    hatch = (
        f'<pattern id="{ids}h" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<path d="M0 0V7" class="hl" stroke="#b6bcc2" stroke-width="2"/></pattern>'
    )
    drawing.defs.add(canvas.chunk(_style(options.theme) + hatch))
    drawing.add(svgwrite.shapes.Rect((0, 0), size, debug=False, class_="p", fill=PAPER))
    return canvas


def _style(theme: str) -> str:
    """Dark rules: none, always, or when the reader prefers dark."""
    rules = "".join(f".{name}{{{rule}}}" for name, rule in RULES.items())
    if theme in ("light", "print"):
        return ""
    return f"<style>{rules if theme == 'dark' else '@media (prefers-color-scheme:dark){' + rules + '}'}</style>"
