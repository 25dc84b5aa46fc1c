"""What a command has said of a unit as compiled, said again until something that it was made from has changed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from cute_viz import kept
from cute_viz.cli import output
from cute_viz.engine.reading import COMPILED
from cute_viz.files import noting
from cute_viz.limits import current
from cute_viz.source.address import address_of
from cute_viz.spec.library_files import directories
from cute_viz.spec.project import project_of

_SHOWN = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "CUTE_VIZ_DEBUG")  # of the environment, how and what is shown


def again(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command about a source, `source` or `what`, whose words about a file as compiled are kept, unless it writes or fails."""

    @wraps(command)
    def wrapped(**more: Any) -> None:
        key = _key(command.__name__ + command.__module__, more)
        if key is None:
            command(**more)
            return
        said = kept.found(key)
        if said is None:
            with noting() as files, output.heard() as said:
                command(**more)
            kept.keep(key, said, files)
            return
        for words, err, nl in said:
            output.echo(words, err, nl)

    return wrapped


def _key(name: str, given: dict[str, Any]) -> str | None:
    """What decides the words of a command; None of one whose words are not kept."""
    reading = given.get("reading")
    library, build = (given["library"], given["build"]) if reading is None else (reading.library, reading.build)
    address = address_of(given.get("source") or given["what"])
    if address is None or not address.file.endswith(COMPILED) or given.get("path") or not os.path.isfile(address.file):
        return None
    project = project_of(address.file)
    if build is None and project.build is None:
        return None
    streams = [stream.isatty() and tuple(shutil.get_terminal_size()) for stream in (sys.stdout, sys.stderr)]
    around = [os.getcwd(), streams, *map(os.environ.get, _SHOWN), kept.machine(), kept.program(*directories(library.folders))]
    return kept.key_of(name, repr(sorted(given.items())), repr(project), sorted(current().items()), around)
