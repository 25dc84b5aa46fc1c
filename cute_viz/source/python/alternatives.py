"""Which alternative of a condition that nobody knows a way of Python is, and whether all threads of a block take the same one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cute_viz.source.moves import ALWAYS, COMPUTED, NO, ROUND, Alternative
from cute_viz.source.python.tree import Tree, dotted

_ALIKE = frozenset(
    ("block_idx", "block_dim", "grid_dim", "cluster_idx", "cluster_dim", "range", "range_constexpr", "range_dynamic")
)
_CONSTANT = "const_expr"  # whose argument the compiler knows


def choice(tree: Tree, function: ast.AST | None, node: ast.AST, way: int) -> Alternative | None:
    """The alternative that the nth way through a statement is; None of a way that no condition decides."""
    match node:
        case ast.If():
            test, branch = node.test, "else" if way else "if"
        case ast.Match():
            test, branch = node.subject, f"case {ast.unparse(node.cases[way].pattern)}" if way < len(node.cases) else "else"
        case _:
            return None
    line = tree.line(tree.span(node).start)
    agreed = _agree(function, test)
    if isinstance(test, ast.Call) and dotted(test.func).rpartition(".")[2] == _CONSTANT and test.args:
        test = test.args[0]
    text = ast.unparse(test)
    group = {NO: "", ROUND: f"{tree.name}:{line}", ALWAYS: f"{tree.name} {getattr(function, 'name', '')} {text}"}[agreed]
    return Alternative(text, branch, line, tree.name, group)


def _agree(function: ast.AST | None, test: ast.AST) -> int:
    """Whether the threads of a block find the same value for an expression of a function, by all names that it is made of."""
    out, todo, seen = ALWAYS, [test], set[str]()
    while todo and out != NO:
        node = todo.pop()
        match node:
            case ast.Call():
                word = dotted(node.func).rpartition(".")[2]
                out = min(out, ALWAYS if word == _CONSTANT or word in COMPUTED or word in _ALIKE else NO)
                todo += [] if word == _CONSTANT else [*node.args, *(x.value for x in node.keywords)]
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                out = min(out, _named(function, name, todo))
            case ast.Lambda() | ast.NamedExpr() | ast.ListComp() | ast.GeneratorExp():
                return NO
            case _:
                todo += ast.iter_child_nodes(node)
    return out


def _named(function: ast.AST | None, name: str, todo: list[ast.AST]) -> int:
    """Of a name: `self`, what the file has, a kernel's parameter, or all that a function binds it to."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ALWAYS
    bound = [*_bound(function, name)]
    todo += [part for parts in bound for part in parts]
    agreed = ROUND if bound else ALWAYS
    if name in [arg.arg for arg in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]:
        kernel = any(dotted(mark).rpartition(".")[2] == "kernel" for mark in function.decorator_list)
        return agreed if kernel or name == "self" else NO
    return agreed


def _bound(function: ast.AST, name: str) -> Iterator[list[ast.AST]]:
    """What a function binds a name to, and the conditions around that."""
    todo: list[tuple[ast.AST, list[ast.AST]]] = [(function, [])]
    while todo:
        node, tests = todo.pop()
        targets: list[ast.expr] = []
        match node:
            case ast.Assign():
                targets = node.targets
            case ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr() | ast.For():
                targets = [node.target]
        if any(isinstance(x, ast.Name) and x.id == name for target in targets for x in ast.walk(target)):
            value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
            yield [*([value] if value is not None else []), *tests]
        inner = [*tests, node.test] if isinstance(node, (ast.If, ast.While)) else tests
        todo += [(child, inner) for child in ast.iter_child_nodes(node)]
