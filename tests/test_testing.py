"""Assertions of `cute_viz.testing` and of `expect:` in specs: what holds passes, and a failure names the first wrong cells."""

from __future__ import annotations

from pathlib import Path

import pytest

import cute_viz as cv
from cute_viz import cli
from cute_viz.testing import assert_conflict_free, assert_covers, assert_same, assert_vector

SWIZZLED = "Sw<3,3,3> o 0 o (8,64):(64,1)"
ROWS = "((8,4),8):((1,64),8)"
FIRST = "make_tensor(make_gmem_ptr<half_t>(0), (_8):(_1))"
COPY = "make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))"


def test_what_holds_passes() -> None:
    assert_same("(4,8):(8,1)", cv.Layout((4, 8), (8, 1)))
    assert_same(SWIZZLED, "composition(Swizzle<3,3,3>{}, (8,64):(64,1))")
    assert_same("((2,2),8):((1,2),4)", "(4,8)")  # alike as functions of the modes
    assert_covers("((4,8),(2,2)):((32,1),(16,8))", "16x8")
    assert_covers(COPY)
    assert_covers("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))", "32x16")
    assert_vector(f"copy_if((_8):(_1), {FIRST}, {FIRST})", 16)
    assert_covers(COPY, (16, 64))
    assert_conflict_free(SWIZZLED, ROWS, "f16", instruction="ldmatrix.x4")
    assert_vector(COPY, 128)
    assert_vector(
        "copy(make_tensor(make_gmem_ptr<half_t>(0), (_8,_8):(_8,_1)), make_tensor(make_smem_ptr<half_t>(0), (_8,_8):(_8,_1)))", 128
    )


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (lambda: assert_same("(4,8):(8,1)", "(4,8)"), "differ in 30 of 32 cells: (1,0) is 8 and 1; (2,0) is 16 and 2"),
        (lambda: assert_same("(4,8)", "(8,4)"), "has the shape (4,8), (8,4):(1,8) has (8,4)"),
        (
            lambda: assert_covers("((4,8),(2,2)):((32,1),(16,0))", "16x8"),
            "64 of 128 cells of the 16 x 8 tile are held by nobody: (8,0)",
        ),
        (lambda: assert_covers("(4,8):(1,4)", "2x8"), "T0V4 holds 16, outside the 2 x 8 tile"),
        (lambda: assert_covers("SM80_16x8x16_F32F16F16F32_TN", "16x16"), "the MMA's tile is 16 x 8, not 16 x 16"),
        (lambda: assert_covers(COPY, (8, 64)), "the copy's tile is 16 x 64, not 8 x 64"),
        (
            lambda: assert_conflict_free("(8,64):(64,1)", ROWS, "f16", instruction="ldmatrix.x4"),
            "32 wavefronts, 4 are ideal: bank 0",
        ),
        (lambda: assert_conflict_free("(64,64):(64,1)", "((16,2),1):((0,1),0)", "f32"), "bank 0 serves T0 T16"),
        (lambda: assert_vector(COPY, 64), "the copy moves 128 bits at once, not 64"),
        (
            lambda: assert_vector(
                "copy(make_tensor(make_gmem_ptr<half_t>(0), (_8,_8):(_8,_1)),"
                " make_tensor(make_smem_ptr<half_t>(0), (_8,_8):(_9,_1)))",
                128,
            ),
            "16 bits at once, not 128: a stride of 9 elements",
        ),
    ],
)
def test_a_failure_names_what_is_wrong(check: object, words: str) -> None:
    assert callable(check)
    with pytest.raises(AssertionError) as failed:
        check()
    assert words in str(failed.value)


def test_bad_input_is_an_error_of_its_own() -> None:
    for wrong in (lambda: assert_same("(4,8", "8"), lambda: assert_covers("(4,8)"), lambda: assert_vector("(4,8)", 128)):
        with pytest.raises(cv.CuteVizError):
            wrong()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("same: (4,8):(8,1)", ""),
        ("same: (4,8):(1,4)", "same does not hold"),
        ("covers: 4x8", ""),
        ("covers: 8x8", "covers does not hold: 32 of 64 cells"),
        ("conflict_free: (32,1):(1,0)\n  type: f32", ""),
        ("conflict_free: (4,8):(4,1)\n  type: f32\n  instruction: ld.64", "conflict_free"),
        ("vector: 128", "is not a copy"),
        ("covering: 4x8", "expect has no field 'covering'"),
    ],
)
def test_specs_say_what_must_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"layout: (4,8):(8,1)\nexpect:\n  {lines}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        cli.main(["check-spec", str(path)])
    err = capsys.readouterr().err
    assert (left.value.code or 0) == (1 if words else 0), err
    assert words in err
    assert not words or f"{path}:3" in err or "expect" in err


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (
            f"partition_S(get_slice({COPY}, 5), (128,64):(64,1))",
            ["mode 1 is CPY_M: 8 with _8:_1024", "thread 5 begins at (m, k) = (0, 40): offsets 40, 41, 42, 43 ..."],
        ),
        (
            "partition_A(get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1)), 5), (128,64):(64,1))",
            ["mode 2 is MMA_K: 4 with _4:_16", "begins at (m, k) = (1, 2): offsets 66, 67, 578, 579 ..."],
        ),
        ("local_tile((128,64):(64,1), (32,32), (1,1))", ["mode 1 is BLK_N: 32 with 32:1", "begins at offset 2080"]),
        ("local_partition((8,8):(8,1), (2,4):(4,1), 5)", ["thread 5 begins at (m, n) = (1, 1): offsets 9, 25, 41, 57"]),
    ],
)
def test_partitions_are_told_step_by_step(expression: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["explain", expression])
    out, err = capsys.readouterr()
    assert not left.value.code, err
    for word in words:
        assert word in out
