"""Letters that a picture may hold: what commands a terminal, breaks XML or turns the reading direction becomes `�`."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Letters that show, in one line: for terminals, and for pages that place each letter."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " if c in "\t\n" else "\ufffd" for c in text)


def xml(text: str) -> str:
    r"""Letters that XML can hold and that keep the reading direction; line ends stay."""
    if text.isprintable():  # nearly always
        return text
    return "".join([c if c.isprintable() or c in "\t\n\r\xa0" or _is_harmless(ord(c)) else "\ufffd" for c in text])


def _is_harmless(code: int) -> bool:
    """Whether XML can hold an unprintable character, and it does not turn the reading direction."""
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return False
    return 0xA0 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF


def markup(text: str) -> str:
    """A text as the content of an element of XML."""
    return xml(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # xml.sax imports a client of HTTP
