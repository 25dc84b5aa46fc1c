"""A unit of CUDA as its compiler has it: its objects and statements, with exact values for each instance, and no value given."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any

from cute_viz import kept
from cute_viz.algebra.common import Operation
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.ops import OPS
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError, LimitError, Span
from cute_viz.files import read_text, regular
from cute_viz.limits import limit, raised
from cute_viz.source.address import Build, Folder
from cute_viz.source.compiled import commands
from cute_viz.source.compiled.alternatives import read as around
from cute_viz.source.compiled.apart import parse
from cute_viz.source.compiled.flags import Flags
from cute_viz.source.compiled.meaning import Reached, UnitMeaning, frames, reached
from cute_viz.source.compiled.unit import NEVER, CallSite, Instance, Node, Unit, unit_from
from cute_viz.source.compiled.values import is_object, unqualified
from cute_viz.source.cpp.shown import printed
from cute_viz.source.model import Entry, Given, SourceFile
from cute_viz.source.moves import Launch, Mistake, Move, Often, chosen, often
from cute_viz.source.opened import opened
from cute_viz.source.type_scan import arguments
from cute_viz.values.instruction import ELEMENTS

_MOST = 2000  # statements of one unit
_TALL = 8  # lines of a statement
APART = 8  # kernels of a unit whose statements have rows of their own, each
_FAR = 40  # lines between the name of a kernel and its launch


def read(text: str, path: str, build: Build, given: Given, others: Mapping[str, str] | None = None) -> SourceFile:
    """The entries and statements of a file as compiled, and of the files that it includes but for CuTe's and the system's. What
    differs between the instances of a function stands in scopes with the template arguments that tell them apart. others: texts
    for files that it includes, by their paths from its folder, that are not those of the disk. Raises: CuteVizError without
    libclang, for a unit that cannot be parsed, and for one of which the compiler makes nothing."""
    name, flags = commands.unit_of(build, path)
    if build.instances is not None:
        flags = replace(flags, instances=commands.instances_of(commands.symbols_of(build.instances, build.root)))
    own = os.path.abspath(path)
    texts = {os.path.join(os.path.dirname(own), key): other for key, other in (others or {}).items()}
    through = os.path.realpath(name) != os.path.realpath(path)
    if through and others is not None:  # a header with edits, in a unit that includes it
        texts[own] = text
    source = read_text(regular(name)) if through else text
    with raised({"seconds": limit("unit-seconds"), "memory": limit("unit-memory")}):  # for the rest of the request: a unit is large
        unit = unit_of(source, name, flags, given, texts)
    if build.root is not None and (other := next((x for x in unit.files if not commands.is_allowed(x, str(build.root))), "")):
        raise CuteVizError(f"this includes {other}, outside of the project", name=path, hint="give the flags yourself: `flags=...`")
    if unit.errors:
        file, line, message = unit.errors[0]
        more = f" (and {len(unit.errors) - 1} more)" if len(unit.errors) > 1 else ""
        given.notes[f"the compiler: {_relative(file, own) or os.path.basename(file)}:{line}: {message}{more}"] = None
    meaning = UnitMeaning(unit, given.resolve, given.notes)
    for call in unit.refused:
        if told := _refusal(call, meaning):
            given.notes[f"{_relative(call.file, own) or os.path.basename(call.file)}:{call.line}: {told}"] = None
    launches = tuple(launches_of(unit, own))
    only = int(chosen(launches, given.launch).key) if given.launch else None
    found = tuple(entries(unit, own, meaning, only))

    if not found and not unit.errors and not through and not path.endswith((".h", ".hpp", ".hxx", ".cuh")):
        plain = opened(text, path, given, folder=Folder(root=build.root), check=False)
        if plain is not None and (plain.entries or plain.moves()):
            given.notes["the compiled file has no CuTe object: it is read as it is written, without the flags' macros"] = None
            return plain
    if not found:
        told = next(iter(given.notes), "a header is read through a unit: `through=UNIT`")
        found_none = "the compiler refuses this file" if unit.errors else "the compiled file has no CuTe object"
        raise CuteVizError(found_none, name=path, hint=told)

    def again(texts: Mapping[str, str]) -> SourceFile:
        other = {name: new for name, new in texts.items() if name}
        return read(texts.get("", text), path, build, replace(given, notes={}), {**(others or {}), **other})

    def written() -> SourceFile:
        plain = replace(given, launch="", used=set(), notes={})
        return opened(text, path, plain, folder=Folder(root=build.root), check=False) or SourceFile(text, ())

    def everything() -> tuple[Move, ...]:
        compiled = (*moves(unit, own, meaning, only),)
        try:
            plain = written()
            return (*_proven(compiled, unit, plain, only, flags), *_elements(unit, plain, only))
        except LimitError as error:
            given.notes[f"accesses of single elements are not counted: {error.message}"] = None
            return compiled

    return SourceFile(
        text,
        found,
        "cpp",
        moves=everything,
        given=given,
        compiled=True,
        launches=lambda: launches,
        written=written,
        again=again,
    )


def _refusal(call: CallSite, meaning: UnitMeaning) -> str:
    """Why CuTe refuses an operation, with its operands; "" of what is not an operation that fails."""
    op = OPS.get(call.name.rpartition("::")[2])
    if op is None:
        return ""
    try:
        values = [meaning.typed(arg.type) for arg in call.args]
    except CuteVizError:
        return ""
    try:
        op.call(values)
    except AlgebraError as error:
        shown = f"{op.name}({', '.join(' '.join(show(value).split()) for value in values)})"
        return error.message if error.message.startswith(f"{shown}:") else f"{shown}: {error.message}"
    return ""


def unit_of(text: str, path: str, flags: Flags, given: Given, others: Mapping[str, str]) -> Unit:
    """The unit of a file, parsed now or kept from before. others: texts for files that it includes."""
    path = os.path.abspath(path)
    unsaved = [part for pair in sorted(others.items()) for part in pair]
    unsaved += Unit.__match_args__  # what is kept has these fields
    key = kept.key_of(path, text, flags.words, flags.arch, flags.instances, kept.machine(), *unsaved)
    if (packed := kept.found(key)) is not None:
        return unit_from(packed)
    with given.watch(f"compiling {os.path.basename(path)}"):
        packed = parse(path, text, flags, others)
    unit = unit_from(packed)
    kept.keep(key, packed, unit.files)
    return unit


def launches_of(unit: Unit, path: str) -> Iterator[Launch]:
    """The instances of kernels, in the order in which the unit names them."""
    places = _launched(unit)
    differing = _differing(one for one in unit.instances if one.kernel)
    rows = [(n, one, places[n][1]) for n, one in enumerate(unit.instances) if one.kernel and n in places]
    for n, one, use in sorted(rows, key=lambda row: (os.path.abspath(row[2].file) != path, row[2].file, row[2].line)):
        lines = _lines(use.file)
        grid, block = _dims(lines, use.line)
        line = use.line if use.line <= len(lines) else next((x.line for x in one.variables), 1)  # a binary names it, no line
        yield Launch(one.scope, _args(one, differing), grid, block, line, _relative(use.file, path), key=n)


def _dims(lines: tuple[str, ...], line: int) -> tuple[str, str]:
    """The grid and the block of the first launch in a line or behind it, as they are written."""
    function = takewhile(lambda text: not text.startswith("}"), lines[line - 1 : line + _FAR])  # the function
    text = "\n".join(function)
    found = re.search(r"<<<(.*?)>>>|\bcudaLaunch(?:Cooperative)?Kernel\s*\((?P<all>.*?)\)\s*;", text, re.S)
    if found is None:
        return "", ""
    inside = found["all"] or found[1]
    parts = arguments(f"<{inside}>") if "<" not in inside else re.split(r",(?![^(<]*[)>])", inside)
    grid, block, *_ = (*(" ".join(part.split()) for part in parts[bool(found["all"]) :]), "", "")
    return grid, block


def entries(unit: Unit, path: str, meaning: UnitMeaning, only: int | None = None) -> Iterator[Entry]:
    """An entry for each name and value, in the order of their places, the file's own first. only: of one kernel, by its number."""
    named: dict[tuple[str, int, tuple[str, ...], str], dict[str, tuple[Instance, Node | None]]] = defaultdict(dict)
    wanted = None if only is None else reached(unit, only)
    for n, instance in enumerate(unit.instances):
        if wanted is not None and n not in wanted:
            continue
        for variable in () if instance.foreign else instance.variables:
            if is_object(variable.type):
                types = named[variable.file, variable.line, instance.scope, variable.name]
                types.setdefault(unqualified(variable.type), (instance, variable.init))
    differing = _differing(unit.instances)
    for key in sorted(named, key=lambda key: (os.path.abspath(key[0]) != path, key)):
        file, line, scope, name = key
        for type_, (instance, begun) in named[key].items():
            args = _args(instance, differing) if len(named[key]) > 1 else ""
            where = (*scope[:-1], f"{scope[-1]}<{args}>") if args else scope
            read, tensor, told = partial(_shown, meaning, type_), partial(_tensor, meaning, type_), partial(_made, meaning, begun)
            yield Entry(name, where, Span(0, 0), line, read, operations=told, file=_relative(file, path), tensor=tensor)


