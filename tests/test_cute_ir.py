"""CuTe IR: the types and operations of the tests of CUTLASS's compiler, and functions as the Python DSL's compiler writes them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra import ops
from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.limits import raised
from cute_viz.source.mlir import read
from cute_viz.source.mlir_types import Setting, value_of
from cute_viz.source.model import Given, SourceFile
from cute_viz.spec.library import resolve

DATA = json.loads(gzip.decompress((Path(__file__).parent / "data" / "cute_ir.json.gz").read_bytes()))
# Composed layouts whose offset is a coordinate that plain strides get, which we refuse by name.
COORDINATES = re.compile(r"o \((?:0,0|1,1|\?,\?)\) o [^@]*$")


def value(text: str) -> Any:
    return value_of(Setting(text, resolve), 0, len(text))


def as_written(text: str) -> str:
    """What a type has in quotes, as we print it: without what is known of run-time integers, tiles in parentheses."""
    inside = text.split('"')[1]
    return re.sub(r"\?\{[^}]*\}", "?", inside).replace("S<", "Sw<").replace("[", "(").replace("]", ")").replace(";", ",")


def printed(found: Any) -> str:
    return re.sub(r"\?\{[^}]*\}", "?", show(found))


def test_every_type_is_read() -> None:
    """1,549 types, among them attributes; each is printed as it was written, or refused in words."""
    wrong, refused = [], []
    for text in DATA["types"]:
        try:
            found = printed(value(text))
        except CuteVizError:
            refused.append(text)
            continue
        if found != as_written(text):
            wrong.append((text, found))
    assert not wrong
    # The tests of attributes that the dialect refuses, and offsets that we refuse.
    assert [text for text in refused if text[0] == "!" and not COORDINATES.search(text.split('"')[1])] == []
    assert len(refused) < 12


@pytest.mark.parametrize(("text", "why"), DATA["refused"])
def test_what_the_dialect_refuses_is_refused(text: str, why: str) -> None:
    with pytest.raises(CuteVizError):
        value(text)


NAMES = {
    "layout_eval": "crd2idx", "get_shape": "shape", "get_stride": "stride", "append_to_rank": "append",
    "prepend_to_rank": "prepend", "tuple_product": "size", "tuple_product_each": "product_each",
}  # fmt: skip
OTHERS = [  # operations on what is no value of ours, or on which modes are another thing
    *("composed_get_inner", "composed_get_offset", "composed_get_outer", "increment_coord", "make_int_tuple", "make_stride"),
    *("make_tile", "to_coord", "to_int_tuple", "to_shape", "to_stride", "tuple_add", "tuple_sub"),
]


def test_operations_give_the_types_of_their_results() -> None:
    """What can be told from types is told, `?` included; what needs a number asks for it; nothing is another value."""
    told = asked = symbolic = 0
    for name, attributes, types, wanted in DATA["operations"]:
        if name in OTHERS:
            continue
        numbers = [int(word) for word in re.findall(r"-?\d+", attributes)]
        try:
            operands = [value(text) for text in types]
            operands = operands[::-1] if name in ("slice", "dice") else operands
            operation = ops.find(NAMES.get(name, name))
            found = operation.call(operands, tuple(numbers[::-1] if name == "recast_layout" else numbers))
        except CuteVizError as error:
            asked += bool(error.needs)
            continue
        from cute_viz.algebra.static import clear_static

        assert printed(clear_static(found)) == as_written(wanted), (name, types)
        told += 1
        symbolic += "?" in wanted
    assert (told > 870, symbolic > 285, asked < 95) == (True, True, True), (told, symbolic, asked)


IR = """
!copy_ldgsts = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!copy_ldsm_4_ = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>
!memref_smem_f16_ = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,16),(64,1),(1,7)):((64,512),(1,0),(0,8192))">
!memref_gmem_f16_ = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!mma_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!mma_1 = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!other = !cute.tiled_mma<!cute_nvgpu.sm999.mma<1x1x1, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @kernel_0(%arg0: !memref_gmem_f16_, %arg1: !cute.coord_tensor<"(0,0)", "(?,8):(1@1,1@0)">, %arg2: !mma_, %arg3: i32) attributes {cute.kernel} {
      %0 = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
      %lay = cute.get_layout(%arg0) : !memref_gmem_f16_ // not a result
      %1 = cute.get_shape(%lay) : (!cute.layout<"(?,?{div=8}):(?{i64 div=8},1)">) -> !cute.shape<"(?,?{div=8})">
      %e0, %e1 = cute.get_leaves(%1) : !cute.shape<"(?,?{div=8})">
      %itup = cute.to_int_tuple(%e0) : !cute.shape<"?"> to !cute.int_tuple<"?">
      %2:2 = "scf.if"(%3) ({ }) : (i1) -> (!cute.layout<"4:1">, !cute.tile<"[4:1;_]">)
      %r = cute.composition(%a, %b)
             : (!cute.layout<"(4,8):(1,4)">, !cute.layout<"(2,4):(1,2)">)
            -> !cute.layout<"(2,4):(1,2)">
      %s = arith.constant 4 : i32
      return
    }
  }
  func.func @"main"() {
    %lay = cute.make_layout(%s, %d) : !cute.layout<"(4,8):(8,1)">
  }
}
"""  # noqa: E501


def parsed(text: str, **let: Any) -> SourceFile:
    return read(text, Given({"?": let["runtime"]} if let else {}, resolve))


def test_functions_of_the_dsl() -> None:
    file = parsed(IR)
    found = {entry.path: entry for entry in file.entries}
    assert list(found) == [
        "copy_ldgsts", "copy_ldsm_4_", "memref_smem_f16_", "memref_gmem_f16_", "mma_", "mma_1", "other",
        "kernel_0::arg0", "kernel_0::arg1", "kernel_0::arg2", "kernel_0::0", "kernel_0::lay", "kernel_0::1", "kernel_0::e0",
        "kernel_0::itup", "kernel_0::2#0", "kernel_0::2#1", "kernel_0::r", "main::lay",
    ]  # fmt: skip
    shown = {path: show(entry.read()) for path, entry in found.items() if path != "other"}
    assert shown["memref_smem_f16_"] == "Sw<3,4,3> o smem_ptr[16b](unset) o ((8,16),(64,1),(1,7)):((64,512),(1,0),(0,8192))"
    assert shown["kernel_0::arg0"] == shown["kernel_0::lay"] == "(?,?{div=8}):(?{i64 div=8},1)"
    assert shown["kernel_0::arg1"] == "(?,8):(1@1,1@0)"
    assert shown["kernel_0::2#1"] == "(4:1,_)"
    assert shown["kernel_0::r"] == "(2,4):(1,2)"
    assert shown["main::lay"] == "(4,8):(8,1)"
    assert shown["kernel_0::arg2"] == shown["mma_"]
    assert shown["mma_"].startswith("TiledMMA\n  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)\n  PermutationMNK: (_32,_32,_16)\n")
    assert "Shape_MNK:  (_64,_128,_16)" in shown["mma_1"]
    assert shown["copy_ldsm_4_"].startswith("TiledCopy\n  Tiler_MN:       (_32,_16)\n")
    assert found["kernel_0::lay"].line == 13
    assert IR[found["kernel_0::lay"].span.start :].startswith("%lay = cute.get_layout")
    with pytest.raises(CuteVizError, match=r"the atom cute_nvgpu\.sm999\.mma is not supported"):
        found["other"].read()


def test_the_generic_form() -> None:
    text = """
