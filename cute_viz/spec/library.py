"""The library of atoms: the name of an MMA or copy operation -> its layouts, from the YAML files in layouts/.

A file holds families: a name with {parameters}, the values that these take, and layouts that may use them as numbers.
Finding one atom reads the family's lines alone; the library as a whole is read for listings and for did-you-mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.errors import CuteVizError
from cute_viz.notation import parse
from cute_viz.notation.values import mark_static
from cute_viz.spec.yaml import Fields, SpecError, Text, Value, read_yaml

if TYPE_CHECKING:
    from cute_viz.algebra.copy import CopyOp
    from cute_viz.algebra.mma import MMA_Atom

_NAMESPACES = re.compile(r"(?:(?:cute|cutlass|arch|detail|SM\d+|GMMA|UMMA|SPARSE|BLOCKSCALED)::)+")
_TYPES = re.compile(r"BF16|TF32|GC64|C64|CTF32|CF32|F64|F32|F16|E\dM\d|[SU]\d+")
_FIELDS = (
    *("where", "args", "types", "K", "Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout", "ELayout", "SFALayout", "SFBLayout"),
    *("SrcLayout", "DstLayout", "RefLayout", "ValID", "inherits", "reverse", "incongruent", "note"),
)
MMA_KEYS = ("Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout", "ELayout", "SFALayout", "SFBLayout")
COPY_KEYS = ("ThrID", "SrcLayout", "DstLayout", "RefLayout", "ValID")


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation of the library.

    name: with its template arguments. kind: "mma" or "copy". source: the CUTLASS files it was taken from.
    layouts: Shape_MNK, ThrID, ALayout ... or SrcLayout ..., by CuTe's names.
    arguments: what the name's parameters and template arguments are.
    """

    name: str
    kind: str
    arch: str
    source: str
    layouts: dict[str, Any]
    types: tuple[str, ...] = ()
    arguments: dict[str, str] = field(default_factory=dict)

    def atom(self) -> MMA_Atom | CopyOp:
        """The object that the algebra computes with."""
        x = self.layouts
        if self.kind == "copy":
            from cute_viz.algebra.copy import CopyOp

            return CopyOp(self.name, x["ThrID"], x["SrcLayout"], x["DstLayout"], x["RefLayout"])
        from cute_viz.algebra.mma import MMA_Atom

        return MMA_Atom(x["ThrID"], x["Shape_MNK"], x["ALayout"], x["BLayout"], x["CLayout"], self.name, self.types)


@dataclass(frozen=True, slots=True)
class _Family:
    """The lines of one family, not read yet."""

    key: str
    path: str
    line: int
    text: str

    @property
    def pattern(self) -> str:
        return self.key.partition("/")[0]


