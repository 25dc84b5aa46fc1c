"""A question in the words of other places: a command, C++, the Python DSL, a block of a document, LaTeX, a figure's JSON."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cute_viz.errors import CuteVizError, spelled

if TYPE_CHECKING:
    from cute_viz.live.question import Question


def command(question: Question) -> str:
    """The command line that draws the same.

    >>> from cute_viz.live.question import Question
    >>> command(Question("copy", "(4,8):(8,1)", {"tile": "4x8", "coords": True}, {"M": "4"}))
    "cute-viz render '(4,8):(8,1)' --tile 4x8 --coords --let M=4"
    """
    words = ["cute-viz", "render", "-" if "\n" in question.source else question.source]
    for name, value in question.options.items():
        flag = spelled(f"`{name}=`", "cli")
        words += [flag] if value is True or value == "true" else [flag, str(value)]
    for name, value in question.library.words.items():
        words += [f"--{name}", value]
    for name, value in question.let.items():
        words += ["--let", f"{name}={value}"]
    words += ["--name", question.name] if question.name else []
    words += ["--dialect", question.dialect] if question.dialect != "auto" else []
    line = shlex.join(words)
    return line if "\n" not in question.source else f"{line} <<'LAYOUTS'\n{question.source.rstrip()}\nLAYOUTS"


def markdown(question: Question) -> str:
    """The block that `cute-viz embed` keeps a picture for.

    >>> from cute_viz.live.question import Question
    >>> print(markdown(Question("copy", "(4,8):(8,1)", {"view": "grid"})))
    <!-- cute-viz: (4,8):(8,1) | view=grid -->
    <!-- /cute-viz -->
    """
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


def _written(target: str) -> Callable[[Question], str]:
    def write(question: Question) -> str:
        from cute_viz.notation.write import write as written

        return written(question.answer().obj, target)

    return write


def _format(format: str, **options: Any) -> Callable[[Question], str]:
    return lambda question: question.answer(format, **options).write(format).decode()


WAYS: dict[str, Callable[[Question], str]] = {
    "command": command,
    "cpp": _written("cpp"),
    "dsl": _written("dsl"),
    "cute": _written("cute"),
    "markdown": markdown,
    "latex": _format("tikz", fragment=True),
    "svg": _format("svg"),
    "json": _format("json"),
}
