"""Words that figures share: `1 thread`, `32 threads`, `an 8`, and what colour means."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cute_viz.figures.model import Legend


def count(number: int, what: str) -> str:
    """A number of things.

    >>> count(1, "thread"), count(32, "thread")
    ('1 thread', '32 threads')
    """
    return f"{number} {what}" + ("" if number == 1 else "s")


def an(number: int) -> str:
    """A number with its article.

    >>> an(8), an(16), an(11)
    ('an 8', 'a 16', 'an 11')
    """
    return f"{'an' if str(number)[0] == '8' or number in (11, 18) else 'a'} {number}"


NOT_RUN = "not run on hardware"  # what a figure says of machines; check/digest.py, `told`, takes it back where a report is kept


def not_run(machine: str = "SM100") -> str:
    """That nothing drawn was run on a machine.

    >>> not_run("SM120")
    'SM120: not run on hardware.'
    """
    return f"{machine}: {NOT_RUN}."


def ptx_name(name: str) -> str:
    """What PTX calls the MMA of a CUTLASS name; "" where the name does not say.

    >>> ptx_name("SM80_16x8x16_F32F16F16F32_TN"), ptx_name("SM90_64x128x16_F32F16F16_SS"), ptx_name("SM100_MMA_F16BF16_SS")
    ('mma.m16n8k16', 'wgmma.m64n128k16', '')
    """
    found = re.match(r"SM(75|80|89|90|120)_(?:SPARSE_)?(\d+)x(\d+)x(\d+)_", name)
    if not found:
        return ""
    kind = "wgmma" if found[1] == "90" and found[2] == "64" else "mma"
    return f"{kind}{'.sp' if '_SPARSE_' in name else ''}.m{found[2]}n{found[3]}k{found[4]}"


def colours(legends: Iterable[Legend]) -> str:
    """What colour means, for a description; it follows a sentence.

    >>> colours([Legend("hue: thread", ())])
    ' Colour, hue: thread.'
    """
    return "".join(f" Colour, {legend.title}." for legend in legends)
