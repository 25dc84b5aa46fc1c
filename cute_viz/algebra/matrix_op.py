"""ldmatrix and stmatrix by CuTe's names of them: SM75_U32x4_LDSM_N is ldmatrix of four 8x8 matrices (cute/arch/copy_sm75.hpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"SM(\d+)_(?:U(8|16|32)x(\d+)_(LDSM|STSM)_([NT])|SU([46])_DU8x16_x([124])_LDSM_N)")


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


def matrix_op(name: str) -> MatrixOp | None:
    """The operation of CuTe's name, template arguments or not; None for every other name.

    >>> matrix_op("SM75_U16x8_LDSM_T")
    MatrixOp(arch=75, store=False, matrices=4, transposed=True, bits=16)
    >>> matrix_op("SM100_U8x16_LDSM_T").matrices, matrix_op("SM75_U32x3_LDSM_N"), matrix_op("SM75_U32x1_MOVM_T")
    (2, None, None)
    """
    match = _NAME.fullmatch(name.partition("<")[0])
    if match is None:
        return None
    if match[6]:
        return MatrixOp(int(match[1]), False, int(match[7]), bits=int(match[6]))
    store, transposed, unit = match[4] == "STSM", match[5] == "T", int(match[2])
    if (unit == 32) == transposed:  # 32 bits are two elements of a row; what is transposed is named by its elements
        return None
    bits = unit if transposed else 16
    matrices, rest = divmod(int(match[3]) * unit, 32 * _registers(bits, store))
    return MatrixOp(int(match[1]), store, matrices, transposed, bits) if matrices in (1, 2, 4) and not rest else None


def _registers(bits: int, store: bool) -> int:
    """Registers of one matrix in a thread: 8x8 of 16 bits, 16x8 of 8 bits to store, 16x16 of 8 bits to load."""
    return 2 if bits == 8 and not store else 1
