"""ldmatrix and stmatrix by CuTe's names of them: SM75_U32x4_LDSM_N is ldmatrix of four 8x8 matrices (cute/arch/copy_sm75.hpp)."""

from __future__ import annotations

from cute_viz.records import dataclass


@dataclass(frozen=True, slots=True)
class MatrixOp:
    """What a name says.

    arch: 75 for SM75. store: stmatrix, else ldmatrix. matrices: how many, 1, 2 or 4 (the .x4 of PTX). transposed: .trans.
    bits: of an element in memory; 4 and 6 become bytes in registers.
    """

    arch: int
    store: bool
    matrices: int
    transposed: bool = False
    bits: int = 16

    @property
    def name(self) -> str:
        """CuTe's name.

        >>> MatrixOp(90, True, 2).name, MatrixOp(75, False, 4, transposed=True).name, MatrixOp(100, False, 1, bits=6).name
        ('SM90_U32x2_STSM_N', 'SM75_U16x8_LDSM_T', 'SM100_SU6_DU8x16_x1_LDSM_N')
        """
        if self.bits < 8:
            return f"SM{self.arch}_SU{self.bits}_DU8x16_x{self.matrices}_LDSM_N"
        way = f"{'STSM' if self.store else 'LDSM'}_{'T' if self.transposed else 'N'}"
        unit = self.bits if self.transposed else 32
        return f"SM{self.arch}_U{unit}x{self.matrices * _registers(self.bits, self.store) * 32 // unit}_{way}"

    @property
    def instruction(self) -> str:
        """The instruction less what is the same of all.

        >>> MatrixOp(75, False, 4, transposed=True).instruction
        'ldmatrix.x4.trans'
        """
        return f"{'stmatrix' if self.store else 'ldmatrix'}.x{self.matrices}{'.trans' if self.transposed else ''}"


def _registers(bits: int, store: bool) -> int:
    """Registers of one matrix in a thread: 8x8 of 16 bits, 16x8 of 8 bits to store, 16x16 of 8 bits to load."""
    return 2 if bits == 8 and not store else 1
