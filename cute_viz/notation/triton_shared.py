"""Triton's encodings of shared and tensor memory, for a shape: offsets to coordinates, and back.

Sources: triton/lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp, TritonGPUAttrDefs.td.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from math import prod
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, domain, is_layout
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import idx2crd, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.stride import plain
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError, NotationError
from cute_viz.limits import limit, over
from cute_viz.notation.triton_distributed import BLOCK, blocks_of, of_bases, rank_of, row_major
from cute_viz.notation.triton_fields import Fields
from cute_viz.notation.triton_linear import Linear, along, bit_count, fitted, identity, unit
from cute_viz.notation.triton_text import Encoding, find

OFFSET, PARTITION = "offset", "partition"  # an offset within a partition, where there are several


def shared(encoding: Encoding, shape: Sequence[int]) -> Linear:
    """The linear layout of an encoding of memory for a shape: offset, in elements, and block to coordinates. Raises:
    NotationError for fields that are missing or do not fit the shape."""
    for extent in shape:
        bit_count(extent)
    return ENCODINGS[encoding.name](Fields(encoding), tuple(shape))


def _parts(fields: Fields, shape: tuple[int, ...]) -> tuple[Linear, tuple[int, ...]]:
    blocks = rank_of(blocks_of(fields, len(shape)), len(shape))
    whole = zip(shape, blocks.at_most(shape).sizes, strict=True)
    return blocks, tuple(max(1, extent // size) for extent, size in whole)


def _fit(tile: Linear, blocks: Linear, shape: tuple[int, ...]) -> Linear:
    return fitted(tile, blocks, shape, OFFSET).ordered(range(len(shape)))


def _swizzled(fields: Fields, shape: tuple[int, ...], rotating: bool = False) -> Linear:
    """Rows whose vectors change places by phase; rotating: each block of phases begins with another one (amd_rotating_shared)."""
    rank, (blocks, part) = len(shape), _parts(fields, shape)
    if rank == 1:
        return _fit(identity(OFFSET, part[0], 0, 1), blocks, shape)
    order = fields.order(rank)
    vec, per_phase, max_phase = (fields.power(key) for key in ("vec", "perPhase", "maxPhase"))
    col, row = order[0], order[1]
    bases = [unit(rank, col, 1 << n) for n in range(bit_count(part[col]))]
    for n in range(bit_count(part[row])):
        phase = (1 << n) // per_phase
        phase = phase % max_phase ^ (phase // max_phase % max_phase if rotating else 0)
        bases.append(tuple({row: 1 << n, col: vec * phase % part[col]}.get(mode, 0) for mode in range(rank)))
    sizes = tuple(part[mode] if mode in (row, col) else 1 for mode in range(rank))
    tile = Linear({OFFSET: tuple(bases)}, sizes, tuple(range(rank)))
    for mode in order[2:]:
        tile = tile * identity(OFFSET, part[mode], mode, rank)
    return _fit(tile, blocks, shape)


def _nvmma(fields: Fields, shape: tuple[int, ...]) -> Linear:
    """Boxes as TMA writes them: as wide as the swizzle along the contiguous mode, up to 256 along the others. With `transposed`
    the first mode is the contiguous one, and the modes are turned as Triton turns them: of three and more, and of boxes without
    a swizzle, that is another order than one would guess."""
    rank, width, bits = len(shape), fields.number("swizzlingByteWidth"), fields.number("elementBitWidth", None, 1)
    flip = fields.truth("transposed") and rank > 1
    if width not in (0, 32, 64, 128):
        raise fields.wrong(f"swizzlingByteWidth must be 0, 32, 64 or 128, not {width}")
    if bits not in (8, 16, 32, 64):
        raise fields.wrong(f"elementBitWidth must be 8, 16, 32 or 64, not {bits}")
    if fields.truth("fp4Padded") and (width, bits) != (128, 8):
        raise fields.wrong("fp4Padded needs swizzlingByteWidth = 128 and elementBitWidth = 8")
    blocks, part = _parts(fields, shape)
    box = [min(extent, 256) for extent in part]
    if width == 0:
        turned = box[1:] + box[:1] if flip else box
        back = [(mode + 1) % rank for mode in range(rank)] if flip else range(rank)
        tile = _renamed(along(OFFSET, turned, row_major(rank)), back)
        return _fit(tile.ordered((rank - 1, *range(rank - 1)) if flip else range(rank)), blocks, shape)
    if rank == 1:
        raise fields.wrong("a swizzle needs two modes", hint="swizzlingByteWidth = 0 for one")
    return _fit(_boxes(fields, box, flip).at_least(part, OFFSET), blocks, shape)


def _boxes(fields: Fields, box: list[int], flip: bool) -> Linear:
    """A box of rows and columns, the rows of all modes but one (the columns, where it is turned), then cut into its modes."""
    rank, width, bits, padded = len(box), *map(fields.number, ("swizzlingByteWidth", "elementBitWidth")), fields.truth("fp4Padded")
    cols, inner = 8 * width // bits, 0 if flip else rank - 1
    if box[inner] * (2 if padded else 1) < cols:
        raise fields.wrong(f"a swizzle of {width} bytes needs {cols} contiguous elements or more, but there are {box[inner]}")
    box[inner] = cols // 2 if padded else cols
    sides = [prod(box[:-1]), box[-1]][:: -1 if flip else 1]
    if sides[0] < 8 or sides[1] * (2 if padded else 1) < cols:
        raise fields.wrong(f"a swizzle of {width} bytes needs 8 x {cols} elements or more, but there are {sides[0]} x {sides[1]}")
    vec, per_phase, max_phase = 128 // bits, 128 // width, width // 16
    steps = [(0, 1 << n) for n in range(bit_count(cols))]
    steps += [(1 << n, vec * ((1 << n) // per_phase % max_phase)) for n in range(3)]
    if padded:  # of each 16 columns the second 8 are padding, which has the elements of the first
        steps = [(row, col // 16 * 8 + col % 8) for row, col in steps]
    tile = Linear({OFFSET: tuple(steps)}, (8, cols // 2 if padded else cols), (0, 1)).at_least(sides, OFFSET)
    turned = box[1:] + box[:1] if flip else box
    cut = tuple(idx2crd(row * sides[1] + col, tuple(turned[::-1]))[::-1] for row, col in tile.bases[OFFSET])
    out = Linear({OFFSET: cut}, tuple(turned), tuple(range(rank)))
    return _renamed(out, [(mode - 1) % rank for mode in range(rank)] if flip else range(rank)).ordered(range(rank))


def _renamed(linear: Linear, modes: Sequence[int]) -> Linear:
    """The same with other modes: the first of the new ones is that of the old ones which `modes` names first."""
    bases = {name: tuple(tuple(basis[mode] for mode in modes) for basis in those) for name, those in linear.bases.items()}
    return Linear(bases, tuple(linear.sizes[mode] for mode in modes), linear.order)


def _partitioned(fields: Fields, shape: tuple[int, ...]) -> Linear:
    """Pieces of a tensor along one mode, dealt out to partitions of memory in turn."""
    inner, dim = fields.encoding.fields.get("partitionLayout"), fields.number("partitionDim")
    partitions, groups = fields.power("numPartitions"), fields.power("numGroups")
    if not isinstance(inner, Encoding) or inner.name not in ENCODINGS or inner.name == "partitioned_shared" or dim >= len(shape):
        raise fields.wrong(
            "partitioned_shared needs a partitionDim that is a mode, and a partitionLayout that is an encoding of memory"
        )
    if shape[dim] < partitions * groups:
        raise fields.wrong(f"{shape[dim]} elements cannot be cut into {partitions * groups} pieces")
    piece = tuple(extent // (partitions * groups) if mode == dim else extent for mode, extent in enumerate(shape))
    tile = ENCODINGS[inner.name](Fields(inner), piece)
    if tile.bases.get(BLOCK):
        raise fields.wrong("a partitionLayout that several CTAs share is not supported")
    return tile * identity(PARTITION, partitions, dim, len(shape)) * identity(OFFSET, groups, dim, len(shape))


def _padded(fields: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    own = fields.numbers("shape", default=())
    if own and own != shape:
        raise fields.wrong(f"the encoding is for a shape of {'x'.join(map(str, own))}, not {'x'.join(map(str, shape))}")
    if "offset" not in fields.encoding.fields:
        blocks, part = _parts(fields, shape)
        return _fit(along(OFFSET, part, fields.order(rank)).ordered(range(rank)), blocks, shape)
    return _of_offsets(fields, shape)


def _of_offsets(fields: Fields, shape: tuple[int, ...]) -> Linear:
    if fields.encoding.fields.get("CGALayout"):
        raise fields.wrong("offset bases beside a cga_layout are not supported", hint="write the encoding as TTGIR prints it")
    bases = {OFFSET: fields.bases("offset", len(shape)), BLOCK: fields.bases("block", len(shape))}
    out = of_bases(bases, fields, shape)
    if out.sizes != shape:
        written = "x".join(map(str, out.sizes))
        raise fields.wrong(f"the bases reach {written}, but the shape is {'x'.join(map(str, shape))}", hint=f"`shape={written}`")
    return out


ENCODINGS: dict[str, Callable[[Fields, tuple[int, ...]], Linear]] = {
    "swizzled_shared": _swizzled,
    "amd_rotating_shared": partial(_swizzled, rotating=True),
    "nvmma_shared": _nvmma,
    "padded_shared": _padded,
    "partitioned_shared": _partitioned,
    "shared_linear": _of_offsets,
}


def paddings(encoding: Encoding) -> tuple[tuple[int, int], ...]:
    """For padded_shared, the elements of padding after each interval of elements; none for another encoding."""
    inner = encoding.fields.get("partitionLayout")
    if encoding.name == "partitioned_shared" and isinstance(inner, Encoding):
        encoding = inner
    if encoding.name != "padded_shared":
        return ()
    fields = Fields(encoding)
    out = fields.bases("intervals", 2)
    for interval, _ in out:
        if interval < 1 or interval & (interval - 1):
            raise NotationError(f"an interval of padded_shared must be a power of two, not {interval}")
    return tuple((interval, padding) for interval, padding in out)


def inverse(linear: Linear) -> tuple[tuple[int, ...], ...]:
    """For each mode the offsets of its bits, the lowest first: coordinates to offsets, what chooses a block or a partition
    aside. Raises: NotationError for a layout that has several offsets for a coordinate, or none."""
    columns = []  # (bits of the coordinate, the offset that gives them)
    for name in (OFFSET, PARTITION, BLOCK):
        for n, basis in enumerate(linear.bases.get(name, ())):
            value, shift = 0, 0
            for x, extent in zip(basis, linear.sizes, strict=True):
                value |= x << shift
                shift += bit_count(extent)
            if value or name == OFFSET:
                columns.append((value, 1 << n if name == OFFSET else 0))
    total = sum(map(bit_count, linear.sizes))
    if len(columns) != total:
        raise NotationError(f"{1 << len(columns)} offsets hold {1 << total} elements: no layout gives an element one offset")
    solved: dict[int, tuple[int, int]] = {}  # by highest bit, as reduced so far

    def reduced(value: int, offset: int) -> tuple[int, int]:
        for high in sorted(solved, reverse=True):
            if value >> high & 1:
                value, offset = value ^ solved[high][0], offset ^ solved[high][1]
        return value, offset

    for column in columns:
        value, offset = reduced(*column)
        if not value:
            raise NotationError("two offsets hold the same element, so that no layout gives an element one offset")
        solved[value.bit_length() - 1] = (value, offset)
    bits = iter([reduced(1 << n, 0)[1] for n in range(total)])
    return tuple(tuple(islice(bits, bit_count(size))) for size in linear.sizes)


def tensor_memory(encoding: Encoding, shape: Sequence[int]) -> Linear:
    """The linear layout of an encoding of tensor memory: its rows and columns to coordinates. Of several CTAs, `block` chooses
    the one. Raises: NotationError for fields that are missing or do not fit the shape."""
    fields = Fields(encoding)
    given = encoding.fields.get("block")
    if isinstance(given, list) and len(given) == 2:
        fields = Fields(encoding._replace(fields={**encoding.fields, "blockM": given[0], "blockN": given[1]}))
    split = [fields.number(key, 1) for key in ("CTASplitM", "CTASplitN")]
    if split != [1, 1] or len(shape) != 2:
        raise fields.wrong("tensor memory has two modes, and of how CTAs share it only CGALayout is read")
    for extent in shape:
        bit_count(extent)
    blocks, shape = _parts(fields, tuple(shape))
    if fields.truth("twoCTAs") and blocks.bases.get(BLOCK, ())[:1] != ((1, 0),):
        raise fields.wrong("twoCTAs needs a CGALayout whose first basis is [1, 0]")
    rows, cols = fields.power("blockM"), min(fields.power("blockN"), shape[1])
    if rows not in (64, 128):
        raise fields.wrong(f"blockM must be 64 or 128, not {rows}")
    stride, halves = fields.power("colStride", 1), rows == 64 and fields.truth("twoCTAs")
    column = [(0, 0)] * bit_count(stride) + [(0, 1 << n) for n in range(bit_count(cols) - (1 if halves else 0))]
    if rows == 128:
        row = [(1 << n, 0) for n in range(7)]
        reached = [128, cols]
    elif halves:  # the upper rows hold the other half of the columns
        row = [*((1 << n, 0) for n in range(6)), (0, cols // 2)]
        reached = [64, cols]
    else:
        second = (64, 0) if shape[0] > 64 else (0, cols) if shape[1] > cols else (0, 0)
        row = [(1, 0), (2, 0), (4, 0), (8, 0), second, (16, 0), (32, 0)]
        reached = [128 if second[0] else 64, 2 * cols if second[1] else cols]
    if shape[0] % reached[0] or shape[1] % reached[1]:
        raise fields.wrong(f"blocks of {reached[0]} x {reached[1]} do not make up {shape[0]} x {shape[1]}")
    column += [(reached[0] << n, 0) for n in range(bit_count(shape[0] // reached[0]))]
    column += [(0, reached[1] << n) for n in range(bit_count(shape[1] // reached[1]))]
    return Linear({"row": tuple(row), "col": tuple(column)}, shape, (0, 1)) * blocks


def write_triton(value: object, shape: Sequence[int] = (), wave: int = 32) -> str:
    """A layout as an encoding of Triton. With a shape, a thread-value layout of a tensor of that shape: #ttg.linear, of waves of
    so many threads. Without one, a layout of memory: #ttg.swizzled_shared where that can say it, else #ttg.shared_linear.
    Raises: CuteVizError for any other layout, and for one that is not linear over bits."""
    if not is_layout(value):
        what = show(value).strip().splitlines()[0]
        raise CuteVizError(f"Triton cannot express {what}", hint="a layout of memory, or with `shape=` one of threads and values")
    return _registers(value, tuple(shape), wave) if shape else _memory(value)


def _registers(value: Layout | ComposedLayout, shape: tuple[int, ...], wave: int) -> str:
    if isinstance(value, ComposedLayout) or len(modes(value.shape)) not in (2, 3):
        raise CuteVizError(f"{show(value)} is not a layout of (thread, value)", hint="leave out `shape=` for a layout of memory")
    names = ("thread", "register", "block")
    bits = {name: _bits(get(value, n), shape) for n, name in enumerate(names[: len(modes(value.shape))])}
    lanes = bit_count(wave)
    thread, block = bits["thread"], bits.get("block", [])
    parts = {"register": bits["register"], "lane": thread[:lanes], "warp": thread[lanes:], "block": block}
    return f"#ttg.linear<{{{', '.join(f'{name} = {_list(those)}' for name, those in parts.items())}}}>"


def _bits(layout: object, shape: Sequence[int]) -> list[list[int]]:
    """The coordinate that each bit of a mode adds."""
    values = _table(layout)
    steps = [values[1 << n] for n in range(bit_count(len(values)))]
    if any(step >= prod(shape) for step in steps):
        raise CuteVizError(f"{show(layout)} reaches past {'x'.join(map(str, shape))}")
    return [list(idx2crd(step, tuple(shape))) for step in steps]


def _table(layout: Any) -> list[int]:
    """The values of a layout, found to be linear over bits."""
    if size(layout) > limit("accesses"):
        raise over("accesses", f"the layout has {size(layout)} elements")
    for extent in leaves(domain(layout).shape):
        bit_count(int(extent))
    values = [plain(x) for x in offsets(layout)]
    if not all(isinstance(x, int) and x >= 0 for x in values):
        raise CuteVizError(f"{show(layout)} has values that are not offsets of 0 or more")
    for n, value in enumerate(values):
        low = n & -n
        if n and value != values[low] ^ values[n ^ low]:
            raise CuteVizError(f"{show(layout)} is not linear over bits; except for padded ones, Triton's layouts are")
    return values


def _memory(value: Layout | ComposedLayout) -> str:
    inner = domain(value)
    shape = tuple(int(product(mode)) for mode in modes(inner.shape))
    values = _table(value)
    columns, at = [], 0
    for extent in shape:
        columns.append(tuple(values[1 << (at + n)] for n in range(bit_count(extent))))
        at += bit_count(extent)
    back = Linear({"offset": tuple((x,) for mode in columns for x in mode)}, (1 << at,), (0,))
    bases = [list(idx2crd(coordinate, shape)) for coordinate in inverse(back)[0]]  # of the bits of an offset
    return _as_swizzled(value, shape, bases) or f"#ttg.shared_linear<{{offset = {_list(bases)}}}, alignment = 16>"


def _as_swizzled(value: Layout | ComposedLayout, shape: tuple[int, ...], bases: list[list[int]]) -> str:
    """The encoding #ttg.swizzled_shared with these bases, if there is one."""
    if len(shape) < 2:
        return ""
    order = list(
        dict.fromkeys(mode for basis in bases for mode, x in enumerate(basis) if x and not any(basis[:mode] + basis[mode + 1 :]))
    )
    order += [mode for mode in range(len(shape)) if mode not in order]
    swizzle = value.outer if isinstance(value, ComposedLayout) else Swizzle(0, 0, 0)
    if not isinstance(swizzle, Swizzle):
        return ""
    vec = 1 << swizzle.base if swizzle.bits else 1
    per_phase = (1 << swizzle.base + swizzle.shift) // shape[order[0]] if swizzle.bits else 1
    fields = f"vec = {vec}, perPhase = {max(1, per_phase)}, maxPhase = {1 << swizzle.bits}, order = {order}"
    text = f"#ttg.swizzled_shared<{{{fields}}}>"
    said = [list(basis) for basis in shared(find(text)[0].encoding, shape).bases["offset"]]
    return text if said == bases else ""


def _list(bases: Sequence[Sequence[int]]) -> str:
    return str([list(basis) for basis in bases])
