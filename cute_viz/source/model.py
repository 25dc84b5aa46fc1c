"""What a file defines: its entries, each with its scope, name and line, evaluated when it is asked for; and how one is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cute_viz.errors import CuteVizError, NotationError, Span, did_you_mean
from cute_viz.records import dataclass
from cute_viz.source.address import Query, path_parts, query_of
from cute_viz.source.moves import Launch, Move

if TYPE_CHECKING:
    from cute_viz.algebra.common import Operation
    from cute_viz.notation import Notation
    from cute_viz.notation.syntax import Resolver

_MANY = 12  # names that an error lists


@dataclass(frozen=True, slots=True)
class Given:
    """What a file is read with.

    let: values for names, as text (`128`, `half_t`, `(128,128,64)`, `GMMA::Layout_K_SW128_Atom<half_t>`) or as values; the reader
        reads a text in its own language, where it is used. They win over what the source binds. resolve: the atom of a name and
        its template arguments, or None. used: the reader adds the names of `let` that anything asked for. beside: for the dotted
        name of a Python module, and the file that imports it, the path and the text of that module's file, or None. notes: the
        reader adds what it took for granted where a value depends on it. launch: the launch that is meant, by its number or a part
        of its name; "" for all. watch: a context in which work of that name takes seconds. files: the paths that were read, by the
        names that line markers and errors have for those that the text includes.
    """

    let: Mapping[str, Any] = field(default_factory=dict)
    resolve: Resolver | None = None
    used: set[str] = field(default_factory=set)
    beside: Callable[[str, str], tuple[str, str] | None] | None = None
    notes: dict[str, None] = field(default_factory=dict, compare=False)
    files: dict[str, str] = field(default_factory=dict, compare=False)
    launch: str = ""
    watch: Callable[[str], AbstractContextManager[Any]] = field(default=nullcontext, compare=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One definition of a file.

    scope: the namespaces, classes and functions around it, outermost first; the empty name of an unnamed one is left out.
    span: of the name in the text. line: counts from 1. read: the value, or a CuteVizError with the first cause and its place; an
        error for want of a value names it in `needs`. A reader evaluates once and remembers.
    operations: gives the operation that it is, with its operands, behind those whose result that slices; none of anything else.
    text: the expression that it is defined by, or the statement, of one without a name; "" where the reader does not say.
    likely: its words are those of layouts, copies or MMAs, so that a value for what it needs may give something to draw.
    depends: of one in branches of the preprocessor that nothing decides, the names that would.
    cell: of a notebook, in which its lines count; 0 in another text. file: the included file that it is in, "" else.
    end: where names are bound anew, the value that the name has at the end of its scope, whichever definition that is.

    tensor: once it was read, the tensor that the value is the layout of, or None.
    """

    name: str
    scope: tuple[str, ...]
    span: Span
    line: int
    read: Callable[[], Any]
    end: Callable[[], Any] | None = None
    likely: bool = True
    operations: Callable[[], tuple[Operation, ...]] = tuple
    text: str = ""
    depends: tuple[str, ...] = ()
    cell: int = 0
    file: str = ""
    tensor: Callable[[], Any] | None = field(default=None, compare=False)

    @property
    def path(self) -> str:
        """`scope::name`."""
        return "::".join((*self.scope, self.name))

    @property
    def place(self) -> str:
        """Its line, in a notebook `cell:line`, in an included file `file:line`."""
        return f"{self.cell or self.file}:{self.line}" if self.cell or self.file else str(self.line)


