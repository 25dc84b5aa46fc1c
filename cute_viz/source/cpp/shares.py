"""Expressions that name tensors -> whose memory they are in, and where the part of each thread begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import ThrCopy
from cute_viz.algebra.inttuple import Underscore, leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import ThrMMA
from cute_viz.algebra.shares import copy_share, local_share, mma_share, share, sliced_share
from cute_viz.algebra.static import clear_static, mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.lookup import change_before, opened
from cute_viz.source.cpp.pointed import element, element_name
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.scopes import Declaration, Range, Scope
from cute_viz.source.cpp.slices import Thread, coordinate
from cute_viz.source.cpp.tree import Binary, Call, Id, Member, Node
from cute_viz.source.cpp.uses import only_call
from cute_viz.source.cpp.values import Class, Env, Function, finished
from cute_viz.values.integer import Static

_SPACES = {"make_smem_ptr": "smem", "make_gmem_ptr": "gmem", "make_rmem_ptr": "rmem", "make_tmem_ptr": "tmem"}
_REGISTERS = ("partition_fragment", "make_fragment", "make_rmem_tensor", "make_tensor_like", "partition_shape")
_POINTER_WORDS = frozenset(("*", "&", "const", "__restrict__", "volatile"))
_DEEP = 32
NO_TENSOR = "cannot determine which tensor this is"


class Shares:
    """The shares of expressions, each seen from where it is."""

    def __init__(self, evaluator: Meaning) -> None:
        self.here = evaluator

    def of(self, node: Node, at: Meaning | None = None, deep: int = 0) -> Tensor:
        """The share that an expression is. Raises: the error of what is not known, with its place."""
        at = at or self.here
        if deep > _DEEP:
            raise LimitError("tensors refer to one another too deeply", text=at.text, span=node.span)
        try:
            return self._of(node, at, deep + 1)
        except CuteVizError as error:
            raise error.at(at.text, node.span) from None

    def _of(self, node: Node, at: Meaning, deep: int) -> Tensor:
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
            value = at.value(node.function)
            if isinstance(value, Function) and len(value.declarations) == 1 and value.declarations[0].inner is not None:
                return self._returned(node, value.declarations[0].inner, at, deep)
        elif isinstance(node, Call):
            return self._slice(self.of(node.function, at, deep), node.args, at)
        raise at.fail(NO_TENSOR, node.span)

    def _returned(self, node: Call, function: Scope, at: Meaning, deep: int) -> Tensor:
        """What a function of the file gives: new registers, or an argument in another layout."""
        returns = [x for x in function.statements if x.kind == "return" and x.value is not None]
        tree = at.context.tree(returns[0].value) if len(returns) == 1 and returns[0].value is not None else None
        if not isinstance(tree, Call) or not isinstance(tree.function, Id):
            raise at.fail(NO_TENSOR, node.span)
        part = tree.function.parts[-1]
        pointer = tree.args[0] if part.name == "make_tensor" and part.args is None and tree.args else None
        if part.name.startswith(_REGISTERS) or (part.name == "make_tensor" and part.args is not None):
            return self._registers(node, at)
        if isinstance(pointer, Call) and isinstance(pointer.function, Id) and pointer.function.text.endswith("make_rmem_ptr"):
            return self._registers(node, at)
        if isinstance(pointer, Call) and isinstance(pointer.function, Member) and isinstance(pointer.function.object, Id):
            names = [param.name for param in function.arguments]
            name = pointer.function.object.text
            if pointer.function.part.name == "data" and name in names and names.index(name) < len(node.args):
                return self._through(self.of(node.args[names.index(name)], at, deep), node, at)
        raise at.fail(NO_TENSOR, node.span)

    def _named(self, node: Id, at: Meaning, deep: int) -> Tensor:
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
        if any(_placed(other) != _placed(shares[0]) for other in shares):
            raise at.fail(f"what {name!r} is here depends on how the program runs", node.span)
        return _called(shares[0], name)

    def _parameter(self, name: str, node: Id, env: Env, at: Meaning, deep: int) -> Tensor:
        """A parameter of a function, by the argument of its call."""
        scope, reader = env.scope, at.context.reader
        use = at.context.chosen.get(scope) or (only_call(reader, scope) if scope.kind == "function" else None)
        place = next((n for n, param in enumerate(scope.arguments) if param.name == name), None)
        if use is None or place is None or place >= len(use.arguments):
            raise at.fail(f"cannot determine whose memory {name!r} is in", node.span, hint="it is a parameter here")
        return self.of(at.context.tree(use.arguments[place]), at.inside(opened(at.context, use.scope)), deep)

    def _method(self, node: Call, function: Member, at: Meaning, deep: int) -> Tensor:
        name = function.part.name
        if name.startswith(_REGISTERS):
            return self._registers(node, at)
        if name.startswith("partition_") and len(node.args) == 1:
            return self._partition(node, function, at, deep)
        if name in ("retile", "retile_S", "retile_D") and len(node.args) == 1:
            return self._through(self.of(node.args[0], at, deep), node, at)
        if name in ("compose", "tile", "with_shape"):
            return self._through(self.of(function.object, at, deep), node, at)
        if not node.args and (inside := self._inside(function, at)) is not None:
            return _called(self.of(inside[0], inside[1], deep), name)
        return self._slice(self.of(function, at, deep), node.args, at)

    def _inside(self, function: Member, at: Meaning) -> tuple[Node, Meaning] | None:
        """What a method of a struct of the file returns, and where its names are known; None of anything else."""
        try:
            owner = at.value(function.object)
            member = at.type_member(owner, function.part, function.span) if isinstance(owner, Class) else None
        except LimitError:
            raise
        except CuteVizError:
            return None
        if not isinstance(member, Function) or len(member.declarations) != 1 or (scope := member.declarations[0].inner) is None:
            return None
        returns = [x for x in scope.statements if x.kind == "return" and x.value is not None]
        if len(returns) != 1 or returns[0].value is None:
            return None
        return at.context.tree(returns[0].value), at.inside(Env(scope, member.env))

    def _partition(self, node: Call, function: Member, at: Meaning, deep: int) -> Tensor:
        tensor = self.of(node.args[0], at, deep)
        thread = at.solid(function.object)
        varies = isinstance(thread, Thread)
        view = finished(thread.view if isinstance(thread, Thread) else thread)
        side = function.part.name.removeprefix("partition_")
        if (
            isinstance(view, ThrMMA) and view.tiled.atom.instruction.kind == "tcgen05.mma"
        ):  # the tile of a CTA, whose threads share it
            return self._through(tensor, node, at, view=True)
        if tensor.starts:
            raise at.fail("this is a thread's part already", node.args[0].span)
        if isinstance(view, ThrCopy) and side in ("S", "D"):
            out = copy_share(tensor, view.tiled, side)
        elif isinstance(view, ThrMMA) and side in ("A", "B", "C"):
            out = mma_share(tensor, view.tiled, side)
        else:
            raise at.fail(f"{function.part.name} is not supported", node.span)
        if not varies:
            return self._through(tensor, node, at)
        return self._printed(out, tensor, node, at)

    def _printed(self, x: Tensor, of: Tensor, node: Node, at: Meaning) -> Tensor:
        """A part with the integers marked that CuTe knows when the kernel is compiled."""
        try:
            value = at.solid(node)
            told = domain(finished(value.view if isinstance(value, Thread) else value))
        except LimitError:
            raise
        except CuteVizError:
            told = None
        if isinstance(told, Layout) and clear_static(told) == clear_static(x.layout):
            return replace(x, layout=told)
        known = [*leaves(of.layout.shape), *leaves(of.layout.stride)]
        return replace(x, layout=mark_static(x.layout)) if all(isinstance(n, Static) for n in known) else x

    def _made(self, node: Call, name: str, at: Meaning, deep: int) -> Tensor:
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

    def _through(self, x: Tensor, node: Call, at: Meaning, view: bool = False) -> Tensor:
        """A view of a tensor that keeps where it begins: its layout is what the reader says. view: of its parts the first."""
        value = at.solid(node)
        if isinstance(value, Thread):
            if not view:
                raise value.error
            value = value.view
        made = share(x.name, x.pointer.space, x.pointer.type, finished(value))
        swizzle = made.pointer.swizzle or (None if made.swizzle else x.pointer.swizzle)
        pointer = replace(x.pointer.moved(made.offset), swizzle=swizzle, type=made.pointer.type)
        own = made.swizzle or (None if made.pointer.swizzle else x.swizzle)
        return replace(x, layout=made.layout, pointer=pointer, swizzle=own)

    def _slice(self, x: Tensor, args: tuple[Node, ...], at: Meaning) -> Tensor:
        lost: list[CuteVizError] = []
        coord = tuple(coordinate(at, item, lost) for item in args)
        if len(coord) == 1 and isinstance(coord[0], Underscore):
            return x
        return sliced_share(x, coord)

    def _registers(self, node: Call, at: Meaning) -> Tensor:
        return share("registers", "rmem", "", finished(at.solid(node)))

    def _tensor(self, node: Call, at: Meaning, deep: int) -> Tensor:
        assert isinstance(node.function, Id)
        if node.function.parts[-1].args is not None:
            return self._registers(node, at)
        layout = finished(at.solid(node))
        space, kind, root = self._pointer(node.args[0], at, deep)
        return share(root, space, kind, layout)

    def _pointer(self, node: Node, at: Meaning, deep: int) -> tuple[str, Any, str]:
        """Memory, type and root of what a pointer points to."""
        if isinstance(node, Binary):
            return self._pointer(node.left, at, deep)
        if isinstance(node, Call) and isinstance(node.function, Id):
            part = node.function.parts[-1]
            if part.name in _SPACES:
                kind = element_name(at.value(part.args[0])) if part.args else element(at, node.args[0]) if node.args else ""
                return _SPACES[part.name], kind, ""
        if isinstance(node, Call) and isinstance(node.function, Member) and node.function.part.name in ("data", "engine"):
            around = self.of(node.function.object, at, deep)
            return around.pointer.space, around.pointer.type, around.name
        raise at.fail(
            "cannot determine which memory this pointer points to", node.span, hint="make_smem_ptr(p) and make_gmem_ptr(p) say so"
        )

    def _memory(self, node: Node, at: Meaning, deep: int) -> tuple[str, Any, str]:
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


def _placed(x: Tensor) -> Tensor:
    return replace(x, pointer=replace(x.pointer, offset=0))


def _called(x: Tensor, name: str) -> Tensor:
    """A tensor that has a name from now on, if it had none."""
    return x if x.name else replace(x, name=name, pointer=replace(x.pointer, base=name))


def _changes(declaration: Declaration) -> list[Range | None]:
    """What a variable is assigned to anywhere in its function."""
    scope = declaration.scope
    while scope.kind == "block" and scope.parent is not None:
        scope = scope.parent
    return [change.value for change in scope.changes.get(declaration.name, ())]
