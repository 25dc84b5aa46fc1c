"""What a Python file says of a name that has no value: its annotation, its default, and the values that calls give it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from cute_viz.source.model import Asked
from cute_viz.source.python.tree import Tree
from cute_viz.values.examples import example, example_value

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
