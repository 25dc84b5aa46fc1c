"""A spec file -> objects and how to draw them; every error has the file's line and column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from cute_viz.errors import CuteVizError, Span
from cute_viz.spec import read
from cute_viz.spec.schema import COMMON, FIGURE, KINDS, Field
from cute_viz.spec.yaml import Fields, Items, SpecError, Text, Value, read_yaml


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec: its name in the file (`""` of a lone one), the object, and how to draw it, as written.

    figure: options of the figure by name; `tensor` is an object, all others are text.
    at: where fields stand in the file, those of the figure as `figure.tile`; "" is the whole spec.
    """

    name: str
    kind: str
    obj: Any
    title: str | None = None
    description: str = ""
    source: str = ""
    figure: dict[str, Any] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    style: str = "default"
    palette: str | None = None
    text: str | None = field(default=None, compare=False)
    file: str | None = field(default=None, compare=False)
    at: dict[str, Span] = field(default_factory=dict, compare=False)

    def locate(self, error: CuteVizError, field: str = "") -> CuteVizError:
        """An error of a field with its place in the file, if it has no place yet."""
        if error.span is None and self.text is not None:
            error.text, error.name = self.text, self.file
            error.span = self.at.get(field) or self.at.get(field.partition(".")[0]) or self.at.get("")
        return error


def read_specs(text: str, name: str | None = None) -> list[Spec]:
    """The specs of a file.

    Refused, with the place: unknown fields, two objects in one spec, a field that is missing, an expression with a mistake.

    >>> read_specs("layout: (4,8):(8,1)\\nfigure: {view: grid}")[0].figure
    {'view': 'grid'}
    """
    return Builder(text, name).specs()


