"""The statements of CuTe IR that copy and multiply: each operand by its type, and by the operations that it comes from."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cute_viz.algebra.copy import Copy_Atom, TiledCopy
from cute_viz.algebra.divide import logical_divide
from cute_viz.algebra.inttuple import Underscore, has_underscore, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import each_integer
from cute_viz.algebra.tensor import Tensor, make_tensor
from cute_viz.errors import AlgebraError, CuteVizError, NotationError
from cute_viz.notation.syntax import Resolver
from cute_viz.source.mlir_types import Setting, copy_atom, mma_atom, value_of
from cute_viz.source.moves import Move
from cute_viz.source.parts import TypeParts, held
from cute_viz.values.integer import Static
from cute_viz.values.types import Pointer, printed

_STATEMENT = re.compile(r"^[ \t]*\"?cute\.(copy|gemm)\"?\s*\(([^)\n]*)\)\s*(?:<\{[^\n]*?\}>\s*)?(?:\{[^}\n]*\}\s*)?:\s*\(", re.M)
_OPERATION = re.compile(r"\"?([\w.]+)\"?\s*(?:<[^>\n]*>\s*)?(?:([ABCSD])\s*)?\(([^)\n]*)\)")
_MEMREF = re.compile(r"!?(?:cute\.)?memref\s*<\s*(\w+)\s*,\s*(\w+)(.*)>", re.S)
_ALIGN = re.compile(r"align<(\d{1,6})>")
_PLACE = re.compile(r"loc\((#[\w$.-]+|\"[^\"\n]*\":\d+:\d+)[^\n]*\)[ \t]*$", re.M)
_FILE = re.compile(r'"([^"\n]+\.py)":(\d+):\d+')
_SIDES = {"cute.tiled.copy.partition_S": "S", "cute.tiled.copy.partition_D": "D"}
_POINTERS = ("cute.get_iter", "cute.recast_iter", "cute.add_offset")
_DEEP = 64


@dataclass(frozen=True, slots=True)
class Definition:
    """An operation that gives a value: where it stands, its name, a letter behind it, its operands, its type."""

    at: int
    name: str
    letter: str
    operands: tuple[str, ...]
    type: str


@dataclass(frozen=True, slots=True)
class IrText:
    """What the reader of the IR knows of it: its types, by names where they have one, and where each name is defined."""

    text: str
    aliases: dict[str, str]
    definitions: dict[str, list[Definition]]
    listed: Callable[[int], list[tuple[int, int]]]
    scope: Callable[[int], tuple[str, ...]]
    line: Callable[[int], int]

    def spelled(self, type_: str) -> str:
        """A type without an alias."""
        return self.aliases.get(type_, type_)

    def definition(self, name: str, before: int) -> Definition | None:
        """The last definition of a name before a place, in the same function."""
        rows = self.definitions.get(name, [])
        n = bisect([row.at for row in rows], before) - 1
        return rows[n] if n >= 0 and self.scope(rows[n].at) == self.scope(before) else None


def operation(text: str, at: int) -> tuple[str, str, tuple[str, ...]]:
    """The name of an operation, a letter behind it, and its operands; empty of another form."""
    found = _OPERATION.match(text, at)
    if found is None:
        plain = re.compile(r"scf\.\w+").match(text, at)  # whose results its regions yield
        return plain[0] if plain else "", "", ()
    return found[1], found[2] or "", tuple(word.strip() for word in found[3].split(",") if word.strip())


def moves(ir: IrText, resolve: Resolver | None, notes: dict[str, None]) -> Iterator[Move]:
    """Every `cute.copy` and `cute.gemm` of a text, in its order."""
    places = locations(ir.text)
    meaning = _Operands(ir, resolve, notes)
    for found in _STATEMENT.finditer(ir.text):
        operands = [word.strip() for word in found[2].split(",")]
        types = [ir.text[start:end] for start, end in ir.listed(found.end())]
        if len(types) != len(operands):
            continue
        at = found.start(1)
        end = ir.text.find("\n", found.end())
        where = _PLACE.search(ir.text, at, len(ir.text) if end < 0 else end)
        file, line = python_line(where[1] if where else "", places)
        values = partial(meaning.operands, found[1], operands, types, at)
        read, again = partial(meaning.at, 0, values), partial(meaning.again, values)
        text = _written(where[1] if where else "", places) or f"cute.{found[1]}({', '.join(operands)})"
        yield Move(found[1], line or ir.line(at), ir.scope(at), "", read, text, file=file, again=again)


def locations(text: str) -> dict[str, str]:
    """The locations that a text of IR names."""
    return dict(re.findall(r"^(#[\w$.-]+)\s*=\s*loc\(([^\n]*)\)\s*$", text, re.M))


def python_line(place: str, places: dict[str, str]) -> tuple[str, int]:
    """The line of Python that an operation comes from, where its location says it."""
    for _ in range(8):
        if (found := _FILE.search(place)) is not None:
            return found[1], int(found[2])
        inner = re.search(r"#[\w$.-]+", place)
        if inner is None or inner[0] not in places:
            return "", 0
        place = places[inner[0]]
    return "", 0


def _written(place: str, places: dict[str, str]) -> str:
    """The statement of Python that an operation comes from, where its location has all of it."""
    found = re.match(r'"((?:[^"\\]|\\.)*)"\(', places.get(place, ""))
    text = found[1] if found is not None else ""
    return text if "(" in text and text.count("(") == text.count(")") else ""


class _Operands(TypeParts):
    """The operands of statements."""

    def __init__(self, ir: IrText, resolve: Resolver | None, notes: dict[str, None]) -> None:
        super().__init__(notes, self.object)
        self.ir, self.resolve = ir, resolve

    def operands(self, name: str, operands: list[str], types: list[str], at: int) -> list[Any]:
        """The values of operands; the errors of those that are not known."""
        out = [self.operand(operand, type_, at) for operand, type_ in zip(operands, types, strict=True)]
        return _by_atom(out[:3]) if name == "copy" else out

    def operand(self, name: str, type_: str, at: int) -> Any:
        """The value of an operand, or its error."""
        try:
            value = self.typed(type_)
            return self.tensor(name, value, at, 0) if isinstance(value, Tensor) else value
        except CuteVizError as error:
            return error

    def typed(self, type_: str) -> Any:
        """The value that a type says, which may be an alias."""
        return super().typed(self.ir.spelled(type_))

    def object(self, type_: str) -> Any:
        """A tensor, an atom, a tiling or another object of CuTe."""
        if ".atom." in type_ and "tiled_copy" not in type_:
            return copy_atom(type_.replace("non_exec_tiled_", ""), self.resolve)
        if re.match(r"!?cute_nvgpu\.sm\d+\.mma", type_):
            return mma_atom(type_, self.resolve)
        if "smem_desc_view" in type_:
            found = re.search(r'"([^"\n]*)"', type_)
            inside = f'!cute.layout<"{found[1]}">' if found else type_
            return make_tensor(Pointer(), _static(value_of(Setting(inside, None), 0, len(inside))))
        setting = Setting(type_, self.resolve)
        value = value_of(setting, 0, len(type_))
        found = _MEMREF.fullmatch(type_)
        if found is None:
            return value
        align = _ALIGN.search(found[3])
        pointer = Pointer(found[2], printed(found[1]), align=int(align[1]) if align else None)
        return make_tensor(pointer, _static(value))

    def tensor(self, name: str, value: Tensor, at: int, deep: int) -> Tensor:
        """The tensor of a name whose type is known."""
        if deep > _DEEP:
            raise AlgebraError("tensors refer to one another too deeply")
        if value.pointer.space == "rmem" or value.pointer.type is None:
            return replace(self.numbered(value), name="registers")
        return held(self.expressed(name, value, at, deep), value)

    def expressed(self, name: str, value: Tensor, at: int, deep: int) -> Tensor:
        """What the operation that defines a name says of its tensor."""
        made = self.ir.definition(name, at)
        if made is not None and made.name.startswith("scf."):
            return self.yielded(name, made, value, deep)
        if made is None or not made.operands:
            return self.numbered(value, name.lstrip("%"))
        side = _SIDES.get(made.name, made.letter if made.name == "cute.tiled.mma.partition" else "")
        if side and len(made.operands) >= 2 and (whole := self.named(made.operands[1], made.at, deep)) is not None:
            tiling = self.typed(self.type_of(made.operands[0], made.at))
            return self.parted(whole, tiling, side, value)
        first = self.behind(made.operands[0], made.at) if made.name == "cute.make_view" else made.operands[0]
        if made.name == "cute_nvgpu.atom.tma_partition" and len(made.operands) == 5:
            first = made.operands[3]  # the tensor of shared memory, in the order of an instruction
        around = None if first is None else self.named(first, made.at, deep)
        if around is None:
            return self.numbered(value, name.lstrip("%"))
        if made.name == "cute.slice" and len(made.operands) == 2:
            coord = self.typed(self.type_of(made.operands[1], made.at))
            coord = coord if isinstance(coord, tuple) else (coord,)
            if has_underscore(coord) and not any(isinstance(x, tuple) and not isinstance(x, Underscore) for x in coord):
                return self.sliced(around, coord)
        return self.viewed(around, value, self.ordered(made))

    def ordered(self, made: Definition) -> bool:
        """Whether a view keeps the order of elements, as far as its name and its operands say it."""
        if made.name == "cute.logical_divide" and len(made.operands) == 2:
            tile = self.typed(self.type_of(made.operands[1], made.at))
            return isinstance(tile, Layout) and tile.stride == 1
        if made.name == "cute.make_view" and len(made.operands) == 2:
            layout = self.ir.definition(made.operands[1], made.at)
            return layout is not None and layout.name in ("cute.get_layout", "cute.append_to_rank")
        return made.name in ("cute.group_modes", "cute.coalesce", "cute.flatten")

    def yielded(self, name: str, made: Definition, value: Tensor, deep: int) -> Tensor:
        """What the regions of an operation yield: a part of threads, where they yield that and what a loop began with."""
        place = int(name.partition("#")[2] or 0)
        found: list[Tensor] = []
        for at, names in _yields(self.ir.text, made.at):
            if place < len(names) and self.ir.definition(names[place], at) is not None:
                inner = self.named(names[place], at, deep)
                found += [inner] if inner is not None and inner.starts else []
        if not found or any(replace(x, pointer=found[0].pointer) != found[0] for x in found):
            return self.numbered(value, name.lstrip("%"))
        return found[0]

    def named(self, name: str, at: int, deep: int) -> Tensor | None:
        """The tensor of a name; None of anything else."""
        try:
            value = self.typed(self.type_of(name, at))
        except NotationError:
            return None
        return self.tensor(name, value, at, deep + 1) if isinstance(value, Tensor) else None

    def behind(self, pointer: str, at: int) -> str | None:
        """The name of the tensor whose pointer a pointer is, moved or of another type; None where nothing says it."""
        for _ in range(_DEEP):
            made = self.ir.definition(pointer, at)
            if made is None or made.name not in _POINTERS or not made.operands:
                return None
            pointer, at = made.operands[0], made.at
            if made.name == "cute.get_iter":
                return pointer
        return None

    def type_of(self, name: str, at: int) -> str:
        """The type of a name. Raises: NotationError for one that is not defined before."""
        made = self.ir.definition(name, at)
        if made is None or not made.type:
            raise NotationError(f"{name} has no type here")
        return made.type


def _by_atom(operands: list[Any]) -> list[Any]:
    """The operands of a copy, whose tensors the compiler cuts into what the atom moves where their first mode has more."""
    first, *pair = operands
    atom = first.atom if isinstance(first, TiledCopy) else first
    if not isinstance(atom, Copy_Atom) or not all(isinstance(x, Tensor) for x in pair):
        return operands
    count = max(1, size(get(atom.layout_src, 1)))
    sizes = [size(Layout(modes(x.layout.shape)[0])) for x in pair]
    if any(one == count or one % count for one in sizes):
        return operands
    return [first, *(replace(x, layout=_static(_cut(x.layout, count))) for x in pair)]


def _cut(layout: Layout, count: int) -> Layout:
    """A layout whose first mode is two, the elements that an atom moves and how often it does."""
    (shape, *shapes), (stride, *strides) = modes(layout.shape), modes(layout.stride)
    two = logical_divide(Layout(shape, stride), count)
    assert isinstance(two, Layout)
    return Layout((*modes(two.shape), *shapes), (*modes(two.stride), *strides))


def _yields(text: str, at: int) -> Iterator[tuple[int, list[str]]]:
    """What the regions of an operation at a place yield, each with its place."""
    depth = 0
    for found in re.compile(r"[{}\n]|\bscf\.yield\s+([^:\n]*)").finditer(text, at):
        if found[0] == "\n":
            if depth == 0:
                return
        elif found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        elif depth == 1:
            yield found.start(), [word.strip() for word in found[1].split(",")]


def _static(value: Any) -> Any:
    """A layout whose numbers, which the compiler knows, are marked so."""
    return each_integer(lambda n: Static(n), value)
