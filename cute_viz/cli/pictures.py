"""Every object of a file as a picture of its own: the files of a folder, and their index."""

from __future__ import annotations

import os
import re

from cute_viz.algebra.inttuple import show
from cute_viz.cli import output
from cute_viz.documents.markup import LONGEST, is_file_name, one_name
from cute_viz.engine.answer import Answer
from cute_viz.engine.drawing import how_to_write
from cute_viz.engine.subject import Subject
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.files import held, own_bytes, top_of
from cute_viz.files import write as write_file
from cute_viz.gallery.draw import foreign, hash_of
from cute_viz.gallery.index import IndexEntry, files_of, page, readme
from cute_viz.gallery.plan import INDEX, reserved
from cute_viz.renderers import FORMATS
from cute_viz.renderers.said import described
from cute_viz.spelling import spelled


def write(answer: Answer, format: str, folder: str) -> None:
    """Draw every object into a folder, and write README.md and index.html there.

    Raises: CuteVizError where the folder has a file of one of these names that no such run has written.
    """
    held(folder, top_of(folder))
    os.makedirs(folder, exist_ok=True)
    ours = _written_before(folder)
    taken = dict(reserved())
    entries, data = [], {}
    how = how_to_write((Subject(),), answer.request)
    for one, picture in answer.write_each(format):
        shown = described(one.figure, how) if FORMATS[format].pages else one.figure
        file = _file_name(one.entry.path, one.entry.line, taken) + FORMATS[format].suffixes[0]
        data[file] = picture
        line = f"line {one.entry.place}"
        entries.append(
            IndexEntry(
                name=one.entry.path,
                group="::".join(one.entry.scope) or "Outside of all scopes",
                title=one.entry.path,
                alt=shown.description,
                kind=one.figure.kind,
                archs=(),
                expression=show(one.value),
                note=line,
                files={format: file},
            )
        )
    title = os.path.basename(answer.source_name or "")
    hashes = {file: hash_of(picture) for file, picture in data.items()}
    data |= {INDEX[0]: readme(entries, title).encode(), INDEX[1]: page(entries, title, hashes).encode()}
    for file, picture in data.items():
        path = os.path.join(folder, file)
        if (file not in INDEX or not ours) and foreign(path, picture, frozenset(filter(None, [ours.get(file)]))):
            words = f"refusing to overwrite {path}, which is not as `all=` wrote it"
            raise CuteVizError(words, hint="give a new folder, or remove the file")
    for file, picture in data.items():
        write_file(picture, os.path.join(folder, file), folder)
    output.say(f"{folder}: {len(entries)} drawn")
    tell(answer)


def tell(answer: Answer) -> None:
    """Say what could not be drawn."""
    for error in answer.drawings[1]:
        more = f"; {spelled(error.hint, 'cli')}" if isinstance(error, LimitError) and error.hint else ""
        output.say(f"not drawn: {error.line('cli')}{more}")


def _written_before(folder: str) -> dict[str, str]:
    """The files that a former run wrote there, by its index, and the hashes of what it wrote."""
    data = own_bytes(os.path.join(folder, INDEX[1]))
    try:
        return files_of((data or b"").decode(errors="replace"))
    except ValueError:
        return {}


def _file_name(path: str, line: int, taken: dict[str, str]) -> str:
    """A name for the picture of an object, which no other of the folder has on any system; it becomes taken.

    >>> taken = {}
    >>> _file_name("f::sA", 3, taken), _file_name("f::SA", 9, taken)
    ('f.sA', 'f.SA-9')
    """
    plain = re.sub(r"[^\w.+-]+", "-", path.replace("::", ".")).strip(".-")[-LONGEST + 12 :].lstrip(".-_") or "object"
    name = plain
    count = 0
    while one_name(name) in taken or not is_file_name(name):
        count += 1
        name = f"{plain}-{line}" if count == 1 else f"{plain}-{line}-{count}"
        if count > 10_000:
            raise CuteVizError(f"{path!r} cannot be the name of a file")
    taken[one_name(name)] = path
    return name
