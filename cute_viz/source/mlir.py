"""CuTe IR -> entries: the values of its functions with the types on their definitions, type aliases, and attributes."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from functools import partial
from typing import Any

from cute_viz.errors import CuteVizError, NotationError, Span, raised_again
from cute_viz.limits import limit, over
from cute_viz.source.mlir_moves import Definition, IrText, moves, operation
from cute_viz.source.mlir_types import KINDS, Setting, value_of
from cute_viz.source.model import Entry, Given, SourceFile
from cute_viz.source.moves import Move

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
_HEADER = re.compile(
    r"\b(?:[\w.]+\.)?(?:func|kernel)\b(?:\s+(?:public|private|nested))?\s*@(\"[^\"\n]*\"|[\w$.-]+)\s*\(|\bsym_name\s*=\s*\"([^\"\n]*)\"[^\n]*\(\{"
)
_ALIAS = re.compile(r"^[ \t]*([!#][\w$.-]+)\s*=\s*(?=[!#]cute[\w.]*\s*<)", re.M)
_DEFINITION = re.compile(r"^[ \t]*((?:%[\w$.#-]+(?::\d+)?)(?:\s*,\s*%[\w$.#-]+(?::\d+)?)*)\s*=\s*", re.M)
_ARGUMENT = re.compile(r"(?<![\w%])(%[\w$.-]+):\s*(?=!)")  # of an operand, a space is before the colon
_ATTRIBUTE = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*)\s*=\s*(?=#cute\.)")
_OPERATION = re.compile(r"\"?([\w.]+)\"?")
_GOES_ON = re.compile(r"\s*(?:->|[:,()!<{}\]])")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|->|[<>()\[\]{}]|[:,]|\bto\b')
_TYPE_NAME = re.compile(r"[!#]?[\w$.-]+")
_USE = re.compile(r"(?:\(|\bscf\.yield\s+)(%[\w$.#-]+(?:\s*,\s*%[\w$.#-]+)*)\)?[^\n:(]*:\s*\(?")
_UNTYPED = re.compile(r"^[ \t]*(%[\w$.-]+)\s*=\s*(?=cute\.(?:get_iter|recast_iter|add_offset|append_to_rank|get_layout)\b)", re.M)
_OPEN, _CLOSE = "<([{", ">)]}"
# Operations whose only type, behind a ':', is their result's; of others it is the operands'.
_RESULT = re.compile(r"cute\.(?:static|make_\w+|memref\.\w+|arch\.\w*alloc\w*|local_tile|recast_\w+|tile_to_shape)|arith\.constant")


def read(text: str, given: Given) -> SourceFile:
    r"""The values of CuTe IR: `%lay = ... : !cute.layout<"...">` is `function::lay`; aliases and attributes by their names. A
    value is what its type says; `?` is a number that only runs know, `let=?=...`. Types of other dialects are not entries.
    Raises: LimitError for a text over the limits."""
    if len(text) > limit("log"):
        raise over("log", f"the text has {len(text)} characters")
    reader = _MlirReader(text, given)
    entries = sorted(reader.entries(), key=lambda entry: entry.span.start)
    return SourceFile(text, tuple(entries), moves=reader.moves, given=given, compiled=True)


class _MlirReader:
    """A text, its aliases, and its values, each type evaluated once."""

    def __init__(self, text: str, given: Given) -> None:
        self.given = given
        self.text = text = _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else " " * len(match[0]), text)
        self.aliases: dict[str, tuple[int, int]] = {}
        for match in _ALIAS.finditer(text):
            self.aliases[match[1]] = (match.end(), _type_end(text, match.end()))
        self.headers = [(match.start(), (match[1] or match[2]).strip('"')) for match in _HEADER.finditer(text)]
        self.lines = [match.start() for match in re.finditer("\n", text)]
        self.values: dict[str, Any] = {}
        self.uses: dict[tuple[str, str], list[tuple[int, tuple[int, int]]]] | None = None

    def entries(self) -> Iterator[Entry]:
        """Every value of a type of CuTe."""
        most, count = limit("types"), 0
        for name, at, place in self.places():
            start, end = self.aliases.get(self.text[place[0] : place[1]], place)
            if not KINDS.match(self.text, start):
                continue
            count += 1
            if count > most:
                raise over("types", f"the text has more than {most} values")
            span = Span(at, at + len(name))
            yield Entry(name.lstrip("%!#"), self.scope(at), span, self.line(at), partial(self.value, start, end))

    def moves(self) -> tuple[Move, ...]:
        """The statements that copy and multiply."""
        definitions: dict[str, list[Definition]] = {}
        for name, at, (start, end) in self.places():
            equals = re.compile(r"=\s*").search(self.text, at + len(name)) if self.text[at] == "%" else None
            parts = operation(self.text, equals.end()) if equals is not None and self.is_defined(at) else ("", "", ())
            definitions.setdefault(name, []).append(Definition(at, *parts, self.text[start:end]))
        for match in _UNTYPED.finditer(self.text):
            definitions.setdefault(match[1], []).append(Definition(match.start(1), *operation(self.text, match.end()), ""))
        for rows in definitions.values():
            rows.sort(key=lambda row: row.at)
        aliases = {name: self.text[start:end] for name, (start, end) in self.aliases.items()}
        ir = IrText(self.text, aliases, definitions, partial(_listed, self.text), self.scope, self.line)
        return tuple(moves(ir, self.given.resolve, self.given.notes))

    def is_defined(self, at: int) -> bool:
        """Whether a value is defined at a place, and is not an argument."""
        return _DEFINITION.match(self.text, self.text.rfind("\n", 0, at) + 1) is not None

    def places(self) -> Iterator[tuple[str, int, tuple[int, int]]]:
        """Names, where they are defined, and where their types stand."""
        text = self.text
        for alias, place in self.aliases.items():
            yield alias, text.rfind(alias, 0, place[0]), place
        for match in _ARGUMENT.finditer(text):
            yield match[1], match.start(1), (match.end(), _type_end(text, match.end()))
        for match in _ATTRIBUTE.finditer(text):
            yield match[1], match.start(1), (match.end(), _type_end(text, match.end()))
        for match in _DEFINITION.finditer(text):
            names = _names(match[1], match.start(1))
            types = _result_types(text, match.end())
            if types is None and (found := self.used(match[1].split(",")[0].split(":")[0].strip(), match.start())) is not None:
                types = [found]
            for (name, at), place in zip(names, types or (), strict=False):
                yield name, at, place

    def used(self, name: str, at: int) -> tuple[int, int] | None:
        """The type that a value has where it is used next: `op(%a, %b) : (T, U) -> V`, `op(%a) : T`; in the same function."""
        if self.uses is None:
            self.uses = {}
            for match in _USE.finditer(self.text):
                operands = [word.strip() for word in match[1].split(",")]
                types = _listed(self.text, match.end())
                if len(types) == len(operands):
                    for operand, place in zip(operands, types, strict=True):
                        self.uses.setdefault((operand, "::".join(self.scope(match.start()))), []).append((match.start(), place))
        places = self.uses.get((name, "::".join(self.scope(at))), [])
        return next((place for where, place in places if where > at), None)

    def scope(self, at: int) -> tuple[str, ...]:
        """The function at a place."""
        n = bisect(self.headers, (at, "\U0010ffff")) - 1
        return (self.headers[n][1],) if n >= 0 else ()

    def line(self, at: int) -> int:
        """The line of a place."""
        return bisect(self.lines, at - 1) + 1

    def value(self, start: int, end: int) -> Any:
        """The value of a type. Raises: CuteVizError at its place."""
        key = self.text[start:end]
        if key not in self.values:
            self.values[key] = self.evaluated(start, end)
        return raised_again(self.values[key])

    def evaluated(self, start: int, end: int) -> Any:
        """The value of a type, or its error."""
        from cute_viz.source.types import numbers

        try:
            runtime = tuple(numbers(self.given.let["?"])) if "?" in self.given.let else None
            setting = Setting(self.text, self.given.resolve, runtime, lambda: self.given.used.add("?"))
            return value_of(setting, start, end)
        except NotationError as error:
            return error.but(needs=("?",)) if "run-time" in error.message else error
        except CuteVizError as error:
            return error.at(self.text, Span(start, end))


def _names(words: str, at: int) -> list[tuple[str, int]]:
    """`%a, %b:2` -> %a, %b#0, %b#1, each with its place."""
    out = []
    for match in re.finditer(r"(%[\w$.#-]+)(?::(\d{1,3}))?", words):
        several = [match[1]] if match[2] is None else [f"{match[1]}#{n}" for n in range(int(match[2]))]
        out += [(name, at + match.start()) for name in several]
    return out


