"""What a C++ file declares: scopes in scopes, each with its declarations, as ranges of tokens that nobody has read yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from cute_viz.records import dataclass

if TYPE_CHECKING:
    from cute_viz.source.cpp.preprocess import Branch

Range: TypeAlias = "tuple[int, int]"  # of tokens
_Inner = TypeVar("_Inner", bound=Any)


def outward(inner: _Inner | None, outer: _Inner | None = None) -> Iterator[_Inner]:
    """A scope, or an environment, and those around it, the innermost first, up to another one."""
    while inner is not None and inner is not outer:
        yield inner
        inner = inner.parent


@dataclass(slots=True, eq=False)
class Param:
    """A parameter of a template or of a function. kind: `type`, `value` or `template`; of a function `value`. type: the tokens
    of its type; default: of its default."""

    name: str
    kind: str
    token: int
    type: Range | None = None
    default: Range | None = None
    pack: bool = False
    constant: bool = True


@dataclass(slots=True, eq=False)
class Declaration:
    """A name that a scope declares.

    kind: `alias`, `variable`, `function`, `class`, `enumerator`, `loop` or `using`. type, init: tokens; opens: what the initializer
        begins with (`=`, `{`, `(` or nothing). params: template parameters, of an alias or a variable. place: which name of a
        structured binding, which enumerator of an enumeration. array, pointer: it is one, of the type.
    """

    kind: str
    name: str
    token: int
    scope: Scope
    type: Range | None = None
    init: Range | None = None
    opens: str = ""
    params: tuple[Param, ...] | None = None
    inner: Scope | None = None
    place: int | None = None
    branch: Branch | None = None
    mixed: Branch | None = None
    array: bool = False
    pointer: bool = False
    constant: bool = False
    static: bool = False


@dataclass(slots=True, eq=False)
class Change:
    """An assignment to a name, or what else changes it: `value` is what it is then, None where that is not read. call: it is the
    argument of a function, and its place, which only a reference changes; below 0 a part of it changes."""

    token: int
    scope: Scope
    value: Range | None
    call: tuple[str, int] | None = None

    @property
    def within(self) -> bool:
        """Whether only a part of an object changes."""
        return self.call is not None and self.call[1] < 0


@dataclass(slots=True, eq=False)
class Stmt:
    """A statement of a function.

    kind: `return`, `if`, `block`, `for`, `while`, `do`, `switch`, `case`, `break`, `continue`, `expression`, `declare`, or
        `other`, which is not read. value: the expression, the condition. yes, no: its blocks; of `for` the one around, with
        what it begins with, and its body. step: what `for` ends with each time. declared: the variables. end: the token behind it.
    """

    kind: str
    token: int
    value: Range | None = None
    yes: Scope | None = None
    no: Scope | None = None
    constant: bool = False
    step: Range | None = None
    declared: tuple[Declaration, ...] = ()
    end: int = 0


@dataclass(slots=True, eq=False)
class Scope:
    """A namespace, class, function or block.

    kind: `file`, `namespace`, `class`, `enum`, `function`, `lambda` or `block`. flow: of a block, whether it may run once, many
        times or not at all: ``, `if`, `loop`. spec: the arguments of a specialisation. words: its name in paths.
    """

    kind: str
    name: str
    parent: Scope | None
    token: int
    words: tuple[str, ...] = ()
    flow: str = ""
    params: tuple[Param, ...] | None = None  # of the template
    spec: Range | None = None
    bases: list[Range] = field(default_factory=list)
    arguments: tuple[Param, ...] = ()  # of the function
    using: list[str] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    names: dict[str, list[Declaration]] = field(default_factory=dict)
    statements: list[Stmt] = field(default_factory=list)
    changes: dict[str, list[Change]] = field(default_factory=dict)  # of functions, all that is in it
    home: Scope = field(init=False)  # it, or what is around the blocks that it is in

    def __post_init__(self) -> None:
        self.home = self.parent.home if self.kind == "block" and self.parent is not None else self

    def add(self, declaration: Declaration) -> None:
        """Declare a name."""
        self.declarations.append(declaration)
        self.names.setdefault(declaration.name, []).append(declaration)

    @property
    def local(self) -> bool:
        """Whether names here are seen only behind their declarations."""
        return self.kind in ("function", "lambda", "block")

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the scopes around and of this one."""
        return tuple(word for scope in reversed(list(outward(self))) for word in scope.words)

    @property
    def holder(self) -> Stmt | None:
        """The statement of which a block is a branch or the body, None of any other."""
        around = self.parent.statements if self.parent is not None else ()
        return next((statement for statement in around if self in (statement.yes, statement.no)), None)

    def inside(self, other: Scope) -> bool:
        """Whether it is another one, or in it."""
        return any(scope is other for scope in outward(self))
