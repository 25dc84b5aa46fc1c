"""A unit of CUDA -> what its compiler decided: each instance of a function with the exact types of its variables and calls.

libclang parses the unit as a compiler would, without running anything. From the functions of the unit itself every function that is
called is followed into its instance; those of CuTe, CUDA and the standard library are not.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cute_viz.errors import CuteVizError
from cute_viz.headers import cuda_headers, cute_headers
from cute_viz.source.compiled.flags import Flags
from cute_viz.source.compiled.loops import Around, within
from cute_viz.source.type_tree import arguments

if TYPE_CHECKING:
    from clang.cindex import Cursor, TranslationUnit

NEEDS = "pip install 'cute-viz[compiler]'"
HERE = os.path.dirname(os.path.abspath(__file__))
MOVES = frozenset(("copy", "copy_if", "copy_aligned", "cooperative_copy", "axpby", "gemm"))
_EXPLICIT = re.compile(
    r"^[ \t]*template\s+(?!<)(?P<head>[^;{}()<>=]*?)(?P<name>[\w:]+)\s*(?P<args><[^;{}]*>)\s*\((?P<params>[^;{}]*)\)\s*;", re.M
)
_DEEP = 100_000
_NESTED = 24  # expressions in one another that are kept
_HANDING = frozenset(  # functions of CuTe and of the standard that call what they are given
    ("for_each", "for_each_leaf", "apply", "transform", "transform_apply", "transform_leaf", "fold", "fold_first", "invoke")
) | {"operator()", "filter_tuple", "visit"}
_PROBES = 3000  # types of classes that are asked for
_SKIP_BODIES = 0x40  # CXTranslationUnit_SkipFunctionBodies
_EXTENSIONS = (  # what nvcc takes
    "'alignas' attribute cannot be applied to types",
    "'global' and 'device' attributes are not compatible",  # of an explicit instantiation where all is host and device code
)
_KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing: a header that is not there does not end the unit


@dataclass(frozen=True, slots=True)
class Node:
    """An expression with its type, as the compiler spells it.

    kind: `ref` of a variable that is declared in `line`; `call`, whose first part is the object of a method, and whose other parts
    are the arguments; `field` of its first part; `number`; "" of anything else.
    """

    kind: str
    text: str
    line: int
    type: str
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A name and its type, as the compiler spells it. kind: var, param, binding, alias or field. init: what it begins with."""

    name: str
    file: str
    line: int
    type: str
    kind: str
    init: Node | None = None


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call: of a function that moves or multiplies tensors, or of an instance of the unit, by its number; "&" is no call yet.

    around: the loops and conditions that it is in.
    """

    name: str
    file: str
    line: int
    args: tuple[Node, ...]
    instance: int = -1
    around: tuple[Around, ...] = ()


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a function or class: its path, its template arguments by name, what it has in the order of the text.

    kernel: whether it is one. calls: that move or multiply; uses: of other instances of the unit. returns: the tensors that it
    gives back. foreign: of a library, walked for the user's functions that it calls.
    """

    scope: tuple[str, ...]
    args: tuple[tuple[str, str], ...]
    kernel: bool
    variables: tuple[Variable, ...]
    calls: tuple[CallSite, ...] = ()
    uses: tuple[CallSite, ...] = ()
    returns: tuple[Node, ...] = ()
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """A parsed unit. errors: of the compiler, in the user's own files, with their places. files: all that it read."""

    instances: tuple[Instance, ...]
    errors: tuple[tuple[str, int, str], ...]
    files: tuple[str, ...]


