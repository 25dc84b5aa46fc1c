"""How much is taken: the limits, what each bounds, and the error of what is over one.

A request may raise them; what it raised holds while it is answered, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import process_time
from types import MappingProxyType
from typing import NamedTuple

from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.records import rows


class Limit(NamedTuple):
    """A limit: its value, what it counts, and how far it can be raised."""

    value: int
    what: str
    most: int


def _number(text: str) -> int:
    base, _, power = text.partition("^")
    return int(int(base) ** int(power or 1))


LIMITS = {name: Limit(_number(value), what, _number(most)) for name, value, most, what in rows(__file__, "limits.txt")}
# whoever raises any other limit may spend as much more of these
_SPENT = ("steps", "values", "seconds", "memory", "unit-seconds", "unit-memory")

NO_LIMITS: Mapping[str, int] = MappingProxyType({})  # beyond those of the table

_arm: Callable[[], None] | None = None  # sets time and memory anew, where a request is held to them
_raised: ContextVar[Mapping[str, int]] = ContextVar("raised", default=NO_LIMITS)


def limit(name: str) -> int:
    """The value of a limit in the request under way: of time, memory and steps more where it lets in more."""
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
    """Other values for limits while a request is answered, in its thread alone. Raises: CuteVizError for an unknown limit, and
    for a value outside 1 and its maximum."""
    token = _raised.set({**_raised.get(), **checked(limits)} if limits else _raised.get())
    if limits and _arm is not None:
        _arm()
    try:
        yield
    finally:
        _raised.reset(token)


def current() -> dict[str, int]:
    """The limits that the request under way has raised, for another process that works for it."""
    return dict(_raised.get())


def checked(limits: Mapping[str, int]) -> Mapping[str, int]:
    """The limits, if all are such as can be set."""
    for name, value in limits.items():
        if name not in LIMITS:
            raise CuteVizError(f"there is no limit {name!r}", hint=f"limits: {', '.join(LIMITS)}")
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LIMITS[name].most:
            raise CuteVizError(f"the limit {name} can be 1 to {LIMITS[name].most}, not {value}")
    return limits


def raised_by(name: str) -> str:
    """The option that raises a limit, in words."""
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
    """
    way = f"{raised_by(name)} raises it"
    hint = f"{instead}; {way}" if instead else way
    return LimitError(f"{found}; the limit is {most or limit(name)}", text=text, span=span, hint=hint, name=place)


class Budget:
    """What one file of source code may cost, in any language: a step for each part that is evaluated, bytes for what it makes."""

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
    Raises: LimitError for more time than `seconds`; of more than `memory`, Python raises MemoryError."""
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


class Half:
    """Half of the time and of the memory of a request, for what can be left out: tries, each of which is as large as the others."""

    def __init__(self) -> None:
        self._begun = self._last = (process_time(), taken())
        self._most: tuple[float, ...] = (0, 0)

    @property
    def over(self) -> bool:
        """Whether one more might take more than half; asked before each try."""
        now = (process_time(), taken())
        self._most = tuple(max(most, new - old) for most, new, old in zip(self._most, now, self._last, strict=True))
        self._last = now
        return any(
            new - old + most > limit(kind) / 2
            for kind, new, old, most in zip(("seconds", "memory"), now, self._begun, self._most, strict=True)
        )


def taken() -> int:
    """Bytes of memory that the process has taken; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
