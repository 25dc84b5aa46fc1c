"""Expressions of a source that edits replace: where a definition's stands, its arguments, and how a layout is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cute_viz.algebra.layout import Layout
from cute_viz.records import dataclass
from cute_viz.source import read
from cute_viz.source.model import Entry, Given

_OF_TENSORS = re.compile(r"\b(make_tensor|allocate_tensor|get_tensor)\s*\(")


_MADE = {  # by a call that an edit gives another layout
    "cpp": re.compile(
        r"\b(?:cute::)?(?:(?:make_(?:ordered_)?layout|composition|tile_to_(?:mma_)?shape)\s*\(|(?:Composed)?Layout\s*<)"
    ),
    "python": re.compile(r"\bcute\.(?:make_(?:ordered_|composed_)?layout|tile_to_shape)\s*\("),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text for the characters [start, end) of a source, which stand in a line of a file, "" for the file itself."""

    start: int
    end: int
    new: str
    line: int
    file: str = ""


def expression(text: str, entry: Entry) -> tuple[int, int] | None:
    """Where the expression stands that an entry is defined by; of a tensor its layout's."""
    found = re.compile(r"\s+".join(map(re.escape, entry.text.split()))).search(text, entry.span.start) if entry.text else None
    if found is None:
        return None
    start, end = found.span()
    for call in _OF_TENSORS.finditer(text, start, end):
        parts, at = arguments(text, call.end(), end), int(call[1] != "get_tensor")
        if parts and text[parts[-1][1] : end].strip() == ")":
            if call[1] == "make_tensor" and len(parts) != 2:  # of a shape and strides
                return None
            named = [(a + len(word[0]), b) for a, b in parts if (word := re.compile(r"layout\s*=\s*").match(text, a))]
            return next(iter(named or parts[at : at + 1]), None)
    return start, end


def arguments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the arguments stand that follow an opening bracket."""
    out, depth, begin = [], 0, start
    for n in range(start, end):
        c = text[n]
        if c in ",)>" and depth == 0:
            first = begin + len(text[begin:n]) - len(text[begin:n].lstrip())
            out.append((first, begin + len(text[begin:n].rstrip())))
            begin = n + 1
            if c != ",":
                break
        depth += (c in "([{<") - (c in ")]}>")
    return out


def layouts_made(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Where the calls and types begin that make a layout, each with its words, the outermost ones only."""
    end = 0
    for found in _MADE[language].finditer(text) if language in _MADE else ():
        parts = arguments(text, found.end(), len(text)) if found.start() >= end else []
        if parts:
            end = text.find(")" if found[0].endswith("(") else ">", parts[-1][1]) + 1
            if behind := re.compile(r"\s*(\{\s*\}|\(\s*\))").match(text, end):
                end = behind.end()
            yield found.start(), " ".join(text[found.start() : end].split())


def alone(words: str, language: str) -> Any:
    """The value of an expression, which names nothing of its file. Raises: CuteVizError where it does."""
    if language == "python":
        return read(f"import cutlass.cute as cute\nx = {words}", language, Given()).entries[0].read()
    return read(f"{'using' if words.endswith('>') else 'auto'} x = {words};", language, Given()).entries[0].read()


def written_as(layout: Layout, text: str, language: str) -> str:
    """A layout as source code, with the shape as the text has it, where it begins with one."""

    def numbers(x: Any) -> str:
        if isinstance(x, tuple):
            inner = ", ".join(map(numbers, x))
            return f"make_stride({inner})" if language == "cpp" else f"({inner})"
        return f"Int<{int(x)}>{{}}" if language == "cpp" else str(int(x))

    stride = numbers(layout.stride if isinstance(layout.stride, tuple) else (layout.stride,))
    call = re.match(r"((?:cute(?:::|\.))?make_layout\s*\()", text)
    if call is not None:
        parts = arguments(text, call.end(), len(text))
        shape = text[slice(*parts[0])] if parts else ""
    else:
        shape = numbers(layout.shape).replace("make_stride", "make_shape")
    return f"make_layout({shape}, {stride})" if language == "cpp" else f"cute.make_layout({shape}, stride={stride})"


def shown(text: str, edit: Edit) -> tuple[str, str]:
    """The expression around an edit before and after it, in a line each, without the comments."""
    start, end = edit.start, edit.end
    if len(edit.new) < 24:  # a number: the call that it is in
        depth, at, word = 0, start, None
        while at > 0 and word is None and text[at] != ";":
            at -= 1
            depth += (text[at] in ")}>") - (text[at] in "({<")
            if depth < 0:
                depth, word = 0, re.search(r"\b(?!Int\b|C\b)[\w:.]+\s*$", text[:at]) if text[at] != "{" else None
        if word is not None:
            start, end = word.start(), max(end, arguments(text, at + 1, len(text))[-1][1] + 1)
    whole = text[start:end], text[start : edit.start] + edit.new + text[edit.end : end]
    old, new = (" ".join(re.sub(r"//[^\n]*", "", x).split()) for x in whole)
    return old, new
