"""What a user of the Python API writes; `.ci/run` holds it to `mypy --strict` and pyright, and the suite runs it.

No expression may be `Any` to a checker: what the interface gives has a type, so that an editor completes it.
"""

# mypy: disallow-any-expr
# pyright: strict

from __future__ import annotations

from pathlib import Path

import cute_viz as cv
from cute_viz import algebra, testing
from cute_viz.algebra import Layout, X, composition, cosize, logical_divide, make_layout, shape, size

KERNEL = """void f(float* p) {
  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));
  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));
}"""


def values() -> list[object]:
    """What the objects are asked for, by their types."""
    row = cv.Layout((4, 8), (8, 1))
    out: list[object] = [row(1, 2), row((1, 2)) + row(3), row(1, X).size, row[1].size * 2, row[-1].stride, row.shape, row.cosize]
    out += [mode.rank for mode in row]
    swizzled = cv.ComposedLayout(cv.Swizzle(3, 3, 3), 0, cv.Layout((8, 64), (64, 1)))
    out += [
        swizzled(1, 2) % 32,
        swizzled(1, X).size,
        swizzled.size + swizzled.rank,
        swizzled.shape,
        swizzled.inner,
        cv.Swizzle(3, 3, 3)(64) + 1,
    ]
    out += [composition(row, row).shape, size(row) + cosize((4, 8)), shape(row), make_layout(row, row).size, Layout(4, 8) == row[0]]
    for text in ("(4,8):(8,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,3,3>", "SM80_16x8x16_F32F16F16F32_TN", "2 + 3"):
        parsed = cv.parse(text)
        if isinstance(parsed, (cv.Layout, cv.ComposedLayout)):
            out += [parsed.size + 1, parsed.shape]
        elif isinstance(parsed, cv.Swizzle):
            out.append(parsed.bits + parsed.base + parsed.shift)
        elif isinstance(parsed, int):
            out.append(parsed + 1)
        else:
            out.append(str(parsed))
    return out


def answers() -> list[object]:
    """Reports, searches, steps and assertions."""
    row = cv.Layout((4, 8), (8, 1))
    report: cv.Report = cv.report(KERNEL)
    out: list[object] = [(access.move.line, access.cost.wavefronts, access.cost.ideal) for access in report.accesses]
    searched = cv.find_swizzle((64, 64), ("ldmatrix",), type=16)
    best = searched.found[0]
    out += [
        cv.find_swizzle((64, 64), read="ldmatrix", write=("cp.async",)).found[0].name,
        cv.who(row, "(1,2)", labels="offset"),
        str(report),
    ]
    out += [best.swizzle, best.wavefronts + best.padding, best.by_access["ldmatrix"], searched.plain.ideal, searched.why]
    out += [searched.figure.title, cv.find_layout("0 1; 2 3").tile, cv.find_layout([[0, 1], [2, 3]]).kind]
    explained = cv.explain("complement(4:2, 24)")
    out += [explained.subject, explained.facts, *(step.value for step in explained.steps)]
    out += [algebra.idx2crd(3, (4, 8)), algebra.offsets(row), algebra.as_layout((4, 8))]
    out += [cv.compare(row, "(4,8)").title, str(cv.explain(row)), cv.explain("complement(4:2, 24)").numbered]
    testing.assert_same(row, "(4,M):(8,1)", let={"M": 8})
    testing.assert_covers("((4,8),(2,2)):((32,1),(16,8))", (16, 8))
    testing.assert_conflict_free("Sw<3,3,3> o 0 o (8,64):(64,1)", "((8,4),8):((1,64),8)", "f16", instruction="ldmatrix.x4")
    testing.assert_vector("Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{}", 128)
    testing.assert_no_bank_conflicts(KERNEL, accept=(3,), most=2)
    return out


def recorded(page: Path) -> list[str]:
    """The kernels that a script compiles; only a checker reads it, as it needs the DSL."""
    with cv.record(page) as kernels:
        pass
    testing.assert_no_bank_conflicts(kernels)
    return [f"{name}: {len(report.accesses)}" for name, report in kernels.reports.items()]


def main(folder: Path) -> list[str]:
    """Draws in every way that README shows; the titles of the figures."""
    layout: cv.Layout = cv.Layout((4, 8), (8, 1))
    swizzled = cv.ComposedLayout(cv.Swizzle(3, 3, 3), 0, cv.Layout((8, 64), (64, 1)))
    first: cv.Figure = cv.figure(layout, coords=True, title="A grid")
    second = cv.figure("((16,8),8):((64,1),8)", tile="8x128", thread=5)
    third = cv.figure(swizzled, view="banks", type="f16")
    both = cv.figure(layout, cv.Layout((4, 8)), diff=True)
    operation = cv.figure("logical_divide((8,6), (4,3))", view="operation")
    by_name = cv.figure("(M,8)", let={"M": 4}, limits={"nesting": 80})
    first.save(folder / "grid.svg", theme="dark")
    second.save(str(folder / "tv.png"), width=900)
    picture: str = third.svg(palette="viridis", fragment=True)
    data: bytes = cv.render("ampere_gemm", "html", theme="light")
    text: str = cv.render(layout, style="cutlass").decode()
    parsed = cv.parse("(4,8):(8,1)")
    assert isinstance(parsed, cv.Layout)
    extents: list[int] = [mode.size for mode in parsed]
    assert (parsed.size, parsed.rank, parsed.cosize, extents, str(parsed[-1])) == (32, 2, 32, [4, 8], "8:1")
    wave: cv.Figure = cv.figure("make_tiled_mma(v_mfma_f32_16x16x16_f16, (2,2,1))", arch="gfx942", wave=64)
    swizzle = cv.find_swizzle((64, 64), ["ldmatrix", "cp.async"]).found[0].swizzle
    assert str(swizzle) == "Sw<3,3,3>"
    assert str(cv.find_layout([[0, 1], [2, 3]]).layout) == "(2,2):(2,1)"
    assert str(cv.explain("complement(4:2, 24)"))
    assert wave.title
    tiles = logical_divide((8, 6), (4, 3))
    said: tuple[str, str | None, tuple[str, ...]] = "", None, ()
    try:
        cv.parse("(4,8")
    except cv.CuteVizError as error:
        said = (error.message, error.hint, error.options)
    assert picture.startswith("<svg")
    assert data.startswith(b"<!DOCTYPE html>")
    assert text.startswith("(4,8):(8,1)\n")
    assert str(tiles) == "((4,2),(3,2)):((1,4),(8,24))"
    assert said[0]
    return [figure.title for figure in (first, second, third, both, operation, by_name)]
