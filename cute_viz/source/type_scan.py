"""Where types of CuTe are in a text: in which template or function, as which argument; in one pass, nothing evaluated.

A line of brackets is followed with a stack; a CuTe type in it is one find, and what is inside of it is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

OBJECTS = ("Layout", "ComposedLayout", "TiledMMA", "TiledCopy", "MMA_Atom", "Copy_Atom", "Tensor", "ThrMMA", "ThrCopy", "Swizzle")
_TUPLES = ("tuple", "Shape", "Tile", "Tiler", "Step", "Coord")

_MARK = re.compile(r"(?:Layout|Swizzle|TiledMMA|TiledCopy|_Atom|Tensor|ThrMMA|ThrCopy|tuple|Shape)\s?<|4cute|::MMA_\d|SM\d+_\w")
_MANGLED = re.compile(r"(?<!\w)_Z(N?K?\d\w+)")
_SYMBOL = re.compile(r"\s*(?:[0-9a-fA-F]{8,16})?\s+[A-Za-z?-]\s+(?=\S)|.*?\bFunction\s+(?=\S)")  # of nm, of cuobjdump
# A function of the libraries themselves; these are nearly all lines of a symbol table.
_LIBRARY = re.compile(
    r"(?:(?:non-virtual thunk to|guard variable for|static|void|auto|bool|int|unsigned int|decltype\s?\(auto\)|constexpr)\s+)*"
    r"(?:(?:cute|std|__gnu_cxx|cuda|cutlass::(?:detail|platform|half_t|bfloat16_t|\w+_base))::|__(?:device_stub|nv)_)"
)
_TOKEN = re.compile(
    r"operator\s?(?:<<=?|<=>|<=?|>>=?|>=?|->\*?|\(\)|\[\])|->|\(anonymous(?: namespace| class| struct)?\)"
    r"|<unnamed>|<lambda\([^<>()]*\)[^<>]{0,80}>"
    r"|\{(?:lambda|unnamed)[^{}]{0,400}\}(?:\#\d+)?"
    r"|(?P<bind>\[(?:with\s+)?(?=\w+\s?=[^=]))"
    r"|(?P<head>(?<![\w$~])(?:::)?[A-Za-z_~$](?:[\w$~]|::)*)?\s?(?P<open>[<(])"
    r"|(?P<close>[>)\]])|(?P<comma>[,;])|(?P<square>\[)|(?P<quote>[‘’“”\"`']|\baka\b)"
)
_ANGLE = re.compile(r"[<>\n]")
_BINDING = re.compile(r"\s*(\w+)\s?=\s?")
_PLAIN_TILE = re.compile(r"(?:cute::)?(?:tuple|Shape|Tile|Tiler|Step|Coord)\s?<[\w\s:<>,()-]*>")
_LEFT = re.compile(
    r"(?:cute::|std::)?(?:tuple|Shape|Tile|Tiler|Step|Coord|Stride|C|Int|Layout|integral_constant|Underscore|int|unsigned|long|_\d*)\b|[\s<>,():\d-]|\b(?:UL|LL|ULL|U|L)\b",
    re.I,
)
_OPERATION = re.compile(r"(?:[\w:]*::)?(?:SM\d+_\d+x\d+x\d+_\w+|SM\d+_U\d+x\d+_\w+|MMA_\d+x\d+x\d+_\w+|SM\d+_TMA_\w+)")
_WHOLE = re.compile(r"[\w\s:<>,()&*{}-]+")
MAX_TYPE = 1 << 18  # characters of one type
_MAX_WRAPPED = 20_000  # of one that goes over several lines
_TRIES = 50  # types of a line that may do so


@dataclass(slots=True)
class Bracket:
    """An open bracket: what stands before it, and the argument that is being read."""

    kind: str
    head: str
    start: int
    argument: int = 0


@dataclass(slots=True)
class Bindings:
    """What a line says besides: the types that its `[with T = ...]` bind."""

    bindings: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundType:
    """A type at its place. mangled: a name that no demangler has read."""

    name: str
    scope: tuple[str, ...]
    start: int
    end: int
    line: Bindings
    mangled: bool = False
    whole: bool = True


def scan(text: str, library: bool = False) -> Iterator[FoundType]:
    """The CuTe types of a text in their order; those of functions of the libraries in a symbol table only where asked for."""
    position = 0
    while (mark := _MARK.search(text, position)) is not None:
        start = max(text.rfind("\n", 0, mark.start()) + 1, position)
        end = text.find("\n", mark.end())
        end = len(text) if end < 0 else end
        symbol = _SYMBOL.match(text, start, end)
        begin = symbol.end() if symbol else start
        if symbol and not library and _LIBRARY.match(text, begin, end):
            position = end
            continue
        scanner = _Scanner(text, begin, end, bool(symbol))
        yield from scanner.run()
        position = max(end, scanner.end)


class _Scanner:
    """One line: its brackets on a stack."""

    def __init__(self, text: str, start: int, end: int, symbol: bool) -> None:
        self.text, self.start, self.end, self.symbol = text, start, end, symbol
        self.stack: list[Bracket] = []
        self.path: tuple[str, ...] = ()
        self.line = Bindings()
        self.found: list[FoundType] = []
        self.names: dict[tuple[tuple[str, ...], str], int] = {}
        self.arguments: set[str] = set()
        self.binding: tuple[str, int] | None = None
        self.closed_at = -1  # where the last template outside of brackets ended
        self.paired = -1
        self.pairs: dict[int, int] | None = None  # behind each '<' of the line, behind its '>'
        self.tries = 0  # how often a type was looked for in the lines behind
        self.cut = False  # a type that ends with the line is open: what is in it is part of it

    def run(self) -> list[FoundType]:
        """Everything of the line."""
        text, position = self.text, self.start
        for mangled in _MANGLED.finditer(text, self.start, self.end):
            names = _names(mangled[1])
            if "4cute" in mangled[1] and names and names[0] not in ("cute", "std") and "__device_stub" not in names[-1]:
                self.keep(names[-1], tuple(names[:-1]), mangled.start(), mangled.end(), mangled=True)
        while (token := _TOKEN.search(text, position, self.end)) is not None:
            position = token.end()
            if token["open"]:
                position = self.open(token)
            elif token["close"]:
                self.close(token)
            elif token["comma"]:
                self.comma(token)
            elif token["bind"]:
                self.stack.append(Bracket("with", "", token.end()))
                self.bind(token.end())
            elif token["square"]:
                self.stack.append(Bracket("[", "", token.end()))
            elif token["quote"]:
                self.reset()
        self.reset()
        return self.found

    def reset(self) -> None:
        """What is open belongs to other words from here on; a kernel's path stays for its `[with ...]`."""
        self.cut = False
        if not any(frame.kind == "with" for frame in self.stack):
            self.stack.clear()

    def open(self, token: re.Match[str]) -> int:
        """A bracket opens: an object is read to its end, another template or a function is entered; where to go on."""
        head = token["head"] or ""
        key = head.rsplit("::", 1)[-1]
        if token["open"] == "<":
            start = token.start("head") if head else token.start("open")
            if key in OBJECTS or (key in _TUPLES and not head.startswith("std::")):
                end = self.matching(token.end())
                if end is None and key in OBJECTS and self.tries < _TRIES:
                    self.tries += 1
                    end = _wrapped(self.text, token.end())
                    self.end = max(self.end, end or 0)
                if end is not None and (key in OBJECTS or self.is_tile(start, end)):
                    self.object(key, start, end)
                    if not self.stack:
                        self.path, self.closed_at = _parts(head), end
                    return end
                if end is None and key in OBJECTS and not self.cut:
                    self.cut = True
                    self.object(key, start, self.end, whole=False)
            self.stack.append(Bracket("<", head, token.end()))
            if not self.inside():
                self.path = (*self.path, *_parts(head)) if head.startswith("::") else _parts(head)
        else:
            if not self.stack and (head or token.start() != self.closed_at):
                self.path = (*self.path, *_parts(head)) if head.startswith("::") else _parts(head)
            self.stack.append(Bracket("(", head, token.end()))
        return token.end()

    def matching(self, position: int) -> int | None:
        """Where the bracket that opened before a position closes, in its line."""
        if self.pairs is None or position > self.paired:
            self.pairs, self.paired = _pairs(self.text, position, self.end), self.end
        end = self.pairs.get(position)
        return end if end is not None and end - position <= MAX_TYPE else None

    def inside(self) -> bool:
        """Whether the bracket that was just opened stands in another."""
        return len(self.stack) > 1

    def is_tile(self, start: int, end: int) -> bool:
        """Whether a tuple is a shape or a tile that only has static integers, two at least; or what a template parameter is."""
        if end - start > 2000 or not _PLAIN_TILE.fullmatch(self.text, start, end):
            return False
        inside = self.text[start:end]
        if _LEFT.sub("", inside):
            return False
        return "," in inside and (
            self.binding is not None or not re.search(r"\b(?:int|unsigned|long)\b(?!\s*[,)]\s*-?\d)(?!\s*\))", inside)
        )

    def close(self, token: re.Match[str]) -> None:
        """A bracket closes; one that was never opened is a greater-than sign."""
        kind = {">": "<", ")": "(", "]": "["}[token["close"]]
        at = next((n for n in range(len(self.stack) - 1, -1, -1) if self.stack[n].kind in (kind, "with")), None)
        if at is None or (self.stack[at].kind == "with" and kind != "["):
            return
        if kind == "<":
            self.operation(self.stack[at], token.start())
        if self.stack[at].kind == "with":
            self.bound(token.start())
        del self.stack[at:]
        if not self.stack and kind == "<":
            self.closed_at = token.end()

    def comma(self, token: re.Match[str]) -> None:
        """An argument ends, or what a template parameter is bound to."""
        if not self.stack:
            if token["comma"] == ";":
                self.path = ()
            return
        frame = self.stack[-1]
        if frame.kind == "with":
            self.bound(token.start())
            self.bind(token.end())
            return
        if frame.kind == "<":
            self.operation(frame, token.start())
        frame.argument += 1
        frame.start = token.end()

    def bind(self, at: int) -> None:
        """`T = ` in `[with T = ...]`."""
        match = _BINDING.match(self.text, at, self.end)
        self.binding = (match[1], match.end()) if match else None

    def bound(self, end: int) -> None:
        if self.binding is not None:
            self.line.bindings[self.binding[0]] = (self.binding[1], end)
            self.binding = None

    def operation(self, frame: Bracket, end: int) -> None:
        """An argument that is the name of an instruction."""
        start = frame.start
        while start < end and self.text[start].isspace():
            start += 1
        if end - start < 200 and _OPERATION.fullmatch(self.text, start, end):
            self.keep(f"arg{frame.argument}", self.scope(), start, end)

    def scope(self) -> tuple[str, ...]:
        """The templates around: the function's path, then the names of the templates in its arguments."""
        heads = [frame.head for frame in self.stack if frame.kind == "<" and frame.head]
        outer = self.stack[0] if self.stack else None
        skip = 1 if outer is not None and outer.kind == "<" else 0
        return (*self.path, *(head.rsplit("::", 1)[-1] for head in heads[skip:] if head.rsplit("::", 1)[-1] not in _TUPLES))

    def object(self, key: str, start: int, end: int, whole: bool = True) -> None:
        """A CuTe type, under the name of its place."""
        frame = self.stack[-1] if self.stack else None
        inside = self.text[start:end]
        if frame is None:
            if self.symbol:
                return  # what the function returns
            self.keep(key, (), start, end, whole=whole)
        elif frame.kind == "with" and self.binding is not None:
            self.keep(self.binding[0], self.path, start, end, whole=whole)
        elif frame.kind == "<":
            self.arguments.add(inside)
            self.keep(f"arg{frame.argument}", self.scope(), start, end, whole=whole)
        elif frame.kind == "(" and len(self.stack) == 1 and self.path:
            if inside not in self.arguments:
                self.keep(f"param{frame.argument}", self.path, start, end, whole=whole)
        else:
            self.keep(key, self.scope(), start, end, whole=whole)

    def keep(self, name: str, scope: tuple[str, ...], start: int, end: int, mangled: bool = False, whole: bool = True) -> None:
        """A find under its name, or a new one where the line has the name already."""
        count = self.names[scope, name] = self.names.get((scope, name), 0) + 1
        name = name if count == 1 else f"{name}_{count}"
        self.found.append(FoundType(name, scope, start, end, self.line, mangled, whole))


