"""What the reader computes itself of the DSL's helpers, where Python's types tell nothing; most are written in the DSL (`known`).

Sources: cutlass/utils of the Python DSL 4.7, its tile schedulers among them.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.staged import computed
from cute_viz.source.python.tensor_memory import TENSOR_MEMORY
from cute_viz.source.python.tensors import Raw, leading, picked
from cute_viz.source.python.tma import TMA
from cute_viz.source.python.tuples import TUPLES
from cute_viz.source.python.values import Class, EnumMember, Lost, Object
from cute_viz.values.integer import Unknown

_CAPACITY = dict.fromkeys(("80", "87"), 163) | dict.fromkeys(("86", "89", "120", "121"), 99)
_CAPACITY |= dict.fromkeys(("90", "100", "101", "103", "110"), 227)


def _scheduler(name: str) -> Callable[..., Any]:
    """`PersistentTileSchedulerParams(problem_shape_ntile_mnl, cluster_shape_mnk)`: the clusters that a problem has."""
    cls = Class(ast.ClassDef(name, [], [], [], []), {})
    words = ("problem_shape_ntile_mnl", "cluster_shape_mnk", "swizzle_size", "raster_along_m", "fallback_cluster_shape_mnk")

    def make(machine: Machine, args: list[Any], named: dict[str, Any]) -> Any:
        tiles, cluster, swizzle, along_m, fallback = map(need, picked(args, named, words))
        if not isinstance(tiles, tuple) or not isinstance(cluster, tuple) or len(tiles) != 3 or len(cluster) != 3:
            raise AlgebraError("a tile scheduler takes the tiles of a problem (M,N,L) and the shape of a cluster (M,N,1)")
        if fallback is not None or cluster[2] != 1:
            raise AlgebraError("other cluster shapes, or clusters along K, are not supported")
        names = {"problem_shape_ntile_mnl": tiles, "cluster_shape_mn": cluster[:2], "_cluster_shape_mnk": cluster}
        return Object(cls, names | {"swizzle_size": swizzle or 1, "raster_along_m": along_m is not False})

    return make


def _grid(machine: Machine, params: Any, max_active_clusters: Any) -> Any:
    """`get_grid_shape(params, max_active_clusters)`: whole clusters, no more than run at once; of a dynamic scheduler all."""
    if not isinstance(params, Object) or "_cluster_shape_mnk" not in params.names:
        raise AlgebraError("get_grid_shape takes the parameters of a tile scheduler")
    names = params.names
    tiles, cluster, swizzle = names["problem_shape_ntile_mnl"], names["_cluster_shape_mnk"], names["swizzle_size"]
    whole = [_whole(x, y) for x, y in zip(tiles, cluster, strict=True)]
    if params.cls.name.startswith("Clc"):
        if swizzle == 1 and names["raster_along_m"]:
            return tuple(whole)
    elif swizzle != 1:
        at = 1 if names["raster_along_m"] else 0
        whole[at] = _whole(whole[at], swizzle * cluster[at])
    each = cluster[0] * cluster[1]
    known = next((x for x in (*whole, max_active_clusters) if isinstance(x, Unknown)), None)
    if known is not None:
        return (*cluster[:2], computed("clusters", known, 0, *whole, max_active_clusters))
    count = math.prod(whole) // each
    return (*cluster[:2], count if params.cls.name.startswith("Clc") else min(count, max_active_clusters))


def _whole(extent: Any, part: Any) -> Any:
    return computed("+", extent, 0, part) if isinstance(extent, Unknown) else -(-extent // part) * part


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


HELPERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("", "PersistentTileSchedulerParams"): _scheduler("PersistentTileSchedulerParams"),
    ("", "ClcDynamicPersistentTileSchedulerParams"): _scheduler("ClcDynamicPersistentTileSchedulerParams"),
    ("", "get_grid_shape"): _grid,
    ("", "from_tensor"): _from_tensor,
    ("", "get_smem_capacity_in_bytes"): _smem_capacity,
    **TENSOR_MEMORY,
    **TMA,
    **TUPLES,
}
