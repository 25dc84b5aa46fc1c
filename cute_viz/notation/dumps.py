"""What CuTe printed -> objects: layouts, tensors, atoms and tilings amid the other lines of a terminal or a log.

Lines are read on their own: prefixes, colours and words around an object do not matter. An atom or a tiling is a heading
and the labelled lines under it, which `labelled` puts together.
"""

from __future__ import annotations

import re
from typing import Any

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.cute import Parser
from cute_viz.notation.lexer import tokenize
from cute_viz.notation.program import HEADING, LABEL, Document, Fields, build, evaluate_program, label_key
from cute_viz.notation.syntax import Chain, Node, Number, Pair, Passage, Statement

MAX_LINE = 20_000  # characters of a line that are searched
MAX_OBJECT = 4_000  # characters of one printed layout
_NEAR = 300  # characters before an object where its name may stand
MAX_TRIES = 24  # places of a line where a layout may begin

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_BEGIN = re.compile(r"(?<![\w)\]>@:])(?:Sw?<\d|\(|_?\d+:[_(\d-]|\w*ptr\[|ptr<|raw_ptr\(|counting_iter|ArithTuple)|(?<=[A-Z]:)\(")
_MESSAGE = re.compile(  # of gcc, clang, nvcc, Python
    r"^[ \t]*(?:(?:[^\s:()]+\(\d+(?:,\d+)?\)|[^\s:]+:\d+(?::\d+)?): *(?:fatal |internal )?(?:error|warning|remark|note)\b"
    r"|Traceback \(most recent call last\):)",
    re.M,
)
_VERIFIER = re.compile(r"'[\w.]+' op ")  # of an operation of MLIR that is refused
_SAID = ("error", "warning", "note", "remark")
_QUOTED = re.compile(r"\s*(?:\d+ *\|.*|.*; *(?://.*)?|[\s^~|]*)$")  # below a message: a line of source, or a caret
# A line that is an object of the DSL, a tensor, or begins with a run-time value, by name or not.
_POINTED = re.compile(r"\s*(?:[A-Za-z_][\w.\[\]]*\s*:\s*)?(?:tensor<|ptr<|raw_ptr\(|\w*ptr\[|\(*\?)")
_WRITTEN = re.compile(r"\s*(?:[\w.]+\s*=\s*)?")
_PAIR = re.compile(r"[\d)_?}]:[_(\d?-]")
_NAME = re.compile(
    r"([A-Za-z_][\w.\[\]]*)\s*(?:\([^()]*\))?\s*(?::|=|->)?\s*"
    r"(?:[\w:]*DescriptorIterator o|Tensor|tensor[<(]?|Layout|ComposedLayout|layout)?\s*[:=<]?\s*$"
)
# A line that only says what the next one prints: `sA:`, `[0] sA layout =`.
_LABEL_LINE = re.compile(
    r"\s*(?:\[[^\]\n]{0,80}\]\s*)?([A-Za-z_][\w.\[\]]{0,80})(?:\s+(?:layout|tensor))?\s*[:=]\s*", re.IGNORECASE
)
# What stands before a print in a sentence, and names nothing.
_SENTENCE = (
    "tensor layout print o a an and are as at but by expected for found from got has have in is not of or than that the to vs was "
    "with received actual"
)
_WORDS = frozenset(_SENTENCE.split())
_POINTER = re.compile(r"(?:raw_)?ptr(?:<(?:[^<>]|<[^<>]*>)*>|\((?:0x[0-9a-fA-F]+|[\w.]+)?\s*:[^()\n]{0,200}\))")


def strip_colors(text: str) -> str:
    r"""The text with the escape sequences of terminals blanked out, every other character in its place."""
    return _ANSI.sub(lambda match: " " * len(match[0]), text)


def read_dump(source: Passage) -> Document:
    """The objects of a dump by name; an error where there is none."""
    document = _read(source).document
    if not document.values and isinstance(document.last, CuteVizError):
        raise document.last
    return document


def printed(source: Passage) -> list[tuple[str, Any, Span]]:
    """Every object of a dump, or the error of one that cannot be read, by name, with its place."""
    reader = _read(source)
    found = {**reader.document.failures, **reader.document.values}
    return [(name, found[name], place) for name, place in reader.places.items() if name in found]


def find_dump(source: Passage) -> Document | None:
    r"""The objects of a text that is not a source: None where it holds none, or where it is source code."""
    text = source.text
    if _is_source(text):
        return None
    reader = _read(source)
    document = reader.document
    if reader.broken or (not document.values and not document.failures):
        return None
    if "\n" not in text.strip() and not _VERIFIER.search(text) and not _single(text, document):
        return None
    return document


def find_log(source: Passage) -> Document | None:
    r"""The objects that are printed amid the messages of a compiler, which quote source code; None without such messages or
    prints."""
    if _MESSAGE.search(strip_colors(source.text)) is None:
        return None
    document = _read(source).document
    return document if document.values else None


