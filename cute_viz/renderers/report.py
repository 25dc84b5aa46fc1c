"""A report as a page of HTML: a table, whose statements may open a picture, what was taken for granted, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

_STYLE = (
    "body{font:14px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}"
    ".worse{background:#fff3e6}svg{max-width:100%;height:auto}"
)


class Line(NamedTuple):
    """A row of the table: its cells, of which the second is the statement; where that is called; a picture as SVG, or ""."""

    cells: Sequence[str]
    call: str = ""
    picture: str = ""
    worse: bool = False


def page(
    title: str, meaning: str, head: Sequence[str], lines: Iterable[Line], note: str, missing: Sequence[Sequence[str]]
) -> bytes:
    """The page; missing: place, statement and cause of what no row has.

    >>> b"<td><code>copy(a, b)</code></td>" in page("k.cu", "", ("line", "statement"), [Line(("7", "copy(a, b)"))], "", [])
    True
    """
    parts = [f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title><style>{_STYLE}</style>"]
    parts.append(f"<h1>{escape(title)}</h1><p>{escape(meaning)}</p>")
    parts.append(f"<table><tr>{''.join(f'<th>{word}</th>' for word in head)}</tr>")
    for line in lines:
        cells = [escape(cell) for cell in line.cells]
        cells[1] = _statement(line, cells[1])
        parts.append(f"<tr{' class=worse' * line.worse}>" + "".join(f"<td>{cell}</td>" for cell in cells))
    parts.append("</table>")
    if note:
        parts.append(f"<p>{escape(note)}</p>")
    if missing:
        parts.append("<h2>Not evaluated</h2><ul>")
        parts += [f"<li>line {escape(at)}: <code>{escape(code)}</code>: {escape(cause)}" for at, code, cause in missing]
        parts.append("</ul>")
    return "\n".join([*parts, "</html>\n"]).encode()


def _statement(line: Line, text: str) -> str:
    code = f"<code>{text}</code>" + (f" <small>{escape(line.call)}</small>" if line.call else "")
    return f"<details><summary>{code}</summary>{line.picture}</details>" if line.picture else code
