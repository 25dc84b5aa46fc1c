"""Bank conflicts: the wavefronts that `analysis.banks` predicts, against a chain of dependent loads timed by the device's clock.

Shared memory holds zeros, and each load adds what it loaded to its own address, so that no two loads overlap. Every wavefront
more takes two cycles more (measured on an NVIDIA H200). They are added to the time of a pattern without conflicts that is served
in as many phases: loads whose lanes share addresses in pairs take fewer phases, and are quicker by more than that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.banks import ACCESSES, LANES, phases, shared_wavefronts, width
from cute_viz.check.job import Check, In, Kernel, KernelRun, Out, Outcome, Outputs, entry_name, kernel, sheet
from cute_viz.check.job import registers as named

LOADS = 32  # of a chain
SPAN = 16 << 10  # bytes that addresses lie in
ALONE = 160 << 10  # bytes of shared memory asked for, so that no two blocks share a multiprocessor
CYCLES = 2  # of one wavefront more
PATTERNS = 24  # of each instruction that are random

_MATRIX = {
    access: access.replace("ldmatrix", "ldmatrix.sync.aligned.m8n8") + ".shared.b16"
    for access in ACCESSES
    if access.startswith("ldmatrix.")
}
INSTRUCTIONS = {
    "ld.32": "ld.volatile.shared.b32",
    "ld.64": "ld.volatile.shared.v2.b32",
    "ld.128": "ld.volatile.shared.v4.b32",
    **_MATRIX,
}


def registers(access: str) -> int:
    """Registers that one instruction loads."""
    return int(access.split(".")[1][1]) if access in _MATRIX else width(access) // 4


def patterns(access: str) -> Iterator[tuple[str, list[int]]]:
    """(what it is, a byte address a lane); the first one has no conflict."""
    size, lanes = width(access), range(LANES)
    yield "contiguous", [size * lane for lane in lanes]
    yield "one address", [0] * LANES
    for step in (2, 3, 4, 8, 16, 32):
        yield f"every {step}", [size * step * lane % SPAN for lane in lanes]
    for pitch in (64, 128, 256, 144):
        yield f"a column, {pitch} bytes apart", [pitch * lane % SPAN for lane in lanes]
    for bits in (1, 2, 3):
        swizzle = Swizzle(bits, 4, 3)
        yield f"a column under {swizzle}", [swizzle((16 << bits) * lane) for lane in lanes]
    yield "pairs at one address", [size * (lane // 2) for lane in lanes]
    yield "lanes i and i + 2 at one address", [size * (lane % 2 + lane // 4 * 2) for lane in lanes]
    rng = random.Random(access)
    for n in range(PATTERNS // 2):
        some = [size * rng.randrange(SPAN // size) for _ in lanes]
        yield f"random pairs {n}", [some[lane // 2 if n % 2 else lane % 2 + lane // 4 * 2] for lane in lanes]
    for n in range(PATTERNS):
        room = SPAN if n % 3 else 1024
        yield f"random {n}", [size * rng.randrange(room // size) for _ in lanes]


def checks() -> list[Check]:
    """A check for each kind of load."""
    return [
        Check("banks", access, _Chains(access, entry_name("banks", access), tuple(patterns(access)))) for access in INSTRUCTIONS
    ]


@dataclass(frozen=True, slots=True)
class _Chains:
    """A chain of loads of one kind for each pattern, all in one launch."""

    access: str
    entry: str
    patterns: tuple[tuple[str, list[int]], ...]

    def kernel(self) -> Kernel:
        """The kernel (addresses, cycles), a pattern a block."""
        count = registers(self.access)
        loaded = named("v", count) if count > 1 or self.access in _MATRIX else "%v0"
        return kernel("banks.ptx", self.entry, load=f"{INSTRUCTIONS[self.access]} {loaded}", loads=LOADS, room=SPAN + 1024)

    def launches(self) -> tuple[KernelRun, ...]:
        addresses = np.array([addresses for _, addresses in self.patterns], np.uint32)
        count = len(self.patterns)
        return (KernelRun(self.entry, (count, 1, 1), LANES, (In(addresses.tobytes()), Out(8 * count)), ALONE),)

    def judge(self, outputs: Outputs) -> Outcome:
        """The wavefronts that the measured cycles stand for, against the predicted ones."""
        cycles = (np.frombuffer(outputs[0][0], np.int64) / LOADS).tolist()
        predicted = [shared_wavefronts(addresses, self.access) for _, addresses in self.patterns]
        base: dict[int, tuple[int, float]] = {}  # phases -> wavefronts and cycles of the first pattern that has so many
        seen = []
        for (_, addresses), wavefronts, measured in zip(self.patterns, predicted, cycles, strict=True):
            least, time = base.setdefault(len(phases(addresses, self.access)), (wavefronts, measured))
            seen.append(round(least + (measured - time) / CYCLES))
        facts = {"cycles of a load without conflict": cycles[0]}
        return counted("wavefronts", [name for name, _ in self.patterns], predicted, seen, facts)


def counted(role: str, names: Sequence[str], predicted: Sequence[float], seen: Sequence[float], facts: Any = None) -> Outcome:
    """What was counted of each pattern against what is predicted; the control moves the predictions by one pattern."""
    drawn = [f"{name}: {number}" for name, number in zip(names, predicted, strict=True)]
    found = sheet(role, (len(drawn), 1), drawn, seen, np.equal(predicted, seen))
    return Outcome((found,), list(seen[1:]) != list(predicted[:-1]), facts or {})
