"""A spec file -> objects and how to draw them; every error has the file's line and column."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import is_int_tuple, modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.errors import CuteVizError, Span, did_you_mean
from cute_viz.files import read_text
from cute_viz.notation import is_triton
from cute_viz.options import NAMES
from cute_viz.source.address import Folder, address_of
from cute_viz.spec import PACKAGED, WORDS, Library
from cute_viz.spec.made import Collector, Spec, files_of, value_at
from cute_viz.spec.schema import COMMON, EXPECT, FIGURE, KINDS, MAKERS, SpecField, by_words
from cute_viz.spec.yaml import Entries, Keys, SpecError, Text, Value, read_yaml


def read_specs(text: str, name: str | None = None, library: Library = PACKAGED) -> list[Spec]:
    """The specs of a file. Raises: SpecError with the place, for unknown fields, two objects in one spec, a field that is
    missing, an expression with a mistake."""
    return Builder(text, name, library).specs()


def spec_in(path: str, name: str | None = None, library: Library = PACKAGED, root: str | None = None) -> Spec:
    """The spec of a name in a file; a lone one needs no name. The mistakes of others in the file do not matter.

    root: the folder that links, and the addresses in the spec, do not leave; without one that of the file.

    Raises: SpecError with the existing names, for an unknown name, or for no name where there are several.
    """
    return Builder(read_text(path, root), path, library, root).only(name)


def named(name: str, library: Library = PACKAGED) -> Spec | None:
    """The spec of the library that a word stands for: by its name, or the only one of a file of this name."""
    path = library.spec_file(name) if name.isidentifier() else None
    return None if path is None else spec_in(path, name, library)


_FOR_ALL = ("figure", "formats", "palette", "style")  # which a file may give to all of its specs; their own win


class Builder(Collector):
    """A file on its way to specs.

    text, name: of the file, for the places of errors. library: of the atoms that it names. names: what its specs share, as
        `shared` has it in words.
    description: of the file. at: where the names of its specs stand. folder: where the files of its addresses lie, None where
        none are read.
    """

    def __init__(self, text: str, name: str | None, library: Library = PACKAGED, root: str | None = None) -> None:
        super().__init__()
        self.text = text
        self.name = name
        self.library = self.asked = library
        self.said: dict[str, str] = {}
        base = os.path.dirname(name) if name is not None and os.path.isfile(name) else None
        self.folder = None if base is None else Folder(base, base if root is None else root)
        self.names: dict[str, Any] = {}
        self.description = ""
        self.shared: Value | None = None
        self.at: dict[str, Span] = {}
        self.for_all = Keys()

    def fail(self, message: str, span: Span, hint: str | None = None) -> SpecError:
        """The error at a place in the file; the caller raises it."""
        return SpecError(message, text=self.text, span=span, hint=hint, name=self.name)

    def mapping(self, value: Value | None, message: str, hint: str | None = None) -> Keys:
        """A mapping; an empty one of what is left out. Raises: SpecError with the message for anything else."""
        if value is not None and not isinstance(value, Keys):
            raise self.fail(message, value.span, hint)
        return Keys() if value is None else value

    def specs(self) -> list[Spec]:
        """Every spec of the file, built, in the file's order."""
        return [self.spec(name, fields) for name, fields in self.parts().items()]

    def parts(self) -> dict[str, Value]:
        """The specs of the file by name (`""` of a lone one), not built yet; `names` then holds what they share."""
        root = self.mapping(read_yaml(self.text, self.name), "a spec must be a mapping", "example: layout: (4,8):(8,1)")
        if "specs" not in root:
            return {"": root}
        for key in root:
            if key not in ("specs", "let", "description", *WORDS, *_FOR_ALL):
                hint = self.hint_of(key, []) or "put it into one of the specs"
                raise self.fail(f"{key!r} cannot be combined with specs", root.keys_at[key], hint=hint)
        self.for_all.update({key: root[key] for key in _FOR_ALL if key in root})
        self.for_all.keys_at = root.keys_at
        self.description = self.words(root, "description") or ""
        self.said = self.machine(root)
        self.shared = root.get("let")
        self.names = self.let(self.shared)
        words = "specs must be a mapping of names to specs"
        if not (several := self.mapping(root["specs"], words)):
            raise self.fail(words, several.span)
        self.at = several.keys_at
        return several

    def only(self, name: str | None) -> Spec:
        """The spec of a name, the others not built, as their mistakes do not matter. A lone one needs no name, and has that of
        its file, too. Raises: SpecError for an unknown name, or for no name where there are several."""
        parts = self.parts()
        stem = os.path.splitext(os.path.basename(self.name or ""))[0]
        if len(parts) == 1 and name in (None, stem):
            (name,) = parts
        if name in parts:
            return self.spec(name, parts[name])
        asked = f"{self.name} has no spec {name!r}" if name not in (None, stem) else f"{self.name} holds {len(parts)} specs"
        raise CuteVizError(asked, hint=f"pick one with `name=`: {', '.join(list(parts)[:20])}")

    def let(self, value: Value | None) -> dict[str, Any]:
        """The names that all specs share, and those that a `let` binds to expressions; each of these may use the ones before."""
        out = dict(self.names)
        for key, item in self.mapping(value, "let must be a mapping of names to expressions").items():
            out[key] = self.expression(item, out)
        return out

    def spec(self, name: str, fields: Value) -> Spec:
        """One spec, built. Raises: SpecError for an unknown field, and for no object or two."""
        fields = self.mapping(fields, f"the spec {name!r} must be a mapping", "example: layout: (4,8):(8,1)").over(self.for_all)
        known = [*KINDS, *(f.name for f in COMMON)]
        self.check_keys(fields, known, "a spec")
        kinds = [key for key in fields if key in KINDS]
        if len(kinds) != 1:
            which = f"both {' and '.join(kinds)}" if kinds else "no object"
            at = fields.keys_at[kinds[1]] if kinds else fields.span
            raise self.fail(f"a spec must have one object; this one has {which}", at, hint=f"one of {', '.join(KINDS)}")
        self.tried(partial(self.machine, fields), None)
        names = self.let(fields.get("let"))
        figure = by_words(fields.get("figure"))
        is_call = kinds == ["layout"] and isinstance(figure, Keys) and figure.get("view") in ("operation", "steps")
        read = self.call if is_call else partial(self.object, kinds[0])
        obj = self.tried(lambda: read(fields[kinds[0]], names), None)
        drawn = self.fields(FIGURE, "figure", figure, names)
        text, wave = fields[kinds[0]], self.library.together
        if isinstance(text, Text) and is_triton(text):
            from cute_viz.notation.triton import tile_of

            tile, lanes = tile_of(text, self.library.shape)
            drawn = {"tile": tile, **drawn} if tile and drawn.get("view", "tv") == "tv" else drawn
            wave = (lanes, "warp") if lanes else wave
        made = Spec(
            name=name,
            kind=kinds[0],
            obj=obj,
            title=self.tried(lambda: self.words(fields, "title"), None),
            description=self.tried(lambda: self.words(fields, "description"), None) or "",
            source=self.tried(lambda: self.words(fields, "source"), None) or "",
            figure=drawn,
            beside=self.tried(lambda: self.beside(fields.get("beside"), names), ()),
            expect=self.fields(EXPECT, "expect", fields.get("expect"), names),
            formats=self.tried(lambda: self.list_of_words(fields.get("formats")), ()),
            style=self.tried(lambda: self.choice(COMMON, fields, "style"), None) or "default",
            palette=self.tried(lambda: self.words(fields, "palette"), None),
            wave=wave,
            text=self.text,
            file=self.name,
            files=(*([self.name] if self.name else []), *files_of(self.shared, self.folder), *files_of(fields, self.folder)),
            at=self.places(name, fields, figure, fields.get("expect")),
        )
        if self.wrong:
            raise self.wrong.pop(0)
        return made

    def machine(self, fields: Keys) -> dict[str, str]:
        """What fields say of the machine and of the tensor, with what the file says for all; the request's own words win.
        Expressions are read with it from here on. Raises: SpecError for what is not a number, and no shape."""
        said = dict(self.said)
        for key in WORDS:
            if (word := self.words(fields, key)) is not None:
                said[key] = word
                try:
                    self.asked.with_words({key: word})
                except CuteVizError:
                    hint = f"example: {key}: {'64x64' if key == 'shape' else '64'}"
                    raise self.fail(f"{key}: invalid value {word!r}", fields[key].span, hint=hint) from None
        self.library = self.asked.with_words(said | self.asked.words)
        return said

    def beside(self, value: Value | None, names: dict[str, object]) -> tuple[tuple[str, Any], ...]:
        """The further objects of a spec, by their captions."""
        hint = "example: {wave 64: v_mfma_f32_16x16x16_f16}"
        items = self.mapping(value, "beside must be a mapping of captions to objects", hint).items()
        return tuple((caption, self.expression(item, names)) for caption, item in items)

    def places(self, name: str, fields: Keys, figure: Value | None, expect: Value | None) -> dict[str, Span]:
        """Where the fields of a spec, of its figure and of what is expected of it stand."""
        out = {"": self.at.get(name, fields.span), **{key: value.span for key, value in fields.items()}}
        if isinstance(figure, Keys):
            out |= {f"figure.{NAMES.get(key, key)}": value.span for key, value in figure.items()}
        if isinstance(expect, Keys):
            out |= {f"expect.{key}": value.span for key, value in expect.items()}
        return out

    def check_keys(self, fields: Keys, known: list[str], what: str) -> None:
        """Check the keys. Raises: SpecError for an unknown one; the hint names the nearest."""
        for key in fields:
            if key not in known:
                named = "the name of a spec is its file's, or its key below `specs:`" if key == "name" else self.hint_of(key, known)
                hint = (what == "a spec" and named) or did_you_mean(key, known) or f"one of {', '.join(known)}"
                self.refuse(self.fail(f"{what} has no field {key!r}", fields.keys_at[key], hint=hint))

    def hint_of(self, key: str, known: list[str]) -> str:
        """Where a field stands that is of the figure; "" for another."""
        return f"write figure: {{{key}: ...}}" if key in {f.name for f in FIGURE} and key not in known else ""

    def words(self, fields: Keys, key: str) -> str | None:
        """The text of a field; None where it is left out. Raises: SpecError for a list or a mapping."""
        value = fields.get(key)
        if value is None:
            return None
        if not isinstance(value, Text):
            raise self.fail(f"{key} must be text", value.span)
        return str(value)

    def list_of_words(self, value: Value | None) -> tuple[str, ...]:
        """A list of words, or one text of words parted by commas or blanks; nothing is no words."""
        if value is None:
            return ()
        if isinstance(value, Text):
            return tuple(value.replace(",", " ").split())
        if isinstance(value, Entries) and all(isinstance(item, Text) for item in value):
            return tuple(map(str, value))
        raise self.fail("this must be a word, or a list of words", value.span)

    def choice(self, table: tuple[SpecField, ...], fields: Keys, key: str) -> str | None:
        """The word of a field that has choices; None where it is left out. Raises: SpecError for another word."""
        word = self.words(fields, key)
        choices = next(f.choices for f in table if f.name == key)
        if word is not None and word not in choices:
            hint = did_you_mean(word, choices, 1) or f"one of {', '.join(choices)}"
            raise self.fail(f"{key}: invalid value {word!r}", fields[key].span, hint=hint)
        return word

    def fields(self, table: tuple[SpecField, ...], what: str, value: Value | None, names: dict[str, object]) -> dict[str, Any]:
        """The values of fields by name, `figure` or `expect`: objects as such, flags as True or False, all others as text."""
        hints = {"figure": ("options", "example: {tile: 8x128}"), "expect": ("what must hold", "example: {covers: 8x128}")}
        given = self.mapping(value, f"{what} must be a mapping of {hints[what][0]}", hints[what][1])
        self.check_keys(given, [f.name for f in table], what)
        out: dict[str, Any] = {}
        for f in table:
            if f.name in given:
                out[NAMES.get(f.name, f.name)] = self.tried(partial(self.field, table, f, given, names), None)
        return out

    def field(self, table: tuple[SpecField, ...], f: SpecField, given: Keys, names: dict[str, object]) -> Any:
        """The value of one field of a figure or of what is expected."""
        if f.name in ("by", "conflict_free") and (word := str(given[f.name])).replace(".", "").isalnum() and word not in names:
            return word  # an instruction
        if f.holds == "object":
            return self.object(f.kinds[0], given[f.name], names)
        if f.holds == "choice":
            return self.choice(table, given, f.name)
        if f.holds == "flag":
            word = (self.words(given, f.name) or "").lower()
            if word not in ("true", "false", "yes", "no"):
                raise self.fail(f"{f.name} must be true or false", given[f.name].span)
            return word in ("true", "yes")
        return self.words(given, f.name)

    def expression(self, value: Value, names: dict[str, object]) -> Any:
        """The value of a text in any dialect; an error's place is that in the file."""
        if isinstance(value, Entries):
            raise self.fail("expected an expression, not a list", value.span, hint="in a flow mapping, quote a layout")
        if not isinstance(value, Text):
            raise self.fail("expected an expression, not a mapping", value.span)
        try:
            if (address := address_of(value)) is not None:
                return value_at(address, self.folder, names, self.library)
            return self.library.read(str(value), names).pick(drawable=True)
        except CuteVizError as error:
            if error.name is not None:  # of the file of an address, which has its own place
                raise
            hint = self.packed(value) if self.library.spec_file(str(value)) else error.hint
            raise error.but(text=self.text, span=value.place(self.text, error.span), name=self.name, hint=hint) from None

    def packed(self, value: Text) -> str:
        """How to draw what the library has under a name; for any other text how to write a GEMM."""
        if str(value).isidentifier() and self.library.spec_file(str(value)):
            return f"{value} is a spec of the library, drawn by its name: cute-viz render {value}; copy its fields to change it"
        return "example: gemm: {mma: ..., tile: '(128,128,64)', smem_a: ...}; the reference of specs has an example"

    def call(self, value: Value, names: dict[str, object]) -> Any:
        """The operation that a text is, not carried out; an error's place is that in the file."""
        if not isinstance(value, Text):
            raise self.fail("an operation must be text", value.span, hint="example: logical_divide((8,6), (4,3))")
        try:
            name, operands, template = self.library.read_call(str(value), names)
        except CuteVizError as error:
            raise error.but(text=self.text, span=value.place(self.text, error.span), name=self.name) from None
        if not name:
            raise self.fail(f"{value!r} is not an operation", value.span, hint="example: logical_divide((8,6), (4,3)), or A o B")
        return Operation(name, tuple(operands), template)

    def object(self, kind: str, value: Value, names: dict[str, Any]) -> Any:
        """An object of a kind: an expression, or a mapping of the kind's fields."""
        table = KINDS[kind].fields
        if not isinstance(value, Keys):
            if kind == "gemm" and isinstance(value, Text):
                raise self.fail(
                    f"gemm must be a mapping of {', '.join(f.name for f in table)}, not text", value.span, hint=self.packed(value)
                )
            return self.expression(value, names)
        self.check_keys(value, [f.name for f in table], kind)
        for f in table:
            if f.required and f.name not in value:
                raise self.fail(f"{kind} lacks the field {f.name!r}", value.span, hint=f.meaning)
        try:
            return MAKERS[kind](self, value, names)
        except CuteVizError as error:
            if error.name is None and (error.text is None or error.text != self.text):
                raise error.but(text=self.text, span=value.span, name=self.name) from None
            raise

    def part(self, fields: Keys, key: str, kinds: tuple[str, ...], names: dict[str, Any]) -> Any:
        """A field that holds an object: an expression, or a mapping of the one of the kinds that its fields fit."""
        value = fields.get(key)
        if value is None:
            return None
        if isinstance(value, Keys):
            return self.object(max(kinds, key=lambda k: sum(f.name in value for f in KINDS[k].fields)), value, names)
        return self.expression(value, names)

    def layout(self, fields: Keys, key: str, names: dict[str, Any], rank: int | None = None) -> Any:
        """A field that holds a layout: an expression, or a mapping. A bare shape is the compact one."""
        value = self.object("layout", fields[key], names)
        if value != () and is_int_tuple(value):
            value = Layout(value)
        if not isinstance(value, Layout) and (rank is not None or not isinstance(value, ComposedLayout)):
            raise self.fail(
                f"{key} must be a layout, not {show(value).splitlines()[0]}", fields[key].span, hint="example: (4,8):(8,1)"
            )
        if rank is not None and len(modes(value.shape)) != rank:
            raise self.fail(f"{key} has {rank} modes, {value} has {len(modes(value.shape))}", fields[key].span)
        return value

    def optional(self, fields: Keys, key: str, names: dict[str, Any]) -> Any:
        """The value of a field that holds an expression; None where it is left out."""
        return self.expression(fields[key], names) if key in fields else None
