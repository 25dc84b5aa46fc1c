"""Bytes -> a file: whole or not at all, and left alone when nothing would change."""

from __future__ import annotations

import os
import stat

TEMPORARY = ".cute-viz-"  # how the names of unfinished files begin; the process's number follows


def write(data: bytes, path: str) -> None:
    """Write to a path. A file appears whole or not at all; one that holds these bytes already is not touched.

    An OSError names the path that was asked for.
    """
    target = os.path.realpath(path)
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):  # /dev/stdout and the like cannot be replaced
        with open(target, "wb") as device:
            device.write(data)
        return
    if mode is not None and _same(target, data):
        return
    import tempfile  # 3 ms that standard output does not need

    try:
        handle, temporary = tempfile.mkstemp(prefix=f"{TEMPORARY}{os.getpid()}-", dir=os.path.dirname(target))
    except OSError as error:
        error.filename = path  # the place that the user knows, not the temporary name
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename = path
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
