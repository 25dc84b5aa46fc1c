"""SOURCE -> figure or object: an expression, a figure's JSON file, or `-` for standard input."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from cute_viz.errors import CuteVizError, LimitError
from cute_viz.figures.model import Figure

MAX_BYTES = 1 << 28  # of a figure's JSON


def read(source: str) -> Any:
    """What SOURCE stands for: a Figure (from its JSON), or an object of the algebra."""
    if source == "-":
        if sys.stdin.isatty():
            click.echo("reading standard input; end it with Ctrl-D", err=True)
        return _parse(_decode(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input"), "standard input")
    if source.endswith(".json"):
        with open(source, "rb") as file:
            return _figure(_decode(file.read(MAX_BYTES + 1), source), source)
    if source.endswith((".yaml", ".yml")):
        raise CuteVizError(f"{source}: YAML specs are not read yet", hint="give a layout, or a figure's JSON file")
    if os.sep in source and os.path.exists(source):
        raise CuteVizError(f"{source} is a file of no kind that can be drawn", hint="a figure's JSON file ends in .json")
    return _parse(source, None)


def _parse(text: str, name: str | None) -> Any:
    if text.lstrip().startswith("{"):
        return _figure(text, name or "the JSON")
    from cute_viz.notation import parse

    try:
        return parse(text)
    except CuteVizError as error:
        error.name = name
        raise


def _figure(text: str, name: str) -> Figure:
    import json

    from cute_viz.figures.model import from_dict

    try:
        return from_dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise CuteVizError(f"{name}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}") from None
    except RecursionError:
        raise CuteVizError(f"{name}: this JSON is nested too deeply to be a figure") from None
    except ValueError as error:  # an integer of thousands of digits
        raise CuteVizError(f"{name}: this is not a figure: {error}") from None
    except CuteVizError as error:
        error.name = name
        raise


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise LimitError(f"{name} is larger than {MAX_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CuteVizError(f"{name} is not UTF-8 text (byte {error.start})") from None
