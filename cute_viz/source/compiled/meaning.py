"""The operands of a call in a compiled unit: types give layouts, expressions the memory and the part of each thread.

What is computed here is held to the compiler's type: where a static integer differs, the statement is not evaluated, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.inttuple import Underscore
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.ops import OPS
from cute_viz.algebra.shares import parted_share
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.notation.syntax import Resolver
from cute_viz.source.compiled.unit import NEVER, CallSite, Instance, Node, Unit, Variable
from cute_viz.source.compiled.values import element_of, is_object, unqualified, unzipped, value_of
from cute_viz.source.parts import TypeParts, held
from cute_viz.source.type_scan import arguments
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType

_ORDERED = frozenset(("group_modes", "flatten", "coalesce", "append", "prepend", "group"))  # views that keep the order of elements
_OPERATION = re.compile(r"cute::((?:AutoVectorizingCopy|UniversalCopy|DefaultCopy|SM\d+_)\w*)")
_DEFAULTS = {"AutoVectorizingCopyWithAssumedAlignment": ("128",)}  # arguments that the compiler does not print
_OWNS = "cute::ArrayEngine<"  # of a tensor that has its elements
_MANY = 256  # expressions behind the operands of a call
_DEEP = 48  # expressions and callers behind one another
_POINTERS = frozenset(("make_smem_ptr", "make_gmem_ptr", "raw_pointer_cast", "recast_ptr", "data", "begin", "get", "operator->"))
_NUMBERS = frozenset(("void", "bool", "char", "short", "int", "long", "float", "double"))


@dataclass(frozen=True, slots=True)
class Reached:
    """An instance as one chain of calls reaches it: by which of the caller's uses."""

    number: int
    caller: Reached | None = None
    use: int = -1

    @property
    def chain(self) -> tuple[Reached, ...]:
        """It and its callers, innermost first."""
        return (self, *(self.caller.chain if self.caller is not None else ()))

    def uses(self, unit: Unit) -> list[tuple[Instance, CallSite]]:
        """Each caller with the call by which it goes on, innermost first."""
        callers = [(unit.instances[one.caller.number], one.use) for one in self.chain if one.caller is not None]
        return [(outer, outer.uses[use]) for outer, use in callers]

    def lines(self, unit: Unit) -> tuple[int, ...]:
        """Where each of the chain is called, innermost first."""
        return tuple(use.line for outer, use in self.uses(unit) if not outer.foreign)


