"""The keywords of the Python interface, by their types, for editors and checkers; `options` has what they mean."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

Folders: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]  # one, or several
Range: TypeAlias = int | str | range | None


class SourceWords(TypedDict, total=False):
    """How a source is read, but for `let`: see `parse`."""

    name: str | None
    dialect: str
    layouts: Folders
    limits: Mapping[str, int] | None
    arch: str
    wave: int | None
    shape: str | tuple[int, ...]
    bits: int | None


class PageWords(TypedDict, total=False):
    """How a figure is written: see `render`."""

    style: str | None
    palette: str | None
    theme: str | None
    fragment: bool | None
    width: float | None
    cell: float | None
    target: str | None
    bare: bool | None
    letters: float | None
    animate: bool | None


class DrawingWords(SourceWords, total=False):
    """How an object is drawn: see `figure`."""

    let: Mapping[str, object] | None
    view: str | None
    tile: str | tuple[int, int] | None
    color_by: str | None
    labels: str | None
    coords: bool | None
    title: str | None
    thread: Range
    warp: Range
    value: Range
    follow: Range
    operand: str | None
    type: int | str | None
    tensor: object
    schedule: str | None
    cluster: str | tuple[int, int] | None
    coord: str | None
    by: object
    note: str | None
    max_cells: int | str | None
    diff: bool | None
    fold: int | str | None
    blank: str | None
    key: bool | None
    crop: str | tuple[int, int] | None


class RenderWords(DrawingWords, PageWords, total=False):
    """All of these."""
