"""Fixes of a kernel: edits of its definitions after which every access of a buffer still reads what was written, for less."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, domain
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.analysis.relocate import Places, better, relocated, root_of
from cute_viz.errors import CuteVizError, boundary
from cute_viz.records import dataclass
from cute_viz.source import read

if TYPE_CHECKING:
    from cute_viz.engine.kernel import Access, Report
    from cute_viz.source.model import Entry, Move, SourceFile

_TOKEN = re.compile(r"\b_?(?P<n>\d+)\b|\b(?P<name>[A-Za-z_]\w*)\b(?!\s*[<({:.])")
_OF_LAYOUTS = re.compile(r"ayout|tile_to_shape|composition|tile_to_mma")
_READS = 24  # edits of one buffer that are read again
_SWIZZLE = {"cpp": re.compile(r"\bSwizzle\s*<([^<>]*)>"), "python": re.compile(r"\bmake_swizzle\s*\(([^()]*)\)")}


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text for the characters [start, end) of a source, which stand in a line of a file, "" for the file itself."""

    start: int
    end: int
    new: str
    line: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits, and what they make of the accesses of a buffer.

    what: the change in words. changes: for each edited line its file, its number, and the expression before and after. wavefronts:
    of all accesses of the buffer before and after; ideal: what they would be without a conflict. bytes: how much the buffer
    grows. beside: the lines that may access the buffer too, and were not evaluated: the fix holds where they follow the edit.
    after: the whole report with the edits.
    """

    what: str
    edits: tuple[Edit, ...]
    changes: tuple[tuple[str, int, str, str], ...]
    wavefronts: tuple[int, int]
    ideal: int
    bytes: int = 0
    beside: tuple[str, ...] = ()
    after: Any = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The fix for JSON.

        >>> Fix("a stride", (), (("", 3, "129", "132"),), (9, 4), 4).as_dict()["edits"]
        [{'file': None, 'line': 3, 'old': '129', 'new': '132'}]
        """
        edits = [{"file": file or None, "line": line, "old": old, "new": new} for file, line, old, new in self.changes]
        return {
            "what": self.what,
            "edits": edits,
            "wavefronts": self.wavefronts[1],
            "ideal": self.ideal,
            "bytes": self.bytes,
            "unless": list(self.beside),
        }


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """A text with edits.

    >>> edited("a b", (Edit(0, 1, "c", 1), Edit(2, 3, "d", 1)))
    'c d'
    """
    for edit in sorted(set(edits), key=lambda edit: -edit.start):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def read_again(file: SourceFile, text: str) -> SourceFile:
    """A file with another text, read with what it was read with."""
    return replace(read(text, file.language, replace(file.given, notes={}, used=set())), given=file.given)


