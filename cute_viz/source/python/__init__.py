"""Python files of the CuTe DSL -> what they define, by scope, name and line; nothing is executed or imported."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, NotationError
from cute_viz.notation.syntax import Resolver
from cute_viz.source.model import Asked, Given, SourceFile
from cute_viz.source.moves import Launch, Loop, Move, Often, chosen
from cute_viz.source.python.entries import entries_of
from cute_viz.source.python.instructions import merging
from cute_viz.source.python.machine import MOVES, Called
from cute_viz.source.python.runs import Runs
from cute_viz.source.python.subscripts import share_of
from cute_viz.source.python.tree import Tree, dotted
from cute_viz.source.python.values import Atom, Lost, Slice, as_tensor
from cute_viz.values.examples import example, example_value
from cute_viz.values.instruction import UNKNOWN


def read(text: str, given: Given) -> SourceFile:
    """The definitions of a Python text, each evaluated when it is asked for. Raises: NotationError for text that is not Python,
    LimitError for text that is too large."""
    tree = Tree(text)
    runs = Runs(tree, given)
    return SourceFile(
        text, entries_of(tree, runs), moves=lambda: moves(tree, runs), launches=lambda: launches(tree), asks=partial(asks, tree)
    )


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMES = {"cute.copy": "copy", "cute.autovec_copy": "copy", "cute.basic_copy": "copy", "cute.gemm": "gemm"}


def moves(tree: Tree, runs: Runs) -> tuple[Move, ...]:
    """A Move for each such call, and where a function is called with several operands one for each, in the order of the text."""
    out: list[Move] = []
    kernels: list[tuple[str, int] | None] = []
    rows = launches(tree)
    only = str(chosen(rows, runs.machine.given.launch).key) if runs.machine.given.launch else ""
    for call, around, scope in _calls(tree.module):
        if only and only not in scope and any(launch.key in scope for launch in rows):
            continue
        line, text = tree.line(tree.span(call).start), " ".join(ast.unparse(call).split())
        lost = NotationError(
            f"this is not reached: nothing that is followed here runs it in {('this file', *scope)[-1]}",
            text=tree.text,
            span=tree.span(call),
        )
        name = _NAMES[dotted(call.func)]
        script = runs.called(id(call))
        for label, ways, sole in _labelled(script or runs.values(around, id(call))) or [("", [], True)]:
            often = partial(_often, ways, sole)
            kernel = ways[0].kernel if ways else None
            out.append(
                Move(
                    name,
                    line,
                    scope,
                    label,
                    _reader(ways, lost, runs.machine.given.resolve),
                    text,
                    runs.arguments if script else {},
                    often=often,
                )
            )
            kernels.append(kernel)
    several = Counter(kernel[0] for kernel in {*kernels} if kernel is not None)
    named = ["" if x is None else f"{x[0]}, line {x[1]}" if several[x[0]] > 1 else x[0] for x in kernels]
    return tuple(sorted((replace(move, launch=name) for move, name in zip(out, named, strict=True)), key=lambda move: move.line))


def launches(tree: Tree) -> tuple[Launch, ...]:
    """The launches of kernels, `kernel(...).launch(grid=..., block=...)`, in the order of the text."""
    out = []
    for node in ast.walk(tree.module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "launch":
            kernel = dotted(node.func.value.func) if isinstance(node.func.value, ast.Call) else ""
            if kernel:
                dims = {word.arg: ast.unparse(word.value) for word in node.keywords}
                path = (kernel.rpartition(".")[2],)
                out.append(Launch(path, "", dims.get("grid", ""), dims.get("block", ""), node.lineno, key=path[0]))
    return tuple(sorted(out, key=lambda launch: launch.line))


def _calls(module: ast.Module) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...], tuple[str, ...]]]:
    """The statements that are such calls, with what is around them, outermost first, and the names of that."""
    todo: list[tuple[Any, tuple[ast.AST, ...], tuple[str, ...]]] = [(module, (module,), ())]
    while todo:
        node, around, scope = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                todo.append((child, (*around, child), (*scope, child.name)))
            else:
                todo.append((child, around, scope))
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and dotted(call.func) in _NAMES:
            yield call, around, scope


def _labelled(found: list[Called]) -> list[tuple[str, list[Called], bool]]:
    """The ways to a call whose operands differ, each with where the function is called, as far as that distinguishes them, and
    whether it is the only one with these operands."""
    ways: dict[Any, list[Called]] = {}
    for one in found:
        ways.setdefault(one.path, []).append(one)
    kinds: dict[Any, list[list[Called]]] = {}
    for rounds in ways.values():
        kinds.setdefault(_kind(rounds[0].args), []).append(rounds)
    told = [(same[0], len(same) == 1) for same in kinds.values()]
    paths = [rounds[0].path for rounds, _ in told]
    for deep in range(1, max(map(len, paths), default=0) + 1):
        labels = [", called in ".join(f"{where}, line {line}" for where, line in path[: -deep - 1 : -1]) for path in paths]
        if len(set(labels)) == len(labels) > 1:
            return [(label, *one) for label, one in zip(labels, told, strict=True)]
    return [("", *one) for one in told]


def _often(rounds: list[Called], sole: bool) -> Often:
    """How often a block runs a call, by the rounds in which it was met. sole: no other call stands for the same."""
    if not rounds:
        return Often((), False)
    chain = [loop for loop, _ in rounds[0].loops]
    lines = [(loop.line, loop.file) for loop in chain]
    if len(rounds) >= MOVES or any([(loop.line, loop.file) for loop, _ in one.loops] != lines for one in rounds):
        return Often(tuple(Loop(*line, None, None) for line in lines), False, rounds[0].choices)
    met = {tuple(n for _, n in one.loops) for one in rounds}
    loops, whole = [], 1
    for n, loop in enumerate(chain):
        found = {place[n] for place in met}
        whole *= len(found)
        loops.append(Loop(loop.line, loop.file, loop.count, loop.count if None in found else len(found)))
    return Often(tuple(loops), sole and whole == len(met) and all(one.sure for one in rounds), rounds[0].choices)


def _kind(args: tuple[object, ...]) -> tuple[str, ...]:
    def told(x: Any) -> str:
        x = as_tensor(x)
        at = x.pointer if isinstance(x, Tensor) else None
        return str(x) if at is None else f"{domain(x.layout)} {at.space} {at.type} {at.swizzle} {at.base}"

    return tuple(map(told, args))


def _reader(rounds: list[Called], lost: CuteVizError, resolve: Resolver | None) -> Callable[[], list[Any]]:
    def read() -> list[Any]:
        if not rounds:
            raise lost
        if any(_kind(one.args) != _kind(rounds[0].args) for one in rounds[1:]):
            raise lost.but(message="this has several operands, of several rounds of a loop")
        out = [_operand(value) for value in rounds[0].args[:1]]
        own = bool(out) and (isinstance(out[0], (MMA_Atom, TiledMMA)) or getattr(out[0], "instruction", UNKNOWN).bulk)
        out += [_operand(value, own) for value in rounds[0].args[1:]]
        return merging(out, resolve) if len(out) == 2 and all(isinstance(x, Tensor) for x in out) else out

    return read


def _operand(value: object, own: bool = False) -> Any:
    """An atom or a tiling, a share, or the error of what is not known. own: an instruction has its own access of its tensors, by no
    threads: the layout of a tensor is enough.
    """
    if isinstance(value, Slice):
        return value.atom.value
    if isinstance(value, Atom):
        return value.value
    if isinstance(value, Lost):
        return value.error
    value = as_tensor(value)
    if not isinstance(value, Tensor):
        return NotationError("a tensor is expected here")
    try:
        return share_of(value)
    except CuteVizError as error:
        return domain(value.layout) if own else error


_MOST = 6  # values of one name


def asks(tree: Tree, names: Iterable[str], functions: Iterable[str]) -> list[Asked]:
    """What the file says of names that need a value, those that are parameters, of methods too: `self.x` of `x`; where functions
    have tensors of unknown types, of parameters that are types.
    """
    out = []
    params = {arg.arg: (arg, default) for node in ast.walk(tree.module) for arg, default in _params(node)}
    types = [name for name, (arg, _) in params.items() if arg.annotation is not None and "Numeric" in ast.unparse(arg.annotation)]
    for name in dict.fromkeys((*names, *(types if [*functions] else ()))):
        word = name.rpartition(".")[2]
        if word not in params:
            continue
        arg, default = params[word]
        type_ = "" if arg.annotation is None else ast.unparse(arg.annotation)
        values = [*_given(tree, word), *([] if default is None else [ast.unparse(default)])]
        values += ["False", "True"] if type_.endswith(("bool", "Boolean")) else []
        values = [value for value in dict.fromkeys(values) if value != "None"][:_MOST]
        like = example_value(name) if type_ in ("int", "cutlass.Int32") else example(name, type_)
        out.append(Asked(name, type_, tuple(values), like, tree.line(tree.span(arg).start)))
    return out


def _params(node: ast.AST) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters of a function, each with its default."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        plain = [*node.args.posonlyargs, *node.args.args]
        yield from zip(plain, [*[None] * (len(plain) - len(node.args.defaults)), *node.args.defaults], strict=True)
        yield from zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)


def _given(tree: Tree, name: str) -> Iterator[str]:
    """The constants that calls give a parameter by its name, and that it is compared with."""
    for node in ast.walk(tree.module):
        match node:
            case ast.keyword(arg=word, value=value) if word == name and _is_constant(value):
                yield ast.unparse(value)
            case ast.Compare(
                left=ast.Name(id=word) | ast.Attribute(attr=word), ops=[ast.Eq()], comparators=[ast.Constant() as value]
            ):
                if word == name:
                    yield ast.unparse(value)


def _is_constant(node: ast.expr) -> bool:
    """Whether an argument names nothing but what the DSL has, `cutlass.Float16`."""
    names = [x.id for x in ast.walk(node) if isinstance(x, ast.Name)]
    return all(name in ("cutlass", "cute", "torch") for name in names) and not any(isinstance(x, ast.Call) for x in ast.walk(node))
