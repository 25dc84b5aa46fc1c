"""Names and their values, with a journal: what a branch changed can be looked at, undone, and joined with another branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.source.python.values import Attributes, either, same

_MISSING = object()
Changes = dict[tuple[int, str], tuple[dict[str, Any], Any]]


def inherited(names: dict[str, Any], name: str) -> Any:
    """What a name is, of an object that lacks it what its class says, or _MISSING."""
    if name in names or not isinstance(names, Attributes):
        return names.get(name, _MISSING)
    found = names.inherited(name)
    return _MISSING if found is None else found


class Journal:
    """The journal of all writes.

    >>> store, names = Journal(), {"a": 4}
    >>> mark = store.mark()
    >>> store.write(names, "a", 8)
    >>> changes = store.undo(mark)
    >>> names["a"], [value for _, value in changes.values()]
    (4, [8])
    """

    def __init__(self) -> None:
        self.journal: list[tuple[dict[str, Any], str, Any]] = []

    def write(self, names: dict[str, Any], name: str, value: Any) -> None:
        """Bind a name."""
        self.journal.append((names, name, names.get(name, _MISSING)))
        names[name] = value

    def mark(self) -> int:
        """A place to which one can go back."""
        return len(self.journal)

    def changes(self, mark: int) -> Changes:
        """What was written since a mark, with the values now."""
        return {(id(names), name): (names, names.get(name)) for names, name, _ in self.journal[mark:] if name in names}

    def before(self, mark: int) -> dict[tuple[int, str], Any]:
        """The values that the names written since a mark had before; those that had none are left out."""
        out: dict[tuple[int, str], Any] = {}
        for names, name, old in reversed(self.journal[mark:]):
            if old is _MISSING and isinstance(names, Attributes):
                old = _MISSING if (found := names.inherited(name)) is None else found
            if old is _MISSING:
                out.pop((id(names), name), None)
            else:
                out[id(names), name] = old
        return out

    def undo(self, mark: int) -> Changes:
        """Go back to a mark; what was changed since."""
        out = self.changes(mark)
        while len(self.journal) > mark:
            names, name, old = self.journal.pop()
            if old is _MISSING:
                names.pop(name, None)
            else:
                names[name] = old
        return out

    def lose(self, changes: Changes, unknown: Callable[[str], Any]) -> None:
        """What may have been written as `changes` say, or not: it is not known from here on, unless it is the same."""
        for (_, name), (names, value) in changes.items():
            if name not in names or not same(names[name], value):
                self.write(names, name, unknown(name))

    def join(self, branches: list[Changes], unknown: Callable[[str], Any]) -> None:
        """Write what branches that all began here have changed; where they differ, what `unknown` gives for the name. A name that
        only some of them bind, and that had no value before, keeps its value: where it is used it was bound.
        """
        keys = {key: entry[0] for changes in branches for key, entry in changes.items()}
        for key, names in keys.items():
            name = key[1]
            values = [changes[key][1] if key in changes else inherited(names, name) for changes in branches]
            values = [value for value in values if value is not _MISSING]
            self.write(names, name, either(values, unknown(name).error))
