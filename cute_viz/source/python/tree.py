"""Python source -> its syntax tree, with the places of its nodes in the text; nothing is executed or imported."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from cute_viz.errors import NotationError, Span, in_cell
from cute_viz.limits import limit, over
from cute_viz.records import rows
from cute_viz.source.model import Given
from cute_viz.source.python.values import EnumMember, Symbol, decorators, element

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVES = (ast.Lambda, ast.Constant, ast.Load, ast.Store)
_TARGETS = (ast.Name, ast.Attribute)
YIELDS = "yield"  # no name: what `stored` says of statements that yield
REST = "*"  # where the values of `*args` and `**kwargs` that a function is followed without come from
_STRING = re.compile(r"(?s)\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*")

_BRACKET = re.compile(r"[()\[\]{}]")
_SIGNS = re.compile(r"[-+~]{64}|(\bnot\s+){64}")


class Tree:
    """A text and the tree of it."""

    def __init__(self, text: str, name: str = "", ours: bool = False) -> None:
        self.text, self.name, self.ours = text, name, ours  # name: of a file that another imports. ours: of `known.MODULES`
        self.starts = [0, *(n + 1 for n, char in enumerate(text) if char == "\n")]
        self.indented = 0
        self.module = self._parsed()

    def _parsed(self) -> ast.Module:
        text = self.text.replace("\f", " ").replace("\r", " ")
        if len(text) > limit("input") and len(text) > limit("source"):
            raise over("input", f"the source has {len(text)} characters")
        self._check_nesting(text)
        if re.match(r"\s*\n?[ \t]+\S", text):
            self.indented, text = 1, "if 1:\n" + text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(text)
        except SyntaxError as error:
            line = max(1, (error.lineno or 1) - self.indented)
            start = self.starts[min(line, len(self.starts)) - 1] + max(0, (error.offset or 1) - 1)
            start = min(start, max(0, len(self.text) - 1))
            raise NotationError(f"this is not Python: {error.msg}", text=self.text, span=Span(start, start + 1)) from None
        except (ValueError, RecursionError, MemoryError):
            raise NotationError("this is not Python source", text=self.text, span=Span(0, 1)) from None

    def _check_nesting(self, text: str) -> None:
        depth, most = 0, limit("nesting")
        code = _STRING.sub(lambda match: " " * len(match[0]), text) if '"' in text or "'" in text or "#" in text else text
        found = _SIGNS.search(code)
        at = -1 if found is None else found.start()
        for bracket in _BRACKET.finditer(code):
            depth = max(0, depth + (1 if bracket[0] in "([{" else -1))
            if depth > most:
                at = bracket.start()
                break
        if at >= 0:
            raise over("nesting", "brackets or signs nested too deeply", text=self.text, span=Span(at, at + 1))

    @cached_property
    def strings(self) -> frozenset[str]:
        """The strings that stand in the text."""
        nodes = ast.walk(self.module)
        return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))

    def span(self, node: Any) -> Span:
        """The place of a node; of what stands before the text, its beginning."""
        if getattr(node, "end_lineno", None) is None:
            return Span(0, 1)
        return Span(self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset))

    def offset(self, line: int, column: int) -> int:
        """The place of a line and column of Python's, which counts columns in bytes of UTF-8."""
        line = max(1, min(line - self.indented, len(self.starts)))
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        part = self.text[start:end]
        if not part.isascii():
            column = len(part.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        return min(start + column, len(self.text))

    def line(self, offset: int) -> int:
        """The line that a place is in, which counts from 1, in a notebook from its cell."""
        return self.place(offset)[1]

    def place(self, offset: int) -> tuple[int, int]:
        """The cell of a notebook that a place is in, 0 in another text, and the line."""
        return in_cell(self.text, offset, bisect_right(self.starts, offset))


def dotted(node: object) -> str:
    """`a.b.c` of such an expression; empty of another."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def stored(nodes: list[Any]) -> set[str]:
    """The names that statements may bind, `self.a` among them, and YIELDS; those of functions and classes inside are theirs."""
    out: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind in _SCOPES:
            out.add(node.name)
            continue
        if kind in _LEAVES or (kind is ast.Name and type(node.ctx) is ast.Load):
            continue
        if kind in _TARGETS and type(node.ctx) is not ast.Load:
            out.add(dotted(node))
        elif kind is ast.alias:
            out.add(node.asname or node.name.partition(".")[0])
        elif kind is ast.Yield or kind is ast.YieldFrom:
            out.add(YIELDS)
        for name in node._fields:  # faster than ast.iter_child_nodes, and most of the time of a long file
            value = getattr(node, name, None)
            if type(value) is list:
                todo += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)
    return out - {""}


def defaults_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have defaults, with these."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    yield from (
        (item.arg, value) for item, value in zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)
    )
    pairs = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    yield from ((item.arg, value) for item, value in pairs if value is not None)


NOTHING = object()


class Lets:
    """The values that were given for names: `N`, `self.tile`, `mA.element_type`, behind as much of a scope as one likes."""

    def __init__(self, given: Given, module: ast.Module) -> None:
        self.given = given
        self.by_last: dict[str, list[tuple[tuple[str, ...], Any]]] = {}
        self.read: dict[str, Any] = {}  # values of those that were asked for
        self.parameters: dict[str, int] = {}  # of a name: how many functions have a parameter of it
        self.here = set[str]()  # names that stand in the text itself, not in a file that it imports
        self.plain: dict[str, set[str]] = {}  # parameters of functions of the module that the DSL does not compile
        self.compiled: set[str] = set()  # parameters of those that it does, and of methods
        self.module = stored([node for node in module.body if not isinstance(node, _BINDERS)]) if given.let else set[str]()
        for key, value in given.let.items():
            parts = tuple(key.replace("::", ".").split("."))
            self.by_last.setdefault(parts[-1], []).append((parts, value))
        if given.let:
            self._mark_used(module)

    def _mark_used(self, module: ast.Module) -> None:
        """A value counts as used where its name stands anywhere in the source: most are given for several objects."""
        names, scopes = set[str](), set[str]()
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = {item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
                if node in module.body and not decorators(node) & {"jit", "kernel"}:
                    self.plain[node.name] = arguments
                else:
                    self.compiled |= arguments
        for node in ast.walk(module):
            if isinstance(node, (ast.Name, ast.Attribute)):
                names.add(dotted(node))
            elif isinstance(node, ast.arg):
                names.add(node.arg)
                self.parameters[node.arg] = self.parameters.get(node.arg, 0) + 1
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                scopes.add(node.name)
        self.here = {name.partition(".")[0] for name in names} | names
        for key in self.given.let:
            parts = key.replace("::", ".").split(".")
            for n in range(len(parts)):
                rest = ".".join(parts[n:])
                known = rest in names or (n > 0 and f"self.{rest}" in names)
                if known and all(part in scopes for part in parts[:n]):
                    self.given.used.add(key)

    def means_another(self, name: str, binds: str) -> bool:
        """Whether a name without a scope means another one than this local name or parameter, whose value is known."""
        functions = self.parameters.get(name, 0)
        return functions > 1 if binds == "parameter" else functions > 0 or name in self.module

    def elsewhere(self, name: str, scope: tuple[str, ...]) -> bool:
        """Whether a name without a scope, `a` or `a.element_type`, means a parameter of a compiled function, not of this host's."""
        root = name.partition(".")[0]
        return len(scope) == 1 and root in self.compiled and root in self.plain.get(scope[0], ())

    def find(self, name: str, scope: tuple[str, ...]) -> Any:
        """The value and the key that were given for a name where it is, or NOTHING; the one with the longest scope wins."""
        if not self.by_last:
            return NOTHING
        wanted = tuple(name.split("."))
        best: Any = NOTHING
        length = -1
        for parts, value in self.by_last.get(wanted[-1], ()):
            for tail in (wanted, wanted[1:]) if wanted[0] in ("self", "cls") and len(wanted) > 1 else (wanted,):
                before = parts[: len(parts) - len(tail)]
                if parts[len(before) :] != tail or (tail is not wanted and not before):
                    continue
                if not before and self.elsewhere(name, scope):
                    continue
                if _within(before, scope) and len(before) > length:
                    best, length = (value, ".".join(parts)), len(before)
        return best


_BINDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _within(parts: tuple[str, ...], scope: tuple[str, ...]) -> bool:
    """Whether parts of a path stand in a scope in their order, `Kernel` in `(Kernel, run)`."""
    rest = iter(scope)
    return all(part in rest for part in parts)


# The enumerations of the DSL, whose members are what they are called.
_ENUMS = (
    "LayoutEnum OperandMajorMode OutputMajorMode OperandSource CtaGroup SmemLayoutAtomKind LoadCacheMode StoreCacheMode "
    "Repetition Pack Unpack AddressSpace TransformMode TmemLoadRedOp ReductionOp Field"
)
ENUMS = frozenset(_ENUMS.split())
_ROWS = rows(__file__, "modules.txt")
_FAMILIES = {cells[0]: cells[1] for cells in _ROWS if len(cells) == 2}  # the module that a part of a path stands for
USUAL = {cells[0]: cells[2] for cells in _ROWS if len(cells) == 3}  # what names are where a piece of a file lacks the import
_WORDS = (
    "abs all any bool dict divmod enumerate filter float getattr hasattr int isinstance issubclass len list map max min pow print "
    "range reversed round set setattr sorted str sum super tuple type zip object frozenset repr format slice property "
    "__given__ staticmethod classmethod NotImplementedError ValueError TypeError Exception RuntimeError"
)
BUILTINS = frozenset(_WORDS.split())


def is_library(path: str) -> bool:
    """Whether a dotted name is the DSL's."""
    return path.partition(".")[0] in ("cutlass", "cute")


def family(path: str) -> str:
    """The part of the DSL that a name of it belongs to."""
    for word in reversed(path.split(".")[:-1]):
        if word in _FAMILIES:
            return _FAMILIES[word]
    return ""


def symbol(path: str) -> object:
    """What a dotted name of a module is: an element type, a member of an enumeration, or the name itself."""
    if not is_library(path):
        return Symbol(path)
    head, _, last = path.rpartition(".")
    enum = head.rpartition(".")[2]
    if enum in ENUMS and last[:1].isalpha() and not last.startswith("from_"):
        times = int(last[1:]) if enum == "Repetition" and last[1:].isdecimal() else None
        return EnumMember(enum, last, {"ONE": 1, "TWO": 2}.get(last) if enum == "CtaGroup" else times)
    if (kind := element(last)) is not None and last[:1].isupper():
        return kind
    return Symbol(path)


HELPERS = "cutlass.helpers"  # those that a name means in several modules: see `helper`
MODULES = (
    *(HELPERS, "quack.layout_utils", "quack.sm90_utils", "quack.copy_utils", "cutlass.utils.blackwell_helpers"),
    *("cutlass.utils.gemm.sm100", "cutlass.utils.mixed_input_helpers"),
)
SCRIPTS = ("cutlass.utils.tensor_helpers", "cutlass.torch", "cutlass.cute.runtime", "torch", "argparse")  # of hosts that are run


@cache
def text_of(module: str) -> str:
    """The text of one of MODULES."""
    return (files("cute_viz.source.python") / "dsl" / f"{module}.dsl").read_text("utf-8")


@cache
def defined(module: str) -> frozenset[str]:
    """The functions of one of MODULES."""
    return frozenset(re.findall(r"^(?:def |class )?(\w+)(?= = \w+$|[(:])", text_of(module), re.M))


def helper(family: str, name: str) -> str:
    """The function among the helpers that a name of a part of the DSL is, "" for none."""
    word = name.removeprefix("sm90_")
    parts = ("sm90",) if word != name else ("sm100", "sm90") if family == "utils" else (family,)
    known = defined(HELPERS)
    return next((found for found in (*(f"{part}__{word}" for part in parts), name) if found in known and found[0] != "_"), "")
