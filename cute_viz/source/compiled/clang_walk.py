"""The functions that a unit runs: from its own ones every function that is called is followed into its instance."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clang.cindex import CursorKind, conf

from cute_viz.source import type_scan
from cute_viz.source.compiled.clang_cursors import (
    ALIASES,
    CLASSES,
    FUNCTIONS,
    PARAMETERS,
    REFUSED,
    TEMPLATES,
    UnitFiles,
    arguments,
    call,
    canonical,
    children,
    node,
    offset_of,
    place_of,
    referenced,
    scope,
    template,
    variable,
)
from cute_viz.source.compiled.loops import STATEMENTS, ways, within
from cute_viz.source.compiled.texts import TOLD, Alias
from cute_viz.source.compiled.unit import Around, CallSite, Instance, Node, Unit, Variable
from cute_viz.values.instruction import MOVES

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


_DEEP = 100_000
_HANDING = frozenset(  # functions of CuTe and of the standard that call what they are given
    (
        "for_each",
        "for_each_leaf",
        "apply",
        "tapply",
        "transform",
        "transform_apply",
        "transform_leaf",
        "fold",
        "fold_first",
        "invoke",
    )
) | {"operator()", "filter_tuple", "visit"}
_REFERENCES = frozenset((CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.CALL_EXPR))
_STATEMENTS = frozenset(getattr(CursorKind, name) for name in STATEMENTS)
_OUTER = CLASSES | {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL}


class UnitWalk:
    """One walk over all functions that a unit runs."""

    def __init__(self, unit: TranslationUnit, path: str, lines: int, aliases: Sequence[Alias] = ()) -> None:
        self.parsed, self.places = unit, UnitFiles(unit, path, lines)
        self.classes = UnitClasses(self.places, aliases)
        self.numbers: dict[int, int] = {}  # of instances, by what libclang calls their declarations
        self.waiting: list[Cursor] = []
        self.bodies: dict[int, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {}  # of lambdas: where they stand, by number
        self.called: set[tuple[str, int, int]] = set()  # where the lambdas stand whose calls are known
        self.outside: list[Instance] = []
        self.errors = tuple(self.places.errors())
        self.refusing = {(file, line) for file, line, told in self.errors if told.startswith(REFUSED)}
        self.refused: list[CallSite] = []

    def unit(self) -> Unit:
        """All that was found."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEP))
        try:
            instances = tuple(self.instances())
        finally:
            sys.setrecursionlimit(limit)
        return Unit(instances, self.errors, self.places.files, tuple(dict.fromkeys(self.refused)))

    def instances(self) -> Iterator[Instance]:
        """Every function that the unit's own functions reach, then every class that these use."""
        for cursor in self.parsed.cursor.get_children():
            if place_of(cursor)[0] == self.places.path:
                self.top(cursor)
        done: dict[int, Instance] = {}
        while todo := [n for n in range(len(self.waiting)) if n not in done]:
            for n in [n for n in todo if n not in self.bodies] or todo[:1]:  # lambdas last: their calls may be known by then
                done[n] = self.function(n)
        yield from (done[n] for n in range(len(done)))
        yield from self.classes.instances()
        yield from self.outside
        yield from self.classes.traits(self.parsed)

    def top(self, cursor: Cursor) -> None:
        """The functions of the unit's own file that are not templates; names outside of functions."""
        kind = cursor.kind
        if kind in FUNCTIONS:
            self.reach(cursor)
        elif kind in _OUTER:
            for child in cursor.get_children():
                self.top(child)
        elif kind in ALIASES or kind == CursorKind.VAR_DECL:
            found = variable(self.places, cursor)
            if found is not None:
                self.outside.append(Instance(scope(cursor.semantic_parent), (), False, (found,)))
            for child in cursor.get_children():
                if child.kind == CursorKind.TYPE_REF:  # `typename CollectiveBuilder<...>::CollectiveOp`
                    self.classes.alias(child)

    def reach(self, cursor: Cursor) -> int:
        """Remember a function to walk: the number of its instance."""
        if cursor.hash not in self.numbers:
            found = cursor.get_definition() or cursor
            if found.hash not in self.numbers:
                self.numbers[found.hash] = len(self.waiting)
                self.waiting.append(found)
            self.numbers[cursor.hash] = self.numbers[found.hash]
        return self.numbers[cursor.hash]

    def body(self, cursor: Cursor, around: int) -> int:
        """Remember the body of a lambda, which is walked if no call of it is known: the number of its instance."""
        number, outer = len(self.waiting), self.waiting[around]
        self.bodies[number] = self.bodies.get(around) or (scope(outer), self.classes.arguments(outer))
        self.waiting.append(cursor)
        return number

    def function(self, number: int) -> Instance:
        """One instance."""
        cursor = self.waiting[number]
        own = self.bodies.get(number)
        if own is not None and offset_of(cursor) in self.called:
            return Instance(*own, False, ())
        foreign = own is None and self.places.is_foreign(offset_of(cursor)[0])
        if cursor.spelling == "operator()":
            self.called.add(offset_of(cursor))
        returns: list[Node] = []
        variables: dict[tuple[str, int, str], Variable] = {}
        calls: list[CallSite] = []
        uses: list[CallSite] = []
        kernel = any(child.kind == CursorKind.CUDAGLOBAL_ATTR for child in template(cursor))
        todo: list[tuple[Cursor, tuple[Around, ...]]] = [(cursor, ())]
        while todo:
            here, around = todo.pop()
            kind = here.kind
            if kind in TEMPLATES and here is not cursor:
                continue
            if kind == CursorKind.LAMBDA_EXPR and here is not cursor:
                uses.append(CallSite("lambda", *place_of(here), (), self.body(here, number), around))
                continue
            kernel = kernel or kind == CursorKind.CUDAGLOBAL_ATTR
            if kind == CursorKind.RETURN_STMT:
                returns += [found for found in map(node, children(here)) if found.type.startswith("cute::Tensor<")]
            if kind in ALIASES or kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
                found = variable(self.places, here)
                if found is not None:
                    variables.setdefault((found.name, found.line, found.type), found)
                    if kind == CursorKind.PARM_DECL and not foreign:
                        self.classes.held(here)
            elif kind in _REFERENCES:
                self.refer(here, variables, calls, uses, around)
            elif kind == CursorKind.TYPE_REF:
                self.classes.alias(here)
            inside = kind in _STATEMENTS and not foreign
            todo.extend(reversed(list(within(here, around)) if inside else [(part, around) for part in children(here)]))
        parent = cursor.semantic_parent
        if own is None and parent is not None and parent.kind in CLASSES:
            self.classes.fields(parent)
        path, args = own or (scope(cursor), self.classes.arguments(cursor))
        return Instance(
            path, args, kernel, tuple(variables.values()), tuple(calls), tuple(uses), tuple(dict.fromkeys(returns)), foreign
        )

    def refer(
        self,
        here: Cursor,
        variables: dict[tuple[str, int, str], Variable],
        calls: list[CallSite],
        uses: list[CallSite],
        around: tuple[Around, ...],
    ) -> None:
        """What an expression names: a function to walk, a call to keep, a structured binding."""
        target = referenced(here)
        if target is None:
            return
        if target.kind in FUNCTIONS:
            called = here.kind == CursorKind.CALL_EXPR
            if called and self.refusing and place_of(here) in self.refusing and scope(target)[:1] == ("cute",):
                self.refused.append(call(here, target))
            if called and target.spelling in MOVES:
                calls += [replace(way, around=(*around, *way.around)) for way in ways(here, call(here, target))]
            if self.places.is_own(target) or (called and self.hands_on(here, target)):
                number = self.reach(target)
                if called:
                    uses.append(replace(call(here, target, number), around=around))
                elif place_of(here)[0] and not any(use.instance == number and use.line == here.location.line for use in uses):
                    uses.append(CallSite("&", *place_of(here), (), number))
        elif target.kind == CursorKind.UNEXPOSED_DECL and target.spelling and self.places.is_own(target):
            found = Variable(target.spelling, *place_of(target), canonical(here), "binding")
            variables.setdefault((found.name, found.line, found.type), found)

    def hands_on(self, here: Cursor, target: Cursor) -> bool:
        """Whether a call gives a library a lambda, which it calls."""
        if target.spelling not in _HANDING:
            return False
        types = (arg.type.get_canonical().get_declaration() for arg in here.get_arguments() if arg is not None)
        return any(found.spelling.startswith("(lambda") or not found.spelling for found in types if found.kind.is_declaration())