class Builder:
    """A file on its way to specs.

    text, name: of the file, for the places of errors. names: what its specs share, as `shared` has it in words.
    description: of the file. at: where the names of its specs stand.
    """

    def __init__(self, text: str, name: str | None) -> None:
        self.text = text
        self.name = name
        self.names: dict[str, Any] = {}
        self.description = ""
        self.shared: Value | None = None
        self.at: dict[str, Span] = {}

    def fail(self, message: str, span: Span, hint: str | None = None) -> SpecError:
        """The error at a place in the file; the caller raises it."""
        return SpecError(message, text=self.text, span=span, hint=hint, name=self.name)

    def specs(self) -> list[Spec]:
        """Every spec of the file, built, in the file's order."""
        return [self.spec(name, fields) for name, fields in self.parts().items()]

    def parts(self) -> dict[str, Value]:
        """The specs of the file by name (`""` of a lone one), not built yet; `names` then holds what they share."""
        root = read_yaml(self.text, self.name)
        if not isinstance(root, Fields):
            raise self.fail("a spec is a mapping", root.span, hint="such as layout: (4,8):(8,1)")
        if "specs" not in root:
            return {"": root}
        others = [key for key in root if key not in ("specs", "let", "description")]
        if others:
            raise self.fail(f"{others[0]!r} stands beside specs", root.keys_at[others[0]], hint="put it into one of the specs")
        self.description = self.words(root, "description") or ""
        self.shared = root.get("let")
        self.names = self.let(self.shared)
        several = root["specs"]
        if not isinstance(several, Fields) or not several:
            raise self.fail("specs is a mapping of names to specs", several.span)
        self.at = several.keys_at
        return several

    def let(self, value: Value | None) -> dict[str, Any]:
        """The names that all specs share, and those that a `let` binds to expressions; each of these may use the ones before."""
        if value is None:
            return dict(self.names)
        if not isinstance(value, Fields):
            raise self.fail("let is a mapping of names to expressions", value.span)
        out = dict(self.names)
        for key, item in value.items():
            out[key] = self.expression(item, out)
        return out

    def spec(self, name: str, fields: Value) -> Spec:
        """One spec, built. Refused: a field that no spec has, no object, two objects."""
        if not isinstance(fields, Fields):
            raise self.fail(f"the spec {name!r} is a mapping", fields.span, hint="such as layout: (4,8):(8,1)")
        known = [*KINDS, *(f.name for f in COMMON)]
        self.check_keys(fields, known, "a spec")
        kinds = [key for key in fields if key in KINDS]
        if len(kinds) != 1:
            which = f"both {' and '.join(kinds)}" if kinds else "no object"
            at = fields.keys_at[kinds[1]] if kinds else fields.span
            raise self.fail(f"a spec has one object, this one has {which}", at, hint=f"one of {', '.join(KINDS)}")
        names = self.let(fields.get("let"))
        obj = self.object(kinds[0], fields[kinds[0]], names)
        figure = fields.get("figure")
        return Spec(
            name=name,
            kind=kinds[0],
            obj=obj,
            title=self.words(fields, "title"),
            description=self.words(fields, "description") or "",
            source=self.words(fields, "source") or "",
            figure=self.figure(figure, names) if figure is not None else {},
            formats=self.list_of_words(fields.get("formats")),
            style=self.choice(COMMON, fields, "style") or "default",
            palette=self.words(fields, "palette"),
            text=self.text,
            file=self.name,
            at=self.places(name, fields, figure),
        )

    def places(self, name: str, fields: Fields, figure: Value | None) -> dict[str, Span]:
        """Where the fields of a spec and of its figure stand."""
        out = {"": self.at.get(name, fields.span), **{key: value.span for key, value in fields.items()}}
        if isinstance(figure, Fields):
            out |= {f"figure.{key}": value.span for key, value in figure.items()}
        return out

    def check_keys(self, fields: Fields, known: list[str], what: str) -> None:
        """Refused: a key that is not among the known ones; the hint names the nearest."""
        for key in fields:
            if key not in known:
                near = get_close_matches(key, known, n=2)
                hint = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(known)}"
                raise self.fail(f"{what} has no field {key!r}", fields.keys_at[key], hint=hint)

    def words(self, fields: Fields, key: str) -> str | None:
        """The text of a field; None where it is left out. Refused: a list or a mapping."""
        value = fields.get(key)
        if value is None:
            return None
        if not isinstance(value, Text):
            raise self.fail(f"{key} is text", value.span)
        return str(value)

    def list_of_words(self, value: Value | None) -> tuple[str, ...]:
        """A list of words, or one text of words parted by commas or blanks; nothing is no words."""
        if value is None:
            return ()
        if isinstance(value, Text):
            return tuple(value.replace(",", " ").split())
        if isinstance(value, Items) and all(isinstance(item, Text) for item in value):
            return tuple(map(str, value))
        raise self.fail("a list of words", value.span)

    def choice(self, table: tuple[Field, ...], fields: Fields, key: str) -> str | None:
        """The word of a field that has choices; None where it is left out. Refused: another word."""
        word = self.words(fields, key)
        choices = next(f.choices for f in table if f.name == key)
        if word is not None and word not in choices:
            near = get_close_matches(word, choices, n=1)
            hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(choices)}"
            raise self.fail(f"{key}: {word!r} is no choice", fields[key].span, hint=hint)
        return word

    def figure(self, value: Value, names: dict[str, Any]) -> dict[str, Any]:
        """The options under `figure` by name: `tensor` as an object, flags as True or False, all others as text."""
        if not isinstance(value, Fields):
            raise self.fail("figure is a mapping of options", value.span, hint="such as {tile: 8x128}")
        self.check_keys(value, [f.name for f in FIGURE], "figure")
        out: dict[str, Any] = {}
        for f in FIGURE:
            if f.name not in value:
                continue
            if f.holds == "object":
                out[f.name] = self.object("layout", value[f.name], names)
            elif f.holds == "choice":
                out[f.name] = self.choice(FIGURE, value, f.name)
            elif f.holds == "flag":
                word = (self.words(value, f.name) or "").lower()
                if word not in ("true", "false", "yes", "no"):
                    raise self.fail(f"{f.name} is true or false", value[f.name].span)
                out[f.name] = word in ("true", "yes")
            else:
                out[f.name] = self.words(value, f.name)
        return out

    def expression(self, value: Value, names: dict[str, Any]) -> Any:
        """The value of a text in any dialect; an error's place is that in the file."""
        if isinstance(value, Items):
            raise self.fail("a list stands where an expression should", value.span, hint="in a flow mapping, quote a layout")
        if not isinstance(value, Text):
            raise self.fail("a mapping stands where an expression should", value.span)
        try:
            return read(str(value), names).pick(drawable=True)
        except CuteVizError as error:
            error.span = self.inner(value, error.span)
            error.text, error.name = self.text, self.name
            raise

    def inner(self, value: Text, span: Span | None) -> Span:
        """The place in the file of a place in a scalar, where the scalar stands there as it is."""
        for start in (value.span.start, value.span.start + 1):  # plain, or in quotes
            if span is not None and self.text[start : start + len(value)] == value:
                return Span(start + span.start, start + span.end)
        return value.span

    def object(self, kind: str, value: Value, names: dict[str, Any]) -> Any:
        """An object of a kind: an expression, or a mapping of the kind's fields."""
        if not isinstance(value, Fields):
            return self.expression(value, names)
        table = KINDS[kind].fields
        self.check_keys(value, [f.name for f in table], kind)
        for f in table:
            if f.required and f.name not in value:
                raise self.fail(f"{kind} lacks the field {f.name!r}", value.span, hint=f.meaning)
        try:
            return _MAKERS[kind](self, value, names)
        except CuteVizError as error:
            if error.name is None and (error.text is None or error.text != self.text):
                error.text, error.span, error.name = self.text, value.span, self.name
            raise

    def part(self, fields: Fields, key: str, kinds: tuple[str, ...], names: dict[str, Any]) -> Any:
        """A field that holds an object: an expression, or a mapping of the one of the kinds that its fields fit."""
        value = fields.get(key)
        if value is None:
            return None
        if isinstance(value, Fields):
            return self.object(max(kinds, key=lambda k: sum(f.name in value for f in KINDS[k].fields)), value, names)
        return self.expression(value, names)

    def layout(self, fields: Fields, key: str, names: dict[str, Any], rank: int | None = None) -> Any:
        """A field that holds a layout: an expression, or a mapping. A bare shape is the compact one."""
        from cute_viz.algebra.composed import ComposedLayout
        from cute_viz.algebra.inttuple import is_int_tuple, modes, show
        from cute_viz.algebra.layout import Layout

        value = self.object("layout", fields[key], names)
        if isinstance(value, (int, tuple)) and not isinstance(value, bool) and value != () and is_int_tuple(value):
            value = Layout(value)
        if not isinstance(value, Layout) and (rank is not None or not isinstance(value, ComposedLayout)):
            raise self.fail(f"{key} is a layout, not {show(value).splitlines()[0]}", fields[key].span, hint="such as (4,8):(8,1)")
        if rank is not None and len(modes(value.shape)) != rank:
            raise self.fail(f"{key} has {rank} modes, {value} has {len(modes(value.shape))}", fields[key].span)
        return value

    def optional(self, fields: Fields, key: str, names: dict[str, Any]) -> Any:
        """The value of a field that holds an expression; None where it is left out."""
        return self.expression(fields[key], names) if key in fields else None


