"""Edits of a file's definitions: where an expression stands, and which other text gives its buffer other places."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, domain, is_layout
from cute_viz.algebra.inttuple import modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor, whole
from cute_viz.analysis.relocate import Places, root_of
from cute_viz.engine.kernel_array import rows_apart
from cute_viz.engine.kernel_expression import Edit, alone, arguments, expression, layouts_made, written_as
from cute_viz.errors import CuteVizError, Span, boundary, line_of
from cute_viz.files import read_text
from cute_viz.source import read
from cute_viz.source.model import Entry

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile
    from cute_viz.source.moves import Move

_TOKEN = re.compile(r"\b_?(?P<n>\d+)\b|\b(?P<name>[A-Za-z_]\w*)\b(?!\s*[<({:.])")
_OF_LAYOUTS = re.compile(r"ayout|tile_to_shape|composition|tile_to_mma")
_NAME = re.compile(r"(?:typename\s+)?[\w:.]+(?:\s*\{\s*\})?")
_READS = 24  # edits of one buffer that are read again
_BLIND = 4  # of one buffer that only a compiler can read
_SWIZZLE = {"cpp": re.compile(r"\bSwizzle\s*<([^<>]*)>"), "python": re.compile(r"\bmake_swizzle\s*\(([^()]*)\)")}


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """A text with edits; every line that follows keeps its number."""
    for edit in sorted(set(edits), key=lambda edit: -edit.start):
        lines = text.count("\n", edit.start, edit.end) - edit.new.count("\n")
        text = text[: edit.start] + edit.new + "\n" * lines + text[edit.end :]
    return text


def as_written(file: SourceFile) -> SourceFile:
    """The file as it is written, whose definitions have places: itself, or what a compiler was given."""
    return file if file.written is None else file.written()


def read_again(file: SourceFile, written: SourceFile, edits: tuple[Edit, ...]) -> SourceFile:
    """A file with edits of it as it is written, read with what it was read with; as compiled, by its compiler. Raises:
    CuteVizError where a place is not that of the file which the compiler reads."""
    if file.again is None:
        return replace(read(edited(file.text, edits), file.language, replace(file.given, notes={}, used=set())), given=file.given)
    texts: dict[str, str] = {}
    for name in {edit.file for edit in edits}:
        text = file.text if not name else read_text(os.path.join(os.path.dirname(written.given.files[""]), name))
        texts[name] = edited(text, tuple(_moved(edit, written.text, text) for edit in edits if edit.file == name))
    return file.again(texts)


def _moved(edit: Edit, whole: str, text: str) -> Edit:
    """An edit of a text with what it includes as one of the file that its line is in."""
    old = whole[edit.start : edit.end]
    column = edit.start - whole.rfind("\n", 0, edit.start) - 1
    start = sum(map(len, text.splitlines(keepends=True)[: edit.line - 1])) + column
    if text[start : start + len(old)] != old:
        raise CuteVizError(f"line {edit.line} of {edit.file or 'the file'} is not what is read")
    return replace(edit, start=start, end=start + len(old))


class Editor:
    """Finds the edits of a file that put the elements of a tensor's buffer elsewhere.

    written: the file as it is written. blind: edits of what only a compiler can read that are still offered for it. here: the file
    as it is written and read for one launch, in which names have one meaning. behind: where the definitions stand that a buffer
    is made of, of a reader that knows; traced: whether one of them is edited.
    """

    def __init__(self, file: SourceFile) -> None:
        self.file, self.written, self.left, self.blind = file, as_written(file), _READS, _BLIND
        self.here, self._launches = self.written, {"": self.written}
        self._values: dict[tuple[int, int], list[tuple[Entry, Any]]] = {}
        self._inline: list[tuple[Entry, Any]] | None = None
        self.behind: frozenset[tuple[str, int]] = frozenset()
        self.traced = False

    def again(self, launch: str = "", behind: frozenset[tuple[str, int]] = frozenset()) -> None:
        """Begin with another buffer. launch: what launches its kernel, as statements have it."""
        self.left, self.blind, self.behind, self.traced = _READS, _BLIND, behind, False
        if launch not in self._launches:
            given, found = self.written.given, [] if self.file.compiled or self.written.given.launch else self.written.launches()
            number = next((n for n, one in enumerate(found, 1) if one.label == launch), 0)
            alone = replace(given, launch=str(number), notes={}, used=set())
            self._launches[launch] = read(self.written.text, self.written.language, alone) if number else self.written
        self.here = self._launches[launch]

    def edits(self, tensor: Tensor, move: Move, places: Places) -> Iterator[tuple[Edit, ...]]:
        """Edits after which a definition that the layout of a tensor may come from has other places; the likeliest first."""
        layout, swizzle = root_of(tensor)
        call = move.call
        if places.swizzle is None:
            yield from rows_apart(self.written.text, tensor.pointer.base, move, places) if self.file.language == "cpp" else ()
        if layout is None:
            return
        wanted = places.of(clear_static(layout))
        made, named = self._definitions(layout, swizzle, tensor.pointer.name, call)
        for entry in made:
            yield from self._entry(entry, layout, swizzle, wanted, tensor, places)
        if places.swizzle is not None:
            yield from self._swizzles(places.swizzle, tensor.bits)
        for entry in named:
            yield from self._entry(entry, layout, swizzle, wanted, tensor, places)

    def _entry(
        self, entry: Entry, layout: Layout, swizzle: Any, wanted: Any, tensor: Tensor, places: Places
    ) -> Iterator[tuple[Edit, ...]]:
        """The edit of an entry after which it has the places that are wanted; of one that cannot be read those that may."""
        known = _is(self._meant(entry), layout, swizzle)
        found = list(self._of(entry, wanted, places))
        for edit in found if known else sorted(found, key=partial(self._unlikely, entry, places)):
            changed = self._changed((edit,), entry) if known else None
            if changed is not None and wanted is not None and _places_of(changed, layout, tensor) == _table(wanted):
                yield (edit,)
                return
            if not known and self.blind > 0:
                self.blind -= 1
                yield (edit,)

    def _swizzles(self, wanted: Swizzle, bits: int) -> Iterator[tuple[Edit, ...]]:
        """Edits of the swizzles that are written in the file: those of atoms, and of pointers, which the DSL counts in bytes."""
        text, language = self.written.text, self.file.language
        bases = dict.fromkeys((wanted.base, wanted.base + bits.bit_length() - 4) if language == "python" else (wanted.base,))
        new = [f"{wanted.bits},{base},{wanted.shift}" for base in bases]
        found = list(_SWIZZLE[language].finditer(text)) if language in _SWIZZLE else []
        tried = [(one, numbers) for one in found for numbers in new if "".join(one[1].split()) != numbers]
        yield from ((Edit(*one.span(1), _like(one[1], numbers), *line_of(text, one.start())),) for one, numbers in tried[:_BLIND])

    def _definitions(self, layout: Layout, swizzle: object, name: str, call: str) -> tuple[list[Entry], list[Entry]]:
        """What makes a layout: entries, those of the caller and those whose names are like the tensor's first, and calls that
        are given it; and what has it by a name. Where nothing has it, what only a compiler can read."""
        callers = {part.partition(",")[0].split("::")[-1] for part in call.split("called in ")}

        def having(values: list[tuple[Entry, object]]) -> list[Entry]:
            found = self._traced(dict.fromkeys(entry for entry, value in values if _is(value, layout, swizzle)))
            mine = [entry for entry in found if callers & {scope.partition("<")[0] for scope in entry.scope}] or found
            return sorted(mine, key=lambda entry: (name[:2] != entry.name[:2], name not in entry.name))

        found, inline = having(self._having(True)), self._made_inline()
        named = [entry for entry in found if self._is_name(entry)]
        made = [entry for entry in found if entry not in named] + having(inline)
        lost = [entry for entry, value in inline if value is None]
        if made or named:
            return made, named + lost * (not made)
        if found := having(self._having(False)):
            return [], found + lost
        found = [] if self.file.compiled else [entry for entry, value in self._having(True) if value is None and entry.scope]
        return sorted(found, key=lambda entry: name[-1:].lower() != entry.name[-1:].lower()), lost

    def _traced(self, entries: Iterable[Entry]) -> list[Entry]:
        """Those of definitions that the buffer is made of, where there are any."""
        every = list(entries)
        found = [entry for entry in every if (entry.file, entry.line) in self.behind]
        self.traced = self.traced or bool(found)
        return found or every

    def _having(self, likely: bool) -> list[tuple[Entry, object]]:
        """The entries of the file whose words are those of layouts, or all others, with their values; as compiled, of each
        instance."""
        compiled: dict[tuple[str, int, str], list[Entry]] = {}
        for entry in self.file.entries if self.file.compiled else ():
            compiled.setdefault((entry.file, entry.line, entry.name), []).append(entry)
        out = []
        for entry in self.here.entries:
            if entry.text and likely == (_OF_LAYOUTS.search(entry.text) is not None and "gmem" not in entry.text):
                key = id(self.here), entry.span.start
                if key not in self._values:
                    instances = compiled.get((entry.file, entry.line, entry.name), [entry])
                    self._values[key] = [(entry, value) for value in map(self._meant, instances)]
                out += self._values[key]
        return out

    def _made_inline(self) -> list[tuple[Entry, object]]:
        """The layouts that are made where a call is given them, by themselves: None of one with names that are known elsewhere."""
        if self._inline is None:
            self._inline = []
            for start, words in layouts_made(self.written.text, self.file.language):
                line, file = line_of(self.written.text, start)
                read_it = partial(alone, words, self.file.language)
                entry = Entry("", (), Span(start, start + 1), line, read_it, text=words, file=file)
                self._inline.append((entry, self._meant(entry)))
        return self._inline

    def _is_name(self, entry: Entry) -> bool:
        """Whether an entry takes its layout from a name that is defined elsewhere, `make_tensor(p, sA_layout)`."""
        start, end = expression(self.written.text, entry) or (0, 0)
        return _NAME.fullmatch(self.written.text[start:end]) is not None

    def by_name(self, edits: tuple[Edit, ...]) -> bool:
        """Whether an edit is of a name alone, so that what else has that name does not follow."""
        return any(_NAME.fullmatch(self.written.text[edit.start : edit.end]) for edit in edits if "(" in edit.new)

    def _unlikely(self, entry: Entry, places: Places, edit: Edit) -> tuple[bool, bool]:
        """How unlikely an edit is that nothing but a compiler can read: outside of strides, of another number than the stride."""
        text, (start, end) = self.written.text, expression(self.written.text, entry) or (0, 0)
        old = text[edit.start : edit.end]
        whole = "tride" in edit.new and "tride" not in text[start:end]
        return text.rfind("tride", start, edit.start) < 0 and not whole, old.isdigit() and int(old) != places.row

    def _meant(self, entry: Entry) -> object:
        """The value of an entry, None of one that cannot be read."""
        try:
            with boundary():
                return entry.read()
        except CuteVizError:
            return None

    def orders(self, name: str) -> Iterator[Edit]:
        """Calls of tile_to_shape without an order, each with the order of the other mode first; those that a tensor of that name
        may be of first, `sV` of `SmemLayoutV`, and of a unit those that it uses."""
        text, used = self.written.text, {(entry.file, entry.line) for entry in self.file.entries if self.file.compiled}
        found = [entry for entry in self.here.entries if "tile_to_shape" in entry.text]
        found = self._traced(entry for entry in found if not used or (entry.file, entry.line) in used)
        for entry in sorted(found, key=lambda entry: not _alike(name.lower(), entry.name.lower())):
            place = expression(text, entry)
            call = re.search(r"\btile_to_shape\s*\(", text[slice(*place)]) if place else None
            if place is None or call is None or self.file.language != "cpp":
                continue
            parts = arguments(text, place[0] + call.end(), place[1])
            shape = re.search(r"\bmake_shape\s*\(|\bShape\s*<", text[slice(*parts[1])]) if len(parts) == 2 else None
            rank = len(arguments(text, parts[1][0] + shape.end(), parts[1][1])) if shape is not None else 0
            if shape is None and len(parts) == 2 and isinstance(value := self._meant(entry), (Layout, ComposedLayout)):
                rank = len(modes(domain(value).shape))
            if rank > 1:
                at = parts[1][1]
                line = entry.line + text.count("\n", entry.span.start, at)
                order = ",".join(f"_{n}" for n in [2, 1, *range(3, rank + 1)])
                yield Edit(at, at, f", Step<{order}>{{}}", line, entry.file)

    def _changed(self, edits: tuple[Edit, ...], entry: Entry) -> object:
        """What an entry is after edits, None where it cannot be read."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            with boundary():
                if not entry.name:
                    (edit,), at = edits, entry.span.start
                    text = self.written.text[at : at + len(entry.text)]
                    return alone(text[: edit.start - at] + edit.new + text[edit.end - at :], self.file.language)
                file = read_again(self.here, self.here, edits)
                shift = sum(len(x.new) - (x.end - x.start) for x in edits if x.start < entry.span.start)
                return next(x.read() for x in file.entries if x.span.start == entry.span.start + shift)
        except (CuteVizError, StopIteration):
            return None

    def _of(self, entry: Entry, wanted: object, places: Places) -> Iterator[Edit]:
        """Edits of the expression that an entry is defined by, the smallest first."""
        place = expression(self.written.text, entry)
        if place is None:
            return
        start, end = place
        text = self.written.text[start:end]
        line = entry.line + self.written.text.count("\n", entry.span.start, start)
        language = "python" if self.file.language == "python" else "cpp"

        def edit(begin: int, stop: int, new: str) -> Edit:
            return Edit(start + begin, start + stop, new, line + text.count("\n", 0, begin), entry.file)

        if places.swizzle is not None:
            s = places.swizzle
            numbers = f"{s.bits},{s.base},{s.shift}"
            if there := _SWIZZLE[language].search(text):
                yield edit(there.start(1), there.end(1), _like(there[1], numbers))
            elif language == "python":
                yield edit(0, len(text), f"cute.make_composed_layout(cute.make_swizzle({numbers}), 0, {text})")
            cute = "cute::" if "cute::" in text else ""
            composed = f"{cute}composition({cute}Swizzle<{numbers}>{{}}, "
            if there or language == "python":
                return
            if inside := re.fullmatch(r"decltype\s*\((.*)\)", text, re.DOTALL):
                yield edit(0, len(text), f"decltype({composed}{inside[1].strip()}))")
            elif text.endswith(">") or re.search(r"\busing\s+\w+\s*=\s*$", self.written.text[max(0, start - 200) : start]):
                yield edit(0, len(text), f"decltype({composed}{text}{{}}))")
            else:
                yield edit(0, len(text), f"{composed}{text})")
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
            yield edit(0, len(text), written_as(wanted, text, language))


