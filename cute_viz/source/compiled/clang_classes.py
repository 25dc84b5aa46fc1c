"""The classes that a unit's functions use: their aliases and data members, with the types that the compiler gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    template,
    variable,
)
from cute_viz.source.compiled.clang_places import UnitFiles, place_of
from cute_viz.source.compiled.texts import TOLD, Alias
from cute_viz.source.compiled.unit import Instance, Variable

if TYPE_CHECKING:
    from clang.cindex import Cursor, TranslationUnit


Names = dict[tuple[str, int], Variable]


class UnitClasses:
    """The classes of the user that were met, each with its names."""

    def __init__(self, places: UnitFiles, aliases: Sequence[Alias] = ()) -> None:
        self.places, self.aliases = places, aliases
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
            for child in cursor.type.get_fields():
                if (told := TOLD.match(canonical(child))) is not None:
                    name, file, line = self.aliases[int(told["number"])]
                    names.setdefault((name, line), Variable(name, file, line, told["type"], "alias"))
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
