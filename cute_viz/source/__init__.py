"""Whole files -> their objects: what a file of C++ or Python, a compiler's text or CuTe IR defines, by scope, name and line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cute_viz.source.model import Given, SourceFile

LANGUAGES = ("cpp", "python", "mlir", "triton", "types")


def read(text: str, language: str, given: Given) -> SourceFile:
    """The entries of a file in one of LANGUAGES; reading evaluates nothing."""
    from dataclasses import replace

    reader = import_module(f"cute_viz.source.{language}")
    file: SourceFile = replace(reader.read(text, given), language=language, given=given)
    return file
