"""The CuTe types in any text, as compilers, demanglers and profilers write them: the layouts, copies and MMAs of each kernel."""

from __future__ import annotations

import re
from functools import cached_property, partial
from typing import Any

from cute_viz.algebra.inttuple import leaves
from cute_viz.errors import CuteVizError, NotationError, Span, raised_again
from cute_viz.limits import limit, over
from cute_viz.source.cpp.shown import printed
from cute_viz.source.cpp.spelled import Spelled
from cute_viz.source.model import Entry, Given, SourceFile
from cute_viz.source.type_scan import FoundType, scan
from cute_viz.values.types import named

_FREE = re.compile(r"(?<![\w:])[A-Za-z]\w*(?!\w|\s?<|::|\)\s*-?\d)")
_KNOWN = re.compile(
    r"int|long|unsigned|short|char|bool|const|void|float|double|true|false|u?int\d+_t|size_t|Underscore|LayoutLeft|LayoutRight"
    r"|smem_ptr_flag|SM\d+_\w+|MMA_\d\w+|DefaultCopy|[uU]?[lL]{0,2}"
)


def read(text: str, given: Given) -> SourceFile:
    r"""The CuTe types of a text, each an entry: of a kernel's template argument `kernel::arg5`, of a parameter `kernel::param0`,
    of `[with T = ...]` in a compiler's message `T`; arguments and parameters count from 0. Types of templates in the arguments
    of a kernel have these as their scope: `kernel::CollectiveMma::arg3`. In a symbol table the functions of CuTe itself and of
    the standard library are passed over, unless there are no others. An integer that only runs know needs `let=?=...`. Nothing
    is evaluated before it is asked for. Raises: LimitError for a text or a number of types over the limits; NotationError where
    all names are mangled."""
    if len(text) > limit("log"):
        raise over("log", f"the text has {len(text)} characters")
    reader = _TypesReader(text, given)
    entries = reader.entries(library=False) or reader.entries(library=True)
    return SourceFile(text, tuple(entries))


class _TypesReader:
    """A text and its values, each evaluated once."""

    def __init__(self, text: str, given: Given) -> None:
        self.text, self.given = text, given
        self.values: dict[str, Any] = {}

    def entries(self, library: bool) -> list[Entry]:
        """The types of the text; what one name is in several lines alike is one entry."""
        most = limit("types")
        out: list[Entry] = []
        seen: set[tuple[tuple[str, ...], str, str]] = set()
        line = 1
        at = 0
        for found in scan(self.text, library):
            key = (found.scope, found.name, "" if found.mangled else self.text[found.start : found.end])
            if key in seen or not self.closed(found, key[2]):
                continue
            seen.add(key)
            if len(out) >= most:
                raise over("types", f"the text has more than {most} types of CuTe")
            line += self.text.count("\n", at, found.start) if found.start >= at else -self.text.count("\n", found.start, at)
            at = found.start
            out.append(Entry(found.name, found.scope, Span(found.start, found.end), line, partial(self.value, found)))
        return out

    def closed(self, found: FoundType, inside: str) -> bool:
        """Whether a type has no parameters of templates in it but those whose types its line gives."""
        if "..." in inside and found.whole:
            return False
        bound = found.line.bindings
        return all(word in bound or _KNOWN.fullmatch(word) or named(word) for word in set(_FREE.findall(inside)))

    def value(self, found: FoundType) -> Any:
        """The value of a type. Raises: CuteVizError at its place."""
        span = Span(found.start, found.end)
        if found.mangled:
            raise NotationError(
                "this name is mangled",
                text=self.text,
                span=Span(found.start, min(found.end, found.start + 80)),
                hint="demangle it first: `nm -C --no-recurse-limit` or `c++filt -r` (long names need the flag), or cu++filt",
            )
        if not found.whole:
            raise NotationError(
                "this type is cut off", text=self.text, span=span, hint="print it whole; profilers have an option for it"
            )
        inside = self.text[found.start : found.end]
        key = inside if not found.line.bindings else ""
        if key not in self.values:
            self.values[key] = self.evaluated(found)
        return raised_again(self.values[key] if key else self.values.pop(key))

    def evaluated(self, found: FoundType) -> Any:
        """The value of a type, or its error."""
        try:
            value = self.spelled.value(found.start, found.end, found.line.bindings)
        except CuteVizError as error:
            return error.at(self.text, Span(found.start, found.end))
        if self.spelled.count and "?" in self.given.let:
            self.given.used.add("?")
        return printed(value)

    @cached_property
    def spelled(self) -> Spelled:
        """What reads the types."""
        return Spelled(self.text, self.given.resolve, numbers(self.given.let["?"]) if "?" in self.given.let else None)


def numbers(value: Any) -> list[int]:
    """What was given for run-time values: a number, several, or their text."""
    if isinstance(value, str):
        from cute_viz.notation import parse

        value = parse(value)
    numbers = list(leaves(value))
    if not numbers or not all(isinstance(n, int) for n in numbers):
        raise NotationError(
            "a run-time value is an integer", hint="give a number: `let=?=512`; for several, in their order: `let=?=(512,64)`"
        )
    return numbers
