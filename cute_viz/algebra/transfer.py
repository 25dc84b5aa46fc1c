"""What a warp moves between registers and memory, by bits: where each bit of a register, a lane and a warp leads, by XOR."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transfer:
    """An operation of a compiler on the tile of a thread block.

    kind: `load` or `store` of shared memory, `async` from global to shared memory, `convert` between layouts of registers,
        `issued`: an instruction that one thread, or a group of warps, issues.
    bits: of an element. registers, lanes, warps: for each bit the offset in elements that it adds, by XOR. paddings: intervals and
        the elements that are left out after each. matrices: whether the machine has ldmatrix (of a store stmatrix). arch: the
        machine, where its waves are of their own, else "". name: of what is issued, or how a conversion moves its elements.
        count: of instructions that all warps execute. why: what a reader should know of it.
    """

    kind: str
    bits: int
    registers: tuple[int, ...] = ()
    lanes: tuple[int, ...] = ()
    warps: tuple[int, ...] = ()
    paddings: tuple[tuple[int, int], ...] = ()
    matrices: bool = False
    arch: str = ""
    name: str = ""
    count: int = 0
    why: str = ""

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        return 1 << len(self.registers)

    def place(self, *numbers: int) -> int:
        """The offset of an element in memory. numbers: of the register, the lane and the warp."""
        out = 0
        for bits, number in zip((self.registers, self.lanes, self.warps), numbers, strict=True):
            for n, step in enumerate(bits):
                out ^= step if number >> n & 1 else 0
        return out + sum(out // interval * more for interval, more in self.paddings)


def spanned(vectors: tuple[int, ...]) -> tuple[int, ...]:
    """A basis of what some numbers reach by XOR, each with a highest bit of its own that no other has."""
    basis: list[int] = []
    for value in vectors:
        for one in basis:
            value = min(value, value ^ one)
        if value:
            basis = [min(one, one ^ value) for one in basis] + [value]
    return tuple(sorted(basis))


def reaches(basis: tuple[int, ...], value: int) -> bool:
    """Whether a number is an XOR of some of a basis that `spanned` gave."""
    for one in sorted(basis, reverse=True):
        value = min(value, value ^ one)
    return value == 0
