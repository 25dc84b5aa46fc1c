"""What a value is: drawable, static as it was written, how large; and the small steps from one form to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import Static, leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import is_tiling
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.notation.syntax import Call, Index, Name, Node, Number, short
from cute_viz.notation.vocabulary import INTEGRALS, LAYOUTS, TUPLES


def is_drawable(value: Any) -> bool:
    """Whether a value is more than a number or a word: something to draw.

    >>> is_drawable(Layout(4)), is_drawable(4)
    (True, False)
    """
    return isinstance(value, (tuple, Layout, ComposedLayout, Swizzle)) or is_tiling(value)


def all_static(node: Node, env: Mapping[str, Any]) -> bool:
    """Whether every integer that was written was written as a static one; `env` binds names.

    Template arguments count in tuples and Layout<...> alone: those of an operation are always static.

    >>> from cute_viz.notation.statements import parse_program
    >>> [all_static(parse_program(text)[0].value, {}) for text in ("(_4,_8):(_8,_1)", "(_4,8):(8,_1)")]
    [True, False]
    """
    found = list(_statics(node, env))
    return bool(found) and all(found)


def _statics(node: Node, env: Mapping[str, Any]) -> Iterator[bool]:
    """For every integer of a node whether it is static."""
    inside = list(node.children())
    if isinstance(node, Number):
        yield node.static
    elif isinstance(node, Name):
        yield from (isinstance(leaf, Static) for leaf in _integers(env.get(node.text)))
    elif isinstance(node, Index):
        inside = [node.value]
    elif isinstance(node, Call):
        name = short(node.name)
        if name in INTEGRALS or name.startswith("Layout_"):
            yield True
        if node.args is None and not node.template:
            inside = [Name(node.span, node.name)]
        elif name not in (*TUPLES, *LAYOUTS):
            inside = list(node.args or ())
    for child in inside:
        yield from _statics(child, env)


def _integers(value: Any) -> list[Any]:
    """The integers of a value that a name stands for."""
    if isinstance(value, (int, tuple)):
        return [leaf for leaf in leaves(value) if isinstance(leaf, int)]
    if isinstance(value, Layout):
        return _integers(value.shape)
    return [*_integers(value.offset), *_integers(value.inner)] if isinstance(value, ComposedLayout) else []


def magnitudes(value: Any) -> Iterator[int]:
    """The bits of every integer of an object: of each mode, its extent and stride together.

    >>> list(magnitudes(Layout((4, 8), (8, 1))))
    [7, 5]
    """
    if isinstance(value, int):
        yield value.bit_length()
    elif isinstance(value, tuple):
        for item in value:
            yield from magnitudes(item)
    elif isinstance(value, Layout):
        for extent, stride in zip(leaves(value.shape), leaves(value.stride), strict=True):
            yield extent.bit_length() + sum(magnitudes(stride))
    elif isinstance(value, ComposedLayout):
        yield from magnitudes(value.inner)
        yield from magnitudes(value.offset)
    elif isinstance(value, Basis):
        yield int(value.value).bit_length()
    elif isinstance(value, F2):
        yield value.value.bit_length()
    else:
        yield 0


def ungroup(value: Any) -> Any:
    """A layout in parentheses is the layout (a tuple of one layout means a tiler only as an argument).

    >>> str(ungroup((Layout(4, 2),))), ungroup((4,))
    ('4:2', (4,))
    """
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], (Layout, ComposedLayout, Swizzle)):
        return value[0]
    return value
