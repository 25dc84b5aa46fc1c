"""Modules that are not of the text: which part of the DSL a dotted name means, and what is known of them in the DSL's own words.

What lies beside a source under the name of `quack` is read instead. Sources of these texts: quack's layout_utils.py, sm90_utils.py
and copy_utils.py; cutlass/utils/blackwell_helpers.py, gemm/sm100.py, mixed_input_helpers.py and tensor_helpers.py of the Python DSL
4.8. Of torch and argparse they have what scripts make tensors with, and no elements.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

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
    """Whether a dotted name is the DSL's."""
    return path.partition(".")[0] in ("cutlass", "cute")


def family(path: str) -> str:
    """The part of the DSL that a name of it belongs to."""
    for word in reversed(path.split(".")[:-1]):
        if word in _FAMILIES:
            return _FAMILIES[word]
    return ""


def symbol(path: str) -> object:
    """What a dotted name of a module is: an element type, a member of an enumeration, or the name itself."""
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


HELPERS = "cutlass.helpers"  # those that a name means in several modules: see `helper`
MODULES = (
    *(HELPERS, "quack.layout_utils", "quack.sm90_utils", "quack.copy_utils", "cutlass.utils.blackwell_helpers"),
    *("cutlass.utils.gemm.sm100", "cutlass.utils.mixed_input_helpers"),
)
SCRIPTS = ("cutlass.utils.tensor_helpers", "cutlass.torch", "cutlass.cute.runtime", "torch", "argparse")  # of hosts that are run


@cache
def text_of(module: str) -> str:
    """The text of one of MODULES."""
    return (files("cute_viz.source.python") / "dsl" / f"{module}.dsl").read_text("utf-8")


@cache
def defined(module: str) -> frozenset[str]:
    """The functions of one of MODULES."""
    return frozenset(re.findall(r"^(?:def |class )?(\w+)(?= = \w+$|[(:])", text_of(module), re.M))


def helper(family: str, name: str) -> str:
    """The function among the helpers that a name of a part of the DSL is, "" for none."""
    word = name.removeprefix("sm90_")
    parts = ("sm90",) if word != name else ("sm100", "sm90") if family == "utils" else (family,)
    known = defined(HELPERS)
    return next((found for found in (*(f"{part}__{word}" for part in parts), name) if found in known and found[0] != "_"), "")
