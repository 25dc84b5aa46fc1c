"""A spec as it was read: an object, and how to draw it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cute_viz.errors import CuteVizError, Span


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec: its name in the file (`""` of a lone one), the object, and how to draw it, as written.

    beside: further objects by their captions, drawn in the same way.
    figure: options of the figure by name; `tensor` is an object, all others are text.
    expect: what must hold of the object, by the names of `schema.EXPECT`, objects as such and all else as text.
    wave: how many threads run together, and what they are called, where `arch`, `wave` or an encoding tells.
    files: the file, and those of the source that it names.
    at: where fields stand in the file, those of the figure as `figure.tile`; "" is the whole spec.
    """

    name: str
    kind: str
    obj: Any
    title: str | None = None
    description: str = ""
    source: str = ""
    figure: dict[str, Any] = field(default_factory=dict)
    beside: tuple[tuple[str, Any], ...] = ()
    expect: dict[str, Any] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    style: str = "default"
    palette: str | None = None
    wave: tuple[int, str] | None = None
    text: str | None = field(default=None, compare=False)
    file: str | None = field(default=None, compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)
    at: dict[str, Span] = field(default_factory=dict, compare=False)

    def locate(self, error: CuteVizError, field: str = "") -> CuteVizError:
        """An error of a field with its place in the file, if it has no place yet."""
        if error.span is not None or self.text is None:
            return error
        span = self.at.get(field) or self.at.get(field.partition(".")[0]) or self.at.get("")
        return error.but(text=self.text, span=span, name=self.file)
