"""One operation of the library: an entry with its parameters filled in, its layouts evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import is_int_tuple
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.algebra.static import mark_static
from cute_viz.errors import CuteVizError
from cute_viz.notation import parse
from cute_viz.spec.domains import as_number
from cute_viz.spec.family import COPY_KEYS, MMA_KEYS, arguments, chosen, fields_of, types_of
from cute_viz.spec.library_files import Block, LibraryFile
from cute_viz.spec.yaml import Text, Value

if TYPE_CHECKING:
    from cute_viz.algebra.copy import CopyOp
    from cute_viz.algebra.mma import MMA_Atom

NEEDED = {"mma": MMA_KEYS[:5], "copy": COPY_KEYS[:4]}


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation of the library.

    name: with its template arguments. kind: "mma" or "copy". source: where it was taken from.
    layouts: Shape_MNK, ThrID, ALayout ... or SrcLayout ..., by CuTe's names.
    arguments: what the name's parameters and template arguments are.
    """

    name: str
    kind: str
    arch: str
    source: str
    layouts: dict[str, Any]
    types: tuple[str, ...] = ()
    arguments: dict[str, str] = field(default_factory=dict)

    def atom(self) -> MMA_Atom | CopyOp:
        """The object that the algebra computes with."""
        x = self.layouts
        if self.kind == "copy":
            from cute_viz.algebra.copy import CopyOp

            return CopyOp(self.name, x["ThrID"], x["SrcLayout"], x["DstLayout"], x["RefLayout"])
        from cute_viz.algebra.mma import MMA_Atom

        return MMA_Atom(x["ThrID"], x["Shape_MNK"], x["ALayout"], x["BLayout"], x["CLayout"], self.name, self.types)


def filled(
    file: LibraryFile, family: Block, short: str, full: str, bound: dict[str, str], args: tuple[str, ...], forward: Entry | None
) -> Entry:
    """An entry with its parameters filled in; `forward` is the operation that it is the `reverse` of.

    >>> from cute_viz.spec.family import find
    >>> from cute_viz.spec.library_files import files_for
    >>> file = next(files_for("SM61_DP4A"))
    >>> family, bound = find(file, "SM61_DP4A")
    >>> filled(file, family, "SM61_DP4A", "SM61_DP4A", bound, (), None).types
    ('s8', 's8', 's32', 's32')
    """
    fields = fields_of(file, family)
    source = " ".join(str(fields["source"]).split()) if "source" in fields else file.word("source")
    values = {**bound, **arguments(fields, short, args)}
    if forward is not None:
        return Entry(full, file.kind, file.word("arch"), source, _reversed(forward.layouts), (), values)
    types = types_of(family, fields, short, values)
    layouts = _layouts(file, family, fields, values)
    return Entry(full, file.kind, file.word("arch"), source, layouts, types, values)


def _reversed(x: dict[str, Any]) -> dict[str, Any]:
    """Source and destination exchanged."""
    layouts = {**x, "SrcLayout": x["DstLayout"], "DstLayout": x["SrcLayout"]}
    layouts["RefLayout"] = layouts["DstLayout" if x["RefLayout"] == x["SrcLayout"] else "SrcLayout"]
    return layouts


def _layouts(file: LibraryFile, family: Block, fields: dict[str, Value], values: dict[str, str]) -> dict[str, Any]:
    """Every layout of an entry, its expressions evaluated with the parameters as names."""
    kind = file.kind
    names: dict[str, Any] = {key: number for key, value in values.items() if (number := as_number(value)) is not None}
    if kind == "copy" and "S" in values:
        from cute_viz.algebra.recast import bits_of

        names["bits"] = bits_of(values["S"])
    if "K" in fields:
        names["K"] = _evaluate(family, chosen(family, fields["K"], values), names)
    shared = file.shared()
    incongruent = str(fields.get("incongruent", "")).split()
    out: dict[str, Any] = {}
    for key in MMA_KEYS if kind == "mma" else COPY_KEYS:
        if key not in fields:
            if key in NEEDED[kind]:
                raise family.wrong(f"{family.key} has no {key}")
            continue
        written = chosen(family, fields[key], values)
        text = shared.get(str(written), written)
        if text in ("Src", "Dst"):
            if f"{text}Layout" not in out:
                raise family.wrong(f"{key} is that of {text}, which comes after it", written)
            value = out[f"{text}Layout"]
        elif key in incongruent:
            value = _as_written(family, text)
        else:
            value = mark_static(_evaluate(family, text, names))
        if key == "ThrID" and is_int_tuple(value):
            value = Layout(value)
        if key == "Shape_MNK":
            if not isinstance(value, tuple) or len(value) != 3 or not is_int_tuple(value):
                raise family.wrong("Shape_MNK is (M,N,K)", written)
        elif not isinstance(value, Layout):
            raise family.wrong(f"{key} is not a layout", written)
        out[key] = value
    return out


def _as_written(family: Block, text: Text) -> Layout:
    """A layout whose stride has another nesting than its shape."""
    shape, _, stride = text.partition(":")
    try:
        return trusted(*map(mark_static, (parse(shape), parse(stride))))
    except CuteVizError as error:
        error.span = None  # of the half
        raise _placed(error, family, text) from None


def _evaluate(family: Block, text: Text, names: dict[str, Any]) -> Any:
    try:
        return parse(str(text), names)
    except CuteVizError as error:
        raise _placed(error, family, text) from None


def _placed(error: CuteVizError, family: Block, value: Text) -> CuteVizError:
    """An error in a value's text, with its place in the file."""
    error.span = value.place(family.whole, error.span)
    error.text, error.name = family.whole, family.path
    if error.hint and "--let" in error.hint:
        error.hint = "names here are parameters that are numbers, K, and those under layouts: at the top"
    return error