def _shown(meaning: UnitMeaning, type_: str) -> Any:
    """The value of a type, of a tensor its layout, as the text's own reader shows it."""
    return printed(meaning.typed(type_))


def _made(meaning: UnitMeaning, begun: Node | None) -> tuple[Operation, ...]:
    """The operation of the library that a variable begins with, with the values of its operands' types; the compiler's tree has
    no template arguments, so none that may have some."""
    if begun is None or begun.kind != "call" or begun.text not in OPS or OPS[begun.text].templated:
        return ()
    return (Operation(begun.text, tuple([meaning.typed(part.type) for part in begun.parts if part.type])),)


def _tensor(meaning: UnitMeaning, type_: str) -> Tensor | None:
    """The tensor that a type is one of."""
    value = meaning.typed(type_)
    return value if isinstance(value, Tensor) else None


def moves(unit: Unit, path: str, meaning: UnitMeaning, only: int | None = None) -> Iterator[Move]:
    """The statements that copy or multiply, once for each chain of callers and each set of types. only: of one kernel."""
    seen: Counter[Any] = Counter()
    labels = _labels(unit) if only is not None or sum(one.kernel for one in unit.instances) <= APART else {}
    for frame in frames(unit, only):
        instance, launch = unit.instances[frame.number], labels.get(frame.chain[-1].number, "")
        for call in instance.calls:
            if call.name.rpartition("::")[0] != "cute" or any(one.word == NEVER for one in call.around):
                continue
            branches = tuple((one.line, one.branch) for one in call.around if one.branch)
            key = (launch, call.file, call.line, branches, frame.lines(unit), meaning.behind(frame, call))
            seen[key] += 1
            if seen[key] > 1:
                continue
            if len(seen) > _MOST:
                return
            yield replace(
                _move(frame, call, unit, path, meaning, launch), often=partial(_often, meaning, frame, call, path, seen, key)
            )


