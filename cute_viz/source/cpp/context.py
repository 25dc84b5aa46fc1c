"""One file while it is evaluated: its tokens read as trees once, what was given for its names, how much work is done."""

from __future__ import annotations

from bisect import bisect_right
from sys import intern
from typing import Any

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.records import dataclass
from cute_viz.source.address import path_parts
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.expressions import Expressions, Literals
from cute_viz.source.cpp.scopes import Range, Scope, outward
from cute_viz.source.cpp.tokens import tokenize, words
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.values import Env
from cute_viz.source.model import Given
from cute_viz.values.examples import example_type, example_value

_DEEP = 48  # declarations that are evaluated for one another

EXTENDED = "CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED"  # by it CuTe's headers choose instructions
# Names of CuTe and the standard that are followed by template arguments.
KNOWN_TEMPLATES = words(
    "Int C Shape Stride Step Tile Coord tuple Layout ComposedLayout Swizzle TiledMMA TiledCopy MMA_Atom "
    "MMA_Traits Copy_Atom Copy_Traits conditional_t is_same_v enable_if_t integral_constant conditional "
    "is_same tuple_element_t make_tensor size get shape stride rank select take sizeof_bits sizeof_bits_v "
    "cosize_v size_v remove_cvref_t remove_const_t decay_t UniversalCopy"
)


class Context:
    """A file, and what every part of its evaluation shares."""

    def __init__(self, reader: Declarer, given: Given, parser: type[Expressions] = Expressions) -> None:
        self.reader = reader
        self.text = reader.text
        self.given = given
        self.of_gmem = False  # whether the layout of a tensor in global memory is read, whose numbers only runs know
        self.own_lines = parser is Literals  # no file: what is written is shown, an offset too
        self.given_layouts = False  # whether a layout was given for a name, which may be a tensor's
        self.apart: Any = None  # what makes tensors whose strides keep coordinates apart
        self.warnings: list[str] | None = None  # where what is not as it seems is kept
        self.free: set[str] = set()  # names without a value, which are integers that nobody knows
        self.expressions = parser(self.text, reader.tokens, self.is_template)
        self.trees: dict[Range, Node | CuteVizError] = {}
        self.exact: dict[tuple[Scope | None, str], dict[Any, Scope | None]] = {}  # specialisations by their arguments
        self.told: dict[Scope, dict[str, Any]] = {}  # parameters of functions by their calls
        self.untold: dict[Scope, dict[str, CuteVizError]] = {}  # why the others are not told
        self.chosen: dict[Scope, Use] = {}  # of functions that are called several times, the call that is meant
        self.facts: dict[tuple[Scope, str], Range] = {}  # literals that conditions hold variables of functions to
        self.assumed: dict[str, tuple[str, int]] | None = None  # what was taken to be as if the program had no arguments
        self.root = Env(reader.file, None)
        self.packaged: dict[str, Env | None] = {}  # namespaces of what is read behind the text
        self.own = len(reader.text)  # where the file ends, and what is read behind it begins
        self.budget = reader.source.budget
        self.deep = 0
        self.types = 0  # how many `decltype` are being evaluated
        self.lets: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for key in given.let:
            *around, name = path_parts(key)
            self.lets.setdefault(name, []).append((tuple(around), key))

    def is_template(self, name: str) -> bool | None:
        """Whether a name is one of a template; None where nothing says so."""
        known = self.reader.templates.get(name)
        if name in KNOWN_TEMPLATES or name.startswith("Layout_"):
            return True if known is not False else None
        return known

    def tree(self, part: Range | None) -> Node:
        """The tree of tokens. Raises: NotationError where they are not an expression; where an undecided branch is among them."""
        assert part is not None
        known = self.trees.get(part)
        if known is None:
            try:
                known = self.expressions.parse(*part)
            except CuteVizError as error:
                known = error
            except RecursionError:
                known = LimitError("this is nested too deeply", text=self.text, span=self.span(part))
            self.trees[part] = known
        if isinstance(known, CuteVizError):
            raise known
        return known

    def line(self, token: int) -> int:
        """The line of a token."""
        return self.reader.lines.at(self.reader.tokens[token].start)

    def file(self, token: int) -> str:
        """The included file of a token, as line markers name it; "" of the file itself."""
        return self.reader.lines.file(self.reader.tokens[token].start)

    def span(self, part: Range) -> Span:
        """The place of tokens."""
        tokens = self.reader.tokens
        return Span(tokens[part[0]].start, tokens[max(part[1] - 1, part[0])].end)

    def placed(self, error: CuteVizError, span: Span) -> CuteVizError:
        """An error with a place, which is not in what was read behind the text."""
        behind = error.span is not None and error.text is self.text and len(self.text) > error.span.start >= self.own
        out = error.but(text=self.text, span=span) if behind else error.at(self.text, span)
        return out.but(text=intern(self.text[: self.own])) if out.text is self.text else out  # one text for all that is kept

    def step(self, span: Span) -> None:
        """Count a step of the work. Raises: LimitError for too many."""
        self.budget.step(self.text, span)

    def enter(self, span: Span) -> None:
        """One declaration is evaluated for another; `leave` ends it. Raises: LimitError where that goes too deep."""
        if self.deep >= _DEEP:
            raise LimitError(f"definitions refer to one another more than {_DEEP} deep", text=self.text, span=span)
        self.deep += 1

    def leave(self) -> None:
        """The end of what `enter` began."""
        self.deep -= 1

    def defines(self, macro: str) -> bool:
        """Whether a macro that CuTe's headers ask for is defined, by the file or by what was given."""
        if macro in self.given.let:
            self.given.used.add(macro)
            return str(self.given.let[macro]) not in ("0", "false", "False")
        return macro in self.reader.source.macros

    def let(self, name: str, scope: Scope | None) -> str | None:
        """The key of what was given for a name that a scope has, or for a name anywhere; None where nothing was."""
        found = None
        for around, key in self.lets.get(name, ()):
            if not around:
                found = found or key
            elif scope is not None and tuple("".join(word.split()) for word in scope.path[-len(around) :]) == around:
                found = key
        return found

    def let_of(self, parts: tuple[str, ...]) -> str | None:
        """The key of what was given for a qualified name or a member as it is in the text: `Base::Element`, `params.M`."""
        for around, key in self.lets.get(parts[-1], ()):
            if around and parts[-len(around) - 1 : -1] == around:
                return key
        return None

    def given_tree(self, key: str) -> tuple[str, Node]:
        """The text that was given under a key, and its tree."""
        text = str(self.given.let[key])
        tokens, _ = tokenize(text)
        return text, Literals(text, tokens, self.is_template).parse(0, len(tokens) - 1)


