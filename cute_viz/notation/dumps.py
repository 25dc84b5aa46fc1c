"""What CuTe printed -> objects: layouts, tensors, atoms and tilings amid the other lines of a terminal or a log.

Lines are read on their own: prefixes, colours and words around an object do not matter. An atom or a tiling is a heading
and the labelled lines under it, as C++ (`MMA_Atom`) and as the Python DSL (`MMA Atom`) print them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.cute import Parser
from cute_viz.notation.lexer import tokenize
from cute_viz.notation.program import Document, evaluate_program
from cute_viz.notation.syntax import Chain, Node, Number, Pair, Statement

MAX_LINE = 20_000  # characters of a line that are searched
MAX_OBJECT = 4_000  # characters of one printed layout
MAX_TRIES = 24  # places of a line where a layout may begin

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_HEADING = re.compile(r"(?<!\w)(TiledMMA|TiledCopy|MMA_Atom|Copy_Atom|ThrMMA|ThrCopy|Tiled MMA|Tiled Copy|MMA Atom|Copy Atom)\s*$")
_LABEL = re.compile(
    r"(?<!\w)(ThrLayoutVMNK|PermutationMNK|ThrID|Shape_MNK|LayoutA_TV|LayoutB_TV|LayoutC_TV|Tiler_MN|TiledLayout_TV|ValLayoutSrc"
    r"|ValLayoutDst|ValLayoutRef|ValueType|Thr VMNK|ThrIdx|Thr Layout VMNK|Permutation MNK|Shape MNK|TV Layout A|TV Layout B"
    r"|TV Layout C|Tiler MN|TV Layout tiled|TV Layout Src|TV Layout Dst|Value type)\s*:[ \t]*(.*?)\s*$"
)
_BEGIN = re.compile(r"(?<![\w)\]>@:])(?:Sw?<\d|\(|_?\d+:[_(\d-]|\w*ptr\[|ptr<|counting_iter|ArithTuple)")
_WRITTEN = re.compile(r"\s*(?:[\w.]+\s*=\s*)?")
_PAIR = re.compile(r"[\d)_?}]:[_(\d?-]")
_NAME = re.compile(
    r"([A-Za-z_][\w.\[\]]*)\s*(?:\([^()]*\))?\s*(?::|=|->)?\s*(?:Tensor|tensor<?|Layout|ComposedLayout|layout)?\s*[:=<]?\s*$"
)


def strip_colors(text: str) -> str:
    r"""The text with the escape sequences of terminals blanked out, every other character in its place.

    >>> strip_colors("\x1b[1mA\x1b[0m")
    '    A    '
    """
    return _ANSI.sub(lambda match: " " * len(match[0]), text)


def read_dump(text: str, names: Mapping[str, Any] | None = None) -> Document:
    """The objects of a dump by name; an error where there is none.

    >>> print(read_dump("[0] sA : Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)  # 12:00").pick("sA"))
    Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)
    """
    document = _read(text, names).document
    if not document.values and isinstance(document.last, CuteVizError):
        raise document.last
    return document


def find_dump(text: str, names: Mapping[str, Any] | None = None) -> Document | None:
    r"""The objects of a text that is no source: None where it holds none, or where it is source code.

    >>> find_dump("loaded 3 files\nsA: (_8,_64):(_64,_1)\n").values.keys()
    dict_keys(['sA'])
    >>> find_dump("auto a = make_layout(8);\n") is None
    True
    """
    if _is_source(text):
        return None
    reader = _read(text, names)
    document = reader.document
    if reader.broken or (not document.values and not document.failures):
        return None
    if "\n" not in text.strip() and not _single(text, document):
        return None
    return document


def _single(text: str, document: Document) -> bool:
    """Whether one line is a name and an object, nothing behind it: an expression with a mistake in it is no dump."""
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


def _read(text: str, names: Mapping[str, Any] | None) -> _Reader:
    if len(text) > limit("input"):
        raise over("input", f"the input has {len(text)} characters")
    plain = strip_colors(text)
    reader = _Reader(plain, names)
    start = 0
    for line in plain.split("\n"):
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


class _Reader:
    """Goes over the lines: gathers the fields of a heading until it ends, and finds the objects of other lines."""

    def __init__(self, text: str, names: Mapping[str, Any] | None) -> None:
        self.text = text
        self.names = names
        self.document = Document()
        self.heading = ""
        self.label = ""
        self.fields: dict[str, tuple[str, int]] = {}
        self.places = 0
        self.cut: CuteVizError | None = None  # why the rest was not searched
        self.broken = False  # a line begins like an object and is none: somebody wrote it, with a mistake

    def line(self, line: str, start: int) -> None:
        if (label := _LABEL.search(line[:MAX_LINE])) is not None and self.heading:
            self.fields[label[1].replace(" ", "").replace("_", "").lower()] = (label[2], start + label.start(2))
            return
        if (heading := _HEADING.search(line[:MAX_LINE])) is not None:
            kind = heading[1].replace(" ", "").replace("_", "")
            if kind in ("MMAAtom", "CopyAtom") and self.heading.startswith(("Tiled", "Thr")):
                return  # the atom under its tiling
            if self.heading.startswith("Thr") and kind.startswith("Tiled"):
                return
            self.close()
            self.heading, self.label = kind, self.name(line[: heading.start()])
            return
        self.close()
        if _PAIR.search(line):
            self.layouts(line[:MAX_LINE], start)

    def name(self, before: str) -> str:
        match = _NAME.search(before.rstrip())
        return match[1] if match and match[1] not in ("tensor", "Tensor", "layout", "Layout", "print") else ""

    def keep(self, name: str, value: Any, span: Span) -> None:
        base = name or f"object{len(self.document.values) + 1}"
        key, n = base, 2
        while key in self.document.values and self.document.values[key] != value:
            key, n = f"{base}_{n}", n + 1
        self.document.values.pop(key, None)
        self.document.values[key] = value
        self.document.last = key
        self.document.unread = [Statement(key, None, span)]

    def fail(self, name: str, error: CuteVizError) -> None:
        key = name or f"object{len(self.document.failures) + 1}"
        self.document.failures[key] = error
        self.document.last = error

    def layouts(self, line: str, start: int) -> None:
        """Every object printed in a line."""
        tries = position = 0
        while tries < MAX_TRIES and (begin := _BEGIN.search(line, position)) is not None:
            if not _PAIR.search(line, begin.start()):
                return
            tries += 1
            self.places += 1
            if self.places > limit("prints"):
                error = over("prints", "too many places look like layouts, and the rest was not searched")
                self.document.failures.setdefault("the rest", error)
                self.cut = error
                return
            rest = _ptr_of_dsl(line[begin.start() : begin.start() + MAX_OBJECT])
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
            span = Span(start + begin.start(), start + begin.start() + node.span.end)
            position = begin.start() + node.span.end
            name = self.name(line[: begin.start()])
            try:
                statement = Statement(None, node, node.span)
                value = evaluate_program([statement], rest, self.names).pick()
                self.keep(name, value, span)
            except CuteVizError as error:
                error.text, error.span = (
                    self.text,
                    Span(start + begin.start() + error.span.start, start + begin.start() + error.span.end) if error.span else span,
                )
                self.fail(name, error)

    def close(self) -> None:
        """The heading's object, of the fields that were gathered."""
        heading, fields = self.heading, self.fields
        self.heading, self.fields = "", {}
        if not heading or not fields:
            return
        at = min(offset for _, offset in fields.values())
        try:
            self.keep(self.label, self.build(heading, fields), Span(at, at + 1))
        except CuteVizError as error:
            self.fail(self.label, error if error.span else error.at(self.text, Span(at, at + 1)))

    def build(self, heading: str, fields: dict[str, tuple[str, int]]) -> Any:
        from cute_viz.algebra.copy import Copy_Atom, TiledCopy
        from cute_viz.algebra.mma import MMA_Atom, TiledMMA
        from cute_viz.algebra.recast import bits_of

        def get(*keys: str) -> Any:
            for key in keys:
                if key in fields:
                    return self.value(*fields[key])
            at = min(offset for _, offset in fields.values())
            raise NotationError(f"the print of this {heading} lacks its {keys[0]}", text=self.text, span=Span(at, at + 1))

        def thr_id() -> Any:
            from cute_viz.algebra.layout import Layout

            value = get("thrid")
            return value if isinstance(value, Layout) else Layout(value)

        if "mma" in heading.lower():
            layouts = [get(f"layout{x}tv", f"tvlayout{x}") for x in "abc"]
            atom = MMA_Atom(thr_id(), get("shapemnk"), *layouts)
            if heading == "MMAAtom":
                return atom
            return TiledMMA(atom, get("thrlayoutvmnk"), _permutation(get("permutationmnk")))
        source, destination = get("vallayoutsrc", "tvlayoutsrc"), get("vallayoutdst", "tvlayoutdst")
        reference = get("vallayoutref") if "vallayoutref" in fields else _reference(source, destination)
        width = fields.get("valuetype", ("", 0))[0].strip()
        bits = int(width[:-1]) if re.fullmatch(r"\d+b", width) else _DSL_BITS.get(width) or bits_of(width or 8)
        copy_atom = Copy_Atom(thr_id(), source, destination, reference, bits)
        if heading == "CopyAtom":
            return copy_atom
        return TiledCopy(copy_atom, get("tiledlayouttv", "tvlayouttiled"), _permutation(get("tilermn")))

    def value(self, text: str, offset: int) -> Any:
        """The value of a label, read as the beginning of its text."""
        try:
            parser = Parser(text)
            node = parser.chain()
            return evaluate_program([Statement(None, node, node.span)], text, self.names).pick()
        except CuteVizError as error:
            inner = error.span or Span(0, 1)
            error.text, error.span = self.text, Span(offset + inner.start, offset + inner.end)
            raise


