"""Calls of a Python text that copy or multiply tensors: whose memory their tensors are in, and where each thread's part begins."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.inttuple import X, leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.ops import find
from cute_viz.algebra.shares import copy_share, local_share, mma_share, share, sliced_share
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor as Memory
from cute_viz.errors import CuteVizError, NotationError
from cute_viz.source.model import Move
from cute_viz.source.python.runs import Runs
from cute_viz.source.python.tensors import fragment_like
from cute_viz.source.python.tree import Tree, dotted
from cute_viz.source.python.values import Atom, Element, Slice, Tensor, Unknown

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMES = {"cute.copy": "copy", "cute.autovec_copy": "copy", "cute.basic_copy": "copy", "cute.gemm": "gemm"}
_REGISTERS = ("make_fragment", "make_rmem_tensor", "partition_fragment", "make_rmem_tensor_like", "make_fragment_like")
_SHARED = ("get_tensor", "allocate_tensor")
_KEEPS = frozenset(
    ["local_tile", "domain_offset", "group_modes", "slice_", "select", "append_ones", "prepend_ones", "filter_zeros", "composition"]
)
_DEEP = 32


@dataclass(frozen=True, slots=True)
class _Function:
    """A function with what is around it, outermost first, and the assignments to names in it."""

    node: Any
    around: tuple[ast.AST, ...]
    scope: tuple[str, ...]
    assigned: dict[str, list[tuple[ast.Name, ast.expr]]]

    def last(self, name: str, before: int) -> tuple[ast.Name, ast.expr] | None:
        """The last assignment to a name that stands before a line."""
        found = [pair for pair in self.assigned.get(name, ()) if pair[0].lineno < before]
        return found[-1] if found else None


def moves(tree: Tree, runs: Runs) -> tuple[Move, ...]:
    """A Move for each such call, in the order of the text; nothing is evaluated yet.

    >>> from cute_viz.source.model import Given
    >>> tree = Tree("def f(a, b):\\n    cute.autovec_copy(a, b)")
    >>> [(move.name, move.line) for move in moves(tree, Runs(tree, Given()))]
    [('copy', 2)]
    """
    out = []
    for function in _functions(tree.module):
        for node in _own(function.node):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and dotted(node.value.func) in _NAMES:
                call = node.value
                name = _NAMES[dotted(call.func)]
                text = " ".join(ast.unparse(call).split())
                line = tree.line(tree.span(call).start)
                out.append(Move(name, line, function.scope, "", _reader(tree, runs, function, call), text))
    return tuple(sorted(out, key=lambda move: move.line))


def _functions(module: ast.Module) -> Iterator[_Function]:
    todo: list[tuple[Any, tuple[ast.AST, ...], tuple[str, ...]]] = [(module, (), ())]
    while todo:
        node, around, scope = todo.pop()
        around = (*around, node)
        if isinstance(node, _FUNCTIONS):
            assigned: dict[str, list[tuple[ast.Name, ast.expr]]] = {}
            for item in _own(node):
                if isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
                    assigned.setdefault(item.targets[0].id, []).append((item.targets[0], item.value))
            for pairs in assigned.values():
                pairs.sort(key=lambda pair: pair[0].lineno)
            yield _Function(node, around, scope, assigned)
        inner = [(child, (*scope, child.name)) for child in _nested(node)]
        todo += [(child, around, names) for child, names in inner]


def _nested(node: ast.AST) -> Iterator[Any]:
    """The functions and classes that a node has, not those in them."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        child = todo.pop()
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield child
        else:
            todo += ast.iter_child_nodes(child)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The statements of a function, without those of functions in it."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        child = todo.pop()
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield child
            todo += ast.iter_child_nodes(child)


def _reader(tree: Tree, runs: Runs, function: _Function, call: ast.Call) -> Callable[[], list[Any]]:
    def read() -> list[Any]:
        reader = _Shares(tree, runs, function)
        items = [item for item in call.args if not isinstance(item, ast.Starred)]
        out = [reader.operand(item) for item in items[:1]]
        own = bool(out) and (isinstance(out[0], (MMA_Atom, TiledMMA)) or "TMA_" in (getattr(out[0], "name", "") or ""))
        return out + [reader.operand(item, own) for item in items[1:]]

    return read