def needed(context_text: str, name: str, span: Span, kind: str = "value") -> NotationError:
    """The error of a name without a value, with a value of the right kind in its hint."""
    example = example_type(name) if kind == "type" else "true" if kind == "bool" else example_value(name)
    return NotationError(
        f"{name!r} has no value", text=context_text, span=span, hint=f"give it a value: `let={name}={example}`", needs=(name,)
    )


@dataclass(frozen=True, slots=True)
class Use:
    """A call: the scope that it stands in, the arguments of the template and of the function, and where it begins. called: it is
    a call, and not a name with template arguments that is called elsewhere."""

    scope: Scope
    template: tuple[Range, ...]
    arguments: tuple[Range, ...]
    token: int = 0
    called: bool = True


RUNTIME = frozenset(("cudaLaunchKernel", "cudaLaunchCooperativeKernel"))  # grid, block, addresses of the arguments


def function_of(scope: Scope) -> Scope | None:
    """The function that a scope is in; None outside of functions."""
    around = next((x for x in outward(scope) if x.kind not in ("block", "lambda")), scope)
    return around if around.kind == "function" else None


def all_uses(reader: Declarer, function: Scope) -> list[Use]:
    """The uses of a function that give its template arguments, or its arguments; empty where one of them is not read. A call
    with more or fewer arguments than the function takes is that of another one."""
    places = reader.places().get(function.name, ())
    declared = {declaration.token for declaration in function.parent.names.get(function.name, ())} if function.parent else set()
    others = [n for n in places if n not in declared and not _is_compared(reader, n)]
    found = [use_at(reader, function, n) for n in others if not is_another(reader, function, n)]
    if len(declared) != 1 or None in found:
        return []
    return [use for use in found if use is not None and (not use.called or takes(function, len(use.arguments)))]


def _is_compared(reader: Declarer, place: int) -> bool:
    """Whether a name is only one side of `kernel == &f`."""
    before = place - 2 if reader.tokens[place - 1].text == "&" else place - 1
    return {reader.tokens[before].text, reader.tokens[place + 1].text} & {"==", "!="} != set()


def is_another(reader: Declarer, function: Scope, place: int) -> bool:
    """Whether the namespace before a name, `cute::copy`, is none that the function is in."""
    tokens = reader.tokens
    if place < 2 or tokens[place - 1].kind != "::" or tokens[place - 2].kind != "name":
        return False
    return tokens[place - 2].text not in function.path and tokens[place - 2].text not in reader.file.names


def takes(function: Scope, count: int) -> bool:
    """Whether a function takes so many arguments."""
    params = function.arguments
    least = sum(param.default is None and not param.pack for param in params)
    return least <= count and (count <= len(params) or any(param.pack for param in params))


