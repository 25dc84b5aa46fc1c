"""The errors that a user of cute-viz can meet, and the caret picture that shows where.

Every error that input can cause is a `CuteVizError`. It says what is wrong in one line; where it knows the
text and the place, it carries them, and `explain()` draws the caret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from cute_viz.records import dataclass
from cute_viz.spelling import options, spelled

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters [start, end) in the text that was read."""

    start: int
    end: int

    def __or__(self, other: Span) -> Span:
        return Span(min(self.start, other.start), max(self.end, other.end))


class CuteVizError(Exception):
    """Input that cannot be used: what is wrong, where, and what would be right.

    message: what is wrong, in one line. text, span: what was read, and the place in it. hint: what would be right. name: of the
        file or option that `text` is from. An option is named as `` `tile=8x128` `` in message and hint; `explain` spells it.

    needs: the names whose values are missing, for want of which something could not be read.

    An error is a value: nothing of it changes once it is made; `at`, `named` and `but` give another error.

    >>> print(CuteVizError("a shape is missing", text="(4,):1", span=Span(3, 4), hint="write (4,8)").explain())
    a shape is missing
      (4,):1
         ^
      hint: write (4,8)
    """

    message: str
    text: str | None
    span: Span | None
    hint: str | None
    name: str | None
    needs: tuple[str, ...]

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
        name: str | None = None,
        needs: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.__dict__.update(message=message, text=text, span=span, hint=hint, name=name, needs=needs)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), {name: getattr(self, name) for name in _FIELDS})

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIELDS:
            raise AttributeError(f"an error does not change; but({name}=...) gives another one")
        super().__setattr__(name, value)

    def but(self, **changes: Any) -> Self:
        """The same error with other fields.

        >>> FigureError("no").but(hint="yes").hint
        'yes'
        """
        return _made(type(self), {name: getattr(self, name) for name in _FIELDS} | changes)

    def at(self, text: str, span: Span) -> Self:
        """The error with its place, where it had none."""
        return self if self.span is not None else self.but(text=text, span=span)

    def named(self, name: str | None) -> Self:
        """The error with the name of what was read, where it had none."""
        return self if self.name or not name else self.but(name=name)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that would help, or that are wrong, by their names.

        >>> CuteVizError("a tile is missing", hint="give it: `tile=8x128`").options
        ('tile',)
        """
        return options(f"{self.message} {self.hint or ''}")

    def place(self) -> str:
        """`name:line:column`, as far as it is known; columns and lines count from 1."""
        parts = [self.name] if self.name else []
        if self.text is not None and self.span is not None:
            line, column = _line_column(self.text, self.span.start)
            cell, line = in_cell(self.text, self.span.start, line)
            if self.name and "#line " in self.text:
                line, file = _marked(self.text, self.span.start, line)
                parts = [os.path.join(os.path.dirname(self.name), file)] if file else parts
            parts += [f"cell {cell}"] * bool(cell) + [str(line), str(column)] if (self.name or "\n" in self.text) else []
        return ":".join(parts)

    def line(self, spelling: str = "python") -> str:
        """The error in one line, for lists and logs."""
        place = one_line(spelled(self.place(), spelling))
        message = _short(one_line(spelled(self.message, spelling)))
        return f"{place}: {message}" if place else message

    def explain(self, spelling: str = "python") -> str:
        """The error with the offending line, a caret under it, and the hint; options as one of `SPELLINGS` has them."""
        out = [self.line(spelling)]
        if self.text is not None and self.span is not None:
            out += _caret(self.text, self.span)
        if self.hint:
            out.append(f"  hint: {_short(one_line(spelled(self.hint, spelling)))}")
        return "\n".join(out)

    def __str__(self) -> str:
        return self.explain()


_E = TypeVar("_E", bound=CuteVizError)
_T = TypeVar("_T")


def _made(kind: type[_E], fields: dict[str, Any]) -> _E:
    return kind(fields.pop("message"), **fields)


_FIELDS = ("message", "text", "span", "hint", "name", "needs")


class NotationError(CuteVizError):
    """Text that is not CuTe notation."""


class AlgebraError(CuteVizError):
    """An operation whose condition the operands do not meet, as CuTe's static_assert would say."""


class UncountedError(AlgebraError):
    """An access of a single element that is not counted on purpose: a compiler may keep it in a register, it is an atomic."""


class FigureError(CuteVizError):
    """An object that cannot be drawn the way that was asked for."""


class UsageError(CuteVizError):
    """Options that cannot be combined, or that do not apply."""


class LimitError(CuteVizError):
    """Input larger than a stated limit; the hint names the option that raises it."""


class InternalError(CuteVizError):
    """A bug in cute-viz that some input has revealed: its message begins with `this is a mistake in cute-viz`."""


class CannotCheck(CuteVizError):
    """A check that needs something this machine lacks (a device, a driver, a compiler)."""


MARK = "# %% cell"  # before each cell of a notebook's code, with its number
_LONG = 600  # characters of a message or a hint that are worth reading
_WINDOW = 100  # characters of the offending line that are worth showing


def _short(words: str) -> str:
    return words if len(words) <= _LONG else f"{words[: _LONG // 2]}…{words[-_LONG // 2 :]}"


def one_line(words: str) -> str:
    r"""Words in one line that no log takes for a command of its own: names of files may hold anything."""
    if not words.isprintable():
        words = "".join(c if c.isprintable() or c == " " else _escaped(c) for c in words)
    return _no_command(words)


