"""The library of atoms: the name of an MMA or copy operation -> its layouts, from the YAML files in layouts/.

A file holds families: a name with {parameters}, the values that these take, and layouts that may use them as numbers.
Finding one atom reads the family's lines alone; the library as a whole is read for listings and for did-you-mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.static import unmarked
from cute_viz.spec.entry import Entry, Operation
from cute_viz.spec.family import Match, find
from cute_viz.spec.library_files import LibraryFile, files_for
from cute_viz.spec.names import Pattern
from cute_viz.spec.yaml import SpecError

if TYPE_CHECKING:
    from cute_viz.algebra.copy import CopyOp
    from cute_viz.algebra.mma import MMA_Atom


def lookup(name: str, args: tuple[str, ...] = (), folders: tuple[str, ...] = ()) -> Entry | None:
    """The entry of a name and its template arguments, or None.

    Refused: a name of the library with arguments that it does not take.

    >>> str(lookup("SM80_16x8x16_F32BF16BF16F32_TN").layouts["CLayout"])
    '((_4,_8),(_2,_2)):((_32,_1),(_16,_8))'
    >>> lookup("SM90_64x200x16_F16F16F16_SS").layouts["Shape_MNK"]
    (Static(64), Static(200), Static(16))
    """
    short = _short(name)
    found = _found(short, files_for(short, folders))
    full = name.replace(" ", "") + (f"<{','.join(args)}>" if args else "")
    return None if found is None else entry(found, full, args, folders)


def entry(match: Match, full: str, args: tuple[str, ...], folders: tuple[str, ...] = ()) -> Entry:
    """The operation of a match and its template arguments; that of a `reverse` is looked for in its own file first."""
    family = match.family
    reverse = family.fields.get("reverse")
    if reverse is None:
        return Operation(match, full, args).entry()
    other = Pattern(str(reverse)).filled(match.bound)
    found = _found(other, [family.file]) or _found(other, files_for(other, folders))
    if found is None:
        raise family.wrong(f"{match.name} is the reverse of {other}, which the library does not have", reverse)
    if "reverse" in found.family.fields:
        raise family.wrong(f"{match.name} is the reverse of {other}, which is a reverse itself", reverse)
    return Operation(match, full, args).entry(Operation(found, other, args).entry())


def _found(name: str, files: Iterable[LibraryFile]) -> Match | None:
    return next((found for file in files if (found := find(file, name)) is not None), None)


def resolve(name: str, args: tuple[str, ...] = (), folders: tuple[str, ...] = ()) -> MMA_Atom | CopyOp | None:
    """The atom of a name, also of an unambiguous short form; None where nothing of this kind is meant.

    Refused: a name that looks like an atom's and is none; the error names the nearest.
    """
    known = lookup(name, args, folders)
    if known is not None:
        return known.atom()
    short = _short(name)
    if not re.match(r"SM\d+_\w|\d+x\d+x\d+|GMMA_\d|MMA_\d|U(16|32)x\d_(LDSM|STSM)", short):
        return None
    from cute_viz.spec.listing import listing

    every = [listed.name for listed in listing(folders)]
    near = [full for full in every if _completed(short, full)]
    if len(near) == 1 or (near and all(full.startswith(near[0]) for full in near)):
        known = lookup(_completed(short, near[0]) or "", args, folders)
        if known is not None:
            return known.atom()
    from difflib import get_close_matches

    near = near[:4] or get_close_matches(short, every, n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "cute-viz list mma and cute-viz list copy name them all"
    raise SpecError(f"there is no atom {name!r}", hint=hint)


def describe(full: str, folders: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the library says of an operation beyond its layouts: architecture, element types, further layouts, source.

    >>> describe("SM80_16x8x16_F32BF16BF16F32_TN")["types"]
    'A bf16, B bf16, C f32, D f32'
    """
    name, _, rest = full.partition("<")
    known = lookup(name, tuple(split_arguments(rest.rpartition(">")[0])), folders)
    if known is None:
        return {}
    out: dict[str, Any] = {"arch": known.arch.upper()}
    if known.types:
        out["types"] = ", ".join(f"{x} {kind}" for x, kind in zip("ABCD", known.types, strict=False))
    further = ("ELayout", "SFALayout", "SFBLayout", "ValID")
    layouts = {key: unmarked(value) for key, value in known.layouts.items() if key in further}
    return {**out, **layouts, **({"source": known.source} if known.source else {})}


def split_arguments(text: str) -> list[str]:
    """The template arguments of `a,b<c,d>,e`.

    >>> split_arguments("a,b<c,d>,e")
    ['a', 'b<c,d>', 'e']
    """
    out, depth, start = [], 0, 0
    for n, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            out.append(text[start:n].strip())
            start = n + 1
    return [*out, text[start:].strip()] if text.strip() else []


def _completed(short: str, full: str) -> str | None:
    """The name that another is a beginning of, up to an underscore, with or without its SM80_; {N} becomes the number there.

    >>> _completed("64x8x16_F16F16F16", "SM90_64x{N}x16_F16F16F16_SS")
    'SM90_64x8x16_F16F16F16_SS'
    """
    pattern = re.sub(r"\\\{\w+\\\}", r"(\\d+)", re.escape(full))
    for candidate in (pattern, re.sub(r"^(SM\d+|GMMA)_", "", pattern)):
        pieces = candidate.split("_")
        for n in range(1, len(pieces) + 1):
            if "_" in short and (match := re.fullmatch("_".join(pieces[:n]), short)) is not None:
                for number in match.groups():
                    full = re.sub(r"\{\w+\}", number, full, count=1)
                return full
    return None


def _short(name: str) -> str:
    """A name without its namespaces; SM90::GMMA::MMA_64x... is called SM90_64x..."""
    plain = name.replace(" ", "")
    spaces = re.match(r"(?:(?:cute|cutlass|arch|detail|SM\d+|GMMA|UMMA|SPARSE|BLOCKSCALED)::)+", plain)
    return re.sub(r"^MMA_(?=64x)", "SM90_", plain[spaces.end() :] if spaces else plain)
