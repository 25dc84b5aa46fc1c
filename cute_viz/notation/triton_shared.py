"""Triton's encodings of shared and tensor memory, for a shape: offsets to coordinates, and back.

Sources: triton/lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp, TritonGPUAttrDefs.td.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from cute_viz.errors import NotationError
from cute_viz.notation.triton_distributed import BLOCK, blocks_of, row_major
from cute_viz.notation.triton_fields import Fields
from cute_viz.notation.triton_linear import Linear, along, bit_count, fitted, identity, nothing, unit
from cute_viz.notation.triton_text import Encoding

OFFSET = "offset"


def shared(encoding: Encoding, shape: Sequence[int], bits: int) -> Linear:
    """The linear layout of an encoding of memory for a shape: offset, in elements, and block to coordinates.

    Raises: NotationError for fields that are missing or do not fit the shape.

    >>> from cute_viz.notation.triton_text import find
    >>> text = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
    >>> shared(find(text)[0].encoding, (2, 4), 16).bases["offset"]
    ((0, 1), (0, 2), (1, 2))
    """
    for extent in shape:
        bit_count(extent)
    return ENCODINGS[encoding.name](Fields(encoding), tuple(shape))


def _fit(tile: Linear, fields: Fields, shape: tuple[int, ...]) -> Linear:
    blocks = blocks_of(fields, len(shape))
    blocks = blocks if len(blocks.sizes) == len(shape) else nothing(len(shape), range(len(shape)))
    return fitted(tile, blocks, shape, OFFSET).ordered(range(len(shape)))


def _swizzled(fields: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    if rank == 1:
        return _fit(identity(OFFSET, shape[0], 0, 1), fields, shape)
    order = fields.order(rank)
    vec, per_phase, max_phase = (fields.power(key) for key in ("vec", "perPhase", "maxPhase"))
    col, row = order[0], order[1]
    bases = [{col: 1 << n} for n in range(bit_count(shape[col]))]
    for n in range(bit_count(shape[row])):
        bases.append({row: 1 << n, col: vec * ((1 << n) // per_phase % max_phase) % shape[col]})
    sizes = tuple(shape[mode] if mode in (row, col) else 1 for mode in range(rank))
    tile = Linear({OFFSET: tuple(tuple(b.get(mode, 0) for mode in range(rank)) for b in bases)}, sizes, tuple(range(rank)))
    for mode in order[2:]:
        tile = tile * identity(OFFSET, shape[mode], mode, rank)
    return _fit(tile, fields, shape)


def _nvmma(fields: Fields, shape: tuple[int, ...]) -> Linear:
    """Boxes as TMA writes them: as wide as the swizzle along the contiguous mode, up to 256 along the others."""
    rank, width, bits = len(shape), fields.number("swizzlingByteWidth"), fields.number("elementBitWidth", None, 1)
    if fields.truth("fp4Padded"):
        raise fields.wrong("fp4Padded gives one element several offsets, so that no layout maps coordinates to offsets")
    if width not in (0, 32, 64, 128):
        raise fields.wrong(f"swizzlingByteWidth must be 0, 32, 64 or 128, not {width}")
    if bits not in (8, 16, 32, 64):
        raise fields.wrong(f"elementBitWidth must be 8, 16, 32 or 64, not {bits}")
    flip = fields.truth("transposed") and rank > 1
    blocks = blocks_of(fields, rank)
    blocks = blocks if len(blocks.sizes) == rank else nothing(rank, range(rank))
    part = [max(1, whole // size) for whole, size in zip(shape, blocks.at_most(shape).sizes, strict=True)]
    contiguous = 0 if flip else rank - 1
    box = [min(extent, 256) for extent in part]
    if width == 0:
        tile = along(OFFSET, box, row_major(rank) if not flip else (0, *row_major(rank)[:-1]))
        return fitted(tile.ordered(range(rank)), blocks, shape, OFFSET).ordered(range(rank))
    if rank == 1:
        raise fields.wrong("a swizzle needs two modes", hint="swizzlingByteWidth = 0 for one")
    cols = 8 * width // bits
    box[contiguous] = min(box[contiguous], cols)
    outer = [mode for mode in row_major(rank) if mode != contiguous]  # the fastest of them first
    rows = prod(box[mode] for mode in outer)
    if box[contiguous] < cols or rows < 8:
        raise fields.wrong(
            f"a swizzle of {width} bytes needs 8 x {cols} elements or more, but there are {rows} x {box[contiguous]}"
        )
    vec, per_phase, max_phase = 128 // bits, 128 // width, width // 16
    bases = [unit(rank, contiguous, 1 << n) for n in range(bit_count(cols))]
    for n in range(bit_count(rows)):
        row = _spread(1 << n, outer, box, rank)
        step = vec * ((1 << n) // per_phase % max_phase) if n < 3 else 0
        bases.append(tuple(x + (step if mode == contiguous else 0) for mode, x in enumerate(row)))
    tile = Linear({OFFSET: tuple(bases)}, tuple(box), tuple(range(rank)))
    return fitted(tile, blocks, shape, OFFSET).ordered(range(rank))


def _spread(index: int, modes: Sequence[int], extents: Sequence[int], rank: int) -> tuple[int, ...]:
    """The coordinate of an index that goes through the modes in turn."""
    out = [0] * rank
    for mode in modes:
        out[mode], index = index % extents[mode], index // extents[mode]
    return tuple(out)


def _padded(fields: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    if "offset" not in fields.encoding.fields:
        return _fit(along(OFFSET, shape, fields.order(rank)).ordered(range(rank)), fields, shape)
    return _of_offsets(fields, shape)


def _of_offsets(fields: Fields, shape: tuple[int, ...]) -> Linear:
    if fields.encoding.fields.get("CGALayout"):
        raise fields.wrong("offset bases beside a cga_layout are not supported", hint="write the encoding as TTGIR prints it")
    bases = {OFFSET: fields.bases("offset", len(shape)), BLOCK: fields.bases("block", len(shape))}
    reached = [max((b[mode] for those in bases.values() for b in those), default=0) for mode in range(len(shape))]
    sizes = tuple(1 << top.bit_length() for top in reached)
    if sizes != shape:
        written = "x".join(map(str, sizes))
        raise fields.wrong(f"the bases reach {written}, but the shape is {'x'.join(map(str, shape))}", hint=f"`shape={written}`")
    return Linear(bases, sizes, tuple(range(len(shape))))


ENCODINGS: dict[str, Callable[[Fields, tuple[int, ...]], Linear]] = {
    "swizzled_shared": _swizzled,
    "nvmma_shared": _nvmma,
    "padded_shared": _padded,
    "shared_linear": _of_offsets,
}


def paddings(encoding: Encoding) -> tuple[tuple[int, int], ...]:
    """For padded_shared, the elements of padding after each interval of elements; none for another encoding.

    >>> from cute_viz.notation.triton_text import find
    >>> paddings(find("#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [64, 64]}>")[0].encoding)
    ((64, 4),)
    """
    if encoding.name != "padded_shared":
        return ()
    fields = Fields(encoding)
    out = fields.bases("intervals", 2)
    for interval, _ in out:
        if interval < 1 or interval & (interval - 1):
            raise NotationError(f"an interval of padded_shared must be a power of two, not {interval}")
    return tuple((interval, padding) for interval, padding in out)


def inverse(linear: Linear) -> tuple[tuple[int, ...], ...]:
    """For each mode the offsets of its bits, the lowest first: coordinates to offsets, the part that chooses a block aside.

    Raises: NotationError for a layout that has several offsets for a coordinate, or none.

    >>> inverse(Linear({"offset": ((0, 1), (0, 2), (1, 2))}, (2, 4), (0, 1)))
    ((6,), (1, 2))
    """
    columns = []  # (bits of the coordinate, the offset that gives them)
    for name in (OFFSET, BLOCK):
        for n, basis in enumerate(linear.bases.get(name, ())):
            value, shift = 0, 0
            for x, size in zip(basis, linear.sizes, strict=True):
                value |= x << shift
                shift += bit_count(size)
            if value or name == OFFSET:
                columns.append((value, 1 << n if name == OFFSET else 0))
    total = sum(map(bit_count, linear.sizes))
    if len(columns) != total:
        raise NotationError(f"{1 << len(columns)} offsets hold {1 << total} elements: no layout gives an element one offset")
    solved: dict[int, tuple[int, int]] = {}  # by highest bit, as reduced so far
    for value, offset in columns:
        for high in sorted(solved, reverse=True):
            if value >> high & 1:
                value, offset = value ^ solved[high][0], offset ^ solved[high][1]
        if not value:
            raise NotationError("two offsets hold the same element, so that no layout gives an element one offset")
        solved[value.bit_length() - 1] = (value, offset)
    out, shift = [], 0
    for size in linear.sizes:
        mine = []
        for n in range(bit_count(size)):
            value, offset = 1 << (shift + n), 0
            for high in sorted(solved, reverse=True):
                if value >> high & 1:
                    value, offset = value ^ solved[high][0], offset ^ solved[high][1]
            mine.append(offset)
        out.append(tuple(mine))
        shift += bit_count(size)
    return tuple(out)


def tensor_memory(encoding: Encoding, shape: Sequence[int]) -> Linear:
    """The linear layout of an encoding of tensor memory: its rows and columns to coordinates.

    Raises: NotationError for fields that are missing or do not fit the shape; CTAs that share a tile.

    >>> from cute_viz.notation.triton_text import find
    >>> text = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>"
    >>> tensor_memory(find(text)[0].encoding, (128, 64)).bases["row"][:2]
    ((1, 0), (2, 0))
    """
    fields = Fields(encoding)
    given = encoding.fields.get("block")
    if isinstance(given, list) and len(given) == 2:
        fields = Fields(encoding._replace(fields={**encoding.fields, "blockM": given[0], "blockN": given[1]}))
    split = [fields.number(key, 1) for key in ("CTASplitM", "CTASplitN")]
    if split != [1, 1] or fields.truth("twoCTAs") or encoding.fields.get("CGALayout") or len(shape) != 2:
        raise fields.wrong("only tensor memory of one CTA and of two modes is supported")
    for extent in shape:
        bit_count(extent)
    rows, cols = fields.power("blockM"), min(fields.power("blockN"), shape[1])
    if rows not in (64, 128):
        raise fields.wrong(f"blockM must be 64 or 128, not {rows}")
    stride = fields.power("colStride", 1)
    column = [(0, 0)] * bit_count(stride) + [(0, 1 << n) for n in range(bit_count(cols))]
    if rows == 128:
        row = [(1 << n, 0) for n in range(7)]
        reached = [128, cols]
    else:
        second = (64, 0) if shape[0] > 64 else (0, cols) if shape[1] > cols else (0, 0)
        row = [(1, 0), (2, 0), (4, 0), (8, 0), second, (16, 0), (32, 0)]
        reached = [128 if second[0] else 64, 2 * cols if second[1] else cols]
    if shape[0] % reached[0] or shape[1] % reached[1]:
        raise fields.wrong(f"blocks of {reached[0]} x {reached[1]} do not make up {shape[0]} x {shape[1]}")
    column += [(reached[0] << n, 0) for n in range(bit_count(shape[0] // reached[0]))]
    column += [(0, reached[1] << n) for n in range(bit_count(shape[1] // reached[1]))]
    return Linear({"row": tuple(row), "col": tuple(column)}, tuple(shape), (0, 1))
