"""The steps of tilings, each number held to the tiling itself, walked by hand."""

from __future__ import annotations

import random
import re
from math import prod

import pytest

import cute_viz as cv
from cute_viz.algebra.layout import Layout
from cute_viz.analysis.explain import explain


@pytest.mark.parametrize("seed", range(20))
def test_threads_and_values_are_where_the_steps_say(seed: int) -> None:
    """Blocks of values in a grid of threads, by nested loops."""
    rng = random.Random(seed)
    (tm, tn), (vm, vn) = [(rng.choice((1, 2, 3, 4)), rng.choice((1, 2, 4, 8))) for _ in range(2)]
    row = rng.random() < 0.5
    thr = Layout((tm, tn), (tn, 1) if row else (1, tm))
    val = Layout((vm, vn), (vn, 1) if rng.random() < 0.5 else (1, vm))
    steps = explain("make_layout_tv", [thr, val])
    raked, tv = steps[0].value, steps[1].value
    rows = tm * vm
    for i in range(tm):
        for j in range(tn):
            for a in range(vm):
                for b in range(vn):
                    thread, value, m, n = int(thr((i, j))), int(val((a, b))), i * vm + a, j * vn + b
                    assert int(raked((m, n))) == thread + tm * tn * value
                    assert int(tv((thread, value))) == m + rows * n
    assert f"the tile is {rows} x {tn * vn}" in steps[0].words
    thread = min(1, tm * tn - 1)
    told = [tuple(map(int, found)) for found in re.findall(r"\((\d+),(\d+)\)", steps[1].words)]
    assert told == [(int(tv((thread, v))) % rows, int(tv((thread, v))) // rows) for v in range(min(4, vm * vn))]


@pytest.mark.parametrize(
    ("atoms", "permutation", "tile"),
    [((2, 2, 1), "", (32, 16, 16)), ((2, 2, 1), ", (32,32,16)", (32, 32, 16)), ((1, 4, 2), ", (_,64,_)", (16, 64, 32))],
)
def test_atoms_cover_the_tile(atoms: tuple[int, ...], permutation: str, tile: tuple[int, ...]) -> None:
    text = f"make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, {atoms}{permutation})".replace(" ", "")
    words = str(cv.explain(text)).splitlines()
    assert words[0] == " 1  one atom is 16 x 8 x 16 (M x N x K), of 32 threads"
    covered = [16 * atoms[0], 8 * atoms[1], 16 * atoms[2]]
    assert f"{32 * prod(atoms)} in all, cover {' x '.join(map(str, covered))}" in words[1]
    repeats = [extent // count for extent, count in zip(tile, covered, strict=True)]
    said = next((line for line in words if "permutation" in line), "")
    assert bool(said) == (prod(repeats) > 1)
    if said:
        assert f"the tile {' x '.join(map(str, tile))}: each thread has {' x '.join(map(str, repeats))} atoms" in said


def test_an_atom_of_ctas_speaks_of_ctas() -> None:
    text = "make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,256,UMMA::Major::K,UMMA::Major::K>{})"
    assert str(cv.explain(text)).splitlines()[0] == " 1  one atom is 256 x 256 x 16 (M x N x K), of 2 CTAs"


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))", (16, 8)),
        ("make_layout_tv((2,4):(4,1), (2,2):(2,1))", (2, 4)),
        ("make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (32):(1), (8))", (1, 32)),
    ],
)
def test_the_picture_has_the_threads_and_their_values(text: str, threads: tuple[int, int]) -> None:
    """The grid of threads row by row, and each where its block of values is; the title is a finding, of two lines at most."""
    drawn = cv.explain(text).figure
    alone, tile = drawn.panels
    rows, cols = threads
    assert (alone.rows, alone.cols, alone.data["thread"]) == (rows, cols, tuple(range(rows * cols)))
    down, right = tile.rows // rows, tile.cols // cols
    for n, thread in enumerate(tile.data["thread"]):
        r, c = divmod(n, tile.cols)
        assert thread == r // down * cols + c // right
    assert re.fullmatch(r"Each thread holds \d elements.*", drawn.title)
    assert len(drawn.title) < 60


def test_the_picture_of_atoms_has_one_and_the_tile() -> None:
    one, tile = cv.explain("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))").figure.panels
    assert ((one.rows, one.cols), (tile.rows, tile.cols)) == ((16, 8), (32, 32))
    for n, thread in enumerate(one.data["thread"]):  # the first atom of the tile is the atom, CuTe: thr_layout_vmnk is column-major
        assert tile.data["thread"][n // 8 * 32 + n % 8] == thread
    assert tile.data["thread"][16 * 32] == 32
