"""Accesses that have a name: which bytes of a tile each lane of a warp moves, in a plain tile and where a layout puts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cute_viz.algebra.composed import AnyLayout, position_independent
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import WarpAccess, extents_of
from cute_viz.analysis.banks import LANES, WORD, SharedMemory
from cute_viz.errors import AlgebraError, did_you_mean
from cute_viz.records import pattern

PATTERNS = {
    "ldmatrix": "16x16-byte-row reads of ldmatrix.x4, as an MMA's A operand",
    "ldmatrix.x2": "8-row reads of two matrices, as an MMA's B operand",
    "ldmatrix.x1": "8-row reads of one matrix",
    "stmatrix": "16x16-byte-row writes of stmatrix.x4",
    "cp.async": "16 bytes per lane along the rows, as cp.async, TMA and st.128 write",
    "rows": "one element per lane along a row",
    "column": "one element per lane down a column",
    "column.128": "16 bytes per lane down a column",
}
# Of a wave of 64 lanes: those of PATTERNS that are no instruction of a warp alone, and the operand of a matrix instruction.
OF_WAVES = {
    **{name: PATTERNS[name] for name in ("rows", "column", "column.128")},
    "ds_read": "16 bytes per lane of 16 rows by 4, as ds_read_b128 of a matrix instruction's operand",
    "ds_write": "16 bytes per lane along the rows, as ds_write_b128",
}
# What else a warp's access may be called, for lists.
FURTHER = {
    "ld.128": "16 bytes per lane down the rows, then across; also st, cp.async, and 8 to 64 bits",
    "wgmma": "8 rows of 16 bytes, a core matrix; also tcgen05",
    "tma": "4 rows of a box of 128 bytes",
}
WIDTHS = (8, 16, 32, 64, 128)  # bits of an element that one lane loads or stores at once
MATRICES = {"ldmatrix": (16, 2), "stmatrix": (16, 2), "ldmatrix.x2": (8, 2), "ldmatrix.x1": (8, 1)}
MATRICES |= {name.replace("ld", "st"): MATRICES[name] for name in ("ldmatrix.x2", "ldmatrix.x1")}  # rows, chunks at once
# What accesses shared memory without lanes, rows and chunks of 16 bytes at once: a core matrix, four rows of a box of 128 bytes.
UNITS = {"wgmma": (8, 1), "tcgen05": (8, 1), "tma": (4, 8)}
_PTX_SHARED = pattern(r"(ld|st)(?:\.volatile)?\.shared(?:::cta)?(?:\.v([24]))?\.[busf]?(8|16|32|64|128)")
_PTX_MATRIX = pattern(r"(ld|st)matrix(?:\.sync)?(?:\.aligned)?(?:\.m8n8)?(\.x[124])?(\.trans)?(?:\.shared(?:::cta)?)?(?:\.b16)?")
_SASS_SHARED = pattern(r"(LD|ST)S(?:\.U)?(?:\.[US]?(8|16|64|128))?")
_SASS_MATRIX = pattern(r"(LD|ST)SM(?:\.16)?\.M(T?)88(?:\.([24]))?")
_PLAIN = pattern(
    r"(?:ld|st)\.(?:8|16|32|64|128)|cp\.async\.(?:32|64|128)"
)  # an instruction: so many bits a lane, down the rows, then across


def width(name: str, bits: int) -> int:
    """The bytes that one lane of a pattern, or of an instruction, moves."""
    name = plain_name(name)
    plain = _PLAIN.fullmatch(name) is not None
    return int(name.rpartition(".")[2]) // 8 if plain else bits // 8 if name in ("rows", "column") else 16


def instruction_of(words: str) -> str:
    """The name of the instruction that PTX or SASS calls by `words`; other words as they are. (PTX ISA, 9.7.9 and 9.7.15.)"""
    if found := _PTX_SHARED.fullmatch(words):
        return f"{found[1]}.{int(found[2] or 1) * int(found[3])}"
    if found := _PTX_MATRIX.fullmatch(words):
        return f"{found[1]}matrix{found[2] or ''}{found[3] or ''}"
    if found := _SASS_SHARED.fullmatch(words):
        return f"{found[1].lower()}.{found[2] or 32}"
    if found := _SASS_MATRIX.fullmatch(words):
        return f"{found[1].lower()}matrix.x{found[3] or 1}{'.trans' if found[2] else ''}"
    return "cp.async" if words.startswith(("cp.async.cg", "LDGSTS.E.BYPASS.128")) else words


def plain_name(words: str) -> str:
    """The name of an access without what changes no address: `.x4`, which ldmatrix alone is, and `.trans`."""
    words = instruction_of(words)
    plain = words.removesuffix(".trans").removesuffix(".x4")
    return plain if plain in MATRICES else words


def is_named(words: str) -> bool:
    """Whether words name a pattern, an instruction or one of UNITS."""
    plain = plain_name(words)
    return plain in PATTERNS or plain in OF_WAVES or plain in MATRICES or plain in UNITS or _PLAIN.fullmatch(plain) is not None


def warp_addresses(name: str, rows: int, cols: int, bits: int, memory: SharedMemory | None = None) -> Iterator[list[int]]:
    """The byte addresses of every warp-wide access of a pattern, an instruction or one of UNITS to the plain row-major tile.
    Raises: AlgebraError for an unknown pattern; rows that are not whole 16-byte chunks where the pattern moves these; a tile
    that the rows and chunks of an ldmatrix or stmatrix do not divide, but for one of 8 rows or of one chunk, of which half an
    instruction is left."""
    known, lanes = (PATTERNS, LANES) if memory is None else (OF_WAVES, memory.lanes)
    if name not in known and (memory is not None or name in OF_WAVES or not is_named(name)):
        whole = name.removesuffix(".x4")  # ldmatrix alone is of four matrices
        near = f"did you mean {whole}?" if whole in known else did_you_mean(name, known, 1)
        near = "of waves of 64 lanes: `arch=gfx942`" if name in OF_WAVES else near
        raise AlgebraError(f"there is no access {name!r}", hint=near or f"one of {', '.join(known)}")
    name = plain_name(name)
    pitch, wide = cols * bits // 8, width(name, bits)
    chunks = pitch // wide
    if pitch % wide:
        raise AlgebraError(f"rows of {pitch} bytes are not whole {wide}-byte chunks, which {name} moves")
    if name in ("rows", "cp.async", "ds_write"):  # one behind another; a warp's go on in the next row but for `rows`
        line = chunks if name == "rows" else rows * chunks
        every = range(0, rows * chunks, line)
        return ([k * wide for k in range(n, min(n + lanes, at + line))] for at in every for n in range(at, at + line, lanes))
    if name in ("column", "column.128"):
        return (
            [r * pitch + k * wide for r in range(n, min(n + lanes, rows))] for k in range(chunks) for n in range(0, rows, lanes)
        )
    if _PLAIN.fullmatch(name):
        down = min(rows, lanes)
        across = max(1, lanes // down)
    else:
        down, across = UNITS[name] if name in UNITS else (min(16, rows), 4) if name == "ds_read" else MATRICES[name]
        # 8 rows are twice as many chunks, or half an instruction, which costs half: a phase is 8 rows of one chunk either way.
        if (rows, down) == (8, 16):
            down, across = 8, 2 * across if chunks % (2 * across) == 0 else across
        across = min(across, chunks)
    if rows % down or chunks % across:
        words = f"{down} rows of {across * wide} bytes at once, which do not divide the tile of {rows} rows of {pitch} bytes"
        hint = f"rows: a multiple of {down}; columns: a multiple of {across * wide * 8 // bits}"
        raise AlgebraError(f"{name} {'reads' if name == 'ds_read' else 'moves'} {words}", hint=hint)
    order = (
        [(i, j) for i in range(down) for j in range(across)]
        if name == "tma"
        else [(i, j) for j in range(across) for i in range(down)]
    )
    return ([(r + i) * pitch + (k + j) * wide for i, j in order] for r in range(0, rows, down) for k in range(0, chunks, across))


class Bytes(NamedTuple):
    """A tile as rows: its extents, turned where the contiguous mode is the first, and the byte of each element, row by row."""

    rows: int
    cols: int
    turned: bool
    places: list[int]


def bytes_of(tile: AnyLayout, name: str, bits: int) -> Bytes:
    """The rows of a tile that an access moves along: its own for `rows` and `column`, else those that are contiguous. Raises:
    AlgebraError for anything but a tile of two modes of whole bytes, at offsets of 0 and more."""
    m, n = extents_of(tile)
    if bits % 8 or bits > 128:
        raise AlgebraError(f"{bits} bits are not an element of 1 to 16 whole bytes", hint="recast the layout to bytes first")
    table = offsets(position_independent(tile))
    if not all(isinstance(offset, int) and offset >= 0 for offset in table):
        raise AlgebraError("the offsets of this layout are not offsets in shared memory", hint="example: (8,64):(64,1)")
    beside = [abs(table[step] - table[0]) == 1 if extent > 1 else False for step, extent in ((1, m), (m, n))]
    if beside == [True, False] and name not in ("rows", "column"):
        return Bytes(n, m, True, [offset * bits // 8 for offset in table])
    return Bytes(m, n, False, [table[r + c * m] * bits // 8 for r in range(m) for c in range(n)])


def usual_bits(name: str) -> int | None:
    """The width of the elements that an access by name usually has: 16 where it moves 16 bytes a lane; None for another."""
    return 16 if "matrix" in name or name in UNITS or name.startswith("cp") else None


def named_accesses(
    tile: AnyLayout, name: str, bits: int, store: bool = False, memory: SharedMemory | None = None
) -> list[WarpAccess]:
    """The accesses of a tile by name, where its layout puts the bytes. memory: of a machine with waves of its own.
    Raises: AlgebraError where the layout tears apart the bytes that a lane moves at once; else as `warp_addresses`, `bytes_of`."""
    name, plain = instruction_of(name), plain_name(name)
    rows, cols, _, places = bytes_of(tile, plain, bits)
    size, wide = bits // 8, max(width(plain, bits), bits // 8)
    out = []
    for step, warp in enumerate(warp_addresses(plain, rows, cols, bits, memory)):
        begins = [places[address // size] for address in warp]
        for address, begin in zip(warp, begins, strict=True):
            at = address // size
            if any(byte != begin + n * size for n, byte in enumerate(places[at : at + wide // size])):
                raise AlgebraError(
                    f"{name} moves {wide} bytes at once, and those at ({at // cols},{at % cols}) are not contiguous",
                    hint="an access of single elements: rows, column",
                )
        count, written = len(begins), store or plain.startswith(("st", "cp", "ds_write"))
        if memory is not None:
            instruction = memory.access(8 * max(WORD, wide), written)
        elif plain in MATRICES or plain in UNITS:
            op = "ldmatrix" if plain in UNITS else plain.partition(".")[0]
            instruction = f"{op}.x{count // 8}{'.trans' * name.endswith('.trans')}"
        else:
            instruction = f"{'st' if written else 'ld'}.{8 * max(WORD, wide)}"
        unit = max(WORD, wide)
        padded = (*begins, *[begins[0]] * ((LANES if memory is None else memory.lanes) - count))
        addresses = tuple([begin // unit * unit for begin in padded]) if wide < WORD else padded
        out.append(WarpAccess(0, step, instruction, addresses, (1 << count) - 1, padded, wide, memory))
    return out
