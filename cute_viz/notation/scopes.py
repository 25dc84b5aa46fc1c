"""Which value a name has where it is: scopes, branches that may not be taken, and what changes a name without an assignment.

Source is parsed top to bottom, each statement once. A name whose value depends on the way the program takes is lost: using it is an
error, as any value would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.notation.syntax import Statement
from cute_viz.values.examples import hint_for

CONTROL = ("if", "else", "for", "while", "do", "switch", "case", "try", "catch")
_CHANGED = re.compile(r"(?:\+\+|--|>>|(?<!&)&(?!&))\s*([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")


class Failed:
    """The value of a name whose statement failed, or that was lost: using it raises the error."""

    __slots__ = ("error",)

    def __init__(self, error: CuteVizError) -> None:
        self.error = error


class _Frame:
    """The names of one scope: their values, and in which region each was bound here."""

    __slots__ = ("bound", "names", "scope")

    def __init__(self, scope: tuple[int, ...], names: dict[str, Any]) -> None:
        self.scope, self.names = scope, names
        self.bound: dict[str, tuple[int, ...]] = {}


class Scopes:
    """The names that each statement sees, in the order of the statements.

    >>> from cute_viz.errors import Span
    >>> scopes, at = Scopes({}), Span(0, 1)
    >>> one, other = Statement("x", None, at), Statement("x", None, at)
    >>> other.region = (1,)  # a branch
    >>> scopes.bind(one, 8), scopes.bind(other, 4), scopes.names["x"]
    (True, False, 8)
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._frames = [_Frame((), dict(names))]

    @property
    def names(self) -> dict[str, Any]:
        """The names where the last statement stands."""
        return self._frames[-1].names

    def enter(self, scope: tuple[int, ...]) -> None:
        """Go to the scope of a statement; of the scopes that are left only `self.x` and the like stay."""
        while self._frames[-1].scope != scope[: len(self._frames[-1].scope)]:
            left = self._frames.pop()
            for name in left.bound:
                if "." in name:
                    self.names[name] = left.names[name]
                    self._frames[-1].bound[name] = ()
        while len(self._frames[-1].scope) < len(scope):
            depth = len(self._frames[-1].scope) + 1
            self._frames.append(_Frame(scope[:depth], dict(self.names)))

    def bind(self, statement: Statement, value: Any) -> bool:
        """Give the statement's name a value; False where another may have been bound before, and which one holds is unknown."""
        assert statement.name is not None
        owner = self._owner(statement)
        region = statement.region
        if owner is not None and owner.bound[statement.name][: len(region)] != region:
            return False
        frame = owner or self._frames[-1]
        for inner in self._frames[self._frames.index(frame) :]:
            inner.names[statement.name] = value
        frame.bound[statement.name] = region
        return True

    def is_bound(self, name: str) -> bool:
        """Whether the text has bound a name that is seen here; those that were given from outside do not count."""
        return any(name in frame.bound for frame in self._frames)

    def hide(self, name: str, error: CuteVizError) -> None:
        """In this scope the name is another one, without a value."""
        self.names[name] = Failed(error)

    def lose(self, name: str, error: CuteVizError) -> None:
        """From here on using the name is an error, in all scopes that see it."""
        last = len(self._frames) - 1
        first = next((n for n in range(last, -1, -1) if name in self._frames[n].bound), last)
        for frame in self._frames[first:]:
            frame.names[name] = Failed(error)
        self._frames[first].bound.setdefault(name, ())

    def _owner(self, statement: Statement) -> _Frame | None:
        """The frame that has the name already: the own one, or of an assignment without a type the nearest around."""
        frames = self._frames[-1:] if statement.declares else self._frames[::-1]
        return next((frame for frame in frames if statement.name in frame.bound), None)


def changed(text: str) -> set[str]:
    """The names that a statement which cannot be read may change.

    >>> sorted(changed("x *= 2")), sorted(changed("read(&a, b)")), sorted(changed("if (a && b == c)"))
    (['x'], ['a'], [])
    """
    return {name for match in _CHANGED.finditer(text) for name in match.groups() if name}


def parameter(name: str, text: str, span: Span) -> NotationError:
    """The error of a name that is a parameter, whatever it was outside.

    >>> parameter("M", "void f(int M) {", Span(14, 15)).message
    "'M' is a parameter here"
    """
    return NotationError(f"{name!r} is a parameter here", text=text, span=span, hint=hint_for(name, default="512"))


def depends(name: str, text: str, span: Span) -> NotationError:
    """The error of a name whose value depends on the way that the program takes.

    >>> depends("x", "x = 4", Span(0, 5)).message
    "the value of 'x' depends on control flow"
    """
    message = f"the value of {name!r} depends on control flow"
    return NotationError(message, text=text, span=span, hint="give the statements that are meant, without the others")


def unread(name: str, text: str, span: Span) -> NotationError:
    """The error of a name that is changed by what cannot be read.

    >>> unread("x", "x++;", Span(0, 4)).message
    "'x' is modified here by code that cannot be evaluated"
    """
    message = f"{name!r} is modified here by code that cannot be evaluated"
    return NotationError(message, text=text, span=span, hint=f"write {name} = ... instead")
