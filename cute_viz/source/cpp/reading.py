"""What the parts of the evaluator ask of it."""

from __future__ import annotations

from typing import Any, Protocol

from cute_viz.errors import NotationError, Span
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.lookup import Lookup
from cute_viz.source.cpp.scopes import Range
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.values import Env


class Meaning(Protocol):
    """An evaluator of trees in one environment."""

    context: Context
    lookup: Lookup
    env: Env
    text: str

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

    def given(self, key: str, as_type: bool) -> Any:
        """What was given under a key."""
