"""Whether a file of the library is right: every entry is read, its parameters are tried, its layouts held to their tiles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as combinations
from math import prod
from typing import NamedTuple

from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.spec import promises
from cute_viz.spec.entry import FilledEntry
from cute_viz.spec.family import FIELDS, Family, Known, Match, families, find
from cute_viz.spec.library import entry
from cute_viz.spec.library_files import LibraryFile
from cute_viz.spec.names import allows, samples
from cute_viz.spec.yaml import Keys, SpecError, read_yaml

ANY = {"mma": "float", "copy": "uint32_t"}  # for an argument that may be any type


class Checked(NamedTuple):
    """What a check found: entries, operations of them that were tried, and the mistakes."""

    entries: int
    tried: int
    errors: list[CuteVizError]


def check_library(file: LibraryFile) -> Checked:
    """Try every entry of a file: each of its words, and of each range the first, a middle and the last number."""
    try:  # by place: a mistake is told once, not for all that inherit it
        errors = {error.place(): error for error in _of_head(file)}
    except CuteVizError as failure:
        return Checked(0, 0, [failure])
    tried = 0
    for family in families(file):
        trial = _Trial(family)
        try:
            for error in trial.mistakes():
                errors.setdefault(error.place(), error)
        except CuteVizError as failure:
            errors.setdefault(failure.place(), failure)
        tried += trial.tried
    return Checked(len(file.families), tried, sorted(errors.values(), key=lambda error: error.span.start if error.span else 0))


def _of_head(file: LibraryFile) -> Iterator[CuteVizError]:
    """What is wrong with the file as a whole. Raises: SpecError where nothing of it can be read."""
    whole = read_yaml(file.text, file.path)
    if not isinstance(whole, Keys):
        raise SpecError("a library file must be a mapping of names to entries", name=file.path)
    found = {block.key for block in (*file.head.values(), *file.families)}
    top = file.head["library"]
    for key in whole:
        if key not in found:
            raise top.wrong(f"{key} cannot be read as an entry", whole.keys_at[key], "write NAME: at the margin, its fields below")
    yield from promises.of_head(file)


class _Trial:
    """An entry under test, and how many operations of it were tried."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.tried = 0

    def mistakes(self) -> Iterator[CuteVizError]:
        """What is wrong with its fields, then, as far as these can be read, with its operations. Raises: SpecError for a mistake
        that leaves nothing to try."""
        wrong = self.family.mistakes
        yield from wrong.values()
        if not wrong.keys().isdisjoint(FIELDS):
            return
        if wrong:
            self.family = Known(self.family.file, self.family.block)
        fields = list(promises.of_fields(self.family))
        yield from fields
        if not any("{" in error.message for error in fields):
            yield from self.operations()

    def operations(self) -> Iterator[CuteVizError]:
        """What is wrong with the operations that its parameters give."""
        family, file = self.family, self.family.file
        domains, slots, template = family.domains, family.pattern.parameters, dict(family.template)
        for key, default in template.items():
            if default and not allows(domains.get(key, ""), default) and default not in template:
                raise family.wrong(f"{key} = {default} is not legal", family.own.get("args"), f"{key} is one of {domains[key]}")
        choices = [samples(domains[key]) for key in slots]
        anything = "T" if family.said("kind", {}) == "tcgen05.mma" else ANY[file.kind]  # a type that nobody knows fits
        choices += [samples(domains.get(key, "")) or [default or anything] for key, default in family.template]
        count = prod(map(len, choices))
        if count > limit("combinations"):
            said = f"{family.key} has {count} combinations"
            raise over("combinations", said, text=file.text, span=family.block.span, place=file.path)
        for values in combinations(*choices):
            given = dict(zip((key for key, _ in family.template), values[len(slots) :], strict=True))
            args = tuple(given.get(value, value) for value in given.values())  # a default may be another argument
            bound = dict(zip(slots, values, strict=False))
            if family.legal(dict(zip(given, args, strict=True))) and not self.unfit(bound, args):
                yield from self.attempt(bound, args)
                self.tried += 1

    def unfit(self, bound: dict[str, str], args: tuple[str, ...]) -> bool:
        """Whether arguments, each legal beside those before it, do not fit each other."""
        if "fits" not in self.family.fields:
            return False
        name = self.family.pattern.filled(bound)
        return bool(FilledEntry(Match(self.family, name, bound), name, args).unfit())

    def attempt(self, bound: dict[str, str], args: tuple[str, ...]) -> Iterator[CuteVizError]:
        """Look up one operation of the entry, and hold its layouts to what they promise."""
        family, file = self.family, self.family.file
        name = family.pattern.filled(bound)
        full = name + (f"<{','.join(args)}>" if args else "")
        found = Match(family, name, bound) if isinstance(family, Known) else find(file, name)
        if found is None:
            raise family.wrong(f"what the parameters are in {name} cannot be determined", hint="put something between them")
        if found.family is not family:
            raise family.wrong(f"{name} is also a name of {found.family.key}, which comes first")
        wrong: dict[str, CuteVizError] = {}
        errors: list[CuteVizError] = []
        try:
            operation = entry(found, full, args, wrong=wrong)
            errors += promises.of_layouts(family, operation, wrong)
        except CuteVizError as failure:
            errors.append(failure)
        if isinstance(family, Known):  # a misspelt field is told as such
            errors, wrong = [e for e in errors if "has no" not in e.message], {k: e for k, e in wrong.items() if k in family.fields}
        for error in (*wrong.values(), *errors):
            message = error.message if name in error.message else f"{full}: {error.message}"
            yield error.at(file.text, family.block.span).but(message=message, name=file.path)
