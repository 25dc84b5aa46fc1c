"""What the reader knows of modules that files import, in the DSL's own words: `quack`, and helpers of the DSL for its own parts.

What lies beside a source under the name of `quack` is read instead. Sources of these texts: quack's layout_utils.py, sm90_utils.py
and copy_utils.py; cutlass/utils/blackwell_helpers.py, gemm/sm100.py, mixed_input_helpers.py and tensor_helpers.py of the Python DSL
4.8. Of torch and argparse they have what scripts make tensors with, and no elements.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

HELPERS = "cutlass.helpers"  # those that a name means in several modules: see `helper`
MODULES = (
    *(HELPERS, "quack.layout_utils", "quack.sm90_utils", "quack.copy_utils", "cutlass.utils.blackwell_helpers"),
    *("cutlass.utils.gemm.sm100", "cutlass.utils.mixed_input_helpers"),
)
SCRIPTS = ("cutlass.utils.tensor_helpers", "cutlass.torch", "cutlass.cute.runtime", "torch", "argparse")  # of hosts that are run


@cache
def text_of(module: str) -> str:
    """The text of one of MODULES.

    >>> text_of("quack.sm90_utils").splitlines()[0]
    'import cutlass'
    """
    return (files("cute_viz.source.python") / "dsl" / f"{module}.dsl").read_text("utf-8")


@cache
def defined(module: str) -> frozenset[str]:
    """The functions of one of MODULES.

    >>> "reshape_acc_to_mn" in defined("quack.layout_utils")
    True
    """
    return frozenset(re.findall(r"^(?:def |class )?(\w+)(?= = \w+$|[(:])", text_of(module), re.M))


def helper(family: str, name: str) -> str:
    """The function among the helpers that a name of a part of the DSL is, "" for none.

    >>> helper("utils", "sm90_make_smem_layout_a"), helper("utils", "make_smem_layout_a"), helper("cute", "size")
    ('sm90__make_smem_layout_a', 'sm100__make_smem_layout_a', '')
    """
    word = name.removeprefix("sm90_")
    parts = ("sm90",) if word != name else ("sm100", "sm90") if family == "utils" else (family,)
    known = defined(HELPERS)
    return next((found for found in (*(f"{part}__{word}" for part in parts), name) if found in known and found[0] != "_"), "")
