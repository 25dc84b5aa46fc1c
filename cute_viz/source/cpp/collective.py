"""CUTLASS's CollectiveBuilder: what it makes is written in C++, in `cutlass.hpp`, which is read behind a text that has one."""

from __future__ import annotations

import re
from functools import cache

from cute_viz.algebra.inttuple import show
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.cutlass import tag_word
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.tokens import words
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.values import OURS, External, Value
from cute_viz.values.types import ValueType

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
    """A text with what CUTLASS's headers define of the words that it has behind it; of NAMES where it does not define them.

    >>> with_cutlass("int a;"), with_cutlass("using G = GemmUniversal<P, M, E>;").count("struct Mainloop90")
    ('int a;', 1)
    """
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
    """One of NAMES with its arguments: a class whose members are evaluated when they are asked for.

    Raises: NotationError for an architecture or a kind whose rule is not read here; AlgebraError for what CUTLASS refuses.
    """
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
    """A condition of our headers: `cute_viz_check(condition, "words", values...)`.

    Raises: AlgebraError in these words where it does not hold.
    """
    if meaning.truth(args[0]):
        return True
    refusal = str(meaning.value(args[1])).strip('"')
    for value in map(meaning.value, args[2:]):
        refusal = refusal.replace("%", value.short if isinstance(value, External) else show(value), 1)
    raise AlgebraError(refusal)
