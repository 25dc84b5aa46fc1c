"""Static and run-time integers in one expression: what CuTe makes of them, which simplifies only what it knows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from zlib import crc32

import pytest

from cute_viz import parse
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.measure import size
from cute_viz.algebra.ops import OPS
from cute_viz.errors import CuteVizError
from tests.commands import fails, run

ROWS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "mixed_vectors.json.gz").read_bytes()))["rows"]


def test_what_cute_prints():
    assert len(ROWS) > 100
    wrong = []
    for expression, expected, values in ROWS:
        found = parse(expression)
        if show(found) != expected:
            wrong.append((expression, expected, show(found)))
        elif values is not None and crc32(",".join(str(found(i)) for i in range(size(found))).encode()) != values:
            wrong.append((expression, "other values", show(found)))
    assert not wrong


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("coalesce((4,8):(1,4))", "32:1"),  # no `_` is written: plain integers stand for static ones
        ("logical_divide((10,2):(1,10), 4)", "(4,5):(1,4)"),
        (
            "tile_to_shape(Layout_K_SW128_Atom<half_t>{}, (128,64))",
            "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16),(_64,_1)):((_64,_512),(_1,_0))",
        ),
        ("logical_product((_2,_2), 4)", "((_2,_2),4):((_1,_2),_4)"),
        ("logical_divide(composition(_8:_1,_4:_1), 4)", "(4,1):(_1,4)"),
        ("Sw<3,3,3> o 0 o composition((_8,_64):(_64,_1),(_4,_4))", "Sw<3,3,3> o 0 o (_4,_4):(_64,_1)"),
        ("make_identity_layout((4,_8))", "(4,_8):(_1@0,_1@1)"),
        ("make_identity_layout((4,8))", "(4,8):(1@0,1@1)"),
        ("rank((_2,8):(0,_1))", "_2"),
        ("rank((2,8):(0,1))", "2"),
        ("weakly_congruent((_8,8),(8,8))", "_1"),
        ("compatible((_2,(_1,_6)),_3)", "_0"),
        ("compatible(2,_3)", "0"),
        ("compatible((_3,(_4,8,3)),((_3,4),(3)))", "_0"),
        ("compatible(((2,4),_2),_2)", "_0"),
        ("ceil_div((_64,6),_2)", "(_32,6)"),
        ("make_ordered_layout((3,4,(_6,_3,2)),(_2,_1,(_0,_4,_3)))", "(3,4,(_6,_3,2)):(24,_6,(_1,144,72))"),
        ("make_fragment_like((3,(6,1,_8)):(1,(3,0,_18)))", "(3,(6,1,_8)):(_1,(3,18,18))"),
        ("make_fragment_like((_8,(_8,_1,_4),_4):(_1,(8,_0,_64),_256))", "(_8,(_8,_1,_4),_4):(_1,(_128,_0,_8),_32)"),
        ("make_fragment_like(make_identity_layout((16,64,(4,_4))))", "(16,64,(4,_4)):(_1,16,(1024,4096))"),
        ("a = (_4,8):(_1,_4); coalesce(a)", "(_4,8):(_1,_4)"),
        ("a = (4,_8):(_1,_4); coalesce(a)", "(4,_8):(_1,_4)"),
        ("a = (4,_8):(_0,_0); coalesce(a)", "32:_0"),
    ],
)
def test_what_is_marked_decides(expression, expected):
    assert show(parse(expression)) == expected


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("left_inverse((_4,8):(_1,4))", "Left inverse requires static strides"),
        ("complement((_4,8):(_1,4))", "Dynamic-stride complement only for rank-1 layouts"),
        ("composition((_4,8):(_1,4), _8:0)", "divides by zero"),
    ],
)
def test_what_cute_refuses_of_run_time_integers(expression, words):
    with pytest.raises(CuteVizError, match=words):
        parse(expression)
    assert words in fails(run("eval", expression), 1)


def test_explain_gives_what_eval_gives():
    for expression, expected, _ in ROWS[::5]:
        if expression.partition("(")[0] in OPS:
            assert run("explain", expression).stdout.decode().splitlines()[-1].strip() == expected


def test_a_division_that_is_none_is_said():
    said = run("eval", "logical_divide((10,2):(1,10),_4)")
    assert said.stdout == b"((4,1),(3,2)):((1,10),(4,10))\n"
    assert b"not A cut by the tiler everywhere" in said.stderr


@pytest.mark.parametrize("text", ["_1/_2@0", "(_4):(_1/_2@0)", "(_4,4):(_1/_2@0,_1@1)", "4:1/2@0", "(4,2):(_3/_4@0,1@1)"])
def test_ratios_read_back_as_they_print(text):
    assert show(parse(text)) == text
    assert parse(show(parse(text))) == parse(text)


def test_static_ratios_stay_static():
    assert show(parse("coalesce((_4,_4):(_1/_2@0,_2@0))")) == "_16:_1/_2@0"
    assert show(parse("_4/_2@0")) == "_2@0"
