"""The syntax tree of C++ expressions and types: what was written, each piece with its span."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias

from cute_viz.errors import Span

COMPARE: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}


class _Node:
    """A node: its span, then the values of its slots in order."""

    __slots__ = ("span",)
    span: Span

    def __init__(self, span: Span, *values: object) -> None:
        self.span = span
        for name, value in zip(self.__slots__, values, strict=True):
            setattr(self, name, value)


class Literal(_Node):
    """A number, a string, a character, `true`, `nullptr`."""

    __slots__ = ("value",)
    value: int | float | str | bool | None


class Part:
    """A piece of a qualified name: `name` or `name<args>`."""

    __slots__ = ("args", "name", "span")

    def __init__(self, name: str, args: tuple[Node, ...] | None, span: Span) -> None:
        self.name = name
        self.args = args
        self.span = span


class Id(_Node):
    """A name, qualified or not, each part with its template arguments: `A<B>::C`; builtin types of several words are one."""

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The name without arguments, `A::C`."""
        return "::".join(part.name for part in self.parts)


class Call(_Node):
    """`f(args)`; `f` is any expression."""

    __slots__ = ("function", "args")
    function: Node
    args: tuple[Node, ...]


class Brace(_Node):
    """`T{args}`, or `{args}` without a type."""

    __slots__ = ("type", "args")
    type: Node | None
    args: tuple[Node, ...]


class Member(_Node):
    """`x.name`, `x->name`, `x.template name<args>`."""

    __slots__ = ("object", "part")
    object: Node
    part: Part


class Binary(_Node):
    """`a + b` and the like; a comma outside of arguments, too."""

    __slots__ = ("operator", "left", "right")
    operator: str
    left: Node
    right: Node


class Unary(_Node):
    """`-a`, `!a`, `&a`, `*a`, `++a`; `a++` is `x++`, `a...` is `...`; a pointer type is `T*`."""

    __slots__ = ("operator", "value")
    operator: str
    value: Node


class Condition(_Node):
    """`a ? b : c`."""

    __slots__ = ("test", "yes", "no")
    test: Node
    yes: Node
    no: Node


class Cast(_Node):
    """`(T)x`, `static_cast<T>(x)`."""

    __slots__ = ("type", "value")
    type: Node
    value: Node


class Index(_Node):
    """`x[i]`."""

    __slots__ = ("value", "index")
    value: Node
    index: Node


class Decltype(_Node):
    """`decltype(x)`; with members behind it, `decltype(x)::T`."""

    __slots__ = ("value", "parts")
    value: Node
    parts: tuple[Part, ...]


class Lambda(_Node):
    """`[...](...) {...}`: its place among the tokens tells its scope."""

    __slots__ = ("token",)
    token: int


class Written(_Node):
    """What CuTe prints, in the place of an operand: `4:2` is a `pair`, `a o b` a `composition`."""

    __slots__ = ("kind", "items")
    kind: str
    items: tuple[Node, ...]


Node: TypeAlias = "Literal | Id | Call | Brace | Member | Binary | Unary | Condition | Cast | Index | Decltype | Lambda | Written"
