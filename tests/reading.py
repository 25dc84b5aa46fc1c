"""What a picture says, read as a person would: words and numbers against each other, and against its notation, evaluated naively.

Nothing of cute_viz computes here; a figure is text, cells and boxes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import Any

from cute_viz.figures.model import HOLE, Figure, Legend, Panel
from cute_viz.gallery.gates import misplaced
from tests import claims_of_texts, claims_of_views, outliers

WORDS = Path(__file__).parent / "data" / "picture_words.txt"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.]*\w)")
NOTATION = re.compile(
    r"(?:(Sw|S)<(\d+),(\d+),(-?\d+)> o )?(?:(?:smem_)?ptr\[(\d+)b\]\(unset\) o )?(?:_?(-?\d+) o )?([\d_,()]+):([\d_,()@-]+)"
)
Owners = dict[tuple[int, ...], tuple[Any, ...]]


def false(figure: Figure) -> Iterator[str]:
    """What of a figure contradicts the rest of it."""
    yield from _unknown_words(figure)
    yield from _unknown_numbers(figure)
    for pattern, holds in claims_of_views.CLAIMS.items():
        if (told := re.fullmatch(pattern, figure.title)) and not holds(figure, told):
            yield f"the title is false: {figure.title}"
    yield from _alt_text(figure)
    yield from claims_of_texts.false(figure)
    name = re.split("[,<]", figure.source)[0]
    if figure.kind in ("mma", "operands") and f"{name}:" in figure.caption:
        yield f"{name} stands in the caption, too"
    found = (
        re.search(r"(\d+) × (\d+) × (\d+), (\d+) (?:threads?|lanes)\b", figure.caption) if "drawn tile" in figure.facts else None
    )
    if found and [int(x) for x in found.groups()] != [*parsed(figure.facts["drawn tile"]), figure.facts["threads"]]:
        yield f"the caption has {found[0]}"
    found = re.search(r"(\d+) threads? over (\d+) × (\d+)", figure.caption) if figure.kind == "copy" else None
    if found and int(found[1]) != figure.facts["threads"]:
        yield f"the caption has {found[0]}"
    for panel in figure.panels if figure.kind == "mma" else ():
        found = re.match(r"[ABC]: (\d+) × (\d+) of", panel.caption)
        if found and (int(found[1]), int(found[2])) != (panel.rows, panel.cols):
            yield f"{panel.caption} has {panel.rows} × {panel.cols} cells"
    for panel in figure.panels if figure.kind in ("operation", "access", "path", "matrix", "motion") else ():
        notation = re.search(r"(?:^A|Plain|Swizzled)?(?:: |  )(\S.*)", panel.caption)
        if (
            panel.caption.startswith(("A:", "1 A", "Swizzled", "  ("))
            and notation
            and notation[1].split(": (_")[0] not in figure.source
        ):
            yield f"{notation[1]} is not in the source"
    yield from _legends(figure)
    for n, panel in enumerate(figure.panels):
        where = f"panel {n}: "
        yield from (where + flaw for flaw in _cells(figure, panel))
        yield from (where + flaw for flaw in _rulers(panel))
        yield from (where + flaw for flaw in misplaced(figure, panel))
        yield from (where + flaw for flaw in _paints(figure, panel))
    yield from _layouts(figure)


def _alt_text(figure: Figure) -> Iterator[str]:
    """The alt text has the title, and beyond the other texts known words and, but for kinds that tell more there, no number."""
    if figure.title not in figure.description:
        yield "the alt text lacks the title"
    rest = figure.description
    yield from (f"unknown word: {word}" for word in sorted(_words(rest) - known()))
    for text in sorted({*texts(figure), figure.source}, key=len, reverse=True):
        rest = rest.replace(text, "") if len(text) > 8 or text == figure.source else rest
    if figure.kind == "exercise":  # the answers are those of its key
        asked, key = (panel.labels for panel in figure.panels[:2])
        if dict(re.findall(r"(\w+) = (-?\d+)", rest)) == {
            a.strip("()"): b for a, b in zip(asked, key, strict=True) if a[:1] == "("
        }:
            rest = rest.partition("Key:")[0]
    if figure.kind not in TELLING and re.search(r"\d", rest):
        yield f"the alt text alone has {rest}"


TELLING = {"journey", "lanes", "instruction", "tmem", "operation", "matrix", "pipeline"}
TELLING |= {"cube", "access", "tma", "operands", "page", "difference", "path"}


def texts(figure: Figure) -> list[str]:
    """Every sentence and every name of a figure."""
    found = [figure.title, figure.caption, *figure.notes, *figure.facts]
    found += [x for legend in figure.legends for x in (legend.title, *[entry.label for entry in legend.entries])]
    for panel in figure.panels:
        found += [panel.caption, panel.foot, panel.row_ruler.title, panel.col_ruler.title, *panel.arrow_labels]
        found += [shape.text for shape in panel.shapes]
        found += [line for label in {*panel.labels} for line in label.split("\n")]
    return found + [arrow.label for arrow in figure.arrows]


def words(figure: Figure) -> set[str]:
    """The words of a figure, and its names; notation aside."""
    return set().union(*map(_words, texts(figure)))


def _words(text: str) -> set[str]:
    """The words of a text, its names, and its sentences with # for numbers and notation: no word of one is another known one."""
    told = set[str]()
    for part in re.split(r"[.;:|](?:\s|$)", text):
        plain = [re.sub(r"[#,():_@-]*#[#,():_@-]*", "#", re.sub(r"\d+", "#", word)) for word in part.split()]
        told.add(" ".join(plain)) if len(plain) > 1 and any(word.islower() for word in plain) else None
    return told | {*re.findall(r"(?<![\w<:.])[A-Za-z][a-z]+(?![\w>:]*[\d_<])(?![a-z]*::)", text)} | claims_of_texts.names(text)


