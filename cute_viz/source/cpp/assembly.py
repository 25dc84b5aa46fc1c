"""Which instruction of inline assembly takes the address of an element: `asm("ldmatrix... [%4];" : ... : "r"(address))`, also by
a variable or a function of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Scope
from cute_viz.source.cpp.unknown import tried
from cute_viz.values.types import bits_of

_ASM = ("asm", "__asm__", "__asm")
_MATRIX = re.compile(r"\b(ld|st)matrix\.sync\.aligned(?:\.m8n8)?\.(x[124])\b")
_ASYNC = re.compile(r"\bcp\.async\.c([ag])\.shared(?:::cta)?\.global\S*\s*\[[^\]]*\]\s*,\s*\[[^\]]*\]\s*,\s*(%?\d+)")
_PLAIN = re.compile(r"\b(ld|st)(?:\.volatile)?\.shared(?:::cta)?(?:\.v([24]))?\.[bsuf](8|16|32|64)\b")
_SAME = re.compile(r"__cvta_generic_to_shared|cast_smem_ptr_to_uint|(?:static|reinterpret)_cast|unsigned|size_t|uint(?:32|64)_t")
_CVTA = re.compile(r"__cvta_generic_to_shared|cast_smem_ptr_to_uint|cvta\.to\.shared")


class Assembly(NamedTuple):
    """An instruction of shared memory: what it is called, the bits that a thread's address is for, whether it stores, and how many
    lanes of a warp give an address (PTX ISA, 9.7.9 and 9.7.15)."""

    name: str
    bits: int
    store: bool
    lanes: int = 32


def taken_by(reader: Declarer, scope: Scope, left: int, right: int) -> Assembly | None:
    """The one instruction that takes the address whose tokens are [left, right); None where that is not seen."""
    tokens, match = reader.tokens, reader.match
    while True:
        before, behind = tokens[left - 1], tokens[right]
        if before.kind == ")":  # a cast of C
            left = _opening(reader, left - 1, scope.home.token)
        elif before.text == "=" and behind.kind == ";" and tokens[left - 2].kind == "name":
            return _of_variable(reader, scope, tokens[left - 2].text, right)
        elif before.kind not in ("(", ",") or behind.kind not in (")", ","):
            return None
        else:
            opening = _opening(reader, left, scope.home.token)
            word = opening - 1
            while tokens[word].kind in (">", "<", "name", "::", "number") and tokens[word - 1].kind in ("<", "name", "::", ">"):
                word -= 1
            name, end = tokens[word if tokens[opening - 1].kind == ">" else opening - 1], match[opening]
            if name.kind == "string":
                begin = next((n for n in range(opening, scope.home.token, -1) if tokens[n].text in _ASM), None)
                return None if begin is None else _instruction(reader, begin)
            if name.kind == "name" and not _SAME.fullmatch(name.text):
                parts = list(reader.split(opening + 1, end))
                place = next(n for n, (a, b) in enumerate(parts) if a <= left < b)
                if name.text == "__pipeline_memcpy_async" and place == 0 and len(parts) == 3:  # cuda_pipeline_primitives.h
                    words = re.fullmatch(r"(\d+)|sizeof\((\w+)\)", reader.words(parts[2]).replace(" ", ""))
                    wide = 0 if words is None else 8 * int(words[1]) if words[1] else tried(partial(bits_of, words[2]), 0)
                    return Assembly("cp.async", wide, True) if wide in (32, 64, 128) else None
                found, same = of_function(reader, name.text, place)
                if found is not None or not same:
                    return found
            left, right = (opening if name.kind != "name" else word), end + 1


def _opening(reader: Declarer, at: int, first: int) -> int:
    """The bracket that is open at a token, or that the one there closes."""
    depth = 1
    while depth and at > first:
        at -= 1
        depth += (reader.tokens[at].kind in (")", "]", "}")) - (reader.tokens[at].kind in ("(", "[", "{"))
    return at


def _body(reader: Declarer, function: Scope) -> range:
    opening = reader.find(function.token, ("{", ";"))
    return range(opening, reader.match[opening])


def _naming(reader: Declarer, within: range, words: set[str]) -> Iterator[int]:
    """Where the inline assembly begins that names one of the words."""
    for n in within:
        if reader.tokens[n].text in _ASM and words & {x.text for x in reader.tokens[n : reader.find(n, (";",))]}:
            yield n


def _of_variable(reader: Declarer, scope: Scope, name: str, at: int) -> Assembly | None:
    """The assembly of the same block that a variable goes to, which nothing else changes."""
    tokens, within = reader.tokens, _body(reader, scope.home)
    changed = [n for n in within if tokens[n].text == name and tokens[n + 1].text.endswith("=") and tokens[n + 1].text != "=="]
    found = list(_naming(reader, range(at, within.stop), {name}))
    here = [reader.scopes[number] is scope for begin, number in reader.statements if begin in found]
    return _instruction(reader, found[0]) if len(changed) == len(found) == 1 and here == [True] else None


def of_function(reader: Declarer, name: str, place: int) -> tuple[Assembly | None, bool]:
    """The assembly in a function of the file that takes its argument, and whether the function only turns it into an address."""
    scopes = [x for x in dict.fromkeys(reader.scopes) if x.kind == "function" and x.name == name and len(x.arguments) > place]
    if len(scopes) != 1:
        return None, False
    tokens, within, words = reader.tokens, _body(reader, scopes[0]), {scopes[0].arguments[place].name}
    for n in within:
        if tokens[n].text == "=" and words & {x.text for x in tokens[n : reader.find(n, (";",))]}:
            words.add(tokens[n - 1].text)
    found = [one for n in _naming(reader, within, words) if (one := _instruction(reader, n)) is not None]
    same = not found and any(_CVTA.search(tokens[n].text) for n in within)
    return (found[0] if len(found) == 1 else None), same


def _instruction(reader: Declarer, begin: int) -> Assembly | None:
    """The one instruction of shared memory of an assembly; None where it has none, or several."""
    tokens, end = reader.tokens, reader.find(begin, (";",))
    stop = next((n for n in range(begin, end) if tokens[n].kind == ":"), end)
    text = " ".join(tokens[n].text.strip('"') for n in range(begin, stop) if tokens[n].kind == "string")
    out = []
    for kind, size in _MATRIX.findall(text):
        out.append(Assembly(f"{kind}matrix.{size}", 128, kind == "st", 8 * int(size[1:])))
    for kind, size in _ASYNC.findall(text):
        if size.startswith("%"):
            operands = [n + 2 for n in range(stop, end) if tokens[n].kind == "string" and tokens[n + 1].kind == "("]
            size = tokens[operands[int(size[1:])]].text if int(size[1:]) < len(operands) else ""
        if kind == "g" or size.isdigit():  # cg takes 16 bytes only
            out.append(Assembly("cp.async", 128 if kind == "g" else 8 * int(size), True))
    for kind, several, size in _PLAIN.findall(text):
        out.append(Assembly("", int(several or 1) * int(size), kind == "st"))
    return out[0] if len(out) == 1 else None
