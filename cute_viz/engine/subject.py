"""A source -> its subject: the object, the spec or the finished figure that it stands for, and what a reader should know."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cute_viz.engine.beside import includes, with_includes
from cute_viz.engine.request import Request, Source
from cute_viz.engine.whole import file_of, meant, value_of
from cute_viz.errors import CuteVizError, FigureError, Span, UsageError
from cute_viz.files import read_text
from cute_viz.notation import DIALECTS, is_triton

if TYPE_CHECKING:
    from cute_viz.figures.model import Figure
    from cute_viz.notation.program import Document
    from cute_viz.source.model import SourceFile
    from cute_viz.spec.build import Spec

_CODE = "cuh?|cpp|cc|h|hpp|cxx|inl|py|ipynb|mlir|txt|log|out|md"  # the suffixes of files with layouts in them
_TAUGHT = (
    *(f"{kind}_{what}" for kind in ("logical", "zipped", "tiled", "flat") for what in ("divide", "product")),
    *("blocked_product", "raked_product", "composition", "complement", "coalesce", "right_inverse", "left_inverse"),
    *("slice", "local_tile", "local_partition"),
)  # operations whose picture is that of what went in and what came out
_TAUGHT_IN = re.compile(rf"{'|'.join(_TAUGHT)}|\bo\b|[∘⊘⊗]|_\s*[,)]")
_OF_RESULTS = {"view", "tile", "color_by", "type", "tensor", "diff", "thread", "warp", "value", "operand"}
_NEAR = 0.75  # how like the name of a spec a misspelt one is


@dataclass(frozen=True, slots=True)
class Subject:
    """What one source stands for.

    obj: the object; None for a finished figure. name: what it is called in its text or file, or "". spec: where it comes from one.
    figure: a picture that was drawn before.
    file: the whole file that it stands in. notes: what a reader should know of the reading. objects: all of the source by name,
    of a file what was evaluated.
    call: the operation that gave the object, where its picture is that of the operation unless something else is asked for.
    tile: the tile that an encoding of threads and values covers, `8x128`, where its text tells it. wave: how many of its threads
    run together, and what they are called. tensor: what the object is the layout of, its offset included, where a text made one.
    """

    obj: Any = None
    name: str = ""
    spec: Spec | None = None
    figure: Figure | None = None
    file: SourceFile | None = None
    notes: tuple[str, ...] = ()
    objects: tuple[tuple[str, Any], ...] = ()
    call: Any = None
    tile: str = ""
    wave: tuple[int, str] | None = None
    tensor: Any = None


def subject_of(source: Any, request: Request) -> Subject:
    """The subject of a source.

    Raises: CuteVizError for a text that cannot be read, with the place, and for a name that means nothing, with those like it.

    >>> str(subject_of("make_layout(make_shape(4, 8))", Request(())).obj)
    '(4,8):(_1,4)'
    """
    if request.dialect not in DIALECTS:
        raise CuteVizError(f"invalid value {request.dialect!r} for `dialect=`", hint=f"one of {', '.join(DIALECTS)}")
    if type(source).__name__ == "Figure":  # its module is imported already, then
        return Subject(figure=source)
    if type(source).__name__ == "Spec":
        return Subject(source.obj, source.name, source, objects=((source.name, source.obj),))
    if isinstance(source, Source):
        return _of_text(source.text, source.name, request)
    if not isinstance(source, str):
        if type(source).__module__.startswith("cute_viz.") or type(source) in (int, tuple):
            return Subject(source, objects=(("", source),))
        source = str(source)  # such as the layouts, TiledCopy and TiledMMA of CUTLASS's Python DSL, which print as CuTe does
    if request.files and source.endswith(".json"):
        return Subject(figure=_figure(read_text(source), source))
    if request.files and source.endswith((".yaml", ".yml")):
        return _of_spec(source, request.name, request)
    word = source.strip()
    if word.isidentifier() and (path := request.library.spec_file(word)):
        return _of_spec(path, request.name or word, request)
    if request.files and is_file(source):
        return _of_path(source, request)
    return _of_text(source, None, request)


def _of_path(path: str, request: Request) -> Subject:
    """What a file stands for; where that depends on a file that it includes, with the files of its folder.

    Raises: what is wrong with the file alone.
    """
    text = read_text(path)
    try:
        return _of_text(text, path, request)
    except CuteVizError:
        whole = with_includes(path) if request.name is not None and includes(text) else text
        if whole == text:
            raise
        with suppress(CuteVizError):
            return _of_text(whole, path, request)
        raise


def file_in(source: Any, request: Request) -> SourceFile:
    """The whole file that a source is: a path, a text.

    A print and a program of expressions have an entry for each of their objects. Raises: CuteVizError for a text that has none.
    """
    if isinstance(source, Source):
        text, name = source.text, source.name
    elif is_file(source):
        text, name = read_text(source), source
    else:
        said = "this is a folder" if os.path.isdir(source) else "there is no such file"
        raise CuteVizError(said, name=source, hint="give a file of C++ or Python, or - for standard input")
    try:
        found = file_of(text, name, request) or _lines_of(text, name, request)
    except CuteVizError as error:
        raise error.named(name) from None
    if not found.entries:
        raise CuteVizError("this is not a file with definitions, and nothing is printed in it", name=name, hint="such as kernel.cu")
    return found


def _lines_of(text: str, name: str | None, request: Request) -> SourceFile:
    """What a text that is no file of a language prints or defines line by line, as it is read without a list."""
    from cute_viz.source.model import Entry, Given, SourceFile
    from cute_viz.source.prints import read
    from cute_viz.source.sniff import sniff

    if sniff(text, name or "") == "print" or not re.search(r"[\w\s]=|[a-z]\w*\(", text):
        return read(text, Given(request.let, request.library.resolve))
    document = request.library.read(text, values_of(request.let, request), dialect=request.dialect)
    entries = []
    for key, value in [*document.values.items(), *document.failures.items()]:
        place = re.search(rf"(?m)^.*?\b{re.escape(key)}[ \t]*=", text) if key else None
        start = place.start() if place is not None else 0
        read_it = partial(_given_back, value)
        entries.append(Entry(key or "object1", (), Span(start, start + 1), text.count("\n", 0, start) + 1, read_it))
    entries.sort(key=lambda entry: entry.line)
    return SourceFile(text, tuple(entries))


def _given_back(value: Any) -> Any:
    """A value. Raises: the error of what could not be read."""
    if isinstance(value, CuteVizError):
        raise value
    return value


def whole_file(source: Any, request: Request) -> SourceFile | None:
    """The whole file that a source is; None for an expression, a print, a picture.

    >>> whole_file("(4,8):(8,1)", Request(())) is None
    True
    """
    if isinstance(source, Source):
        text, name = source.text, source.name
    elif isinstance(source, str) and is_file(source) and not source.endswith((".yaml", ".yml", ".json")):
        text, name = read_text(source), source
    else:
        return None
    try:
        return file_of(text, name, request)
    except CuteVizError as error:
        raise error.named(name) from None


def values_of(let: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """The values that a request gives to names, each text an expression that may use those before it."""
    out: dict[str, Any] = {}
    for name, value in let.items():
        try:
            out[name] = request.library.read(value, out).pick() if isinstance(value, str) else value
        except CuteVizError as error:
            raise error.but(name=f"`let={name}`") from None
    return out


def _of_spec(path: str, name: str | None, request: Request) -> Subject:
    from cute_viz.spec.build import spec_in

    spec = spec_in(path, name, request.library)
    return Subject(spec.obj, spec.name, spec, objects=((spec.name, spec.obj),))


def is_file(source: str) -> bool:
    """Whether a word is the path of a file: one that exists, be it a pipe (`<(...)`), or is called as source code and logs are.

    >>> is_file("kernel.cu"), is_file("(4,8):(8,1)")
    (True, False)
    """
    return _exists(source) or re.fullmatch(rf"[^\s(){{}}<>;=,]+\.({_CODE})", source) is not None


def _exists(source: str) -> bool:
    if len(source) > 4096 or "\n" in source or "\0" in source or not source.strip("0123456789_:,.() "):
        return False  # an expression, whatever the names of files
    if os.path.isdir(source):
        hint = "name a file in it; 'cute-viz gallery' draws a folder of specs"
        raise CuteVizError("this is a folder", name=source, hint=hint)
    return os.path.exists(source)


def _of_text(text: str, name: str | None, request: Request) -> Subject:
    if text.lstrip().startswith("{") and '"' in text[:200] and not _is_notebook(text):
        return Subject(figure=_figure(text, name or "the JSON"))
    if request.strict and not text.strip():
        raise CuteVizError(
            "there is nothing to draw", hint="write an expression such as (4,8):(8,1), or the name of a spec", name=name
        )
    if request.options.get("view") == "operation":
        return _of_operation(text, name, request)
    try:
        if (file := file_of(text, name, request)) is not None:
            return _of_file(file, request)
        document = request.library.read(text, values_of(request.let, request), dialect=request.dialect, free=True)
        if request.strict and "\n" in text.strip() and (problem := document.problem()):
            raise problem  # of a pasted block a line that cannot be read may be noise; in a document it is a mistake
        value = document.pick(request.name, drawable=True)
    except CuteVizError as error:
        near = _near_specs(text, request) if text.isidentifier() else []
        if near:
            hint = f"did you mean the spec {' or '.join(near)}?" + (f" or {error.hint}" if error.hint else "")
            error = error.but(hint=hint)
        raise error.named(name) from None
    own = next((key for key, other in document.values.items() if other is value), "")
    notes, objects = _notes(document, value, own, text, request), tuple(document.values.items())
    if is_triton(text):
        from cute_viz.notation.triton import tile_of

        tile, lanes = tile_of(text, request.library.shape, own)
        return Subject(value, own, notes=notes, objects=objects, tile=tile, wave=(lanes, "warp") if lanes else None)
    tensor = document.tensors.get(own)
    return Subject(value, own, notes=notes, objects=objects, call=_call(text, value, request), tensor=tensor)


def _is_notebook(text: str) -> bool:
    from cute_viz.source.notebook import is_notebook

    return is_notebook(text)


def _call(text: str, value: Any, request: Request) -> Any:
    """The operation that the last statement of a text is, where it teaches more than its result alone; else None."""
    given = {name for name, word in request.options.items() if word is not None}
    if request.name is not None or request.dialect != "auto" or given & _OF_RESULTS or not _TAUGHT_IN.search(text):
        return None
    if "ArithTuple" in text:  # `ArithTuple(4,8) o L` is the print of one tensor
        return None
    from cute_viz.algebra import ops
    from cute_viz.algebra.call import Call
    from cute_viz.algebra.composed import ComposedLayout
    from cute_viz.algebra.layout import Layout
    from cute_viz.notation import read_call

    if not isinstance(value, (Layout, ComposedLayout)):
        return None
    try:
        operation, operands, template = read_call(text, values_of(request.let, request), request.library.resolve)
        taught = bool(operation) and ops.find(operation).name in _TAUGHT
    except CuteVizError:
        return None
    return Call(operation, tuple(operands), template) if taught else None


def _of_file(file: SourceFile, request: Request) -> Subject:
    """The entry of a whole file that is meant."""
    from cute_viz.source.model import matching

    entry, value = meant(file, request.name, request.let)
    read = [(other.path, value_of(other)) for other in file.entries] if request.strict else [(entry.path, value)]
    notes: tuple[str, ...] = ()
    if request.name is not None and len(same := matching(file.entries, request.name)) > 1:
        others = ", ".join(other.place for other in same if other.place != entry.place)
        notes = (f"{entry.path} of line {entry.place}; others of this name are on line {others}",)
    if request.name is None and len(file.entries) > 1:
        which = f"{entry.path} (line {entry.place})"
        notes = (f"using {which} of {len(file.entries)} definitions; `name=` picks another, 'cute-viz list' shows all",)
    return Subject(value, entry.name, file=file, notes=(*notes, *file.notes), objects=tuple(read))


def _of_operation(text: str, name: str | None, request: Request) -> Subject:
    """The operation that a text is, with its operands, not carried out."""
    from cute_viz.algebra.call import Call
    from cute_viz.notation import read_call

    if request.name is not None or request.dialect != "auto":
        option = "name" if request.name is not None else "dialect"
        raise UsageError(f"`{option}=` cannot be combined with `view=operation`, which draws the last operation of its text")
    try:
        operation, operands, template = read_call(text, values_of(request.let, request), request.library.resolve)
    except CuteVizError as error:
        raise error.named(name) from None
    if not operation:
        raise FigureError(f"{text!r} is not an operation", hint="such as logical_divide((8,6), (4,3)), or A o B")
    call = Call(operation, tuple(operands), template)
    return Subject(call, objects=(("", call),))


def _near_specs(name: str, request: Request) -> list[str]:
    """The names of specs of the libraries that are like a name."""
    from difflib import get_close_matches

    return get_close_matches(name, list(request.library.spec_names()), n=2, cutoff=_NEAR)


def _notes(document: Document, value: Any, own: str, text: str, request: Request) -> tuple[str, ...]:
    """Of a block: which of its objects is drawn, and which lines were not read."""
    if request.name is not None or "\n" not in text.strip():
        return ("only the last statement after ';' is drawn; was ':' meant?",) if document.passed else ()
    others = [key for key, other in document.values.items() if key and other is not value and not isinstance(other, int)]
    out = []
    if others:
        which = f", {own}" if own else ""
        out.append(f"using the last of {len(others) + 1} objects{which}; `name=` picks {', '.join(others[-8:])}")
    out += [f"{key} was not read: {error.message}" for key, error in list(document.failures.items())[:4]]
    return tuple(out)


def _figure(text: str, name: str) -> Figure:
    from cute_viz.figures.load import from_json

    try:
        return from_json(text)
    except CuteVizError as error:
        raise error.but(name=name) from None
