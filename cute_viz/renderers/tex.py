"""Any text as TeX prints it: characters that act there are spelt out, and what its fonts lack is replaced."""

from __future__ import annotations

from cute_viz.records import beside

_SPECIAL = {line[0]: line[2:] for line in beside(__file__, "assets/tex.txt").splitlines()}  # a character, and how TeX spells it
_ACCENTS = {  # combining characters, and what TeX calls them
    "\u0300": "\\`",
    "\u0301": "\\'",
    "\u0302": "\\^",
    "\u0303": "\\~",
    "\u0308": '\\"',
    "\u030a": "\\r",
    "\u0327": "\\c",
    "\u030c": "\\v",
}


def escape(text: str) -> str:
    """Text that TeX prints as it stands: no character of it can act, and what the fonts lack becomes `?`."""
    return "".join(_SPECIAL.get(c) or (c if " " <= c <= "~" else " " if c in "\t\n" else _letter(c)) for c in text)


def _letter(char: str) -> str:
    """A letter with an accent, as TeX makes it of the two; `?` for what its fonts lack."""
    from unicodedata import normalize

    base, accent = (*normalize("NFD", char), "", "")[:2]
    return f"{_ACCENTS[accent]}{{{base}}}" if accent in _ACCENTS and base.isascii() else "?"


def shrunk(tex: str) -> str:
    r"""A picture as narrow as the line that it is in, and lower than the text; a smaller one keeps its size."""
    # needs graphicx alone, which TikZ loads too
    width = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
    height = r"\ifdim\totalheight>.85\textheight.85\textheight\else\totalheight\fi"
    return f"\\resizebox*{{!}}{{{height}}}{{\\resizebox{{{width}}}{{!}}{{{tex}}}}}"
