"""One entry of the library, a family of names: its fields, the names that it has, and what their parameters are."""

from __future__ import annotations

import re
from functools import lru_cache

from cute_viz.errors import did_you_mean
from cute_viz.limits import limit, over
from cute_viz.spec.domains import allows, alternatives, numbers
from cute_viz.spec.library_files import Block, LibraryFile, read_block
from cute_viz.spec.yaml import Fields, SpecError, Text, Value

MMA_KEYS = ("Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout", "ELayout", "SFALayout", "SFBLayout")
COPY_KEYS = ("ThrID", "SrcLayout", "DstLayout", "RefLayout", "ValID")
BY_VALUE = (*dict.fromkeys((*MMA_KEYS, *COPY_KEYS)), "K")  # those that may differ by the value of a parameter
FIELDS = ("where", "args", "types", "inherits", "reverse", "incongruent", "source", *BY_VALUE)

_TYPES = r"BF16|TF32|GC64|C64|CTF32|CF32|F64|F32|F16|E\dM\d|[SU]\d+"
_SLOT = r"\{([A-Za-z_]\w*)\}"


def pattern_of(family: Block) -> str:
    """The name with its {parameters}; what follows a / only tells two keys apart.

    >>> pattern_of(Block("x.yaml", "", "SM90_64x{N}x16_F16/sparse", 0, 0))
    'SM90_64x{N}x16_F16'
    """
    return family.key.partition("/")[0]


def slots(family: Block) -> list[str]:
    """The parameters of the name, in order.

    >>> slots(Block("x.yaml", "", "SM90_64x{N}x16_{ab}", 0, 0))
    ['N', 'ab']
    """
    return list(dict.fromkeys(re.findall(_SLOT, pattern_of(family))))


@lru_cache(maxsize=4096)
def own_fields(family: Block) -> Fields:
    """The fields that an entry itself has.

    Refused: unknown ones, what is neither text nor, where that may be, a mapping of texts, ranges that are none.

    >>> dict(own_fields(Block("x.yaml", "A: {types: f32 f16 f16 f32}", "A", 0, 27)))
    {'types': 'f32 f16 f16 f32'}
    """
    fields = read_block(family)
    if not isinstance(fields, Fields):
        raise family.wrong(f"{family.key} needs fields", fields if fields else None, hint=f"some of {', '.join(FIELDS)}")
    for key, value in fields.items():
        if key not in FIELDS:
            hint = did_you_mean(key, FIELDS) or f"one of {', '.join(FIELDS)}"
            raise family.wrong(f"{key!r} is no field of an atom", fields.keys_at[key], hint)
        if key == "where":
            _check_ranges(family, value)
            continue
        for item in value.values() if isinstance(value, Fields) and key in BY_VALUE else [value]:
            if not isinstance(item, Text):
                raise family.wrong(f"{key} is not written as text", item, hint="in a flow mapping, quote a layout")
    return fields


def _check_ranges(family: Block, where: Value) -> None:
    if not isinstance(where, Fields):
        raise family.wrong("where is a mapping of parameters to their values", where, hint="such as {N: 8..256/8, ab: SS TS}")
    for domain in (item for value in where.values() for item in (value.values() if isinstance(value, Fields) else [value])):
        if not isinstance(domain, Text):
            raise family.wrong("where is not written as text", domain, hint="words, and ranges such as 8..256/8")
        for word in domain.split():
            if ".." in word:
                try:
                    numbers(word)
                except SpecError as error:
                    raise family.wrong(error.message, domain, error.hint) from None


def fields_of(file: LibraryFile, family: Block, below: tuple[str, ...] = ()) -> dict[str, Value]:
    """The fields of an entry, those that it inherits first.

    Refused: a parent that the file does not have, an entry that inherits from itself.

    >>> from cute_viz.spec.library_files import files_for
    >>> file = next(files_for("SM61_DP4A"))
    >>> list(fields_of(file, find(file, "SM61_DP4A")[0]))
    ['types', 'Shape_MNK', 'ThrID', 'ALayout', 'BLayout', 'CLayout']
    """
    own = own_fields(family)
    parent = own.get("inherits")
    if parent is None:
        return dict(own)
    found = next((other for other in file.families if other.key == parent), None)
    if found is None:
        hint = did_you_mean(str(parent), [other.key for other in file.families])
        raise family.wrong(f"{family.key} inherits {str(parent)!r}, which this file does not have", parent, hint)
    if found.key in (*below, family.key):
        raise family.wrong(f"{family.key} inherits from itself", parent)
    return {**fields_of(file, found, (*below, family.key)), **{k: v for k, v in own.items() if k != "inherits"}}


def domains_of(fields: dict[str, Value], values: dict[str, str] | None = None) -> dict[str, str]:
    """What the parameters and template arguments may be; where that depends on another, as its value has it, or any of all.

    >>> fields = own_fields(Block("x.yaml", "A: {where: {M: 64 128, N: {64: 8..256/8, 128: 16..256/16}}}", "A", 0, 63))
    >>> domains_of(fields), domains_of(fields, {"M": "128"})["N"]
    ({'M': '64 128', 'N': '8..256/8 16..256/16'}, '16..256/16')
    """
    where = fields.get("where")
    if not isinstance(where, Fields):
        return {}
    out = {}
    for key, value in where.items():
        several = value if isinstance(value, Fields) else {"": value}
        chosen_ = [several[word] for word in (values or {}).values() if word in several][:1] or list(several.values())
        out[key] = " ".join(map(str, chosen_))
    return out


