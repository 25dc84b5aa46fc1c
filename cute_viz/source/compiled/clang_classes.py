"""The classes that a unit's functions use: their aliases and data members, with the types that the compiler gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clang.cindex import CursorKind, conf

from cute_viz.source import type_scan
from cute_viz.source.compiled.clang_cursors import (
    ALIASES,
    CLASSES,
    PARAMETERS,
    arguments,
    canonical,
    children,
    referenced,
    scope,
    spelled,
    template,
    variable,
)
from cute_viz.source.compiled.clang_places import UnitFiles, place_of
from cute_viz.source.compiled.unit import Instance, Variable
from cute_viz.source.compiled.values import HEAD, is_object

if TYPE_CHECKING:
    from clang.cindex import Cursor, TranslationUnit

_PROBES = 3000  # types of classes that are asked for
_DEEP = 8  # aliases of one another


Names = dict[tuple[str, int], Variable]


def may_be_object(type_: str) -> bool:
    """Whether a type in a template, with nothing renamed, can be an object of CuTe in an instance.

    >>> may_be_object("type-parameter-0-0 &"), may_be_object("typename std::conditional<N, int, cute::Layout<cute::C<N>>>::type")
    (False, True)
    >>> may_be_object("Layout<cute::tuple<cute::C<N>>>")
    True
    """
    if (found := re.fullmatch(r"typename (?:std|cutlass::platform|cute)::conditional(<.*>)::type", type_)) is not None:
        return any(map(may_be_object, type_scan.arguments(found[1])[1:]))
    named = HEAD.match(f"cute::{type_.removeprefix('cute::')}") is not None  # where it depends on a parameter, without its space
    return named or (type_.startswith(("decltype(", "typename ", "type-parameter-")) and type_[-1] not in "&*")


class UnitClasses:
    """The classes of the user that were met, each with its names."""

    def __init__(self, places: UnitFiles) -> None:
        self.places = places
        self.known: dict[int, tuple[Cursor, Names]] = {}

    def alias(self, here: Cursor) -> None:
        """A type of a class that is named: an entry of that class."""
        target = referenced(here)
        if target is None or target.kind not in ALIASES:
            return
        parent = target.semantic_parent
        if parent is None or parent.kind not in CLASSES or not self.places.is_own(target):
            return
        found = variable(self.places, target)
        names = self.known.setdefault(parent.hash, (parent, {}))[1]
        if found is not None and (found.name, found.line) not in names:
            names[found.name, found.line] = found
            self.inside(target)

    def inside(self, cursor: Cursor) -> None:
        """The types of classes that the words of a declaration name: `decltype(f(SmemLayoutAtom{}))`."""
        for child in children(cursor):
            if child.kind == CursorKind.TYPE_REF:
                self.alias(child)
            self.inside(child)

    def met(self, class_: Cursor) -> None:
        """Remember a class that is an argument of a template: its aliases are the user's."""
        if class_.kind in CLASSES and self.places.is_own(class_):
            self.known.setdefault(class_.hash, (class_, {}))

    def fields(self, parent: Cursor, deep: int = 0) -> None:
        """The data members of a class, and of the classes that it holds."""
        if deep > 4 or not self.places.is_own(parent):
            return
        names = self.known.setdefault(parent.hash, (parent, {}))[1]
        self.parameter_aliases(parent, names)
        for field in parent.type.get_fields():
            found = Variable(field.spelling, *place_of(field), canonical(field), "field")
            if (found.name, found.line) in names or not found.name:
                continue
            names[found.name, found.line] = found
            self.inside(field)
            self.held(field, deep + 1)

    def held(self, cursor: Cursor, deep: int = 0) -> None:
        """The data members of what a parameter or a member is."""
        inner = cursor.type.get_canonical().get_declaration()
        if inner.kind in CLASSES and inner.hash not in self.known:
            self.fields(inner, deep)

    def unnamed(self) -> tuple[tuple[str, Instance], ...]:
        """The aliases of the user's classes that were met which nothing names: the class as a type and as an instance, with the alias."""
        out: list[tuple[str, Instance]] = []
        met = {canonical(cursor): (cursor, names) for cursor, names in self.known.values()}
        for type_, (cursor, names) in met.items():
            if "(" in type_ or "type-parameter-" in type_ or self.places.is_library(cursor.location.file):
                continue  # what a library names for itself is nobody's object
            class_ = Instance(scope(cursor), self.arguments(cursor), False, ())
            for child in template(cursor):
                alias = Variable(child.spelling, *place_of(child), "", "alias")
                unknown = child.kind in ALIASES and (alias.name, alias.line) not in names
                if unknown and self.is_open(child, dict(class_.args), met):
                    out.append((type_, replace(class_, variables=(alias,))))
        return tuple(out[:_PROBES])

    def is_open(self, alias: Cursor, args: dict[str, str], met: dict[str, tuple[Cursor, Names]], deep: int = 0) -> bool:
        """Whether the words of an alias of a class template leave it open that it is an object of CuTe, in an instance."""
        type_ = alias.underlying_typedef_type
        if (value := args.get(str(type_.spelling))) is not None:
            return is_object(value)
        found = re.fullmatch(r"typename (\w+)::(\w+)", str(type_.spelling))
        if found is None or found[1] not in args or args[found[1]] not in met or deep > _DEEP:
            return may_be_object(spelled(type_, alias._tu))
        cursor, names = met[args[found[1]]]
        if known := [variable.type for (name, _), variable in names.items() if name == found[2]]:
            return is_object(known[0])
        inner = [child for child in template(cursor) if child.kind in ALIASES and child.spelling == found[2]]
        return any(self.is_open(child, dict(self.arguments(cursor)), met, deep + 1) for child in inner)

    def parameter_aliases(self, parent: Cursor, names: Names) -> None:
        """Aliases of a class template that are one of its parameters: `using SmemLayoutAtomA = SmemLayoutAtomA_;`."""
        args = dict(self.arguments(parent))
        for name, other in self.renamed(parent):
            args[name] = args.get(other, "")
        for child in template(parent):
            if child.kind in ALIASES and (value := args.get(child.underlying_typedef_type.spelling)):
                found = Variable(child.spelling, *place_of(child), value, "alias")
                names.setdefault((found.name, found.line), found)

    def renamed(self, parent: Cursor) -> Iterator[tuple[str, str]]:
        """The parameters of a partial specialization that are arguments of the template that it specializes, with its names."""
        found = conf.lib.clang_getSpecializedCursorTemplate(parent)
        if found is not None and found.kind == CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION:
            named = [child.spelling for child in template(parent, primary=True) if child.kind in PARAMETERS]
            yield from zip(type_scan.arguments(str(found.displayname)), named, strict=False)

    def arguments(self, cursor: Cursor) -> tuple[tuple[str, str], ...]:
        """The template arguments of an instance, and of the class that it is a member of, by their names."""
        return arguments(cursor, self.met)

    def instances(self) -> Iterator[Instance]:
        """What is known of each."""
        for cursor, names in list(self.known.values()):
            for child in children(cursor):
                if child.kind in ALIASES and (found := variable(self.places, child)) is not None:
                    names.setdefault((found.name, found.line), found)
            yield Instance(scope(cursor), self.arguments(cursor), False, tuple(names.values()))

    def traits(self, unit: TranslationUnit) -> Iterator[Instance]:
        """The user's own traits of MMAs: specializations of MMA_Traits, whose aliases have the layouts of an atom."""
        for space in unit.cursor.get_children():
            if space.kind != CursorKind.NAMESPACE or space.spelling != "cute" or not self.places.is_own(space):
                continue
            for child in space.get_children():
                kind, name = child.kind, child.spelling
                if kind == CursorKind.STRUCT_DECL and name == "MMA_Traits" and child.get_num_template_arguments() > 0:
                    aliases = [variable(self.places, inner) for inner in child.get_children() if inner.kind in ALIASES]
                    yield Instance(scope(child), self.arguments(child), False, tuple(filter(None, aliases)))