def parse(path: str, text: str, flags: Flags, others: Mapping[str, str]) -> Unit:
    """The unit of a file, whose text may be newer than the file. others: texts for files that it includes, by their paths.

    Raises: CuteVizError without libclang, and where the unit cannot be parsed at all.
    """
    try:
        from clang import cindex
    except ImportError:
        raise CuteVizError("reading a file as compiled needs libclang, which is not installed", hint=NEEDS) from None
    if (own := os.environ.get("LIBCLANG")) and not cindex.Config.loaded:
        cindex.Config.set_library_file(own)
    path = os.path.abspath(path)
    whole, index = _used(text) + _named(flags.instances), cindex.Index.create()
    try:
        unit = index.parse(path, [*words(flags)], [(path, whole), *others.items()], _KEEP_GOING)
        walk = _Walk(unit, path, text.count("\n") + 1)
        found = walk.unit()
        asked = walk.unnamed()
        if not asked:
            return found
        probes = "".join(f"\nusing __cute_viz_{n} = {class_}::{alias.name};" for n, (class_, _, alias) in enumerate(asked))
        again = [*words(flags), "-fno-access-control"]
        unit = index.parse(path, again, [(path, text + probes), *others.items()], _KEEP_GOING | _SKIP_BODIES)
    except (cindex.TranslationUnitLoadError, cindex.LibclangError) as error:
        raise CuteVizError(f"libclang cannot parse this file: {error}", name=path, hint="look at the flags") from None
    return replace(found, instances=(*found.instances, *_answers(unit, asked)))


def _answers(unit: TranslationUnit, asked: list[tuple[str, Instance, Variable]]) -> Iterator[Instance]:
    """The types of aliases that no function names, each by the class that it stands in."""
    for cursor in unit.cursor.get_children():
        if (found := re.fullmatch(r"__cute_viz_(\d+)", cursor.spelling)) is not None:
            type_ = str(cursor.underlying_typedef_type.get_canonical().spelling)
            if type_.startswith("cute::"):
                _, class_, alias = asked[int(found[1])]
                yield replace(class_, variables=(replace(alias, type=type_),))


def words(flags: Flags) -> Iterator[str]:
    """The command line of libclang: CUDA code for a device, CUDA's and CuTe's headers, where the flags do not name them."""
    number = int(flags.arch.rstrip("af") or 80)
    yield from ("-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-w", "-ferror-limit=0")
    if not any(word.startswith("-std=") for word in flags.words):
        yield "-std=c++17"
    yield f"-D__CUDA_ARCH__={number}0"
    if number >= 90:
        yield from (
            f"-D__CUDA_ARCH_FEAT_SM{number}_ALL",
            f"-D__CUDA_ARCH_SPECIFIC__={number}0",
            f"-DCUTLASS_ARCH_MMA_SM{number}_SUPPORTED=1",
        )
    if number >= 100:  # which CUTLASS defines for nvcc only
        yield from (f"-DCUTLASS_ARCH_MMA_SM{number}{kind}_ENABLED=1" for kind in ("", "A", "F"))
    yield from ("-include", os.path.join(HERE, "device.h"))
    yield from flags.words
    if not _has(flags, "cute/layout.hpp") and (folder := cute_headers()):
        yield from ("-I", folder)
    if not _has(flags, "cuda_runtime_api.h") or not _has(flags, "crt/host_defines.h"):
        for folder in cuda_headers():
            yield from ("-I", folder)
    for folder in _builtin():
        yield from ("-isystem", folder)
    yield from ("-idirafter", os.path.join(HERE, "stubs"))


def _has(flags: Flags, name: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for folder in flags.folders)


def _builtin() -> list[str]:
    """The folder of a compiler's own headers, `stddef.h`, which libclang does not bring: gcc's or clang's, the newest."""
    from glob import glob

    places = [*glob("/usr/lib/gcc/*/*/include/stddef.h"), *glob("/usr/lib/llvm-*/lib/clang/*/include/stddef.h")]
    places += glob("/usr/lib/clang/*/include/stddef.h") + glob(f"{sys.prefix}/lib/gcc/*/*/include/stddef.h")
    found = sorted(places, key=lambda place: ([int(n) for n in re.findall(r"\d+", place)], place))
    return [os.path.dirname(found[-1])] if found else []


def _named(instances: tuple[str, ...]) -> str:
    """Functions that use instances which a binary names."""
    out = []
    for n, line in enumerate(instances):
        head, _, rest = line.partition(" ")
        at = len(rest) - 1
        depth = 0
        while at > 0 and (depth := depth + (rest[at] == ")") - (rest[at] == "(")):
            at -= 1
        use = f"(void)static_cast<{head} (*){rest[at:]}>(&{rest[:at]});"
        out.append(f"\nstatic void __cute_viz_named_{n}() {{ {use} }}")
    return "".join(out)