def directories() -> list[str]:
    """Where libraries are: those of CUTE_VIZ_LAYOUTS first, then the one that comes with cute-viz."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    own = os.path.join(here, "layouts")
    if not os.path.isdir(own):  # an editable install: beside the package
        own = os.path.join(os.path.dirname(here), "layouts")
    return [*(part for part in os.environ.get("CUTE_VIZ_LAYOUTS", "").split(os.pathsep) if part), own]


def _yaml_files(directory: str) -> list[str]:
    """The YAML files of a folder and those in it, in order."""
    found = [os.path.join(at, name) for at, _, names_ in os.walk(directory) for name in names_ if name.endswith((".yaml", ".yml"))]
    return sorted(found)


def lookup(name: str, args: tuple[str, ...] = ()) -> Entry | None:
    """The entry of a name and its template arguments, or None.

    Refused: a name of the library with arguments that it does not take.

    >>> str(lookup("SM80_16x8x16_F32BF16BF16F32_TN").layouts["CLayout"])
    '((_4,_8),(_2,_2)):((_32,_1),(_16,_8))'
    >>> lookup("SM90_64x200x16_F16F16F16_SS").layouts["Shape_MNK"]
    (Static(64), Static(200), Static(16))
    """
    short = _short(name)
    for path in _files(short):
        families = _families(path)
        for family in families:
            bound = _match(family, short, families)
            if bound is not None:
                return _entry(family, families, short, name, bound, args)
    return None


def resolve(name: str, args: tuple[str, ...] = ()) -> MMA_Atom | CopyOp | None:
    """The atom of a name, also of an unambiguous short form; None where nothing of this kind is meant.

    Refused: a name that looks like an atom's and is none; the error names the nearest.
    """
    entry = lookup(name, args)
    if entry is not None:
        return entry.atom()
    short = _short(name)
    if not re.match(r"SM\d+_\w|\d+x\d+x\d+|GMMA_\d|MMA_\d|U(16|32)x\d_(LDSM|STSM)", short):
        return None
    near = [full for full in names() if _abbreviates(short, full)]
    if len(near) == 1 or (near and all(full.startswith(near[0]) for full in near)):
        entry = lookup(near[0], args)
        if entry is not None:
            return entry.atom()
    from difflib import get_close_matches

    near = near[:4] or get_close_matches(short, names(), n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "cute-viz list mma and cute-viz list copy name them all"
    raise SpecError(f"there is no atom {name!r}", hint=hint)


def spec_file(name: str) -> str | None:
    """The YAML file of the libraries that holds a spec of this name, or is called so; None where there is none."""
    for directory in directories():
        for path in _yaml_files(os.path.join(directory, "specs") if os.path.isdir(os.path.join(directory, "specs")) else directory):
            if not _is_library(path):
                stem = os.path.splitext(os.path.basename(path))[0]
                if stem == name or re.search(rf"^  {re.escape(name)}:", _text(path), re.M):
                    return path
    return None


def describe(full: str) -> dict[str, Any]:
    """What the library says of an operation beyond its layouts: architecture, element types, further layouts, source.

    >>> describe("SM80_16x8x16_F32BF16BF16F32_TN")["types"]
    'A bf16, B bf16, C f32, D f32'
    """
    name, _, rest = full.partition("<")
    entry = lookup(name, tuple(split_arguments(rest.rpartition(">")[0])))
    if entry is None:
        return {}
    out: dict[str, Any] = {"arch": entry.arch.upper()}
    if entry.types:
        out["types"] = ", ".join(f"{x} {kind}" for x, kind in zip("ABCD", entry.types, strict=False))
    plain = {key: clean(value) for key, value in entry.layouts.items() if key in ("ELayout", "SFALayout", "SFBLayout", "ValID")}
    return {**out, **plain, "source": entry.source}


def clean(value: Any) -> str:
    """A value as CuTe prints it, less the underscores of static integers."""
    return re.sub(r"_(?=-?\d)", "", show(value))


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


def names(kind: str | None = None) -> list[str]:
    """Every name, with ranges such as {N} left in."""
    return [listed.name for listed in listing() if kind in (None, listed.kind)]


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a listing: a name, perhaps with a {N} left in, what its parameters take, and its template arguments."""

    name: str
    kind: str
    arch: str
    args: str
    ranges: str


def listing() -> Iterator[Listed]:
    """Every family with its words spelt out and its numbers left as {N}."""
    for directory in directories():
        for path in _yaml_files(directory):
            families = _families(path)
            if not families:
                continue
            head = _header(path)
            for family in families:
                fields = _fields(family, families)
                domains = {key: str(value) for key, value in _mapping(fields.get("where")).items()}
                ranges = [
                    f"{key} = {value}" for key, value in domains.items() if "{" + key + "}" in family.pattern and ".." in value
                ]
                for full in _spelt(family.pattern, {k: v for k, v in domains.items() if ".." not in v}):
                    yield Listed(full, head["library"], head["arch"], str(fields.get("args", "")), ", ".join(ranges))


def _spelt(pattern: str, domains: dict[str, str]) -> list[str]:
    out = [pattern]
    for key, domain in domains.items():
        slot = "{" + key + "}"
        if slot in pattern:
            out = [one.replace(slot, "" if word == "-none" else word) for one in out for word in domain.split()]
    return out


