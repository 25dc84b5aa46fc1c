"""What is around a call in a unit as its compiler has it: loops with their bounds and steps, conditions on their variables."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.source.compiled.clang_cursors import node
from cute_viz.source.compiled.unit import NEVER, Around, CallSite
from cute_viz.source.moves import COMPARED, step_of, stepped

if TYPE_CHECKING:
    from clang.cindex import Cursor

_STATIC = re.compile(r"(?:const )?cute::C<(-?\d+)>$")
_LEAVING = frozenset(("break", "goto", "return", "throw", "co_return"))
STATEMENTS = frozenset(
    ("FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT", "IF_STMT", "SWITCH_STMT", "COMPOUND_STMT", "CONDITIONAL_OPERATOR")
)
_LABELS = ("CASE_STMT", "DEFAULT_STMT")
_LEFT = ("BREAK_STMT", "RETURN_STMT", "CONTINUE_STMT")
_INTEGER = 1  # CXEval_Int
_MOST = 6  # ways of a call
_DEEP = 12  # expressions in one another


def within(here: Cursor, around: tuple[Around, ...]) -> Iterator[tuple[Cursor, tuple[Around, ...]]]:
    """The parts of a statement of `STATEMENTS`, each with what is around it."""
    parts, kind, line = list(here.get_children()), here.kind.name, int(here.location.line)
    if kind in ("FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT"):
        inner = (*around, _loop(line, parts) if kind == "FOR_STMT" and len(parts) == 4 else Around(line))
        yield from ((part, inner) for part in parts)
    elif kind in ("IF_STMT", "CONDITIONAL_OPERATOR") and parts:
        plain = len(parts) <= 3 and parts[0].kind.is_expression()
        found = _condition(line, parts[0]) if plain else (Around(line, "", "?", text="this", branch="if"),) * 2
        yield parts[0], around
        for n, part in enumerate(parts[1:]):
            side = found[min(n, 1)] if plain else found[0]
            yield part, around if side is None else (*around, side)
    elif kind == "SWITCH_STMT" and len(parts) == 2:
        yield parts[0], around
        one = Around(line, "", "?", text=_spelled(parts[0]), test=(node(parts[0]),))
        yield from ((part, (*around, replace(one, branch=branch))) for part, branch in _cases(parts[1]))
    elif kind == "SWITCH_STMT":
        yield from ((part, (*around, Around(line, "", "?", text="this", branch="case"))) for part in parts)
    else:
        for part in parts:
            yield part, around
            inside = list(part.get_children()) if part.kind.name == "IF_STMT" else []
            if len(inside) == 2 and inside[0].kind.is_expression() and _last(inside[1]) in ("RETURN_STMT", "CONTINUE_STMT"):
                left = _condition(int(part.location.line), inside[0])[1]
                around = around if left is None else (*around, replace(left, behind=left.word != NEVER))


def ways(here: Cursor, site: CallSite) -> Iterator[CallSite]:
    """A call as each side of an operand `a ? b : c` makes it, with the condition of that side around it."""
    sites = [site]
    for n, arg in enumerate(reversed([arg for arg in here.get_arguments() if arg is not None][-len(site.args) :]), 1):
        arg = _bare(arg)
        if arg.kind.name == "CONDITIONAL_OPERATOR" and len(sites) < _MOST:
            sides = [(node(side), around) for side, around in list(within(arg, ()))[1:]]
            sites = [
                replace(one, args=(*one.args[:-n], side, *one.args[len(one.args) - n + 1 :]), around=(*one.around, *around))
                for one in sites
                for side, around in sides
            ]
    yield from sites


def _cases(body: Cursor) -> Iterator[tuple[Cursor, str]]:
    """The statements of a switch, each with its cases: several where one falls through into the next."""
    chains: list[tuple[list[str], list[Cursor]]] = []
    leaves = True
    for part in body.get_children():
        if leaves or not chains:
            chains.append(([], []))
        while part.kind.name in _LABELS:
            *label, part = part.get_children()
            chains[-1][0].append(_spelled(label[0]) if label else "default")
        chains[-1][1].append(part)
        leaves = _last(part) in _LEFT
    for labels, parts in chains:
        yield from ((part, "default" if labels == ["default"] else f"case {', '.join(labels)}") for part in parts)


def _last(body: Cursor) -> str:
    """The kind of the last statement of a body."""
    parts = list(body.get_children()) if body.kind.name == "COMPOUND_STMT" else [body]
    return str(parts[-1].kind.name) if parts else ""


def _spelled(cursor: Cursor) -> str:
    """An expression as it is written, in one line."""
    text = re.sub(r" ?(::|\.|->) ?", r"\1", " ".join(_words(cursor)))
    return re.sub(r"(?<=[(!\[~]) | (?=[)\[\],])|(?<=\w) (?=\()", "", text)


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
    yes = Around(line, "", "?", text=_spelled(test), branch="if", test=(node(test),))
    if len(words) > 2 and words[1] in COMPARED and not {"&&", "||", "?", ","} & set(words):
        number = _value(_right(test))
        if number is not None:
            yes = replace(yes, name=words[0], word=words[1], numbers=(number,))
    return yes, replace(yes, wanted=False, branch="else")


def _words(cursor: Cursor) -> list[str]:
    return [str(token.spelling) for token in cursor.get_tokens()]


def _bare(cursor: Cursor) -> Cursor:
    """An expression without the parentheses and implicit conversions around it."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(inner := list(cursor.get_children())) == 1:
        cursor = inner[0]
    return cursor


def _right(cursor: Cursor) -> Cursor | None:
    """The right operand of an operator, be it a function."""
    cursor = _bare(cursor)
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
