"""The index of a gallery: Markdown that renders on GitHub, and a page with search and filters that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files as resources
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from cute_viz.engine.address import page_link
from cute_viz.spec import PACKAGED

PICTURES = (".svg", ".png")  # what an <img> shows
COLUMNS = 3
BEST = (  # of our own gallery, for who sees it for the first time
    *("thread_day", "smem_128x64_sw333", "mma_sm80_16x8x16", "tv_8x128", "swizzle_333", "ampere_gemm", "divide_2d", "hierarchical"),
    *("mma_tiled_221_thread_5", "copy_16x2_1x8", "product_raked", "swizzle_bits"),
)
TWELVE = "Twelve to begin with"
NO_HASHES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index says of one spec.

    group: its heading. alt: the description for a reader who cannot see the picture. archs: such as ("sm80",).
    expression: the object in CuTe notation. note: a sentence for readers. files: format -> file name. view: of an SVG the part with
    its panels, which is its thumbnail: `x,y,width,height`, and the size of all.
    """

    name: str
    group: str
    title: str
    alt: str
    kind: str
    archs: tuple[str, ...]
    expression: str
    note: str
    files: dict[str, str]
    view: str = ""

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> IndexEntry:
        """The entry that was written as JSON; anything else is a KeyError, TypeError or ValueError."""
        words = [value[key] for key in ("name", "group", "title", "alt", "kind", "expression", "note")]
        if not all(isinstance(word, str) for word in words) or not isinstance(value["files"], dict):
            raise TypeError("an entry is made of words")
        name, group, title, alt, kind, expression, note = words
        files = {str(key): str(file) for key, file in value["files"].items()}
        view = str(value.get("view", ""))
        view = view if re.fullmatch(r"[0-9]+(\.[0-9]+)?(,[1-9][0-9]*(\.[0-9]+)?){5}", view) else ""
        return cls(name, group, title, alt, kind, tuple(map(str, value["archs"])), expression, note, files, view)

    @property
    def thumbnail(self) -> tuple[str, str]:
        """How a picture is shown without the words around its panels: the styles of what clips it, and of the picture."""
        if not self.view:
            return "", ""
        x, y, w, h, width, _ = map(float, self.view.split(","))
        clip = f"aspect-ratio:{w:g}/{h:g};width:min(100%,{14 * w / h:.2f}rem)"
        return clip, f"width:{100 * width / w:.2f}%;left:{-100 * x / w:.2f}%;top:{-100 * y / h:.2f}%"

    @property
    def picture(self) -> str | None:
        """The file that a browser shows, if there is one."""
        return next((file for file in self.files.values() if file.endswith(PICTURES)), None)


def readme(entries: Sequence[IndexEntry], title: str = "Gallery", live: str | None = None) -> str:
    r"""The index in Markdown: a table of pictures for each group. The tables are HTML, in which titles and layouts may hold any
    character, `|` included."""
    out = [
        f"# {_text(title)}",
        "",
        f"{len(entries)} figure{'' if len(entries) == 1 else 's'}. Search and filters: [index.html](index.html).",
        "",
    ]
    groups = _grouped(entries)
    if len(groups) > 1:
        out += [f"- [{_text(group)}](#{_anchor(group)}) ({len(members)})" for group, members in groups.items()] + [""]
    groups = _best(entries) | groups
    for group, members in groups.items():
        out += [f"## {_text(group)}", "", "<table>"]
        for start in range(0, len(members), COLUMNS):
            out += ["<tr>", *(_cell(entry, live) for entry in members[start : start + COLUMNS]), "</tr>"]
        out += ["</table>", ""]
    return "\n".join(out).rstrip() + "\n"


