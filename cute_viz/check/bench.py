"""How fast the layout kernel is: a table of 2^28 entries, in bytes a second, beside what the device copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets_numpy
from cute_viz.check.job import Kernel, Launch
from cute_viz.check.layout_ptx import kernel
from cute_viz.check.layouts import launch
from cute_viz.limits import raised

ENTRIES = 1 << 28
LAYOUT = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((1 << 14, 1 << 14), (1 << 14, 1)))
ENTRY = "bandwidth"


def made() -> Kernel:
    """The kernel of the large layout.

    >>> f"// {LAYOUT}" in made().body
    True
    """
    return kernel([LAYOUT], ENTRY)


def table() -> Launch:
    """The launch that compares all entries; each is read once and written once, 4 bytes at a time."""
    with raised({"elements": ENTRIES}):
        entries = offsets_numpy(LAYOUT, np).astype(np.int32)
    return launch(f"{ENTRY}_0", entries.tobytes(), ENTRIES)


def found(seconds: float, copied: float) -> dict[str, Any]:
    """What a report says: bytes a second of the kernel and of the copy, and their ratio.

    >>> found(0.001, 4.0e12)["of the copy"]
    0.537
    """
    speed = 2 * 4 * ENTRIES / seconds
    return {
        "layout": str(LAYOUT),
        "entries": ENTRIES,
        "layout kernel, GB/s": round(speed / 1e9, 1),
        "device copy, GB/s": round(copied / 1e9, 1),
        "of the copy": round(speed / copied, 3),
    }
