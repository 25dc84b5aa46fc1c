"""What the verifier of CuTe's IR refuses, as the DSL prints it -> the operation, its operands, what that means, how to fix it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cute_viz.analysis.steps import Step
from cute_viz.errors import CuteVizError
from cute_viz.records import rows
from cute_viz.source.mlir_types import Setting, value_of
from cute_viz.spec import Library
from cute_viz.values.types import printed

_REFUSAL = re.compile(
    r"'cute[\w.]*' op|Operation creation failed|[Vv]erification failed|expected copy_bits"
    r"|Expected source and destination tensors to have|`copy` currently only supports"
)
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_ATOM = re.compile(r"!cute_nvgpu\.atom\.(?P<name>\w+)<(?P<element>\w+),[^<>]*?(?P<bits>\d+) b\w*>")
_PLACE = re.compile(r'\(\\?"(?P<file>[^"\n]+\.py)\\?":(?P<line>\d+):\d+\)')
_TENSOR = re.compile(r'!cute\.memref<(?P<element>\w+), (?P<space>\w+),(?: align<(?P<align>\d+)>,)?[^"]*"[^"]*">')
_OPERANDS = {"copy": ("the source", "the destination"), "gemm": ("D", "A", "B", "C")}
_BYTE = 8


def is_refusal(text: str) -> bool:
    """Whether a text is what the DSL prints where its compiler refuses an operation."""
    return _REFUSAL.search(text) is not None and next(_said(text), None) is not None


def steps_of_refusal(text: str, library: Library) -> tuple[Step, ...]:
    """The steps of an explanation: what was refused and where, its operands, what that means, how to fix it."""
    plain = _plain(text)
    (pattern, found), place = next(_said(text)), _PLACE.search(plain)
    name = re.search(r"'cute\.(\w+)' op", plain)
    told = "the DSL's compiler refuses" + (f" cute.{name[1]}" if name is not None else " this")
    told += f", line {place['line']} of {place['file']}" if place is not None else ""
    atom = _ATOM.search(plain)
    known = {key: word for key, word in found.groupdict().items() if word}
    need = re.search(r"requirement \((\d+) bits\)", plain)
    known.setdefault("need", need[1] if need is not None else atom["bits"] if atom is not None else "N")
    known["bytes"] = str(int(known["need"]) // _BYTE) if known["need"].isdigit() else "N"
    known["atom"] = f"{atom['name']} " if atom is not None else "the copy "
    _, means, fix = pattern
    operands = tuple(_operands(plain, name[1] if name is not None else "", library))
    return (Step(told), *operands, Step(means.format(**known)), Step(f"to fix it: {fix.format(**known)}"))


def _plain(text: str) -> str:
    """The text without the colors and the broken lines of a terminal."""
    return " ".join(_COLOR.sub("", text).split())


def _said(text: str) -> Iterator[tuple[list[str], re.Match[str]]]:
    """The row of the table that a text has the words of, and where."""
    plain = _plain(text)
    for row in rows(__file__, "verifier.txt"):
        if (found := re.search(row[0], plain)) is not None:
            yield row, found


def _operands(plain: str, name: str, library: Library) -> Iterator[Step]:
    """The tensors of the operation, where the message has their types: memory, element, alignment and layout of each."""
    begin = plain.find(f'"cute.{name}"(')
    if begin < 0 or name not in _OPERANDS:
        return
    tensors = list(_TENSOR.finditer(plain, begin))
    for role, tensor in zip(_OPERANDS[name], tensors, strict=False):
        element = printed(tensor["element"])
        bits = element.bits if element is not None else 0
        least = int(tensor["align"]) if tensor["align"] else bits // _BYTE
        promised = f", aligned to {least} byte{'s' * (least != 1)}" if least and tensor["space"] != "rmem" else ""
        try:
            value = value_of(Setting(plain, library.resolve), *tensor.span())
        except CuteVizError:
            value = None
        yield Step(f"{role} is in {tensor['space']}, elements of {tensor['element']}{promised}", value)