def _single(text: str, document: Document) -> bool:
    """Whether one line is a name and an object, nothing behind it: an expression with a mistake in it is not a dump."""
    if _POINTED.match(text):
        return True
    statement = document.unread[0] if document.unread else None
    if statement is None:
        return False
    before, after = text[: statement.span.start].strip(), text[statement.span.end :].strip()
    return not after.strip(">:;.") and re.fullmatch(r"[\w\s.\[\]:=<>-]*[:=><]", before) is not None and "o " not in before


def _is_source(text: str) -> bool:
    from cute_viz.algebra import ops

    if re.search(r";\s*(//.*)?$|\b(auto|using|constexpr|decltype)\b", text, re.M):
        return True
    calls = set(re.findall(r"\b(\w+)\s*[(<]", text))
    known = set(ops.OPS) | set(ops.ALIASES) | {"Layout", "Shape", "Swizzle"}
    return bool(calls & known) or re.search(r"^\s*[\w.]+\s*=\s*[A-Za-z_][\w.:]*\s*\(", text, re.M) is not None


def _read(source: Passage) -> _DumpReader:
    text = source.text
    if len(text) > limit("log"):
        raise over("log", f"the input has {len(text)} characters")
    plain = strip_colors(text)
    reader = _DumpReader(Passage(plain, source.names))
    start = quoting = 0
    for line in plain.split("\n"):
        said = any(word in line for word in _SAID) and _MESSAGE.match(line)
        quoting = 4 if said else max(0, quoting - 1)
        if quoting in (0, 4) or not _QUOTED.match(line):
            reader.line(line.rstrip("\r"), start)
        start += len(line) + 1
    reader.close()
    out = reader.document
    if reader.cut is not None:
        out.last = reader.cut  # what is meant is the last object, which was not reached
    if not out.values and out.failures:
        out.last = next(iter(out.failures.values()))
    elif not out.values:
        out.last = NotationError("no layout, tensor or atom is printed here", text=text, span=Span(0, min(1, len(text))))
    return reader