def _abbreviates(short: str, full: str) -> bool:
    """Whether a name is a beginning of another one up to an underscore, with or without its SM80_; {N} stands for any number."""
    pattern = re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(full))
    for candidate in (pattern, re.sub(r"^(SM\d+|GMMA)_", "", pattern)):
        pieces = candidate.split("_")
        if any(re.fullmatch("_".join(pieces[:n]), short) for n in range(1, len(pieces) + 1)) and "_" in short:
            return True
    return False


def _short(name: str) -> str:
    """A name without its namespaces; SM90::GMMA::MMA_64x... is called SM90_64x..."""
    out = _NAMESPACES.sub("", name.replace(" ", ""), count=1) if _NAMESPACES.match(name.replace(" ", "")) else name.replace(" ", "")
    return re.sub(r"^MMA_(?=64x)", "SM90_", out)


def _files(short: str) -> list[str]:
    """The files that may hold a name: all of a user's, of ours those of its architecture."""
    *users, own = directories()
    match = re.match(r"SM(\d+)_", short)
    stem = "sm90_sparse" if short.startswith("GMMA_") else f"sm{match[1]}" if match else "universal"
    files = [path for directory in users for path in _yaml_files(directory) if _is_library(path)]
    files += [path for path in (os.path.join(own, kind, f"{stem}.yaml") for kind in ("mma", "copy")) if os.path.isfile(path)]
    return files


def _is_library(path: str) -> bool:
    return re.search(r"^library:", _text(path), re.M) is not None


_cache: dict[str, tuple[int, str]] = {}


def _text(path: str) -> str:
    stamp = os.stat(path).st_mtime_ns
    if path not in _cache or _cache[path][0] != stamp:
        with open(path, encoding="utf-8") as file:
            _cache[path] = (stamp, file.read())
    return _cache[path][1]


def _families(path: str) -> list[_Family]:
    """The families of a file by their lines: a key without indent, and what is indented under it."""
    out: list[_Family] = []
    if not _is_library(path):
        return out
    lines = _text(path).split("\n")
    starts = [n for n, line in enumerate(lines) if line and line[0] not in " #\t\r"]
    for n, start in enumerate(starts):
        key = lines[start].rstrip()
        end = starts[n + 1] if n + 1 < len(starts) else len(lines)
        if key.endswith(":") and key not in ("layouts:", "source:"):
            out.append(_Family(key[:-1], path, start, "\n".join(lines[start:end])))
    return out


def _header(path: str) -> dict[str, str]:
    """What stands at the top of a library file: library, arch, source."""
    text = _text(path)
    found = {key: (match[1].strip() if (match := re.search(rf"^{key}:(.*)$", text, re.M)) else "") for key in ("library", "arch")}
    source = re.search(r"^source:\s*(?:>-)?\s*((?:.+\n?(?:[ ]+.+\n?)*))", text, re.M)
    found["source"] = " ".join(source[1].split()) if source else ""
    if found["library"] not in ("mma", "copy"):
        raise SpecError(f"library is mma or copy, not {found['library']!r}", name=path)
    return found


def _read(family: _Family) -> Fields:
    """The fields of a family; empty lines in front keep the line numbers of errors right."""
    value = read_yaml("\n" * family.line + family.text, family.path)
    assert isinstance(value, Fields)
    fields = value[family.key]
    if not isinstance(fields, Fields):
        raise SpecError(f"{family.key} needs fields", name=family.path)
    for key in fields:
        if key not in _FIELDS:
            from difflib import get_close_matches

            near = get_close_matches(key, _FIELDS, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(_FIELDS)}"
            text = "\n" * family.line + family.text
            raise SpecError(f"{key!r} is no field of an atom", text=text, span=fields.keys_at[key], name=family.path, hint=hint)
    return fields


