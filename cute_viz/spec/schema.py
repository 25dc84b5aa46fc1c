"""What a spec may say, every field once, for validation, editors (JSON Schema) and the documentation; the objects made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.errors import CuteVizError
from cute_viz.options import NAMES, OPTIONS
from cute_viz.records import rows
from cute_viz.spec.yaml import Keys, Value

if TYPE_CHECKING:
    from cute_viz.spec.build import Builder


@dataclass(frozen=True, slots=True)
class SpecField:
    """One field: its name, what it holds, whether it must be there, and what it means.

    holds: `object` an expression of any dialect or a mapping of a kind in `kinds`; `words` a list of words or one; `names` a
        mapping of names to expressions; `figure` a mapping of the fields of FIGURE, `expect` of EXPECT; all else
        as `options.Option` has it.
    """

    name: str
    holds: str
    meaning: str
    required: bool = False
    kinds: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """One kind of object: the key it stands under, its fields when it is a mapping, and an example."""

    name: str
    meaning: str
    fields: tuple[SpecField, ...]
    example: str


_SPECS_OWN = ("title", "style", "palette")  # which stand beside the figure
FIGURE = tuple(
    SpecField(
        option.word or option.name,
        option.holds,
        option.meaning[0].lower() + option.meaning[1:].rstrip("."),
        kinds=("layout",) if option.holds == "object" else (),
        choices=option.choices,
    )
    for option in OPTIONS.values()
    if option.name not in _SPECS_OWN
)


def _sections() -> dict[str, ObjectKind]:
    """The sections of fields.txt: a kind of object, or with neither meaning nor example EXPECT and COMMON."""
    out: dict[str, ObjectKind] = {}
    for name, *cells in rows(__file__, "fields.txt"):
        if name.startswith("["):
            key, (meaning, example) = name.strip("[]"), cells or ("", "")
            out[key] = ObjectKind(key, meaning, (), example.replace(r"\n", "\n"))
            continue
        holds, meaning, *words = cells
        several = tuple(words[0].split() if words else OPTIONS[name].choices if holds == "choice" else ())
        kinds, choices = (several, ()) if holds.startswith("object") else ((), several)
        field = SpecField(name, holds.rstrip("!"), meaning, holds.endswith("!"), kinds, choices)
        out[key] = replace(out[key], fields=(*out[key].fields, field))
    return out


KINDS = _sections()
EXPECT, COMMON = (KINDS.pop(name).fields for name in ("expect", "common"))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec file, for editors."""
    definitions: dict[str, Any] = {}
    for kind in KINDS.values():
        fields = {field.name: _schema(field) for field in kind.fields}
        mapping = {
            "type": "object",
            "properties": fields,
            "required": [field.name for field in kind.fields if field.required],
            "additionalProperties": False,
        }
        definitions[kind.name] = {"description": kind.meaning, "oneOf": [{"type": "string"}, mapping]}
    one: dict[str, Any] = {name: {"$ref": f"#/definitions/{name}"} for name in KINDS}
    one |= {field.name: _schema(field) for field in COMMON}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "cute-viz spec",
        "type": "object",
        "properties": {**one, "specs": {"type": "object", "additionalProperties": {"$ref": "#"}}},
        "additionalProperties": False,
        "definitions": definitions,
    }


