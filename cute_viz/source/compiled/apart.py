"""A unit parsed in a process of its own: what never ends, grows, waits for a pipe or crashes libclang is one line.

libclang takes what a text makes it take: macros and templates that double, `#include "/dev/zero"`, a pipe that nobody writes to. No
signal reaches Python meanwhile, and Windows has no limits of processes; so a thread of the other process looks at what it spends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over, taken
from cute_viz.source.compiled.clang import NEEDS
from cute_viz.source.compiled.clang import parse as parse_here
from cute_viz.source.compiled.flags import Flags
from cute_viz.source.compiled.unit import data_of

# Isolated, so that no file of the working folder is taken for a module.
_CHILD = "import sys; sys.path[:] = {path!r}; from cute_viz.source.compiled.apart import child; child()"
_REFUSED, _TIME, _MEMORY, _WAITS = 91, 92, 93, 94  # exit statuses of the child
PATIENCE = 60.0  # seconds in which a parser that works spends some time


def parse(path: str, text: str, flags: Flags, others: Mapping[str, str]) -> Any:
    """The unit of a file as `data_of` has it. others: texts for files that it includes, by their paths. Raises: CuteVizError
    without libclang, where the unit cannot be parsed at all, and where it includes what does not end; LimitError for more time
    or memory than `unit-seconds` and `unit-memory`."""
    if sys.modules.get("clang", 0) is None or find_spec("clang") is None:
        raise CuteVizError("reading a file as compiled needs libclang, which is not installed", hint=NEEDS)
    seconds, memory = limit("unit-seconds"), limit("unit-memory")
    told = json.dumps([path, text, dict(others), flags.words, flags.arch, flags.instances, seconds, memory, PATIENCE])
    code = _CHILD.format(path=[os.path.abspath(place) for place in sys.path])
    done = subprocess.run([sys.executable, "-I", "-c", code], input=told.encode("utf-8", "surrogatepass"), capture_output=True)
    if done.returncode == _TIME:
        raise over("unit-seconds", f"libclang takes more than {seconds} seconds to parse this", most=seconds, place=path)
    if done.returncode == _MEMORY:
        raise over("unit-memory", "libclang takes too much memory to parse this", most=memory, place=path)
    if done.returncode == _WAITS:
        hint = "an include that is a pipe or a device never ends"
        raise CuteVizError(f"libclang has waited {PATIENCE:.0f} seconds for a file that does not come", name=path, hint=hint)
    if done.returncode not in (0, _REFUSED):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
        hint = said[-1] if said else "what nests too deeply ends it, too"
        raise CuteVizError(f"libclang ends with {why} while it parses this", name=path, hint=hint)
    answer = json.loads(done.stdout)
    if done.returncode == _REFUSED:
        raise CuteVizError(answer["message"], name=answer["name"], hint=answer["hint"])
    return answer


def child() -> None:
    """The other process: what to parse from standard input, the unit to standard output."""
    told = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    path, text, others, words, arch, instances, *most = told
    threading.Thread(target=_watch, args=most, daemon=True).start()
    status = 0
    try:
        answer = data_of(parse_here(path, text, Flags(tuple(words), arch, tuple(instances)), others))
    except CuteVizError as error:
        status, answer = _REFUSED, {"message": error.message, "name": error.name, "hint": error.hint}
    sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode())
    sys.stdout.flush()
    os._exit(status)  # libclang's memory need not be given back piece by piece


def _watch(seconds: float, memory: float, patience: float) -> None:
    """End this process where it spends more than it may, or nothing at all."""
    before, since, parent = 0.0, time.monotonic(), os.getppid()
    while True:
        time.sleep(0.05)
        spent, now = time.process_time(), time.monotonic()
        if spent - before > 0.02 + 0.005 * (now - since) or _runs():  # more than looking takes
            before, since = spent, now
        if os.getppid() != parent:  # nobody waits for the answer
            os._exit(_TIME)
        if spent > seconds:
            os._exit(_TIME)
        if taken() > memory:
            os._exit(_MEMORY)
        if now - since > patience:
            os._exit(_WAITS)


def _runs() -> bool:
    """Whether the first thread of this process could run, be it that others are before it; False where the system does not say."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "R"
    except (OSError, IndexError):
        return False
