"""The syntax tree of C++ expressions and types: what was written, each piece with its span."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias

from cute_viz.errors import Span
from cute_viz.notation.syntax import Spanned

COMPARE: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}


class Parsed(Spanned):
    """A node, which answers what most are asked: of those that are none of it, nothing."""

    @property
    def plain(self) -> str:
        """The name that it is, without scope and arguments."""
        return ""

    @property
    def called(self) -> str:
        """The last word of the function that it calls."""
        return ""

    @property
    def pack(self) -> Node | None:
        """What `x...` spreads."""
        return None


class Literal(Parsed):
    """A number, a string, a character, `true`, `nullptr`."""

    value: int | float | str | bool | None


class Part:
    """A piece of a qualified name: `name` or `name<args>`."""

    __slots__ = ("args", "name", "span")

    def __init__(self, name: str, args: tuple[Node, ...] | None, span: Span) -> None:
        self.name = name
        self.args = args
        self.span = span


class Id(Parsed):
    """A name, qualified or not, each part with its template arguments: `A<B>::C`; builtin types of several words are one."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The name without arguments, `A::C`."""
        return "::".join(part.name for part in self.parts)

    @property
    def plain(self) -> str:
        """The name, where it is alone."""
        return self.parts[0].name if len(self.parts) == 1 and self.parts[0].args is None else ""


class CppCall(Parsed):
    """`f(args)`; `f` is any expression."""

    function: Node
    args: tuple[Node, ...]

    @property
    def called(self) -> str:
        """The last word of the function."""
        return self.function.parts[-1].name if isinstance(self.function, Id) else ""


class Brace(Parsed):
    """`T{args}`, or `{args}` without a type."""

    type: Node | None
    args: tuple[Node, ...]


class Member(Parsed):
    """`x.name`, `x->name`, `x.template name<args>`."""

    object: Node
    part: Part


class Binary(Parsed):
    """`a + b` and the like; a comma outside of arguments, too."""

    operator: str
    left: Node
    right: Node


class Unary(Parsed):
    """`-a`, `!a`, `&a`, `*a`, `++a`; `a++` is `x++`, `a...` is `...`; a pointer type is `T*`."""

    operator: str
    value: Node

    @property
    def pack(self) -> Node | None:
        """What is spread."""
        return self.value if self.operator == "..." else None


class Condition(Parsed):
    """`a ? b : c`."""

    test: Node
    yes: Node
    no: Node


class Cast(Parsed):
    """`(T)x`, `static_cast<T>(x)`."""

    type: Node
    value: Node


class Index(Parsed):
    """`x[i]`."""

    value: Node
    index: Node


class Decltype(Parsed):
    """`decltype(x)`; with members behind it, `decltype(x)::T`."""

    value: Node
    parts: tuple[Part, ...]


class Lambda(Parsed):
    """`[...](...) {...}`: its place among the tokens tells its scope."""

    token: int


class Written(Parsed):
    """What CuTe prints, in the place of an operand: `4:2` is a `pair`, `a o b` a `composition`."""

    kind: str
    items: tuple[Node, ...]


Node: TypeAlias = (
    "Literal | Id | CppCall | Brace | Member | Binary | Unary | Condition | Cast | Index | Decltype | Lambda | Written"
)
