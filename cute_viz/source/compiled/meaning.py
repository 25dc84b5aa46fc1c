"""The operands of a call in a compiled unit: types give layouts, expressions the memory and the part of each thread.

What is computed here is held to the compiler's type: where a static integer differs, the statement is not evaluated, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from cute_viz.algebra.inttuple import Underscore, leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.shapes import congruent
from cute_viz.algebra.shares import copy_share, local_share, mma_share, sliced_share
from cute_viz.algebra.static import each_integer, mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.notation.reading import Resolver
from cute_viz.source.compiled.clang import Call, Instance, Node, Unit, Variable
from cute_viz.source.compiled.values import is_object, value_of
from cute_viz.values.integer import Static, Unknown, unknowns

PITCH = 8192  # what a run-time size or stride counts as, in elements
_TURNS = 8  # values of such an index that are tried
_DEEP = 48  # expressions and callers behind one another


@dataclass(frozen=True, slots=True)
class Frame:
    """An instance as one chain of calls reaches it: by which of the caller's uses."""

    number: int
    caller: Frame | None = None
    use: int = -1

    def lines(self, unit: Unit) -> tuple[int, ...]:
        """Where each of the chain is called, innermost first."""
        out: list[int] = []
        frame = self
        while frame.caller is not None:
            out.append(unit.instances[frame.caller.number].uses[frame.use].line)
            frame = frame.caller
        return tuple(out)


