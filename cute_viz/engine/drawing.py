"""Subjects and options -> the figure: drawn, joined, cropped, with the note of the device that confirmed it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, as_layout, swizzle_of
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.layout import Layout
from cute_viz.engine.request import Request
from cute_viz.engine.subject import Subject, subject_of
from cute_viz.errors import CuteVizError, FigureError, UsageError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import NOT_RUN, options_of
from cute_viz.options import OPTIONS, of_level
from cute_viz.options.words import read, read_all
from cute_viz.records import pattern
from cute_viz.renderers import FORMATS, Options, format_named, render
from cute_viz.renderers.palette import palette

_OF_OBJECTS = tuple(option.name for option in of_level("object") if option.name not in ("title", "max_cells"))


def options_for(subject: Subject, request: Request) -> dict[str, Any]:
    """The options of a subject: those of the request, over those of its spec."""
    out: dict[str, Any] = {} if subject.figure is None else dict(subject.figure.page)
    if subject.tile and request.options.get("view") in (None, "tv"):
        out |= read_all({"tile": subject.tile})
    if subject.spec is not None:
        for key, word in subject.spec.figure.items():
            try:
                out |= read_all({key: word})
            except CuteVizError as error:
                raise subject.spec.locate(error, f"figure.{key}") from None
        spec = subject.spec
        other = any(request.options.get(name) is not None for name in ("follow", "view"))
        title = None if other else spec.title  # of all that it is, in the picture that it asks for
        out |= {key: word for key, word in (("title", title), ("palette", spec.palette)) if word is not None}
        out |= {"style": spec.style} if spec.style != "default" else {}
    return out | read_all(request.options)


def figure_of(subjects: Sequence[Subject], request: Request) -> Figure:
    """The figure of all subjects: of several side by side, or what differs between two."""
    _check_together(subjects, request)
    given = [options_for(subject, request) for subject in subjects]
    figures = [_drawn(subject, words, subjects, request) for subject, words in zip(subjects, given, strict=True)]
    figure, words = figures[0], given[0]
    if len(figures) > 1:
        own = [{name: word for name, word in mine.items() if request.options.get(name) is None} for mine in given]
        figures = [_cut(one, mine) for one, mine in zip(figures, own, strict=True)]  # as its spec says
        from cute_viz.figures.compare import difference, side_by_side

        words = read_all(request.options)
        title = words.get("title")
        figure = difference(figures[0], figures[1], title) if words.get("diff") else side_by_side(figures, title)
    elif subjects[0].spec is not None:
        asked = {option.name for option in of_level("page")} & words.keys()
        page = {name: words[name] for name in sorted(asked) if request.options.get(name) is None}
        figure = replace(figure, page=page) if page else figure
    return _cut(figure, words)


def how_to_write(subjects: Sequence[Subject], request: Request) -> Options:
    """How the figure of the subjects is written: the page options, those of the first spec that has one under the request's."""
    given = [options_for(subject, request) for subject in subjects]
    page = {
        option.name: next(words[option.name] for words in given if option.name in words)
        for option in of_level("page")
        if any(option.name in words for words in given)
    }
    palette(page.get("palette"))  # a wrong name is an error here, where its place is known
    return Options(**page, full=any(words.get("labels", "auto") not in ("auto", "none") for words in given))


def check_format(format: str, options: Mapping[str, object]) -> None:
    """Refuse options that a format does not use: whoever gave them expects to see them."""
    format_named(format)
    pages = [name for name, row in FORMATS.items() if row.pages]
    fragments = [name for name, row in FORMATS.items() if row.fragments]
    for option, formats in (
        ("fragment", fragments),
        ("theme", pages),
        ("width", pages),
        ("cell", pages),
        ("letters", pages),
        ("animate", ["svg"]),
    ):
        if options.get(option) not in (None, False) and format not in formats:
            raise UsageError(f"`{option}=` applies to {', '.join(formats)}, not to {format}")
    if options.get("target") not in (None, "screen") and (options["target"] == "terminal") != (format == "text"):
        goes = "text" if options["target"] == "terminal" else ", ".join(pages)
        raise UsageError(f"`target={options['target']}` applies to {goes}, not to {format}")
    if options.get("bare") and (options.get("style") == "cutlass" or format == "json"):
        other = "style=cutlass" if format != "json" else "format=json"
        raise UsageError(f"`bare=` cannot be combined with `{other}`, which has its own surroundings")
    if options.get("style") == "cutlass" and options.get("title") is not None:
        raise UsageError("CuTe's printers write no title: leave out `title=`, or `style=cutlass`")


