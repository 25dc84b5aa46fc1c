"""What libclang's cursors say: of declarations their names, types and template arguments, of expressions nodes."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from clang.cindex import Cursor, CursorKind, File, c_object_p, callbacks, conf

from cute_viz.source.compiled.flags import HERE
from cute_viz.source.compiled.unit import CallSite, Node, Variable

if TYPE_CHECKING:
    from clang.cindex import Cursor, Diagnostic, TranslationUnit, Type


REFUSED = "CuTe refuses this: "
_FILE, _LINE, _COLUMN, _OFFSET = c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()  # that libclang writes to
_FOUND = tuple(map(ctypes.byref, (_FILE, _LINE, _COLUMN, _OFFSET)))
_EXTENSIONS = (  # what nvcc takes
    "'alignas' attribute cannot be applied to types",
    "'global' and 'device' attributes are not compatible",  # of an explicit instantiation where all is host and device code
)


def place_of(cursor: Cursor) -> tuple[str, int]:
    """The file and the line of a declaration or an expression; "" of what is in no file."""
    return offset_of(cursor)[:2]


def offset_of(cursor: Cursor) -> tuple[str, int, int]:
    """The file, the line and the offset of a declaration or an expression."""
    if "placed" not in cursor.__dict__:
        conf.lib.clang_getInstantiationLocation(conf.lib.clang_getCursorLocation(cursor), *_FOUND)
        names: dict[int, str] = cursor._tu.__dict__.setdefault("names", {})
        address = ctypes.cast(_FILE, ctypes.c_void_p).value or 0
        if address not in names:
            names[address] = str(File(_FILE).name) if address else ""
        cursor.placed = names[address], _LINE.value, _OFFSET.value
    found: tuple[str, int, int] = cursor.placed
    return found


class UnitFiles:
    """The files of a unit. lines: of its own text, behind which stands what was put there for the parser."""

    def __init__(self, unit: TranslationUnit, path: str, lines: int) -> None:
        self.parsed, self.path, self.lines = unit, path, lines
        included = [str(file.include.name) for file in unit.get_includes()]
        self.files = tuple(dict.fromkeys((path, *map(os.path.realpath, included))))  # `..` behind a link leads elsewhere
        self.skipped = tuple(dict.fromkeys(os.path.realpath(folder) + os.sep for folder in _foreign(included)))
        libraries = (os.path.dirname(os.path.dirname(name)) for name in included if name.endswith("/cutlass/cutlass.h"))
        self.libraries = (*self.skipped, *(os.path.realpath(place) + os.sep for place in libraries))
        self.foreign: dict[str, bool] = {"": False}

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

    def is_library(self, file: File | None) -> bool:
        """Whether a file is one of a library or of the system."""
        return file is None or os.path.realpath(str(file.name)).startswith(self.libraries)

    def asked_by(self, diagnostic: Diagnostic) -> Iterator[tuple[str, int, str]]:
        """What a library refuses, at the user's line that asks for it."""
        for note in diagnostic.children:
            place = note.location
            if not self.is_library(place.file) and note.spelling.startswith("in instantiation"):
                told = diagnostic.spelling.partition("static assertion failed")[2]
                words = re.sub(r"^ due to requirement '.*?'", "", told).lstrip(": ")
                yield str(place.file.name), int(place.line), f"{REFUSED}{words}"
                return

    def is_foreign(self, name: str) -> bool:
        """Whether a file is CuTe's, CUDA's or the system's."""
        if name not in self.foreign:
            self.foreign[name] = os.path.realpath(name).startswith(self.skipped)
        return self.foreign[name]

    def is_own(self, cursor: Cursor) -> bool:
        """Whether something stands in a file of the user."""
        name = place_of(cursor)[0]
        return name != "" and not self.is_foreign(name)


def _foreign(included: list[str]) -> Iterator[str]:
    """The folders of CuTe, CUDA and the system."""
    for name in included:
        if name.endswith(("/cute/layout.hpp", "/cuda_runtime_api.h", "/cuda_fp16.h", "/crt/host_defines.h", "/cuda/std/version")):
            yield os.path.dirname(name).removesuffix("/crt").removesuffix("/cuda/std")
    yield from (HERE, "/usr/include", "/usr/lib", "/lib")


