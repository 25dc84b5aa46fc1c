"""What a file defines: its entries, each with its scope, name and line, evaluated when it is asked for; and how one is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cute_viz.errors import NotationError, Span, did_you_mean

if TYPE_CHECKING:
    from cute_viz.notation.reading import Resolver

_QUERY = re.compile(r"(?P<path>[^@]*)(?:@(?P<line>\d+))?")
_MANY = 12  # names that an error lists


@dataclass(frozen=True, slots=True)
class Given:
    """What a file is read with.

    let: values for names, as text (`128`, `half_t`, `(128,128,64)`, `GMMA::Layout_K_SW128_Atom<half_t>`) or as values; the reader
        reads a text in its own language, where it is used. They win over what the source binds. resolve: the atom of a name and
        its template arguments, or None. used: the reader adds the names of `let` that anything asked for.

    >>> Given({"N": "128"}).let["N"]
    '128'
    """

    let: Mapping[str, Any] = field(default_factory=dict)
    resolve: Resolver | None = None
    used: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Entry:
    """One definition of a file.

    scope: the namespaces, classes and functions around it, outermost first; the empty name of an unnamed one is left out.
    span: of the name in the text. line: counts from 1. read: the value, or a CuteVizError with the first cause and its place; an
        error for want of a value names it in `needs`. A reader evaluates once and remembers.

    >>> Entry("sA", ("gemm_tn",), Span(5, 7), 1, lambda: 4).path
    'gemm_tn::sA'
    """

    name: str
    scope: tuple[str, ...]
    span: Span
    line: int
    read: Callable[[], Any]

    @property
    def path(self) -> str:
        """`scope::name`."""
        return "::".join((*self.scope, self.name))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its text, and its entries in the order of their definition.

    A name that a scope defines several times has an entry for each; the names of parameters of functions and templates are
    no entries. asked: the entry of a query that no entry is, such as a member of a template with arguments, or None.
    """

    text: str
    entries: tuple[Entry, ...]
    asked: Callable[[str], Entry | None] | None = field(default=None, compare=False)

    def find(self, query: str) -> Entry:
        """The one entry that a query means: a name behind as much of its scope as makes it clear, `A::b` or `A.b`; also `b@LINE`.

        Raises: NotationError where there is none, with those like it, or several, with their scopes and lines.

        >>> def entry(name, *scope, line=1):
        ...     return Entry(name, scope, Span(0, 1), line, lambda: 0)
        >>> file = SourceFile("", (entry("sA", "f", line=3), entry("sA", "g", "h", line=9)))
        >>> file.find("g::h::sA").line, file.find("h.sA").line, file.find("sA@3").scope
        (9, 9, ('f',))
        >>> file.find("sA")
        Traceback (most recent call last):
        cute_viz.errors.NotationError: 'sA' is defined 2 times
          hint: f::sA (line 3), g::h::sA (line 9)
        """
        found = matching(self.entries, query)
        if not found and self.asked is not None and (entry := self.asked(query)) is not None:
            return entry
        if len(found) == 1:
            return found[0]
        if found:
            where = ", ".join(f"{entry.path} (line {entry.line})" for entry in found[:_MANY])
            rest = f" and {len(found) - _MANY} more" if len(found) > _MANY else ""
            same = len({entry.path for entry in found}) < len(found)
            raise NotationError(
                f"{query!r} is defined {len(found)} times",
                hint=where + rest + (f"; a line makes it clear: `name={query.split('@')[0]}@{found[-1].line}`" if same else ""),
            )
        name = _parts(query.split("@")[0])[-1]
        paths = {entry.name: entry.path for entry in self.entries}
        near = did_you_mean(name, paths) or ("there is " + ", ".join(list(paths)[:_MANY]) if paths else "")
        raise NotationError(f"nothing here is named {query!r}", hint=near or None)


def matching(entries: Iterable[Entry], query: str) -> list[Entry]:
    """The entries that a query may mean, of which a full path wins over a tail.

    Template arguments of a scope tell specialisations apart; without them a scope is the one that has none, or else any of them.

    >>> def entry(name, *scope):
    ...     return Entry(name, scope, Span(0, 1), 1, lambda: 0)
    >>> both = [entry("A", "T<half_t, layout::RowMajor>"), entry("A", "T<float, layout::RowMajor>")]
    >>> [len(matching(both, query)) for query in ("T<float,layout::RowMajor>::A", "T::A", "A", "b")]
    [1, 2, 2, 0]
    """
    match = _QUERY.fullmatch(query)
    if match is None:
        return []
    parts = _parts(match["path"])
    line = int(match["line"]) if match["line"] is not None else None
    found = [
        (how, entry)
        for entry in entries
        if (line is None or entry.line == line) and (how := _fits((*entry.scope, entry.name), parts)) is not None
    ]
    best = min((how for how, _ in found), default=0)
    return [entry for how, entry in found if how == best]


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


def _parts(path: str) -> tuple[str, ...]:
    """The parts of `A::b` or `A.b`, whose template arguments may have `::` in them.

    >>> _parts("A<layout::RowMajor, 4>::b"), _parts("Kernel.call.sA")
    (('A<layout::RowMajor,4>', 'b'), ('Kernel', 'call', 'sA'))
    """
    text, out, depth, begin = "".join(path.split()), [], 0, 0
    for n, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if depth == 0 and char in ".:":
            if n > begin:
                out.append(text[begin:n])
            begin = n + 1
    return (*out, text[begin:])
