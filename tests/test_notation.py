"""CuTe notation: what it reads, what it writes, and where it points when it cannot read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz.algebra.composed import PointerFlag
from cute_viz.algebra.inttuple import X, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import mark_static
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.text import parse, read
from tests.strategies import any_layouts


@given(any_layouts())
def test_str_and_parse_round_trip(layout):
    assert parse(str(layout)) == layout
    static = mark_static(layout)
    assert parse(str(static)) == layout
    assert str(parse(str(static))) == str(static)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("((16,8),8):((64,1),8)", None),
        (" ( (16, 8) , 8 ) :\n ((64,1),8) ", "((16,8),8):((64,1),8)"),
        ("(_4,_8):(_8,_1)", None),
        ("(_4,8):(12,_1)", None),
        ("(4):(1)", None),
        ("4:1", None),
        ("(4,8):(-8,0)", None),
        ("_4:_-2", None),
        ("(4,8):(1@0,1@1)", None),
        ("(4,8):(_1@0,_2@1@0)", None),
        ("(4,8):(1/2@0,3@1)", None),
        ("(4,8):(2/2@0,0)", "(4,8):(1@0,0)"),
        ("(2,2):(E<0>,E<0,1>)", "(2,2):(1@0,1@1@0)"),
        ("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)", None),
        ("Sw<3,4,3> o ? o (8,64):(64,1)", None),
        ("S<3,4,3> o 0 o (8,64):(64,1)", "Sw<3,4,3> o 0 o (8,64):(64,1)"),
        ("Swizzle<2,3,-3>{} o 0 o (8,64):(64,1)", "Sw<2,3,-3> o 0 o (_8,_64):(_64,_1)"),
        ("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", None),
        ("(4,5):(1,4) o 2 o (2,3):(1,2)", None),
        ("_64:_2 o _0 o (_4,_8):(_8,_1)", None),
        ("ArithTuple(_0,_0) o (_4,_3):(_1@0,_1@1)", None),
        ("gmem_ptr[16b](0x1000) o (_4,_8):(_8,_1)", "(_4,_8):(_8,_1)"),
        ("(4,8)", None),
        ("(2:1,4:2)", None),
        ("<4:1, 8:2>", "(4:1,8:2)"),
        ("[4:1;8:2]", "(4:1,8:2)"),
        ("[_;(2,3):(1,2)]", "(_,(2,3):(1,2))"),
        ("((4,8):(8,1))", "(4,8):(8,1)"),
        ("a = (4,8):(8,1); a(2,3)", "19"),
        ("a = (4,8):(8,1)\na(2,_)", "(8):(1)"),
        ("Sw<3,3,3>(64)", "72"),
        ("(4,8):(8,1)  // row-major", "(4,8):(8,1)"),
    ],
)
def test_reads(text, printed):
    assert show(parse(text)) == (printed or text)


def test_reads_into_the_right_values():
    assert parse("(4)") == (4,)
    assert parse("(2,_)") == (2, X)
    flagged = parse("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")
    assert flagged.offset == PointerFlag(16)
    assert flagged(1, 0) == 72  # byte swizzle on 16-bit elements: Sw<3,3,3>
    assert parse("1:18446744073709551616") == Layout(1, 2**64)


@pytest.mark.parametrize(
    ("text", "under", "words"),
    [
        ("(4,8,)", ",)", "a mode is missing"),
        ("(4,,8)", ",", "a mode is missing"),
        ("(4,8)(8,1)", "(", "two tuples side by side"),
        ("(4,8):8", "8", "its stride 8 is one number"),
        ("(4,8):(8,1,2)", "(8,1,2)", "has 3 modes"),
        ("((4,2),8):((1,4),(2,3))", "(2,3)", "is a tuple"),
        ("(4,8", "(", "never closed"),
        ("(4,8))", ")", "closes nothing"),
        ("4:", ":", "stride after ':' is missing"),
        (":3", ":", "shape before ':' is missing"),
        ("(4 8)", "8", "expected ',' or ')'"),
        ("4:2:1", ":", "second ':'"),
        ("4,8", ",", "outside of parentheses"),
        ("(0,4):(1,2)", "(0,4)", "1 or more"),
        ("composition(x,4:1)", "x", "undefined"),
        ("(4,$):(1,2)", "$", "unexpected character"),
        ("(4,8x):(1,2)", "8x", "neither a number nor a name"),
        ("(4,8):(1@x,2)", "x", "position of a mode"),
        ("(4,8):(1/0@0,2)", "0", "positive denominator"),
        ("Sw<3,3,1> o 0 o 8:1", "Sw<3,3,1>", "|S| must be at least B"),
        ("Sw<3> o 0 o 8:1", "Sw<3>", "three integers"),
        ("Sw<3,3,3>(4,8)", "Sw<3,3,3>(4,8)", "takes one offset"),
        ("(4,8):(8:1,1)", "(8:1,1)", "a stride must be an integer"),
        ("\x07(4,8)", "\x07", "U+0007"),
    ],
)
def test_errors_point_at_the_place(text, under, words):
    with pytest.raises(CuteVizError) as caught:
        parse(text)
    error = caught.value
    assert words in error.message
    assert error.span is not None
    assert text[error.span.start : error.span.end].startswith(under)
    assert "^" in error.explain()
    assert "\x1b" not in error.explain()


def test_nothing_to_read():
    for text in ("", "  ", "\n\n", "// a comment", ";"):
        with pytest.raises(CuteVizError, match="nothing to read"):
            parse(text)


def test_a_place_in_many_lines():
    with pytest.raises(CuteVizError) as caught:
        parse("a = (4,8):(8,1)\nb = (4,8):(8,1,)\n")
    assert caught.value.line().startswith("2:")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 65 + "1" + ")" * 65,
        "1" * 401,
        "(" * 100_000,
        "4:" + "1" * 100_000,
        f"Sw<3,4,3> o smem_ptr[{'9' * 5000}b](unset) o 8:1",
        f"Sw<{'9' * 5000},4,3>_smem_ptr[8b](unset) o 8:1",
        f"8:F{'9' * 5000}",
    ],
)
def test_limits(text):
    with pytest.raises(LimitError):
        parse(text)


@given(st.text(alphabet="()[]<>{}_,:;@/=o 0123456789abSw-\n∘⊘⊗", max_size=40))
def test_any_text_gives_a_value_or_one_clean_error(text):
    error = None
    try:
        parse(text)
    except CuteVizError as caught:
        error = caught
    assert error is None or (error.message and error.explain())


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("(6,2):(8,2) ∘ (4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("(4,8) ⊘ (2,4)", "((2,2),(4,2)):((1,2),(4,16))"),
        ("(2,2) ⊗ 3", "((2,2),3):((1,2),4)"),
        ("a = (4,8):(8,1); composition(a, 4:2)", "(2,2):(16,1)"),
        ("size<1>((4,8))", "8"),
        ("cute::group<0,2>((2,3,4))", "((2,3),4)"),
        ("cute.group_modes((2,3,4), 0, 2)", "((2,3),4)"),
        ("Layout<Shape<_4,_8>,Stride<_8,_1>>{}", "(_4,_8):(_8,_1)"),
        ("composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})", "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"),
        ("make_layout((_4,_8), LayoutRight{})", "(_4,_8):(_8,_1)"),
        ("complement(_4:_2, _24)", "(_2,_3):(_1,_8)"),
        ("compatible(24,(4,6))", "1"),
        ("make_layout(make_shape(Int<8>{},_8{}),LayoutRight{})", "(_8,_8):(_8,_1)"),
        ("using A = Layout<Shape<_16,_2>,Stride<_2,_1>>;\nauto b = composition(A, _4{});", "_4:_2"),
        ("constexpr int BM = 128; make_layout(make_shape(Int<BM>{}, Int<8>{}))", "(_128,_8):(_1,_128)"),
        ("GMMA::Layout_K_SW128_Atom<half_t>{}", "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"),
        ("UMMA::Layout_MN_SW128_32B_Atom<uint8_t>{}", "Sw<2,5,2> o smem_ptr[8b](unset) o (_128,_4):(_1,_128)"),
        (
            "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64,_64>{})",
            "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_8),(_64,_1)):((_64,_512),(_1,_0))",
        ),
    ],
)
def test_operations(text, printed):
    assert show(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("complemen(4:2, 24)", "did you mean complement"),
        ("size()", "does not take 0 operands"),
        ("composition((3,5,7):(35,7,1), 1:7)", "Stride Divisibility Condition"),
        ("upcast<0>((4,8))", "1 or more"),
        ("group((3,2),(1,2),3)", "group"),
        ("size<9>((4,8))", "no mode 9"),
        ("Sw<3,4,3> o smem_ptr[0b](unset) o (8,64):(64,1)", "at least 1 bit wide"),
        ("downcast<32>(Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1))", "at least 1 bit wide"),
        ("ScaledBasis(4:1, 0)", "takes an integer"),
        ("ScaledBasis(2, (0,-1))", "positions of modes"),
        ("Layout<_8,E<4000000000>>{}", "0 to 63"),
        ("max_alignment(Sw<3,3,3> o (1,2) o (4,8):(1@0,1@1))", "the offset is a coordinate"),
        ("get_flat_coord(Sw<3,3,3> o 0 o (8,64), 3)", "get_flat_coord(Sw<3,3,3>"),
        ("stride(Sw<3,3,3> o 0 o (8,64))", "is the layout behind the swizzle"),
    ],
)
def test_operations_that_do_not_fit(text, words):
    with pytest.raises(CuteVizError) as caught:
        parse(text)
    assert words in caught.value.explain()
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(2+2)*3", "12"),
        ("8/(1+1)", "4"),
        ("((2+2),8):(8,(3-2))", "(4,8):(8,1)"),
        ("(4)", "(4)"),
        ("((3))", "((3))"),
        ("((2*4),(8))", "(8,(8))"),
        ("(_2+_2)*_2", "_8"),
    ],
)
def test_parentheses_group_expressions_and_make_tuples_of_numbers(text, value):
    assert show(parse(text)) == value


def test_a_text_of_many_names_is_answered_quickly():
    """Every name that is not bound is compared with those that are."""
    text = ";".join([f"value{n}=1" for n in range(1500)] + [f"valve{n}x" for n in range(1500)])
    with pytest.raises(CuteVizError, match="did you mean"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "1" + "+1" * 2000,
        "4:1" + " ⊘ 4:1" * 2000,
        "(4:1)" + ".coalesce()" * 2000,
        "-" * 2000 + "1",
        "cute.make_layout(1" + "+1" * 2000 + ")",
    ],
)
def test_too_many_operators_in_a_row_are_told(text):
    with pytest.raises(CuteVizError) as caught:
        parse(text)
    assert "too many operators in a row" in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "MMA_Atom\n" + ("  ThrID: a" + " " * 19_000 + "x\n") * 40,
        "auto f(a" + " " * 60_000 + "1) {\n x\n}",
        "MMA Operation " * 20_000 + "= 1\nx",
        "MMA Operation\n" + " " * 60_000 + "x\n",
    ],
)
def test_long_lines_take_no_longer_than_they_are_long(text):
    """Each took seconds, or minutes, when a pattern tried every way to share out blanks."""
    with pytest.raises(CuteVizError):
        parse(text)


def test_many_prints_of_one_name():
    lines = [f"sA: (_8,_64):(_64,_{n % 2000})" for n in range(3000)]
    found = read("\n".join(lines)).values
    assert list(found)[-1] == "sA_1000"
    assert len(found) == 2000


def test_a_form_feed_ends_no_line_of_python():
    with pytest.raises(CuteVizError) as caught:
        parse("x = 1\ny = '\x0c'\nz = cute.make_layout((4, 8), stride=(8, q))", name="z")
    assert caught.value.span is not None
    assert caught.value.text[caught.value.span.start] == "q"