_NESTED = 24  # expressions in one another that are kept
FUNCTIONS = frozenset(
    (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.CONVERSION_FUNCTION, CursorKind.DESTRUCTOR)
)
CLASSES = frozenset((CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL))
ALIASES = frozenset((CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPEDEF_DECL))
TEMPLATES = frozenset((CursorKind.FUNCTION_TEMPLATE, CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION))
_AROUND = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, CursorKind.INIT_LIST_EXPR)  # of one expression: `auto x{f(y)}`
_OPERATORS = frozenset(
    (
        *(CursorKind.BINARY_OPERATOR, CursorKind.UNARY_OPERATOR, CursorKind.CONDITIONAL_OPERATOR),
        *(CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR),
    )
)
PARAMETERS = frozenset(
    (CursorKind.TEMPLATE_TYPE_PARAMETER, CursorKind.TEMPLATE_NON_TYPE_PARAMETER, CursorKind.TEMPLATE_TEMPLATE_PARAMETER)
)


_LEAVES = frozenset(
    (  # kinds without children
        *(
            CursorKind.TYPE_REF,
            CursorKind.TEMPLATE_REF,
            CursorKind.NAMESPACE_REF,
            CursorKind.MEMBER_REF,
            CursorKind.INTEGER_LITERAL,
        ),
        *(CursorKind.FLOATING_LITERAL, CursorKind.STRING_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR, CursorKind.CXX_THIS_EXPR),
    )
)
_visited: list[Cursor] = []


def _visit(child: Cursor, _parent: Cursor, _data: object) -> int:
    _visited.append(child)
    return 1


_VISIT: Any = callbacks["cursor_visit"](_visit)
_REFERENCED: Any = conf.lib["clang_getCursorReferenced"]  # of its own, without what the binding asks of each answer
_REFERENCED.argtypes, _REFERENCED.restype = [Cursor], Cursor


def children(cursor: Cursor) -> list[Cursor]:
    """The children of a cursor, as its `get_children` has them, without what that asks of each."""
    if cursor.kind in _LEAVES:
        return []
    conf.lib.clang_visitChildren(cursor, _VISIT, None)
    out = _visited[:]
    _visited.clear()
    for child in out:
        child._tu = cursor._tu  # keeps what is parsed
    return out


def referenced(cursor: Cursor) -> Cursor | None:
    """What an expression or a type names, asked for once."""
    if "named" not in cursor.__dict__:
        found = _REFERENCED(cursor)
        found._tu = cursor._tu
        cursor.named = None if found.kind.is_invalid() else found
    return cursor.named


def canonical(cursor: Cursor) -> str:
    """The type of an expression or a declaration, with nothing renamed."""
    return spelled(cursor.type, cursor._tu)


def spelled(type_: Type, unit: TranslationUnit) -> str:
    """A type with nothing renamed, asked for once in a unit, where each has one address."""
    known: dict[int, str] = unit.__dict__.setdefault("spelled", {})
    address = type_.data[0]
    if address not in known:
        known[address] = str(type_.get_canonical().spelling)
    return known[address]


def scope(cursor: Cursor | None) -> tuple[str, ...]:
    """The namespaces, classes and functions around and with a declaration; unnamed ones are left out."""
    out: list[str] = []
    while cursor is not None and cursor.kind != CursorKind.TRANSLATION_UNIT:
        if cursor.spelling and "(" not in cursor.spelling:
            out.append(cursor.spelling)
        cursor = cursor.semantic_parent
    return tuple(reversed(out))


def template(cursor: Cursor, primary: bool = False) -> list[Cursor]:
    """What the template has of which something is an instance: its parameters, attributes and body.

    primary: of a partial specialization the template that it specializes, whose parameters the arguments are of.
    """
    found = conf.lib.clang_getSpecializedCursorTemplate(cursor)
    if primary and found is not None and found.kind == CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION:
        return template(found)
    return children(found) if found is not None else []


