"""Any text as TeX prints it: characters that act there are spelt out, and what its fonts lack is replaced."""

from __future__ import annotations

import os

with open(os.path.join(os.path.dirname(__file__), "tex.txt"), encoding="utf-8") as _file:  # a character, and what TeX makes of it
    _SPECIAL = dict(line.rstrip("\n").split(" ", 1) for line in _file)
_ACCENTS = {chr(int(name[2:], 16)): word for name, word in _SPECIAL.items() if len(name) > 1}  # of combining characters


def escape(text: str) -> str:
    """Text that TeX prints as it stands: no character of it can act, and what the fonts lack becomes `?`.

    >>> escape("50% of \\\\input{x}_1")
    '50\\\\% of \\\\textbackslash{}input\\\\{x\\\\}\\\\_1'
    """
    return "".join(_SPECIAL.get(c) or (c if " " <= c <= "~" else " " if c in "\t\n" else _letter(c)) for c in text)


def _letter(char: str) -> str:
    """A letter with an accent, as TeX makes it of the two; `?` for what its fonts lack.

    >>> _letter("é"), _letter("字")
    ("\\\\'{e}", '?')
    """
    from unicodedata import normalize

    base, accent = (*normalize("NFD", char), "", "")[:2]
    return f"{_ACCENTS[accent]}{{{base}}}" if accent in _ACCENTS and base.isascii() else "?"