def _parts(head: str) -> tuple[str, ...]:
    return tuple(part for part in head.split("::") if part)


def _pairs(text: str, position: int, end: int) -> dict[int, int]:
    """Behind the '<' before a position, and each after it, behind the '>' that closes it in the same line."""
    out, stack = {}, [position]
    for angle in _ANGLE.finditer(text, position, end):
        char = angle[0]
        if char == "<":
            stack.append(angle.end())
        elif char == "\n":
            stack.clear()
        elif stack and text[angle.start() - 1] != "-":
            out[stack.pop()] = angle.end()
    return out


def _wrapped(text: str, position: int) -> int | None:
    """The same over several lines, as a terminal has wrapped it: nothing else may stand in it."""
    depth = 1
    for angle in _ANGLE.finditer(text, position, min(len(text), position + _MAX_WRAPPED)):
        if angle[0] != "\n":
            depth += 1 if angle[0] == "<" else -1
        if not depth:
            return angle.end() if _WHOLE.fullmatch(text, position, angle.end()) else None
    return None


def _names(mangled: str) -> list[str]:
    """The names that a mangled name begins with: `N4mine6Traits3run...` -> mine, Traits, run."""
    out = []
    at = len(mangled) - len(mangled.lstrip("NK"))
    while (match := re.compile(r"\d{1,3}").match(mangled, at)) is not None:
        end = match.end() + int(match[0])
        out.append(mangled[match.end() : end])
        at = end
    return out


def arguments(type_: str) -> list[str]:
    """The template arguments of a type."""
    out, depth, begin = [], 0, 0
    for n, char in enumerate(type_):
        if char in "<(":
            depth += 1
            begin = n + 1 if depth == 1 else begin
        elif char in ">)" or (char == "," and depth == 1):
            if depth == 1:
                out.append(type_[begin:n].strip())
                begin = n + 1
            depth -= char != ","
            if not depth:
                break
    return out
