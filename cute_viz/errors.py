"""The errors that a user of cute-viz can meet, and the caret picture that shows where.

Every error that input can cause is a `CuteVizError`. It says what is wrong in one line; where it knows the
text and the place, it carries them, and `explain()` draws the caret.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters [start, end) in the text that was read."""

    start: int
    end: int

    def __or__(self, other: Span) -> Span:
        return Span(min(self.start, other.start), max(self.end, other.end))


class CuteVizError(Exception):
    """Input that cannot be used: what is wrong, where, and what would be right.

    >>> print(CuteVizError("a shape is missing", text="(4,):1", span=Span(3, 4), hint="write (4,8)").explain())
    a shape is missing
      (4,):1
         ^
      hint: write (4,8)
    """

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.span = span
        self.hint = hint
        self.name = name

    def at(self, text: str, span: Span) -> CuteVizError:
        """The same error with its place filled in, where it had none."""
        if self.span is None:
            self.text, self.span = text, span
        return self

    def place(self) -> str:
        """`name:line:column`, as far as it is known; columns and lines count from 1."""
        parts = [self.name] if self.name else []
        if self.text is not None and self.span is not None:
            line, column = _line_column(self.text, self.span.start)
            parts += [str(line), str(column)] if (self.name or "\n" in self.text) else []
        return ":".join(parts)

    def line(self) -> str:
        """The error in one line, for lists and logs."""
        place = self.place()
        message = _short(self.message)
        return f"{place}: {message}" if place else message

    def explain(self) -> str:
        """The error with the offending line, a caret under it, and the hint."""
        out = [self.line()]
        if self.text is not None and self.span is not None:
            out += _caret(self.text, self.span)
        if self.hint:
            out.append(f"  hint: {_short(self.hint)}")
        return "\n".join(out)

    def __str__(self) -> str:
        return self.explain()


class NotationError(CuteVizError):
    """Text that is not CuTe notation."""


class AlgebraError(CuteVizError):
    """An operation whose condition the operands do not meet, as CuTe's static_assert would say."""


class FigureError(CuteVizError):
    """An object that cannot be drawn the way that was asked for."""


class LimitError(CuteVizError):
    """Input larger than a stated limit; the hint names the option that raises it."""


class CannotCheck(CuteVizError):
    """A check that needs something this machine lacks (a device, a driver, a compiler)."""


_LONG = 600  # characters of a message or a hint that are worth reading
_WINDOW = 100  # characters of the offending line that are worth showing


def _short(words: str) -> str:
    return words if len(words) <= _LONG else f"{words[: _LONG // 2]}…{words[-_LONG // 2 :]}"


def _line_column(text: str, offset: int) -> tuple[int, int]:
    head = text[:offset]
    return head.count("\n") + 1, offset - (head.rfind("\n") + 1) + 1


def _caret(text: str, span: Span) -> list[str]:
    """The line that holds the start of the span, and carets under the span."""
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    line = text[begin : end if end >= 0 else len(text)]
    column = span.start - begin
    width = max(1, min(span.end, begin + len(line)) - span.start)
    left = max(0, column - _WINDOW // 2)
    shown = line[left : left + _WINDOW]
    prefix, suffix = ("…" if left else ""), ("…" if left + _WINDOW < len(line) else "")
    shown = "".join(c if c.isprintable() else "�" for c in shown)
    width = max(1, min(width, _WINDOW - (column - left)))
    return [f"  {prefix}{shown}{suffix}", "  " + " " * (column - left + len(prefix)) + "^" * width]


def did_you_mean(word: str, known: Iterable[str], most: int = 2) -> str:
    """A hint that names the words most like a word that is not known; empty where none is like it.

    >>> did_you_mean("layot", ["layout", "gemm"]), did_you_mean("x", ["layout", "gemm"])
    ('did you mean layout?', '')
    """
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=most)
    return f"did you mean {' or '.join(near)}?" if near else ""
