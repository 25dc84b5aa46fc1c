"""The last value that a local variable is given where a program runs without arguments: what reads them changes nothing."""

from __future__ import annotations

from collections.abc import Callable

from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.lookup import loop_around
from cute_viz.source.cpp.scopes import Change, Declaration, Range, Scope

_READERS = frozenset(("sscanf", "scanf", "cin"))  # what reads a number from outside
_ARGUMENTS = frozenset(("argc", "argv"))


def settled(
    context: Context, declaration: Declaration, position: int, user: Scope, holds: Callable[[Range], bool | None]
) -> Range | None:
    """The tokens of the value that a variable has at a place; None where it changes in a way that is not read, such as in a loop.
    user: the block of the place. holds: whether a condition holds, None where that is not known.
    """
    reader = context.reader
    last = declaration.init
    for change in declaration.scope.home.changes.get(declaration.name, ()):
        if change.within:
            continue
        loop = loop_around(change.scope, declaration.scope)
        again = loop is not None and user.inside(loop)  # what comes behind the place was before it, the time before
        if not declaration.token < change.token or not change.scope.inside(declaration.scope):
            continue
        if change.token >= position and not again:
            continue
        taken = _taken(reader, change.scope, declaration.scope, holds)
        if taken is False or _reads(reader, change):
            continue
        if taken is None or change.value is None:
            return None
        last = change.value
    return last


def _taken(reader: Declarer, scope: Scope, outer: Scope, holds: Callable[[Range], bool | None]) -> bool | None:
    """Whether a program without arguments comes through the blocks between two scopes; None where that is not known."""
    out: bool | None = True
    around: Scope | None = scope
    while around is not outer and around is not None:
        parent = around.parent
        if around.flow == "if" and parent is not None:
            test = next(((x.value, x.yes is around) for x in parent.statements if around in (x.yes, x.no)), None)
            if test is None or test[0] is None:
                return None
            if any(token.text in _ARGUMENTS for token in reader.tokens[slice(*test[0])]):
                return False
            found = holds(test[0])
            if found is not None and found is not test[1]:
                return False
            out = out if found is not None else None
        elif around.flow or around.kind != "block":
            out = None
        around = parent
    return out


def _reads(reader: Declarer, change: Change) -> bool:
    at = change.token
    while at > 0 and reader.tokens[at - 1].kind not in (";", "{", "}"):
        at -= 1
    return any(token.text in _READERS for token in reader.tokens[at : change.token])
