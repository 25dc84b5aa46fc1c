"""Names of modules that are not of the text: which part of the DSL a dotted name means."""

from __future__ import annotations

from typing import Any

from cute_viz.records import rows
from cute_viz.source.python.values import EnumMember, Symbol, element

# The enumerations of the DSL, whose members are what they are called.
_ENUMS = (
    "LayoutEnum OperandMajorMode OutputMajorMode OperandSource CtaGroup SmemLayoutAtomKind LoadCacheMode StoreCacheMode "
    "Repetition Pack Unpack AddressSpace TransformMode TmemLoadRedOp ReductionOp Field"
)
ENUMS = frozenset(_ENUMS.split())
_ROWS = rows(__file__, "modules.txt")
_FAMILIES = {cells[0]: cells[1] for cells in _ROWS if len(cells) == 2}  # the module that a part of a path stands for
USUAL = {cells[0]: cells[2] for cells in _ROWS if len(cells) == 3}  # what names are where a piece of a file lacks the import
_WORDS = (
    "abs all any bool dict divmod enumerate filter float getattr hasattr int isinstance issubclass len list map max min pow print "
    "range reversed round set setattr sorted str sum super tuple type zip object frozenset repr format slice property "
    "__given__ staticmethod classmethod NotImplementedError ValueError TypeError Exception RuntimeError"
)
BUILTINS = frozenset(_WORDS.split())


def is_library(path: str) -> bool:
    """Whether a dotted name is the DSL's.

    >>> is_library("cutlass.cute.size"), is_library("flash_attn.cute.utils")
    (True, False)
    """
    return path.partition(".")[0] in ("cutlass", "cute")


def family(path: str) -> str:
    """The part of the DSL that a name of it belongs to.

    >>> family("cutlass.utils.hopper_helpers.make_smem_layout_a"), family("cutlass.cute.nvgpu.warp.mma.MmaF16BF16Op")
    ('sm90', 'warp')
    """
    for word in reversed(path.split(".")[:-1]):
        if word in _FAMILIES:
            return _FAMILIES[word]
    return ""


def symbol(path: str) -> Any:
    """What a dotted name of a module is: an element type, a member of an enumeration, or the name itself.

    >>> symbol("cutlass.Float16").bits, symbol("cutlass.utils.LayoutEnum.ROW_MAJOR").name, symbol("torch.half")
    (16, 'ROW_MAJOR', Symbol(path='torch.half'))
    """
    if not is_library(path):
        return Symbol(path)
    head, _, last = path.rpartition(".")
    enum = head.rpartition(".")[2]
    if enum in ENUMS and last[:1].isalpha() and not last.startswith("from_"):
        times = int(last[1:]) if enum == "Repetition" and last[1:].isdecimal() else None
        return EnumMember(enum, last, {"ONE": 1, "TWO": 2}.get(last) if enum == "CtaGroup" else times)
    if (kind := element(last)) is not None and last[:1].isupper():
        return kind
    return Symbol(path)
