"""What CUTLASS's tags and small helpers are: architectures, layouts of matrices and their strides, copies that its builders choose.

Sources: cutlass/arch/arch.h, cutlass/layout/matrix.h, cutlass/detail/layout.hpp, cutlass/gemm/collective/builders/sm90_common.inl,
cutlass/epilogue/collective/builders/sm90_common.inl.
"""

from __future__ import annotations

import re
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import each_integer
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.values import Enumerator, External, Value, solid, typed
from cute_viz.values.instruction import UNKNOWN
from cute_viz.values.integer import Runtime, Static
from cute_viz.values.types import ValueType

_INT = ValueType("int")


def tag_word(value: Value) -> str:
    """The last word of a tag: `Sm90` of cutlass::arch::Sm90."""
    value = solid(value)
    return value.short if isinstance(value, External) else show(value)


SCALES = frozenset(
    f"{what}{x}"
    for what in ("tile_atom_to_shape_", "deduce_smem_layout", "smem_atom_layout", "deduce_layout")
    for x in ("SFA", "SFB", "SFD")
)
DEDUCED = ("LayoutSF", "LayoutSFA", "LayoutSFB")  # types that are those of layouts of scale factors


def _unmarked(n: int) -> int:
    return int(n) if isinstance(n, Static) else n


def scale_factors(meaning: Meaning, owner: Value, name: str, operands: list[Value]) -> Value:
    """A function or member of CUTLASS's configurations of scale factors; None of anything else. Source:
    cutlass/detail/sm100_blockscaled_layout.hpp, cutlass/detail/blockwise_scale_layout.hpp.
    """
    if not isinstance(owner, External) or not owner.args:
        return None
    word, args = owner.short, owner.args
    if name in DEDUCED or (name.startswith("deduce_layout") and not operands):
        return _deduced(word, args, name[-1])
    if word == "Sm1xxBlockScaledConfig":  # a static extent of one block has the stride 0
        operands = [each_integer(lambda n: n if isinstance(n, Runtime) else Static(n), x) for x in operands]
        found: Value = each_integer(_unmarked, meaning.operate(name, operands, args))
        return found
    return meaning.operate(f"blockwise_{name}", operands, args) if re.fullmatch(r"Sm1\w+BlockwiseScaleConfig", word) else None


def _deduced(word: str, args: tuple[Any, ...], operand: str) -> Value:
    """The type of the layout of the scale factors of any problem: what the problem tells is not known."""
    error = AlgebraError("this integer is only known where the layout is made")
    if match := re.fullmatch(r"Sm1xxBlockScaled(Output)?Config", word):
        rows = not (match[1] and len(args) > 1 and _is_mn(args[1]))
        modes = [((32, 4), (16, 4)), ((args[0], 4), (0, 1))][:: 1 if rows else -1]
        steps = (_INT, 512, _INT) if rows else (512, _INT, _INT)
        shape = (*((mode, _INT) for mode, _ in modes), _INT)
        stride = (*((mode, step) for (_, mode), step in zip(modes, steps, strict=False)), _INT)
    elif re.fullmatch(r"Sm1\w+BlockwiseScaleConfig|Sm90BlockwiseScaleConfig", word) and len(args) >= 3:
        first = args["AB".index(operand)]
        major_ = args[3 + "AB".index(operand)] if len(args) > 3 + "AB".index(operand) else None
        columns = major_ is None or _is_mn(major_)
        shape = ((first, _INT), (args[2], _INT), _INT)
        stride = ((0, 1 if columns else _INT), (0, _INT if columns else 1), _INT)
    else:
        return None
    return Layout(typed(shape, error, "shape"), typed(stride, error, "stride"))  # type: ignore[arg-type]


def scale_type(value: External) -> str | None:
    """The scale factors of a type of scaled elements, mx_float8_t<T> or nv_float4_t<T> (cutlass/float_subbyte.h); None of another.

    >>> scale_type(External("cutlass::nv_float4_t")), scale_type(External("Foo"))
    ('float_ue4m3_t', None)
    """
    match = re.fullmatch(r"(mx_float[468]|nv_float4)_t", value.short)
    return None if match is None else "float_ue4m3_t" if match[1] == "nv_float4" else "float_ue8m0_t"


def tag_member(value: External, name: str) -> Value:
    """`T::name` of a tag of CUTLASS; None of what is none.

    >>> int(tag_member(External("cutlass::arch::Sm90"), "kMinComputeCapability"))
    90
    """
    word = value.short
    if word.startswith("MainloopSm") and value.args:  # cutlass/gemm/dispatch_policy.hpp
        first = value.args[0]
        if name == "Stages" and isinstance(first, int):
            return Runtime(first)
        return next((x for x in value.args if isinstance(x, tuple)), None) if name == "ClusterShape" else None
    if word == "LayoutTranspose" and name == "type" and value.args:  # cutlass/layout/matrix.h
        other = {"RowMajor": "ColumnMajor", "ColumnMajor": "RowMajor"}.get(tag_word(value.args[0]))
        return None if other is None else External(f"cutlass::layout::{other}")
    if (factor := scale_type(value)) is not None and value.args:
        return value.args[0] if name == "DataType" else ValueType(factor) if name == "ScaleFactorType" else None
    match = re.fullmatch(r"Sm(\d{2,3})", word)
    if match is not None and name == "kMinComputeCapability":
        return Runtime(int(match[1]))
    return None


def _is_mn(value: Value) -> bool:
    return isinstance(value, Enumerator) and value.name == "MN"


def tmem_store_of(meaning: Meaning, args: list[Value], span: Span) -> Value:
    """TMEM::tmem_load_to_store: the tcgen05.st of the shape of a tcgen05.ld (cute/atom/copy_traits_sm100.hpp). Raises: AlgebraError
    for any other operation.
    """
    from cute_viz.source.cpp.atoms import instruction

    op = getattr(solid(args[0]), "instruction", UNKNOWN) if len(args) == 1 else UNKNOWN
    found = None
    if op.kind == "tcgen05.ld" and "stat" not in op.words:
        found = instruction(meaning, op.name.replace("LOAD", "STORE"), None, span)
    if found is None:
        raise AlgebraError("No TMEM_STORE matching for provided TMEM_LOAD", hint="example: SM100_TMEM_LOAD_32dp32b1x{}")
    return found
