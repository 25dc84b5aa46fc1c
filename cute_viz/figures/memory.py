"""Where the operands of an instruction lie that no thread holds in registers: shared, tensor or global memory, of which CTA.

CuTe's traits give such an operand a layout, too: of all threads, or of the one that issues the instruction. What it means is in
the name of the instruction (cute/atom/mma_traits_sm90_gmma.hpp, mma_traits_sm100.hpp, copy_traits_sm90_tma.hpp,
copy_traits_sm100.hpp), not in the layout.
"""

from __future__ import annotations

import re

SHARED, TENSOR, GLOBAL = "shared memory", "tensor memory", "global memory"
THREAD, CTA = "T", "CTA"  # who owns the cells of a picture, as labels begin

_UMMA = re.compile(r"SM10\d[a-z]?_(MMA|MXF4_ULTRA)_")
_GMMA = re.compile(r"(?:SM90|GMMA)_.*_(SS|RS)(_|<|$)")
_FROM_TENSOR = re.compile(r"_TS(_|<|$)")
_TMEM = re.compile(r"SM10\d_TMEM_(LOAD|STORE)(_STAT)?_(\d+)dp")
_UTCCP = re.compile(r"SM10\d_UTCCP_")
_TMA = re.compile(r"SM(90|10\d)_(TMA|BULK_COPY)_(?!AUTO)")


def operand_memory(name: str, operand: str) -> str:
    """The memory in which an operand of an MMA lies; "" for registers.

    >>> [operand_memory("SM100_MMA_F16BF16_TS<half_t>", x) for x in "ABC"]
    ['tensor memory', 'shared memory', 'tensor memory']
    >>> [operand_memory("SM90_64x8x16_F32F16F16_RS", x) for x in "ABC"]
    ['', 'shared memory', '']
    """
    if _UMMA.match(name):
        return TENSOR if operand == "C" or (operand == "A" and _FROM_TENSOR.search(name)) else SHARED
    found = _GMMA.match(name)
    return SHARED if found and (operand == "B" or (operand == "A" and found[1] == "SS")) else ""


def side_memory(name: str, side: str) -> str:
    """The memory that a copy reads (side S) or writes (D); "" for registers, or what every thread addresses for itself.

    >>> [side_memory("SM100_TMEM_LOAD_32dp32b1x", x) for x in "SD"], [side_memory("SM90_TMA_STORE", x) for x in "SD"]
    (['tensor memory', ''], ['shared memory', 'global memory'])
    """
    if found := _TMEM.match(name):
        return TENSOR if (side == "S") == (found[1] == "LOAD") else ""
    if _UTCCP.match(name):
        return SHARED if side == "S" else TENSOR
    if _TMA.match(name):
        load = "LOAD" in name or "G2S" in name
        return GLOBAL if (side == "S") == load else SHARED
    return ""


def is_bulk(name: str) -> bool:
    """Whether one thread issues an instruction of this name for its CTA, and its size is a parameter.

    >>> is_bulk("SM90_TMA_LOAD"), is_bulk("SM90_BULK_COPY_G2S"), is_bulk("SM90_BULK_COPY_AUTO"), is_bulk("SM75_U32x1_LDSM_N")
    (True, True, False, False)
    """
    return bool(_TMA.match(name))


def lanes(name: str) -> int:
    """The lanes of tensor memory that a copy to or from registers moves; 0 for other copies.

    >>> lanes("SM100_TMEM_LOAD_16dp256b1x"), lanes("SM75_U32x1_LDSM_N")
    (16, 0)
    """
    found = _TMEM.match(name)
    return int(found[3]) if found else 0


def owner(name: str) -> str:
    """Who the first mode of an instruction's layouts counts: threads, or the CTAs that issue it together.

    >>> owner("SM100_MMA_F16BF16_2x1SM_SS"), owner("SM80_16x8x16_F32F16F16F32_TN")
    ('CTA', 'T')
    """
    return CTA if _UMMA.match(name) or _UTCCP.match(name) or _TMA.match(name) else THREAD
