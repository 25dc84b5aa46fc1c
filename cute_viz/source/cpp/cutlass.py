"""What CUTLASS's tags and small helpers are: architectures, layouts of matrices and their strides, copies that its builders choose.
What its CollectiveBuilder makes is written in C++, in `cutlass.hpp`, which is read behind a text that has one.

Sources: cutlass/arch/arch.h, cutlass/layout/matrix.h, cutlass/detail/layout.hpp, cutlass/gemm/collective/builders/sm90_common.inl,
cutlass/epilogue/collective/builders/sm90_common.inl.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import each_integer
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.values import OURS, Enumerator, External, Value, solid, typed
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


def scale_factors(meaning: Meaning, owner: Value, name: str, operands: list[Value]) -> Value:
    """A function or member of CUTLASS's configurations of scale factors; None of anything else. Source:
    cutlass/detail/sm100_blockscaled_layout.hpp, cutlass/detail/blockwise_scale_layout.hpp."""
    if not isinstance(owner, External) or not owner.args:
        return None
    word, args = owner.short, owner.args
    if name in DEDUCED or (name.startswith("deduce_layout") and not operands):
        return _deduced(word, args, name[-1])
    if word == "Sm1xxBlockScaledConfig":  # a static extent of one block has the stride 0
        operands = [each_integer(lambda n: n if isinstance(n, Runtime) else Static(n), x) for x in operands]
        found: Value = each_integer(lambda n: int(n) if isinstance(n, Static) else n, meaning.operate(name, operands, args))
        return found
    return meaning.operate(f"blockwise_{name}", operands, args) if re.fullmatch(r"Sm1\w+BlockwiseScaleConfig", word) else None


def _deduced(word: str, args: tuple[Any, ...], operand: str) -> Value:
    """The type of the layout of the scale factors of any problem: what the problem tells is not known."""
    error = AlgebraError("this integer is only known where the layout is made")
    if match := re.fullmatch(r"Sm1xxBlockScaled(Output)?Config", word):
        rows = not (match[1] and any(map(_is_mn, args)))
        modes = [((32, 4), (16, 4)), ((args[0], 4), (0, 1))][:: 1 if rows else -1]
        steps = (_INT, 512, _INT) if rows else (512, _INT, _INT)
        shape = (*((mode, _INT) for mode, _ in modes), _INT)
        stride = (*((mode, step) for (_, mode), step in zip(modes, steps, strict=False)), _INT)
    elif re.fullmatch(r"Sm1\w+BlockwiseScaleConfig|Sm90BlockwiseScaleConfig", word) and len(args) >= 3 and operand in "AB":
        n = "AB".index(operand)
        columns = all(map(_is_mn, args[3 + n : 4 + n]))
        shape = ((args[n], _INT), (args[2], _INT), _INT)
        stride = ((0, 1 if columns else _INT), (0, _INT if columns else 1), _INT)
    else:
        return None
    return Layout(typed(shape, error, "shape"), typed(stride, error, "stride"))  # type: ignore[arg-type]


def scale_type(value: External) -> str | None:
    """The scale factors of a type of scaled elements, mx_float8_t<T> or nv_float4_t<T> (cutlass/float_subbyte.h); None of
    another."""
    match = re.fullmatch(r"(mx_float[468]|nv_float4)_t", value.short)
    return None if match is None else "float_ue4m3_t" if match[1] == "nv_float4" else "float_ue8m0_t"


def tag_member(value: External, name: str) -> Value:
    """`T::name` of a tag of CUTLASS; None of what is none."""
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
    """TMEM::tmem_load_to_store: the tcgen05.st of the shape of a tcgen05.ld (cute/atom/copy_traits_sm100.hpp). Raises:
    AlgebraError for any other operation."""
    from cute_viz.source.cpp.atoms import instruction

    op = getattr(solid(args[0]), "instruction", UNKNOWN) if len(args) == 1 else UNKNOWN
    found = None
    if op.kind == "tcgen05.ld" and "stat" not in op.words:
        found = instruction(meaning, op.name.replace("LOAD", "STORE"), None, span)
    if found is None:
        raise AlgebraError("No TMEM_STORE matching for provided TMEM_LOAD", hint="example: SM100_TMEM_LOAD_32dp32b1x{}")
    return found


NAMES = ("CollectiveBuilder", "GemmUniversal", "GemmUniversalAdapter")
DRAWN = {  # the members of what CollectiveBuilder makes that can be drawn
    "gemm": ("TiledMma", "SmemLayoutAtomA", "SmemLayoutAtomB", "SmemLayoutA", "SmemLayoutB"),
    "epilogue": ("SmemLayoutAtomC", "SmemLayoutAtomD"),
}


# What is read behind a text that has one of these words.
_BEHIND = {
    "cutlass.hpp": NAMES,
    "helpers.hpp": words(
        "smem_selector tile_to_mma_shape SM70_QuadPair SM70_8x4_ SM70_8x8_ SM80_8x4 SM80_8x8_ SM80_8x16_ SM80_16x8_ ALayout_64x "
        "CLayout_64x ABLayout TagToStride StrideToLayoutTag _to_major_ _umma_major_ is_major is_mn_major is_k_major "
        "sm90_cluster_shape_to_tma_atom sm90_get_smem_ _trivial_blockwise_scale_config"
    ),
}


@cache
def _text(name: str) -> str:
    from importlib.resources import files  # loads a dozen modules

    return (files("cute_viz.source.cpp") / name).read_text("utf-8")


def with_cutlass(text: str) -> str:
    """A text with what CUTLASS's headers define of the words that it has behind it; of NAMES where it does not define them."""
    out = text
    for file, names in _BEHIND.items():
        own = names is NAMES and re.search(rf"\b(?:struct|class)\s+(?:{'|'.join(NAMES)})\b", text)
        if own or not any(name in out for name in names):
            continue
        ours = _text(file)
        macros = sorted(set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)) & set(re.findall(r"\w+", ours)))
        out = "\n".join([out, *(f"#undef {macro}" for macro in macros), f'#line 1 "{file}"', ours])
    return out