def _fields(family: _Family, families: list[_Family], depth: int = 0) -> dict[str, Value]:
    """The fields of a family, those that it inherits first."""
    own = _read(family)
    parent = own.get("inherits")
    if parent is None:
        return dict(own)
    found = [other for other in families if other.key == parent]
    if not found or depth > 8:
        raise SpecError(f"{family.key} inherits {parent!r}, which this file does not have", name=family.path)
    return {**_fields(found[0], families, depth + 1), **{k: v for k, v in own.items() if k != "inherits"}}


def _mapping(value: Value | None) -> dict[str, Value]:
    return dict(value) if isinstance(value, Fields) else {}


def _match(family: _Family, short: str, families: list[_Family]) -> dict[str, str] | None:
    """The parameters with which a family's name is the given one; None where it is another name."""
    pattern = family.pattern
    if not short.startswith(pattern.partition("{")[0]):
        return None
    if "{" not in pattern:
        return {} if short == pattern else None
    regex = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*?)", re.escape(pattern))
    match = re.fullmatch(regex, short)
    if match is None:
        return None
    domains = _mapping(_fields(family, families).get("where"))
    expression = re.sub(r"\\\{(\w+)\\\}", lambda m: f"(?P<{m[1]}>{_alternatives(str(domains.get(m[1], '')))})", re.escape(pattern))
    match = re.fullmatch(expression, short)
    if match is None:
        return None
    bound = match.groupdict()
    return bound if all(_in_range(str(domains.get(key, "")), value) for key, value in bound.items()) else None


def _alternatives(domain: str) -> str:
    if ".." in domain:
        return r"\d+"
    return "|".join("" if word == "-none" else re.escape(word) for word in domain.split()) or r"\w+"


def _in_range(domain: str, value: str) -> bool:
    """Whether a value lies in a domain such as `8..256/8`, `8..32/8 48..256/16` or `64 128`."""
    return not domain or any(
        value.isdecimal() and int(value) in numbers(word) if ".." in word else value == ("" if word == "-none" else word)
        for word in domain.split()
    )


def numbers(word: str) -> range:
    """The numbers of a range of the library.

    >>> list(numbers("8..32/8"))
    [8, 16, 24, 32]
    """
    low, _, rest = word.partition("..")
    high, _, step = rest.partition("/")
    return range(int(low), int(high) + 1, int(step or 1))


def _entry(
    family: _Family, families: list[_Family], short: str, name: str, bound: dict[str, str], args: tuple[str, ...]
) -> Entry | None:
    """The family with its parameters filled in."""
    fields = _fields(family, families)
    head = _header(family.path)
    values = {**bound, **_arguments(family, fields, short, args)}
    full = name.replace(" ", "") + (f"<{','.join(args)}>" if args else "")
    if (reverse := fields.get("reverse")) is not None:
        other = str(reverse)
        for key, value in bound.items():
            other = other.replace("{" + key + "}", value)
        forward = lookup(other, args)
        if forward is None:
            return None
        x = forward.layouts
        layouts = {**x, "SrcLayout": x["DstLayout"], "DstLayout": x["SrcLayout"]}
        layouts["RefLayout"] = layouts["DstLayout" if x["RefLayout"] == x["SrcLayout"] else "SrcLayout"]
        return Entry(full, head["library"], head["arch"], head["source"], layouts, (), values)
    types = _types(fields, short, values)
    layouts = _layouts(family, fields, values, head["library"])
    return Entry(full, head["library"], head["arch"], head["source"], layouts, types, values)


