"""Expressions of a source that edits replace: where a definition's stands, its arguments, and how a layout is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.layout import Layout
from cute_viz.records import dataclass

if TYPE_CHECKING:
    from cute_viz.source.model import Entry


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text for the characters [start, end) of a source, which stand in a line of a file, "" for the file itself."""

    start: int
    end: int
    new: str
    line: int
    file: str = ""


def expression(text: str, entry: Entry) -> tuple[int, int] | None:
    """Where the expression stands that an entry is defined by; of a tensor its layout's.

    >>> from cute_viz.source import read
    >>> text = "auto a = make_tensor(make_smem_ptr(p), Layout<_4>{});"
    >>> at = expression(text, read(text, "cpp", Given()).entries[0])
    >>> text[slice(*at)]
    'Layout<_4>{}'
    """
    found = re.compile(r"\s+".join(map(re.escape, entry.text.split()))).search(text, entry.span.start) if entry.text else None
    if found is None:
        return None
    start, end = found.span()
    if call := re.match(r"(cute(::|\.))?make_tensor\s*\(", text[start:end]):
        parts = arguments(text, start + call.end(), end)
        return parts[1] if len(parts) == 2 else None
    return start, end


def arguments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the arguments stand that follow an opening bracket.

    >>> arguments("f(a, g(b))", 2, 10)
    [(2, 3), (5, 9)]
    """
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


def written_as(layout: Layout, text: str, language: str) -> str:
    """A layout as source code, with the shape as the text has it, where it begins with one.

    >>> written_as(Layout((4, 8), (9, 1)), "make_layout(s, LayoutRight{})", "cpp")
    'make_layout(s, make_stride(Int<9>{}, Int<1>{}))'
    """

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
    """The expression around an edit before and after it, in a line each, without the comments.

    >>> shown("auto s = make_stride(Int<1>{}, bM+Int<1>{});", Edit(38, 39, "4", 1))
    ('make_stride(Int<1>{}, bM+Int<1>{})', 'make_stride(Int<1>{}, bM+Int<4>{})')
    """
    start, end = edit.start, edit.end
    if len(edit.new) < 24:  # a number: the call that it is in
        depth = 0
        for at in range(start - 1, -1, -1):
            depth += (text[at] in ")}") - (text[at] in "({")
            if depth < 0 or text[at] == ";":
                break
        if text[at] == "(" and (word := re.search(r"[\w:.]+\s*$", text[:at])):
            start = word.start()
            for n in range(at, len(text)):
                depth += (text[n] == "(") - (text[n] == ")")
                if depth < 0:
                    end = max(end, n + 1)
                    break
    whole = text[start:end], text[start : edit.start] + edit.new + text[edit.end : end]
    old, new = (" ".join(re.sub(r"//[^\n]*", "", x).split()) for x in whole)
    return old, new
