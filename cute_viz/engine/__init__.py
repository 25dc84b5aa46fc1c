"""What a user has and wants -> what an interface needs: one call behind the command line, Python, documents, galleries, notebooks.

An interface turns its own words into a `Request`, asks, and writes down the `Answer`; an error is raised, with its place. Nothing
is set outside of a request: two of them, in one process or in two threads, cannot disturb each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from cute_viz.engine.answer import Answer, ask
    from cute_viz.engine.request import Request, Source
    from cute_viz.engine.subject import Subject
    from cute_viz.source.address import Folder

__all__ = ["Answer", "Folder", "Request", "Source", "Subject", "ask"]

_LAZY = {
    "Answer": "engine.answer",
    "Folder": "source.address",
    "Request": "engine.request",
    "Source": "engine.request",
    "Subject": "engine.subject",
    "ask": "engine.answer",
}


def __getattr__(name: str) -> _Any:
    """A public name, imported when it is first used: the shortest command needs few of them."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"cute_viz.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'cute_viz.engine' has no attribute {name!r}")