def _schema(field: SpecField) -> dict[str, Any]:
    about = {"description": field.meaning}
    if field.holds == "object":
        return {**about, "oneOf": [{"type": "string"}, *({"$ref": f"#/definitions/{kind}"} for kind in field.kinds)]}
    if field.holds == "flag":
        return {**about, "type": "boolean"}
    if field.holds == "choice":
        return {**about, "enum": list(field.choices)}
    if field.holds == "names":
        return {**about, "type": "object", "additionalProperties": {"type": ["string", "integer"]}}
    if field.holds == "words":
        return {**about, "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    if field.holds in ("figure", "expect"):
        properties = {f.name: _schema(f) for f in (FIGURE if field.holds == "figure" else EXPECT)}
        properties |= {name: properties[word] for word, name in NAMES.items() if word in properties}
        return {**about, "type": "object", "properties": properties, "additionalProperties": False}
    return {**about, "type": ["string", "integer"]}


def document() -> str:
    r"""The reference of spec files in Markdown, with an example of each kind."""
    out = [
        "# Spec files\n",
        "A spec is a YAML mapping with one object and how to draw it. A file holds one spec, or several under `specs:`, by name.",
        "`let`, `figure`, `formats`, `palette`, `style` and the machine beside `specs:` are those of every spec; its own win.",
        "Every value is read as text, so that `8:1` needs no quotes (YAML itself would read 481); in a flow mapping (`{a: 1}`) a",
        "layout with commas does. An object is an expression of any dialect (CuTe notation, C++, Python, a name of the library),",
        "the address of one in a source file of this folder (`kernel.cu::sA`, whose names have values by `let`),",
        "or a mapping of the fields below. `gallery --validate` validates, and `cute-viz gallery --schema` prints a JSON",
        "Schema for editors.\n",
    ]
    for kind in KINDS.values():
        out += [f"## {kind.name}\n", f"{kind.meaning}\n", "```yaml", kind.example, "```\n", *_table(kind.fields)]
    out += ["## Fields of every spec\n", *_table(COMMON), "## figure\n", *_table(FIGURE), "## expect\n", *_table(EXPECT)]
    return "\n".join(out).rstrip() + "\n"


def _table(fields: tuple[SpecField, ...]) -> list[str]:
    rows = [f"| `{f.name}` | {f.holds}{', needed' if f.required else ''} | {_about(f)} |" for f in fields]
    return ["| field | holds | meaning |", "| --- | --- | --- |", *rows, ""]


def _about(field: SpecField) -> str:
    return f"{field.meaning} ({', '.join(field.choices)})" if field.choices else field.meaning


def _layout(b: Builder, fields: Keys, names: dict[str, object]) -> Any:

    shape, stride = b.expression(fields["shape"], names), b.optional(fields, "stride", names)
    return Layout(shape) if stride is None else Layout(shape, stride)


def _swizzle(b: Builder, fields: Keys, names: dict[str, object]) -> Any:
    from cute_viz.algebra.swizzle import Swizzle

    numbers = [b.expression(fields[key], names) for key in ("bits", "base", "shift")]
    for key, number in zip(("bits", "base", "shift"), numbers, strict=True):
        if not isinstance(number, int):
            raise b.fail(f"{key} must be an integer, not {fields[key]}", fields[key].span)
    return ComposedLayout(Swizzle(*map(int, numbers)), 0, b.layout(fields, "layout", names))


def _mma_atom(b: Builder, fields: Keys, names: dict[str, object]) -> object:
    from cute_viz.algebra.mma import MMA_Atom
    from cute_viz.spec.promises import of_mma

    shape = b.expression(fields["Shape_MNK"], names)
    if not isinstance(shape, tuple) or len(shape) != 3 or not all(isinstance(n, int) and n > 0 for n in shape):
        raise b.fail("Shape_MNK must be (M,N,K), three positive integers", fields["Shape_MNK"].span, hint="example: (16,8,16)")
    operands = [b.layout(fields, f"{x}Layout", names, rank=2) for x in "ABC"]
    thr_id = b.layout(fields, "ThrID", names, rank=1)
    atom = MMA_Atom(thr_id, shape, *operands)
    layouts = {"ThrID": thr_id, **{f"{x}Layout": layout for x, layout in zip("ABC", operands, strict=True)}}
    for key, wrong in of_mma(atom, layouts):
        b.refuse(b.fail(f"{key} {wrong}", fields[key].span))
    return atom


def _copy_atom(b: Builder, fields: Keys, names: dict[str, object]) -> object:
    from cute_viz.algebra.copy import CopyOp, make_copy_atom
    from cute_viz.values.types import bits_of

    operation = b.expression(fields["op"], names)
    if not isinstance(operation, CopyOp):
        raise b.fail(f"{fields['op']} is not a copy operation", fields["op"].span, hint="cute-viz list copy")
    kind = b.words(fields, "type") or ""
    try:
        bits = bits_of(kind)
    except CuteVizError as error:
        raise b.fail(error.message, fields["type"].span, hint=error.hint) from None
    return make_copy_atom(operation, bits, kind)


def _tiled_mma(b: Builder, fields: Keys, names: dict[str, object]) -> object:
    from cute_viz.algebra.mma import make_tiled_mma

    atom = b.part(fields, "atom", ("mma_atom",), names)
    return make_tiled_mma(atom, b.optional(fields, "layout", names), b.optional(fields, "permutation", names))


def _tiled_copy(b: Builder, fields: Keys, names: dict[str, object]) -> object:
    from cute_viz.algebra.views import make_tiled_copy, make_tiled_copy_impl, make_tiled_copy_operand

    atom = b.part(fields, "atom", ("copy_atom",), names)
    given = {key for key in ("thr", "val", "tv", "tiler", "mma", "operand") if key in fields}
    if given in ({"thr"}, {"thr", "val"}):
        return make_tiled_copy(atom, b.optional(fields, "thr", names), b.optional(fields, "val", names))
    if given == {"tv", "tiler"}:
        return make_tiled_copy_impl(atom, b.optional(fields, "tv", names), b.optional(fields, "tiler", names))
    if given == {"mma", "operand"}:
        operand = b.choice(KINDS["tiled_copy"].fields, fields, "operand") or "A"
        return make_tiled_copy_operand(atom, b.part(fields, "mma", ("tiled_mma",), names), operand)
    raise b.fail("a tiled copy needs thr and val, tv and tiler, or mma and operand", fields.span)


def _gemm(b: Builder, fields: Keys, names: dict[str, object]) -> object:
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.gemm import make_gemm
    from cute_viz.algebra.views import make_tiled_copy_operand

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
                f"{key} must be a tiled copy", fields[key if key in fields else "g2s_a"].span, hint="example: make_tiled_copy(...)"
            )
    return make_gemm(mma, tile, parts["smem_a"], parts["smem_b"], **copies)


def _pipeline(b: Builder, fields: Keys, names: dict[str, object]) -> object:
    from cute_viz.algebra.gemm import Pipeline

    try:
        return Pipeline(1).given({key: str(b.expression(fields[key], names)) for key in fields})
    except CuteVizError as error:
        raise b.fail(error.message, fields.span, hint=error.hint) from None


MAKERS: dict[str, Callable[[Builder, Keys, dict[str, Any]], Any]] = {
    "layout": _layout,
    "swizzle": _swizzle,
    "mma_atom": _mma_atom,
    "copy_atom": _copy_atom,
    "tiled_mma": _tiled_mma,
    "tiled_copy": _tiled_copy,
    "gemm": _gemm,
    "pipeline": _pipeline,
}


def by_words(figure: Value | None) -> Value | None:
    """The fields of a figure; an option by its name of Python, `target`, is the word that specs have for it."""
    words = {name: word for word, name in NAMES.items()}
    if not isinstance(figure, Keys) or not words.keys() & figure.keys():
        return figure
    out = Keys({words.get(key, key): value for key, value in figure.items()})
    out.span, out.keys_at = figure.span, {words.get(key, key): at for key, at in figure.keys_at.items()}
    return out