def _statement_end(text: str, start: int) -> int:
    """Where an operation ends: at the end of a line, unless the next line goes on."""
    end = start
    while True:
        newline = text.find("\n", end)
        if newline < 0:
            return len(text)
        if newline - start > 1 << 16 or not _GOES_ON.match(text, newline + 1):
            return newline
        following = text[newline + 1 : newline + 200].lstrip()
        if following.startswith(("}", "{")):
            return newline
        end = newline + 1


def _result_types(text: str, start: int) -> list[tuple[int, int]] | None:
    """Where the types of an operation's results stand; None where only those of its operands do."""
    end = _statement_end(text, start)
    name = _OPERATION.match(text, start)
    depth = 0
    colon = arrow = to = -1
    for token in _TOKEN.finditer(text, start, end):
        mark = token[0]
        if mark in _OPEN:
            depth += 1
        elif mark in _CLOSE:
            depth -= 1
        elif depth == 0 and mark == ":":
            colon, arrow, to = token.end(), -1, -1
        elif depth == 0 and mark == "->":
            arrow = token.end()
        elif depth == 0 and mark == "to":
            to = token.end()
    if (at := max(arrow, to)) >= 0:
        while at < end and text[at].isspace():
            at += 1
        return _listed(text, at + 1) if text[at : at + 1] == "(" else [(at, _type_end(text, at))]
    if colon >= 0 and name is not None and _RESULT.fullmatch(name[1]):
        while colon < end and text[colon].isspace():
            colon += 1
        return [(colon, _type_end(text, colon))]
    return None


def _type_end(text: str, start: int) -> int:
    """Where a type ends that begins here: behind its brackets, or its name."""
    match = _TYPE_NAME.match(text, start)
    position = match.end() if match else start
    if text[position : position + 1] != "<":
        return position
    depth = 0
    for token in _TOKEN.finditer(text, position, min(len(text), position + (1 << 16))):
        depth += (token[0] in _OPEN) - (token[0] in _CLOSE)
        if not depth:
            return token.end()
    return position


def _listed(text: str, start: int) -> list[tuple[int, int]]:
    """The types of a list in parentheses, from behind the '(' on."""
    out: list[tuple[int, int]] = []
    position = start
    while len(out) < 1000:
        while text[position : position + 1].isspace():
            position += 1
        end = _type_end(text, position)
        if end == position:
            return out
        out.append((position, end))
        while text[end : end + 1].isspace():
            end += 1
        if text[end : end + 1] != ",":
            return out
        position = end + 1
    return out
