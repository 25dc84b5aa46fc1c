"""A file <-> bytes: read up to a limit; written whole or not at all, left alone if nothing would change."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over

TEMPORARY = ".cute-viz-"  # how the names of unfinished files begin; the process's number follows


_noted: ContextVar[set[str] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[set[str]]:
    """The paths of all files that are read meanwhile, in this thread."""
    found: set[str] = set()
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def note(*paths: str) -> None:
    """Files that are read now, whoever reads them."""
    if (noted := _noted.get()) is not None:
        noted.update(map(os.path.abspath, paths))


def read_text(path: str, root: str | None = None) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    root: a folder that links do not leave, of a path that no user wrote: a pipe or a device there is not waited for. Raises:
    CuteVizError for files that are too large, text in another encoding, a file outside of `root`.
    """
    if root is not None:
        regular(held(path, root))
    if os.path.isdir(path):
        raise CuteVizError("this is a folder", name=path, hint="a file is expected here")
    note(path)
    try:
        with open(path, "rb") as file:
            data = file.read(limit("file") + 1)
    except OSError as error:
        error.filename = path  # of a read that fails, Python does not say
        raise
    return decode(data, path)


def regular(path: str) -> str:
    """The path of a file that ends, or of none: a pipe or a device that a stranger's file names is neither waited for nor read."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return path
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        hint = "name it on the command line, where that is meant"
        raise CuteVizError("this is a pipe or a device, not a file", name=path, hint=hint)
    return path


def held(path: str, root: str) -> str:
    """The path, if it stays in a folder when its links are followed: a repository of strangers holds links to anywhere. Raises:
    CuteVizError for a path that leads out. The message says nothing about what lies there."""
    top, real = os.path.realpath(root or "."), os.path.realpath(path)
    if real != top and not real.startswith(os.path.join(top, "")):
        named, inside = os.path.abspath(path), os.path.join(os.path.abspath(root or "."), "")
        hint = "only what is in that folder or below is read here"
        if named.startswith(inside):
            hint = "the target of a link there is neither read nor written; name the target itself"
        raise CuteVizError(f"this leads out of the folder {root or '.'}", name=path, hint=hint)
    return path


def searched(folder: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The files of a folder and of those in it whose names end so, in order; a pipe is none, for it would be waited for. Raises:
    LimitError for a folder that holds more files than anybody means, such as all of a disk."""
    count = 0
    for at, folders, names in os.walk(folder):
        folders.sort()
        count += len(names) + len(folders)
        if count > limit("files"):
            raise over("files", "this folder holds more files than are searched", instead="name a folder in it", place=folder)
        for name in sorted(names):
            if name.endswith(suffixes) and os.path.isfile(path := os.path.join(at, name)):
                yield path


def top_of(folder: str, base: str = "") -> str:
    """The folder that a relative path, seen from `base`, means to stay in: `base`, or as many above it as the path says with
    `..`. For an absolute path it is that path: whoever writes one means the place."""
    if os.path.isabs(folder):
        return folder
    up = [part for part in os.path.normpath(folder).split(os.sep) if part == os.pardir]
    return os.path.join(base, *up) if up else base


def own_bytes(path: str) -> bytes | None:
    """The bytes of a file that is no link; None where there is no such file."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # a pipe would be waited for
            return None
    except (OSError, ValueError):
        return None
    return bytes_of(path)


def bytes_of(path: str) -> bytes | None:
    """The bytes of a file, one more than the limit of a larger one; None where there is none that can be read."""
    note(path)
    try:
        with open(path, "rb") as file:
            return file.read(limit("file") + 1)
    except OSError:
        return None


def decode(data: bytes, name: str) -> str:
    """Bytes as UTF-8 text, or UTF-16 behind its byte order mark, as PowerShell 5 writes; without the mark. An error has the
    name."""
    if len(data) > limit("file"):
        raise over("file", "this is too large", place=name)
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        kind = "UTF-16" if wide else "UTF-8"
        raise CuteVizError(f"this is not {kind} text (byte {error.start})", name=name, hint="save it as UTF-8") from None


def write(data: bytes, path: str, root: str | None = None) -> None:
    """Write to a path. A file appears whole or not at all; one that holds these bytes already is not touched.

    root: a folder that links do not leave; a link of this very name is replaced, and not what it stands for. Without one, a link
    is followed. Raises: CuteVizError for a path outside of `root`. An OSError names the path that was asked for.
    """
    try:
        if root is not None:
            held(os.path.dirname(path), root)
            mode = _mode(path, os.lstat)
            regular = mode is not None and stat.S_ISREG(mode)
            _replace(data, path, mode if regular else None)
            return
        mode = _mode(path, os.stat)
        if mode is not None and not stat.S_ISREG(mode):  # /dev/stdout, a pipe: they cannot be replaced
            with open(path, "wb") as device:
                device.write(data)
            return
        _replace(data, os.path.realpath(path), mode)
    except OSError as error:
        error.filename = path  # the place that the user knows, not where a link leads, nor the temporary name
        raise


def _replace(data: bytes, target: str, mode: int | None) -> None:
    if mode is not None and _same(target, data):
        return
    import tempfile  # 3 ms that standard output does not need

    handle, temporary = tempfile.mkstemp(prefix=f"{TEMPORARY}{os.getpid()}-", dir=os.path.dirname(target) or ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):  # an interrupt may come when it has its name already
            os.unlink(temporary)
        raise


def _mode(path: str, ask: Callable[[str], os.stat_result]) -> int | None:
    try:
        return ask(path).st_mode
    except FileNotFoundError:
        return None


def _same(path: str, data: bytes) -> bool:
    with open(path, "rb") as file:
        return os.fstat(file.fileno()).st_size == len(data) and file.read() == data


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
