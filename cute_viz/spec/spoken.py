"""Operations by what others call them: PTX opcodes and their short forms, operations of the Python DSL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cute_viz.errors import AlgebraError
from cute_viz.spec import sass
from cute_viz.spec.library_files import library_files
from cute_viz.spec.listing import Listed, listed, listing, search
from cute_viz.spelling import count
from cute_viz.values.instruction import PLAIN
from cute_viz.values.types import named

_OPCODE = re.compile(r"(?:(?:ld|st|mov)matrix|w?g?mma|tcgen05|cp|dp[24]a|ld|st|fma)\.\S.*|m\d+n\d+k\d+(?:\.\w+)*", re.S)
_CALL = re.compile(r"(?:[a-z]\w*\.)*[A-Z]\w*Op\(.*\)", re.S)
_ORDERED = re.compile(r"t?b?f\d+(x2)?|[subi]\d+|u?e\dm\d|row|col|\{[A-D]\}")
# What the DSL takes an argument for that is not given.
_DEFAULTS = {"transpose": "False", "num_matrices": "1", "cache_mode": "ALWAYS", "reduction_kind": "ADD", "abacc_dtype": "f32"}
_DEFAULTS |= {"repeat": "1", "pack": "NONE", "unpack": "NONE"}  # of copies of tensor memory
_DEFAULTS |= {"cta_group": "ONE", "a_src": "SMEM", "a_major_mode": "K", "b_major_mode": "K"}  # of tcgen05.mma


class Meant(NamedTuple):
    """The name of an operation, and its template arguments."""

    name: str
    args: tuple[str, ...]


def meant(text: str, folders: tuple[str, ...] = ()) -> Meant | None:
    """The operation that a PTX opcode, a short form of one, or a call of the DSL means; None for any other text. Raises:
    AlgebraError for one that the library does not have, and for a short form of several."""
    text = text.strip()
    if _CALL.fullmatch(text):
        return _of_dsl(text, folders)
    if sass.OPCODE.fullmatch(text):
        return _of_sass(text, folders)
    return _of_ptx(text, folders) if _OPCODE.fullmatch(text) else None


def _of_ptx(text: str, folders: tuple[str, ...]) -> Meant:
    """The operation of an opcode; its words may come in any order, as those of one kind are all alike in CUTLASS's sources."""
    given = _parted(text.split()[0].rstrip(";").split("."))
    size = re.search(r",\s*(\d+)\s*;?\s*$", text) if text.startswith("cp.async.c") else None  # cp-size
    values = {"S": f"uint{8 * int(size[1]) if size else 128}_t"}
    found: list[tuple[int, Meant]] = []
    for one in _lines("mma" if text[1].isdecimal() else text.partition(".")[0], folders):
        if text in one.names.split():
            return _filled(one, values)
        if one.ptx and (bound := _covers(_parted(one.ptx.split()[0].split(".")), given)) is not None:
            rank = 2 * bound[0] + (_operands(text) == _operands(one.ptx))
            found.append((rank, _filled(one, values | bound[1])))
    most = max((rank for rank, _ in found), default=0)
    best = list(dict.fromkeys(name for rank, name in found if rank == most))
    words = search(text, folders) if not best else []
    if len(words) == 1:  # mma.m16n8k8.tf32: all that is said fits one
        return _filled(words[0], values)
    if not best:
        every = {line.short for line in listing(folders)}
        from difflib import get_close_matches

        near = get_close_matches(text, every, n=3, cutoff=0.7)
        hint = f"did you mean {', '.join(near)}?" if near else "cute-viz list mma and cute-viz list copy name them all"
        raise AlgebraError(f"there is no instruction {text!r}", hint=hint)
    if len(best) > 1 and most < 2:
        kind = "mma" if "mma" in text or text[0] == "m" else "copy"
        examples = ", ".join(line.example for line in search(text, folders)[:3]) or ", ".join(x.name for x in best[:3])
        hint = f"use one, for example {examples}; 'cute-viz list {kind} {text}' lists all"
        raise AlgebraError(f"{text!r} names {len(best)} instructions", hint=hint)
    return best[0]


