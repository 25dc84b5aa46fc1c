"""What a user has and wants -> what a door needs: the one call behind the command line, Python, documents, galleries and notebooks.

A door turns its own words into a `Request`, asks, and writes down the `Answer`; an error is raised, with its place. Nothing is
set outside of a request: two of them, in one process or in two threads, cannot disturb each other.
"""

from __future__ import annotations

from cute_viz.engine.answer import Answer, ask
from cute_viz.engine.request import Request, Source
from cute_viz.engine.subject import Subject
from cute_viz.source.address import Folder

__all__ = ["Answer", "Folder", "Request", "Source", "Subject", "ask"]
