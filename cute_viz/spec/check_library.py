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
from cute_viz.spec.entry import FilledEntry, LibraryEntry
from cute_viz.spec.family import COPY_KEYS, MMA_KEYS, OF_MMA, Family, Match, families, find
from cute_viz.spec.library import entry
from cute_viz.spec.library_files import LibraryFile
from cute_viz.spec.names import allows, samples
from cute_viz.spec.yaml import Keys, SpecError, read_yaml

FOREIGN = {"mma": {*COPY_KEYS, "reverse"} - {*MMA_KEYS}, "copy": {*MMA_KEYS, *OF_MMA, "types", "incongruent"} - {*COPY_KEYS}}
TILES = ("ALayout", "BLayout", "CLayout")
ANY = {"mma": "float", "copy": "uint32_t"}  # for an argument that may be any type


class Checked(NamedTuple):
    """What a check found: entries, operations of them that were tried, and the mistakes, of an entry its first."""

    entries: int
    tried: int
    errors: list[CuteVizError]


def check_library(file: LibraryFile) -> Checked:
    """Try every entry of a file: each of its words, and of each range the first, a middle and the last number."""
    try:
        _check_head(file)
    except CuteVizError as error:
        return Checked(0, 0, [error])
    tried = 0
    errors: dict[str, CuteVizError] = {}  # by place: a mistake is told once, not for all that inherit it
    for family in families(file):
        try:
            tried += _Trial(family).run()
        except CuteVizError as error:
            errors.setdefault(error.place(), error)
    return Checked(len(file.families), tried, list(errors.values()))


def _check_head(file: LibraryFile) -> None:
    """That the file is YAML as a whole, every key of it found, with what belongs at its top."""
    whole = read_yaml(file.text, file.path)
    if not isinstance(whole, Keys):
        raise SpecError("a library file must be a mapping of names to entries", name=file.path)
    found = {block.key for block in (*file.head.values(), *file.families)}
    top = file.head["library"]
    for key in whole:
        if key not in found:
            raise top.wrong(f"{key} cannot be read as an entry", whole.keys_at[key], "write NAME: at the margin, its fields below")
    if not file.word("arch"):
        raise top.wrong(f"a library of {file.kind} operations needs an arch", hint="example: arch: sm90, or arch: universal")
    file.word("source")
    file.shared()


