"""What is read, with all that gives it meaning: a text, names, the dialect, atoms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

Resolver: TypeAlias = "Callable[[str, tuple[str, ...]], Any]"


class Passage(NamedTuple):
    """A text, and what it is read with.

    names: bindings that the text may use. warnings: where they are added; None checks for none. dialect: one of
    `notation.DIALECTS`. resolve: the atom of a name and its template arguments, or None. shape: of a tensor, for
    encodings whose text does not say it; () where it is not given. free: whether names without a value are run-time integers in
    an expression of its own.
    """

    text: str
    names: Mapping[str, Any] = {}
    warnings: list[str] | None = None
    dialect: str = "auto"
    resolve: Resolver | None = None
    shape: tuple[int, ...] = ()
    free: bool = False

    def of(self, text: str) -> Passage:
        """Another text that is read with the same."""
        return self._replace(text=text)

    def seeing(self, names: Mapping[str, object]) -> Passage:
        """The same text with other bindings."""
        return self._replace(names=names)