@cache
def known() -> frozenset[str]:
    """The words that pictures have."""
    return frozenset(WORDS.read_text("utf-8").splitlines())


def _unknown_words(figure: Figure) -> Iterator[str]:
    yield from (f"unknown word: {word}" for word in sorted(words(figure) - known()))


def _unknown_numbers(figure: Figure) -> Iterator[str]:
    """Numbers of sentences that nothing else in the figure has: neither its notation, nor a fact, an extent, a ruler or a label."""
    sentences = [figure.title] if figure.kind in ("grid", "tv", "page") else []  # of others a claim is read
    sentences += [figure.caption, *figure.notes, *[panel.caption for panel in figure.panels]]
    told = Counter(x for text in sentences for x in {*re.findall(r"(?<![\w.])\d+", text)})
    own = {x for text in (figure.source, *map(str, [y for f in figure.facts.items() for y in f])) for x in re.findall(r"\d+", text)}
    own |= {x for legend in figure.legends for entry in legend.entries for x in re.findall(r"\d+", entry.label)}
    for panel in figure.panels:
        own |= {str(max(column)) for column in panel.data.values() if all(isinstance(x, int) for x in column)}
        own |= {
            str(panel.paints.count(HOLE)),
            str(max(x or 0 for x in panel.data.get("byte", (0,))) // 128 + 1),
            *re.findall(r"\d+", " ".join([*filter(None, panel.labels)][:: max(1, len(panel.labels) - 1)])),
        }
        own |= {*map(str, (panel.rows, panel.cols, panel.rows * panel.cols, len(panel.boxes)))}
        for ruler in (panel.row_ruler, panel.col_ruler):
            shown = [x for x, level in zip(ruler.labels, ruler.levels, strict=False) if level or len(ruler.labels) < 10]
            own |= {x for label in (*ruler.labels[:1], *shown, *ruler.labels[-1:]) for x in re.findall(r"\d+", label)}
    own |= CONSTANTS | {x for x, n in told.items() if n > 1}
    for text in sentences if figure.kind not in ("pipeline", "zoom") else ():
        text = NOTATION.sub("", re.sub(r"\S*[A-Za-z_]\S*<\S*|^\d+\.? |^\.\.\. \d+ more|of the \d+ lines", "", text))
        yield from (f"unknown number {x}: {text}" for x in re.findall(r"(?<![\w.@])\d+(?![@\d])", text) if x not in own)


CONSTANTS = (
    {str(1 << n) for n in range(13)} | {str(n) for n in range(32, 257, 32)} | {"80", "100", "200", "31", "63", "0", "5"}
)  # extents of hardware, and names of machines


def _legends(figure: Figure) -> Iterator[str]:
    """Entries of a number, or a range, go on where the last ended."""
    for legend in figure.legends:
        spans = []
        for entry in legend.entries:
            found = re.fullmatch(r"\D*?(\d+)(?:\.\.[A-Za-z]*(\d+))?", entry.label)
            if found:
                spans.append((int(found[1]), int(found[2] or found[1])))
        names = {re.split(r"\d", entry.label)[0].rstrip("s ") for entry in legend.entries}
        if len(spans) == len(legend.entries) and len(names) == 1 and any(low > high for low, high in spans):
            yield f"legend {legend.title}: {spans}"
        if len(spans) == len(legend.entries) and len(names) == 1 and any(b[0] <= a[1] for a, b in pairwise(spans)):
            yield f"legend {legend.title}: {spans}"
        dense = not legend.title.startswith("hue: offset")
        if (
            dense
            and len({high - low for low, high in spans[:-1]} | {0}) == 2
            and len({b[0] - a[0] for a, b in pairwise(spans)}) > 1
        ):
            yield f"legend {legend.title}: {spans}"
        yield from (
            f"legend {legend.title}: {flaw}" for flaw in (*_hues(figure, legend), *_numbers(legend), *_fields(figure, legend))
        )


def _hues(figure: Figure, legend: Legend) -> Iterator[str]:
    """`warp 3` has the fourth hue: of all entries of a number, or of none."""
    found = [(re.fullmatch(r"([A-Za-z]+ )?(\d+)", e.label), figure.paints[e.paint].hue) for e in legend.entries]
    told = [int(x[2]) % 8 == hue for x, hue in found if x and hue >= 0]
    if told.count(False) == 1 and len(told) > 1 and len({x and x[1] for x, _ in found}) == 1:
        yield f"a number of another hue: {[e.label for e in legend.entries]}"


def _numbers(legend: Legend) -> Iterator[str]:
    """Of entries with the same words, each number goes on by one step; the last range is no longer than the others."""
    words: dict[str, list[list[int]]] = defaultdict(list)
    for entry in legend.entries:
        words[re.sub(r"\d+", "#", entry.label)].append([int(n) for n in re.findall(r"\d+", entry.label)])
    for text, mine in words.items():
        ranges = re.search(r"#(?:\.\.|-)[A-Z]?#", text) is not None
        long = [its[1] - its[0] for its in mine] if ranges and text.count("#") == 2 else [0]
        lines = [*zip(*(mine if long[-1] == long[0] else mine[:-1]), strict=True)]
        dense = not legend.title.startswith("hue: offset")
        if len(mine) > 2 and ((dense and any(map(outliers.one_of_a_line, lines))) or long[-1] > long[0]):
            yield f"{text}: {mine}"


def _fields(figure: Figure, legend: Legend) -> Iterator[str]:
    """Fields of a descriptor have the bits of their cells, 16 bytes to a unit, and what they say is in units of."""
    bits: dict[int, str] = defaultdict(str)
    own = len({entry.paint for entry in legend.entries}) == len(legend.entries)
    for panel in figure.panels if own and "field of" in legend.title else ():
        for paint, label in zip(panel.paints, panel.labels, strict=True) if "bits of" in panel.caption else ():
            bits[paint] += label
    for entry in legend.entries:
        value = re.match(r"\w+ (\d+)", entry.label)
        units = re.search(r"(\d+)(?: =|: \w =) (\d+)(?: B|, in units of (\d+))", entry.label)
        if units and int(units[1]) * int(units[3] or 16) != int(units[2]):
            yield entry.label
        if value and bits.get(entry.paint, "").isdecimal() and int(bits[entry.paint], 2) != int(value[1]):
            yield entry.label


def odd(counts: Counter[Any]) -> bool:
    """Whether one thing is there once too often where all others are equally often: a label, or a paint, that one cell lacks."""
    if len(counts) < 4:
        return False
    (usual, _), *_ = Counter(counts.values()).most_common()
    rest = sorted(n for n in counts.values() if n != usual)
    return rest in ([usual - 1, usual + 1], [1, usual - 1] if usual > 1 else [2])


def _cells(figure: Figure, panel: Panel) -> Iterator[str]:
    """A label has the numbers of its data; no cell has the label, or the paint, of another."""
    data = panel.data
    if odd(Counter(label for label in panel.labels if label)):
        yield "one label is there once too often"
    if figure.kind not in ("access", "follow") and odd(Counter(panel.paints)):
        yield "one paint is there once too often"
    several = dict(panel.owners)
    for n, label in enumerate(panel.labels):
        if not label or label == "…" or n in several:
            continue
        mine = {name: column[n] for name, column in data.items() if column[n] is not None}
        if re.fullmatch(r"-?\d+", label) and "offset" in mine and label != str(mine["offset"]):
            yield f"{label} at offset {mine['offset']}"
        if (
            (found := re.fullmatch(r"T(\d+)\nV(\d+)", label))
            and "value" in mine
            and (int(found[1]), int(found[2])) != (mine["thread"], mine["value"])
        ):
            yield f"{label!r} of {mine}"
        if (found := re.fullmatch(r"T(\d+)\nr\d+.*", label)) and "thread" in mine and int(found[1]) != mine["thread"]:
            yield f"{label!r} of {mine}"
        if (found := re.fullmatch(r"\+(\d+)(?:\n.*)?", label)) and "byte" in mine and int(found[1]) != mine["byte"]:
            yield f"{label!r} of {mine}"
        if {"row", "column"} <= {*mine} and label != f"({mine['row']},{mine['column']})":
            yield f"{label!r} of {mine}"
        if {"row", "factor"} <= {*mine} and label != (
            f"row {mine['row']}"
            if panel.col_ruler.labels[n % panel.cols] == str(mine["factor"])
            else f"{mine['row']},{mine['factor']}"
        ):
            yield f"{label!r} of {mine}"
        if "bank" in mine and re.fullmatch(r"\d+", label) and (int(label), mine["byte"] // 4 % 32) != (mine["bank"], mine["bank"]):
            yield f"{label!r} of {mine}"
        if "coordinate" in mine and label != str(mine["coordinate"]).replace(" ", ""):
            yield f"{label!r} of {mine}"


def _rulers(panel: Panel) -> Iterator[str]:
    """Numbers of a ruler go on by one step; after a border, or where lines are left out, by another."""
    for ruler in (panel.row_ruler, panel.col_ruler):
        found = [re.fullmatch(r"([A-Za-z+]*)(-?\d+)", label) for label in ruler.labels]
        numbers = [int(x[2]) for x in found if x]
        if len(numbers) > 2 and len(numbers) == len(found):
            inner = Counter(b - a for (a, b), level in zip(pairwise(numbers), ruler.levels[1:-1], strict=True) if not level)
            if len(inner) > 1 and min(inner.values()) == 1:
                yield f"ruler {ruler.title}: {ruler.labels}"
        if len(numbers) == len(found) > 1 and re.fullmatch(r"mode \d|[MNKmnk]|column", ruler.title) and numbers[0] != 0:
            yield f"ruler {ruler.title} begins at {numbers[0]}"
        if ruler.title.startswith("mode") and len(numbers) == len(found) and numbers != [*range(len(numbers))]:
            yield f"ruler {ruler.title}: {ruler.labels}"


def _paints(figure: Figure, panel: Panel) -> Iterator[str]:
    """A cell has the hue of the legend's entry that names its thread, warp or offset, and the shade of its value."""
    several = dict(panel.owners)
    for legend in figure.legends_of(panel):
        what = next((name for word, name in COLUMN.items() if legend.title.startswith(word)), "")
        if what not in panel.data:
            continue
        spans: dict[int, tuple[int, int]] = {}
        for entry in legend.entries:
            if found := re.fullmatch(r"(?:T|V|warp |wave )?(-?\d+)(?:\.\.[TV]?(-?\d+))?", entry.label):
                paint = figure.paints[entry.paint]
                spans[paint.shade if what == "value" else paint.hue] = int(found[1]), int(found[2] or found[1])
        for n, at in enumerate(panel.paints):
            if at == HOLE or figure.paints[at].hue < 0 or panel.data[what][n] is None:
                continue
            key = figure.paints[at].shade if what == "value" else figure.paints[at].hue
            mine = [(panel.data[what][n])] if n not in several else [owner[what == "value"] for owner in several[n]]
            mine = [x // panel.warp for x in mine] if re.match("hue: (warp|wave)", legend.title) else mine
            if key in spans and not any(spans[key][0] <= x <= spans[key][1] for x in mine):
                yield f"cell {n} of {mine} has the colour of {spans[key]}"
                return
        if what == "offset" and "Sw<" not in figure.source + panel.caption and not _faded(figure, panel):
            order = sorted(
                (panel.data[what][n], figure.paints[at].hue, figure.paints[at].shade)
                for n, at in enumerate(panel.paints)
                if at != HOLE
            )
            if [x[1:] for x in order] != sorted(x[1:] for x in order):
                yield "hues and shades are not in the order of offsets"


def _faded(figure: Figure, panel: Panel) -> bool:
    return any(figure.paints[p].faded for p in {*panel.paints} - {HOLE})


COLUMN = {
    "hue: offset": "offset",
    "hue: thread": "thread",
    "hue: warp (": "thread",
    "hue: wave (": "thread",
    "shade: value": "value",
}


def leaves(x: Any) -> list[Any]:
    """The leaves of a nested tuple."""
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple) else [x]


def parsed(text: str) -> Any:
    """A nested tuple of numbers, or of texts such as `2@1`."""
    text = re.sub(r"_(?=\d)", "", text)
    return eval(re.sub(r"-?\d+(?:@\d+)*", lambda m: f"'{m[0]}'" if "@" in m[0] else m[0], text), {"__builtins__": {}})


def function(text: str) -> tuple[list[int], Callable[[int, int], int]] | None:
    """The extents of a layout's modes, and its offset at (row, column) of its first two modes; None of other notation."""
    found = NOTATION.fullmatch(text.strip())
    if not found:
        return None
    shape, stride = parsed(found[7]), parsed(found[8])
    shape, stride = (x if isinstance(x, tuple) else (x,) for x in (shape, stride))
    if any(isinstance(x, str) for x in leaves(stride)):
        return None
    extents = []
    for mode in shape:
        extents.append(1)
        for leaf in leaves(mode):
            extents[-1] *= leaf
    bits, base, shift = (int(found[n] or 0) for n in (2, 3, 4))
    scale = int(found[5] or 8) // 8 or 1

    def at(*index: int) -> int:
        out = int(found[6] or 0)
        for i, extent, step in zip(index, shape, stride, strict=False):
            for e, s in zip(leaves(extent), leaves(step), strict=True):
                out, i = out + i % e * s, i // e
        out *= scale
        moved = out >> (base + max(shift, 0)) & (1 << bits) - 1
        moved = moved << base if shift >= 0 else (out >> base & (1 << bits) - 1) << (base - shift)
        return (out ^ moved) // scale

    return extents, at


def _layouts(figure: Figure) -> Iterator[str]:
    """Cells of a panel whose notation stands in its caption, or is that of the figure; owners by their layout among the facts."""
    for panel in figure.panels:
        text = re.sub(r"^[^(S\d]*(?:  |: )", "", panel.caption).partition("  ")[2] or re.sub(r"^.*?(?:  |: )", "", panel.caption)
        if figure.kind in ("grid", "path", "banks") and not panel.caption:
            text = figure.source
        layout = function(text.partition(", at offset")[0])
        if layout and text == figure.source and prod(layout[0]) != figure.facts.get("size", prod(layout[0])):
            yield f"{text} has another size than {figure.facts['size']}"
        values = panel.data.get("offset") or panel.labels
        if layout and figure.kind == "banks" and "byte" in panel.data:
            values = [byte * 8 // figure.facts["bits of an element"] for byte in panel.data["byte"]]
        if layout and figure.kind == "banks" and "m" in panel.data:
            yield from _places(figure, panel, layout)
        elif layout and len(values) == len(panel.paints) and all(re.fullmatch(r"-?\d+", str(x)) for x in values):
            extents, at = layout
            flat = 1 in (panel.rows, panel.cols)
            want = [at(n) for n in range(len(panel.paints))] if len(extents) == 1 and flat else []
            if len(extents) == 2 and extents == [panel.rows, panel.cols]:
                want = [at(r, c) for r, c in product(range(panel.rows), range(panel.cols))]
            if want and figure.kind != "motion" and [*map(int, values)] != want:
                yield f"{text} has other offsets"
    if figure.kind in ("mma", "copy", "tv"):
        yield from _owners(figure)
    if figure.kind == "matrix":
        yield from _bits(figure)


def _places(figure: Figure, panel: Panel, layout: tuple[list[int], Callable[..., int]]) -> Iterator[str]:
    """Each address has the element that the layout puts there."""
    (rows, cols), at = layout
    there = {at(m, n): f"{m},{n}" for m, n in product(range(rows), range(cols))}
    if any(label != there.get(n, "") for n, label in enumerate(panel.labels)):
        yield f"elements of {figure.source} lie elsewhere"


def _owners(figure: Figure) -> Iterator[str]:
    """Every (thread, value) of the layout of owners is where the layout puts it, and nothing else is."""
    atom = re.fullmatch(r"Src (\S+), Dst (\S+)", figure.source)
    for panel in figure.panels:
        letter = panel.caption[:1] if figure.kind == "mma" else {"s": "S", "d": "D"}.get(panel.caption[:1], "")
        drawn = figure.facts.get(f"drawn {letter}", figure.facts.get("drawn", ""))
        if figure.kind == "copy" and atom:
            drawn = atom[1 if letter == "S" else 2]
        drawn = drawn.rpartition(" o ")[2]
        if "blocks" in panel.caption or ":" not in drawn or "thread" not in panel.data or "E:" in panel.caption:
            continue
        shape, stride = map(parsed, drawn.split(":"))
        height = int(figure.facts["tile"].partition("x")[0]) if figure.kind == "tv" else panel.rows
        held: dict[int, set[tuple[int, int]]] = defaultdict(set)
        threads, values = ([(e, s) for e, s in zip(leaves(shape[n]), leaves(stride[n]), strict=True)] for n in (0, 1))
        for (t, where), (v, more) in product(enumerate(_sums(threads)), enumerate(_sums(values))):
            index, row, col = (a + b for a, b in zip(where, more, strict=True))
            if figure.kind == "tv" or (figure.kind == "copy" and atom):
                row, col = (index % height, index // height) if figure.kind == "tv" else divmod(index, panel.cols)
            row, col = (col, row) if figure.kind == "mma" and letter == "B" else (row, col)
            if row < panel.rows and col < panel.cols:
                held[row * panel.cols + col].add((t, v))
        several = dict(panel.owners)
        for n, (thread, value) in enumerate(zip(panel.data["thread"], panel.data["value"], strict=True)):
            mine = {*several[n]} if n in several else {(thread, value)} - {(None, None)}
            if not mine <= held.get(n, set()) or (not mine and n in held):
                yield f"{panel.caption}: cell {divmod(n, panel.cols)} is of {sorted(held.get(n, ()))[:3]}, not {sorted(mine)[:3]}"
                break


def _sums(modes: list[tuple[int, Any]]) -> list[tuple[int, int, int]]:
    """Of each index of a mode its offset, and its place along the coordinates 0 and 1."""
    out = [(0, 0, 0)]
    for extent, stride in modes:
        step, _, axis = str(stride).partition("@")
        each = [(int(step), 0, 0), (0, int(step), 0), (0, 0, int(step))][1 + int(axis) if axis else 0]
        out = [tuple(a + i * b for a, b in zip(base, each, strict=True)) for i in range(extent) for base in out]  # type: ignore[misc]
    return out


def _bits(figure: Figure) -> Iterator[str]:
    """A 1 stands where a bit of the coordinate, alone, sets the bit of the address."""
    layout = function(figure.source)
    panel = figure.panels[0]
    if layout is None or len(layout[0]) != 2:
        return
    for n, label in enumerate(panel.labels):
        out, into = (ruler.labels[k] for ruler, k in zip((panel.row_ruler, panel.col_ruler), divmod(n, panel.cols), strict=True))
        at = layout[1](1 << int(into[1:]), 0) if into[0] == "r" else layout[1](0, 1 << int(into[1:]))
        if (label or "0") != str(at >> int(out[1:]) & 1):
            yield f"bit {into} of {out} is {label}"


def vocabulary(figures: list[Figure]) -> str:
    """The text of the words of figures."""
    return "\n".join(sorted(set().union(*[words(figure) | _words(figure.description) for figure in figures]))) + "\n"
