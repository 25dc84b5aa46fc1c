"""What the title of a picture of hardware claims, read back and held against the cells of the model by rules of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from importlib.resources import files
from itertools import count, groupby, pairwise
from typing import Any

from cute_viz.figures.model import HOLE, Figure, Panel
from cute_viz.gallery import claims_algebra, claims_memory

LANES, WARP = 128, 32


def is_true_of(title: str, figure: Figure) -> bool:
    """Whether a title holds of the cells of a figure; of one that is no such claim nothing is asked."""
    for pattern, holds in CLAIMS.items():
        if found := re.fullmatch(pattern, title):
            return holds(figure, found)
    return True


def _outside(figure: Figure, found: re.Match[str]) -> bool:
    """Bytes that are not there: of the cells of the boxes, or of the pixels of the tile, the hatched ones."""
    share = Fraction(int(found[1]), int(found[2]))
    if found[3] == "image":
        cells = [(label, paint) for panel in figure.panels for label, paint in zip(panel.labels, panel.paints, strict=True)]
        pixels = [paint for label, paint in cells if re.fullmatch(r"p\d+", label)]
        rows = int(re.search(r"tile of (\d+)", figure.caption)[1])  # type: ignore[index]
        return len(pixels) != rows or Fraction(pixels.count(HOLE), rows) == share
    lost = every = 0
    for panel in figure.panels:
        for r0, c0, r1, c1 in panel.boxes if "dim" in panel.row_ruler.title else ():
            inside = [panel.paints[r * panel.cols + c] for r in range(r0, r1) for c in range(c0, c1)]
            lost, every = lost + inside.count(HOLE), every + len(inside)
    drawn = not any("planes of dimensions" in note for note in figure.notes)
    return not drawn or Fraction(lost, every) == share


def _multicast(figure: Figure, found: re.Match[str]) -> bool:
    """Each CTA issues a part, and receives those of all."""
    panel = next(panel for panel in figure.panels if panel.caption.startswith("multicast"))
    rows = [{*panel.labels[r * panel.cols : (r + 1) * panel.cols]} for r in range(panel.rows)]
    return int(found[1]) == int(found[2]) == panel.rows == panel.cols == len(set().union(*rows)) and all(
        len(row) == 1 for row in rows
    )


def _gathered(figure: Figure, found: re.Match[str]) -> bool:
    """The instructions in the tensor, and the rows of the tile in shared memory."""
    boxes = {label.partition(",")[0] for label in figure.panels[0].labels if label.startswith("TMA")}
    rows = {label.partition(",")[0] for label in figure.panels[-1].labels if label}
    return (len(boxes), len(rows)) == (int(found[1]), int(found[1]) * int(found[2]))


def _descriptors(figure: Figure, found: re.Match[str]) -> bool:
    """The first bytes of the core matrices where a descriptor begins."""
    starts = sorted({int(label.split("\n")[0]) for label in figure.panels[0].labels if "desc " in label})
    return len(starts) == int(found[1]) and {b - a for a, b in pairwise(starts)} == {int(found[2])}


def _offsets(figure: Figure, found: re.Match[str]) -> bool:
    """The bytes of the core matrices to which arrows lead."""
    panel = figure.panels[0]
    bytes_ = panel.data["byte"]
    steps = {
        (words.partition(" ")[0], bytes_[r1 * panel.cols + c1] - bytes_[r0 * panel.cols + c0], r0 == r1)
        for (r0, c0, r1, c1), words in zip(panel.arrows, panel.arrow_labels, strict=True)
    }
    told = {(name, int(step), way == "K") for name, step, way in re.findall(r"(\w+): (\d+) bytes?.*? along (\w)", found[0])}
    return steps == told


def _instruction(figure: Figure, found: re.Match[str]) -> bool:
    """M and N out of the bits themselves."""
    panel = figure.panels[0]
    values: dict[str, int] = {}
    for name, bit in zip(panel.data["field"], panel.labels, strict=True):  # the highest first
        values[name] = 2 * values.get(name, 0) + int(bit)
    types = [
        f"{name}_format {values[f'{name}_format']}: {word}" for name, word in zip("abc", found.groups()[2:], strict=True) if word
    ]
    told = {entry.label for legend in figure.legends for entry in legend.entries}
    return (16 * values["m_dim"], 8 * values["n_dim"]) == (int(found[1]), int(found[2])) and told >= {*types}


def _in_place(figure: Figure, found: re.Match[str]) -> bool:
    """A cell of tensor memory holds the rows and columns that its lanes and columns are."""
    (panel,) = figure.panels
    high, wide = LANES // panel.rows, 512 // panel.cols
    taken = {n % panel.cols for n, label in enumerate(panel.labels) if label}
    first, stage = int(found[1] or 0), int(found[2]) if found.lastindex == 3 else 512
    return len(taken) * wide == int(found[found.lastindex or 0]) and all(
        label.split("\n")[-1] == f"{_span(n // panel.cols * high, high)},{_span((n % panel.cols * wide - first) % stage, wide)}"
        and (stage == 512 or label.startswith(f"stage {(n % panel.cols * wide - first) // stage}\n"))
        for n, label in enumerate(panel.labels)
        if label
    )


def _span(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"


def _reached(figure: Figure, found: re.Match[str]) -> bool:
    """Columns with a label, and of each warp the rows that its labels name."""
    (panel,) = figure.panels
    wide, rows = 512 // panel.cols, dict[int, set[int]]()
    for n, label in enumerate(panel.labels):
        for low, high in re.findall(r"(\d+)(?:-(\d+))?", label.split("\n")[-1].partition(",")[0].replace("…", " ")):
            rows.setdefault(n // panel.cols * (LANES // panel.rows) // WARP, set()).update(range(int(low), int(high or low) + 1))
    taken = {n % panel.cols for n, label in enumerate(panel.labels) if label}
    whole = not any("…" in label for label in panel.labels)
    return len(taken) * wide == int(found[2]) and (not whole or {len(mine) for mine in rows.values()} == {int(found[1])})


def _twice(figure: Figure, found: re.Match[str]) -> bool:
    """The labels `m0-m1,n0-n1` of the cells of both halves: the same rows, and the columns that are told."""
    (panel,) = figure.panels
    rows, told = LANES // panel.rows, [int(n) for n in found.groups()]
    for first, last, low, high in ((*told[4:6], *told[2:4]), (*told[8:10], *told[6:8])):
        labels = [x for n, x in enumerate(panel.labels) if x and first <= n // panel.cols * rows <= last]
        spans = [[int(n) for n in re.findall(r"\d+", label)] for label in labels]
        ends = [(min(x[k] for x in spans), max(x[k + 1] for x in spans)) for k in (0, 2)]
        if ends != [(told[0], told[1]), (low, high)]:
            return False
    return told[4:6] == [0, 63] and told[8:10] == [64, 127]


def _free(figure: Figure, found: re.Match[str]) -> bool:
    """Columns of cells without a tensor."""
    (panel,) = figure.panels
    wide = 512 // panel.cols
    taken = {n % panel.cols for n, part in enumerate(panel.data["part"]) if part is not None}
    parts = {part for part in panel.data["part"] if part is not None}
    counted = (len(parts), 512 - int(found[3])) == (int(found[1]), int(found[2]))
    return counted and (panel.cols - len(taken)) * wide == int(found[3])


def _lanes(figure: Figure, found: re.Match[str]) -> bool:
    """Of each lane its one thread, of the same number."""
    panel = next(panel for panel in figure.panels if "tensor memory" in panel.caption)
    own = all(t is None or t == n // panel.cols for n, t in enumerate(panel.data["thread"]))
    largest = figure.panels[-1].col_ruler.labels == ("max",)
    return own and panel.cols == int(found[1]) and largest == bool(found[2])


def _shared_lanes(figure: Figure, found: re.Match[str]) -> bool:
    """The columns of each thread in a lane, its lanes, and the threads of the lane that is named, in tensor memory."""
    panel = next(panel for panel in figure.panels if "tensor memory" in panel.caption)
    pairs = Counter((n // panel.cols, t) for n, t in enumerate(panel.data["thread"]) if t is not None)
    lanes = {*Counter(t for _, t in pairs).values()}
    told = {t for a, b in re.findall(r"T(\d+)(?: to T(\d+))?", found[3]) for t in range(int(a), int(b or a) + 1)}
    sharing = {t for lane, t in pairs if lane == int(found[4])}
    return ({*pairs.values()}, lanes, sharing) == ({int(found[1])}, {int(found[2] or 1)}, told)


def _filled(figure: Figure, found: re.Match[str]) -> bool:
    """Rows of shared memory above, and how often each stands below."""
    above = [x for panel in figure.panels if panel.place[0] == 0 for x in panel.labels]
    below = [x for panel in figure.panels if panel.place[0] == 1 for x in panel.labels]
    rows = sum(panel.rows for panel in figure.panels if panel.place[0] == 0)
    lanes = sum(panel.rows for panel in figure.panels if panel.place[0] == 1)
    wanted = (int(found[1]), int(found[2]), int(found[3])) if found.lastindex == 3 else (int(found[1]), int(found[1]), 1)
    return (rows, lanes) == wanted[:2] and {below.count(x) for x in above} == {wanted[2]}


def _scale_rows(figure: Figure, found: re.Match[str]) -> bool:
    """Rows that stand in a line of memory."""
    panel = figure.panels[1]
    apart = [0, *map(int, re.findall(r"r \+ (\d+)", found[0]))]
    for n in range(0, len(panel.labels), panel.cols):
        rows = sorted({int(label.removeprefix("row ").partition(",")[0]) for label in panel.labels[n : n + panel.cols] if label})
        if [row - rows[0] for row in rows] != apart:
            return False
    return panel.cols == int(found[1])


def _metadata(figure: Figure, found: re.Match[str]) -> bool:
    """Rows of A, with their columns below."""
    labels = [label for panel in figure.panels for label in panel.labels if label]
    wide = {int(b) - int(a) + 1 for label in labels for a, b in re.findall(r"k (\d+)-(\d+)", label)}
    rows = {len(re.findall(r"\d+", line)) for label in labels for line in label.split("\n")[::2]}
    return rows == {int(found[2])} and wide == {int(found[1])}


def _selected(figure: Figure, found: re.Match[str]) -> bool:
    """Both threads of each cell, in the order of their numbers."""
    cells = [sorted({t for t, _ in owners}) for _, owners in figure.panels[0].owners]
    return len(cells) == len(figure.panels[0].paints) and {tuple(t - its[0] for t in its) for its in cells} == {(0, int(found[1]))}


def _blocks_of_k(figure: Figure, found: re.Match[str]) -> bool:
    """The hues of an operand in shared memory, block after block along K."""
    shown = [panel for panel in figure.panels if "in shared memory" in panel.caption]
    return all(len({p for p in panel.paints if p >= 0}) == int(found[1]) for panel in shown)


def _c_in_place(figure: Figure, found: re.Match[str]) -> bool:
    """`lane 0-15`, `col 32-63` where the rulers say row 0, column 32."""
    panel = figure.panels[0]
    for n, label in enumerate(panel.labels):
        lane, column = (int(x) for x in re.findall(r"(?:lane|col) (\d+)", label))
        row, col = divmod(n, panel.cols)
        if (lane, column) != (int(panel.row_ruler.labels[row]), int(panel.col_ruler.labels[col])):
            return False
    return True


def _held(figure: Figure, found: re.Match[str]) -> bool:
    """Rows, or columns, of an operand whose cells have one paint, in units of its rulers."""
    for size, what, names in re.findall(r"(\d+) (row|column)s? of (\w(?: and \w)*)(?= and \d|$)", found[0]):
        for name in names.split(" and "):
            panel = next(panel for panel in figure.panels if panel.caption.startswith(f"{name}:"))
            labels = (panel.row_ruler if what == "row" else panel.col_ruler).labels
            lines = [_line(panel, n, what == "row") for n in range(len(labels))]
            unit = int(labels[1]) - int(labels[0])
            if any(unit * sum(line == {p} for line in lines) != int(size) for p in set(panel.paints) - {HOLE}):
                return False
    return True


def _line(panel: Panel, n: int, is_row: bool) -> set[int]:
    cells = panel.paints[n * panel.cols : (n + 1) * panel.cols] if is_row else panel.paints[n :: panel.cols]
    return set(cells)


def _given(figure: Figure, found: re.Match[str]) -> bool:
    """The cells of each thread in the source and in the destination, `T5` and `V1` in words: a line of as many as is told."""
    for panel, many, line in zip(figure.panels, found.groups()[::2], found.groups()[1::2], strict=True):
        held: dict[str, list[tuple[int, int]]] = {}
        for n, label in enumerate(panel.labels):
            held.setdefault(label.partition("\n")[0], []).append(divmod(n, panel.cols))
        if any(len(its) != int(many) or len({cell[line == "column"] for cell in its}) > 1 for its in held.values()):
            return False
    return True


def _zeros(figure: Figure, found: re.Match[str]) -> bool:
    """The cells of each thread are as many, in one line; as many zeros stand where the predicate is false."""
    *_, panel, zeros = figure.panels
    held = Counter(panel.data["thread"])
    lines = {(t, divmod(n, panel.cols)[found[2] == "column"]) for n, t in enumerate(panel.data["thread"])}
    return zeros.labels == ("0",) * len(panel.paints) and {*held.values()} == {int(found[1])} and len(lines) == len(held)


def _sparse(figure: Figure, found: re.Match[str]) -> bool:
    """The elements of a thread in the panel of A, in runs along a row; as many values as half of them."""
    every, many, run = map(int, found.groups()[:3])
    panel = next(panel for panel in figure.panels if panel.caption.startswith("A:"))
    runs = {len([*its]) for _, its in groupby(zip(count(), panel.data["thread"]), key=lambda x: (x[0] // panel.cols, x[1]))}
    return {*Counter(panel.data["thread"]).values()} == {every, many * run, 2 * figure.facts["values of A"]} and runs == {run}


def _vector(figure: Figure, found: re.Match[str]) -> bool:
    """The bits of the alignment that the atom's name has, in elements."""
    bits = re.search(r"AssumedAlignment<(\d+)>", figure.caption)
    return bits is None or int(bits[1]) == int(found[1]) * figure.facts["bits of a value"]