def made(meaning: Meaning, full: str, args: tuple[Node, ...], span: Span) -> Value:
    """One of NAMES with its arguments: a class whose members are evaluated when they are asked for. Raises: NotationError for an
    architecture or a kind whose rule is not read here; AlgebraError for what CUTLASS refuses."""
    name = full.rsplit("::", 1)[-1]
    if name == "CollectiveBuilder":
        if len(args) < 13:
            raise meaning.fail(f"{full} takes 13 arguments or more", span)
        arch, kind = (tag_word(meaning.argument(item)) for item in args[:2])
        if arch not in ("Sm90", "Sm100"):
            raise meaning.fail(f"{full} is supported for cutlass::arch::Sm90 and Sm100, not for {arch}", span)
        if kind not in ("OpClassTensorOp", *(["OpClassBlockScaledTensorOp"] if arch == "Sm100" else ())) or "conv" in full:
            raise meaning.fail(f"{full} is supported for GEMMs of OpClassTensorOp, not for {kind}", span)
        first = meaning.value(args[2])
        epilogue = "epilogue" in full or (isinstance(first, tuple) and not any(isinstance(x, ValueType) for x in first))
        name = f"{'Epilogue' if epilogue else 'Mainloop'}{arch[2:]}"
    found = meaning.lookup.packaged(name, OURS)
    if found is None:
        raise meaning.fail(f"the result of {full} is known only in files", span)
    value = meaning.meant(found, Part(name, args, span), span)
    if name.startswith(("Mainloop", "Epilogue")):
        meaning.type_member(value, Part("checked", None, span), span)
    return value


_FUSION = re.compile(  # of cutlass/epilogue/fusion/operations.hpp what scales no columns
    r"(\w+::)*(LinearCombination|LinComb(EltAct|TopKSoftmaxCol|Per(Row|Col)Bias)|LinComb(Per(Row|Col)Bias)?(EltAct)?BlockScaleFactor"
    r"|(Scaled)?LinCombPer(Row|Col)BiasEltAct(Aux|AmaxAux)?|LinCombDeEltAct(DePerRowBias)?|PerRowLinCombPerRowBiasEltAct)"
)


def is_plain_fusion(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> bool:
    """Whether the fusion of an epilogue scales no columns, so that it takes the tile of the default one."""
    fusion = meaning.argument((part.args or ())[0])
    return isinstance(fusion, External) and _FUSION.fullmatch(fusion.name) is not None


def check(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> bool:
    """A condition of our headers: `cute_viz_check(condition, "words", values...)`. Raises: AlgebraError in these words where it
    does not hold."""
    if meaning.truth(args[0]):
        return True
    refusal = str(meaning.value(args[1])).strip('"')
    for value in map(meaning.value, args[2:]):
        refusal = refusal.replace("%", value.short if isinstance(value, External) else show(value), 1)
    raise AlgebraError(refusal)