class Editor:
    """Finds the edits of a file that put the elements of a tensor's buffer elsewhere."""

    def __init__(self, file: SourceFile) -> None:
        self.file, self.left = file, _READS
        self._values: list[tuple[Entry, Any]] | None = None

    def edits(self, tensor: Tensor, call: str, places: Places) -> Iterator[tuple[Edit, ...]]:
        """Edits after which a definition that the layout of a tensor may come from has other places; the likeliest first."""
        layout, swizzle = root_of(tensor)
        if layout is None:
            return
        wanted = places.of(clear_static(layout))
        for entry in self._definitions(layout, swizzle, tensor.pointer.name, call):
            for edit in self._of(entry, wanted, places):
                changed = self._changed((edit,), entry)
                if changed is not None and wanted is not None and _places_of(changed, layout, tensor) == _table(wanted):
                    yield (edit,)
                    break

    def _definitions(self, layout: Layout, swizzle: Any, name: str, call: str) -> list[Entry]:
        """The entries that have a layout: those of the caller, and those whose names are like the tensor's, first."""
        if self._values is None:
            self._values = []
            for entry in self.file.entries:
                if _OF_LAYOUTS.search(entry.text) and "gmem" not in entry.text:
                    try:
                        with boundary():
                            self._values.append((entry, entry.read()))
                    except CuteVizError:
                        continue
        found = [entry for entry, value in self._values if _is(value, layout, swizzle)]
        caller = call.partition(",")[0].split("::")[-1]
        return sorted(found, key=lambda entry: (caller not in entry.scope, name[:2] != entry.name[:2], name not in entry.name))

    def orders(self) -> Iterator[Edit]:
        """Calls of tile_to_shape without an order, each with the order of the other mode first."""
        for entry in self.file.entries:
            place = expression(self.file.text, entry) if "tile_to_shape" in entry.text else None
            call = re.search(r"\btile_to_shape\s*\(", self.file.text[slice(*place)]) if place else None
            if place is None or call is None or self.file.language != "cpp":
                continue
            parts = _arguments(self.file.text, place[0] + call.end(), place[1])
            try:
                rank = len(modes(domain(entry.read()).shape)) if len(parts) == 2 else 0
            except CuteVizError:
                continue
            if rank > 1:
                at = parts[1][1]
                line = entry.line + self.file.text.count("\n", entry.span.start, at)
                order = ",".join(f"_{n}" for n in [2, 1, *range(3, rank + 1)])
                yield Edit(at, at, f", Step<{order}>{{}}", line, entry.file)

    def _changed(self, edits: tuple[Edit, ...], entry: Entry) -> Any:
        """What an entry is after edits, None where it cannot be read."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            with boundary():
                file = read_again(self.file, edited(self.file.text, edits))
                shift = sum(len(x.new) - (x.end - x.start) for x in edits if x.start < entry.span.start)
                return next(x.read() for x in file.entries if x.span.start == entry.span.start + shift)
        except (CuteVizError, StopIteration):
            return None

    def _of(self, entry: Entry, wanted: Any, places: Places) -> Iterator[Edit]:
        """Edits of the expression that an entry is defined by, the smallest first."""
        place = expression(self.file.text, entry)
        if place is None:
            return
        start, end = place
        text = self.file.text[start:end]
        line = entry.line + self.file.text.count("\n", entry.span.start, start)
        language = "python" if self.file.language == "python" else "cpp"

        def edit(begin: int, stop: int, new: str) -> Edit:
            return Edit(start + begin, start + stop, new, line + text.count("\n", 0, begin), entry.file)

        if places.swizzle is not None:
            s = places.swizzle
            numbers = f"{s.bits},{s.base},{s.shift}"
            if there := _SWIZZLE[language].search(text):
                yield edit(there.start(1), there.end(1), numbers)
            elif language == "python":
                yield edit(0, len(text), f"cute.make_composed_layout(cute.make_swizzle({numbers}), 0, {text})")
            elif inside := re.fullmatch(r"decltype\s*\((.*)\)", text, re.DOTALL):
                yield edit(0, len(text), f"decltype(composition(Swizzle<{numbers}>{{}}, {inside[1].strip()}))")
            elif re.search(r"\busing\s+\w+\s*=\s*$", self.file.text[max(0, start - 200) : start]):
                yield edit(0, len(text), f"decltype(composition(Swizzle<{numbers}>{{}}, {text}{{}}))")
            else:
                yield edit(0, len(text), f"composition(Swizzle<{numbers}>{{}}, {text})")
            return
        change = places.step - places.row
        for match in reversed(list(_TOKEN.finditer(text))):
            number = match["n"]
            if number is not None and int(number) + change >= 0:
                yield edit(match.start("n"), match.end("n"), str(int(number) + change))
        for match in reversed(list(_TOKEN.finditer(text))):
            if match["name"] is not None:
                inside_brackets = text[: match.start()].rstrip().endswith("<") or language == "python"
                more = str(abs(change)) if inside_brackets else f"Int<{abs(change)}>{{}}"
                yield edit(match.start(), match.end(), f"{match['name']} {'-' if change < 0 else '+'} {more}")
        if isinstance(wanted, Layout):
            yield edit(0, len(text), _written(wanted, text, language))


def expression(text: str, entry: Entry) -> tuple[int, int] | None:
    """Where the expression stands that an entry is defined by; of a tensor its layout's.

    >>> from cute_viz.source import read
    >>> from cute_viz.source.model import Given
    >>> text = "auto a = make_tensor(make_smem_ptr(p), Layout<_4>{});"
    >>> at = expression(text, read(text, "cpp", Given()).entries[0])
    >>> text[slice(*at)]
    'Layout<_4>{}'
    """
    found = re.compile(r"\s+".join(map(re.escape, entry.text.split()))).search(text, entry.span.start) if entry.text else None
    if found is None:
        return None
    start, end = found.span()
    if call := re.match(r"(cute(::|\.))?make_tensor\s*\(", text[start:end]):
        parts = _arguments(text, start + call.end(), end)
        return parts[1] if len(parts) == 2 else None
    return start, end


def _arguments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the arguments stand that follow an opening bracket."""
    out, depth, begin = [], 0, start
    for n in range(start, end):
        c = text[n]
        if c in ",)" and depth == 0:
            first = begin + len(text[begin:n]) - len(text[begin:n].lstrip())
            out.append((first, begin + len(text[begin:n].rstrip())))
            begin = n + 1
            if c == ")":
                break
        depth += (c in "([{<") - (c in ")]}>")
    return out