def _partition(figure: Figure, found: re.Match[str]) -> bool:
    """The elements of the thread in the panel of the whole tensor, whose extents its caption has."""
    each = int(found[3]) * int(found[4]) if found[3] else int(found[1])
    rows, cols = re.search(
        r": (\d+) × (\d+)", figure.panels[-1].caption or f": {figure.panels[-1].rows} × {figure.panels[-1].cols}"
    ).groups()  # type: ignore[union-attr]
    return figure.facts["elements"] == int(found[1]) == each and int(rows) * int(cols) == int(found[2])


def _followed(figure: Figure, found: re.Match[str]) -> bool:
    """The rows of the operand that the captions of the copy and of the accumulator name."""
    letter = "m" if found[2] == "A" else "n"
    named = []
    for caption in (panel.caption for panel in figure.panels if "global " + found[2] in panel.caption or "of C" in panel.caption):
        words = re.search(rf"\b{letter} (\d+(?:\.\.\d+)?(?:, \d+)*)", caption)
        ends = re.findall(r"(\d+)(?:\.\.(\d+))?", words[1] if words else "")
        named.append({n for low, high in ends for n in range(int(low), int(high or low) + 1)})
    lines = [{int(n) for n in re.findall(r"\d+", found[k])} for k in (1, 3)]
    return named[:2] == lines and ("but" in found[0]) == (lines[0] != lines[1])


