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
from cute_viz.engine.accessing import Access
from cute_viz.engine.evaluate import evaluate as evaluated
from cute_viz.engine.search import search_swizzle, tile_of
from cute_viz.errors import UsageError
from cute_viz.options.words import read

if TYPE_CHECKING:
    from cute_viz.live.question import Question

STEPS = 24  # of an access that are told one by one
LETTERS = 20_000  # of a picture in text


@lru_cache(maxsize=1)
def schemas() -> dict[str, dict[str, Any]]:
    """The description of each tool, and the schemas of what it takes (`input`) and gives (`output`).

    >>> list(schemas())
    ['evaluate', 'show', 'explain', 'analyze', 'swizzle', 'render', 'list_objects']
    >>> {next(iter(schema["input"]["properties"])) for schema in schemas().values()}
    {'source'}
    """
    found: dict[str, dict[str, Any]] = json.loads((files("cute_viz.live") / "tools.json").read_text("utf-8"))
    return found


def evaluate(question: Question) -> dict[str, Any]:
    """The value of the last statement, or of the one that is named, and of those before it.

    >>> from cute_viz.live.question import Question
    >>> evaluate(Question("", "a = (4,8):(8,1); size(a)"))
    {'value': '32', 'names': {'a': '(4,8):(8,1)'}, 'warnings': []}
    """
    warnings: list[str] = []
    found = question.answer()
    if found.readings[0].file is not None and found.readings[0].path is not None:
        return {"value": found.printed, "names": {}, "warnings": list(found.notes)}
    value, names = evaluated(question.source, found.request, warn=warnings.append)
    told = {name: shown(other).rstrip("\n") for name, other in names.items() if name not in question.let}
    return {"value": shown(value).rstrip("\n"), "names": told, "warnings": warnings}


def show(question: Question) -> dict[str, Any]:
    """The facts of a layout, an atom or a tiling, as `cute-viz show --json` gives them.

    >>> from cute_viz.live.question import Question
    >>> show(Question("", "(4,8):(8,1)"))["cosize"]
    32
    """
    from cute_viz.engine.facts import with_marks

    return with_marks(question.answer().facts)


def explain(question: Question) -> dict[str, Any]:
    """The steps of an operation, as `cute-viz explain --json` gives them.

    >>> from cute_viz.live.question import Question
    >>> explain(Question("", "complement(4:2, 24)"))["steps"][-1]["value"]
    '(2,3):(1,8)'
    """
    return question.answer().explanation.facts


def analyze(question: Question) -> dict[str, Any]:
    """What an access costs, or the copies of a whole kernel, as `cute-viz analyze --json` counts it.

    Equal steps of an access are listed once, without the lanes that collide; `detail` leaves nothing out.

    >>> from cute_viz.live.question import Question
    >>> analyze(Question("", "(8,64):(64,1)", more={"access": "((4,8),8):((1,64),8)", "type": "f16"}))["wavefronts"]
    16
    """
    words = question.more
    by = None
    if words.get("access") is None and question.name is None and (kernel := _kernel(question)) is not None:
        return kernel
    if words.get("access") is not None:
        by = accessor(question.answer(), _text(words, "access") or "")
    access = Access(
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


def _kernel(question: Question) -> dict[str, Any] | None:
    """The report of a kernel, a whole file or its text; None of any other source."""
    report = question.answer().kernel
    if report is None:
        return None
    out = report.as_dict()
    for rows in ("accesses", "unknown") if not question.more.get("detail") else ():
        if len(out[rows]) > STEPS:
            out["left_out"] = out.get("left_out", 0) + len(out[rows]) - STEPS
            out[rows] = out[rows][:STEPS]
    return out


def swizzle(question: Question) -> dict[str, Any]:
    """The best swizzles of a row-major tile, which `source` says as ROWSxCOLS or as a layout.

    >>> from cute_viz.live.question import Question
    >>> swizzle(Question("", "8x64", more={"read": ["ldmatrix"], "top": 1}))["winner"]
    'Sw<3,3,3>'
    """
    words, source = question.more, question.source.strip()
    tile, element = (read("tile", source), None) if re.fullmatch(r"\d+x\d+", source) else tile_of(question.answer())
    accesses = [*_texts(words, "read"), *_texts(words, "write")]
    result = search_swizzle(tile, _text(words, "type") or element or "f16", accesses, question.library.arch)
    top = words.get("top", 5)
    best = result.found[: top if isinstance(top, int) and top > 0 else 5]
    chosen = [*best, *([result.plain] if result.plain not in best else [])]
    return {
        "winner": result.found[0].name,
        "why": result.why,
        "candidates": [
            {"name": c.name, "wavefronts": c.wavefronts, "ideal": c.ideal, "mode": c.mode, "accesses": c.by_access} for c in chosen
        ],
    }


def render(question: Question) -> dict[str, Any]:
    """A picture: text as it is; png in base64; svg and the other formats as text.

    >>> from cute_viz.live.question import Question
    >>> render(Question("", "(2,2):(2,1)"))["text"].splitlines()[0]
    '(2,2):(2,1)'
    """
    format_ = _text(question.more, "format") or "text"
    found = question.answer(format_)
    data = found.write(format_)
    out: dict[str, Any] = {"title": found.figure.title, "description": found.figure.description}
    if format_ in ("png", "pdf"):
        return {**out, "base64": b64encode(data).decode(), "mime": {"png": "image/png", "pdf": "application/pdf"}[format_]}
    text = data.decode()
    if format_ == "text" and len(text) > LETTERS:
        lines = text[:LETTERS].splitlines()[:-1]
        return {**out, "text": "\n".join(lines), "left_out": len(text.splitlines()) - len(lines)}
    return {**out, "text": text}


def list_objects(question: Question) -> dict[str, Any]:
    """What a source defines: each name with its line, kind and value, or why it has none.

    >>> from cute_viz.live.question import Question
    >>> [row["name"] for row in list_objects(Question("", "auto a = make_shape(4, 8);\\nauto b = make_layout(a);"))["objects"]]
    ['a', 'b']
    """
    from cute_viz.live.question import objects

    listed = objects(question)
    if listed["objects"]:
        return listed
    rows = [
        {"name": name, "path": name, "line": None, "kind": type(value).__name__, "value": shown(value).rstrip("\n"), "error": None}
        for name, value in question.answer().objects.items()
    ]
    return {"objects": rows}


TOOLS: dict[str, Callable[[Question], dict[str, Any]]] = {
    "evaluate": evaluate,
    "show": show,
    "explain": explain,
    "analyze": analyze,
    "swizzle": swizzle,
    "render": render,
    "list_objects": list_objects,
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