def page(
    entries: Sequence[IndexEntry], title: str = "Gallery", hashes: Mapping[str, str] = NO_HASHES, live: str | None = None
) -> str:
    """The index as one HTML file: cards, and a script that hides those which a search or a filter leaves out.

    hashes: file -> hash of its bytes, which the page keeps for `files_of`; of a file without one it keeps "".
    live: the address of a live page, which each picture is linked to.
    """
    template = (resources("cute_viz.gallery") / "gallery.html").read_text(encoding="utf-8")
    kinds = sorted({entry.kind for entry in entries})
    archs = sorted({arch for entry in entries for arch in entry.archs}, key=lambda arch: (len(arch), arch))
    files = {file for entry in entries for file in entry.files.values()}
    sections = []
    for group, members in (_best(entries) | _grouped(entries)).items():
        cards = "\n".join(_card(entry, live) for entry in members)
        best = " class=best" if group == TWELVE else ""
        sections.append(f"<section{best}>\n<h2>{_text(group)}</h2>\n<div class=cards>\n{cards}\n</div>\n</section>")
    parts = {
        "title": _text(title),
        "kinds": _choices(kinds),
        "archs": _choices(archs),
        "count": str(len(entries)),
        "sections": "\n".join(sections),
        "files": json.dumps({file: hashes.get(file, "") for file in sorted({*hashes, *files})}).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def files_of(text: str) -> dict[str, str]:
    """The files that a page written by `page` names, with their hashes ("" where unknown); a ValueError where it is another
    page."""
    match = re.search(r'<script type="application/json" id="cute-viz-files">(.*?)</script>', text, re.S)
    files = json.loads(match[1]) if match else None
    if not isinstance(files, dict) or not all(isinstance(hash_, str) for hash_ in files.values()):
        raise ValueError("this is not the index of a gallery")
    return files


def _grouped(entries: Iterable[IndexEntry]) -> dict[str, list[IndexEntry]]:
    out: dict[str, list[IndexEntry]] = {}
    for entry in entries:
        out.setdefault(entry.group, []).append(entry)
    return out


def _best(entries: Iterable[IndexEntry]) -> dict[str, list[IndexEntry]]:
    """The group that comes first in our own gallery; none in others."""
    named = {entry.name: entry for entry in entries}
    return {TWELVE: [named[name] for name in BEST]} if set(BEST) <= set(named) else {}


def _cell(entry: IndexEntry, live: str | None) -> str:
    """One cell of the Markdown index, in one line: a blank line would end the HTML."""
    words = f"<br><sub>{_links(entry, live)} <code>{_short(entry.expression)}</code>{_command(entry, '<br>')}</sub>"
    if entry.picture is None:
        return f'<td width="33%"><b>{_text(entry.title)}</b>{words}</td>'
    file = quote(entry.picture)
    picture = f'<a href="{file}"><img src="{file}" alt="{_text(entry.alt)}"></a><br>'
    return f'<td width="33%">{picture}<b>{_text(entry.title)}</b>{words}</td>'


def _card(entry: IndexEntry, live: str | None) -> str:
    search = " ".join((entry.name, entry.title, entry.alt, entry.expression, entry.note, entry.kind, *entry.archs)).lower()
    out = [f'<figure data-kind="{_text(entry.kind)}" data-archs="{_text(" ".join(entry.archs))}" data-words="{_text(search)}">']
    if entry.picture is not None:
        file = quote(entry.picture)
        clip, shown = entry.thumbnail
        styles = [f' class=thumb style="{clip}"', f' style="{shown}"'] if clip else ["", ""]
        out.append(f'<a{styles[0]} href="{file}"><img{styles[1]} loading=lazy src="{file}" alt="{_text(entry.alt)}"></a>')
    note = f"<p>{_text(entry.note)}</p>" if entry.note else ""
    words = f"<b>{_text(entry.title)}</b><br><code>{_short(entry.expression)}</code>{note}<p>{_links(entry, live)}</p>"
    command = _command(entry)
    copy = f"<p class=command>{command} <button type=button>Copy</button></p>" if command else ""
    out.append(f"<figcaption>{words}{copy}</figcaption>")
    return "\n".join([*out, "</figure>"])


def _command(entry: IndexEntry, before: str = "") -> str:
    """The command that draws a picture of ours, to be copied; none of a user's spec, whose file only its user knows."""
    known = entry.picture is not None and PACKAGED.spec_file(entry.name)
    return f"{before}<code>cute-viz render {_text(entry.name)} -o {_text(str(entry.picture))}</code>" if known else ""


def _links(entry: IndexEntry, live: str | None) -> str:
    links = [f'<a href="{quote(file)}">{_text(format_)}</a>' for format_, file in entry.files.items()]
    source = entry.name if PACKAGED.spec_file(entry.name) else entry.expression
    address = page_link(live, source, {}) if live is not None else None
    return " ".join([*links, *([f'<a href="{escape(address)}">live</a>'] if address else [])])


def _choices(words: Iterable[str]) -> str:
    return "".join(f"<option>{_text(word)}</option>" for word in words)


def _short(text: str) -> str:
    """A layout that may be long, in one line."""
    line = " ".join(text.split())
    return _text(line if len(line) <= 120 else line[:119] + "…")


def _text(text: str) -> str:
    """Words in one line, for HTML and for Markdown outside of tables."""
    return re.sub(r"[&<>\"'*_`\[\]|#\\~]", lambda match: f"&#{ord(match[0])};", " ".join(text.split()))


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return quote(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