class _Shares:
    """The shares of expressions of one function."""

    def __init__(self, tree: Tree, runs: Runs, function: _Function) -> None:
        self.tree, self.runs, self.function = tree, runs, function
        self.around = tuple([node for node in function.around if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS))])

    def operand(self, node: ast.expr, own: bool = False) -> Any:
        """An atom or a tiling, a share, or the error of what is not known.

        own: an instruction has its own access of its tensors, by no threads: the layout of a tensor is enough.
        """
        if isinstance(node, ast.Attribute):
            return self._alike([shares.operand(item, own) for shares, item in self.fields(node, 0)], node)
        try:
            value = self.value(node)
        except CuteVizError as error:
            value = Unknown(error)
        if isinstance(value, Slice):
            return value.atom.value
        if isinstance(value, Atom):
            return value.value
        try:
            return self.of(node)
        except CuteVizError as error:
            if own and isinstance(value, Tensor):
                return value.layout
            if own and isinstance(node, ast.Subscript) and isinstance(whole := self._known(node.value), Tensor):
                return find("slice").call([self._coordinate(node), domain(whole.layout)])
            return value.error if isinstance(value, Unknown) and value.error.needs else error

    def fail(self, message: str, node: ast.AST, hint: str | None = None) -> NotationError:
        """The error at a node."""
        return NotationError(message, text=self.tree.text, span=self.tree.span(node), hint=hint)

    def value(self, node: ast.expr) -> Any:
        """The value that a name has where it is. Raises: the error of one that is not known, and of several values."""
        if not isinstance(node, ast.Name):
            raise self.fail("this is not a name", node)
        last = self.function.last(node.id, node.lineno)
        found = self.runs.at_end(self.around, node.id) if last is None else self.runs.values(self.around, id(last[0]))
        known = [value for value in found if not isinstance(value, Unknown)]
        if not found:
            raise self.fail(f"{node.id!r} is not reached: nothing that is followed here runs it", node)
        if not known:
            raise found[0].error
        if len(found) > 1:
            raise self.fail(f"{node.id!r} has several values here, of several calls or rounds of a loop", node)
        return known[0]

    def fields(self, node: ast.Attribute, deep: int) -> list[tuple[_Shares, ast.expr]]:
        """What a field of a parameter is, `params.tSsQ`, in each function that calls this one: of `SimpleNamespace(tSsQ=x)` x."""
        out = []
        for shares, item in self._given(node.value, deep):
            made = item.keywords if isinstance(item, ast.Call) and dotted(item.func).endswith("SimpleNamespace") else []
            out += [(shares, word.value) for word in made if word.arg == node.attr]
        if not out:
            raise self.fail("cannot determine which tensor this is", node)
        return out

    def _given(self, node: ast.expr, deep: int) -> list[tuple[_Shares, ast.expr]]:
        """The expressions that a name stands for, of a parameter those of all calls, each with where it is."""
        if not isinstance(node, ast.Name) or deep > _DEEP:
            return [(self, node)]
        if (last := self.function.last(node.id, node.lineno)) is not None:
            return self._given(last[1], deep + 1)
        spec, out = self.function.node.args if isinstance(self.function.node, _FUNCTIONS) else None, []
        names = [item.arg for item in (*spec.posonlyargs, *spec.args)] if spec is not None else []
        if node.id not in names:
            return []
        for caller in _functions(self.tree.module):
            for call in _own(caller.node):
                if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] == self.function.node.name:
                    place = names.index(node.id) - (names[0] == "self" and isinstance(call.func, ast.Attribute))
                    found = [word.value for word in call.keywords if word.arg == node.id] + call.args[place : place + 1]
                    shares = _Shares(self.tree, self.runs, caller)
                    out += [one for item in found[:1] for one in shares._given(item, deep + 1)]
        return out

    def _alike(self, found: list[Any], node: ast.AST) -> Any:
        """What all calls give alike. Raises: the error of one that is not known, and where they differ."""
        known = [x for x in found if not isinstance(x, CuteVizError)]
        if len(known) < len(found):
            return next(x for x in found if isinstance(x, CuteVizError))
        if any(x != known[0] for x in known[1:]):
            return self.fail("this is another tensor in another call", node)
        return known[0]

    def of(self, node: ast.expr, deep: int = 0) -> Memory:
        """The share that an expression is. Raises: the error of what is not known."""
        if deep > _DEEP:
            raise self.fail("tensors refer to one another too deeply", node)
        if isinstance(node, ast.Name):
            return self._named(node, deep + 1)
        if isinstance(node, ast.Subscript):
            return self._sliced(node, self.of(node.value, deep + 1))
        if isinstance(node, ast.Call):
            return self._made(node, deep + 1)
        if isinstance(node, ast.Attribute):
            found = self._alike([shares.of(item, deep + 1) for shares, item in self.fields(node, deep + 1)], node)
            if isinstance(found, CuteVizError):
                raise found
            return found  # type: ignore[no-any-return]
        raise self.fail("cannot determine which tensor this is", node)

    def _named(self, node: ast.Name, deep: int) -> Memory:
        last = self.function.last(node.id, node.lineno)
        if last is None:
            spec = self.function.node.args
            parameters = [item.arg for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
            value = self.value(node)
            if node.id not in parameters or not isinstance(value, Tensor):
                raise self.fail(f"cannot determine which tensor {node.id!r} is", node)
            return self._whole(value, "gmem", node.id)  # what a kernel is given
        out = self.of(last[1], deep)
        if out.starts:
            return out
        try:
            value = self.value(node)
        except CuteVizError:
            if out.pointer.space == "rmem" and size(out.layout) > 1:  # registers like a part of a swizzled tensor
                return out
            raise
        if isinstance(value, Layout) and out.pointer.space == "rmem":
            return replace(out, layout=mark_static(value))
        if not isinstance(value, Tensor):
            raise self.fail(f"cannot determine which tensor {node.id!r} is", node)
        return self._whole(value, out.pointer.space, out.name or node.id)

    def _whole(self, value: Tensor, space: str, root: str) -> Memory:
        kind = value.pointer.element.cpp if isinstance(value.pointer.element, Element) else ""
        made = share(root, space, kind, value.layout)
        marked = mark_static(made.layout)
        layout = marked if space != "gmem" else Layout(marked.shape, made.layout.stride)
        pointer = made.pointer.moved(value.offset or 0)
        if value.pointer.swizzle is not None:  # acts on the byte address
            pointer, made = replace(pointer, swizzle=value.pointer.swizzle), replace(made, swizzle=None)
        return replace(made, layout=layout, pointer=pointer)

    def _sliced(self, node: ast.Subscript, x: Memory) -> Memory:
        coord = self._coordinate(node)
        return sliced_share(x, coord) if any(leaf is X for leaf in leaves(coord)) else x

    def _coordinate(self, node: ast.Subscript) -> tuple[Any, ...]:
        place = node.slice
        if isinstance(place, ast.Name) and (last := self.function.last(place.id, place.lineno)) is not None:
            place = last[1]  # `crd = (None, None, k)`
        items = place.elts if isinstance(place, ast.Tuple) else [place]
        return tuple(map(self._place, items))

    def _place(self, node: ast.expr) -> Any:
        """A coordinate: `_` for None, a number that is written; of any other place the first, as all are alike."""
        if isinstance(node, ast.Constant):
            return X if node.value is None else node.value if isinstance(node.value, int) and node.value >= 0 else 0
        if isinstance(node, ast.Tuple):
            return tuple(map(self._place, node.elts))
        return 0

    def _made(self, node: ast.Call, deep: int) -> Memory:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else dotted(function)
        if name in ("make_fragment_like", "make_rmem_tensor_like") and node.args:
            if isinstance(self._known(node.args[0]), Layout):
                return share("registers", "rmem", "", Layout(1))
            like = self.of(node.args[0], deep)
            return share("registers", "rmem", like.pointer.type, mark_static(fragment_like(like.layout)))
        if name.startswith(_REGISTERS):
            return share("registers", "rmem", "", Layout(1))
        if isinstance(function, ast.Attribute) and name in _SHARED:
            return share("", "smem", "", Layout(1))
        if isinstance(function, ast.Attribute) and name.startswith("partition_") and len(node.args) == 1:
            return self._partition(function, name.removeprefix("partition_"), node.args[0], deep)
        if name in ("retile", "retile_S", "retile_D") and node.args:
            inside = self.of(node.args[0], deep)
            if inside.pointer.space == "rmem":
                return inside
        if name == "local_partition" and len(node.args) >= 2:
            tile = self.value(node.args[1])
            if isinstance(tile, Layout) and len(node.args) == 3:
                return local_share(self.of(node.args[0], deep), tile)
        if name in _KEEPS and node.args:
            inside = self.of(node.args[1] if name == "domain_offset" and len(node.args) > 1 else node.args[0], deep)
            if not inside.starts:
                return inside
        if name == "make_tensor" and node.args and (base := self._pointed(node.args[0])) is not None:
            return replace(self.of(base, deep), name="")
        raise self.fail(f"cannot determine the tensor that {name} gives", node)

    def _known(self, node: ast.expr) -> Any:
        """The value of a name, or None."""
        try:
            return self.value(node)
        except CuteVizError:
            return None

    def _partition(self, function: ast.Attribute, side: str, source: ast.expr, deep: int) -> Memory:
        thread = self.value(function.value)
        tensor = self.of(source, deep)
        if not isinstance(thread, Slice):
            raise self.fail("the part of one fixed thread is taken here", function)
        tiled = thread.atom.value
        if tensor.starts:
            raise self.fail("this is a thread's part already", source)
        if isinstance(tiled, TiledCopy) and side in ("S", "D"):
            out = copy_share(tensor, tiled, side)
        elif isinstance(tiled, TiledMMA) and side in ("A", "B", "C"):
            out = mma_share(tensor, tiled, side)
        else:
            raise self.fail(f"partition_{side} is not supported here", function)
        marked = mark_static(out.layout)
        return replace(out, layout=marked if out.pointer.space != "gmem" else Layout(marked.shape, out.layout.stride))

    def _pointed(self, node: ast.expr) -> ast.expr | None:
        """The tensor whose pointer an expression is: `x.iterator`, `x.iterator.align(16)`, `cute.recast_ptr(x.iterator, ...)`."""
        for _ in range(_DEEP):
            if isinstance(node, ast.Attribute) and node.attr == "iterator":
                return node.value
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("align", "toint"):
                node = node.func.value
            elif isinstance(node, ast.Call) and node.args and dotted(node.func).endswith("recast_ptr"):
                node = node.args[0]
            elif isinstance(node, ast.Name) and (last := self.function.last(node.id, node.lineno)) is not None:
                node = last[1]
            else:
                break
        return None
