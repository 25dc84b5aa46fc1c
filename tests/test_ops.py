"""The registry: every row works, and its example is what it says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, islice, product
from pathlib import Path
from typing import Any

import pytest

from cute_viz import algebra, parse
from cute_viz.algebra.composed import ComposedLayout, make_composed_layout
from cute_viz.algebra.doubts import DIVIDES
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import ALIASES, OPS, find
from cute_viz.algebra.stride import F2
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.algebra_steps import WRITERS as EXPLAINED
from cute_viz.analysis.explain import explain
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.notation.evaluate import Evaluator
from cute_viz.notation.syntax import Passage
from cute_viz.source.text import read, read_call
from cute_viz.spec import resolve


@pytest.mark.parametrize("name", OPS)
def test_every_row(name):
    op = OPS[name]
    assert op.resolve().__doc__
    assert op.summary
    assert parse(op.example) is not None
    with pytest.raises(AlgebraError):
        op.call([], ())


@pytest.mark.parametrize(
    ("name", "operands", "message"),
    [
        ("cute.dsl.group_modes", [Layout((4, 8))], "it needs the first mode"),
        ("cute.dsl.filter", [Layout((4, 8)), 0], "the DSL has no filter with a profile"),
        ("max_common_vector", [parse("make_tensor(make_smem_ptr<half_t>(0), (8,8):(8,1))")], "does not take 1 operand"),
    ],
)
def test_too_few_and_too_many_operands_are_refused(name, operands, message):
    with pytest.raises(AlgebraError, match=message):
        find(name).call(operands)


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
        plain = Layout(operand) if kind in "LAHRV" and isinstance(operand, (int, tuple)) else operand
        if isinstance(plain, Layout):
            swizzled = make_composed_layout(Swizzle(1, 0, 1), 0, plain)
            try:
                result = find(operation).call([*operands[:n], swizzled, *operands[n + 1 :]], template)
            except AlgebraError:
                continue
            assert name in PLAIN or not isinstance(result, Layout)


WRITTEN = (
    "4", "0", "-3", "_8", "()", "(4)", "(4,8)", "(4,(2,3))", "(0,2)", "(-1,2)", "_", "(_,3)", "4:2", "8:0", "8:-1", "(4,8):(8,1)",
    "((2,2),4):((1,8),2)", "(4,8):(-1,4)", "(_4,_8):(_8,_1)", "8:1@0", "(4,8):(1@0,1@1)", "(4,8):(0,1@1)",
    "(4,(2,3)):(1@0,(1@0@1,1@1@1))", "8:F8", "(4,8):(F1,F8)", "(3,5):(F3,F9)", "(4,8):(F1,8)", "(4,8):(1,1@0)", "(4,8):(F1,1@0)",
    "4:1/2@0", "(4,8):(1/2@0,1@1)", "Sw<3,3,3>", "Sw<0,4,3>", "Sw<2,4,-3>", "Sw<3,3,3> o 0 o (8,64):(64,1)",
    "Sw<1,1,3> o 4 o (4,8):(8,1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "(4,5):(1,4) o 2 o (2,3):(1,2)",
    "(8,8):(1@0,1@1) o (1,0) o 4:1@1", "Sw<1,0,2> o 0 o (4,8):(F1,F8)", "8:F8 o 0 o 4:2", "1/2@0", "F2", "1@0", "(2:1,4:2)",
    "(2:1,_)", "(4:1@0,2)", "(Sw<1,0,1>,2)", "SM80_16x8x16_F32F16F16F32_TN",
    "SM75_U32x4_LDSM_N", "Copy_Atom<UniversalCopy<float>, float>{}",
    "half_t", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})",
    "make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1))",
    "get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5)", "LayoutRight", "smem_ptr_flag",
)  # fmt: skip
SWIZZLE = Swizzle(3, 3, 3)
GIVEN = (  # what only Python can say
    True, None, "half_t", "x", 1.5, Fraction(1, 2), [4], Layout((), ()), (None, 2), ("x", 2), (True, 2),
    make_composed_layout(SWIZZLE, 0, SWIZZLE),
)  # fmt: skip


def calls(name: str) -> Iterator[tuple[list[Any], tuple[Any, ...]]]:
    """Every operand in each place, two at a time, beside those of the row's example; template arguments too.

    Of each two places a part of the pairs, of many places another one for each."""
    op = OPS[name]
    values = [*map(parse, WRITTEN), *GIVEN]
    example = [*chain(*read_call(op.example, resolve=resolve)[1:])]
    most = len(op.kinds)
    yield from (([value], ()) for value in values)
    for count in range(2, most + 2):
        filled = [*example, *[4] * most][:count]
        step = {2: 8, 3: 32}.get(count, 44) if count <= most else 44  # none divides the number of values
        for n, (i, j) in enumerate(combinations(range(count), 2)):
            for a, b in islice(product(values, repeat=2), n % step, None, step):
                filled[i], filled[j] = a, b
                yield list(filled), ()
        if op.templated:
            for a, b in islice(product(values, repeat=2), 0, None, 7):
                yield [a, *filled[1 : count - 1]], (b,)


def layouts_in(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from layouts_in(item)
    elif isinstance(value, (Layout, ComposedLayout, Swizzle)):
        yield value


@pytest.mark.parametrize("name", OPS)
def test_any_operands_give_a_value_that_can_be_read_again_or_are_refused_in_words(name):
    results = set()
    for operands, template in calls(name):
        try:
            results |= set(layouts_in(OPS[name].call(operands, template)))
        except CuteVizError:
            continue
        except Exception as error:
            hint = "take another letter of KINDS for an operand that it cannot take, or refuse it"
            raise AssertionError(f"{name} of {operands}: {error!r}; {hint}") from error
    for result in results:
        assert parse(str(result)) == result


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_explanation_of_any_operands_ends_in_the_result(name):
    every = product([*map(parse, WRITTEN), *GIVEN], repeat=min(2, len(OPS[name].kinds)))
    for operands in islice(every, 0, None, 3 if len(OPS[name].kinds) > 1 else 1):
        with contextlib.suppress(CuteVizError):
            last = explain(name, list(operands))[-1]
            if last.words.startswith("this fails"):
                with pytest.raises(AlgebraError):
                    OPS[name].call(list(operands))
            else:
                assert last.value == OPS[name].call(list(operands))


@pytest.mark.parametrize("name", ["composition", *DIVIDES])
def test_a_warning_changes_nothing(name):
    def outcome(operands: tuple[Any, ...], warnings: list[str] | None) -> Any:
        try:
            return Evaluator(Passage("", warnings=warnings)).operate(OPS[name], list(operands))
        except CuteVizError as error:
            return error.message

    for operands in islice(product([*map(parse, WRITTEN), *GIVEN], repeat=2), 0, None, 3):
        assert outcome(operands, []) == outcome(operands, None)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("composition((8,4):(1,8), 8:1@0)", "8:1"),
        ("logical_divide((128,64):(1@1,1@0), 2:64@0)", "(2,(64,64)):(64@1,(1@1,1@0))"),
    ],
)
def test_coordinate_strides_pick_without_a_warning(text, result):
    said = []
    assert str(read(text, None, said).pick()) == result
    assert not said


def test_the_public_names_are_the_values_and_the_operations():
    modules = {path.stem for path in Path(algebra.__file__).parent.glob("*.py")}
    names = dir(algebra)
    assert names == algebra.__all__
    assert set(OPS) - modules <= set(names)
    assert not modules & set(names)
    assert all(getattr(algebra, name).__doc__ for name in names if name in OPS)
    with pytest.raises(AttributeError):
        _ = algebra.nothing


def test_operations_take_from_python_what_expressions_take():
    assert str(algebra.logical_divide((8, 6), (4, 3))) == "((4,2),(3,2)):((1,4),(8,24))"
    assert algebra.append((2, 3), n=4) == algebra.append((2, 3), None, 4) == parse("append<4>((2,3))") == (2, 3, 1, 1)
    assert algebra.append(Layout((2, 3)), n=4) == parse("append<4>((2,3):(1,2))")
    assert algebra.group((2, 3, 4), end=2) == parse("group<0,2>((2,3,4))")
    assert algebra.make_ordered_layout((2, 3)) == Layout((2, 3))
    assert algebra.make_swizzle(3, 4, 3) == Swizzle(3, 4, 3)
    assert algebra.size((4, 8), 1) == 8


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: algebra.logical_divide("x", 4), "logical_divide(A, T): x is not a layout"),
        (lambda: algebra.append((2, 3), n="x"), "append(A, B): x is not an integer"),
        (lambda: algebra.take((2, 3)), "take(A, B, E): missing a required argument: 'begin'"),
        (lambda: algebra.coalesce((2, 3), other=1), "coalesce(A, profile): got an unexpected keyword argument 'other'"),
        (lambda: algebra.complement(Layout(4, F2(1)), 24), "4:F1 has XOR strides"),
    ],
)
def test_bad_arguments_from_python_are_refused_in_words(call, words):
    with pytest.raises(AlgebraError) as caught:
        call()
    assert words in caught.value.message


@pytest.mark.parametrize("name", sorted(set(OPS) - {"layout", "stride"}))
def test_python_gives_what_an_expression_gives(name):
    operation, operands, template = read_call(OPS[name].example, resolve=resolve)
    given = {"n": template[0]} if OPS[operation].keyword and template else {}
    found = getattr(algebra, operation)(*operands, *([] if given else template), **given)
    assert found == OPS[operation].call(operands, template)


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("blocked_product((_2,_5):(_5,_1), (_3,_4):(_1,_3))", ["_12:_10", "(_3,_4):(_10,_30)"]),
        ("complement(make_layout(Int<4>{}, 2), Int<8>{})", ["2:_1", "1:8"]),
        ("complement(_4:_2, _24)", ["_2:_1", "_3:_8"]),
        ("composition((_20,_2):(_16,_4), (_4,_5):(_1,_4))", ["(_20,_2):(_16,_4)", "_4:_16", "_5:_64"]),
        ("tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (_128,_64))", ["(_8,_64):(_64,_1)", "(_16,_1):(_1,_0)", "_16:_512"]),
    ],
)  # fmt: skip
def test_steps_keep_the_marks_of_static_integers(expression, values):
    name, operands, template = read_call(expression, resolve=resolve)
    steps = explain(name, operands, template)
    assert [str(step.value) for step in steps if step.value is not None][: len(values)] == values
    assert str(steps[-1].value) == str(find(name).call(operands, template))


def test_a_complement_of_a_run_time_stride_and_a_composition_that_is_none_are_said():
    words = " ".join(step.words for step in explain(*read_call("complement(4:2, 8)")))
    assert "CuTe gives (2,1):(_1,8)" in words
    words = explain(*read_call("composition((3,8):(_1,3), (_4,_2):(_1,_4))"))[-1].words
    assert "at 3 it is 6, A(B(3)) is 3" in words
