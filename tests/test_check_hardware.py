"""The checks of descriptors and TMA copies against the rules of the PTX ISA, computed here: what a device is expected to do."""

from __future__ import annotations

import struct
from itertools import product
from typing import Any

import numpy as np
import pytest

from cute_viz.check import plan
from cute_viz.check.elements import UNSIGNED, element_of, encode
from cute_viz.check.job import POISON, Check, In, Map, Out
from cute_viz.spec import read
from cute_viz.spec.library import resolve


def subjects(section: str) -> list[Any]:
    """The texts of a section's objects under their names: the tests that run read theirs."""
    return [pytest.param(text, id=name) for name, text in plan.written(section)]


MOVED = subjects("tma")


def operand(desc: int, data: bytes, bits: int, major: str, rows: int, k: int, modes: Any = ((0, 0), (3, 1), (2, 2), (1, 3))) -> Any:
    """An operand as wgmma reads it: the canonical layouts of the PTX ISA, in units of 16 bytes, the swizzle on address bits."""
    start, leading, stride = ((desc >> bit & 0x3FFF) * 16 for bit in (0, 16, 32))
    mode = dict(modes)[desc >> (62 if modes[1][0] == 3 else 61)]
    memory, per = np.frombuffer(data, UNSIGNED[max(bits, 8)]), 128 // bits
    memory = np.stack([memory & 15, memory >> 4], axis=1).reshape(-1) if bits == 4 else memory
    r, c = np.meshgrid(np.arange(rows), np.arange(k), indexing="ij")
    row, unit, inside = (r, c // per, c % per) if major == "K" else (c, r // per, r % per)
    if major == "K":
        byte = row % 8 * (16 << mode) + row // 8 * stride + unit * (16 if mode else leading)
    elif mode:
        byte = row % 8 * (16 << mode) + row // 8 * stride + unit % (1 << mode) * 16 + (unit >> mode) * leading
    else:
        byte = row % 8 * 16 + row // 8 * leading + unit * stride
    address = start + byte + inside * bits // 8
    return memory[(address ^ (address >> 7 & (1 << mode) - 1) << 4) * 8 // bits + inside % max(1, 8 // bits)].astype(np.uint64)


@pytest.mark.parametrize("text", subjects("descriptors")[::5])
def test_products_through_descriptors_are_exact_where_the_hardware_reads_canonical_layouts(text):
    obj = read(text).pick()
    for item in plan.plan(obj, "x"):
        assert isinstance(item, Check)
        job: Any = item.job
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


@pytest.mark.parametrize("text", MOVED[5:20:5] + MOVED[-1:])
def test_tiles_land_as_drawn_where_tma_moves_boxes_of_the_tensor_map(text):
    obj = read(text).pick()
    (item,) = plan.plan(obj, "x")
    assert isinstance(item, Check)
    launches = item.launches()
    outcome = item.judge([[moved(launch, "STORE" in obj.op.name)] for launch in launches])
    assert outcome.agree == outcome.cells
    assert outcome.control


WIDE = ["LOAD_16dp256b2x", "LOAD_32dp32b4x", "STORE_16dp128b2x", "LOAD_16dp32b2x", "LOAD_16dp256b2x_16b", "STORE_16dp32b4x_16b"]


@pytest.mark.parametrize("name", WIDE)
def test_registers_come_from_the_lanes_and_columns_that_the_ptx_isa_draws(name):
    from cute_viz import parse

    (item,) = plan.plan(parse(f"SM100_TMEM_{name}{{}}"), "x")
    assert isinstance(item, Check)
    job: Any = item.job
    columns, registers = job.extents()
    packed = 2 if "_16b" in name else 1  # neighbouring columns in a register
    out = np.zeros(job.right().shape, np.uint32)
    for thread, register, half in product(range(32), range(registers), range(packed)):
        if "32dp32b" in name:
            lane, column = thread, register
        elif "16dp32b" in name:
            lane, column = thread % 16, register + thread // 16 * registers
        elif "256b" in name:
            lane, column = thread // 4 + register // 2 % 2 * 8, register // 4 * 8 + thread % 4 * 2 + register % 2
        else:
            lane, column = thread // 4 + register % 2 * 8, register // 2 * 4 + thread % 4
        column = column * packed + half
        if job.store:
            out[lane, column] = (thread * registers + register) * packed + half + 1
        else:
            out[thread, register] |= lane * columns + column + 1 << 16 * half
    outcome = item.judge([[out.tobytes()]])
    assert outcome.agree == outcome.cells


@pytest.mark.parametrize(
    ("name", "warps"),
    [
        ("128dp256bit", (0, 1, 2, 3)),
        ("128dp128bit", (0, 1, 2, 3)),
        ("4x32dp128bit", (0, 0, 0, 0)),
        ("2x64dp128bitlw0213", (0, 1, 0, 1)),
        ("2x64dp128bitlw0123", (0, 0, 1, 1)),
    ],
)
def test_rows_of_shared_memory_go_to_the_warps_that_the_ptx_isa_names(name, warps):
    (item,) = plan.plan(resolve(f"SM100_UTCCP_{name}_1cta"), "x")
    assert isinstance(item, Check)
    (launch,) = item.launches()
    desc = struct.unpack_from("<Q", launch.arguments[4].data)[0]
    rows, words = 32 * (max(warps) + 1), 4 if "128bit" in name else 8
    table = operand(desc, launch.arguments[0].data, 32, "K", rows, words, ((0, 0), (6, 1))).astype(np.uint32)
    outcome = item.judge([[np.vstack([table[32 * w :][:32] for w in warps]).tobytes()]])
    assert outcome.agree == outcome.cells == 128 * words
    assert outcome.control


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
    made = job.made
    a, b, e = (x.data for x in launch.arguments[:3])
    selector = launch.arguments[-1].value
    bits, group = made.a.bits, 2 if made.a.bits == 32 else 4
    words = np.frombuffer(e, np.uint32)
    back = {int(p): v for v, p in enumerate(encode(np.arange(kinds), made.a.name).tolist())}
    other = {int(p): v for v, p in enumerate(encode(np.arange(kinds), made.b.name).tolist())}
    first = np.frombuffer(a, UNSIGNED[bits]).reshape(launch.grid[0], 8, 2, 8, -1).transpose(0, 1, 3, 2, 4)
    first = first.reshape(-1, 64, made.held)
    second = np.frombuffer(b, UNSIGNED[bits]).reshape(launch.grid[1], made.n // 8, 4, 8, -1)
    second = second.transpose(0, 1, 3, 2, 4).reshape(-1, made.n, made.k)
    place = np.zeros((64, made.held), int)
    for row, slot in product(range(64), range(made.held)):
        k = slot * 2 // group * group
        thread, nibble = metadata(row, k, bits, selector)
        code = int(words[thread]) >> 4 * nibble & 15
        kept = {4: 0, 14: 1}[code] if group == 2 else (code & 3, code >> 2)[slot % 2]
        place[row, slot] = k + kept
    out = []
    for y, x in product(range(launch.grid[1]), range(launch.grid[0])):
        whole = np.zeros((64, made.k), int)
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
    job: Any = item.job
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


@pytest.mark.parametrize("text", subjects("im2col")[1::2])
def test_pixels_land_as_drawn_where_im2col_steps_through_the_box_of_corners(text):
    obj = read(text).pick()
    (item,) = plan.plan(obj, "x")
    assert isinstance(item, Check)
    outcome = item.judge([[convolved(launch)] for launch in item.launches()])
    assert outcome.agree == outcome.cells
    assert outcome.control


def scaled(tile: Any, words: Any, at: int, first: int, count: int, vector: int) -> Any:
    """A tile times its scale factors: row r's in lane r % 32 and column r / 32 of the address, a byte each from its first on."""
    rows = np.arange(len(tile))
    held = words[rows % 32, (at & 0xFFFF) - first + rows // 32]
    power = [(held >> np.uint32(8 * ((at >> 30) + s)) & np.uint32(255)) for s in range(count)]
    exponents = np.stack([np.isin(x, (128, 0x40)).astype(int) for x in power], axis=1)
    assert np.isin(power, (127, 128, 0x38, 0x40)).all()
    return tile << np.repeat(exponents, vector, axis=1)


def multiplied(obj: Any, launch: Any, vector: int) -> bytes:
    """What tcgen05.mma leaves in tensor memory, a k-block after the other: the layouts of the PTX ISA."""
    a, b, behind, out, told = launch.arguments[:5]
    ctas, types, (m, n, k) = launch.grid[0], obj.mma.atom.types, obj.mma.atom.shape_mnk
    columns, rows = out.size // ctas // 512, m // ctas
    words = np.frombuffer(behind.data, np.uint32).reshape(ctas, 128, -1) if len(behind.data) > 16 else None
    bits = obj.b.first.bits
    numbers = np.zeros(1 << min(bits, 16), int)
    found = element_of(types[0])
    codes = [0, 2, 4, 5] if found is None else [x >> max(0, bits - 16) for x in encode(np.arange(4), found.name).tolist()]
    numbers[codes] = range(4)
    total = np.zeros((m, n), int)
    lane = np.arange(rows) if (rows, ctas) != (64, 1) else np.arange(64) % 16 + np.arange(64) // 16 * 32
    for desc_a, desc_b, idesc, fa, fb, _ in struct.iter_unpack("<QQIIII", told.data):
        tiles = []
        for desc, data, count, first in ((desc_a, a.data, rows, obj.a), (desc_b, b.data, n // ctas, obj.b)):
            for cta in range(ctas):
                mine = data[cta * len(data) // ctas :][: len(data) // ctas]
                if first is None:
                    c = np.arange(k) * bits
                    raw = words[cta][lane][:, (fa & 0xFFFF) - columns + c // 32] >> (c % 32).astype(np.uint32)
                    raw = raw.astype(np.uint64) & np.uint64((1 << bits) - 1)
                else:
                    raw = operand(desc, mine, bits, first.first.major, count, k, ((0, 0), (6, 1), (4, 2), (2, 3)))
                tiles.append(numbers[raw >> np.uint64(max(0, bits - 16))])
        if vector:
            assert (idesc >> 29 & 3, idesc >> 4 & 3) == (fa >> 30, fb >> 30)
            tiles[:ctas] = [scaled(x, words[cta], fa, columns, k // vector, vector) for cta, x in enumerate(tiles[:ctas])]
            whole = scaled(np.vstack(tiles[ctas:]), words[0], fb, columns, k // vector, vector)
            tiles[ctas:] = np.split(whole, ctas)
        total += np.vstack(tiles[:ctas]) @ np.vstack(tiles[ctas:]).T
    memory = np.zeros((ctas, 128, columns), {"int32_t": np.int32, "half_t": np.float16}.get(types[2], np.float32))
    for cta, part in enumerate(np.split(total, ctas)):
        halves = np.split(part, n // columns, axis=1)  # of a pair with 64 rows each: the other half of the columns 64 lanes below
        for half, values in enumerate(halves):
            memory[cta, lane + 64 * half] = values
    return (memory.view(np.uint16).astype(np.uint32) if memory.dtype == np.float16 else memory).tobytes()


@pytest.mark.parametrize("text", subjects("umma")[1::2])
def test_accumulators_stand_at_the_lanes_that_the_ptx_isa_has(text):
    obj = read(text).pick()
    (item,) = plan.plan(obj, "x")
    assert isinstance(item, Check)
    vector = item.job.vector
    outcome = item.judge([[multiplied(obj, launch, vector)] for launch in item.launches()])
    m, n, _ = obj.mma.atom.shape_mnk
    assert outcome.agree == outcome.cells == m * n
    assert outcome.control