def write(figure: Figure, format: str, how: Options) -> bytes:
    """A figure in a format."""
    return render(figure, format, how)


def _cut(figure: Figure, words: Mapping[str, Any]) -> Figure:
    """The figure without a title, cropped, then folded, as was asked for."""
    if words.get("title") == "":
        figure = replace(figure, title="")
    if words.get("note"):
        from cute_viz.figures.noted import noted as with_notes

        figure = with_notes(replace(figure, series=()), words["note"])
    if words.get("key") and not words.get("blank"):
        raise UsageError("`key=` applies to `blank=`", hint="example: `blank=offsets` `key=`")
    return _blanked(_trimmed(figure, words), words)


def _blanked(figure: Figure, words: Mapping[str, Any]) -> Figure:
    """The figure as an exercise, where one is asked for."""
    if not words.get("blank"):
        return figure
    from cute_viz.figures.blanked import blanked

    drawn = blanked(figure, words["blank"], bool(words.get("key")))
    return replace(drawn, title=words["title"]) if words.get("title") is not None else drawn


def _trimmed(figure: Figure, words: Mapping[str, Any]) -> Figure:
    """The figure cropped, then folded."""
    if not words.get("crop") and not words.get("fold"):
        return figure
    if figure.notes_on:
        raise FigureError("`note=` cannot be combined with `crop=` or `fold=`, which move its cells", hint="draw a slice")
    if figure.flow:
        raise FigureError(f"`{'crop' if words.get('crop') else 'fold'}=` does not apply to a board of panels", hint="draw a slice")
    from cute_viz.figures import trim

    figure = replace(figure, series=())
    figure = trim.crop(figure, *words["crop"]) if words.get("crop") else figure
    return trim.fold(figure, words["fold"]) if words.get("fold") else figure


def _check_together(subjects: Sequence[Subject], request: Request) -> None:
    """Refuse colours and highlights beside `diff`, whose own colours they would be; `thread` may say whose part of a tensor."""
    options = request.options
    if not subjects:
        raise UsageError("there is nothing to draw", hint="give a source")
    if not options.get("diff"):
        return
    if len(subjects) != 2:
        raise UsageError(f"`diff=` compares two sources, not {len(subjects)}")
    highlights = [] if options.get("tensor") is not None else ["thread"]
    for name in ("color_by", *highlights, "warp", "value"):
        if options.get(name) is not None:
            raise UsageError(f"`{name}=` cannot be combined with `diff=`, which colors the cells that differ")


def _drawn(subject: Subject, words: Mapping[str, Any], subjects: Sequence[Subject], request: Request) -> Figure:
    """The figure of one of the subjects, its options read."""
    one_of_several = len(subjects) > 1
    words = {name: word for name, word in words.items() if not (one_of_several and name == "title")}
    if subject.figure is not None:
        return _finished(subject.figure, words)
    if (
        words.get("view") == "access"
        and words.get("by") is not None
        and isinstance(as_layout(subject.obj), (Layout, ComposedLayout))
    ):
        words = {**words, "by": _accessed(subject, words, request)}
    if isinstance(words.get("tensor"), str):
        words = {**words, "tensor": _tensor(words["tensor"], request)}
    heat = all(FORMATS[name].pages for name in request.formats if name in FORMATS)
    if subject.call is not None and not one_of_several and (taught := _taught(subject.call, words, request)) is not None:
        return taught
    try:
        beside = _code_of(subjects) if one_of_several and words.get("color_by") is None else None
        wave = subject.wave or request.library.together
        series = not one_of_several and bool(request.formats) and set(request.formats) <= {"html"}
        options = options_of(words, heat)
        if options.view == "banks" and options.bits is None:
            options = replace(options, bits=subject.bits)
        if options.view == "zoom" and options.tile is None and subject.file is not None:
            from cute_viz.engine.subject import launched

            tile, grid, cluster, k = launched(subject.file)
            options = replace(options, tile=tile, grid=grid, cluster=options.cluster or cluster, k=k)
        if options.view == "pipeline" and subject.file is not None:
            from cute_viz.engine.subject import tiles_of_k

            if k := tiles_of_k(subject.file):
                options = replace(options, schedule=f"tiles={k} {options.schedule or ''}")
        figure = build(subject.obj, replace(options, beside=beside, wave=wave, series=series))
        if NOT_RUN in figure.description or any(NOT_RUN in note for note in figure.notes):
            from cute_viz.check.digest import owned_up  # a kept report may say otherwise

            figure = owned_up(figure, request.library)
        if subject.spec is not None and words.get("diff") and len(subject.spec.beside) != 1 and not one_of_several:
            raise FigureError("`diff=` compares the object with one other, `beside`", hint="beside: {after: (8,8):(1,8)}")
        if subject.spec is not None and subject.spec.beside:
            return _beside(figure, subject.spec.beside, words, heat)
    except CuteVizError as error:
        if subject.spec is None or any(request.options.get(name) is not None for name in OPTIONS):
            raise  # the mistake may be the request's
        raise subject.spec.locate(error, "figure") from None
    if subject.spec is None and not getattr(subject.obj, "name", ""):
        return _called(figure, request.sources[0]) if words.get("title") is None and not one_of_several else figure
    from cute_viz.check.digest import noted  # an atom: a kept report may speak of it

    return noted(figure, subject.obj, request.library)


