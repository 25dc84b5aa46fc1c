"""How the names of atoms begin."""

from __future__ import annotations

import re

_NAMES = (  # how names begin
    r"(?:ld|st)matrix\.|SM\d+_|GMMA_|MMA_\d|\d+x\d+x\d|Universal|Auto(?:Vec|CopyAsync)|DefaultCopy|U(16|32)x\d|XE_|"
    r"(?i:v_|__builtin_amdgcn_)?(?i:s?w?m(fma|fmac|ma|mac)_)|[fi]\d+_\d+x\d+x\d"
)


def is_atom_name(short: str) -> bool:
    """Whether a name could be an atom's: SM80_..., GMMA_..., UniversalCopy, 16x8x16_...

    >>> is_atom_name("SM80_16x8x16_F32F16F16F32_TN"), is_atom_name("make_layout")
    (True, False)
    """
    return re.match(_NAMES, short) is not None
