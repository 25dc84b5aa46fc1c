"""HTML: one file that needs no network: the SVG page, what a reader can ask of it, and its tables for those who cannot see it.

Hovering or moving with the arrow keys shows a cell's thread, value, coordinate, offset, and lights what belongs to it in every
panel; a click highlights it, the search finds it, and the picture zooms. The modules and the style are files beside this module,
which the live page uses, too; here they are put in, one behind the other.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import repeat
from typing import Any

from cute_viz.figures.model import Figure, Panel
from cute_viz.records import beside
from cute_viz.renderers import Options, svg
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.inline import inlined
from cute_viz.renderers.letters import xml
from cute_viz.renderers.page import page_of
from cute_viz.renderers.primitives import Grid
from cute_viz.renderers.said import described

TABLE_CELLS = 4096  # of a panel; larger tables are built when they are opened
MANY = 1024  # cells whose labels are not written twice
MODULES = ("panels.js", "view.js", "explore.js")  # each uses those before it
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:"
CONTROLS, READOUT = (beside(__file__, f"assets/{name}.html") for name in ("controls", "readout"))


def render(figure: Figure, options: Options) -> str:
    """The figure as an HTML document."""
    if options.target == "readme":  # a README shows images, so that this target says nothing of a page of its own
        options = replace(options, target=None)
    picture, panels = explored(figure, options)
    content: dict[str, Any] = {"panels": panels}
    if figure.series:
        content["series"] = _series(figure, options)
    # default: the halves of a recast coordinate, 1/2, are written as text
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=True, default=str).replace("<", "\\u003c")
    style, script, digest = _assets()
    theme = {"dark": "dark", "light": "light", "print": "light"}.get(options.theme, "light dark")
    said = _text(described(figure, options).description)
    tables = "".join(_table(panel, n) for n, panel in enumerate(figure.panels))
    return (
        f'<!DOCTYPE html>\n<html lang="en" class="alone">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(digest)}">\n'
        f'<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="{theme}">\n'
        f"<title>{_text(figure.title or figure.source)}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body class="{options.theme}">\n<main>\n{_with_slider(figure)}'
        f'<div id="picture" tabindex="0" role="group" aria-label="{said}" aria-describedby="cell">\n'
        f"{picture}</div>\n{READOUT}"
        f'<section id="tables" aria-label="Tables">\n{tables}</section>\n</main>\n'
        f'<script type="application/json" id="data">{data}</script>\n<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def explored(figure: Figure, options: Options) -> tuple[str, list[dict[str, Any]]]:
    """The figure as an SVG without its declaration, and what a script must know of its panels."""
    page = page_of(figure, options)
    return inlined(svg.write(page, replace(options, fragment=True))), [
        _panel(place.panel, place.grid, place.detail) for place in page.panels
    ]


def _with_slider(figure: Figure) -> str:
    """The controls; with a slider for the pictures that this is one of."""
    if not figure.series:
        return CONTROLS
    word = _which(figure)
    numbers = [one.facts[word] for one in figure.series]
    at = numbers.index(figure.facts[word]) if figure.facts[word] in numbers else 0
    slider = (
        f'<label>{word.capitalize()} <input id="series" type="range" min="0" max="{len(numbers) - 1}" value="{at}" '
        f'aria-valuetext="{word} {numbers[at]}"></label><output id="which" for="series">{numbers[at]}</output>\n'
    )
    return CONTROLS.replace("<label>Find", f"{slider}<label>Find", 1)


def _which(figure: Figure) -> str:
    """What tells the pictures of a slider from each other: the thread, or the step."""
    return "thread" if "thread" in figure.facts else "step"


def _series(figure: Figure, options: Options) -> dict[str, Any]:
    """The pictures of a slider: of each the SVG, cut before each tag, and its panels, as indices into what all of them share.

    word: what the slider counts.
    parts: of SVGs. values: of panels, a JSON text each. pictures: (number, title, description, parts, panels by field).
    """
    parts: dict[str, int] = {}
    values: dict[str, int] = {}
    pictures, word = [], _which(figure)
    for one in figure.series:
        picture, panels = explored(replace(one, series=()), options)
        cut = [parts.setdefault(part, len(parts)) for part in picture.split("<")]
        kept = [
            {name: values.setdefault(json.dumps(value, default=str), len(values)) for name, value in panel.items()}
            for panel in panels
        ]
        pictures.append([one.facts[word], one.title, described(one, options).description, cut, kept])
    return {"word": word, "parts": list(parts), "values": list(values), "pictures": pictures}


@lru_cache(maxsize=1)
def _assets() -> tuple[str, str, str]:
    """The style, the modules as one, and the hash by which the page's policy knows it."""
    assets = files("cute_viz.renderers") / "assets"
    modules = [(assets / name).read_text("utf-8") for name in (*MODULES, "alone.js")]
    script = "\n" + re.sub(r"^import .*\n|^export (?=class|function|const)", "", "".join(modules), flags=re.M)
    return (assets / "explore.css").read_text("utf-8"), script, b64encode(sha256(script.encode()).digest()).decode()