_NAMED = pattern(r"\s*((?:\w+::)*Layout_\w+(?:<[\w:, ]*>)?)\s*(?:\{\}|\(\))?\s*", re.ASCII)


def _called(figure: Figure, source: object) -> Figure:
    """The figure of a layout that CUTLASS has a name for, such as `GMMA::Layout_K_SW128_Atom<half_t>`, the name in its title."""
    found = _NAMED.fullmatch(source) if isinstance(source, str) else None
    if found is None or not figure.title:
        return figure
    title = f"{found[1]}: {figure.title}"
    return replace(figure, title=title, description=title + figure.description.removeprefix(figure.title))


def _code_of(subjects: Sequence[Subject]) -> object:
    """What the colours of several grids follow: the one swizzle among them, so that the XOR shows, or else the first layout."""
    found = {s.obj.outer for s in subjects if swizzle_of(s.obj) is not None}
    first = subjects[0].obj
    return found.pop() if len(found) == 1 else first if isinstance(first, Layout) and not found else None


def _taught(call: object, words: Mapping[str, object], request: Request) -> Figure | None:
    """The picture of an operation; None where text is CuTe's print, or where its result alone can be drawn."""
    printed = request.formats == ("text",) and words.get("target") != "terminal"
    if printed or words.get("style") == "cutlass" or words.get("labels") == "full":
        return None
    try:
        return build(call, options_of(words))
    except CuteVizError:
        return None


def _beside(figure: Figure, others: Sequence[tuple[str, Any]], words: Mapping[str, Any], heat: bool) -> Figure:
    """The figure of a spec and those of its further objects, each under its caption."""
    from cute_viz.figures.compare import difference, side_by_side

    own = options_of({name: word for name, word in words.items() if name != "title"}, heat)
    first = replace(figure, source=figure.source.partition(", Thr")[0])
    figures = [first, *(replace(build(obj, own), source=caption) for caption, obj in others)]
    if words.get("diff") and len(figures) == 2:
        return difference(figures[0], figures[1], words.get("title"))
    return side_by_side(figures, words.get("title"))


def _accessed(subject: Subject, words: Mapping[str, Any], request: Request) -> object:
    """What the option `by` accesses of the subject, for its picture."""
    from cute_viz.analysis.patterns import is_named
    from cute_viz.engine.accessing import Accessor, accessed

    by = words["by"]
    if isinstance(by, str) and not is_named(by):
        by = _tensor(by, request)
    bits = words.get("type") or (subject.bits if not isinstance(by, TiledCopy) else None)
    return accessed(as_layout(subject.obj), Accessor(by, bits, operand=words.get("operand")))


def _tensor(text: str, request: Request) -> object:
    """The object of the option `tensor`; the names of the request are its own, too."""
    plain = replace(request, options={}, name=None, dialect="auto")
    try:
        found = subject_of(text, plain)
    except CuteVizError as error:
        raise error.named("`tensor=`") from None
    if found.figure is not None:
        raise CuteVizError("a figure's JSON does not contain the object", name="`tensor=`")
    return found.obj


def _finished(figure: Figure, words: Mapping[str, object]) -> Figure:
    """A figure that was drawn before: only its title can change."""
    if given := [name for name in _OF_OBJECTS if words.get(name) is not None]:
        raise CuteVizError(
            f"{', '.join(f'`{name}=`' for name in given)} cannot be applied to a finished figure",
            hint="give the source that it was drawn from",
        )
    title = words.get("title")
    return figure if title is None else replace(figure, title=read("title", title))