class Meaning:
    """The values of a unit's expressions. notes: what was taken for granted."""

    def __init__(self, unit: Unit, resolve: Resolver | None, notes: dict[str, None]) -> None:
        self.unit, self.resolve, self.notes = unit, resolve, notes
        self.values: dict[str, Any] = {}
        self.names = [_named(instance) for instance in unit.instances]
        self.turn, self.turns = 0, 1  # which value an index has that only a run knows, of how many that may matter

    def typed(self, type_: str) -> Any:
        """The value that a type says. Raises: CuteVizError for one that says none."""
        if type_ not in self.values:
            try:
                if not is_object(type_):
                    raise AlgebraError(f"{type_[:80]} is not an object of CuTe")
                self.values[type_] = value_of(type_.removeprefix("const ").rstrip("& "), self.resolve)
            except CuteVizError as error:
                self.values[type_] = error
        value = self.values[type_]
        if isinstance(value, CuteVizError):
            raise value
        return value

    def operands(self, frame: Frame, call: Call, turn: int) -> list[Any]:
        """The operands of a call; an index that only a run knows has the value `turn`, and `turns` counts those that may matter."""
        self.turn, self.turns = turn, 1
        return [self.operand(frame, arg) for arg in call.args]

    def operand(self, frame: Frame, node: Node) -> Any:
        """The value of an operand; the error of one that is not known."""
        try:
            value = self.typed(node.type)
            return self.tensor(frame, node) if isinstance(value, Tensor) else value
        except CuteVizError as error:
            return error

    def tensor(self, frame: Frame, node: Node, deep: int = 0) -> Tensor:
        """The tensor that an expression is. Raises: the error of what is not known."""
        if deep > _DEEP:
            raise AlgebraError("tensors refer to one another too deeply")
        value = self.typed(node.type)
        if not isinstance(value, Tensor):
            raise AlgebraError(f"{value} is not a tensor in memory")
        if value.pointer.space == "rmem" or value.pointer.type is None:
            return replace(self.numbered(value), name="registers")
        return _held(self.expressed(frame, node, value, deep), value)

    def expressed(self, frame: Frame, node: Node, value: Tensor, deep: int) -> Tensor:
        """What the expression says of a tensor whose type is known."""
        if node.kind == "ref":
            return self.named(frame, node, value, deep)
        if node.kind != "call":
            return self.numbered(value, node.text)
        base, *args = node.parts
        if node.text == "make_tensor":
            return self.made(frame, args, value, deep)
        if node.text == "operator()" and base.type:
            return self.sliced(self.tensor(frame, base, deep + 1), args)
        if node.text.startswith("partition_") and base.type and args:
            return self.parted(frame, node.text.removeprefix("partition_"), base, args[0], value, deep)
        if node.text == "local_partition" and len(args) in (3, 4) and is_object(args[1].type):
            whole = self.tensor(frame, args[0], deep + 1)
            tile = self.typed(args[1].type)
            proj = self.typed(args[3].type) if len(args) == 4 else None
            return local_share(whole, tile if isinstance(tile, Layout) else Layout(tile), proj)
        for arg in (*args, base):
            if is_object(arg.type) and isinstance(self.typed(arg.type), Tensor):
                return self.viewed(self.tensor(frame, arg, deep + 1), value)
        return self.numbered(value, node.text)

    def named(self, frame: Frame, node: Node, value: Tensor, deep: int) -> Tensor:
        """A variable, by what it begins with; a parameter, by the argument of the call."""
        variable = self.names[frame.number].get((node.text, node.line))
        if variable is not None and variable.kind == "param" and frame.caller is not None:
            instance = self.unit.instances[frame.number]
            params = [x.name for x in instance.variables if x.kind == "param"]
            use = self.unit.instances[frame.caller.number].uses[frame.use]
            place = params.index(node.text)
            if place < len(use.args):
                return self.tensor(frame.caller, use.args[place], deep + 1)
        if variable is not None and variable.init is not None and is_object(variable.init.type):
            found = self.tensor(frame, variable.init, deep + 1)
            return found if found.name else replace(found, name=node.text, pointer=replace(found.pointer, base=node.text))
        return self.numbered(value, node.text)

    def made(self, frame: Frame, args: list[Node], value: Tensor, deep: int) -> Tensor:
        """`make_tensor(pointer, layout)`: a view of another tensor's buffer, or the whole of one."""
        pointer = args[0] if args else None
        if (
            pointer is not None
            and pointer.kind == "call"
            and pointer.text in ("data", "begin")
            and is_object(pointer.parts[0].type)
        ):
            return self.viewed(self.tensor(frame, pointer.parts[0], deep + 1), value)
        return self.numbered(value, "")

    def parted(self, frame: Frame, side: str, base: Node, arg: Node, value: Tensor, deep: int) -> Tensor:
        """`partition_S` and its like, of every thread."""
        view = self.typed(base.type)
        tiling = getattr(view, "tiled", view)
        whole = self.tensor(frame, arg, deep + 1)
        if side not in ("A", "B", "C", "S", "D") or tiling.atom.instruction.kind == "tcgen05.mma":
            return self.viewed(whole, value)  # of a CTA, whose threads share it
        if whole.starts:
            raise AlgebraError("this is a part of a thread already")
        return copy_share(whole, tiling, side) if side in "SD" else mma_share(whole, tiling, side)

    def sliced(self, x: Tensor, args: list[Node]) -> Tensor:
        """A part at a coordinate; an index that only a run knows is 0 where its steps matter neither to banks nor to sectors."""
        coord = tuple(self.index(arg) for arg in args)
        if len(coord) == 1 and isinstance(coord[0], Underscore):
            return x
        lost = sum(1 for _ in unknowns(coord))
        first, *others = [_at(coord, n) for n in range(lost + 1)]
        if not any((_begin(x, other) - _begin(x, first)) * x.bits % _period(x) for other in others):
            return sliced_share(x, first)
        sizes = [size(Layout(mode)) for mode, at in zip(modes(x.layout.shape), coord, strict=False) if isinstance(at, Unknown)]
        self.turns = max(self.turns, min(_TURNS, max(sizes, default=1)))
        parts = zip(modes(x.layout.shape), coord, first, strict=True)
        return sliced_share(x, tuple(self.turned(mode, at, begin) for mode, at, begin in parts))

    def turned(self, mode: Any, at: Any, begin: Any) -> Any:
        """An index, of one that only a run knows the value whose turn it is."""
        return self.turn % size(Layout(mode)) if isinstance(at, Unknown) else begin

    def index(self, node: Node) -> Any:
        """An index of a slice: `_`, a number, or one that only a run knows."""
        if node.type.removeprefix("const ").rstrip("& ") == "cute::Underscore":
            return Underscore()
        if node.kind == "number" and node.text.isdigit():
            return int(node.text)
        return self.typed(node.type) if is_object(node.type) else Unknown()

    def viewed(self, x: Tensor, value: Tensor) -> Tensor:
        """Another layout over the buffer of a tensor."""
        made = self.numbered(value, x.name)
        pointer = replace(made.pointer, base=x.pointer.base, space=made.pointer.space or x.pointer.space)
        return replace(made, pointer=pointer, part=x.part if value.pointer.type == x.pointer.type else None)

    def numbered(self, value: Tensor, name: str | None = None) -> Tensor:
        """A tensor in whose layout a run-time size or stride counts as a large aligned number."""
        if next(unknowns(value.layout), None) is not None:
            self.notes[f"sizes and strides that only a run knows count as multiples of {PITCH} elements"] = None
            turns = count(1)
            stride = _replaced(value.layout.stride, lambda: PITCH * next(turns))
            value = replace(value, layout=Layout(_replaced(value.layout.shape, lambda: PITCH), stride))
        if isinstance(value.offset, Unknown):
            value = replace(value, pointer=replace(value.pointer, offset=0))
        return value if name is None else replace(value, name=name, pointer=replace(value.pointer, base=name))


