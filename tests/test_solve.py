"""`cute-viz solve`: the tables of layouts give layouts with the same values, and what no layout gives is told."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import cute_viz as cv
from cute_viz import cli
from cute_viz.algebra.composed import ComposedLayout, domain, position_independent
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.analysis.solve import nearest, solve, solve_owners
from cute_viz.spec.build import read_specs

FILES = sorted((Path(cv.__file__).parent.parent / "layouts" / "specs").glob("*.yaml"))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        cli.main(["solve", *words])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def rows_of(layout: object) -> list[list[int]]:
    """The table of a layout of one or two modes."""
    shape = modes(domain(layout).shape)  # type: ignore[arg-type]
    flat = offsets(position_independent(layout))  # type: ignore[arg-type]
    if len(shape) == 1:
        return [flat]
    rows, cells = product(shape[0]), product(shape[0]) * product(shape[1])
    return [flat[page + n : page + cells : rows] for page in range(0, len(flat), cells) for n in range(rows)]


def test_the_layouts_of_the_gallery_come_back() -> None:
    tried = 0
    for path in FILES:
        for spec in read_specs(path.read_text(encoding="utf-8"), str(path)):
            if not isinstance(spec.obj, (Layout, ComposedLayout)) or len(modes(domain(spec.obj).shape)) > 3:
                continue
            pages = product(modes(domain(spec.obj).shape)[2]) if len(modes(domain(spec.obj).shape)) > 2 else 1
            table = rows_of(spec.obj)
            if isinstance(table[0][0], int) and table[0][0] == 0:
                assert rows_of(solve(table, pages).layout) == table, (path, spec.name)
                tried += 1
    assert tried >= 13


def test_random_layouts_come_back() -> None:
    draw = Random(4)
    for _ in range(300):
        shape = tuple(tuple(draw.choice((1, 2, 3, 4, 5)) for _ in range(draw.randint(1, 3))) for _ in range(2))
        layout = Layout(shape, tuple(tuple(draw.randint(0, 40) for _ in mode) for mode in shape))
        if size(get(layout, 0)) > 1:
            assert rows_of(solve(rows_of(layout)).layout) == rows_of(layout)
    for bits, base, shift in ((1, 0, 1), (2, 3, 3), (3, 3, 3), (3, 0, 4), (2, 1, -2)):
        layout = ComposedLayout(Swizzle(bits, base, shift), 0, Layout((16, 64), (64, 1)))
        found = solve(rows_of(layout))
        assert rows_of(found.layout) == rows_of(layout)
        assert found.kind == "swizzled layout"
    for _ in range(40):  # three modes, as pages
        shape = tuple(draw.choice((2, 3, 4)) for _ in range(3))
        inner = Layout(shape, tuple(draw.choice((1, 2, 4, 8, 16, 32)) for _ in range(3)))
        for layout in (inner, ComposedLayout(Swizzle(2, 0, 3), 0, inner)):
            assert rows_of(solve(rows_of(layout), shape[2]).layout) == rows_of(layout), layout


def test_the_nearest_layout_is_the_one_that_was_disturbed(capsys: pytest.CaptureFixture[str]) -> None:
    draw = Random(7)
    for layout in (
        Layout((8, 16), (16, 1)),
        Layout(((2, 4), (3, 4)), ((1, 24), (2, 6))),
        Layout((6, 10), (1, 6)),
        Layout((1, 36), (0, 5)),
    ):
        table = rows_of(layout)
        for _ in range(3):
            table[draw.randrange(len(table))][draw.randrange(1, len(table[0]))] += 100
        found, differ, first = nearest(table)
        assert rows_of(found) == rows_of(layout)
        assert differ <= 3
        assert table[first[0]][first[1]] > 99
    status, _, err = run(capsys, "0 1 2 3; 4 5 9 7; 8 9 10 11")
    assert (status, "the nearest is (3,4):(4,1), which differs in 1 of 12 cells: at (1,2) it has 6" in err) == (1, True)


def test_owners_of_an_mma_give_its_tv_layout() -> None:
    tv = Layout(((4, 8), (2, 2)), ((32, 1), (16, 8)))
    table = offsets(tv)
    rows = [[(0, 0)] * 8 for _ in range(16)]
    for n, place in enumerate(table):
        rows[place % 16][place // 16] = (n % 32, n // 32)
    found = solve_owners(rows)
    assert (offsets(found.layout), found.tile, found.kind) == (table, (16, 8), "TV layout")


def test_one_thread_is_a_mode_of_a_tv_layout() -> None:
    table = [[(0, 0), (0, 1)], [(0, 2), (0, 3)]]
    assert str(solve_owners(table).layout) == "(1,(2,2)):(0,(2,1))"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "0 1 2 3; 4 5 6 7") == (0, "(2,4):(4,1)\n", "")
    path = tmp_path / "table.csv"
    path.write_text("0,1,2,3\n5,4,7,6\n", encoding="utf-8")
    status, out, _ = run(capsys, str(path), "--json")
    assert (status, json.loads(out)) == (0, {"layout": "Sw<1,0,2> o 0 o (2,4):(4,1)", "kind": "swizzled layout", "tile": None})
    assert run(capsys, "T0V0 T0V1; T1V0 T1V1")[1] == "(2,2):(1,2)\n"
    path.write_bytes(cv.render("Sw<2,0,2> o 0 o (4,4):(4,1)", format="text"))  # what is printed can be pasted
    assert run(capsys, str(path))[1] == "Sw<2,0,2> o 0 o (4,4):(4,1)\n"
    for head, first in (("  0 1\n0 ", "\n1 "), ("Row\\Col 0 1\n0 | ", "\n1 | ")):  # the numbers of columns and rows of a figure
        assert run(capsys, f"{head}T0V0 T0V1{first}T1V0 T1V1")[1] == "(2,2):(1,2)\n"
    assert run(capsys, "0 1 2; 0 0 2 4; 1 1 3 5")[1] == "(2,3):(1,2)\n"
    assert "of which value a thread holds a cell" in run(capsys, "T0 T0 T1 T1")[2]
    assert run(capsys, "0 4; 1 5;; 8 12; 9 13")[1] == "(2,2,2):(1,4,8)\n"
    swizzled = "0 1 2 3 4 5 6 7; 9 8 11 10 13 12 15 14; 18 19 16 17 22 23 20 21; 27 26 25 24 31 30 29 99"
    assert "Sw<2,0,3> o 0 o (4,8):(8,1), which differs in 1 of 32 cells: at (3,7) it has 28" in run(capsys, swizzled)[2]
    assert "the nearest is (3,2):(1,3)" in run(capsys, "T0V0 T0V1; T1V0 T1V1; T2V1 T2V0")[2]
    np = pytest.importorskip("numpy")
    np.save(tmp_path / "t.npy", np.arange(32).reshape(4, 8))
    np.save(tmp_path / "f.npy", np.asfortranarray(np.arange(32, dtype="int32").reshape(4, 8)))
    assert [run(capsys, str(tmp_path / name))[1] for name in ("t.npy", "f.npy")] == ["(4,8):(8,1)\n"] * 2
    for shape in ((5, 0), (0,), (0, 3)):
        np.save(tmp_path / "e.npy", np.zeros(shape, dtype=int))
        assert "the table is empty" in run(capsys, str(tmp_path / "e.npy"))[2]
    np.save(tmp_path / "r.npy", np.append(0, 1 + np.random.default_rng(0).permutation(1 << 16)))  # no swizzle is tried on all of it
    assert "no layout gives" in run(capsys, str(tmp_path / "r.npy"))[2]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("0 1 2; 3 4 6", "no layout gives 6 at (1,2)"),
        ("1 2 3", "begins with offset 0"),
        ("0 1; 2", "row 1 has 1 cells, but row 0 has 2"),
        ("0 1 x", "something that is not an offset"),
        (f"0 {10**21}", "something that is not an offset"),
        ("T0V0 T0V0", "an earlier cell"),
        ("0 1; hello T0V0 T0V1", "not an owner"),
        ("T0V0 T0V1; 0 1", "not an owner"),
        ("T0V0 T2V0", "T1V0 holds no cell"),
        ("nothing.csv", "there is no such file"),
        ("", "empty"),
        (";;1;", "begins with"),
    ],
)
def test_what_no_layout_gives_is_told(table: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, table)
    assert (status, out) == (1, "")
    assert words in err


def test_the_one_wrong_cell_is_named() -> None:
    """Also where another one contradicts the cells before it first, as behind a swizzle."""
    for moved in (0, 4):
        table = [[r * 16 + (c ^ r % 4 * moved) for c in range(16)] for r in range(8)]
        table[3][4] = 7
        with pytest.raises(cv.CuteVizError, match=r"no layout gives 7 at \(3,4\): the other cells imply another offset"):
            cv.find_layout(table)


BY_HAND = """
namespace tile {
__device__ static inline int at(int r, int c) {
    int address = (r * 64 + c) * 2;
    int moved = ((address % (128 * 8)) >> 7) << 4;
    return (address ^ moved) / 2;
}
template <int Row> __device__ int padded(int r, int c) { return r * Row + c; }
}
"""


def test_what_a_function_computes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The arithmetic of kernels that have no CuTe, as a text and in a file, held to Python's own evaluation of it."""
    (tmp_path / "k.cu").write_text(BY_HAND, encoding="utf-8")
    (tmp_path / "k.py").write_text("def at(r, c):\n    return (c // 8 * 16 + r) * 8 + (c ^ r) % 8\n", encoding="utf-8")
    text = "int at(int r, int c) { return (r * S + c) ^ ((r & 7) << 3); }"
    for words, at in (
        ((f"{tmp_path}/k.cu::tile::at", "--tile", "16x64"), lambda r, c: ((r * 64 + c) * 2 ^ (r % 8) << 4) // 2),
        ((f"{tmp_path}/k.py::at", "--tile", "16x32"), lambda r, c: (c // 8 * 16 + r) * 8 + (c ^ r) % 8),
        (("lambda r, c: r*32 + (c ^ ((r >> 1 & 3) << 3))", "--tile", "16x32"), lambda r, c: r * 32 + (c ^ (r // 2 % 4) * 8)),
        ((text, "--tile", "8x64", "--let", "S=64"), lambda r, c: (r * 64 + c) ^ ((r & 7) << 3)),
    ):
        status, out, err = run(capsys, *words)
        assert (status, err) == (0, "")
        rows, columns = map(int, words[2].split("x"))
        assert rows_of(cv.parse(out)) == [[at(r, c) for c in range(columns)] for r in range(rows)]
    assert str(cv.find_layout(f"{tmp_path}/k.cu::tile::at", tile=(8, 64)).layout) == "Sw<3,3,3> o 0 o (8,64):(64,1)"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("int f(int r, int c) { return r; }",), 2, "a FUNCTION needs --tile"),
        (("0 1; 2 3", "--tile", "2x2"), 2, "write int f(int r, int c) { return ...; } or lambda r, c: ..."),
        (("int f(int r, int c) { return r * r; }", "--tile", "4x1"), 1, "no layout gives"),
        (("int f(int r, int c) { return r * n; }", "--tile", "4x4"), 1, "'n' is not defined"),
        (("int f(int r) { return r; }", "--tile", "4x4"), 1, "'f' is not defined for these arguments"),
        (("int f(int r, int c) { while (true) r++; return r; }", "--tile", "4x4"), 1, "f"),
        (("no.cu::f", "--tile", "4x4"), 1, "no.cu"),
        (("r * 8 + c", "--tile", "4x4"), 2, "this is none: write int f("),
        (("lambda r, c: r * r", "--tile", "4x1"), 1, "no layout gives"),
    ],
)
def test_a_function_without_a_layout(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], status: int, said: str) -> None:
    got, out, err = run(capsys, *words)
    assert (got, out) == (status, "")
    assert said in err
    assert err.count("error: ") == 1
