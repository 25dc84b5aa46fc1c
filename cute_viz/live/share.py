"""A question in the words of other places: a command, C++, the Python DSL, a block of a document, LaTeX, a figure's JSON."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from cute_viz.errors import CuteVizError
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz.live.question import Question


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
    for field, words in (("figure", figure), ("let", question.let)):
        lines += [f"{field}:"] if words else []
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
