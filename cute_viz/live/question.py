"""One question, checked: its source and options, the engine's answer to it, and the definitions of its file."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cute_viz.engine import Answer, Folder, Request, Source, ask
from cute_viz.errors import CuteVizError, boundary
from cute_viz.source.address import Build, address_of
from cute_viz.spec import PACKAGED, Library
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz import Figure


def command(question: Question) -> str:
    """The command line that draws the same."""
    pasted = "\n" in question.source and not question.path
    words = ["cute-viz", "render", "-" if pasted else question.path or question.source]
    for name, value in question.options.items():
        flag = spelled(f"`{name}=`", "cli")
        words += [flag] if value is True or value == "true" else [flag, str(value)]
    for name, value in question.library.words.items():
        words += [f"--{name}", value]
    for name, value in question.let.items():
        words += ["--let", f"{name}={value}"]
    words += ["--name", question.name] if question.name else []
    words += ["--launch", question.launch] if question.launch else []
    if question.build is not None:
        given = {"--flags": question.build.flags, "--build": question.build.folder, "--through": question.build.through}
        words += [word for flag, value in given.items() if value is not None for word in (flag, value)]
    words += ["--dialect", question.dialect] if question.dialect != "auto" else []
    line = shlex.join(words)
    return line if not pasted else f"{line} <<'LAYOUTS'\n{question.source.rstrip()}\nLAYOUTS"


def spec(question: Question) -> str:
    """A spec in YAML that draws the same. Raises: CuteVizError where a spec cannot have what the question has."""
    source = question.source.strip()
    if question.path:
        source = os.path.basename(question.path) + (f"::{question.name}" if question.name else "")
    elif question.name:
        hint = f"save the text as kernel.cu, and write layout: kernel.cu::{question.name}"
        raise CuteVizError("a spec selects a name only from a file", hint=hint)
    if question.build is not None:
        raise CuteVizError("a spec has no `flags=`", hint="a spec reads a file as written: save the value, or copy the command")
    if question.launch:
        raise CuteVizError("a spec has no `launch=`", hint="name the caller: kernel.cu::CALLER::KERNEL::NAME")
    own = {name: str(question.options[name]) for name in ("title", "palette") if name in question.options}
    lines = [f"layout: {_scalar(source)}"]
    lines += [f"{name}: {_scalar(word)}" for name, word in (own | question.library.words).items()]
    figure = {name: value for name, value in question.options.items() if name not in own}
    for part, words in (("figure", figure), ("let", question.let)):
        lines += [f"{part}:"] if words else []
        lines += [f"  {name}: {'true' if value is True else _scalar(str(value))}" for name, value in words.items()]
    return "\n".join(lines) + "\n"


def _scalar(text: str) -> str:
    """A text as a scalar of YAML: as it is where it means itself, a block of several lines, or quoted."""
    if "\n" in text:
        return "|\n" + "\n".join(f"  {line}".rstrip() for line in text.splitlines())
    return text if re.fullmatch(r"[\w(/](?:[^#:]|:(?! |$)|(?<! )#)*(?<! )", text) else json.dumps(text, ensure_ascii=False)


def markdown(question: Question) -> str:
    """The block that `cute-viz embed` keeps a picture for."""
    if question.build is not None:
        raise CuteVizError("a document's block has no `flags=`", hint="copy the value, or the command")
    if question.let:
        raise CuteVizError("a document's block has no `let=`", hint="write the number itself")
    if question.library.words:
        hint = "a type, for example tensor<64x64xf16, #ttg.blocked<...>> has the shape, gfx1200::NAME<32> the GPU"
        raise CuteVizError(f"a document's block has no `{next(iter(question.library.words))}=`", hint=hint)
    source = question.source.strip()
    words = " ".join(name if value is True else f"{name}={shlex.quote(str(value))}" for name, value in question.options.items())
    if "\n" in source:
        return f"```cute-viz {words}".rstrip() + f"\n{source}\n```"
    if "-->" in source or "|" in source:
        raise CuteVizError("this source cannot be written in a comment", hint="write it into a fence, ```cute-viz")
    return f"<!-- cute-viz: {source}{' | ' + words if words else ''} -->\n<!-- /cute-viz -->"


def _notation(target: str, question: Question) -> str:
    from cute_viz.notation.write import write

    return write(question.answer().obj, target)


def _format(format: str, **options: Any) -> Callable[[Question], str]:
    return lambda question: question.answer(format, **options).write(format).decode()


WAYS: dict[str, Callable[[Question], str]] = {
    "command": command,
    **{target: partial(_notation, target) for target in ("cpp", "dsl", "cute")},
    "spec": spec,
    "markdown": markdown,
    "latex": _format("tikz", fragment=True),
    "svg": _format("svg"),
    "json": _format("json"),
}


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
