"""A file <-> bytes: read up to a limit, written whole or not at all and left alone when nothing would change."""

from __future__ import annotations

import os
import stat

from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over

TEMPORARY = ".cute-viz-"  # how the names of unfinished files begin; the process's number follows


def read_text(path: str) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    Refused: files that are too large, and text in another encoding.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write(b"(4,8):(8,1)", f"{folder}/x.txt")
    ...     read_text(f"{folder}/x.txt")
    '(4,8):(8,1)'
    """
    if os.path.isdir(path):
        raise CuteVizError("this is a folder", name=path, hint="a file is read here")
    try:
        with open(path, "rb") as file:
            data = file.read(limit("file") + 1)
    except OSError as error:
        error.filename = path  # of a read that fails, Python does not say
        raise
    return decode(data, path)


def bytes_of(path: str) -> bytes | None:
    """The bytes of a file; None where there is none that can be read.

    >>> bytes_of("no such file") is None
    True
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def decode(data: bytes, name: str) -> str:
    """Bytes as UTF-8 text, without a byte order mark; an error has the name.

    >>> decode("(4,8) × 2".encode(), "a.txt")
    '(4,8) × 2'
    """
    if len(data) > limit("file"):
        raise over("file", "this is too large", place=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        seems = "it looks like UTF-16; " if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise CuteVizError(f"this is not UTF-8 text (byte {error.start})", name=name, hint=f"{seems}save it as UTF-8") from None


def write(data: bytes, path: str) -> None:
    """Write to a path. A file appears whole or not at all; one that holds these bytes already is not touched.

    An OSError names the path that was asked for.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write(b"layout", f"{folder}/x.txt")
    ...     os.listdir(folder)
    ['x.txt']
    """
    try:
        mode = _mode(path)
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

    handle, temporary = tempfile.mkstemp(prefix=f"{TEMPORARY}{os.getpid()}-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _same(path: str, data: bytes) -> bool:
    with open(path, "rb") as file:
        return os.fstat(file.fileno()).st_size == len(data) and file.read() == data


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
