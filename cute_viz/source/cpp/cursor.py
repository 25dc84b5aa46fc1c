"""Ways over the tokens of a file: brackets, template arguments, the ends of statements."""

from __future__ import annotations

import re
from functools import cached_property

from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Param, Range
from cute_viz.source.cpp.tokens import Lines, words

_CLOSE = {")": "(", "]": "[", "}": "{"}
_FAR = 6000  # tokens between a '<' and its '>'
_BEHIND = words(  # what may stand behind the '>' of template arguments
    "( { :: ) , ; > } ] ... end & * && name = . ? : [ <<< || == != / % <= >= | ^ << <"
)
_TOTAL = 20  # times as many tokens as a file has are looked through for what closes a '<', and a million


class Cursor:
    """The tokens of a file with the partner of every bracket."""

    def __init__(self, source: Preprocessed) -> None:
        self.source = source
        self.text = source.text
        self.tokens = source.tokens
        self.match = self._matches()
        self.scanned = 0
        self._angles: dict[int, int | None] = {}
        self.templates: dict[str, bool | None] = {}  # names, and whether they are of templates

    @cached_property
    def starts(self) -> list[int]:
        """Where each token begins."""
        return [token.start for token in self.tokens]

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    def _matches(self) -> list[int]:
        """For every opening bracket the one that closes it; what nothing closes goes to the last token before the end."""
        last = max(len(self.tokens) - 2, 0)
        out = [last] * len(self.tokens)
        open_: list[int] = []
        for n, token in enumerate(self.tokens):
            kind = token.kind
            if kind in ("(", "[", "{"):
                open_.append(n)
            elif kind in _CLOSE:
                wanted = _CLOSE[kind]
                if open_ and self.tokens[open_[-1]].kind == wanted:
                    out[open_.pop()] = n
                elif kind == "}":  # parentheses that are never closed end with their block
                    at = len(open_) - 1
                    while at >= 0 and self.tokens[open_[at]].kind != "{":
                        at -= 1
                    if at >= 0:
                        for left in open_[at + 1 :]:
                            out[left] = n - 1
                        out[open_[at]] = n
                        del open_[at:]
        return out

    def angles(self, at: int) -> int | None:
        """Behind the '>' that closes the '<' at a token; None where none does, so that it compares."""
        if at not in self._angles:
            self._angles[at] = self._closed(at)
        return self._angles[at]

    def _closed(self, at: int) -> int | None:
        depth, n, tokens = 0, at, self.tokens
        stop = min(at + _FAR, len(tokens) - 1)
        while n < stop:
            kind = tokens[n].kind
            if kind == "<":
                depth += 1
            elif kind == ">":
                depth -= 1
                if depth == 0:
                    self.scanned += n - at
                    return n + 1 if tokens[n + 1].kind in _BEHIND else None
            elif kind in ("(", "[", "{"):
                n = max(n, self.match[n])
            elif kind in (")", "]", "}", ";"):
                break
            n += 1
        self.scanned += n - at
        return None

    def find(self, at: int, kinds: tuple[str, ...], stop: int | None = None) -> int:
        """The first token of one of these kinds outside of brackets; the end of the block, or `stop`, where there is none."""
        tokens = self.tokens
        last = len(tokens) - 1 if stop is None else stop
        n = at
        while n < last:
            kind = tokens[n].kind
            if kind in kinds or kind in (")", "]", "}"):
                return n
            if kind in ("(", "[", "{"):
                n = self.match[n]
            elif kind == "<" and n > at and tokens[n - 1].kind == "name" and self.scanned < 1_000_000 + _TOTAL * len(tokens):
                behind = self.angles(n)
                n = n if behind is None else behind - 1
            n += 1
        return last

    def split(self, begin: int, end: int) -> list[Range]:
        """The ranges that commas part."""
        out: list[Range] = []
        while begin < end:
            comma = min(self.find(begin, (",",), end), end)
            out.append((begin, comma))
            begin = comma + 1
        return out

    def words(self, part: Range) -> str:
        """The text of tokens, written the same way whatever their blanks are: `layout::RowMajor, 4`."""
        out = ""
        for token in self.tokens[part[0] : part[1]]:
            if out and (out[-1].isalnum() or out[-1] == "_") and token.kind in ("name", "number"):
                out += " "
            out += ", " if token.kind == "," else token.text
        return out

    def template_params(self, begin: int, end: int) -> tuple[Param, ...]:
        """The parameters of `template <...>`, whose tokens are these."""
        return tuple(self._template_param(*part) for part in self.split(begin, end))

    def _template_param(self, begin: int, end: int) -> Param:
        tokens = self.tokens
        equals = min(self.find(begin, ("=",), end), end)
        default = (equals + 1, end) if equals < end else None
        first = tokens[begin].text
        pack = any(token.kind == "..." for token in tokens[begin:equals])
        last = equals - 1
        named = last > begin and tokens[last].kind == "name"
        name = tokens[last].text if named else ""
        if first == "template":
            return Param(name, "template", last, None, default, pack)
        if first in ("typename", "class") and equals - begin <= 3 and not any(token.kind == "::" for token in tokens[begin:equals]):
            return Param(name, "type", last, None, default, pack)
        self.templates.setdefault(name, False)
        return Param(name, "value", last, (begin, last if named else equals), default, pack)

    def function_params(self, begin: int, end: int) -> tuple[Param, ...]:
        """The parameters of a function, whose tokens are these."""
        out = []
        for first, stop in self.split(begin, end):
            equals = min(self.find(first, ("=",), stop), stop)
            default = (equals + 1, stop) if equals < stop else None
            last = equals - 1
            while last > first and self.tokens[last].kind == "]":
                last = next((n for n in range(last, first, -1) if self.match[n] == last and self.tokens[n].kind == "["), first) - 1
            named = last > first and self.tokens[last].kind == "name" and self.tokens[last - 1].kind != "::"
            if not named and first == last:
                out.append(Param("", "value", first, (first, equals), default))
                continue
            while first + 1 < last and is_macro_word(self.tokens[first].text) and self.tokens[first + 1].kind == "name":
                first += 1  # CUTE_GRID_CONSTANT T const x
            kinds = [token.text for token in self.tokens[first : last if named else equals]]
            constant = "&" not in kinds or "const" in kinds
            pack = "..." in kinds
            name = self.tokens[last].text if named else ""
            self.templates.setdefault(name, False)
            out.append(Param(name, "value", last, (first, last if named else equals), default, pack, constant))
        return tuple(out)


_MACRO = re.compile(r"(?:[A-Z][A-Z0-9]*_)+[A-Z0-9_]+|__[a-z_]+__|__[A-Z_]+__")


def is_macro_word(word: str) -> bool:
    """Whether a word in front of a declaration is one of a macro: CUTE_HOST_DEVICE, __device__.

    >>> is_macro_word("CUTLASS_DEVICE"), is_macro_word("__global__"), is_macro_word("Tensor")
    (True, True, False)
    """
    return _MACRO.fullmatch(word) is not None
