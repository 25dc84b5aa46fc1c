"""One file while it is evaluated: its tokens read as trees once, what was given for its names, how much work is done."""

from __future__ import annotations

from sys import intern
from typing import Any

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.source.address import path_parts
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.expressions import Expressions, Literals
from cute_viz.source.cpp.scopes import Range, Scope
from cute_viz.source.cpp.tokens import tokenize, words
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.uses import Use
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