def frames(unit: Unit, most: int = 4096) -> Iterator[Frame]:
    """Each instance as each chain of calls from a kernel reaches it; of a unit without kernels, from what nothing calls."""
    used = {use.instance for instance in unit.instances for use in instance.uses}
    kernels = [n for n, instance in enumerate(unit.instances) if instance.kernel]
    todo = [Frame(n) for n in kernels or [n for n in range(len(unit.instances)) if n not in used]]
    seen = 0
    while todo and seen < most:
        frame = todo.pop()
        seen += 1
        yield frame
        chain = {frame.number}
        above = frame.caller
        while above is not None:
            chain.add(above.number)
            above = above.caller
        for n, use in reversed(list(enumerate(unit.instances[frame.number].uses))):
            if use.instance not in chain and _counts(unit, use.instance, {}):
                todo.append(Frame(use.instance, frame, n))


def _counts(unit: Unit, number: int, known: dict[int, bool]) -> bool:
    """Whether an instance, or one that it uses, has a statement that moves."""
    if number not in known:
        known[number] = False
        instance = unit.instances[number]
        known[number] = bool(instance.calls) or any(_counts(unit, use.instance, known) for use in instance.uses)
    return known[number]


def _named(instance: Instance) -> dict[tuple[str, int], Variable]:
    return {(variable.name, variable.line): variable for variable in instance.variables}


def _replaced(value: Any, number: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_replaced(item, number) for item in value)
    return number() if isinstance(value, Unknown) else value


def _at(coord: Any, one: int) -> Any:
    """A coordinate in which each unknown index is 0, but for the one of a number, counted from 1, which is 1."""
    turns = count(1)

    def go(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(go, value))
        return int(next(turns) == one) if isinstance(value, Unknown) else value

    return go(coord)


def _begin(x: Tensor, coord: tuple[Any, ...]) -> int:
    return int(sliced_share(x, coord).offset)


def _period(x: Tensor) -> int:
    """Bits after which banks, or sectors of global memory, come again in the same order."""
    if x.pointer.space != "smem":
        return 256
    swizzle = x.pointer.swizzle or x.swizzle
    if swizzle is None:
        return 1024
    bits = 1 << (swizzle.base + swizzle.shift + swizzle.bits)
    return max(1024, bits * (8 if x.swizzle is None else x.bits))


def _held(found: Tensor, value: Tensor) -> Tensor:
    """A tensor whose layout has the static integers of the compiler's type.

    Raises: AlgebraError where the modes, or a static integer, differ.
    """
    own, other = found.layout, value.layout
    known = all(isinstance(leaf, Static) for leaf in leaves(other.shape))
    same = not known or [size(Layout(mode)) for mode in modes(own.shape)] == [size(Layout(mode)) for mode in modes(other.shape)]
    alike = congruent(own.shape, other.shape)
    if same and alike:
        pairs = zip((*leaves(own.shape), *leaves(own.stride)), (*leaves(other.shape), *leaves(other.stride)), strict=True)
        same = all(int(a) == int(b) for a, b in pairs if isinstance(b, Static) and isinstance(a, int))
    if not same:
        raise AlgebraError(f"a mistake in cute-viz: {each_integer(int, own)} is not the compiler's {other}")
    if not alike:
        return replace(found, layout=Layout(mark_static(own.shape), own.stride)) if known else found
    return replace(found, layout=Layout(_marked(own.shape, other.shape), _marked(own.stride, other.stride)))


def _marked(own: Any, other: Any) -> Any:
    """Integers, of which those are static that are so in another tuple."""
    if isinstance(own, tuple):
        return tuple(_marked(a, b) for a, b in zip(own, other, strict=True))
    return other if isinstance(other, Static) else own
