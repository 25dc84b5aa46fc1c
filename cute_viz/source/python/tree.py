"""Python source -> its syntax tree, with the places of its nodes in the text; nothing is executed or imported."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from cute_viz.errors import NotationError, Span, in_cell
from cute_viz.limits import limit, over

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVES = (ast.Lambda, ast.Constant, ast.Load, ast.Store)
_TARGETS = (ast.Name, ast.Attribute)
YIELDS = "yield"  # no name: what `stored` says of statements that yield
REST = "*"  # where the values of `*args` and `**kwargs` that a function is followed without come from
_STRING = re.compile(r"(?s)\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*")

_BRACKET = re.compile(r"[()\[\]{}]")
_SIGNS = re.compile(r"[-+~]{64}|(\bnot\s+){64}")


class Tree:
    """A text and the tree of it."""

    def __init__(self, text: str, name: str = "", ours: bool = False) -> None:
        self.text, self.name, self.ours = text, name, ours  # name: of a file that another imports. ours: of `known.MODULES`
        self.starts = [0, *(n + 1 for n, char in enumerate(text) if char == "\n")]
        self.indented = 0
        self.module = self._parsed()

    def _parsed(self) -> ast.Module:
        text = self.text.replace("\f", " ").replace("\r", " ")
        if len(text) > limit("input") and len(text) > limit("source"):
            raise over("input", f"the source has {len(text)} characters")
        self._check_nesting(text)
        if re.match(r"\s*\n?[ \t]+\S", text):
            self.indented, text = 1, "if 1:\n" + text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(text)
        except SyntaxError as error:
            line = max(1, (error.lineno or 1) - self.indented)
            start = self.starts[min(line, len(self.starts)) - 1] + max(0, (error.offset or 1) - 1)
            start = min(start, max(0, len(self.text) - 1))
            raise NotationError(f"this is not Python: {error.msg}", text=self.text, span=Span(start, start + 1)) from None
        except (ValueError, RecursionError, MemoryError):
            raise NotationError("this is not Python source", text=self.text, span=Span(0, 1)) from None

    def _check_nesting(self, text: str) -> None:
        depth, most = 0, limit("nesting")
        code = _STRING.sub(lambda match: " " * len(match[0]), text) if '"' in text or "'" in text or "#" in text else text
        found = _SIGNS.search(code)
        at = -1 if found is None else found.start()
        for bracket in _BRACKET.finditer(code):
            depth = max(0, depth + (1 if bracket[0] in "([{" else -1))
            if depth > most:
                at = bracket.start()
                break
        if at >= 0:
            raise over("nesting", "brackets or signs nested too deeply", text=self.text, span=Span(at, at + 1))

    @cached_property
    def strings(self) -> frozenset[str]:
        """The strings that stand in the text."""
        nodes = ast.walk(self.module)
        return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))

    def span(self, node: Any) -> Span:
        """The place of a node; of what stands before the text, its beginning."""
        if getattr(node, "end_lineno", None) is None:
            return Span(0, 1)
        return Span(self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset))

    def offset(self, line: int, column: int) -> int:
        """The place of a line and column of Python's, which counts columns in bytes of UTF-8."""
        line = max(1, min(line - self.indented, len(self.starts)))
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        part = self.text[start:end]
        if not part.isascii():
            column = len(part.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        return min(start + column, len(self.text))

    def line(self, offset: int) -> int:
        """The line that a place is in, which counts from 1, in a notebook from its cell."""
        return self.place(offset)[1]

    def place(self, offset: int) -> tuple[int, int]:
        """The cell of a notebook that a place is in, 0 in another text, and the line."""
        return in_cell(self.text, offset, bisect_right(self.starts, offset))


def dotted(node: object) -> str:
    """`a.b.c` of such an expression; empty of another."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def stored(nodes: list[Any]) -> set[str]:
    """The names that statements may bind, `self.a` among them, and YIELDS; those of functions and classes inside are theirs."""
    out: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind in _SCOPES:
            out.add(node.name)
            continue
        if kind in _LEAVES or (kind is ast.Name and type(node.ctx) is ast.Load):
            continue
        if kind in _TARGETS and type(node.ctx) is not ast.Load:
            out.add(dotted(node))
        elif kind is ast.alias:
            out.add(node.asname or node.name.partition(".")[0])
        elif kind is ast.Yield or kind is ast.YieldFrom:
            out.add(YIELDS)
        for name in node._fields:  # faster than ast.iter_child_nodes, and most of the time of a long file
            value = getattr(node, name, None)
            if type(value) is list:
                todo += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)
    return out - {""}


def defaults_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have defaults, with these."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    yield from (
        (item.arg, value) for item, value in zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)
    )
    pairs = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    yield from ((item.arg, value) for item, value in pairs if value is not None)
