"""An operation step by step, and the pictures of the steps; of a swizzle, what happens to the bits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.call import Call
from cute_viz.algebra.composed import pointer_bits
from cute_viz.algebra.copy import ThrCopy
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, check_like, whole
from cute_viz.analysis.explain import explain as steps_of_call
from cute_viz.analysis.explain import is_layout
from cute_viz.analysis.steps import Step
from cute_viz.analysis.swizzle_steps import steps_of
from cute_viz.analysis.verdict import MOVES as VERDICTS
from cute_viz.analysis.verdict import Verdict, verdict
from cute_viz.errors import CuteVizError, NotationError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.notation import is_triton, read_call
from cute_viz.spec import Library
from cute_viz.values.integer import MulticastMask

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile

_ROW = re.compile(r"mode \d+: |.*, mode by mode$")  # where the picture of the steps begins a new row
_REAL = re.compile(r"\b\w+_t\([\w.]*\)|(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=f))(?:e-?\d+)?f?(?!\w)")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps of what `subject` is, a Call, a swizzled layout, or the matrix of a linear one."""

    subject: Any
    steps: tuple[Step, ...]
    verdict: Verdict | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The explanation for JSON: whether CuTe accepts the operation, its steps, and the verdict on a copy or an MMA."""
        steps = [
            {"number": number, "words": words, "value": None if value is None else show(value).rstrip("\n")}
            for number, words, value in self.numbered
        ]
        out: dict[str, Any] = {"accepted": not self.failed, "failed": self.failed, "steps": steps}
        return out | (self.verdict.as_dict() if self.verdict else {})

    @property
    def failed(self) -> bool:
        """Whether the operation's condition failed, as the last step says."""
        return self.steps[-1].words.startswith("this fails")

    @property
    def numbered(self) -> list[tuple[int | None, str, Any]]:
        """The steps as (number, words, value); a remark below a step has no number."""
        numbers = accumulate(int(not step.words.startswith("  ")) for step in self.steps)
        return [
            (None if step.words.startswith("  ") else number, step.words.strip(), step.value)
            for number, step in zip(numbers, self.steps, strict=True)
        ]

    @property
    def bits(self) -> Figure | None:
        """For a swizzle the picture of its bits, for a linear layout their matrix; None for an operation."""
        if isinstance(self.subject, (Call, Figure)):
            return self.subject if isinstance(self.subject, Figure) else None
        if isinstance(self.subject, Swizzle):
            return build(self.subject)
        figure = build(self.subject.outer)
        if pointer_bits(self.subject) is None:
            return figure
        return replace(figure, title=f"{figure.title}, of the byte address")

    @property
    def figure(self) -> Figure:
        """The layouts of the steps as a strip of panels, with their numbers; for a swizzle, its bits.

        Raises: FigureError where no step gives a layout.
        """
        if (bits := self.bits) is not None:
            return bits
        from cute_viz.figures.steps import Shown, steps

        parts: list[Shown] = []
        told, waiting, begins = [], 0, False  # the first step that no panel shows yet
        for step, (number, words, value) in zip(self.steps, self.numbered, strict=True):
            told.append(f"{number}. {words}." if number is not None else f"{words}.")
            waiting = waiting or number or 0
            begins = begins or _ROW.match(words) is not None
            if is_layout(value):
                last = int(parts[-1].numbers.partition("-")[2] or parts[-1].numbers) if parts else 0
                upto = number or max(waiting, last)
                numbers = f"{waiting}-{upto}" if 0 < waiting < upto else str(upto)
                drawn = _in_place(value) if self.subject.name in _CUT else value
                title = step.title or words if drawn is value else f"{words.partition(':')[0]}, each where it lies"
                parts.append(Shown(numbers, title, drawn, begins))
                waiting, begins = 0, False
        return steps(f"{self.subject}, step by step", str(self.subject), parts, _sentences(told))


_CUT = ("local_tile", "local_partition")


def _in_place(value: Any) -> Any:
    """A layout ((tile), (rest)) with the elements where they are in the tensor, ((tile 0, rest 0), (tile 1, rest 1))."""
    if not isinstance(value, Layout):
        return value
    shape, stride = modes(value.shape), modes(value.stride)
    if len(shape) != 2 or not all(isinstance(x, tuple) and len(x) == 2 for x in shape):
        return value
    return Layout(*(tuple(zip(*map(modes, x), strict=True)) for x in (shape, stride)))


def _sentences(told: list[str]) -> list[str]:
    """The steps in lines, the remarks below a step behind it."""
    out: list[str] = []
    for line in told:
        if line[0].isdigit() and line.partition(". ")[0].isdigit():
            out.append(line)
        else:
            out[-1:] = [f"{out[-1][:-1]}; {line}" if out else line]
    return out


