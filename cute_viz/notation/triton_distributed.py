"""Triton's encodings of tensors in registers, for a shape: register, lane, warp and block to coordinates.

The rules are those of triton/lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp; what that asserts is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cute_viz.errors import NotationError
from cute_viz.notation.triton_fields import Fields
from cute_viz.notation.triton_linear import Linear, along, bit_count, fitted, identity, nothing, repeat, unit
from cute_viz.notation.triton_text import Encoding

REGISTER, LANE, WARP, BLOCK = "register", "lane", "warp", "block"
_MOST_MODES = 8  # of a tensor


def distributed(encoding: Encoding, shape: Sequence[int]) -> Linear:
    """The linear layout of an encoding of registers for a shape. Raises: NotationError for fields that are missing or do not fit
    the shape; encodings that are not of registers."""
    for extent in shape:
        bit_count(extent)
    return ENCODINGS[encoding.name](encoding, tuple(shape))


def row_major(rank: int, yes: bool = True) -> tuple[int, ...]:
    """The modes, the fastest first: of a matrix the last one, then the one before, then those of the batch."""
    order = list(range(rank))[::-1]
    if not yes and rank > 1:
        order[0], order[1] = order[1], order[0]
    return tuple(order)


def blocks_of(fields: Fields, rank: int) -> Linear:
    """How the CTAs of a cluster share a shape: `CGALayout` as bases, or as older versions print it, by extents."""
    given = fields.encoding.fields
    if "CTAsPerCGA" in given or "CTASplitNum" in given:
        ctas, split = fields.powers("CTAsPerCGA", rank), fields.powers("CTASplitNum", rank)
        out = nothing(rank)
        for mode in fields.numbers("CTAOrder", rank, row_major(rank)):
            if mode >= rank or ctas[mode] % split[mode]:
                raise fields.wrong("CTASplitNum must divide CTAsPerCGA, and CTAOrder must name the modes")
            out = out * identity(BLOCK, split[mode], mode, rank) * repeat(BLOCK, ctas[mode] // split[mode], mode, rank)
        return out.ordered(range(rank))
    return of_bases({BLOCK: fields.bases("CGALayout", rank)}, fields)


def of_bases(bases: dict[str, tuple[tuple[int, ...], ...]], fields: Fields, shape: Sequence[int] = ()) -> Linear:
    """The linear layout of bases, which reaches as far as they do."""
    rank = len(shape) or len(next((basis for those in bases.values() for basis in those), ()))
    rank = rank or fields.number("rank", 0) or len(fields.numbers("order", default=())) or 2
    if rank > _MOST_MODES:
        raise fields.wrong(f"{fields.encoding.name} of {rank} modes; {_MOST_MODES} are supported")
    reached = [max((b[mode] for those in bases.values() for b in those), default=0) for mode in range(rank)]
    return Linear(bases, tuple(1 << top.bit_length() for top in reached), tuple(range(rank)))


def rank_of(linear: Linear, rank: int) -> Linear:
    """A layout of so many modes; that of one element for one of another rank."""
    return linear if len(linear.sizes) == rank else nothing(rank, range(rank))


def _fit(tile: Linear, fields: Fields, shape: Sequence[int]) -> Linear:
    return fitted(tile, rank_of(blocks_of(fields, len(shape)), len(shape)), shape, REGISTER).ordered(range(len(shape)))


def _blocked(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields, rank = Fields(encoding), len(shape)
    order = fields.order(rank)
    tile = along(REGISTER, fields.powers("sizePerThread", rank), order)
    tile = tile * along(LANE, fields.powers("threadsPerWarp", rank), order)
    out = _fit(tile * along(WARP, fields.powers("warpsPerCTA", rank), order), fields, shape)
    held = tuple(basis for basis in out.bases.get(REGISTER, ()) if any(basis))  # a thread has no element twice
    return Linear({**out.bases, REGISTER: held}, out.sizes, out.order)


def _mma_tile(tile: Sequence[int], width: int, order: Sequence[int], extended: Sequence[int]) -> Linear:
    """`width` registers and 4 lanes along the inner mode, 8 lanes along the outer, registers for what is left (nvidiaMmaTile)."""
    rank, inner, outer = len(tile), order[0], order[1]
    if tile[outer] % 8 or tile[inner] % (4 * width):
        raise NotationError(f"an instruction of {tile[outer]} x {tile[inner]} has no rows of 4 lanes by {width} values")
    out = nothing(rank, extended) * identity(REGISTER, width, inner, rank) * identity(LANE, 4, inner, rank)
    out = out * identity(LANE, 8, outer, rank) * identity(REGISTER, tile[outer] // 8, outer, rank)
    return out * identity(REGISTER, tile[inner] // (4 * width), inner, rank)


def _version(fields: Fields) -> int:
    given = fields.encoding.fields.get("version")
    major = given[0] if isinstance(given, list) and given else fields.number("versionMajor")
    if major not in (2, 3):
        raise fields.wrong(f"nvidia_mma of version {major} has no linear layout", hint="versions 2 (Ampere) and 3 (Hopper) have")
    return int(major)


def _nvidia_mma(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields, rank = Fields(encoding), len(shape)
    version = _version(fields)
    instruction = fields.powers("instrShape", rank) if version == 2 else fields.numbers("instrShape")[:2]
    if rank < 2 or len(instruction) != rank:
        raise fields.wrong(
            f"nvidia_mma of version {version} with an instrShape of {len(instruction)} numbers does not fit {rank} modes"
        )
    tile = _mma_tile(instruction, 2, row_major(rank), row_major(rank))
    tile = tile * along(WARP, fields.powers("warpsPerCTA", rank), row_major(rank, version == 2))
    return _fit(tile, fields, shape)


def _matrix(fields: Fields, shape: tuple[int, ...]) -> tuple[int, int, int]:
    rank = len(shape)
    if rank not in (2, 3):
        raise fields.wrong(f"{fields.encoding.name} needs a shape of 2 or 3 modes, not {rank}")
    return rank, rank - 2, rank - 1


def _amd_mfma(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields = Fields(encoding)
    rank, m, n = _matrix(fields, shape)
    instruction = fields.powers("instrShape", least=2)
    rows, cols = instruction[0], instruction[1]
    height = 1 if fields.number("elementBitWidth", 32) == 64 else 4
    down, right = (n, m) if fields.truth("isTransposed") else (m, n)  # along which the registers, the lanes of a row, go
    lanes = rows if fields.truth("isTransposed") else cols
    tile = nothing(rank, (n, m)) * identity(REGISTER, height, down, rank)
    tile = tile * identity(LANE, lanes, right, rank) * identity(LANE, 64 // lanes, down, rank)
    if tiles := rows * cols // (64 * height):
        tile = tile * identity(REGISTER, tiles, down, rank)
    tile = tile.ordered((n, m))
    per_warp, warps = fields.powers("tilesPerWarp", rank, (1,) * rank), fields.powers("warpsPerCTA", rank)
    tile = tile * identity(REGISTER, per_warp[n], n, rank) * identity(WARP, warps[n], n, rank)
    if rest := shape[n] // (cols * warps[n] * per_warp[n]):
        tile = tile * identity(REGISTER, rest, n, rank)
    tile = tile * identity(REGISTER, per_warp[m], m, rank) * identity(WARP, warps[m], m, rank)
    if rank == 3:
        tile = tile * identity(WARP, warps[0], 0, rank)
    return _fit(tile, fields, shape)


def _amd_wmma(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields = Fields(encoding)
    rank, m, n = _matrix(fields, shape)
    instruction = fields.powers("instrShape", 0, (16, 16, 16), least=2)
    across, down = (m, n) if fields.truth("isTranspose") else (n, m)
    steps: tuple[int, ...]
    steps, gap = ((2, 4, 8), 1) if _wmma_version(fields) == 1 else ((1, 2, 4), 8)
    if _wmma_version(fields) > 1 and instruction[:2] == (32, 16):
        steps = (*steps, 16)
    registers = tuple(unit(rank, down, step) for step in steps)
    lanes = (*(unit(rank, across, step) for step in (1, 2, 4, 8)), unit(rank, down, gap))
    sizes = tuple({across: 16, down: 2 * max(*steps, gap)}.get(mode, 1) for mode in range(rank))
    tile = Linear({REGISTER: registers, LANE: lanes}, sizes, tuple(range(rank)))
    return _fit((tile * rank_of(_warps_of_wmma(fields, rank), rank)).ordered(row_major(rank)), fields, shape)


def _wmma_version(fields: Fields) -> int:
    version = fields.number("version")
    if version not in (1, 2, 3):
        raise fields.wrong(f"amd_wmma of version {version} is not supported", hint="versions 1, 2 and 3 are")
    return version


def _warps_of_wmma(fields: Fields, rank: int) -> Linear:
    """The warps and the tiles of each, in units of tiles: `ctaLayout` as bases, or as older versions print it, by extents."""
    given = fields.encoding.fields
    if "warpsPerCTA" in given:
        warps, tiles = fields.powers("warpsPerCTA", rank), fields.powers("tilesPerWarp", rank, (1,) * rank)
        out = nothing(rank)
        for mode in row_major(rank):
            out = out * identity(REGISTER, tiles[mode], mode, rank) * identity(WARP, warps[mode], mode, rank)
        return out
    bases = given.get("ctaLayout", given)
    if not isinstance(bases, dict):
        raise fields.wrong("ctaLayout of amd_wmma must be bases", hint="example: ctaLayout = {warp = [[1, 0], [2, 0]]}")
    cta = Fields(fields.encoding._replace(fields=bases))
    return of_bases({key: cta.bases(key, rank) for key in (REGISTER, WARP)}, cta)


def _dot_op(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields = Fields(encoding)
    parent = encoding.fields.get("parent")
    if not isinstance(parent, Encoding) or parent.name not in _DOTS:
        known = ", ".join(_DOTS)
        raise fields.wrong("the parent of dot_op must be an encoding of a matrix product", hint=f"one of {known}")
    if fields.number("opIdx") > 1 or len(shape) not in (2, 3):
        raise fields.wrong("opIdx of dot_op must be 0 or 1, and the shape must have 2 or 3 modes")
    return _DOTS[parent.name](fields, Fields(parent), shape)


def _of_k(fields: Fields, rank: int) -> tuple[bool, int, int]:
    first = fields.number("opIdx") == 0
    return first, (rank - 1 if first else rank - 2), (rank - 2 if first else rank - 1)


def _dot_of_blocked(fields: Fields, parent: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    _, k, _ = _of_k(fields, rank)
    order = parent.order(rank)
    sizes = list(parent.powers("sizePerThread", rank))
    sizes[k] = shape[k]
    tile = along(REGISTER, sizes, order) * along(LANE, parent.powers("threadsPerWarp", rank), order, skip=k)
    return _fit_dot(tile * along(WARP, parent.powers("warpsPerCTA", rank), order, skip=k), parent, shape, k)


def _dot_of_nvidia(fields: Fields, parent: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    first, k, other = _of_k(fields, rank)
    width, version = fields.power("kWidth"), _version(parent)
    if not first and version == 3:
        raise fields.wrong("Hopper's instruction reads B from shared memory", hint="opIdx = 0, or a parent of versionMajor = 2")
    rows = parent.numbers("instrShape", least=rank)[rank - 2 if version == 2 else 0]
    tile = [1] * rank
    tile[other], tile[k] = rows if first else 8, (4 if rows == 8 else 8) * width
    order = row_major(rank, first)
    out = _mma_tile(tile, width, order, order)
    out = out * along(WARP, parent.powers("warpsPerCTA", rank), row_major(rank, version == 2), skip=k)
    return _fit_dot(out, parent, shape, k)


def _dot_of_mfma(fields: Fields, parent: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    first, k, other = _of_k(fields, rank)
    width, instruction = fields.power("kWidth"), parent.powers("instrShape", least=2)
    lanes = instruction[0] if first else instruction[1]
    order = row_major(rank, first)
    tile = nothing(rank, order) * identity(REGISTER, width, k, rank)
    tile = tile * identity(LANE, lanes, other, rank) * identity(LANE, 64 // lanes, k, rank)
    if (instruction[0], instruction[1], first) in ((64, 4, True), (4, 64, False)):
        tile = tile * identity(REGISTER, 16, k, rank)
    if shape[k] > tile.sizes[k]:
        tile = tile * identity(REGISTER, shape[k] // tile.sizes[k], k, rank)
    tile = tile * identity(REGISTER, parent.powers("tilesPerWarp", rank, (1,) * rank)[other], other, rank)
    warps = parent.powers("warpsPerCTA", rank)
    return _fit(tile * along(WARP, warps, row_major(rank)), parent, shape)


_WIDTHS = {1: (8, 16), 2: (4, 8, 16)}  # kWidth that Triton's verifier takes, by version of amd_wmma


def _dot_of_wmma(fields: Fields, parent: Fields, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    first, k, other = _of_k(fields, rank)
    width, instruction, version = fields.power("kWidth"), parent.powers("instrShape", 0, (16, 16, 16), 3), _wmma_version(parent)
    if width not in _WIDTHS.get(version, (width,)):
        known = ", ".join(map(str, _WIDTHS[version]))
        raise fields.wrong(f"kWidth of a dot_op of amd_wmma of version {version} must be one of {known}, not {width}")
    tile = identity(REGISTER, width, k, rank) * identity(LANE, 16, other, rank)
    tile = tile * (repeat if version == 1 else identity)(LANE, 2, k, rank)
    if (times := instruction[2] // (2 * width)) > 1:
        tile = tile * identity(REGISTER, times, k, rank)
    if (times := instruction[0 if first != parent.truth("isTranspose") else 1] // 16) > 1:
        tile = tile * identity(REGISTER, times, other, rank)
    warps = rank_of(_warps_of_wmma(parent, rank), rank)
    kept = {
        name: [tuple(0 if i == k else x for i, x in enumerate(basis)) for basis in those] for name, those in warps.bases.items()
    }
    kept[REGISTER] = [basis for basis in kept.get(REGISTER, []) if any(basis)]
    sizes = tuple(1 if i == k else size for i, size in enumerate(warps.sizes))
    warps = Linear({name: tuple(those) for name, those in kept.items()}, sizes, warps.order)
    return _fit_dot((tile * warps).ordered(row_major(rank, first)), parent, shape, k)


def _fit_dot(tile: Linear, parent: Fields, shape: tuple[int, ...], k: int) -> Linear:
    rank = len(shape)
    blocks = rank_of(blocks_of(parent, rank), rank)
    bases = tuple(tuple(0 if i == k else x for i, x in enumerate(basis)) for basis in blocks.bases.get(BLOCK, ()))
    blocks = Linear({BLOCK: bases}, tuple(1 if i == k else size for i, size in enumerate(blocks.sizes)), blocks.order)
    return fitted(tile, blocks, shape, REGISTER).ordered(range(rank))


def _slice(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields, rank = Fields(encoding), len(shape)
    dim, parent = fields.number("dim"), encoding.fields.get("parent")
    if dim > rank or not isinstance(parent, Encoding) or parent.name not in ENCODINGS:
        raise fields.wrong("slice needs a dim that is a mode of its parent, and a parent that is an encoding of registers")
    whole = distributed(parent, (*shape[:dim], 1, *shape[dim:]))
    bases = {name: tuple(basis[:dim] + basis[dim + 1 :] for basis in those) for name, those in whole.bases.items()}
    bases[REGISTER] = tuple(basis for basis in bases.get(REGISTER, ()) if any(basis))
    return Linear(bases, shape, tuple(range(rank)))


def _linear(encoding: Encoding, shape: tuple[int, ...]) -> Linear:
    fields = Fields(encoding)
    bases = {key: fields.bases(key, len(shape)) for key in (REGISTER, LANE, WARP, BLOCK)}
    moved = (mode for basis in bases[REGISTER] for mode, step in enumerate(basis) if step)
    order = tuple(dict.fromkeys((*moved, *row_major(len(shape)))))  # a larger shape repeats it along its registers' modes first
    whole = of_bases(bases, fields, shape).ordered(order).at_least(shape, REGISTER)
    return whole.at_most(shape, dropped=REGISTER).ordered(range(len(shape)))


ENCODINGS: dict[str, Callable[[Encoding, tuple[int, ...]], Linear]] = {
    "blocked": _blocked,
    "nvidia_mma": _nvidia_mma,
    "amd_mfma": _amd_mfma,
    "amd_wmma": _amd_wmma,
    "dot_op": _dot_op,
    "slice": _slice,
    "linear": _linear,
}
_DOTS: dict[str, Callable[[Fields, Fields, tuple[int, ...]], Linear]] = {
    "blocked": _dot_of_blocked,
    "nvidia_mma": _dot_of_nvidia,
    "amd_mfma": _dot_of_mfma,
    "amd_wmma": _dot_of_wmma,
}


def shape_of_linear(encoding: Encoding) -> tuple[int, ...]:
    """The shape that the bases of a linear encoding reach, which needs none beside it; () of another."""
    if encoding.name not in ("linear", "shared_linear"):
        return ()
    given = [encoding.fields.get(key, []) for key in (REGISTER, LANE, WARP, BLOCK, "offset")]
    every = [basis for those in given for basis in (those if isinstance(those, list) else [those])]
    if not every or not all(isinstance(basis, list) for basis in every):
        return ()
    if len({len(basis) for basis in every}) != 1 or not all(isinstance(x, int) and x >= 0 for basis in every for x in basis):
        return ()
    return tuple(1 << max(column).bit_length() for column in zip(*every, strict=True))
