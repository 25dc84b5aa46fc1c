"""A spec as it was read: an object, and how to draw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cute_viz.errors import CuteVizError, Span
from cute_viz.files import read_text
from cute_viz.source.address import Address, Folder, address_of
from cute_viz.source.model import Given
from cute_viz.source.opened import depends, opened
from cute_viz.spec import Library
from cute_viz.spec.yaml import Value


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


def value_at(address: Address, folder: Folder | None, names: Mapping[str, object], library: Library) -> object:
    """The object that an address means; what the spec binds is given for the names of that file. Raises: CuteVizError for a file
    that leads out of the folder, or is none of source code; what is wrong in it, with the place."""
    if folder is None:
        raise CuteVizError("files cannot be read here", name=address.file)
    path = folder.path(address.file)
    try:
        file = opened(read_text(path, folder.root), path, Given(names, library.resolve), folder=folder, check=False)
        if file is None or not address.name:
            raise CuteVizError("this names no object of a source file", hint=f"write {address.file}::NAME")
        return file.find(address.name).read()
    except CuteVizError as error:
        raise error.named(path) from None
    except OSError as error:
        raise CuteVizError(error.strerror or str(error), name=path) from None


def files_of(value: Value | None, folder: Folder | None) -> list[str]:
    """The files that a part of a spec depends on, by the addresses in it; none of one that cannot be read, as drawing it says
    why."""
    if isinstance(value, str):
        address = address_of(value)
        try:
            return depends(folder.path(address.file), folder) if address is not None and folder is not None else []
        except (CuteVizError, OSError):
            return []
    parts = list(value.values()) if isinstance(value, dict) else value or []
    return list(dict.fromkeys(path for part in parts for path in files_of(part, folder)))


T = TypeVar("T")
U = TypeVar("U")


class Collector:
    """What meets mistakes. wrong: receives them; where it is None, the first is raised."""

    def __init__(self) -> None:
        self.wrong: list[CuteVizError] | None = None

    def tried(self, do: Callable[[], T], otherwise: U) -> T | U:
        """What a step gives; where mistakes are collected, `otherwise` for one that fails."""
        try:
            return do()
        except CuteVizError as error:
            self.refuse(error)
            return otherwise

    def refuse(self, error: CuteVizError) -> None:
        """Keep a mistake where they are collected; else raise it."""
        if self.wrong is None:
            raise error
        self.wrong.append(error)