def explain(text: str, names: dict[str, Any], library: Library, entry: str | None = None) -> Explanation:
    """The steps of the operation that is the last statement of a text, or that the entry is, or of the swizzle that it is.

    Raises: NotationError for anything else.

    >>> from cute_viz.spec import PACKAGED
    >>> explain("complement(4:2, 24)", {}, PACKAGED).steps[-1].words
    'together, coalesced'
    """
    if is_triton(text):
        return _encoding(text, library)
    name, operands, template = _call_of(text, names, library, entry)
    if name in VERDICTS:
        found = verdict(name, operands, template)
        return Explanation(Call(name, tuple(operands), template), tuple(steps_of_verdict(found)), found)
    operands = _fitting(name, operands)
    if name:
        before = _before_slice(text, names, library) if name == "slice" and entry is None else ()
        return Explanation(Call(name, tuple(operands), template), (*before, *steps_of_call(name, operands, template)))
    steps = steps_of(operands[0])
    if steps is None and (chosen := re.search(r"\w+_selector\b|\brecast\b", _last_statement(text))) is not None:
        steps = [Step(f"{chosen[0]} gives it", operands[0])]
    if steps is None:
        raise NotationError(
            f"there is no operation to explain in {show(operands[0])}", hint="such as complement(4:2, 24), or A o B"
        )
    return Explanation(operands[0], tuple(steps))


def _call_of(text: str, names: dict[str, Any], library: Library, entry: str | None) -> tuple[str, list[Any], tuple[Any, ...]]:
    """The operation at the end of a text, or that the entry is, as read_call has it; of a copy as a verdict takes it."""
    if "axpby" in _last_statement(text):  # which numbers alpha and beta are does not matter
        text = _REAL.sub(lambda found: "1".ljust(len(found[0])), text)
    if moves_at_end(text):
        names = {"threadIdx.x": 0, **names}  # the verdict is that of every thread
    name, operands, template = read_call(text, names, library.resolve, entry)
    name = name.removeprefix("cute::") if name.removeprefix("cute::") in VERDICTS else name
    if name in VERDICTS and _last_statement(text).startswith("cute.") and isinstance(operands[0], ThrCopy):
        operands[0] = operands[0].tiled  # the DSL's is a TiledCopy, too
    return name, operands, template


def check_moves(text: str, tensor: str, names: dict[str, Any], library: Library) -> None:
    """Refuse a text that copies or multiplies a tensor as CuTe does not: it does not compile. What is in a function is not read.

    Raises: AlgebraError with CuTe's condition.

    >>> from cute_viz.spec import PACKAGED
    >>> text = "d = make_tensor(make_gmem_ptr<float>(0), Layout<_4>{}); copy(d, d);"
    >>> check_moves(text, "d", {}, PACKAGED)
    """
    for end in _ends(text):
        part = text[:end]
        if moves_at_end(part) and re.search(rf"\b{re.escape(tensor)}\b", _last_statement(part).partition("(")[2]):
            try:
                name, operands, template = _call_of(part, names, library, None)
            except CuteVizError:  # what cannot be read says nothing of the tensor
                continue
            verdict(name, operands, template)


def _ends(text: str) -> Iterator[int]:
    """Where the statements of a text end that are in no brackets."""
    depth, plain = 0, re.sub(r"//[^\n]*|#[^\n]*|/\*.*?\*/", lambda found: " " * len(found[0]), text, flags=re.S)
    for bracket in re.finditer(r"[(\[{]|[)\]}]|;|\n(?=\S)|\Z", plain):
        depth += (bracket[0] in tuple("([{")) - (bracket[0] in tuple(")]}"))
        if depth <= 0 and bracket[0] in (";", "\n", ""):
            yield bracket.end()


def _before_slice(text: str, names: dict[str, Any], library: Library) -> tuple[Step, ...]:
    """The steps of the partition that the last statement of a text slices at once: `s.partition_S(x)(_,0,_)`."""
    call = re.sub(r"[\s;]+$", "", text)
    depth = 0
    for at in range(len(call) - 1, 0, -1):
        depth += (call[at] == ")") - (call[at] == "(")
        if depth == 0:
            if call[at] != "(" or not call[:at].rstrip().endswith(")"):
                return ()
            found = explain(f"{call[:at].rstrip()};", names, library)
            return found.steps if isinstance(found.subject, Call) else ()
    return ()


def _fitting(name: str, operands: list[Any]) -> list[Any]:
    """The operands as an operation explains them: tensors where it asks for tensors, the layouts of tensors elsewhere."""
    from cute_viz.algebra import ops

    known = ops.OPS.get(ops.ALIASES.get(name, name))
    kinds = known.kinds if known is not None else ""
    if name.endswith("_like"):  # for which it does not matter where a tensor begins
        for x in operands:
            check_like(x)
        operands = [x.layout if isinstance(x, Tensor) and x.swizzle is None else x for x in operands]
    return [operand if kinds[n : n + 1] == "U" else whole(operand) for n, operand in enumerate(operands)]