def _of_sass(text: str, folders: tuple[str, ...]) -> Meant:
    """The operation of an opcode of SASS."""
    opcode = text.partition(".")[0]
    kind = "mma" if opcode.endswith("MMA") else "copy"
    found = [(_filled(line, values), line) for line, values in sass.fitting(text, folders)]
    if not found:
        hint = f"'cute-viz list {kind} {opcode}' lists those called {opcode}"
        raise AlgebraError(f"no instruction of the library is {text}", hint=hint)
    whole = [name + (f"<{','.join(args)}>" if args else "") for (name, args), _ in found]
    (only, line), *others = found
    template = line.family.template if line.family is not None else []
    needed = len(only.args) < sum(not default for _, default in template)
    whole[:1] = [line.example] if needed else whole[:1]
    if others or needed or not sass.certain(text):
        hint = f"use one, for example {', '.join(whole[:3])}; 'cute-viz list {kind} {text}' lists all"
        raise AlgebraError(f"{text} fits {count(len(found), 'instruction')}", hint=hint)
    return only


def _lines(word: str, folders: tuple[str, ...]) -> Iterator[Listed]:
    """The lines of the files that have a word."""
    return (line for file in library_files(folders) if word in file.text for line in listed(file))


def _operands(text: str) -> tuple[bool, str]:
    """What of the operands of an opcode tells instructions apart: whether A is no descriptor, and a further one at the end."""
    rest = text.partition(" ")[2].rstrip("; ")
    if rest.startswith("[dst]"):
        return False, "size" * (rest.count(",") > 2)
    second = re.match(r"(?:\{[^}]*\}|[^,{]+),\s*(a\b(?!-)|[{[])", rest)
    return second is not None, next((word for word in ("K = 96", "scale-input") if word in rest), "")


def _parted(opcode: list[str]) -> tuple[list[str], list[str]]:
    """The words of an opcode, and those of them whose order tells the operands: types, and the orders of A and B."""
    ordered = [x for x in opcode if _ORDERED.fullmatch(x)]
    return [x for x in opcode if x not in ordered], ordered


def _covers(own: tuple[list[str], list[str]], given: tuple[list[str], list[str]]) -> tuple[bool, dict[str, str]] | None:
    """Whether an opcode has the given words: (whether it says nothing besides, what stands for its parameters)."""
    values: dict[str, str] = {}
    rest, orders = list(own[0]), {"row", "col"}
    for word in given[0]:
        at = next((n for n, x in enumerate(rest) if _fits(x, word, values)), None)
        if at is None:
            return None
        del rest[at]
    types = own[1] if orders & {*given[1]} else [x for x in own[1] if x not in orders]
    if len(given[1]) > len(types) or not all(_fits(x, word, values) for x, word in zip(types, given[1], strict=False)):
        return None
    missing = {*rest, *types[len(given[1]) :]} - PLAIN
    return not missing or missing == {"mma"}, values


def _fits(pattern: str, word: str, values: dict[str, str]) -> bool:
    """Whether a word is one with parameters in braces, which go to `values`."""
    if "{" not in pattern:
        return pattern == word
    seen = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[\\w.]+)", re.escape(pattern))
    match = re.fullmatch(seen, word)
    values |= match.groupdict() if match else {}
    return match is not None