def _written(layout: Layout, text: str, language: str) -> str:
    """A layout as source code, with the shape as the text has it, where it begins with one."""

    def numbers(x: Any) -> str:
        if isinstance(x, tuple):
            inner = ", ".join(map(numbers, x))
            return f"make_stride({inner})" if language == "cpp" else f"({inner})"
        return f"Int<{int(x)}>{{}}" if language == "cpp" else str(int(x))

    stride = numbers(layout.stride if isinstance(layout.stride, tuple) else (layout.stride,))
    call = re.match(r"((?:cute(?:::|\.))?make_layout\s*\()", text)
    if call is not None:
        parts = _arguments(text, call.end(), len(text))
        shape = text[slice(*parts[0])] if parts else ""
    else:
        shape = numbers(layout.shape).replace("make_stride", "make_shape")
    return f"make_layout({shape}, {stride})" if language == "cpp" else f"cute.make_layout({shape}, stride={stride})"


def _is(value: Any, layout: Layout, swizzle: Any) -> bool:
    """Whether a value is a layout behind a swizzle of element offsets."""
    outer = None
    if isinstance(value, Tensor):
        value = value.whole
    if isinstance(value, ComposedLayout):
        outer, flag, value = value.outer, value.offset, value.inner
        if isinstance(flag, PointerFlag) and swizzle is not None:
            outer = outer.rescaled(flag.bits.bit_length() - 4) if hasattr(outer, "rescaled") else outer
    return outer == swizzle and isinstance(value, Layout) and clear_static(value) == clear_static(layout)


def _table(layout: Any) -> list[int]:
    from cute_viz.algebra.table import offsets

    return [int(o) for o in offsets(clear_static(layout) if isinstance(layout, Layout) else layout)]


def _places_of(value: Any, layout: Layout, tensor: Tensor) -> list[int] | None:
    """The element offsets of a definition that was changed."""
    value = value.whole if isinstance(value, Tensor) else value
    if not isinstance(value, (Layout, ComposedLayout)) or size(domain(value)) != size(layout):
        return None
    if isinstance(value, ComposedLayout) and isinstance(value.offset, PointerFlag):
        value = ComposedLayout(value.outer.rescaled(tensor.bits.bit_length() - 4), 0, value.inner)  # type: ignore[union-attr]
    return _table(value)


def consistent(before: Report, after: Report) -> tuple[str, dict[str, int]]:
    """Whether everything that is written in shared memory is read from where it now lies: what is wrong, "" for nothing; and how
    many bits each buffer reaches further.

    Each element that any statement moves has one place before and one after, whichever statement asks, and no two have the same.
    """
    maps: dict[tuple[str, str], dict[int, int]] = {}
    pairs: list[tuple[str, Tensor, Tensor]] = []
    if len(before.read) != len(after.read):
        return "the statements are others", {}
    for (move, mine), (_, yours) in zip(before.read, after.read, strict=True):
        views = [_views(mine or ()), _views(yours or ())]
        for a, b in zip(*views, strict=False):
            if size(a.layout) != size(b.layout) or a.pointer.base != b.pointer.base:
                return f"the operands of line {move.line} would no longer be known", {}
            pairs.append((launch(move), a, b))
        if len(views[0]) != len(views[1]):
            return f"the operands of line {move.line} would no longer be known", {}
    changed = {
        (where, a.pointer.base) for where, a, b in pairs if a.layout != b.layout or a.swizzle != b.swizzle or a.part != b.part
    }
    for where, a, b in dict.fromkeys(pairs):
        if (where, a.pointer.base) not in changed:
            continue
        mine_ = maps.setdefault((where, a.pointer.base), {})
        try:
            for old_place, new_place in relocated(a, b):
                if mine_.setdefault(old_place, new_place) != new_place:
                    return f"{a.pointer.name or a.pointer.base} is read by another layout than it is written by", {}
        except CuteVizError as error:
            return error.message, {}
    for (_, base), one in maps.items():
        if len(set(one.values())) < len(one):
            return f"two elements of {base} would lie in one place", {}
    return "", {base: max(one.values()) - max(one) for (_, base), one in maps.items()}


