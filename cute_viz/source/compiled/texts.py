"""The texts of a user that libclang gets: with the words that nvcc does without, and with what makes the types of aliases known.

libclang shows of an instance of a class template its data members, and not its aliases. So behind each alias stands a bit-field
without a name and of no width, which changes nothing of a class, and whose type has the alias as an argument.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from cute_viz.errors import CuteVizError
from cute_viz.files import read_text, regular

_TOLD = {  # by what clang says where it misses one
    "typename ": re.compile("missing 'typename' prior to dependent type name|unexpected type name '.*': expected expression$"),
    "template ": re.compile("reference to non-static member function must be called"),
}
_QUALIFIED = {"typename ": re.compile(r"(?:\w+(?:<[^<>]*>|\([^()]*\))?\s*::\s*)*$"), "template ": re.compile(r"(?<=\.|>|:)$")}
_FAR = 400  # characters of a name with its classes
_ARGUMENT = re.compile(  # a template argument whose name says that it is a type: `recast<decltype(x)::value_type>`
    r"(?<=[<,])(?P<space>\s*)(?P<name>(?:decltype\s*\([^();]*\)|[A-Z]\w*(?:<[^<>;(){}]*>)?)(?:\s*::\s*[A-Z]\w*)*\s*::\s*(?:\w+_)?type)(?=\s*[,>])"
)
_INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]')
_LIBRARY = ("cute/layout.hpp", "cutlass/cutlass.h")
_MOST = 400  # files of a user that are looked into
_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')"""
    r"""|^[ \t]*\#[ \t]*(?P<directive>\w*)(?:\\\n|[^\n])*|(?P<mark>[{}();])""",
    re.M | re.S,
)
_CLASS = re.compile(
    r"(?:(?:public|private|protected)\s*:\s*)*(?:template\s*<.*>\s*)?(?:struct|class)\b(?!.*\)\s*(?:const|noexcept)?\s*$)", re.S
)
_ALIAS = re.compile(
    r"(?:(?:public|private|protected)\s*:\s*)*(?:using\s+(?P<using>\w+)\s*=|typedef\b.*?(?P<typedef>\w+)\s*$)", re.S
)
TOLD = re.compile(r"__cute_viz_alias<(?P<type>.*), (?P<number>\d+)>::type$")
Alias = tuple[str, str, int]  # a name, its file and its line


def begun(path: str, texts: Mapping[str, str], folders: Iterable[str]) -> tuple[dict[str, str], list[Alias]]:
    """The texts of a unit and of the user's files that it includes, as libclang gets them, and the aliases of classes in them.

    folders: where files are searched; those of CuTe and CUTLASS are left out.
    """
    out, todo, seen, aliases = dict(texts), [path, *texts], set[str](), list[Alias]()
    places = [place for place in folders if not any(os.path.isfile(os.path.join(place, name)) for name in _LIBRARY)]
    while todo and len(seen) < _MOST:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        try:
            text = texts[file] if file in texts else read_text(regular(file))
        except (CuteVizError, OSError):
            continue
        changed = told(_ARGUMENT.sub(r"\g<space>typename \g<name>", text), file, aliases)
        if changed != text:
            out[file] = changed
        for name in _INCLUDE.findall(text):
            around = (os.path.normpath(os.path.join(place, name)) for place in (os.path.dirname(file), *places))
            todo += [other for other in around if os.path.isfile(other)][:1]
    return out, aliases


def told(text: str, file: str, aliases: list[Alias]) -> str:
    """A text with the types of the aliases of its classes told; as it is where its braces are not understood."""
    inside: list[str] = []  # what each brace or parenthesis is of: a class, a body, or an expression
    before: list[list[str]] = []  # at each #if
    found: list[tuple[int, Alias]] = []
    head = 0
    for token in _TOKEN.finditer(text):
        mark, directive, part = token["mark"], token["directive"] or "", text[head : token.start()]
        if directive.startswith("if"):
            before.append(inside[:])
        elif directive.startswith("el") and before:
            inside = before[-1][:]
        elif directive == "endif" and before:
            before.pop()
        elif mark == "(" or (mark == "{" and inside[-1:] == ["expression"]):
            inside.append("expression")
            continue
        elif mark == "{":
            inside.append("class" if _CLASS.match(_plain(part)) else "body")
        elif mark in ("}", ")"):
            if not inside:
                return text
            if inside.pop() == "expression":
                continue
        elif mark == ";" and inside[-1:] == ["class"] and (alias := _ALIAS.match(_plain(part))):
            name = alias["using"] or alias["typedef"]
            begin = head + max((find.start(1) for find in re.finditer(rf"\b({name})\s*(?:=|$)", part)), default=0)
            found.append((token.end(), (name, file, text.count("\n", 0, begin) + 1)))
        head = token.end() if mark is not None else head
    if inside:
        return text
    first = len(aliases)
    aliases += [alias for _, alias in found]
    for n in range(len(found) - 1, -1, -1):
        at, (name, _, _) = found[n]
        text = f"{text[:at]} typename __cute_viz_alias<{name}, {first + n}>::type : 0;{text[at:]}"
    return text


def _plain(text: str) -> str:
    """The words of a declaration, without what is left out of them."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|(?m:^[ \t]*#(?:\\\n|[^\n])*)", " ", text, flags=re.S).strip()


def completed(told: Iterable[tuple[str, str, int]], texts: dict[str, str]) -> dict[str, str]:
    """The texts of a unit with each word that clang misses. told: its messages, each with its file and the offset there."""
    places: dict[str, dict[int, str]] = {}
    for message, file, offset in told:
        if word := next((word for word, pattern in _TOLD.items() if pattern.match(message)), ""):
            places.setdefault(file, {})[offset] = word
    return {**texts, **{file: _with(texts.get(file) or read_text(file), words) for file, words in places.items()}}


def _with(text: str, words: Mapping[int, str]) -> str:
    """A text with words at places, each before the classes of the name there."""
    data = text.encode()
    for at in sorted(words, reverse=True):
        before = _QUALIFIED[words[at]].search(data[max(0, at - _FAR) : at].decode(errors="ignore"))
        if before is not None:
            begin = at - len(before[0].encode())
            data = data[:begin] + words[at].encode() + data[begin:]
    return data.decode()
