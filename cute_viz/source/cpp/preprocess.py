"""The preprocessor: which branches hold, what is defined; a branch that nothing decides stays, marked with its condition.

A kernel is device code of a GPU that is new enough: `__CUDA_ARCH__` and the like are more than any least number that they are
compared with, and what CUTLASS defines for an architecture is defined. Any other comparison with them decides nothing.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable
from operator import add, and_, mul, or_, sub
from typing import Any, NamedTuple

from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.limits import Budget
from cute_viz.source.cpp.expressions import Expressions
from cute_viz.source.cpp.macro import Macro, defined, expanded
from cute_viz.source.cpp.tokens import CppToken, Directive, tokenize, words
from cute_viz.source.cpp.tree import COMPARE, Binary, Condition, CppCall, Id, Literal, Node, Unary
from cute_viz.source.model import Given

_DEEP = 200
_NEW = float("inf")  # a version that is new enough
_KNOWN: dict[str, Any] = {
    "__CUDA_ARCH__": _NEW,
    "__CUDACC_VER_MAJOR__": _NEW,
    "CUDA_VERSION": _NEW,
    "CUDART_VERSION": _NEW,
    "__CUDACC__": 1,
    "__NVCC__": 1,
    "__cplusplus": 201703,
}
_ABSENT = words("_WIN32 _MSC_VER __CUDACC_RTC__ __clang__ __HIP__ __HIPCC__ SYCL_INTEL_TARGET CUTLASS_ENABLE_SYCL")
_SUPPORTED = re.compile(r"CU(TLASS|TE)_ARCH_\w+_(SUPPORTED|ENABLED)|CUTLASS_ARCH_MMA_\w*|CUTE_ARCH_\w*")


class Branch(NamedTuple):
    """A branch that nothing decides: its group and number in it, what would decide, where; and the branch around it."""

    group: int
    number: int
    names: tuple[str, ...]
    span: Span
    around: Branch | None

    def error(self, what: str, text: str) -> NotationError:
        """The error of what depends on the branch."""
        name = self.names[0] if self.names else ""
        hint = f"give it a value: `let={name}=1`, or 0" if name else None
        return NotationError(f"{what} depends on this condition", text=text, span=self.span, hint=hint, needs=self.names[:1])


def excludes(a: Branch | None, b: Branch | None) -> Branch | None:
    """The branch of `a` that has an alternative which `b` is in; None where both may hold."""
    while a is not None:
        other = b
        while other is not None:
            if other.group == a.group and other.number != a.number:
                return a
            other = other.around
        a = a.around
    return None


def deciding(branch: Branch | None) -> tuple[str, ...]:
    """The names that decide a branch and those around it, the outermost first."""
    return () if branch is None else tuple(dict.fromkeys((*deciding(branch.around), *branch.names)))


class Preprocessed:
    """What the preprocessor leaves: tokens, macros, and which undecided branch each token is in."""

    def __init__(self, text: str, given: Given) -> None:
        self.text = text
        self.given = given
        self.macros: dict[str, tuple[Macro, ...]] = {}
        self.budget = Budget()  # of all that is made of the file
        self.asked: set[str] = set()  # the names that would decide what nothing decides
        self._starts: list[int] = []  # of tokens from which a branch holds
        self._branches: list[Branch | None] = []
        self.tokens, directives = tokenize(text)
        if directives:
            self._apply(directives)

    def branch(self, token: int) -> Branch | None:
        """The undecided branch that a token is in."""
        at = bisect(self._starts, token) - 1
        return self._branches[at] if at >= 0 else None

    def mixed(self, begin: int, end: int) -> Branch | None:
        """The first undecided branch that begins or ends among tokens, between the first and the last."""
        at = bisect(self._starts, begin)
        if at < len(self._starts) and self._starts[at] < end:
            return self._branches[at] or self._branches[at - 1]
        return None

    def _apply(self, directives: list[Directive]) -> None:
        """Drop the tokens of branches that do not hold."""
        tokens: list[CppToken] = []
        stack: list[_Group] = []
        position = groups = 0
        for directive in [*directives, Directive("", "", len(self.text), len(self.tokens) - 1)]:
            if all(group.live for group in stack):
                tokens += expanded(self.tokens[position : directive.before], self._table(), self.text, self.budget)
            position = directive.before
            word = directive.word
            if word in ("if", "ifdef", "ifndef"):
                groups += 1
                if len(stack) >= _DEEP:
                    raise LimitError(
                        f"more than {_DEEP} nested conditions",
                        text=self.text,
                        span=Span(directive.start, directive.start + 1),
                    )
                live = all(group.live for group in stack)
                around = next((group.branch for group in reversed(stack) if group.branch), None)
                group = _Group(groups, around, len(tokens), dict(self.macros))
                stack.append(group)
                decided = self._decide(word, directive) if live else (False, ())
                group.enter(decided, directive, len(tokens))
                self.asked |= set(decided[1])
            elif word in ("elif", "elifdef", "elifndef", "else") and stack:
                group = stack[-1]
                outside = all(other.live for other in stack[:-1])
                decided = (True, ()) if word == "else" else self._decide(word[2:], directive) if outside else (False, ())
                if not _balanced(tokens, group.begin) and group.live:  # both ways share what is open: the first one stays
                    group.closed = True
                group.enter(decided if outside else (False, ()), directive, len(tokens), other=True)
                group.made.append(self.macros)
                self.macros = dict(group.before)
            elif word == "endif" and stack:
                for other in stack.pop().made:
                    self.macros |= {name: _joined(those, self.macros.get(name, ())) for name, those in other.items()}
            elif word == "define" and all(group.live for group in stack):
                self._define(directive)
            elif word == "undef":
                self.macros.pop(directive.rest.split()[0] if directive.rest.split() else "", None)
            branch = next((group.branch for group in reversed(stack) if group.branch), None)
            if (self._branches[-1] if self._branches else None) is not branch:
                self._starts.append(len(tokens))
                self._branches.append(branch)
        self.tokens = [*tokens, self.tokens[-1]]  # the end, which an #if 0 that nothing closes does not take

    def _define(self, directive: Directive) -> None:
        found = defined(directive.rest, directive.start)
        if found is not None:
            self.macros[found[0]] = _joined(self.macros.get(found[0], ()), (found[1],))

    def _table(self) -> dict[str, Macro]:
        """The macros that stand for what they are defined as: once, and not given anything else; a pragma stands for nothing."""
        macros = {name: those[0] for name, those in self.macros.items() if len(those) == 1 and name not in self.given.let}
        return {name: macro for name, macro in macros.items() if not macro.text.startswith("_Pragma")}

    def _decide(self, word: str, directive: Directive) -> tuple[bool | None, tuple[str, ...]]:
        """Whether a condition holds, as far as it is known, and the names that would decide it."""
        unknown: list[str] = []
        if word in ("ifdef", "ifndef", "def", "ndef"):
            name = directive.rest.split()[0] if directive.rest.split() else ""
            value = self._defined(name, unknown)
            return (value if value is None or "n" not in word[:-3] else not value), tuple(unknown)
        asked, _ = tokenize(directive.rest)
        table = self._table()
        for n, token in enumerate(asked):  # what `defined` asks for stays a name
            if token.text == "defined":
                table.pop(asked[min(n + 1 + (asked[n + 1].kind == "("), len(asked) - 1)].text, None)
        try:
            inside = expanded(asked[:-1], table, self.text)
            node = Expressions(directive.rest, [*inside, asked[-1]], lambda name: False).parse(0, len(inside))
            value = self._truth(node, unknown)
        except (CuteVizError, RecursionError):
            value = None
        if directive.word == "elif" and "ARCH" in directive.rest:
            value = None  # several architectures, and which one is meant is not known
        return (None if value is None else bool(value)), tuple(dict.fromkeys(unknown))

    def _defined(self, name: str, unknown: list[str]) -> bool | None:
        if name in self.given.let:
            self.given.used.add(name)
            return str(self.given.let[name]) not in ("0", "false", "False")
        if name in self.macros or name in _KNOWN or _SUPPORTED.fullmatch(name):
            return True
        if name in _ABSENT or re.search(r"(_H|_HPP|_CUH|_H_|_HPP_|INCLUDED)_*$", name):  # a guard of this file
            return False
        unknown.append(name)
        return None

    def _truth(self, node: Node, unknown: list[str]) -> Any:
        """The value of a condition; None where it is not known."""
        match node:
            case Literal():
                return node.value
            case CppCall(function=Id(text="defined"), args=(Id(text=name), *_)):
                return self._defined(name, unknown)
            case Id():
                return self._value(node.text, unknown)
            case Unary(operator="!" | "-" | "+" as operator):
                value = self._truth(node.value, unknown)
                return None if value is None else (not value) if operator == "!" else -value if operator == "-" else value
            case Condition():
                test = self._truth(node.test, unknown)
                return None if test is None else self._truth(node.yes if test else node.no, unknown)
            case Binary():
                return _combined(node.operator, self._truth(node.left, unknown), self._truth(node.right, unknown))
        return None

    def _value(self, name: str, unknown: list[str]) -> Any:
        if name in self.given.let:
            self.given.used.add(name)
            value = str(self.given.let[name])
            return int(value) if value.isdecimal() else value == "true"
        if name in self.macros:
            return None  # defined in several ways
        if name in _KNOWN:
            return _KNOWN[name]
        if _SUPPORTED.fullmatch(name):
            return 1
        if name in _ABSENT:
            return 0
        unknown.append(name)
        return None


def _joined(known: tuple[Macro, ...], others: tuple[Macro, ...]) -> tuple[Macro, ...]:
    """Macros of one name, each once."""
    return known + tuple(x for x in others if all((x.text, x.params) != (other.text, other.params) for other in known))


class _Group:
    """One `#if` to its `#endif`, on the way through it. before: the macros that it begins with. made: those of other branches."""

    def __init__(self, number: int, around: Branch | None, begin: int, before: dict[str, tuple[Macro, ...]]) -> None:
        self.before, self.made = before, list[dict[str, tuple[Macro, ...]]]()
        self.number, self.around, self.begin = number, around, begin
        self.live = self.taken = self.closed = False
        self.branch: Branch | None = None
        self.count = 0
        self.names: tuple[str, ...] = ()

    def enter(self, decided: tuple[bool | None, tuple[str, ...]], directive: Directive, begin: int, other: bool = False) -> None:
        """Go into a branch: `decided` is whether its condition holds by itself."""
        holds, names = decided
        self.count += 1
        self.begin = begin
        if holds is None:
            self.names = self.names or names
        self.branch = None
        self.live = not self.taken and not self.closed and holds is not False
        if self.live and (holds is None or (other and self.names)):
            span = Span(directive.start, directive.start + 1 + len(directive.word))
            self.branch = Branch(self.number, self.count, self.names, span, self.around)
        self.taken |= bool(holds)


def _balanced(tokens: list[CppToken], begin: int) -> bool:
    depth = 0
    for token in tokens[begin:]:
        if token.kind in ("(", "[", "{"):
            depth += 1
        elif token.kind in (")", "]", "}"):
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **COMPARE,
    "+": add,
    "-": sub,
    "*": mul,
    "/": lambda a, b: int(a // b) if b else None,
    "%": lambda a, b: a % b if b else None,
    "&": and_,
    "|": or_,
}


def _combined(operator: str, left: Any, right: Any) -> Any:
    """A binary operation of conditions, each of which may be unknown."""
    if operator == "&&":
        return False if left in (0, False) or right in (0, False) else None if left is None or right is None else True
    if operator == "||":
        return True if left or right else None if left is None or right is None else False
    if left is None or right is None or operator not in _BINARY or isinstance(left, str) or isinstance(right, str):
        return None
    if _NEW in (left, right):
        new_enough = (operator in (">", ">=") and left == _NEW) or (operator in ("<", "<=") and right == _NEW)
        return True if new_enough and left != right else None
    if max(abs(left), abs(right)) > 1 << 64:
        return None
    return _BINARY[operator](left, right)
