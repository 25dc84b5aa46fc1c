"""How notebooks show a value: what Jupyter asks for, and the one place where drawing is plugged in.

The algebra and the picture model know nothing of drawing; they only say that they can be shown. `cute_viz` plugs in how.
"""

from __future__ import annotations

from collections.abc import Callable, Container


class Shown:
    """A value that a notebook shows as a picture."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: Container[str] | None = None, exclude: Container[str] | None = None) -> dict[str, str]:
        """The value by MIME type: a picture where it can be drawn, and text."""
        bundle = _bundle(self) if _bundle is not None else {"text/plain": repr(self)}
        return {
            kind: data
            for kind, data in bundle.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }


_bundle: Callable[[object], dict[str, str]] | None = None


def plug(bundle: Callable[[object], dict[str, str]]) -> None:
    """Say how a value is shown: a function from it to its data by MIME type.

    >>> before = _bundle
    >>> plug(lambda value: {"text/plain": "a value"})
    >>> Shown()._repr_mimebundle_()
    {'text/plain': 'a value'}
    >>> plug(before)
    """
    global _bundle
    _bundle = bundle
