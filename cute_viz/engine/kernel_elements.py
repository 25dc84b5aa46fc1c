"""Accesses of single elements that have no row: by their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import tensors_in
from cute_viz.errors import CuteVizError, Span, boundary, line_of

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile
    from cute_viz.source.moves import Move


_NEAR = 3  # lines of a statement


class Element(NamedTuple):
    """An access of single elements: its line, "" or the included file, the text, the tensor, that tensor's buffer, why it is not
    counted, and the launch of its kernel, "" where that is not told. lost: whether it should be counted, in shared memory."""

    line: int
    file: str
    text: str
    name: str
    base: str
    why: str = ""
    launch: str = ""
    lost: bool = False

    @property
    def place(self) -> str:
        """Its line as rows have it: `12`, `mma.cuh:12`."""
        return f"{f'{self.file}:' * bool(self.file)}{self.line}"

    def as_dict(self, named: Mapping[str, str]) -> dict[str, Any]:
        """The access for JSON; `named` has launches in few words."""
        launch = named.get(self.launch, self.launch)
        out = {"file": self.file, "launch": launch, "text": self.text, "tensor": self.name, "why": self.why}
        return {"line": self.line, **{key: word or None for key, word in out.items()}}


def together(moves: Iterable[Move]) -> Iterator[Move]:
    """The accesses of single elements, those of neighbors in statements beside one another as one, as nvcc 13.0 loads them: `a.x
    = s[i][4 * j]; a.y = s[i][4 * j + 1];` where all threads' begin at a multiple of their size."""
    read = [(move, _read(move)) for move in moves]
    at = 0
    while at < len(read):
        move, mine = read[at]
        count = next((n for n in (4, 2) if isinstance(mine, list) and _neighbors(read[at : at + n], n)), 1)
        if count > 1 and isinstance(mine, list):
            mine = [replace(x, layout=mark_static(Layout((count,), (1,)))) for x in mine]
            lines = dict.fromkeys(other.place for other, _ in read[at + 1 : at + count])
            move = replace(move, text=f"{move.text} (with line{'s' * (len(lines) > 1)} {', '.join(lines)})")
        yield replace(move, read=partial(_known, mine))
        at += count


def _read(move: Move) -> list[Any] | CuteVizError:
    try:
        with boundary():
            return move.read()
    except CuteVizError as error:
        return error


def _known(mine: list[object] | CuteVizError) -> list[Any]:
    if isinstance(mine, CuteVizError):
        raise mine
    return mine


def _neighbors(read: list[tuple[Move, list[Any] | CuteVizError]], count: int) -> bool:
    """Whether so many accesses are of elements that lie one behind the other in every thread, and begin at a multiple of them."""
    (first, mine), where = read[0], [(x.name, x.scope, x.call, x.file) for x, _ in read]
    if len(read) < count or len({*where}) > 1 or isinstance(mine, CuteVizError) or read[-1][0].line - first.line > _NEAR * count:
        return False
    for n, (_, other) in enumerate(read):
        if isinstance(other, CuteVizError) or len(other) != len(mine):
            return False
        for x, y in zip(mine, other, strict=True):
            alike = (x.pointer.base, x.bits, x.layout, x.part.active, x.part.each, x.part.taken) == (
                y.pointer.base, y.bits, y.layout, y.part.active, y.part.each, y.part.taken
            )  # fmt: skip
            if not alike or size(x.layout) > 1 or x.part.each > 1 or 8 * (x.part.align or 0) < count * x.bits:
                return False
            if any(b - a != n or (a + x.offset) % count for a, b in zip(x.starts, y.starts, strict=True)):
                return False
    return True


def elements(file: SourceFile, read: tuple[tuple[Move, list[object] | None], ...]) -> Iterator[Element]:
    """The accesses `sA[i, j]` in Python of the tensors in memory that a file's statements move."""
    if file.language != "python":
        return
    known = {
        (x.pointer.name, move.scope): x.pointer.base
        for move, operands in read
        for x in tensors_in(operands, "smem", "gmem")
        if x.pointer.name
    }
    for entry in dict.fromkeys(file.entries):
        if (base := known.pop((entry.name, entry.scope), None)) is None:
            continue
        for found in re.finditer(rf"(?<![\w.]){re.escape(entry.name)}\s*\[([^\[\]]*)\]", file.text[: _end(file.text, entry.span)]):
            if found.start() > entry.span.start and found[1].strip() and not re.search(r"\bNone\b|:", found[1]):
                yield Element(*line_of(file.text, found.start()), " ".join(found[0].split()), entry.name, base)


def _end(text: str, span: Span) -> int:
    """Where the block ends that begins with a definition."""
    indent = span.start - text.rfind("\n", 0, span.start) - 1
    found = re.compile(rf"^[ \t]{{0,{max(0, indent - 1)}}}[^\s)\]}}#]", re.MULTILINE).search(text, span.end)
    return found.start() if found else len(text)
