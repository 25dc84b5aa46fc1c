"""A value of the kind that a name is likely to need: what the hint of a missing value suggests."""

from __future__ import annotations

import re
from functools import lru_cache

_TENSOR, _LAYOUT, _TILE = "(512,512):(512,1)", "(8,64):(64,1)", "(128,128,64)"
_EXAMPLES = (
    (("dtype", "element_type", "numeric", "elem_ty"), "cutlass.Float16"),
    (("major_mode", "leading_mode"), "K"),
    (("layoutenum", "major", "a_layout", "b_layout", "c_layout"), "ROW_MAJOR"),
    (("tensor",), _TENSOR),
    (("layout",), _LAYOUT),
    (("cluster_shape_mnk", "cluster_shape"), "(1,1,1)"),
    (("mnkl",), "(512,512,512,1)"),
    (("tile", "shape", "tiler", "mnk", "cluster", "tuple"), _TILE),
    (("bool", "is_", "use_", "has_"), "False"),
)
_ATOM = "SM80_16x8x16_F32F16F16F32_TN"


@lru_cache(1024)  # of every unknown integer that an operation meets
def hint_for(name: str, annotation: str = "", default: str = "128") -> str:
    """The words that ask for a value."""
    if name.startswith("threadIdx."):
        return f"for the part of one thread: `let={name}=5`"
    return f"give it a value: `let={name}={example(name, annotation, default)}`"


def example(name: str, annotation: str = "", default: str = "128") -> str:
    """A value of the kind that a name of Python or of CuTe's notation is likely to have; `default` where it is likely a size."""
    kind, last = annotation.lower(), name.lower().rpartition(".")[2]
    if last.endswith("mma"):
        return f"make_tiled_mma({_ATOM}{{}})"
    pair = last.endswith("_mn") or kind.count("int") == 2
    for words in (last, kind) if "tuple" in kind else (kind, last):
        for known, value in _EXAMPLES:
            if any(word in words for word in known):
                return f"{value.rpartition(',')[0]})" if pair and value.count(",") == 2 else value
    if re.fullmatch(r"[ABCL]|t?[A-D]?[sgr][A-D]|s[QKVOP]", name.rpartition(".")[2]) and not annotation:
        return _LAYOUT
    return default


def example_value(name: str) -> str:
    """A number, or a truth value, that a parameter of this name of a C++ template may be."""
    low = name.lower()
    if low.startswith(("is_", "has_", "use_", "kis", "enable")):
        return "true"
    return "4" if "warps" in low else "3" if "stage" in low or "pipe" in low else "128"


def example_type(name: str) -> str:
    """A type that a parameter of this name of a C++ template may be, or the value of an argument of such a type."""
    low = name.lower()
    if "copy" in low and "tiled" not in low:
        return "Copy_Atom<UniversalCopy<uint128_t>,half_t>"
    if any(word in low for word in ("copy", "param", "traits", "engine", "argument", "storage", "kernel", "policy", "schedule")):
        return "..."
    if "mma" in low and "shape" not in low:
        return f"TiledMMA<MMA_Atom<{_ATOM}>>"
    if "cluster" in low:
        return "(1,1,1)"
    if "shape" in low or "tile" in low:
        return _TILE
    if "layout" in low or "stride" in low or "atom" in low:
        return _LAYOUT
    if "arch" in low:
        return "Sm80"
    return "half_t" if re.search(r"elem|type|value|precision|accum|half|float|^t[a-z]?_?$", low) else "..."
