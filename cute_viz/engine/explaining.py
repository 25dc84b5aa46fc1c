"""A text, or an entry of a file -> its explanation: the steps of the operation that it is, else what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout, as_layout, is_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy
from cute_viz.algebra.descriptor import DescriptorTensor, DescriptorWord
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.static import clear_static, is_tiling, unknowns
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import whole
from cute_viz.analysis.descriptor_steps import descriptors_of
from cute_viz.analysis.explain import explain as steps_of_call
from cute_viz.analysis.explain import steps_of_verdict
from cute_viz.analysis.steps import Step
from cute_viz.analysis.swizzle_steps import NAMES, steps_of
from cute_viz.analysis.verdict import verdict
from cute_viz.engine.explanation import Explanation
from cute_viz.engine.whole import in_a_line, kind_of, meant, value_of
from cute_viz.errors import CuteVizError, NotationError
from cute_viz.notation import is_triton
from cute_viz.source.text import called_last, calls_with, read_calls
from cute_viz.spec import Library
from cute_viz.spelling import count
from cute_viz.values.instruction import MOVES, UNKNOWN
from cute_viz.values.integer import MulticastMask

if TYPE_CHECKING:
    from cute_viz.source.model import Entry, SourceFile


_MOVED = re.compile(r"\b(?:" + "|".join(MOVES) + r")\s*[<(]")  # a text without these moves nothing


def explain(text: str, names: dict[str, object], library: Library, entry: str | None = None) -> Explanation:
    """The steps of the operation that is the last statement of a text, or that the entry is; else what that is. Raises:
    NotationError where it cannot be read, AlgebraError where CuTe refuses it."""
    if is_triton(text):
        from cute_viz.engine.encodings import encoding_steps  # for which alone Triton's readers are loaded

        return Explanation(*encoding_steps(text, library))
    if _MOVED.search(text):
        names = {"threadIdx.x": 0, **names}  # the verdict is that of every thread
    try:
        calls = read_calls(text, names, library.resolve, entry)
    except NotationError as error:  # what was printed has no operations
        try:
            return _explained((), lambda: library.read(text, names).pick(entry), "")
        except CuteVizError:
            raise error from None
    if calls and calls[-1].name in MOVES:
        first, *more = calls[-1].operands
        of_dsl = isinstance(first, ThrCopy) and "cute." in text  # whose view of a thread is a TiledCopy, too
        return _judged(Operation(calls[-1].name, (first.tiled if of_dsl else first, *more), calls[-1].template), "")
    warnings: list[str] = []
    found = _explained(calls, lambda: library.read(text, names, warnings).pick(entry), "")
    return _with_commas(found, warnings)


def _with_commas(found: Explanation, warnings: Iterable[str]) -> Explanation:
    """An explanation that begins with what C++'s comma made of a tuple."""
    commas = [Step(words) for words in warnings if words.endswith("a comma")]
    return replace(found, steps=(*commas, *found.steps))


def explain_entry(file: SourceFile, query: str | None) -> Explanation:
    """The steps of the operation that an entry of a whole file is, of a slice of one, `X(_,0)`, or else what it is. Without a
    query it is the last definition or statement that CuTe has to do with. Raises: the entry's own error."""
    entry, calls = _meant(file, query)
    if calls and calls[-1].name in MOVES:
        return _judged(calls[-1], _where(entry))
    found = _explained(calls, partial(value_of, entry), _where(entry), partial(_parts, file, entry))
    written = "".join(entry.text.split())
    return _with_commas(found, (words for words in file.given.notes if words.partition(" is ")[0] in written))


def _meant(file: SourceFile, query: str | None) -> tuple[Entry, tuple[Operation, ...]]:
    """The entry of a query with its operations; without one the last statement of layouts, copies or MMAs. Raises: where that
    cannot be read, its error."""
    if query is not None:
        entry = file.find(query)
        return entry, _operations(entry, strict=False)
    for entry in file.statements():
        calls = _operations(entry, strict=not entry.name)
        if calls or (entry.name and entry.likely):
            return entry, calls
    entry = meant(file, None)[0]
    return entry, _operations(entry, strict=False)


def _operations(entry: Entry, strict: bool) -> tuple[Operation, ...]:
    """The operations that an entry is; none where an operand is not known, unless that is asked for."""
    try:
        calls = entry.operations()
    except CuteVizError:
        if strict:
            raise
        return ()
    known = {*ops.OPS, *ops.ALIASES, *MOVES}
    return calls if all(call.name in known for call in calls) else ()


def _where(entry: Entry) -> str:
    what = f"{entry.path}, line {entry.place}" if entry.name else f"line {entry.place}"
    return f"{what}: {' '.join(entry.text.split())}" if entry.text else what


