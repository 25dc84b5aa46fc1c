"""The library of atoms: the name of an MMA or copy operation -> its layouts, from the YAML files in layouts/.

A file holds families: a name with {parameters}, the values that these take, and layouts that may use them as numbers.
Finding one atom reads the family's lines alone; the library as a whole is read for listings and for did-you-mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.measure import size
from cute_viz.algebra.static import Plain, mark_static
from cute_viz.errors import CuteVizError
from cute_viz.records import dataclass
from cute_viz.spec import names
from cute_viz.spec.entry import FilledEntry, LibraryEntry
from cute_viz.spec.family import Match, find
from cute_viz.spec.library_files import LibraryFile, files_for, is_own
from cute_viz.spec.names import Pattern
from cute_viz.spec.yaml import SpecError
from cute_viz.values.instruction import Instruction

if TYPE_CHECKING:
    from cute_viz.algebra.copy import CopyOp
    from cute_viz.algebra.mma import MMA_Atom


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a request says of the machine, for names that several have: the architecture, how many threads run together.

    arch: such as gfx942; "" where it is not said. wave: 0 where it is not said. bits: of a value, of copies that need it.
    """

    arch: str = ""
    wave: int = 0
    bits: int = 0

    def words(self) -> dict[str, str]:
        """The template arguments that are said by it."""
        return {key: str(value) for key, value in (("wave", self.wave), ("ValBits", self.bits)) if value}


ANY = Gpu()


def lookup(name: str, args: tuple[str, ...] = (), folders: tuple[str, ...] = (), machine: Gpu = ANY) -> LibraryEntry | None:
    """The entry of a name and its template arguments, or None.

    machine: of names that several architectures have, which one is meant; `gfx1200::v_wmma_...` says so, too.
    Raises: SpecError for a name of the library with arguments that it does not take; one that several architectures have, each its
    own.
    """
    spoken = names.spoken(name)
    machine = replace(machine, **{key: value for key, value in spoken.said if value})
    short = _short(spoken.name)
    if not spoken.machine:
        found = _found(short, files_for(short, folders), folders)
        full = _TMEM.sub("", name.replace(" ", "")) + (f"<{','.join(args)}>" if args else "")
        return None if found is None else _kept(found, full, args, folders, machine)
    matches = [found for file in files_for(short, folders) if (found := find(file, short)) is not None]
    return _of_machine(matches, args, folders, machine)


def _of_machine(matches: list[Match], args: tuple[str, ...], folders: tuple[str, ...], machine: Gpu) -> LibraryEntry | None:
    """The operation of those that have a name which is that of an architecture; its name says which, where that is needed."""
    meant = [match for match in matches if not machine.arch or machine.arch in match.family.archs]
    if not meant:
        if matches:
            have = ", ".join(dict.fromkeys(arch for match in matches for arch in match.family.archs))
            raise SpecError(f"{machine.arch} has no {matches[0].name}", hint=f"it is an instruction of {have}")
        return None
    if len(meant) > 1:
        archs = [match.family.file.word("arch") for match in meant]
        hint = f"`arch={archs[0]}`, or {archs[0]}::{meant[0].name}"
        raise SpecError(f"{meant[0].name} is an instruction of {' and of '.join(archs)}; their layouts differ", hint=hint)
    (match,) = meant
    given = match.family.arguments(match.name, args, machine.words())
    template = [f"{key}={value}" if key == "wave" else value for key, value in given.items()]
    full = match.name + (f"<{','.join(item.rpartition('=')[2] for item in template)}>" if template else "")
    if len(matches) > 1:
        full = f"{match.family.file.word('arch')}::{full}"
    out = _kept(match, full, args, folders, machine)
    threads = size(out.layouts["ThrID"])
    if machine.wave not in (0, threads) and "wave" not in given:
        raise SpecError(f"{match.name} runs on {threads} threads, not {machine.wave}", hint=f"`wave={threads}`")
    return out


