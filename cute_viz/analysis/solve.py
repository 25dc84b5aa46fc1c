"""The inverse question: the layout that gives a table of offsets or owners, or comes nearest; the first cell that contradicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, swizzle_of
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.modes import coalesce
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError, NotationError
from cute_viz.limits import limit, over

_BITS = 20  # of offsets, whose swizzles are tried
_NEAR = 1 << 14  # cells of a table whose nearest layout is looked for
_TRIED = 1 << 18  # cells for which nearer layouts behind swizzles are looked for
_OWNER = re.compile(r"T(\d{1,9})[ ,:]*V(\d{1,9})", re.IGNORECASE)
_HELD = re.compile(r"T(\d{1,9})\s*:\s*\{?\s*((?:[a-dA-D]\d{1,9}[ ,]*)+)\}?")  # as PTX's figures have it
_HEADER = re.compile(r"\b(?:rows?|cols?|columns?|[mnk]|\d{1,9})\b|[\\/:]", re.IGNORECASE)
_NUMBER = re.compile(r"(?<!\d)[-+]?\d{1,18}(?!\d)")


@dataclass(frozen=True, slots=True)
class Solved:
    """What gives a table, its kind (`layout`, `swizzled layout`, `TV layout`), and the tile of a TV layout."""

    layout: AnyLayout
    kind: str
    tile: tuple[int, int] | None = None


def solved(text: str) -> Solved:
    """What gives the table of a text, of offsets or of owners."""
    text = text.replace(";", "\n")
    rows = read_table(text)
    of_owners = rows and isinstance(rows[0][0], tuple)
    return solve_owners(rows) if of_owners else solve(rows, pages_of(text))  # type: ignore[arg-type]


def solve(rows: Sequence[Sequence[int]], pages: int = 1) -> Solved:
    """The simplest layout of two modes (of one, for a single row) that has these offsets: a plain one, else one behind a swizzle.

    pages: into how many tables of as many rows the rows are cut, one for each index of a third mode.
    Raises: AlgebraError for a table that no such layout gives, with the first cell that contradicts it, or the only wrong one, or
    that does not begin with 0.
    """
    width = _check(rows)
    if pages > 1:
        return _paged(rows, len(rows) // pages)
    table = [list(row) for row in rows]
    if table[0][0] != 0:
        raise AlgebraError(
            f"a layout begins with offset 0, but the table begins with {table[0][0]}", hint="subtract the first offset from all"
        )
    found, cell = _plain(table)
    if found is not None:
        return Solved(found, "layout")
    edges = (table[0], [row[0] for row in table])
    for swizzle in _swizzles(table):
        if any(isinstance(_mode(edge, swizzle), int) for edge in edges):
            continue
        made, _ = _plain([[swizzle(x) for x in row] for row in table])
        if made is not None:
            return Solved(ComposedLayout(swizzle, 0, made), "swizzled layout")
    row, col = cell
    others, (near, only) = "cells before it imply", _nearest(table)
    if only is not None:  # the one wrong cell, which others may contradict first
        (row, col), others = only, "other cells imply"
    place = f"({row},{col})" if len(rows) > 1 and width > 1 else str(row + col)
    raise AlgebraError(
        f"no layout gives {table[row][col]} at {place}: the {others} another offset",
        hint=f"nor does a layout behind a swizzle Sw<B,M,S>; {near}",
    )


def _paged(rows: Sequence[Sequence[int]], count: int) -> Solved:
    """The layout of three modes: of all pages side by side, whose columns are those of a page and the pages."""
    found = solve([[x for row in rows[n::count] for x in row] for n in range(count)])
    swizzle = swizzle_of(found.layout)
    inner = rows if swizzle is None else [swizzle.each(row) for row in rows]
    firsts = [row[0] for row in inner[::count]]
    for n, row in enumerate(inner):
        wrong = next((j for j, x in enumerate(row) if x - row[0] != inner[0][j]), None)
        if wrong is not None:
            raise AlgebraError(
                f"no layout gives {rows[n][wrong]} at ({n % count},{wrong},{n // count}): it breaks the pattern of its row"
            )
    modes = [_mode([row[0] for row in inner[:count]]), _mode(inner[0]), _mode(firsts)]
    kept = [mode for mode in modes if isinstance(mode, Layout)]
    if len(kept) < len(modes):
        raise AlgebraError("no layout gives the first offsets of the pages: they are not those of a mode")
    layout = Layout(tuple(mode.shape for mode in kept), tuple(mode.stride for mode in kept))
    return Solved(layout if swizzle is None else ComposedLayout(swizzle, 0, layout), found.kind)


def _nearest(table: list[list[int]]) -> tuple[str, tuple[int, int] | None]:
    """The nearest layout in words, one behind a swizzle where that is nearer; the cell that differs, where it is one."""
    cells = len(table) * len(table[0])
    if cells > _NEAR:
        return "a smaller table would tell the nearest", None
    found, differ, (row, col) = nearest(table)
    place = f"({row},{col})" if len(table) > 1 and len(table[0]) > 1 else str(row + col)
    wanted = found(row + len(table) * col)
    name = str(found)
    for swizzle in _swizzles(table)[: _TRIED // cells] if differ > 1 else ():
        other, less, (i, j) = nearest([[swizzle(x) for x in row_] for row_ in table])
        if less < differ:
            differ, name = less, str(ComposedLayout(swizzle, 0, other))
            row, col = i, j
            place = f"({i},{j})" if len(table) > 1 and len(table[0]) > 1 else str(i + j)
            wanted = swizzle(other(i + len(table) * j))
    words = f"the nearest is {name}, which differs in {differ} of {cells} cells: at {place} it has {wanted}"
    return words, (row, col) if differ == 1 else None


def solve_owners(rows: Sequence[Sequence[tuple[int, int]]]) -> Solved:
    """The TV layout, (thread, value) -> index into the column-major tile, of a table of who holds each cell. Raises:
    AlgebraError where several cells, or none, have the same value of a thread; and as `solve`."""
    width = _check(rows)
    places: dict[tuple[int, int], int] = {}
    for i, row in enumerate(rows):
        for j, owner in enumerate(row):
            if owner in places:
                raise AlgebraError(f"T{owner[0]}V{owner[1]} holds ({i},{j}) and also an earlier cell")
            places[owner] = i + j * len(rows)
    threads, values = (1 + max(owner[n] for owner in places) for n in (0, 1))
    if threads * values != len(places):
        missing = next((t, v) for t in range(threads) for v in range(values) if (t, v) not in places)
        raise AlgebraError(f"T{missing[0]}V{missing[1]} holds no cell, so the threads do not all have the same number of values")
    table = [[places[t, v] for v in range(values)] for t in range(threads)]
    found, (t, v) = _plain([[x - table[0][0] for x in row] for row in table])
    if found is None or table[0][0]:
        near = None if table[0][0] else _nearest(table)[0]
        raise AlgebraError(f"no TV layout gives the cell of T{t}V{v}: the cells before it imply another one", hint=near)
    if threads == 1:  # no thread is a mode, too
        found = Layout((1, found.shape), (0, found.stride))
    return Solved(found, "TV layout", (len(rows), width))


def read_table(text: str) -> list[list[int]] | list[list[tuple[int, int]]]:
    """The rows of a text: offsets, or owners as `T0V1` or as PTX writes them, `T0: {a0,a1}`. They are parted by blanks, commas,
    semicolons or bars. Of what print_layout prints the cells between bars are read, of a figure not the numbers of its columns
    and rows, above and in front. Raises: NotationError for words that are neither, with their place."""
    if re.search(r"^\s*\+-[-+]*\+\s*$", text, re.M):  # less the layout, the numbers of columns and rows, and the lines between
        text = "\n".join(line[line.index("|") :] for line in text.splitlines() if "|" in line)
    text = _HELD.sub(lambda m: " ".join(f"T{m[1]}V{value[1:]}" for value in re.findall(r"[a-dA-D]\d{1,9}", m[2])), text)
    owners = _OWNER.search(text) is not None
    pattern = _OWNER if owners else _NUMBER
    rows: list[list[int]] = []
    pairs: list[list[tuple[int, int]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        rest = pattern.sub("", line)
        if owners:  # less the headers: above the first row numbers alone, in front of a row its own
            begin = pattern.search(line)
            rest = _HEADER.sub("", line[: begin.start()]) + pattern.sub("", line[begin.start() :]) if begin else rest
            rest = _HEADER.sub("", rest) if begin is None and not pairs else rest
        if re.sub(r"[\s,;|+\[\](){}-]", "", rest):
            what = "owner, for example T0V1" if owners else "offset"
            hint = "of which value a thread holds a cell is needed, too: T0V0" if re.search(r"\bT\d", line) else None
            raise NotationError(f"line {number}: {line.strip()[:40]!r} holds something that is not an {what}", hint=hint)
        found = list(pattern.finditer(line))
        if found:
            rows.append([] if owners else [int(match[0]) for match in found])
            pairs.append([(int(match[1]), int(match[2])) for match in found] if owners else [])
    return pairs if owners else _without_headers(rows)


def _without_headers(rows: list[list[int]]) -> list[list[int]]:
    """The rows less the numbers of columns above and of rows in front, where the first row is one shorter than all others."""
    if len(rows) < 2 or rows[0] != list(range(len(rows[0]))):
        return rows
    inner = rows[1:]
    numbered = all(len(row) == len(rows[0]) + 1 and row[0] == n for n, row in enumerate(inner))
    return [row[1:] for row in inner] if numbered else rows


def table_of(layout: AnyLayout) -> str:
    """The offsets of a layout as the rows that `read_table` reads: mode 0 goes down, mode 1 right, of further modes each index
    is a table of its own behind an empty line."""
    values = [str(offset) for offset in offsets(layout)]
    extents = [int(product(mode)) for mode in modes(layout.shape)]
    rows, cols = extents[:2] if len(extents) > 1 else (1, len(values))
    if not all(value.lstrip("-").isdecimal() for value in values):
        raise AlgebraError(f"the values of {layout} are coordinates, and not offsets")
    pages = (values[begin : begin + rows * cols] for begin in range(0, len(values), rows * cols))
    return "\n".join("".join(" ".join(page[row::rows]) + "\n" for row in range(rows)) for page in pages)


def pages_of(text: str) -> int:
    """How many tables of as many rows a text has, parted by empty lines; 1 where these differ."""
    parts = [part for part in re.split(r"\n[ \t]*\n", text.strip()) if part.strip()]
    return len(parts) if len({part.strip().count("\n") for part in parts}) == 1 and "\n" in parts[0].strip() else 1


def read_npy(data: bytes) -> list[list[int]]:
    """The rows of a file of numpy with integers, of one or two modes. Raises: NotationError for any other file. Source: the
    format of numpy.lib.format."""
    wide = 4 if data[6:7] in (b"\x02", b"\x03") else 2
    begin = 8 + wide
    size = int.from_bytes(data[8:begin], "little")
    head = data[begin : begin + size].decode("latin-1")
    kind = re.search(r"'descr':\s*'([<|>=]?)([iu])([1248])'", head)
    shape = re.search(r"'shape':\s*\((\d{1,9}),\s*(\d{1,9})?,?\s*\)", head)
    if not data.startswith(b"\x93NUMPY") or kind is None or shape is None:
        raise NotationError(
            "this is not a NumPy file of integers in one or two dimensions", hint="np.save(file, offsets.astype(int))"
        )
    count, width = int(shape[1]), int(shape[2]) if shape[2] else None
    cells = count * (1 if width is None else width)
    bytes_ = int(kind[3])
    body = data[begin + size :]
    if len(body) != cells * bytes_:
        raise NotationError(f"the file has {len(body)} bytes for {cells} integers of {bytes_} bytes")
    order = "big" if kind[1] == ">" else "little"
    signed = kind[2] == "i"
    flat = [int.from_bytes(body[n : n + bytes_], order, signed=signed) for n in range(0, len(body), bytes_)]  # type: ignore[arg-type]
    if not flat:
        return []
    if width is None:
        return [flat]
    if re.search(r"'fortran_order':\s*True", head):
        return [flat[n::count] for n in range(count)]
    return [flat[n : n + width] for n in range(0, len(flat), width)]


def _check(rows: Sequence[Sequence[object]]) -> int:
    """The width of a table. Raises: AlgebraError for an empty table or rows of different lengths, LimitError for too many cells."""
    if not rows or not rows[0]:
        raise AlgebraError("the table is empty")
    width = len(rows[0])
    for n, row in enumerate(rows):
        if len(row) != width:
            raise AlgebraError(f"row {n} has {len(row)} cells, but row 0 has {width}")
    if len(rows) * width > limit("accesses"):
        raise over("accesses", f"a table of {len(rows) * width} cells")
    return width


def _plain(table: list[list[int]]) -> tuple[Layout | None, tuple[int, int]]:
    """The plain layout of a table, or None and the first cell, row by row, that contradicts those before it."""
    for i, row in enumerate(table):
        for j, x in enumerate(row):
            if x != row[0] + table[0][j]:
                return None, (i, j)
    modes = [_mode([row[0] for row in table]), _mode(table[0])]
    if isinstance(modes[0], int):
        return None, (modes[0], 0)
    if isinstance(modes[1], int):
        return None, (0, modes[1])
    if len(table) == 1:
        return modes[1], (0, 0)
    return Layout((modes[0].shape, modes[1].shape), (modes[0].stride, modes[1].stride)), (0, 0)


def _mode(values: Sequence[int], behind: Callable[[int], int] = int) -> Layout | int:
    """The layout of one mode, coalesced; the first place that contradicts where there is none.

    behind: a swizzle through which the values are looked at, one by one: the first few rule most of them out.
    """
    shape, stride, step, rest = [], [], 1, values
    while len(rest) > 1:
        first, run = behind(rest[1]), 2
        while run < len(rest) and behind(rest[run]) == run * first:
            run += 1
        whole = next(n for n in range(run, 0, -1) if len(rest) % n == 0)
        if whole == 1:
            return step * run
        for n, x in enumerate(rest):
            if behind(x) != behind(rest[n % whole]) + behind(rest[n - n % whole]):
                return step * n
        shape.append(whole)
        stride.append(first)
        rest, step = rest[::whole], step * whole
    if not shape:
        return Layout(1, 0)
    return Layout(shape[0], stride[0]) if len(shape) == 1 else Layout(tuple(shape), tuple(stride))


def _swizzles(table: list[list[int]]) -> list[Swizzle]:
    """The swizzles that may stand in front, the simplest first."""
    top = max(max(row) for row in table)
    if min(min(row) for row in table) < 0 or top.bit_length() > _BITS:
        return []
    total = top.bit_length()
    out = []
    for bits in range(1, total // 2 + 1):
        for base in range(total - 2 * bits, -1, -1):
            for shift in range(bits, total - bits - base + 1):
                out.append(Swizzle(bits, base, shift))
    return out + [Swizzle(swizzle.bits, swizzle.base, -swizzle.shift) for swizzle in out]


_ORDERS = 24  # of the factors of an extent that are tried


def nearest(table: Sequence[Sequence[int]]) -> tuple[Layout, int, tuple[int, int]]:
    """A layout of two modes (of one, for a single row), in how many cells it differs from the table, and the first of them."""
    rows, cols = len(table), len(table[0])
    down = [_most(table[i][j] - table[0][j] for j in range(cols)) for i in range(rows)]
    across = [_most(table[i][j] - table[i][0] for i in range(rows)) for j in range(cols)]
    modes = [_fitted(down), _fitted(across)]
    steps = [[int(mode(n)) for n in range(count)] for mode, count in zip(modes, (rows, cols), strict=True)]
    wrong = [(i, j) for i in range(rows) for j in range(cols) if table[i][j] != steps[0][i] + steps[1][j]]
    plain = [mode for mode in map(coalesce, modes) if isinstance(mode, Layout)]
    if rows == 1:
        return plain[1], len(wrong), wrong[0] if wrong else (0, 0)
    whole = Layout((plain[0].shape, plain[1].shape), (plain[0].stride, plain[1].stride))
    return whole, len(wrong), wrong[0] if wrong else (0, 0)


def _most(values: Iterator[int]) -> int:
    """The value that most are; of as many the first."""
    return Counter(values).most_common(1)[0][0]


def _fitted(values: Sequence[int]) -> Layout:
    """The layout of one mode that agrees with the most of its values, which begin with 0."""
    best, wrong = Layout(len(values), 0), len(values)
    for factors in dict.fromkeys(islice(permutations(_primes(len(values))), _ORDERS)):
        strides, step = [], 1
        for factor in factors:
            below = [n for n in range(len(values)) if n // step % factor < factor - 1]
            strides.append(_most(values[n + step] - values[n] for n in below))
            step *= factor
        found = Layout(tuple(factors), tuple(strides)) if factors else Layout(1, 0)
        differ = sum(found(n) != value for n, value in enumerate(values))
        if differ < wrong:
            best, wrong = found, differ
    return best


def _primes(n: int) -> list[int]:
    out, factor = [], 2
    while factor * factor <= n:
        while n % factor == 0:
            out.append(factor)
            n //= factor
        factor += 1
    return out + ([n] if n > 1 else [])
