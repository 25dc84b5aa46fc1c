"""What a user of the Python API writes; `.ci/run` holds it to `mypy --strict`, and the suite runs it."""

from __future__ import annotations

from pathlib import Path

import cute_viz as cv
from cute_viz.algebra import logical_divide


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
    try:
        cv.parse("(4,8")
    except cv.CuteVizError as error:
        said: tuple[str, str | None, tuple[str, ...]] = (error.message, error.hint, error.options)
    assert picture.startswith("<svg")
    assert data.startswith(b"<!DOCTYPE html>")
    assert text.startswith("(4,8):(8,1)\n")
    assert str(tiles) == "((4,2),(3,2)):((1,4),(8,24))"
    assert said[0]
    return [figure.title for figure in (first, second, third, both, operation, by_name)]
