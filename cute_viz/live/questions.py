"""A question as JSON -> its answer as JSON: what the page asks, whether a server or a browser's own Python answers.

A question is `{"ask": "draw", "source": "(4,8)", "options": {...}, "let": {...}, "name": null, "dialect": "auto"}`; an answer has
`error`, or what was asked for. Nothing here knows who asks; only files of a folder that the server was given are read.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from cute_viz.algebra.common import WARP
from cute_viz.algebra.composed import as_layout, position_independent, swizzle_of
from cute_viz.algebra.inttuple import show
from cute_viz.engine import Answer, Folder, Request, ask
from cute_viz.errors import CuteVizError, InternalError, UsageError, boundary
from cute_viz.live.faults import fault
from cute_viz.live.question import Question, objects
from cute_viz.notation import is_triton
from cute_viz.options import OPTIONS
from cute_viz.options.views import TILINGS, VIEWS, View
from cute_viz.options.words import read_all
from cute_viz.source.address import Build
from cute_viz.spec import PACKAGED, WORDS, Library
from cute_viz.spelling import spelled

LONGEST = 1 << 20  # characters of a source
_LONG = 4096  # characters of an option, a value, a name
SAID = {"index": "index", "coord": "coordinate", "swizzle": "before → after", "all": "all", "none": "none"}  # of `labels`
SECTIONS = ("ThrID", "SrcLayout", "DstLayout", "RefLayout", "ALayout", "BLayout", "CLayout")  # of an atom
WIDE = 44  # px of a cell that says `64 → 72`


def answer(
    question: Any,
    library: Library = PACKAGED,
    path: str | None = None,
    folder: Folder | None = None,
    build: Build | None = None,
) -> dict[str, Any]:
    """The answer to a question, ready for JSON; whatever is wrong is its `error`.

    path: the name of the file that the source is the text of. folder: whose files a source may name, `kernel.cu::sA`; without one
    that of `path`. build: how that file is compiled, None to read it as it is written, or as its project says.
    """
    source = ""
    asked: Question | None = None
    try:
        with boundary():
            asked = _checked(question, library, path, folder, build)
            source = asked.source
            return _kinds()[asked.ask](asked)
    except InternalError as error:
        return {"error": fault(error, source)}
    except CuteVizError as error:
        return {
            "error": fault(error, source, asked.reads if asked is not None else None, asked.door if asked is not None else "page")
        }
    except OSError as error:  # of the library's files, and those of the folder
        return {"error": {"message": f"{type(error).__name__}: {error.strerror or error}", "place": ""}}


def _checked(question: Any, library: Library, path: str | None, folder: Folder | None, build: Build | None) -> Question:
    """A question from anybody. Raises: UsageError for anything but a question."""
    if not isinstance(question, dict):
        raise UsageError("a question must be a JSON object")
    kind, source = question.get("ask", "draw"), question.get("source", "")
    if not isinstance(kind, str) or kind not in _kinds():
        raise UsageError(f"there is no question {str(kind)[:40]!r}", hint=f"one of {', '.join(KINDS)}")
    if not isinstance(source, str) or len(source) > LONGEST:
        raise UsageError(f"a source must be text of at most {LONGEST} characters")
    options, let = _words("options", question.get("options")), _words("let", question.get("let"))
    name, dialect, launch = question.get("name"), question.get("dialect", "auto"), question.get("launch") or ""
    if not all(isinstance(word, str) and len(word) <= _LONG for word in (name or "", dialect, launch)):
        raise UsageError("name, dialect and launch must be text")
    words = _words("a question", {key: options.pop(key, None) or question.get(key) for key in WORDS})
    more = {key: value for key, value in question.items() if key not in (*Question.__slots__, *WORDS)}
    library = library.with_words(words)
    return Question(kind, source, options, let, name or None, dialect, more, library, path, folder, launch, build)


def _kinds() -> dict[str, Callable[[Question], dict[str, Any]]]:
    """The kinds of questions: of the page, and the tools of assistants, `tool.show`."""
    from cute_viz.live.tools import TOOLS

    return KINDS | {f"tool.{name}": tool for name, tool in TOOLS.items()}


def _words(what: str, given: Any) -> dict[str, Any]:
    """A mapping of names to words, numbers and flags; what is empty is not given."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or len(given) > 200 or not all(isinstance(key, str) and len(key) < 200 for key in given):
        raise UsageError(f"{what} must map names to words")
    for key, value in given.items():
        if not isinstance(value, (str, int, float, bool, type(None))) or len(str(value)) > _LONG:
            raise UsageError(f"the value of {key} must be text, a number or a flag, of at most {_LONG} characters")
    if what == "let":
        return {key: str(value) for key, value in given.items() if value not in (None, "")}
    return {key: value for key, value in given.items() if value not in (None, "", False)}