def _arguments(family: _Family, fields: dict[str, Value], short: str, args: tuple[str, ...]) -> dict[str, str]:
    """The template arguments by the family's names for them, defaults filled in, numbers checked."""
    wanted = str(fields.get("args", "")).split()
    if len(args) > len(wanted):
        takes = f"takes at most {len(wanted)}: <{', '.join(wanted)}>" if wanted else "takes none"
        raise SpecError(f"{short} {takes} template arguments, not {len(args)}")
    out: dict[str, str] = {}
    for n, item in enumerate(wanted):
        key, _, default = item.partition("=")
        value = args[n] if n < len(args) else out.get(default, default)
        if not value:
            raise SpecError(f"{short} needs its template arguments", hint=f"<{', '.join(wanted)}>")
        out[key] = re.sub(r"^[\w:]*::", "", value)
        domain = str(_mapping(fields.get("where")).get(key, ""))
        if not _in_range(domain, out[key]):
            raise SpecError(f"{short}: {key} = {out[key]} is not legal", hint=f"{key} is one of {domain}")
    return out


def _types(fields: dict[str, Value], short: str, values: dict[str, str]) -> tuple[str, ...]:
    """The element types of A, B, C and D: given, template arguments, or as the name spells them (D, A, B, C)."""
    if "types" in fields:
        d, a, b, c = str(fields["types"]).split()
        return (a, b, c, d)
    if "A" in values:
        a, b = values["A"], values.get("B", values["A"])
        c = values.get("C", a)
        return (a, b, c, values.get("D", c))
    for piece in short.split("_"):
        tokens = [token.lower() for token in _TYPES.findall(piece)]
        if len(tokens) >= 3 and "".join(tokens) == piece.lower():
            d, a, b = tokens[:3]
            return (a, b, tokens[3] if len(tokens) > 3 else d, d)
    return ()


def _layouts(family: _Family, fields: dict[str, Value], values: dict[str, str], kind: str) -> dict[str, Any]:
    """Every layout of the family, its expressions evaluated with the parameters as names."""
    numbers: dict[str, Any] = {key: int(value) for key, value in values.items() if value.isdecimal()}
    if kind == "copy" and "S" in values:
        from cute_viz.algebra.recast import bits_of

        numbers["bits"] = bits_of(values["S"])
    shared = _shared(family.path)
    if "K" in fields:
        numbers["K"] = _evaluate(family, _select(fields["K"], values), numbers)
    raw = str(fields.get("incongruent", ""))
    out: dict[str, Any] = {}
    for key in MMA_KEYS if kind == "mma" else COPY_KEYS:
        if key not in fields:
            if key in (*MMA_KEYS[:5], *COPY_KEYS[:4]):
                raise SpecError(f"{family.key} has no {key}", name=family.path)
            continue
        text = _select(fields[key], values)
        text = shared.get(str(text), text)
        if text in ("Src", "Dst"):
            out[key] = out[f"{text}Layout"]
        elif key == raw:
            shape, _, stride = str(text).partition("):(")
            out[key] = trusted(*map(mark_static, (parse(shape + ")"), parse("(" + stride))))
        else:
            value = mark_static(_evaluate(family, text, numbers))
            out[key] = Layout(value) if key == "ThrID" and not isinstance(value, Layout) else value
    return out


def _select(value: Value, values: dict[str, str]) -> Text:
    """A value, or of a mapping the one for a parameter's value."""
    if isinstance(value, Fields):
        chosen = next((value[word] for word in values.values() if word in value), value.get("else"))
        if not isinstance(chosen, Text):
            raise SpecError(f"none of {', '.join(value)} is among the parameters {', '.join(values.values())}")
        return chosen
    if not isinstance(value, Text):
        raise SpecError("a layout is written as text")
    return value


def _shared(path: str) -> dict[str, Text]:
    """The layouts that a file names once for several families."""
    text = _text(path)
    match = re.search(r"^layouts:\n((?:[ ]+.*\n|\n)*)", text, re.M)
    if match is None:
        return {}
    fields = read_yaml("\n" * text.count("\n", 0, match.start()) + match[0], path)
    assert isinstance(fields, Fields)
    return {key: value for key, value in _mapping(fields["layouts"]).items() if isinstance(value, Text)}


def _evaluate(family: _Family, text: str, numbers: dict[str, Any]) -> Any:
    try:
        return parse(str(text), numbers)
    except CuteVizError as error:
        error.name = f"{family.path}: {family.key}"
        raise
