"""What every picture of a gallery is held to: letters that can be read, room, nothing over anything else, and true words.

The words are read back by rules of their own and compared with the cells of the model; what drew them is not asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cute_viz.figures.model import HOLE, Figure, Panel, Ruler
from cute_viz.gallery.claims import is_true_of
from cute_viz.renderers import Options
from cute_viz.renderers import primitives as p
from cute_viz.renderers.geometry import CHAR
from cute_viz.renderers.page import page_of
from cute_viz.renderers.palette import luminance, palette
from cute_viz.renderers.placed import Page
from cute_viz.renderers.targets import TARGETS

SHOWN = 838.0  # px of a picture in a README on GitHub
LEAST = 8.0  # px of a letter there
PROSE = 0.5  # width of a letter of prose at least, in font sizes
CONTRAST, MUTED = 4.5, 3.0  # of a label, and of one that recedes
Box = tuple[float, float, float, float, str]  # left, top, right, bottom of a text


def flaws(figure: Figure, options: Options) -> list[str]:
    """What is wrong with a picture, in words; nothing of one that can be read and is true. One without a target has no place
    where its letters would be too small."""
    page = page_of(figure, options)
    out = []
    target = TARGETS[options.target or "screen"]
    if target.width and target.height and (page.width > target.width + 1 or page.height > target.height + 1):
        out.append(f"{page.width:.0f} x {page.height:.0f} px is more than {target.width:g} x {target.height:g}")
    texts = list(_texts(page))
    smallest = min((size for _, size in texts), default=LEAST)
    seen = smallest * min(1.0, SHOWN / page.width) if (options.target or "readme") == "readme" else smallest
    if options.target and seen < max(LEAST, target.least) - 0.01:
        out.append(f"letters of {seen:.1f} px")
    outside = [box[4] for box, _ in texts if min(box[:2]) < -1 or box[2] > page.width + 1 or box[3] > page.height + 1]
    out += [f"outside of the page: {text}" for text in outside[:3]]
    out += [f"one over the other: {a} and {b}" for a, b in _over(sorted(box for box, _ in texts))][:3]
    out += [f"on the border of a panel: {text}" for text in _crossing(page)][:3]
    out += [f"{what} cannot be read" for what in _unread(figure, options)]
    if not is_so(figure.title, figure):
        out.append(f"the title is false: {figure.title}")
    out += [f"the alt text lacks the title: {figure.title}"] if figure.title not in figure.description else []
    out += [flaw for panel in figure.panels for flaw in misplaced(figure, panel)]
    return out + [f"the legend is false: {label}" for label in _false(figure)]


def _texts(page: Page) -> Iterator[tuple[Box, float]]:
    """Every text of a page as a box, and the size of its letters."""
    for item in page.items:
        if isinstance(item, p.Line):
            yield _box(item.text, item.x, item.y, item.size * (CHAR if item.mono else PROSE), item.size, item.anchor), item.size
        elif isinstance(item, p.Texts):
            for x, y, text, size in zip(item.xs, item.ys, item.texts, item.sizes, strict=True):
                yield _box(text, x, y, size * CHAR, size, item.anchor), size
        elif isinstance(item, p.Labels):
            for n, text in enumerate(item.texts):
                if text:
                    x, y = (
                        item.grid.left + (n % item.grid.cols + 0.5) * item.grid.cell_w,
                        item.grid.top + n // item.grid.cols * item.grid.cell_h,
                    )
                    yield _box(text, x, y + item.dy, item.size * CHAR, item.size, p.MIDDLE), item.size


def _box(text: str, x: float, y: float, letter: float, size: float, anchor: str) -> Box:
    wide = len(text) * letter
    left = x - wide / 2 if anchor == p.MIDDLE else x - wide if anchor == p.END else x
    return left, y - 0.3 * size, left + wide, y + 0.3 * size, text


def _over(boxes: list[Box]) -> Iterator[tuple[str, str]]:
    """Texts that stand on each other, of boxes from left to right."""
    for n, one in enumerate(boxes):
        for other in boxes[n + 1 :]:
            if other[0] >= one[2] - 1:
                break
            if one[1] < other[3] - 1 and other[1] < one[3] - 1:
                yield one[4], other[4]


def _crossing(page: Page) -> Iterator[str]:
    """Prose that is partly on a panel and partly not; what stands on a mark of its own, a disc, is on neither."""
    for below, item in pairwise([None, *page.items]):
        if not isinstance(item, p.Line) or len(item.text) < 2 or (isinstance(below, p.Path) and below.fill is not None):
            continue
        left, top, right, bottom, text = _box(item.text, item.x, item.y, item.size * PROSE, item.size, item.anchor)
        for grid in (place.grid for place in page.panels):
            across = min(right, grid.right) - max(left, grid.left)
            down = min(bottom, grid.bottom) - max(top, grid.top)
            inside = left > grid.left - 1 and right < grid.right + 1 and top > grid.top - 1 and bottom < grid.bottom + 1
            if across > 1 and down > 1 and not inside:
                yield text


def _unread(figure: Figure, options: Options) -> Iterator[str]:
    """Paints on which a label has too little contrast, on a light page, a dark one and in print."""
    for name, dark in ((options.palette, False), (options.palette, True), ("grey", False)):
        colours = palette(name)
        for paint in figure.paints:
            light, low = sorted((luminance(colours.fill(paint, dark)), luminance(colours.ink(paint, dark))), reverse=True)
            if (light + 0.05) / (low + 0.05) < (MUTED if paint.faded else CONTRAST):
                yield f"{paint} {'in the dark' if dark else 'in print' if name == 'grey' else ''}"


def is_so(title: str, figure: Figure) -> bool:
    """Whether a title holds of a figure, each of its sentences of a panel."""
    panels = [*figure.panels, *_whole(figure)]
    return is_true_of(title, figure) and all(any(is_true(told, panel) for panel in panels) for told in _told(title))


def is_true(title: str, panel: Panel) -> bool:
    """Whether a title that is a finding holds of a panel; other titles are names, and nothing is asked of them."""
    offsets = panel.data.get("offset", ())
    lines = [offsets[n : n + panel.cols] for n in range(0, len(offsets), panel.cols)]
    for word, every in (("row", lines), ("column", list(zip(*lines, strict=True)))):
        if title.lower().startswith(f"{word}-major"):
            pitch = re.search(r"pitch of (\d+)", title)
            apart = {b[0] - a[0] for a, b in pairwise(every)} if pitch else set()
            steps = {line[n + 1] - line[n] for line in every for n in range(len(line) - 1)}
            return steps == {1} and (pitch is None or apart == {int(pitch[1])})
        if title == f"Broadcast: each {word} is one offset":
            return all(min(line) == max(line) for line in every)
        if found := re.fullmatch(rf"Each {word} holds (\d+) consecutive offsets, in another order", title):
            return {(len(line), max(line) - min(line) + 1, len({*line})) for line in every} == {(int(found[1]),) * 3}
        if found := re.fullmatch(rf"Each {word} begins (\d+) offsets after the last", title):
            return {(min(b) - min(a), max(a) < min(b)) for a, b in pairwise(every)} == {(int(found[1]), True)}
        if found := re.fullmatch(rf"(?:T(\d+)|\w+ thread) \w+ ({'|'.join(SHARES)}) {word} of \w", title):
            return _share(panel, word, SHARES[found[2]], None if found[1] is None else int(found[1]))
        if found := re.fullmatch(rf"The swizzle reorders (?:(\d+) of|all) (\d+) {word}s, each within itself", title):
            spans = all(max(line) - min(line) + 1 == len(set(line)) for line in every)
            moved = sum(list(line) != sorted(line) for line in every)
            return spans and (moved, len(every)) == (int(found[1] or found[2]), int(found[2]))
    if found := re.fullmatch(r"Each (\d+) × (\d+) block holds (\d+) consecutive offsets", title):
        high, wide, many = map(int, found.groups())
        tiles: dict[tuple[int, int], set[int]] = {}
        for n, offset in enumerate(offsets):
            tiles.setdefault((n // panel.cols // high, n % panel.cols // wide), set()).add(offset)
        return all(len(its) == many == max(its) - min(its) + 1 for its in tiles.values())
    if found := re.fullmatch(r"The offsets lie in (\d+) (?:(pairs)|runs of (\d+)), with gaps between", title):
        return _runs_of(offsets) == [2 if found[2] else int(found[3])] * int(found[1])
    if found := re.fullmatch(r"The offsets lie in (\d+) runs: (\d+)\.\.(\d+) and (\d+)\.\.(\d+)", title):
        many, a, b, c, d = map(int, found.groups())
        return many == 2 and b + 1 < c and sorted({*offsets}) == [*range(a, b + 1), *range(c, d + 1)]
    if found := re.fullmatch(r"Each of (\d+) \w+s holds (\d+) × (\d+) of \w", title):
        many, high, wide = map(int, found.groups())
        owners: dict[int, list[tuple[int, int]]] = {}
        for n, thread in enumerate(panel.data["thread"]):
            owners.setdefault(thread // panel.warp, []).append(divmod(n, panel.cols))
        return len(owners) == many and all(
            {*cells} == {(min(cells)[0] + r, min(cells)[1] + c) for r in range(high) for c in range(wide)}
            for cells in owners.values()
        )
    if title == "Identity: each cell holds its own coordinate":
        numbers = [[int(n) for n in re.findall(r"\d+", label)] for label in panel.labels]
        return len({*panel.labels}) == len(numbers) and all(mine[0] == n // panel.cols for n, mine in enumerate(numbers))
    if found := re.fullmatch(r"Contiguous: offsets (\d+)\.\.(\d+)", title):
        return [*offsets] == [*range(int(found[1]), int(found[2]) + 1)]
    if found := re.fullmatch(
        r"(?:(\d+) of the offsets (-?\d+)\.\.|Every offset from (-?\d+) to )(-?\d+)(?: are used, each once|, once)", title
    ):
        low, high = int(found[2] or found[3]), int(found[4])
        count = int(found[1]) if found[1] else high - low + 1
        return (len({*offsets}), len(offsets), min(offsets), max(offsets)) == (count, count, low, high)
    if found := re.fullmatch(r"(\d+) of (\d+) offsets are shared by (\d+|several) cells", title):
        twice = [n for n in Counter(offsets).values() if n > 1]
        counted = (len(twice), len({*offsets})) == (int(found[1]), int(found[2]))
        return counted and (found[3] == "several" or {*twice} == {int(found[3])})
    if found := re.fullmatch(r"Offsets? ([\d, and-]+) (?:is|are) shared by (\d+|several) cells", title):
        shared = {offset: n for offset, n in Counter(offsets).items() if n > 1}
        same = found[2] == "several" or {*shared.values()} == {int(found[2])}
        return {int(n) for n in re.findall(r"-?\d+", found[1])} == {*shared} and same
    if found := re.fullmatch(
        r"(?:V(\d+)(?:\.\.V(\d+))? of )?(?:T(\d+)|(?:each|one) thread) \w+ "
        r"(\d+) elements?(?: of \w+)?(?: of one (?:row|column)|, (.*))?",
        title,
        re.IGNORECASE,
    ):
        of = re.search(r" of ([ABC])\b", title)
        named = of is None or panel.caption[:2] not in ("A:", "B:", "C:") or panel.caption[0] == of[1]
        first, last, thread = (int(found[n]) if found[n] else None for n in (1, 2, 3))
        values = None if first is None else range(first, (first if last is None else last) + 1)
        return named and _holds(panel, thread, int(found[4]), found[5] or "", values)
    return True


def _told(title: str) -> list[str]:
    """A title, or of one that has several operands a sentence for each: `Each thread holds 8 elements of A, in 4 pairs`."""
    each = r"((?:half |a quarter of )?a (?:row|column)|one element|a pair|a run of \d+|\d+ (?:pairs|runs of \d+|single elements))"
    names = r"of ([ABC](?:(?:,| and) of [ABC])*)"
    if not re.fullmatch(rf"Each thread holds (?:{each} {names}(?:, and |, | and |$))+", title):
        return [title]
    return [_sentence(words, x) for words, of in re.findall(rf"{each} {names}", title) for x in re.findall("[ABC]", of)]


def _sentence(words: str, name: str) -> str:
    """What a thread holds of an operand, as a picture of it alone says it."""
    if words.endswith(("row", "column")):
        return f"Each thread holds {words if words[:2] != 'a ' or words[2] == 'q' else f'one {words[2:]}'} of {name}"
    many, long = (int((re.findall(rf"{at}(\d+)", words) or [1])[0]) for at in ("^", "of "))
    long = 2 if "pair" in words else long
    return f"Each thread holds {many * long} elements of {name}" + f", in {many} runs of {long}" * (long > 1)


SHARES = {"one": 1, "half a": 2, "a quarter of a": 4, "an eighth of a": 8}


def _share(panel: Panel, word: str, parts: int, thread: int | None) -> bool:
    """Whether a thread, or each, has nothing but one of so many equal parts of a row or a column."""
    held: dict[int, set[tuple[int, int]]] = {}
    several = dict(panel.owners)
    for n, one in enumerate(panel.data.get("thread", ())):
        row, col = divmod(n, panel.cols)
        for t in {t for t, _ in several.get(n, ())} or {one}:
            held.setdefault(t, set()).add((col, row) if word == "column" else (row, col))
    size, rest = divmod(panel.rows if word == "column" else panel.cols, parts)
    whose = held.values() if thread is None else [held[thread]]
    return not rest and all(
        len({line for line, _ in cells}) == 1 == len({n // size for _, n in cells}) and len(cells) == size for cells in whose
    )


def _runs_of(offsets: Sequence[int]) -> list[int]:
    """How long the runs of consecutive numbers are."""
    numbers = {*offsets}
    starts = sorted(x for x in numbers if x - 1 not in numbers)
    return [next(n for n in range(1, len(numbers) + 1) if x + n not in numbers) for x in starts]


def _whole(figure: Figure) -> list[Panel]:
    """The slices of a layout as one panel, below each other."""
    panels = figure.panels
    if figure.kind != "grid" or len(panels) < 2 or "offset" not in panels[0].data:
        return []
    paints = tuple([paint for panel in panels for paint in panel.paints])
    every = tuple([offset for panel in panels for offset in panel.data["offset"]])
    rows = Ruler("", ("",) * sum(panel.rows for panel in panels))
    return [Panel("", paints=paints, row_ruler=rows, col_ruler=panels[0].col_ruler, data={"offset": every})]


def _holds(panel: Panel, thread: int | None, count: int, how: str, values: range | None) -> bool:
    """Whether a thread, or each, has so many elements, in as many runs as the words tell. values: of its values these alone."""
    cells: dict[int, set[tuple[int, int]]] = {}
    owners = dict(panel.owners)
    threads = panel.data.get("thread", ())
    for n, (mine, value) in enumerate(zip(threads, panel.data.get("value", threads), strict=True)):
        held = owners.get(n, ()) or (() if mine is None else ((mine, value),))
        for t in {t for t, v in held if values is None or v in values}:
            cells.setdefault(t, set()).add(divmod(n, panel.cols))
    chosen = [cells.get(thread, set())] if thread is not None else list(cells.values())
    if any(len(mine) != count for mine in chosen):
        return False
    if found := re.fullmatch(r"in (\d+) (?:pairs|runs of (\d+))(, each of one column)?", how):
        runs, long = int(found[1]), int(found[2] or 2)
        across = all(sum((r, c - 1) not in mine for r, c in mine) == runs for mine in chosen)
        down = all(sum((r - 1, c) not in mine for r, c in mine) == runs for mine in chosen)
        return runs * long == count and (down if found[3] else across or down)
    return True


def misplaced(figure: Figure, panel: Panel) -> Iterator[str]:
    """What is wrong with boxes: they hold no cell twice, and every cell, or are of one size where no edge cuts them."""
    held = Counter(r * panel.cols + c for r0, c0, r1, c1 in panel.boxes for r in range(r0, r1) for c in range(c0, c1))
    if held and max(held.values()) > 1:
        yield "boxes overlap"
    picked = any(paint.faded for paint in figure.paints)  # single values have boxes of their own
    sizes = {(r1 - r0, c1 - c0) for r0, c0, r1, c1 in panel.boxes if r1 < panel.rows and c1 < panel.cols}
    if held and len(held) < len(panel.paints) and len(sizes) > 1 and not picked and figure.kind not in ("difference", "follow"):
        yield f"boxes of sizes {sizes} leave cells out"
    most = (
        0
        if "core matri" in panel.caption
        else 0.8 * len(panel.paints)
        if "thread" in panel.data and not picked
        else len(panel.paints)
    )
    if most < len(held) < len(panel.paints) and HOLE not in panel.paints:
        yield "boxes leave a few cells out"
    if figure.kind == "bulk" and held and {*held} != {n for n, p in enumerate(panel.paints) if figure.paints[p].hue >= 0}:
        yield "boxes and colors differ"
    if held and "thread" in panel.data and not panel.owners:
        for r0, c0, r1, c1 in panel.boxes:
            mine = {panel.data["thread"][r * panel.cols + c] for r in range(r0, r1) for c in range(c0, c1)}
            if len(mine) > 1:
                yield f"a box of threads {mine}"


def _false(figure: Figure) -> Iterator[str]:
    """Labels of legends, `0..127` or `warp 1`, that cells of their hue contradict."""
    for panel in figure.panels:
        for legend in figure.legends_of(panel):
            if not re.fullmatch(r"hue: (offset(, on one scale .*)?(; shade.*)?|warp \(\d+ threads\))", legend.title):
                continue
            named = {figure.paints[e.paint].hue: e.label for e in legend.entries if not figure.paints[e.paint].faded}
            several = dict(panel.owners)
            for cell, paint in enumerate(panel.paints):
                numbers = re.findall(r"\d+", named.get(figure.paints[paint].hue, "")) if paint != HOLE else []
                if "offset" in panel.data and len(numbers) in (1, 2) and "-" not in named[figure.paints[paint].hue]:
                    value = panel.data["offset"][cell]
                    if not int(numbers[0]) <= value <= int(numbers[-1]):
                        yield named[figure.paints[paint].hue]
                        break
                label = named.get(figure.paints[paint].hue, "") if paint != HOLE else ""
                if "thread" in panel.data and (found := re.fullmatch(r"warp (\d+)", label)):
                    mine = {t // panel.warp for t, _ in several.get(cell, ())} or {panel.data["thread"][cell] // panel.warp}
                    if int(found[1]) not in mine and not figure.paints[paint].faded:
                        yield label
                        break