def _like(old: str, numbers: str) -> str:
    """Numbers parted as those in their place are."""
    return numbers.replace(",", ", ") if re.search(r",\s", old) else numbers


def _alike(tensor: str, layout: str) -> bool:
    """Whether a tensor may be of a layout by their names: `sV` of `SmemLayoutV`, `tBsB` of `sB`."""
    return layout.endswith(tensor[1:]) or tensor.endswith(layout)


def _is(value: object, layout: Layout, swizzle: object) -> bool:
    """Whether a value is a layout behind a swizzle of element offsets."""
    outer = None
    if isinstance(value, Tensor):
        value = value.whole
    if isinstance(value, ComposedLayout):
        outer, flag, value = value.outer, value.offset, value.inner
        if isinstance(flag, PointerFlag) and swizzle is not None:
            outer = outer.rescaled(flag.bits.bit_length() - 4) if hasattr(outer, "rescaled") else outer
    return outer == swizzle and isinstance(value, Layout) and clear_static(value) == clear_static(layout)


def _table(layout: AnyLayout) -> list[int]:
    return [int(o) for o in offsets(clear_static(layout) if isinstance(layout, Layout) else layout)]


def _places_of(value: object, layout: Layout, tensor: Tensor) -> list[int] | None:
    """The element offsets of a definition that was changed."""
    value = whole(value)
    if not is_layout(value) or size(domain(value)) != size(layout):
        return None
    if isinstance(value, ComposedLayout) and isinstance(value.offset, PointerFlag):
        value = ComposedLayout(value.outer.rescaled(tensor.bits.bit_length() - 4), 0, value.inner)  # type: ignore[union-attr]
    return _table(value)
