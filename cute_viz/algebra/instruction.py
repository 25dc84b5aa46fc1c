"""Instruction descriptors of tcgen05.mma: the 32 bits that hold its types, majors, negation and shape (make_instr_desc).

Sources: cute/arch/mma_sm100_desc.hpp; PTX ISA, "Instruction descriptor" of tcgen05.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from cute_viz.algebra.descriptor import Field, major_of
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.tmem import is_sparse
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.values.types import named

_PLAIN = (
    Field("sparse_id2", 0, 2), Field("sparse_flag", 2, 1), Field("saturate", 3, 1), Field("c_format", 4, 2),
    Field("a_format", 7, 3), Field("b_format", 10, 3), Field("a_negate", 13, 1), Field("b_negate", 14, 1),
    Field("a_major", 15, 1), Field("b_major", 16, 1), Field("n_dim", 17, 6), Field("m_dim", 24, 5), Field("max_shift", 30, 2),
)  # fmt: skip
_SCALED = (
    Field("sparse_id2", 0, 2), Field("sparse_flag", 2, 1), Field("b_sf_id", 4, 2), Field("a_format", 7, 3),
    Field("b_format", 10, 3), Field("a_negate", 13, 1), Field("b_negate", 14, 1), Field("a_major", 15, 1),
    Field("b_major", 16, 1), Field("n_dim", 17, 6), Field("scale_format", 23, 1), Field("m_dim", 24, 5),
    Field("a_sf_id", 29, 2), Field("k_size", 31, 1),
)  # fmt: skip
LAYOUTS = {"InstrDescriptor": _PLAIN, "InstrDescriptorBlockScaled": _SCALED}
# to_UMMAFormat, to_CFormat, to_ScaleFormat; 4-bit elements that shared memory holds in bytes of their own have another number
FORMATS = {"f16": 0, "bf16": 1, "tf32": 2, "u8": 0, "s8": 1, "e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 1}
_C = {"f16": 0, "f32": 1, "s32": 2}
_SF = {"ue4m3": 0, "ue8m0": 1}
_INTEGERS, _NARROW = ("s8", "u8"), ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
_BYTES = (*_INTEGERS, *_NARROW)
_KINDS = (("f16", "bf16"), ("tf32",), _NARROW, _INTEGERS)  # .kind::f16, tf32, f8f6f4 (and the block-scaled ones), i8
_SHIFTS = {"NoShift": 0, "MaxShift8": 1, "MaxShift16": 2, "MaxShift32": 3}


@dataclass(frozen=True, slots=True)
class InstrDescriptor(Shown):
    """The 32 bits that say what tcgen05.mma computes.

    kind: a key of LAYOUTS. values: the fields by name, as they are in the descriptor; n_dim is N / 8, m_dim M / 16.
    what: the fields in words, such as {"a_format": "f16"}.
    """

    tiling: ClassVar[str] = "instruction"
    kind: str
    values: tuple[tuple[str, int], ...]
    what: tuple[tuple[str, str], ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """Why no tcgen05.mma is what the fields say, the number of CTAs apart; CuTe asserts a part of this, of its atoms.

        Sources: PTX ISA, "Matrix shape", "Instruction descriptor", "Transpose and negate operations", "Valid combinations of scale
        vector size with types".
        """
        v, words = dict(self.values), dict(self.what)
        m, n = (int(words[f"{x}_dim"].split()[2].rstrip(",")) for x in "mn")
        a, b, c, scale = (words.get(f"{x}_format", "") for x in ("a", "b", "c", "scale"))
        narrow = [x in _NARROW for x in (a, b)]
        fours = bool(scale) and (a, b) == ("e2m1", "e2m1") and v["a_format"] == v["b_format"] == 1
        number = {x for x in "ab" if words[f"{x}_format"] == "e2m1" and v[f"{x}_format"] == 1 and not fours}
        kinds = [all(x in kind for x in (a, b)) for kind in _KINDS]
        major = v["a_major"] or v["b_major"]
        rows = (128, 256) if scale else (32, 64, 128, 256)
        found = {
            f"M = {m}, not one of {', '.join(map(str, rows))}": m not in rows,
            f"N = {n}, not a multiple of 8 from 8 to 256": n % 8 or not 8 <= n <= 256,
            f"N = {n}; of 8-bit integers it is 8, 16, 24, 32, 48 and on in steps of 16": c == "s32" and n > 32 and n % 16,
            f"N = {n}; of an MN-major B of 8 bits it is a multiple of 16": b in _BYTES and v["b_major"] and n % 16,
            f"A of {a} and B of {b} belong to no kind": not any(kinds),
            "C of f16 takes A and B of f16, or of 8 bits and less": c == "f16" and (a, b) != ("f16", "f16") and not all(narrow),
            "C of s32 takes A and B of 8-bit integers, and these no other C": bool(c) and (c == "s32") != (a in _INTEGERS),
            "integers are not negated": a in _INTEGERS and (v["a_negate"] or v["b_negate"]),
            "only integers saturate": v.get("saturate", 0) and c != "s32",
            "scale factors of ue4m3 are for A and B of e2m1": scale == "ue4m3" and not fours,
            "A and B of e2m1, two in a byte, are K-major": fours and major,
            "a format of 1 means e5m2 here: float_e2m1_unpacksmem_t has 5": number,
        }
        return tuple(words for words, wrong in found.items() if wrong)

    @property
    def desc(self) -> int:
        """The 32 bits as an integer."""
        known = dict(self.values)
        return sum(known.get(field.name, 0) << field.bit for field in LAYOUTS[self.kind])

    def __str__(self) -> str:
        return f"0x{self.desc:08x}"


def make_instr_desc(*args: object) -> InstrDescriptor:
    """The descriptor of a dense or sparse MMA: types of A, B and C, M, N, majors of A and B; negation of A and B, saturation,
    sparsity and shift where they differ from CuTe's defaults.

    Raises: AlgebraError for types that tcgen05.mma does not have, in CuTe's words.

    >>> dict(make_instr_desc("float_e4m3_t", "float_e5m2_t", "float", 256, 128, "K", "MN").values)["b_major"]
    1
    """
    a, b, c, m, n, a_major, b_major, a_neg, b_neg, saturate, sparse, shift = _filled(args, _PLAIN_DEFAULTS)
    known = {
        "c_format": _number(c, _C, "CFormat"),
        "saturate": _flag(saturate, ("False", "True")),
        "max_shift": _shift(shift),
        **_shared(a, b, m, n, a_major, b_major, a_neg, b_neg, sparse),
    }
    words = (("a_format", _name(a)), ("b_format", _name(b)), ("c_format", _name(c)))
    return _made("InstrDescriptor", known, (*words, *_shape(m, n, a_major, b_major)))


def make_instr_desc_block_scaled(*args: object) -> InstrDescriptor:
    """The descriptor of a block-scaled MMA: types of A, B, C and of the scale factors, M, N, majors, and negation.

    >>> types = ("float_e4m3_t", "float_e4m3_t", "float", "float_ue8m0_t")
    >>> str(make_instr_desc_block_scaled(*types, 128, 128, "K", "K"))
    '0x08a00000'
    """
    a, b, _, scale, m, n, a_major, b_major, a_neg, b_neg, sparse = _filled(args, _SCALED_DEFAULTS)
    known = {"scale_format": _number(scale, _SF, "ScaleFormat"), **_shared(a, b, m, n, a_major, b_major, a_neg, b_neg, sparse)}
    words = (("a_format", _name(a)), ("b_format", _name(b)), ("scale_format", _name(scale)))
    return _made("InstrDescriptorBlockScaled", known, (*words, *_shape(m, n, a_major, b_major)))


def issued(atom: MMA_Atom) -> InstrDescriptor | None:
    """The descriptor that a tcgen05.mma issues; None of any other atom, and where the types of one are not known. Of MMAs of 4
    bits with K = 96 CuTe sets the bit of that as it issues them (mma_traits_sm100.hpp, SM103::mma_unpack)."""
    op, types, (m, n, _) = atom.instruction, atom.types, map(product, atom.shape_mnk)
    if op.kind != "tcgen05.mma":
        return None
    sparse = str(is_sparse(op)).lower()
    try:
        if op.vector:
            scale = op.arguments["SF"]
            found = make_instr_desc_block_scaled(*types[:3], scale, m, n, *op.majors, *op.negated, sparse)
            if "ultra" not in op.words:
                return found
            return replace(found, values=(*found.values, ("k_size", 1)), what=(*found.what, ("k_size", "K = 96")))
        return make_instr_desc(*types[:3], m, n, *op.majors, *op.negated, op.arguments.get("c_sat", "False"), sparse)
    except (AlgebraError, IndexError):
        return None


_NEEDED = object()
_PLAIN_DEFAULTS = (*[_NEEDED] * 7, "One", "One", "False", "false", "NoShift")
_SCALED_DEFAULTS = (*[_NEEDED] * 8, "One", "One", "false")


def _filled(args: tuple[object, ...], defaults: tuple[object, ...]) -> list[Any]:
    needed = sum(1 for default in defaults if default is _NEEDED)
    if not needed <= len(args) <= len(defaults):
        raise AlgebraError(
            f"an instruction descriptor takes {needed} to {len(defaults)} template arguments, not {len(args)}",
            hint="make_instr_desc<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>()",
        )
    return [*args, *defaults[len(args) :]]


def _shared(a: object, b: object, m: int, n: int, a_major: object, b_major: object, *flags: object) -> dict[str, int]:
    a_neg, b_neg, sparse = flags
    if not all(isinstance(x, int) for x in (m, n)):
        raise AlgebraError("M and N of an instruction descriptor must be integers", hint="example: 128, 256")
    return {
        "sparse_flag": _flag(sparse, ("false", "true")),
        "a_format": _format(a),
        "b_format": _format(b),
        "a_negate": _flag(a_neg, ("One", "Neg")),
        "b_negate": _flag(b_neg, ("One", "Neg")),
        "a_major": ("K", "MN").index(major_of(a_major)),
        "b_major": ("K", "MN").index(major_of(b_major)),
        "n_dim": (int(n) >> 3) & 63,
        "m_dim": (int(m) >> 4) & 31,
    }


def _made(kind: str, known: dict[str, int], what: tuple[tuple[str, str], ...]) -> InstrDescriptor:
    return InstrDescriptor(kind, tuple((field.name, known.get(field.name, 0)) for field in LAYOUTS[kind]), what)


def _shape(m: object, n: object, a_major: object, b_major: object) -> tuple[tuple[str, str], ...]:
    majors = (("a_major", major_of(a_major)), ("b_major", major_of(b_major)))
    return (*majors, ("n_dim", f"N = {n}, in units of 8"), ("m_dim", f"M = {m}, in units of 16"))


def _format(value_type: object) -> int:
    if "unpacksmem" in str(value_type) and _name(value_type) == "e2m1":
        return 5
    return _number(value_type, FORMATS, "UMMAFormat")


def _number(value_type: object, table: dict[str, int], what: str) -> int:
    name = _name(value_type)
    if name not in table:
        raise AlgebraError(f"{value_type}: Unknown type for {what}", hint=f"one of {', '.join(table)}")
    return table[name]


def _name(value_type: object) -> str:
    word = _last(value_type)
    known = named(word.replace("_unpacksmem", "")) or named(word)
    return known.short if known else word


def _shift(word: object) -> int:
    if (name := _last(word)) not in _SHIFTS:
        raise AlgebraError(f"{word} is not a shift", hint=f"one of {', '.join(_SHIFTS)}")
    return _SHIFTS[name]


def _flag(word: object, values: tuple[str, str]) -> int:
    if isinstance(word, int):
        return int(bool(word))
    plain = _last(word)
    if plain.lower() not in (values[0].lower(), values[1].lower()):
        raise AlgebraError(f"{word} is not one of {values[0]} and {values[1]}")
    return int(plain.lower() == values[1].lower())


def _last(word: object) -> str:
    return str(word).replace(".", "::").rpartition("::")[2]