def _elements(unit: Unit, written: SourceFile, only: int | None) -> Iterator[Move]:
    """Accesses of single elements, which the file as it is written has: each with the launch that reaches it."""
    labels = _labels(unit)
    for move in written.moves():
        mine = _kernels(move, unit, labels)
        if move.name in ELEMENTS and (only is None or only in mine):
            launch = labels[mine.pop()] if len(mine) == 1 else ""
            yield replace(move, launch=launch, call=move.call or launch)


def _kernels(move: Move, unit: Unit, labels: Mapping[int, str]) -> set[int]:
    """The kernels of a statement of the file as it is written."""
    mine = {n for n, label in labels.items() if label == move.call.rpartition(", called in ")[2] != ""}
    return mine or {n for n in labels if unit.instances[n].kernel and unit.instances[n].scope[-1:] == move.scope[-1:]}


def _proven(found: Iterable[Move], unit: Unit, written: SourceFile, only: int | None, flags: Flags) -> Iterator[Move]:
    """Statements, with what the file as it is written proves to be wrong; nothing where the flags define a name of it."""
    labels, proofs = _labels(unit), defaultdict[tuple[str, int, str], list[Move]](list)
    if not any(re.search(rf"\b{name}\b", written.text) for name in flags.macros):
        for move in written.moves():
            if only is None or only in _kernels(move, unit, labels):
                proofs[move.file, move.line, move.name].append(move)
    for move in found:
        wrong = proofs.pop((move.file, move.line, move.name), [])
        yield replace(move, mistakes=partial(_mistakes, wrong)) if wrong else move


