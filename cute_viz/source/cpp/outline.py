"""A C++ file -> its scopes and declarations, by the whole grammar."""

from __future__ import annotations

from cute_viz.source.cpp.blocks import CONTROL, WORDS
from cute_viz.source.cpp.declarators import declaration
from cute_viz.source.cpp.declare import Declarer, Grammar
from cute_viz.source.cpp.preprocess import Source


def outline(source: Source) -> Declarer:
    """The scopes of a file, `file` being the outermost; nothing in it is evaluated.

    >>> from cute_viz.source.model import Given
    >>> out = outline(Source("template <int N> struct A { using B = Int<N>; static constexpr int c = 4, d{5}; };", Given()))
    >>> [member.name for member in out.file.names["A"][0].inner.declarations]
    ['B', 'c', 'd']
    """
    out = Declarer(source, Grammar(WORDS, CONTROL, declaration))
    out.body(out.file, 0)
    return out
