"""Gluon's layouts in Python, `gl.BlockedLayout(...)`: what each encoding is, of its smallest tile, and of tensors with a shape.

Source: triton/experimental/gluon/language/_layouts.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from cute_viz.errors import AlgebraError
from cute_viz.notation.triton import layout_of, smallest
from cute_viz.notation.triton_text import GLUON, find
from cute_viz.source.python.machine import need
from cute_viz.source.python.values import Mutable, Symbol, tensor_of
from cute_viz.values.types import Pointer, ValueType, named

# What makes a tensor of a shape: where its shape, its type and its layout stand among the arguments.
_MAKERS = {"allocate_shared_memory": ("smem", 1, 0, 2), "zeros": ("rmem", 0, 1, 2), "full": ("rmem", 0, 2, 3)}
_MAKERS |= {"allocate_tensor_memory": ("tmem", 1, 0, 2)}


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoding of Gluon, as its constructor would be written."""

    text: str

    def of(self, shape: tuple[int, ...] = ()) -> Any:
        """Its layout for a tensor of a shape, or of its smallest tile. Raises: NotationError for what has none."""
        typed = find(self.text)[0]
        return layout_of(typed, shape or smallest(typed.encoding))


def is_gluon(path: str) -> bool:
    """Whether a dotted name is one of Gluon's that is read here."""
    words = path.split(".")
    return words[0] == "triton" and (words[-1] in GLUON or words[-1] in _MAKERS or words[-1] == "get_default_for")


def call_gluon(function: Symbol, args: list[object], named_args: dict[str, object]) -> object:
    """An encoding, or a tensor that has one. Raises: AlgebraError for arguments that are not known, and for other shapes."""
    name, args = function.last, [need(x) for x in args]
    named_args = {word: need(value) for word, value in named_args.items()}
    if name == "get_default_for":
        known = ("block_shape", "dtype", "transposed", "fp4_padded")
        given = dict(zip(known, args, strict=False)) | named_args
        shape, kind = _shape(given.get("block_shape")), _type(given.get("dtype"))
        if kind is None or set(given) - {*known, "cga_layout"} or given.get("cga_layout"):
            raise AlgebraError("get_default_for takes the shape of a block and a type; CTAs of a cluster are not supported here")
        *rows, row = shape[1:] + shape[:1] if given.get("transposed") else shape
        wide = row * kind.bits * (2 if given.get("fp4_padded") else 1) // 8
        width = next((n for n in (128, 64, 32) if wide and wide % n == 0 and prod(rows) >= 8 and rows), 0)
        more = [f"{word}={given[word]}" for word in known[2:] if word in given]
        return Encoded(f"gl.NVMMASharedLayout({', '.join([str(width), str(kind.bits), str(len(shape)), *more])})")
    if name in GLUON:
        words = [_written(x) for x in args] + [f"{word}={_written(value)}" for word, value in named_args.items()]
        return Encoded(f"gl.{name}({', '.join(words)})")
    space, *places = _MAKERS[name]
    given = dict(zip(("shape", "type", "layout"), (args[n] if n < len(args) else None for n in places), strict=True))
    given |= {("type" if word in ("dtype", "element_ty") else word): value for word, value in named_args.items()}
    if not isinstance(given["layout"], Encoded):
        raise AlgebraError(f"the layout of this {name} is chosen by the compiler, or is not known")
    return tensor_of(given["layout"].of(_shape(given["shape"])), Pointer(space, _type(given["type"])))


def _written(value: object) -> str:
    value = need(value)
    if isinstance(value, Encoded):
        return value.text
    if isinstance(value, Mutable):
        return f"[{', '.join(map(_written, value.items))}]"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)


def _shape(value: object) -> tuple[int, ...]:
    shape = tuple(value.items) if isinstance(value, Mutable) else value
    if not isinstance(shape, tuple) or not all(isinstance(need(n), int) for n in shape):
        raise AlgebraError("the shape of this tensor is not known")
    return shape


def _type(value: object) -> ValueType | None:
    if not isinstance(value, Symbol):
        return value if isinstance(value, ValueType) else None
    return named(value.last.replace("float", "f").replace("uint", "u").replace("int", "s"))  # bfloat16 -> bf16
