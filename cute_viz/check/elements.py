"""The element types of instructions: small integers as their bit patterns, packed into registers, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.records import rows
from cute_viz.values.types import named


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type: its bits, how many consecutive integers from 0 it holds exactly, and whether it has a sign."""

    name: str
    bits: int
    exact: int
    signed: bool = True

    @property
    def whole(self) -> bool:
        """Whether it holds integers alone."""
        return self.name not in _MANTISSA

    @property
    def register(self) -> int:
        """The bits of the registers that carry it."""
        return 64 if self.bits == 64 else 32


_EXACT = {row[0]: int(row[1]) for row in rows(__file__, "exact.txt")}
_PTX = {"u1": "b1"}  # the name in PTX where it is another


def _elements() -> dict[str, ElementType]:
    """The types that the instructions here take, by their names in PTX."""
    types = ((_PTX.get(name, name), named(name), exact) for name, exact in _EXACT.items())
    return {ptx: ElementType(ptx, found.bits, exact, found.kind in ("float", "signed")) for ptx, found, exact in types if found}


ELEMENTS = _elements()
_MANTISSA = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23), "f64": (11, 52), "e4m3": (4, 3), "e5m2": (5, 2)}

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}  # a raw pattern of so many bits


def element_of(kind: str) -> ElementType | None:
    """The element type of a name as PTX, C++ or CuTe's atoms write it; None for a type that no instruction here takes."""
    name = found.short if (found := named(kind)) else kind
    return ELEMENTS.get(_PTX.get(name, name))


def encode(values: object, kind: str) -> Any:
    """Integers as raw patterns (uint64). Each must be held exactly; none is rounded."""
    values = np.asarray(values, dtype=np.int64)
    bits = ELEMENTS[kind].bits
    if ELEMENTS[kind].whole:
        return values.astype(np.uint64) & np.uint64((1 << bits) - 1)
    exponent_bits, mantissa_bits = _MANTISSA[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    patterns = []
    for value in range(low, high + 1):
        size = abs(value)
        power = size.bit_length() - 1
        fraction = (size << mantissa_bits >> power) if value else 0
        pattern = (power + bias << mantissa_bits) | (fraction - (1 << mantissa_bits)) if value else 0
        patterns.append(pattern | (1 << (bits - 1) if value < 0 else 0))
    assert max(abs(low), high) <= ELEMENTS[kind].exact, f"{low} .. {high} are not all exact as {kind}"
    return np.array(patterns, dtype=np.uint64)[values - low]


def decode(patterns: Any, kind: str) -> Any:
    """Raw patterns of an accumulator type (f16, f32, f64, s32) as float64 or int64."""
    if kind == "s32":
        return patterns.astype(np.uint32).view(np.int32).astype(np.int64)
    real = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
    return patterns.astype(UNSIGNED[ELEMENTS[kind].bits]).view(real).astype(np.float64)


def integers(patterns: object, kind: str) -> Any:
    """Raw patterns of an accumulator type as int64; -1 for what is not a number."""
    return np.nan_to_num(decode(patterns, kind), nan=-1, posinf=-1, neginf=-1).astype(np.int64)


def pack(patterns: Any, bits: int, register: int = 32) -> Any:
    """The last axis, values in order, as registers: value 0 in the low bits. What does not fill a register is zero above."""
    per = max(1, register // bits)
    count = -(-patterns.shape[-1] // per)
    padded = np.zeros((*patterns.shape[:-1], count * per), np.uint64)
    padded[..., : patterns.shape[-1]] = patterns
    grouped = padded.reshape(*patterns.shape[:-1], count, per)
    shifts = np.arange(per, dtype=np.uint64) * np.uint64(bits)
    packed = np.bitwise_or.reduce(grouped << shifts, axis=-1)
    return packed.astype(np.uint64 if register == 64 else np.uint32)


def unpack(registers: Any, bits: int, register: int = 32) -> Any:
    """Registers along the last axis as raw patterns of `bits`."""
    per = max(1, register // bits)
    shifts = np.arange(per, dtype=np.uint64) * np.uint64(bits)
    mask = np.uint64((1 << bits) - 1)
    wide = registers.astype(np.uint64)[..., None] >> shifts & mask
    return wide.reshape(*registers.shape[:-1], registers.shape[-1] * per)
