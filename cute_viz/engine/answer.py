"""What the engine answers: the objects of a request, its figure, facts, steps and notes, each worked out when it is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.common import outside_told
from cute_viz.algebra.composed import as_layout, is_layout
from cute_viz.algebra.inttuple import show
from cute_viz.engine import whole
from cute_viz.engine.evaluate import MOVES
from cute_viz.engine.reading import Reading, values_of
from cute_viz.engine.request import Request
from cute_viz.engine.subject import Subject, subject_of
from cute_viz.engine.whole import Row
from cute_viz.errors import CuteVizError, UsageError
from cute_viz.limits import LIMITS, raised
from cute_viz.options import known

if TYPE_CHECKING:
    from cute_viz.engine.explanation import Explanation
    from cute_viz.engine.kernel_rows import Report
    from cute_viz.engine.pages import DrawnObject
    from cute_viz.figures.model import Figure
    from cute_viz.renderers import Options


_FEW = 1024  # cells that always have room


def ask(request: Request) -> Answer:
    """The answer to a request; each part of it is worked out when it is asked for. Raises: CuteVizError for an unknown option,
    or a limit that cannot be set."""
    with raised(request.limits):
        for name in request.options:
            known(name)
    return Answer(request)


class Answer:
    """The answer to a request. What is wrong is raised, with its place, by the part that is asked for."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._outside: list[str] = []  # threads that their tilings do not have

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """What was read of the sources, in their order."""
        with self._limits():
            return tuple(Reading(source, self.request) for source in self.request.sources)

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """What the sources stand for, in their order."""
        with self._limits(), outside_told() as self._outside:
            return tuple(subject_of(reading, self.request) for reading in self.readings)

    @property
    def objects(self) -> dict[str, object]:
        """Every object of the sources by its name, "" for one without."""
        out: dict[str, Any] = {}
        with self._limits():
            for subject in self.subjects:
                out |= dict(subject.objects) if subject.file is None else whole.values(subject.file)
        return out

    @property
    def source_name(self) -> str | None:
        """What the first source is called: the text itself, a path, `standard input`; None for an object without a name."""
        reading = self.readings[0]
        return reading.name or reading.text or getattr(reading.source, "name", None)

    @property
    def rows(self) -> list[Row]:
        """A row for each definition of the one source, a whole file, that its address means."""
        with self._limits(), outside_told() as self._outside:
            return whole.rows(self.readings[0].listed)

    @property
    def told(self) -> tuple[str, ...]:
        """What was taken for granted in the values of the one source, a whole file, as far as they were read."""
        file = self.readings[0].file
        return tuple(self._outside) if file is None else (*file.given.notes, *self._outside)

    @property
    def kernel(self) -> Report | None:
        """As `report`, with the fixes."""
        return self.report()

    def report(self, fixes: bool = True) -> Report | None:
        """What the copies of the one source, a whole file, cost, with those of the files of its folder that it includes.

        fixes: search what would cost less, which takes several times as long. None for any other source, where one object is
        meant, and of a file without copies; a name may be that of a kernel, or of the function that launches it.
        """
        with self._limits():
            reading = self.readings[0]
            if reading.file is None:
                return None
            from cute_viz.engine.kernel import report_of

            found = report_of(reading.file, reading.query, "fixes" if fixes else "costs")
            if found is None or not fixes or reading.file.asks is None or not any(error.needs for _, error in found.unknown):
                return found
            from cute_viz.engine.kernel_asked import asked

            def again(let: Mapping[str, str]) -> Report | None:
                other = Reading(self.request.sources[0], replace(self.request, let={**let, **self.request.let}))
                return None if other.file is None else report_of(other.file, other.query, "costs")

            return replace(found, asked=asked(reading.file, found, again))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how the sources were read."""
        notes = [note for subject in self.subjects for note in subject.notes]
        return (*notes, *self._outside)

    @property
    def obj(self) -> Any:
        """The object of the one source. Raises: CuteVizError where it is a finished figure, which has no object."""
        (subject,) = self.subjects
        if subject.figure is not None:
            hint = "give the source that it was drawn from"
            raise CuteVizError("a figure's JSON does not contain the object", name=self.source_name, hint=hint)
        return subject.obj

    @property
    def bits(self) -> int | None:
        """The width of an element of the one source, where it is a tensor and its text says it."""
        (subject,) = self.subjects
        return subject.bits

    @property
    def printed(self) -> str:
        """The object of the one source as CuTe prints it, of the Python DSL as the DSL does; of a tensor its layout."""
        (subject,) = self.subjects
        self._compiled()
        obj = self.obj if subject.tensor is None else subject.tensor
        language = "" if subject.file is None else subject.file.language
        if language == "cpp":
            from cute_viz.source.cpp.elements import initialised

            obj = initialised(obj)
        return whole.printed_as(obj, language)

    @property
    def layout(self) -> Any:
        """The layout of the one source; a bare shape is the compact one. Raises: CuteVizError where it is not a layout."""
        found = as_layout(self.obj)
        if not is_layout(found):
            what = getattr(found, "name", "") or show(found).splitlines()[0]
            raise CuteVizError(f"{what} is not a layout", hint="example: (8,64):(64,1)")
        return found

    @cached_property
    def figure(self) -> Figure:
        """The picture of the sources: of several side by side, or what differs between two."""
        from cute_viz.engine.drawing import figure_of

        with self._limits():
            figure = figure_of(self.subjects, self.request)
            if self._outside:  # what does not exist is not drawn; read again, the error has its place
                figure_of(tuple(subject_of(reading, self.request) for reading in self.readings), self.request)
            return figure

    @cached_property
    def drawings(self) -> tuple[list[DrawnObject], list[CuteVizError]]:
        """The figures of all objects of the one source, a whole file, and the errors of those that cannot be drawn."""
        from cute_viz.engine.pages import drawings

        with self._limits():
            return drawings(self.readings[0])

    def write_each(self, format: str) -> Iterator[tuple[DrawnObject, bytes]]:
        """Every object of the one source, a whole file, with its picture in a format."""
        from cute_viz.engine.drawing import check_format, how_to_write, write

        with self._limits():
            check_format(format, self.request.options)
            how = how_to_write((Subject(),), self.request)
            for one in self.drawings[0]:
                yield one, write(one.figure, format, how)

    def write_page(self, format: str, **more: Any) -> bytes:
        """All objects of the one source, a whole file, on one page in a format; `more` as in `write`."""
        from cute_viz.engine.drawing import check_format, how_to_write, write
        from cute_viz.engine.pages import one_page

        with self._limits():
            check_format(format, self.request.options)
            title = self.request.options.get("title") or os.path.basename(self.source_name or "")
            figure = one_page(self.drawings[0], title)
            return write(figure, format, replace(how_to_write((Subject(),), self.request), **more))

    @cached_property
    def how(self) -> Options:
        """How the picture is written."""
        from cute_viz.engine.drawing import how_to_write

        with self._limits():
            return how_to_write(self.subjects, self.request)

    def write(self, format: str, **more: Any) -> bytes:
        """The picture in a format; `more` are fields of `renderers.Options`, over what the request says. Raises: CuteVizError
        for an unknown format, or one that does not use an option of the request."""
        from cute_viz.engine.drawing import check_format, write

        with self._limits():
            check_format(format, self.request.options)
            moves = self.how.animate and format == "svg"  # what moves as its spec says is a still in other formats
            return write(self.figure, format, replace(self.how, **{"animate": moves, **more}))

    def caption(self, format: str) -> tuple[str, str] | None:
        """For a picture without its surroundings, the suffix of the caption's file, and the caption; None for a whole page."""
        from cute_viz.engine.caption import caption_of

        with self._limits():
            return caption_of(self.figure, format, self.how)

    def hints(self, format: str) -> tuple[str, ...]:
        """What a page in a format does not show for lack of room, and which options would."""
        from cute_viz.renderers import FORMATS
        from cute_viz.renderers.page import page_of

        cells = sum(panel.rows * panel.cols for panel in self.figure.panels)
        if not FORMATS[format].pages or self.how.style == "cutlass" or cells < _FEW:
            return ()
        with self._limits():
            names = {place.detail.name for place in page_of(self.figure, self.how).panels}
        if "RASTER" in names:
            return ("`cell=1` shows every cell of an image",)
        return ("`labels=full`, a larger `cell=` or a slice labels every cell",) if "COLOUR" in names else ()

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts of the one object: sizes, layouts, types, where they come from, what a device has confirmed. Of a text that
        ends in a copy or an MMA the verdict on that. Raises: where CuTe refuses it, its condition."""
        from cute_viz.engine.explaining import facts_of

        if (said := self.verdict) is not None:
            return said
        with self._limits():
            (subject,) = self.subjects
            self._compiled()
            source = self.request.sources[0]
            return facts_of(self.obj, getattr(subject.obj, "name", "") or str(source), self.request.library)

    @cached_property
    def verdict(self) -> dict[str, Any] | None:
        """What is said of the copy or the MMA that a text ends in; None of any other, and where a name asks for an object.
        Raises: where CuTe refuses it, its condition."""
        reading = self.readings[0]
        if reading.text is None or reading.path is not None or reading.query is not None or not re.search(MOVES, reading.text):
            return None
        from cute_viz.engine.explaining import move_at_end

        found = self.explanation.verdict if move_at_end(reading.text) else None
        return {"accepted": True, **found.as_dict()} if found is not None else None

    def _compiled(self) -> None:
        """Refuse a named tensor that a statement of its text copies or multiplies as CuTe does not."""
        reading, request = self.readings[0], self.request
        name, text = reading.query, reading.text or ""
        if name is None or not name.isidentifier() or reading.is_spec or not re.search(MOVES, text):
            return
        from cute_viz.engine.explaining import check_moves

        try:
            check_moves(text, name, values_of(request.let, request, readable=True), request.library)
        except CuteVizError as error:
            raise error.named(reading.name) from None

    @cached_property
    def explanation(self) -> Explanation:
        """The steps of the operation that the one source, a text, is; of a swizzle what happens to the bits."""
        from cute_viz.engine.explaining import explain, explain_entry, move_at_end
        from cute_viz.engine.explanation import Explanation
        from cute_viz.engine.verifier import is_refusal, steps_of_refusal

        with self._limits():
            reading = self.readings[0]
            text = str(reading.source) if reading.text is None else reading.text
            if "threadIdx.x" in text and "threadIdx.x" not in self.request.let:  # of every thread the first one is told
                request = replace(self.request, let={**self.request.let, "threadIdx.x": "0"})
                reading = Reading(reading.source, request)
            request = reading.request
            try:
                if is_refusal(text):
                    return Explanation(None, steps_of_refusal(text, self.request.library))
                file = reading.file
                if file is None or (file.language == "python" and reading.query is None and move_at_end(text)):
                    return explain(text, values_of(request.let, request), request.library, reading.query)
                return explain_entry(file, reading.query)
            except CuteVizError as error:
                from cute_viz.engine.suggest import suggested

                raise suggested(error, text, request.library, request.files).named(reading.name) from None

    def _limits(self) -> AbstractContextManager[None]:
        cells = str(self.request.options.get("max_cells"))
        wanted = int(cells) if cells.isdecimal() and len(cells) < 10 else 0  # what is not a number is refused where it is read
        more = {"cells": wanted} if LIMITS["cells"].value < wanted <= LIMITS["cells"].most else {}
        return raised({**more, **self.request.limits})


def format_of(format: str | None, path: str | os.PathLike[str] | None) -> str:
    """The format that was asked for, or that the suffix of a path stands for; text without either. Raises: UsageError for a
    suffix of no format, and where the two contradict each other."""
    from cute_viz.renderers import FORMATS, format_named, format_of_suffix

    if format is not None:
        format_named(format)
    if path is None:
        return format or "text"
    if not os.fspath(path):
        raise UsageError("the path of the file is empty", hint="example: x.svg")
    implied = format_of_suffix(os.path.splitext(os.fspath(path))[1])
    if format is None and implied is None:
        suffixes = " ".join(suffix for row in FORMATS.values() for suffix in row.suffixes)
        suffix = os.path.splitext(os.fspath(path))[1]
        unknown = f"unknown file suffix {suffix!r}" if suffix else f"{os.fspath(path)!r} has no suffix"
        raise UsageError(unknown, hint=f"give `format=`, or one of {suffixes}")
    if format and implied and format != implied:
        raise UsageError(f"`format={format}` does not match the suffix of {os.fspath(path)}")
    return format or implied or "text"
