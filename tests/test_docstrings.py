"""Every public function, class and method says what it means; every function of the interface shows it with a doctest."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import cute_viz
from cute_viz import testing
from cute_viz.algebra.ops import OPS
from cute_viz.options.views import COLOR_BY, LABELS, VIEWS
from cute_viz.renderers import FORMATS
from tests.commands import tree

PACKAGE = Path(__file__).parents[1] / "cute_viz"
MODULES = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in ("layouts", "data")
)
Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Node]]:
    """The public definitions of a module and, within its public classes, their methods; nested functions are not looked at."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try)):
            yield from _public([*node.body, *node.orelse], prefix)
        elif isinstance(node, Node) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body, f"{prefix}{node.name}.")


def _definitions(module: str) -> list[tuple[str, Node]]:
    return list(_public(tree(PACKAGE / module).body))


@pytest.mark.parametrize("module", MODULES)
def test_says_what_it_means(module: str) -> None:
    """What a Protocol only declares, `def name(self) -> int: ...`, says it where it is defined."""
    bare = [name for name, node in _definitions(module) if not ast.get_docstring(node) and ast.unparse(node.body[0]) != "..."]
    assert not bare, f"cute_viz/{module}: no docstring on {', '.join(bare)}"


INTERFACE = {name: getattr(cute_viz, name) for name in cute_viz.__all__}
INTERFACE |= {name: value for name, value in vars(testing).items() if name.startswith("assert")}
INTERFACE |= {name: inspect.unwrap(operation.resolve()) for name, operation in OPS.items()}


@pytest.mark.parametrize("name", INTERFACE)
def test_the_interface_shows_it(name: str) -> None:
    value = INTERFACE[name]
    assert inspect.isclass(value) or ">>> " in (inspect.getdoc(value) or ""), f"no doctest in {name}"


def test_examples_of_the_rest_are_tests() -> None:
    """What is below the interface has its examples in `tests/examples/`, where no reader of the code meets them."""
    places = {(one.__module__, one.__qualname__) for value in INTERFACE.values() for one in getattr(value, "__mro__", (value,))}
    for module in MODULES:
        dotted = f"cute_viz.{module[:-3].replace('/', '.')}"
        shown = [name for name, node in _definitions(module) if ">>> " in (ast.get_docstring(node) or "")]
        shown = [name for name in shown if (dotted, name.partition(".")[0]) not in places]
        assert not shown, f"cute_viz/{module}: move the doctest of {', '.join(shown)} to tests/examples/"


def test_the_python_door_names_every_word() -> None:
    """The words of `figure` and `render` are lists of their own: a new view or format is named there, too (cute_viz/api.py)."""
    for function, words in ((cute_viz.figure, (*VIEWS, *LABELS, *COLOR_BY)), (cute_viz.render, FORMATS)):
        missing = [word for word in words if f"`{word}`" not in (function.__doc__ or "")]
        assert not missing, f"name {', '.join(missing)} in the docstring of `{function.__name__}` in cute_viz/api.py"