def legal(fields: dict[str, Value], values: dict[str, str]) -> bool:
    """Whether template arguments may have these values together.

    >>> fields = own_fields(Block("x.yaml", "A: {where: {M: 64 128, N: {64: 8..256/8, 128: 16..256/16}}}", "A", 0, 63))
    >>> legal(fields, {"M": "64", "N": "8"}), legal(fields, {"M": "128", "N": "8"})
    (True, False)
    """
    items = list(values.items())
    return all(allows(domains_of(fields, dict(items[:n])).get(key, ""), value) for n, (key, value) in enumerate(items))


def find(file: LibraryFile, short: str) -> tuple[Block, dict[str, str]] | None:
    """The entry that has a name, and the parameters with which it does; None where no entry has it.

    >>> from cute_viz.spec.library_files import files_for
    >>> family, bound = find(next(files_for("SM90_64x8x16")), "SM90_64x8x16_F32F16F16_SS")
    >>> family.key, bound
    ('SM90_64x{N}x16_{types}_SS', {'N': '8', 'types': 'F32F16F16'})
    """
    for family in file.families:
        bound = _match(file, family, short)
        if bound is not None:
            return family, bound
    return None


def _match(file: LibraryFile, family: Block, short: str) -> dict[str, str] | None:
    pattern = pattern_of(family)
    if not short.startswith(pattern.partition("{")[0]):
        return None
    if "{" not in pattern:
        return {} if short == pattern else None
    if re.fullmatch(_expression(pattern, None), short) is None:  # before any YAML is read
        return None
    domains = domains_of(fields_of(file, family))
    match = re.fullmatch(_expression(pattern, domains), short)
    if match is None:
        return None
    bound = match.groupdict()
    return bound if all(allows(domains.get(key, ""), value) for key, value in bound.items()) else None


def _expression(pattern: str, domains: dict[str, str] | None) -> str:
    """A name with its parameters as named groups; one that comes again is the same again."""
    seen: set[str] = set()

    def group(slot: re.Match[str]) -> str:
        key = slot[1]
        if key in seen:
            return f"(?P={key})"
        seen.add(key)
        return f"(?P<{key}>{'.*?' if domains is None else alternatives(domains.get(key, ''))})"

    return re.sub(r"\\\{([A-Za-z_]\w*)\\\}", group, re.escape(pattern))


def arguments(fields: dict[str, Value], short: str, args: tuple[str, ...]) -> dict[str, str]:
    """The template arguments by the entry's names for them, defaults filled in, numbers checked.

    Refused: more than the entry takes, one that is missing, one that is not legal.

    >>> from cute_viz.spec.yaml import read_yaml
    >>> arguments(read_yaml("args: D A=D B=A C=D"), "UniversalFMA", ("cute::half_t",))
    {'D': 'half_t', 'A': 'half_t', 'B': 'half_t', 'C': 'half_t'}
    """
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
        if value.isdecimal() and len(value) > limit("digits"):
            raise over("digits", f"{short}: {key} has {len(value)} digits")
        domain = domains_of(fields, out).get(key, "")
        out[key] = re.sub(r"^[\w:]*::", "", value)
        if not allows(domain, out[key]):
            raise SpecError(f"{short}: {key} = {out[key]} is not legal", hint=f"{key} is one of {domain}")
    return out


def types_of(family: Block, fields: dict[str, Value], short: str, values: dict[str, str]) -> tuple[str, ...]:
    """The element types of A, B, C and D: given, template arguments, or as the name spells them (D, A, B, C).

    >>> types_of(Block("x.yaml", "", "", 0, 0), {}, "SM80_16x8x16_F32F16F16F32_TN", {})
    ('f16', 'f16', 'f32', 'f32')
    """
    if "types" in fields:
        given = str(fields["types"]).split()
        if len(given) != 4:
            raise family.wrong("types are those of D, A, B and C", fields["types"], hint="such as f32 f16 f16 f32")
        d, a, b, c = given
        return (a, b, c, d)
    if "A" in values:
        a, b = values["A"], values.get("B", values["A"])
        c = values.get("C", a)
        return (a, b, c, values.get("D", c))
    for piece in short.split("_"):
        tokens = [token.lower() for token in re.findall(_TYPES, piece)]
        if len(tokens) >= 3 and "".join(tokens) == piece.lower():
            d, a, b = tokens[:3]
            return (a, b, tokens[3] if len(tokens) > 3 else d, d)
    return ()


def chosen(family: Block, value: Value, values: dict[str, str]) -> Text:
    """A value, or of a mapping the one for a parameter's value.

    Refused: a mapping that has no value for any of the parameters, and no `else`.

    >>> by_type = read_block(Block("x.yaml", "K: {f16: 16, else: 8}", "K", 0, 21))
    >>> [str(chosen(Block("x.yaml", "", "K", 0, 0), by_type, {"type": word})) for word in ("f16", "tf32")]
    ['16', '8']
    """
    if isinstance(value, Fields):
        found = next((value[word] for word in values.values() if word in value), value.get("else"))
        if found is None:
            raise family.wrong(f"none of {', '.join(value)} is among the parameters {', '.join(values.values())}", value)
        value = found
    assert isinstance(value, Text)  # own_fields has seen to it
    return value
