"""What a spec file may say: every field once, for validation, for editors (JSON Schema) and for the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.options import OPTIONS


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


def _object(name: str, meaning: str, *kinds: str, required: bool = False) -> SpecField:
    return SpecField(name, "object", meaning, required, kinds)


_SPECS_OWN = ("title", "style", "palette")  # which stand beside the figure
FIGURE = tuple(
    SpecField(
        option.name,
        option.holds,
        option.meaning[0].lower() + option.meaning[1:].rstrip("."),
        kinds=("layout",) if option.holds == "object" else (),
        choices=option.choices,
    )
    for option in OPTIONS.values()
    if option.name not in _SPECS_OWN
)

KINDS: dict[str, ObjectKind] = {
    kind.name: kind
    for kind in (
        ObjectKind(
            "layout",
            "A layout, or any expression that gives an object.",
            (
                SpecField("shape", "text", "the shape", True),
                SpecField("stride", "text", "the stride; by default compact column-major"),
            ),
            "layout: ((16,8),8):((64,1),8)\nfigure: {tile: 8x128}",
        ),
        ObjectKind(
            "swizzle",
            "A swizzled layout.",
            (
                SpecField("bits", "text", "B, the number of bits", True),
                SpecField("base", "text", "M, the lowest bits, which stay", True),
                SpecField("shift", "text", "S, the distance", True),
                _object("layout", "the layout whose offsets are swizzled", "layout", required=True),
            ),
            "swizzle: {bits: 3, base: 3, shift: 3, layout: '(8,64):(64,1)'}",
        ),
        ObjectKind(
            "mma_atom",
            "An MMA instruction, by name or by its layouts.",
            (
                SpecField("Shape_MNK", "text", "(M,N,K)", True),
                SpecField("ThrID", "text", "logical thread to thread", True),
                *(
                    SpecField(f"{x}Layout", "text", f"(thread, value) to index into the column-major tile of {x}", True)
                    for x in "ABC"
                ),
            ),
            "mma_atom: SM80_16x8x16_F32BF16BF16F32_TN",
        ),
        ObjectKind(
            "copy_atom",
            "A copy instruction for values of a type.",
            (
                SpecField("op", "text", "the operation's name", True),
                SpecField("type", "text", "the value type, by name or width in bits", True),
            ),
            "copy_atom: {op: SM75_U32x4_LDSM_N, type: half_t}",
        ),
        ObjectKind(
            "tiled_mma",
            "MMA atoms over a tile.",
            (
                _object("atom", "the MMA atom", "mma_atom", required=True),
                SpecField("layout", "text", "atoms along M, N, K"),
                SpecField("permutation", "text", "an extent, a layout or _ for each of M, N, K"),
            ),
            "tiled_mma:\n  atom: SM80_16x8x16_F32BF16BF16F32_TN\n  layout: (2,2,1)\n  permutation: (32,32,16)",
        ),
        ObjectKind(
            "tiled_copy",
            "Copy atoms over a tile: from thread and value layouts, from a TV layout and its tile, or from an MMA's operand.",
            (
                _object("atom", "the copy atom", "copy_atom", required=True),
                SpecField("thr", "text", "(m,n) to thread"),
                SpecField("val", "text", "(m,n) to value of a thread"),
                SpecField("tv", "text", "(thread, value) to index into the tile"),
                SpecField("tiler", "text", "the tile of tv"),
                _object("mma", "the TiledMMA whose operand is copied", "tiled_mma"),
                SpecField("operand", "choice", "the operand of that MMA", choices=("A", "B", "C")),
            ),
            "tiled_copy:\n  atom: {op: SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, type: half_t}\n  thr: (16,8):(8,1)\n  val: (1,8)",
        ),
        ObjectKind(
            "gemm",
            "The layouts of one GEMM, on one page.",
            (
                _object("mma", "the TiledMMA", "tiled_mma", required=True),
                SpecField("tile", "text", "(M,N,K) of a thread block", True),
                _object("smem_a", "the shared-memory layout of A's tile, or an atom of it", "layout", "swizzle", required=True),
                _object("smem_b", "the same for B; by default that of A", "layout", "swizzle"),
                _object("g2s_a", "the copy of A from global to shared memory", "tiled_copy"),
                _object("g2s_b", "the same for B; by default that of A", "tiled_copy"),
                _object(
                    "s2r_a", "the copy of A from shared memory to registers: a tiled copy, or its atom", "tiled_copy", "copy_atom"
                ),
                _object("s2r_b", "the same for B", "tiled_copy", "copy_atom"),
                _object("epilogue", "the copy of the accumulator to global memory", "tiled_copy", "copy_atom"),
            ),
            "gemm:\n  mma: make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))\n  tile: (128,128,64)\n"
            "  smem_a: Sw<3,3,3> o 0 o (8,64):(64,1)",
        ),
    )
}

KINDS["pipeline"] = ObjectKind(
    "pipeline",
    "Tiles through stages of shared memory, against time.",
    (
        SpecField("stages", "text", "buffers of shared memory", True),
        SpecField("tiles", "text", "tiles of K; by default 8"),
        SpecField("load", "text", "slots until a load has arrived; by default 3"),
        SpecField("compute", "text", "slots of an MMA; by default 1"),
        SpecField("consumers", "text", "warp groups that take turns, an output tile each; by default 1"),
        SpecField("work", "text", "output tiles; by default 1"),
        SpecField("epilogue", "text", "slots to store an output tile; by default 2"),
    ),
    "pipeline: {stages: 4, tiles: 8, load: 3}",
)

EXPECT = (
    SpecField("same", "object", "another layout that gives the same offset at every coordinate", kinds=("layout",)),
    SpecField(
        "covers", "text", "the tile, for example 8x128, whose cells are each held by one thread; `yes` for a tiled copy's own"
    ),
    SpecField("conflict_free", "object", "who accesses the layout in shared memory without a bank conflict", kinds=("tiled_copy",)),
    SpecField("type", "text", "the element type in shared memory, for example `f16`"),
    SpecField("operand", "choice", "the operand of an MMA that accesses it", choices=("A", "B", "C")),
    SpecField("instruction", "text", "the instruction that accesses it, for example ldmatrix.x4"),
    SpecField("vector", "text", "the bits that a copy moves at once"),
)
COMMON = (
    SpecField("title", "text", "the title, instead of the one made from the object"),
    SpecField("description", "text", "a sentence for readers of the spec"),
    SpecField("source", "text", "where the figure comes from"),
    SpecField("let", "names", "names that expressions may use"),
    SpecField(
        "arch",
        "text",
        "the target GPU of a name that several have, for example gfx942; like the next three, also beside `specs`",
    ),
    SpecField("wave", "count", "the wave size: 32 or 64"),
    SpecField("shape", "text", "the shape of the tensor of an encoding of Triton, for example 64x64"),
    SpecField("bits", "count", "the bits of an element of an encoding, or of a value of a copy"),
    SpecField("beside", "names", "further objects by their captions, drawn beside it in the same way"),
    SpecField("figure", "figure", "how to draw it"),
    SpecField("expect", "expect", "what must hold for the object: `cute-viz gallery --validate` checks it"),
    SpecField("formats", "words", "formats that a gallery draws"),
    SpecField("style", "choice", "cutlass writes the bytes of CuTe's own printers", choices=OPTIONS["style"].choices),
    SpecField("palette", "text", "color palette"),
)


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
