"""A file as it was at a revision of its Git repository, `kernel.cu@HEAD~1`, with what it included and imported then."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from posixpath import basename, dirname, join
from tempfile import TemporaryDirectory

from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.source.address import REVISION
from cute_viz.source.opened import INCLUDE, modules_of

_SECONDS = 30  # that one question to Git may take
_PROJECT = ("cute-viz.yaml", "pyproject.toml")  # which say how a file is read
# Nothing of a repository is run: no hook, pager, filter or textconv (cat-file applies none without being asked to), and what is not
# there is not fetched.
_GIT = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.allow=never",
)
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def at_revision(path: str, revision: str) -> str:
    """The path of a copy of the file as it was at a revision, beside copies of the files that it names, for as long as this
    process runs. Raises: CuteVizError outside of a Git repository, for a revision that it does not have, and for a file that was
    not there."""
    called = f"{path}@{revision}"
    if re.fullmatch(REVISION, revision) is None:
        raise CuteVizError(f"{revision!r} is not a revision", name=called, hint="example: HEAD~1, main, v1.2, 3a62160")
    folder = os.path.dirname(os.path.abspath(path))
    if shutil.which("git") is None or not os.path.isdir(folder) or (top := _asked(folder, "rev-parse", "--show-toplevel")) is None:
        hint = "a revision, FILE@HEAD~1::NAME, needs one" if shutil.which("git") else "the command git is not installed"
        raise CuteVizError("this is not in a Git repository", name=called, hint=hint)
    root = os.path.realpath(top.decode().rstrip("\n"))
    inside = os.path.relpath(os.path.realpath(folder), root).replace(os.sep, "/")
    commit = _asked(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise CuteVizError(f"the repository has no revision {revision!r}", name=called, hint="'git log' shows those that it has")
    file = basename(path) if inside == "." else join(inside, basename(path))
    return os.path.join(_copied(root, commit.decode().strip(), file, called).name, *file.split("/"))


@lru_cache(maxsize=64)
def _copied(root: str, commit: str, file: str, called: str) -> TemporaryDirectory[str]:
    """A folder with the file and all that it may read, at their places in the repository."""
    tree = _tree(root, commit)
    if file not in tree:
        near = [path for path in tree if basename(path) == basename(file)][:3]
        raise CuteVizError("the file was not there", name=called, hint=f"there was {', '.join(near)}" if near else None)
    there = TemporaryDirectory(prefix="cute-viz-")
    os.mkdir(os.path.join(there.name, ".git"))  # where its project ends
    above = [""]
    while (folder := dirname(file) if len(above) == 1 else dirname(above[-1])) and folder != above[-1]:
        above.append(folder)
    wanted = {file, *(join(folder, name) for folder in above for name in _PROJECT)} & tree.keys()
    seen: set[str] = set()
    left = limit("file")
    while wanted := wanted - seen:
        for path, data in _blobs(root, {path: tree[path] for path in sorted(wanted)}, left):
            left -= len(data)
            place = os.path.join(there.name, *path.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as out:
                out.write(data)
            seen.add(path)
            wanted |= set(_named(path, data.decode("utf-8", "replace"), tree))
    return there


def _named(path: str, text: str, tree: Iterable[str]) -> Iterator[str]:
    """The files of the repository that a text may mean by what it includes or imports: more than it does, the reader decides."""
    ends = [match[1] for match in INCLUDE.finditer(text)]
    if path.endswith((".py", ".ipynb")):
        parts = [module.strip(".").replace(".", "/") for module in modules_of(text)]
        ends = [end for part in parts for end in (f"{part}.py", f"{part}/__init__.py")]
        yield from (other for other in tree if basename(other) == "__init__.py" and path.startswith(dirname(other)))
    plain = tuple("/" + re.sub(r"^(?:\.\.?/)+", "", end) for end in ends)
    yield from (other for other in tree if f"/{other}".endswith(plain))


def _tree(root: str, commit: str) -> dict[str, tuple[str, int]]:
    """The plain files of a commit: path -> the name of the object, and its bytes; no links, which lead anywhere."""
    out = {}
    for line in (_asked(root, "ls-tree", "-r", "-z", "-l", "--full-tree", commit) or b"").split(b"\0"):
        kind, _, name = line.partition(b"\t")
        words, path = kind.split(), name.decode("utf-8", "replace")
        if len(words) == 4 and words[0] in (b"100644", b"100755") and not {"", ".", "..", ".git"} & {*path.split("/")}:
            out[path] = words[2].decode(), int(words[3])
    return out


def _blobs(root: str, objects: Mapping[str, tuple[str, int]], most: int) -> Iterator[tuple[str, bytes]]:
    """The bytes of files, as the commit has them."""
    if sum(size for _, size in objects.values()) > most:
        raise over("file", "what the file includes is too large", place=next(iter(objects)))
    found = _asked(root, "cat-file", "--batch", text="".join(f"{name}\n" for name, _ in objects.values())) or b""
    at = 0
    for path, (_, size) in objects.items():
        begin = found.index(b"\n", at) + 1
        yield path, found[begin : begin + size]
        at = begin + size + 1


def _asked(folder: str, *words: str, text: str = "") -> bytes | None:
    """What Git answers; None where it refuses. No shell is involved, and no variable of another Git command."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
    try:
        done = subprocess.run(
            ["git", *_GIT, "-C", folder, *words], input=text.encode(), env=env, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
