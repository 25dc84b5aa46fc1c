"""Letters that a picture may hold: what commands a terminal, breaks XML or turns the reading direction becomes `�`."""

from __future__ import annotations

import re


def printable(text: str) -> str:
    r"""Letters that show, in one line: for terminals, and for pages that place each letter."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " if c in "\t\n" else "\ufffd" for c in text)


# What XML cannot hold, and what turns the reading direction.
_HARMFUL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def xml(text: str) -> str:
    r"""Letters that XML can hold and that keep the reading direction; line ends stay."""
    return text if text.isprintable() else _HARMFUL.sub("\ufffd", text)  # nearly always


def markup(text: str) -> str:
    """A text as the content of an element of XML."""
    return xml(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # xml.sax imports a client of HTTP
