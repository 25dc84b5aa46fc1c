"""Fixes of a kernel: edits of its definitions after which every access of a buffer still reads what was written, for less."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag
from cute_viz.algebra.descriptor import behind
from cute_viz.algebra.measure import size
from cute_viz.algebra.tensor import Tensor, tensors_in
from cute_viz.algebra.tma import TmaCopy
from cute_viz.analysis.relocate import better, relocated, root_of
from cute_viz.engine.kernel_array import is_resized, launched_with
from cute_viz.engine.kernel_edit import Editor, read_again
from cute_viz.engine.kernel_expression import Edit, shown
from cute_viz.errors import CuteVizError, boundary
from cute_viz.limits import Half
from cute_viz.records import dataclass
from cute_viz.source.moves import CALLED

_LONG = "fixes of all kernels take too long to search; `name=KERNEL` searches those of one"
_COMPILED = 4  # times that a unit is compiled with edits
_OTHERS = "it changes another buffer"
_ORDERS = 4  # calls of tile_to_shape that are tried with another order

if TYPE_CHECKING:
    from cute_viz.analysis.cost import Side
    from cute_viz.analysis.relocate import Places
    from cute_viz.engine.kernel_rows import Access, Report
    from cute_viz.source.model import SourceFile
    from cute_viz.source.moves import Move


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
        """The fix for JSON."""
        edits = [{"file": file or None, "line": line, "old": old, "new": new} for file, line, old, new in self.changes]
        return {
            "what": self.what,
            "edits": edits,
            "wavefronts": self.wavefronts[1],
            "ideal": self.ideal,
            "bytes": self.bytes,
            "unless": list(self.beside),
        }


def consistent(before: Report, after: Report, alike: bool = True) -> tuple[str, dict[tuple[str, str], int]]:
    """Whether everything that is written in shared memory is read from where it now lies: what is wrong, "" for nothing; and how
    many bits each buffer of a launch reaches further. Each element that any statement moves has one place before and one after,
    whichever statement asks, and no two have the same. alike: the tiles have their sizes; without it, others are not compared."""
    maps: dict[tuple[str, str, int], dict[int, int]] = {}
    pairs: list[tuple[str, Tensor, Tensor]] = []
    if len(before.read) != len(after.read):
        return "the statements are others", {}
    for (move, mine), (_, yours) in zip(before.read, after.read, strict=True):
        views = [_views(mine or ()), _views(yours or ())]
        for a, b in zip(*views, strict=False):
            same = size(a.layout) == size(b.layout) and len(a.starts) == len(b.starts)
            if not same or a.pointer.base != b.pointer.base:
                if not alike:
                    continue
                return f"the operands of line {move.line} would no longer be known", {}
            pairs.append((before.launch(move), a, b))
        if alike and len(views[0]) != len(views[1]):
            return f"the operands of line {move.line} would no longer be known", {}
    changed = {
        (where, a.pointer.base, a.bits)
        for where, a, b in pairs
        if a.layout != b.layout or a.swizzle != b.swizzle or a.part != b.part
    }
    for where, a, b in dict.fromkeys(pairs):
        if (where, a.pointer.base, a.bits) not in changed:
            continue
        mine_ = maps.setdefault((where, a.pointer.base, a.bits), {})
        try:
            for old_place, new_place in relocated(a, b):
                if mine_.setdefault(old_place, new_place) != new_place:
                    return f"{a.pointer.name or a.pointer.base} is read by another layout than it is written by", {}
        except CuteVizError as error:
            return error.message, {}
    for (_, base, _), one in maps.items():
        if len(set(one.values())) < len(one):
            return f"two elements of {base} would share an address", {}
    return "", {(where, base): max(one.values()) - max(one) for (where, base, _), one in maps.items()}


def _views(operands: Sequence[object]) -> list[Tensor]:
    """The tensors of shared memory that a statement moves; of a TMA its tile, of descriptors what they describe."""
    out = tensors_in(map(behind, operands), "smem")
    tma = operands[0] if operands and isinstance(operands[0], TmaCopy) else None
    if tma is None:
        return out
    tile = tma.smem
    swizzle, inner = (tile.outer, tile.inner) if isinstance(tile, ComposedLayout) else (None, tile)
    if isinstance(tile, ComposedLayout) and not isinstance(tile.offset, PointerFlag):
        return []
    return [Tensor(replace(x.pointer, swizzle=swizzle), inner) for x in out]


def launches(moves: Sequence[Move]) -> dict[str, str]:
    """For each way in which a statement is reached the launch of its kernel: the shortest of the ways that it ends in."""
    out = {move.launch: move.launch for move in moves if move.launch}
    own = {move.call: move.own for move in moves if not move.launch}
    for label in sorted(own, key=lambda label: (len(label), label)):
        parts, within = label.split(CALLED), own[label]
        tails = (CALLED.join(parts[n:]) for n in range(1, len(parts)))
        found = next((out[tail] for tail in tails if tail in out), label)
        out[label] = found if within is None else CALLED.join(parts[within:])
    return out


def may_grow(file: SourceFile, base: str) -> bool:
    """Whether a buffer takes what its layout needs: an array whose extent follows from a layout, what an allocator gives."""
    if file.language == "python":
        return "allocate_tensor" in file.text or "allocate_array" in file.text
    name = re.sub(r"(\.(begin|data)\(\)|\(\))$", "", base).replace("->", ".").split(".")[-1].strip("&*")
    found = re.findall(rf"(?m)^([^;\n]*\b{re.escape(name)}\s*(?:\[([^\]\n]*)\])?\s*;)", file.text) if name.isidentifier() else []
    known = [extent or line for line, extent in found if extent or re.search(r"rray|Engine|uffer", line)]
    return bool(known) and all(re.search(r"cosize|size_in_bytes", words) for words in known)


class _Proposed(Exception):
    """Edits that were not tried, where they are only asked for."""


class Fixer:
    """Searches the fixes of a report; `evaluate` gives that of another file, without fixes."""

    def __init__(self, file: SourceFile, report: Report, evaluate: Callable[[SourceFile], Report]) -> None:
        self.file, self.report, self.evaluate = file, report, evaluate
        self.editor, self.half = Editor(file), Half()
        self.places: dict[tuple[Side, ...], tuple[list[tuple[Places, int]], int]] = {}
        self.tried: dict[frozenset[Edit], tuple[str, Report | None, dict[tuple[str, str], int]]] = {}
        self.joint: frozenset[Edit] = frozenset()  # what is tried at once
        self.mine: frozenset[Edit] = frozenset()  # those of the buffer among them
        self.asking = False  # whether edits are asked for, and not tried

    def search(self, wanted: Sequence[tuple[list[Access], tuple[str, ...]]]) -> list[Fix | str]:
        """The fix of each buffer, or of each TMA whose boxes are not full, or why there is none. wanted: the rows of its accesses,
        and the lines that may access it, too. As compiled, the first edits of all are compiled at once, and if right nothing else.
        """
        proposed = [self._proposed(rows) if self.file.compiled else () for rows, _ in wanted]
        chosen: dict[tuple[int, int], Edit] = {}
        for edit in (edit for edits in proposed for edit in edits):
            chosen.setdefault((edit.start, edit.end), edit)
        self.joint, out = frozenset(chosen.values()), []
        for (rows, loose), mine in zip(wanted, proposed, strict=True):
            self.mine = frozenset(mine)
            out.append(self._searched(rows, loose))
        self.mine = frozenset()
        return out

    def _searched(self, rows: list[Access], loose: tuple[str, ...]) -> Fix | str:
        if self.half.over and not self.asking:
            return _LONG
        return self.boxes(rows, loose) if rows[0].boxed else self.fix(rows, loose)

    def _behind(self, rows: list[Access]) -> frozenset[tuple[str, int]]:
        """Where the definitions stand that a buffer is made of, as far as the reader knows."""
        _, base = _named(rows)
        read = [(move, found or ()) for move, found in self.report.read if any(row.move is move for row in rows)]
        pairs = [pair for move, found in read for pair in zip(found, move.made(), strict=False)]
        found = [at for x, at in pairs if isinstance(x, Tensor) and x.pointer.space == "smem" and x.pointer.base == base]
        return frozenset[tuple[str, int]]().union(*found)

    def _proposed(self, rows: list[Access]) -> tuple[Edit, ...]:
        """The edits for a buffer that are tried first, if they are of a definition that it is made of."""
        self.asking = True
        try:
            self._searched(rows, ())
        except _Proposed as found:
            return found.args if self.editor.traced else ()
        finally:
            self.asking = False
        return ()

    def fix(self, rows: list[Access], loose: tuple[str, ...]) -> Fix | str:
        """The fix of a buffer by the rows of its accesses, or why there is none. loose: lines that may access it, too."""
        self.editor.again(self.report.launch(rows[0].move), self._behind(rows))
        sides = [row.cost.side for row in rows if row.cost.side is not None]
        tensors = {(root_of(side.tensor), side.tensor.pointer.name): side.tensor for side in sides}
        key = tuple(dict.fromkeys(sides))  # instances of a template access their buffers alike
        if key not in self.places:
            self.places[key] = better(list(key))[:2]
        found, now = self.places[key]
        again = self.file.again is not None
        if self.file.compiled and not (again and rows[0].move.launch):
            told = _hopeless(rows, found)
            other = "for one launch, or up to 8 kernels" if again else "where the file is read as it is written"
            return f"{told}; edits are searched {other}" if found else told
        wrong, best = "", None
        for places, count in found:
            views = [list(self.editor.edits(x, rows[0].move, places)) for x in tensors.values()]
            for edits in _choices([one for one in views if one]):
                wrong_here, after, grown = self._try(edits)
                if not wrong_here and after is not None:
                    wrong_here = self._against(rows, after, edits)
                base = sides[0].tensor.pointer.base
                longer = {where: bits // 8 for (where, name), bits in grown.items() if name == base and bits > 0 and not wrong_here}
                more = max(longer.values(), default=0)
                besides = self._besides(rows[0], base, edits, longer) if longer else ()
                if besides is None:
                    wrong_here = f"{places} needs {more} bytes more than {sides[0].tensor.pointer.name or base} has"
                if wrong_here or after is None:
                    wrong = wrong or ("" if wrong_here == _OTHERS else wrong_here)
                    continue
                made = self._made(str(places), (*edits, *(besides or ())), rows, after, loose, more)
                best = made if best is None or made.wavefronts[1] < best.wavefronts[1] else best
                if made.wavefronts[0] - made.wavefronts[1] >= now - count:  # all that these places may gain
                    return made
            if best is not None:
                return best
        return wrong or _hopeless(rows, found) + ", but no definition was found whose edit would move the elements so" * bool(found)

    def _besides(self, row: Access, base: str, edits: tuple[Edit, ...], longer: dict[str, int]) -> tuple[Edit, ...] | None:
        """What else to edit where a buffer takes more bytes in some launches; None where it cannot."""
        if is_resized(self.editor.written.text, edits):
            return ()
        if self.editor.by_name(edits):
            return None
        if may_grow(self.editor.written, base):
            return ()
        tiles = {x.pointer.base for _, found in self.report.read for x in found or () if isinstance(x, Tensor)}
        if any(other.startswith(f"{base}+") for other in tiles) or not row.move.scope:
            return None
        found = [launched_with(self.editor.written.text, base, row.move.scope[-1], more, at) for at, more in longer.items()]
        return None if None in found else tuple(dict.fromkeys(edit for one in found for edit in one or ()))

    def boxes(self, rows: list[Access], loose: tuple[str, ...]) -> Fix | str:
        """The fix of the copies of a TMA that takes more instructions than its tile needs."""
        self.editor.again(self.report.launch(rows[0].move), self._behind(rows))
        name = next((x.pointer.name for x in tensors_in(rows[0].tensors, "smem")), "")
        for edit in islice(self.editor.orders(name), _ORDERS):
            wrong, after, _ = self._try((edit,))
            if after is not None and not wrong and not self._against(rows, after, (edit,)):
                return self._made("the order of tile_to_shape", (edit,), rows, after, loose, 0)
        return ""

    def _made(
        self, what: str, edits: tuple[Edit, ...], rows: list[Access], after: Report, loose: tuple[str, ...], grown: int
    ) -> Fix:
        """The fix of some rows that edits are."""
        keys = {row.key for row in rows}
        changes = tuple((e.file, e.line, *shown(self.editor.written.text, e)) for e in edits)
        others = [row for row in after.accesses if row.key in keys]
        left, boxes = sum(map(_paid, others)), sum(row.cost.boxes or 0 for row in rows)
        ideal = boxes or sum(row.cost.ideal or 0 for row in others)
        return Fix(what, edits, changes, (sum(map(_paid, rows)), left), ideal, grown, loose, after)

    def together(self, edits: tuple[Edit, ...]) -> Report | None:
        """The report with the edits of all fixes; None where they do not go together."""
        wrong, after, _ = self._tried(frozenset(edits))
        return None if wrong else after

    def _try(self, edits: tuple[Edit, ...]) -> tuple[str, Report | None, dict[tuple[str, str], int]]:
        """What is wrong with edits, the report with them, and how many bits each buffer reaches further; each tried once."""
        if self.asking:
            raise _Proposed(*edits)
        alone = frozenset(edits)
        return self._tried(self.joint if alone == self.mine and not self._tried(self.joint)[0] else alone)

    def _tried(self, key: frozenset[Edit]) -> tuple[str, Report | None, dict[tuple[str, str], int]]:
        if key not in self.tried:
            if self.file.compiled and len(self.tried) >= _COMPILED:
                return f"it was not tried: the file was compiled {_COMPILED} times", None, {}
            if self.half.over:
                return _LONG, None, {}
            try:
                with boundary():
                    after = self.evaluate(read_again(self.file, self.editor.written, tuple(key)))
                    wrong, grown = consistent(self.report, after)
            except CuteVizError as error:
                wrong, after, grown = error.message, None, {}
            self.tried[key] = wrong, after, grown
        return self.tried[key]

    def _against(self, rows: list[Access], after: Report, edits: tuple[Edit, ...]) -> str:
        """What is worse in the report with edits; "" for nothing."""
        others = {row.key: row for row in after.accesses}
        keys = {row.key for row in rows}
        if len(after.unknown) > len(self.report.unknown) or len(others) != len(self.report.accesses):
            known = {row.key[:2] for row in others.values()}
            lost = dict.fromkeys(row.move.place for row in self.report.accesses if row.key[:2] not in known)
            where = f"line {', '.join(lost)}" if lost else "another statement"
            new = "; ".join(f"{shown(self.editor.written.text, e)[1]} in line {e.line}" for e in edits)
            return f"with {new}, {where} could no longer be evaluated"
        for row in self.report.accesses:
            other = others.get(row.key)
            names = [one.cost.instruction.partition("<")[0] for one in (row, other or row)]  # without the bits of a box
            if other is None or len({*names}) > 1 or other.cost.instructions > row.cost.instructions:
                return f"it would take the width of line {row.move.place}"
            worse = row.key not in keys and (other.cost.wavefronts or 0) > (row.cost.wavefronts or 0)
            if worse or (other.cost.sectors or 0) > (row.cost.sectors or 0):
                launch = f", launched by {self.report.called(row.move)}," if row.move.call else ""
                return f"line {row.move.place}{launch} would cost more"
        return "" if sum(_paid(row) - _paid(others[row.key]) for row in rows) > 0 else _OTHERS


def _named(rows: list[Access]) -> tuple[str, str]:
    """The name and the buffer of the tensor in shared memory that rows access."""
    found = (x.pointer for x in rows[0].tensors if isinstance(x, Tensor) and x.pointer.space == "smem")
    return next(((pointer.name, pointer.base) for pointer in found), ("", ""))


def _paid(row: Access) -> int:
    return (row.cost.wavefronts or 0) if row.cost.boxes is None else row.cost.instructions


def _choices(views: list[list[tuple[Edit, ...]]]) -> Iterator[tuple[Edit, ...]]:
    """One edit after the other, and then one of every view."""
    yield from chain.from_iterable(views)
    for several in product(*views) if len(views) > 1 else ():
        yield tuple(dict.fromkeys(edit for edits in several for edit in edits))


def _hopeless(rows: list[Access], found: list[tuple[Places, int]]) -> str:
    """Why a buffer has no fix. found: places that would help, with what they leave."""
    if found:
        return f"{found[0][0]} would leave {found[0][1]:,} of the buffer's wavefronts"
    worst = max((row.cost for row in rows), key=lambda cost: cost.ways)
    if worst.instruction.startswith("cp.async") and worst.sectors is not None:
        wide = f"{1024 // worst.side.tensor.bits} elements (128 bytes)" if worst.side is not None else "128 bytes"
        return f"cp.async is ideal with {wide} along the mode that lies together in global memory, in the tile and in its threads"
    slow = [row.cost for row in rows if row.cost.ways > 1]
    halves = all(x.instruction.startswith("st.") and x.side is not None and x.side.tensor.bits == 16 for x in slow)
    other = "a transposing store (stmatrix)" if halves else "threads that take elements in another order"
    return f"no swizzle or stride that was tried and keeps the width of every access helps; {other} would"
