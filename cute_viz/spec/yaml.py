"""YAML text -> mappings, lists and strings that know their place; every scalar is a string (YAML 1.1 would read 8:1 as 481)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, TypeAlias

from cute_viz.errors import CuteVizError, Span
from cute_viz.limits import limit, over


class Text(str):
    """A scalar, with its place in the file."""

    span: Span

    def place(self, whole: str, inner: Span | None) -> Span:
        """The place in the file of a place in the scalar; that of the scalar, where it does not stand there as it is.

        whole: the text of the file.
        """
        for start in (self.span.start, self.span.start + 1):  # plain, or in quotes
            if inner is not None and whole[start : start + len(self)] == self:
                return Span(start + inner.start, start + inner.end)
        return self.span


class Entries(list["Value"]):
    """A sequence, with its place."""

    span: Span


class Keys(dict[str, "Value"]):
    """A mapping, with its place and those of its keys."""

    span: Span
    keys_at: dict[str, Span]

    def over(self, others: Keys) -> Keys:
        """These fields, and those of the others that are not here; also of the mappings in both."""
        if not others:
            return self
        out = Keys({**others, **self})
        for key in self.keys() & others.keys():
            mine, other = self[key], others[key]
            out[key] = mine.over(other) if isinstance(mine, Keys) and isinstance(other, Keys) else mine
        out.span, out.keys_at = self.span, {**others.keys_at, **self.keys_at}
        return out


Value: TypeAlias = "Text | Entries | Keys"


class SpecError(CuteVizError):
    """A YAML file that cannot be used."""


def read_yaml(text: str, name: str | None = None) -> Value:
    """The value of a YAML document. Raises: SpecError with the place, for text that is not YAML, several documents, a key given
    twice, tags, too many nodes (after aliases)."""
    import yaml

    if len(text) > limit("input"):
        raise over("input", f"the file has {len(text)} characters", place=name)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if sum(map(text.count, "[{-?")) > 1000:  # libyaml composes by recursion, without a limit of its own
            _check_depth(yaml.parse(text, Loader=loader), name)
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        at = min(mark.index if mark else 0, max(0, len(text) - 1))
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        if "nesting depth" in problem:  # libyaml 0.2.6 and later count by themselves
            raise over("nesting", "YAML nested too deeply", place=name) from None
        problem, hint, at = _in_our_words(problem, text, at)
        raise SpecError(f"this is not YAML: {problem}", text=text, span=Span(at, at + 1), name=name, hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise SpecError(f"this is not YAML: {error}", name=name) from None
    if node is None:
        raise SpecError("the file is empty", name=name)
    return _Converter(text, name).value(node, 0)


def _in_our_words(problem: str, text: str, at: int) -> tuple[str, str | None, int]:
    """What is wrong, what would be right, and where: libyaml's words where they are the best there are."""
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    if "\t" in line[: len(line) - len(line.lstrip())] or text[at : at + 1] == "\t":
        return "this line is indented with a tab", "YAML indents with spaces", at
    if "but found another document" in problem or "single document" in problem:
        return "there are two documents", "several specs in one file go under specs:", at
    if (match := _CONTROL.search(text)) is not None and ("character" in problem or "reader" in problem):
        return f"U+{ord(match[0]):04X} is not a YAML character", None, match.start()
    return problem, None, at


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def _check_depth(events: Iterable[object], name: str | None) -> None:
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith(("SequenceStartEvent", "MappingStartEvent")) - kind.endswith(("SequenceEndEvent", "MappingEndEvent"))
        if depth > 4 * limit("nesting"):
            raise over("nesting", "YAML nested too deeply", place=name)


class _Converter:
    def __init__(self, text: str, name: str | None) -> None:
        self.text = text
        self.name = name
        self.count = 0

    def fail(self, message: str, span: Span, hint: str | None = None) -> SpecError:
        return SpecError(message, text=self.text, span=span, hint=hint, name=self.name)

    def value(self, node: Any, depth: int) -> Value:
        span = Span(node.start_mark.index, max(node.end_mark.index, node.start_mark.index + 1))
        self.count += 1
        if self.count > limit("yaml-nodes"):
            raise over("yaml-nodes", "too many YAML nodes", text=self.text, span=span, place=self.name)
        if depth > limit("nesting"):
            raise over("nesting", "YAML nested too deeply", text=self.text, span=span, place=self.name)
        if not node.tag.startswith("tag:yaml.org,2002:") or node.tag.startswith("tag:yaml.org,2002:python"):
            raise self.fail(f"the tag {node.tag} is not supported", span, hint="write plain mappings, lists and scalars")
        if node.id != "scalar" and node.flow_style:
            self.check_commas([item[1] for item in node.value] if node.id == "mapping" else node.value, span)
        if node.id == "mapping":
            return self.mapping(node, span, depth)
        if node.id == "sequence":
            items = Entries(self.value(item, depth + 1) for item in node.value)
            items.span = span
            return items
        text = Text(node.value)
        text.span = span
        return text

    def check_commas(self, nodes: list[Any], span: Span) -> None:
        """Refuse a tuple that is not in quotes between braces or brackets, where its first comma ends it."""
        for node in nodes:
            begin = node.start_mark.index
            if node.id != "scalar" or node.style or node.value.count("(") <= node.value.count(")"):
                continue
            rest = self.text[begin : span.end]
            depth = accumulate((char == "(") - (char == ")") for char in rest)
            length = next((n for n, (open_, char) in enumerate(zip(depth, rest, strict=True)) if not open_ and char in ",]}"), 0)
            if length:
                ends = f"ends it between {self.text[span.start]} and {self.text[span.end - 1]}"
                hint = f"write it in quotes: '{rest[:length]}'"
                raise self.fail(f"the comma of {rest[:length]} {ends}", Span(begin, begin + length), hint)

    def mapping(self, node: Any, span: Span, depth: int) -> Keys:
        fields = Keys()
        fields.span, fields.keys_at = span, {}
        for key_node, value_node in node.value:
            key = self.value(key_node, depth + 1)
            at = Span(key_node.start_mark.index, key_node.end_mark.index)
            if not isinstance(key, Text):
                raise self.fail("a key must be a word", at)
            if key in fields:
                raise self.fail(f"the key {str(key)!r} is given twice", at, hint="YAML would silently keep the last one")
            fields[str(key)] = self.value(value_node, depth + 1)
            fields.keys_at[str(key)] = at
        return fields


def write_yaml(value: Value, order: tuple[str, ...] = (), indent: int = 0) -> str:
    """A value as YAML in block style, known keys in their order; scalars in quotes where plain ones would read otherwise."""
    pad = " " * indent
    if not isinstance(value, Text) and not value:
        return pad + ("{}" if isinstance(value, Keys) else "[]") + "\n"
    if isinstance(value, Keys):
        keys = sorted(value, key=lambda key: order.index(key) if key in order else len(order))
        return "".join(pad + _scalar(key) + ":" + _nested(value[key], order, indent) for key in keys)
    if isinstance(value, Entries):
        return "".join(pad + "-" + _nested(item, order, indent) for item in value)
    return pad + _scalar(value) + "\n"


def _nested(value: Value, order: tuple[str, ...], indent: int) -> str:
    if isinstance(value, Text):
        return f" {_scalar(value)}\n"
    return "\n" + write_yaml(value, order, indent + 2)


def _scalar(text: str) -> str:
    plain = re.fullmatch(r"[\w(<./][^\n\t#]*", text) and ": " not in text and not text.endswith((" ", ":")) and text.isprintable()
    if plain:
        return str(text)
    import json

    quoted = json.dumps(str(text), ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in quoted)