class _DumpReader:
    """Goes over the lines: gathers the fields of a heading until it ends, and finds the objects of other lines."""

    def __init__(self, source: Passage) -> None:
        self.source = source
        self.text = source.text
        self.document = Document()
        self.heading = ""
        self.label = ""
        self.fields: Fields = {}
        self.tried = 0
        self.cut: CuteVizError | None = None  # why the rest was not searched
        self.said = ""  # the name that the line before says, and nothing else
        self.places: dict[str, Span] = {}
        self.keys: dict[tuple[str, Any], str] = {}  # the names that objects got which the text calls the same
        self.numbers: dict[str, int] = {}  # how many there are of a name
        self.known: dict[tuple[str, str], list[tuple[str, Span]]] = {}  # the objects of lines that were read
        self.broken = False  # a line begins like an object and is none: somebody wrote it, with a mistake

    def line(self, line: str, start: int) -> None:
        """A line at its place in the text: a label of the open heading, a heading, or else what is printed in it."""
        if self.heading and (label := LABEL.search(line[:MAX_LINE])) is not None:
            self.fields[label_key(label[1])] = (label[2].rstrip(), start + label.start(2))
            return
        headed = "MMA" in line or "Copy" in line
        if headed and (heading := HEADING.search(line[:MAX_LINE])) is not None:
            kind = heading[1].replace(" ", "").replace("_", "")
            if kind in ("MMAAtom", "CopyAtom") and self.heading.startswith(("Tiled", "Thr")):
                return  # the atom under its tiling
            if self.heading.startswith("Thr") and kind.startswith("Tiled"):
                return
            self.close()
            self.heading, self.label, self.said = kind, self.name(line[: heading.start()]), ""
            return
        if self.heading:
            self.close()
        bare = line[:MAX_LINE].strip()
        if ":" in bare and not self.again(bare) and _PAIR.search(line):
            tried = self.tried
            self.layouts(line[:MAX_LINE], start)
            if self.tried > tried:
                self.known[self.said, bare] = [place for place in self.places.items() if place[1].start >= start]
        if bare:
            label = _LABEL_LINE.fullmatch(bare) if bare[-1] in ":=" else None
            self.said = label[1] if label is not None and label[1].lower() not in _WORDS else ""

    def again(self, bare: str) -> bool:
        """Whether a line was read before, as loops print it: what it names is what was printed last."""
        if (known := self.known.get((self.said, bare))) is None:
            return False
        for name, _ in known:
            if name in self.document.values:
                self.document.values[name] = self.document.values.pop(name)
                self.document.last = name
        return True

    def name(self, before: str) -> str:
        """The name that stands before an object, if one does."""
        match = _NAME.search(" ".join(before[-_NEAR:].split()))
        if match is None and not before.strip():
            return self.said
        said = match is None or (match[1].lower() in _WORDS and not (len(match[1]) == 1 and ":" in match[0]))  # `A: ` is a label
        return "" if match is None or said else match[1]

    def keep(self, name: str, value: object, span: Span) -> None:
        """An object under its name, or under a new one where the name has another object already."""
        base = name or f"object{len(self.document.values) + 1}"
        key = self.keys.get((base, value), base)
        while key in self.document.values and self.document.values[key] != value:
            self.numbers[base] = n = self.numbers.get(base, 1) + 1
            key = f"{base}_{n}"
        self.keys[base, value] = key
        self.document.values.pop(key, None)
        self.document.values[key] = value
        self.document.last = key
        self.places[key] = span
        self.document.unread = [Statement(key, None, span)]

    def fail(self, name: str, error: CuteVizError, span: Span) -> None:
        """An object that is none after all, under its name."""
        key = name or f"object{len(self.document.failures) + 1}"
        self.places[key] = span
        self.document.failures[key] = error
        self.document.last = error

    def placed(self, error: CuteVizError, span: Span) -> CuteVizError:
        """The error of a piece at its place in the whole text."""
        return error.but(text=self.text, span=span)

    def layouts(self, line: str, start: int) -> None:
        """Every object printed in a line."""
        tries = position = 0
        while tries < MAX_TRIES and (begin := _BEGIN.search(line, position)) is not None:
            if not _PAIR.search(line, begin.start()):
                return
            tries += 1
            self.tried += 1
            if self.tried > limit("prints"):
                error = over("prints", "too many places look like layouts, and the rest was not searched")
                self.document.failures.setdefault("the rest", error)
                self.cut = error
                return
            rest, pointer, grown = _ptr_of_dsl(line[begin.start() : begin.start() + MAX_OBJECT], line[: begin.start()])
            try:
                tokens = tokenize(rest)
                parser = Parser(rest, tokens)
                node = parser.chain()
            except (NotationError, LimitError):
                self.broken |= _WRITTEN.fullmatch(line[: begin.start()]) is not None
                position = begin.start() + 1
                continue
            if not _is_object(node) or (
                _is_bare(node) and not re.fullmatch(r"\s*[A-Za-z_][\w.]*\s*[:=]\s*", line[: begin.start()])
            ):
                position = begin.start() + 1
                continue
            position = begin.start() + node.span.end - grown
            span = Span(start + begin.start(), start + position)
            name = self.name(line[: begin.start()])
            try:
                statement = Statement(None, node, node.span)
                value = evaluate_program([statement], self.source.of(rest)).pick()
                self.keep(name, value, span)
            except CuteVizError as error:
                place, at = error.span, start + begin.start() - grown
                behind = place is not None and place.start >= pointer
                self.fail(name, self.placed(error, Span(at + place.start, at + place.end) if place and behind else span), span)

    def close(self) -> None:
        """The heading's object, of the fields that were gathered."""
        heading, fields = self.heading, self.fields
        self.heading, self.fields = "", {}
        if not heading or not fields:
            return
        at = min(offset for _, offset in fields.values())
        try:
            self.keep(self.label, build(heading, fields, self.value), Span(at, at + 1))
        except CuteVizError as error:
            self.fail(self.label, self.placed(error, error.span or Span(at, at + 1)), Span(at, at + 1))

    def value(self, text: str, offset: int) -> Any:
        """The value of a label, read as the beginning of its text."""
        try:
            parser = Parser(text)
            node = parser.chain()
            return evaluate_program([Statement(None, node, node.span)], self.source.of(text)).pick()
        except CuteVizError as error:
            inner = error.span or Span(0, 1)
            raise self.placed(error, Span(offset + inner.start, offset + inner.end)) from None


def _ptr_of_dsl(text: str, before: str = "") -> tuple[str, int, int]:
    """`ptr<f16, smem, align<1024>, S<3,4,3>> o ...`, the DSL's pointer, as C++ prints one; its length, and what that is more.
    The swizzle of a pointer is of its address in bytes, as in C++. A coordinate in its place is an origin."""
    if before.endswith("tensor<") and text[:1] == "(":
        return f"ArithTuple{text}", len("ArithTuple"), len("ArithTuple")
    match = _POINTER.match(text)
    if match is None:
        return text, 0, 0
    width = re.match(r"[a-z_]*(?:<|\([^:]*:\s*)[a-z]*(\d+)", match[0])
    swizzle = re.search(r"\bS(<\d+,\d+,-?\d+>)", match[0])
    flag = f"Sw{swizzle[1]}_smem_ptr" if swizzle and width else "ptr"
    new = f"{flag}[{width[1] if width else 8}b](unset)"
    return new + text[match.end() :], len(new), len(new) - match.end()


def _is_bare(node: Node) -> bool:
    """Whether a piece is two plain numbers, as a time of day is."""
    return isinstance(node, Pair) and all(isinstance(x, Number) and not x.static for x in (node.shape, node.stride))


def _is_object(node: Node) -> bool:
    if isinstance(node, Chain):
        return any(isinstance(item, Pair) for item in node.items)
    return isinstance(node, Pair)