def moves_at_end(text: str) -> bool:
    """Whether the last statement of a text is a copy(...) or gemm(...), which gives no value.

    >>> moves_at_end("auto a = Layout<_4>{};\\ncopy(a, a);"), moves_at_end("auto a = copy_of(b);")
    (True, False)
    """
    call = rf"(?:cute(?:::|\.))?(?:{'|'.join(VERDICTS)})\s*(?:<[^()]*>)?\s*\(.*"
    return re.fullmatch(call, _last_statement(text), re.S) is not None


def _last_statement(text: str) -> str:
    plain = re.sub(r"//[^\n]*|#[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    return next((part.strip() for part in reversed(re.split(r";|\n(?=\S)", plain)) if part.strip()), "")


def _fragment(value: DescriptorTensor) -> Explanation:
    """The steps of a fragment of descriptors: those of its first one, and where the others start."""
    first = value.first
    name = f"make_{first.kind.lower()}_desc"
    words = "the others start so many units of 16 bytes further, by block of M or N, block of K, stage"
    told = [Step("a fragment of descriptors, one for each instruction and stage, of the tensor", value.tensor.layout)]
    told += [*steps_of_call(name, [first.tensor, first.major], ()), Step(words, value.layout)]
    return Explanation(Call(name, (first.tensor, first.major), ()), tuple(told))


def explain_entry(file: SourceFile, query: str | None) -> Explanation:
    """The steps of the operation that an entry of a whole file is, or of the swizzle of its value.

    Raises: the entry's own error; NotationError where it is neither an operation nor swizzled.

    >>> from cute_viz.source import read
    >>> from cute_viz.source.model import Given
    >>> text = "struct A {\\n  using L = decltype(complement(Layout<_4,_2>{}, _24{}));\\n};\\n"
    >>> explain_entry(read(text, "cpp", Given()), "L").steps[-1].words
    'complement: what A leaves out, up to the cotarget'
    """
    from cute_viz.algebra import ops
    from cute_viz.engine.whole import meant

    entry, value = meant(file, query)
    found = entry.call() if entry.call is not None else None
    if found is None and isinstance(value, MulticastMask) and value.coord is not None:
        found = "create_tma_multicast_mask", [value.cluster, value.coord, *value.modes], ()
    name = ops.ALIASES.get(found[0], found[0]) if found is not None else ""
    if isinstance(value, DescriptorTensor):
        return _fragment(value)
    steps = steps_of(whole(value))
    if found is not None and name in ops.OPS:
        told = tuple(steps_of_call(name, found[1], found[2]))
        if steps is None or len(told) > 1:
            return Explanation(Call(name, tuple(found[1]), found[2]), told)
        steps = [*told, *steps]  # of what has no steps of its own the swizzle says more
    if steps is None:
        raise NotationError(
            f"there is no operation to explain in {entry.path}, which is {show(value).splitlines()[0]}",
            hint="`name=` picks another object, such as one that composition or tile_to_shape gives",
        )
    return Explanation(whole(value), tuple(steps))


def _encoding(text: str, library: Library) -> Explanation:
    """The bits of an encoding of Triton as a matrix, and what they come to."""
    from cute_viz.figures.bases import bases
    from cute_viz.notation.triton import inputs_of, layout_of, linear_of
    from cute_viz.notation.triton_text import find

    typed = find(text)[-1]
    try:
        linear = linear_of(typed, library.shape)
    except CuteVizError as error:
        raise error.at(text, typed.encoding.span) from None
    steps = [
        Step(f"{name}: {', '.join(show(basis if len(basis) > 1 else basis[0]) for basis in those)}, added by XOR")
        for name, those in linear.bases.items()
        if those
    ]
    words = "as (thread, register) to the column-major index"
    if "offset" in linear.bases:
        words = "inverted: coordinates to offsets in elements"
    elif "row" in linear.bases:
        words = "as (row, column) to the column-major index"
    try:
        layout = layout_of(typed, library.shape)
        steps.append(Step(words, layout))
        title = show(layout)
    except CuteVizError as error:  # the bits are known all the same
        title = f"no layout in CuTe notation: {error.message}"
        steps.append(Step(title))
    shape = " x ".join(map(str, linear.sizes))
    figure = bases(f"{typed.encoding.name} of {shape}, bit by bit", title, inputs_of(linear), linear.sizes, FigureOptions())
    return Explanation(figure, tuple(steps))


def steps_of_verdict(found: Verdict) -> list[Step]:
    """A verdict in sentences.

    >>> [step.words for step in steps_of_verdict(Verdict("gemm", "SM80_16x8x16_F32F16F16F32_TN", 4))]
    ['CuTe accepts it: 4 instructions per thread, SM80_16x8x16_F32F16F16F32_TN']
    """
    times = "1 instruction" if found.count == 1 else f"{found.count} instructions"
    out = [Step(f"CuTe accepts it: {times} per thread, {found.instruction}")]
    if found.common is not None:
        out.append(Step(f"max_common_vector is {found.common}: this many elements are contiguous in both source and destination"))
    return [*out, *(Step(f"  {reason}") for reason in found.reasons)]
