"""The GPU check without a GPU: plans, kernels run by small models of the hardware, verdicts, evidence; with one, the real thing."""

from __future__ import annotations

import gc
import json
import operator
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from hypothesis import given

from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.analysis.banks import ideal_wavefronts
from cute_viz.check import (
    banks,
    counters,
    cuda,
    digest,
    job,
    layout_ptx,
    layouts,
    mma,
    plan,
    report,
    runner,
    swizzle_atom,
    wgmma_ptx,
)
from cute_viz.check.device import DeviceError
from cute_viz.check.elements import ELEMENTS, decode, encode, pack, unpack
from cute_viz.check.job import Check, In, KernelRun, Out, Outcome, PanelCheck, Scalar, Undecided, module
from cute_viz.check.report import PROVES
from cute_viz.cli import main
from cute_viz.errors import CannotCheck, CuteVizError, FigureError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.renderers import render
from cute_viz.source.text import parse
from cute_viz.spec import Library, read
from cute_viz.spec.library import resolve
from cute_viz.spec.listing import Listed, listing
from tests import strategies

ROOT = Path(__file__).parents[1]
ATOM = "SM80_16x8x16_F32F16F16F32_TN"


# ---- a machine for the PTX of layouts: one thread after another, straight-line code with predicates


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "mul": operator.mul,
    "and": operator.and_,
    "xor": operator.xor,
    "shr": operator.rshift,
    "shl": operator.lshift,
    "rem": operator.mod,
    "div": operator.floordiv,
}


def interpret(text: str, launch: KernelRun) -> list[bytes]:
    """The outputs of a layout kernel, its PTX executed instruction by instruction."""
    table, seen, count, n = launch.arguments
    assert isinstance(table, In)
    assert isinstance(seen, Out)
    assert isinstance(count, Out)
    assert isinstance(n, Scalar)
    memory = {"table": table.data, "seen": bytearray([seen.fill]) * seen.size, "count": bytearray(count.size)}
    body = text[text.index(f".entry {launch.entry}(") :]
    body = body[body.index("{") + 1 : body.index("\nret;\n}")]
    lines = [re.sub(r"//.*", "", line).strip() for line in body.replace(";", ";\n").splitlines()]
    code = [line.rstrip(";") for line in lines if line and not line.startswith(".reg")]
    for block in range(launch.grid[0]):
        for thread in range(launch.block):
            if 4 * (block * launch.block + thread) < n.value:
                _thread(code, {"%ctaid.x": block, "%tid.x": thread, "%ntid.x": launch.block}, memory, n.value)
    return [bytes(memory["seen"]), bytes(memory["count"])]


