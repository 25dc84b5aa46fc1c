"""Whether a file of the library is right: every entry is read, its parameters are tried, its layouts held to their tiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product as combinations
from math import prod
from typing import Any, NamedTuple

from cute_viz.algebra.inttuple import leaves, modes, product
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.spec.domains import allows, samples
from cute_viz.spec.family import COPY_KEYS, MMA_KEYS, chosen, domains_of, fields_of, find, legal, own_fields, pattern_of, slots
from cute_viz.spec.library import entry
from cute_viz.spec.library_files import Block, LibraryFile
from cute_viz.spec.yaml import Fields, SpecError, read_yaml

FOREIGN = {"mma": {*COPY_KEYS, "reverse"} - {*MMA_KEYS}, "copy": {*MMA_KEYS, "types", "incongruent"} - {*COPY_KEYS}}
TILES = {"ALayout": (0, 2), "BLayout": (1, 2), "CLayout": (0, 1)}  # the modes of Shape_MNK that an operand spans
ANY = {"mma": "float", "copy": "uint32_t"}  # for an argument that may be any type


class Checked(NamedTuple):
    """What a check found: entries, operations of them that were tried, and the mistakes, of an entry its first."""

    entries: int
    tried: int
    errors: list[CuteVizError]


def check_library(file: LibraryFile) -> Checked:
    """Try every entry of a file: each of its words, and of each range the first, a middle and the last number.

    >>> from cute_viz.spec.library_files import files_for
    >>> checked = check_library(next(files_for("SM61_DP4A")))
    >>> checked.entries, checked.errors
    (2, [])
    """
    try:
        _check_head(file)
    except CuteVizError as error:
        return Checked(0, 0, [error])
    tried = 0
    errors: dict[str, CuteVizError] = {}  # by place: a mistake is told once, not for all that inherit it
    for family in file.families:
        try:
            tried += _check_entry(file, family)
        except CuteVizError as error:
            errors.setdefault(error.place(), error)
    return Checked(len(file.families), tried, list(errors.values()))


def _check_head(file: LibraryFile) -> None:
    """That the file is YAML as a whole, every key of it found, with what belongs at its top."""
    whole = read_yaml(file.text, file.path)
    if not isinstance(whole, Fields):
        raise SpecError("a library file is a mapping of names to entries", name=file.path)
    found = {block.key for block in (*file.head.values(), *file.families)}
    top = file.head["library"]
    for key in whole:
        if key not in found:
            raise top.wrong(f"{key} is not read as an entry", whole.keys_at[key], "write NAME: at the margin, its fields below")
    if not file.word("arch"):
        raise top.wrong(f"a library of {file.kind} operations has an arch", hint="such as arch: sm90, or arch: universal")
    file.word("source")
    file.shared()


def _check_entry(file: LibraryFile, family: Block) -> int:
    """Try an entry with its parameters; how many operations that are."""
    own, fields = own_fields(family), fields_of(file, family)
    for key in own:
        if key in FOREIGN[file.kind]:
            raise family.wrong(f"{key} is no field of {file.kind} operations", own.keys_at[key])
    for word in str(own.get("incongruent", "")).split():
        if word not in fields:
            raise family.wrong(f"{family.key} has no {word}", own["incongruent"])
    names, domains = slots(family), domains_of(fields)
    arguments = [item.partition("=")[::2] for item in str(fields.get("args", "")).split()]
    _check_where(family, own, domains, names, [key for key, _ in arguments])
    for key, default in arguments:
        if default and not allows(domains.get(key, ""), default) and default not in dict(arguments):
            raise family.wrong(f"{key} = {default} is not legal", own.get("args"), f"{key} is one of {domains[key]}")
    choices = [samples(domains[key]) for key in names]
    choices += [samples(domains.get(key, "")) or [default or ANY[file.kind]] for key, default in arguments]
    count = prod(map(len, choices))
    if count > limit("combinations"):
        raise over("combinations", f"{family.key} has {count} combinations", text=file.text, span=family.span, place=file.path)
    tried = 0
    for values in combinations(*choices):
        given = dict(zip((key for key, _ in arguments), values[len(names) :], strict=True))
        args = tuple(given.get(value, value) for value in given.values())  # a default may be another argument
        if legal(fields, dict(zip(given, args, strict=True))):
            _try(file, family, dict(zip(names, values, strict=False)), args)
            tried += 1
    return tried


def _check_where(family: Block, own: Fields, domains: dict[str, str], names: list[str], arguments: list[str]) -> None:
    """That the parameters of the name have values, and that nothing else has."""
    for key in names:
        if not domains.get(key):
            raise family.wrong(f"the values of {{{key}}} are not given", hint=f"where: {{{key}: ...}}")
    where = own.get("where")
    if isinstance(where, Fields):
        for key in where:
            if key in names and isinstance(where[key], Fields):
                raise family.wrong(f"{{{key}}} is a parameter of the name, whose values depend on no other", where.keys_at[key])
            if key not in names and key not in arguments:
                hint = f"there are {', '.join((*names, *arguments))}" if names or arguments else "there is none"
                raise family.wrong(f"{key} is neither a parameter of the name nor an argument", where.keys_at[key], hint)


def _try(file: LibraryFile, family: Block, bound: dict[str, str], args: tuple[str, ...]) -> None:
    """Look up one operation of an entry, and hold its layouts to what they promise."""
    name = pattern_of(family)
    for key, value in bound.items():
        name = name.replace("{" + key + "}", value)
    full = name + (f"<{','.join(args)}>" if args else "")
    found = find(file, name)
    if found is None or found[0] is not family:
        raise family.wrong(f"{name} is also a name of {found[0].key if found else 'none'}, which stands before it")
    try:
        operation = entry(file, family, found[1], full, args)
        fields = fields_of(file, family)
        if "reverse" not in fields:
            incongruent = str(fields.get("incongruent", "")).split()
            promised = _of_mma(operation.layouts, incongruent) if file.kind == "mma" else _of_copy(operation.layouts)
            for key, wrong in promised:
                raise family.wrong(f"{key} {wrong}", chosen(family, fields[key], operation.arguments))
    except CuteVizError as error:
        error.at(file.text, family.span)
        error.name = file.path
        error.message = error.message if name in error.message else f"{full}: {error.message}"
        raise


def _of_mma(layouts: dict[str, Any], incongruent: list[str]) -> Iterator[tuple[str, str]]:
    """The layouts of an MMA that do not cover their tile: (field, what is wrong)."""
    extents = [product(mode) for mode in layouts["Shape_MNK"]]
    for key, (i, j) in TILES.items():
        if key not in incongruent and (wrong := _threads(layouts, key) or _uncovered(layouts[key], extents[i] * extents[j])):
            yield key, wrong


def _of_copy(layouts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The layouts of a copy that do not fit each other: (field, what is wrong)."""
    for key in ("SrcLayout", "DstLayout"):
        if wrong := _threads(layouts, key):
            yield key, wrong
    if layouts["RefLayout"] not in (layouts["SrcLayout"], layouts["DstLayout"]):
        yield "RefLayout", "is neither that of the source nor that of the destination"
    read, written = _image(layouts["SrcLayout"]), _image(layouts["DstLayout"])
    if missing := len(read.keys() - written.keys()):
        yield "DstLayout", f"does not write {missing} of the {len(read)} bits that are read"


def _threads(layouts: dict[str, Any], key: str) -> str:
    """What is wrong with the threads of a layout; empty where nothing is."""
    first, *rest = modes(layouts[key].shape)
    threads = product(layouts["ThrID"].shape)
    if len(rest) != 1:
        return "is not a layout of (thread, value)"
    if not all(isinstance(stride, int) for stride in leaves(layouts[key].stride)):
        return "has strides that are no integers"
    return "" if product(first) == threads else f"has {product(first)} threads, ThrID has {threads}"


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
        return f"reaches {max(reached) if min(reached) >= 0 else min(reached)}, its tile has {extent} elements"
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
