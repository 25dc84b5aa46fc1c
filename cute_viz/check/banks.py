"""Bank conflicts: the wavefronts that `analysis.banks` predicts, against a chain of dependent loads timed by the device's clock.

Shared memory holds zeros, and each load adds what it loaded to its own address, so that no two loads overlap. Every wavefront
more takes two cycles more (measured on an NVIDIA H200). They are added to the time of a pattern without conflicts that is served
in as many phases: loads whose lanes share addresses in pairs take fewer phases, and are quicker by more than that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.banks import ACCESSES, LANES, phases, shared_wavefronts, width
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, entry_name

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
    """Registers that one instruction loads.

    >>> registers("ld.64"), registers("ldmatrix.x4.trans")
    (2, 4)
    """
    return int(access.split(".")[1][1]) if access in _MATRIX else width(access) // 4


def patterns(access: str) -> Iterator[tuple[str, list[int]]]:
    """(what it is, a byte address a lane); the first one has no conflict.

    >>> name, addresses = next(patterns("ld.32"))
    >>> name, addresses[:3]
    ('contiguous', [0, 4, 8])
    """
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


def checks() -> list[Item]:
    """A check for each kind of load.

    >>> [item.name for item in checks()][:3]
    ['ld.32', 'ld.64', 'ld.128']
    """
    out: list[Item] = []
    for access in INSTRUCTIONS:
        job = _Job(access, entry_name("banks", access), tuple(patterns(access)))
        out.append(Check("banks", access, job.kernel(), job.launches, job.judge))
    return out


@dataclass(frozen=True, slots=True)
class _Job:
    """A chain of loads of one kind for each pattern, all in one launch."""

    access: str
    entry: str
    patterns: tuple[tuple[str, list[int]], ...]

    def launches(self) -> tuple[Launch, ...]:
        addresses = np.array([addresses for _, addresses in self.patterns], np.uint32)
        count = len(self.patterns)
        return (Launch(self.entry, (count, 1, 1), LANES, (In(addresses.tobytes()), Out(8 * count)), ALONE),)

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """The wavefronts that the measured cycles stand for, against the predicted ones."""
        cycles = (np.frombuffer(outputs[0][0], np.int64) / LOADS).tolist()
        predicted = [shared_wavefronts(addresses, self.access) for _, addresses in self.patterns]
        base: dict[int, tuple[int, float]] = {}  # phases -> wavefronts and cycles of the first pattern that has so many
        seen = []
        for (_, addresses), wavefronts, measured in zip(self.patterns, predicted, cycles, strict=True):
            least, time = base.setdefault(len(phases(addresses, self.access)), (wavefronts, measured))
            seen.append(round(least + (measured - time) / CYCLES))
        ok = tuple(a == b for a, b in zip(predicted, seen, strict=True))
        control = seen[1:] != predicted[:-1]  # the predictions moved by one pattern
        drawn = tuple(f"{name}: {p}" for (name, _), p in zip(self.patterns, predicted, strict=True))
        sheet = Sheet("wavefronts", len(drawn), 1, drawn, tuple(map(str, seen)), ok)
        return Outcome((sheet,), control, {"cycles of a load without conflict": cycles[0]})

    def kernel(self) -> Kernel:
        """The kernel (addresses, cycles), a pattern a block."""
        loaded = ",".join(f"%v{j}" for j in range(registers(self.access)))
        loaded = f"{{{loaded}}}" if "," in loaded or self.access in _MATRIX else loaded
        chain = f"{INSTRUCTIONS[self.access]} {loaded}, [%a];\nadd.u32 %a, %a, %v0;\n" * LOADS
        name = f"{self.entry}_smem"
        return Kernel(
            self.entry,
            f""".extern .shared .align 1024 .b8 {name}[];
.visible .entry {self.entry}(.param .u64 addresses, .param .u64 cycles)
{{
.reg .pred %p;
.reg .b32 %t, %i, %k, %a, %s, %v<4>;
.reg .b64 %at, %by, %c0, %c1;
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %s, {name};
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00;
mul.lo.u32 %k, %t, 4; mov.u32 %v0, 0;
ZERO: add.u32 %a, %k, %s; st.shared.b32 [%a], %v0; add.u32 %k, %k, 128; setp.lt.u32 %p, %k, {SPAN + 1024}; @%p bra ZERO;
bar.sync 0;
mad.lo.u32 %k, %i, 32, %t; mul.wide.u32 %by, %k, 4; ld.param.u64 %at, [addresses]; add.u64 %at, %at, %by;
ld.global.u32 %a, [%at]; add.u32 %a, %a, %s;
bar.sync 0;
mov.u64 %c0, %clock64;
{chain}setp.eq.u32 %p, %a, 1; @%p ret; // never, but the clock waits for the last load
mov.u64 %c1, %clock64;
sub.u64 %c1, %c1, %c0;
setp.ne.u32 %p, %t, 0; @%p ret;
mul.wide.u32 %by, %i, 8; ld.param.u64 %at, [cycles]; add.u64 %at, %at, %by; st.global.u64 [%at], %c1;
ret;
}}""",
            target=75,
        )