def arguments(cursor: Cursor, met: Callable[[Cursor], None]) -> tuple[tuple[str, str], ...]:
    """The template arguments of an instance, and of the class that it is a member of, by their names.

    met: takes each class that is one of them.
    """
    out: list[tuple[str, str]] = []
    parent = cursor.semantic_parent
    if parent is not None and parent.kind in CLASSES:
        out += arguments(parent, met)
    parameters = [child for child in template(cursor, primary=True) if child.kind in PARAMETERS]
    for n in range(max(0, cursor.get_num_template_arguments())):
        try:
            kind = cursor.get_template_argument_kind(n).name
        except ValueError:  # a pack, which this binding has no name for
            continue
        if kind == "TYPE":
            type_ = cursor.get_template_argument_type(n)
            value = spelled(type_, cursor._tu)
            met(type_.get_canonical().get_declaration())
        elif kind == "INTEGRAL":
            number = cursor.get_template_argument_value(n)
            flag = n < len(parameters) and parameters[n].type.spelling == "bool"
            value = ("true" if number else "false") if flag else str(number)
        else:
            continue
        out.append((parameters[n].spelling if n < len(parameters) else f"arg{n}", value))
    return tuple(out)


def call(here: Cursor, target: Cursor, number: int = -1) -> CallSite:
    """A call with its operands, those of the template of a cooperative copy before the others."""
    args = [node(arg) for arg in here.get_arguments() if arg is not None]
    if target.spelling == "cooperative_copy":  # its threads and the most bits of an access
        args = [Node("", n, 0, f"cute::C<{n}>") for _, n in arguments(target, lambda _: None) if n.isdigit()] + args
    if target.spelling == "operator()":
        args = args[1:]
    return CallSite("::".join(scope(target)), *place_of(here), tuple(args), number)


def node(cursor: Cursor, deep: int = 0) -> Node:
    """An expression."""
    parts, kind = children(cursor) if deep < _NESTED else [], cursor.kind
    if kind in _AROUND and len(parts) == 1:
        return node(parts[0], deep + 1)
    type_, target = canonical(cursor), referenced(cursor)
    if kind == CursorKind.DECL_REF_EXPR and target is not None and target.kind == CursorKind.ENUM_CONSTANT_DECL:
        return Node("number", str(target.enum_value), 0, type_)
    if kind == CursorKind.DECL_REF_EXPR and target is not None and target.kind not in FUNCTIONS:
        return Node("ref", str(cursor.spelling), int(target.location.line), type_)
    if kind == CursorKind.CALL_EXPR and target is not None and parts:
        args = [arg for arg in cursor.get_arguments() if arg is not None]
        if target.kind == CursorKind.CONSTRUCTOR:
            return node(args[0], deep + 1) if len(args) == 1 else Node("", str(cursor.spelling), 0, type_)
        first = parts[0]
        while first.kind == CursorKind.UNEXPOSED_EXPR and (inner := children(first)):
            first = inner[0]
        base = Node("", "", 0, "")
        if target.spelling == "operator()":
            base, args = node(args[0], deep + 1), args[1:]
        elif first.kind == CursorKind.MEMBER_REF_EXPR and (owners := children(first)):
            base = node(owners[0], deep + 1)
        nodes = (base, *(node(arg, deep + 1) for arg in args))
        return Node("call", str(target.spelling), int(cursor.location.line), type_, nodes)
    if kind == CursorKind.MEMBER_REF_EXPR and parts:
        return Node("field", str(cursor.spelling), 0, type_, (node(parts[0], deep + 1),))
    if kind == CursorKind.INTEGER_LITERAL and (token := next(cursor.get_tokens(), None)) is not None:
        return Node("number", str(token.spelling), 0, type_)
    word = "choice" if kind == CursorKind.CONDITIONAL_OPERATOR else ""
    return Node(word, str(cursor.spelling), 0, type_, tuple(node(x, deep + 1) for x in parts) if kind in _OPERATORS else ())


def variable(places: UnitFiles, cursor: Cursor) -> Variable | None:
    """A declaration with its type; None of one without a name, and of one behind the text."""
    file, line = place_of(cursor)
    if not file or not cursor.spelling or (file == places.path and line > places.lines):
        return None
    alias = cursor.kind in ALIASES
    kind = "alias" if alias else "param" if cursor.kind == CursorKind.PARM_DECL else "var"
    type_ = cursor.underlying_typedef_type if alias else cursor.type
    init = None
    if kind == "var" and not places.is_foreign(file):
        inits = [child for child in children(cursor) if child.kind.is_expression()]
        init = node(inits[-1]) if inits else None
    return Variable(cursor.spelling, file, line, spelled(type_, cursor._tu), kind, init)