def _kept(match: Match, full: str, args: tuple[str, ...], folders: tuple[str, ...], machine: Gpu) -> LibraryEntry:
    """The operation of a match, as `entry` has it. Raises: SpecError for one of a user's file that does not keep its promises;
    those of ours are tested."""
    family = match.family
    if is_own(family.file.path):
        return entry(match, full, args, folders, machine)
    from cute_viz.spec import promises

    for error in chain(promises.of_head(family.file), promises.of_fields(family)):
        raise error
    out = entry(match, full, args, folders, machine)
    for error in promises.of_layouts(family, out):
        raise error.but(message=f"{match.name}: {error.message}")
    return out


def entry(
    match: Match,
    full: str,
    args: tuple[str, ...],
    folders: tuple[str, ...] = (),
    machine: Gpu = ANY,
    wrong: dict[str, CuteVizError] | None = None,
) -> LibraryEntry:
    """The operation of a match and its template arguments; that of a `reverse` is looked for in its own file first. `wrong`
    receives the mistakes of its layouts, as `FilledEntry.layouts` has it."""
    family = match.family
    reverse = family.fields.get("reverse")
    if reverse is None:
        out = FilledEntry(match, full, args, machine.words()).entry(wrong=wrong)
        if "ValBits" not in out.instruction.arguments or len(args) == len(out.instruction.arguments):
            return out
        return replace(out, of_bits=lambda bits: entry(match, full, args, folders, replace(machine, bits=bits)))
    other = Pattern(str(reverse)).filled(match.bound)
    found = _found(other, [family.file]) or _found(other, files_for(other, folders))
    if found is None:
        raise family.wrong(f"{match.name} is the reverse of {other}, which the library does not have", reverse)
    if "reverse" in found.family.fields:
        raise family.wrong(f"{match.name} is the reverse of {other}, which is a reverse itself", reverse)
    return FilledEntry(match, full, args).entry(FilledEntry(found, other, args).entry())


def _found(name: str, files: Iterable[LibraryFile], folders: tuple[str, ...] = ()) -> Match | None:
    """The first entry of a name. Raises: SpecError where two files of a user's folder have it, whose order means nothing."""
    first, where = None, ""
    for file in files:
        if first is not None and not file.path.startswith(where):
            break
        if (found := find(file, name)) is None:
            continue
        if first is not None:
            raise found.family.wrong(f"{name} is in {first.family.file.path}, too", hint="remove one of them")
        first, where = found, next((os.path.join(x, "") for x in folders if file.path.startswith(os.path.join(x, ""))), "")
        if not where:
            break
    return first