def _views(operands: Sequence[Any]) -> list[Tensor]:
    """The tensors of shared memory that a statement moves; of a TMA its tile, of descriptors what they describe."""
    tensors = [x.tensor if isinstance(x, DescriptorTensor) else x for x in operands]
    out = [x for x in tensors if isinstance(x, Tensor) and x.pointer.space == "smem"]
    tma = operands[0] if operands and isinstance(operands[0], TmaCopy) else None
    if tma is None:
        return out
    tile = tma.smem
    swizzle, inner = (tile.outer, tile.inner) if isinstance(tile, ComposedLayout) else (None, tile)
    if isinstance(tile, ComposedLayout) and not isinstance(tile.offset, PointerFlag):
        return []
    return [Tensor(replace(x.pointer, swizzle=swizzle), inner) for x in out]


def launch(move: Move) -> str:
    """The outermost of the calls through which a statement is reached.

    >>> from cute_viz.source.model import Move
    >>> launch(Move("copy", 7, (), "f, line 3, called in g, line 9", list))
    'g, line 9'
    """
    return move.call.rpartition("called in ")[2]


def may_grow(file: SourceFile, base: str, bits: int) -> bool:
    """Whether a buffer takes what its layout needs: an array whose extent follows from a layout, what an allocator gives."""
    if file.language == "python":
        return "allocate_tensor" in file.text or "allocate_array" in file.text
    name = re.sub(r"(\.(begin|data)\(\)|\(\))$", "", base).replace("->", ".").split(".")[-1].strip("&*")
    found = re.findall(rf"(?m)^([^;\n]*\b{re.escape(name)}\s*(?:\[([^\]\n]*)\])?\s*;)", file.text) if name.isidentifier() else []
    return any(
        re.search(r"cosize|size_in_bytes", extent or line)
        for line, extent in found
        if extent or re.search(r"rray|Engine|uffer", line)
    )


def shown(text: str, edit: Edit) -> tuple[str, str]:
    """The expression around an edit before and after it, in a line each, without the comments.

    >>> shown("auto s = make_stride(Int<1>{}, bM+Int<1>{});", Edit(38, 39, "4", 1))
    ('make_stride(Int<1>{}, bM+Int<1>{})', 'make_stride(Int<1>{}, bM+Int<4>{})')
    """
    start, end = edit.start, edit.end
    if len(edit.new) < 24:  # a number: the call that it is in
        depth = 0
        for at in range(start - 1, -1, -1):
            depth += (text[at] in ")}") - (text[at] in "({")
            if depth < 0 or text[at] == ";":
                break
        if text[at] == "(" and (word := re.search(r"[\w:.]+\s*$", text[:at])):
            start = word.start()
            for n in range(at, len(text)):
                depth += (text[n] == "(") - (text[n] == ")")
                if depth < 0:
                    end = max(end, n + 1)
                    break
    whole = text[start:end], text[start : edit.start] + edit.new + text[edit.end : end]
    old, new = (" ".join(re.sub(r"//[^\n]*", "", x).split()) for x in whole)
    return old, new


