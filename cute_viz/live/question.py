"""One question, checked: its source and options, the engine's answer to it, and the definitions of its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cute_viz.engine import Answer, Folder, Request, Source, ask
from cute_viz.errors import CuteVizError, boundary
from cute_viz.source.address import Build, address_of
from cute_viz.spec import PACKAGED, Library
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz import Figure


@dataclass(frozen=True, slots=True)
class Question:
    """One question, checked."""

    ask: str
    source: str
    options: dict[str, Any] = field(default_factory=dict)
    let: dict[str, str] = field(default_factory=dict)
    name: str | None = None
    dialect: str = "auto"
    more: dict[str, Any] = field(default_factory=dict)
    library: Library = PACKAGED
    path: str | None = None
    folder: Folder | None = None
    launch: str = ""
    build: Build | None = None

    @property
    def door(self) -> str:
        """Who asks, as errors spell options: `page`, or `tool` of an assistant."""
        return "tool" if self.ask.startswith("tool.") else "page"

    def answer(self, *formats: str, **options: Any) -> Answer:
        """The engine's answer to the question's source; `options` beside its own."""
        return ask(self.request(self._source, {**self.options, **options}, formats, name=self.name, dialect=self.dialect))

    def request(
        self,
        source: Any,
        options: Mapping[str, Any] = {},
        formats: tuple[str, ...] = (),
        name: str | None = None,
        dialect: str = "auto",
    ) -> Request:
        """The request for a source of the question's, with its values, its library and its folder; a file's, with its project."""
        folder = self.folder
        if folder is None and self.path is not None:
            folder = Folder(os.path.dirname(self.path), os.path.dirname(self.path))
        asked = Request((source,), options, self.let, name, dialect, self.library, {}, formats, folder=folder, launch=self.launch)
        return asked if self.path is None else replace(asked, build=self.build, configured=True)

    def pictured(self, figure: Figure) -> dict[str, Any]:
        """The picture of a finished figure, in the colors and the width of the question, and what a reader can ask of it."""
        from cute_viz.renderers.html import explored
        from cute_viz.renderers.said import described
        from cute_viz.renderers.windows import narrowed

        how = {name: word for name, word in self.options.items() if name in ("palette", "theme", "width", "cell")}
        figure = narrowed(figure, float(self.options.get("width") or 0))
        drawn = ask(Request((figure,), {**how, "fragment": True}, library=self.library, formats=("svg",)))
        svg, panels = explored(drawn.figure, drawn.how)
        words = {"title": figure.title, "description": described(figure, drawn.how).description, "notes": list(figure.notes)}
        return {"svg": svg, "panels": panels, **words, "labels": []}

    @property
    def _source(self) -> Any:
        if self.path is None:
            return self.source
        return os.path.basename(self.path) if self.is_spec else Source(self.source, self.path)

    @property
    def is_spec(self) -> bool:
        """Whether the source is a followed file of specs."""
        return self.path is not None and self.path.endswith((".yaml", ".yml"))

    def reads(self, source: str) -> bool:
        """Whether another source can be read in this one's place."""
        try:
            with boundary():
                return ask(self.request(source, dialect=self.dialect)).subjects is not None
        except CuteVizError:
            return False


def objects(question: Question) -> dict[str, Any]:
    """A row for each definition of a whole file, none of an expression; notes of what was taken for granted; `compiled` or not."""
    text = question.source.strip()
    if "\n" not in text and (question.folder is None or address_of(text) is None):
        return {"objects": []}
    try:
        if question.is_spec:
            return {"objects": _specs(question)}
        source = text if "\n" not in text else Source(question.source, question.path or "")
        found = ask(question.request(source, dialect=question.dialect))
        out: dict[str, Any] = {"objects": [row.as_dict() for row in found.rows]}
        if (file := found.readings[0].file) is not None and file.compiled:
            out["compiled"] = True
    except CuteVizError:
        return {"objects": []}
    return out | ({"notes": [spelled(note, question.door) for note in found.told]} if found.told else {})


def _specs(question: Question) -> list[dict[str, Any]]:
    """The specs of a file that has several."""
    from cute_viz.spec.build import Builder

    names = [name for name in Builder(question.source, question.path, question.library).parts() if name]
    return [{"name": name, "path": name, "line": "", "kind": "spec", "value": "", "error": None} for name in names]
