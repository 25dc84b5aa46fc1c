"""The text of a C++ file -> tokens and the lines of the preprocessor; nothing stops it; and what C++ source calls by name besides
the operations: tuples, integers.
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import NamedTuple

from cute_viz.errors import Span
from cute_viz.limits import limit, over
from cute_viz.notation.syntax import is_atom_name

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\\\r?\n)+ | //(?:[^\n\\]|\\[\s\S])*)
      | (?P<comment>/\*)
      | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\()
      | (?P<string>(?:u8|[uUL])?"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?)
      | (?P<number>(?:0[xX][0-9a-fA-F]+(?:'[0-9a-fA-F]+)* | 0[bB][01]+(?:'[01]+)*
                  | (?:\d+(?:'\d+)*)?\.?\d+(?:'\d+)*\.?(?:[eE][+-]?\d+)?)\w*)
      | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\[^\n])+')
      | (?P<name>(?:[^\W\d]|\$)[\w$]*)
      | (?P<punct><<<|<=>|->\*|\.\.\.|<<=|::|->|\+\+|--|<=|>=|==|!=|&&|\|\||<<|[-+*/%&|^]=|[\s\S])""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"#[ \t]*(\w*)((?:[^\n\\/]|\\\r?\n|\\.|/(?![/*])|/\*(?:[^*\n]|\*(?!/))*\*/)*)")
_WORDS = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^"}


class CppToken:
    """One token: its kind (`name`, `number`, `string`, `char`, `end`, or the mark itself), its text and where it begins."""

    __slots__ = ("kind", "start", "text", "tight")

    def __init__(self, kind: str, text: str, start: int, tight: bool | None = None) -> None:
        """tight: whether the next one touches it, where its place does not say so: in what a macro stands for."""
        self.kind = kind
        self.text = text
        self.start = start
        self.tight = tight

    def touches(self, following: CppToken) -> bool:
        """Whether nothing stands between it and the next one."""
        return following.start == self.end if self.tight is None else self.tight

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        """Its place in the text."""
        return Span(self.start, self.start + len(self.text))

    def __repr__(self) -> str:
        return f"Token({self.kind!r}, {self.text!r}, {self.start})"


class Directive(NamedTuple):
    """A line of the preprocessor: its word, what follows, where, and before which token it stands."""

    word: str
    rest: str
    start: int
    before: int


def tokenize(text: str) -> tuple[list[CppToken], list[Directive]]:
    """The tokens of a text, closed by one of kind `end`, and its directives. What is never closed ends with the text. Raises:
    LimitError for a text over the limit `input`."""
    if len(text) > limit("input"):
        raise over("input", f"the file has {len(text)} characters")
    out: list[CppToken] = []
    directives: list[Directive] = []
    position, length, match_at = 0, len(text), _TOKEN.match
    while position < length:
        match = match_at(text, position)
        assert match is not None
        kind = match.lastgroup or ""
        word = match.group()
        start, position = position, match.end()
        if kind == "space":
            continue
        if kind == "name":
            out.append(CppToken(_WORDS.get(word, "name"), _WORDS.get(word, word), start))
        elif kind == "punct":
            if word == "#" and not text[text.rfind("\n", 0, start) + 1 : start].strip():
                found = _DIRECTIVE.match(text, start)
                assert found is not None
                directives.append(Directive(found[1], found[2].replace("\\\n", " ").strip(), start, len(out)))
                position = found.end()
                if text.startswith("//", position):
                    newline = text.find("\n", position)
                    position = length if newline < 0 else newline
            else:
                out.append(CppToken(word, word, start))
        elif kind == "comment":
            close = text.find("*/", position)
            position = length if close < 0 else close + 2
        elif kind == "raw":  # of a raw string
            close = text.find(f'){match["mark"]}"', position)
            position = length if close < 0 else close + len(match["mark"]) + 2
            out.append(CppToken("string", text[start:position], start))
        else:
            out.append(CppToken(kind, word, start))
    out.append(CppToken("end", "", length))
    return out, directives


class Lines:
    """The lines of a text: which one a place is in, and of which file where line markers (`#line 3 "a.h"`) tell."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        marks = _MARKER.finditer(text) if "#" in text else ()
        self._marks = [(match.end(), int(match[1]) - bisect(self._starts, match.end()), match[2] or "") for match in marks]

    def at(self, place: int) -> int:
        """The line of a place, from 1."""
        return bisect(self._starts, place) + self._mark(place)[1]

    def file(self, place: int) -> str:
        """The file that a marker before a place names, "" where none does."""
        return self._mark(place)[2]

    def _mark(self, place: int) -> tuple[int, int, str]:
        at = bisect(self._marks, place, key=lambda mark: mark[0])
        return self._marks[at - 1] if at else (0, 0, "")


_MARKER = re.compile(r'^[ \t]*#[ \t]*line[ \t]+(\d{1,9})(?:[ \t]+"([^"\n]*)")?[^\n]*\n', re.M)


def number(text: str) -> int | float | None:
    """The value of a literal; None for anything else."""
    word = text.replace("'", "")
    try:
        if match := re.fullmatch(r"0[xX]([0-9a-fA-F]+)[uUlLzZ]*", word):
            return int(match[1], 16) if len(match[1]) <= limit("digits") else None
        if match := re.fullmatch(r"0[bB]([01]+)[uUlLzZ]*", word):
            return int(match[1], 2) if len(match[1]) <= limit("digits") else None
        if match := re.fullmatch(r"(\d+)[uUlLzZ]*", word):
            if len(match[1]) > limit("digits"):
                return None
            return int(match[1], 8 if match[1][0] == "0" and len(match[1]) > 1 else 10)
        if match := re.fullmatch(r"(\d*\.?\d*(?:[eE][+-]?\d+)?)[fFlLhH]?\w*", word):
            return float(match[1])
    except ValueError:
        return None
    return None


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


TUPLES = ("Shape", "Stride", "Step", "Tile", "Coord", "Tiler", "tuple")  # with template arguments
LAYOUTS = ("Layout", "ComposedLayout")  # likewise
INTEGRALS = ("Int", "C", "constant", "integral_constant")  # static integers
MAKE_TUPLES = ("make_shape", "make_stride", "make_step", "make_tile", "make_coord", "make_tuple")
WRAPPERS = frozenset(["MMA_Atom", "MMA_Traits", "Copy_Traits", "make_mma_atom"])
ATOMS = frozenset((*WRAPPERS, "Copy_Atom", "TiledMMA", "TiledCopy", "ThrMMA", "ThrCopy"))


def may_be_atom(name: str) -> bool:
    """Whether a name can be that of an instruction."""
    short = name.rsplit("::", 1)[-1]
    return is_atom_name(short) or short.startswith("SM")
