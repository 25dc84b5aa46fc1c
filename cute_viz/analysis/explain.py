"""An operation step by step, as CuTe's documentation teaches it: words, and the layout that each step gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.call import Operation
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mixed import entered, is_mixed
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.tensor import Tensor, check_like
from cute_viz.analysis.algebra_steps import WRITERS, OperationSteps
from cute_viz.analysis.partition_steps import FRAGMENTS, PARTITIONS, fragment_steps, partition_steps
from cute_viz.analysis.steps import Step
from cute_viz.analysis.verdict import Verdict
from cute_viz.errors import AlgebraError, CuteVizError

DESCRIPTORS = ("make_gmma_desc", "make_umma_desc")


def explain(name: str, operands: list[Any], template: tuple[Any, ...] = ()) -> list[Step]:
    """The steps of an operation by its name; the last step holds the result, or the condition that failed. Integers keep the marks
    of static ones, and operands of both kinds are computed as CuTe does. template: the arguments in angle brackets, as in
    take<0,1>(A).

    >>> for step in explain("complement", [Layout(4, 2), 24]):
    ...     print(step.words, "->", step.value)
    complement: fill what 4:2 leaves out of 0..23, in order of stride -> None
    4:2 has stride 2, and 1 would be contiguous: the complement fills the 2 in between -> 2:1
    0..7 is covered; 3 repetitions reach 24 -> 3:8
    together, coalesced -> (2,3):(1,8)
    """
    operation = ops.find(name)
    operands = _fitting(operation.name, operation.kinds, operands)
    if operation.name in DESCRIPTORS:
        from cute_viz.analysis.descriptor_steps import descriptor_steps

        return descriptor_steps(operation.name, *operation.fitted(operands, template)[0])
    unknown = next(unknowns(tuple(operands)), None) is not None
    given = entered(operation.name, operands)
    told = OperationSteps(operation.name, given is not operands or is_mixed(operands))
    failure: CuteVizError | None = None
    try:
        steps = _steps(operation, operands, given, told, template)
    except CuteVizError as error:
        steps, failure = [], error
    try:
        result = operation.call(operands, template)
    except AlgebraError:
        if failure is None or unknown or not told.steps:
            raise
        return [*told.steps, Step(f"this fails: {failure.message}")]
    if not steps:
        return [Step(f"{Operation(operation.name, tuple(operands), template)}: {operation.summary}", result)]
    if steps[-1].value == result or show(steps[-1].value) == show(result):  # less the marks of static integers
        return [*steps[:-1], Step(steps[-1].words, result, steps[-1].title)]
    return [*steps, Step("the result", result)]


def _steps(operation: ops.Op, operands: list[Any], given: list[Any], told: OperationSteps, template: tuple[Any, ...]) -> list[Step]:
    """The steps of an operation that has any. Raises: AlgebraError where a condition fails, behind what was told so far."""
    if operation.name in (*PARTITIONS, *FRAGMENTS):
        write = partition_steps if operation.name in PARTITIONS else fragment_steps
        steps = write(operation.name, operation.fitted(given, template)[0], operation.call(operands, template))
        return [replace(step, value=told.left(step.value)) for step in steps]
    if operation.name in WRITERS and not template:
        told.write(*operation.fitted(given)[0])
    return told.steps


def _fitting(name: str, kinds: str, operands: list[Any]) -> list[Any]:
    """The operands as an operation explains them: tensors where it asks for tensors, the layouts of tensors elsewhere."""
    if name.endswith("_like"):  # for which it does not matter where a tensor begins
        for x in operands:
            check_like(x)
        operands = [x.layout if isinstance(x, Tensor) and x.swizzle is None else x for x in operands]
    kept = [kinds[n : n + 1] == "U" or not isinstance(x, Tensor) or x.pointer.space == "tmem" for n, x in enumerate(operands)]
    return [x if keep else x.whole for x, keep in zip(operands, kept, strict=True)]


def is_layout(value: Any) -> bool:
    """Whether a step's value can be drawn.

    >>> is_layout(Layout(4)), is_layout(None)
    (True, False)
    """
    return isinstance(value, (Layout, ComposedLayout))


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