class Fixer:
    """Searches the fixes of a report.

    evaluate: the report of another file, without fixes.
    """

    def __init__(self, file: SourceFile, report: Report, evaluate: Callable[[SourceFile], Report]) -> None:
        self.file, self.report, self.evaluate = file, report, evaluate
        self.editor = Editor(file)
        self.tried: dict[frozenset[Edit], tuple[str, Report | None, dict[str, int]]] = {}

    def fix(self, rows: list[Access], loose: tuple[str, ...]) -> Fix | str:
        """The fix of a buffer by the rows of its accesses, or why there is none. loose: lines that may access it, too."""
        sides = [row.cost.side for row in rows if row.cost.side is not None]
        tensors = {(root_of(side.tensor), side.tensor.pointer.name): side.tensor for side in sides}
        found = better(list(dict.fromkeys(sides)))[0]
        wrong = ""
        for places, _ in found:
            views = [list(self.editor.edits(x, rows[0].move.call, places)) for x in tensors.values()]
            for edits in _choices([one for one in views if one]):
                wrong_here, after, grown = self._try(edits)
                if not wrong_here and after is not None:
                    wrong_here = self._against(rows, after)
                base = sides[0].tensor.pointer.base
                if not wrong_here and grown.get(base, 0) > 0 and not may_grow(self.file, base, grown[base]):
                    wrong_here = f"{places} needs {grown[base] // 8} bytes more than {sides[0].tensor.pointer.name or base} has"
                if wrong_here or after is None:
                    wrong = wrong or wrong_here
                    continue
                keys = {row.key for row in rows}
                left = sum(row.cost.wavefronts or 0 for row in after.accesses if row.key in keys)
                best = sum(row.cost.ideal or 0 for row in after.accesses if row.key in keys)
                changes = tuple((e.file, e.line, *shown(self.file.text, e)) for e in edits)
                return Fix(
                    str(places),
                    edits,
                    changes,
                    (sum(row.cost.wavefronts or 0 for row in rows), left),
                    best,
                    max(0, grown.get(base, 0)) // 8,
                    loose,
                    after,
                )
        return wrong or _hopeless(rows, bool(found))

    def boxes(self, rows: list[Access], loose: tuple[str, ...]) -> Fix | str:
        """The fix of the copies of a TMA that takes more instructions than its tile needs."""
        keys = {row.key for row in rows}
        for edit in self.editor.orders():
            wrong, after, _ = self._try((edit,))
            if after is None or wrong or self._against(rows, after):
                continue
            counts = [sum(row.cost.instructions for row in one.accesses if row.key in keys) for one in (self.report, after)]
            if counts[1] < counts[0]:
                changes = ((edit.file, edit.line, *shown(self.file.text, edit)),)
                least = sum(row.cost.boxes or 0 for row in rows)
                return Fix("the order of tile_to_shape", (edit,), changes, (counts[0], counts[1]), least, 0, loose, after)
        return ""

    def together(self, edits: tuple[Edit, ...]) -> Report | None:
        """The report with the edits of all fixes; None where they do not go together."""
        wrong, after, _ = self._try(edits)
        return None if wrong else after

    def _try(self, edits: tuple[Edit, ...]) -> tuple[str, Report | None, dict[str, int]]:
        """What is wrong with edits, the report with them, and how many bits each buffer reaches further; each tried once."""
        key = frozenset(edits)
        if key not in self.tried:
            try:
                with boundary():
                    after = self.evaluate(read_again(self.file, edited(self.file.text, edits)))
                    wrong, grown = consistent(self.report, after)
            except CuteVizError as error:
                wrong, after, grown = error.message, None, {}
            self.tried[key] = wrong, after, grown
        return self.tried[key]

    def _against(self, rows: list[Access], after: Report) -> str:
        """What is worse in the report with edits; "" for nothing."""
        others = {row.key: row for row in after.accesses}
        keys = {row.key for row in rows}
        if len(after.unknown) > len(self.report.unknown) or len(others) != len(self.report.accesses):
            return "with it another statement could no longer be evaluated"
        for row in self.report.accesses:
            other = others.get(row.key)
            if other is None or other.cost.instruction != row.cost.instruction or other.cost.instructions > row.cost.instructions:
                return f"it would take the width of line {_place(row)}"
            worse = row.key not in keys and (other.cost.wavefronts or 0) > (row.cost.wavefronts or 0)
            if worse or (other.cost.sectors or 0) > (row.cost.sectors or 0):
                return f"line {_place(row)} would cost more"
        gained = sum(_paid(row) - _paid(others[row.key]) for row in rows)
        return "" if gained > 0 else "it changes another buffer"


def _paid(row: Access) -> int:
    return (row.cost.wavefronts or 0) if row.cost.boxes is None else row.cost.instructions


def _choices(views: list[list[tuple[Edit, ...]]]) -> Iterator[tuple[Edit, ...]]:
    """One edit after the other, and then one of every view."""
    for view in views:
        yield from view
    if len(views) > 1:
        for several in product(*views):
            yield tuple(dict.fromkeys(edit for edits in several for edit in edits))


def _hopeless(rows: list[Access], found: bool) -> str:
    """Why a buffer has no fix."""
    worst = max(rows, key=lambda row: row.cost.ways)
    what = worst.cost.instruction
    if found:
        return "no definition was found whose edit would move the elements"
    if what.startswith("cp.async"):
        return (
            "cp.async waits for the lines of global memory that one wavefront is gathered from; rows of 128 bytes a warp would not"
        )
    advice = (
        "a transposing store (stmatrix) would" if what.startswith("st.") else "threads that take elements in another order would"
    )
    return f"no swizzle or stride that keeps the width of every access helps; {advice}"


def _place(row: Access) -> str:
    return f"{row.move.file}:{row.move.line}" if row.move.file else str(row.move.line)
