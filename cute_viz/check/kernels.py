"""Kernels as packaged text: each file of `kernels/` is one PTX entry, or CUDA C++, with holes that are filled here.

`{name}` is a hole, `{4*j+2}` a number made of holes, `{%d<n>}` the registers {%d0,%d1,...}; the braces of PTX and C++ never hold
such a word. `#needs 8.0 90a`: the version and target. `#if name`, `#if !name` ... `#else` ... `#end`: by whether a hole is true.
`#each j n` ... `#end`: the lines for each j < n. `#use file key=value ...`: another file, with more holes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from math import prod
from typing import Any

from cute_viz.check.job import Kernel

_HOLE = re.compile(r"\{%(\w+)<([\w*+]+)>\}|\{([a-z0-9][\w*+]*)\}")


def kernel(file: str, entry: str, needs: str = "", /, **holes: object) -> Kernel:
    """The kernel of a file, its entry under that name, its holes filled.

    needs: version and target, where the file leaves them open.
    """
    body = text(file, entry=entry, needs=needs, **holes)
    if not body.startswith("#needs"):
        return Kernel(entry, body, cuda=True)
    head, _, body = body.partition("\n")
    _, version, target = head.split()
    major, _, minor = version.partition(".")
    return Kernel(entry, body, (int(major), int(minor)), int(target.rstrip("a")), target.endswith("a"))


def text(file: str, **holes: object) -> str:
    """A file with its holes filled."""
    return "\n".join(_filled(_lines(file), holes))


def registers(letter: str, count: int) -> str:
    """So many registers as one operand."""
    return "{" + ",".join(f"%{letter}{n}" for n in range(count)) + "}"


@lru_cache(maxsize=64)
def _lines(file: str) -> tuple[str, ...]:
    return tuple((files("cute_viz.check") / "kernels" / file).read_text("utf-8").splitlines())


def _filled(lines: Sequence[str], holes: dict[str, object]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        word, *rest = line.split() if line.startswith("#") else ("",)
        if word == "#use":
            more = (_HOLE.sub(lambda found: _hole(found, holes), part).split("=") for part in rest[1:])
            yield from _filled(_lines(rest[0]), {**holes, **{key: int(x) if x.isdigit() else x for key, x in more}})
        elif word in ("#if", "#each"):
            turn, end = _block(lines, at)
            if word == "#each":
                for n in range(_number(rest[1], holes)):
                    yield from _filled(lines[at:end], {**holes, rest[0]: n})
            else:
                true = bool(holes[rest[0].lstrip("!")]) != rest[0].startswith("!")
                yield from _filled(lines[at:turn] if true else lines[turn + 1 : end], holes)
            at = end + 1
        elif filled := _HOLE.sub(lambda found: _hole(found, holes), line):
            yield filled


def _block(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Where the block that begins there has its #else, or without one its end, and where it ends."""
    depth, turn = 1, -1
    for n in range(at, len(lines)):
        word = lines[n].partition(" ")[0]
        depth += (word in ("#if", "#each")) - (word == "#end")
        if not depth:
            return (n if turn < 0 else turn), n
        if word == "#else" and depth == 1:
            turn = n
    raise ValueError(f"a block has no end: {lines[at - 1]}")


def _hole(found: re.Match[str], holes: dict[str, object]) -> str:
    if found[1]:
        return registers(found[1], _number(found[2], holes))
    return str(_number(found[3], holes))


def _number(words: str, holes: dict[str, Any]) -> Any:
    """A hole's value, or a sum of products of numbers and holes."""
    if words in holes:
        return holes[words]
    return sum(prod(int(word) if word.isdigit() else holes[word] for word in term.split("*")) for term in words.split("+"))
