"""Whole files -> their objects: what a file of C++ or Python, a compiler's text or CuTe IR defines, by scope, name and line."""

from __future__ import annotations

from cute_viz.source.model import Given, SourceFile

LANGUAGES = ("cpp", "python", "mlir", "types")


def read(text: str, language: str, given: Given) -> SourceFile:
    """The entries of a file in one of LANGUAGES; reading evaluates nothing.

    >>> file = read("struct A { static constexpr int n = 4; };", "cpp", Given())
    >>> file.find("A::n").read()
    4
    """
    if language == "cpp":
        from cute_viz.source import cpp

        return cpp.read(text, given)
    if language == "python":
        from cute_viz.source import python

        return python.read(text, given)
    if language == "mlir":
        from cute_viz.source import mlir

        return mlir.read(text, given)
    from cute_viz.source import types

    return types.read(text, given)