"gpu.module"() <{sym_name = "kernels"}> ({
  "cuda.kernel"() <{function_type = (i32) -> (), sym_name = "kernel_x"}> ({
  ^bb0(%arg4: !cute.coord_tensor<"(0,0)", "(4,?):(1@0,1@1)">, %arg5: i32):
    %3:2 = "cute.get_leaves"(%2) : (!cute.int_tuple<"(0,8)">) -> (!cute.int_tuple<"0">, !cute.int_tuple<"8">)
    %9 = "cute.make_view"(%8) : (!cute.arith_tuple_iter<"(?,?{div=4})">) -> !cute.coord_tensor<"(?,?{div=4})", "(4):(1@1)">
"""
    assert [(entry.path, show(entry.read())) for entry in parsed(text).entries] == [
        ("kernel_x::arg4", "(4,?):(1@0,1@1)"),
        ("kernel_x::3#0", "0"),
        ("kernel_x::3#1", "8"),
        ("kernel_x::9", "ArithTuple(?,?{div=4}) o (4):(1@1)"),
    ]


def test_run_time_values_are_given_in_their_order() -> None:
    file = parsed(IR, runtime="(16,64,128)")
    assert show(file.find("kernel_0::arg0").read()) == "(16,64):(128,1)"
    with pytest.raises(CuteVizError, match=r"2 numbers were given for '\?', and this is number 3"):
        parsed(IR, runtime=(16, 64)).find("kernel_0::arg0").read()


def test_limits_and_places() -> None:
    with raised({"types": 5}), pytest.raises(LimitError):
        parsed(IR)
    with raised({"log": 50}), pytest.raises(LimitError):
        parsed(IR)
    (entry,) = parsed('func.func @f(%a: !cute.layout<"(4,8):(8,1,1)">) {').entries
    with pytest.raises(CuteVizError) as caught:
        entry.read()
    error = caught.value
    place = (error.text or "").find("(8,1,1)")
    assert error.span is not None
    assert error.span.start <= place + 7


@pytest.mark.parametrize(
    "text",
    ["", "%a = ", "%a = cute.x : !cute.layout<", '!a = !cute.layout<"', "func.func @(", '%a:999999 = f : !cute.layout<"4:1">'],
)
def test_torn_texts(text: str) -> None:
    for entry in parsed(text).entries:
        with pytest.raises(CuteVizError):
            entry.read()


KERNEL = """
!tv = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"(128,1):(1,0)">, tiler_mn = <"[32:1;4:1]">>
!smem = !cute.memref<f32, smem, align<16>, "(32,32):(32,1)">
!part = !cute.memref<f32, smem, align<4>, "((1,1),1,8):((0,0),0,4)">
!rest = !cute.memref<f32, smem, align<4>, "((1,1),1):((0,0),0)">
!regs = !cute.memref<f32, rmem, align<32>, "((1,1),1,8):((0,0),0,1)">
!one = !cute.memref<f32, rmem, align<4>, "((1,1),1):((0,0),0)">
#loc1 = loc("kernel.py":41:0)
#loc2 = loc("copy"(#loc1))
module {
  cuda.kernel @k(%arg0: !tv, %arg1: i32, %arg2: i1) {
    %smem = cute.memref.alloca() : !smem
    %c = cute.make_coord(%arg1) : (i32) -> !cute.coord<"?">
    %part = cute.tiled.copy.partition_D(%arg0, %smem, %c) : (!tv, !smem, !cute.coord<"?">) -> !part
    %regs = cute.memref.alloca() : !regs
    cute.copy(%arg0, %regs, %part) : (!tv, !regs, !part) loc(#loc2)
    %at = cute.make_coord(%arg1) : (i32) -> !cute.coord<"(_,_,?)">
    %s = cute.slice(%part, %at) : !part, !cute.coord<"(_,_,?)">
    %it = cute.get_iter(%s) : !rest
    %lay = cute.get_layout(%s) : !rest
    %view = cute.make_view(%it, %lay) : !rest
    %both = scf.if %arg2 -> (!rest) {
      scf.yield %view : !rest
    } else {
      scf.yield %view : !rest
    }
    %one = cute.memref.alloca() : !one
    "cute.copy"(%arg0, %both, %one) : (!tv, !rest, !one) -> ()
    cute.copy(%arg0, %regs, %nowhere) : (!tv, !regs, !part)
  }
}
"""


def test_statements_and_the_parts_of_their_threads() -> None:
    first, second, third = parsed(KERNEL).moves()
    assert (first.name, first.file, first.line, first.scope, second.line) == ("copy", "kernel.py", 41, ("k",), 28)
    copy, registers, part = first.read()
    assert (type(copy).__name__, registers.pointer.space, str(registers.layout)) == (
        "TiledCopy",
        "rmem",
        "((_1,_1),_1,_8):((_0,_0),_0,_1)",
    )
    assert (part.name, part.pointer.space, part.starts[:3], part.starts[32]) == ("smem", "smem", (0, 32, 64), 1)
    assert len(list(first.again())) == 0
    view = second.read()[1]
    assert (view.name, str(view.layout), view.starts) == ("smem", "((_1,_1),_1):((_0,_0),_0)", part.starts)
    assert [x[1].offset for x in second.again()] == [4, 8, 12, 16, 20, 24, 28]  # other banks: the index may matter
    assert third.read()[2].starts == ()  # of what nothing defines no thread's part is known


WIDER = """
!tv = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"(128,16):(1,128)">, tiler_mn = <"[128:1;16:1]">>
!rmem = !cute.memref<f16, rmem, align<32>, "((16,1),(1)):((1,0),(0))">
!smem = !cute.memref<f16, smem, align<32>, "(((8,2),1),(1)):(((1,64),0),(0))">
module {
  cuda.kernel @k(%arg0: !tv, %arg1: !rmem, %arg2: !smem) {
    cute.copy(%arg0, %arg1, %arg2) : (!tv, !rmem, !smem)
  }
}
"""


def test_a_first_mode_of_more_than_the_atom_moves_is_cut() -> None:
    (move,) = parsed(WIDER).moves()
    _, regs, there = move.read()
    assert (str(regs.layout), str(there.layout)) == ("(_1,_16,(_1)):(_0,_1,(_0))", "(_1,(_8,_2),(_1)):(_0,(_1,_64),(_0))")


def test_a_report_of_ir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cute_viz.cli import main

    (tmp_path / "k.mlir").write_text(KERNEL)
    with pytest.raises(SystemExit):
        main(["analyze", str(tmp_path / "k.mlir"), "--json"])
    report = json.loads(capsys.readouterr().out)
    rows = [(row["file"], row["line"], row["instruction"], row["wavefronts"], row["ideal"]) for row in report["accesses"]]
    assert rows == [
        ("kernel.py", 41, "st.shared.32", 32 * 4 * 8, 32),
        (None, 28, "ld.shared.32", 32 * 4, 4),  # a column of 32 rows
        (None, 29, "st.shared.32", None, None),  # of what nothing defines no thread's part is known
    ]
    assert report["unknown"] == []


def test_operands_are_no_definitions() -> None:
    """`%b : !m` names the type of an operand, `%b: !m` that of an argument."""
    text = '!l = !cute.layout<"4:1">\n!m = !cute.layout<"8:1">\nfunc.func @f(%a: !l, %b: !m) {\n  scf.yield %b, %a : !m, !l\n}\n'
    found = [(entry.name, str(entry.read())) for entry in read(text, Given()).entries if entry.scope]
    assert found == [("a", "4:1"), ("b", "8:1")]
