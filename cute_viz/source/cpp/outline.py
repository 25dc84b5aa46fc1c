"""A C++ file -> its scopes and declarations, by the whole grammar."""

from __future__ import annotations

from cute_viz.source.cpp.blocks import WORDS
from cute_viz.source.cpp.control import CONTROL
from cute_viz.source.cpp.declarators import declaration
from cute_viz.source.cpp.declare import Declarer, Grammar
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Scope


def outline(source: Preprocessed) -> Declarer:
    """The scopes of a file, `file` being the outermost; nothing in it is evaluated.

    >>> out = outline(Preprocessed("template <int N> struct A { using B = Int<N>; static constexpr int c = 4, d{5}; };", Given()))
    >>> [member.name for member in out.file.names["A"][0].inner.declarations]
    ['B', 'c', 'd']
    """
    out = Declarer(source, Grammar(WORDS, CONTROL, declaration))
    out.body(out.file, 0)
    out.settle()
    _tell_apart(out, out.file)
    return out


def _tell_apart(reader: Declarer, scope: Scope) -> None:
    """Templates among functions of one name are called by their parameters; the name alone is that of a plain function."""
    for declarations in scope.names.values():
        functions = [x for x in declarations if x.kind == "function" and x.inner is not None and x.static]
        if len({tuple(param.name for param in x.params or ()) for x in functions}) > 1:
            for declaration in functions:
                if declaration.params and declaration.inner is not None:
                    words = ", ".join(param.name for param in declaration.params)
                    declaration.inner.words = (*declaration.inner.words[:-1], f"{declaration.name}<{words}>")
    for declaration in scope.declarations:
        if declaration.inner is not None and declaration.scope is scope and declaration.inner.kind in ("namespace", "class"):
            _tell_apart(reader, declaration.inner)
