"""How much is taken: the limits, what each bounds, and the error of what is over one.

A request may raise them; what it raised holds while it is answered, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import NamedTuple

from cute_viz.errors import CuteVizError, LimitError, Span


class Limit(NamedTuple):
    """A limit: its value, what it counts, and how far it can be raised."""

    value: int
    what: str
    most: int


LIMITS = {
    "input": Limit(1 << 20, "characters of a YAML file, or of a line that is read on its own", 1 << 28),
    "log": Limit(1 << 25, "characters of a log, a symbol table or CuTe IR", 1 << 30),
    "source": Limit(1 << 16, "characters of source code; more lines than that are searched for prints", 1 << 28),
    "json": Limit(1 << 24, "characters of a figure's JSON", 1 << 28),
    "document": Limit(1 << 24, "characters of a document with pictures", 1 << 28),
    "file": Limit(1 << 28, "bytes of a file that is read", 1 << 32),
    "files": Limit(50_000, "files of a folder that is searched", 1 << 28),
    "nesting": Limit(64, "brackets in brackets, levels of YAML", 128),
    "digits": Limit(400, "digits of an integer", 1000),  # of sizes, too, which have more: Python prints 4300
    "modes": Limit(1024, "integers in the shapes of one object", 1 << 20),
    "yaml-nodes": Limit(50_000, "nodes of a YAML file, each alias counted with all that it stands for", 1 << 24),
    "prints": Limit(4_000, "places of a log that are tried as prints", 1 << 20),
    "types": Limit(100_000, "types of CuTe in a text", 1 << 22),
    "cells": Limit(1 << 18, "cells of a figure", 1 << 30),
    "title": Limit(2000, "characters of a title", 1 << 16),
    "slices": Limit(256, "slices of a grid", 1 << 14),
    "image-cells": Limit(1 << 25, "cells of an image", 1 << 28),
    "labels": Limit(1 << 15, "labels of a PNG or PDF", 1 << 20),
    "pixels": Limit(1 << 27, "pixels of a PNG", 1 << 31),
    "elements": Limit(1 << 22, "elements of a layout that are examined one by one", 1 << 30),
    "accesses": Limit(1 << 20, "elements that an analysed access touches, or that its tile has", 1 << 28),
    "combinations": Limit(10_000, "names or operations of one entry of a library that are listed or tried", 1 << 20),
    "steps": Limit(300_000, "steps in which one file of source code is evaluated", 1 << 30),
    "values": Limit(1 << 26, "bytes of the texts and lists that one file of source code makes", 1 << 36),
    "page-cells": Limit(1 << 19, "cells of all pictures of a page or a folder with every object of a file", 1 << 30),
    "tile-bytes": Limit(1 << 16, "bytes of a tile whose swizzle is searched", 1 << 24),
    "seconds": Limit(20, "seconds of processor time of a command, or of one picture of a gallery or a document", 1 << 20),
    "memory": Limit(500_000_000, "bytes of memory of a command", 1 << 40),
    "unit-seconds": Limit(120, "seconds of processor time in which libclang parses a unit", 1 << 20),
    "unit-memory": Limit(4_000_000_000, "bytes of memory in which libclang parses a unit", 1 << 40),
}
_SPENT = (
    "steps",
    "values",
    "seconds",
    "memory",
    "unit-seconds",
    "unit-memory",
)  # whoever raises any other limit may spend as much more of these

NO_LIMITS: Mapping[str, int] = MappingProxyType({})  # beyond those of the table

_arm: Callable[[], None] | None = None  # sets time and memory anew, where a request is held to them
_raised: ContextVar[Mapping[str, int]] = ContextVar("raised", default=NO_LIMITS)


def limit(name: str) -> int:
    """The value of a limit in the request under way: of time, memory and steps more where it lets in more.

    >>> limit("nesting")
    64
    >>> with raised({"source": 1 << 20}):
    ...     limit("steps") // LIMITS["steps"].value, limit("input") >> 20
    (16, 1)
    """
    given = _raised.get()
    value, _, most = LIMITS[name]
    if name in given or not given:
        return given.get(name, value)
    if name == "input":  # a file of source code is one, too
        return max(value, given.get("source", 0))
    if name in _SPENT:
        more = [-(-other // LIMITS[key].value) for key, other in given.items() if key not in _SPENT]
        return min(most, value * max([1, *more]))
    return value


@contextmanager
def raised(limits: Mapping[str, int]) -> Iterator[None]:
    """Other values for limits while a request is answered, in its thread alone.

    Raises: CuteVizError for an unknown limit, and for a value outside 1 and its maximum.

    >>> with raised({"nesting": 100}):
    ...     limit("nesting")
    100
    >>> limit("nesting")
    64
    """
    token = _raised.set({**_raised.get(), **checked(limits)} if limits else _raised.get())
    if limits and _arm is not None:
        _arm()
    try:
        yield
    finally:
        _raised.reset(token)


def current() -> dict[str, int]:
    """The limits that the request under way has raised, for another process that works for it.

    >>> with raised({"nesting": 100}):
    ...     current()
    {'nesting': 100}
    """
    return dict(_raised.get())


def checked(limits: Mapping[str, int]) -> Mapping[str, int]:
    """The limits, if all are such as can be set.

    >>> checked({"cells": 0})
    Traceback (most recent call last):
    cute_viz.errors.CuteVizError: the limit cells can be 1 to 1073741824, not 0
    """
    for name, value in limits.items():
        if name not in LIMITS:
            raise CuteVizError(f"there is no limit {name!r}", hint=f"limits: {', '.join(LIMITS)}")
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LIMITS[name].most:
            raise CuteVizError(f"the limit {name} can be 1 to {LIMITS[name].most}, not {value}")
    return limits


def raised_by(name: str) -> str:
    """The option that raises a limit, in words.

    >>> raised_by("cells"), raised_by("digits")
    ('`max_cells=N`', '`limit=digits=N` (up to 1000)')
    """
    return "`max_cells=N`" if name == "cells" else f"`limit={name}=N` (up to {LIMITS[name].most})"


def over(
    name: str,
    found: str,
    *,
    most: int | None = None,
    instead: str = "",
    text: str | None = None,
    span: Span | None = None,
    place: str | None = None,
) -> LimitError:
    """The error of input over a limit: what was found, the limit, what else would do, and the option that raises it.

    most: the limit where it was not taken from the table; instead: advice that comes first; place: a file's name.

    >>> print(over("nesting", "brackets nested deeper than any layout"))
    brackets nested deeper than any layout; the limit is 64
      hint: limits={"nesting": N} (up to 128) raises it
    """
    way = f"{raised_by(name)} raises it"
    hint = f"{instead}; {way}" if instead else way
    return LimitError(f"{found}; the limit is {most or limit(name)}", text=text, span=span, hint=hint, name=place)


class Budget:
    """What one file of source code may cost, in any language: a step for each part that is evaluated, bytes for what it makes.

    >>> budget = Budget()
    >>> budget.step(), budget.steps
    (None, 1)
    """

    __slots__ = ("bytes", "most", "steps")

    def __init__(self) -> None:
        self.steps, self.bytes, self.most = 0, 0, limit("steps")

    def step(self, text: str | None = None, span: Span | None = None) -> None:
        """Count one step. Raises: LimitError for too many."""
        self.steps += 1
        if self.steps > self.most:
            raise over("steps", "this file takes too many steps to evaluate", most=self.most, text=text, span=span)

    def made(self, size: int, text: str | None = None, span: Span | None = None) -> None:
        """Count the bytes of a value before it is made. Raises: LimitError for too many."""
        self.bytes += size
        if self.bytes > limit("values"):
            raise over("values", "the values of this file take too many bytes", text=text, span=span)


class _TimeIsOver(BaseException):
    """No reader of a file takes it for a value that cannot be known."""


@contextmanager
def held() -> Iterator[None]:
    """Time and memory of a request, where a system can hold a process to them (Windows cannot); in the main thread alone.

    Raises: LimitError for more time than `seconds`; of more than `memory`, Python raises MemoryError.

    >>> with raised({"seconds": 1}), held():
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    cute_viz.errors.LimitError: this takes more than 1 second; the limit is 1
      hint: draw or read less at once; limits={"seconds": N} (up to 1048576) raises it
    """
    try:
        import resource
        import signal
    except ImportError:
        yield
        return
    global _arm
    most, seconds, before, begun = resource.getrlimit(resource.RLIMIT_DATA), 0, _arm, taken()

    def arm() -> None:
        nonlocal seconds
        told = [bound for bound in (begun + limit("memory"), *most) if bound != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min(told), most[1]))
        left, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
        more, seconds = limit("seconds") - seconds, limit("seconds")
        signal.setitimer(signal.ITIMER_VIRTUAL, max(0.1, left + more), 0.5)  # again, where a library has caught the first

    def end(*_: object) -> None:
        raise _TimeIsOver

    try:
        handler = signal.signal(signal.SIGVTALRM, end)
    except ValueError:  # in another thread
        yield
        return
    try:
        _arm = arm
        arm()
        yield
    except _TimeIsOver:
        said = f"this takes more than {seconds} second{'s' * (seconds > 1)}"
        raise over("seconds", said, most=seconds, instead="draw or read less at once") from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
        resource.setrlimit(resource.RLIMIT_DATA, most)
        _arm = before


def taken() -> int:
    """Bytes of memory that the process has taken; 0 where the system does not say.

    >>> taken() >= 0
    True
    """
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