class Asked(NamedTuple):
    """A name that needs a value: its type as the file writes it, the values that it has elsewhere in the file, one that its name
    and type suggest, "" where nothing does, and the line of its declaration.
    """

    name: str
    type: str
    candidates: tuple[str, ...]
    like: str
    line: int

    @property
    def trial(self) -> str:
        """The first value that stands in the file, or one that is likely; "" without one."""
        return self.candidates[0] if self.candidates else self.like


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its text, its entries in the order of their definition, and the language, of `source.LANGUAGES`.

    A name that a scope defines several times has an entry for each; the names of parameters of functions and templates are
    no entries. asked: the entry of a query that no entry is, such as a member of a template with arguments, or None. moves: gives
    the statements that copy or multiply tensors, in the order of the text. statements: gives definitions and calls of operations
    without a name, the last one first. given: what it was read with, and what the reader adds to that as far as entries were read.
    compiled: whether a compiler read it, with the files that it includes. launches: the kernels that it launches. written: of one
    that a compiler read the same file as it is written, where its definitions have places. again: reads it with other texts for
    it, "", and for files that it includes. asks: what it says of names that
    need a value, and of the types that functions of some names take.
    """

    text: str
    entries: Sequence[Entry]
    language: str = ""
    asked: Callable[[str], Entry | None] | None = field(default=None, compare=False)
    moves: Callable[[], tuple[Move, ...]] = field(default=tuple, compare=False)
    statements: Callable[[], Iterator[Entry]] = field(default=lambda: iter(()), compare=False)
    given: Given = field(default_factory=Given, compare=False)
    compiled: bool = False
    launches: Callable[[], tuple[Launch, ...]] = field(default=tuple, compare=False)
    written: Callable[[], SourceFile] | None = field(default=None, compare=False)
    again: Callable[[Mapping[str, str]], SourceFile] | None = field(default=None, compare=False)
    asks: Callable[[Iterable[str], Iterable[str]], list[Asked]] | None = field(default=None, compare=False)

    @property
    def own(self) -> tuple[Entry, ...]:
        """The entries that stand in the file itself, and not in one that it includes."""
        return tuple(entry for entry in self.entries if not entry.file)

    def within(self, query: str) -> SourceFile:
        """The file with those entries of its own that a query means, or that stand in the scope of that name. Raises: as `find`,
        where there are none."""
        asked = query_of(query)
        found = [entry for entry in self.own if asked is not None and not asked.slices and _is_in(entry, asked)]
        return replace(self, entries=tuple(found) if found else (self.find(query),))

    def find(self, query: str) -> Entry:
        """The one entry that a query means: a name behind as much of its scope as makes it clear, `A::b` or `A.b`. Also
        `b@LINE`, in a notebook `b@CELL:LINE`, and a slice of it, `b(_,_,0)` or `b[None,None,0]`, whose names are those of the
        file. The file itself goes before what it includes. In C++ a line without a definition of the name, on which it stands,
        gives what it means there: a parameter as its kernel is launched. Of overloaded function templates, where the scope is
        given, the most special one, as a call would choose it; that which has the template parameters among the names of
        `given.let`, where they tell. Raises: NotationError where there is none, with those like it, or several, with their
        scopes and lines."""
        query = query.removeprefix("#")  # as IR spells the name of an attribute
        found = matching(self.own, query) or matching(self.entries, query)
        if len(found) > 1 and len(path_parts(query)) > 1:
            found = _most_special(found, self.given.let)
        if not found and self.asked is not None and (entry := self.asked(query)) is not None:
            return entry
        if len(found) == 1:
            return found[0]
        if found and (last := _last(found, query)) is not None:
            return last
        asked = query_of(query)
        if not found and asked is not None and asked.slices:
            whole = self.find(query.strip()[: -len(asked.slices)])
            return replace(
                whole,
                name=whole.name + asked.slices,
                read=lambda: _sliced(self, whole, asked.slices),
                end=None,
                operations=lambda: (*whole.operations(), *_slice_of(self, whole, asked.slices).calls()),
            )
        if found:
            same = len({entry.path for entry in found}) < len(found)
            line = f"; a line makes it clear: `name={query.split('@')[0]}@{found[-1].place}`" if same else ""
            raise NotationError(f"{query!r} is defined {len(found)} times", hint=_places(found) + line)
        name = asked.parts[-1] if asked is not None else query
        if others := matching(self.entries, name):
            raise NotationError(f"nothing here is named {query!r}", hint=f"the file has {_places(others)}")
        if any(name in entry.path.split("::")[:-1] for entry in self.entries):
            raise NotationError(
                f"{query!r} is a scope, not an object", hint=f"example: `name={name}::NAME`; `cute-viz list` has them"
            )
        paths = {entry.name: entry.path for entry in self.entries}
        near = did_you_mean(name, paths) or ("the file has " + ", ".join(list(paths)[:_MANY]) if paths else "")
        raise NotationError(f"nothing here is named {query!r}", hint=near or None)


def _places(entries: list[Entry]) -> str:
    """Where entries are: their scopes and lines, of many the first."""
    rest = f" and {len(entries) - _MANY} more" if len(entries) > _MANY else ""
    return ", ".join(f"{entry.path} (line {entry.place})" for entry in entries[:_MANY]) + rest


def _sliced(file: SourceFile, entry: Entry, slices: str) -> Any:
    """A slice of an entry's value, whose names are those of the file, or were given. Raises: the entry's own error; what is
    wrong with the slice."""
    sliced = _slice_of(file, entry, slices)
    try:
        return sliced.document().pick()
    except CuteVizError as error:
        place = error.span and Span(max(0, error.span.start - 2), max(1, error.span.end - 2))
        raise error.but(text=slices, span=place, name=entry.path) from None


def _slice_of(file: SourceFile, entry: Entry, slices: str) -> Notation:
    """A slice in notation, with what its names stand for."""
    from cute_viz.notation import Notation, parse
    from cute_viz.notation.syntax import Passage

    names = {"it": entry.read()}
    for name in dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", slices)):
        if name in file.given.let:
            file.given.used.add(name)
            value = file.given.let[name]
            names[name] = parse(value, resolve=file.given.resolve) if isinstance(value, str) else value
        elif len(found := matching(file.entries, name)) == 1:
            names[name] = found[0].read()
    text = f"it{slices}".replace("[", "(").replace("]", ")").replace("None", "_")
    return Notation(Passage(text, names, resolve=file.given.resolve))


def matching(entries: Iterable[Entry], query: str) -> list[Entry]:
    """The entries that a query may mean, of which a full path wins over a tail. Template arguments of a scope distinguish
    specialisations; without them a scope is the one that has none, or else any of them."""
    asked = query_of(query)
    if asked is None or asked.slices:
        return []
    found = [
        (how, entry)
        for entry in entries
        if (asked.line is None or asked.line in (entry.place, str(entry.line)))
        and (how := _fits(path_parts(entry.path), asked.parts)) is not None
    ]
    best = min((how for how, _ in found), default=0)
    return [entry for how, entry in found if how == best]


def _is_in(entry: Entry, asked: Query) -> bool:
    """Whether an entry, or a scope around it, is what was asked for."""
    path, many = path_parts(entry.path), len(asked.parts)
    windows = (path[n : n + many] for n in range(len(path) - many + 1))
    named = any(all(x in (own, own.partition("<")[0]) for own, x in zip(window, asked.parts, strict=True)) for window in windows)
    return named and asked.line in (None, entry.place, str(entry.line))


def _fits(path: tuple[str, ...], parts: tuple[str, ...]) -> int | None:
    """How well a path is what was asked for: 0 all of it, 1 its tail, 2 and 3 less the template arguments; None where it is not."""
    tail = path[-len(parts) :]
    if len(tail) < len(parts) or tail[-1] != parts[-1]:
        return None
    plain = tuple("".join(part.split()) for part in tail)
    whole = len(path) == len(parts)
    if plain == parts:
        return 0 if whole else 1
    bare = all(
        own == other or ("<" not in other and own.partition("<")[0] == other) for own, other in zip(plain, parts, strict=True)
    )
    return (2 if whole else 3) if bare else None


def _most_special(found: list[Entry], let: Collection[str]) -> list[Entry]:
    """Of entries of overloaded function templates those whose template parameters are among those of every other."""
    lists = [{word.strip() for part in entry.scope for word in part.partition("<")[2].rstrip(">").split(",")} for entry in found]
    told = set(let).intersection(*[set().union(*lists)])
    kept = [(entry, mine) for entry, mine in zip(found, lists, strict=True) if told <= mine]
    best = [entry for entry, mine in kept if mine - {""} and all(mine <= other for _, other in kept)]
    return best if len({entry.path for entry in best}) == 1 else found


def _last(found: list[Entry], query: str) -> Entry | None:
    """Of definitions that bind one name of one scope anew, where the scope is given: the name at the end of it."""
    last = found[-1]
    same = all(entry.path == last.path for entry in found) and len(path_parts(query)) > len(path_parts(last.name))
    return replace(last, read=last.end, end=None) if same and last.end is not None and "@" not in query else None