class UnitMeaning(TypeParts):
    """The values of a unit's expressions. notes: what was taken for granted."""

    def __init__(self, unit: Unit, resolve: Resolver | None, notes: dict[str, None]) -> None:
        super().__init__(notes, self.object)
        self.unit, self.library = unit, resolve
        self.atoms: dict[str, MMA_Atom] = {}
        for instance in unit.instances:
            if instance.scope[-2:] == ("cute", "MMA_Traits") and (found := self.atom(instance)) is not None:
                self.atoms[found.name] = found
        uses = [(n, use) for n, instance in enumerate(unit.instances) for use in instance.uses if use.args]
        self.launched = {use.instance: (n, use) for n, use in reversed(uses) if unit.instances[use.instance].kernel}
        self.names = [{(one.name, one.line): one for one in instance.variables} for instance in unit.instances]

    def resolve(self, name: str, args: tuple[str, ...] = ()) -> Any:
        """The atom of a name: the user's own, or the library's."""
        own = self.atoms.get(name)
        return own if own is not None or self.library is None else self.library(name, args)

    def atom(self, traits: Instance) -> MMA_Atom | None:
        """The atom that the user's own traits describe; None where they do not say all of it."""
        types = {variable.name: variable.type for variable in traits.variables}
        name = next((value for _, value in traits.args), "").removeprefix("cute::")
        try:
            parts = [value_of(types[key], None) for key in ("ThrID", "Shape_MNK", "ALayout", "BLayout", "CLayout")]
            kinds = tuple(element_of(types[f"ValType{letter}"]) for letter in "ABCD")
        except (CuteVizError, LookupError):
            return None
        return MMA_Atom(parts[0], parts[1], parts[2], parts[3], parts[4], name, kinds)

    def object(self, type_: str) -> Any:
        """The object of a type. Raises: CuteVizError for one of no object of CuTe."""
        if not is_object(type_):
            found = _OPERATION.match(unqualified(type_))
            args = tuple(re.sub(r"\b(?:cute|cutlass)::", "", arg) for arg in arguments(type_) if arg)
            args = args or _DEFAULTS.get(found[1] if found else "", ())
            if found is not None and (operation := self.resolve(found[1], args)) is not None:
                return operation
            raise AlgebraError(f"{type_[:80]} is not an object of CuTe")
        return value_of(unqualified(type_), self.resolve)

    def operands(self, frame: Reached, call: CallSite) -> list[Any]:
        """The operands of a call."""
        return [self.operand(frame, arg) for arg in call.args]

    def behind(self, frame: Reached, call: CallSite) -> tuple[tuple[str, ...], frozenset[str]]:
        """The types of a call's operands, and of all that they are made of: parts of one type may be of different tensors."""
        return tuple(node.type for node in call.args), frozenset(node.type for _, node, _ in self.parts(frame, call.args))

    def definitions(self, frame: Reached, call: CallSite) -> list[frozenset[tuple[str, int]]]:
        """For each operand of a call where the variables are declared that it is made of."""
        parts = [self.parts(frame, (node,)) for node in call.args]
        return [frozenset((one.file, one.line) for *_, one in found if one is not None) for found in parts]

    def parts(self, frame: Reached, nodes: Iterable[Node]) -> Iterator[tuple[Reached, Node, Variable | None]]:
        """All expressions that some are made of, where, those of names with their variables, through callers and launches."""
        todo: list[tuple[Reached, Node]] = [(frame, node) for node in nodes]
        met = set[tuple[int, Node]]()
        while todo:
            where, node = todo.pop()
            if (where.number, node) in met or len(met) > _MANY:
                continue
            met.add((where.number, node))
            one = node.text == "conditional_return"  # of its type
            todo += [(where, part) for part in node.parts if not one or unqualified(part.type) == unqualified(node.type)]
            variable = None
            if node.kind == "ref":
                inner, variable, argument = self.declared(where, node)
                begun = argument if argument is not None else None if variable is None else variable.init
                if begun is not None:
                    todo.append((inner.caller if argument is not None and inner.caller is not None else inner, begun))
                elif variable is not None and variable.kind == "param" and inner.number in self.launched:
                    host, use = self.launched[inner.number]
                    params = [x.name for x in self.unit.instances[inner.number].variables if x.kind == "param"]
                    if len(params) == len(use.args) and params.count(node.text) == 1:
                        todo.append((Reached(host), use.args[params.index(node.text)]))
            yield where, node, variable

    def memory(self, frame: Reached, call: CallSite) -> Iterator[Tensor]:
        """The whole fragments of a thread that a call's operands are made of."""
        for _, node, variable in self.parts(frame, call.args):
            if variable is not None and variable.kind == "var" and _OWNS in node.type:
                with suppress(CuteVizError):
                    yield self.numbered(self.typed(node.type), node.text)

    def fragment(self, frame: Reached, node: Node) -> str:
        """The variable that has the registers of a tensor, "registers" where none has."""
        for _ in range(_DEEP):
            name, parts = "registers", (*node.parts[1:], *node.parts[:1])
            if node.kind == "ref":
                frame, variable, argument = self.declared(frame, node)
                if argument is not None and frame.caller is not None:
                    frame, node = frame.caller, argument
                    continue
                name, begun = node.text, None if variable is None or _OWNS in node.type else variable.init
                parts = () if begun is None else (begun,)
            found = next((part for part in parts if unqualified(part.type).startswith("cute::Tensor<")), None)
            if found is None:
                return name
            node = found
        return "registers"

    def operand(self, frame: Reached, node: Node) -> Any:
        """The value of an operand; the error of one that is not known."""
        try:
            node = replace(node, type=unzipped(node.type))  # scale factors are read with their data
            value = self.typed(node.type)
            return self.tensor(frame, node) if isinstance(value, Tensor) else value
        except CuteVizError as error:
            return error

    def tensor(self, frame: Reached, node: Node, deep: int = 0) -> Tensor:
        """The tensor that an expression is. Raises: the error of what is not known."""
        if deep > _DEEP:
            raise AlgebraError("tensors refer to one another too deeply")
        value = self.typed(node.type)
        if not isinstance(value, Tensor):
            raise AlgebraError(f"{value} is not a tensor in memory")
        if value.pointer.space == "rmem" or value.pointer.type is None:
            return self.numbered(value, self.fragment(frame, node))
        return held(self.expressed(frame, node, value, deep), value)

    def expressed(self, frame: Reached, node: Node, value: Tensor, deep: int) -> Tensor:
        """What the expression says of a tensor whose type is known."""
        if node.kind == "ref":
            return self.named(frame, node, value, deep)
        if node.kind == "choice":
            first, other = (self.tensor(frame, part, deep + 1) for part in node.parts[1:])
            if not first.is_like(other):
                raise AlgebraError("the sides of this condition begin at different places")
            return first
        if node.kind != "call":
            return self.numbered(value, node.text)
        base, *args = node.parts
        if node.text == "make_tensor":
            return self.made(frame, args, value, deep)
        if node.text == "operator()" and base.type and is_object(base.type):
            first, *more = map(self.index, args)
            coord = first if isinstance(first, tuple) and not more and not isinstance(first, Underscore) else (first, *more)
            return self.sliced(self.tensor(frame, base, deep + 1), coord)
        if node.text.startswith("partition_") and base.type and args:
            return self.divided(frame, node.text.removeprefix("partition_"), base, args[0], value, deep)
        if node.text == "local_partition" and len(args) in (3, 4) and is_object(args[1].type):
            whole = self.tensor(frame, args[0], deep + 1)
            tile = self.typed(args[1].type)
            proj = self.typed(args[3].type) if len(args) == 4 else None
            return parted_share(whole, tile if isinstance(tile, Layout) else Layout(tile), proj=proj)
        if (inner := self.returned(frame, node)) is not None:
            found = self.tensor(*inner, deep + 1)
            return found if found.name or found.starts or node.text == "operator()" else replace(found, name=node.text)
        if node.text == "conditional_return":  # the one of its type
            args = [arg for arg in args if unqualified(arg.type) == unqualified(node.type)]
        for arg in (*args, base):
            if is_object(arg.type) and isinstance(self.typed(arg.type), Tensor):
                whole = self.tensor(frame, arg, deep + 1)
                if whole.swizzle is not None and whole.starts and node.text.endswith("_divide") and len(args) == 2:
                    return replace(whole, layout=OPS[node.text].call([whole.layout, self.typed(args[1].type)]))
                return self.viewed(whole, value, node.text in _ORDERED)
        return self.numbered(value, node.text)

    def returned(self, frame: Reached, node: Node) -> tuple[Reached, Node] | None:
        """What a function of the unit gives back, and where that is read; None where nothing, or several expressions, say it."""
        for n, use in enumerate(self.unit.instances[frame.number].uses):
            if use.line == node.line and (node.text == "operator()" or use.name.rpartition("::")[2] == node.text):
                inner = self.unit.instances[use.instance]
                if not inner.foreign and len(inner.returns) == 1 and use.args == node.parts[1:]:
                    return Reached(use.instance, frame, n), inner.returns[0]
        return None

    def named(self, frame: Reached, node: Node, value: Tensor, deep: int) -> Tensor:
        """A variable, by what it begins with; a parameter, by the argument of the call."""
        frame, variable, argument = self.declared(frame, node)
        if argument is not None and frame.caller is not None:
            return self.tensor(frame.caller, argument, deep + 1)
        if variable is not None and variable.init is not None and is_object(variable.init.type):
            found = self.tensor(frame, variable.init, deep + 1)
            if found.name:
                return found
            base = found.pointer.base or f"?{node.text}"
            return replace(found, name=node.text, pointer=replace(found.pointer, base=base, name=node.text))
        return self.numbered(value, node.text)

    def made(self, frame: Reached, args: list[Node], value: Tensor, deep: int) -> Tensor:
        """`make_tensor(pointer, layout)`: a view of another tensor's buffer, or the whole of one."""
        pointer = args[0] if args else None
        if (
            pointer is not None
            and pointer.kind == "call"
            and pointer.text in ("data", "begin")
            and is_object(pointer.parts[0].type)
        ):
            return self.viewed(self.tensor(frame, pointer.parts[0], deep + 1), value)
        made = self.numbered(value, "")
        base = "" if pointer is None else self.spelled(frame, pointer)
        return replace(made, pointer=replace(made.pointer, base=base))

    def spelled(self, frame: Reached, node: Node, deep: int = 0) -> str:
        """The words for where a pointer points, the same for the same place: variables by what they begin with, parameters by
        their arguments, storage by its class; "" where that is not read."""
        if deep > _DEEP:
            return ""
        if node.kind == "field":
            inner = self.spelled(frame, node.parts[0], deep + 1)
            return f"{inner}.{node.text}" if inner else ""
        if node.kind == "call" and node.text in _POINTERS:
            return next((self.spelled(frame, part, deep + 1) for part in reversed(node.parts) if part.type), "")
        if node.kind != "ref":
            return ""
        frame, variable, argument = self.declared(frame, node)
        if argument is not None and frame.caller is not None:
            return self.spelled(frame.caller, argument, deep + 1)
        begun, storage = None if variable is None else variable.init, unqualified(node.type).rstrip("*& ")
        if begun is None or "[" in storage:  # of an array it is the extent
            return node.text
        if inner := self.spelled(frame, begun, deep + 1):
            return inner
        last = storage.rpartition(" ")[2]
        return "" if is_object(storage) or last in _NUMBERS or ValueType(last).kind else storage  # of numbers it is computed

    def declared(self, frame: Reached, node: Node) -> tuple[Reached, Variable | None, Node | None]:
        """Where a name is declared, what it is there, and of a parameter the argument of the call."""
        while (variable := self.names[frame.number].get((node.text, node.line))) is None and frame.caller is not None:
            frame = frame.caller  # a lambda has the names around it
        if variable is not None and variable.kind == "param" and frame.caller is not None:
            params = [x.name for x in self.unit.instances[frame.number].variables if x.kind == "param"]
            use = self.unit.instances[frame.caller.number].uses[frame.use]
            if len(params) == len(use.args) and params.count(node.text) == 1:
                return frame, variable, use.args[params.index(node.text)]
        return frame, variable, None

    def divided(self, frame: Reached, side: str, base: Node, arg: Node, value: Tensor, deep: int) -> Tensor:
        """`partition_S` and its like."""
        view = self.typed(base.type)
        return self.parted(self.tensor(frame, arg, deep + 1), getattr(view, "tiled", view), side, value)

    def index(self, node: Node) -> Any:
        """An index of a slice: `_`, a number, or one that only a run knows."""
        if unqualified(node.type) == "cute::Underscore":
            return Underscore()
        if node.kind == "call" and node.text in ("make_coord", "make_tuple"):
            return tuple(map(self.index, node.parts[1:]))
        if node.kind == "number" and node.text.isdigit():
            return int(node.text)
        return self.typed(node.type) if is_object(node.type) else Unknown()


