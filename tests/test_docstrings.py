"""Every public function, class and method says what it means; every public function of a pure room shows it with a doctest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cute_viz
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

# They print, exit, write folders, or are called by a host; or they are packages behind one door, whose doctest shows them.
NO_DOCTESTS = ("cli/", "ext/", "gallery/", "__main__.py", "source/cpp/", "source/python/", "source/compiled/")
NO_DOCTEST = {  # a module, or module::function -> why a doctest would show nothing
    "notebooks.py::bundle": "display.Shown shows it",
    "notebooks.py::write": "display.Drawn shows it",
    "display.py::plug": "every figure shows it",
    "documents/draw.py::name_of": "documents.embed shows it",
    "engine/access.py::picture_of": "report_of shows it",
    "engine/drawing.py::figure_of": "engine.ask shows it",
    "engine/drawing.py::how_to_write": "engine.ask shows it",
    "engine/drawing.py::options_for": "engine.ask shows it",
    "engine/drawing.py::write": "engine.ask shows it",
    "engine/kernel_ci.py::findings": "sarif and github show it",
    "engine/kernel_fix.py::consistent": "what_if shows it",
    "engine/kernel_fix.py::may_grow": "reads a file",
    "engine/kernel_ncu.py::compared": "reads a file",
    "engine/kernel_text.py::head": "text_of shows it",
    "engine/kernel_text.py::missing": "text_of shows it",
    "engine/kernel_why.py::why": "text_of shows it",
    "engine/pages.py::drawings": "reads a file",
    "engine/pages.py::one_page": "draws a file",
    "engine/reading.py::values_of": "reads what a request's `let` holds",
    "source/mlir_moves.py::moves": "mlir.read shows it",
    "live/mcp.py": "needs a package that may not be there",
    "live/pool.py::work": "runs in a process of its own; Pool shows it",
    "spec/build.py::spec_in": "reads a file; named shows it",
    "spec/tidy.py::tidied": "reads a file",
    "source/python/attributes.py": "asks a reading under way; source.python.read shows it",
    "source/python/branches.py": "asks a reading under way; source.python.read shows it",
    "source/python/calls.py": "asks a reading under way; source.python.read shows it",
    "source/python/expressions.py": "asks a reading under way; source.python.read shows it",
    "source/python/given.py": "asks a reading under way; source.python.read shows it",
    "source/python/library.py": "asks a reading under way; source.python.read shows it",
    "source/python/operators.py": "asks a reading under way; source.python.read shows it",
    "source/python/plain.py": "asks a reading under way; source.python.read shows it",
    "source/python/statements.py": "asks a reading under way; source.python.read shows it",
    "source/python/subscripts.py": "asks a reading under way; source.python.read shows it",
    "source/python/tensors.py::member_of": "asks a reading under way; source.python.read shows it",
    "check/compiler.py": "needs CuTe's headers and a compiler, which are not installed with the package",
    "check/counters.py::main": "needs a GPU",
    "check/counters.py::measure": "runs ncu",
    "renderers/__init__.py::render": "cute_viz.render, the same of an object, shows it",
    "spec/library.py::entry": "lookup shows it",
    "spec/library.py::resolve": "spec.resolve shows it",
}


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


def _shows(node: Node) -> bool:
    return ">>> " in (ast.get_docstring(node) or "")


@pytest.mark.parametrize("module", MODULES)
def test_says_what_it_means(module: str) -> None:
    """What a Protocol only declares, `def name(self) -> int: ...`, says it where it is defined."""
    bare = [name for name, node in _definitions(module) if not ast.get_docstring(node) and ast.unparse(node.body[0]) != "..."]
    assert not bare, f"cute_viz/{module}: no docstring on {', '.join(bare)}"


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith(NO_DOCTESTS) and m not in NO_DOCTEST])
def test_shows_it(module: str) -> None:
    functions = [(name, node) for name, node in _definitions(module) if "." not in name and not isinstance(node, ast.ClassDef)]
    mute = [name for name, node in functions if f"{module}::{name}" not in NO_DOCTEST and not _shows(node)]
    assert not mute, f"cute_viz/{module}: no doctest in {', '.join(mute)}"


def test_every_exception_is_still_one() -> None:
    for place in NO_DOCTEST:
        module, _, name = place.partition("::")
        functions = {known: _shows(node) for known, node in _definitions(module) if not isinstance(node, ast.ClassDef)}
        assert not name or name in functions, f"{place} is no public function any more"
        assert not (functions[name] if name else all(functions.values())), f"{place} has a doctest now, and needs no exception"


def test_the_python_door_names_every_word() -> None:
    """The words of `figure` and `render` are lists of their own: a new view or format is named there, too (cute_viz/api.py)."""
    for function, words in ((cute_viz.figure, (*VIEWS, *LABELS, *COLOR_BY)), (cute_viz.render, FORMATS)):
        missing = [word for word in words if f"`{word}`" not in (function.__doc__ or "")]
        assert not missing, f"name {', '.join(missing)} in the docstring of `{function.__name__}` in cute_viz/api.py"
