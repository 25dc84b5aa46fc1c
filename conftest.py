"""The names that every example in a docstring has, beside those of its module: the interface's and the values'."""

from __future__ import annotations

from doctest import DocTest
from importlib import import_module
from typing import Any

import pytest

NAMES = {
    "cute_viz": "parse figure",
    "cute_viz.algebra.composed": "ComposedLayout",
    "cute_viz.algebra.inttuple": "X",
    "cute_viz.algebra.layout": "Layout",
    "cute_viz.algebra.stride": "Basis E",
    "cute_viz.algebra.swizzle": "Swizzle",
    "cute_viz.engine.kernel_rows": "Report",
    "cute_viz.figures": "build",
    "cute_viz.live.question": "Question",
    "cute_viz.source.model": "Given",
    "cute_viz.spec": "PACKAGED",
    "cute_viz.spec.library": "resolve",
    "cute_viz.values.types": "Pointer",
}


@pytest.fixture(autouse=True)
def _names_of_examples(request: pytest.FixtureRequest) -> None:
    test: Any = getattr(request.node, "dtest", None)
    if test is not None:
        add_names(test)


def add_names(test: DocTest) -> None:
    """The names of the interface that an example uses."""
    words = {word for example in test.examples for word in example.source.replace("(", " ").replace(".", " ").split()}
    for module, names in NAMES.items():
        for name in names.split():
            if name not in test.globs and any(name in word for word in words):
                test.globs[name] = getattr(import_module(module), name)
