"""The registry: every row works, and its example is what it says."""

from __future__ import annotations

from importlib import import_module

import pytest

from cute_viz import parse
from cute_viz.algebra.ops import ALIASES, OPS, find
from cute_viz.analysis.explain import explain
from cute_viz.errors import AlgebraError
from cute_viz.notation import read_call
from cute_viz.spec import resolve


@pytest.mark.parametrize("name", OPS)
def test_every_row(name):
    op = OPS[name]
    function = getattr(import_module(f"cute_viz.algebra.{op.module}"), op.function)
    assert function.__doc__
    assert op.summary
    assert parse(op.example) is not None
    with pytest.raises(AlgebraError):
        op.call([], ())


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases(alias):
    assert find(f"cute.{alias}").name == ALIASES[alias]


@pytest.mark.parametrize("name", OPS)
def test_an_explanation_ends_in_the_result(name):
    operation, operands = read_call(OPS[name].example, resolve=resolve)
    steps = explain(operation, operands)
    assert steps[-1].value == find(operation).call(operands, ())


def test_an_explanation_of_a_failure_names_the_condition():
    steps = explain(*read_call("composition((3,5,7):(35,7,1), (1):(7))"))
    assert "Stride Divisibility Condition" in steps[-1].words
    assert steps[-1].value is None
