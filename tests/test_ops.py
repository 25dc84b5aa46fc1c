"""The registry: every row works, and its example is what it says."""

from __future__ import annotations

import contextlib
import random
from importlib import import_module

import pytest

from cute_viz import parse
from cute_viz.algebra.compose import make_composed_layout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import ALIASES, OPS, find
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.explain import explain
from cute_viz.errors import AlgebraError, CuteVizError
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
    operation, operands, template = read_call(OPS[name].example, resolve=resolve)
    steps = explain(operation, operands, template)
    assert steps[-1].value == find(operation).call(operands, template)


def test_an_explanation_of_a_failure_names_the_condition():
    steps = explain(*read_call("composition((3,5,7):(35,7,1), (1):(7))"))
    assert "Stride Divisibility Condition" in steps[-1].words
    assert steps[-1].value is None


# Of composed layouts plain ones in CuTe, too: what is left out or in common, and registers.
PLAIN = ("complement", "nullspace", "max_common_layout", "make_fragment_like", *(f"partition_fragment_{x}" for x in "ABC"))


@pytest.mark.parametrize("name", OPS)
def test_no_operation_drops_a_swizzle(name):
    """Of a swizzled layout comes a composed one, no layout at all, or a refusal: `begin with lift` was not forgotten."""
    operation, operands, template = read_call(OPS[name].example, resolve=resolve)
    kinds = OPS[operation].kinds.rstrip("*").ljust(len(operands), OPS[operation].kinds[-1])
    for n, (operand, kind) in enumerate(zip(operands, kinds, strict=False)):
        plain = Layout(operand) if kind in "LA" and isinstance(operand, (int, tuple)) else operand
        if isinstance(plain, Layout):
            swizzled = make_composed_layout(Swizzle(1, 0, 1), 0, plain)
            try:
                result = find(operation).call([*operands[:n], swizzled, *operands[n + 1 :]], template)
            except AlgebraError:
                continue
            assert name in PLAIN or not isinstance(result, Layout)


ODD = [
    "4", "_8", "0", "-3", "()", "(4,8)", "(4,(2,3))", "(_,3)", "_", "(4,8):(8,1)", "((2,2),4):((1,8),2)", "(4,8):(1@0,1@1)", "8:0",
    "Sw<3,3,3>", "Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "(2:1,4:2)", "1/2@0", "F2",
    "SM80_16x8x16_F32F16F16F32_TN", "SM75_U32x4_LDSM_N", "Copy_Atom<UniversalCopy<float>, float>{}", "half_t",
    "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})", "make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1))",
    "get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5)", "LayoutRight", "(2,2):(F1,F2)",
]  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_odd_operands_are_refused_in_words(name):
    """Whatever an operation is given, it answers or says what is wrong."""
    odd = [parse(text) for text in ODD]
    chance = random.Random(name)
    for _ in range(150):
        operands = [chance.choice(odd) for _ in range(chance.randrange(1, 5))]
        template = tuple(chance.choice(odd[:9]) for _ in range(chance.choice((0, 0, 1, 2))))
        with contextlib.suppress(CuteVizError):
            OPS[name].call(operands, template)