def _judged(call: Operation, where: str) -> Explanation:
    """The verdict on a copy or an MMA. Raises: AlgebraError where CuTe refuses it."""
    found = verdict(call.name, list(call.operands), call.template)
    return Explanation(call, tuple(steps_of_verdict(found)), found, where)


def _explained(
    calls: tuple[Operation, ...], read: Callable[[], object], where: str, parts: Callable[[], Iterable[str]] = tuple
) -> Explanation:
    """The explanation of a value that operations gave, of a swizzle or a swizzled layout; of any other what it is. Steps that do
    not end in the value are none of it. parts: what it is made of. Raises: the error of the value, but where a step tells which
    condition of an operation failed."""
    try:
        value = read()
    except CuteVizError:
        found = Explanation(calls[-1], tuple(_told(calls)), where=where) if calls else None
        if found is None or not found.steps or not found.failed:
            raise
        return found
    if isinstance(value, MulticastMask) and value.coord is not None:
        calls = (Operation("create_tma_multicast_mask", (value.cluster, value.coord, *value.modes)),)
    if isinstance(value, DescriptorTensor):
        return Explanation(*descriptors_of(value), where=where)
    steps, plain = _told(calls), whole(value)
    last = whole(steps[-1].value) if steps else None
    if last is not None and (calls[-1].name == "slice" or _parts_of(last) == _parts_of(plain)):  # which has the marks
        steps[-1] = replace(steps[-1], value=plain)
    elif steps:
        of_tensor = isinstance(last, ComposedLayout) and last.inner == plain
        words = "the layout that CuTe prints of it: its pointer has the offset"
        if isinstance(last, ComposedLayout) and isinstance(last.outer, Swizzle) and isinstance(plain, Layout):
            of_tensor = isinstance(last.inner, Layout) and size(last.inner) == size(plain)
            if last.inner != plain:
                words = "the layout that CuTe prints of it: strides that the swizzle changes depend on where it begins"
        steps = [*steps, Step(words, plain)] if of_tensor else []
    of_swizzle = steps_of(plain) if len(steps) < 2 else None
    if of_swizzle is not None:
        return Explanation(plain, (*steps, *of_swizzle), where=where)
    if len(steps) > (1 if where else 0):  # of a definition its parts say more than a summary of the operation
        return Explanation(calls[-1], tuple(steps), where=where)
    return Explanation(plain, _what(value, parts()), where=where)


def _told(calls: tuple[Operation, ...]) -> list[Step]:
    try:
        return [step for call in calls for step in steps_of_call(call.name, list(call.operands), call.template)]
    except CuteVizError:
        return []


def _parts_of(value: Any) -> object:
    moved = isinstance(value, ComposedLayout) and isinstance(value.outer, Layout)
    return (value.offset, value.inner) if moved else value


_LONG, _MOST = 160, 8  # characters of a value among others; parts of a definition that are told


def _what(value: object, parts: Iterable[str]) -> tuple[Step, ...]:
    told = [Step(f"  {part}") for part in parts] or list(_of_atom(value))
    if told and not told[0].words.startswith("  "):
        return (Step(_in_words(value)), *told)
    return (*([Step("it is made of"), *told] if told else []), Step(_in_words(value), value))


_SIDES = {"src": "source", "dst": "destination", "layout_src": "source", "layout_dst": "destination"}
_SIDES |= {f"layout_{x}": x.upper() for x in "abc"}


def _of_atom(value: object) -> Iterator[Step]:
    """What an instruction of the library is in PTX, which memory it reads and writes, and what each thread has of its operands."""
    op = getattr(value, "instruction", None)
    if op is None or not op.name or not isinstance(value, (CopyOp, Copy_Atom, MMA_Atom)):
        return
    if op.ptx:
        yield Step(f"in PTX {op.ptx}")
    if len(op.memory) == 2:
        yield Step(f"it copies from {op.memory[0]} to {op.memory[1]}")
    unit = "bit" if isinstance(value, CopyOp) else "value"
    for name, side in _SIDES.items():
        if (layout := getattr(value, name, None)) is not None:
            threads, each = count(size(layout, 0), "thread"), count(size(layout, 1), unit)
            yield Step(f"{side}: {threads} with {each} each, (thread, {unit})", layout)


