"""Examples of what is below the interface, a text a room in `examples/`: each runs with the names of its module."""

from __future__ import annotations

from doctest import DocTestParser, DocTestRunner
from importlib import import_module
from pathlib import Path

import pytest

from conftest import add_names

PLACES = [  # (module::function, the example), as `== module::function` begins each
    block.split("\n", 1)
    for path in sorted((Path(__file__).parent / "examples").glob("*.txt"))
    for block in path.read_text("utf-8").removeprefix("== ").split("\n== ")
]


@pytest.mark.parametrize(("place", "text"), [pytest.param(*row, id=row[0]) for row in PLACES])
def test_example(place: str, text: str) -> None:
    module, _, name = place.partition("::")
    try:
        names = dict(vars(import_module(module.removesuffix(".py").removesuffix("/__init__").replace("/", "."))))
    except ImportError as error:  # source/compiled/clang_*.py import libclang
        pytest.skip(str(error))
    example = DocTestParser().get_doctest(text, names, name, module, 0)
    assert example.examples, "nothing to run"
    add_names(example)
    said: list[str] = []
    DocTestRunner(verbose=False).run(example, out=said.append)
    assert not said, "".join(said)
