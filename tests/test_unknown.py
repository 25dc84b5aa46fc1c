"""Run-time integers without a number: `?` is shown, cut and put together, and asked for where a number counts."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import unknowns
from cute_viz.errors import CuteVizError
from cute_viz.source.text import parse
from cute_viz.values.integer import compared
from tests.commands import run


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(?,8):(8,1)", "(?,8):(8,1)"),
        ("(?{i64},?{div=8}):(?{i64 div=32},1)", "(?{i64},?{div=8}):(?{i64 div=32},1)"),
        ("(4,8):(1@0,?@1)", "(4,8):(1@0,?@1)"),
        ("tensor<ptr<f16, smem, align<1024>, S<3,4,3>> o (8,?):(64,1)>", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,?):(64,1)"),
        ("slice((2,_), (?,8):(8,1))", "(8):(1)"),
        ("slice((_,2), (?,8):(8,1))", "(?):(8)"),
        ("get<1>((8,(?,4)):(1,(?,8)))", "(?,4):(?,8)"),
        ("select<1,0>((?,8):(8,1))", "(8,?):(1,8)"),
        ("group<0,2>((?,8,2):(16,2,1))", "((?,8),2):((16,2),1)"),
        ("flatten(((?,2),8):((1,?),4))", "(?,2,8):(1,?,4)"),
        ("make_layout((?,8), (1,?))", "(?,8):(1,?)"),
        ("make_layout((4,8):(8,?), ?:1)", "((4,8),?):((8,?),1)"),
        ("append((?,2):(2,1), 5:7)", "(?,2,5):(2,1,7)"),
        ("rank((?,8):(8,1))", "2"),
        ("size((?,8):(8,1))", "?{div=8}"),
        ("size<1>((?,8):(8,1))", "8"),
        ("((4,8):(1,?))(3,0)", "3"),
        ("((4,8):(1,?))(3,1)", "?"),
        ("composition(?:?, (5,4):(4,1))", "(5,4):(?{div=4},?)"),
        ("make_layout((8,?,4))", "(8,?,4):(1,8,?{div=8})"),
        ("make_layout((8,?{i64},4))", "(8,?{i64},4):(1,8,?{i64 div=8})"),
        ("zipped_divide((?,?{div=8}):(?{div=8},1),(64,32))", "((64,32),(?,?)):((?{div=8},1),(?{div=512},32))"),
        ("logical_divide((4,?{div=8},2):(1,4,?{div=32}),(2,4))", "((2,2),(4,?),2):((1,2),(4,16),?{div=32})"),
        ("local_tile(make_identity_layout((512,256)),(64,32),(?,_))", "ArithTuple(?{div=64},0) o (64,32,8):(1@0,1@1,32@1)"),
        ("slice((_,?), Sw<3,3,3> o 0 o (128,64):(64,1))", "((2,2,2,16)):((?{div=8},?{div=16},?{div=32},512))"),
        ("slice((?,_), Sw<3,3,3> o 0 o (128,64):(64,1))", "((8,2,2,2)):((1,?{div=8},?{div=16},?{div=32}))"),
        ("composition((_20):(_2), (?,_4):(_4,_1))", "(?,_4):(_8,_2)"),
        ("coalesce((2,4,?):(1,2,?))", "(8,?):(1,?)"),
        ("make_identity_layout((?,8))", "(?,8):(1@0,1@1)"),
        ("? + 0", "?"),
        ("0 * ?", "0"),
        ("coalesce(make_layout(M))", "M:1"),
        ("logical_product(make_layout(M),4:1)", "(M,4):(1,M)"),
        ("composition(make_layout(M),4:1)", "4:1"),
    ],
)
def test_what_no_number_changes(text: str, shown: str) -> None:
    assert run("eval", text).stdout.decode() == shown + "\n"


MIXED = json.loads(gzip.decompress((Path(__file__).parent / "data" / "mixed_vectors.json.gz").read_bytes()))["rows"]


def test_what_cute_knows_of_its_types() -> None:
    """Rows of CuTe itself, every run-time number in them forgotten: what is told is told alike, the rest asks for numbers."""
    told = asked = 0
    for expression, expected, _ in MIXED:
        operation, bracket, operands = expression.partition("(")
        if not bracket or "<" in expression or ";" in expression or not re.search(r"(?<![\w@_])\d", operands):
            continue
        try:
            found = show(parse(f"{operation}({forgotten(operands)}"))
        except CuteVizError as error:
            asked += 1 if error.needs == ("?",) else 1000
            continue
        assert re.sub(r"\?\{div=\d+\}", "?", found) == forgotten(expected), expression
        told += 1
    assert told > 60
    assert asked < 60


def forgotten(text: str) -> str:
    return re.sub(r"(?<![\w@_])-?\d+(?![\w<])", "?", text)


@pytest.mark.parametrize(
    "text", ["(?,8):(8,1)", "(4,8):(?,1)", "(4,8):(?@0,1@1)", "Sw<3,3,3> o 0 o (?,8):(8,1)", "make_layout((?,8))"]
)
def test_pictures_ask_for_it(text: str) -> None:
    answer = run("render", text)
    assert answer.returncode == 1
    error = answer.stderr.decode()
    assert "'?' is a run-time value, whose number is not in the print" in error
    assert "--let '?=512'" in error
    shown = run("show", text)
    assert (shown.returncode, shown.stdout.decode().splitlines()[-1].split()) == (0, ["known", "when", "it", "runs", "?"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("make_layout(make_shape(M, 8))", "(M,8):(_1,M)"),
        ("slice((_,0), (M,8):(N,1))", "(M):(N)"),
        ("composition((M,8):(8,1), (4,2):(1,4))", "((?,?),(?,?)):((8,?),(32,?))"),
        ("cute.make_layout((M,8), stride=(8,1))", "(M,8):(8,1)"),
        ("size((M,8):(1,M))", "?{div=8}"),
        ("zipped_divide((M,8):(1,M),(4,2))", "((4,2),(?,4)):((1,M),(4,?{div=2}))"),
    ],
)
def test_a_name_without_a_value_is_one(text: str, shown: str) -> None:
    assert run("eval", text).stdout.decode() == shown + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "cosize((M,8):(1,M))",
        "M",
    ],
)
def test_a_name_is_asked_for_where_its_number_counts(text: str) -> None:
    answer = run("eval", text)
    assert answer.returncode == 1
    assert "--let M=512" in answer.stderr.decode()


def test_a_type_without_a_value_is_no_integer() -> None:
    answer = run("eval", "make_layout((M,8), LayoutRigth{})")
    assert answer.returncode == 1
    assert "did you mean LayoutRight" in answer.stderr.decode()


def test_it_is_never_taken_for_a_number() -> None:
    layout = parse("(?,8):(8,1)")
    assert [str(x) for x in unknowns(layout)] == ["?"]
    for act in (int, bool, range, lambda x: x < 1, lambda x: compared("==", x, 4)):
        with pytest.raises(CuteVizError) as caught:
            act(layout.shape[0])
        assert caught.value.needs == ("?",)
        assert caught.value.span is not None
    assert layout == layout
    assert layout != parse("(?,8):(8,1)")  # nobody knows


def test_numbers_can_be_given() -> None:
    assert run("eval", "(?,?{div=8}):(?,1)", "--let", "?=(4,16,32)").stdout == b"(4,16):(32,1)\n"