def _thread(code: list[str], special: dict[str, int], memory: dict[str, Any], n: int) -> None:
    regs: dict[str, Any] = dict(special)

    def value(word: str) -> Any:
        return regs[word] if word.startswith("%") else int(word)

    def wrap(x: int, bits: int, signed: bool) -> int:
        x &= (1 << bits) - 1
        return x - (1 << bits) if signed and x >> (bits - 1) else x

    for line in code:
        if line.startswith("@"):
            predicate, line = line.split(" ", 1)
            if not regs[predicate[1:]]:
                continue
        if line == "ret":
            return
        name, _, rest = line.partition(" ")
        parts = name.split(".")
        op, bits = parts[0], int(re.sub(r"\D", "", parts[-1]) or 0)
        words = [w.strip() for w in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,]+", rest.replace(", ", ","))]
        if op == "ld" and parts[1] == "param":
            regs[words[0]] = n if words[1] == "[n]" else (words[1].strip("[]"), 0)
        elif op in ("ld", "st"):
            vector, place = (words[0], words[1]) if op == "ld" else (words[1], words[0])
            base, _, shift = place.strip("[]").partition("+")
            where, at = regs[base]
            for k, register in enumerate(vector.strip("{}").split(",")):
                start = at + int(shift or 0) + k * bits // 8
                if op == "ld":
                    regs[register] = int.from_bytes(memory[where][start : start + bits // 8], "little", signed=True)
                else:
                    memory[where][start : start + bits // 8] = (regs[register] & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
        elif op == "red":
            where, at = regs[words[0].strip("[]")]
            total = int.from_bytes(memory[where][at : at + 4], "little") + regs[words[1]]
            memory[where][at : at + 4] = total.to_bytes(4, "little")
        elif op == "setp":
            a, b = value(words[1]), value(words[2])
            regs[words[0]] = {"ge": a >= b, "lt": a < b, "ne": a != b, "eq": a == b}[parts[1]] and (
                parts[2] != "and" or regs[words[3]]
            )
        elif op == "add" and isinstance(regs.get(words[1]), tuple):
            where, at = regs[words[1]]
            regs[words[0]] = (where, at + value(words[2]))
        elif op in ("mov", "cvt"):
            regs[words[0]] = value(words[1])
        else:
            a, b = (value(w) for w in words[1:3])
            kind = parts[-1][0]
            if kind == "u":
                a, b = wrap(a, bits, False), wrap(b, bits, False)
            regs[words[0]] = wrap(
                ARITHMETIC[op](a, b), 2 * bits if parts[1] == "wide" else bits, kind in "sb" or parts[1] == "wide"
            )


def only(items: Sequence[Any]) -> Check:
    (item,) = items
    assert isinstance(item, Check), item
    return item


def run_layout(check: Check) -> Outcome:
    text = module([check.kernel])
    return check.judge([interpret(text, launch) for launch in check.launches()])


@pytest.mark.parametrize(
    "text",
    [
        "(4,8):(8,1)",
        "((2,4),(3,5)):((40,1),(-7,0))",
        "Sw<3,3,3> o 0 o (8,64):(64,1)",
        "Sw<2,0,-3> o 5 o (8,4):(4,1)",
        "(4,5):(1,4) o 2 o (2,3):(1,2)",
        "(3,5):(7,100000000000)",
        "(4,(2,3)):(1@0,(1@1,2@1))",
        "(2,3,4):(12,4,1)",
        "7:3",
    ],
)
def test_the_ptx_of_a_layout_computes_what_is_drawn(text: str) -> None:
    outcome = run_layout(only(plan.plan(parse(text), text)[:1]))
    assert outcome.cells == outcome.agree > 0
    assert outcome.control


@given(strategies.layouts())
def test_the_ptx_of_any_layout(layout: Layout) -> None:
    made = layout_ptx.kernel([layout], "k", 64)
    table = np.array(offsets(layout), np.int64)
    padded = np.zeros(-(-len(table) // 4) * 4, np.int64)
    padded[: len(table)] = table
    seen, count = interpret(module([made]), layouts.launch("k_0", padded.tobytes(), len(table)))
    assert np.frombuffer(seen, np.int64)[: len(table)].tolist() == table.tolist()
    assert np.frombuffer(count, np.uint32)[0] == 0


def test_a_wrong_picture_of_a_layout_is_caught() -> None:
    layout = parse("(4,8):(8,1)")
    figure = build(layout)
    (panel,) = figure.panels
    column = list(panel.data["offset"])
    column[5] = 99
    wrong = replace(figure, panels=(replace(panel, data={"offset": tuple(column)}),))
    outcome = run_layout(Check("layout", "x", layouts.job(layout, wrong, "x")))
    assert outcome.cells - outcome.agree == 1
    assert outcome.facts["mismatches counted on the device"] == 1
    (sheet,) = outcome.sheets
    assert [cell for cell, ok in enumerate(sheet.ok) if not ok] == [5]
    assert (sheet.drawn[5], sheet.seen[5]) == ("99", "5")


def test_a_tile_of_owners_is_checked_too() -> None:
    item = only(plan.plan(parse("((4,8),(2,2)):((32,1),(16,8))"), "tv", (16, 8)))
    outcome = run_layout(item)
    assert outcome.cells == outcome.agree == 128


def test_what_no_kernel_computes_is_said() -> None:
    (item,) = plan.plan(parse("(4,8):(1@0,1@0@1)"), "nested")
    assert isinstance(item, Undecided)
    assert "nested" in item.reason


# ---- matrix instructions: a model of mma.m16n8k16 written from the PTX ISA, not from the library


def fragments() -> tuple[dict[tuple[int, int], tuple[int, int]], ...]:
    """(lane, value) -> (m,k), (n,k), (m,n) of mma.m16n8k16.f16 (PTX ISA, "Matrix Fragments for mma.m16n8k16")."""
    a, b, c = {}, {}, {}
    for lane in range(32):
        group, inside = divmod(lane, 4)
        for v in range(8):
            a[lane, v] = (group + 8 * (v // 2 % 2), 2 * inside + v % 2 + 8 * (v // 4))
        for v in range(4):
            b[lane, v] = (group, 2 * inside + v % 2 + 8 * (v // 2))
            c[lane, v] = (group + 8 * (v // 2), 2 * inside + v % 2)
    return a, b, c


def hardware(launch: KernelRun) -> list[bytes]:
    """What a GPU makes of a launch of the m16n8k16 probe."""
    given = [np.frombuffer(x.data, np.uint32) for x in launch.arguments if isinstance(x, In)]
    sets = [decode(unpack(given[0].reshape(-1, 32, 4), 16), "f16"), decode(unpack(given[1].reshape(-1, 32, 2), 16), "f16")]
    start = decode(given[2].reshape(32, 4), "f32")
    maps = fragments()
    dense = []
    for values, places, rows in zip(sets, maps, (16, 8), strict=False):
        matrix = np.zeros((len(values), rows, 16))
        for (lane, v), (row, k) in places.items():
            matrix[:, row, k] = values[:, lane, v]
        dense.append(matrix)
    product = np.einsum("imk,pnk->pimn", *dense)
    out = np.zeros((*product.shape[:2], 32, 4), np.float32)
    for (lane, v), (m, n) in maps[2].items():
        out[:, :, lane, v] = product[:, :, m, n] + start[lane, v]
    return [out.tobytes()]


def probed(check: Check) -> Outcome:
    return check.judge([hardware(launch) for launch in check.launches()])


def test_one_hot_probing_recovers_the_fragments() -> None:
    outcome = probed(only(plan.plan(resolve(ATOM), ATOM)))
    assert outcome.cells == outcome.agree == 16 * 16 + 16 * 8 + 16 * 8
    assert outcome.control
    assert outcome.facts["incidences"] == outcome.facts["incidences agreeing"] == 256 * 128


def redrawn(figure: Figure, operand: str, change: Callable[[list[Any], list[Any]], None]) -> Figure:
    """The figure with the owners of one panel changed."""
    panels = []
    for panel in figure.panels:
        if digest.role(panel) == operand:
            threads, values = list(panel.data["thread"]), list(panel.data["value"])
            change(threads, values)
            panel = replace(panel, data={"thread": tuple(threads), "value": tuple(values)})
        panels.append(panel)
    return replace(figure, panels=tuple(panels))


@pytest.mark.parametrize("operand", "AB")
def test_two_exchanged_owners_are_found_where_they_are(operand: str) -> None:
    def exchange(threads: list[Any], values: list[Any]) -> None:
        for column in (threads, values):
            column[3], column[40] = column[40], column[3]

    atom = resolve(ATOM)
    outcome = probed(Check("mma", ATOM, mma.job(mma.instruction(atom), redrawn(build(atom), operand, exchange), ATOM)))
    wrong = {(sheet.role, cell) for sheet in outcome.sheets for cell, ok in enumerate(sheet.ok) if not ok}
    assert wrong == {(operand, 3), (operand, 40)}


def test_the_transposed_accumulator_is_found() -> None:
    atom = resolve(ATOM)
    assert isinstance(atom, plan.MMA_Atom)
    wrong = replace(atom, layout_c=parse("((4,8),(2,2)):((32,1),(8,16))"))
    outcome = probed(Check("mma", ATOM, mma.job(mma.instruction(wrong), build(wrong), ATOM)))
    assert outcome.agree < outcome.cells


def test_every_mma_of_the_library_has_a_plan_or_a_reason() -> None:
    found = {}
    for listed in listing():
        if listed.kind == "mma" and "{" not in listed.name and not plan.hopeless(listed) and not listed.args:
            for item in plan.plan(resolve(listed.name), listed.name):
                found[listed.name] = item
    checks = [name for name, item in found.items() if isinstance(item, Check)]
    assert len(checks) >= 84
    for name, item in found.items():
        assert isinstance(item, Check) or item.reason, name
    assert "F64" in found["SM80_8x8x4_C64C64C64C64_TN"].reason
    assert found["SM80_16x8x128_S32U1U1S32_TN_XORPOPC"].known


def test_saturation_and_popcount_stand_in_the_opcode() -> None:
    opcodes = [
        mma.instruction(resolve(f"SM80_{rest}")).opcode
        for rest in ("16x8x32_S32S8U8S32_TN_SATURATE", "8x8x128_S32U1U1S32_TN_ANDPOPC")
    ]
    assert opcodes == [
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc",
    ]


# ---- copies: a model of ldmatrix from the PTX ISA


@pytest.mark.parametrize(("name", "count", "transposed"), [("SM75_U32x4_LDSM_N", 4, False), ("SM75_U16x4_LDSM_T", 2, True)])
def test_ldmatrix_by_the_isa(name: str, count: int, transposed: bool) -> None:
    check = only(plan.plan(resolve(name), name))
    (launch,) = check.launches()
    rows = np.frombuffer(launch.arguments[0].data, np.uint16).reshape(32, 8)
    out = np.zeros((32, 2 * count), np.uint16)
    for lane in range(32):
        for v in range(2 * count):
            row, column = (2 * (lane % 4) + v % 2, lane // 4) if transposed else (lane // 4, 2 * (lane % 4) + v % 2)
            out[lane, v] = rows[8 * (v // 2) + row, column]
    right = check.judge([[out.tobytes()]])
    assert right.cells == right.agree > 0
    assert right.control
    out[[4, 5]] = out[[5, 4]]
    wrong = check.judge([[out.tobytes()]])
    assert wrong.cells - wrong.agree == 2 * 2 * 2 * count  # two threads, in the source and in the destination
    poisoned = check.judge([[b"\xcd" * out.nbytes]])
    assert poisoned.agree == 0


def test_what_cute_has_wrong_is_known() -> None:
    for name in plan.KNOWN:
        item = only(plan.plan(resolve(name), name))
        verdict = report.judged(item, Outcome((PanelCheck("C", 1, 1, ("0",), ("0",), (True,)),), True))
        assert verdict.verdict == "known"
        assert "CuTe" in verdict.reason
        assert report.judged(item, Outcome((PanelCheck("C", 1, 1, ("0",), ("1",), (False,)),), True)).verdict == "differ"


# ---- kernels as texts with holes


def test_a_kernel_is_its_text_with_every_hole_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    each = "#each j n\n#if odd\nst [{4*j+2}], %d{j};\n#else\nld {%d<n>}, {%w0,%w1};\n#end\n#end\n"
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "outer.ptx").write_text("#needs {needs}\n" + each + "#use inner.ptx at={n*n}\n")
    (tmp_path / "kernels" / "inner.ptx").write_text("#if !odd\nadd {at+1};\n#end\n")
    monkeypatch.setattr(job, "files", lambda package: tmp_path)
    made = job.kernel("outer.ptx", "k", "8.4 90a", n=2, odd=True)
    assert (made.version, made.target, made.exact) == ((8, 4), 90, True)
    assert made.body.split("\n") == ["st [2], %d0;", "st [6], %d1;"]
    assert job.text("outer.ptx", needs="", n=2, odd=False).split("\n")[1:] == ["ld {%d0,%d1}, {%w0,%w1};"] * 2 + ["add 5;"]
    with pytest.raises(KeyError, match="odd"):
        job.text("outer.ptx", needs="", n=2)


# ---- wgmma, TMA, tilings, banks: structure


def test_wgmma_needs_its_own_architecture() -> None:
    name = "SM90_64x32x16_F32F16F16_RS"
    item = only(plan.plan(resolve(name), name))
    assert ".target sm_90a" in module([item.kernel])
    assert item.kernel.runs_on(90)
    assert not item.kernel.runs_on(100)
    assert "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16" in item.kernel.body
    assert isinstance(plan.plan(resolve("SM90_64x32x16_F32F16F16_SS", ("GMMA::Major::MN", "GMMA::Major::K")), "x")[0], Undecided)


def test_integers_have_the_extents_that_ptx_has() -> None:
    """wgmma of integers: N = 8, 16, 24, 32, and multiples of 16 from there (PTX ISA, wgmma.mma_async)."""
    legal = [8, 16, 24, *range(32, 257, 16)]
    for n in range(8, 257, 8):
        found = True
        try:
            resolve(f"SM90_64x{n}x32_S32S8S8_SS_TN")
        except CuteVizError:
            found = False
        assert found == (n in legal)


@pytest.mark.parametrize("text", ["GMMA::Layout_K_SW128_Atom<half_t>", "Sw<3,3,3> o 0 o (8,64):(64,1)"])
def test_tma_fills_a_swizzled_tile_as_drawn(text: str) -> None:
    items = {item.kind: item for item in plan.plan(read(text).pick(), text)}
    assert set(items) == {"layout", "TMA load", "TMA store", "wgmma operand"}
    load = items["TMA load"]
    assert isinstance(load, Check)
    (launch,) = load.launches()
    matrix = np.frombuffer(launch.arguments[1].data, np.uint16).reshape(8, 64)
    tile = np.zeros(512, np.uint16)
    for r in range(8):
        for c in range(64):
            address = 128 * r + 2 * c
            tile[(address ^ (address >> 7 & 7) << 4) // 2] = matrix[r, c]  # CU_TENSOR_MAP_SWIZZLE_128B
    right = load.judge([[tile.tobytes()]])
    assert right.cells == right.agree == 512
    assert right.control
    plain = load.judge([[matrix.tobytes()]])
    assert plain.agree == 64  # row 0 alone is not moved


def test_other_layouts_are_no_hardware_atoms() -> None:
    for text in (
        "(8,64):(64,1)",
        "Sw<3,3,3> o 0 o (8,32):(32,1)",
        "Sw<3,3,3> o 0 o (16,64):(64,1)",
        "Sw<3,2,3> o 0 o (8,64):(64,1)",
    ):
        assert swizzle_atom.recognise(parse(text)) is None


def test_a_tiled_mma_as_the_hardware_would_do_it() -> None:
    text = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
    check = only(plan.plan(read(text).pick(), text))

    def product(launch: KernelRun) -> list[bytes]:
        a, b, places = (np.frombuffer(x.data, np.uint32) for x in launch.arguments[:3] if isinstance(x, In))
        steps = launch.arguments[5].value
        blocks = launch.grid[0]
        first = decode(unpack(a.reshape(blocks, steps, 32, 4), 16), "f16")
        second = decode(unpack(b.reshape(blocks, steps, 32, 2), 16), "f16")
        d = np.full(1024, np.nan, np.float32)
        count = np.zeros(1024, np.uint32)
        maps = fragments()
        for block in range(blocks):
            m, n = np.zeros((steps, 16, 16)), np.zeros((steps, 8, 16))
            for (lane, v), (row, k) in maps[0].items():
                m[:, row, k] = first[block, :, lane, v]
            for (lane, v), (row, k) in maps[1].items():
                n[:, row, k] = second[block, :, lane, v]
            result = np.einsum("smk,snk->mn", m, n)
            for (lane, v), (row, col) in maps[2].items():
                place = places.reshape(blocks, 32, 4)[block, lane, v]
                d[place] = result[row, col]
                count[place] += 1
        return [d.tobytes(), count.tobytes()]

    outcome = check.judge([product(launch) for launch in check.launches()])
    assert outcome.cells == outcome.agree == 1024
    assert outcome.control
    assert outcome.facts["elements written once"] == 1024


def test_warp_groups_as_the_hardware_would_do_it() -> None:
    """wgmma m64n32k16: the accumulator of the PTX ISA, operands as core matrices without a swizzle."""
    text = "make_tiled_mma(SM90_64x32x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}, (2,1,1), (128,64,16))"
    check = only(plan.plan(read(text).pick(), text))

    def rows_of(data: bytes, rows: int) -> Any:
        cores = decode(np.frombuffer(data, np.uint16), "f16").reshape(-1, rows // 8, 2, 8, 8)  # tile, 8 rows, 16 bytes of k
        return cores.transpose(0, 1, 3, 2, 4).reshape(-1, rows, 16)

    def group(launch: KernelRun) -> list[bytes]:
        a, b = (x.data for x in launch.arguments[:2] if isinstance(x, In))
        product = np.einsum("xmk,ynk->yxmn", rows_of(a, 64), rows_of(b, 32))
        thread, v = np.meshgrid(np.arange(128), np.arange(16), indexing="ij")
        row = thread // 32 * 16 + thread % 32 // 4 + v // 2 % 2 * 8
        return [product[:, :, row, v // 4 * 8 + thread % 4 * 2 + v % 2].astype(np.float32).tobytes()]

    outcome = check.judge([group(launch) for launch in check.launches()])
    assert outcome.cells == outcome.agree == 128 * 64
    assert outcome.control


def test_bank_patterns_begin_without_conflict() -> None:
    for access in banks.INSTRUCTIONS:
        name, addresses = next(banks.patterns(access))
        assert name == "contiguous"
        assert banks.shared_wavefronts(addresses, access) == ideal_wavefronts(addresses, access)


def test_chains_of_loads_are_judged_by_their_time() -> None:
    check = banks.checks()[0]
    assert isinstance(check, Check)
    wavefronts = [banks.shared_wavefronts(a, "ld.32") for _, a in banks.patterns("ld.32")]
    cycles = np.array([32 * (30 + 2 * (w - 1)) for w in wavefronts], np.int64)
    right = check.judge([[cycles.tobytes()]])
    assert right.cells == right.agree == len(cycles)
    assert right.control
    cycles[5] += 64
    assert check.judge([[cycles.tobytes()]]).agree == len(cycles) - 1


def test_counters_are_read_and_held_against_the_prediction() -> None:
    rows = []
    for kind, _, _, patterns in counters.jobs():
        for _, _, wanted in patterns:
            key, value = (counters.SHARED, 32 * wanted) if kind == "wavefronts" else (counters.GLOBAL, 8 * wanted + 4)
            rows.append(f'"{len(rows)}","{key}","{value:,}"')
    names = (counters.SHARED, counters.GLOBAL)
    head = '==PROF== x\n"ID",' + ",".join(f'"{name}"' for name in names) + '\n"","",""\n'
    body = []
    for row in rows:
        number, key, value = re.findall(r'"([^"]*)"', row)
        body.append(",".join([f'"{number}"', *(f'"{value}"' if key == name else '"0"' for name in names)]))
    found = counters.judge(counters.read(head + "\n".join(body)))
    assert {kind for kind, _, _ in found} == {"wavefronts", "sectors"}
    assert all(outcome.cells == outcome.agree > 0 and outcome.control for _, _, outcome in found)
    body[3] = body[3].replace('"3"', '"3"').replace(re.findall(r'"([^"]*)"', body[3])[1], "1")
    wrong = counters.judge(counters.read(head + "\n".join(body)))
    assert wrong[0][2].agree == wrong[0][2].cells - 1
    with pytest.raises(CannotCheck):
        counters.read("==ERROR== no permission")


# ---- numbers


@pytest.mark.parametrize("kind", ELEMENTS)
def test_small_integers_are_exact(kind: str) -> None:
    element = ELEMENTS[kind]
    numbers = np.arange(min(element.exact, 300))
    packed = pack(encode(numbers, kind), element.bits, element.register)
    assert unpack(packed, element.bits, element.register)[: len(numbers)].tolist() == encode(numbers, kind).tolist()
    if kind in ("f16", "f32", "f64", "s32"):
        assert decode(encode(-numbers, kind), kind).tolist() == (-numbers).tolist()
    if kind == "bf16":
        assert (encode(numbers, kind).astype(np.uint32) << 16).view(np.float32).tolist() == numbers.tolist()


# ---- verdicts


def verdict(ok: Sequence[bool], control: bool = True) -> report.CheckResult:
    sheet = PanelCheck("C", 1, len(ok), tuple("ab"[: len(ok)]), tuple("ac"[: len(ok)]), tuple(ok))
    item = only(plan.plan(resolve(ATOM), ATOM))
    return report.judged(item, Outcome((sheet,), control))


def test_verdicts_and_status() -> None:
    good, bad, blind = verdict([True, True]), verdict([True, False]), verdict([True, True], control=False)
    assert (good.verdict, bad.verdict, blind.verdict) == ("agree", "differ", "differ")
    assert "control" in blind.reason
    assert bad.differences == (("C", 0, 1, "b", "c"),)
    assert report.status([good]) == 0
    assert report.status([good, bad]) == 1
    assert report.status([report.undecided(Undecided("mma", "x", "no"))]) == 3


def test_a_disagreement_is_drawn_with_marks() -> None:
    figure = report.picture(verdict([True, False]))
    (panel,) = figure.panels
    assert panel.labels == ("a", "b\n≠c")
    assert panel.boxes == ((0, 1, 1, 2),)
    assert "1 of 2 cells differ" in figure.title
    for format_ in ("svg", "text", "tikz", "json"):
        assert render(figure, format_)
    with pytest.raises(FigureError):
        report.picture(verdict([True, True]))


def test_a_report_tells_all_and_evidence_only_what_agrees() -> None:
    good, bad = verdict([True, True]), verdict([True, False])
    document = report.document(report.CheckReport({"device": "D"}, (good, bad)))
    assert json.loads(json.dumps(document))["counts"]["mma"]["differ"] == 1
    assert document["checks"][1]["differences"][0]["seen"] == "c"
    assert report.evidence(report.CheckReport({"device": "D"}, (good,)))["agree"] == {ATOM: good.digest}
    assert report.evidence(report.CheckReport({"device": "D"}, (good, bad)))["agree"] == {}


def test_every_kind_says_what_it_proves() -> None:
    kinds = {"layout", "layout by CuTe", "static", "mma", "wgmma", "TMA load", "TMA store", "wgmma operand", "tiled mma", "banks"}
    hardware = {"sparse wgmma", "TMA im2col", "tcgen05.mma"}
    assert kinds | {"copy", "tiled copy", "wavefronts", "sectors", "wgmma descriptor", "TMA box", "tcgen05"} | hardware == set(
        PROVES
    )


# ---- evidence that stays


def kept() -> list[tuple[dict[str, Any], str]]:
    return [(r, name) for r in digest.reports() for name in r["agree"] if re.match(r"SM\d+_(?!64x)", name)]


def test_a_report_is_kept() -> None:
    assert len(kept()) > 100
    for found in digest.reports():
        assert found["differ"] == {}
        assert all(row["differ"] == 0 for row in found["counts"].values())
        assert found["counts"]["mma"]["controls caught"] == found["counts"]["mma"]["agree"] + found["counts"]["mma"]["known"]


def test_the_kept_digests_are_those_of_the_library() -> None:
    """A changed mapping loses its claim: this fails, and the check is to be run anew."""
    for found, full in kept():
        name, _, rest = full.partition("<")
        obj = resolve(name, tuple(rest[:-1].split(",")) if rest else ())
        assert digest.digest(build(obj)) == found["agree"][full], f"{full}: its picture is not the one that was checked"


@pytest.mark.parametrize("n", [8, 64, 256])
def test_the_kept_digests_of_wgmma(n: int) -> None:
    for found in digest.reports():
        for kind, operands in (("SS", "C"), ("RS", "CA")):
            name = f"SM90_64x{n}x16_F32F16F16_{kind}"
            figure = build(resolve(name), FigureOptions(operand=operands, max_cells=1 << 20))
            assert digest.digest(figure) == found["agree"][name]


def test_a_changed_mapping_loses_its_claim() -> None:
    atom = resolve(ATOM)
    assert isinstance(atom, plan.MMA_Atom)
    assert digest.verified(ATOM, build(atom)) == "NVIDIA H100 80GB HBM3, NVIDIA H200"
    assert (
        digest.verified(ATOM, build(atom, FigureOptions(thread=range(5, 6)))) == "NVIDIA H100 80GB HBM3, NVIDIA H200"
    )  # the same mapping
    changed = replace(atom, layout_c=parse("((4,8),(2,2)):((32,1),(8,16))"))
    assert digest.verified(ATOM, build(changed)) is None
    assert digest.verified(ATOM, build(atom, FigureOptions(operand="A"))) is None
    noted = digest.noted(build(atom), atom)
    assert noted.notes[-1] == "Verified on NVIDIA H100 80GB HBM3, NVIDIA H200."
    assert digest.noted(build(changed), changed).notes == build(changed).notes


def test_kept_reports_follow_the_library_and_its_files(tmp_path: Path) -> None:
    class Mine:
        def directories(self) -> list[str]:
            return [str(tmp_path)]

        def resolve(self, name: str, args: tuple[str, ...] = ()) -> Any:
            return resolve(name, args)

        def listing(self) -> list[Listed]:
            return [Listed("SM75_U32x1_LDSM_N", "copy", "sm75", "", "")]

    figure = build(resolve(ATOM))
    assert digest.verified(ATOM, figure, Mine()) is None
    file = tmp_path / "verified" / "mine.json"
    file.parent.mkdir()
    for device in ("a GPU", "another GPU"):
        file.write_text(json.dumps({"device": device, "agree": {ATOM: digest.digest(figure)}, "known": {}}))
        assert digest.verified(ATOM, figure, Mine()) == device
    assert digest.verified(ATOM, figure) == "NVIDIA H100 80GB HBM3, NVIDIA H200"
    assert [name for name, _ in plan.atoms(Mine())] == ["SM75_U32x1_LDSM_N"]
    for wrong in (
        "[]",
        '{"reports": [{"device": "a GPU", "known": {}, "agree": "x"}], "agree": {}}',
        '{"reports": {}, "agree": 1}',
    ):
        file.write_text(wrong)
        with pytest.raises(CuteVizError, match=r"mine\.json: this is not the report of a check"):
            digest.reports(Mine())
    file.unlink()
    file.symlink_to(tmp_path.parent / "other.json")
    (tmp_path.parent / "other.json").write_text("{}")
    with pytest.raises(CuteVizError, match="leads out of the folder"):
        digest.reports(Mine())


def test_specs_of_a_folder_of_the_users_name_its_own_atoms(tmp_path: Path) -> None:
    layouts = 'ThrID: "1", SrcLayout: "(1,8):(0,1)", DstLayout: "(1,8):(0,1)", RefLayout: Src'
    (tmp_path / "atoms.yaml").write_text(f"library: copy\narch: universal\nMINE: {{{layouts}}}\n")
    (tmp_path / "mine.yaml").write_text("copy_atom: {op: MINE, type: 8}\n")
    name, atom, _ = next(plan.specs(Library((str(tmp_path),))))
    assert (name, atom.name) == ("specs/mine", "MINE")


# ---- CuTe's headers


def test_static_names_the_entries_that_differ() -> None:
    item = plan.static(parse("(4,100):(100,1)"), "x")
    assert isinstance(item, cuda.StaticTable)
    assert item.source().count("static_assert") == 2
    assert item.source() != item.source(corrupted=True)
    log = 'x.cu(9): error: static assertion failed with "drawn entries 256 to 399"'
    found = report.compiled(item, item.wrong(log), True)
    assert (found.verdict, found.cells, found.agree) == ("differ", 400, 256)
    assert report.compiled(item, [], True).verdict == "agree"
    assert report.compiled(item, [], False).verdict == "differ"


# ---- the command


class Result(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """The command line, in this process."""

    def run(*args: str) -> Result:
        with pytest.raises(SystemExit) as stop:
            main(list(args))
        gc.enable()  # main, a process of its own else, turns it off
        return Result(int(stop.value.code or 0), *capsys.readouterr())

    return run


Run: TypeAlias = "Callable[..., Result]"


def test_without_a_gpu_it_says_what_is_needed(run: Run) -> None:
    if device() is not None:
        pytest.skip("there is a GPU")
    result = run("check", ATOM)
    assert result.status == 3
    assert result.err.startswith("error: no ")
    assert "cute-viz[gpu]" in result.err
    assert result.out == ""


def test_emit_needs_no_gpu(run: Run) -> None:
    result = run("check", ATOM, "--emit", "ptx")
    assert result.status == 0
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in result.out
    assert "Layout<Shape<_4,_8>,Stride<_8,_1>>{}" in run("check", "(4,8):(8,1)", "--emit", "cuda").out
    assert "static_assert" in run("check", "(4,8):(8,1)", "--emit", "cuda", "--static").out
    assert run("check", "SM80_8x8x4_C64C64C64C64_TN", "--emit", "ptx").status == 3


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("", "name what to check, or give --all"),
        ("(4,8) --all", "--all checks everything"),
        ("--all --static", "--static cannot be combined with --all"),
        ("(4,8) --emit ptx -o x.svg", "--emit writes kernels to standard output"),
        ("(4,8) --emit ptx --static", "--static compiles CUDA C++: use --emit cuda, or leave out --static"),
        ("(4,8) --emit cuda --counters", "--counters reads the hardware"),
        ("(4,8) --static --save x.json", "--save cannot be combined with --static"),
        ("--counters --tile 4x8", "--tile needs a layout: name one"),
    ],
)
def test_options_that_contradict_each_other(run: Run, args: str, words: str) -> None:
    result = run("check", *args.split())
    assert (result.status, result.out) == (2, "")
    assert words in result.err


# ---- a whole run, on a device made of the machine above


class Interpreter:
    """A device that runs the kernels of layouts; `wrong` is added to the first value that it sees."""

    name, driver, cuda, capability = "an interpreter", "1.2", "13.0", 80

    def __init__(self, wrong: int = 0) -> None:
        self.wrong = wrong
        self.loaded = 0

    def load_all(self, texts: Sequence[str]) -> list[Any]:
        self.loaded += len(texts)
        return [text if "layout_" in text else DeviceError("refused") for text in texts]

    def unload(self, module: Any) -> None:
        self.loaded -= 1

    def run(self, module: Any, launches: Sequence[KernelRun]) -> list[list[bytes]]:
        out = []
        for launch in launches:
            seen, count = interpret(module, launch)
            first = (int.from_bytes(seen[:4], "little") + self.wrong).to_bytes(4, "little")
            differ = int.from_bytes(count, "little") + (self.wrong != 0)
            out.append([first + seen[4:], differ.to_bytes(4, "little")])
        return out


def test_a_door_gets_a_report() -> None:
    subjects = [runner.Checkable(text, parse(text, resolve=resolve)) for text in ("(4,8):(8,1)", ATOM, "SM90_64x8x16_F32F16F16_RS")]
    told: list[tuple[int, int]] = []
    machine = Interpreter()
    found = runner.check(subjects, device=machine, version="1", progress=lambda done, total: told.append((done, total)))
    assert [(verdict.kind, verdict.verdict) for verdict in found.verdicts] == [
        ("layout", "agree"),
        ("mma", "undecided"),
        ("wgmma", "undecided"),
    ]
    assert found.verdicts[1].reason == "the driver does not take the instruction: refused"
    assert found.verdicts[2].reason == "needs sm_90; this device is sm_80"
    assert (found.machine["device"], found.machine["capability"], found.machine["cute_viz"]) == ("an interpreter", "8.0", "1")
    assert told == [(3, 3)]
    assert machine.loaded == 1  # what was refused is nothing to unload


def test_a_tile_that_cannot_be_drawn_is_wrong_input() -> None:
    with pytest.raises(CuteVizError, match="outside the 2 x 2 tile"):
        runner.check([runner.Checkable("x", parse("(4,8):(8,1)"))], tile=(2, 2), device=Interpreter())


def test_the_command_tells_saves_and_draws(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runner, "Device", Interpreter)
    result = run("check", "(4,8):(8,1)")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[:2] == [
        "an interpreter, driver 1.2, CUDA 13.0",
        "agree     (4,8):(8,1), layout: 32 of 32 cells agree; the control was caught",
    ]
    assert "--with-cute and --static ask" in result.out
    monkeypatch.setattr(runner, "Device", lambda: Interpreter(wrong=7))
    picture, kept = tmp_path / "x.svg", tmp_path / "x.json"
    result = run("check", "(4,8):(8,1)", "-o", str(picture), "--save", str(kept), "--json")
    assert result.status == 1
    assert json.loads(result.out)["checks"][0]["differences"] == [{"panel": "", "row": 0, "column": 0, "drawn": "0", "seen": "7"}]
    assert json.loads(kept.read_text())["differ"] == {"(4,8):(8,1)": "31 of 32 cells agree"}
    assert "1 of 32 cells differ" in picture.read_text()


def test_show_tells_the_claim_and_imports_no_gpu() -> None:
    code = (
        "import sys; from cute_viz.cli import main\n"
        "try: main(['show', %r])\n"
        "except SystemExit: pass\n"
        "print('numpy' in sys.modules, 'cuda' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code % ATOM], capture_output=True, text=True, timeout=60).stdout
    assert re.search(r"verified on\s+NVIDIA H100 80GB HBM3, NVIDIA H200", out)
    assert out.endswith("False False\n")


def test_show_tells_what_is_known_to_differ(run: Run) -> None:
    assert "transposes" in run("show", "SM75_U32x1_MOVM_T").out


def test_what_is_known_holds_for_the_atom_of_a_type_too() -> None:
    (item,) = plan.plan(read("Copy_Atom<SM75_U32x1_MOVM_T,half_t>{}").pick(), "a spec's name")
    assert isinstance(item, Check)
    assert "transposes" in item.known


# ---- with a GPU


def device() -> Any:
    from cute_viz.check.device import Device

    try:
        return Device()
    except CannotCheck:
        return None


@pytest.mark.gpu
@pytest.mark.parametrize("text", [ATOM, "Sw<3,3,3> o 0 o (8,64):(64,1)", "SM75_U32x4_LDSM_N", "SM90_64x64x16_F32F16F16_RS"])
def test_on_the_device(text: str) -> None:
    found = device()
    if found is None:
        pytest.skip("no NVIDIA GPU with a driver, or cuda-bindings is missing")
    for result in runner.run(found, plan.plan(read(text).pick(), text)):
        assert result.verdict == "agree" or (result.verdict == "undecided" and found.capability < 90), report.lines(result)
        assert result.control is not False


def test_the_gmma_probe_puts_tiles_where_the_descriptor_says() -> None:
    elements = np.arange(2 * 16 * 16, dtype=np.uint64).reshape(2, 16, 16)
    tile = np.frombuffer(wgmma_ptx.plain_tile(elements, 16), np.uint16).reshape(2, -1)
    for row, k in ((0, 0), (3, 9), (12, 5)):  # core matrices of 8 rows x 16 bytes: 128 bytes on along k, 256 along rows
        assert tile[1, (row // 8 * 256 + k // 8 * 128 + row % 8 * 16 + k % 8 * 2) // 2] == elements[1, row, k]
