"""The steps of a retile and of fragments: what they say is what the operations give."""

from __future__ import annotations

from typing import Any

import pytest

from cute_viz.algebra.composed import domain
from cute_viz.algebra.table import offsets
from cute_viz.analysis.explain import explain
from cute_viz.notation import parse
from cute_viz.spec.library import resolve

MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
COPIES = ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U16x8_LDSM_T", "UniversalCopy<uint32_t>")


def value(text: str, **names: Any) -> Any:
    return parse(text, names, resolve=resolve)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("operand", "AB")
def test_a_retile_tells_the_registers_of_its_values(copy: str, operand: str) -> None:
    mma = value(MMA)
    fragment = value(f"partition_fragment_{operand}(mma, (64,32))", mma=mma)
    tiled = value(f"make_tiled_copy_{operand}(Copy_Atom<{copy},half_t>{{}}, mma)", mma=mma)
    steps = explain("retile_D", [tiled, fragment])
    result = value("retile_D(tc, f)", tc=tiled, f=fragment)
    assert steps[-1].value == result
    told = steps[-1].words.rpartition("register ")[2].removesuffix(", ...")
    assert [int(n) for n in told.split(", ")] == [int(n) for n in offsets(domain(result))[:8]]
    assert [step.words.split()[3] for step in steps if "  mode" in step.words] == [
        *("MMA:", "MMA_MN:", "MMA_K:"),
        *("CPY:", "CPY_M:", "CPY_K:"),
    ]


@pytest.mark.parametrize("name", ["partition_fragment_A", "partition_fragment_B", "partition_fragment_C"])
def test_a_fragment_is_the_shape_of_a_part(name: str) -> None:
    mma = value(MMA)
    steps = explain(name, [mma, (64, 64)])
    shapes = [step.words.partition(" with ")[2].partition(":")[0] for step in steps if "  mode" in step.words]
    assert shapes[:3] == shapes[3:]
    assert f"{64 * 64 // (128 if name[-1] == 'C' else 64)} registers" in next(
        step.words for step in steps if step.value is not None
    )
