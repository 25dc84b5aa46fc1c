"""What an entry of the library promises: fields of its kind, parameters with values, layouts that fit their tile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import leaves, modes, product
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.spec.family import COPY_KEYS, MMA_KEYS, OF_MMA, Family
from cute_viz.spec.library_files import LibraryFile
from cute_viz.spec.yaml import Keys, SpecError

if TYPE_CHECKING:
    from cute_viz.algebra.mma import MMA_Atom
    from cute_viz.spec.entry import LibraryEntry

FOREIGN = {"mma": {*COPY_KEYS, "reverse"} - {*MMA_KEYS}, "copy": {*MMA_KEYS, *OF_MMA, "types", "incongruent"} - {*COPY_KEYS}}
Wrong = Iterator[tuple[str, str]]
TILES = ("ALayout", "BLayout", "CLayout")


def of_head(file: LibraryFile) -> Iterator[CuteVizError]:
    """What is wrong at the top of a file. Raises: SpecError where it is neither of MMAs nor of copies."""
    if not file.word("arch"):
        top = file.head["library"]
        yield top.wrong(f"a library of {file.kind} operations needs an arch", hint="example: arch: sm90, or arch: universal")
    file.word("source")
    file.shared()


def of_fields(family: Family) -> Iterator[SpecError]:
    """Fields that are not of the file's kind or name none, parameters without values, and values of what is no parameter."""
    own, fields, slots = family.own, family.fields, family.pattern.parameters
    for key in own:
        if key in FOREIGN[family.file.kind]:
            yield family.wrong(f"{key} is not a field of {family.file.kind} operations", own.keys_at[key])
    for word in f"{own.get('incongruent', '')} {own.get('partial', '')}".split():
        if word not in fields:
            yield family.wrong(f"{family.key} has no {word}", own.get("incongruent", own.get("partial")))
    for key in slots:
        if not family.domains.get(key):
            yield family.wrong(f"the values of {{{key}}} are not given", hint=f"where: {{{key}: ...}}")
    known, where = (*slots, *dict(family.template)), own.get("where")
    for key, values in where.items() if isinstance(where, Keys) else ():
        assert isinstance(where, Keys)
        if key in slots and isinstance(values, Keys):
            yield family.wrong(f"{{{key}}} is a parameter of the name, whose values depend on no other", where.keys_at[key])
        if key not in known:
            hint = f"there are {', '.join(known)}" if known else "there is none"
            yield family.wrong(f"{key} is neither a parameter of the name nor an argument", where.keys_at[key], hint)


def of_layouts(family: Family, operation: LibraryEntry, apart: Collection[str] = ()) -> Iterator[SpecError]:
    """The layouts of an operation that do not hold what they promise; `apart` are those that are not known."""
    if "reverse" in family.fields or not {"ThrID", "Shape_MNK"}.isdisjoint(apart):
        return
    incongruent, partial = (str(family.fields.get(key, "")).split() for key in ("incongruent", "partial"))
    atom: Any = operation.atom()
    of_copy = operation.kind == "copy"
    found = _of_copy(operation.layouts, partial) if of_copy else of_mma(atom, operation.layouts, [*incongruent, *apart], partial)
    for key, wrong in found:
        if key not in apart:
            yield family.wrong(f"{key} {wrong}", family.chosen(key, operation.instruction.arguments))


def of_mma(atom: MMA_Atom, layouts: Mapping[str, Any], apart: Collection[str] = (), partial: Collection[str] = ()) -> Wrong:
    """The layouts of an MMA that do not cover their tile: (field, what is wrong). `apart` are not looked at, `partial` ones may
    leave out threads and elements."""
    for key in TILES:
        if key in apart:
            continue
        wrong = _threads(layouts, key, key in partial)
        if wrong := wrong or ("" if key in partial else _uncovered(layouts[key], prod(atom.held(key[0])))):
            yield key, wrong


def _of_copy(layouts: Mapping[str, Any], partial: Collection[str]) -> Wrong:
    """The layouts of a copy that do not fit each other: (field, what is wrong)."""
    for key in ("SrcLayout", "DstLayout"):
        if wrong := _threads(layouts, key):
            yield key, wrong
    if layouts["RefLayout"] not in (layouts["SrcLayout"], layouts["DstLayout"]):
        yield "RefLayout", "is neither that of the source nor that of the destination"
    read, written = _image(layouts["SrcLayout"]), _image(layouts["DstLayout"])
    if "DstLayout" not in partial and (missing := len(read.keys() - written.keys())):
        yield "DstLayout", f"does not write {missing} of the {len(read)} bits that are read"


def _threads(layouts: Mapping[str, Any], key: str, partial: bool = False) -> str:
    """What is wrong with the threads of a layout; empty where nothing is."""
    first, *rest = modes(layouts[key].shape)
    threads = product(layouts["ThrID"].shape)
    if len(rest) != 1:
        return "is not a layout of (thread, value)"
    if not all(isinstance(stride, int) for stride in leaves(layouts[key].stride)):
        return "has strides that are not integers"
    fits = product(first) == threads or (partial and threads % product(first) == 0)
    return "" if fits else f"has {product(first)} threads, but ThrID has {threads}"


def _uncovered(layout: Layout, extent: int) -> str:
    """How a layout fails to hit each of 0..extent-1, each equally often; empty where it does."""
    steps = sorted((stride, size) for size, stride in flat_modes(layout) if size != 1 and stride != 0)
    compact = 1
    for stride, size in steps:
        compact = compact * size if stride == compact else 0
    if compact == extent:
        return ""  # with no need to go through the elements
    reached = _image(layout)
    if max(reached) >= extent or min(reached) < 0:
        return f"reaches {max(reached) if min(reached) >= 0 else min(reached)}, but its tile has {extent} elements"
    if len(reached) < extent:
        return f"reaches {len(reached)} of the {extent} elements of its tile"
    return "" if len(set(reached.values())) == 1 else "reaches some elements of its tile more often than others"


def _image(layout: Layout) -> Counter[int]:
    """What a layout reaches, and how often, repeats by strides of 0 aside."""
    shape = tuple(size for size, stride in flat_modes(layout) if stride != 0)
    stride = tuple(stride for _, stride in flat_modes(layout) if stride != 0)
    if prod(shape) > limit("accesses"):
        raise over("accesses", f"a layout has {prod(shape)} elements")
    return Counter(offsets(Layout(shape, stride)))
