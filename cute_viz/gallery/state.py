"""What a gallery remembers of its last run: a hidden JSON file in its folder. Without it all is drawn again.

It is signed with a key of the user's own: one that somebody has put there, with true hashes of files that are not the gallery's,
would have them replaced or removed. What the index of a fresh clone says is believed of pictures alone.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from hmac import compare_digest

from cute_viz import files
from cute_viz.errors import CuteVizError
from cute_viz.gallery.draw import Done, foreign, hash_of, kept
from cute_viz.gallery.index import IndexEntry, files_of
from cute_viz.gallery.plan import INDEX, Plan, Task

NAME = ".cute-viz-gallery.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One job that was drawn: its key, the spec file, the hashes of its files, and what the index says of it."""

    key: str
    path: str
    hashes: dict[str, str]
    entry: IndexEntry


@dataclass(slots=True)
class GalleryState:
    """The records by name, the files that no spec asks for any more, and the index, with their hashes ("" where unknown)."""

    records: dict[str, Record] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    index: dict[str, str] = field(default_factory=dict)

    def fresh(self, job: Task, folder: str) -> bool:
        """Whether a job's files are what drawing it again would give."""
        record = self.records.get(job.name)
        if record is None or record.key != job.key or set(record.hashes) != set(job.files.values()):
            return False
        return all(_hash(os.path.join(folder, file)) == hash_ for file, hash_ in record.hashes.items())

    def note(self, job: Task, drawn: Done) -> None:
        """Remember what became of a job; of one that failed, what there was before."""
        if drawn.entry is not None:
            self.records[job.name] = Record(job.key, job.builder.name or "", drawn.hashes, drawn.entry)

    def settle(self, plan: Plan, folder: str) -> None:
        """Forget the records of specs that are gone; their files, and those that only an older index knows, are stale."""
        names = {job.name for job in plan.jobs}
        for name, record in list(self.records.items()):
            if name not in names and record.path not in plan.broken:
                self.stale |= record.hashes
                del self.records[name]
        wanted = {file for job in plan.jobs for file in job.files.values()}
        wanted |= {file for record in self.records.values() for file in record.hashes}
        if not plan.broken:  # the files of broken specs have no names
            listed = {file: hash_ for file, hash_ in (_indexed(folder) or {}).items() if file not in INDEX}
            self.stale = {**listed, **self.stale}
        self.stale = {
            file: hash_
            for file, hash_ in sorted(self.stale.items())
            if file not in wanted and os.path.lexists(os.path.join(folder, file))
        }

    def claim(self, plan: Plan, folder: str) -> None:
        """Note the files that will be drawn as the gallery's own, before the first is: a run may be killed. Raises: CuteVizError
        for files of these names, and an index, that no gallery run wrote."""
        wanted = [file for job in plan.jobs for file in job.files.values()]
        there = [file for file in (*INDEX, *wanted) if os.path.lexists(os.path.join(folder, file))]
        # Only now, as another run into the same folder claims a file before it draws it.
        indexed = _indexed(folder)  # an empty one is ours, too
        known = self._known() | read(folder)._known() | set(indexed or ())
        ours = bool(known) or indexed is not None
        taken = [file for file in there if file not in known and not (ours and file in INDEX)]
        if taken:
            others = f" and {len(taken) - 1} other file{'s' * (len(taken) > 2)}" if len(taken) > 1 else ""
            raise CuteVizError(
                f"refusing to overwrite {os.path.join(folder, taken[0])}{others}, which gallery did not write",
                hint="give a folder of its own with -o, or remove what is there",
            )
        if new := {file: "" for file in wanted if file not in known}:
            self.stale |= new
            self.write(folder)

    def _known(self) -> set[str]:
        """Every file that a run wrote, or was about to write."""
        return {*self.stale, *(file for record in self.records.values() for file in record.hashes)}

    def ours(self, folder: str) -> dict[str, frozenset[str]]:
        """File -> the hashes of what runs wrote there. A file of other bytes is somebody's: a state and an index are only files
        that lie in the folder, and may say of any name that it is ours."""
        out: dict[str, set[str]] = {}
        for known in (self, read(folder)):
            for hashes in (known.stale, known.index, *(record.hashes for record in known.records.values())):
                for file, hash_ in hashes.items():
                    out.setdefault(file, set()).add(hash_)
        for file, hash_ in (_indexed(folder) or {}).items():
            out.setdefault(file, set()).add(hash_)
        return {file: frozenset(hashes) - {""} for file, hashes in out.items()}

    def write_index(self, texts: dict[str, str], folder: str) -> list[str]:
        """Write the index; what could not be, in words, as somebody changed it."""
        ours = self.ours(folder)
        failures = []
        if _indexed(folder) is not None and (hash_ := _hash(os.path.join(folder, INDEX[1]))):
            ours[INDEX[1]] = frozenset({hash_})  # a page that is the index of a gallery is nothing else
        for name, text in texts.items():
            data = text.encode()
            if foreign(os.path.join(folder, name), data, ours.get(name, frozenset())):
                failures.append(kept(os.path.join(folder, name)).explain())
                continue
            self.index[name] = hash_of(data)
            self.write(folder)  # first: a run may be killed
            files.write(data, os.path.join(folder, name), folder)
        return failures

    def prune(self, folder: str) -> tuple[list[str], list[str]]:
        """Remove the stale files: (removed, kept because they are not what a run is known to have written)."""
        removed, left = [], []
        for file, hash_ in self.stale.items():
            path = os.path.join(folder, file)
            if not hash_ or _hash(path) != hash_:
                left.append(file)
            else:
                os.unlink(path)
                removed.append(file)
        self.stale = {}
        return removed, left

    def write(self, folder: str) -> None:
        """Write the state into the folder, where `read` finds it."""
        data = {"version": VERSION, **asdict(self)}
        files.write(
            (json.dumps({**data, "signed": _signed(data)}, sort_keys=True) + "\n").encode(), os.path.join(folder, NAME), folder
        )


