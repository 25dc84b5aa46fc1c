"""The right inverse of XOR strides: what PyCuTe's own tests say, and the law by brute force."""

from __future__ import annotations

import random

import pytest

from cute_viz import parse
from cute_viz.algebra import right_inverse, size
from cute_viz.errors import CuteVizError


@pytest.mark.parametrize(
    ("layout", "inverse"),
    [  # NVlabs/CuTe, pycute/algebra.py and test/test_inverse_right.py
        ("(8,8):(F1,F9)", "(8,8):(F1,F9)"),
        ("(4,4):(F1,F5)", "(4,4):(F1,F5)"),
        ("(8,8):(F9,F1)", "(8,8):(F8,F9)"),
        ("(4,8):(F1,F4)", "32:F1"),
        ("8:F0", "1:0"),
        ("8:F2", "1:0"),
    ],
)
def test_what_pycute_gives(layout, inverse):
    assert str(parse(f"right_inverse({layout})")) == inverse


@pytest.mark.parametrize(
    ("layout", "reached"),
    [("(4,(4,3)):(F1,(F5,F16))", 48), ("(8,8):(F1,F13)", 8), ("(4,4):(F1,F1)", 4), ("8:F3", 1), ("(4,8):(0,F1)", 8)],
)
def test_how_far_pycute_gets(layout, reached):
    inverse = parse(f"right_inverse({layout})")
    assert size(inverse) == reached


def test_the_law_on_random_layouts():
    rng = random.Random(18)
    whole = 0
    for _ in range(1500):
        rank = rng.randint(1, 4)
        extents = [rng.choice((2, 4, 8, 2, 4, 3, 6, 1)) for _ in range(rank)]
        strides = [f"F{rng.choice((0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 20, 24, 32, 33))}" for _ in range(rank)]
        layout = parse(f"({','.join(map(str, extents))}):({','.join(strides)})")
        inverse = right_inverse(layout)
        assert [layout(inverse(i)) for i in range(size(inverse))] == list(range(size(inverse))), str(layout)
        whole += size(inverse) == size(layout) > 1
    assert whole > 20


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("left_inverse((8,8):(F1,F9))", "left_inverse of XOR strides is not supported"),
        ("right_inverse((8,8):(F1,8))", "mixes integer and XOR strides"),
        ("right_inverse(Sw<1,0,3> o 0 o (8,8):(F1,F8))", "the inverse of a composed layout with XOR strides is not supported"),
        ("right_inverse((1048576,1048576):(F1,F1048577))", ""),
    ],
)
def test_the_rest_is_refused(expression, words):
    if not words:
        assert str(parse(expression))
        return
    with pytest.raises(CuteVizError, match=words):
        parse(expression)
