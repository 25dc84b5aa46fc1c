"""One operation of the library: what it is called, what it reads and writes, and in which memory; the facts are in layouts/."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass

DESCRIBING = ("wgmma", "tcgen05.mma")  # kinds that reach shared memory through descriptors, which no thread accesses
ISSUED = ("tcgen05.mma", "tcgen05.cp", "cp.async.bulk", "cp.async.bulk.tensor")  # kinds that one thread issues for its CTA
MATRICES = ("ldmatrix", "stmatrix")
# Words of an opcode that all of its kind have.
PLAIN = frozenset(["sync", "aligned", "m8n8", "shared", "global", "b16", "b32", "mma_async", "row", "col"])
_MAJORS = {"0": "K", "1": "MN"}


@dataclass(frozen=True, slots=True)
class Instruction:
    """What is known of an operation; of one that the library does not have, nothing.

    name: CuTe's class, without template arguments. kind: how its PTX opcode begins (`ldmatrix`, `cp.async.bulk.tensor`,
    `tcgen05.mma`); of what has none `copy`, `auto`, `fma`. memory: where the source and the destination of a copy lie, or A, B and
    C of an MMA: gmem, smem, rmem or tmem; empty where the tensors decide. words: what its name says besides: im2col, multicast,
    16b, saturate. arguments: the parameters of its name and its template arguments, by the library's names of them.
    types: the elements of A, B, C and D. shape: M, N and K. sparse: how many elements of A an MMA takes for each that is stored.
    ctas: how many issue it together. lanes: of tensor memory, that a warp reaches.
    ptx, dsl, sass: its names there, where they are known. arch, source, isa: where it is from: CUTLASS's files, the section of the
    PTX ISA.
    """

    name: str = ""
    kind: str = ""
    memory: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    arguments: Mapping[str, str] = field(default_factory=dict, hash=False)
    types: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    sparse: int = 1
    ctas: int = 1
    lanes: int = 0
    ptx: str = ""
    dsl: str = ""
    sass: str = ""
    arch: str = ""
    source: str = ""
    isa: str = ""

    @property
    def opcode(self) -> str:
        """The PTX opcode, without operands."""
        return self.ptx.partition(" ")[0]

    @property
    def short(self) -> str:
        """The opcode without the words that all of its kind have."""
        return short_of(self.opcode)

    @property
    def called(self) -> str:
        """An MMA by its kind and its shape, `mma.sp.m16n8k32`; "" where the opcode has no shape."""
        if not self.shape or self.kind not in ("mma", "wgmma"):
            return ""
        m, n, k = self.shape
        return f"{self.kind}{'.sp' if self.sparse > 1 else ''}.m{m}n{n}k{k}"

    @property
    def matrices(self) -> int:
        """The 8x8 matrices of 16 bits, or of 16 bytes a row, that ldmatrix or stmatrix moves; 0 of others."""
        found = re.search(r"\.x(\d)\b", self.opcode) if self.kind in MATRICES else None
        return 0 if found is None else int(found[1]) * (2 if ".m16n16." in self.opcode else 1)

    @property
    def access(self) -> str:
        """What the analysis of banks calls a matrix instruction, `ldmatrix.x4.trans`; "" of others."""
        return f"{self.kind}.x{self.matrices}{'.trans' if '.trans.' in self.opcode else ''}" if self.matrices else ""

    def home(self, operand: str) -> str:
        """The memory in which an operand lies: "A", "B" or "C" of an MMA, "S" or "D" of a copy; registers where none is said."""
        n = "ABC".find(operand) if operand in "ABC" else "SD".index(operand)
        return self.memory[n] if n < len(self.memory) else "rmem"

    def described(self, operand: str = "B") -> bool:
        """Whether it reads an operand of an MMA through descriptors of shared memory."""
        return self.kind in DESCRIBING and self.home(operand) == "smem"

    def check_reach(self, source: str, destination: str) -> None:
        """Whether a copy reaches the memories between which it is to move something; "" is a memory that is not known. Raises:
        AlgebraError for another one."""
        given = (source, destination)
        if len(self.memory) != 2 or all(found in ("", one) for found, one in zip(given, self.memory, strict=True)):
            return
        from cute_viz.values.types import SPACES  # of an error alone

        told = [
            " ".join(f"{way} {SPACES[space]}" for way, space in zip(("from", "to"), pair, strict=True) if space)
            for pair in (self.memory, given)
        ]
        raise AlgebraError(f"{self.name} copies {told[0]}, not {told[1]}")

    @property
    def issued(self) -> bool:
        """Whether one thread issues it for its CTA, so that no thread holds a part of what it moves."""
        return self.kind in ISSUED and bool(self.memory)

    @property
    def bulk(self) -> bool:
        """Whether it is a TMA or a bulk copy, whose size is a parameter."""
        return self.kind.startswith("cp.async.bulk") and bool(self.memory)

    @property
    def majors(self) -> tuple[str, str]:
        """The major modes of A and B; K where none is said."""
        a, b = (self.arguments.get(f"{x}_major", "K").rpartition(".")[2] for x in "ab")
        return _MAJORS.get(a, a), _MAJORS.get(b, b)

    @property
    def negated(self) -> tuple[str, str]:
        """Whether A and B are negated: One or Neg."""
        return self.arguments.get("a_neg", "One"), self.arguments.get("b_neg", "One")

    @property
    def vector(self) -> int:
        """The elements along K that one scale factor is for; 0 of an MMA without."""
        if "SF" not in self.arguments:
            return 0
        return int(self.arguments.get("VS", 64 if self.sparse > 1 else 32))


def short_of(opcode: str) -> str:
    """An opcode without the words that all of its kind have."""
    return ".".join(word for word in opcode.split(".") if word not in PLAIN)


UNKNOWN = Instruction()
ELEMENTS = ("load", "store")  # what the statements are called that access single elements
MOVES = ("copy", "copy_if", "copy_aligned", "cooperative_copy", "axpby", "gemm")  # statements that move or multiply tensors
