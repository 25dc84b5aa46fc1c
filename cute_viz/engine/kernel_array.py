"""Edits of arrays in shared memory whose elements are named by indices: longer rows, in the array, its indices and its launch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cute_viz.engine.kernel_expression import Edit, arguments
from cute_viz.errors import line_of

if TYPE_CHECKING:
    from cute_viz.analysis.relocate import Places
    from cute_viz.source.moves import Move

_FACTORS = re.compile(r"\*\s*(\w+)\b(?!\s*[(\[.:])"), re.compile(r"(?<![\w.>])(\w+)\b(?=\s*\*)")


def rows_apart(text: str, base: str, move: Move, places: Places) -> Iterator[tuple[Edit, ...]]:
    """Edits after which the rows of an array lie `places.step` elements apart: of its last extents, or, of one that has rows
    only in its indices, of each index and the extent."""
    name, change = re.escape(base) if base.isidentifier() else "(?!)", places.step - places.row
    found = [
        one
        for one in re.finditer(rf"__shared__[^;{{}}]*?(\b{name}((?:\s*\[[^\]\n]*\])+))\s*;", text)
        if line_of(text, one.start(1))[1] == move.file
        and line_of(text, one.start(1))[0] <= move.line
        and "//" not in text[text.rfind("\n", 0, one.start()) + 1 : one.start()]
    ]
    for array in found[-1:]:
        extents = [*re.finditer(r"\[\s*([^\]]*?)\s*\]", array[2])]
        for part in extents[:0:-1]:
            old, at = part[1], array.start(2)
            new = str(int(old) + change) if old.isdigit() else f"{old} {'-' if change < 0 else '+'} {abs(change)}"
            whole = f"{array[1][: at - array.start(1) + part.start(1)]}{new}{array[2][part.end(1) :]}"
            yield (Edit(*array.span(1), whole, *line_of(text, array.start(1))),)
        if len(extents) == 1 and change > 0:
            yield from _indices(text, name, array.start(2) + extents[0].start(1), extents[0][1], places)


def _indices(text: str, name: str, at: int, extent: str, places: Places) -> Iterator[tuple[Edit, ...]]:
    """Edits of all indices of an array, to the end of its function, and of its extent, which stands somewhere: a number or a
    name that something is multiplied by is another one."""
    depth, end = 0, at
    while end < len(text) and depth >= 0:
        depth += (text[end] == "{") - (text[end] == "}")
        end += 1
    indices: list[tuple[int, str]] = []
    for one in re.compile(rf"(?<![\w.]){name}\s*\[").finditer(text, at, end):
        depth, stop = 1, one.end()
        while stop < end and depth > 0:
            depth += (text[stop] == "[") - (text[stop] == "]")
            stop += 1
        indices.append((one.end(), text[one.end() : stop - 1]))
    words = [[word for kind in _FACTORS for word in kind.findall(index)] for _, index in indices]
    for factor in dict.fromkeys(word for each in words for word in each):
        if (factor.isdigit() and int(factor) != places.row) or any(each and factor not in each for each in words):
            continue
        new = str(places.step) if factor.isdigit() else f"({factor} + {places.step - places.row})"
        word = re.compile(rf"(?<=\*)(\s*){factor}\b|(?<![\w.]){factor}(?=\s*\*)")
        edits = [(start, index, word.sub(rf"\g<1>{new}", index)) for start, index in indices]
        edits.append((at, extent, word.sub(rf"\g<1>{new}", extent, count=1)))
        if edits[-1][1] != edits[-1][2] or not extent:
            yield tuple(Edit(a, a + len(old), now, *line_of(text, a)) for a, old, now in sorted(edits) if now != old)


def is_resized(text: str, edits: tuple[Edit, ...]) -> bool:
    """Whether an edit is of the extents of an array in shared memory."""
    places = ((text.rfind("__shared__", 0, edit.start), edit.start) for edit in edits)
    return any(at >= 0 and not set(";{}") & set(text[at:start]) for at, start in places)


def launched_with(text: str, base: str, kernel: str, more: int, launch: str = "") -> tuple[Edit, ...] | None:
    """The edit after which a kernel is launched with more bytes for its array without an extent, none where they follow from
    what it has; None of another array, and where nobody sees what launches it. launch: the way to it, where there are several."""
    name = re.escape(base) if base.isidentifier() else "(?!)"
    if re.search(rf"extern\s+__shared__[^;{{}}]*?\b{name}\s*\[\s*\]\s*;", text) is None:
        return None
    out, seen, at = list[Edit](), False, re.search(r"line (?:[^\s,:]*:)?(\d+)", launch)
    for one in re.finditer(rf"\b{re.escape(kernel)}\b\s*(?:<(?!<)[^;(){{}}]*?>\s*)?<<<", text):
        parts = arguments(text, one.end(), len(text))
        if at is not None and line_of(text, one.start())[0] != int(at[1]):
            continue
        seen = True
        if len(parts) < 3:
            return None
        start, end = parts[2]
        if text[start:end].isidentifier():
            made = list(re.compile(rf"\b{text[start:end]}\s*=\s*([^;]+?)\s*;").finditer(text, 0, start))
            if not made:
                return None
            start, end = made[-1].span(1)
        if re.search(r"cosize|size_in_bytes|sizeof\s*\(\s*[\w:]*(?i:storage|smem|shared)", text[start:end]) is None:
            out.append(Edit(start, end, f"{text[start:end]} + {more}", *line_of(text, start)))
    return tuple(out) if seen else None