def _draw(question: Question) -> dict[str, Any]:
    """The picture, and what a reader can ask of it."""
    from cute_viz.live.banks import formula
    from cute_viz.renderers.geometry import keeping
    from cute_viz.renderers.html import explored
    from cute_viz.renderers.said import described
    from cute_viz.renderers.windows import narrowed

    if question.options.get("labels") == "swizzle" and "fold" not in question.options and (room := question.options.get("width")):
        fold = max(8, int(float(room)) // WIDE // 8 * 8)
        question = replace(question, options={**question.options, "fold": fold})
    found = question.answer("svg", fragment=True)
    found, left_out = _drawable(question, found)
    figure = found.figure if question.options.get("fold") else narrowed(found.figure, found.how.width or 0)
    with keeping():  # of both the page
        (svg, panels), told = explored(figure, found.how), described(figure, found.how)
    (subject,) = found.subjects
    facts = found.facts if figure.kind in ("copy", "mma") else {}
    return {
        "svg": svg,
        "panels": panels,
        "title": figure.title,
        "description": told.description,
        "shown": figure.source,
        "kind": figure.kind,
        "uses": [*uses(figure.kind, subject.obj), *_left_open(question.source, subject.obj)],
        "labels": said(figure.kind, subject.obj),
        "sections": {name: str(value) for name, value in facts.items() if name in SECTIONS},
        "notes": list(dict.fromkeys((*left_out, *(spelled(note, "page") for note in found.notes), *figure.notes))),
        "facts": {key: value if isinstance(value, (int, str)) else str(value) for key, value in figure.facts.items()},
        "name": subject.name,
        "formula": formula(subject.obj),
    }


def _banks(question: Question) -> dict[str, Any]:
    """The picture of an access of the object; where it has none, that of the object, and why."""
    from cute_viz.analysis.patterns import PATTERNS
    from cute_viz.live.banks import banks, tensor

    asked = {
        "tensor": tensor(question),
        "accesses": PATTERNS,
        "access": str(question.more.get("access") or "ldmatrix"),
        "global": bool(question.more.get("global")),
    }
    try:
        return {**banks(question), **asked}
    except CuteVizError as error:
        told, drawn = fault(error, ""), _draw(question)
        why = told["message"] + (f": {told['hint']}" if told.get("hint") else "")
        return {**drawn, **asked, "uses": [*drawn["uses"], "type", "operand"], "said": why}


def _drawable(question: Question, found: Answer) -> tuple[Answer, tuple[str, ...]]:
    """The answer, if need be without options that are of no use for what the source has become; and what was left out. Raises:
    CuteVizError where it cannot be drawn, be it for an option that is of use."""
    try:
        found.figure, found.how  # noqa: B018 (worked out here, so that what is wrong is raised here)
        return found, ()
    except CuteVizError as error:
        names = [name for name in error.options if name in question.options]
        if not names:
            raise
        read_all(question.options)  # a wrong word is a mistake, of use or not
        rest = replace(question, options={name: word for name, word in question.options.items() if name not in names})
        other, before = _drawable(rest, rest.answer("svg", fragment=True))
        kind, obj = other.figure.kind, other.subjects[0].obj
        gone = question.options.get("labels") not in dict(said(kind, obj))  # `8 → 9` once there is no swizzle
        if set(uses(kind, obj)) & set(names) - ({"labels"} if gone else set()):
            raise
        return other, (*before, f"{', '.join(names)} left out: {spelled(error.message, 'page')}")


def uses(kind: str, obj: Any) -> list[str]:
    """The options that change the picture of an object, for the fields of the page."""
    view = _view(kind, obj)
    mine = set(view.uses) if view is not None else set()
    if kind in VIEWS or kind == "heat":
        mine |= {"view", "tile"}
    if view is not None and len(view.labels) > 2:
        mine.add("labels")
    return [name for name in OPTIONS if name in mine | {"palette", "theme", "crop", "fold", "title"}]


def _view(kind: str, obj: Any) -> View | None:
    return TILINGS.get(getattr(obj, "tiling", "") or kind) or VIEWS.get("grid" if kind == "heat" else kind)


def said(kind: str, obj: Any) -> list[tuple[str, str]]:
    """What a cell of a picture may say: the words of `labels` with what the page calls them, the first what it says unasked."""
    view = _view(kind, obj)
    if view is None or len(view.labels) < 3:
        return []
    words = [word for word in SAID if word in view.labels and (word != "swizzle" or (kind == "grid" and _swizzled(obj)))]
    first = "offset" if "offset" in view.labels else "bank" if kind == "banks" else "owner"
    return [("", first), *((word, SAID[word]) for word in words)]


def _swizzled(obj: Any) -> bool:
    try:
        return swizzle_of(position_independent(as_layout(obj))) is not None
    except (CuteVizError, AttributeError, TypeError):
        return False


def _left_open(source: str, obj: Any) -> list[str]:
    """What a source may leave open about its machine, for the fields of the page."""
    atom = getattr(obj, "atom", obj)
    of_machine = ["arch", "wave"] if getattr(atom, "warp", WARP)[1] != WARP[1] else []
    return [*of_machine, *(["shape", "bits"] if is_triton(source) else [])]


def _explain(question: Question) -> dict[str, Any]:
    """The steps of an operation, each with its layout's picture."""
    from cute_viz.renderers.html import explored

    steps = []
    explanation = question.answer().explanation
    for number, words, value in explanation.numbered:
        step: dict[str, Any] = {"number": number, "words": words, "value": None if value is None else show(value)}
        with suppress(CuteVizError):  # a step may give what is not a layout
            if value is not None:
                drawn = _step(value, question)
                step["svg"], step["panels"] = explored(drawn.figure, drawn.how)
        steps.append(step)
    bits = explanation.bits
    out: dict[str, Any] = {"steps": steps, "failed": explanation.failed}
    return out if bits is None else {**out, "bits": bits.render("svg").decode().partition("?>")[2].lstrip()}


def _step(value: Any, question: Question) -> Answer:
    """The picture of a step's layout; an offset has one colour in all steps, where it is a number."""
    for options in ({"color_by": "mod8"}, {}):
        found = ask(Request((value,), {"fragment": True, **options}, library=question.library, formats=("svg",)))
        with suppress(CuteVizError):
            found.figure  # noqa: B018 (worked out here, so that what is wrong is raised here)
            break
    return found


def _facts(question: Question) -> dict[str, Any]:
    """The facts of an object; of a layout between powers of 2 the picture of what each bit of a coordinate does to its address."""
    from cute_viz.renderers.html import explored

    out: dict[str, Any] = {"facts": question.answer().facts}
    how = {name: word for name, word in question.options.items() if name in ("palette", "theme", "type")}
    with suppress(CuteVizError):  # of what has no such bits
        drawn = replace(question, options={**how, "view": "matrix"}).answer("svg", fragment=True)
        out["matrix"], _ = explored(drawn.figure, drawn.how)
    return out


def _copy(question: Question) -> dict[str, Any]:
    """The source and its options in the words of other places: `as` says which."""
    from cute_viz.live.question import WAYS

    way = question.more.get("as")
    if not isinstance(way, str) or way not in WAYS:
        raise UsageError(f"there is no copy format {str(way)[:40]!r}", hint=f"one of {', '.join(WAYS)}")
    return {"text": WAYS[way](question)}


def _of(module: str, name: str) -> Callable[[Question], dict[str, Any]]:
    """A question that a module of its own answers, which is read once somebody asks."""

    def ask_it(question: Question) -> dict[str, Any]:
        out: dict[str, Any] = getattr(import_module(f"cute_viz.live.{module}"), name)(question)
        return out

    return ask_it


def _compare(question: Question) -> dict[str, Any]:
    """What differs between the object and another: of `against`, a text of its own, or `named`, of the same file."""
    from cute_viz.renderers.html import explored
    from cute_viz.renderers.windows import narrowed

    more = question.more
    named, against = str(more.get("named") or "")[:_LONG], str(more.get("against") or "")
    if len(against) > LONGEST:
        raise UsageError(f"a source must be text of at most {LONGEST} characters")
    whole = replace(question, options={})
    other = replace(whole, name=named or None) if not against else replace(whole, source=against, name=named or None, path=None)
    pair = tuple(one.answer().obj for one in (whole, other))
    how = {"diff": True, "fragment": True, **({"bare": True} if question.options.get("bare") else {})}
    found = ask(replace(question.request(pair[0], how, ("svg",)), sources=pair))
    if width := float(question.options.get("width") or 0):  # of a phone
        page = {"fragment": True, "width": width}
        found = ask(Request((narrowed(found.figure, width),), page, library=question.library, formats=("svg",)))
    svg, panels = explored(found.figure, found.how)
    return {"svg": svg, "panels": panels, "words": "; ".join(found.figure.notes) or found.figure.title}


def _export(question: Question) -> dict[str, Any]:
    """The picture in a format, as text or in base64: `as` says which."""
    format_ = question.more.get("as")
    if format_ not in _EXPORTED:
        raise UsageError(f"there is no format {str(format_)[:40]!r} to save", hint=f"one of {', '.join(_EXPORTED)}")
    data = question.answer(format_).write(format_)
    if format_ == "pdf":
        return {"base64": b64encode(data).decode(), "mime": _EXPORTED[format_]}
    return {"text": data.decode(), "mime": _EXPORTED[format_]}


def _completed(question: Question) -> dict[str, Any]:
    """The atoms that a word may begin, as CuTe, PTX and the DSL call them."""
    found = question.library.search(question.source[:_LONG])
    return {"atoms": [{"name": line.name, "example": line.example, "ptx": line.short, "arch": line.arch} for line in found[:20]]}


_EXPORTED = {"svg": "image/svg+xml", "pdf": "application/pdf", "tikz": "application/x-tex", "html": "text/html"}
KINDS: dict[str, Callable[[Question], dict[str, Any]]] = {
    "draw": _draw,
    "explain": _explain,
    "facts": _facts,
    "objects": objects,
    "copy": _copy,
    "banks": _banks,
    "report": _of("kernel", "report"),
    "access": _of("kernel", "access"),
    "compare": _compare,
    "export": _export,
    "words": _completed,
}