def _of_dsl(text: str, folders: tuple[str, ...]) -> Meant:
    """The operation of a call."""
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise AlgebraError(f"{text[:60]!r} is not a call of Python") from None
    assert isinstance(call, ast.Call)
    path = ast.unparse(call.func).split(".")
    unfit: list[tuple[int, str, str, str]] = []
    for one in _lines(re.split(r"\d", path[-1])[0], folders):
        for form in one.dsl.split("; "):
            if (written := re.match(r"(\w*)\.?(\w+)\((.*)\)((?: \w+=\w+)*)$", form)) is None or written[2] != path[-1]:
                continue
            if len(path) > 1 and path[-2] != written[1] and path[-2] in _MODULES:
                continue
            wanted = dict(re.findall(r"(\w+)=(\([^()]*\)|[^,()]+)", written[3]))
            given = dict(zip(wanted, map(_word, call.args), strict=False)) | {str(x.arg): _word(x.value) for x in call.keywords}
            given = {_ALSO.get(key, key): value for key, value in given.items()}
            if len(call.args) > len(wanted):
                raise AlgebraError(f"{path[-1]} takes {len(wanted)} arguments, not {len(call.args)}", hint=form)
            values, at = _bound(wanted, given)
            if at is None and (known := _filled(one, values | dict(re.findall(r" (\w+)=(\w+)", written[4])))):
                return known
            if at is not None:
                unfit.append((list(wanted).index(at) if at in wanted else -1, at, wanted.get(at, ""), given.get(at, "None")))
    if not unfit:
        raise AlgebraError(f"there is no operation {'.'.join(path)} of the DSL", hint="example: warp.MmaF16BF16Op(...)")
    far = max(unfit)[0]  # those that fit most
    name, word = next((name, word) for n, name, _, word in unfit if n == far)
    have = dict.fromkeys(re.sub(r"[{}]", "", text) for n, key, text, _ in unfit if n == far and key == name)
    hint = f"{name} is {', '.join(have)}" if far >= 0 else None
    raise AlgebraError(f"{path[-1]} of {name} = {word} is not in the library", hint=hint)


_MODULES = ("warp", "warpgroup", "tcgen05", "cpasync", "cute")
_ALSO = {"instruction_shape": "shape_mnk", "mma_shape": "shape_mnk"}


def _word(node: ast.expr) -> str:
    """An argument as the library writes it: a type by its short name, a member of an enumeration by its last word."""
    if isinstance(node, ast.Tuple):
        return f"({','.join(map(_word, node.elts))})"
    if isinstance(node, ast.Call) and len(node.args) == 1:  # Repetition(8)
        return _word(node.args[0])
    last = ast.unparse(node).rpartition(".")[2]
    found = named(last)
    return found.short if found is not None else re.sub(r"^x(\d+)$", r"\1", last)


def _bound(wanted: Mapping[str, str], given: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """The parameters with which the arguments are the wanted ones, and the first that is none."""
    values: dict[str, str] = {}
    for key, text in wanted.items():
        word = given.get(key, "None")
        word = _DEFAULTS.get(key, word) if word == "None" else word
        if key == "shape_mnk" and word.count(",") == 1:  # K is left out
            text = re.sub(r",[^,]*\)$", ")", text)
        if not (word == "None" and "{" in text) and not _fits(text, word, values):
            return values, key
    return values, next((key for key, word in given.items() if key not in wanted and word != "None"), None)


def _filled(one: Listed, values: Mapping[str, str]) -> Meant:
    """A name, and its template arguments as far as they are known; those at the end that it has by itself are left out."""
    assert one.family is not None
    args, template = [], one.family.template
    values = {"B": values.get("A", ""), **values}
    for key, default in template:
        value = values.get(key) or default
        if key in ("a_major", "b_major"):
            value = f"{'GMMA' if one.family.said('kind', {}) == 'wgmma' else 'UMMA'}::Major::{value}"
        found = named(value)
        args.append(found.cpp if found is not None else value)
    while args and args[-1].rpartition(":")[2] == template[len(args) - 1][1]:
        args.pop()
    name = re.sub(r"\{(\w+)\}", lambda slot: values.get(slot[1], slot[0]), one.name)
    return Meant(name, tuple(args) if all(args) else ())
