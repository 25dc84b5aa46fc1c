"""How values show and save themselves: what Jupyter asks for, what a figure can be asked, and where drawing is plugged in.

The algebra and the picture model know nothing of drawing; they only say that they can be shown. `cute_viz` plugs in how.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from cute_viz.errors import CuteVizError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from cute_viz.keywords import PageWords


class Door(Protocol):
    """The module that draws for the values below."""

    def bundle(self, value: object) -> dict[str, str]:
        """A value by MIME type."""

    def write(self, figure: object, format: str | None, path: str | None, how: Mapping[str, Any]) -> bytes:
        """A figure as bytes, written to a path where there is one, whose suffix is the format where that is None."""


class Shown:
    """A value that a notebook shows as a picture."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: Container[str] | None = None, exclude: Container[str] | None = None) -> dict[str, str]:
        """The value by MIME type: a picture where it can be drawn, and text."""
        return {
            kind: data
            for kind, data in _plugged().bundle(self).items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }


class Drawn(Shown):
    """A picture that can be written."""

    __slots__ = ()

    def render(self, format: str = "text", **how: Unpack[PageWords]) -> bytes:
        """The picture in a format, as bytes; the keywords are the page options of `cute_viz.options`.

        Raises: CuteVizError for an unknown format, and for options that it does not use.

        >>> import cute_viz as cv
        >>> cv.figure("(2,2)").render("svg")[:5]
        b'<?xml'
        """
        return _plugged().write(self, format, None, how)

    def svg(self, **how: Unpack[PageWords]) -> str:
        """The picture as SVG; the keywords are those of `render`.

        >>> import cute_viz as cv
        >>> cv.figure("(2,2)").svg(fragment=True)[:4]
        '<svg'
        """
        return self.render("svg", **how).decode()

    def save(self, path: str | os.PathLike[str], format: str | None = None, **how: Unpack[PageWords]) -> None:
        """Write the picture to a file, whose suffix is the format where none is given; the keywords are those of `render`.

        The file appears whole or not at all. Raises: as `render`, and OSError where it cannot be written.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise CuteVizError(f"a path must be text, not {path!r}", hint='example: "x.svg"')
        _plugged().write(self, format, os.fspath(path), how)


_door = ""


def plug(module: str) -> None:
    """Say which module draws; `cute_viz` does, once, when it is imported. The module is imported when something is shown."""
    global _door
    _door = module


def _plugged() -> Door:
    return cast(Door, import_module(_door))