def _escaped(char: str) -> str:
    return "�" if "\ud800" <= char <= "\udfff" else char.encode("unicode_escape").decode("ascii")


def _no_command(line: str) -> str:
    """A line that neither GitHub Actions (`::error::` after spaces, `##[error]`) nor Azure Pipelines (`##vso[`) obeys; as long."""
    return re.sub(r"^(\s*):(?=:)", r"\1…", line).replace("##[", "#…[").replace("##vso[", "#…vso[")


def _line_column(text: str, offset: int) -> tuple[int, int]:
    head = text[:offset]
    return head.count("\n") + 1, offset - (head.rfind("\n") + 1) + 1


def line_of(text: str, offset: int) -> tuple[int, str]:
    """The line of a place, and the included file that it is in, as line markers say it; "" of the text's own."""
    return _marked(text, offset, _line_column(text, offset)[0])


def _marked(text: str, offset: int, line: int) -> tuple[int, str]:
    """The line of a place as the marker before it counts, `#line 3 "a.h"`, and the file that it names; else the line and ""."""
    marks = list(re.finditer(r'^#line (\d{1,9}) "([^"\n]*)"\n', text[:offset], re.M))
    if not marks:
        return line, ""
    return int(marks[-1][1]) + text.count("\n", marks[-1].end(), offset), marks[-1][2]


def in_cell(text: str, offset: int, line: int) -> tuple[int, int]:
    """The cell of a notebook's code that a place is in, and the line there; of another text 0, and the line that is given."""
    begin = text.rfind(f"\n{MARK} ", 0, offset + 1) + 1 if text.startswith(MARK) else -1
    if begin < 0:
        return 0, line
    return int(text[begin + len(MARK) : text.find("\n", begin)]), max(1, text.count("\n", begin, offset))


def _caret(text: str, span: Span) -> list[str]:
    """The line that holds the start of the span, and carets under the span."""
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    line = text[begin : end if end >= 0 else len(text)].rstrip("\r")
    column = span.start - begin
    width = max(1, min(span.end, begin + len(line)) - span.start)
    left = max(0, column - _WINDOW // 2)
    shown = line[left : left + _WINDOW]
    prefix, suffix = ("…" if left else ""), ("…" if left + _WINDOW < len(line) else "")
    shown = "".join(c if c.isprintable() else "�" for c in shown)
    shown = shown if prefix else _no_command(shown)
    width = max(1, min(width, _WINDOW - (column - left)))
    return [f"  {prefix}{shown}{suffix}", "  " + " " * (column - left + len(prefix)) + "^" * width]


@contextmanager
def boundary(*expected: type[Exception]) -> Iterator[None]:
    """Around one command, block of a document or call of an extension: whatever is unexpected inside becomes a clean error.

    expected: further exceptions that the caller knows.
    CUTE_VIZ_DEBUG=1 lets it through as it is, with its traceback; the tests run so.
    """
    try:
        yield
    except RecursionError:
        raise LimitError("the input is nested too deeply", hint="name its parts, a line each") from None
    except (MemoryError, SystemError):  # the latter is Python's own, where memory ends within it
        raise LimitError("out of memory", hint="draw or read less at once; `limit=memory=N` allows more bytes") from None
    except ImportError as error:
        if _interrupted(error):
            raise KeyboardInterrupt from None
        if (error.name or "").startswith("cute_viz") or os.environ.get("CUTE_VIZ_DEBUG"):
            raise
        said = next((line for line in str(error.__cause__ or error).splitlines() if line.strip()), type(error).__name__)
        raise CuteVizError(
            f"a library cannot be loaded: {said}", hint="check that it is complete and that there is enough memory"
        ) from None
    except Exception as error:
        if isinstance(error, (CuteVizError, OSError, *expected)):
            raise
        if _interrupted(error):
            raise KeyboardInterrupt from None
        if os.environ.get("CUTE_VIZ_DEBUG"):
            raise
        said = f"this is a mistake in cute-viz, not in the input: {type(error).__name__}: {error}"
        raise InternalError(said, hint="please report it, with the input; CUTE_VIZ_DEBUG=1 shows where it happened") from error


def _interrupted(error: BaseException | None) -> bool:
    """Whether an interrupt is behind an error: what happens to it while a library is imported, that library decides."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def raised_again(value: _T | CuteVizError) -> _T:
    """A value that was worked out before; of one that failed its error, which is raised."""
    if isinstance(value, CuteVizError):
        raise value
    return value


def first_error(values: Iterable[object]) -> CuteVizError | None:
    """The first error among values, which stands for one that could not be read; None where all are known."""
    return next((x for x in values if isinstance(x, CuteVizError)), None)


def raise_first(values: Iterable[object], otherwise: CuteVizError | None = None) -> None:
    """Raises: the first error among values, or another where there is none."""
    if (error := first_error(values) or otherwise) is not None:
        raise error


def did_you_mean(word: str, known: Iterable[str], most: int = 2) -> str:
    """A hint that names the words most like a word that is not known; empty where none is similar."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(word, known, n=most)
    if not near and len(word) > 2:  # a part of one: `mma` of `mma_atom`
        near = [name for name in known if word in re.split("[_-]", name)][:most]
    return f"did you mean {' or '.join(near)}?" if near else ""