def _used(text: str) -> str:
    """A text in which functions use what it instantiates explicitly, which libclang does not visit by itself."""

    def use(found: re.Match[str]) -> str:
        head = re.sub(r"\b(?:__global__|__device__|__host__|inline|static|extern)\b", "", found["head"]).strip()
        if head.split()[:1] in (["class"], ["struct"]) or not head:
            return found[0]
        type_, name = f"{head} (*)({found['params']})", found["name"] + found["args"]
        return f"{found[0]} static void __cute_viz_use_{found.start()}() {{ (void)static_cast<{type_}>(&{name}); }}"

    return _EXPLICIT.sub(use, text)


def _offset(cursor: Cursor) -> tuple[str, int]:
    """Where a lambda begins."""
    place = cursor.location
    return str(place.file.name) if place.file is not None else "", int(place.offset)


class _Walk:
    """One walk over all functions that a unit runs."""

    def __init__(self, unit: TranslationUnit, path: str, lines: int) -> None:
        from clang.cindex import CursorKind

        self.parsed, self.path, self.lines = unit, path, lines
        self.kinds = CursorKind
        self.functions = {
            CursorKind.FUNCTION_DECL,
            CursorKind.CXX_METHOD,
            CursorKind.CONSTRUCTOR,
            CursorKind.CONVERSION_FUNCTION,
            CursorKind.DESTRUCTOR,
        }
        self.references = {CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.CALL_EXPR}
        self.templates = {
            CursorKind.FUNCTION_TEMPLATE, CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION
        }  # fmt: skip
        self.aliases = {CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPEDEF_DECL}
        self.parameters = {
            CursorKind.TEMPLATE_TYPE_PARAMETER,
            CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
            CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
        }
        included = [str(file.include.name) for file in unit.get_includes()]
        self.files = tuple(dict.fromkeys((path, *map(os.path.realpath, included))))  # `..` behind a link leads elsewhere
        self.skipped = tuple(dict.fromkeys(os.path.realpath(folder) + os.sep for folder in self._foreign(included)))
        libraries = (os.path.dirname(os.path.dirname(name)) for name in included if name.endswith("/cutlass/cutlass.h"))
        self.libraries = (*self.skipped, *(os.path.realpath(place) + os.sep for place in libraries))
        self.foreign: dict[str, bool] = {}
        self.numbers: dict[int, int] = {}  # of instances, by what libclang calls their definitions
        self.waiting: list[Cursor] = []
        self.bodies: dict[int, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {}  # of lambdas: where they stand, by number
        self.called: set[tuple[str, int]] = set()  # where the lambdas stand whose calls are known
        self.outside: list[Instance] = []
        self.classes: dict[int, tuple[Cursor, dict[tuple[str, int], Variable]]] = {}

    def _foreign(self, included: list[str]) -> Iterator[str]:
        """The folders of CuTe, CUDA and the system."""
        for name in included:
            if name.endswith(
                ("/cute/layout.hpp", "/cuda_runtime_api.h", "/cuda_fp16.h", "/crt/host_defines.h", "/cuda/std/version")
            ):
                yield os.path.dirname(name).removesuffix("/crt").removesuffix("/cuda/std")
        yield from (HERE, "/usr/include", "/usr/lib", "/lib")

    def unit(self) -> Unit:
        """All that was found."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEP))
        try:
            instances = tuple(self.instances())
        finally:
            sys.setrecursionlimit(limit)
        return Unit(instances, tuple(self.errors()), self.files)

    def errors(self) -> Iterator[tuple[str, int, str]]:
        """The errors in files that are neither a library's nor the system's."""
        for diagnostic in self.parsed.diagnostics:
            file = diagnostic.location.file
            if diagnostic.spelling in _EXTENSIONS:
                continue
            if diagnostic.severity >= 3 and "static assertion failed" in diagnostic.spelling and self.is_library(file):
                yield from self.asked_by(diagnostic)
            if diagnostic.severity >= 3 and not self.is_library(file):
                yield str(file.name), int(diagnostic.location.line), str(diagnostic.spelling)

    def is_library(self, file: Any) -> bool:
        """Whether a file is one of a library or of the system."""
        return file is None or os.path.realpath(str(file.name)).startswith(self.libraries)

    def asked_by(self, diagnostic: Any) -> Iterator[tuple[str, int, str]]:
        """What a library refuses, at the user's line that asks for it."""
        for note in diagnostic.children:
            place = note.location
            if not self.is_library(place.file) and note.spelling.startswith("in instantiation"):
                words = re.sub(
                    r"^ due to requirement '.*?'", "", diagnostic.spelling.partition("static assertion failed")[2]
                ).lstrip(": ")
                yield str(place.file.name), int(place.line), f"CuTe refuses this: {words}"
                return

    def is_foreign(self, name: str) -> bool:
        """Whether a file is CuTe's, CUDA's or the system's."""
        if name not in self.foreign:
            self.foreign[name] = os.path.realpath(name).startswith(self.skipped)
        return self.foreign[name]

    def instances(self) -> Iterator[Instance]:
        """Every function that the unit's own functions reach, then every class that these use."""
        for cursor in self.parsed.cursor.get_children():
            file = cursor.location.file
            if file is not None and file.name == self.path:
                self.top(cursor)
        done: dict[int, Instance] = {}
        while todo := [n for n in range(len(self.waiting)) if n not in done]:
            for n in [n for n in todo if n not in self.bodies] or todo[:1]:  # lambdas last: their calls may be known by then
                done[n] = self.function(n)
        yield from (done[n] for n in range(len(done)))
        for cursor, names in list(self.classes.values()):
            for child in cursor.get_children():
                if child.kind in self.aliases and (found := self.variable(child)) is not None:
                    names.setdefault((found.name, found.line), found)
            yield Instance(self.scope(cursor), self.arguments(cursor), False, tuple(names.values()))
        yield from self.outside
        yield from self.traits()

    def traits(self) -> Iterator[Instance]:
        """The user's own traits of MMAs: specializations of MMA_Traits, whose aliases have the layouts of an atom."""
        for space in self.parsed.cursor.get_children():
            place = space.location.file
            if space.kind != self.kinds.NAMESPACE or space.spelling != "cute" or place is None or self.is_foreign(str(place.name)):
                continue
            for child in space.get_children():
                if (
                    child.kind == self.kinds.STRUCT_DECL
                    and child.spelling == "MMA_Traits"
                    and child.get_num_template_arguments() > 0
                ):
                    aliases = [self.variable(inner) for inner in child.get_children() if inner.kind in self.aliases]
                    yield Instance(self.scope(child), self.arguments(child), False, tuple(filter(None, aliases)))

    def top(self, cursor: Cursor) -> None:
        """The functions of the unit's own file that are no templates; names outside of functions."""
        kind = cursor.kind
        if kind in self.functions:
            self.reach(cursor)
        elif kind in (
            self.kinds.NAMESPACE,
            self.kinds.LINKAGE_SPEC,
            self.kinds.CLASS_DECL,
            self.kinds.STRUCT_DECL,
            self.kinds.UNEXPOSED_DECL,
        ):
            for child in cursor.get_children():
                self.top(child)
        elif kind in self.aliases or kind == self.kinds.VAR_DECL:
            found = self.variable(cursor)
            if found is not None:
                self.outside.append(Instance(self.scope(cursor.semantic_parent), (), False, (found,)))

    def reach(self, cursor: Cursor) -> int:
        """Remember a function to walk: the number of its instance."""
        found = cursor.get_definition() or cursor
        if found.hash not in self.numbers:
            self.numbers[found.hash] = len(self.waiting)
            self.waiting.append(found)
        return self.numbers[found.hash]

    def body(self, cursor: Cursor, around: int) -> int:
        """Remember the body of a lambda, which is walked if no call of it is known: the number of its instance."""
        number, outer = len(self.waiting), self.waiting[around]
        self.bodies[number] = self.bodies.get(around) or (self.scope(outer), self.arguments(outer))
        self.waiting.append(cursor)
        return number

    def function(self, number: int) -> Instance:
        """One instance."""
        cursor = self.waiting[number]
        own = self.bodies.get(number)
        if own is not None and _offset(cursor) in self.called:
            return Instance(*own, False, ())
        foreign = own is None and self.is_foreign(_offset(cursor)[0])
        if cursor.spelling == "operator()":
            self.called.add(_offset(cursor))
        returns: list[Node] = []
        variables: dict[tuple[str, int, str], Variable] = {}
        calls: list[CallSite] = []
        uses: list[CallSite] = []
        kernel = any(child.kind == self.kinds.CUDAGLOBAL_ATTR for child in self.template(cursor))
        todo: list[tuple[Cursor, tuple[Around, ...]]] = [(cursor, ())]
        while todo:
            here, around = todo.pop()
            kind = here.kind
            if kind in self.templates and here is not cursor:
                continue
            if kind == self.kinds.LAMBDA_EXPR and here is not cursor:
                uses.append(CallSite("lambda", _offset(here)[0], int(here.location.line), (), self.body(here, number), around))
                continue
            kernel = kernel or kind == self.kinds.CUDAGLOBAL_ATTR
            if kind == self.kinds.RETURN_STMT:
                returns += [node for node in map(self.node, here.get_children()) if node.type.startswith("cute::Tensor<")]
            if kind in self.aliases or kind in (self.kinds.VAR_DECL, self.kinds.PARM_DECL):
                found = self.variable(here)
                if found is not None:
                    variables.setdefault((found.name, found.line, found.type), found)
            elif kind in self.references:
                self.refer(here, variables, calls, uses, around)
            elif kind == self.kinds.TYPE_REF:
                self.alias(here)
            todo.extend(reversed([(part, around) for part in here.get_children()] if foreign else list(within(here, around))))
        parent = cursor.semantic_parent
        if own is None and parent is not None and parent.kind in (self.kinds.CLASS_DECL, self.kinds.STRUCT_DECL):
            self.fields(parent)
        scope, args = own or (self.scope(cursor), self.arguments(cursor))
        return Instance(
            scope, args, kernel, tuple(variables.values()), tuple(calls), tuple(uses), tuple(dict.fromkeys(returns)), foreign
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
        target = here.referenced
        if target is None:
            return
        if target.kind in self.functions:
            place = target.location.file
            called = here.kind == self.kinds.CALL_EXPR
            if called and target.spelling in MOVES:
                calls.append(replace(self.call(here, target), around=around))
            if place is not None and (not self.is_foreign(str(place.name)) or (called and self.hands_on(here, target))):
                number = self.reach(target)
                if called:
                    uses.append(replace(self.call(here, target, number), around=around))
                elif here.location.file and not any(use.instance == number and use.line == here.location.line for use in uses):
                    uses.append(CallSite("&", str(here.location.file.name), int(here.location.line), (), number))
        elif target.kind == self.kinds.UNEXPOSED_DECL and target.spelling:
            place = target.location
            if place.file is not None and not self.is_foreign(str(place.file.name)):
                found = Variable(target.spelling, str(place.file.name), place.line, here.type.get_canonical().spelling, "binding")
                variables.setdefault((found.name, found.line, found.type), found)

    def hands_on(self, here: Cursor, target: Cursor) -> bool:
        """Whether a call gives a library a lambda, which it calls."""
        if target.spelling not in _HANDING:
            return False
        types = (arg.type.get_canonical().get_declaration() for arg in here.get_arguments() if arg is not None)
        return any(found.spelling.startswith("(lambda") or not found.spelling for found in types if found.kind.is_declaration())

    def call(self, here: Cursor, target: Cursor, number: int = -1) -> CallSite:
        """A call with its operands."""
        args = [self.node(arg) for arg in here.get_arguments() if arg is not None]
        if target.spelling == "operator()":
            args = args[1:]
        place = here.location
        file = str(place.file.name) if place.file is not None else ""
        return CallSite("::".join(self.scope(target)), file, int(place.line), tuple(args), number)

    def node(self, cursor: Cursor, deep: int = 0) -> Node:
        """An expression."""
        kinds = self.kinds
        type_ = str(cursor.type.get_canonical().spelling)
        children = list(cursor.get_children()) if deep < _NESTED else []
        kind, target = cursor.kind, cursor.referenced
        if kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR) and len(children) == 1:
            return self.node(children[0], deep + 1)
        if kind == kinds.DECL_REF_EXPR and target is not None and target.kind not in self.functions:
            return Node("ref", str(cursor.spelling), int(target.location.line), type_)
        if kind == kinds.CALL_EXPR and target is not None and children:
            args = [arg for arg in cursor.get_arguments() if arg is not None]
            if target.kind == kinds.CONSTRUCTOR:
                return self.node(args[0], deep + 1) if len(args) == 1 else Node("", str(cursor.spelling), 0, type_)
            first = children[0]
            while first.kind == kinds.UNEXPOSED_EXPR and (inner := list(first.get_children())):
                first = inner[0]
            base = Node("", "", 0, "")
            if target.spelling == "operator()":
                base, args = self.node(args[0], deep + 1), args[1:]
            elif first.kind == kinds.MEMBER_REF_EXPR and (owners := list(first.get_children())):
                base = self.node(owners[0], deep + 1)
            parts = (base, *(self.node(arg, deep + 1) for arg in args))
            return Node("call", str(target.spelling), int(cursor.location.line), type_, parts)
        if kind == kinds.MEMBER_REF_EXPR and children:
            return Node("field", str(cursor.spelling), 0, type_, (self.node(children[0], deep + 1),))
        if kind == kinds.INTEGER_LITERAL and (token := next(cursor.get_tokens(), None)) is not None:
            return Node("number", str(token.spelling), 0, type_)
        return Node("", str(cursor.spelling), 0, type_)

    def alias(self, here: Cursor) -> None:
        """A type of a class that is named: an entry of that class."""
        target = here.referenced
        if target is None or target.kind not in self.aliases:
            return
        parent = target.semantic_parent
        place = target.location.file
        if (
            parent is None
            or parent.kind not in (self.kinds.CLASS_DECL, self.kinds.STRUCT_DECL)
            or place is None
            or self.is_foreign(str(place.name))
        ):
            return
        found = self.variable(target)
        if found is not None:
            names = self.classes.setdefault(parent.hash, (parent, {}))[1]
            names.setdefault((found.name, found.line), found)

    def met(self, class_: Cursor) -> None:
        """Remember a class that is an argument of a template: its aliases are the user's."""
        place = class_.location.file
        if class_.kind in (self.kinds.CLASS_DECL, self.kinds.STRUCT_DECL) and place and not self.is_foreign(str(place.name)):
            self.classes.setdefault(class_.hash, (class_, {}))

    def fields(self, parent: Cursor, deep: int = 0) -> None:
        """The data members of a class, and of the classes that it holds."""
        place = parent.location.file
        if place is None or self.is_foreign(str(place.name)) or deep > 4:
            return
        names = self.classes.setdefault(parent.hash, (parent, {}))[1]
        self.parameter_aliases(parent, names)
        for field in parent.type.get_fields():
            found = Variable(field.spelling, str(place.name), field.location.line, field.type.get_canonical().spelling, "field")
            if (found.name, found.line) in names or not found.name:
                continue
            names[found.name, found.line] = found
            inner = field.type.get_canonical().get_declaration()
            if inner.kind in (self.kinds.CLASS_DECL, self.kinds.STRUCT_DECL) and inner.hash not in self.classes:
                self.fields(inner, deep + 1)

    def unnamed(self) -> list[tuple[str, Instance, Variable]]:
        """The aliases of the classes that were met which no function names: the class as a type and as an instance, the alias."""
        out: list[tuple[str, Instance, Variable]] = []
        for cursor, names in list(self.classes.values()):
            type_ = str(cursor.type.get_canonical().spelling)
            if "(" in type_ or "type-parameter-" in type_ or not self.template(cursor):
                continue
            class_ = Instance(self.scope(cursor), self.arguments(cursor), False, ())
            for child in self.template(cursor):
                if child.kind in self.aliases and (child.spelling, int(child.location.line)) not in names:
                    found = Variable(child.spelling, str(child.location.file.name), int(child.location.line), "", "alias")
                    out.append((type_, class_, found))
        return out[:_PROBES]

    def parameter_aliases(self, parent: Cursor, names: dict[tuple[str, int], Variable]) -> None:
        """Aliases of a class template that are one of its parameters: `using SmemLayoutAtomA = SmemLayoutAtomA_;`."""
        args = dict(self.arguments(parent))
        for name, other in self.renamed(parent):
            args[name] = args.get(other, "")
        for child in self.template(parent):
            if child.kind in self.aliases and (value := args.get(child.underlying_typedef_type.spelling)):
                found = Variable(child.spelling, str(child.location.file.name), child.location.line, value, "alias")
                names.setdefault((found.name, found.line), found)

    def renamed(self, parent: Cursor) -> Iterator[tuple[str, str]]:
        """The parameters of a partial specialization that are arguments of the template that it specializes, with its names."""
        from clang.cindex import conf

        found = conf.lib.clang_getSpecializedCursorTemplate(parent)
        if found is not None and found.kind == self.kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION:
            named = [child.spelling for child in self.template(parent, primary=True) if child.kind in self.parameters]
            yield from zip(arguments(str(found.displayname)), named, strict=False)

    def variable(self, cursor: Cursor) -> Variable | None:
        """A declaration with its type; None of one without a name, and of one behind the text."""
        place = cursor.location
        if place.file is None or not cursor.spelling or (place.file.name == self.path and place.line > self.lines):
            return None
        alias = cursor.kind in self.aliases
        kind = "alias" if alias else "param" if cursor.kind == self.kinds.PARM_DECL else "var"
        type_ = cursor.underlying_typedef_type if alias else cursor.type
        init = None
        if kind == "var" and not self.is_foreign(str(place.file.name)):
            inits = [child for child in cursor.get_children() if child.kind.is_expression()]
            init = self.node(inits[-1]) if inits else None
        return Variable(cursor.spelling, str(place.file.name), place.line, type_.get_canonical().spelling, kind, init)

    def scope(self, cursor: Cursor | None) -> tuple[str, ...]:
        """The namespaces, classes and functions around and with a declaration; unnamed ones are left out."""
        out: list[str] = []
        while cursor is not None and cursor.kind != self.kinds.TRANSLATION_UNIT:
            if cursor.spelling and "(" not in cursor.spelling:
                out.append(cursor.spelling)
            cursor = cursor.semantic_parent
        return tuple(reversed(out))

    def arguments(self, cursor: Cursor) -> tuple[tuple[str, str], ...]:
        """The template arguments of an instance, and of the class that it is a member of, by their names."""
        out: list[tuple[str, str]] = []
        parent = cursor.semantic_parent
        if parent is not None and parent.kind in (self.kinds.CLASS_DECL, self.kinds.STRUCT_DECL):
            out += self.arguments(parent)
        parameters = [child for child in self.template(cursor, primary=True) if child.kind in self.parameters]
        for n in range(max(0, cursor.get_num_template_arguments())):
            try:
                kind = cursor.get_template_argument_kind(n).name
            except ValueError:  # a pack, which this binding has no name for
                continue
            if kind == "TYPE":
                type_ = cursor.get_template_argument_type(n).get_canonical()
                value = type_.spelling
                self.met(type_.get_declaration())
            elif kind == "INTEGRAL":
                number = cursor.get_template_argument_value(n)
                flag = n < len(parameters) and parameters[n].type.spelling == "bool"
                value = ("true" if number else "false") if flag else str(number)
            else:
                continue
            out.append((parameters[n].spelling if n < len(parameters) else f"arg{n}", value))
        return tuple(out)

    def template(self, cursor: Cursor, primary: bool = False) -> list[Cursor]:
        """What the template has of which something is an instance: its parameters, attributes and body.

        primary: of a partial specialization the template that it specializes, whose parameters the arguments are of.
        """
        from clang.cindex import conf

        found = conf.lib.clang_getSpecializedCursorTemplate(cursor)
        if primary and found is not None and found.kind == self.kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION:
            return self.template(found)
        return list(found.get_children()) if found is not None else []
