"""What captions, alt texts and the parts of a picture say of each other: names, notations, counts, bits, places, times."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from math import prod

from cute_viz.figures.model import CONFLICT, HOLE, Figure, Panel
from cute_viz.gallery.claims_memory import FULL
from cute_viz.gallery.gates import is_true

NAME = re.compile(r"(?<![\w.:])[A-Za-z][\w.:]*[\w>]|(?<![\w.,])\d+[A-Za-z_-][\w-]*")
SHORT = re.compile(r"[TVrpcab]\d+(\.\.[TVr]?\d+)?|[A-Za-z][a-z]+|\d+-\d+|0x\w+")
TUPLES = re.compile(r"[\d(_][\d(),:@_]*[,:][\d(),:@_]*[\d)]")


def names(text: str) -> set[str]:
    """Names with digits or underscores, of instructions, types and units, and words of one letter."""
    found = {x.rstrip(".:,") for x in NAME.findall(text)}
    return {x for x in found if not SHORT.fullmatch(x)} | set(re.findall(r"(?<![\w<:.'])[a-z](?![\w>:'])", text))


def notations(text: str) -> set[str]:
    """Tuples and layouts."""
    return {x for x in TUPLES.findall(text) if re.search(r"\d", x) and x.count("(") == x.count(")")}


def own_texts(figure: Figure) -> str:
    """What the words of a figure may repeat: its notation, its facts, what stands in and over its panels."""
    parts = [figure.source, *(f"{name} {value}" for name, value in figure.facts.items())]
    parts += [x for panel in figure.panels for x in (panel.caption, panel.foot)]
    return "\n".join(parts).replace(" ", "")


def _lit_of(panel: Panel) -> tuple[int, int] | None:
    """The first and the last column of the cells `row,column` in full hue, where they are not all."""
    labels = [re.fullmatch(r"\d+,(\d+)", label) for label in panel.labels]
    if not all(labels):
        return None
    every = sorted({int(x[1]) for x in labels if x})
    lit = sorted({int(x[1]) for x, paint in zip(labels, panel.paints, strict=True) if x and 0 <= paint < FULL})
    return (lit[0], lit[-1] + every[1] - every[0] - 1) if len(every) > 1 and 0 < len(lit) < len(every) else None


def false(figure: Figure) -> Iterator[str]:
    """Texts that what is drawn contradicts."""
    own = own_texts(figure)
    for what, text in (("caption", figure.caption), ("alt text", figure.description), ("title", figure.title)):
        known = own if what != "alt text" else own + figure.caption.replace(" ", "") + figure.title
        told = (
            notations(text) if figure.kind not in ("journey", "partition", "tma", "im2col", "bulk", "matrix", "access") else set()
        )
        yield from (f"the {what} has {x}" for x in sorted(told) if x not in known and what != "title")
    if figure.kind in ("motion", "matrix", "cube") and figure.source not in figure.caption:
        yield f"the caption is not of {figure.source}"
    if figure.kind in TOLD and "tcgen05.cp" not in figure.caption and figure.caption not in figure.description:
        yield "the alt text lacks the caption"
    yield from (f"the alt text lacks {panel.caption}" for panel in figure.panels if _is_told(figure, panel))
    for pattern, holds in TITLES.items():
        if (found := re.search(pattern, figure.title)) and not holds(figure, found):
            yield f"the title has {found[0]}"
    for pattern, holds in CLAIMS.items():
        for found in re.finditer(pattern, figure.caption):
            if not holds(figure, found):
                yield f"the caption has {found[0]}"
    yield from _alt_text(figure)
    for pattern, holds in NOTES.items():
        for note in figure.notes:
            if (found := re.search(pattern, note)) and not holds(figure, found):
                yield f"a note has {found[0]}"
    for n, panel in enumerate(figure.panels):
        yield from (f"panel {n}: {flaw}" for flaw in (*_bits(figure, panel), *_extents(figure, panel), *_holes(figure, panel)))
    yield from {"access": _access, "bulk": _bulk, "pipeline": _pipeline, "zoom": _zoom, "path": _path}.get(figure.kind, _nothing)(
        figure
    )
    yield from _repeated(figure)
    for n, panel in enumerate(figure.panels):
        if figure.kind == "follow" and any(re.fullmatch(r"T\d+", x) and x != f"T{figure.facts['thread']}" for x in panel.labels):
            yield f"panel {n}: another thread"
        boxes = [
            (int(x[4:]), figure.paints[p].hue)
            for x, p in zip(panel.labels, panel.paints, strict=True)
            if re.fullmatch(r"TMA \d+", x)
        ]
        if any(number % 8 != hue for number, hue in boxes):
            yield f"panel {n}: a box in another hue"


def _alt_text(figure: Figure) -> Iterator[str]:
    """What only an alt text says: counts of wavefronts, equations of bits, what is found of each panel of an operation."""
    text = figure.description
    if figure.kind == "access":
        facts = [figure.facts[name] for name in figure.facts if name.startswith("wavefronts")]
        told = [(int(a), int(b)) for a, b in re.findall(r"(\d+) wavefronts?, (\d+) ideal", text)]
        if told != [(count, figure.facts["ideal"]) for count in facts] or (len(facts) == 1 and figure.source not in text):
            yield f"the alt text has wavefronts {told}"
    if figure.kind == "matrix":
        panel = figure.panels[0]
        lines = [panel.labels[r * panel.cols : (r + 1) * panel.cols] for r in range(panel.rows)]
        sums = [{x for x, one in zip(panel.col_ruler.labels, line, strict=True) if one == "1"} for line in lines]
        told_of = {name: {*its.split(" ⊕ ")} for name, its in re.findall(r"(\w+) = ([^;.]+)", text)}
        if told_of != dict(zip(panel.row_ruler.labels, sums, strict=True)) or figure.source not in text:
            yield "the alt text has other equations"
    if figure.kind == "path" and (figure.panels[0].foot not in text or figure.source not in text):
        yield "the alt text lacks the foot"
    found = re.search(r"(\d+) bits ask for M = (\d+), N = (\d+)", text) if figure.kind == "operands" else None
    if found and (found[1] != "32" or f"C: {found[2]} × {found[3]} of" not in text):
        yield f"the alt text has {found[0]}"
    for panel in figure.panels if figure.kind == "operation" else ():
        found = re.search(re.escape(panel.caption) + r": (.*?)\.(?= |$)", text)
        if found and not is_true(found[1], panel):
            yield f"the alt text has {found[1]} of {panel.caption}"


TOLD = ("access", "path", "lanes", "tma", "journey", "pipeline", "cube", "im2col", "bulk", "tmem")


def _is_told(figure: Figure, panel: Panel) -> bool:
    """Whether the alt text should have the caption of a panel, and has it not."""
    named = re.match(r"([ABC]|result|first tile)(, [a-z ]+)?: ", panel.caption)
    return bool(named) and figure.kind in ("operands", "operation") and panel.caption.partition(": (_")[0] not in figure.description


def _nothing(figure: Figure) -> Iterator[str]:
    yield from ()


def _bits(figure: Figure, panel: Panel) -> Iterator[str]:
    """The bits are those of the number in the caption; those of a field have one paint. Of a matrix a 1 alone has a hue."""
    if found := re.fullmatch(
        r"the (\d+) bits of (0x[0-9a-f]+)|.*the (\d+) bits of (0x[0-9a-f]+)", panel.caption.replace("\n", " ")
    ):
        count, number = found[1] or found[3], found[2] or found[4]
        if "".join(panel.labels) != f"{int(number, 16):0{count}b}":
            yield f"the bits are not those of {number}"
        if "field" in panel.data:
            inked = defaultdict(set)
            for field, label, paint in zip(panel.data["field"], panel.labels, panel.paints, strict=True):
                inked[field, label if paint >= 0 and figure.kind == "journey" else ""].add(paint)
            yield from (f"field {field} in {paints}" for field, paints in inked.items() if len(paints) > 1)
    if figure.kind == "matrix":
        if {*panel.labels} - {"", "0", "1"}:
            yield f"a bit is {sorted({*panel.labels} - {'', '0', '1'})}"
        if any((label == "1") == (figure.paints[paint].hue < 0) for label, paint in zip(panel.labels, panel.paints, strict=True)):
            yield "a 1 has no hue, or a 0 has one"


def _extents(figure: Figure, panel: Panel) -> Iterator[str]:
    """A ruler of steps covers the extent that the caption has: `A: 128 × 16` in 8 rows goes on by 16."""
    found = re.match(r"([ABC]): (\d+) × (\d+) of", panel.caption)
    for ruler, lines in ((panel.row_ruler, panel.rows), (panel.col_ruler, panel.cols)):
        numbers = [int(x) for x in ruler.labels if x.isdecimal()]
        even = [(n, int(x)) for n, x in enumerate(ruler.labels) if x] if all(x.isdecimal() for x in ruler.labels if x) else []
        if figure.kind == "journey" and len(even) > 2 and any(x * even[1][0] != n * even[1][1] for n, x in even):
            yield f"ruler {ruler.title}: {ruler.labels}"
        if len(numbers) != lines or "…" in ruler.labels:
            continue
        if figure.kind in ("copy", "lanes") and lines == 2 and numbers[1] != 1:
            yield f"ruler {ruler.title}: {ruler.labels}"
        if found and figure.kind == "operands":
            sizes = {"A": "MK", "B": "NK", "C": "MN"}[found[1]]
            extent = int(found[2 + sizes.index(ruler.title)]) if ruler.title in [*sizes] else 0
            if extent and numbers != [n * (extent // lines) for n in range(lines)]:
                yield f"ruler {ruler.title} of {extent}: {ruler.labels}"


def _holes(figure: Figure, panel: Panel) -> Iterator[str]:
    """Hatched is what lies outside of the tensor, by the coordinates of the cells or by the rulers."""
    if figure.kind != "tma":
        return
    dims = [int(n) for n in re.findall(r"\d+", figure.facts["globalDim, elements"])]
    inner, outer = ([int(x) for x in ruler.labels if x.isdecimal()] for ruler in (panel.col_ruler, panel.row_ruler))
    for n, (label, paint) in enumerate(zip(panel.labels, panel.paints, strict=True)):
        r, c = divmod(n, panel.cols)
        at = [int(x) for x in label.split(",")] if re.fullmatch(r"\d+(,\d+)+", label) else []
        if len(at) == len(dims) and len(dims) == 2:
            outside = at[0] >= dims[1] or at[1] >= dims[0]
        elif len(at) == len(dims):
            outside = at[0] >= dims[1] or at[1] >= dims[0] or at[2] >= dims[2]
        elif len(inner) == panel.cols and len(outer) == panel.rows and "tensor" in panel.caption and "picked" not in panel.caption:
            outside = outer[r] >= dims[1] or inner[c] >= dims[0]
        else:
            continue
        if outside != (paint == HOLE):
            yield f"cell {r}, {c} is{' not' * outside} hatched"
            return


def _access(figure: Figure) -> Iterator[str]:
    """Lanes on the map and in the wavefronts are the same; all but their cells recede, and somebody is served."""
    before: list[str] = []
    for panel in figure.panels:
        lanes = sorted(label.rpartition("·")[2] for label in panel.labels if re.fullmatch(r"(\d+·)?T\d+", label))
        marked = [figure.paints[p] for p in panel.paints if p != HOLE]
        if panel.row_ruler.title == "wave":
            if before and lanes and lanes != before and len(lanes) == len(before):
                yield f"lanes {set(lanes) ^ set(before)}"
            if any((label != "") != (paint.hue != -1) for label, paint in zip(panel.labels, marked, strict=True)) and any(
                panel.labels
            ):
                yield "a wavefront of no lane"
        else:
            before = lanes
            lit = [not paint.faded and paint.hue != -1 for paint in marked]
            if lanes and lit != [label != "" for label in panel.labels]:
                yield "a cell of no lane is lit, or one of a lane recedes"
            hues = defaultdict(set)
            for label, paint in zip(panel.labels, marked, strict=True):
                hues[label.partition("·")[0] if "·" in label else ""].add(paint.hue) if label else None
            if any(CONFLICT in its and len(its) != 2 for its in hues.values()):
                yield "nobody is served"


def _bulk(figure: Figure) -> Iterator[str]:
    """Bytes, threads and CTAs of the labels; each box has the hue of its label."""
    ctas = figure.facts["CTAs"]
    for n, panel in enumerate(figure.panels):
        text = "\n".join(panel.labels)
        if any(int(x) not in (figure.facts["bytes"], figure.facts["bytes"] // ctas) for x in re.findall(r"(\d+) bytes", text)):
            yield f"panel {n}: {text.strip()}"
        if any(x != "1" for x in re.findall(r"(\d+) thread", text)) or "+1" in text.split("\n"):
            yield f"panel {n}: {text.strip()}"
        count = len(set(re.findall(r"CTA (\d+)", text)))
        if (told := re.findall(r"CTA (\d+)", text)) and [*map(int, told)] != [*range(count)]:
            yield f"panel {n}: {told}"
        rows = re.findall(r"^r(\d)", text, re.MULTILINE)
        first = [int(a) for a, _ in re.findall(r"V(\d+)-(\d+)", text)]
        if rows != [str(n) for n in range(len(rows))] or (first and first[0] != 0):
            yield f"panel {n}: {rows}"
        for ruler in (panel.row_ruler, panel.col_ruler):
            named = [x for x in ruler.labels if re.fullmatch(r"c\d|CTA \d", x)]
            wrong = named != [f"CTA {n}" for n in range(len(named))] if named and named[0][0] == "C" else False
            if wrong or (named[:1] and named[0][0] == "c" and named[0] != "c" + ruler.title[-1]):
                yield f"panel {n}: {named}"
        if len(panel.paints) == len({x for x in panel.labels if x[:3] in ("CTA", "V0-", "V16", "V32", "V48")}) > 1 and [
            *panel.paints
        ] != [*range(len(panel.paints))]:
            yield f"panel {n}: paints {panel.paints}"


def _pipeline(figure: Figure) -> Iterator[str]:
    """Tile t is issued once, lies in stage t mod their number until an MMA has read it, and each MMA reads it once."""
    (panel,) = figure.panels
    rows = {name: panel.labels[r * panel.cols : (r + 1) * panel.cols] for r, name in enumerate(panel.row_ruler.labels)}
    stages = [name for name in rows if name.startswith("stage")]
    issued = [x for x in rows["producer"] if x]
    if issued != [str(t) for t in range(len(issued))]:
        yield f"issued: {issued}"
    for s, name in enumerate(stages):
        mine = [x for x in rows[name] if x]
        if mine != [str(t) for t in range(s, len(issued), len(stages)) for _ in (0, 1)]:
            yield f"{name}: {mine}"
    read = sorted(int(x) for name, line in rows.items() if name.startswith("MMA") for x in line if x.isdecimal())
    if read != [*range(len(issued))]:
        yield f"read: {read}"
    for name, line in rows.items():
        r = [*rows].index(name)
        its = panel.paints[r * panel.cols : (r + 1) * panel.cols]
        kinds = {(bool(label), figure.paints[p].hue, figure.paints[p].faded) for label, p in zip(line, its, strict=True)}
        if name == "producer" and len({lit for lit, *_ in kinds}) != len(kinds):
            yield "the producer's paints"
        if name in stages:
            reads = [n for n, p in enumerate(its) if figure.paints[p].hue >= 0 and not figure.paints[p].faded]
            second = [n for n, x in enumerate(line) if x][1::2]
            if reads != second:
                yield f"{name} is read at {reads}, not {second}"
        if name.startswith("MMA"):
            mma = {figure.paints[p].hue for x, p in zip(line, its, strict=True) if x.isdecimal()}
            if len(mma) != 1:
                yield f"an MMA in {mma}"


def _zoom(figure: Figure) -> Iterator[str]:
    """What the foot of a panel names is what is lit in it; parts are numbered as they lie."""
    first = figure.panels[0]
    found = re.match(r"CTA(?: pair)? \((\d+), (\d+)\) begins at C\((\d+), (\d+)\)", first.foot)
    lit = [n for n, label in enumerate(first.labels) if re.fullmatch(r"\d+,\d+", label)]
    if found and lit and first.labels[lit[0]] != f"{found[1]},{found[2]}":
        yield f"{first.labels[lit[0]]} is not {found[0]}"
    if found and lit and divmod(lit[0], first.cols) != (int(found[1]), int(found[2])):
        yield f"{found[0]} is lit elsewhere"
    second = figure.panels[1]
    for n, label in enumerate(second.labels if "Cluster" in second.caption else ()):
        r, c = divmod(n, second.cols)
        if r and c and label != f"{second.labels[r * second.cols]}\n{second.labels[c]}":
            yield f"{label} is not what this CTA needs"
    for x, times in re.findall(r"([AB]\d+) to (\d+)", second.foot):
        if sum(x in label.split() for label in second.labels) != int(times) + 1:
            yield f"{x} does not go to {times}"
    tile = re.search(r"(\d+) × (\d+)", second.caption)
    if found and tile and [int(found[3]), int(found[4])] != [int(found[1]) * int(tile[1]), int(found[2]) * int(tile[2])]:
        yield found[0]
    for n, panel in enumerate(figure.panels):
        named = {label for label in panel.labels if label.isdecimal()}
        if n == 1 and named != {str(k) for k in range(len(named))}:
            yield f"parts {sorted(named)}"
        lanes = [re.fullmatch(r"warp (\d+): lanes (\d+)\.\.(\d+)", label) for label in panel.labels]
        if any(x and (int(x[2]), int(x[3])) != (32 * int(x[1]), 32 * int(x[1]) + 31) for x in lanes):
            yield "lanes of a warp"
        values = [int(label[1:]) for label in panel.labels if re.fullmatch(r"V\d+", label)]
        if values and ([*sorted(values)] != [*range(min(values), min(values) + len(values))]):
            yield f"values {values}"
        if values:
            lit = [figure.paints[p].hue >= 0 for p in panel.paints]
            if lit != [bool(label) for label in panel.labels]:
                yield "a cell is lit that holds no value"
            for ruler in (panel.row_ruler, panel.col_ruler):
                told = [(k, int(x)) for k, x in enumerate(ruler.labels) if x.isdecimal()]
                if len({x - k for k, x in told}) > 1:
                    yield f"ruler {ruler.labels}"
        marks = Counter(panel.paints)
        if (
            n == 0
            and lit
            and any(
                count == 1 and not panel.labels[panel.paints.index(paint)] and paint not in panel.paints[: lit[0]]
                for paint, count in marks.items()
            )
            and len(marks) > 2
        ):
            yield "a CTA is marked"


def _path(figure: Figure) -> Iterator[str]:
    """The later a cell, the lighter."""
    for panel in figure.panels:
        order = sorted(range(len(panel.paints)), key=panel.data["offset"].__getitem__) if "offset" in panel.data else []
        shades = [figure.paints[panel.paints[n]].shade for n in order if figure.paints[panel.paints[n]].hue >= 0]
        if shades != sorted(shades):
            yield "shades are not in the order of the path"


def _repeated(figure: Figure) -> Iterator[str]:
    """An offset has one hue in all panels of an operation where it does not recede."""
    if figure.kind == "page" and all("offset" in panel.data and not panel.boxes for panel in figure.panels):
        yield from _path(figure)
    if figure.kind not in ("operation", "motion"):
        return
    hues: dict[int, set[int]] = defaultdict(set)
    for panel in figure.panels:
        if (
            panel.caption.startswith(("A", "result", "first", "1 A", "3 T", "4 "))
            and "offset" in panel.data
            and not panel.caption.startswith("A(")
            and panel.caption != "B"
        ):
            for offset, paint in zip(panel.data["offset"], panel.paints, strict=True):
                if paint != HOLE and offset is not None and figure.paints[paint].hue >= 0 and not figure.paints[paint].faded:
                    hues[offset].add(paint)
    if figure.kind == "operation" and any(len(its) > 1 for its in hues.values()):
        yield f"an offset in two hues: {next((n, its) for n, its in hues.items() if len(its) > 1)}"


def _numbers(found: re.Match[str]) -> list[int]:
    return [int(x) for x in found.groups() if x]


def _stands(*facts: str) -> Callable[[Figure, re.Match[str]], bool]:
    """Numbers that are these facts, in their order."""
    return lambda figure, found: _numbers(found) == [int(re.findall(r"\d+", str(figure.facts[name]))[0]) for name in facts]


def _panels_of(figure: Figure, found: re.Match[str]) -> bool:
    """`32 threads over 8 × 16 values`: as many as the layout of owners reaches."""
    return (
        any(prod(_numbers(found)[1:]) == len(panel.paints) for panel in figure.panels) and int(found[1]) == figure.facts["threads"]
    )


def _mnk(figure: Figure, found: re.Match[str]) -> bool:
    """M, N and K of the operands' panels."""
    sizes = {
        x[1]: (int(x[2]), int(x[3])) for panel in figure.panels if (x := re.match(r"([ABC]): (\d+) × (\d+) of", panel.caption))
    }
    m, n, k = _numbers(found)
    return all(sizes.get(name, size) == size for name, size in (("A", (m, k)), ("B", (n, k)), ("C", (m, n))))