def use_at(reader: Declarer, function: Scope | None, place: int) -> Use | None:
    """The use that begins at a token; None where it is none, or stands in the function itself."""
    tokens = reader.tokens
    at = place + 1
    template: tuple[Range, ...] = ()
    if function is not None and function.kind == "lambda" and tokens[at].kind == ".":  # f.template operator()<2>()
        begin = at + 1 + (tokens[at + 1].text == "template")
        at = begin + 3 if tokens[begin].text == "operator" else at
    if tokens[at].kind == "<":
        behind = reader.angles(at)
        if behind is None:
            return None
        template = tuple(reader.split(at + 1, behind - 1))
        at = behind
    if tokens[at].kind == "<<<":
        while tokens[at].kind not in (";", "end", "{", "}") and not all(tokens[at + n].kind == ">" for n in range(3)):
            at = reader.match[at] + 1 if tokens[at].kind in ("(", "[") else at + 1
        if tokens[at].kind != ">":
            return None
        at += 3
    called = at < len(tokens) and tokens[at].kind == "("
    if not called and not template and (function is None or tokens[at].kind not in (";", ",", ")")):
        return None
    arguments = tuple(reader.split(at + 1, reader.match[at])) if called else ()
    scope = scope_at(reader, place)
    if scope is None:
        return None
    if not called and function is not None and (launched := _launched(reader, place, at, scope)) is not None:
        called, arguments = takes(function, len(launched)), launched if takes(function, len(launched)) else ()
    if not called and not template:
        return None
    return None if function is not None and scope.inside(function) else Use(scope, template, arguments, place, called)


def scope_at(reader: Declarer, place: int) -> Scope | None:
    """The scope of the statement that a token stands in; None before the first."""
    nearest = bisect_right(reader.statements, (place, 1 << 60)) - 1
    return None if nearest < 0 else reader.scopes[reader.statements[nearest][1]]


def _launched(reader: Declarer, place: int, end: int, scope: Scope) -> tuple[Range, ...] | None:
    """The arguments of the launch that a kernel is given to, by its name or by a variable that holds it; None where there is
    none. cutlass::launch_kernel_on_cluster(params, kernel, ...), cudaLaunchKernelEx(&config, kernel, ...), kernel<<<grid,
    block>>>(...)."""
    tokens = reader.tokens
    if (found := _launch_of(reader, place, end)) is not None:
        return found
    at = place
    while at > 0 and tokens[at].kind not in ("=", ";", "{", "}"):
        at -= 1
    if tokens[at].kind != "=" or tokens[at - 1].kind != "name":
        return None
    inside = function_of(scope)
    after = [n for n in reader.places().get(tokens[at - 1].text, ()) if n > end]
    after = [n for n in after if (there := scope_at(reader, n)) is not None and function_of(there) is inside]
    uses = [use for n in after if (use := use_at(reader, None, n)) is not None]
    launches = [use.arguments for use in uses if use.called]
    launches += [found for n in after if (found := _launch_of(reader, n, n + 1)) is not None]
    return launches[0] if len({tuple(map(reader.words, found)) for found in launches}) == 1 else None


def _launch_of(reader: Declarer, place: int, end: int) -> tuple[Range, ...] | None:
    """The arguments that a kernel is launched with whose name stands there, where it is an argument of a launch itself."""
    name, parts = launch_call(reader, place, end)
    return _packed(reader, parts[2], place) if name in RUNTIME and len(parts) > 2 else tuple(parts) if name else None


def launch_call(reader: Declarer, place: int, end: int) -> tuple[str, list[Range]]:
    """The function that launches a kernel whose name stands there, "" where nothing does, and its arguments behind that."""
    tokens = reader.tokens
    end += tokens[end].kind == ")" and tokens[end + 1].kind == ","  # of a cast
    if tokens[end].kind != ",":
        return "", []
    at = place - 1
    while at > 1 and (tokens[at].kind != "(" or reader.match[at] <= end):
        if tokens[at].kind == "}" and tokens[at + 1].kind == ",":  # `{1, 1, 1}`, an argument
            at = max((n for n in range(at) if tokens[n].kind == "{" and reader.match[n] == at), default=0)
        elif tokens[at].kind in (";", "{", "}"):
            return "", []
        at -= 1
    name = tokens[at - 1].text if tokens[at].kind == "(" else ""
    return (name, reader.split(end + 1, reader.match[at])) if "launch" in name.lower() else ("", [])


def _packed(reader: Declarer, part: Range, place: int) -> tuple[Range, ...] | None:
    """The arguments whose addresses an array has, `void* args[] = {&a, (void*)&b}`; None of another one."""
    tokens, (begin, end) = reader.tokens, part
    open_ = begin if tokens[begin].kind == "{" else 0
    for at in reader.places().get(tokens[begin].text, ()) if end - begin == 1 else ():
        words = [token.kind for token in tokens[at + 1 : at + 6]]
        brace = words.index("{") if "{" in words else 0
        if at < place and words[:1] == ["["] and words[brace - 1] in ("]", "="):
            open_ = at + 1 + brace
    if not open_:
        return None
    out = []
    for first, last in reader.split(open_ + 1, reader.match[open_]):
        address = next((n for n in range(first, last) if tokens[n].kind == "&"), first - 1)
        out.append((address + 1, next((n for n in range(address + 1, last) if tokens[n].kind == ")"), last)))
    return tuple(out)
