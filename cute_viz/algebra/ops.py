"""The registry: every operation once, for expressions, help and documentation.

A row says what an operation is called, what it takes, and where its function lives; the function is imported when it
is called. Template arguments (`size<1>(A)`) are handed on after the others, or under `keyword`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from cute_viz.algebra.operands import KINDS, converted, problem
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass, rows

TENSORS = frozenset("UFV")  # the kinds of operands that may be tensors, pointer and all


MEASURES = frozenset(["size", "rank", "depth", "shape", "stride", "layout", "cosize"])


@dataclass(frozen=True, slots=True)
class Op:
    """One operation.

    function: behind a colon, the operand that the name says, `thrfrg:A`: its parameter `operand`.
    kinds: a letter of `operands.KINDS` for each operand; `*` at the end repeats the last kind. Operands after `least` may be
        left out.
    templated: C++ gives modes or numbers as template arguments, so that `name<1>(A)` is read, too; there are at least
        `needs` of both together.
    """

    name: str
    module: str
    function: str
    signature: str
    kinds: str
    summary: str
    example: str
    least: int
    needs: int
    keyword: str | None = None
    templated: bool = False

    def call(self, args: list[object], template: tuple[object, ...] = ()) -> Any:
        """The result for evaluated operands. Raises: AlgebraError for operands that the operation does not take, with its
        signature and an example; and as its function."""
        from cute_viz.algebra.operands import entered, is_mixed, left, through

        if any(isinstance(x, Tensor) for x in args) and not TENSORS.intersection(self.kinds):
            return through(self, args, template)
        if self.name in MEASURES:  # of a fragment of descriptors, too
            args = [x.layout if getattr(x, "tiling", "") == "descriptor" and hasattr(x, "layout") else x for x in args]
        inside = entered(self.name, args)
        operands, named = self.fitted(inside, template)
        result = self.resolve()(*operands, **named)
        return left(result) if inside is not args or is_mixed(operands) else result

    def fitted(self, args: list[object], template: tuple[object, ...] = ()) -> tuple[list[object], dict[str, object]]:
        """Operands as the function takes them, by position and by name. Raises: AlgebraError for operands that do not fit."""
        self.check_count(args)
        if template and not self.templated:
            raise AlgebraError(f"{self.signature} takes no template arguments", hint=f"example: {self.example}")
        if self.keyword and template:
            if len(template) > 1:
                raise self._count(f"{len(template)} template arguments")
            return self._checked(args), {self.keyword: self._one(template[0], "N" if self.keyword == "n" else "J")}
        given = [*args, *template]
        if len(given) < self.needs or (len(given) > len(self.kinds) and not self.kinds.endswith("*")):
            raise self._count(f"{len(given)} operand{'' if len(given) == 1 else 's'}, template arguments included")
        return self._checked(given), {}

    def public(self) -> Callable[..., object]:
        """The operation as a Python function: as its own one, but bad arguments are refused in words."""
        from functools import wraps
        from inspect import signature

        own = self.resolve()
        parameters = signature(own)
        if ":" in self.function:  # the operand is in the name; other parameters are those that the row has
            names = [name for name in parameters.parameters if name != "operand"]
            kept = {*names[: len(self.kinds)], self.keyword}
            parameters = parameters.replace(parameters=[p for p in parameters.parameters.values() if p.name in kept])

        @wraps(own)
        def operation(*args: object, **named: object) -> object:
            try:
                bound = parameters.bind(*args, **named)
            except TypeError as error:
                raise AlgebraError(f"{self.signature}: {error}", hint=f"example: {self.example}") from None
            bound.apply_defaults()
            given = list(bound.args)
            while given and given[-1] is None and len(given) > self.least:
                given.pop()
            last = self.keyword is not None and len(given) > len(self.kinds)
            operands, extra = self.fitted(given[:-1] if last else given, tuple(given[-1:]) if last else ())
            return own(*operands, **extra)

        operation.__name__ = operation.__qualname__ = self.name
        operation.__doc__ = own.__doc__ or f"{self.summary[0].upper()}{self.summary[1:]}.\n\nSuch as {self.example}"  # python -OO
        return operation

    def check_count(self, args: list[object]) -> None:
        """Refuse too few or too many operands."""
        if len(args) < self.least or (len(args) > len(self.kinds) and not self.kinds.endswith("*")):
            raise self._count(f"{len(args)} operand{'' if len(args) == 1 else 's'}")

    def _checked(self, operands: list[object]) -> list[object]:
        """Operands as their kinds want them. Raises: AlgebraError for those that are of another; None stands for one that is left out."""
        kinds = self.kinds.rstrip("*")
        out = []
        for n, operand in enumerate(operands):
            kind = kinds[min(n, len(kinds) - 1)]
            left_out = operand is None and n >= self.least and kind != "N"
            out.append(None if left_out else self._one(operand, kind))
        return out

    def resolve(self) -> Callable[..., object]:
        """The function that computes it, for operands that fit."""
        name, _, operand = self.function.partition(":")
        function: Callable[..., Any] = getattr(import_module(f"cute_viz.algebra.{self.module}"), name)
        return _on(function, operand) if operand else function

    def _one(self, operand: object, letter: str) -> object:
        kind = KINDS[letter]
        if (reason := problem(operand, kind)) is not None:
            raise AlgebraError(f"{self.signature}: {reason}", hint=f"example: {self.example}")
        return converted(operand, kind)

    def _count(self, given: str) -> AlgebraError:
        return AlgebraError(f"{self.signature} does not take {given}", hint=f"example: {self.example}")


def _on(function: Callable[..., object], operand: str) -> Callable[..., object]:
    """A function on one of its operands, "A" or "S": whatever place it has among the parameters."""
    from functools import wraps

    at = function.__code__.co_varnames.index("operand")

    @wraps(function)
    def operation(*given: object, **named: object) -> object:
        return function(*given[:at], operand, *given[at:], **named)

    return operation


def _op(name: str, where: str, params: str, kinds: str, summary: str, example: str, more: str = "") -> Op:
    """A row of ops.txt, which says what its cells are."""
    said = dict(word.partition("=")[::2] for word in more.split())
    module, _, function = where.partition(".")
    most = len(kinds.rstrip("*")) - kinds.endswith("*")
    least = int(said.get("least", most))
    needs = int(said.get("needs", least))
    signature = f"{name}({params})"
    keyword = said.get("keyword")
    return Op(name, module, function or name, signature, kinds, summary, example, least, needs, keyword, "templated" in said)


_TABLE = rows(__file__, "ops.txt")
OPS: dict[str, Op] = {cells[0]: _op(*cells) for cells in _TABLE if len(cells) > 3}
ALIASES = {cells[0]: cells[1] for cells in _TABLE if len(cells) == 2}  # names of CuTe's Python DSL and of older headers
ELSEWHERE = {word: cells[2] for cells in _TABLE if len(cells) == 3 for word in cells[0].split()}  # names of other libraries


def find(name: str) -> Op:
    """The operation of a name, with or without `cute::` or `cute.`; an AlgebraError names the nearest ones. `dsl.` before the
    last word means what the DSL's compiler computes, where that is something else: see dsl.py."""
    short = name.replace("::", ".").rsplit(".", 1)[-1]
    short = f"blockwise_{short}" if "BlockwiseScaleConfig" in name else short
    short = ALIASES.get(short, short)
    if short in OPS:
        return replace(OPS[short], module="dsl", function=short) if ".dsl." in f".{name}" else OPS[short]
    from difflib import get_close_matches

    near = get_close_matches(short, [*OPS, *ALIASES], n=3, cutoff=0.55)
    hint = elsewhere(short) or (f"did you mean {', '.join(near)}?" if near else "cute-viz list ops names them all")
    raise AlgebraError(f"there is no operation {name!r}", hint=hint)


def elsewhere(word: str) -> str | None:
    """What CuTe has for a word of other libraries; None for any other word."""
    return f"in CuTe it is {ELSEWHERE[word]}" if word in ELSEWHERE else None
