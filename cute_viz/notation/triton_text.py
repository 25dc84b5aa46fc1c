r"""Triton's encodings as text: TTGIR (`#ttg.blocked<{...}>`, aliases, types), Gluon (`gl.BlockedLayout(...)`) -> names and fields.

Sources: TritonGPUAttrDefs.td, the printers of Dialect.cpp, gluon/language/_layouts.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cute_viz.errors import NotationError, Span, did_you_mean
from cute_viz.limits import limit, over
from cute_viz.records import rows


class Encoding(NamedTuple):
    """An encoding: its name in TTGIR without the dialect, its fields by TTGIR's names, and where it is."""

    name: str
    fields: Mapping[str, Any]
    span: Span


class Typed(NamedTuple):
    """An encoding with the shape that its type says, () where none does, and the name that the text gives it."""

    encoding: Encoding
    shape: tuple[int, ...]
    name: str = ""


# Gluon's constructors: TTGIR's name, and TTGIR's names of their parameters in order.
GLUON = {name: (encoding, parameters) for name, encoding, parameters in rows(__file__, "gluon.txt")}
# Their keywords that are not TTGIR's in snake case.
_KEYWORDS = {
    "warps_per_cta": "warpsPerCTA", "cga_layout": "CGALayout", "element_bitwidth": "elementBitWidth", "warp_bases": "warp",
    "reg_bases": "register", "operand_index": "opIdx", "lane_bases": "lane", "block_bases": "block", "two_ctas": "twoCTAs",
    "swizzle_byte_width": "swizzlingByteWidth", "interval_padding_pairs": "intervals", "offset_bases": "offset",
}  # fmt: skip
_OLD = {"shared": "swizzled_shared"}
_RENAMED = {("amd_mfma", "transposed"): "isTransposed", ("amd_wmma", "transposed"): "isTranspose"}

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[#!]?[A-Za-z_]\w*(?:\.\w+)*)|(?P<number>-?\d+)|(?P<mark>:\+|[-:<>{}\[\](),=])|(?P<string>\"[^\"]*\"))"
)
# A chain of names is tried where it begins, and once.
_DIALECT = r"#(?:ttn?g|triton_(?:nvidia_)?gpu)\."  # and its names until 2024
_START = re.compile(_DIALECT + r"\w+\s*<|(?<!\w)(?<!\w\.)(?:\w+\.)*\b(?:" + "|".join(GLUON) + r")\s*\(")
ALIAS = re.compile(rf"^[ \t]*#(\w+)[ \t]*=[ \t]*(?={_DIALECT})", re.M)
_TYPE = re.compile(r"(?:tensor|memdesc|(?<=-> ))<((?:\d{1,20}x){1,32})!?[\w.<>]{1,80}?\s*,\s*(?=#)")
_BLANKS = re.compile(r"\s*")
_NEAR = 400  # characters before an encoding where what binds or calls it is looked for


def mentions(text: str) -> bool:
    """Whether a text has an encoding of Triton's in it."""
    return ("#t" in text or "Layout" in text) and _START.search(text) is not None


def find(text: str, every: bool = False) -> list[Typed]:
    """The encodings of a text: of every type that has one, else every one that stands alone.

    every: those with a name that no type has, too, for which nothing says a shape.

    Raises: NotationError for text that begins like an encoding and is not one, with the place.
    """
    aliases: dict[str, Encoding] = {}
    for match in ALIAS.finditer(text):
        reader = _TritonReader(text, match.end(), aliases)
        aliases[match[1]] = reader.attribute()
    out = []
    for match in _TYPE.finditer(text):
        at = match.end()
        word = re.compile(r"#(\w+)(?![\w.])").match(text, at)
        if word[1] not in aliases if word is not None else re.compile(_DIALECT).match(text, at) is None:
            continue  # of another dialect, or of a part of the file that is not here
        encoding = aliases[word[1]] if word is not None else _TritonReader(text, at, aliases).attribute()
        shape = tuple(int(part) for part in match[1].split("x")[:-1])
        out.append(Typed(encoding, shape, word[1] if word is not None else ""))
    if out:
        named = {one.encoding.span for one in out}
        return out + [Typed(x, (), name) for name, x in aliases.items() if every and x.fields and x.span not in named]
    if aliases:
        return [Typed(encoding, (), name) for name, encoding in aliases.items() if encoding.fields]
    at = 0
    while (found := _START.search(text, at)) is not None:
        if (call := _around(text, found.start())) is not None:
            name = call[1].rpartition(".")[2]
            known = did_you_mean(name, GLUON) or f"example: {', '.join(list(GLUON)[:4])}"
            raise NotationError(f"{name} is not a known encoding", text=text, span=Span(*call.span(1)), hint=known)
        reader = _TritonReader(text, found.start(), aliases)
        out.append(Typed(reader.attribute(), (), _bound(text, found.start())))
        at = reader.at
    return out


_CALL = re.compile(r"([A-Za-z_][\w.]*Layout)\s*\($")


def _around(text: str, at: int) -> re.Match[str] | None:
    """The call of a constructor of layouts whose argument a place is."""
    depth = 0
    for n in range(at - 1, max(-1, at - _NEAR), -1):
        depth += {")": 1, "(": -1}.get(text[n], 0)
        if text[n] in ";\n" or depth < -1:
            return None
        if depth == -1:
            return _CALL.search(text, max(0, n - 80), n + 1)
    return None


def _bound(text: str, at: int) -> str:
    """The name that a text binds to what begins at a place: `layout = gl.BlockedLayout(...)`."""
    before = "\n"[at > _NEAR :] + text[max(0, at - _NEAR) : at]
    match = re.search(r"[\n;][ \t]*([A-Za-z_]\w*)(?:\s*:[^=\n]*)?\s*=\s*$", before)
    return match[1] if match else ""


