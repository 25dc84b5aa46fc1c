"""The search for the Swizzle<B,M,S> that removes bank conflicts: every legal one is tried and counted.

A tile of rows x cols elements lies in shared memory row by row. Accesses are given by name; each becomes the byte
addresses of whole warps, which a swizzle moves. Their wavefronts are counted as in `banks`, but here and faster, for thousands of
candidates: lanes of these accesses have addresses of their own, so that no phase is twice as wide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cute_viz.algebra.swizzle import Swizzle, span
from cute_viz.analysis.banks import BANKS, LANES, WORD
from cute_viz.errors import AlgebraError, did_you_mean
from cute_viz.limits import limit, over

PATTERNS = {
    "ldmatrix": "16x16-byte-row reads of ldmatrix.x4, as an MMA's A operand",
    "ldmatrix.x2": "8-row reads of two matrices, as an MMA's B operand",
    "ldmatrix.x1": "8-row reads of one matrix",
    "stmatrix": "16x16-byte-row writes of stmatrix.x4",
    "cp.async": "16 bytes a lane along the rows, as cp.async, TMA and st.128 write",
    "rows": "one element a lane along a row",
    "column": "one element a lane down a column",
    "column.128": "16 bytes a lane down a column",
}
# The modes of TMA and GMMA, by B of Swizzle<B,4,3> on bytes.
MODES = {1: "32B", 2: "64B", 3: "128B"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One swizzle, or one padding, with what each access costs.

    swizzle: on element offsets; None for the plain layout and for a padding. padding: elements added to each row.
    wavefronts, ideal: in total. by_access: wavefronts of each access by its name. mode: of TMA and GMMA, where it is one.
    """

    swizzle: Swizzle | None
    padding: int
    wavefronts: int
    ideal: int
    by_access: dict[str, int] = field(default_factory=dict)
    mode: str = ""

    @property
    def name(self) -> str:
        """`Sw<3,3,3>`, `padding 8` or `plain`."""
        return str(self.swizzle) if self.swizzle else f"padding {self.padding}" if self.padding else "plain"


