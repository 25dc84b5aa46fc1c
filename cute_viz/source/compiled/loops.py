"""What is around a call in a unit as its compiler has it: loops with their bounds and steps, conditions on their variables."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cute_viz.source.rounds import COMPARED, Gate, Round, step_of, stepped

if TYPE_CHECKING:
    from clang.cindex import Cursor

_STATIC = re.compile(r"(?:const )?cute::C<(-?\d+)>$")
_LEAVING = frozenset(("break", "goto", "return", "throw", "co_return"))
NEVER = "never"
STATEMENTS = frozenset(("FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT", "IF_STMT", "SWITCH_STMT"))
_INTEGER = 1  # CXEval_Int
_DEEP = 12  # expressions in one another


@dataclass(frozen=True, slots=True)
class Around:
    """A loop or a condition around a call.

    word: "" of a loop, whose numbers are where it begins, where it ends and its step, or none; of a condition how the variable
    compares with its number, "?" where that is not read, NEVER where a constant leaves the branch out. wanted: what it must be.
    """

    line: int
    name: str = ""
    word: str = ""
    numbers: tuple[int, ...] = ()
    wanted: bool = True

    def holds(self, name: str, value: int) -> bool | None:
        """Whether a condition on a variable of that name passes with a value, None where that is not known."""
        return COMPARED[self.word](value, self.numbers[0]) is self.wanted if name and self.word in COMPARED else None

    def read(self, file: str) -> Round | Gate:
        """What it is for the one that counts rounds. file: that it is in."""
        if self.word:
            return Gate((self.name,), self.holds)
        values = range(*self.numbers) if self.numbers else None
        return Round(self.line, file, self.name, None if values is None else len(values), values)


def within(here: Cursor, around: tuple[Around, ...]) -> Iterator[tuple[Cursor, tuple[Around, ...]]]:
    """The parts of a statement of `STATEMENTS`, each with what is around it."""
    parts, kind, line = list(here.get_children()), here.kind.name, int(here.location.line)
    if kind in ("FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT"):
        inner = (*around, _loop(line, parts) if kind == "FOR_STMT" and len(parts) == 4 else Around(line))
        yield from ((part, inner) for part in parts)
    elif kind == "IF_STMT" and parts:
        plain = len(parts) <= 3 and parts[0].kind.is_expression()
        found = _condition(line, parts[0]) if plain else (Around(line, "", "?"),) * 2
        yield parts[0], around
        for n, part in enumerate(parts[1:]):
            side = found[min(n, 1)] if plain else found[0]
            yield part, around if side is None else (*around, side)
    else:  # a switch
        yield from ((part, (*around, Around(line, "", "?"))) for part in parts)


def _loop(line: int, parts: list[Cursor]) -> Around:
    """`for (int k = 0; k < N; ++k)`, whose body neither leaves it nor changes its variable."""
    begin, test, step, body = parts
    declared = [child for child in begin.get_children() if child.kind.name == "VAR_DECL"]
    if len(declared) != 1:
        return Around(line)
    name, words = str(declared[0].spelling), _words(test)
    inside = _words(body)
    changed = any(
        word == name and {*inside[max(0, n - 1) : n], *inside[n + 1 : n + 2]} & {"=", "++", "--", "+=", "-=", "*=", "/=", "&"}
        for n, word in enumerate(inside)
    )
    if words[:1] != [name] or words[1] not in COMPARED or changed or _LEAVING & set(inside):
        return Around(line, name)
    first = [child for child in declared[0].get_children() if child.kind.is_expression()]
    word = next((word for word in _words(step) if word in ("++", "--") or word.endswith("=")), "")
    by = step_of(word, _value(_right(step)) if word.endswith("=") else None)
    values = stepped(_value(first[-1]) if first else None, words[1], _value(_right(test)), by)
    return Around(line, name, "", (values.start, values.stop, values.step) if isinstance(values, range) else ())


def _condition(line: int, test: Cursor) -> tuple[Around | None, Around | None]:
    """What the branches of a condition stand for; None for one that a constant takes."""
    words = _words(test)
    if (constant := _value(test)) is not None:
        never = Around(line, "", NEVER)
        return (None, never) if constant else (never, None)
    if len(words) > 2 and words[1] in COMPARED and not {"&&", "||", "?", ","} & set(words):
        number = _value(_right(test))
        if number is not None:
            return Around(line, words[0], words[1], (number,)), Around(line, words[0], words[1], (number,), False)
    return Around(line, "", "?"), Around(line, "", "?")


def _words(cursor: Cursor) -> list[str]:
    return [str(token.spelling) for token in cursor.get_tokens()]


def _right(cursor: Cursor) -> Cursor | None:
    """The right operand of an operator, be it a function."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(inner := list(cursor.get_children())) == 1:
        cursor = inner[0]
    parts = (
        [arg for arg in cursor.get_arguments() if arg is not None]
        if cursor.kind.name == "CALL_EXPR"
        else list(cursor.get_children())
    )
    return parts[1] if len(parts) == 2 else None


def _value(cursor: Cursor | None, deep: int = 0) -> int | None:
    """The integer that an expression is: by its type, or as a constant of the language."""
    if cursor is None or deep > _DEEP:
        return None
    if (found := _STATIC.match(str(cursor.type.get_canonical().spelling))) is not None:
        return int(found[1])
    parts = list(cursor.get_children())
    if cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR", "CALL_EXPR", "MEMBER_REF_EXPR") and len(parts) == 1:
        return _value(parts[0], deep + 1)
    words = _words(cursor)
    if cursor.kind.name == "BINARY_OPERATOR" and len(parts) == 2:
        word = words[len(_words(parts[0]))] if len(words) > len(_words(parts[0])) else ""
        left, right = _value(parts[0], deep + 1), _value(parts[1], deep + 1)
        if left is not None and right is not None and word in ("+", "-", "*"):
            return left + right if word == "+" else left - right if word == "-" else left * right
    return _evaluated(cursor)


def _evaluated(cursor: Cursor) -> int | None:
    from clang.cindex import Cursor as Kind
    from clang.cindex import conf

    lib: Any = conf.lib
    lib.clang_Cursor_Evaluate.argtypes, lib.clang_Cursor_Evaluate.restype = [Kind], ctypes.c_void_p
    result = ctypes.c_void_p(lib.clang_Cursor_Evaluate(cursor))
    if not result.value:
        return None
    lib.clang_EvalResult_getAsLongLong.restype = ctypes.c_longlong
    number = int(lib.clang_EvalResult_getAsLongLong(result)) if lib.clang_EvalResult_getKind(result) == _INTEGER else None
    lib.clang_EvalResult_dispose(result)
    return number
