"""One entry of the library, a family of names: its fields, the names that it has, and what their parameters are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from cute_viz.errors import Span, did_you_mean
from cute_viz.limits import limit, over
from cute_viz.spec.library_files import OF_INSTRUCTION, LibraryFile, Section, read_block
from cute_viz.spec.names import Pattern, allows, in_words, numbers
from cute_viz.spec.yaml import Keys, SpecError, Text, Value
from cute_viz.values.types import spelt

MMA_KEYS = ("Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout", "ELayout", "SFALayout", "SFBLayout")
COPY_KEYS = ("ThrID", "SrcLayout", "DstLayout", "RefLayout", "ValID")
BY_VALUE = (*dict.fromkeys((*MMA_KEYS, *COPY_KEYS)), "K", *OF_INSTRUCTION)  # those that may differ by the value of a parameter
OF_MMA = ("blocks", "stored", "warp")  # what else is known of an MMA: see layouts/LIBRARY.md
_OWN = "where args aliases widths fits types inherits reverse incongruent source also note partial"
FIELDS = (*_OWN.split(), *OF_MMA, *BY_VALUE)


class Match(NamedTuple):
    """An entry that has a name, and the parameters with which it does."""

    family: Family
    name: str
    bound: dict[str, str]


class Family:
    """An entry as it is in its file. Nothing of it is read before it is asked for, and nothing twice."""

    def __init__(self, file: LibraryFile, block: Section) -> None:
        self.file = file
        self.block = block

    @property
    def key(self) -> str:
        """Its key in the file."""
        return self.block.key

    def wrong(self, message: str, at: Value | Span | None = None, hint: str | None = None) -> SpecError:
        """The error of a value in it; without one, of its key."""
        return self.block.wrong(message, at, hint)

    @cached_property
    def pattern(self) -> Pattern:
        """The name with its {parameters}; what follows a / only tells two keys apart."""
        return Pattern(self.key.partition("/")[0])

    @cached_property
    def own(self) -> Keys:
        """The fields that the entry itself has. Raises: SpecError for unknown fields, values that are neither text nor, where
        allowed, a mapping of texts, and malformed ranges."""
        for error in self.mistakes.values():
            raise error
        return self.written

    @cached_property
    def written(self) -> Keys:
        """The fields as they stand there. Raises: SpecError for what has none."""
        fields = read_block(self.block)
        if not isinstance(fields, Keys):
            raise self.wrong(f"{self.key} needs fields", fields if fields else None, hint=f"some of {', '.join(FIELDS)}")
        return fields

    @cached_property
    def mistakes(self) -> dict[str, SpecError]:
        """The error of every field that cannot be read: one that is unknown, or holds something else than what it may."""
        out = {}
        for key, value in self.written.items():
            try:
                self._check(key, value)
            except SpecError as error:
                out[key] = error
        return out

    def _check(self, key: str, value: Value) -> None:
        """Refuse a field that cannot be read."""
        if key not in FIELDS:
            hint = did_you_mean(key, FIELDS) or f"one of {', '.join(FIELDS)}"
            raise self.wrong(f"{key!r} is not a field of an atom", self.written.keys_at[key], hint)
        if key == "where":
            return self._check_ranges(value)
        if key in ("widths", "aliases", "spelt"):
            return self._check_words(key, value)
        for item in value.values() if isinstance(value, Keys) and key in BY_VALUE else [value]:
            if not isinstance(item, Text):
                raise self.wrong(f"{key} must be text", item, hint="in a flow mapping, quote a layout")
        return None

    def _check_words(self, key: str, words: Value) -> None:
        items = list(words.values()) if isinstance(words, Keys) else [words]
        plain = isinstance(words, Keys) and all(isinstance(item, Text) for item in items)
        if not plain or (key == "widths" and not all(str(item).isdecimal() for item in items)):
            hint = "example: {bf: 16, u8: 8}" if key == "widths" else "example: {float: f, half_t: hf}"
            raise self.wrong(f"{key} must be a mapping of words to {'numbers' if key == 'widths' else 'words'}", words, hint=hint)

    def _check_ranges(self, where: Value) -> None:
        if not isinstance(where, Keys):
            raise self.wrong(
                "where must be a mapping of parameters to their values", where, hint="example: {N: 8..256/8, ab: SS TS}"
            )
        for domain in (item for value in where.values() for item in (value.values() if isinstance(value, Keys) else [value])):
            if not isinstance(domain, Text):
                raise self.wrong("the values of a parameter must be text", domain, hint="words, and ranges, for example 8..256/8")
            for word in domain.split():
                if ".." in word:
                    try:
                        numbers(word)
                    except SpecError as error:
                        raise self.wrong(error.message, domain, error.hint) from None

    @cached_property
    def fields(self) -> dict[str, Value]:
        """The fields of the entry, those that it inherits first. Raises: SpecError for a parent that the file does not have, an
        entry that inherits from itself."""
        line, seen = [self], {self.key}
        while (parent := line[-1].own.get("inherits")) is not None:
            found = next((other for other in families(self.file) if other.key == parent), None)
            if found is None:
                hint = did_you_mean(str(parent), [other.key for other in families(self.file)])
                raise line[-1].wrong(f"{line[-1].key} inherits {str(parent)!r}, which this file does not have", parent, hint)
            if found.key in seen:
                raise line[-1].wrong(f"{line[-1].key} inherits from itself", parent)
            seen.add(found.key)
            line.append(found)
        return {key: value for one in reversed(line) for key, value in one.own.items() if key != "inherits"}

    def said(self, key: str, values: Mapping[str, str]) -> str:
        """What the entry, or else its file, says in a field of its record; "" where neither says it. Parameters in braces are
        filled in, as `spelt` spells them."""
        at = self.fields.get(key, read_block(self.file.head[key]) if key in self.file.head else "")
        if isinstance(at, Keys):
            at = next((at[word] for word in at if word in values.values()), at.get("else", ""))
        text = " ".join(str(at).split())
        if "{" not in text:
            return text
        spelt = {
            **_words(read_block(self.file.head["spelt"]) if "spelt" in self.file.head else None),
            **_words(self.fields.get("spelt")),
        }
        filled = {name: spelt.get(value, value) for name, value in values.items()}
        return re.sub(r"\{(\w+)\}", lambda slot: filled.get(slot[1], ""), text)

    @cached_property
    def domains(self) -> dict[str, str]:
        """What the parameters and template arguments may be; where that depends on another, for any value of that."""
        return self.domains_with({})

    def domains_with(self, values: Mapping[str, str]) -> dict[str, str]:
        """What the parameters and template arguments may be beside these values of others."""
        where = self.fields.get("where")
        if not isinstance(where, Keys):
            return {}
        out = {}
        for key, value in where.items():
            several = value if isinstance(value, Keys) else {"": value}
            chosen = [several[word] for word in values.values() if word in several][:1] or list(several.values())
            out[key] = " ".join(map(str, chosen))
        return out

    def legal(self, values: Mapping[str, str]) -> bool:
        """Whether template arguments may have these values together, each beside those before it."""
        items = list(values.items())
        return all(allows(self.domains_with(dict(items[:n])).get(key, ""), value) for n, (key, value) in enumerate(items))

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures that have its operations: those of the file, or the file's own and those of `also`."""
        if "also" not in self.fields:
            return self.file.archs
        return (self.file.word("arch"), *(word for word in str(self.fields["also"]).split() if word != "-none"))

    def match(self, name: str) -> dict[str, str] | None:
        """The parameters with which the entry has a name; None where it has not."""
        if not self.pattern.may_be(name):  # before any YAML is read
            return None
        bound = self.pattern.bind(name, self.domains) if self.pattern.slots else {}
        if bound is None or not all(allows(self.domains.get(key, ""), value) for key, value in bound.items()):
            return None
        return bound

    @property
    def template(self) -> list[tuple[str, str]]:
        """The template arguments in order, each with its default, `""` where it has none."""
        parted = (item.partition("=") for item in str(self.fields.get("args", "")).split())
        return [(key, default) for key, _, default in parted]

    def arguments(self, name: str, args: tuple[str, ...], said: Mapping[str, str] | None = None) -> dict[str, str]:
        """The template arguments by the entry's names for them, defaults filled in, numbers checked.

        said: values of arguments that are not given, by their names, instead of their defaults.

        Raises: SpecError for more than the entry takes, one that is missing, one that is not legal.
        """
        wanted = str(self.fields.get("args", "")).split()
        if len(args) > len(wanted):
            takes = f"takes at most {len(wanted)}: <{', '.join(wanted)}>" if wanted else "takes none"
            raise SpecError(f"{name} {takes} template arguments, not {len(args)}")
        out: dict[str, str] = {}
        tcgen05 = self.said("kind", {}) == "tcgen05.mma"
        for n, (key, default) in enumerate(self.template):
            value = args[n] if n < len(args) else (said or {}).get(key) or out.get(default, default)
            if not value:
                raise SpecError(f"{name} needs its template arguments", hint=f"<{', '.join(wanted)}>")
            if value.isdecimal() and len(value) > limit("digits"):
                raise over("digits", f"{name}: {key} has {len(value)} digits")
            domain = self.domains_with(out).get(key, "")
            out[key] = re.sub(r"^[\w:]*::", "", value)
            if isinstance(aliases := self.fields.get("aliases"), Keys):
                out[key] = str(aliases.get(out[key], out[key]))
            if not allows(domain, out[key]):
                size = f": {name} {key}-mode size should be {in_words(domain)}" if key in ("M", "N") else ""
                if tcgen05 and (size or key == "VS"):
                    from cute_viz.algebra.umma import size_words

                    size = f": {size_words(name, key, in_words(domain))}"
                raise SpecError(f"{name}: {key} = {out[key]} is not legal{size}", hint=f"{key} is one of {domain}")
        if tcgen05:
            from cute_viz.algebra.umma import refusal

            if words := refusal(name, out):
                raise SpecError(f"{name}: {words}", hint=f"<{', '.join(wanted)}> is <{', '.join(out.values())}>")
        return out

    def types(self, name: str, values: Mapping[str, str]) -> tuple[str, ...]:
        """The element types of A, B, C and D: given, template arguments, or as the name spells them (D, A, B, C)."""
        if "types" in self.fields:
            given = str(self.fields["types"]).split()
            if len(given) != 4:
                raise self.wrong("types must be those of D, A, B and C", self.fields["types"], hint="example: f32 f16 f16 f32")
            d, a, b, c = (values.get(word, word) for word in given)
            return (a, b, c, d)
        if "A" in dict(self.template):  # a {A} of the name is a word of it
            a, b = values["A"], values.get("B", values["A"])
            c = values.get("C", a)
            return (a, b, c, values.get("D", c))
        for piece in name.split("_"):
            tokens = spelt(piece)
            if len(tokens) >= 3:
                d, a, b = tokens[:3]
                return (a, b, tokens[3] if len(tokens) > 3 else d, d)
        return ()

    def chosen(self, key: str, values: Mapping[str, str]) -> Text:
        """The value of a field, or of a mapping the one for a parameter's value. Raises: SpecError for a mapping that has no
        value for any of the parameters, and no `else`."""
        value = self.fields[key]
        if isinstance(value, Keys):
            found = next((value[word] for word in values.values() if word in value), value.get("else"))
            if found is None:
                raise self.wrong(f"none of {', '.join(value)} is among the parameters {', '.join(values.values())}", value)
            value = found
        assert isinstance(value, Text)  # `own` has seen to it
        return value


class Known(Family):
    """An entry by the fields that it has and that are known, whatever else stands there: what is wrong with these is told, too."""

    @cached_property
    def own(self) -> Keys:
        """The fields that are known."""
        out = Keys({key: value for key, value in self.written.items() if key in FIELDS})
        out.span, out.keys_at = self.written.span, self.written.keys_at
        return out


def _words(value: Value | None) -> dict[str, str]:
    """A mapping of words to words; of nothing, nothing."""
    return {key: str(word) for key, word in value.items()} if isinstance(value, Keys) else {}


@lru_cache(maxsize=256)
def families(file: LibraryFile) -> tuple[Family, ...]:
    """The entries of a file, in its order; they are kept as long as the file."""
    return tuple(Family(file, block) for block in file.families)


def find(file: LibraryFile, name: str) -> Match | None:
    """The first entry of a file that has a name; None where none has it."""
    for family in families(file):
        bound = family.match(name)
        if bound is not None:
            return Match(family, name, bound)
    return None
