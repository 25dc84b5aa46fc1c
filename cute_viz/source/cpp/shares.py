"""Expressions that name tensors -> whose memory they are in, and where the part of each thread begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import ThrCopy, TiledCopy
from cute_viz.algebra.elements import ValueType
from cute_viz.algebra.inttuple import Static, Underscore, leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import ThrMMA, TiledMMA
from cute_viz.algebra.shares import Share, copy_share, local_share, mma_share, share, sliced_share
from cute_viz.algebra.static import clear_static, mark_static
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import change_before, opened
from cute_viz.source.cpp.scopes import Declaration, Range
from cute_viz.source.cpp.slices import Thread, coordinate
from cute_viz.source.cpp.tree import Binary, Call, Cast, Id, Member, Node, Unary
from cute_viz.source.cpp.uses import only_call
from cute_viz.source.cpp.values import Class, Env, External, Pointer, finished

_SPACES = {"make_smem_ptr": "smem", "make_gmem_ptr": "gmem", "make_rmem_ptr": "rmem", "make_tmem_ptr": "tmem"}
_REGISTERS = ("partition_fragment", "make_fragment", "make_rmem_tensor", "make_tensor_like", "partition_shape")
_POINTER_WORDS = frozenset(("*", "&", "const", "__restrict__", "volatile"))
_DEEP = 32


class Shares:
    """The shares of expressions, each seen from where it is."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.here = evaluator

    def of(self, node: Node, at: Evaluator | None = None, deep: int = 0) -> Share:
        """The share that an expression is. Raises: the error of what is not known, with its place."""
        at = at or self.here
        if deep > _DEEP:
            raise LimitError("tensors refer to one another too deeply", text=at.text, span=node.span)
        try:
            return self._of(node, at, deep + 1)
        except CuteVizError as error:
            raise error.at(at.text, node.span) from None

    def _of(self, node: Node, at: Evaluator, deep: int) -> Share:
        if isinstance(node, Id):
            return self._named(node, at, deep)
        if isinstance(node, Call) and isinstance(node.function, Member):
            return self._method(node, node.function, at, deep)
        if isinstance(node, Call) and isinstance(node.function, Id):
            name = node.function.parts[-1].name
            found = at.lookup.find(node.function.parts[0].name, at.env, at.position(node.function.span))
            if found is None:
                return self._made(node, name, at, deep)
            if not found.declarations or found.declarations[0].kind == "variable":
                return self._slice(self.of(node.function, at, deep), node.args, at)
        elif isinstance(node, Call):
            return self._slice(self.of(node.function, at, deep), node.args, at)
        raise at.fail("cannot determine which tensor this is", node.span)

    def _named(self, node: Id, at: Evaluator, deep: int) -> Share:
        """A variable, by what it begins with; a parameter, by the argument of the call."""
        name = node.parts[0].name
        found = at.lookup.find(name, at.env, at.position(node.span))
        if len(node.parts) > 1 or found is None:
            raise at.fail(f"cannot determine whose memory {node.text!r} is in", node.span)
        if not found.declarations:
            return self._parameter(name, node, found.env, at, deep)
        declaration = found.declarations[0]
        if declaration.kind != "variable" or declaration.init is None or declaration.place is not None:
            raise at.fail(f"cannot determine which tensor {name!r} is", node.span)
        if at.context.let(name, found.env.scope) is not None:
            space, kind, root = self._memory(at.context.tree(declaration.init), at.inside(found.env), deep)
            return share(root or name, space, kind, finished(at.solid(node)))
        inits: list[Range | None] = [declaration.init]
        change = change_before(declaration, at.position(node.span), at.env.scope) if declaration.scope.local else None
        if change is not None:
            inits = [change.value] if change.value is not None else [declaration.init, *_changes(declaration)]
        inside = at.inside(found.env)
        shares = []
        for init in inits:
            if init is None:
                raise at.fail(f"what {name!r} is here depends on how the program runs", node.span)
            shares.append(self.of(at.context.tree(init), inside, deep))
        if any(replace(other, offset=shares[0].offset) != shares[0] for other in shares):
            raise at.fail(f"what {name!r} is here depends on how the program runs", node.span)
        return shares[0] if shares[0].root else replace(shares[0], root=name)

    def _parameter(self, name: str, node: Id, env: Env, at: Evaluator, deep: int) -> Share:
        """A parameter of a function, by the argument of its call."""
        scope, reader = env.scope, at.context.reader
        use = at.context.chosen.get(scope) or (only_call(reader, scope) if scope.kind == "function" else None)
        place = next((n for n, param in enumerate(scope.arguments) if param.name == name), None)
        if use is None or place is None or place >= len(use.arguments):
            raise at.fail(f"cannot determine whose memory {name!r} is in", node.span, hint="it is a parameter here")
        return self.of(at.context.tree(use.arguments[place]), at.inside(opened(at.context, use.scope)), deep)

    def _method(self, node: Call, function: Member, at: Evaluator, deep: int) -> Share:
        name = function.part.name
        if name.startswith(_REGISTERS):
            return self._registers(node, at)
        if name.startswith("partition_") and len(node.args) == 1:
            return self._partition(node, function, at, deep)
        if name in ("retile", "retile_S", "retile_D") and len(node.args) == 1:
            return self._through(self.of(node.args[0], at, deep), node, at)
        if name in ("compose", "tile", "with_shape"):
            return self._through(self.of(function.object, at, deep), node, at)
        return self._slice(self.of(function, at, deep), node.args, at)

    def _partition(self, node: Call, function: Member, at: Evaluator, deep: int) -> Share:
        tensor = self.of(node.args[0], at, deep)
        thread = at.solid(function.object)
        varies = isinstance(thread, Thread)
        view = finished(thread.view if isinstance(thread, Thread) else thread)
        side = function.part.name.removeprefix("partition_")
        if tensor.starts:
            raise at.fail("this is a thread's part already", node.args[0].span)
        if isinstance(view, ThrCopy) and side in ("S", "D"):
            tiled: TiledCopy | TiledMMA = view.tiled
            out = copy_share(tensor, view.tiled, side)
        elif isinstance(view, ThrMMA) and side in ("A", "B", "C"):
            tiled = view.tiled
            out = mma_share(tensor, view.tiled, side)
        else:
            raise at.fail(f"{function.part.name} is not supported", node.span)
        if not varies:
            raise at.fail(f"this is the part of one fixed thread ({show(tiled).splitlines()[0]})", node.span)
        return self._printed(out, tensor, node, at)

    def _printed(self, x: Share, of: Share, node: Node, at: Evaluator) -> Share:
        """A part with the integers marked that CuTe knows when the kernel is compiled."""
        try:
            told = domain(finished(at.solid(node)))
        except LimitError:
            raise
        except CuteVizError:
            told = None
        if isinstance(told, Layout) and clear_static(told) == clear_static(x.layout):
            return replace(x, layout=told)
        known = [*leaves(of.layout.shape), *leaves(of.layout.stride)]
        return replace(x, layout=mark_static(x.layout)) if all(isinstance(n, Static) for n in known) else x

    def _made(self, node: Call, name: str, at: Evaluator, deep: int) -> Share:
        """What a function of CuTe gives."""
        if name.startswith(_REGISTERS):
            return self._registers(node, at)
        if name == "make_tensor":
            return self._tensor(node, at, deep)
        if name == "local_partition" and 3 <= len(node.args) <= 4:
            tensor = self.of(node.args[0], at, deep)
            tile = finished(at.solid(node.args[1]))
            proj = at.solid(node.args[3]) if len(node.args) == 4 else None
            tile = finished(at.operate("make_layout", [tile])) if isinstance(tile, tuple) else tile
            return self._printed(local_share(tensor, tile, proj), tensor, node, at)
        if not node.args:
            raise at.fail(f"cannot determine the tensor that {name} gives", node.span)
        return self._through(self.of(node.args[0], at, deep), node, at)

    def _through(self, x: Share, node: Call, at: Evaluator) -> Share:
        """A view of a tensor that keeps where it begins: its layout is what the reader says."""
        made = share(x.root, x.space, x.type, finished(at.solid(node)))
        own = made.swizzle if made.swizzle is not None else x.swizzle
        return replace(x, layout=made.layout, offset=x.offset + made.offset, swizzle=own, flagged=made.flagged or x.flagged)

    def _slice(self, x: Share, args: tuple[Node, ...], at: Evaluator) -> Share:
        lost: list[CuteVizError] = []
        coord = tuple(coordinate(at, item, lost) for item in args)
        if len(coord) == 1 and isinstance(coord[0], Underscore):
            return x
        return sliced_share(x, coord)

    def _registers(self, node: Call, at: Evaluator) -> Share:
        return share("registers", "rmem", "", finished(at.solid(node)))

    def _tensor(self, node: Call, at: Evaluator, deep: int) -> Share:
        assert isinstance(node.function, Id)
        if node.function.parts[-1].args is not None:
            return self._registers(node, at)
        layout = finished(at.solid(node))
        space, kind, root = self._pointer(node.args[0], at, deep)
        return share(root, space, kind, layout)

    def _pointer(self, node: Node, at: Evaluator, deep: int) -> tuple[str, str, str]:
        """Memory, type and root of what a pointer points to."""
        if isinstance(node, Binary):
            return self._pointer(node.left, at, deep)
        if isinstance(node, Call) and isinstance(node.function, Id):
            part = node.function.parts[-1]
            if part.name in _SPACES:
                kind = _word(at, part.args[0]) if part.args else self._element(node.args[0], at) if node.args else ""
                return _SPACES[part.name], kind, ""
        if isinstance(node, Call) and isinstance(node.function, Member) and node.function.part.name in ("data", "engine"):
            around = self.of(node.function.object, at, deep)
            return around.space, around.type, around.root
        raise at.fail(
            "cannot determine which memory this pointer points to", node.span, hint="make_smem_ptr(p) and make_gmem_ptr(p) say so"
        )

    def _memory(self, node: Node, at: Evaluator, deep: int) -> tuple[str, str, str]:
        """Memory, type and root of a tensor whose layout was given, by the expression that it stands for."""
        while isinstance(node, Call):
            if isinstance(node.function, Id) and node.function.text.endswith("make_tensor") and node.args:
                return self._pointer(node.args[0], at, deep)
            found = at.lookup.find(node.function.parts[0].name, at.env, None) if isinstance(node.function, Id) else None
            if found is not None or not isinstance(node.function, Id):
                node = node.function.object if isinstance(node.function, Member) else node.function
            elif node.args:
                node = node.args[0]
            else:
                break
        if isinstance(node, Id) and (found := at.lookup.find(node.parts[0].name, at.env, at.position(node.span))) is not None:
            init = found.declarations[0].init if found.declarations else None
            if init is not None and deep < _DEEP:
                return self._memory(at.context.tree(init), at.inside(found.env), deep + 1)
        raise at.fail("cannot determine which memory this tensor is in", node.span)

    def _element(self, node: Node, at: Evaluator) -> str:
        """The type of what a plain pointer points to; "" where the file does not tell."""
        try:
            return self._element_of(node, at)
        except LimitError:
            raise
        except CuteVizError:
            return ""

    def _element_of(self, node: Node, at: Evaluator) -> str:
        if isinstance(node, Cast):
            inside = node.type.value if isinstance(node.type, Unary) else node.type
            return _word(at, inside)
        if isinstance(node, Binary):
            return self._element_of(node.left, at)
        if isinstance(node, Unary):
            return self._element_of(node.value, at)
        if isinstance(node, Call) and isinstance(node.function, Member):
            return self._element_of(node.function.object, at)
        if isinstance(node, Call) and node.args:
            return self._element_of(node.args[0], at)
        if isinstance(node, Member):
            owner = at.value(node.object)
            found = at.lookup.member(node.part.name, owner.env) if isinstance(owner, Class) else None
            part = found.declarations[0].type if found is not None and found.declarations else None
            return _type(at.inside(found.env), part) if found is not None and part is not None else ""
        if isinstance(node, Id):
            found = at.lookup.find(node.parts[0].name, at.env, at.position(node.span))
            if found is None:
                return ""
            params = [param for param in found.env.scope.arguments if param.name == node.parts[0].name]
            part = found.declarations[0].type if found.declarations else params[0].type if params else None
            return _type(at.inside(found.env), part) if part is not None else ""
        return ""


def _changes(declaration: Declaration) -> list[Range | None]:
    """What a variable is assigned to anywhere in its function."""
    scope = declaration.scope
    while scope.kind == "block" and scope.parent is not None:
        scope = scope.parent
    return [change.value for change in scope.changes.get(declaration.name, ())]


def _type(at: Evaluator, part: Range) -> str:
    """The element type that the tokens of a type tell: of a pointer, an array, or CuTe's array of elements."""
    tokens = at.context.reader.tokens
    begin, end = part
    while end > begin + 1 and tokens[end - 1].text in _POINTER_WORDS:
        end -= 1
    while begin < end - 1 and tokens[begin].text in _POINTER_WORDS:
        begin += 1
    return _name(at.of((begin, end), at.env))


def _word(at: Evaluator, node: Node) -> str:
    return _name(at.value(node))


def _name(value: Any) -> str:
    if isinstance(value, Pointer) and value.element is not None:
        value = value.element
    if isinstance(value, External) and value.args and isinstance(value.args[0], ValueType):
        value = value.args[0]
    return str(value) if isinstance(value, ValueType) else ""
