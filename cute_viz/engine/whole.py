"""A text that is a whole file -> its entries, the one that is meant, and the list of all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, has_origin
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import is_tiling, mark_static, unknowns
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import CuteVizError, FigureError, NotationError, boundary
from cute_viz.notation.values import is_drawable
from cute_viz.records import dataclass
from cute_viz.values.integer import Unknown

if TYPE_CHECKING:
    from cute_viz.algebra.copy import Copy_Atom
    from cute_viz.source.model import Entry, SourceFile

_LONG = 60  # characters of the arguments of a kernel
_HARDWARE = {"tma": "TMA copy", "descriptor": "descriptor", "instruction": "instruction descriptor", "tmem": "tensor memory"}


@dataclass(frozen=True, slots=True)
class Row:
    """What the list of a file says of one entry.

    kind: such as `layout`, `TiledMMA`, `integer`, `launch 1`; "" of what could not be read. value: as CuTe prints it. brief: the
    same in one line, of an atom or a tiling its name, threads and tile. needs: the names whose values are missing,
        of what prints `?` too.
    error: why it could not be read, in one line. likely: there may be something to draw, once its needs are given.
    depends: the macros without a value that decide whether it is compiled. cell: of a notebook, in which its lines count. file: the
    included file that it is in, "" else. caller: of a launch, the function that it is in.
    """

    line: int
    path: str
    kind: str = ""
    value: str = ""
    brief: str = ""
    needs: tuple[str, ...] = ()
    error: str = ""
    likely: bool = True
    depends: tuple[str, ...] = ()
    cell: int = 0
    file: str = ""
    caller: str = ""

    @property
    def place(self) -> str:
        """Its line, in a notebook `cell:line`, in an included file `file:line`."""
        before = f"{self.file}:" if self.file else f"{self.cell}:" if self.cell else ""
        return f"{before}{self.line}"

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        scope, _, name = self.path.rpartition("::")
        value = self.value or None
        return {
            "name": name,
            "scope": scope,
            "path": self.path,
            "line": self.line,
            **({"cell": self.cell} if self.cell else {}),
            **({"file": self.file} if self.file else {}),
            **({"caller": self.caller} if self.caller else {}),
            "kind": self.kind or None,
            "value": value,
            "brief": self.brief or None,
            "needs": list(self.needs),
            "depends": list(self.depends),
            "error": self.error or None,
        }


def rows(file: SourceFile) -> list[Row]:
    """A row for each launch of a kernel, then for each entry, in the order of their definition; all are evaluated."""
    launched, launches = [], file.launches()
    for n, launch in enumerate(launches, 1):
        short = str(launch).replace(launch.args, "...") if len(launch.args) > _LONG else str(launch)
        path = "::".join(launch.kernel)
        several = len({one.caller for one in launches if one.kernel == launch.kernel}) > 1
        brief = short.removeprefix(path).strip() + (f", launched by {launch.caller}" if several and launch.caller else "")
        launched.append(Row(launch.line, path, f"launch {n}", str(launch), brief, file=launch.file, caller=launch.caller))
    callers = {(launch.kernel[-1], launch.caller): None for launch in launches if launch.caller}
    for entry in file.entries if file.compiled else file.own:
        row = _row(entry, file.language)
        by = list(_by_launch(file, entry, [name for kernel, name in callers if kernel in entry.scope])) if row.error else []
        launched += by or [row]
    return launched


def _by_launch(file: SourceFile, entry: Entry, callers: list[str]) -> Iterator[Row]:
    """An entry of a kernel as each function has it that launches it, by the path that names one of them."""
    asked = file.asked
    for caller in callers if asked is not None else ():
        with suppress(CuteVizError):
            if asked is not None and (found := asked(f"{caller}::{entry.scope[-1]}::{entry.name}")) is not None:
                row = _row(replace(found, scope=(caller, *entry.scope)), file.language)
                if not row.error:
                    yield row


def values(file: SourceFile) -> dict[str, Any]:
    """What can be read of a file, by its paths."""
    return {entry.path: value for entry, value in _readable(file.own)}


def drawable(file: SourceFile, errors: list[CuteVizError] | None = None) -> list[tuple[Entry, object]]:
    """The entries that can be drawn, with their values; the errors of those that cannot be read go into the list."""
    return [(entry, value) for entry, value in _readable(file.own, errors) if is_drawable(value)]


def wanted(errors: list[CuteVizError]) -> CuteVizError | None:
    """What is to be given for definitions that could not be read, the names that most of them need first; None if nothing is."""
    needs = Counter(name for error in errors for name in error.needs[:1])
    if not needs:
        return None
    most = [name for name, _ in needs.most_common(6)]
    shown = []
    for name in most:
        found = (re.search(rf"`let={re.escape(name)}=[^`]+`", error.hint or "") for error in errors)
        shown += [one[0] for one in found if one][:1]
    names = ", ".join(f"{name} ({needs[name]})" for name in most) + (", ..." if len(needs) > len(most) else "")
    count = needs.total()
    message = f"{count} definitions need values: {names}" if count > 1 else f"1 definition needs a value: {names}"
    return FigureError(message, hint=f"example: {' '.join(shown)}" if shown else "give them: `let=`")


def _readable(entries: Iterable[Entry], errors: list[CuteVizError] | None = None) -> Iterator[tuple[Entry, Any]]:
    """The entries that can be read, with their values; the errors of the others go into the list."""
    for entry in entries:
        try:
            yield entry, value_of(entry)
        except CuteVizError as error:
            if errors is not None:
                errors.append(error)


def meant(file: SourceFile, query: str | None) -> tuple[Entry, object]:
    """The entry of a name, with its value; without one the last that can be drawn, of those that have most to show. A tiling or
    a layout wins over a shape, and what has every number over what prints `?`. Raises: NotationError where nothing, or several
    things, have the name, or nothing can be read; the entry's own error."""
    if query is not None:
        entry = file.find(query)
        return entry, value_of(entry)
    errors: list[CuteVizError] = []
    best: tuple[Entry, Any] | None = None
    for entry, value in _readable(reversed(file.own), errors):
        if best is None or _worth(value) > _worth(best[1]):
            best = (entry, value)
        if _worth(value) == _MOST_WORTH:
            break
    if best is not None:
        return best
    raise (
        errors[-1] if errors else NotationError("no layout, copy or MMA in this file", hint="'cute-viz list' shows what it defines")
    )


