"""Layouts of coordinates against CUTLASS and the Python DSL (tests/data/coordinates.json.gz), and tensors with an origin."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import figure, parse
from cute_viz.algebra.composed import ComposedLayout, has_origin
from cute_viz.algebra.inttuple import X, map_leaves, show
from cute_viz.algebra.measure import coprofile
from cute_viz.algebra.static import with_origin
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError
from cute_viz.notation.write import TARGETS, write
from cute_viz.spec import read
from tests.by_hand import as_places, at, count, table

VECTORS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "coordinates.json.gz").read_bytes()))
ROWS = defaultdict(list)
for _by, _operation, *_row in json.loads(gzip.decompress((Path(__file__).parent / "data/coordinates.json.gz").read_bytes()))[
    "rows"
]:
    ROWS[_by, _operation].append(_row)

# What CuTe computes and we refuse, and where its run-time integers give other strides than static ones; may only shrink.
REFUSED = {"max_alignment(16:1@1)"}
RUN_TIME = {  # written without `_`, as the DSL prints: there the answer is the DSL's
    "coalesce((16,1,(2)):(4@1,4@1,(64@1)))",
    "local_tile(make_identity_layout((2,8)),(1,8),(1,0))",
    "right_inverse((4):(1@1))",
    "tiled_divide(4:1@0,4)",
}


def bare(text):
    """A print without the marks of static integers."""
    return re.sub(r"_(?=-?\d)", "", text)


def printed(operation, value):
    """A value as the vectors have it: a tile or partition with its offset, which is left out where it is 0."""
    if operation not in ("local_tile", "local_partition"):
        return show(value)
    return f"({value.inner},{show(value.offset)})" if has_origin(value) else show(value)


def same(operation, value, expected):
    found = bare(printed(operation, value))
    if found == bare(expected):
        return True
    local = operation in ("local_tile", "local_partition") and not has_origin(value)
    return local and re.fullmatch(rf"\({re.escape(found)},[(),0]*\)", bare(expected)) is not None


def test_the_vectors_are_there():
    rows = [row for found in ROWS.values() for row in found]
    assert len(rows) == 796
    assert {row[0] for row in rows} > REFUSED | RUN_TIME


@pytest.mark.parametrize(("by", "operation"), ROWS)
def test_results_values_and_refusals(by, operation):
    wrong = []
    for expression, expected, *values in ROWS[by, operation]:
        try:
            value = read(expression).pick()
        except CuteVizError as error:
            if expected is not None and expression not in REFUSED:
                wrong.append((expression, expected, error.message))
            continue
        if expression in REFUSED or expected is None or same(operation, value, expected) is (expression in RUN_TIME):
            wrong.append((expression, expected, show(value)))
        if values and expression not in RUN_TIME:
            found = [bare(show(read(f"({show(value)})({i})").pick())) for i in range(values[0])]
            if crc32(",".join(found).encode()) != values[1]:
                wrong.append((expression, "other values", found))
    assert not wrong


def test_random_operands_of_the_dsl():
    assert len(VECTORS["asked"]) == 432
    wrong = []
    for expression, expected in VECTORS["asked"]:
        try:
            found = show(parse(expression))
        except CuteVizError:
            found = None
        if found != expected:
            wrong.append((expression, expected, found))
    assert not wrong


# The answers of the DSL 4.8.1 where the vectors do not say which rule it is.
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("logical_divide((4,4):(1,4), (4,4):(1@0,1@1))", "((4,4),(1,1)):((1,4),(0,0))"),
        ("logical_divide((4,4):(1,4), (4,4):(1@1,1@0))", "((4,4),(1,1)):((4,1),(4,16))"),
        ("logical_divide((4,4):(1,4), (4):(1@0))", "((4),(1,4)):((1),(0,4))"),
        ("logical_divide((4,4,4):(1,4,16), (4,4):(1@0,1@1))", "((4,4),(1,1,4)):((1,4),(0,0,16))"),
        ("logical_divide((4,4,4):(1,4,16), (4,4):(1@0,1@2))", "((4,4),(1,4,1)):((1,16),(4,4,64))"),
        ("logical_divide(((2,2),4):((1,4),8), 2:1@0@0)", "(2,((1,2),4)):(1,((2,4),8))"),
        ("flat_divide((16):(1), 4:1@0)", "(4,4):(1,4)"),
        ("complement((4,8):(1@0,1@0@1), 32)", "(8,(1)):(4@0,(8@0@1))"),
        ("complement((4,8):(2@1,1@1@0), 32)", "((32,1),2):((1@0@0,8@1@0),1@1)"),
        ("complement((4,8):(1@0,1@1@1), (8,(16,16)))", "(2,(16,2)):(4@0,(1@0@1,8@1@1))"),
        ("right_inverse((4,8):(2@0,1@1))", "(1,8):(0,4)"),
        ("left_inverse((4,1):(1@0,1@1))", "(4,1):(1,0)"),
        ("logical_product((4,8):(1@0,1@1), (2,2))", "((4,2),(8,2)):((1@0,4@0),(1@1,1@0))"),
        ("raked_product((1,8):(1@0,1@1), (1,2):(0,1))", "(1,(2,8)):(0,(1@0,1@1))"),
        ("tile_to_shape((4,8):(1@0,1@1), (8,8), (0,1))", "((4,2),(8,1)):((1@0,4@0),(1@1,0))"),
    ],
)
def test_rules_of_the_dsl(expression, expected):
    assert show(parse(expression)) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "complement((4,8):(1@0,1@0), 32)",
        "complement((4):(-1@0), 32)",
        "complement((_4):(_1@0), 32)",
        "logical_divide((4,4):(1,4), 4:1@2)",
        "composition((8,4):(1,8), 4:1@2)",
        "logical_product((4):(1@0), (2,2):(1@0,1@1))",
        "ArithTuple(4,8) o (4,4):(1,4)",
        "ArithTuple(4,8) o (4,4):(1@0,1@0@1)",
        "make_tensor(make_inttuple_iter(4,8), (4,4):(1,4))",
    ],
)
def test_what_cute_has_no_answer_to_is_refused(expression):
    with pytest.raises(CuteVizError):
        parse(expression)


@pytest.mark.parametrize(
    "text",
    [
        "ArithTuple(_4,_8) o (_4,_2):(_1@0,_1@1)",
        "ArithTuple(4,8) o (_4,_2):(_1@0,_1@1)",
        "tensor<(4,8) o (4,2):(1@0,1@1)>",
        "tC : tensor<(4,8) o (4,2):(1@0,1@1)>",
        "make_tensor(make_inttuple_iter(4, 8), make_layout(make_shape(4, 2), make_stride(E<0>{}, E<1>{})))",
        "make_tensor(make_inttuple_iter(make_coord(4, 8)), make_identity_layout(make_shape(4, 2)))",
        "cute.make_tensor((4, 8), cute.make_identity_layout((4, 2)))",
        "(1,1):(1@0,1@1) o (4,8) o (4,2):(1@0,1@1)",
        "local_tile(make_identity_layout((8,16)), (4,2), (1,4))",
        "local_tile(ArithTuple(0,4) o (8,16):(1@0,1@1), (4,2), (1,2))",
    ],
)
def test_an_origin_is_kept_in_every_dialect(text):
    moved = read(text).pick()
    assert bare(show(moved)) == "ArithTuple(4,8) o (4,2):(1@0,1@1)"
    assert offsets(moved) == [(4 + i % 4, 8 + i // 4) for i in range(8)]
    assert all(read(write(moved, target)).pick() == moved for target in TARGETS)


def test_a_zero_origin_is_that_of_a_tensor():
    assert show(parse("ArithTuple(_0,_0) o (_4,_4):(_1@0,_1@1)")) == "ArithTuple(_0,_0) o (_4,_4):(_1@0,_1@1)"
    assert show(parse("tensor<(0,0) o (64,64):(1@1,1@0)>")) == "(64,64):(1@1,1@0)"


def test_an_origin_is_sliced_and_drawn():
    assert show(parse("(ArithTuple(4,8) o (8,8):(1@0,1@1))(2,_)")) == "ArithTuple(6,8) o (8):(1@1)"
    assert show(
        parse("partition_C(get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5), ArithTuple(16,8) o (32,32):(1@0,1@1))")
    ) == ("ArithTuple(17,10) o ((_2,_2),_2,_4):((1@1,8@0),16@0,8@1)")
    assert "(7,10)" in figure("ArithTuple(4,8) o (4,3):(1@0,1@1)").panels[0].labels


shapes = st.recursive(st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4)


@given(st.lists(shapes, min_size=1, max_size=3).map(tuple), st.data())
def test_an_origin_by_hand(shape, data):
    layout = parse(f"make_identity_layout({show(shape)})")
    origin = map_leaves(lambda _: data.draw(st.integers(-9, 9)), coprofile(layout))
    moved = with_origin(origin, layout)
    if not isinstance(moved, ComposedLayout):
        return
    assert parse(str(moved)) == moved
    assert [as_places(value) for value in offsets(moved)] == table(moved)
    index = data.draw(st.integers(0, count(shape[0]) - 1))
    sliced = moved((index, *[X] * (len(shape) - 1)))
    if len(shape) > 1:
        rest = count(shape) // count(shape[0])
        assert [at(sliced, i) for i in range(rest)] == [at(moved, index + count(shape[0]) * i) for i in range(rest)]


def test_an_identity_tensor_of_one_integer_counts():
    """As g++ with CUTLASS 4.7 and the DSL 4.8.1 print it."""
    text = "auto t = make_identity_tensor(64); {};"
    expected = {
        "t": "ArithTuple_0 o 64:_1",
        "t.layout()": "64:_1",
        "t(3)": "3",
        "local_tile(t, make_shape(_8{}), 2)": "ArithTuple16 o ((_8)):((_1))",
        "local_tile(t, _8{}, 2)": "ArithTuple16 o (_8):(_1)",
        "zipped_divide(t, _8{})": "ArithTuple_0 o (_8,8):(_1,_8)",
        "logical_divide(t, _8{})(_,3)": "ArithTuple24 o (_8):(_1)",
        "composition(t, make_layout(_4{},_2{}))": "ArithTuple_0 o _4:_2",
        "group_modes<0,1>(t)": "ArithTuple_0 o ((64)):((_1))",
        "domain_offset(3, t)": "ArithTuple3 o 64:_1",
        "make_tensor(t.data() + 4, make_layout(8))": "ArithTuple4 o 8:_1",
        "local_partition(t, make_layout(_8{}), 3)": "ArithTuple3 o ((8)):((_8))",
        "make_tensor(make_inttuple_iter(_3{}), make_layout(4))": "ArithTuple_3 o 4:_1",
    }
    assert {what: show(parse(text.format(what))) for what in expected} == expected
    for printed in expected.values():
        assert show(parse(printed)) == printed
    script = "import cutlass.cute as cute\nt = cute.make_identity_tensor(64)\na = cute.local_tile(t, (8,), (2,))\n"
    assert show(parse(script)) == "ArithTuple16 o (8):(1)"


def test_a_call_of_a_number_alone_is_one_of_cpp():
    """`_0` is what g++ prints: nothing but numbers is no notation of layouts, which has marks where it wants them."""
    calls = (
        "depth(3)",
        "rank(3)",
        "congruent(3,4)",
        "weakly_congruent(3,4)",
        "compact_col_major(8)",
        "depth((2,3))",
        "congruent(3,(3))",
    )
    assert [show(parse(call)) for call in calls] == ["_0", "_1", "_1", "_1", "_1", "1", "0"]