class _TritonReader:
    """Reads one attribute, or one call of a constructor, from a place of a text."""

    def __init__(self, text: str, at: int, aliases: Mapping[str, Encoding]) -> None:
        self.text, self.at, self.aliases = text, at, aliases
        self.depth = 0

    def fail(self, message: str, start: int, hint: str | None = None) -> NotationError:
        return NotationError(message, text=self.text, span=Span(start, max(start + 1, min(self.at, len(self.text)))), hint=hint)

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        return match[0].strip() if match else ""

    def take(self, wanted: str = "") -> str:
        match = _TOKEN.match(self.text, self.at)
        found = match[0].strip() if match else ""
        if match is None or (wanted and found != wanted):
            start = self.at
            self.at = match.end() if match else len(self.text[: self.at + 1])
            raise self.fail(f"expected {wanted or 'a value'} here" + (f", not {found}" if found else ""), start)
        self.at = match.end()
        return found

    def attribute(self) -> Encoding:
        """`#ttg.NAME<...>`, or `gl.NAMELayout(...)`."""
        self.depth += 1
        if self.depth > limit("nesting"):
            raise over("nesting", "an encoding nested too deeply", text=self.text, span=Span(self.at, self.at + 1))
        start = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]  # which matches everywhere
        word = self.take()
        if word.startswith("#") and not re.match(_DIALECT, word):
            known = self.aliases.get(word[1:])
            if known is None:
                raise self.fail(f"{word} is not defined in this text", start, hint=f"example: {word} = #ttg.blocked<{{...}}>")
            self.depth -= 1
            return known
        name = word.rpartition(".")[2]
        fields = self._call(name) if name in GLUON else self._angle(start, word)
        self.depth -= 1
        name = GLUON[name][0] if name in GLUON else _OLD.get(name, name)
        if name == "nvidia_mma" and fields.get("versionMajor") == 2:
            fields.setdefault("instrShape", [16, 8])  # mma.sync has no other
        return Encoding(name, fields, Span(start, self.at))

    def _angle(self, start: int, word: str) -> dict[str, object]:
        """`<{key = value, ...}>`, `<key = value, ...>`, `<[64:+4] {...}>`, `<{...}, key = value>`."""
        if not word.startswith("#"):
            raise self.fail(f"{word} is not a supported encoding", start, hint=f"example: {', '.join(list(GLUON)[:4])}")
        out: dict[str, Any] = {}
        if self.peek() != "<":
            return out  # such as #ttg.shared_memory
        self.take("<")
        while self.peek() != ">":
            here = self.peek()
            if here == "{":
                out |= self._fields("{", "}")
            elif here == "[":
                out["intervals"] = self._value()
            elif here == ",":
                self.take()
            else:
                key = self.take()
                self.take("=")
                out[key] = self._value()
        self.take(">")
        return out

    def _fields(self, opening: str, closing: str) -> dict[str, object]:
        self.take(opening)
        out: dict[str, Any] = {}
        while self.peek() != closing:
            start = self.at
            key = self.take()
            self.take("=")
            if key in out:
                raise self.fail(f"{key} is given twice", start)
            out[key] = self._value()
            if self.peek() != closing:
                self.take(",")
        self.take(closing)
        return out

    def _call(self, name: str) -> dict[str, object]:
        """The arguments of a constructor, by TTGIR's names."""
        encoding, listed = GLUON[name]
        names = listed.split()
        self.take("(")
        out: dict[str, Any] = {}
        while self.peek() != ")":
            start = self.at
            mark = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)").match(self.text, self.at)
            if mark is not None:
                self.at = mark.end()
                key = _KEYWORDS.get(mark[1]) or re.sub(r"_(\w)", lambda found: found[1].upper(), mark[1])
                key = _RENAMED.get((encoding, key), key)
            elif len(out) < len(names):
                key = names[len(out)]
            else:
                raise self.fail(f"{name} takes {len(names)} arguments", start)
            if key not in names:
                raise self.fail(f"{name} has no {mark[1] if mark else key}", start, hint=f"it has {', '.join(_gluon_names(names))}")
            out[key] = self._value()
            if self.peek() != ")":
                self.take(",")
        self.take(")")
        return {key: value for key, value in out.items() if value is not None}

    def _value(self) -> object:
        here = self.peek()
        if here in ("[", "("):
            return self._items({"[": "]", "(": ")"}[here])
        if here == "{":
            return self._fields("{", "}")
        if here.lstrip("-").isdecimal():
            if len(here) > limit("digits"):
                raise over("digits", f"a number of {len(here)} digits", text=self.text, span=Span(self.at, self.at + 1))
            return int(self.take())
        if here in ("true", "True", "false", "False"):
            return self.take().lower() == "true"
        if here == "None":
            self.take()
            return None
        return self.attribute()

    def _items(self, closing: str) -> list[object]:
        """`[1, 2]`, `[[0, 1], [0, 2]]`, and of padded_shared `[64:+4, 128:+8]` as pairs."""
        self.depth += 1
        if self.depth > limit("nesting"):
            raise over("nesting", "a list nested too deeply", text=self.text, span=Span(self.at, self.at + 1))
        self.take()
        out: list[Any] = []
        while self.peek() != closing:
            value = self._value()
            if self.peek() == ":+":
                self.take()
                value = [value, self._value()]
            out.append(value)
            if self.peek() != closing:
                self.take(",")
        self.take(closing)
        self.depth -= 1
        return out


def _gluon_names(names: list[str]) -> list[str]:
    back = {ours: theirs for theirs, ours in _KEYWORDS.items()} | {"isTransposed": "transposed", "isTranspose": "transposed"}
    return [back.get(name) or re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in names]