def resolve(name: str, args: tuple[str, ...] = (), folders: tuple[str, ...] = (), machine: Gpu = ANY) -> MMA_Atom | CopyOp | None:
    """The atom of a name, also of an unambiguous short form; None where nothing of this kind is meant. Raises: SpecError for a
    name that looks like an atom's and is not one; the error names the nearest."""
    known = lookup(name, args, folders, machine)
    if known is None and re.search(r"[.(]|^m\d+n", name):
        from cute_viz.spec.spoken import meant

        if (called := meant(name, folders)) is not None:
            known = lookup(called.name, args or called.args, folders, machine)
    if known is not None:
        return known.atom()
    if name.endswith("AutoCopyAsync"):  # `copy` alone knows it: it has no Copy_Traits (cute/arch/copy.hpp)
        plain = resolve("DefaultCopy", (), folders)
        return (
            None if plain is None else replace(plain, name="AutoCopyAsync", instruction=Instruction("AutoCopyAsync", "auto.async"))
        )
    spoken = names.spoken(name)
    short = _short(spoken.name)
    if (
        not re.match(r"SM\d+_\w|\d+x\d+x\d+|GMMA_\d|MMA_\d|XE_\w|[fi]\d+_\d+x\d|U(16|32)x\d_(LDSM|STSM)", short)
        and not spoken.machine
    ):
        return None
    from cute_viz.spec.listing import listing

    arch = spoken.arch or machine.arch
    every = list(dict.fromkeys(x.name for x in listing(folders) if not arch or arch in x.archs))
    near = [full for full in every if _completed(short, full)]
    if len(near) == 1 or (near and all(full.startswith(near[0]) for full in near)):
        arch = f"{spoken.arch}::" if spoken.arch else ""
        known = lookup(arch + (_completed(short, near[0]) or ""), args, folders, machine)
        if known is not None:
            return known.atom()
    from difflib import get_close_matches

    near = near[:4] or get_close_matches(short, every, n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "cute-viz list mma and cute-viz list copy name them all"
    raise SpecError(f"there is no atom {name!r}", hint=hint)


def describe(full: str, folders: tuple[str, ...] = (), machine: Gpu = ANY) -> dict[str, Any]:
    """What the library says of an operation beyond its layouts: architecture, element types, further layouts, source."""
    name, _, rest = full.partition("<")
    known = lookup(name, tuple(split_arguments(rest.rpartition(">")[0])), folders, machine)
    if known is None:
        return {}
    op = known.instruction
    of_sm = op.arch.startswith("sm")
    out: dict[str, Any] = {"arch": op.arch.upper() if of_sm else ", ".join(known.archs)}
    if op.types:
        out["types"] = ", ".join(f"{x} {kind}" for x, kind in zip("ABCD", op.types, strict=False))
    further = ("ELayout", "SFALayout", "SFBLayout", "ValID")
    layouts = {key: Plain.of(mark_static(value) if of_sm else value) for key, value in known.layouts.items() if key in further}
    memory = ", ".join(f"{x} {space}" for x, space in zip("SD" if known.kind == "copy" else "ABC", op.memory, strict=False))
    more = {"memory": memory, "PTX": op.ptx, "DSL": op.dsl.partition("; ")[0], "SASS": op.sass, "PTX ISA": op.isa}
    more |= {"note": known.note, "source": op.source}
    return {**out, **layouts, **{key: value for key, value in more.items() if value}}


def split_arguments(text: str) -> list[str]:
    """The template arguments of `a,b<c,d>,e`."""
    out, depth, start = [], 0, 0
    for n, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            out.append(text[start:n].strip())
            start = n + 1
    return [*out, text[start:].strip()] if text.strip() else []


def _completed(short: str, full: str) -> str | None:
    """The name that another is a beginning of, up to an underscore, with or without its SM80_; {N} becomes the number there."""
    pattern = re.sub(r"\\\{\w+\\\}", r"(\\d+)", re.escape(full))
    # Without the word in front, too, and without the types before the shape: 16x16x16_f16.
    fronts = (r"^$", r"^(SM\d+|GMMA|XE|v)_", r"^v_[a-z]+_", r"^v_\w+?_(?=\d+x)")
    for candidate in dict.fromkeys(re.sub(front, "", pattern) for front in fronts):
        pieces = candidate.split("_")
        for n in range(1, len(pieces) + 1):
            if "_" in short and (match := re.fullmatch("_".join(pieces[:n]), short)) is not None:
                for number in match.groups():
                    full = re.sub(r"\{\w+\}", number, full, count=1)
                return full
    return None


_TMEM = re.compile(r"^(?:cute::)?(?:SM100::TMEM::\w+::)?")  # `using` brings its names into cute itself (copy_traits_sm100.hpp)


def _short(name: str) -> str:
    """A name without its namespaces; SM90::GMMA::MMA_64x... is called SM90_64x..."""
    plain = name.replace(" ", "")
    spaces = re.match(
        r"(?:(?:cute|cutlass|arch|detail|SM\d+|GMMA|UMMA|SPARSE|BLOCKSCALED|TMEM|LOAD(?:_STAT)?|STORE|UTCCP)::)+", plain
    )
    return re.sub(r"^MMA_(?=64x)", "SM90_", plain[spaces.end() :] if spaces else plain)