def read(folder: str) -> GalleryState:
    """The state of a folder; an empty one for whatever cannot be read as one."""
    try:
        data = json.loads(files.own_bytes(os.path.join(folder, NAME)) or b"")
        if data["version"] != VERSION or not compare_digest(data.pop("signed", ""), _signed(data)):
            return GalleryState()
        records = {name: _record(value) for name, value in data["records"].items()}
        return GalleryState(records, _hashes(data["stale"]), _hashes(data.get("index", {})))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return GalleryState()


def _signed(data: dict[str, object]) -> str:
    return hmac.new(_key(), json.dumps(data, sort_keys=True).encode(), "sha256").hexdigest()


@cache
def _key() -> bytes:
    """The key of this user, made when it is first asked for; of a process, where nothing can be kept."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    path = os.path.join(base, "cute-viz", "gallery.key")
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with suppress(FileExistsError), open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(os.urandom(32))
        if len(found := files.own_bytes(path) or b"") == 32:
            return found
    return os.urandom(32)


def sweep(folder: str) -> None:
    """Remove the temporary files that killed runs have left."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if (match := re.fullmatch(re.escape(files.TEMPORARY) + r"(\d+)-\w+", name)) and not _alive(int(match[1])):
            if files.own_bytes(path) is None:  # a folder, a link: none of ours
                continue
            with suppress(OSError):
                os.unlink(path)


def _record(value: dict[str, object]) -> Record:
    entry = value["entry"]
    if not isinstance(entry, dict):
        raise TypeError("a record has an entry")
    return Record(str(value["key"]), str(value["path"]), _hashes(value["hashes"]), IndexEntry.from_dict(entry))


def _hashes(value: object) -> dict[str, str]:
    """File -> hash, from JSON."""
    if not isinstance(value, dict):
        raise TypeError("the keys of hashes must be names of files")
    return {_plain(name): str(hash_) for name, hash_ in value.items()}


def _plain(name: str) -> str:
    """A file name that stays in the folder; whatever else a state says was not written by us."""
    if not isinstance(name, str) or os.path.basename(name) != name or name.startswith(".") or "\\" in name or "\0" in name:
        raise ValueError(name)
    return name


def _indexed(folder: str) -> dict[str, str] | None:
    """The files that the index of the folder names, with their hashes: those of a run whose state is not here, as in a fresh
    clone. None where there is no index, or one that is not ours."""
    data = files.own_bytes(os.path.join(folder, INDEX[1]))
    try:
        found = None if data is None else _hashes(files_of(data.decode()))
        return (
            found if found is None else {file: hash_ for file, hash_ in found.items() if file in INDEX or _is_picture(folder, file)}
        )
    except (ValueError, TypeError, RecursionError):
        return None


def _is_picture(folder: str, file: str) -> bool:
    """Whether a file may be one that we have drawn: of our suffixes, and of what marks a text as ours."""
    data = files.own_bytes(os.path.join(folder, file))
    suffix = os.path.splitext(file)[1]
    if data is None or suffix not in _MARKS:
        return data is None
    return re.search(_MARKS[suffix], data) is not None


_MARKS = {  # what files of a suffix hold that we have written
    ".svg": rb'aria-labelledby="cv|^<!--  |^<\?xml [^>]*>\s*<!--  ',
    ".png": rb"^\x89PNG",
    ".pdf": rb"^%PDF",
    ".html": rb'<html lang="en" class="',
    ".json": rb'"cute_viz_figure"',
    ".tex": rb"\\definecolor\{cv|\\caption\{|\\documentclass\[convert\]\{standalone\}",  # the last is print_latex's
    ".txt": rb"\+--",
    ".md": rb"^\*\*",
}


def _hash(path: str) -> str | None:
    """The hash of a file's bytes; None where there is none, or a link."""
    data = files.own_bytes(path)
    return None if data is None else hash_of(data)


def _alive(process: int) -> bool:
    """Whether a process runs; one that has ended and is only waited for does not."""
    if os.name == "nt":  # where signal 0 is not a question
        return True
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        pass
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