_DSL_BITS = {**{f"{kind}{n}": n for kind in "fiu" for n in (4, 8, 16, 32, 64)}, "bf16": 16, "tf32": 32, "i1": 1}
_DSL_BITS |= {f"f8{rest}": 8 for rest in ("E4M3FN", "E5M2", "E4M3B11FNUZ", "E8M0FNU")} | {
    "f4E2M1FN": 4,
    "f6E2M3FN": 6,
    "f6E3M2FN": 6,
}


def _permutation(value: Any) -> Any:
    """`(32:1,32:1,_)`, as the DSL prints extents, is `(32,32,_)`."""
    from cute_viz.algebra.layout import Layout

    return tuple(x.shape if isinstance(x, Layout) and x.stride == 1 else x for x in value) if isinstance(value, tuple) else value


def _reference(source: Any, destination: Any) -> Any:
    """The reference of a DSL print, which leaves it out: the side that is one-to-one, as ldmatrix and stmatrix have it."""
    from cute_viz.algebra.layout import Layout
    from cute_viz.algebra.measure import cosize, size

    def spread(layout: Any) -> bool:
        return (isinstance(layout, Layout) and size(layout, 1) == 1) or cosize(layout) == size(layout)

    contiguous = isinstance(source, Layout) and isinstance(destination, Layout) and spread(destination)
    simple = contiguous and not (spread(source) and str(destination).count("(") < str(source).count("("))
    return destination if simple else source


def _ptr_of_dsl(text: str) -> str:
    """`ptr<f16, smem, align<16>> o ...`: the DSL's pointer as CuTe C++ writes one, padded to the same length."""
    match = re.match(r"(raw_)?ptr<(?:[^<>]|<[^<>]*>)*>", text)
    if match is None:
        return text
    width = len(match[0])
    return "ptr[8b](unset)".ljust(width) + text[width:] if width >= 14 else " " * width + text[width:].replace(" o ", "   ", 1)


def _is_bare(node: Node) -> bool:
    """Whether a piece is two plain numbers, as a time of day is."""
    return isinstance(node, Pair) and all(isinstance(x, Number) and not x.static for x in (node.shape, node.stride))


def _is_object(node: Node) -> bool:
    """Whether a printed piece is a layout: it has a shape and a stride somewhere."""
    if isinstance(node, Chain):
        return any(isinstance(item, Pair) for item in node.items)
    return isinstance(node, Pair)
