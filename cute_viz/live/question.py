"""One question, checked: its source and options, the engine's answer to it, and the definitions of its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cute_viz.engine import Answer, Request, Source, ask
from cute_viz.errors import CuteVizError, boundary
from cute_viz.spec import PACKAGED, Library


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

    def answer(self, *formats: str, **options: Any) -> Answer:
        """The engine's answer to the question's source; `options` beside its own."""
        given = {**self.options, **options}
        source: Any = self.source if self.path is None else self.path if self.is_spec else Source(self.source, self.path)
        return ask(Request((source,), given, self.let, self.name, self.dialect, self.library, {}, formats, files=self.is_spec))

    @property
    def is_spec(self) -> bool:
        """Whether the source is a followed file of specs."""
        return self.path is not None and self.path.endswith((".yaml", ".yml"))

    def reads(self, source: str) -> bool:
        """Whether another source can be read in this one's place."""
        try:
            with boundary():
                request = Request((source,), {}, self.let, None, self.dialect, self.library)
                return ask(request).subjects is not None
        except CuteVizError:
            return False


def objects(question: Question) -> list[dict[str, Any]]:
    """A row for each definition of a whole file; none of an expression.

    >>> objects(Question("objects", "(4,8)"))
    []
    """
    if "\n" not in question.source.strip():
        return []
    try:
        if question.is_spec:
            return _specs(question)
        text = Source(question.source, question.path or "")
        found = ask(Request((text,), {}, question.let, None, question.dialect, question.library))
        return [row.as_dict() for row in found.rows]
    except CuteVizError:
        return []


def _specs(question: Question) -> list[dict[str, Any]]:
    """The specs of a file that has several."""
    from cute_viz.spec.build import Builder

    names = [name for name in Builder(question.source, question.path, question.library).parts() if name]
    return [{"name": name, "path": name, "line": "", "kind": "spec", "value": "", "error": None} for name in names]
