"""The search for the Swizzle<B,M,S> that removes bank conflicts: every legal one is tried and counted.

A tile of rows x cols elements lies in shared memory row by row. Accesses are given by name; each becomes the byte
addresses of whole warps, which a swizzle moves. Their wavefronts are counted as in `banks`, but here and faster, for thousands of
candidates: lanes of these accesses have addresses of their own, so that no phase is twice as wide, and phases that must cost
the same are counted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cute_viz.algebra.swizzle import Swizzle, span
from cute_viz.analysis.banks import BANKS, LANES, WORD, SharedMemory
from cute_viz.analysis.patterns import WIDTHS, warp_addresses, width
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over

ROW = BANKS * WORD  # bytes of all banks
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


def search(rows: int, cols: int, bits: int, patterns: Iterable[str], memory: SharedMemory | None = None) -> list[Candidate]:
    """Every legal swizzle of a row-major tile, the plain layout and paddings, the cheapest first.

    Legal: the swizzle keeps the widest vector of the accesses together (M), and acts inside the tile (B + M + S bits).
    memory: of a machine with waves of its own, whose patterns are OF_WAVES.
    Raises: AlgebraError for unknown patterns, tiles over the limit `tile-bytes` or that a pattern does not divide, elements that
    no instruction moves by themselves: of 24 bits.
    """
    patterns = list(patterns)
    if bits not in WIDTHS:
        words = "are not whole bytes" if bits % 8 else "cannot be moved by a single instruction"
        raise AlgebraError(f"elements of {bits} bits {words}", hint=f"one of {', '.join(map(str, WIDTHS))} bits")
    size = rows * cols * bits // 8
    if size > limit("tile-bytes"):
        raise over("tile-bytes", f"a tile of {size} bytes")
    phases = {name: _Phases(name, rows, cols, bits, memory) for name in patterns}
    bytes_ = bits // 8
    wide = max(width(name, bits) for name in patterns) if patterns else bytes_
    base = max(0, (wide * 8 // bits).bit_length() - 1)
    cells = rows * cols
    total = (cells - 1).bit_length()
    out = [_candidate(None, 0, phases, bytes_)]
    for b in range(1, total // 2 + 1):
        for m in range(base, total):
            if cells % 2 ** (m + b):
                break  # a block that the XOR permutes would reach past the tile
            for s in range(b, total - b - m + 1):
                out.append(_candidate(Swizzle(b, m, s), 0, phases, bytes_))
    step = max(1, wide // bytes_)
    for padding in range(step, min(cols, 16 * step) + 1, step):
        out.append(_candidate(None, padding, phases, bytes_))
    return sorted(out, key=_rank)


def _rank(c: Candidate) -> tuple[int, int, int, int, int]:
    """Cheapest first; then no padding, fewer bits, a longer run left alone, a shorter distance."""
    if c.swizzle is None:
        return (c.wavefronts, 1 if c.padding else 0, 0, 0, c.padding)
    return (c.wavefronts, 0, c.swizzle.bits, -c.swizzle.base, c.swizzle.shift)


class _Phases:
    """The phases of one access: 8 lanes of 16 bytes, 16 of 8, 32 of 4 and less. Those that must cost the same are put together.
    A swizzle is linear in XOR: where phases begin does not matter, as XOR with a number permutes the banks, elements being of a
    power of 2 bytes. In a padded tile, phases 128 bytes apart cost the same."""

    def __init__(self, name: str, rows: int, cols: int, bits: int, memory: SharedMemory | None = None) -> None:
        self.bytes = bits // 8
        self.width = width(name, bits)
        self.ideal = 0
        self._linear: Counter[tuple[int, ...]] = Counter()  # elements, XOR the first one -> how many phases
        # bytes and rows of each lane behind the first one -> where the phases begin, in bytes and rows
        self._shifted: dict[tuple[tuple[int, int], ...], Counter[tuple[int, int]]] = {}
        size, pitch = LANES * WORD // max(WORD, self.width), cols * self.bytes
        for warp in warp_addresses(name, rows, cols, bits, memory):
            for group in _groups(len(warp), size, max(WORD, self.width), name, memory):
                phase = [warp[lane] for lane in group]
                first, row = phase[0], phase[0] // pitch
                elements = [address // self.bytes for address in phase]
                self._linear[tuple([x ^ elements[0] for x in elements])] += 1
                shape = tuple([(address - first, address // pitch - row) for address in phase])
                self._shifted.setdefault(shape, Counter())[first % ROW, row] += 1
                self.ideal += -(-len(self._words(phase)) // BANKS)

    def swizzled(self, swizzle: Swizzle) -> int:
        """The wavefronts under a swizzle of elements."""
        return sum(n * self._wavefronts([swizzle(x) * self.bytes for x in phase]) for phase, n in self._linear.items())

    def padded(self, padding: int) -> int:
        """The wavefronts where each row has so many more elements."""
        more, total = padding * self.bytes, 0
        for shape, starts in self._shifted.items():
            begins: Counter[int] = Counter()
            for (first, row), n in starts.items():
                begins[(first + row * more) % ROW] += n
            steps = [address + row * more for address, row in shape]
            total += sum(n * self._wavefronts([start + step for step in steps]) for start, n in begins.items())
        return total

    def _words(self, addresses: Iterable[int]) -> set[int]:
        """The 4-byte words that lanes at these addresses move."""
        return {word for a in addresses for word in range(a // WORD, (a + self.width - 1) // WORD + 1)}

    def _wavefronts(self, addresses: Iterable[int]) -> int:
        return max(Counter([word % BANKS for word in self._words(addresses)]).values())


def _groups(lanes: int, size: int, width: int, name: str, memory: SharedMemory | None) -> list[list[int]]:
    """The lanes of each phase of an access of so many lanes."""
    if memory is None:
        return [list(range(n, min(n + size, lanes))) for n in range(0, lanes, size)]
    served = memory.groups[memory.access(8 * width, name == "ds_write")]
    return [mine for group in served if (mine := [lane for lane in group if lane < lanes])]


def _candidate(swizzle: Swizzle | None, padding: int, phases: dict[str, _Phases], bytes_: int) -> Candidate:
    """A candidate with what it costs; bytes_: of an element."""
    by_access = {name: each.padded(padding) if swizzle is None else each.swizzled(swizzle) for name, each in phases.items()}
    mode = ""
    if swizzle is not None and swizzle.shift == 3 and 2**swizzle.base * bytes_ == 16:  # Swizzle<B,4,3> on bytes
        mode = MODES.get(swizzle.bits, "")
    return Candidate(swizzle, padding, sum(by_access.values()), sum(each.ideal for each in phases.values()), by_access, mode)


def explain_choice(best: Candidate, plain: Candidate, cols: int, bits: int) -> str:
    """Why a candidate wins over the plain layout, in two sentences; cols: of the tile. bits: of an element."""
    if best.swizzle is None:
        what = f"padding of {best.padding} elements per row" if best.padding else "the plain layout"
        return (
            f"{what[0].upper()}{what[1:]} takes {best.wavefronts} wavefronts; {best.ideal} are unavoidable. No swizzle does better."
        )
    s = best.swizzle
    run = 2**s.base * bits // 8
    per_row = cols * bits // 8
    gain = best.wavefronts < plain.wavefronts
    counted = f"takes {best.wavefronts} wavefronts, the plain layout {plain.wavefronts}"
    free = gain and best.wavefronts == best.ideal
    first = f"{s} is conflict-free: it {counted}." if free else f"{s} {counted}; {best.ideal} are unavoidable."
    if not gain:
        return f"{first} Nothing is gained: the plain layout is as good."
    which = span(s.base + s.shift, s.bits)
    second = (
        f"It XORs {which} of the element offset"
        + (f" (the row, as a row is {per_row} bytes)" if 2 ** (s.base + s.shift) == cols else "")
        + f" into {span(s.base, s.bits)}, so that {2**s.bits} vertically adjacent runs of {run} bytes"
        + " fall into different banks"
        + (f"; it is the {best.mode} mode of TMA and GMMA" if best.mode else "")
        + "."
    )
    return f"{first} {second}"
