"""The types of CuTe IR -> values: `!cute.layout<"(4,8):(8,1)">`, tensors, tilings, and the attributes of the same names.

Sources: the dialect in CUTLASS (cutlass_compiler, CuteTypes.td), and what the Python DSL's compiler writes beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, domain, swizzle_of
from cute_viz.algebra.inttuple import Underscore, leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import mark_static, with_origin
from cute_viz.algebra.stride import Basis, is_coordinate
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError, CuteVizError, NotationError, Span
from cute_viz.notation.cute import Parser
from cute_viz.notation.evaluate import Evaluator
from cute_viz.notation.syntax import Chain, Node, Passage, Resolver
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType, printed, unsigned

_MMA = re.compile(r"!?(?:cute_nvgpu\.)?sm(\d+)\.mma\s*<\s*(\d+)x(\d+)x(\d+)\s*(.*)>", re.S)
_COPY = re.compile(r"!?(?:cute_nvgpu\.)?atom\.(\w+)\s*<(.*)>", re.S)
_TYPES = re.compile(r"elem_type\s*=\s*\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\w+)\s*\)")
_OPTION = re.compile(r"(\w+)\s*=\s*(<[^<>]*>|\([^()]*\)|\w+)")
_SM100 = {"f16": "F16BF16", "bf16": "F16BF16", "tf32": "TF32", "i8": "S8", "u8": "S8"}


def mma_atom(text: str, resolve: Resolver | None) -> Any:
    """The atom of an MMA's type. Raises: AlgebraError for one that is not supported."""
    match = _MMA.fullmatch(text)
    types = _TYPES.search(text)
    if match is None or types is None:
        raise _unknown(text)
    a, b, c = (_element(types[n]) for n in (1, 2, 3))
    shape = "x".join(match.group(2, 3, 4))
    options = {option[1]: option[2] for option in _OPTION.finditer(match[5])}
    ab = f"{a.short.upper()}{b.short.upper()}"
    source = options.get("frag_kind", "ss").upper()
    if match[1] == "80":
        return _resolved(f"SM80_{shape}_{c.short.upper()}{ab}{c.short.upper()}_TN", (), resolve, text)
    if match[1] == "90":
        ending = "" if a.bits == 16 else "_TN"
        return _resolved(f"SM90_{shape}_{c.short.upper()}{ab}_{source}{ending}", (), resolve, text)
    if match[1] == "100":
        kind = _SM100.get(types[1], "F8F6F4")
        majors = ["0" if word == "k" else "1" for word in re.findall(r"\w+", options.get("ab_major", "(k, k)"))]
        pair = "_2x1SM" if options.get("num_cta") == "2" else ""
        args = (a.cpp, b.cpp, c.cpp, match[2], match[3], *majors)
        return _resolved(f"SM100_MMA_{kind}{pair}_{source}", args, resolve, text)
    raise _unknown(text)


def copy_atom(text: str, resolve: Resolver | None) -> Any:
    """The atom of a copy's type, for values of its type. Raises: AlgebraError for one that is not supported."""
    from cute_viz.algebra.copy import CopyOp, make_copy_atom

    match = _COPY.fullmatch(text)
    if match is None:
        raise _unknown(text)
    kind, inside = match[1], match[2]
    words = [word.strip() for word in re.split(r",(?![^<(]*[>)])", inside)]
    options = {option[1]: option[2] for option in _OPTION.finditer(inside)}
    element = _element(options.get("val_type", words[0]))
    name, args = _instruction(kind, words, options, element, text)
    operation = _resolved(name, args, resolve, text)
    if not isinstance(operation, CopyOp):
        raise _unknown(text)
    return make_copy_atom(operation, element.bits, element.cpp)


def _instruction(
    kind: str, words: list[str], options: dict[str, str], element: ValueType, text: str
) -> tuple[str, tuple[str, ...]]:
    """The name and the arguments of a copy instruction."""
    if kind in ("universal_copy", "simt_async_copy"):
        widths = [int(word.split()[0]) for word in words if re.fullmatch(r"\d{1,4} b", word)]
        width = unsigned(widths[0] if widths else element.bits)
        if width is None:
            raise AlgebraError(f"no instruction copies {widths[0] if widths else element.bits} bits")
        if kind == "universal_copy":
            return "UniversalCopy", (width,)
        return f"SM80_CP_ASYNC_CACHE{options.get('cache', 'always').upper()}", (width,)
    if kind in ("ldsm", "stsm") and options.get("mode", '<"(8,8)">') == '<"(8,8)">':
        count = options.get("num_matrices", "1")
        if count in ("1", "2", "4") and words[-1] in ("n", "t"):
            return f"{'stmatrix' if kind == 'stsm' else 'ldmatrix'}.x{count}{'.trans' * (words[-1] == 't')}", ()
    if kind in ("tma_load", "tma_store", "tma_reduce") and "copy_bits" in options:
        multicast = "_MULTICAST" if options.get("num_multicast", "1") not in ("0", "1") else ""
        return f"SM90_{kind.replace('reduce', 'reduce_add').upper()}{multicast}", (options["copy_bits"],)
    if kind in ("tmem_load", "tmem_store") and len(words) == 4:
        sizes = [
            re.fullmatch(pattern, word) for pattern, word in zip((r"(\d+) DP", r"(\d+) bit", r"x(\d+)"), words[1:], strict=True)
        ]
        if all(sizes):
            lanes, bits, times = (size[1] for size in sizes if size)
            return f"SM100_{kind.upper()}_{lanes}dp{bits}b{times}x", ()
    raise _unknown(text)