def _chain(figure: Figure, found: re.Match[str]) -> bool:
    """Each size is its parts times their size."""
    m, n, down, across, high, wide = _numbers(found)
    return (m, n) == (down * high, across * wide)


def _tile_of_tma(figure: Figure, found: re.Match[str]) -> bool:
    """The tile is as large as the shape that follows `->`."""
    shape = re.findall(r"\d+", figure.source.partition("->")[2].rpartition(" o ")[2].partition(":")[0])
    return prod(_numbers(found)) == prod(map(int, shape))


def _recast(figure: Figure, found: re.Match[str]) -> bool:
    """A swizzle of bytes as one of elements: its base is lower by the bits of an element's bytes."""
    width, *moved = _numbers(found)
    return moved[1] + (width // 8).bit_length() - 1 == moved[4] and moved[::2][0] == moved[3] and moved[2] == moved[5]


CLAIMS: dict[str, Callable[[Figure, re.Match[str]], bool]] = {
    r"(\d+) threads? over (\d+) × (\d+)": _panels_of,
    r"\((\d+) threads × (\d+) values over an? (\d+) × (\d+) tile\)": lambda f, x: (
        _numbers(x) == [f.facts["threads"], f.facts["values"], *map(int, f.facts["tile"].split("x"))]
    ),
    r"addresses (\d+) to (\d+)": lambda f, x: _numbers_0(x) == _least_and_most(f),
    r"(?:: |, )(\d+) × (\d+) × (\d+), operands": _mnk,
    r"(?<!\d)(?=(\d+)x(\d+) = (\d+)x(\d+) [a-z ]+ of (\d+)x(\d+))": _chain,
    r"(\d+)x(\d+) = (\d+) CTAs of (\d+)x(\d+) = (\d+) warps of (\d+)": lambda f, x: (
        int(x[1]) == int(x[3]) * int(x[4]) and x[2] == x[5] and int(x[6]) * int(x[7]) == int(x[4]) and int(x[3]) == f.facts["CTAs"]
    ),
    r"^(\d+)x(\d+) =": lambda f, x: f"{x[1]} × {x[2]}" in f.panels[1].caption,
    r"stage tile mod (\d+), phase tile / (\d+) mod 2": _stands("stages", "stages"),
    r"takes (\d+), an MMA takes (\d+)": lambda f, x: _loads(f) == (int(x[1]), int(x[2])),
    r"a tile of (\d+) × (\d+)(?: × (\d+))? [fs]\d+": _tile_of_tma,
    r"A box is (\d+) × (\d+)(?: × (\d+))? elements": lambda f, x: (
        _numbers(x) == [int(n) for n in re.findall(r"\d+", f.facts["boxDim, elements"])]
    ),
    r"(\d+) lanes × (\d+) columns?, (\d+) registers? per": _stands("lanes", "columns", "registers a thread"),
    r"(\d+) rows to (\d+) lanes × (\d+) columns": _stands("rows", "lanes", "columns"),
    r"moves (\d+) (\d+)-bit values, V(\d)": lambda f, x: (
        [int(x[1]) * int(x[2]) // 8 * f.facts["CTAs"], int(x[2]), 0] == [f.facts["bytes"], f.facts["bits of a value"], int(x[3])]
    ),
    r"<(\d+)>\. One thread": lambda f, x: int(x[1]) * f.facts["CTAs"] == 8 * f.facts["bytes"],
    r"-major (\d+)-bit": lambda f, x: f"[{x[1]}b]" in f.source,
    r"What thread (\d+) does": _stands("thread"),
    r"Thread (\d+) through": _stands("thread"),
    r"In full hue: what thread (\d+) holds of C, and k 0\.\.(\d+) of A,.*": lambda f, x: (
        f.facts["thread"] == int(x[1]) and any(arrow.label.endswith(f"k 0..{x[2]}") for arrow in f.arrows)
    ),
    r"elements of (\d+) bits, as does Sw<(\d),(\d),(\d)>; Sw<(\d),(\d),(\d)> acts": _recast,
    r"Sw<[\d,]+> acts": lambda f, x: f.source.startswith(x[0][:-5]),
    r"MMA_M (\d+), MMA_K (\d+);": _stands("MMA_M", "MMA_K"),
    r"(\d+)-bit elements, 128": _stands("bits of an element"),
    r"Bits (\d+)\.\.(\d+) are XORed into bits (\d+)\.\.(\d+); the lowest (\d+) bits stay: runs of (\d+)": lambda f, x: (
        [*map(int, x.groups())] == _swizzled(*(int(f.facts[name]) for name in "BMS"))
    ),
    r"x(\d) reads 16 bytes for each of (\d+) lanes": lambda f, x: int(x[2]) == 8 * int(x[1]),
    r"; (\d+) of the (\d+) lines": lambda f, x: int(x[1]) <= f.panels[0].rows <= int(x[2]),
    r"1·T(\d+): T(\d+), in phase (\d)": lambda f, x: (x[1], x[2], x[3]) == ("8", "8", "1"),
    r"filter \((\d),(\d)\)": lambda f, x: x[1] == x[2],
    r"k (\d+)\.\.(\d+) of": lambda f, x: (
        any(x[0][:-3] in arrow.label for arrow in f.arrows) or any(_lit_of(panel) == (int(x[1]), int(x[2])) for panel in f.panels)
    ),
    r"thread (\d) holds as V(\d)\.\.(\d) of C and reads as V(\d)\.\.(\d)": lambda f, x: x.groups() == ("0", "0", "7", "0", "7"),
}  # fmt: skip


def _shared(figure: Figure, found: re.Match[str]) -> bool:
    """As many threads hold each cell of a panel."""
    counts = [{len({t for t, _ in owners}) for _, owners in panel.owners} for panel in figure.panels]
    return {int(found[1])} in counts and found[2] in (None, found[1])


def _more(figure: Figure, found: re.Match[str]) -> bool:
    """What is drawn and what is left out are the tile, the threads, or the layout."""
    panel, more = figure.panels[0], int(found[1])
    rows, cols = (panel.rows + more, panel.cols) if found[2] == "row" else (panel.rows, panel.cols + more)
    return f"{rows}x{cols}" == figure.facts.get("tile") or rows * cols in (
        figure.facts.get("size"),
        figure.facts.get("threads", 0) * figure.facts.get("values", 0),
    )


def _key(figure: Figure, words: str) -> bool:
    """Each letter of the exercise stands for the label that the key has there."""
    exercise, key = figure.panels
    told = {f"({name})": value for name, value in re.findall(r"(\w) = ([^,.]+)", words)}
    return all(told.get(one, two) == two for one, two in zip(exercise.labels, key.labels, strict=True))


NOTES: dict[str, Callable[[Figure, re.Match[str]], bool]] = {
    r"(?:every element is held|each address is given) by (\d+) threads(?:; the lowest is shown, ×(\d+))?": _shared,
    r"^Verified on .*": lambda f, x: x[0] == "Verified on NVIDIA H100 80GB HBM3, NVIDIA H200.",
    r"Every row goes to (\d+) lanes": _stands("copies"),
    r"CTA (\d) issues": lambda f, x: x[1] == "0",
    r"^(\d+) instructions move": _stands("instructions"),
    r"^Each of the (\d+) CTAs": _stands("instructions"),
    r"^\.\.\. (\d+) more (row|column)": _more,
    r"^All but thread (\d+) is faded": lambda f, x: any(f"thread {x[1]}" in label for label in _entries(f)),
}


TITLES: dict[str, Callable[[Figure, re.Match[str]], bool]] = {
    r"^(\d+) rows?(?: a phase)? in one bank group: (\d+) wavefronts?": lambda f, x: (
        int(x[1]) * f.facts["ideal"] == int(x[2]) == f.facts.get("wavefronts plain", f.facts.get("wavefronts"))
    ),
    r"Swizzled: (\d+)\.": _stands("wavefronts swizzled"),
    r"Conflict-free: (\d+) wavefronts?": _stands("wavefronts"),
    r"A row of (\d+) bytes fills all (\d+) banks: (\d+) rows, (\d+) wave": lambda f, x: (x[1], x[2], x[3]) == ("128", "32", x[4]),
    r"of (\d+) columns$": lambda f, x: x[1] == "512" or f.kind == "grid",
    r"^The (\d) bits of each cell": lambda f, x: x[1] == "4",
    r"^(\d+) stages": _stands("stages"),
    r"waits (\d+) of (\d+) slots": lambda f, x: int(x[1]) == f.facts["MMA waits"],
    r"^(\d+) consumers": lambda f, x: sum(name.startswith("MMA") for name in f.panels[0].row_ruler.labels) == int(x[1]),
    r"^T(\d+) holds": lambda f, x: any(f"thread {x[1]}" in text for text in (f.caption, *_entries(f))),
    r"^(\d+) ways": lambda f, x: len(f.panels) == int(x[1]),
    r"^All (\d+) offsets stay": lambda f, x: len(f.panels[-1].paints) == int(x[1]),
    r"belong in the (\d+) blanks": lambda f, x: (
        len(re.findall(r"\([a-z]\)", "".join(f.panels[0].labels))) == int(x[1]) and _key(f, f.description)
    ),
    r"A CTA holds (\d+) rows": lambda f, x: f"CTAs of {x[1]}x" in f.caption,
    r"^(\d+) × (\d+), the transpose of \((\d+),(\d+)\):\((\d+),(\d+)\)": lambda f, x: (
        f.source == f"({x[4]},{x[3]}):({x[6]},{x[5]})" and (x[1], x[2]) == (x[4], x[3])
    ),
}  # fmt: skip


def _entries(figure: Figure) -> list[str]:
    return [entry.label for legend in figure.legends for entry in legend.entries]


def _numbers_0(found: re.Match[str]) -> list[int]:
    return [int(x) for x in found.groups()]


def _swizzled(bits: int, base: int, shift: int) -> list[int]:
    """First and last bit that are read, and that are changed, the bits that stay, and how many elements they count."""
    return [base + shift, base + shift + bits - 1, base, base + bits - 1, base, 1 << base]


def _least_and_most(figure: Figure) -> list[int]:
    offsets = figure.panels[0].data["offset"]
    return [min(offsets), max(offsets)]


def _loads(figure: Figure) -> tuple[int, int]:
    """Slots between where a tile is issued and where it is read, and those of an MMA."""
    (panel,) = figure.panels
    first = panel.labels[panel.cols : 2 * panel.cols]
    starts = [n for n, x in enumerate(first) if x == "0"]
    return (starts[1] - starts[0], 1) if len(starts) == 2 else (0, 0)