def frames(unit: Unit, only: int | None = None, most: int = 4096) -> Iterator[Reached]:
    """Each instance as each chain of calls from a kernel reaches it; of a unit without kernels, from what nothing calls.

    only: the number of one kernel.
    """
    used = {use.instance for instance in unit.instances for use in instance.uses if use.name != "&"}
    kernels = [n for n, instance in enumerate(unit.instances) if instance.kernel and only in (None, n)]
    todo = [Reached(n) for n in kernels or [n for n in range(len(unit.instances)) if n not in used]]
    moving = {n for n, one in enumerate(unit.instances) if one.calls}
    while more := {n for n, one in enumerate(unit.instances) if n not in moving and any(x.instance in moving for x in one.uses)}:
        moving |= more
    seen = 0
    while todo and seen < most:
        frame = todo.pop()
        seen += 1
        yield frame
        chain = {one.number for one in frame.chain}
        for n, use in reversed(list(enumerate(unit.instances[frame.number].uses))):
            never = any(one.word == NEVER for one in use.around)
            if use.name != "&" and not never and use.instance in moving and use.instance not in chain:
                todo.append(Reached(use.instance, frame, n))


def reached(unit: Unit, number: int) -> set[int]:
    """The instances that an instance calls, itself among them, and those of the classes that these are members of."""
    out, todo = set(), [number]
    while todo:
        if (n := todo.pop()) not in out:
            out.add(n)
            todo += [use.instance for use in unit.instances[n].uses]
    scopes = {unit.instances[n].scope[:-1] for n in out} | {unit.instances[n].scope for n in out}
    return out | {n for n, one in enumerate(unit.instances) if not one.calls and not one.uses and one.scope in scopes}
