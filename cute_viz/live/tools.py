"""What assistants ask while they write kernels, with small typed answers; `tools.json` says what each tool takes and gives."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import show as shown
from cute_viz.engine.access import accessor, report_of, typed
from cute_viz.engine.accessing import Accessor
from cute_viz.engine.evaluate import evaluate as evaluated
from cute_viz.engine.search import search_swizzle, tile_of
from cute_viz.errors import UsageError
from cute_viz.options.words import read

if TYPE_CHECKING:
    from cute_viz.live.question import Question

MANY = 10  # times that: such an image loses its labels
STEPS = 24  # of an access that are told one by one
ATOMS = 20  # of a search
ROWS = 60  # of a list of definitions
FEW = 6  # of them that one cause leaves without a value
LETTERS = 20_000  # of a picture in text
SMALL = 74_000  # bytes of an image, less than 100 kB in base64


_SHAPE = re.compile(r"\bm(\d+)n(\d+)k(\d+)\b", re.IGNORECASE)
_ERROR = {"message": "string", "place": "string", "hint": "string", "span": "[integer]", "needs": "[string]", "fix": "object"}


@lru_cache(maxsize=1)
def schemas() -> dict[str, dict[str, Any]]:
    """The description of each tool, and the schemas of what it takes (`input`) and gives (`output`), from `tools.json`. An
    answer may tell more than its schema names: a client that checks it never refuses one for that."""
    found: dict[str, Any] = json.loads((files("cute_viz.live") / "tools.json").read_text("utf-8"))
    shared, out = found["takes"], {}
    for name, tool in found["tools"].items():
        takes = {"source": ["string", tool.get("source", shared["source"][1])], **tool.get("own", {})}
        takes |= {word: shared[word] for word in tool["takes"]}
        properties = {word: {**shape(kind), "description": meaning} for word, (kind, meaning) in takes.items()}
        required = ["source", *tool.get("needs", ())]
        taken = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        out[name] = {"description": tool["description"], "input": taken, "output": shape({**tool["gives"], "error": _ERROR})}
    return out


def shape(words: Any) -> dict[str, Any]:
    """A JSON schema in short: `integer|null`, `[string]`, `{integer}` for a mapping, `a,b` for a choice; a mapping for an
    object."""
    if isinstance(words, dict):
        return {"type": "object", "properties": {name: shape(inner) for name, inner in words.items()}}
    if isinstance(words, list):
        return {"type": "array", "items": shape(words[0])}
    if words[0] == "{" and words[-1] == "}":
        return {"type": "object", "additionalProperties": shape(words[1:-1])}
    if words[0] == "[" and words[-1] == "]":
        return {"type": "array", "items": shape(words[1:-1])}
    kinds = words.split("|")
    if len(kinds) == 1:
        return {"enum": words.split(",")} if "," in words else {"type": words}
    return {"anyOf": list(map(shape, kinds))} if "[" in words else {"type": kinds}


def evaluate(question: Question) -> dict[str, Any]:
    """The value of the last statement, or of the one that is named, and of those before it."""
    warnings: list[str] = []
    found = question.answer()
    if found.readings[0].file is not None and (question.name or found.readings[0].path is not None):
        return {"value": found.printed, "names": {}, "warnings": list(found.notes)}
    value, names = evaluated(question.source, found.request, warn=warnings.append, printed=True)
    told = {name: shown(other).rstrip("\n") for name, other in names.items() if name not in question.let}
    return {"value": shown(value).rstrip("\n"), "names": told, "warnings": warnings}


def show(question: Question) -> dict[str, Any]:
    """The facts of a layout, an atom or a tiling, as `cute-viz show --json` gives them."""
    from cute_viz.engine.explaining import with_marks

    return with_marks(question.answer().facts)


def explain(question: Question) -> dict[str, Any]:
    """The steps of an operation, as `cute-viz explain --json` gives them."""
    return question.answer().explanation.facts


def analyze(question: Question) -> dict[str, Any]:
    """What an access costs, or the copies of a whole kernel, as `cute-viz analyze --json` counts it. Equal steps of an access
    are listed once, without the lanes that collide; `detail` leaves nothing out."""
    words = question.more
    by = None
    if words.get("access") is None and question.name is None and (kernel := _kernel(question)) is not None:
        return kernel
    if words.get("access") is not None:
        by = accessor(question.answer(), _text(words, "access") or "")
    access = Accessor(
        by,
        _text(words, "type"),
        _text(words, "instruction"),
        _text(words, "operand"),
        bool(words.get("store")),
        bool(words.get("global")),
        question.library.arch,
    )
    report = report_of(question.answer().layout, typed(access, question.answer().bits))
    if by is None or words.get("detail"):
        return report
    groups: dict[str, dict[str, Any]] = {}
    for step in report["steps"]:
        facts = {key: value for key, value in step.items() if key not in ("step", "conflicts")}
        group = groups.setdefault(json.dumps(facts), {**facts, "steps": 0})
        group["steps"] += 1
    told = list(groups.values())
    return {**report, "steps": told[:STEPS], "left_out": max(0, len(told) - STEPS)}


def report(question: Question) -> dict[str, Any]:
    """What the copies of a kernel cost; in short those that cost more than the ideal, with `detail` as `cute-viz analyze
    --json`. Raises: UsageError where there are none."""
    found = _kernel(question)
    if found is None:
        raise UsageError("there is no copy or gemm statement to report", hint="the text of a whole kernel, or its address")
    return found


def _kernel(question: Question) -> dict[str, Any] | None:
    """The report of a kernel, a whole file or its text; None of any other source."""
    found = question.answer().kernel
    if found is None:
        return None
    whole = found.as_dict()
    if question.more.get("detail"):
        return whole
    lost = [access.lost > 0 for access in found.accesses]
    worse = [row for row, bad in zip(whole["accesses"], lost, strict=True) if bad]
    ideal = sorted({row["line"] for row, bad in zip(whole["accesses"], lost, strict=True) if not bad})
    kept = [{key: value for key, value in row.items() if value not in (None, [], "")} for row in worse[:STEPS]]
    said = (
        f"{len(worse)} of {len(lost)} access{'' if len(lost) == 1 else 'es'} above the ideal" if lost else "no access was evaluated"
    )
    said += f"; {len(found.unknown)} not evaluated" if lost and found.unknown else ""
    rest = {key: value for key, value in whole.items() if key not in ("accesses", "unknown") and value not in ([], {})}
    out = {"summary": said, "accesses": kept, "ideal": ideal, "unknown": _causes(whole["unknown"], "line"), **rest}
    return out | ({"left_out": len(worse) - STEPS} if len(worse) > STEPS else {})


def swizzle(question: Question) -> dict[str, Any]:
    """The best swizzles of a row-major tile, which `source` says as ROWSxCOLS or as a layout."""
    words, source = question.more, question.source.strip()
    tile, element = (read("tile", source), None) if re.fullmatch(r"\d+x\d+", source) else tile_of(question.answer())
    accesses = [*_texts(words, "read"), *_texts(words, "write")]
    result = search_swizzle(tile, _text(words, "type") or element or "f16", accesses, question.library.arch)
    top = words.get("top", 5)
    return result.as_dict(result.shown(top if isinstance(top, int) and top > 0 else 5))


def solve(question: Question) -> dict[str, Any]:
    """The layout that gives a table, as `cute-viz find layout --json` finds it."""
    from cute_viz.analysis.solve import solved

    found = solved(question.source)
    return {"layout": str(found.layout), "kind": found.kind, "tile": list(found.tile) if found.tile else None}


def atoms(question: Question) -> dict[str, Any]:
    """The atoms that words mean."""
    words, shape_ = question.source.strip(), _SHAPE.search(question.source)
    found = question.library.search(words)
    if not found and shape_ is not None:  # a number of a family: m64n128k16 of m64n{N}k16
        found = question.library.search(words.replace(shape_[0], f"m{shape_[1]}n k{shape_[3]}"))
    if not found:
        raise UsageError(f"no atom has all of {words[:60]!r}", hint="m16n8k16 f16, ldmatrix, wgmma e4m3, tcgen05")
    rows = []
    for line in found[:ATOMS]:
        name = line.name if shape_ is None else line.name.replace("{N}", shape_[2])
        row = {"name": name, "kind": line.kind, "arch": line.arch, "ptx": line.ptx or None, "short": line.short}
        rows.append(row | ({"where": line.ranges, "example": line.example} if "{" in name else {}))
    return {"atoms": rows, **({"left_out": len(found) - ATOMS} if len(found) > ATOMS else {})}


def who_owns(question: Question) -> dict[str, Any]:
    """The cells that `where` means in the picture of the source."""
    from cute_viz.engine.owners import who

    mine = {name: _text(question.more, name) or question.options.get(name) for name in ("view", "type")}
    given = {name: word for name, word in mine.items() if word is not None}
    where = _text(question.more, "where") or ""
    return who(lambda words: question.answer("svg", **{**dict.fromkeys(mine), **words}), where, given)


def render(question: Question) -> dict[str, Any]:
    """A picture: text as it is; png in base64, of at most SMALL bytes; svg and the other formats as text."""
    from cute_viz.renderers import format_named
    from cute_viz.renderers.said import described

    format_ = _text(question.more, "format") or "png"
    found = question.answer(format_, type=_text(question.more, "type") or question.options.get("type"))
    data = found.write(format_)
    drawn = described(found.figure, found.how) if format_named(format_).pages else found.figure
    out: dict[str, Any] = {"title": drawn.title, "description": drawn.description}
    if format_ == "png":
        from cute_viz.renderers.mpl import smaller

        if len(data) > MANY * SMALL:
            out["note"] = 'drawn smaller than its labels need: options {"crop": "16x16"} draws a part, format "svg" all of it'
        return {**out, "base64": b64encode(smaller(data, SMALL)).decode(), "mime": "image/png"}
    if format_ == "pdf":
        return {**out, "base64": b64encode(data).decode(), "mime": "application/pdf"}
    text = data.decode()
    if format_ == "text" and len(text) > LETTERS:
        lines = text[:LETTERS].splitlines()[:-1]
        return {**out, "text": "\n".join(lines), "left_out": len(text.splitlines()) - len(lines)}
    return {**out, "text": text}


def listed(question: Question) -> dict[str, Any]:
    """What a source defines: each name with its line, kind and value; in short what can be drawn, and the rest by what it lacks."""
    from cute_viz.live.question import objects

    found = objects(question)
    if not found["objects"]:
        values = question.answer().objects.items()
        rows = [{"path": name, "line": None, "kind": type(value).__name__, "value": shown(value).strip()} for name, value in values]
        return {"objects": rows}
    if question.more.get("detail"):
        return found
    known = [row for row in found["objects"] if not row["error"]]
    best = [row for row in known if row["kind"] not in _PLAIN] or known
    short = [
        {key: row[key] for key in ("path", "line", "kind")} | {"value": row.get("brief") or row["value"]} for row in best[:ROWS]
    ]
    causes = _causes([row for row in found["objects"] if row["error"]], "path")
    unknown = [{**cause, "paths": cause["paths"][:FEW], "of": len(cause["paths"])} for cause in causes[:FEW]]
    if others := causes[FEW:]:
        count = sum(len(cause["paths"]) for cause in others)
        unknown.append({"paths": [], "error": f"{len(others)} other causes, with `detail`", "needs": [], "of": count})
    rest = {"left_out": len(best) - len(short)} if len(best) > len(short) else {}
    return {**found, "objects": short, **rest} | ({"unknown": unknown} if unknown else {})


_PLAIN = ("integer", "flag", "type", "other", "", None)  # kinds that nobody draws


def _causes(rows: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    """Why rows have no value, the cause of most first: which rows they are, the error, and the names that are needed."""
    causes: dict[str, dict[Any, None]] = {}
    for row in rows:
        causes.setdefault(row["error"], {})[row[what]] = None
    needs = {row["error"]: row.get("needs") or [] for row in rows}
    told = sorted(causes, key=lambda error: -len(causes[error]))[:STEPS]
    return [{f"{what}s": list(causes[error]), "error": error, "needs": needs[error]} for error in told]


TOOLS: dict[str, Callable[[Question], dict[str, Any]]] = {
    "eval": evaluate,
    "show": show,
    "explain": explain,
    "analyze": analyze,
    "report": report,
    "swizzle": swizzle,
    "solve": solve,
    "atoms": atoms,
    "who_owns": who_owns,
    "render": render,
    "list": listed,
}


def _text(words: dict[str, Any], name: str) -> str | None:
    value = words.get(name)
    if value is not None and not isinstance(value, (str, int)):
        raise UsageError(f"{name} must be text")
    return None if value is None else str(value)


def _texts(words: dict[str, Any], name: str) -> list[str]:
    value = words.get(name) or []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise UsageError(f"{name} must be a list of texts")
    return value
