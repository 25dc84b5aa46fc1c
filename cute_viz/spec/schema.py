"""What a spec file may say: every field once, for validation, for editors (JSON Schema) and for the documentation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cute_viz.options import NAMES, OPTIONS
from cute_viz.records import rows


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
    """The JSON Schema of a spec file, for editors.

    >>> sorted(json_schema()["properties"])[-3:]
    ['tiled_mma', 'title', 'wave']
    """
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
    r"""The reference of spec files in Markdown, with an example of each kind.

    >>> print(document().partition("\n")[0])
    # Spec files
    """
    out = [
        "# Spec files\n",
        "A spec is a YAML mapping with one object and how to draw it. A file holds one spec, or several under `specs:`, by name.",
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
