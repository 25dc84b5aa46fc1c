"""Static integers throughout a value: CuTe's types, such as atoms and `Layout<...>`, have no others, and print so.

A class whose fields hold layouts names them in `marked`; `tiling` says which family of pictures it belongs to.
"""

from __future__ import annotations

import re
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import Static, show
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.algebra.stride import Basis


def mark_static(value: Any) -> Any:
    """The same value with every integer marked as static.

    >>> str(mark_static(Layout((4, 8))))
    '(_4,_8):(_1,_4)'
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return Static(value)
    if isinstance(value, tuple):
        return tuple(map(mark_static, value))
    if isinstance(value, Basis):
        return Basis(mark_static(value.value), value.path)
    if isinstance(value, Layout):
        return trusted(mark_static(value.shape), mark_static(value.stride))
    if isinstance(value, ComposedLayout):
        return ComposedLayout(mark_static(value.outer), mark_static(value.offset), mark_static(value.inner))
    if is_tiling(value):
        from dataclasses import replace

        return replace(value, **{name: mark_static(getattr(value, name)) for name in value.marked})
    return value


def is_tiling(value: Any) -> bool:
    """Whether a value is an atom, a tiling of atoms, or a thread's view of one.

    >>> from cute_viz import parse
    >>> is_tiling(parse("SM80_16x8x16_F32F16F16F32_TN{}")), is_tiling(Layout(4))
    (True, False)
    """
    return bool(getattr(type(value), "marked", ()))


def clean(value: Any) -> str:
    """A value as CuTe prints it, less the underscores of static integers.

    >>> clean(mark_static(Layout((4, 8))))
    '(4,8):(1,4)'
    """
    return re.sub(r"_(?=-?\d)", "", show(value))
