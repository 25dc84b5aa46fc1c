"""How each interface spells the options that messages name, `` `tile=8x128` ``, and numbers of things in words."""

from __future__ import annotations

import re

from cute_viz.records import pattern

_OPTION = pattern(r"`([a-z_]+)=([^`]*)`")
_LIMIT = ("--limit", "cute-viz --limit {value}")
_OF_PICTURES = ["view", "tile", "thread", "warp", "value", "color_by", "labels", "crop", "fold", "width", "cell", "max_cells"]
# An option alone, with a value, and with a value NAME=VALUE; "" stands for all options without a row of their own.
SPELLINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "cli": {"": ("--{dashed}", "--{dashed} {quoted}"), "limit": _LIMIT},
    "python": {
        "": ("{name}=", '{name}="{value}"'),
        "all": ("cv.report(...).accesses",),
        "let": ("let={{...}}", "let={{...}}", 'let={{"{key}": {inner}}}'),
        "limit": ("limits={{...}}", "limits={{...}}", 'limits={{"{key}": {inner}}}'),
    },
    "spec": {"": ("{word}:", "{word}: {value}"), "let": ("let:", "let: {value}", "let: {{{key}: {inner}}}"), "limit": _LIMIT},
    "block": {"": ("{word}=", "{word}={value}"), "let": ("the number itself",), "limit": _LIMIT},
    "page": {"": ("{spaced}", "{spaced} {value}"), "let": ("a value for the name", "{value} under Values")},
    "tool": {
        "": ("{name}", '{name} "{value}"'),
        "let": ("let", "let", 'let {{"{key}": "{inner}"}}'),
        **dict.fromkeys(_OF_PICTURES, ("options {name}", 'options {{"{name}": "{value}"}}')),
    },
}


def options(words: str) -> tuple[str, ...]:
    """The options that a message names."""
    return tuple(dict.fromkeys(match[1] for match in _OPTION.finditer(words)))


def spelled(words: str, spelling: str) -> str:
    """Words with their options, `` `tile=8x128` ``, spelled as an interface has them: a key of SPELLINGS."""

    def one(match: re.Match[str]) -> str:
        name, value = match.groups()
        key, _, inner = value.partition("=")
        forms = SPELLINGS[spelling].get(name) or SPELLINGS[spelling][""]
        word = "for" if name == "target" else name  # Python has another meaning for `for`
        quoted = f"'{value}'" if re.search(r"[?(){}*;&|<> ]", value) else value
        words = {"dashed": word.replace("_", "-"), "spaced": name.replace("_", " "), "quoted": quoted, "word": word}
        form = forms[min(bool(value) + bool(inner), len(forms) - 1)]
        return form.format(name=name, value=value, key=key, inner=inner, **words)

    return _OPTION.sub(one, words) if "`" in words else words


def middle(name: str, most: int = 44) -> str:
    """A long name without its middle."""
    return name if len(name) <= most else f"{name[: most // 2 - 2]}...{name[1 - most // 2 :]}"


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}" + ("" if number == 1 else "s")
