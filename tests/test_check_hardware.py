"""The checks of descriptors and TMA copies against the rules of the PTX ISA, computed here: what a device is expected to do."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from cute_viz.check import descriptors, plan, tma_box, tma_conv, umma
from cute_viz.check.elements import UNSIGNED, element_of, encode
from cute_viz.check.job import POISON, Check, In, Map, Out
from cute_viz.spec.library import resolve

TAKEN = [pytest.param(obj, id=name) for name, obj in descriptors.subjects()]
MOVED = [pytest.param(obj, id=name) for name, obj in tma_box.subjects()]


def operand(desc: int, data: bytes, bits: int, major: str, rows: int, k: int, modes: Any = ((0, 0), (3, 1), (2, 2), (1, 3))) -> Any:
    """An operand as wgmma reads it: the canonical layouts of the PTX ISA, in units of 16 bytes, the swizzle on address bits."""
    start, leading, stride = ((desc >> bit & 0x3FFF) * 16 for bit in (0, 16, 32))
    mode = dict(modes)[desc >> (62 if modes[1][0] == 3 else 61)]
    memory, per = np.frombuffer(data, UNSIGNED[bits]), 128 // bits
    out = np.zeros((rows, k), np.uint64)
    for r, c in product(range(rows), range(k)):
        row, unit, inside = (r, c // per, c % per) if major == "K" else (c, r // per, r % per)
        if major == "K":
            byte = row % 8 * (16 << mode) + row // 8 * stride + unit * (16 if mode else leading)
        elif mode:
            byte = row % 8 * (16 << mode) + row // 8 * stride + unit % (1 << mode) * 16 + (unit >> mode) * leading
        else:
            byte = row % 8 * 16 + row // 8 * leading + unit * stride
        address = start + byte + inside * bits // 8
        out[r, c] = memory[(address ^ (address >> 7 & (1 << mode) - 1) << 4) * 8 // bits]
    return out


@pytest.mark.parametrize("obj", TAKEN[::5])
def test_products_through_descriptors_are_exact_where_the_hardware_reads_canonical_layouts(obj):
    for item in plan.plan(obj, "x"):
        assert isinstance(item, Check)
        job = item.launches.__self__  # type: ignore[attr-defined]
        numbers = {int(p): v for v, p in enumerate(encode(np.arange(4), job.kind).tolist())}
        outputs = []
        for launch in item.launches():
            (a, b), (desc_a, desc_b) = ([x.data for x in launch.arguments[:2]], [x.value for x in launch.arguments[3:5]])
            tiles = []
            for desc, data, turned in ((desc_a, a, job.made.transposed[0]), (desc_b, b, job.made.transposed[1])):
                raw = operand(desc, data, job.made.a.bits, "MN" if turned else "K", 64, job.made.k)
                tiles.append(np.vectorize(numbers.__getitem__, otypes=[int])(raw))
            c = tiles[0] @ tiles[1].T
            t, v = np.meshgrid(np.arange(128), np.arange(32), indexing="ij")
            held = c[t // 32 * 16 + t % 32 // 4 + v // 2 % 2 * 8, t % 4 * 2 + v % 2 + v // 4 * 8]
            outputs.append([held.astype(np.float32 if job.made.c.name == "f32" else np.int32).tobytes()])
        outcome = item.judge(outputs)
        assert outcome.agree == outcome.cells
        assert outcome.control


def moved(launch: Any, store: bool) -> bytes:
    """What cp.async.bulk.tensor does: boxes of the tensor map, innermost first, zeros or nothing out of bounds."""
    tensor, coords, given = launch.arguments[:3]
    assert isinstance(tensor, Map)
    assert isinstance(given, In)
    out = next(x for x in launch.arguments if isinstance(x, Out))
    total, count, step, own, _ = (x.value for x in launch.arguments[4:])
    ctas, places = launch.grid[0], np.frombuffer(coords.data, np.int32).reshape(-1, 5)
    bits = {0: 8, 6: 16, 9: 16, 7: 32}[tensor.data_type]
    size, mode = bits // 8, tensor.swizzle
    shared, memory = bytearray(given.data if store else bytes([POISON]) * total), bytearray(bytes([POISON]) * out.size)
    for n in range(count * ctas):
        i, cta = divmod(n, ctas)
        at = i * step + cta * own
        for inner in product(*(range(extent) for extent in reversed(tensor.box[: tensor.rank]))):
            coord = [int(a) + b for a, b in zip(places[n], reversed(inner), strict=False)]
            place = at ^ (at >> 7 & (1 << mode) - 1) << 4
            inside = all(0 <= x < extent for x, extent in zip(coord, tensor.dims, strict=False))
            byte = coord[0] * size + sum(x * stride for x, stride in zip(coord[1:], tensor.strides, strict=False))
            if store and inside:
                memory[byte : byte + size] = shared[place : place + size]
            elif not store:
                shared[place : place + size] = given.data[byte : byte + size] if inside else bytes(size)
            at += size
    return bytes(memory) if store else bytes(shared) * ctas


@pytest.mark.parametrize("obj", MOVED[5:20:5] + MOVED[-1:])
def test_tiles_land_as_drawn_where_tma_moves_boxes_of_the_tensor_map(obj):
    (item,) = plan.plan(obj, "x")
    assert isinstance(item, Check)
    launches = item.launches()
    outcome = item.judge([[moved(launch, "STORE" in obj.op.name)] for launch in launches])
    assert outcome.agree == outcome.cells
    assert outcome.control


@pytest.mark.parametrize("name", ["LOAD_16dp256b2x", "LOAD_32dp32b4x", "STORE_16dp128b2x"])
def test_registers_come_from_the_lanes_and_columns_that_the_ptx_isa_draws(name):
    from cute_viz import parse

    (item,) = plan.plan(parse(f"SM100_TMEM_{name}{{}}"), "x")
    assert isinstance(item, Check)
    job: Any = item.launches.__self__  # type: ignore[attr-defined]
    columns, registers = job.extents()
    out = np.zeros(job.right().shape, np.uint32)
    for thread, register in product(range(32), range(registers)):
        if "32dp32b" in name:
            lane, column = thread, register
        elif "256b" in name:
            lane, column = thread // 4 + register // 2 % 2 * 8, register // 4 * 8 + thread % 4 * 2 + register % 2
        else:
            lane, column = thread // 4 + register % 2 * 8, register // 2 * 4 + thread % 4
        if job.store:
            out[lane, column] = thread * registers + register + 1
        else:
            out[thread, register] = lane * columns + column + 1
    outcome = item.judge([[out.tobytes()]])
    assert outcome.agree == outcome.cells


def test_what_no_device_here_decides_says_why():
    from cute_viz import parse

    blackwell = parse("make_umma_desc<UMMA::Major::K>(tile_to_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)))")
    assert "10.0" in plan.plan(blackwell, "x")[0].reason  # type: ignore[union-attr]


def metadata(row: int, k: int, bits: int, selector: int) -> tuple[int, int]:
    """The thread and the nibble of its register that tell of an element of A: the figures of the PTX ISA for wgmma.mma_async.sp."""
    warp, lane, half = row // 16 * 32, row % 8 * 4, row // 8 % 2
    if bits == 8:  # four threads of a row and the eighth after it: 32 columns each
        return warp + lane + k // 32 * 2 + half, k % 32 // 4
    wide = 16 if bits == 16 else 8
    return warp + lane + 2 * selector + k // wide, half * 4 + k % wide * 4 // wide


def sparse_product(job: Any, launch: Any, kinds: Any) -> bytes:
    """What a sparse wgmma accumulates, thread by thread: every row of A spread out as the metadata of its threads says."""
    made = job.sparse.made
    a, b, e = (x.data for x in launch.arguments[:3])
    selector = launch.arguments[-1].value
    bits, group = made.a.bits, 2 if made.a.bits == 32 else 4
    words = np.frombuffer(e, np.uint32)
    back = {int(p): v for v, p in enumerate(encode(np.arange(kinds), made.a.name).tolist())}
    other = {int(p): v for v, p in enumerate(encode(np.arange(kinds), made.b.name).tolist())}
    first = np.frombuffer(a, UNSIGNED[bits]).reshape(launch.grid[0], 8, 2, 8, -1).transpose(0, 1, 3, 2, 4).reshape(-1, 64, made.k)
    second = np.frombuffer(b, UNSIGNED[bits]).reshape(launch.grid[1], made.n // 8, 4, 8, -1)
    second = second.transpose(0, 1, 3, 2, 4).reshape(-1, made.n, 2 * made.k)
    place = np.zeros((64, made.k), int)
    for row, slot in product(range(64), range(made.k)):
        k = slot * 2 // group * group
        thread, nibble = metadata(row, k, bits, selector)
        code = int(words[thread]) >> 4 * nibble & 15
        kept = {4: 0, 14: 1}[code] if group == 2 else (code & 3, code >> 2)[slot % 2]
        place[row, slot] = k + kept
    out = []
    for y, x in product(range(launch.grid[1]), range(launch.grid[0])):
        whole = np.zeros((64, 2 * made.k), int)
        np.put_along_axis(whole, place, np.vectorize(back.__getitem__, otypes=[int])(first[x]), axis=1)
        c = whole @ np.vectorize(other.__getitem__, otypes=[int])(second[y]).T
        t, v = np.meshgrid(np.arange(128), np.arange(made.n // 2), indexing="ij")
        held = c[t // 32 * 16 + t % 32 // 4 + v // 2 % 2 * 8, t % 4 * 2 + v % 2 + v // 4 * 8]
        out.append(held.astype({"f32": np.float32, "f16": np.float16, "s32": np.int32}[made.c.name]).tobytes())
    return b"".join(out)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("64x8x32_F16F16F16_SS", 40),
        ("64x8x16_F32TF32TF32_SS_TN", 40),
        ("64x8x64_S32S8U8_SS_TN", 90),
        ("64x24x32_F32BF16BF16_SS", 4),
    ],
)
def test_metadata_is_read_where_the_ptx_isa_has_it(name, kinds):
    (item,) = plan.plan(resolve(f"GMMA_{name}"), "x")
    assert isinstance(item, Check)
    job: Any = item.launches.__self__  # type: ignore[attr-defined]
    outcome = item.judge([[sparse_product(job, launch, kinds)] for launch in item.launches()])
    assert outcome.agree == outcome.cells
    assert outcome.control
    assert [sheet.role[0] for sheet in outcome.sheets] == list(
        {"64x24": "CC"}.get(name[:5], "CCEE" if "8x64" not in name else "CE")
    )


def convolved(launch: Any) -> bytes:
    """What cp.async.bulk.tensor does in im2col mode: base pixels step through the box of corners, offsets move them."""
    tensor, coords, given = launch.arguments[:3]
    total, count, step, own, _ = (x.value for x in launch.arguments[4:])
    ctas, places = launch.grid[0], np.frombuffer(coords.data, np.int32).reshape(-1, 8)
    size, mode, spatial = {0: 1, 6: 2}[tensor.data_type], tensor.swizzle, tensor.rank - 2
    lower, upper = tensor.corners
    channels, pixels = tensor.box[:2]
    shared = bytearray(bytes([POISON]) * total)
    for n in range(count * ctas):
        i, cta = divmod(n, ctas)
        at = i * step + cta * own
        channel, *base = map(int, places[n, : tensor.rank])
        for _pixel in range(pixels):
            moved = [base[d] + int(places[n, 5 + d]) for d in range(spatial)]
            coord = [*moved, base[spatial]]
            inside = all(0 <= x < extent for x, extent in zip(coord, tensor.dims[1:], strict=True))
            byte = channel * size + sum(x * stride for x, stride in zip(coord, tensor.strides, strict=True))
            for chunk in range(0, channels * size, 16):  # a swizzle moves 16 bytes together
                place = at ^ (at >> 7 & (1 << mode) - 1) << 4
                shared[place : place + 16] = given.data[byte + chunk :][:16] if inside else bytes(16)
                at += 16
            for d in range(spatial):
                base[d] += tensor.steps[1 + d]
                if base[d] <= tensor.dims[1 + d] - 1 + upper[d]:
                    break
                base[d] = lower[d]
            else:
                base[spatial] += 1
    return bytes(shared) * ctas


@pytest.mark.parametrize("obj", [pytest.param(obj, id=name) for name, obj in tma_conv.subjects()][1::2])
def test_pixels_land_as_drawn_where_im2col_steps_through_the_box_of_corners(obj):
    (item,) = plan.plan(obj, "x")
    assert isinstance(item, Check)
    outcome = item.judge([[convolved(launch)] for launch in item.launches()])
    assert outcome.agree == outcome.cells
    assert outcome.control


@pytest.mark.parametrize("obj", [pytest.param(obj, id=name) for name, obj in umma.subjects()][1::3])
def test_accumulators_stand_at_the_lanes_that_the_ptx_isa_has(obj):
    (item,) = plan.plan(obj, "x")
    assert isinstance(item, Check)
    job: Any = item.launches.__self__  # type: ignore[attr-defined]
    m, n = job.extents
    outputs = []
    for launch in item.launches():
        (a, b), (desc_a, desc_b) = ([x.data for x in launch.arguments[:2]], [x.value for x in launch.arguments[3:5]])
        steps, *moves = (x.value for x in launch.arguments[8:])
        kind, first = obj.mma.atom.types[0], obj.a.first
        numbers = {int(p): v for v, p in enumerate(encode(np.arange(4), element_of(kind).name).tolist())}
        total = np.zeros((m, n), int)
        for step in range(steps):
            tiles = []
            for desc, data, rows, move in ((desc_a, a, m, moves[0]), (desc_b, b, n, moves[1])):
                k = 256 // first.bits
                raw = operand(desc + step * move, data, first.bits, first.major, rows, k, ((0, 0), (6, 1), (4, 2), (2, 3)))
                tiles.append(np.vectorize(numbers.__getitem__, otypes=[int])(raw))
            total += tiles[0] @ tiles[1].T
        out = np.zeros((128, n), np.int32 if obj.mma.atom.types[2] == "int32_t" else np.float32)
        out[[row if m == 128 else row % 16 + row // 16 * 32 for row in range(m)]] = total
        outputs.append([out.tobytes()])
    outcome = item.judge(outputs)
    assert outcome.agree == outcome.cells == m * n
    assert outcome.control
