"""What the parts of the evaluator ask of it."""

from __future__ import annotations

from typing import Any, Protocol

from cute_viz.errors import NotationError, Span
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.lookup import Found, Lookup
from cute_viz.source.cpp.scopes import Declaration, Range, Scope
from cute_viz.source.cpp.tree import Binary, Node, Part
from cute_viz.source.cpp.values import Cell, Class, Closure, Env, Function
from cute_viz.values.types import ValueType


class Meaning(Protocol):
    """An evaluator of trees in one environment."""

    context: Context
    lookup: Lookup
    env: Env
    text: str

    def position(self, span: Span) -> int | None:
        """The token at a place of the file; None in a text that is none of it."""

    def value(self, node: Node) -> Any:
        """The value of a tree, which may be a name that this file does not define."""

    def solid(self, node: Node) -> Any:
        """The value of a tree. Raises: the error of a name that this file does not define."""

    def argument(self, node: Node) -> Any:
        """The value of a template argument: its integers are static."""

    def arguments(self, nodes: tuple[Node, ...]) -> list[Any]:
        """The values of the arguments of a call, packs spread."""

    def fail(self, message: str, span: Span, hint: str | None = None, needs: tuple[str, ...] = ()) -> NotationError:
        """The error at a place in the text; the caller raises it."""

    def operate(self, name: str, operands: list[Any], template: tuple[Any, ...] = ()) -> Any:
        """The result of an operation of the registry."""

    def inside(self, env: Env) -> Meaning:
        """The evaluator in another environment."""

    def of(self, part: Range, env: Env) -> Any:
        """The value of tokens in an environment."""

    def type_member(self, value: Any, part: Part, span: Span) -> Any:
        """`T::name` of a type."""

    def apply(self, function: Any, args: tuple[Node, ...], span: Span) -> Any:
        """The value of a call of a value."""

    def called(self, function: Function, args: list[Any], span: Span, cells: tuple[Cell | None, ...] = ()) -> Any:
        """The value that a function of the file returns."""

    def closed(self, closure: Closure, args: list[Any], span: Span, cells: tuple[Cell | None, ...] = ()) -> Any:
        """The value that a lambda returns."""

    def place(self, node: Node) -> Cell | None:
        """Where the value of a tree is kept, if it can change."""

    def cell(self, name: str) -> Cell | None:
        """The variable of a running function that a name means."""

    def combined(self, operator: str, left: Any, right: Any, node: Binary) -> Any:
        """An operator of two values."""

    def aggregate(self, kind: Class, args: tuple[Node, ...], span: Span) -> Class:
        """An object of a class of the file."""

    def given(self, key: str, as_type: bool) -> Any:
        """What was given under a key."""

    def known(self, value: Any, span: Span) -> Any:
        """A value that is not from another file. Raises: the error of a name that is."""

    def truth(self, node: Node) -> bool:
        """Whether a condition holds. Raises: where it is not known."""

    def lazily(self, nodes: tuple[Node, ...]) -> list[Any]:
        """Template arguments that are evaluated when they are asked for."""

    def made(self, kind: Any, args: tuple[Node, ...], span: Span) -> Any:
        """A value of a type that begins with arguments."""

    def converted(self, value: Any, kind: ValueType, span: Span) -> Any:
        """A value as a type of numbers."""

    def unexpanded(self, name: str, span: Span) -> NotationError:
        """The error of a macro of the file that stands for nothing."""

    def specialised(self, scope: Scope, values: list[Any]) -> Class | None:
        """A specialisation of the file for arguments; None where it is not for them."""

    def variable(self, declaration: Declaration, init: Range | None, opens: str) -> Any:
        """The value of a variable of this scope whose initializer is given."""

    def meant(self, found: Found, part: Part, span: Span) -> Any:
        """The value of what a name was found to mean, with its template arguments."""

    def special(self, specs: list[Scope], values: list[Any], span: Span) -> Class | None:
        """The specialisation for arguments; None where the template itself is meant."""
