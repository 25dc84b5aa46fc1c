"""The values of random programs of the Python DSL are those that the DSL prints, and what it refuses is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cute_viz import cli, parse
from cute_viz.notation.write import show_dsl
from tests import dsl_programs

# Where the DSL and CuTe's headers differ: an expression, and what the DSL 4.8.1 prints; `FAIL` for what it refuses.
FACTS = """
cute.raked_product(L((8, 1)), L((4, 1))) -> ((4,8),1):((8,1),0)
cute.raked_product(L(128), L((4, 4), stride=(1, 4))) -> ((4,128),4):((128,1),512)
cute.raked_product(L((8, 32)), L((2, (3, 2)))) -> ((2,8),(6,32)):((256,1),(512,8))
cute.raked_product(L(4), L(8)) -> ((8,4)):((4,1))
cute.blocked_product(L((2, 3)), L((1, 4))) -> ((2,1),(3,4)):((1,0),(2,6))
cute.tiled_product(L((8, 32)), L((4,), stride=(2,))) -> ((8,32),4):((1,8),512)
cute.flat_product(L((8,)), L((4,))) -> (8,4):(1,8)
cute.flat_divide(L((8, 32)), (L(4),)) -> (4,2,32):(1,4,8)
cute.tiled_divide(L((512,)), (128,)) -> ((128),4):((1),128)
cute.flat_divide(S, (L(2),)) -> S<3,3,3> o 0 o (2,4,64):(64,128,1)
cute.tile_to_shape(L((3, 3), stride=(1, 3)), (5, 8), order=(0, 1)) -> ((3,2),(3,3)):((1,9),(3,18))
cute.left_inverse(L(4, stride=0)) -> 1:0
cute.left_inverse(L((3, 7), stride=(0, 0))) -> 1:0
cute.left_inverse(L((4, 8), stride=(1, 5))) -> (5,8):(1,4)
cute.recast_layout(32, 16, L((4, 4, 3), stride=(1, 4, 5))) -> (2,4,3):(1,2,3)
cute.recast_layout(8, 64, L((2, 4), stride=(16, 32))) -> (2,4):(128,256)
cute.group_modes(L((4, (2, 3))), 0, -1) -> ((4),(2,3)):((1),(4,8))
cute.group_modes(L(8), 0, 1) -> (8):(1)
cute.product_each(64) -> 64
cute.flatten(S) -> S<3,3,3> o 0 o (8,64):(64,1)
cute.filter(cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, L((8, 4), stride=(0, 1)))) -> S<3,3,3> o 0 o 4:1
L((1, (2, 8, 8)), stride=(24, (8, 1, 0))).get_hier_coord(3) -> (0, (0, 3, 0))
L((8,)).shape -> (8,)
cute.idx2crd(31, ((32,), 16)) -> ((31,), 0)
cute.make_identity_tensor((8, (4, 4))) -> tensor<(0,(0,0)) o (8,(4,4)):(1@0,(1@0@1,1@1@1))>
I -> tensor<(0,0) o (32,64):(1@0,1@1)>
I.layout -> (32,64):(1@0,1@1)
I[1, 2] -> (1, 2)
cute.slice_(S, (0, None)) -> S<0,4,3> o 0 o (64):(1)
cute.slice_(S, (1, None)) -> S<0,4,3> o 0 o ((8,2,4)):((1,-8,16))
cute.slice_(S, (None, None)) -> S<3,3,3> o 0 o (8,64):(64,1)
cute.dice(S, (None, 1)) -> S<3,3,3> o 0 o (64):(1)
cute.dice(S, (1, None)) -> S<3,3,3> o 0 o (8):(64)
cute.slice_(I, (None, 1)) -> tensor<(0,1) o (32):(1@0)>
cute.composition(I, L(2)) -> tensor<(0,0) o 2:1@0>
cute.local_tile(I, (8, 8), (1, None)) -> tensor<(8,0) o (8,8,8):(1@0,1@1,8@1)>
cute.local_tile(I, (8, 8), (1, None)).layout -> (8,8,8):(1@0,1@1,8@1)
cute.make_tensor(I[None, 2].iterator, L((2, 2), stride=(cute.E(0), cute.E(1)))) -> tensor<(0,2) o (2,2):(1@0,1@1)>
cute.local_partition(I, L((2, 2)), cutlass.Int32(1)) -> tensor<(1,0) o (16,32):(2@0,2@1)>
cute.domain_offset((cutlass.Int32(3), 2), I) -> tensor<(?,2) o (32,64):(1@0,1@1)>
I[None, cutlass.Int32(3)] -> tensor<(0,?) o (32):(1@0)>
cute.local_partition(I, L((2, 2)), 0) -> FAIL
cute.local_tile(cute.make_identity_tensor((32, 16, 3)), (8, 8), (1, 0)) -> FAIL
cute.local_tile(I, (8, 8), 3) -> FAIL
cute.flat_divide(L((8, 32)), 4) -> FAIL
cute.zipped_product(L((8, 32)), (4, 8)) -> FAIL
cute.raked_product(L((8, 32)), (4, 8)) -> FAIL
cute.group_modes(L((16,)), 0, -1) -> FAIL
cute.left_inverse(S) -> FAIL
cute.right_inverse(I) -> FAIL
cute.append(I, L(2)) -> FAIL
cute.get(I, mode=[0]) -> FAIL
cute.complement(I, 64) -> FAIL
"""
_HEAD = """import cutlass, cutlass.cute as cute
L = cute.make_layout
I = cute.make_identity_tensor((32, 64))
S = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
"""


def test_what_the_dsl_computes_otherwise_than_the_headers() -> None:
    pairs = [line.split(" -> ") for line in FACTS.strip().splitlines()]
    text = _HEAD + "".join(f"x{n} = {expression}\n" for n, (expression, _) in enumerate(pairs))
    expected = {f"x{n}": value for n, (_, value) in enumerate(pairs)}
    assert not dsl_programs.differences(text, expected)


@pytest.mark.parametrize(
    ("expression", "in_dsl", "in_cpp"),
    [
        ("raked_product({(8,1)}, {(4,1)})", "((4,8),1):((8,1),0)", "((4,8),(1,1)):((8,1),(0,0))"),
        ("tile_to_shape({(3,3)}, (5,8))", "((3,2),(3,3)):((1,9),(3,18))", None),
        ("left_inverse({(3,2)})", "6:1", "6:1"),
    ],
)
def test_the_dialect_of_a_line_decides(
    expression: str, in_dsl: str, in_cpp: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    dsl = "cute." + re.sub(r"\{(.*?)\}", r"cute.make_layout(\1)", expression)
    assert show_dsl(parse(dsl)) == in_dsl
    with pytest.raises(SystemExit) as left:
        cli.main(["eval", re.sub(r"[{}]", "", expression)])
    assert (left.value.code, capsys.readouterr().out.strip()) == ((1, "") if in_cpp is None else (0, in_cpp))


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(900, 906))
def test_random_programs_have_the_values_of_the_dsl(seed: int, tmp_path: Path) -> None:
    """About 100 values each; set CUTE_VIZ_DSL to a Python that has nvidia-cutlass-dsl where this one has not."""
    python = dsl_programs.python_with_the_dsl()
    if python is None:
        pytest.skip("nvidia-cutlass-dsl is not installed, and CUTE_VIZ_DSL names no Python that has it")
    ours, theirs, count = dsl_programs.program(seed)
    expected = dsl_programs.values_of(theirs, tmp_path / "program.py", python)
    assert len(expected) > count // 4  # the DSL itself crashes at times
    assert not dsl_programs.differences(ours, expected), json.dumps(ours)