def _element(word: str) -> ValueType:
    element = printed(word.strip())
    if element is None:
        raise AlgebraError(f"{word.strip()[:40]!r} is not an element type")
    return element


def _resolved(name: str, args: tuple[str, ...], resolve: Resolver | None, text: str) -> Any:
    atom = resolve(name, args) if resolve else None
    if atom is None:
        raise _unknown(text)
    return atom


def _unknown(text: str) -> AlgebraError:
    return AlgebraError(f"the atom {text.split('<')[0].lstrip('!').strip()[:60]} is not supported")


TYPE = re.compile(r'[!#](?:cute\.)?(layout|composed_layout|swizzle|tile|shape|stride|coord|int_tuple)\s*<\s*"([^"\n]*)"\s*>')
_TENSOR = re.compile(r'!?(?:cute\.)?memref\s*<\s*(\w+)\s*,(.*?)"([^"\n]*)"\s*>', re.S)
_COORDINATES = re.compile(r'!?(?:cute\.)?coord_tensor\s*<\s*"([^"\n]*)"\s*,\s*"([^"\n]*)"\s*>')
_TILED = re.compile(r"!?(?:cute\.)?tiled_(mma|copy)\s*<")
_FIELD = re.compile(r'(\w+)\s*=\s*<\s*"([^"\n]*)"\s*>')
_SWIZZLE = re.compile(r"S<\s*-?\d+\s*,\s*-?\d+\s*,\s*-?\d+\s*>")
KINDS = re.compile(
    r"[!#]cute\.(?:layout|composed_layout|swizzle|tile|shape|stride|coord|int_tuple|memref|coord_tensor|tiled_mma|tiled_copy)\s*<"
)


class Setting(NamedTuple):
    """What types are read with: the text that they stand in, the atom of a name, and what was given for `?`."""

    text: str
    resolve: Resolver | None
    runtime: Any = None
    used: Callable[[], None] = lambda: None


def value_of(setting: Setting, start: int, end: int) -> Any:
    """The value of a type or an attribute between two places of a text. Raises: CuteVizError at its place."""
    text = setting.text
    if match := TYPE.fullmatch(text, start, end):
        return _payload(setting, match[1], *match.span(2))
    if match := _TENSOR.fullmatch(text, start, end):
        layout = _payload(setting, "composed_layout" if " o " in match[3] else "layout", *match.span(3))
        element = printed(match[1])
        swizzle = _SWIZZLE.search(match[2])
        if swizzle is None or not isinstance(layout, Layout):
            return layout
        if element is None:
            raise NotationError(f"{match[1]!r} is not an element type", text=text, span=Span(*match.span(1)))
        numbers = Swizzle(*map(int, re.findall(r"-?\d+", swizzle[0])))
        return ComposedLayout(numbers, PointerFlag(element.bits), layout)
    if match := _COORDINATES.fullmatch(text, start, end):
        return with_origin(_payload(setting, "coord", *match.span(1)), _payload(setting, "layout", *match.span(2)))
    if match := _TILED.match(text, start, end):
        return mark_static(_tiled(setting, match[1], match.end(), end))
    name = text[start:end].split("<")[0].strip()[:60]
    raise NotationError(f"{name!r} is not a type that is known here", text=text, span=Span(start, end))


def _payload(setting: Setting, kind: str, start: int, end: int) -> Any:
    """What the quoted text of a type means; its errors at their place in the file."""
    inside = setting.text[start:end]
    names = {} if setting.runtime is None else {"?": setting.runtime}
    if names and "?" in inside:
        setting.used()
    try:
        if kind == "swizzle" and not _SWIZZLE.fullmatch(inside):
            raise NotationError("a swizzle takes three integers", hint="example: S<3,4,3>")
        node = _whole(inside)
        evaluator = Evaluator(Passage(inside, names, None, "cute"))
        value = _composed(evaluator, node) if kind == "composed_layout" else evaluator.value(node)
        _check(kind, value)
        return value
    except CuteVizError as error:
        span = error.span or Span(0, max(1, len(inside)))
        raise error.but(text=setting.text, span=Span(start + span.start, start + max(span.end, span.start + 1))) from None


def _whole(inside: str) -> Node:
    """The tree of a text that is one expression."""
    parser = Parser(inside)
    node = parser.chain()
    if parser.token.kind != "end":
        raise parser.fail(f"unexpected {parser.token.text!r}")
    return node


