"""What the DSL's compiler refuses, as it printed it (4.8.1, and 4.4 in a report of its users), is explained."""

# ruff: noqa: E501  (the lines are those of the compiler)

from __future__ import annotations

import io
import sys

import pytest

from cute_viz.cli import main

ALIGNED = """cutlass.base_dsl.common.DSLRuntimeError: DSLRuntimeError: ICE IR Verification Failed
  Caused exception: Verification failed:
error: "cute.copy("("/home/me/transpose.py":41:4): 'cute.copy' op '!cute_nvgpu.atom.universal_copy<f32, 128 b>' ptr alignment does not meet requirement
 note: "cute.copy("("/home/me/transpose.py":41:4): see current operation: "cute.copy"(%arg3, %149, %161) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>, !cute.memref<f32, gmem, "((4,1),(1,1)):((1,0),(0,0))">, !cute.memref<f32, smem, align<16>, "((4,1),(1,1)):((1,0),(0,0))">) -> ()
"""
WRAPPED = """DSLRuntimeError
\x1b[91m\x1b[1merror[INTERNAL]:\x1b[0m The compiler could not build valid IR for this code.
  \x1b[91merror:\x1b[0m IR verification failed: error: unknown: 'cute.copy' op {}
  \x1b[92msuggestion:\x1b[0m Check the source location above for invalid primitive arguments, types, or address
              spaces. If the code looks valid, report this with the snippet above and your kernel.
"""
GEMM = """DSLOperationBuildError [Error] MLIRError: Verification failed:
error: unknown: 'cute.gemm' op {} note: unknown: see current operation: "cute.gemm"(%15, %60, %63, %54, %60) <{{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}}> : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>, !cute.memref<f32, rmem, align<16>, "((2,2),1,1):((1,2),0,0)">, !cute.memref<f16, smem, align<16>, "((2,2,2),1,1):((1,128,8),0,0)">, !cute.memref<f16, rmem, align<8>, "((2,2),1,1):((1,2),0,0)">, !cute.memref<f32, rmem, align<16>, "((2,2),1,1):((1,2),0,0)">) -> ()
"""


def explained(text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    with pytest.raises(SystemExit) as stop:
        main(["explain", "-"])
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    return out


def test_an_alignment_that_a_type_does_not_promise(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = explained(ALIGNED, capsys, monkeypatch).splitlines()
    assert lines[0] == " 1. the DSL's compiler refuses cute.copy, line 41 of /home/me/transpose.py"
    assert lines[1] == " 2. the source is in gmem, elements of f32, aligned to 4 bytes"  # of an element, as the type has no align<>
    assert lines[3] == " 3. the destination is in smem, elements of f32, aligned to 16 bytes"
    assert lines[2] == lines[4] == "      ((4,1),(1,1)):((1,0),(0,0))"
    assert "128 bits" in lines[5]
    assert "assumed_align=16" in lines[6]


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (
            "S ptr alignment (16 bits) does not\n         meet requirement (128 bits) of atom '!cute_nvgpu.atom.universal_copy<f16, 128 b>'",
            "multiples of 16 bytes; the type of the pointer S promises multiples of 16 bits only",
        ),
        ("dst expects shared based memref, but\n         got gmem", "here its dst is in gmem"),
        (
            "\n         '!cute_nvgpu.atom.simt_async_copy<f16, cache = always, 16 b>' 'cp_size' only supports (32,\n         64, 128), but got 16.",
            "not 16",
        ),
        (
            "'!cute_nvgpu.atom.ldsm<val_type =\n         f16, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 4, n>' src needs be shared based\n"
            "         memref and dst needs be reg based memref",
            "ldmatrix reads shared memory into registers",
        ),
        (
            "'!cute_nvgpu.atom.stsm<f16, mode =\n         <\"(8,8)\">, num_matrices = 4, n>' src needs be reg based memref and dst needs be shared\n"
            "         based memref",
            "stmatrix writes registers",
        ),
        (
            "\n         '!cute_nvgpu.atom.universal_copy<f16, 128 b>' cannot vectorize copy to 8 elements (static\n         strides must be 1)",
            "the first 8 elements of each tensor must lie side by side",
        ),
    ],
)
def test_a_copy(said: str, means: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = explained(WRAPPED.format(said), capsys, monkeypatch)
    assert means in out
    assert "to fix it: " in out


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("expects A's M == D'M and B's N == D'N", "(V,M,K) and (V,N,K) gives (V,M,N)"),
        ("expects rmem for input operands, but got A: '!cute.memref<f16, smem>'", "reads A, B and C from registers"),
        (
            "expects A/B of the same type (mixed integer signedness is allowed), but got A: 'f32', B: 'f16'",
            "here A has f32 and B f16",
        ),
    ],
)
def test_a_gemm(said: str, means: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its operands are those of the IR: D first."""
    lines = explained(GEMM.format(said), capsys, monkeypatch).splitlines()
    assert [line[4:15] for line in lines[1:8:2]] == ["D is in rme", "A is in sme", "B is in rme", "C is in rme"]
    assert lines[4].strip() == "((2,2,2),1,1):((1,128,8),0,0)"
    assert means in lines[9]


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (
            'failed to perform a valid division of \'!cute.layout<"(6,4):(4,1)">\' by #cute.layout<"5:3">',
            "cannot be divided by 5:3",
        ),
        ("expects coordinate to be weakly congruent to the layout, but got '!cute.coord<\"(0,0,0)\">'", "(0,0,0) does not fit"),
        (
            "expects `coord` and shape of view are weakly congruent, but got '!cute.layout<\"(4,8):(1,4)\">', '!cute.coord<\"(_,0,0)\">'",
            "(_,0,0) does not fit (4,8):(1,4)",
        ),
        (
            'failed to construct a valid coordinate from #cute.coord<"(0)"> resulting in an incorrect profile',
            "(0) has another nesting",
        ),
    ],
)
def test_what_makes_no_operation(
    said: str, means: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert means in explained(f"MLIRError Operation creation failed:\nerror: unknown: {said}\n", capsys, monkeypatch)
