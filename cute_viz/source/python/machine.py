"""The state of a reading: names by scope with a journal that a branch undoes or joins, what definitions came to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cute_viz.algebra.common import Operation
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.limits import Budget, limit, over, raised_by
from cute_viz.source.model import Given
from cute_viz.source.moves import Alternative
from cute_viz.source.python.tree import NOTHING, Lets, Tree
from cute_viz.source.python.values import Attributes, Lost, PyClass, Symbol, alike, either, same
from cute_viz.values.integer import Unknown

_MISSING = object()
Changes = dict[tuple[int, str], tuple[dict[str, Any], Any]]


def inherited(names: dict[str, object], name: str) -> object:
    """What a name is, of an object that lacks it what its class says, or _MISSING."""
    if name in names or not isinstance(names, Attributes):
        return names.get(name, _MISSING)
    found = names.inherited(name)
    return _MISSING if found is None else found


class Journal:
    """The journal of all writes."""

    def __init__(self) -> None:
        self.journal: list[tuple[dict[str, Any], str, Any]] = []

    def write(self, names: dict[str, object], name: str, value: object) -> None:
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

    def since(self, mark: int, place: int, changes: Changes) -> Changes:
        """What a way that began at a later place has changed since a mark: what was written before it began, too."""
        behind, now = self.before(place), self.changes(mark)
        written = {(id(names), name) for names, name, _ in self.journal[mark:place]} & now.keys()
        return {key: (now[key][0], behind.get(key, now[key][1])) for key in written} | changes

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
        """Write what branches that all began here have changed; where they differ, what `unknown` gives for the name. A name
        that only some of them bind, and that had no value before, keeps its value: where it is used it was bound."""
        keys = {key: entry[0] for changes in branches for key, entry in changes.items()}
        for key, names in keys.items():
            name = key[1]
            values = [changes[key][1] if key in changes else inherited(names, name) for changes in branches]
            values = [value for value in values if value is not _MISSING]
            self.write(names, name, either(values, unknown(name).error))


RUNS = 5  # so many times the limit are the nodes that are evaluated in all runs of a file
OUTSIDE = 8  # a part of the limit: the nodes of all files that it imports
DEPTH = 24  # calls in calls
MOVES = 256  # operands that are kept of one call


@dataclass(slots=True, eq=False)
class Frame:
    """The names of one call of a function, or of the module.

    scope: the names of classes and functions around it. returned: what `return` gave, on the ways that may be taken.
    pending: where a way may have ended: the journal's place, and what that way had changed.
    begun: parameters with a given value; after `x = f(x)` the new value counts. tree: of the module's frame, its text.
    outside: where the names of `global` and `nonlocal` are. inside: of a comprehension the function that it is in.
    """

    names: dict[str, Any]
    parent: Frame | None = None
    scope: tuple[str, ...] = ()
    node: ast.AST | None = None
    owner: PyClass | None = None
    local: frozenset[str] = frozenset()
    returned: list[Any] = field(default_factory=list)
    pending: list[tuple[int, Changes]] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    tree: Tree | None = None
    outside: dict[str, Frame] = field(default_factory=dict)
    inside: Frame | None = None


@dataclass(slots=True, eq=False)
class Rounds:
    """A loop that is being followed: its line, its file, and how many rounds it has, None where that is not known."""

    line: int
    file: str
    count: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """The operands of a call that copies or multiplies tensors. path: where the functions around it are called, outermost first.

    loops: those around it within its kernel, with the number of the round, None where one round stands for all. sure: no
    condition that is not known decides whether it runs. kernel: its name and the line that calls it. choices: as of an Often.
    """

    path: tuple[tuple[str, int], ...]
    args: tuple[Any, ...]
    loops: tuple[tuple[Rounds, int | None], ...] = ()
    sure: bool = True
    kernel: tuple[str, int] | None = None
    choices: tuple[Alternative, ...] = ()


class Parts(NamedTuple):
    """What the machine is made of: the meaning of expressions, of statements and of calls."""

    value: Callable[[Machine, ast.expr, Frame], Any]
    block: Callable[[Machine, list[ast.stmt], Frame], str]
    call: Callable[[Machine, Any, list[Any], dict[str, Any], ast.expr], Any]
    attribute: Callable[[Machine, Any, str, ast.expr], Any]
    convert: Callable[[Machine, Any], Any]
    outside: Callable[[Machine, Symbol], Any]


class Machine:
    """What is known while a text is read."""

    def __init__(self, tree: Tree, given: Given, parts: Parts) -> None:
        self.tree, self.given, self.parts = tree, given, parts
        self.main = tree  # while a function of another file is followed, `tree` is that file's
        self.lets = Lets(given, tree.module)
        self.store = Journal()
        self.module = Frame({}, tree=tree)
        self.others: dict[str, Frame | None] = {}  # of other files, by their paths: the names of their modules
        self.records: dict[int, list[Any]] = {}  # of the target of an assignment: the values that it was given
        self.told: dict[int, Operation] = {}  # of a call or a subscript: the operation that it was, with its operands
        self.dead: dict[int, CuteVizError] = {}  # of a statement that does not run: why
        self.ends: dict[tuple[int, str], list[Any]] = {}  # of a function and a name: its values when calls of it ended
        self.calls: dict[int, int] = {}  # of a function: how often it was called
        self.steps = self.steps_outside = self.spent = 0
        self.most = limit("steps") // 2
        self.budget = Budget()
        self.depth = 0
        self.loops = 0  # loops around that are not followed round by round
        self.splits = 0  # ways around of which it is not known whether they are taken
        self.pasted: Callable[[str, ast.AST], Any] | None = None  # of a text outside of a file: what a name is that it lacks
        self.warnings: list[str] | None = None  # where what is not as it seems is kept
        self.scripted = False  # the file is followed as a script
        self.arguments: dict[str, tuple[Any, int]] = {}  # of a script: its values as it is run, and where it names them
        self.kernel: tuple[str, int] | None = None  # that is followed: its name, and the line that calls it
        self.outside = 0  # of these, those around the kernel
        self.choices: tuple[Alternative, ...] = ()  # of the ways around, within the kernel, those that a condition decides
        self.around: tuple[tuple[Rounds, int | None], ...] = ()  # loops around, within the kernel, and which round it is
        self.made_calls: list[list[Any]] = []  # for each call that was kept the list that it is the last of
        self.active: dict[int, int] = {}  # of a function that is being followed: the ways around its latest call
        self.quiet = 0  # where nothing is recorded
        self.left: list[int] = []  # places of the journal where a round of a loop may have ended
        self.thrown: list[Changes] = []  # what ways had changed that may have raised an error
        self.stored: dict[int, set[str]] = {}  # of a function: the names that it binds
        self.path: tuple[tuple[str, int], ...] = ()  # of the function that is followed: where it is called, and where that is
        self.scope: tuple[str, ...] = ()  # its own

    def fail(self, message: str, node: object, hint: str | None = None, needs: tuple[str, ...] = ()) -> NotationError:
        """An error at the place of a node; the caller raises it."""
        name = self.tree.name or None
        return NotationError(message, text=self.tree.text, span=self.tree.span(node), hint=hint, name=name, needs=needs)

    def unknown(self, message: str, node: object, hint: str | None = None, needs: tuple[str, ...] = (), path: str = "") -> Lost:
        """A value that cannot be known, for a reason at a node."""
        return Lost(self.fail(message, node, hint, needs), path)

    def staged(self, node: object, written: str, bits: int = 32) -> Unknown:
        """An integer that only a run knows, named as it is asked for."""
        return Unknown("?{i64}" if bits == 64 else "?", self.tree.text, self.tree.span(node), written, plain=True)

    def step(self, node: object) -> None:
        """Count one node; a text that takes too long is an error."""
        self.steps += 1
        if self.tree is not self.main and not self.tree.ours:
            self.steps_outside += 1
            if self.steps_outside > limit("steps") // OUTSIDE:
                raise self.fail("the files that this one imports take too long to follow to here", node)
        if self.steps > self.most:
            hint = f"give the values that are needed: `let=`; {raised_by('steps')} allows more steps"
            raise self.fail("following this file up to here takes too long", node, hint=hint)

    def made(self, size: int, node: object) -> None:
        """Count the bytes of a text or a list before it is made."""
        self.budget.made(size, self.tree.text, self.tree.span(node))

    def restart(self) -> None:
        """Count the steps of another run, as far as those of all runs allow it."""
        self.spent += self.steps
        self.steps, self.most = 0, min(limit("steps") // 2, RUNS * limit("steps") - self.spent)

    def value(self, node: ast.expr, frame: Frame) -> Any:
        """The value of an expression, known or not; an error has its place."""
        self.step(node)
        try:
            return self.parts.value(self, node, frame)
        except CuteVizError as error:
            if error.span is None:
                error = error.at(self.tree.text, self.tree.span(node)).named(self.tree.name)
            raise error from None

    def attempt(self, node: ast.expr, frame: Frame) -> object:
        """The value of an expression; what cannot be read is unknown."""
        try:
            return self.value(node, frame)
        except CuteVizError as error:
            return Lost(error)

    def known(self, node: ast.expr, frame: Frame) -> Any:
        """The value of an expression, which must be known."""
        return need(self.value(node, frame))

    def let(self, name: str, frame: Frame, *, binds: str = "", asked: bool = False) -> Any:
        """The value that was given for a name, or NOTHING.

        binds: where the name is bound to a value that is known, "local" or "parameter": then what was given without a scope
            counts only if it can mean nothing else. asked: it is a parameter that has no value, in whichever file.
        """
        if not self.lets.by_last or self.tree.ours:
            return NOTHING
        found = self.lets.find(name, frame.scope)
        if found is NOTHING:
            return NOTHING
        text, key = found
        if binds and key == name and self.lets.means_another(name, binds):
            return NOTHING
        another = key == name and key in self.lets.here and not asked and not name.startswith("self.")
        if self.tree is not self.main and another:
            return NOTHING  # in another file it is another name
        self.given.used.add(key)
        if key not in self.lets.read:
            self.lets.read[key] = self.parts.convert(self, text)
        return self.lets.read[key]

    def record(self, target: ast.AST, value: object) -> None:
        """Keep the value that an assignment gave its target."""
        if self.quiet:
            return
        values = self.records.setdefault(id(target), [])
        if len(values) < 2 and not any(alike(value, one) for one in values):
            values.append(value)

    def moved(self, node: ast.AST, args: list[object]) -> None:
        """Keep the operands of a call that copies or multiplies tensors, of every round and way."""
        values = self.records.setdefault(id(node), [])
        if not self.quiet and len(values) < MOVES:
            values.append(Called(self.path, tuple(args), self.around, self.splits == self.outside, self.kernel, self.choices))
            self.made_calls.append(values)

    def unmoved(self, mark: int) -> None:
        """Forget the operands that were kept since there were `mark` calls: other rounds stand for them."""
        while len(self.made_calls) > mark:
            self.made_calls.pop().pop()

    def end(self, function: ast.AST, names: dict[str, object], prefix: str = "") -> None:
        """Keep the values that names have when a call of a function ends."""
        if self.quiet:
            return
        for name, value in names.items():
            values = self.ends.setdefault((id(function), prefix + name), [])
            if len(values) < 2 and not any(alike(value, one) for one in values):
                values.append(value)

    def bound(self, value: object, node: object) -> None:
        """Refuse a tuple of too many entries, those in its entries counted: names that are used twice, again and again."""
        most, count, todo = 4 * limit("modes"), 0, [value]
        while todo:
            item = todo.pop()
            if isinstance(item, (tuple, list)):
                count += len(item)
                todo += item
            if count > most:
                raise over("modes", "too many entries in one tuple", most=most, text=self.tree.text, span=self.span(node))

    def span(self, node: object) -> Span:
        """The place of a node in the text."""
        return self.tree.span(node)


def need(value: object) -> Any:
    """A value that must be known, with all that is in it: the error of the first that is not is raised."""
    if isinstance(value, Lost):
        raise value.error
    if isinstance(value, tuple) and type(value) is tuple:
        for item in value:
            need(item)
    return value


def need_whole(value: object) -> object:
    """A value that must be known itself, whatever is in it."""
    if isinstance(value, Lost):
        raise value.error
    return value
