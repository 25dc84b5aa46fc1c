"""Cells as the pixels of an indexed PNG (ISO/IEC 15948), for pictures of very many cells; the standard library does it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from cute_viz.figures.model import HOLE

LEVEL = 6  # of zlib


def raster(paints: Sequence[int], cols: int, colours: Sequence[str], scale: int = 1, step: int = 1) -> bytes:
    """A PNG with a square of scale x scale pixels for each cell; with a step, for each step-th cell of each step-th row.

    paints: of each cell, row by row; colours: #rrggbb of each paint, and last of a cell with none. At most 255 paints; more
    share the last colour.
    """
    table = [*colours[:-1][:255], colours[-1]]
    last = len(table) - 1
    number = {paint: min(paint, last - 1) for paint in range(len(colours) - 1)}
    number[HOLE] = last
    height = len(range(0, len(paints) // cols, step))
    lines = []
    for r in range(0, len(paints) // cols, step):
        row = paints[r * cols : (r + 1) * cols : step]
        line = row if isinstance(row, bytes) else bytes([number[paint] for paint in row])
        lines.append((b"\0" + _wide(line, scale)) * scale)
    rgb = bytes.fromhex("".join(colour[1:] for colour in table))
    header = struct.pack(">IIBBBBB", -(-cols // step) * scale, height * scale, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", rgb), (b"IDAT", zlib.compress(b"".join(lines), LEVEL)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _wide(line: bytes, scale: int) -> bytes:
    """Each byte scale times."""
    if scale == 1:
        return line
    out = bytearray(len(line) * scale)
    for n in range(scale):
        out[n::scale] = line
    return bytes(out)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