_MOST_WORTH = 3


def _worth(value: object) -> int:
    """How much there is to see in a value: 0 of a number, 1 of what needs numbers, 2 of a shape, 3 of a layout or a tiling."""
    if not is_drawable(value):
        return 0
    if next(unknowns(value), None) is not None:
        return 1
    return 2 if isinstance(value, tuple) else _MOST_WORTH


def value_of(entry: Entry) -> object:
    """The value of an entry; whatever is unexpected in it is an error of its own."""
    with boundary():
        return entry.read()


def printed_as(value: Any, language: str) -> str:
    """A value of a file as CuTe prints it, of one of Python as the DSL does; `language` is of `source.LANGUAGES`, or ""."""
    if language != "python":
        if getattr(value, "tiling", "") == "tma":  # print(tma): its instructions, and none of its tensor map
            value = mark_static(value.tiled or value.atom)
        of_tensor = isinstance(value, ComposedLayout) and isinstance(value.offset, PointerFlag) and value.offset.tensor
        return show(value.inner if of_tensor else value).rstrip("\n")  # print(tensor.layout()): the pointer has the swizzle
    from cute_viz.notation.write import show_dsl

    return show_dsl(value)


def kind_of(value: object) -> str:
    """What a value is, in a word or two."""
    match value:
        case bool():
            return "flag"
        case int() | Unknown():
            return "integer"
        case tuple():
            return "shape"
        case ComposedLayout(outer, _, _):
            return "swizzled layout" if isinstance(outer, Swizzle) else "coordinates" if has_origin(value) else "composed layout"
        case Layout():
            return "layout"
        case Swizzle():
            return "swizzle"
    if is_tiling(value):
        return type(value).__name__
    return _HARDWARE.get(getattr(value, "tiling", ""), "type" if type(value).__name__ == "ValueType" else "other")


def _row(entry: Entry, language: str) -> Row:
    row = Row(entry.line, entry.path, depends=entry.depends, cell=entry.cell, file=entry.file)
    try:
        value = value_of(entry)
    except CuteVizError as error:
        brief = _by_caller(entry.path, error.hint or "")
        return replace(row, brief=brief, needs=error.needs, error=error.line("cli"), likely=entry.likely)
    printed = printed_as(value, language)
    needs = tuple(dict.fromkeys(name for x in unknowns(value) for name in x.error().needs if name != "?"))
    return replace(row, kind=kind_of(value), value=printed, brief=in_a_line(value, printed), needs=needs)


def _by_caller(path: str, hint: str) -> str:
    """Where an object without a value of its own has one: in one of the calls that the hint names; "" of any other."""
    found = re.match(r"name the caller: `name=(?P<caller>\w+)::(?P<own>\w+)::NAME`", hint)
    if found is None or f"{found['own']}::" not in path:
        return ""
    return f"differs by caller, for example {found['caller']}::{found['own']}::{path.partition(found['own'] + '::')[2]}"


def in_a_line(value: Any, printed: str) -> str:
    """A value in one line, of an atom or a tiling its name, threads and tile."""
    from cute_viz.algebra.copy import Copy_Atom, ThrCopy, TiledCopy
    from cute_viz.algebra.measure import size
    from cute_viz.algebra.mma import ThrMMA, TiledMMA, tile_shape

    match value:
        case ThrCopy(tiled=whole) | ThrMMA(tiled=whole):
            return f"a thread of {in_a_line(whole, '')}"
        case TiledMMA(atom, thr, _):
            return f"{atom.name or 'an MMA'}, {int(size(thr))} threads, tile {'x'.join(map(str, map(int, tile_shape(value))))}"
        case TiledCopy(atom, _, tiler):
            tile = "x".join(str(int(size(x))) for x in modes(tiler))
            return f"{_named(atom)}, {int(size(value.thr_layout))} threads, tile {tile}"
        case Copy_Atom():
            return _named(value)
    if not is_tiling(value) and (told := _HARDWARE.get(getattr(value, "tiling", ""))):
        return f"{value}, {value.kind}, {value.major}-major, {value.mode}" if told == "descriptor" else str(value)
    name = getattr(value, "name", "")
    return name or " ".join(printed.split())


def _named(atom: Copy_Atom) -> str:
    return f"{atom.name or 'a copy'} of {atom.value_type or f'{atom.bits}-bit values'}"
