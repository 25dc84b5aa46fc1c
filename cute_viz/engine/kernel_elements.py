"""Accesses of tensors in shared and global memory that are no statements of CuTe: elements and pointers, by their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import line_of

if TYPE_CHECKING:
    from cute_viz.source.model import Entry, Move, SourceFile

_VIEWS = re.compile(
    r"partition|local_tile|make_tensor(?!_like|<)|group_modes|recast|retile|domain_offset|flatten|coalesce|zipped_divide|filter|\.data\(|\.iterator"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


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
    """The accesses of single elements of the tensors that a file's statements move, and of their views.

    >>> from cute_viz.source import read as read_file
    >>> text = (
    ...     "void f(float* p) {\\n  auto a = make_tensor(make_gmem_ptr(p), Layout<_8>{});\\n"
    ...     "  auto r = make_tensor<float>(Layout<_8>{});\\n  copy(a, r);\\n  a(3) = r(2);\\n}"
    ... )
    >>> file = read_file(text, "cpp", Given())
    >>> [(one.line, one.text, one.name) for one in elements(file, tuple((m, m.read()) for m in file.moves()[:1]))]
    [(5, 'a(3)', 'a')]
    """
    roots = {
        (x.pointer.name, x.pointer.base, move.scope): x.pointer.base
        for move, operands in read
        for x in operands or ()
        if isinstance(x, Tensor) and x.pointer.space in ("smem", "gmem") and x.pointer.name
    }
    known: dict[tuple[str, tuple[str, ...]], str] = {(name, scope): base for (name, base, scope), _ in roots.items()}
    for entry in file.entries:
        if _VIEWS.search(entry.text) and "fragment" not in entry.text:
            inside = re.findall(r"[A-Za-z_]\w*", entry.text)
            base = next((known[word, entry.scope] for word in inside if (word, entry.scope) in known), None)
            if base is not None:
                known.setdefault((entry.name, entry.scope), base)
    brackets = r"\[(?P<args>[^\[\]]*)\]" if file.language == "python" else r"\((?P<args>(?:[^()]|\([^()]*\))*)\)"
    code = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), file.text) if file.language != "python" else file.text
    done = set()
    for entry in file.entries:
        key = (entry.name, entry.scope)
        if key not in known or key in done:
            continue
        done.add(key)
        for found in re.finditer(rf"(?<![\w.>:]){re.escape(entry.name)}\s*{brackets}", code[: _end(file, entry)]):
            if found.start() <= entry.span.start or not _is_element(found["args"]):
                continue
            line, where = line_of(file.text, found.start())
            yield Element(line, where, " ".join(found[0].split()), entry.name, known[key])
    for base in {base for base in known.values() if base.isidentifier() and file.language == "cpp"}:
        for found in re.finditer(rf"(?<![\w.>:]){base}\s*\[[^\]\n]*\]", code):
            begin = max(code.rfind(c, 0, found.start()) for c in ";{}") + 1
            if not re.search(r"__shared__|\bextern\b|[(,=]\s*&\s*$", code[begin : found.start()]):
                line, where = line_of(file.text, found.start())
                yield Element(line, where, " ".join(found[0].split()), base, base)


def _is_element(args: str) -> bool:
    words = re.findall(r"\b_\b|\bNone\b|:|\bX\b", args)
    return bool(args.strip()) and not words


def _end(file: SourceFile, entry: Entry) -> int:
    """Where the block ends that an entry is defined in."""
    text, depth = file.text, 0
    if file.language == "python":
        indent = len(re.search(r"[^\n]*$", text[: entry.span.start])[0])  # type: ignore[index]
        found = re.compile(rf"^[ \t]{{0,{max(0, indent - 1)}}}[^\s)\]}}#]", re.MULTILINE).search(text, entry.span.end)
        return found.start() if found else len(text)
    for n in range(entry.span.start, len(text)):
        depth += (text[n] == "{") - (text[n] == "}")
        if depth < 0:
            return n
    return len(text)