class _Trial:
    """An entry under test, and what its parameters and template arguments are."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.slots = family.pattern.parameters
        self.template = dict(family.template)

    def run(self) -> int:
        """Try the entry with its parameters; how many operations that are."""
        self.check_fields()
        self.check_where()
        family = self.family
        domains = family.domains
        for key, default in self.template.items():
            if default and not allows(domains.get(key, ""), default) and default not in self.template:
                raise family.wrong(f"{key} = {default} is not legal", family.own.get("args"), f"{key} is one of {domains[key]}")
        file = family.file
        choices = [samples(domains[key]) for key in self.slots]
        anything = "T" if family.said("kind", {}) == "tcgen05.mma" else ANY[file.kind]  # a type that nobody knows fits
        choices += [samples(domains.get(key, "")) or [default or anything] for key, default in family.template]
        count = prod(map(len, choices))
        if count > limit("combinations"):
            said = f"{family.key} has {count} combinations"
            raise over("combinations", said, text=file.text, span=family.block.span, place=file.path)
        tried = 0
        for values in combinations(*choices):
            given = dict(zip((key for key, _ in family.template), values[len(self.slots) :], strict=True))
            args = tuple(given.get(value, value) for value in given.values())  # a default may be another argument
            bound = dict(zip(self.slots, values, strict=False))
            if family.legal(dict(zip(given, args, strict=True))) and not self.unfit(bound, args):
                self.attempt(bound, args)
                tried += 1
        return tried

    def unfit(self, bound: dict[str, str], args: tuple[str, ...]) -> bool:
        """Whether arguments, each legal beside those before it, do not fit each other."""
        if "fits" not in self.family.fields:
            return False
        name = self.family.pattern.filled(bound)
        return bool(FilledEntry(Match(self.family, name, bound), name, args).unfit())

    def check_fields(self) -> None:
        """That the fields are those of the file's kind."""
        family = self.family
        own, fields = family.own, family.fields
        for key in own:
            if key in FOREIGN[family.file.kind]:
                raise family.wrong(f"{key} is not a field of {family.file.kind} operations", own.keys_at[key])
        for word in f"{own.get('incongruent', '')} {own.get('partial', '')}".split():
            if word not in fields:
                raise family.wrong(f"{family.key} has no {word}", own.get("incongruent", own.get("partial")))

    def check_where(self) -> None:
        """That the parameters of the name have values, and that nothing else has."""
        family = self.family
        for key in self.slots:
            if not family.domains.get(key):
                raise family.wrong(f"the values of {{{key}}} are not given", hint=f"where: {{{key}: ...}}")
        where = family.own.get("where")
        if not isinstance(where, Keys):
            return
        known = (*self.slots, *self.template)
        for key in where:
            if key in self.slots and isinstance(where[key], Keys):
                raise family.wrong(f"{{{key}}} is a parameter of the name, whose values depend on no other", where.keys_at[key])
            if key not in known:
                hint = f"there are {', '.join(known)}" if known else "there is none"
                raise family.wrong(f"{key} is neither a parameter of the name nor an argument", where.keys_at[key], hint)

    def attempt(self, bound: dict[str, str], args: tuple[str, ...]) -> None:
        """Look up one operation of the entry, and hold its layouts to what they promise."""
        family, file = self.family, self.family.file
        name = family.pattern.filled(bound)
        full = name + (f"<{','.join(args)}>" if args else "")
        found = find(file, name)
        if found is None:
            raise family.wrong(f"what the parameters are in {name} cannot be determined", hint="put something between them")
        if found.family is not family:
            raise family.wrong(f"{name} is also a name of {found.family.key}, which comes first")
        try:
            operation = entry(found, full, args)
            if "reverse" not in family.fields:
                incongruent = str(family.fields.get("incongruent", "")).split()
                partial = str(family.fields.get("partial", "")).split()
                promised = _of_mma(operation, incongruent, partial) if file.kind == "mma" else _of_copy(operation.layouts, partial)
                for key, wrong in promised:
                    raise family.wrong(f"{key} {wrong}", family.chosen(key, operation.instruction.arguments))
        except CuteVizError as error:
            message = error.message if name in error.message else f"{full}: {error.message}"
            raise error.at(file.text, family.block.span).but(message=message, name=file.path) from None


def _of_mma(operation: LibraryEntry, incongruent: list[str], partial: list[str]) -> Iterator[tuple[str, str]]:
    """The layouts of an MMA that do not cover their tile: (field, what is wrong)."""
    atom: Any = operation.atom()
    for key in TILES:
        if key in incongruent:
            continue
        wrong = _threads(operation.layouts, key, key in partial)
        if wrong := wrong or ("" if key in partial else _uncovered(operation.layouts[key], prod(atom.held(key[0])))):
            yield key, wrong


def _of_copy(layouts: dict[str, Any], partial: list[str]) -> Iterator[tuple[str, str]]:
    """The layouts of a copy that do not fit each other: (field, what is wrong)."""
    for key in ("SrcLayout", "DstLayout"):
        if wrong := _threads(layouts, key):
            yield key, wrong
    if layouts["RefLayout"] not in (layouts["SrcLayout"], layouts["DstLayout"]):
        yield "RefLayout", "is neither that of the source nor that of the destination"
    read, written = _image(layouts["SrcLayout"]), _image(layouts["DstLayout"])
    if "DstLayout" not in partial and (missing := len(read.keys() - written.keys())):
        yield "DstLayout", f"does not write {missing} of the {len(read)} bits that are read"


def _threads(layouts: dict[str, Any], key: str, partial: bool = False) -> str:
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
