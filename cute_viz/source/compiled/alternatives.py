"""Alternatives in a unit as its compiler has it: which condition, and whether all threads of a block find it alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from cute_viz.source.compiled.meaning import Reached, UnitMeaning
from cute_viz.source.compiled.unit import Around, Node
from cute_viz.source.moves import ALWAYS, COMPUTED, NO, ROUND, Alternative, Gate, Round

_ALIKE = frozenset(("blockIdx", "blockDim", "gridDim"))  # in all threads of a block

Lines = Callable[[str], tuple[str, ...]]  # of a file


def read(meaning: UnitMeaning, frame: Reached, around: Iterable[Around], file: str, shown: str, lines: Lines) -> list[Round | Gate]:
    """The loops and conditions around a call for the one that counts rounds. file: that they are in; shown: its name for a user."""
    names = frozenset(one.name for one in around if not one.word)

    def choice(one: Around) -> Alternative:
        agreed = _agree(meaning, frame, one.test, names, lines)
        group = {NO: "", ROUND: f"{file}:{one.line}", ALWAYS: f"{frame.number} {one.text}"}[agreed]
        return Alternative(one.text, one.branch, one.line, shown, group, one.behind)

    def loop(one: Around) -> Round:
        values = range(*one.numbers) if one.numbers else None
        return Round(one.line, shown, one.name, None if values is None else len(values), values)

    return [Gate((one.name,), one.holds, partial(choice, one), one.behind) if one.word else loop(one) for one in around]


def _agree(meaning: UnitMeaning, frame: Reached, test: tuple[Node, ...], loops: frozenset[str], lines: Lines) -> int:
    """Whether the threads of a block find the same values for expressions, by all that these are made of."""
    out, todo, seen = ALWAYS if test else NO, [(frame, node) for node in test], set[tuple[int, Node]]()
    while todo and out != NO:
        where, node = todo.pop()
        if (where.number, node) in seen:
            continue
        seen.add((where.number, node))
        todo += [(where, part) for part in node.parts if part.type]
        if node.kind == "ref":
            out = min(out, _named(meaning, where, node, loops, lines, todo))
        elif node.kind == "call":
            out = min(out, ALWAYS if node.text in COMPUTED or node.text.startswith("operator") else NO)
        elif node.type.endswith("*") or (node.kind == "" and node.text and not node.parts):
            out = NO  # a member of the object that a function is called on
    return out


def _named(
    meaning: UnitMeaning, frame: Reached, node: Node, loops: frozenset[str], lines: Lines, todo: list[tuple[Reached, Node]]
) -> int:
    """Of a name: a kernel's parameter, the argument of a call, or what a variable begins with that nothing changes."""
    inner, variable, argument = meaning.declared(frame, node)
    if node.text in _ALIKE or (variable is None and node.type.startswith("const ") and node.text != "threadIdx"):
        return ALWAYS
    if argument is not None and inner.caller is not None:
        todo.append((inner.caller, argument))
        return ALWAYS
    if variable is not None and variable.kind == "param":
        return ALWAYS if meaning.unit.instances[inner.number].kernel else NO
    if variable is None or variable.init is None:
        return NO
    step = "" if node.text in loops else r"|(?:\+\+|--|&)\s*NAME\b|\bNAME\s*(?:\+\+|--)"
    change = re.compile((r"\bNAME\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)" + step).replace("NAME", node.text))
    rows = enumerate(lines(variable.file), 1)
    if not variable.type.startswith("const ") and any(change.search(row) for n, row in rows if n != variable.line):
        return NO
    todo.append((inner, variable.init))
    return ROUND
