"""Names with {parameters}, what these may be, as `where` writes it, and what they are in a name.

A parameter is words, `-none` for nothing, ranges of numbers. A name takes a step for each letter and parameter, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cute_viz.limits import limit
from cute_viz.spec.yaml import SpecError

_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")

# Instructions by the names of their assembler, of the compiler's builtins, or as a manual has them, in capitals.
_SPOKEN = re.compile(r"(?:([a-z][a-z0-9]*)::)?(?:v_|__builtin_amdgcn_)?((?:mfma|smfmac|wmma|swmmac)_\w+)", re.I)
_SUFFIX = re.compile(r"_w(32|64)(?:_(gfx\d+))?$")


class Spoken(NamedTuple):
    """A name as it was written: the architecture and the wave that it says, and whether it is one that several machines have."""

    name: str
    machine: bool = False
    arch: str = ""
    wave: int = 0

    @property
    def said(self) -> tuple[tuple[str, Any], ...]:
        """What it says of the machine."""
        return (("arch", self.arch), ("wave", self.wave))


def spoken(name: str) -> Spoken:
    """A name of an instruction as its assembler has it."""
    match = _SPOKEN.fullmatch(name.replace(" ", ""))
    if match is None:
        return Spoken(name)
    short = f"v_{match[2].lower()}"
    arch, wave = (match[1] or "").lower(), 0
    if suffix := _SUFFIX.search(short):
        short, wave = short[: suffix.start()], int(suffix[1])
        arch = arch or {"gfx12": "gfx1200"}.get(suffix[2] or "", "" if suffix[2] else "gfx1100")
    return Spoken(short, True, arch, wave)


def numbers(word: str) -> range:
    """The numbers of a range of the library. Raises: SpecError for anything but a range, for one without numbers, and for a step
    of 0."""
    match = re.fullmatch(r"(\d{1,18})\.\.(\d{1,18})(?:/(\d{1,18}))?", word)
    found = range(int(match[1]), int(match[2]) + 1, int(match[3] or 1)) if match and match[3] != "0" else None
    if not found:
        raise SpecError(f"{word!r} is not a range", hint="from..to or from..to/step, for example 8..256/8")
    return found


def allows(domain: str, value: str) -> bool:
    """Whether a parameter may have a value; without a domain, any."""
    return not domain or any(
        (number := as_number(value)) is not None and number in numbers(word) if ".." in word else value == meant(word)
        for word in domain.split()
    )


def as_number(value: str) -> int | None:
    """The number that a parameter is; None where it is a word."""
    return int(value) if value.isdecimal() and len(value) <= limit("digits") else None


def words(domain: str) -> list[str]:
    """The values of a domain without ranges."""
    return [meant(word) for word in domain.split()]


def samples(domain: str) -> list[str]:
    """Every word of a domain, and of each range the first, a middle and the last number."""
    out: list[str] = []
    for word in domain.split():
        if ".." in word:
            every = numbers(word)
            out += (str(every[n]) for n in (0, len(every) // 2, -1))
        else:
            out.append(meant(word))
    return list(dict.fromkeys(out))


def meant(word: str) -> str:
    """What a word of a domain stands for."""
    return "" if word == "-none" else word


def in_words(domain: str) -> str:
    """The numbers that a domain allows, as CUTLASS's assertions say it."""
    out = []
    for word in domain.split():
        first, _, rest = word.partition("..")
        last, _, step = rest.partition("/")
        out.append(f"a multiple of {step or 1} between {first} and {last}" if rest else word)
    return " or ".join(out)


class Pattern:
    """A name with {parameters}; one that comes again is the same again.

    literals: what stands around the parameters, one more than `slots`. slots: the parameters as they come.
    """

    __slots__ = ("literals", "slots", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        parts = _SLOT.split(text)
        self.literals, self.slots = tuple(parts[::2]), tuple(parts[1::2])

    @property
    def parameters(self) -> list[str]:
        """The parameters, each once, in order."""
        return list(dict.fromkeys(self.slots))

    def filled(self, values: Mapping[str, str]) -> str:
        """The name with these parameters."""
        return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), self.text)

    def may_be(self, name: str) -> bool:
        """Whether a name has what stands around the parameters, whatever these may be."""
        first, *others = self.literals
        if not others:
            return name == first
        *middle, last = others
        at = len(first) if name.startswith(first) else -1
        for literal in middle:
            at = name.find(literal, at) if at >= 0 else -1
            at += len(literal) if at >= 0 else 0
        return at >= 0 and at + len(last) <= len(name) and name.endswith(last)

    def bind(self, name: str, domains: Mapping[str, str]) -> dict[str, str] | None:
        """The parameters with which the name is this one; None where there are none.

        domains: what a parameter may be, as `where` writes it; of a range any number is taken here, without a domain any word.
        Of several ways the first is taken: the first of the words, the longest number or word.
        """
        if not self.may_be(name):
            return None
        several = [_alternatives(domains.get(slot, "")) for slot in self.slots]
        # From the back: where each parameter may end so that what follows it fits.
        ends: list[bytearray] = []
        fits = bytearray(len(name) + 1)
        fits[-1] = 1
        for alternatives, literal in zip(reversed(several), reversed(self.literals[1:]), strict=True):
            ends.append(_before(literal, name, fits))
            fits = _starts(alternatives, name, ends[-1])
        out: dict[str, str] = {}
        at = len(self.literals[0])
        for slot, literal, alternatives, end in zip(self.slots, self.literals[1:], several, reversed(ends), strict=True):
            known = out.get(slot)
            found = next((stop for stop in _stops(alternatives if known is None else [known], name, at) if end[stop]), None)
            if found is None:
                return None
            out[slot] = name[at:found]
            at = found + len(literal)
        return out


_DIGITS, _WORD = object(), object()  # a number; any word


def _alternatives(domain: str) -> list[object]:
    """What a parameter may be, in order: words, numbers, any word."""
    return [_DIGITS if ".." in word else meant(word) for word in domain.split()] or [_WORD]


def _is(kind: object, char: str) -> bool:
    return char.isdecimal() or (kind is _WORD and (char.isalnum() or char == "_"))


def _before(literal: str, name: str, fits: bytearray) -> bytearray:
    """Where a literal stands with something that fits behind it."""
    if not literal:
        return fits
    out = bytearray(len(fits))
    at = name.find(literal)
    while at >= 0:
        out[at] = fits[at + len(literal)]
        at = name.find(literal, at + 1)
    return out


def _starts(alternatives: Sequence[object], name: str, ends: bytearray) -> bytearray:
    """Where a parameter may begin so that it ends at one of the ends."""
    out = bytearray(len(ends))
    for one in alternatives:
        if isinstance(one, str):
            for at, here in enumerate(_before(one, name, ends)):
                out[at] |= here
            continue
        inside = 0
        for at in range(len(name) - 1, -1, -1):
            inside = (inside or ends[at + 1]) if _is(one, name[at]) else 0
            out[at] |= inside
    return out


def _stops(alternatives: Sequence[object], name: str, at: int) -> Iterator[int]:
    """Where a parameter that begins at a place may end, the first choice first."""
    for one in alternatives:
        if isinstance(one, str):
            if name.startswith(one, at):
                yield at + len(one)
            continue
        end = at
        while end < len(name) and _is(one, name[end]):
            end += 1
        yield from range(end, at, -1)