def _reused(figure: Figure, found: re.Match[str]) -> bool:
    """The warps that copy each cell of a tile, and that hold each cell of a fragment."""
    told = {"global to shared": 1 if "once" in found.re.groupindex else None}
    both = found.groupdict().get("both")
    told |= {f"fragments of {name}": int(both or found[name.lower()]) for name in "AB"}
    for what, many in told.items():
        for panel in [panel for panel in figure.panels if what in panel.caption] if many else ():
            owners = [{t // panel.warp} for t in panel.data["thread"]]
            for cell, several in panel.owners:
                owners[cell] |= {t // panel.warp for t, _ in several}
            if {len(mine) for mine in owners} != {many}:
                return False
    return True


def _wavefronts(figure: Figure, found: re.Match[str]) -> bool:
    """A row of a panel is a wavefront."""
    rows = [panel.rows for panel in figure.panels if "wavefront" in panel.row_ruler.title]
    told = [int(n) for n in re.findall(r"(?:turns|:|into) (\d+)", found[0])]
    return not rows or rows == told


def _sectors(figure: Figure, found: re.Match[str]) -> bool:
    return sum(label != "" for label in figure.panels[0].labels) == int(found[1])


_READ = (files("cute_viz.gallery") / "claims.txt").read_text("utf-8").splitlines()  # a function of this module, and what it reads
CLAIMS: dict[str, Callable[[Figure, Any], bool]] = {
    **claims_algebra.CLAIMS,
    **claims_memory.CLAIMS,
    **{pattern: globals()[name] for name, _, pattern in (line.partition(" ") for line in _READ)},
}