def _mistakes(moves: list[Move]) -> list[Mistake]:
    with suppress(LimitError):  # after which nothing more is evaluated, and nothing is proven
        return [one for move in moves for one in move.mistakes()]
    return []


def _often(meaning: UnitMeaning, frame: Reached, call: CallSite, path: str, seen: Counter[Any], key: Any) -> Often:
    """How often a block runs a call that a chain of callers reaches. seen: how many calls have its key."""
    found = often(around(meaning, frame, call.around, call.file, _relative(call.file, path), _lines), seen[key] == 1)
    for inner, (outer, use) in zip(frame.chain, frame.uses(meaning.unit), strict=False):
        sure, where = not outer.foreign and use.name != "lambda", inner.caller or inner
        found = found.within(often(around(meaning, where, use.around, use.file, _relative(use.file, path), _lines), sure))
    return found


def _labels(unit: Unit) -> dict[int, str]:
    """For each kernel, or function that nothing calls, where it is launched, in words that no other has."""
    out: dict[int, str] = {}
    places = _launched(unit)
    for n, instance in enumerate(unit.instances):
        name = instance.scope[-1] if instance.scope else ""
        place = places.get(n) if instance.kernel else None
        label = name if place is None or not place[0].scope else f"{place[0].scope[-1]}, line {place[1].line}"
        out[n] = label if label not in out.values() else f"{label}, instance {n}"
    return out


def _move(frame: Reached, call: CallSite, unit: Unit, path: str, meaning: UnitMeaning, launch: str) -> Move:
    operands = partial(meaning.operands, frame, call)
    instance, lines = unit.instances[frame.number], frame.lines(unit)
    chain = f"{instance.scope[-1]} called in line {lines[0]}" if lines else ""
    where = ", called in ".join(filter(None, (chain, launch)))
    text = ""
    for line in _lines(call.file)[call.line - 1 : call.line + _TALL]:
        text = f"{text} {line.partition('//')[0].strip()}".strip()
        if text.count("(") <= text.count(")"):
            break
    text = text.rstrip(";")
    name, file = call.name.removeprefix("cute::"), _relative(call.file, path)
    read, again = partial(meaning.at, 0, operands), partial(meaning.again, operands)

    def made() -> list[frozenset[tuple[str, int]]]:
        return [frozenset((_relative(place, path), line) for place, line in found) for found in meaning.definitions(frame, call)]

    told: dict[str, Any] = {"again": again, "made": made, "memory": partial(meaning.memory, frame, call)}
    return Move(name, call.line, instance.scope, where, read, text, file=file, launch=launch, **told)


def _lines(file: str) -> tuple[str, ...]:
    try:
        found = os.stat(file)
        return _read(file, found.st_mtime_ns, found.st_size)
    except (CuteVizError, OSError):
        return ()


@lru_cache(maxsize=64)
def _read(file: str, *_when: int) -> tuple[str, ...]:
    """The lines of a file, which may be another one later."""
    return tuple(read_text(regular(file)).splitlines())


def _differing(instances: Iterable[Instance]) -> dict[tuple[str, ...], set[str]]:
    """The names of the template arguments that differ between the instances of each function."""
    seen: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for instance in instances:
        for name, value in instance.args:
            seen[instance.scope][name].add(value)
    return {scope: {name for name, values in names.items() if len(values) > 1} for scope, names in seen.items()}


def _args(instance: Instance, differing: Mapping[tuple[str, ...], set[str]]) -> str:
    """The template arguments that tell an instance of a function from its others."""
    return ",".join(f"{key}={value}" for key, value in instance.args if key in differing.get(instance.scope, set()))


def _launched(unit: Unit) -> dict[int, tuple[Instance, CallSite]]:
    """For each instance that another one uses, the first that does, and where."""
    uses = [(instance, use) for instance in reversed(unit.instances) for use in reversed(instance.uses)]
    return {use.instance: (instance, use) for instance, use in uses}


def _relative(file: str, path: str) -> str:
    """The path of an included file from the folder of the file that is read, "" of that itself."""
    file = os.path.abspath(file)
    if file == path:
        return ""
    try:
        return os.path.relpath(file, os.path.dirname(path))
    except ValueError:  # another drive
        return file
