"""Accesses of single elements that have no row: by their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import Span, line_of

if TYPE_CHECKING:
    from cute_viz.source.model import Move, SourceFile


class Element(NamedTuple):
    """An access of single elements: its line, "" or the included file, the text, the tensor, that tensor's buffer, and why it is
    not counted.
    """

    line: int
    file: str
    text: str
    name: str
    base: str
    why: str = ""


def elements(file: SourceFile, read: tuple[tuple[Move, list[Any] | None], ...]) -> Iterator[Element]:
    """The accesses `sA[i, j]` in Python of the tensors in memory that a file's statements move.

    >>> from cute_viz.source import read as read_file
    >>> text = "def f(a: cute.Tensor):\\n    r = cute.make_rmem_tensor(4, cutlass.Float32)\\n    r[0] = a[3]\\n"
    >>> list(elements(read_file(text, "python", Given()), ()))
    []
    """
    if file.language != "python":
        return
    known = {
        (x.pointer.name, move.scope): x.pointer.base
        for move, operands in read
        for x in operands or ()
        if isinstance(x, Tensor) and x.pointer.space in ("smem", "gmem") and x.pointer.name
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
