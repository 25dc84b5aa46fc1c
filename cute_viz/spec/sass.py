"""Instructions as a disassembler prints them: `HMMA.16816.F32.BF16`, `LDSM.16.MT88.4`, `QGMMA.64x128x32.F32.E4M3.E4M3`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cute_viz.records import pattern
from cute_viz.spec.listing import Listed, listing
from cute_viz.spec.names import allows

OPCODE = pattern(r"(?:[HIDBQO]G?MMA|(?:LD|ST)(?:SM|TM)|MOVM|LDGSTS|UTMA\w+|UTC\w+|UBLKCP)\.[\w.:]+")
_SHAPE = pattern(r"(8|16|64)x(\d+)x(\d+)|(8|16)(8)(4|8|16|32|64|128|256)")
_TYPE = pattern(r"(?:T?B?F|[USB])\d+|E\dM\d")
_SILENT = pattern(r"E|STEP\d|\dD|gsb\d|4X|1X|2X|UE8|UE4M3")  # changes nothing that a name of the library says
# What stands in the opcode of PTX, or in the name, where a word of SASS is there, and does not where it is not.
_MARKS = {
    "SP": "sp", "SAT": "satfinite", "SF": "block_scale", "XOR": "xor", "AND": "and", "2CTA": "cta_group::2|2SM|2cta",
    "MULTICAST": "MULTICAST", "IM2COL": "IM2COL", "GATHER4": "GATHER4", "SCATTER4": "SCATTER4", "BYPASS": "CACHEGLOBAL",
}  # fmt: skip


@dataclass(slots=True)
class _Wanted:
    """What the words of an opcode ask for. words: of PTX. types: of A and B, and of the result before them where it is said."""

    shape: str = ""
    words: list[str] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    types: list[str] = field(default_factory=list)
    bits: int = 0
    trans: bool | None = None
    certain: bool = True


def fitting(text: str, folders: tuple[str, ...] = ()) -> list[tuple[Listed, dict[str, str]]]:
    """The operations that an opcode of SASS may be, each with its parameters; none for a text that is no opcode."""
    opcode, _, rest = text.partition(".")
    if not OPCODE.fullmatch(text):
        return []
    wanted = _wanted(opcode, rest.split("."))
    found = []
    for line in listing(folders):
        if line.sass == opcode and not re.search(r"_OP$|::PREFETCH$|_PTR$", line.name):
            values = _values(line, wanted)
            if values is not None:
                found.append((line, values))
    return found


def certain(text: str) -> bool:
    """Whether every word of an opcode of SASS is one that is known."""
    opcode, _, rest = text.partition(".")
    return _wanted(opcode, rest.split(".")).certain


def _wanted(opcode: str, words: Iterable[str]) -> _Wanted:
    """What an opcode asks for."""
    out = _Wanted()
    types: list[str] = []
    for word in words:
        if (shape := _SHAPE.fullmatch(word)) is not None and opcode.endswith("MMA"):
            m, n, k = [x for x in shape.groups() if x]
            out.shape = f"m{m}n{n}k{k}"
        elif (matrix := re.fullmatch(r"M(T?)88", word)) is not None:
            out.words.append("m8n8")
            out.trans = bool(matrix[1])
        elif word in _MARKS:
            out.marks.add(word)
        elif opcode.endswith("SM") and word in ("2", "4"):
            out.words.append(f"x{word}")
        elif opcode.endswith(("SM", "MOVM")) and word == "16":
            out.words.append("b16")
        elif opcode.endswith("TM") and (dp := re.fullmatch(r"(\d+)dp(\d+)b(?:it)?(\d*)", word)) is not None:
            out.words.append(f"{dp[1]}x{dp[2]}b")
        elif opcode.endswith("TM") and re.fullmatch(r"x\d+", word):
            out.words.append(word)
        elif opcode == "LDGSTS" and word in ("64", "128"):
            out.bits = int(word)
        elif _TYPE.fullmatch(word):
            types.append(word.lower())
        elif not _SILENT.fullmatch(word) and word not in ("POPC", "LTC128B"):
            out.certain = False
    if opcode.endswith("SM") and not {"x2", "x4"} & {*out.words}:
        out.words.append("x1")
    if opcode in ("HMMA", "HGMMA") and types:
        a = types[1] if len(types) > 1 else "f16"
        types = [types[0], a, a]
    out.types = ["s32", *types] if opcode in ("IMMA", "IGMMA") and types else types
    out.bits = out.bits or (32 if opcode == "LDGSTS" else 0)
    return out


def _values(line: Listed, wanted: _Wanted) -> dict[str, str] | None:
    """The parameters with which an operation is what is wanted; None where it is not."""
    ptx = line.ptx.partition(" ")[0].split(".")
    values: dict[str, str] = {"S": f"uint{wanted.bits}_t"} if wanted.bits else {}
    if wanted.bits and "CACHEGLOBAL" in line.name and wanted.bits < 128:
        return None
    for mark, signs in _MARKS.items():
        have = any(sign in ptx or any(sign in x for x in ptx if "::" in x) or sign in line.name for sign in signs.split("|"))
        if have != (mark in wanted.marks) and not (mark in ("XOR", "AND") and not {"XOR", "AND"} & wanted.marks):
            return None
    if not {*wanted.words} <= {*ptx} or (wanted.trans is not None and wanted.trans != ("trans" in ptx)):
        return None
    if wanted.shape and not _shape(line, ptx, wanted.shape, values):
        return None
    types = [x.strip("{}") if x.startswith("{") else x for x in ptx if re.fullmatch(r"\{[A-D]\}|t?b?f\d+|[sub]\d+|e\dm\d", x)]
    if wanted.types and ptx[0] in ("mma", "wgmma"):
        if types[:1] == ["A"]:  # the types are template arguments: A, B, C
            values |= dict(zip("CAB", wanted.types, strict=False))
        elif types[: len(wanted.types)] != wanted.types:
            return None
    return values


def _shape(line: Listed, ptx: list[str], shape: str, values: dict[str, str]) -> bool:
    """Whether an operation has a shape, with what {N} in it stands for."""
    for word in ptx:
        match = re.fullmatch(re.escape(word).replace(r"\{N\}", r"(?P<N>\d+)"), shape)
        if match is not None:
            values |= match.groupdict()
            ranges = dict(re.findall(r"(\w+) = (\S+?)(?:,|$)", line.ranges))
            return all(allows(ranges.get(key, ""), value) for key, value in match.groupdict().items())
    return False