def _panel(panel: Panel, grid: Grid, detail: Detail) -> dict[str, Any]:
    """What the script must know of a panel: where its cells are, and what they hold."""
    columns = {name: list(column) for name, column in panel.data.items() if name not in ("thread", "value")}
    out: dict[str, Any] = {
        "caption": panel.caption,
        "x": round(grid.left, 2),
        "y": round(grid.top, 2),
        "w": grid.cell_w,
        "h": grid.cell_h,
        "rows": panel.rows,
        "cols": panel.cols,
        "down": panel.row_ruler.title or "row",
        "right": panel.col_ruler.title or "column",
        "rowLabels": list(panel.row_ruler.labels),
        "colLabels": list(panel.col_ruler.labels),
        "labels": [*map(str.replace, panel.labels, repeat("\n"), repeat(" "))],
        "data": columns,
        "warp": [panel.warp, panel.warp_name],
        "labeled": detail < Detail.COLOUR,
    }
    for name, column in columns.items():
        if len(column) >= MANY and out["labels"] == [*map(_label, column)]:
            out["labels"] = name  # which the script writes
            break
    for name in ("thread", "value"):
        if name in panel.data:
            out[name] = list(panel.data[name])
    out["owners"] = {str(cell): mine for cell, mine in panel.owners}
    return out


def _label(value: Any) -> str | None:
    """A value of a column as the script writes it, which is the label of its cell; None of one that it would write otherwise."""
    if value is None or type(value) is int:
        return "" if value is None else str(value)
    flat = isinstance(value, tuple) and not any(isinstance(part, (tuple, float, bool)) for part in value)
    return f"({','.join(map(str, value))})" if flat else None


def _table(panel: Panel, number: int) -> str:
    """The panel as a real table: a header for each row and column."""
    lines = " by ".join(filter(None, (panel.row_ruler.title, panel.col_ruler.title)))
    caption = _text(panel.caption or lines or panel.face or "cells")
    if panel.rows * panel.cols > TABLE_CELLS or not panel.labels:
        body = f'<p class="later" data-panel="{number}">{panel.rows} rows, {panel.cols} columns</p>'
        return f"<details><summary>Table: {caption}</summary>{body}</details>\n"
    head = "".join(f'<th scope="col">{_text(label)}</th>' for label in panel.col_ruler.labels)
    rows = []
    for r in range(panel.rows):
        cells = panel.labels[r * panel.cols : (r + 1) * panel.cols]
        words = "".join(f"<td>{_text(cell.replace(chr(10), ' '))}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{_text(panel.row_ruler.labels[r])}</th>{words}</tr>')
    corner = f"<td>{_text(panel.row_ruler.title)} \\ {_text(panel.col_ruler.title)}</td>"
    table = f"<table><caption>{caption}</caption><thead><tr>{corner}{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<details><summary>Table: {caption}</summary>{table}</details>\n"


def _text(words: str) -> str:
    return escape(xml(words))
