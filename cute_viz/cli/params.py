"""Command-line values that are no plain words: tiles, ranges, pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cute_viz.errors import FigureError
from cute_viz.figures.options import parse_range, parse_tile

if TYPE_CHECKING:
    _TileParam = click.ParamType[tuple[int, int]]
    _RangeParam = click.ParamType[range]
else:
    _TileParam = _RangeParam = click.ParamType  # generic only since click 8.5


class Tile(_TileParam):
    """MxN: two positive integers."""

    name = "MxN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """(rows, columns) of the words; wrong usage where they are no tile."""
        if isinstance(value, tuple):
            return value
        try:
            return parse_tile(value)
        except FigureError as error:
            self.fail(error.message, param, ctx)


class Pixels(click.FloatRange):
    """A number of pixels between two; not nan, which no comparison refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; wrong usage where it is none, nan included, or lies outside."""
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not a number of pixels", param, ctx)
        return number


class Range(_RangeParam):
    """One number, or the first and the last: 5, 0..3."""

    name = "N[..M]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> range:
        """The half-open range of the words, `0..3` with its last; wrong usage where they are none."""
        if isinstance(value, range):
            return value
        try:
            return parse_range(value)
        except FigureError as error:
            self.fail(error.message, param, ctx)