def search(rows: int, cols: int, bits: int, patterns: Iterable[str]) -> list[Candidate]:
    """Every legal swizzle of a row-major tile, the plain layout and paddings, the cheapest first.

    Legal: the swizzle keeps the widest vector of the accesses together (M), and acts inside the tile (B + M + S bits).
    Refused: unknown patterns, tiles over the limit `tile-bytes`, elements that are no whole bytes.

    >>> str(search(8, 64, 16, ["ldmatrix"])[0].swizzle), str(search(32, 32, 32, ["rows", "column"])[0].swizzle)
    ('Sw<3,3,3>', 'Sw<5,0,5>')
    """
    patterns = list(patterns)
    if bits % 8 or not bits:
        raise AlgebraError(f"elements of {bits} bits are not whole bytes")
    if rows * cols * bits // 8 > limit("tile-bytes"):
        raise over("tile-bytes", f"a tile of {rows * cols * bits // 8} bytes")
    warps = {name: warp_addresses(name, rows, cols, bits) for name in patterns}
    groups = {name: [phase for warp in found for phase in _split(name, warp, bits)] for name, found in warps.items()}
    bytes_ = bits // 8
    width = max(_width(name, bits) for name in patterns) if patterns else bytes_
    base = max(0, (width * 8 // bits).bit_length() - 1)
    cells = rows * cols
    total = (cells - 1).bit_length()
    out = [_cost(None, 0, groups, bytes_, cols)]
    for b in range(1, total // 2 + 1):
        for m in range(base, total):
            if cells % 2 ** (m + b):
                break  # a block that the XOR permutes would reach past the tile
            for s in range(b, total - b - m + 1):
                out.append(_cost(Swizzle(b, m, s), 0, groups, bytes_, cols))
    step = max(1, width // bytes_)
    for padding in range(step, min(cols, 16 * step) + 1, step):
        out.append(_cost(None, padding, groups, bytes_, cols))
    return sorted(out, key=_rank)


def _rank(c: Candidate) -> tuple[int, int, int, int, int]:
    """Cheapest first; then no padding, fewer bits, a longer run left alone, a shorter distance."""
    if c.swizzle is None:
        return (c.wavefronts, 1 if c.padding else 0, 0, 0, c.padding)
    return (c.wavefronts, 0, c.swizzle.bits, -c.swizzle.base, c.swizzle.shift)


def warp_addresses(name: str, rows: int, cols: int, bits: int) -> list[list[int]]:
    """The byte addresses of every warp-wide access of a pattern to the plain row-major tile.

    Refused: an unknown pattern; rows that are no whole 16-byte chunks where the pattern moves these.

    >>> warp_addresses("ldmatrix.x1", 16, 64, 16)[0]
    [0, 128, 256, 384, 512, 640, 768, 896]
    """
    if name not in PATTERNS:
        raise AlgebraError(f"there is no access {name!r}", hint=did_you_mean(name, PATTERNS, 1) or f"one of {', '.join(PATTERNS)}")
    bytes_ = bits // 8
    pitch = cols * bytes_
    chunks = pitch // 16
    if name in ("rows", "column"):
        lines = [[(r * cols + c) * bytes_ for c in range(cols)] for r in range(rows)]
        if name == "column":
            lines = [list(line) for line in zip(*lines, strict=True)]
        return [line[n : n + LANES] for line in lines for n in range(0, len(line), LANES)]
    if pitch % 16:
        raise AlgebraError(f"rows of {pitch} bytes are no whole 16-byte chunks, which {name} moves")
    if name == "column.128":
        return [[r * pitch + k * 16 for r in range(n, min(n + LANES, rows))] for k in range(chunks) for n in range(0, rows, LANES)]
    if name == "cp.async":
        flat = [r * pitch + k * 16 for r in range(rows) for k in range(chunks)]
        return [flat[n : n + LANES] for n in range(0, len(flat), LANES)]
    down, across = {"ldmatrix": (16, 2), "stmatrix": (16, 2), "ldmatrix.x2": (8, 2), "ldmatrix.x1": (8, 1)}[name]
    down, across = min(down, rows), min(across, chunks)
    return [
        [(r + i) * pitch + (k + j) * 16 for j in range(across) for i in range(down)]
        for r in range(0, rows - down + 1, down)
        for k in range(0, chunks - across + 1, across)
    ]


def _width(name: str, bits: int) -> int:
    """The bytes that one lane of a pattern moves."""
    return bits // 8 if name in ("rows", "column") else 16


def _split(name: str, warp: list[int], bits: int) -> list[tuple[int, list[int]]]:
    """(bytes a lane, addresses) of each phase: 8 lanes of 16 bytes, 16 of 8, 32 of 4 and less."""
    width = _width(name, bits)
    size = LANES * WORD // max(WORD, width)
    return [(width, warp[n : n + size]) for n in range(0, len(warp), size)]


def _cost(
    swizzle: Swizzle | None, padding: int, groups: dict[str, list[tuple[int, list[int]]]], bytes_: int, cols: int
) -> Candidate:
    """A candidate with what it costs. groups: the phases of each access; bytes_: of an element; cols: of the tile."""
    by_access: dict[str, int] = {}
    ideal = 0
    pitch = cols * bytes_
    for name, phases in groups.items():
        total = 0
        for width, addresses in phases:
            words: set[int] = set()
            for address in addresses:
                if swizzle is not None:
                    element, rest = divmod(address, bytes_)
                    address = swizzle(element) * bytes_ + rest
                elif padding:
                    row, rest = divmod(address, pitch)
                    address = row * (pitch + padding * bytes_) + rest
                words.update(range(address // WORD, (address + width - 1) // WORD + 1))
            banks = [0] * BANKS
            for word in words:
                banks[word % BANKS] += 1
            total += max(banks)
            ideal += -(-len(words) // BANKS)
        by_access[name] = total
    mode = ""
    if swizzle is not None and swizzle.shift == 3 and 2**swizzle.base * bytes_ == 16:  # Swizzle<B,4,3> on bytes
        mode = MODES.get(swizzle.bits, "")
    return Candidate(swizzle, padding, sum(by_access.values()), ideal, by_access, mode)


def explain_choice(best: Candidate, plain: Candidate, cols: int, bits: int) -> str:
    """Why a candidate wins over the plain layout, in two sentences; cols: of the tile. bits: of an element.

    >>> found = {candidate.name: candidate for candidate in search(8, 64, 16, ["ldmatrix"])}
    >>> print(explain_choice(found["Sw<3,3,3>"], found["plain"], 64, 16).partition(". ")[0])
    Sw<3,3,3> takes 8 wavefronts where the plain layout takes 64, and none of them is a conflict
    """
    if best.swizzle is None:
        what = f"padding of {best.padding} elements a row" if best.padding else "the plain layout"
        return (
            f"{what[0].upper()}{what[1:]} takes {best.wavefronts} wavefronts, {best.ideal} are unavoidable. No swizzle does better."
        )
    s = best.swizzle
    run = 2**s.base * bits // 8
    per_row = cols * bits // 8
    gain = best.wavefronts < plain.wavefronts
    first = (
        f"{s} takes {best.wavefronts} wavefronts where the plain layout takes {plain.wavefronts}"
        + (", and none of them is a conflict" if gain and best.wavefronts == best.ideal else f"; {best.ideal} are unavoidable")
        + "."
    )
    if not gain:
        return f"{first} Nothing is gained: the plain layout is as good."
    which = span(s.base + s.shift, s.bits)
    second = (
        f"It XORs {which} of the element offset"
        + (f" (the row, as a row is {per_row} bytes)" if 2 ** (s.base + s.shift) == cols else "")
        + f" into {span(s.base, s.bits)}, so that the {2**s.bits} runs of {run} bytes that stood above each other"
        + " fall into different banks"
        + (f"; it is the {best.mode} mode of TMA and GMMA" if best.mode else "")
        + "."
    )
    return f"{first} {second}"
