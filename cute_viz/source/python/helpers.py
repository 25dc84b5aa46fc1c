"""What the reader computes itself of the DSL's helpers, where Python's types tell nothing; most are written in the DSL (`known`).

Sources: cutlass/utils of the Python DSL 4.7, its tile schedulers among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.subscripts import underscores
from cute_viz.source.python.tensor_memory import TENSOR_MEMORY
from cute_viz.source.python.tensors import Raw, leading
from cute_viz.source.python.tma import TMA
from cute_viz.source.python.values import EnumMember, Lost

_CAPACITY = dict.fromkeys(("80", "87"), 163) | dict.fromkeys(("86", "89", "120", "121"), 99)
_CAPACITY |= dict.fromkeys(("90", "100", "101", "103", "110"), 227)


def _from_tensor(machine: Machine, tensor: Raw) -> Any:
    """LayoutEnum.from_tensor: which of the first two modes is contiguous; of `ROW_MAJOR`, given for a tensor, that."""
    if isinstance(tensor, Lost) and tensor.path:
        message = f"cannot determine whether {tensor.path!r} is row-major or column-major"
        hint = f"give it: `let={tensor.path}=ROW_MAJOR`, COL_MAJOR, or a layout, for example (512,512):(512,1)"
        raise tensor.error.but(message=message, hint=hint, needs=(tensor.path,))
    tensor = need(tensor)
    if isinstance(tensor, EnumMember) and tensor.enum == "LayoutEnum":
        return tensor
    at = leading(tensor.layout) if isinstance(tensor, Tensor) else leading(tensor)
    if at not in (0, 1):
        raise AlgebraError("this tensor is neither row-major nor column-major")
    return EnumMember("LayoutEnum", "ROW_MAJOR" if at == 1 else "COL_MAJOR")


def _smem_capacity(machine: Machine, compute_capability: Any) -> Any:
    """Shared memory of a block, in bytes, by the name of an architecture."""
    text, arch = machine.main.text, compute_capability
    if arch is None and re.search(r"\b(tcgen05|warpgroup)\b", text) and not re.search(r"\bsm_?(80|86|89|12\d)\b|\bwarp\.Mma", text):
        machine.given.notes["blocks have 227 KiB of shared memory, as those of SM90 and SM100 that this file is for"] = None
        arch = "sm_100"
    number = str(arch).removeprefix("sm_").rstrip("af")
    if number not in _CAPACITY:
        raise AlgebraError(f"the shared memory of {arch or 'this GPU'} is not known", hint="example: 'sm_90'")
    return _CAPACITY[number] * 1024


def _unit(machine: Machine, value: Any, mode: Any) -> Any:
    """`ScaledBasis(1, 0)`, which is `E(0)`, `E([1, 0])`: a step along a coordinate."""
    mode = underscores(mode)
    path = mode if isinstance(mode, tuple) else (mode,)
    if not all(isinstance(at, int) for at in path):
        raise AlgebraError("E takes the number of a mode, or a path of such")
    return Basis(value, tuple(map(int, path))) if path else value


HELPERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "from_tensor"): _from_tensor,
    ("", "get_smem_capacity_in_bytes"): _smem_capacity,
    **TENSOR_MEMORY,
    **TMA,
    ("cute", "E"): lambda machine, mode: _unit(machine, 1, mode),
    ("cute", "ScaledBasis"): _unit,
    ("", "basis_value"): lambda machine, e: getattr(e, "value", e),
}