def _parts(file: SourceFile, entry: Entry) -> Iterator[str]:
    """The names in the definition of an entry, with their lines and values, as far as the file defines them."""
    for word in list(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", entry.text)))[:_MOST]:
        same = [x for x in file.entries if x.name == word and x is not entry and x.scope == entry.scope[: len(x.scope)]]
        before = [x for x in same if x.span.start < entry.span.start] or same
        if before:
            part = max(before, key=lambda x: (len(x.scope), x.span.start))
            yield f"{word}, line {part.place}, is {_shown(part)}"


def _shown(entry: Entry) -> str:
    try:
        value = value_of(entry)
    except CuteVizError as error:
        return f"not known: {error.message}"
    shown = in_a_line(value, show(value))
    return shown if len(shown) < _LONG else shown.split()[0]


def _in_words(value: object) -> str:
    """A value in words: of a layout which offset a coordinate has."""
    plain = whole(value)
    if not isinstance(plain, Layout) or next(unknowns(plain), None) is not None or is_coordinate_layout(plain):
        return in_a_line(value, kind_of(value))
    if len(modes(plain.shape)) > len(NAMES):
        return f"{plain.size} elements"
    terms = []
    for name, shape, stride in zip(NAMES, modes(plain.shape), modes(plain.stride), strict=False):
        step = "" if stride == 1 else f"{show(clear_static(stride))}*"
        terms.append(f"{show(clear_static(Layout(shape, stride)))}({name})" if isinstance(shape, tuple) else f"{step}{name}")
    return f"{plain.size} elements: ({','.join(NAMES[: len(terms)])}) is at {' + '.join(terms)}"


def move_at_end(text: str) -> bool:
    """Whether the last statement of a text is a copy(...) or gemm(...), which gives no value."""
    return _MOVED.search(text) is not None and called_last(text) in MOVES


def check_moves(text: str, tensor: str, names: dict[str, object], library: Library) -> None:
    """Refuse a text that copies or multiplies a tensor as CuTe does not: it does not compile. What is in a function is not read.
    Raises: AlgebraError with CuTe's condition."""
    names = {"threadIdx.x": 0, **names}
    for call in calls_with(text, tensor, MOVES, names, library.resolve) if _MOVED.search(text) else ():
        verdict(call.name, list(call.operands), call.template)


_MEMORY = ("descriptor", "instruction", "tmem", "tma", "operands")  # by the attribute `tiling`


def facts_of(obj: object, name: str, library: Library) -> dict[str, object]:
    """The facts of an object by their names, in reading order, ready for JSON. Raises: CuteVizError for what is neither a
    layout, a swizzle, an atom nor a tiling."""
    return _own(as_layout(obj), library) | _claims(obj, name, library)


def _own(obj: Any, library: Library) -> dict[str, object]:
    if isinstance(obj, Swizzle):
        unit = "offsets of elements; bytes behind a pointer"
        return {"swizzle": str(obj), "acts on": unit, "reads bits": f"{obj.yyy:#b}", "changes bits": f"{obj.zzz:#b}"}
    if getattr(obj, "tiling", "") in _MEMORY or isinstance(obj, (MulticastMask, DescriptorWord)):
        from cute_viz.analysis.hardware import hardware_facts

        if (known := hardware_facts(obj)) is not None:
            if isinstance(known.get("on hardware"), str):
                from cute_viz.check.digest import told

                known["on hardware"] = told(known["on hardware"], library)
            return known
    if is_layout(obj):
        from cute_viz.analysis.facts import layout_facts

        return layout_facts(obj)
    if getattr(obj, "tiling", "") == "stages":
        return {f"stage {n + 1}": _own(as_layout(part), library) for n, part in enumerate(obj.parts)}
    if is_tiling(obj) or type(obj).__name__ == "CopyOp":
        from cute_viz.analysis.tilings import tiling_facts

        facts = tiling_facts(obj)
        return facts | (library.describe(facts["op"]) if facts.get("op") else {})
    raise CuteVizError(f"{show(obj)} is not a layout", hint="example: (4,8):(8,1)")


def _claims(obj: object, name: str, library: Library) -> dict[str, object]:
    """What a kept report of `cute-viz verify` says of this very mapping."""
    from cute_viz.check import digest

    if words := digest.known(name, library):
        return {"on hardware": words}
    if not any(name in report["agree"] for report in digest.reports(library)):
        return {}
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions

    op = getattr(obj, "instruction", UNKNOWN)
    operand = "".join(x for x in "CA" if not op.described(x)) if op.kind == "wgmma" and op.sparse == 1 else None  # else descriptors
    devices = digest.verified(name, build(obj, FigureOptions(operand=operand, max_cells=1 << 20)), library)
    return {"verified on": devices} if devices else {}


def with_marks(known: dict[str, object]) -> dict[str, object]:
    """The facts, and as "printed" those of them that CuTe prints with marks of static integers."""
    printed = {name: told for name, fact in known.items() if (told := getattr(fact, "printed", fact)) != fact}
    return {**known, "printed": printed} if printed else known