def _layout(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.layout import Layout

    shape, stride = b.expression(fields["shape"], names), b.optional(fields, "stride", names)
    return Layout(shape) if stride is None else Layout(shape, stride)


def _swizzle(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.composed import ComposedLayout
    from cute_viz.algebra.swizzle import Swizzle

    numbers = [b.expression(fields[key], names) for key in ("bits", "base", "shift")]
    for key, number in zip(("bits", "base", "shift"), numbers, strict=True):
        if not isinstance(number, int):
            raise b.fail(f"{key} is an integer", fields[key].span)
    return ComposedLayout(Swizzle(*map(int, numbers)), 0, b.layout(fields, "layout", names))


def _mma_atom(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.mma import MMA_Atom

    shape = b.expression(fields["Shape_MNK"], names)
    if not isinstance(shape, tuple) or len(shape) != 3 or not all(isinstance(n, int) and n > 0 for n in shape):
        raise b.fail("Shape_MNK is (M,N,K), three positive integers", fields["Shape_MNK"].span, hint="such as (16,8,16)")
    operands = [b.layout(fields, f"{x}Layout", names, rank=2) for x in "ABC"]
    return MMA_Atom(b.layout(fields, "ThrID", names, rank=1), shape, *operands)


def _copy_atom(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.copy import CopyOp, make_copy_atom
    from cute_viz.algebra.recast import bits_of

    operation = b.expression(fields["op"], names)
    if not isinstance(operation, CopyOp):
        raise b.fail(f"{fields['op']} is not a copy operation", fields["op"].span, hint="cute-viz list copy")
    kind = b.words(fields, "type") or ""
    try:
        bits = bits_of(kind)
    except CuteVizError as error:
        raise b.fail(error.message, fields["type"].span, hint=error.hint) from None
    return make_copy_atom(operation, bits, kind)


def _tiled_mma(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.mma import make_tiled_mma

    atom = b.part(fields, "atom", ("mma_atom",), names)
    return make_tiled_mma(atom, b.optional(fields, "layout", names), b.optional(fields, "permutation", names))


def _tiled_copy(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra import copy

    atom = b.part(fields, "atom", ("copy_atom",), names)
    given = {key for key in ("thr", "val", "tv", "tiler", "mma", "operand") if key in fields}
    if given in ({"thr"}, {"thr", "val"}):
        return copy.make_tiled_copy(atom, b.optional(fields, "thr", names), b.optional(fields, "val", names))
    if given == {"tv", "tiler"}:
        return copy.make_tiled_copy_impl(atom, b.optional(fields, "tv", names), b.optional(fields, "tiler", names))
    if given == {"mma", "operand"}:
        operand = b.choice(KINDS["tiled_copy"].fields, fields, "operand") or "A"
        return copy.make_tiled_copy_operand(atom, b.part(fields, "mma", ("tiled_mma",), names), operand)
    raise b.fail("a tiled copy is of thr and val, of tv and tiler, or of mma and operand", fields.span)


def _gemm(b: Builder, fields: Fields, names: dict[str, Any]) -> Any:
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy, make_tiled_copy_operand
    from cute_viz.algebra.gemm import make_gemm

    mma = b.part(fields, "mma", ("tiled_mma",), names)
    tile = b.expression(fields["tile"], names)
    parts = {key: b.part(fields, key, ("layout", "swizzle"), names) for key in ("smem_a", "smem_b")}
    copies = {key: b.part(fields, key, ("tiled_copy",), names) for key in ("g2s_a", "g2s_b")}
    copies["g2s_b"] = copies["g2s_b"] or copies["g2s_a"]
    for key, operand in (("s2r_a", "A"), ("s2r_b", "B"), ("epilogue", "C")):
        made = b.part(fields, key, ("tiled_copy", "copy_atom"), names)
        copies[key] = make_tiled_copy_operand(made, mma, operand) if isinstance(made, Copy_Atom) else made
    for key, made in copies.items():
        if made is not None and not isinstance(made, TiledCopy):
            raise b.fail(
                f"{key} is a tiled copy", fields[key if key in fields else "g2s_a"].span, hint="such as make_tiled_copy(...)"
            )
    return make_gemm(mma, tile, parts["smem_a"], parts["smem_b"], **copies)


_MAKERS: dict[str, Callable[[Builder, Fields, dict[str, Any]], Any]] = {
    "layout": _layout,
    "swizzle": _swizzle,
    "mma_atom": _mma_atom,
    "copy_atom": _copy_atom,
    "tiled_mma": _tiled_mma,
    "tiled_copy": _tiled_copy,
    "gemm": _gemm,
}
