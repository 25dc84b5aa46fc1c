"""One operation of the library: an entry of a file with its parameters filled in, then with its layouts evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import Unwritten, is_int_tuple, product
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.algebra.measure import size
from cute_viz.algebra.static import mark_static, unknowns
from cute_viz.errors import CuteVizError
from cute_viz.limits import current
from cute_viz.notation import parse
from cute_viz.records import dataclass
from cute_viz.spec.family import COPY_KEYS, MMA_KEYS, Match
from cute_viz.spec.names import as_number
from cute_viz.spec.yaml import Keys, SpecError, Text
from cute_viz.values.instruction import ISSUED, Instruction
from cute_viz.values.types import named

if TYPE_CHECKING:
    from cute_viz.algebra.copy import CopyOp
    from cute_viz.algebra.mma import MMA_Atom

_MEMORIES = {"gmem", "smem", "rmem", "tmem"}
NEEDED = {"mma": MMA_KEYS[:5], "copy": COPY_KEYS[:4]}


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One operation of the library.

    name: with its template arguments. kind: "mma" or "copy". instruction: what commands ask of it, its source among it.
    layouts: Shape_MNK, ThrID, ALayout ... or SrcLayout ..., by CuTe's names. archs: all that have it. note: what else to know.
    of_bits: of a copy whose layouts depend on the width of a value, the entry for a width.
    of_atom: blocks, stored and warp, as MMA_Atom has them, of a copy warp alone.
    """

    name: str
    kind: str
    instruction: Instruction
    layouts: dict[str, Any]
    archs: tuple[str, ...] = ()
    note: str = ""
    of_atom: dict[str, Any] = field(default_factory=dict)
    of_bits: Callable[[int], LibraryEntry] | None = None

    def atom(self) -> MMA_Atom | CopyOp:
        """The object that the algebra computes with."""
        x = self.layouts
        if self.kind == "copy":
            from cute_viz.algebra.copy import CopyOp

            given = (x["ThrID"], x["SrcLayout"], x["DstLayout"], x["RefLayout"], x.get("ValID"))
            of_bits = self.of_bits
            by_bits = None if of_bits is None else lambda bits: _copy(of_bits(bits))
            return CopyOp(self.name, *given, **self.of_atom, of_bits=by_bits, instruction=self.instruction)
        from cute_viz.algebra.mma import MMA_Atom

        given = (x["ThrID"], x["Shape_MNK"], x["ALayout"], x["BLayout"], x["CLayout"])
        op = self.instruction
        return MMA_Atom(*given, self.name, op.types, **self.of_atom, layout_e=x.get("ELayout"), instruction=op)


def in_ptx(kind: str) -> str:
    """An element type as PTX has it; bits are b1."""
    found = named(kind)
    return "b1" if found is not None and found.short == "u1" else found.short if found is not None else kind


def _copy(entry: LibraryEntry) -> CopyOp:
    """The copy of an entry, which is one of a width alone."""
    from cute_viz.algebra.copy import CopyOp

    op = replace(entry, of_bits=None).atom()
    assert isinstance(op, CopyOp)
    return op


