"""What a parameter of the library may be, as `where` writes it: words, `-none` for nothing, ranges of numbers."""

from __future__ import annotations

import re

from cute_viz.limits import limit
from cute_viz.spec.yaml import SpecError


def numbers(word: str) -> range:
    """The numbers of a range of the library.

    Raises: SpecError for anything but a range, for one without numbers, and for a step of 0.

    >>> list(numbers("8..32/8"))
    [8, 16, 24, 32]
    """
    match = re.fullmatch(r"(\d{1,18})\.\.(\d{1,18})(?:/(\d{1,18}))?", word)
    found = range(int(match[1]), int(match[2]) + 1, int(match[3] or 1)) if match and match[3] != "0" else None
    if not found:
        raise SpecError(f"{word!r} is not a range", hint="from..to or from..to/step, for example 8..256/8")
    return found


def allows(domain: str, value: str) -> bool:
    """Whether a parameter may have a value; without a domain, any.

    >>> [n for n in range(100) if allows("8..32/8 48..96/16", str(n))], allows("-none _SATURATE", "")
    ([8, 16, 24, 32, 48, 64, 80, 96], True)
    """
    return not domain or any(
        (number := as_number(value)) is not None and number in numbers(word) if ".." in word else value == meant(word)
        for word in domain.split()
    )


def as_number(value: str) -> int | None:
    """The number that a parameter is; None where it is a word.

    >>> as_number("16"), as_number("_SATURATE")
    (16, None)
    """
    return int(value) if value.isdecimal() and len(value) <= limit("digits") else None


def words(domain: str) -> list[str]:
    """The values of a domain without ranges.

    >>> words("-none _SATURATE")
    ['', '_SATURATE']
    """
    return [meant(word) for word in domain.split()]


def samples(domain: str) -> list[str]:
    """Every word of a domain, and of each range the first, a middle and the last number.

    >>> samples("64 128"), samples("8..256/8"), samples("1..2")
    (['64', '128'], ['8', '136', '256'], ['1', '2'])
    """
    out: list[str] = []
    for word in domain.split():
        if ".." in word:
            every = numbers(word)
            out += (str(every[n]) for n in (0, len(every) // 2, -1))
        else:
            out.append(meant(word))
    return list(dict.fromkeys(out))


def meant(word: str) -> str:
    """What a word of a domain stands for.

    >>> meant("SS"), meant("-none")
    ('SS', '')
    """
    return "" if word == "-none" else word


def in_words(domain: str) -> str:
    """The numbers that a domain allows, as CUTLASS's assertions say it.

    >>> in_words("64 128"), in_words("8 16..256/16")
    ('64 or 128', '8 or a multiple of 16 between 16 and 256')
    """
    out = []
    for word in domain.split():
        first, _, rest = word.partition("..")
        last, _, step = rest.partition("/")
        out.append(f"a multiple of {step or 1} between {first} and {last}" if rest else word)
    return " or ".join(out)
