"""Who holds what: a coordinate, a thread, a bank, a byte of a picture -> the cells of every matrix, with their owners, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cute_viz.errors import UsageError
from cute_viz.figures.model import Figure, Panel

if TYPE_CHECKING:
    from cute_viz.engine import Answer

MOST = 64  # cells that are told
_COORDINATE = re.compile(r"^([A-Za-z]\w*)?\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)$")
_THREADS = re.compile(r"^T(\d+)(?:\s*(?:-|\.\.)\s*T?(\d+))?(?:[\s,]*V(\d+)(?:\s*(?:-|\.\.)\s*V?(\d+))?)?$|^V(\d+)$", re.IGNORECASE)
_COLUMN = re.compile(r"^(warp|lane|bank|byte|offset)s?\s*=?\s*(\d+)$", re.IGNORECASE)
_HINT = "C(5,3), (5,3), T5, T0-T3, T5 V1, V1, bank 3, byte 128, offset 9, warp 1, lane 4"
Test = Callable[[Panel, int], bool]


def who(answer: Callable[[dict[str, Any]], Answer], where: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What `who_owns` has of the picture with these options; a bank or a byte of a layout needs no view, only they the type of
    the elements. answer: to options. Raises: UsageError as `who_owns` does, and where the width of an element is not known."""
    if "view" in options:
        return who_owns(answer(dict(options)).figure, where)
    plain = answer({name: value for name, value in options.items() if name != "type"})
    column = re.match(r"\s*(bank|byte)s?\b", where, re.IGNORECASE)
    if column is None or any(column[1].lower() in panel.data for panel in plain.figure.panels):
        return who_owns(plain.figure, where)
    if plain.figure.kind != "grid":
        raise UsageError(f"the picture has no {column[1].lower()}s: only layouts in memory do")
    if "type" not in options and plain.bits is None:
        raise UsageError("the width of an element is not known", hint="give the type of the elements: `type=f16`")
    return who_owns(answer({**options, "view": "banks"}).figure, where)


def who_owns(figure: Figure, where: str) -> dict[str, Any]:
    """The cells that `where` means, matrix by matrix, each with its (thread, value) pairs; and the same in words. Raises:
    UsageError for words that mean nothing here, or nothing that the picture has."""
    letter, test = _meaning(re.sub(r"(?i)\b(t)hreads?[ =]*(?=\d)|\b(v)alues?[ =]*(?=\d)", r"\1\2", where.strip()))
    at_cell = _COORDINATE.match(where.strip()) is not None
    told, cells = [], []
    for panel in figure.panels:
        name = panel.caption.partition(":")[0]
        if letter and name.partition(" ")[0].lower() != letter.lower():
            continue
        mine = [cell for cell in range(panel.rows * panel.cols) if test(panel, cell)]
        found = [(divmod(cell, panel.cols), owners(panel, cell)) for cell in mine]
        cells += [{"matrix": name, "row": at[0], "column": at[1], "owners": list(held)} for at, held in found]
        axes = " of K x N" if (panel.row_ruler.title, panel.col_ruler.title) == ("K", "N") else ""  # CuTe's own B is N x K
        kept = [(at, held or (_offset(panel, cell) if at_cell else ())) for cell, (at, held) in zip(mine[:8], found, strict=False)]
        said = [f"{name}({r},{c}){axes}{': ' if held else ''}{', '.join(held[:4])}" for (r, c), held in kept]
        told += [*said, *([f"{len(found) - 8} more of {name or 'them'}"] if len(found) > 8 else [])]
    if not cells:
        names = ", ".join(f"{p.caption.partition(':')[0]} {p.rows} x {p.cols}".strip() for p in figure.panels)
        raise UsageError(f"nothing here is {where.strip()[:40]!r}", hint=f"example: {_HINT}; the picture has {names}")
    out: dict[str, Any] = {"words": "; ".join(told), "cells": cells[:MOST]}
    return out | ({"left_out": len(cells) - MOST} if len(cells) > MOST else {})


def owners(panel: Panel, cell: int) -> tuple[str, ...]:
    """Who owns a cell, `T5 V1`; a table's rows are threads and its columns values."""
    return tuple(f"T{t}" if v is None else f"V{v}" if t is None else f"T{t} V{v}" for t, v in _pairs(panel, cell))


def _offset(panel: Panel, cell: int) -> tuple[str, ...]:
    """The offset of a cell that nobody owns, that of a layout."""
    offset = panel.data["offset"][cell] if "offset" in panel.data else None
    return () if offset is None else (f"offset {offset}",)


def _pairs(panel: Panel, cell: int) -> Iterator[tuple[int | None, int | None]]:
    for at, mine in panel.owners:
        if at == cell:
            yield from mine
            return
    threads, values = panel.data.get("thread"), panel.data.get("value")
    if threads is not None or values is not None:
        pair = threads[cell] if threads else None, values[cell] if values else None
        if pair != (None, None):
            yield pair
    elif (panel.row_ruler.title, panel.col_ruler.title) == ("thread", "value"):
        yield divmod(cell, panel.cols)


def _meaning(where: str) -> tuple[str, Test]:
    """The letter of the one matrix that is meant, "" for all, and a test of a cell."""
    if match := _COORDINATE.match(where):
        at = int(match[2]), int(match[3])
        return match[1] or "", lambda panel, cell: divmod(cell, panel.cols) == at
    if match := _THREADS.match(where):
        first, last, v_first, v_last, alone = (None if word is None else int(word) for word in match.groups())
        threads = None if first is None else range(first, (first if last is None else last) + 1)
        if alone is not None:
            v_first = alone
        values = None if v_first is None else range(v_first, (v_first if v_last is None else v_last) + 1)

        def held(panel: Panel, cell: int) -> bool:
            return any((threads is None or t in threads) and (values is None or v in values) for t, v in _pairs(panel, cell))

        return "", held
    if match := _COLUMN.match(where):
        name, number = match[1].lower(), int(match[2])
        if name in ("bank", "byte", "offset"):
            return "", lambda panel, cell: name in panel.data and panel.data[name][cell] == number

        def among(panel: Panel, cell: int) -> bool:
            return any(t is not None and divmod(t, panel.warp)[name == "lane"] == number for t, _ in _pairs(panel, cell))

        return "", among
    raise UsageError(f"{where[:40]!r} is not a place", hint=_HINT)