class FilledEntry:
    """An entry with its parameters and template arguments filled in, no layout of it evaluated yet.

    full: the name as it was asked for. said: template arguments that are not given, by their names. values: what the parameters
    and arguments are.
    Raises: SpecError for arguments that the entry does not take.
    """

    def __init__(self, match: Match, full: str, args: tuple[str, ...], said: Mapping[str, str] | None = None) -> None:
        self.family = match.family
        self.name = match.name
        self.full = full
        self.values = {**match.bound, **match.family.arguments(match.name, args, said)}

    def entry(self, forward: LibraryEntry | None = None, wrong: dict[str, CuteVizError] | None = None) -> LibraryEntry:
        """The operation with its layouts; `forward` is the one that it is the `reverse` of, `wrong` as `layouts` has it. Raises:
        SpecError for arguments that do not fit each other."""
        file, fields = self.family.file, self.family.fields
        if unfit := self.unfit():
            raise SpecError(f"{self.full} is not legal: {unfit} is less than 1", hint=f"see {self.family.key} in {file.path}")
        source = " ".join(str(fields["source"]).split()) if "source" in fields else file.word("source")
        types = () if forward else self.family.types(self.name, self.values)
        layouts = _reversed(forward.layouts) if forward else self.layouts(wrong)
        note = " ".join(str(fields.get("note", "")).split())
        op = self.instruction(layouts, types, source)
        return LibraryEntry(self.full, file.kind, op, layouts, self.family.archs, note, self.of_atom())

    def instruction(self, layouts: Mapping[str, Any], types: tuple[str, ...], source: str) -> Instruction:
        """The record of the operation."""
        family, shape = self.family, tuple(int(product(x)) for x in layouts.get("Shape_MNK", ()))
        values = {**self.values, **dict(zip("MNK", map(str, shape), strict=False))}
        values |= {x: in_ptx(kind) for x, kind in zip("ABCD", types, strict=False)}
        said = {
            key: family.said(key, values) for key in ("kind", "memory", "words", "sparse", "lanes", "ptx", "dsl", "sass", "isa")
        }
        named = (value for key, value in self.values.items() if key in family.pattern.slots)
        kind, memory, (sparse, lanes) = said["kind"], tuple(said["memory"].split()), (said[x] or "0" for x in ("sparse", "lanes"))
        if memory and (len(memory) != (2 if family.file.kind == "copy" else 3) or not {*memory} <= _MEMORIES):
            raise family.wrong(f"memory = {said['memory']} is not that of a {family.file.kind}", hint="example: memory: smem rmem")
        if not sparse.isdecimal() or not lanes.isdecimal():
            raise family.wrong("sparse and lanes must be numbers", hint="example: sparse: 2")
        ctas = size(layouts["ThrID"]) if kind in ISSUED else 1
        return Instruction(
            self.name, kind, memory, frozenset(re.findall(r"[a-z0-9]+", " ".join((*named, said["words"])).lower())), self.values,
            types, shape, int(sparse) or 1, int(ctas), int(lanes),
            said["ptx"], said["dsl"], said["sass"], family.file.word("arch"), source, said["isa"],
        )  # fmt: skip

    def of_atom(self) -> dict[str, Any]:
        """What is known of an atom beside its layouts: how many blocks, how A is stored, which threads run together."""
        out: dict[str, Any] = {}
        for key in ("blocks", "stored"):
            if key in self.family.fields:
                out[key] = self._number(self.family.chosen(key, self.values))
        written = self.family.fields.get("warp", self.family.file.word("warp"))
        if written:
            width, _, word = str(written).partition(" ")
            number = as_number(self.values.get(width, width))
            if not number or not word:
                raise self.family.wrong("warp must be a number of threads and what they are called", hint="example: warp: 64 wave")
            out["warp"] = (number, word)
        return out

    def _number(self, text: Text) -> int:
        value = as_number(str(text))
        if not value:
            raise self.family.wrong(f"{str(text)!r} is not a number of 1 or more", text)
        return value

    def unfit(self) -> str:
        """The first of the numbers of `fits` that is less than 1, or not whole where it has to be; empty where all fit."""
        if "fits" not in self.family.fields:
            return ""
        written = self.family.chosen("fits", self.values)
        names = self.numbers()
        for text in written.split():
            inside = Text(f"({text},1)")  # in a tuple a * is not a pointer's
            inside.span = written.span
            if not self._evaluate(inside, names)[0]:
                return str(text)
        return ""

    def numbers(self) -> dict[str, Any]:
        """The names that an expression of a layout may use: the values that are numbers, `bits`, `widths`, and `K`."""
        out: dict[str, Any] = {key: n for key, value in self.values.items() if (n := as_number(value)) is not None}
        if self.family.file.kind == "copy" and "S" in self.values:
            from cute_viz.values.types import bits_of

            out["bits"] = bits_of(self.values["S"])
        widths = self.family.fields.get("widths")
        if isinstance(widths, Keys):
            out |= {f"{key}_bits": int(str(widths[value])) for key, value in self.values.items() if value in widths}
        if "K" in self.family.fields:
            out["K"] = self._evaluate(self.family.chosen("K", self.values), out)
        return out

    def layouts(self, wrong: dict[str, CuteVizError] | None = None) -> dict[str, Any]:
        """Every layout of the entry, its expressions evaluated. Raises: SpecError for one that is needed and not given, or is
        not a layout, with the place in the file; where `wrong` is given, it receives these errors by the layout's name instead,
        and a layout of one element stands for it."""
        kind, names, out = self.family.file.kind, self.numbers(), dict[str, Any]()
        for key in MMA_KEYS if kind == "mma" else COPY_KEYS:
            try:
                value = self._layout(key, names, out)
            except CuteVizError as error:
                if wrong is None:
                    raise
                wrong[key] = error
                value = (1, 1, 1) if key == "Shape_MNK" else Layout(1, 0) if key == "ThrID" else Layout((1, 1), (0, 0))
            if key == "Shape_MNK":
                names = {**dict(zip("MNK", map(int, map(product, value)), strict=True)), **names}
                names.setdefault("blocks", self.of_atom().get("blocks", 1))
            if value is not None:
                out[key] = value
        return out

    def _layout(self, key: str, names: dict[str, Any], before: Mapping[str, Any]) -> Any:
        """The value of a field that holds a layout or Shape_MNK, beside those before it; None where it may be left out, and is."""
        family, kind = self.family, self.family.file.kind
        if key not in family.fields:
            if key in NEEDED[kind]:
                hint = "usually it is SrcLayout or DstLayout, the one whose values are in order: write RefLayout: Dst"
                raise family.wrong(f"{family.key} has no {key}", hint=hint if key == "RefLayout" else None)
            return None
        written = family.chosen(key, self.values)
        text = family.file.shared().get(str(written), written)
        if text in ("Src", "Dst"):
            if f"{text}Layout" not in before:
                raise family.wrong(f"{key} is that of {text}, which comes after it", written)
            return before[f"{text}Layout"]
        if key in str(family.fields.get("incongruent", "")).split():
            value: Any = self._as_written(text)
        else:
            value = mark_static(self._evaluate(text, names), Unwritten)
        if key == "ThrID" and is_int_tuple(value):
            return Layout(value)
        if key == "Shape_MNK":
            if not isinstance(value, tuple) or len(value) != 3 or not is_int_tuple(value):
                raise family.wrong("Shape_MNK must be (M,N,K)", written)
        elif not isinstance(value, Layout):
            raise family.wrong(f"{key} is not a layout", written)
        return value

    def _as_written(self, text: Text) -> Layout:
        """A layout whose stride has another nesting than its shape."""
        shape, _, stride = text.partition(":")
        try:
            return trusted(*(mark_static(parse(part), Unwritten) for part in (shape, stride)))
        except CuteVizError as error:
            raise self._placed(error.but(text=None, span=None), text) from None  # its span is that of the half

    def _evaluate(self, text: Text, names: dict[str, object]) -> Any:
        used = tuple((name, type(names[name]), names[name]) for name in _names(str(text)) if name in names)
        try:
            return _value(str(text), used, tuple(current().items()))
        except CuteVizError as error:
            raise self._placed(error, text) from None

    def _placed(self, error: CuteVizError, value: Text) -> CuteVizError:
        """An error in a value's text, with its place in the file."""
        hint = error.hint
        if "let" in error.options:
            hint = "names here are parameters that are numbers, K, and those under layouts: at the top"
        whole, path = self.family.file.text, self.family.file.path
        return error.but(text=whole, span=value.place(whole, error.span), name=path, hint=hint)


@lru_cache(maxsize=1024)
def _names(text: str) -> tuple[str, ...]:
    """The names that an expression may use."""
    return tuple(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)))


@lru_cache(maxsize=4096)
def _value(text: str, used: tuple[tuple[str, type, object], ...], limits: tuple[tuple[str, int], ...]) -> object:
    """The value of an expression; many entries of a library have the same ones. The types tell static integers from others.

    limits: that are raised, as a value is one of the request that it was asked in.
    """
    value = parse(text, {name: x for name, _, x in used})
    for missing in unknowns(value):  # no run-time integer, as in an expression of its own
        raise missing.error()
    return value


def _reversed(x: dict[str, object]) -> dict[str, Any]:
    """Source and destination exchanged."""
    layouts = {**x, "SrcLayout": x["DstLayout"], "DstLayout": x["SrcLayout"]}
    layouts["RefLayout"] = layouts["DstLayout" if x["RefLayout"] == x["SrcLayout"] else "SrcLayout"]
    return layouts
