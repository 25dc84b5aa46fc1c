"""What a notebook shows: a value by MIME type, and pictures with sliders."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape
from importlib import import_module
from importlib.resources import files
from inspect import Parameter, signature
from typing import Any

from cute_viz.api import answer_of, figure, written
from cute_viz.engine import kernel_page
from cute_viz.engine.answer import format_of
from cute_viz.engine.explanation import Explanation
from cute_viz.engine.kernel_rows import Report
from cute_viz.errors import CuteVizError
from cute_viz.renderers.inline import framed


def interact(draw: Callable[..., object], /, **choices: object) -> object:
    """A widget with a picture, and a slider or list per parameter: `interact(lambda bits=range(4): f"Sw<{bits},3,3>")`.

    draw: a function that returns a figure, a report, or anything that `figure` takes. choices: the values of its parameters (a
    range, a list, a flag or one value), which replace its defaults. It works where anywidget does: Jupyter, VS Code, Colab, marimo.

    Raises: CuteVizError if anywidget is not installed, or if a parameter has no values.

    >>> interact(lambda bits: f"Sw<{bits},3,3>")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    cute_viz.errors.CuteVizError: the parameter bits has no values
    """
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ImportError:
        raise CuteVizError("sliders need the package anywidget", hint="pip install 'cute-viz[notebook]'") from None
    known: dict[str, list[object]] = {}
    for name, parameter in signature(draw).parameters.items():
        values = choices.get(name, parameter.default)
        if values is Parameter.empty:
            raise CuteVizError(f"the parameter {name} has no values", hint=f"{name}=[...], a range, a number or a text")
        several = [values, not values] if isinstance(values, bool) else values
        known[name] = list(several) if isinstance(several, (range, list, tuple)) else [several]
        if not known[name]:
            raise CuteVizError(f"the parameter {name} has no values", hint="a range or a list with at least one value")

    def shown(picked: Mapping[str, int]) -> str:
        try:
            drawn = draw(**{name: values[picked[name]] for name, values in known.items()})
            bundled = bundle(drawn if hasattr(drawn, "_repr_mimebundle_") else figure(drawn))
            return bundled.get("text/html") or bundled.get("image/svg+xml") or f"<pre>{escape(bundled['text/plain'])}</pre>"
        except CuteVizError as error:
            return f"<pre>{escape(str(error))}</pre>"

    script = (files("cute_viz.renderers") / "assets" / "interact.js").read_text("utf-8")
    traits = {
        name: getattr(traitlets, kind)().tag(sync=True)
        for name, kind in (("names", "List"), ("picked", "Dict"), ("html", "Unicode"))
    }
    begin = dict.fromkeys(known, 0)
    widget = type("Sliders", (anywidget.AnyWidget,), {"_esm": script, **traits})(
        names=[[name, [str(value) for value in values]] for name, values in known.items()], picked=begin, html=shown(begin)
    )
    widget.observe(lambda change: widget.set_trait("html", shown(change["new"])), "picked")
    return widget


_PLAIN = 2000  # characters of a notebook's text
_STILL = 150_000  # of an SVG that is shown without hover


def bundle(value: object) -> dict[str, str]:
    """What a notebook shows of a value: its picture, if it can be drawn, and its text."""
    if isinstance(value, Report):
        page = kernel_page.page_of(value, value.name).decode()
        return {
            "text/html": framed(page, "the report of a kernel"),
            "text/plain": _short(str(value)),
        }
    if isinstance(value, Explanation):
        return {"text/plain": _short(str(value))}
    try:
        answer = answer_of((value,), {})
        svg = answer.write("svg", fragment=True).decode()
        text = _short(answer.write("text").decode() if answer.subjects[0].figure is not None else str(value))
    except CuteVizError:
        return {"text/plain": repr(value)[:_PLAIN]}
    still = {"image/svg+xml": svg, "text/plain": text}
    if len(svg) > _STILL:
        return still
    image = f'<img alt="" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'  # where frames are removed
    return {"text/html": framed(answer.write("html").decode(), answer.figure.title, fallback=image), **still}


def _short(text: str) -> str:
    """A text of a notebook: its first lines, and how many more there are."""
    if len(text) <= _PLAIN:
        return text
    lines = text[: _PLAIN - 100].splitlines()
    return "\n".join([*lines[: -1 or None], f"... {len(text.splitlines()) - len(lines) + 1} more lines"])


def write(figure: object, format: str | None, path: str | None, how: Mapping[str, Any]) -> bytes:
    """A finished figure in a format, written to a path where there is one: what `display.Drawn` promises."""
    format_ = format_of(format, path)
    return written(answer_of((figure,), how, (format_,), ("page",)), format_, path)