def _composed(evaluator: Evaluator, node: Node) -> Any:
    """`A o offset o B`, which stays as it was written."""
    from cute_viz.algebra import ops

    if not isinstance(node, Chain) or len(node.items) != 3:
        raise evaluator.fail("a composed layout must have three parts", node.span, hint="example: S<3,4,3> o 0 o (8,64):(64,1)")
    return evaluator.operate(ops.find("make_composed_layout"), [evaluator.value(item) for item in node.items])


def _check(kind: str, value: Any) -> None:
    """Refuse a value of another kind than its type says, and strides that the dialect refuses."""
    name = kind.replace("_", " ")
    fits = {"layout": Layout, "composed_layout": ComposedLayout, "swizzle": Swizzle}.get(kind)
    if fits is not None and not isinstance(value, fits):
        raise NotationError(f"this is not a {name}")
    for swizzle in (value, getattr(value, "outer", None)):
        if isinstance(swizzle, Swizzle) and swizzle.base + swizzle.bits + abs(swizzle.shift) > _WIDTH:
            raise NotationError(f"{swizzle} reaches past {_WIDTH} bits")
    if swizzle_of(value) is not None and is_coordinate(domain(value).stride):
        raise NotationError("a swizzle takes integers, but these values are coordinates")
    if kind == "tile":
        wrong = [leaf for leaf in leaves(value) if not isinstance(leaf, (Layout, Underscore, int))]
        parts = [leaf for leaf in leaves(value) if isinstance(leaf, Layout)]
    else:
        wrong = [leaf for leaf in leaves(value) if not isinstance(leaf, _LEAVES.get(kind, object))]
        parts = [x for x in (value, *(getattr(value, part, None) for part in ("outer", "inner"))) if isinstance(x, Layout)]
    if wrong:
        raise NotationError(f"{show(wrong[0])} is not part of a {name}")
    for stride in (value,) if kind == "stride" else [part.stride for part in parts]:
        # refuse what the dialect refuses: integers beside basis elements, fractions, a path that ends where another goes on
        steps = list(leaves(stride))
        bases = [step for step in steps if isinstance(step, Basis)]
        if bases and any(isinstance(step, Unknown) or (isinstance(step, int) and step != 0) for step in steps):
            raise NotationError("strides must be integers or basis elements, not both")
        if any(not isinstance(step.value, (int, Unknown)) for step in bases):
            raise NotationError("a basis element must be scaled by an integer here")
        paths = {step.path for step in bases}
        if any(path[:n] in paths for path in paths for n in range(1, len(path))):
            raise NotationError("a basis element names a mode that contains another one")


_WIDTH = 32  # bits that a swizzle of the dialect works on
_LEAVES: dict[str, Any] = {
    **dict.fromkeys(("shape", "int_tuple"), (int, Unknown)),
    "coord": (int, Unknown, Underscore),
    "stride": (int, Unknown, Basis),
}


def _tiled(setting: Setting, kind: str, start: int, end: int) -> Any:
    """`tiled_mma<atom, atom_layout_MNK = <"...">, permutation_MNK = <"[...]">>`, `tiled_copy<atom, layout_copy_tv, tiler_mn>`."""
    text = setting.text
    fields = {match[1]: match.span(2) for match in _FIELD.finditer(text, start, end)}
    atom_end = min((text.rfind(",", start, place[0]) for name, place in fields.items() if name in _FIELDS), default=end)
    atom = text[start:atom_end].strip()
    try:
        if kind == "mma":
            from cute_viz.algebra.mma import make_tiled_mma

            layout = _payload(setting, "layout", *fields["atom_layout_MNK"])
            tile = _tile(setting, fields["permutation_MNK"]) if "permutation_MNK" in fields else None
            return make_tiled_mma(mma_atom(atom, setting.resolve), layout, tile)
        from cute_viz.algebra.views import make_tiled_copy_impl

        layout, tile = _payload(setting, "layout", *fields["layout_copy_tv"]), _tile(setting, fields["tiler_mn"])
        return make_tiled_copy_impl(copy_atom(atom, setting.resolve), layout, tile)
    except KeyError as error:
        raise NotationError(f"this tiled {kind} lacks its {error.args[0]}", text=text, span=Span(start, end)) from None
    except CuteVizError as error:
        raise error.at(text, Span(start, max(start + 1, atom_end))) from None


_FIELDS = ("atom_layout_MNK", "permutation_MNK", "layout_copy_tv", "tiler_mn")


def _tile(setting: Setting, place: tuple[int, int]) -> Any:
    """`[32:1;_;16:1]`, of which a compact mode is its extent."""
    modes = _payload(setting, "tile", *place)
    modes = modes if isinstance(modes, tuple) else (modes,)
    return tuple(
        mode.shape if isinstance(mode, Layout) and mode.stride == 1 and not isinstance(mode.shape, tuple) else mode
        for mode in modes
    )
